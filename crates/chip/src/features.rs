//! Settings of a die: its feature registers, and what follows from them for reads, programs and erases.

use std::sync::Arc;

use wordline_cells::{References, Settings};
use wordline_flash::{EraseSettings, EraseTrace, Feature, ProgramSettings, ReadOffsets, ReadSets};
use wordline_units::{Microvolts, WordlineSet};

/// Number of features that an image of a die holds: those from [`Feature::READ_OFFSETS`] on are kept apart because dies did not always have them.
pub(crate) const SETTINGS: usize = Feature::ReadOffsets1 as usize;

/// The feature registers.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    registers: [u32; Feature::COUNT],
    /// True if any of [`Feature::READ_OFFSETS`] is set.
    shifts_reads: bool,
    /// True if any of [`Feature::SPARES`] is set.
    has_spares: bool,
    /// True if programs heed the registers.
    takes_program_settings: bool,
    /// The controller's read sets.
    read_sets: Arc<ReadSets>,
    /// The number of the read set that [`Feature::READ_OFFSETS`] and [`Feature::ReadLevel`] are set to, if they are.
    read_set: Option<u8>,
}

impl Features {
    /// Registers that are all zero. `takes_program_settings`: programs heed theirs.
    pub(crate) fn new(takes_program_settings: bool) -> Features {
        Features {
            registers: [0; Feature::COUNT],
            shifts_reads: false,
            has_spares: false,
            takes_program_settings,
            read_sets: Arc::default(),
            read_set: None,
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, feature: Feature) -> u32 {
        self.registers[feature as usize]
    }

    /// Set a register. Those of programs change with each program, and nothing is worked out from them beforehand.
    #[inline]
    pub(crate) fn set(&mut self, feature: Feature, value: u32) {
        self.registers[feature as usize] = value;
        if feature == Feature::ReadLevel || feature as usize >= Feature::ReadOffsets1 as usize {
            self.note_registers();
        }
    }

    /// Registers of shifted references, of the entry of the retry table or of spared wordlines have changed: what commands ask of them is worked out.
    fn note_registers(&mut self) {
        self.shifts_reads = Feature::READ_OFFSETS.iter().any(|&offsets| self.get(offsets) != 0);
        self.has_spares = Feature::SPARES.iter().any(|&spares| self.get(spares) != 0);
        let is_default = self.get(Feature::ReadLevel) == 0;
        let offsets = || ReadOffsets::from_registers(|feature| self.get(feature));
        self.read_set = if self.shifts_reads && is_default { self.read_sets.number_of(&offsets()) } else { None };
    }

    /// Entry of the vendor's retry table that the next reads use.
    #[inline(always)]
    pub(crate) fn level(&self) -> u32 {
        self.get(Feature::ReadLevel)
    }

    /// True if the next reads are sensed with shifted references.
    #[inline(always)]
    pub(crate) fn shifts_reads(&self) -> bool {
        self.shifts_reads
    }

    /// The shifts of the read references in mV, lowest reference first, if any is shifted.
    #[inline]
    pub(crate) fn shifts(&self) -> Option<References> {
        self.shifts_reads.then(|| shifts_of(&ReadOffsets::from_registers(|feature| self.get(feature))))
    }

    /// The read set that the registers are set to, if they are: its index, from zero.
    #[inline(always)]
    pub(crate) fn read_set(&self) -> Option<usize> {
        self.read_set.map(|number| usize::from(number) - 1)
    }

    /// Take over the sets of shifted references that the controller is going to use.
    pub(crate) fn set_read_sets(&mut self, sets: Arc<ReadSets>) {
        self.read_sets = sets;
        self.note_registers();
    }

    /// The shifts of the controller's read sets, if it has any.
    pub(crate) fn read_sets(&self) -> Option<Vec<References>> {
        (!self.read_sets.is_empty()).then(|| self.read_sets.iter().map(shifts_of).collect())
    }

    /// The way in which wordlines are to be programmed.
    pub(crate) fn program_settings(&self) -> Settings {
        if !self.takes_program_settings {
            return Settings::default();
        }
        let ProgramSettings { window, skip, .. } = ProgramSettings::from_registers(|feature| self.get(feature));
        Settings { start_margin: millivolts(window.start), final_margin: millivolts(window.end), skip }
    }

    /// Distance from its default, in mV, at which R1 stands while cells below P1 are counted.
    pub(crate) fn count_below(&self) -> f64 {
        millivolts(Microvolts(self.get(Feature::CountBelow))).into()
    }

    /// The wordlines that the next erase spares.
    #[inline]
    pub(crate) fn spares(&self) -> WordlineSet {
        if self.has_spares { EraseSettings::from_registers(|feature| self.get(feature)).spared } else { WordlineSet::NONE }
    }

    /// Trace of the last erase.
    pub(crate) fn erase_trace(&self) -> EraseTrace {
        EraseTrace::from_register(self.get(Feature::EraseTrace))
    }

    /// An erase has gone like this.
    pub(crate) fn note_erase(&mut self, trace: EraseTrace) {
        self.registers[Feature::EraseTrace as usize] = trace.register();
    }

    /// Registers that an image of the die holds.
    pub(crate) fn settings(&self) -> [u32; SETTINGS] {
        self.registers[..SETTINGS].try_into().expect("there are more")
    }

    /// Restores what [`Features::settings`] gave.
    pub(crate) fn restore_settings(&mut self, registers: &[u32; SETTINGS]) {
        self.registers[..SETTINGS].copy_from_slice(registers);
    }

    /// Registers of these features.
    pub(crate) fn all<const N: usize>(&self, features: [Feature; N]) -> [u32; N] {
        features.map(|feature| self.get(feature))
    }

    /// Restores registers of these features.
    pub(crate) fn restore<const N: usize>(&mut self, features: [Feature; N], registers: [u32; N]) {
        features.into_iter().zip(registers).for_each(|(feature, value)| self.registers[feature as usize] = value);
        self.note_registers();
    }
}

/// Step of a shifted read reference, in mV.
pub(crate) const SHIFT: f64 = ReadOffsets::STEP.0 as f64 / 1000.0;

fn shifts_of(offsets: &ReadOffsets) -> References {
    core::array::from_fn(|index| f64::from(offsets.of(index as u8 + 1)) * SHIFT)
}

fn millivolts(voltage: Microvolts) -> f32 {
    voltage.0 as f32 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_registers_is_worked_out_when_they_are_set() {
        let mut features = Features::new(false);
        features.set(Feature::ReadOffsets5, 3);
        assert!(features.shifts_reads() && features.shifts().is_some());
        features.set(Feature::Spare1, 1);
        assert!(features.spares().has(32) && !features.spares().has(31));
        let kept = (features.all(Feature::READ_OFFSETS), features.all(Feature::SPARES));
        let mut again = Features::new(false);
        again.restore(Feature::READ_OFFSETS, kept.0);
        assert!(again.shifts_reads() && again.spares().is_empty());
        again.restore(Feature::SPARES, kept.1);
        assert!(again.spares().has(32));
        features.set(Feature::ReadOffsets5, 0);
        assert!(!features.shifts_reads() && features.read_set().is_none());
    }
}
