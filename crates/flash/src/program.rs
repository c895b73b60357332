//! How a wordline is to be programmed, and what the die tells of how it went: the micro-operations of a program as a controller sees them.
//!
//! Both go through the set- and get-features of the vendors' interface (003 §4.1.4, §5.1): the settings hold for every program until they are changed, and the
//! trace is of the last program.

use wordline_units::Microvolts;

use crate::command::Feature;
use crate::margins::WindowMargin;

/// The most programmed states that a cell can have.
pub const STATES_MAX: usize = 15;

/// Settings of the programs that follow. [`Default`]: as the die does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramSettings {
    /// By how much the window is narrowed (003 §4.1.2).
    pub window: WindowMargin,
    /// For each programmed state, lowest first, the verifies that are left out: its first is in the loop after (003 §4.1.1).
    pub skip: [u8; STATES_MAX],
    /// How far below its default R1 stands while the die counts [`ProgramTrace::low_errors`].
    pub lowered: Microvolts,
}

impl ProgramSettings {
    /// As the die does by itself.
    pub const DEFAULT: ProgramSettings = ProgramSettings {
        window: WindowMargin { start: Microvolts(0), end: Microvolts(0) },
        skip: [0; STATES_MAX],
        lowered: Microvolts(0),
    };

    /// The registers of a die whose cells have `states` programmed states, and what stands in them: one for each voltage, in microvolts, and one for four
    /// states.
    pub fn registers(&self, states: usize) -> impl Iterator<Item = (Feature, u32)> + '_ {
        let voltages =
            [(Feature::WindowStart, self.window.start.0), (Feature::WindowEnd, self.window.end.0), (Feature::CountBelow, self.lowered.0)];
        let skips = Feature::VERIFY_SKIPS.into_iter().zip(self.skip.chunks(4)).take(states.div_ceil(4));
        let packed = |skips: &[u8]| skips.iter().rev().fold(0, |packed, &skip| packed << 8 | u32::from(skip));
        voltages.into_iter().chain(skips.map(move |(feature, skips)| (feature, packed(skips))))
    }

    /// What stands in the registers `of` a die.
    pub fn from_registers(of: impl Fn(Feature) -> u32) -> ProgramSettings {
        let mut skip = [0; STATES_MAX];
        for (feature, skips) in Feature::VERIFY_SKIPS.into_iter().zip(skip.chunks_mut(4)) {
            let packed = of(feature).to_le_bytes();
            skips.iter_mut().zip(packed).for_each(|(skip, packed)| *skip = packed);
        }
        ProgramSettings {
            window: WindowMargin { start: Microvolts(of(Feature::WindowStart)), end: Microvolts(of(Feature::WindowEnd)) },
            skip,
            lowered: Microvolts(of(Feature::CountBelow)),
        }
    }
}

/// What the die tells of its last program. Of several planes, what holds for all of them: the earliest first loops, the latest last ones, the most errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramTrace {
    /// For each programmed state the loop in which its fastest cells arrived, L_min, counted from the first pulse.
    pub first: [u8; STATES_MAX],
    /// For each programmed state the loop in which it was done, L_max, counted from the first pulse.
    pub last: [u8; STATES_MAX],
    /// Cells of the wordline on the wrong side between the erased state and the lowest programmed one: BER_EP1 as a count (003 §4.1.2).
    pub low_errors: u32,
    /// Cells of the wordline on the wrong side of any boundary.
    pub errors: u32,
}

impl ProgramTrace {
    /// What holds for both.
    #[must_use]
    pub fn with(self, other: ProgramTrace) -> ProgramTrace {
        let merged =
            |a: [u8; STATES_MAX], b: [u8; STATES_MAX], which: fn(u8, u8) -> u8| core::array::from_fn(|state| which(a[state], b[state]));
        ProgramTrace {
            first: merged(self.first, other.first, u8::min),
            last: merged(self.last, other.last, u8::max),
            low_errors: self.low_errors.max(other.low_errors),
            errors: self.errors.max(other.errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn registers_hold_all_settings(start: u32, end: u32, lowered: u32, skip: [u8; STATES_MAX]) {
            let window = WindowMargin { start: Microvolts(start), end: Microvolts(end) };
            let settings = ProgramSettings { window, skip, lowered: Microvolts(lowered) };
            let registers: Vec<(Feature, u32)> = settings.registers(STATES_MAX).collect();
            let of = |feature| registers.iter().find(|(of, _)| *of == feature).map_or(0, |(_, value)| *value);
            prop_assert_eq!(ProgramSettings::from_registers(of), settings);
            prop_assert_eq!(registers.len(), 7);
        }
    }

    #[test]
    fn a_die_with_fewer_states_has_fewer_registers() {
        assert_eq!([1, 3, 7, 15].map(|states| ProgramSettings::DEFAULT.registers(states).count()), [4, 4, 5, 7]);
    }
}
