//! Bench of ages as a drive's firmware tells them, against the errors that its blocks have after a year (000 §3.3.1).
//!
//! The bench of `life` judges RealWear by what a tester sees of a lot; here the firmware judges its own blocks by one page of each filling.

use wordline_cells::{Block, Condition, Model};
use wordline_drive::{Config, Watched};
use wordline_pages::html::figure::{Columns, Figure};
use wordline_units::{BlockId, Celsius, DieId, Wear};

use super::{Bench, Findings, OfBlock, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::{greatest, least};
use crate::protocol::{Bits, Count, Cycles, Name, Span, conditions};

/// The `told` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "told",
    summary: "Ages of blocks as a drive's firmware tells them, against their errors after a year",
    metrics: &[
        m("negative", "share", "Blocks that the firmware takes for younger than 1.0 at a count at which they are dead"),
        m("outlive", "share", "Blocks that it takes for 1.0 or older at all counts up to one at which they are not dead"),
        m("equal", "bit", "Greatest range of N(12) among blocks of one age"),
        m("unseen", "share", "Blocks of whom the firmware has measured no page"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "told",
    /// Conditions of a drive that tells ages.
    struct At {
        /// the drive
        drive: Name,
        /// exported size of the drive, or "whole"
        size: Name,
        /// P/E counts at which all blocks are looked at
        cycles: Vec<Cycles>,
        /// the dwell of the cycles
        dwell: Span,
        /// the retention that is required
        kept: Span,
        /// width of a bin of ages that count as equal, in bits of N(12)
        bin: Bits,
        /// the most errors for which ages are binned
        bins_most: Bits,
        /// fewest blocks in a bin
        bin_least: Count,
        /// P/E count up to which the source tells how far blocks of one age differ
        compared: Cycles,
    }
}

/// A block at one P/E count.
struct Seen {
    /// Die, and block of its first plane.
    place: (u32, u32),
    /// Age as the firmware tells it; `None`: it has measured nothing.
    age: Option<f64>,
    /// Wrong bits of a codeword of the worst page after the retention, at the best references.
    errors: f64,
}

/// N(12) of a block (000 §3.1.1).
fn after(model: &Model, block: &Block, condition: &Condition) -> f64 {
    let layers = 0..model.layers().len() as u32;
    layers.map(|layer| model.worst_page(&model.traits(block, layer), condition)).fold(0.0, f64::max)
}

/// All blocks that hold data, at `cycles`.
fn look(setup: &Setup, at: &At, cycles: f64) -> Result<(Vec<Seen>, Config), LabError> {
    let settings = [format!("cells.cycles={cycles}"), format!("cells.dwell={} s", at.dwell)];
    let config = plan(setup, &at.drive, &at.size, &settings.each_ref().map(String::as_str))?.build();
    let cells = config.cells.clone().ok_or_else(|| LabError::Usage(format!("told.drive: {} has no physics", at.drive)))?;
    let age = cells.age.ok_or_else(|| LabError::Usage("told.cycles: the drive takes no age".to_owned()))?;
    let model = Model::new(&cells.physics).expect("the plan has checked it");
    let home = Celsius(age.temperature);
    let condition = Condition::new(model.cycled(age.cycles, age.dwell, home), home).kept(at.kept);
    let mut drive = Watched::new(config.clone(), ());
    drive.construct_filled(config.exported_units);
    drive.set_age(&age);
    let see = |(die, block, wear): (DieId, BlockId, Option<Wear>)| {
        let place = (u32::from(die.0), block.0);
        let age = wear.map(|wear| f64::from(wear.0) / 1e3);
        Seen { place, age, errors: after(&model, &model.block(config.seed, place.0, place.1), &condition) }
    };
    let seen: Vec<Seen> = drive.worn().map(see).collect();
    setup.teller.tell(&format!("told: {} blocks at {cycles} cycles", seen.len()));
    Ok((seen, config))
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let mut looks = Vec::new();
    let mut limit = f64::NAN;
    for &cycles in &at.cycles {
        let (seen, config) = look(setup, &at, cycles)?;
        limit = config.cells.as_ref().map_or(f64::NAN, |cells| cells.physics.ecc.correctable);
        looks.push((cycles, seen));
    }
    Ok(judge(&at, &looks, limit))
}

fn judge(at: &At, looks: &[(f64, Vec<Seen>)], limit: f64) -> Findings {
    let mut findings = Findings::default();
    let blocks = looks[0].1.len();
    let share_of = |is: &dyn Fn(usize) -> bool| (0..blocks).filter(|&block| is(block)).count() as f64 / blocks as f64;
    let of = |block: usize| looks.iter().map(move |(_, seen)| &seen[block]);
    let is_dead = |seen: &Seen| seen.errors > limit;
    let is_young = |seen: &Seen| seen.age.is_some_and(|age| age < 1.0);
    findings.set("negative", share_of(&|block| of(block).any(|seen| is_dead(seen) && is_young(seen))));
    findings.set("outlive", share_of(&|block| of(block).any(|seen| !is_dead(seen) && !is_young(seen))));
    findings.set("unseen", share_of(&|block| of(block).any(|seen| seen.age.is_none())));
    let compared: Vec<(f64, f64)> = looks
        .iter()
        .filter(|(cycles, _)| *cycles <= at.compared)
        .flat_map(|(_, seen)| seen.iter().filter_map(|seen| Some((seen.age? * limit, seen.errors))))
        .collect();
    let count = (at.bins_most / at.bin) as u32;
    let range = |bin: u32| {
        let (from, to) = (f64::from(bin) * at.bin, f64::from(bin + 1) * at.bin);
        // The age itself is no difference between blocks of one bin.
        let within: Vec<f64> = compared.iter().filter(|(told, _)| (from..to).contains(told)).map(|(told, errors)| errors - told).collect();
        if within.len() < at.bin_least as usize { 0.0 } else { greatest(&within) - least(&within) }
    };
    let ranges: Vec<f64> = (0..count).map(range).collect();
    findings.set("equal", greatest(&ranges));
    findings.figures.push(Figure::Columns(Columns {
        title: "Range of N(12) among blocks of one age, as the firmware tells it".to_owned(),
        note: format!("bins of {} bit of the age times the correction limit; fewer than {} blocks have no range", at.bin, at.bin_least),
        x: "age".to_owned(),
        y: "bit".to_owned(),
        groups: (0..count).map(|bin| format!("{:.2}", f64::from(bin) * at.bin / limit)).collect(),
        series: vec![(at.drive.clone(), ranges)],
    }));
    for (cycles, seen) in looks {
        for seen in seen {
            let row = |quantity: &str, value: f64| OfBlock { place: Some(seen.place), quantity: format!("{quantity} at {cycles}"), value };
            findings.blocks.push(row("N(12), bit", seen.errors));
            findings.blocks.extend(seen.age.map(|age| row("age, share of a life", age)));
        }
    }
    findings
}
