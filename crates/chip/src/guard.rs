//! Wordlines that guarded erases have spared: they take no data until the next erase of their block.
//!
//! Nothing tells a spared wordline from a blank one by looking: it senses as erased. A die that programs in order passes over it.

use serde::{Deserialize, Serialize};
use wordline_cells::ReliefTables;
use wordline_flash::Feature;
use wordline_units::WordlineSet;

use crate::place::Shape;

/// The wordlines that the last erase of each block has spared. Empty on a die that never had a guarded erase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    sets: Vec<Option<Box<WordlineSet>>>,
    /// Number of blocks with spared wordlines.
    count: u32,
}

/// Traces of guarded erases on a die at rest, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GuardImage {
    registers: [u32; Feature::SPARES.len()],
    trace: u32,
    spared: Vec<(u32, Vec<u32>)>,
    relief: ReliefTables,
}

impl Guard {
    /// True if no wordline is spared.
    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// The wordlines of a block that its last erase has spared, if it has spared any.
    #[inline]
    pub(crate) fn of(&self, block: u32) -> Option<&WordlineSet> {
        self.sets.get(block as usize)?.as_deref()
    }

    /// The last erase of a block, of `blocks` blocks, has spared these wordlines.
    pub(crate) fn set(&mut self, blocks: usize, block: u32, spared: WordlineSet) {
        if self.sets.is_empty() && !spared.is_empty() {
            self.sets.resize_with(blocks, || None);
        }
        if let Some(set) = self.sets.get_mut(block as usize) {
            self.count -= u32::from(set.is_some());
            *set = (!spared.is_empty()).then(|| Box::new(spared));
            self.count += u32::from(set.is_some());
        }
    }

    /// The sets as plain data, with the registers of the next erase, the trace of the last one, and what the cells keep of them.
    pub(crate) fn image(&self, registers: [u32; Feature::SPARES.len()], trace: u32, relief: ReliefTables) -> GuardImage {
        let sets = (0..).zip(&self.sets);
        let spared = sets.filter_map(|(block, set)| Some((block, set.as_ref()?.iter().collect()))).collect();
        GuardImage { registers, trace, spared, relief }
    }
}

impl GuardImage {
    /// The sets of a die of this shape.
    pub(crate) fn guard(&self, shape: &Shape) -> Result<Guard, &'static str> {
        let (blocks, wordlines) = (shape.all_blocks(), shape.wordline_of(shape.pages()));
        let is_sound = |(block, set): &(u32, Vec<u32>)| (*block as usize) < blocks && set.iter().all(|of| *of < wordlines);
        if wordlines > WordlineSet::WORDLINES && !self.spared.is_empty() || !self.spared.iter().all(is_sound) {
            return Err("a spared wordline lies outside its die");
        }
        let mut guard = Guard::default();
        for (block, set) in &self.spared {
            guard.set(blocks, *block, WordlineSet::of(set.iter().copied()));
        }
        Ok(guard)
    }

    /// Registers of the wordlines that the next erase spares.
    pub(crate) fn registers(&self) -> [u32; Feature::SPARES.len()] {
        self.registers
    }

    /// Register of the last erase.
    pub(crate) fn trace(&self) -> u32 {
        self.trace
    }

    /// Relief of the cells that were spared.
    pub(crate) fn relief(&self) -> &ReliefTables {
        &self.relief
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::shape;

    #[test]
    fn sets_are_counted_and_come_back_from_their_image() {
        let shape = shape(1);
        let mut guard = Guard::default();
        guard.set(8, 3, WordlineSet::NONE);
        assert!(guard.is_none() && guard.of(3).is_none());
        guard.set(8, 3, WordlineSet::of([1]));
        guard.set(8, 3, WordlineSet::of([0]));
        assert!(!guard.is_none() && guard.of(3) == Some(&WordlineSet::of([0])));
        let image = guard.image([0; Feature::SPARES.len()], 0, ReliefTables::default());
        let again = image.guard(&shape).expect("it is of this die");
        assert_eq!(again.of(3), guard.of(3));
        guard.set(8, 3, WordlineSet::NONE);
        assert!(guard.is_none());
        let foreign = GuardImage { spared: vec![(8, vec![0])], ..image };
        assert!(foreign.guard(&shape).is_err());
    }
}
