//! The books that every run keeps about itself, from the event stream alone.
//!
//! Other simulators count what they generated and call it served, divide by whole seconds, and exit with success after losing requests. Here each
//! request has a line in a table from its arrival to its completion, and the integral of requests in flight is kept twice: as number × time
//! while events pass, and as the sum of latencies that completions claim. The two are integers and must be equal at every instant, hence
//! over every window (Little's law). The cost is a few nanoseconds per request, so the books are always kept.

use wordline_engine::{Completion, FlashEvent};
use wordline_units::{Attributes, HostOp, Id, Nanos, RequestId};

use crate::violation::{Account, Found, Violation};

/// Ids of requests in flight are dense; one beyond this is a mistake, and believing it would cost the memory of the table below.
const REQUESTS_MAX: usize = 1 << 26;

/// Little's law is compared once in so many completions, and at the borders of every window.
const COMPLETIONS_PER_COMPARISON: u64 = 4_096;

/// The line of a request in flight.
#[derive(Clone, Copy, Debug)]
struct Open {
    arrived: Nanos,
    sectors: u32,
    op: HostOp,
    attributes: Attributes,
    in_flight: bool,
}

const CLOSED: Open = Open { arrived: Nanos::ZERO, sectors: 0, op: HostOp::Read, attributes: Attributes::NONE, in_flight: false };

/// What one exclusive resource must have done since `start`: operations issued at or after it, ended, with this much work. Of the windows that
/// could show an overlap it keeps the one that is fullest, which needs two words and catches any overlap within a busy period.
#[derive(Clone, Copy, Debug, Default)]
struct Exclusive {
    start: u64,
    work: u64,
}

impl Exclusive {
    /// An operation ended at `at`; whether all that ended could have been done one at a time.
    #[inline]
    fn fits(&mut self, issued: u64, span: u64, at: u64) -> bool {
        // Selections rather than branches: which case holds is as good as random, and a wrong guess would cost more than all of this.
        let begun = issued >= self.start;
        let idle = issued >= self.start + self.work;
        // Issued before the window and ended after it, as a suspended erase: where the wider window is the fuller one, it takes over.
        let wider = !begun & (issued + span > self.start);
        let counted = if begun | wider { self.work + span } else { self.work };
        *self = Exclusive { start: if idle | wider { issued } else { self.start }, work: if idle { span } else { counted } };
        let fits = self.start + self.work <= at;
        if !fits {
            // Reported once, not once for every later operation of the busy period.
            *self = Exclusive { start: at, work: 0 };
        }
        fits
    }
}

/// The books of a run. Fed by [`Metrics`](crate::Metrics).
#[derive(Clone, Debug)]
pub struct Checks {
    now: Nanos,
    open: Vec<Open>,
    in_flight: u64,
    counted_until: Nanos,
    // Number × time, kept while events pass.
    integral: u128,
    // The same from the other side: what completions claim, and what the requests in flight have spent so far.
    claimed: u128,
    open_arrivals: u128,
    completions: u64,
    dies: Vec<Exclusive>,
    channels: Vec<Exclusive>,
    found: Found,
}

impl Checks {
    pub(crate) fn new(dies: u32, channels: u32) -> Checks {
        Checks {
            now: Nanos::ZERO,
            open: Vec::new(),
            in_flight: 0,
            counted_until: Nanos::ZERO,
            integral: 0,
            claimed: 0,
            open_arrivals: 0,
            completions: 0,
            dies: vec![Exclusive::default(); dies as usize],
            channels: vec![Exclusive::default(); channels as usize],
            found: Found::default(),
        }
    }

    /// The instant of the last event.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Requests that arrived and have not completed.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// What is wrong so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.found.list()
    }

    pub(crate) fn violated(&mut self, account: Account, message: impl FnOnce() -> String) {
        self.found.add(account, self.now, message);
    }

    /// Returns the instant to book the event at: `at`, or the latest instant seen where time went back.
    #[inline]
    pub(crate) fn clock(&mut self, at: Nanos) -> Nanos {
        if at < self.now {
            let now = self.now;
            self.found.add(Account::TimeOrder, at, || format!("an event at {} ns follows one at {} ns", at.0, now.0));
            return now;
        }
        self.now = at;
        at
    }

    /// The integral of requests in flight up to `at`, in request-nanoseconds. `at` must not be earlier than the last event.
    #[inline]
    pub(crate) fn integral_at(&self, at: Nanos) -> u128 {
        self.integral + u128::from(self.in_flight) * u128::from(at.saturating_sub(self.counted_until).0)
    }

    #[inline]
    fn count_until(&mut self, at: Nanos) {
        self.integral = self.integral_at(at);
        self.counted_until = at;
    }

    #[inline]
    pub(crate) fn arrived(&mut self, at: Nanos, request: RequestId, op: HostOp, attributes: Attributes, sectors: u32) {
        self.count_until(at);
        let index = request.index();
        if index >= self.open.len() && !self.grow(at, index) {
            return;
        }
        if self.open[index].in_flight {
            self.found.add(Account::ArrivalsAndCompletions, at, || format!("request {request} arrives while it is in flight"));
            return;
        }
        self.open[index] = Open { arrived: at, sectors, op, attributes, in_flight: true };
        self.in_flight += 1;
        self.open_arrivals += u128::from(at.0);
    }

    #[cold]
    fn grow(&mut self, at: Nanos, index: usize) -> bool {
        if index >= REQUESTS_MAX {
            self.found.add(Account::ArrivalsAndCompletions, at, || format!("request {index} arrives; ids should be dense"));
            return false;
        }
        self.open.resize((index + 1).next_power_of_two().max(64), CLOSED);
        true
    }

    /// Returns the latency: the sum of the stages.
    #[inline]
    pub(crate) fn completed(&mut self, at: Nanos, done: &Completion) -> Nanos {
        self.count_until(at);
        let latency = done.stages.total();
        let Some(open) = self.open.get_mut(done.request.index()).filter(|open| open.in_flight) else {
            self.found.add(Account::ArrivalsAndCompletions, at, || format!("request {} completes but is not in flight", done.request));
            return latency;
        };
        let was = *open;
        open.in_flight = false;
        self.in_flight -= 1;
        self.open_arrivals -= u128::from(was.arrived.0);
        self.claimed += u128::from(latency.0);
        if was.arrived != done.arrived || was.sectors != done.sectors || was.op != done.op || was.attributes != done.attributes {
            self.found.add(Account::SameRequest, at, || {
                format!(
                    "request {} arrived at {} ns as {} of {} sectors ({:?}) and completes as {} of {} sectors ({:?}) that arrived at {} ns",
                    done.request,
                    was.arrived.0,
                    was.op.name(),
                    was.sectors,
                    was.attributes,
                    done.op.name(),
                    done.sectors,
                    done.attributes,
                    done.arrived.0
                )
            });
        }
        if at.0.wrapping_sub(done.arrived.0) != latency.0 {
            self.found.add(Account::StageSum, at, || {
                let took = i128::from(at.0) - i128::from(done.arrived.0);
                format!("request {} took {took} ns but its stages sum to {} ns: {:?}", done.request, latency.0, done.stages)
            });
        }
        self.completions += 1;
        if self.completions.is_multiple_of(COMPLETIONS_PER_COMPARISON) {
            self.compare(at);
        }
        latency
    }

    /// What all requests have spent in the drive up to `at`, in request-nanoseconds: the latencies that completions claim, and what those in flight have
    /// spent so far.
    pub(crate) fn spent_at(&self, at: Nanos) -> u128 {
        (self.claimed + u128::from(self.in_flight) * u128::from(at.0)).saturating_sub(self.open_arrivals)
    }

    /// Little's law from the first event up to `at`; as it holds at both ends of a window, it holds over the window.
    #[cold]
    pub(crate) fn compare(&mut self, at: Nanos) {
        let (integral, spent) = (self.integral_at(at), self.spent_at(at));
        if integral != spent {
            self.found.add(Account::LittlesLaw, at, || {
                format!("the integral of requests in flight is {integral} request-ns, but requests spent {spent} ns in the drive")
            });
        }
    }

    #[inline(always)]
    pub(crate) fn flash(&mut self, at: Nanos, flash: &FlashEvent) -> bool {
        let (Some(die), Some(channel)) = (self.dies.get_mut(flash.die.index()), self.channels.get_mut(flash.channel.index())) else {
            let (dies, channels) = (self.dies.len(), self.channels.len());
            self.found.add(Account::KnownParts, at, || {
                format!("die {} on channel {} of a drive with {dies} dies and {channels} channels", flash.die, flash.channel)
            });
            return false;
        };
        if !die.fits(flash.issued.0, flash.array.0, at.0) {
            self.found.add(Account::DieCapacity, at, || {
                format!("die {} did more work than it had time for; its last operation was {flash:?}", flash.die)
            });
        }
        if flash.bus > Nanos::ZERO && !channel.fits(flash.issued.0, flash.bus.0, at.0) {
            self.found.add(Account::ChannelCapacity, at, || {
                format!("channel {} moved more than it had time for; the last transfer was of {flash:?}", flash.channel)
            });
        }
        true
    }

    /// The end of a run at which the drive itself says that it still holds `held` requests.
    pub(crate) fn close(&mut self, at: Nanos, held: u64) {
        let at = self.clock(at);
        self.compare(at);
        if self.in_flight != held {
            let in_flight = self.in_flight;
            let example = self.open.iter().position(|open| open.in_flight);
            self.found.add(Account::NothingLost, at, || {
                let example = example.map_or(String::new(), |index| format!(", among them request {index}"));
                format!("{in_flight} requests arrived and never completed{example}; the drive holds {held}")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A die that suspends an erase for reads, and an overlap in the same shape.
    #[test]
    fn suspended_work_fits_and_overlapping_work_does_not() {
        let mut die = Exclusive::default();
        assert!(die.fits(60, 10, 70));
        assert!(die.fits(80, 10, 90));
        assert!(die.fits(0, 80, 100), "an erase of 80 suspended twice for 10 just fits");
        let mut die = Exclusive::default();
        assert!(die.fits(0, 50, 50));
        assert!(!die.fits(10, 50, 60), "two operations of 50 in 60");
        let mut die = Exclusive::default();
        assert!(die.fits(10, 50, 60));
        assert!(!die.fits(0, 50, 61), "the same, the earlier one ending last");
    }
}
