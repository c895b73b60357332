//! Bench of erases that spare the weakest wordlines: how long a block lives by them, and what they cost in capacity (001 §3.2.2, §3.2.3).
//!
//! A wordline that is good for `M` normal erases and takes `S` of their stress from a low-stress one is good for `M / (1 - f·(1 - S))` when `f` of its erases
//! are low-stress ones. A low-stress wordline holds no data until the next erase, so that shares of erases are a block's capacity. What is best with a given
//! capacity is found as water fills a basin: all wordlines that need it are raised to one endurance.

use wordline_cells::{Block, History, Traits};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, crossing, greatest, least, mean, share};
use crate::protocol::{Count, Cycles, Number, Share, Span, conditions};

/// The `guard` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "guard",
    summary: "Endurance of blocks whose weakest wordlines are erased gently, by the capacity that is given for it",
    metrics: &[
        m("gain-first", "ratio", "Endurance with the first mode over that with normal erases, mean over blocks"),
        m("gain-last", "ratio", "The same with the last mode"),
        m("rises", "share", "Modes with more endurance than the one before"),
        m("falls-off", "share", "Modes that gain less than the one before"),
        m("capacity-first", "share", "Capacity of the chip's blocks that the first mode costs"),
        m("capacity-alike", "share", "Greatest capacity that one of the combinations told to be alike costs"),
        m("capacity-alike-least", "share", "Least capacity that one of them costs"),
        m("told-ratio", "share", "Low-stress erases that the weakest group of the told endurances needs with the first mode"),
        m("told-capacity", "share", "Capacity that all groups of the told endurances cost then"),
        m("told-endurance", "P/E", "Endurance of the told block then"),
        m("told-stress", "share", "Stress of a normal erase on the third group told, over that on the first"),
        m("example", "P/E", "Endurance of the wordline in the example"),
        m("definition", "ratio", "Coefficient that follows from the endurances by which it is explained"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "guard",
    /// Conditions of the low-stress modes, and what the source tells of them.
    struct At {
        /// the retention after which errors are counted
        kept: Span,
        /// cycles at which the search for the end of a wordline's life gives up
        cycles_most: Cycles,
        /// low-stress modes: wordlines that a low-stress erase protects, and the share of erases that are low-stress ones
        modes: Vec<(Count, Share)>,
        /// combinations of wordlines and share of erases that the source tells to be alike
        alike: Vec<(Count, Share)>,
        /// endurances of groups of wordlines in the worked example, the rest of its groups being stronger
        told: Vec<Cycles>,
        /// number of wordlines in a group of the worked example
        told_group: Count,
        /// number of wordlines in a block of the worked example
        told_wordlines: Count,
        /// coefficient of all wordlines, in the worked example and in the endurance of modes
        told_coefficient: Number,
        /// endurance, share of low-stress erases and coefficient of the short example
        example: (Cycles, (Share, Number)),
        /// endurances by normal and by low-stress erases with which the coefficient is explained
        explained: [Cycles; 2],
    }
}

/// A group of wordlines: its endurance in normal erases, and its coefficient.
pub(crate) type Group = (f64, f64);

/// Cycles at which a wordline's errors reach the limit when `gentle` of its erases are low-stress ones.
pub(crate) fn endurance(lot: &Lot, traits: &Traits, gentle: f64, kept: f64, most: f64) -> f64 {
    crossing(0.0, most, lot.limit(), |cycles| {
        let history = lot.worn(cycles);
        lot.worst_page(traits, &lot.after(History { gentle: history.erase * gentle as f32, ..history }, kept))
    })
}

/// The coefficient of a wordline from its endurance by `normal` erases and by `mixed` ones, with `gentle` low-stress ones among them.
pub(crate) fn coefficient(normal: f64, mixed: f64, gentle: f64) -> f64 {
    // mixed / normal = 1 / (1 - g + g·S)
    (normal / mixed - (1.0 - gentle)) / gentle
}

/// Endurance of a wordline when `gentle` of its erases are low-stress ones.
fn endured((normal, coefficient): Group, gentle: f64) -> f64 {
    normal / (1.0 - gentle * (1.0 - coefficient))
}

/// Share of low-stress erases that a group needs to endure `cycles`.
pub(crate) fn needed((normal, coefficient): Group, cycles: f64) -> f64 {
    ((1.0 - normal / cycles) / (1.0 - coefficient)).max(0.0)
}

/// The most erases that all groups endure when `gentle` of them are low-stress ones and spare `budget` of a block in the mean; a group is `part` of a block.
pub(crate) fn filled(groups: &[Group], part: f64, budget: f64, gentle: f64) -> f64 {
    let all = |of: &dyn Fn(Group) -> f64| least(&groups.iter().map(|group| of(*group)).collect::<Vec<f64>>());
    let mut ends = (all(&|group| group.0), all(&|group| endured(group, gentle)));
    // Halved until a cycle more or less makes no difference.
    while ends.1 - ends.0 > 1e-3 {
        let middle = 0.5 * (ends.0 + ends.1);
        let cost: f64 = groups.iter().map(|group| part * needed(*group, middle)).sum();
        if cost > budget { ends.1 = middle } else { ends.0 = middle }
    }
    ends.0
}

fn groups(lot: &Lot, at: &At, block: &Block) -> Vec<Group> {
    // What the chip's wordlines endure is measured; that they all have one coefficient is how the source works out its table (001 §3.2.2, §3.2.3).
    let of = |traits: &Traits| (endurance(lot, traits, 0.0, at.kept, at.cycles_most), at.told_coefficient);
    lot.traits(block).iter().map(of).collect()
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let shape = lot.model.physics().shape;
    let wordlines = f64::from(shape.wordlines());
    let part = 1.0 / lot.layers() as f64;
    let budget = |(protected, gentle): (u32, f64)| f64::from(protected) * gentle / wordlines;
    let gains: Vec<Vec<f64>> = lot.map(|block| {
        let groups = groups(&lot, &at, block);
        let weakest = least(&groups.iter().map(|group| group.0).collect::<Vec<_>>());
        std::iter::once(1.0).chain(at.modes.iter().map(|mode| filled(&groups, part, budget(*mode), mode.1) / weakest)).collect()
    });
    let gain: Vec<f64> = (0..=at.modes.len()).map(|mode| mean(&gains.iter().map(|of| of[mode]).collect::<Vec<_>>())).collect();
    let mut findings = Findings::default();
    for (number, (protected, gentle)) in at.modes.iter().enumerate() {
        let quantity = format!("endurance gained with {protected} wordlines and {} % gentle erases", 100.0 * gentle);
        findings.of_blocks(&lot, &quantity, gains.iter().map(|of| of[number + 1]));
    }
    findings.set("gain-first", gain[1]);
    findings.set("gain-last", gain[gain.len() - 1]);
    findings.set("rises", share(gain.windows(2).map(|pair| pair[1] > pair[0])));
    findings.set("falls-off", share(gain.windows(3).map(|three| three[2] - three[1] < three[1] - three[0])));
    findings.set("capacity-first", budget(at.modes[0]));
    let alike: Vec<f64> = at.alike.iter().map(|combination| budget(*combination)).collect();
    findings.set("capacity-alike", greatest(&alike));
    findings.set("capacity-alike-least", least(&alike));
    let told: Vec<Group> = at.told.iter().map(|cycles| (*cycles, at.told_coefficient)).collect();
    let all = f64::from(at.told_wordlines);
    let (part, (protected, gentle)) = (f64::from(at.told_group) / all, at.modes[0]);
    let cycles = filled(&told, part, f64::from(protected) * gentle / all, gentle);
    findings.set("told-ratio", needed(told[0], cycles));
    findings.set("told-capacity", told.iter().map(|group| part * needed(*group, cycles)).sum());
    findings.set("told-endurance", cycles);
    if let (Some(weak), Some(third)) = (told.first(), told.get(2)) {
        findings.set("told-stress", weak.0 / third.0);
    }
    let (normal, (gentle, of_example)) = at.example;
    findings.set("example", endured((normal, of_example), gentle));
    findings.set("definition", coefficient(at.explained[0], at.explained[1], 1.0));
    let costs: Vec<f64> = std::iter::once(0.0).chain(at.modes.iter().map(|mode| budget(*mode))).collect();
    findings.figures = vec![figure(&gain, &gains, &costs)];
    Ok(findings)
}

fn figure(gain: &[f64], gains: &[Vec<f64>], costs: &[f64]) -> Figure {
    let curve = |label: &str, colour: usize, of: &dyn Fn(usize) -> f64| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: costs.iter().enumerate().map(|(mode, cost)| (100.0 * cost, of(mode))).collect(),
    };
    let over = |pick: fn(&[f64]) -> f64| move |mode: usize| pick(&gains.iter().map(|of| of[mode]).collect::<Vec<_>>());
    Figure::Curves(Curves {
        title: "Endurance by erases that spare the weakest wordlines".to_owned(),
        note: "over normal erases".to_owned(),
        x: Scale::from_zero("capacity given up, %"),
        y: Scale::even("endurance, relative"),
        curves: vec![curve("greatest", 4, &over(greatest)), curve("mean", 0, &|mode| gain[mode]), curve("least", 2, &over(least))],
        marks: Vec::new(),
    })
}
