//! Where reads should begin: a model of `layer-read-offsets` that knows blocks of dies and no groups, and dice for what reads need.
//!
//! Checks: each read begins at the entry that the last retried read of its h-layer ended with, and at the default where there was none since
//! the block was erased or the power was cut; without the technique at the default always, and a measurement as well. Where somebody else estimates too, a read
//! may begin with a set of references in its place. Does not check: that an entry is worth anything (`tests/aged` of the drive does).

use std::collections::BTreeMap;

use wordline_flash::{Operation, ReadTry, Target};
use wordline_ftl::Config;
use wordline_ftl::techniques::Choice;
use wordline_ftl::techniques::hooks::Hook;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, DieId, OpTag};

/// Die, plane, block, h-layer.
type Place = (DieId, u8, u16, u32);

/// What is known, and reads under way with what each needs.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    is_on: bool,
    /// True if another technique estimates where reads begin.
    has_sets: bool,
    pages_per_layer: u32,
    known: BTreeMap<Place, u8>,
    under_way: BTreeMap<OpTag, (Place, u32, ReadTry)>,
    dice: Draw,
    /// Reads that began elsewhere than at the default.
    pub(crate) reused: u64,
}

impl Offsets {
    pub(crate) fn new(config: &Config, seed: u64) -> Offsets {
        let geometry = &config.sheet.geometry;
        Offsets {
            is_on: config.techniques.contains(&Choice::LayerReadOffsets),
            has_sets: config.techniques.iter().any(|choice| *choice != Choice::LayerReadOffsets && choice.card().hooks.has(Hook::Estimate)),
            pages_per_layer: geometry.wordlines_per_layer * geometry.cell.bits(),
            known: BTreeMap::new(),
            under_way: BTreeMap::new(),
            dice: Draw::new(seed, Stream::ReadFail, 0),
            reused: 0,
        }
    }

    /// The read `operation` of `target` is ordered, to begin with `first`.
    pub(crate) fn ordered(&mut self, operation: &Operation, target: &Target, first: ReadTry) -> Result<(), String> {
        if operation.cause == Cause::Probe {
            // It is one sensing, and teaches nothing.
            return if first == ReadTry::DEFAULT { Ok(()) } else { Err(format!("a probe begins at {first:?}")) };
        }
        let (die, tag, begin) = (operation.die, operation.tag, first.entry);
        let is_measured = operation.cause == Cause::Measure;
        let plane = target.planes.first_plane().expect("a read is of one plane").0;
        let place = (die, plane, target.blocks[usize::from(plane)], u32::from(target.page.0) / self.pages_per_layer);
        let expected = if self.is_on && !is_measured { self.known.get(&place).copied().unwrap_or(0) } else { 0 };
        let is_set = self.has_sets && !is_measured && first.set != ReadTry::DEFAULT.set;
        if !is_set && first != ReadTry::vendor(expected) {
            return Err(format!("a read of {place:?} (die, plane, block, h-layer) begins at entry {begin}, not at {expected}"));
        }
        self.reused += u64::from(begin > 0);
        let retried = self.dice.happens(0.3);
        let (retries, last) =
            if retried { (1 + self.dice.below(9) as u32, ReadTry::vendor(self.dice.below(10) as u8)) } else { (0, first) };
        self.under_way.insert(tag, (place, retries, last));
        Ok(())
    }

    /// It is reported: its retries, and its last try. `good`: the page was read. What failed at every try teaches nothing.
    pub(crate) fn reported(&mut self, tag: OpTag, good: bool) -> (u32, ReadTry) {
        let (place, retries, last) = self.under_way.remove(&tag).unwrap_or(((DieId(0), 0, 0, 0), 0, ReadTry::DEFAULT));
        if retries > 0 && good {
            self.known.insert(place, last.entry);
        }
        (retries, last)
    }

    /// It is given up, and its tag serves another operation next.
    pub(crate) fn aborted(&mut self, tag: OpTag) {
        self.under_way.remove(&tag);
    }

    /// Blocks are erased.
    pub(crate) fn erased(&mut self, die: DieId, target: &Target) {
        let blocks = |plane: u8| target.blocks[usize::from(plane)];
        self.known.retain(|&(of, plane, block, _), _| !(of == die && target.planes.iter().any(|p| p.0 == plane) && block == blocks(plane)));
    }

    /// The power is cut.
    pub(crate) fn cut(&mut self) {
        self.known.clear();
        self.under_way.clear();
    }
}
