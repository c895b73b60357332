//! Load of the write buffer: the share of its slots in use, as a mean over the last while.
//!
//! The window has a fixed number of parts. Each part holds the sum of slots in use over its time; a part that has left the window gives its place to the next.
//! The last part in the window may not be over, so the mean is over the window or up to a part less.

use wordline_units::Nanos;

/// Parts of the window.
const PARTS: usize = 16;

/// Load of a write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferLoad {
    /// Length of a part.
    part: u64,
    /// Instant at which the present part began.
    begun: u64,
    /// Instant up to which slots have been counted.
    counted: u64,
    /// Slots in use times nanoseconds, by part; the present part is at `at`.
    sums: [u64; PARTS],
    at: usize,
    /// Parts of the window that are over: fewer than all others only at the beginning.
    over: usize,
}

impl BufferLoad {
    /// Creates the load of a buffer that is empty at `now`, over `window`.
    pub(crate) fn new(window: Nanos, now: Nanos) -> BufferLoad {
        let part = (window.0 / PARTS as u64).max(1);
        BufferLoad { part, begun: now.0, counted: now.0, sums: [0; PARTS], at: 0, over: 0 }
    }

    /// Count `used` slots as in use from the instant of the last count up to `now`.
    #[inline]
    pub(crate) fn pass(&mut self, now: Nanos, used: u32) {
        // The whole window and more: what was before is of no account.
        let window = self.part * PARTS as u64;
        if now.0 >= self.counted.saturating_add(2 * window) {
            let begun = self.begun + (now.0 - window - self.begun) / self.part * self.part;
            *self = BufferLoad { begun, counted: begun, over: PARTS - 1, ..BufferLoad::new(Nanos(window), now) };
        }
        while now.0 >= self.begun + self.part {
            let end = self.begun + self.part;
            self.sums[self.at] += (end - self.counted) * u64::from(used);
            (self.begun, self.counted) = (end, end);
            self.at = (self.at + 1) % PARTS;
            self.over = (self.over + 1).min(PARTS - 1);
            self.sums[self.at] = 0;
        }
        self.sums[self.at] += now.0.saturating_sub(self.counted) * u64::from(used);
        self.counted = self.counted.max(now.0);
    }

    /// Mean number of slots in use over the window that ends at `now`, of which `used` have been in use since the last count.
    pub(crate) fn mean(mut self, now: Nanos, used: u32) -> f64 {
        self.pass(now, used);
        let span = self.over as u64 * self.part + (self.counted - self.begun);
        if span == 0 { f64::from(used) } else { self.sums.iter().sum::<u64>() as f64 / span as f64 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_mean_is_of_the_window_and_of_nothing_before_it() {
        let mut load = BufferLoad::new(Nanos(160), Nanos(0));
        assert_eq!(load.mean(Nanos(0), 7), 7.0, "there is no time yet");
        load.pass(Nanos(80), 10);
        assert_eq!((load.mean(Nanos(80), 0), load.mean(Nanos(160), 0)), (10.0, 700.0 / 150.0));
        assert_eq!(load.mean(Nanos(229), 0), 100.0 / 159.0, "one nanosecond before the last part with slots in use leaves");
        assert_eq!(load.mean(Nanos(230), 0), 0.0);
        assert_eq!(load.mean(Nanos(10_000_000_000), 3), 3.0);
    }

    proptest! {
        /// The mean is that of the slots at each nanosecond of the window.
        #[test]
        fn the_mean_is_its_definition(steps in prop::collection::vec((0u64..400, 0u32..9), 1..40)) {
            let (mut load, mut all, mut now) = (BufferLoad::new(Nanos(64), Nanos(0)), Vec::new(), 0);
            for (span, used) in steps {
                now += span;
                load.pass(Nanos(now), used);
                all.extend(std::iter::repeat_n(used, span as usize));
            }
            // The present part, and all others.
            let from = (now / 4 * 4).saturating_sub(60) as usize;
            let last = &all[from..];
            let mean = last.iter().map(|&used| f64::from(used)).sum::<f64>() / last.len().max(1) as f64;
            prop_assert!(last.is_empty() || (load.mean(Nanos(now), 0) - mean).abs() < 1e-9, "{} and {mean}", load.mean(Nanos(now), 0));
        }
    }
}
