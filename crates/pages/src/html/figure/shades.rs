//! Shades for values.

use super::super::bars::ramp;
use crate::number::scientific;

/// From values to shades between 0.06 and 1.
pub(super) struct Shades {
    log: bool,
    low: f64,
    high: f64,
}

impl Shades {
    pub(super) fn of(values: impl Iterator<Item = f64>, log: bool) -> Shades {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| value.is_finite() && !(log && *value <= 0.0)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high { Shades { log, low: 0.0, high: 0.0 } } else { Shades { log, low, high } }
    }

    pub(super) fn shade(&self, value: f64) -> f64 {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return 0.0;
        }
        let place = match self.log {
            true if self.high > self.low => libm::log10(value / self.low) / libm::log10(self.high / self.low),
            false if self.high > self.low => (value - self.low) / (self.high - self.low),
            _ => 1.0,
        };
        0.06 + 0.94 * place.clamp(0.0, 1.0)
    }

    pub(super) fn key(&self) -> String {
        ramp(&scientific(self.low), &scientific(self.high))
    }
}
