//! Where reads should begin: a model of `layer-read-offsets` that knows blocks of dies and no groups, and dice for what reads need.
//!
//! Checks: each read begins at the entry that the last retried read of its h-layer ended with, and at the default where there was none since
//! the block was erased or the power was cut; without the technique at the default always. Does not check: that an entry is worth anything (`tests/aged` of
//! the drive does).

use std::collections::BTreeMap;

use wordline_flash::{ReadTry, Target};
use wordline_ftl::Config;
use wordline_ftl::techniques::Choice;
use wordline_units::random::{Draw, Stream};
use wordline_units::{DieId, OpTag};

/// Die, plane, block, h-layer.
type Place = (DieId, u8, u16, u32);

/// What is known, and reads under way with what each needs.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    is_on: bool,
    pages_per_layer: u32,
    known: BTreeMap<Place, u8>,
    under_way: BTreeMap<OpTag, (Place, u32, u8)>,
    dice: Draw,
    /// Reads that began elsewhere than at the default.
    pub(crate) reused: u64,
}

impl Offsets {
    pub(crate) fn new(config: &Config, seed: u64) -> Offsets {
        let geometry = &config.sheet.geometry;
        Offsets {
            is_on: config.techniques.contains(&Choice::LayerReadOffsets),
            pages_per_layer: geometry.wordlines_per_layer * geometry.cell.bits(),
            known: BTreeMap::new(),
            under_way: BTreeMap::new(),
            dice: Draw::new(seed, Stream::ReadFail, 0),
            reused: 0,
        }
    }

    /// A read is ordered.
    pub(crate) fn ordered(&mut self, die: DieId, tag: OpTag, target: &Target, first: ReadTry) -> Result<(), String> {
        let begin = first.entry;
        let plane = target.planes.first_plane().expect("a read is of one plane").0;
        let place = (die, plane, target.blocks[usize::from(plane)], u32::from(target.page.0) / self.pages_per_layer);
        let expected = if self.is_on { self.known.get(&place).copied().unwrap_or(0) } else { 0 };
        if begin != expected {
            return Err(format!("a read of {place:?} (die, plane, block, h-layer) begins at entry {begin}, not at {expected}"));
        }
        self.reused += u64::from(begin > 0);
        let (retries, entry) = if self.dice.happens(0.3) { (1 + self.dice.below(9) as u32, self.dice.below(10) as u8) } else { (0, begin) };
        self.under_way.insert(tag, (place, retries, entry));
        Ok(())
    }

    /// It is reported: its retries, and its last try.
    pub(crate) fn reported(&mut self, tag: OpTag) -> (u32, ReadTry) {
        let (place, retries, entry) = self.under_way.remove(&tag).unwrap_or(((DieId(0), 0, 0, 0), 0, 0));
        if retries > 0 {
            self.known.insert(place, entry);
        }
        (retries, ReadTry::vendor(entry))
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
