//! Effects that move and widen the states: one small pure function for each. [`crate::Wordline`] adds them up.
//!
//! `w` is wear over `wear.reference`; `place` is where a state stands between the lowest programmed one (0) and the highest (1).

use wordline_units::Celsius;

use crate::physics::{Interference, OpenInterval, Physics, ReadDisturb, Retention, Temperature, Wear};

/// Growth of the noise variance with wear: `noise·w^noise_power·(1 − e^(−cycles/onset))`. Measured histograms and the error counts of 000 §3.1.2 both want an
/// exponent below one, which alone would begin with a step.
pub fn wear_noise(wear: &Wear, w: f64) -> f64 {
    wear.noise * libm::pow(w, wear.noise_power) * begun(wear, w)
}

/// Share of a power law of wear that has set in: `1 − e^(−cycles/onset)`.
fn begun(wear: &Wear, w: f64) -> f64 {
    if wear.onset > 0.0 { -libm::expm1(-w * wear.reference / wear.onset) } else { 1.0 }
}

/// Rise of a programmed state with wear: `(lift·(1 − place) + top_lift·place)·w^lift_power`. 000 §3.4.1: R1 and R2 move up, R6 and R7 hardly.
pub fn wear_lift(wear: &Wear, w: f64, place: f64) -> f64 {
    wear_lift_at_reference(wear, place) * lifted(wear, w)
}

/// Rise of a programmed state at `wear.reference`: [`wear_lift`] with `w` of one.
pub(crate) fn wear_lift_at_reference(wear: &Wear, place: f64) -> f64 {
    wear.lift + (wear.top_lift - wear.lift) * place
}

/// Share of their rise at `wear.reference` by which states have risen: `w^lift_power`, as far as it has [`begun`].
pub(crate) fn lifted(wear: &Wear, w: f64) -> f64 {
    libm::pow(w, wear.lift_power) * begun(wear, w)
}

/// Rise of the erased state with wear: trapped charge makes it hard to erase deeply.
pub fn wear_erased_lift(wear: &Wear, w: f64) -> f64 {
    wear.erased_lift * lifted(wear, w)
}

/// Growth of the erased state's deviation with wear, as a factor.
pub fn wear_erased_noise(wear: &Wear, w: f64) -> f64 {
    1.0 + wear.erased_noise * lifted(wear, w)
}

/// Charge that the highest state has lost after `seconds` at the reference temperature: `loss·(1 + wear·w^p)·ln(1 + t/start)`, in mV. The loss of another state
/// is [`loss_share`] of it. 000 §2.6.1, §3.4.1: more for higher states, faster when worn. Logarithmic in time as in measured histograms.
pub fn top_loss(retention: &Retention, w: f64, seconds: f64) -> f64 {
    retention.loss * loss_growth(retention, w) * libm::log1p(seconds / retention.start)
}

/// Acceleration of charge loss by wear: `1 + wear·w^p`.
fn loss_growth(retention: &Retention, w: f64) -> f64 {
    1.0 + retention.wear * libm::pow(w, retention.wear_power)
}

/// Noise variance added by retention, relative to fresh: `noise·(1 + wear·w^p)·ln(1 + t/start)`. Measured histograms widen in all states, even in those that
/// lose no charge.
pub fn retention_noise(retention: &Retention, w: f64, seconds: f64) -> f64 {
    retention.noise * loss_growth(retention, w) * libm::log1p(seconds / retention.start)
}

/// Charge loss of a state at `mean`, over that of the highest at `top`: proportional to the distance from the neutral voltage, below which states gain.
pub fn loss_share(retention: &Retention, mean: f64, top: f64) -> f64 {
    (mean - retention.neutral) / (top - retention.neutral)
}

/// Rise of the erased state by reads of the block: `lift·(reads/ref)^power·(1 + wear·w)`. The rise of another state is [`read_share`] of it. 000 §2.6.1,
/// §3.4.1.
pub fn read_lift(disturb: &ReadDisturb, w: f64, reads: f64) -> f64 {
    if reads <= 0.0 { 0.0 } else { disturb.lift * libm::pow(reads / disturb.reads, disturb.power) * (1.0 + disturb.wear * w) }
}

/// Rise by reads of a state `distance` mV above the erased one, over that of the erased: `exp(−distance/reach)`.
pub fn read_share(disturb: &ReadDisturb, distance: f64) -> f64 {
    libm::exp(-distance / disturb.reach)
}

/// Noise variance added by a block's open interval: `noise·(t/time)^power`. 000 §5.2.4: errors grow by 30 % over the longest interval that was measured.
pub fn open_noise(open: &OpenInterval, seconds: f64) -> f64 {
    if seconds <= 0.0 { 0.0 } else { open.noise * libm::pow(seconds / open.time, open.power) }
}

/// Shift of a state by the difference of temperature between program and read; zero without a difference. 000 §2.6.1, §3.4.1.
pub fn temperature_shift(temperature: &Temperature, place: f64, programmed_at: Celsius, read_at: Celsius) -> f64 {
    (temperature.low_shift + (temperature.shift - temperature.low_shift) * place) * (read_at.0 - programmed_at.0)
}

/// Rise of a state when the next layer is programmed. Small in charge-trap cells (003 §1.1), great in planar ones.
pub fn neighbour_shift(interference: &Interference, place: f64) -> f64 {
    interference.shift * (1.0 - place)
}

/// Wear over `wear.reference`, the `w` of the growth laws.
pub fn relative(physics: &Physics, wear: f64) -> f64 {
    wear / physics.wear.reference
}
