//! The table of margins, with which firmware turns what a leader wordline shows into the margins of its followers. It is found as a maker finds it: by
//! characterising many chips off-line (003 §4.1.2). It is data of a chip file, and firmware sees no more of the physics than this.
//!
//! A follower is programmed as the table says, kept as long as its data must last, and read at the best entry of the retry table. It is safe where the page
//! with the most errors cannot be corrected with a probability of at most `risk`. The table then says:
//!
//! - `early`: how many loops before the leader saw a state's first cells a follower must begin to verify it. The least for which followers without any
//!   margin are safe, all of them.
//! - for each total margin, in whole loops, how it is best divided: the split whose worst follower has the fewest errors.
//! - up to how many errors between the erased state and P1 on a leader that total is safe for all wordlines of the lot that show as many.
//! - for each h-layer what V_final alone may give up in all blocks at all ages, without skipping (Hung et al., vertFTL).
//!
//! What a table is safe for is what was tried: P/E counts, one retention, no reads, one temperature.

mod lent;
mod text;
mod wordline;

use std::sync::atomic::{AtomicU64, Ordering};

use wordline_flash::{MarginStep, Margins, WindowMargin};
use wordline_units::Microvolts;

use crate::bench::Setup;
use crate::error::LabError;
use crate::lot::{Lot, greatest, mean, rank_correlation, share};
use crate::protocol::{Count, Cycles, Protocol, Share, Span, Volts, conditions};
use wordline::{Looker, Seen};

pub(crate) use lent::LEADERS;
pub use wordline::unsafe_followers;

conditions! {
    "margins",
    /// Conditions that a table must be safe for.
    struct At {
        /// cycles at which wordlines are programmed
        pe: Vec<Cycles>,
        /// retention that the data of followers must last
        kept: Span,
        /// probability up to which the worst page of a follower may be uncorrectable after that retention
        risk: Share,
        /// loops at which the search for margins gives up
        loops_most: Count,
        /// loops before the leader's first verify at which the search for a follower's gives up
        early_most: Count,
        /// voltage below its default of R1 while errors between the erased state and P1 are counted
        lowered: Volts,
    }
}

/// The conditions of a characterisation of margins.
pub const PROTOCOL: Protocol = At::PROTOCOL;

/// A table of margins, and how it was found.
#[derive(Clone, Debug)]
pub struct Characterised {
    /// The table for the chip file.
    pub margins: Margins,
    /// Number of cells of a wordline.
    pub cells: u32,
    /// Effects of the table at each age, the youngest first.
    pub ages: Vec<Age>,
    /// Text of the table's source.
    pub source: String,
}

impl Characterised {
    /// The margins section as TOML, without remarks.
    pub fn section(&self) -> String {
        text::section(&self.margins, self.cells, &self.source)
    }

    /// Effects of the table at each age, as remarks of TOML.
    pub fn remarks(&self) -> String {
        text::remarks(&self.ages)
    }
}

/// Effects of a table at one age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age {
    /// P/E cycles.
    pub pe: f64,
    /// Rank correlation over wordlines of the expected errors between E and P1 after a program, and of the errors after retention.
    pub expected: f64,
    /// Rank correlation over wordlines of the counted errors between E and P1, and of the errors after retention: a count of few is mostly chance.
    pub counted: f64,
    /// Share of the leaders that show any errors between E and P1.
    pub showing: f64,
    /// The most errors between E and P1 that one leader shows.
    pub most: u32,
    /// Mean number of errors of a codeword of the worst page after retention, for the worst wordline: leaders, followers that skip up to L_min, followers by
    /// the table.
    pub worst: [f64; 3],
    /// Share of t_PROG saved, mean over wordlines: skipping up to L_min; margins alone; both; skipping by the table; both by the table; the static table.
    pub saved: [f64; 6],
    /// Share of t_PROG saved on the h-layer with the most errors: both by the table, the static table.
    pub kappa: [f64; 2],
}

/// Characterises the margins of a setup's lot.
///
/// # Errors
///
/// There is no such chip, it has no physics, or its voltages are no whole microvolts.
pub fn characterise(setup: &Setup) -> Result<Characterised, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let physics = lot.model.physics();
    let step = Microvolts((physics.ispp.step * 1e3).round() as u32);
    let looker = Looker::new(&lot, &at);
    let lowered = Microvolts((at.lowered * 1e3).round() as u32);
    let mut margins = Margins { step, lowered, early: 0, steps: Vec::new(), layers: Vec::new() };
    let searched = early(&looker, setup, &margins);
    margins.early = searched.unwrap_or(at.early_most) as u8;
    let seen = walk(&looker, setup, "margins", &|block| looker.block(block, &margins));
    let seen: Vec<&Seen> = seen.iter().flatten().collect();
    if searched.is_some() {
        margins.steps = lines(&seen, &splits(&seen, at.loops_most), step);
    }
    let of_layer = |layer: usize| seen.iter().filter(|seen| seen.layer == layer).map(|seen| seen.end_alone).min().unwrap_or(0);
    margins.layers = (0..lot.layers()).map(|layer| Microvolts(of_layer(layer) * step.0)).collect();
    let ages = ages(&looker, setup, &margins);
    Ok(Characterised { cells: physics.shape.cells(), ages, source: text::source(setup, &at, &lot), margins })
}

/// Results of `work` for every block. Reports its progress.
fn walk<T: Send>(looker: &Looker<'_>, setup: &Setup, what: &str, work: &(dyn Fn(&wordline_cells::Block) -> T + Sync)) -> Vec<T> {
    let done = AtomicU64::new(0);
    looker.lot.map(|block| {
        let found = work(block);
        setup.teller.tell(&format!("{what}: {} of {} blocks", done.fetch_add(1, Ordering::Relaxed) + 1, setup.lot.total()));
        found
    })
}

/// The least `early` with which followers without margins are safe; `None` where not even the most is enough.
fn early(looker: &Looker<'_>, setup: &Setup, none: &Margins) -> Option<u32> {
    let needed = walk(looker, setup, "first verifies", &|block| looker.early(block, none));
    needed.into_iter().try_fold(0, |most, needed| needed.map(|needed| most.max(needed)))
}

/// The best split of each total from one loop on. It is the split whose worst follower has the fewest errors, or the one that saves more where they are
/// alike.
fn splits(seen: &[&Seen], loops_most: u32) -> Vec<(u32, u32)> {
    /// Difference in the errors of a codeword below which they count as alike.
    const ALIKE: f64 = 0.1;
    let worst = |split: (u32, u32)| {
        let errors = seen.iter().map(|seen| seen.with(split).map_or(f64::INFINITY, |tried| tried.errors));
        greatest(&errors.collect::<Vec<_>>())
    };
    let saved = |split: (u32, u32)| mean(&seen.iter().filter_map(|seen| seen.with(split)).map(|tried| tried.saved).collect::<Vec<_>>());
    let best = |total: u32| {
        let all: Vec<((u32, u32), f64)> = (0..=total).map(|start| (start, total - start)).map(|split| (split, worst(split))).collect();
        let fewest = crate::lot::least(&all.iter().map(|(_, errors)| *errors).collect::<Vec<_>>());
        let alike = all.into_iter().filter(|(_, errors)| errors.is_infinite() || *errors <= fewest + ALIKE);
        alike.max_by(|a, b| saved(a.0).total_cmp(&saved(b.0))).map_or((0, total), |(split, _)| split)
    };
    (1..=loops_most).map(best).collect()
}

/// The lines of the table, the greatest margin first.
fn lines(seen: &[&Seen], splits: &[(u32, u32)], step: Microvolts) -> Vec<MarginStep> {
    let shown = seen.iter().map(|seen| seen.shown).max().unwrap_or(0);
    let mut lines: Vec<MarginStep> = Vec::new();
    for &(start, end) in splits.iter().rev() {
        let harmed = seen.iter().filter(|seen| !seen.with((start, end)).is_some_and(|tried| tried.safe)).map(|seen| seen.shown).min();
        // What was shown by nobody was not tried.
        let Some(errors_max) = harmed.map_or(Some(shown), |least| least.checked_sub(1)) else { continue };
        // No wordline has room for more at V_start than this.
        let start = seen.iter().filter_map(|seen| seen.with((start, end))).map(|tried| tried.start).max().unwrap_or(0);
        let window = WindowMargin { start: Microvolts(start * step.0), end: Microvolts(end * step.0) };
        if lines.last().is_none_or(|line| line.errors_max < errors_max && line.window.total() > window.total()) {
            lines.push(MarginStep { errors_max, window });
        }
    }
    lines
}

/// Effects of the table at each age.
fn ages(looker: &Looker<'_>, setup: &Setup, margins: &Margins) -> Vec<Age> {
    let done = walk(looker, setup, "figures", &|block| looker.applied(block, margins));
    let done: Vec<wordline::Applied> = done.into_iter().flatten().collect();
    let last = looker.at.pe.len() - 1;
    let errors_of =
        |layer: usize| mean(&done.iter().filter(|one| one.age == last && one.layer == layer).map(|one| one.errors[0]).collect::<Vec<_>>());
    let kappa = (0..looker.lot.layers()).max_by(|a, b| errors_of(*a).total_cmp(&errors_of(*b))).unwrap_or(0);
    let age = |(age, &pe): (usize, &f64)| {
        let of: Vec<&wordline::Applied> = done.iter().filter(|one| one.age == age).collect();
        let column = |value: &dyn Fn(&wordline::Applied) -> f64| of.iter().map(|one| value(one)).collect::<Vec<f64>>();
        // Ranks of all pairs: of a few thousand that are spread over the lot.
        let some = |values: Vec<f64>| values.iter().copied().step_by(values.len().div_ceil(RANKED)).collect::<Vec<f64>>();
        let kept = some(column(&|one| one.errors[0]));
        let of_kappa = |number: usize| mean(&of.iter().filter(|one| one.layer == kappa).map(|one| one.saved[number]).collect::<Vec<_>>());
        Age {
            pe,
            expected: rank_correlation(&some(column(&|one| one.expected)), &kept),
            counted: rank_correlation(&some(column(&|one| f64::from(one.shown))), &kept),
            showing: share(of.iter().map(|one| one.shown > 0)),
            most: of.iter().map(|one| one.shown).max().unwrap_or(0),
            worst: [0, 1, 2].map(|number| greatest(&column(&|one| one.errors[number]))),
            saved: [0, 1, 2, 3, 4, 5].map(|number| mean(&column(&|one| one.saved[number]))),
            kappa: [of_kappa(4), of_kappa(5)],
        }
    };
    looker.at.pe.iter().enumerate().map(age).collect()
}

/// The most wordlines that are ranked.
const RANKED: usize = 2_001;
