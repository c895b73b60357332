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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
