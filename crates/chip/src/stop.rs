//! Progress of the array with a program or an erase, and the points at which it can stop.
//!
//! ```text
//!  begun                now              until
//!    │ step │ step │ st┊ep │ step │ … │ st│          the array's work, as if it had never been stopped
//!                      ┊   └ AtStep: here
//!                      └ Now: after the time that the sheet says; this step is done again
//! ```
//!
//! Steps are counted from the beginning of the array's work, over all resumes. The end of a step is worked out when a stop is ordered: no event
//! stands for it. A resume goes on at a step's beginning, and a stop at the end of a step while the array still settles comes after one whole step more, so
//! every resume brings the work on.

use wordline_units::Nanos;

/// Stops of a program or an erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// All stops.
    pub all: u16,
    /// Stops at once among them.
    pub now: u16,
}

/// Progress of the array with a program or an erase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// When the array would have begun, had it never been stopped.
    begun: Nanos,
    /// Work that was done when it was stopped last; after a stop by steps, whole ones.
    done: Nanos,
    /// All of the work; known from the first stop on.
    whole: Nanos,
    /// When the work ends if nothing stops it again; known from the first resume on.
    until: Nanos,
    stops: Stops,
}

impl Progress {
    /// The array begins at `begun`.
    #[inline(always)]
    pub(crate) const fn new(begun: Nanos) -> Progress {
        Progress { begun, done: Nanos::ZERO, whole: Nanos::ZERO, until: Nanos::ZERO, stops: Stops { all: 0, now: 0 } }
    }

    pub(crate) const fn stops(&self) -> Stops {
        self.stops
    }

    /// Work that is done at `now`. While the array settles after a resume it is no more than at the stop.
    fn done_at(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.begun).max(self.done)
    }

    /// Work that is done once the step that runs at `now` has ended.
    fn done_after(&self, step: Nanos, now: Nanos) -> Nanos {
        step * (self.done_at(now).0 / step.0 + 1)
    }

    /// When the step of `step` ends that runs at `now`.
    pub(crate) fn step_end(&self, step: Nanos, now: Nanos) -> Nanos {
        self.begun + self.done_after(step, now)
    }

    /// Stopped at `now`, at the end of the running step; of work that would end at `until`. Returns what is left of it.
    pub(crate) fn stop_at_step(&mut self, step: Nanos, now: Nanos, until: Nanos) -> Nanos {
        self.count(until);
        self.done = self.done_after(step, now);
        self.whole - self.done
    }

    /// Stopped at `now`, at once. Returns what is left of the work, the step that was running included.
    pub(crate) fn stop_now(&mut self, step: Nanos, now: Nanos, until: Nanos) -> Nanos {
        self.stops.now = self.stops.now.saturating_add(1);
        if step == Nanos::ZERO {
            return self.stop_anywhere(now, until);
        }
        self.count(until);
        self.done = step * (self.done_at(now).0 / step.0);
        self.whole - self.done
    }

    /// Stopped at `now` on a die without known steps: nothing is done again. Returns the time that is left of the work, and of settling if that goes on.
    pub(crate) fn stop_anywhere(&mut self, now: Nanos, until: Nanos) -> Nanos {
        self.count(until);
        self.done = self.done_at(now);
        until - now
    }

    /// One more stop of work that would end at `until`.
    fn count(&mut self, until: Nanos) {
        self.stops.all = self.stops.all.saturating_add(1);
        self.whole = until - self.begun;
    }

    /// A stop at the end of the running step becomes one at once. It stays one stop. Returns the addition to the time that is left.
    pub(crate) fn raise(&mut self, step: Nanos) -> Nanos {
        self.stops.now = self.stops.now.saturating_add(1);
        self.done -= step;
        step
    }

    /// Goes on, and will end at `until` if nothing stops it.
    pub(crate) fn resumed(&mut self, until: Nanos) {
        // As much time as was worked has passed at least.
        self.begun = until - self.whole;
        self.until = until;
    }

    /// True if this is the progress of work that was resumed and ends at `until`. Of all work of a die, one piece ends then.
    pub(crate) fn is_of(&self, until: Nanos) -> bool {
        self.until == until && self.stops.all > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEP: Nanos = Nanos(100);

    #[test]
    fn a_stop_at_a_step_waits_for_its_end_and_one_at_once_does_the_step_again() {
        let until = Nanos(1_050);
        for (now, done) in [(0, 0), (1, 0), (99, 0), (100, 1), (101, 1), (899, 8)] {
            let (mut at_step, mut at_once) = (Progress::new(Nanos::ZERO), Progress::new(Nanos::ZERO));
            assert_eq!(at_step.step_end(STEP, Nanos(now)), STEP * (done + 1));
            assert_eq!(at_step.stop_at_step(STEP, Nanos(now), until), until - STEP * (done + 1));
            assert_eq!(at_once.stop_now(STEP, Nanos(now), until), until - STEP * done);
            assert_eq!((at_step.done, at_once.done), (STEP * (done + 1), STEP * done));
            assert_eq!((at_step.stops, at_once.stops), (Stops { all: 1, now: 0 }, Stops { all: 1, now: 1 }));
        }
    }

    #[test]
    fn a_stop_that_is_raised_is_as_one_at_once_and_counts_as_one() {
        for now in [0, 1, 150, 999] {
            let until = Nanos(1_250);
            let (mut raised, mut at_once) = (Progress::new(Nanos::ZERO), Progress::new(Nanos::ZERO));
            let left = raised.stop_at_step(STEP, Nanos(now), until) + raised.raise(STEP);
            assert_eq!(left, at_once.stop_now(STEP, Nanos(now), until));
            assert_eq!((raised.done, raised.stops), (at_once.done, at_once.stops));
        }
    }

    proptest! {
        #[test]
        fn however_often_it_is_stopped_all_its_steps_are_done_and_only_those_stopped_at_once_are_done_twice(
            work in 1_000u64..10_000,
            stops in prop::collection::vec((any::<bool>(), 0u64..700, 0u64..500), 0..20),
        ) {
            let (mut now, mut until) = (Nanos(5_000), Nanos(5_000 + work));
            let mut progress = Progress::new(now);
            let (mut at_array, mut again, mut settled) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
            let settle = Nanos(30);
            for (at_once, after, held) in stops {
                let at = now + Nanos(after);
                let before = progress.done;
                if progress.step_end(STEP, at) >= until {
                    break;
                }
                let end = if at_once { at } else { progress.step_end(STEP, at) };
                // While it still settles, a stop at once breaks that off.
                let is_settling = at < progress.begun + before;
                let left = if at_once { progress.stop_now(STEP, at, until) } else { progress.stop_at_step(STEP, at, until) };
                at_array += end - now;
                if at_once && is_settling {
                    settled += at - now;
                } else {
                    if progress.stops.all > 1 {
                        settled += settle;
                    }
                    again += if at_once { Nanos((at - progress.begun).0 % STEP.0) } else { Nanos::ZERO };
                }
                prop_assert!(at_once || progress.done > before, "a stop at a step brings it on");
                prop_assert!(progress.done >= before, "nothing done is lost");
                now = end + Nanos(held);
                until = now + settle + left;
                progress.resumed(until);
                prop_assert_eq!(progress.done_at(now), progress.done);
            }
            let last = if progress.stops.all > 0 { settle } else { Nanos::ZERO };
            prop_assert_eq!(at_array + (until - now), Nanos(work) + again + settled + last);
        }
    }
}
