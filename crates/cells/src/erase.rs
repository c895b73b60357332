//! Erasing by incremental step pulses (ISPE).
//!
//! ```text
//! loops  = ⌈ way / depth ⌉                  way = own·(1 + wear·(w/reference)^wear_power) of the block's most worn wordline
//! t_BERS = loops·(pulse + verify) + suspensions·suspend_time
//! stress of a gentle erase / of a normal one = exp( −gentle_gate·(1 + field)/stress_scale )
//! stress added by n suspensions              = suspend·(n/100)^suspend_power
//! ```
//!
//! Sources: pulses and their ramps 000 §3.2.3, §4.1; stress exponential in the voltage across the oxide and 3 V on the control gate of a protected wordline
//! 001 §3.2.2; no cost of up to 30 suspensions, +48 % errors at 100, 000 §4.1. A gentle erase takes as many loops as a normal one: its verify level is raised
//! (001 §3.2.2), and its wordline cannot hold data until the next erase.
//!
//! Known wrong: 000 §3.2.3 has pulses of 5 ms on its test chips and §3.4.3 a t_BERS of 3.5 ms on its drive; one chip has one, and the drive's was taken.

use crate::physics::{Ispe, Physics};

/// The loops and the time of one erase of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Erase {
    /// Number of erase pulses.
    pub loops: u32,
    /// t_BERS without suspensions, in microseconds.
    pub time: f64,
    /// t_BERS if pulses could end as soon as their cells are erased: what counting failed bits in the last pulse tells, in microseconds.
    pub progress: f64,
    /// Time of one pulse with its verify, in microseconds.
    pub each: f64,
}

/// Stress of a gentle erase over that of a normal one, on a layer with `field` over the mean.
pub fn gentle_stress(ispe: &Ispe, field: f64) -> f64 {
    libm::exp(-ispe.gentle_gate * (1.0 + field) / ispe.stress_scale)
}

/// Stress that suspensions add to an erase, in erases.
pub fn suspended(ispe: &Ispe, suspensions: f64) -> f64 {
    ispe.suspend * libm::pow(suspensions / 100.0, ispe.suspend_power)
}

/// The erase of a block. `wear`: cycles of its most worn wordline. `own`: this block's erase-distance factor relative to the average block.
pub fn erase(physics: &Physics, wear: f64, own: f64) -> Erase {
    let ispe = &physics.ispe;
    let way = own * (1.0 + ispe.wear * libm::pow(wear / physics.wear.reference, ispe.wear_power));
    let pulses = way / ispe.depth;
    let loops = libm::ceil(pulses);
    let each = ispe.pulse + ispe.verify;
    Erase { loops: loops as u32, time: loops * each, progress: pulses * each, each }
}
