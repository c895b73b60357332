//! Bench of follower programs on whole drives: their savings, their costs, their effect on data, and the effect of the order of wordlines on bursts (003
//! §4.1.2 to §4.1.4, §5.1).

use wordline_cells::Age;
use wordline_drive::{Pace, Watched};
use wordline_pages::html::figure::{Columns, Curve, Curves, Figure, Scale};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, HostRequest, Nanos};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::{greatest, least, mean, quantile};
use crate::paced::{Load, Rhythm, Trial, Tried, all, shares};
use crate::programs::Programs;
use crate::protocol::{Count, Cycles, Degrees, Micros, Name, Share, Size, Span, conditions};

/// The `followers` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "followers",
    summary: "Programs of whole drives: what followers save and cost, and what the order of wordlines does to bursts",
    metrics: &[
        m("saved", "share", "How much less time followers take than their leaders, mean of all followers and P/E counts"),
        m("saved-fresh", "share", "The same when fresh"),
        m("saved-old", "share", "The same at the last P/E count"),
        m("saved-most", "share", "The same for the follower that saves most"),
        m("literal", "share", "Followers that skip verifies as the source is printed: mean of all followers and P/E counts"),
        m("literal-most", "share", "The same for the follower that saves most"),
        m(
            "vert",
            "share",
            "How much less time programs of vertFTL take than those of the plain drive, mean of all wordlines and P/E counts",
        ),
        m("setting", "us", "What settings add to a program on a drive with nothing else to do, mean of leaders and followers"),
        m("asking", "us", "What asking the die after a program adds to it there, median"),
        m("again", "share", "Programs that were not relied on, at constant temperature, most of the P/E counts"),
        m("again-literal", "share", "The same where verifies are skipped as the source is printed"),
        m("again-swing", "share", "The same where the temperature changes between leaders and followers"),
        m("waiting", "share", "The largest share of a block that waits as followers at once"),
        m("waiting-horizontal", "count", "Followers of a block that wait at once, horizontal first"),
        m("burst", "ratio", "Bandwidth of a burst that followers can take, mixed order over horizontal first"),
        m("burst-bound", "ratio", "The same over what all followers can be to a leader in four"),
        m("sustained", "ratio", "Bandwidth without rest, mixed order over horizontal first"),
        m("steady", "ratio", "Bandwidth of cubeFTL without rest over that of the plain drive"),
        m("steady-bound", "ratio", "The same over 1 / (0.25 + 0.75 (1 - r)), with r as followers save in that run"),
        m("lost", "share", "Reads that no entry can correct, of all data after the longest time at the last P/E count"),
        m("worst", "share", "Wrong bits in the worst codeword of these reads, over what can be corrected"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "followers",
    /// Conditions of the drives that are written.
    struct At {
        /// the plain drive, without the techniques that are compared
        plain: Name,
        /// the drive with a program window for each h-layer that is found off-line
        vert: Name,
        /// the drive whose followers are programmed as their leaders allow, in horizontal order
        horizontal: Name,
        /// the drive whose followers are programmed as their leaders allow, in mixed order: leaders ahead of followers while there is time
        mixed: Name,
        /// exported size of each drive, or "whole"
        size: Name,
        /// P/E cycles of the drives, the first fresh
        cycles: Vec<Cycles>,
        /// bytes written to measure how long programs take
        written: Size,
        /// share of the drive that holds data
        fill: Share,
        /// writes outstanding
        depth: Count,
        /// bytes written with rests before a burst
        banked: Size,
        /// rest after each wordline written before a burst
        rest: Micros,
        /// bytes written in the burst
        burst: Size,
        /// temperature before leaders and after them
        swing: [Degrees; 2],
        /// retention before all data are read
        kept: Span,
        /// temperature of that retention
        kept_at: Degrees,
    }
}

/// Setting by which dies take no time to be set and asked.
const FREE: &str = "timing.t_feature=0 ns";
/// Settings that keep the technique on where half of all programs are repeated, because the followers are what is measured.
const LITERAL: [&str; 2] = ["techniques.layer-similarity.literal=true", "techniques.layer-similarity.relent=false"];

impl At {
    fn trial(&self, setup: &Setup, name: &str, settings: &[String], bytes: f64, rhythm: Rhythm) -> Result<Trial, LabError> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let plan = plan(setup, name, &self.size, &settings)?;
        Ok(Trial { plan, load: Load::Writes { bytes, fill: self.fill, depth: self.depth }, rhythm })
    }

    fn at_leisure(&self) -> Rhythm {
        Rhythm { quiet: Some((self.banked, Nanos::from_micros(self.rest as u64))), ..Rhythm::default() }
    }
}

/// Mean program time of the wordlines of one run over that of another, for wordlines programmed in both.
fn pace(of: &Programs, over: &Programs) -> f64 {
    let both = of.times.iter().filter_map(|(place, time)| Some(time / over.times.get(place)?));
    mean(&both.collect::<Vec<f64>>())
}

/// Additional program time of wordlines in one run over another, in us, for those programmed in both.
fn longer(of: &Programs, than: &Programs) -> Vec<f64> {
    of.times.iter().filter_map(|(place, time)| Some(time - than.times.get(place)?)).collect()
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let aged = |cycles: f64| vec![format!("cells.cycles={cycles}")];
    let and = |cycles: f64, more: &[&str]| [aged(cycles), more.iter().map(|&more| more.to_owned()).collect()].concat();
    let mut trials = Vec::new();
    for &cycles in &at.cycles {
        for (name, settings) in [
            (&at.plain, aged(cycles)),
            (&at.vert, aged(cycles)),
            (&at.horizontal, aged(cycles)),
            (&at.horizontal, and(cycles, &LITERAL)),
            (&at.mixed, aged(cycles)),
        ] {
            trials.push(at.trial(setup, name, &settings, at.written, Rhythm::default())?);
        }
    }
    for name in [&at.horizontal, &at.mixed] {
        trials.push(at.trial(setup, name, &[], at.burst, at.at_leisure())?);
    }
    let [before, after] = at.swing;
    let swing = Rhythm { swing: Some(after), ..at.at_leisure() };
    trials.push(at.trial(setup, &at.mixed, &[format!("cells.temperature={} C", before.0)], at.burst, swing)?);
    // What a setting costs is the difference to dies that are set and asked for nothing.
    for name in [&at.vert, &at.horizontal] {
        for settings in [vec![], vec![FREE.to_owned()]] {
            trials.push(at.trial(setup, name, &settings, 0.0, at.at_leisure())?);
        }
    }
    let tried = all(setup, "programs", &trials)?;
    let (by_age, others) = tried.split_at(5 * at.cycles.len());
    let kept = kept(setup, &at)?;
    Ok(judge(&at, by_age, others, &kept))
}

/// Writes data with followers at the last P/E count, keeps them, and reads them once.
fn kept(setup: &Setup, at: &At) -> Result<(Programs, f64), LabError> {
    let cycles = greatest(&at.cycles);
    let cycled = format!("cells.cycles={cycles}");
    let plan = plan(setup, &at.mixed, &at.size, &[&cycled])?;
    let config = plan.build();
    let limit = config.cells.as_ref().map_or(f64::NAN, |cells| cells.physics.ecc.correctable);
    let units = ((at.written / config.firmware.unit.0 as f64) as u64).min(config.exported_units);
    let sectors = config.firmware.unit.0 / SECTOR_BYTES;
    let in_order = |op: HostOp| {
        (0..units).map(move |unit| {
            let (sector, sectors) = (unit * sectors, sectors as u32);
            HostRequest::new(op, sector, sectors)
        })
    };
    let mut drive = Watched::new(config, Programs::default());
    drive.observer = Programs::new(drive.config());
    let pace = Pace::Closed { depth: at.depth };
    drive.set_age(&Age { cycles, dwell: 0.0, retention: 0.0, temperature: at.kept_at.0 });
    drive.serve(&mut in_order(HostOp::Write), pace, None);
    drive.settle();
    drive.set_age(&Age { cycles, dwell: 0.0, retention: at.kept, temperature: at.kept_at.0 });
    drive.serve(&mut in_order(HostOp::Read), pace, None);
    setup.teller.tell("programs: all data read");
    Ok((drive.observer.clone(), limit))
}

fn judge(at: &At, by_age: &[Tried], others: &[Tried], (kept, limit): &(Programs, f64)) -> Findings {
    let of_age = |which: usize| by_age.chunks(5).map(move |five| &five[which]).collect::<Vec<&Tried>>();
    let saved = |which: usize| of_age(which).iter().map(|tried| mean(&tried.programs.saved)).collect::<Vec<f64>>();
    let most = |which: usize| greatest(&of_age(which).iter().map(|tried| greatest(&tried.programs.saved)).collect::<Vec<f64>>());
    let again = |tried: &Tried| tried.programs.again as f64 / tried.programs.all as f64;
    let mut findings = Findings::default();
    let (by_cycles, literal) = (saved(2), saved(3));
    findings.set("saved", mean(&by_cycles));
    findings.set("saved-fresh", by_cycles[0]);
    findings.set("saved-old", *by_cycles.last().expect("P/E counts"));
    findings.set("saved-most", most(2));
    findings.set("literal", mean(&literal));
    findings.set("literal-most", most(3));
    let paired = |which: usize| by_age.chunks(5).map(|five| 1.0 - pace(&five[which].programs, &five[0].programs)).collect::<Vec<f64>>();
    let vert = paired(1);
    findings.set("vert", mean(&vert));
    let [horizontal, mixed, swing, asked, asked_free, set, set_free] = others else { unreachable!("seven runs") };
    // The margins of vertFTL are the same for all h-layers: its dies are asked after each program, and hardly ever set.
    let asking = quantile(&longer(&asked.programs, &asked_free.programs), 0.5);
    findings.set("asking", asking);
    findings.set("setting", mean(&longer(&set.programs, &set_free.programs)) - asking);
    findings.set("again", greatest(&of_age(2).into_iter().chain(of_age(4)).map(again).collect::<Vec<_>>()));
    findings.set("again-literal", greatest(&of_age(3).into_iter().map(again).collect::<Vec<_>>()));
    findings.set("again-swing", again(swing));
    findings.set("waiting", mixed.programs.waiting);
    findings.set("waiting-horizontal", horizontal.programs.waiting_most());
    let burst = mixed.rate_in_bursts() / horizontal.rate_in_bursts();
    findings.set("burst", burst);
    let r = mean(&mixed.programs.saved);
    findings.set("burst-bound", burst * (1.0 - r) / (0.25 + 0.75 * (1.0 - r)));
    let ratio = |which: usize, over: usize| by_age[which].rate_in_bursts() / by_age[over].rate_in_bursts();
    findings.set("sustained", ratio(4, 2));
    findings.set("steady", ratio(4, 0));
    findings.set("steady-bound", ratio(4, 0) * (0.25 + 0.75 * (1.0 - mean(&by_age[4].programs.saved))));
    findings.set("lost", kept.lost as f64 / kept.reads as f64);
    findings.set("worst", f64::from(kept.worst) / limit);
    let cycles: Vec<String> = at.cycles.iter().map(|cycles| format!("{cycles} P/E")).collect();
    let series = vec![(at.vert.clone(), vert), (at.mixed.clone(), by_cycles), ("as 003 is printed".to_owned(), literal)];
    findings.figures = vec![
        Figure::Columns(Columns {
            title: "Program time saved on drives".to_owned(),
            note: "of followers against their leaders; of vertFTL against the plain drive".to_owned(),
            x: "age".to_owned(),
            y: "share of t_PROG".to_owned(),
            groups: cycles,
            series,
        }),
        Figure::Curves(Curves {
            title: "How much less time followers take".to_owned(),
            note: "cumulative distribution over the followers of a drive".to_owned(),
            x: Scale::even("share of the leader's time"),
            y: Scale::from_zero("share of followers, %"),
            curves: at
                .cycles
                .iter()
                .zip(of_age(2))
                .enumerate()
                .map(|(colour, (cycles, tried))| distribution(colour, *cycles, tried))
                .collect(),
            marks: vec![(0.3, "003, mean".to_owned()), (0.359, "003, most".to_owned())],
        }),
    ];
    findings
}

fn distribution(colour: usize, cycles: f64, tried: &Tried) -> Curve {
    let saved = &tried.programs.saved;
    let points = shares().map(|share| (quantile(saved, share), 100.0 * share));
    debug_assert!(least(saved) <= greatest(saved));
    Curve { label: format!("{cycles} P/E"), colour, dashed: false, points: points.collect() }
}
