//! The tick of a trace's clock: the grain of its times.
//!
//! Collectors write times in whole seconds or milliseconds while requests come far closer together. Played as they stand, all requests of a tick come at
//! once, and latencies are those of bursts that never were.

use std::fmt;

use serde::Serialize;
use wordline_units::Nanos;

/// Fewer records say nothing of a clock.
const RECORDS_MIN: u64 = 64;

/// Fewer steps between times do not show their common divisor: each step is a multiple of twice the tick by chance in one of two.
const STEPS_MIN: u64 = 8;

/// A tick up to this is less than any read of flash takes, so that requests within one are at once for the drive as well.
const FINE: Nanos = Nanos(10_000);

/// A clock is coarse where at least one record in so many has the time of the one before it.
const SHARED_OF: u64 = 10;

/// Clock of a trace, by its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tick {
    /// The greatest common divisor of the steps between times; `None` where there are too few to be sure.
    #[serde(rename = "length_ns", serialize_with = "crate::serial::maybe_nanos")]
    pub length: Option<Nanos>,
    /// Records that have a time.
    pub records: u64,
    /// Records with the same time as the one before them.
    pub shared: u64,
    /// The most records with one time.
    pub most: u64,
    /// True if the tick is coarser than the gaps between records, so that many share one time.
    pub coarse: bool,
}

impl Tick {
    /// True if many records share a time and the length of the tick is unknown.
    pub fn is_unknown(&self) -> bool {
        self.length.is_none() && self.records >= RECORDS_MIN && self.is_shared()
    }

    fn is_shared(&self) -> bool {
        self.shared.saturating_mul(SHARED_OF) >= self.records.max(1)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tick { records, shared, most, .. } = self;
        match self.length {
            Some(length) => write!(f, "{length}")?,
            None => write!(f, "unknown")?,
        }
        if *shared > 0 {
            write!(f, "; {shared} of {records} records have the time of the one before, up to {most} have one time")?;
        }
        Ok(())
    }
}

/// The clock while records go by, in the order of their times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TickFinder {
    previous: Option<Nanos>,
    divisor: u64,
    steps: u64,
    run: u64,
    found: Tick,
}

impl TickFinder {
    /// The next record's time.
    pub(crate) fn add(&mut self, at: Nanos) {
        self.found.records += 1;
        let step = self.previous.replace(at).map(|previous| at.0.abs_diff(previous.0));
        if step == Some(0) {
            self.found.shared += 1;
            self.run += 1;
        } else {
            self.run = 1;
        }
        self.found.most = self.found.most.max(self.run);
        if let Some(step) = step.filter(|step| *step > 0) {
            self.steps += 1;
            self.divisor = divisor(step, self.divisor);
        }
    }

    /// The clock that was found.
    pub(crate) fn finish(self) -> Tick {
        let is_sure = self.found.records >= RECORDS_MIN && self.steps >= STEPS_MIN;
        let length = is_sure.then_some(Nanos(self.divisor));
        Tick { length, coarse: length.is_some_and(|length| length > FINE) && self.found.is_shared(), ..self.found }
    }
}

/// The greatest common divisor.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(times: impl IntoIterator<Item = u64>) -> Tick {
        let mut finder = TickFinder::default();
        times.into_iter().for_each(|at| finder.add(Nanos(at)));
        finder.finish()
    }

    #[test]
    fn whole_seconds_with_many_records_each_are_a_coarse_tick_whatever_the_first_is() {
        let found = tick((0..2_000).map(|number| 7 + number / 100 * 1_000_000_000));
        assert_eq!(found, Tick { length: Some(Nanos(1_000_000_000)), records: 2_000, shared: 1_980, most: 100, coarse: true });
        let told = found.to_string();
        assert!(told.starts_with("1 s; 1980 of 2000") && told.contains("up to 100"), "{told}");
    }

    #[test]
    fn a_tick_finer_than_gaps_or_than_a_read_is_not_coarse() {
        // A millisecond, and a record every ten or twenty of them.
        let slow = tick((0..500).map(|number| (number * 10 + number % 3) * 1_000_000));
        assert_eq!((slow.length, slow.shared, slow.coarse), (Some(Nanos(1_000_000)), 0, false));
        let batches = tick((0..800).map(|number| number / 8 * 3_001));
        assert!(!batches.coarse && batches.shared == 700, "{batches:?}");
        let rare = tick((0..1_000).map(|number| (number - u64::from(number % 11 == 10)) * 1_000_000));
        assert!(!rare.coarse && rare.shared == 90, "nine in a hundred: {rare:?}");
    }

    #[test]
    fn too_little_is_not_judged() {
        let few = tick((0..63).map(|number| number / 4 * 1_000_000));
        assert_eq!((few.length, few.coarse, few.is_unknown()), (None, false, false));
        let short = tick((0..6_400).map(|number| number / 800 * 1_000_000));
        assert_eq!((short.length, short.coarse, short.is_unknown()), (None, false, true), "seven steps");
        let one = tick((0..64).map(|_| 5));
        assert_eq!((one.most, one.length, one.is_unknown()), (64, None, true));
        assert_eq!(tick([]), Tick::default());
    }
}
