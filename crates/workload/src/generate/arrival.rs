//! When requests of an open loop come.

use wordline_units::Nanos;
use wordline_units::random::Draw;

use crate::spec::{Burst, Process};

const SECOND: f64 = 1e9;

/// Times of arrival, from the start of the phase.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// The average gap in nanoseconds.
    gap: f64,
    process: Process,
    burst: Option<Burst>,
    draw: Draw,
    /// Busy time so far: whole nanoseconds, and what is left over. Kept apart so that long runs lose no precision.
    busy: u64,
    rest: f64,
}

impl Clock {
    pub(crate) fn new(rate: f64, process: Process, burst: Option<Burst>, draw: Draw) -> Result<Clock, String> {
        if !(rate > 0.0 && rate <= 1e9) {
            return Err(format!("a rate of {rate} requests per second; it lies above zero and at most at 1000 M/s"));
        }
        if burst.is_some_and(|burst| burst.busy == Nanos::ZERO) {
            return Err("bursts without busy time hold no request".to_owned());
        }
        Ok(Clock { gap: SECOND / rate, process, burst, draw, busy: 0, rest: 0.0 })
    }

    /// The next time. The first request of constant arrivals comes one gap after the start.
    #[inline]
    pub(crate) fn next(&mut self) -> Nanos {
        let gap = match self.process {
            Process::Constant => self.gap,
            // One minus a number below one is never zero.
            Process::Poisson => -libm::log(1.0 - self.draw.unit()) * self.gap,
        };
        let advanced = self.rest + gap;
        let whole = advanced as u64;
        self.rest = advanced - whole as f64;
        self.busy = self.busy.saturating_add(whole);
        match self.burst {
            None => Nanos(self.busy),
            Some(burst) => {
                let idle = (self.busy / burst.busy.0).saturating_mul(burst.idle.0);
                Nanos(self.busy.saturating_add(idle))
            }
        }
    }
}
