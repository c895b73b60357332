//! Flag cells of a page lock (pLock), and select cells of a block lock (bLock): 000 §5.2.3–5.2.4, 002 §5.3–5.4.
//!
//! A page's flag is k cells programmed as SLC in one shot and read by majority. Voltage and time are a design space: too much disturbs the data cells of the
//! wordline, too little does not hold.
//!
//! ```text
//! V(v, t)       = mean + step·v + time_gain·ln(t/time)            v: steps above the lowest voltage
//! dose(v, t)    = (t/time)·exp((v − disturb_dose)/disturb_scale)
//! noise added   = disturb·dose^disturb_power
//! lost (t years)= loss·ln(1 + y/start)/ln(1 + years/start)
//! ```

use crate::physics::{Flag, Physics, Select};
use crate::special::{tail, tail_inverse};

const YEAR: f64 = wordline_units::calendar::YEAR as f64;

/// Mean threshold voltage of flag cells programmed `steps` above the lowest voltage for `time` microseconds.
pub fn centre(flag: &Flag, steps: f64, time: f64) -> f64 {
    flag.mean + flag.step * steps + flag.time_gain * libm::log(time / flag.time)
}

/// Share of flag cells that are programmed right after.
pub fn programmed(flag: &Flag, steps: f64, time: f64) -> f64 {
    tail((flag.reference - centre(flag, steps, time)) / flag.sigma)
}

/// Dose of a lock pulse for the data cells of the wordline; 1 is the dose the chip file names.
pub fn dose(flag: &Flag, steps: f64, time: f64) -> f64 {
    time / flag.time * libm::exp((steps - flag.disturb_dose) / flag.disturb_scale)
}

/// Noise variance that a dose adds to the data cells, relative.
pub fn disturb(flag: &Flag, dose: f64) -> f64 {
    if dose <= 0.0 { 0.0 } else { flag.disturb * libm::pow(dose, flag.disturb_power) }
}

/// Share of flag cells that read as locked after `seconds` at the reference temperature.
pub fn holding(physics: &Physics, steps: f64, time: f64, seconds: f64) -> f64 {
    let flag = &physics.flag;
    let start = physics.retention.start;
    let share = libm::log1p(seconds / start) / libm::log1p(flag.years * YEAR / start);
    let (lost, spread) = (flag.loss * share, flag.loss_sigma * share);
    let sigma = (flag.sigma * flag.sigma + spread * spread).sqrt();
    tail((flag.reference + lost - centre(flag, steps, time)) / sigma)
}

/// Probability that a flag of `cells` cells, each locked with probability `holding`, reads as locked by majority.
pub fn majority(holding: f64, cells: u32) -> f64 {
    at_most(1.0 - holding, cells, (cells - 1) / 2)
}

/// Probability of at most `most` failures among `cells` that fail with probability `p`.
pub fn at_most(p: f64, cells: u32, most: u32) -> f64 {
    let mut sum = 0.0;
    let mut ways = 1.0;
    for failed in 0..=most.min(cells) {
        sum += ways * libm::pow(p, f64::from(failed)) * libm::pow(1.0 - p, f64::from(cells - failed));
        ways *= f64::from(cells - failed) / f64::from(failed + 1);
    }
    sum.clamp(0.0, 1.0)
}

/// Centre threshold voltage of a block's select cells after a lock with `steps` above the lowest voltage for `time` microseconds, `seconds` later.
pub fn select_centre(select: &Select, steps: f64, time: f64, seconds: f64) -> f64 {
    let programmed = select.centre + select.gain * select.step * steps + select.time_gain * libm::log(time / select.time);
    // A pulse too weak to lift the cells leaves them where they rest, but for the fastest of them.
    let shift = select.sigma * libm::log1p(libm::exp((programmed - select.resting) / select.sigma));
    select.resting + shift * (1.0 - (select.loss * libm::log1p(seconds / select.start)).min(1.0))
}

/// Share of bit lines that select cells with this centre cut off: they read as programmed whatever their cells hold.
pub fn cut_off(select: &Select, centre: f64) -> f64 {
    tail((select.gate - centre) / select.sigma)
}

/// Raw bit error rate of any page of a block whose select cells have this centre: half of what is cut off is wrong.
pub fn locked_error_rate(select: &Select, centre: f64) -> f64 {
    0.5 * cut_off(select, centre)
}

/// The centre of the select cells at which a read of the block makes `rate` errors.
pub fn centre_at(select: &Select, rate: f64) -> f64 {
    select.gate - select.sigma * tail_inverse((2.0 * rate).clamp(1e-12, 1.0 - 1e-12))
}
