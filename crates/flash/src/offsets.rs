//! Shifts of read references, as a controller sets them through the set-features of the vendors' interface.
//!
//! ```text
//!   reference 1 … 4      5 … 8      9 … 12      13 … 15
//!   register  Offsets1   Offsets5   Offsets9    Offsets13     four signed bytes each, lowest reference in the lowest byte
//! ```

use wordline_units::Microvolts;

use crate::command::Feature;
use crate::program::STATES_MAX;

/// Shifts of all read references from those of the selected entry of the read-retry table, in steps of [`ReadOffsets::STEP`]. [`Default`]: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOffsets([i8; STATES_MAX]);

impl ReadOffsets {
    /// No shift: the references are those of the table's entry.
    pub const NONE: ReadOffsets = ReadOffsets([0; STATES_MAX]);
    /// Resolution of the registers.
    pub const STEP: Microvolts = Microvolts(10_000);

    /// Shift of reference `reference`, counted from 1, in steps.
    pub fn of(&self, reference: u8) -> i8 {
        self.0[usize::from(reference) - 1]
    }

    /// The same shifts but for reference `reference`, counted from 1, which is shifted by `steps`.
    #[must_use]
    pub fn with(mut self, reference: u8, steps: i8) -> ReadOffsets {
        self.0[usize::from(reference) - 1] = steps;
        self
    }

    /// Registers of a die whose cells have `references` read references, each with its content.
    pub fn registers(&self, references: usize) -> impl Iterator<Item = (Feature, u32)> + '_ {
        let packed = |four: &[i8]| four.iter().rev().fold(0, |packed, &steps| packed << 8 | u32::from(steps as u8));
        Feature::READ_OFFSETS
            .into_iter()
            .zip(self.0.chunks(4))
            .take(references.div_ceil(4))
            .map(move |(feature, four)| (feature, packed(four)))
    }

    /// Shifts that the registers `of` a die hold.
    pub fn from_registers(of: impl Fn(Feature) -> u32) -> ReadOffsets {
        let mut offsets = ReadOffsets::NONE;
        for (feature, four) in Feature::READ_OFFSETS.into_iter().zip(offsets.0.chunks_mut(4)) {
            four.iter_mut().zip(of(feature).to_le_bytes()).for_each(|(steps, byte)| *steps = byte as i8);
        }
        offsets
    }
}

/// Read sets: shifts of all references that a controller holds ready, each under a number from 1 on. A [`crate::ReadTry`] names one by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSets(Vec<ReadOffsets>);

impl ReadSets {
    /// The most sets that a controller holds: numbers 0 and 255 stand for the vendor's table and for a search.
    pub const MOST: usize = u8::MAX as usize - 1;

    /// These sets, numbered from 1 on in their order. `None`: they are too many.
    pub fn new(sets: Vec<ReadOffsets>) -> Option<ReadSets> {
        (sets.len() <= ReadSets::MOST).then_some(ReadSets(sets))
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The shifts of set `number`. `None`: the controller does not hold it.
    pub fn get(&self, number: u8) -> Option<&ReadOffsets> {
        self.0.get(usize::from(number).checked_sub(1)?)
    }

    /// The number of the first set with these shifts, if the controller holds one.
    pub fn number_of(&self, offsets: &ReadOffsets) -> Option<u8> {
        self.0.iter().position(|set| set == offsets).map(|index| index as u8 + 1)
    }

    /// All sets, from number 1 on.
    pub fn iter(&self) -> impl Iterator<Item = &ReadOffsets> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sets_are_numbered_from_one_and_leave_room_for_table_and_search() {
        let set = |steps| ReadOffsets::NONE.with(2, steps);
        let sets = ReadSets::new(vec![set(3), set(-4), set(3)]).expect("three are few");
        assert_eq!((sets.len(), sets.get(0), sets.get(1), sets.get(2), sets.get(4)), (3, None, Some(&set(3)), Some(&set(-4)), None));
        assert_eq!([3, -4, 5].map(|steps| sets.number_of(&set(steps))), [Some(1), Some(2), None]);
        assert!(ReadSets::new(vec![set(1); ReadSets::MOST]).is_some_and(|sets| sets.get(255).is_none() && sets.get(254).is_some()));
        assert!(ReadSets::new(vec![set(1); ReadSets::MOST + 1]).is_none());
        assert!(ReadSets::default().is_empty());
    }

    proptest! {
        #[test]
        fn registers_hold_all_shifts(steps: [i8; STATES_MAX], changed in 1u8..=15, to: i8) {
            let offsets = ReadOffsets(steps).with(changed, to);
            let registers: Vec<(Feature, u32)> = offsets.registers(STATES_MAX).collect();
            let of = |feature| registers.iter().find(|(of, _)| *of == feature).map_or(0, |(_, value)| *value);
            prop_assert_eq!(ReadOffsets::from_registers(of), offsets);
            prop_assert_eq!(offsets.of(changed), to);
        }
    }

    #[test]
    fn a_die_with_fewer_references_has_fewer_registers() {
        assert_eq!([1, 3, 7, 15].map(|references| ReadOffsets::NONE.registers(references).count()), [1, 1, 2, 4]);
    }
}
