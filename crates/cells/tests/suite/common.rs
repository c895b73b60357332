//! The chips the tests look at.

use wordline_cells::{Condition, Model};
use wordline_units::Celsius;

/// Folder of the papers' chips.
pub(crate) const HOME: Celsius = Celsius(30.0);
/// Seconds of a year.
pub(crate) const YEAR: f64 = 365.0 * 86_400.0;

/// A chip that comes with Wordline, with some parameters changed.
pub(crate) fn chip(name: &str, settings: &[&str]) -> Model {
    // A table of margins is for the chip as it was characterised, and cells know of none.
    let settings: Vec<&str> = settings.iter().copied().chain(["margins.step=none"]).collect();
    let chip = wordline_plan::Chip::load_set(name, &settings).unwrap_or_else(|error| panic!("{error}"));
    Model::new(chip.physics()).expect("a chip file that was loaded has been checked")
}

/// A wordline with so many cycles, a minute between two of them, whose data were kept for so long.
pub(crate) fn aged(model: &Model, cycles: f64, kept: f64) -> Condition {
    Condition::new(model.cycled(cycles, 60.0, HOME), HOME).kept(kept)
}
