//! How far an open loop runs ahead of its drive.
//!
//! A drive that is asked for more than it can do has a queue that grows for as long as requests come, and latencies that say how long the run was rather than
//! how fast the drive is. The queue is looked at when requests arrive, at about as many instants of a long run as of a short one. A load that comes in bursts
//! leaves its drive behind without such growth: its requests wait for one another, before the drive takes them in or after the last of them has come.

use wordline_units::Nanos;

/// Samples that are kept: when there are so many, every other one goes, and half as many are taken from then on.
const SAMPLES: usize = 256;

/// Fewer samples say nothing of a trend.
const SAMPLES_MIN: usize = 16;

/// A backlog below this is a queue like any other.
const BACKLOG_MIN: u64 = 64;

/// A backlog below this share of what has arrived is one that the drive works off.
const SHARE_MIN: f64 = 0.01;

/// Where requests spend more of their latency in the host's queue, it says how long the queue was.
const QUEUED_MAX: f64 = 0.5;

/// The requests in flight at the arrivals of one phase.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    every: u64,
    left: u64,
    arrivals: u64,
    samples: Vec<(Nanos, u64)>,
    last: (Nanos, u64),
    most: u64,
}

/// An open loop that the drive could not follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Requests in flight when the last one arrived.
    pub backlog: u64,
    /// The most requests in flight at an arrival.
    pub most: u64,
    /// The share of the latency of its requests that they spent in the host's queue.
    pub queued_share: f64,
    /// Growth of the backlog with each second; 0 where they came in bursts.
    pub growth_per_second: f64,
    /// Requests that arrived in a second.
    pub asked_per_second: f64,
}

impl Default for Backlog {
    fn default() -> Backlog {
        Backlog { every: 1, left: 1, arrivals: 0, samples: Vec::new(), last: (Nanos::ZERO, 0), most: 0 }
    }
}

impl Backlog {
    /// A request arrives at `at`, and with it `in_flight` are under way.
    #[inline]
    pub(crate) fn arrive(&mut self, at: Nanos, in_flight: u64) {
        self.arrivals += 1;
        self.last = (at, in_flight);
        self.most = self.most.max(in_flight);
        self.left -= 1;
        if self.left == 0 {
            self.sample();
        }
    }

    #[cold]
    fn sample(&mut self) {
        if self.samples.len() == SAMPLES {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
        self.samples.push(self.last);
        self.left = self.every;
    }

    /// Saturation, where requests came faster than they were served, in a phase that ended at `end` and whose requests spent `queued_share` of their
    /// latency in the host's queue.
    pub(crate) fn saturation(&self, end: Nanos, queued_share: f64) -> Option<Saturation> {
        let first = self.samples.first()?.0;
        let (until, backlog) = self.last;
        let growth = self.growth();
        let (before, after) = (until - first, end.saturating_sub(until));
        let is_worked_off = self.is_small() || after <= before;
        let is_burst = self.most >= BACKLOG_MIN && (queued_share > QUEUED_MAX || !is_worked_off);
        if growth.is_none() && !is_burst {
            return None;
        }
        let asked_in = if before > Nanos::ZERO { before } else { (end - first).max(Nanos(1)) };
        Some(Saturation {
            backlog,
            most: self.most,
            queued_share,
            growth_per_second: growth.unwrap_or(0.0),
            asked_per_second: self.arrivals as f64 / asked_in.as_secs_f64(),
        })
    }

    /// True if the number in flight at the last arrival is a queue like any other, or a small part of all that was asked.
    fn is_small(&self) -> bool {
        let backlog = self.last.1;
        backlog < BACKLOG_MIN || (backlog as f64) < SHARE_MIN * self.arrivals as f64
    }

    /// Growth of the requests in flight with each second, if the queue grew in each quarter of the arrivals but the first, and what is left of it is no
    /// small part of all that was asked.
    fn growth(&self) -> Option<f64> {
        if self.samples.len() < SAMPLES_MIN || self.is_small() {
            return None;
        }
        let quarter = self.samples.len() / 4;
        let mean = |number: usize| {
            let part = &self.samples[number * quarter..(number + 1) * quarter];
            let count = part.len() as f64;
            let of = |value: fn(&(Nanos, u64)) -> f64| part.iter().map(value).sum::<f64>() / count;
            (of(|sample| sample.0.as_secs_f64()), of(|sample| sample.1 as f64))
        };
        let [first, second, third, fourth] = [0, 1, 2, 3].map(mean);
        let grows = first.1 <= second.1 && second.1 < third.1 && third.1 < fourth.1;
        let span = fourth.0 - second.0;
        (grows && span > 0.0).then(|| (fourth.1 - second.1) / span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests at a steady rate, and what is in flight by `queue`.
    fn of(arrivals: u64, queue: impl Fn(u64) -> u64) -> Option<Saturation> {
        let mut backlog = Backlog::default();
        (1..=arrivals).for_each(|number| backlog.arrive(Nanos(number * 1_000), queue(number)));
        // The last is answered as soon as it has come.
        backlog.saturation(Nanos(arrivals * 1_000), 0.0)
    }

    #[test]
    fn a_queue_that_grows_is_told_with_its_growth() {
        // One in ten is not served in time: 100 of 1,000 arrivals in a millisecond.
        let found = of(100_000, |number| number / 10).expect("it grows");
        assert_eq!(found.backlog, 10_000);
        assert!((found.growth_per_second / 1e5 - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.asked_per_second / 1e6 - 1.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn queues_that_do_not_grow_are_none() {
        assert_eq!(of(100_000, |_| 29_000), None, "long, and no longer at the end than at the beginning");
        assert_eq!(of(100_000, |number| 300 * (number / 1_000 % 2)), None, "bursts");
        assert_eq!(of(100_000, |number| if number > 99_000 { 4_000 } else { 3 }), None, "a burst at the end");
        assert_eq!(of(100_000, |number| number / 1_000), None, "a thousandth of what was asked");
        assert_eq!(of(300, |number| number / 8), None, "as many as a device takes in");
        assert_eq!(of(0, |_| 0), None);
    }

    #[test]
    fn a_burst_that_waits_for_itself_is_told_though_its_queue_does_not_grow() {
        // All at once, and answered within 940 us.
        let mut burst = Backlog::default();
        (1..=2_000).for_each(|number| burst.arrive(Nanos(5), number));
        let found = burst.saturation(Nanos(940_005), 0.99).expect("0.93 of 0.94 ms in the queue");
        assert_eq!((found.backlog, found.most, found.growth_per_second), (2_000, 2_000, 0.0));
        assert!((found.asked_per_second / (2_000.0 / 940e-6) - 1.0).abs() < 1e-9, "{found:?}");
        assert!(burst.saturation(Nanos(940_005), 0.0).is_some(), "all that time is after the last arrival");
        // Bursts again and again, each over before the next one.
        let mut bursts = Backlog::default();
        (0..4_000).for_each(|number| bursts.arrive(Nanos(number / 200 * 1_000_000), number % 200));
        assert!(bursts.saturation(Nanos(20_000_000), 0.93).is_some());
        assert_eq!(bursts.saturation(Nanos(20_000_000), 0.4), None, "most of it is the drive's own time");
        // A few requests are a queue like any other.
        let mut few = Backlog::default();
        (1..=63).for_each(|number| few.arrive(Nanos(5), number));
        assert_eq!(few.saturation(Nanos(940_005), 0.99), None);
    }
}
