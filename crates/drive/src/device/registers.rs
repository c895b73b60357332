//! Settings of programs and erases, in the registers of a die.

use wordline_chip::Chip;
use wordline_flash::{Command, EraseSettings, Feature, ProgramSettings};
use wordline_units::Nanos;

/// Set the registers of `chip` for its next programs by `settings`. Returns the instant at which they are set.
pub(crate) fn set_program(chip: &mut Chip, settings: &ProgramSettings, now: Nanos) -> Nanos {
    let states = (1 << chip.sheet().geometry.cell.bits()) - 1;
    set(chip, settings.registers(states), now)
}

/// Set the registers of `chip` for its next erase by `settings`. Returns the instant at which they are set.
pub(crate) fn set_erase(chip: &mut Chip, settings: &EraseSettings, now: Nanos) -> Nanos {
    let geometry = chip.sheet().geometry;
    set(chip, settings.registers(geometry.layers * geometry.wordlines_per_layer), now)
}

/// Set those of the `registers` of `chip` that hold something else. Returns the instant at which they are set.
fn set(chip: &mut Chip, registers: impl Iterator<Item = (Feature, u32)>, now: Nanos) -> Nanos {
    registers.fold(now, |now, (feature, value)| {
        let stands = chip.feature(feature) == value;
        if stands { now } else { chip.issue(Command::SetFeature { feature, value }, now).ready_at }
    })
}
