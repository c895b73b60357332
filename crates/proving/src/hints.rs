//! A host that hints at the latency of reads that it tolerates, by dice, and a map of its hints.
//!
//! Checks: the valid units of each class in each block group are those that the map comes to, wherever data moves and whatever becomes stale. A unit that a
//! hint covers in part becomes stricter, and never more tolerant. Uses that techniques make of the classes are not checked.

use std::collections::BTreeMap;

use wordline_ftl::config::Config;
use wordline_ftl::techniques::seam::Ask;
use wordline_ftl::{Firmware, Request, UnitAddr};
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, Nanos, Tolerance};

use crate::pace::{BLANK, mask};

/// The number of the dice of hints.
const HINTS: u32 = 19;
/// Number of the first hint: those of other requests are below.
const FIRST: u32 = 1 << 30;
/// Units of a core that are compared for each step, in the mean.
const UNITS: u32 = 8;

/// All classes, the one that tolerates least first.
const BY_RANK: [Tolerance; 4] = [Tolerance::Default, Tolerance::Shortest, Tolerance::Typical, Tolerance::Longer];

/// Hints of one host, in a core that heeds them.
#[derive(Clone, Debug)]
pub(crate) struct Hints {
    dice: Draw,
    is_on: bool,
    sectors: u32,
    classes: BTreeMap<u32, Tolerance>,
    given: u32,
    steps: u32,
    /// Units of the core that are compared for each step, in the mean.
    units_each: u32,
    /// Comparisons of all counts.
    pub(crate) compared: u64,
}

impl Hints {
    /// Creates a host of `seed` for a core of this `config`. It hints where a technique heeds hints, and draws nothing elsewhere.
    pub(crate) fn new(config: &Config, seed: u64) -> Hints {
        let is_on = config.techniques.iter().any(|choice| choice.card().asks.contains(&Ask::Tolerances));
        let sectors = (config.unit.0 / 512) as u32;
        Hints {
            dice: Draw::new(seed, Stream::Mix, HINTS),
            is_on,
            sectors,
            classes: BTreeMap::new(),
            given: 0,
            steps: 0,
            units_each: UNITS,
            compared: 0,
        }
    }

    /// Compare `units` of the core for each step, in the mean.
    pub(crate) fn look_closely(&mut self, units: u32) {
        self.units_each = units;
    }

    /// Hint that comes now, if there is one, to a core that shows `exported` units.
    pub(crate) fn next(&mut self, exported: u32) -> Option<Request> {
        if !self.is_on || !self.dice.happens(0.04) {
            return None;
        }
        self.given += 1;
        let dice = &mut self.dice;
        let is_whole = dice.happens(0.4);
        let (lpn, units) = if is_whole {
            (0, exported)
        } else {
            let lpn = dice.below(u64::from(exported)) as u32;
            (lpn, 1 + dice.below(u64::from((exported - lpn).min(40))) as u32)
        };
        let edge = |dice: &mut Draw| if !is_whole && dice.happens(0.5) { dice.below(u64::from(self.sectors / 2)) as u32 } else { 0 };
        let (skip_head, skip_tail) = (edge(dice), edge(dice));
        // A core most of which has no hint postpones nothing.
        let class = BY_RANK[if is_whole { 1 + dice.below(3) } else { dice.below(4) } as usize];
        let attributes = BLANK.attributes.with_tolerance(class);
        let hint = Request { id: FIRST + self.given, op: HostOp::Hint, lpn, units, skip_head, skip_tail, attributes, ..BLANK };
        self.note(&hint);
        Some(hint)
    }

    /// The same request with a class of its data, if it is a write that has one.
    pub(crate) fn dress(&mut self, request: Request, is_refused: bool) -> Request {
        if !self.is_on || request.op != HostOp::Write || !self.dice.happens(0.05) {
            return request;
        }
        let class = BY_RANK[self.dice.below(4) as usize];
        let dressed = Request { attributes: request.attributes.with_tolerance(class), ..request };
        if class != Tolerance::Default && !is_refused {
            self.note(&dressed);
        }
        dressed
    }

    fn note(&mut self, request: &Request) {
        let rank = |class: Tolerance| BY_RANK.iter().position(|&other| other == class);
        let class = request.attributes.tolerance;
        for index in 0..request.units {
            let known = self.classes.entry(request.lpn + index).or_default();
            let is_whole = mask(request, index, self.sectors).count_ones() == self.sectors;
            if is_whole || rank(class) < rank(*known) {
                *known = class;
            }
        }
    }

    /// The power is cut: the core has forgotten them.
    pub(crate) fn cut(&mut self) {
        self.classes.clear();
    }

    /// Number of hints so far.
    pub(crate) fn given(&self) -> u32 {
        self.given
    }

    /// True if the counts of a core that shows `exported` units are to be compared after this step. Large cores are compared after some of all steps.
    pub(crate) fn is_turn(&mut self, exported: u32) -> bool {
        self.steps += u32::from(self.is_on);
        self.is_on && self.steps.is_multiple_of(1 + exported / self.units_each)
    }

    /// Compare the counts of `ftl` with those of the map.
    pub(crate) fn compare(&mut self, ftl: &Firmware, now: Nanos) -> Result<(), String> {
        if !self.is_on {
            return Ok(());
        }
        self.compared += 1;
        let layout = ftl.layout();
        let mut counts = vec![[0; BY_RANK.len()]; layout.group_count()];
        for lpn in 0..ftl.map().exported() {
            let addr = ftl.map().get(lpn);
            if addr != UnitAddr::NONE {
                let class = self.classes.get(&lpn).copied().unwrap_or_default();
                let rank = BY_RANK.iter().position(|&other| other == class).expect("all have one");
                counts[layout.group(addr).index()][rank] += 1;
            }
        }
        let view = ftl.view(now);
        for (group, expected) in (0..).map(wordline_ftl::BlockGroup).zip(&counts) {
            let told = BY_RANK.map(|class| view.units_tolerating(group, class));
            if told != *expected {
                return Err(format!("{group:?} has {told:?} valid units of the classes {BY_RANK:?}, and by the hints {expected:?}"));
            }
        }
        Ok(())
    }
}
