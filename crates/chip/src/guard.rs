//! Wordlines that guarded erases have spared: they take no data until the next erase of their block.
//!
//! Nobody can tell a spared wordline from a blank one by looking: it senses as erased. A die that programs in order passes over it.

use serde::{Deserialize, Serialize};
use wordline_cells::ReliefTables;
use wordline_flash::{EraseSettings, Feature, Target};
use wordline_units::{BlockId, PageId, PlaneId, WordlineSet};

use crate::chip::Chip;
use crate::payload::Place;
use crate::place::planes;

/// The wordlines that the last erase of each block has spared. Empty on a die that never had a guarded erase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    sets: Vec<Option<Box<WordlineSet>>>,
    /// Number of blocks with spared wordlines.
    count: u32,
}

/// What guarded erases have left on a die at rest, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GuardImage {
    registers: [u32; Feature::SPARES.len()],
    trace: u32,
    spared: Vec<(u32, Vec<u32>)>,
    relief: ReliefTables,
}

impl Guard {
    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// The wordlines of a block that its last erase has spared.
    #[inline]
    pub(crate) fn of(&self, block: u32) -> Option<&WordlineSet> {
        self.sets.get(block as usize)?.as_deref()
    }

    fn set(&mut self, blocks: usize, block: u32, spared: WordlineSet) {
        if self.sets.is_empty() && !spared.is_empty() {
            self.sets.resize_with(blocks, || None);
        }
        if let Some(set) = self.sets.get_mut(block as usize) {
            self.count -= u32::from(set.is_some());
            *set = (!spared.is_empty()).then(|| Box::new(spared));
            self.count += u32::from(set.is_some());
        }
    }
}

impl Chip {
    /// Wordline of a page.
    #[inline]
    fn wordline_of(&self, page: u32) -> u32 {
        page / self.sheet.geometry.cell.bits()
    }

    /// The wordlines that the last erase of a block has spared.
    pub fn spared(&self, plane: PlaneId, block: BlockId) -> WordlineSet {
        let Place { block, .. } = self.place(&Target::single(plane, block, PageId(0)), plane);
        self.guard.of(block).copied().unwrap_or_default()
    }

    /// The wordlines of a block that its last erase has spared, if it has spared any.
    pub(crate) fn guard_of(&self, block: u32) -> Option<&WordlineSet> {
        self.guard.of(block)
    }

    /// Whether the last erase of a block has spared the wordline of a page.
    #[inline(always)]
    pub(crate) fn is_spared(&self, place: Place) -> bool {
        !self.guard.is_none() && self.is_in_set(place)
    }

    #[cold]
    fn is_in_set(&self, place: Place) -> bool {
        self.guard.of(place.block).is_some_and(|set| set.has(self.wordline_of(place.page)))
    }

    /// The first page of a block from `page` on that may be programmed, as far as spared wordlines go.
    #[cold]
    pub(crate) fn first_usable(&self, mut place: Place) -> u32 {
        while place.page < self.grain.pages && self.is_spared(place) {
            place.page += 1;
        }
        place.page
    }

    /// The wordlines that the registers say the next erase spares.
    pub(crate) fn spares(&self) -> WordlineSet {
        if self.has_spares { EraseSettings::from_registers(|feature| self.feature(feature)).spared } else { WordlineSet::NONE }
    }

    /// The last erase of a block has spared these wordlines.
    pub(crate) fn mark_spared(&mut self, block: u32, spared: WordlineSet) {
        if !self.guard.is_none() || !spared.is_empty() {
            self.guard.set(self.blocks.len(), block, spared);
        }
    }

    /// What guarded erases have left on the die, for an image.
    pub fn guard_image(&self) -> GuardImage {
        let sets = (0..).zip(&self.guard.sets);
        GuardImage {
            registers: Feature::SPARES.map(|feature| self.feature(feature)),
            trace: self.feature(Feature::EraseTrace),
            spared: sets.filter_map(|(block, set)| Some((block, set.as_ref()?.iter().collect()))).collect(),
            relief: self.array.as_ref().map(|array| array.relief_tables()).unwrap_or_default(),
        }
    }

    /// Restores what [`Chip::guard_image`] gave, after [`Chip::restore`].
    pub fn restore_guard(&mut self, image: &GuardImage) -> Result<(), &'static str> {
        let wordlines = self.wordline_of(self.grain.pages);
        let is_sound = |(block, set): &(u32, Vec<u32>)| (*block as usize) < self.blocks.len() && set.iter().all(|of| *of < wordlines);
        if wordlines > WordlineSet::WORDLINES && !image.spared.is_empty() || !image.spared.iter().all(is_sound) {
            return Err("a spared wordline lies outside its die");
        }
        Feature::SPARES.into_iter().zip(image.registers).for_each(|(feature, value)| self.features[feature as usize] = value);
        self.features[Feature::EraseTrace as usize] = image.trace;
        self.note_registers();
        self.guard = Guard::default();
        for (block, set) in &image.spared {
            self.guard.set(self.blocks.len(), *block, WordlineSet::of(set.iter().copied()));
        }
        let fits = match &mut self.array {
            Some(array) => array.resume_reliefs(&image.relief),
            None => image.relief == ReliefTables::default(),
        };
        if fits { Ok(()) } else { Err("what guarded erases have spared does not fit the cells of a die") }
    }

    /// True if a page of `target` lies on a spared wordline in any of its planes.
    #[cold]
    pub(crate) fn touches_spared(&self, target: &Target) -> bool {
        planes(target.planes).any(|plane| self.is_spared(self.place(target, plane)))
    }
}
