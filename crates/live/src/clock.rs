//! Virtual time on the wall's clock.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use wordline_units::Nanos;

/// Relation between virtual time and the wall's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// None: the drive is as fast as the machine.
    Off,
    /// Seconds of virtual time in a second of the wall's; 1 is the drive's own pace.
    Real(f64),
}

impl FromStr for Timing {
    type Err = String;

    fn from_str(text: &str) -> Result<Timing, String> {
        let factor = match text {
            "off" => return Ok(Timing::Off),
            "real" => return Ok(Timing::Real(1.0)),
            other => other.strip_prefix('x').and_then(|factor| factor.parse::<f64>().ok()),
        };
        match factor {
            Some(factor) if factor.is_finite() && factor > 0.0 => Ok(Timing::Real(factor)),
            _ => Err(format!("'{text}' is no pace of time: expected off, real, or x and a factor above 0, such as x10")),
        }
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timing::Off => f.write_str("off"),
            Timing::Real(1.0) => f.write_str("real"),
            Timing::Real(factor) => write!(f, "x{factor}"),
        }
    }
}

/// The wall's clock in virtual time.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// The virtual instant of `start`.
    origin: Nanos,
    factor: f64,
}

impl Clock {
    pub(crate) fn new(start: Instant, origin: Nanos, factor: f64) -> Clock {
        Clock { start, origin, factor }
    }

    /// The virtual instant when `span` of the wall's time has passed from now on.
    pub(crate) fn after(&self, span: Duration) -> Nanos {
        self.at(Instant::now() + span)
    }

    /// `instant` in virtual time.
    pub(crate) fn at(&self, instant: Instant) -> Nanos {
        self.origin + Nanos((instant.saturating_duration_since(self.start).as_nanos() as f64 * self.factor) as u64)
    }

    /// Wall time of `span` of virtual time, never less than it.
    pub(crate) fn wall(&self, span: Nanos) -> Duration {
        Duration::from_nanos((span.0 as f64 / self.factor).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_read_and_printed() {
        for (text, timing) in [("off", Timing::Off), ("real", Timing::Real(1.0)), ("x10", Timing::Real(10.0)), ("x0.5", Timing::Real(0.5))]
        {
            assert_eq!(text.parse(), Ok(timing));
            assert_eq!(timing.to_string(), text);
        }
        for wrong in ["", "x", "x0", "x-1", "xinf", "fast", "10"] {
            assert!(wrong.parse::<Timing>().is_err(), "{wrong}");
        }
    }
}
