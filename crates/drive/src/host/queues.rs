//! Host queues by priority, and the pace of requests.

use std::collections::VecDeque;

use wordline_engine::Stages;
use wordline_units::host::JOBS_MAX;
use wordline_units::{Attributes, DieId, HostOp, Id, JobId, Nanos, Priority};

use crate::config::Weights;

/// Pace of the host's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Open loop: each request comes at its own time, counted from `origin`, whatever the drive does.
    Open {
        /// The instant that the requests' times count from.
        origin: Nanos,
    },
    /// Closed loop: a fixed number of requests is always outstanding; each completion brings the next.
    Closed {
        /// Number of outstanding requests.
        depth: u32,
    },
    /// Closed loop with gaps: of each `cycle` requests since the drive was made, the first `run` come as in a closed loop, and each of the others once all
    /// requests before it are answered and the drive has had no request for `gap`.
    Gaps {
        /// Number of outstanding requests.
        depth: u32,
        /// Number of requests in a row that come without a gap.
        run: u64,
        /// Number of requests after which a run begins again, at least 1.
        cycle: u64,
        /// Time without any request.
        gap: Nanos,
    },
}

/// A host request between its arrival and its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) op: HostOp,
    pub(crate) attributes: Attributes,
    pub(crate) fua: bool,
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
    /// Number of its last sectors that the firmware has not been given yet: only of a TRIM that goes page by page.
    pub(crate) left: u32,
    pub(crate) arrived: Nanos,
    pub(crate) fetched: Nanos,
    /// Instant at which the firmware received the last of its parts.
    pub(crate) heard: Nanos,
    /// Number of parts not yet acknowledged by their cores.
    pub(crate) parts: u32,
    pub(crate) ok: bool,
    /// Number of sectors of a read that hold nothing.
    pub(crate) blank: u32,
    pub(crate) stages: Stages,
    /// Time for which the request held cores and DRAM.
    pub(crate) core: Nanos,
    pub(crate) dram: Nanos,
    /// Die whose operation released it, if one did that began after it had come.
    pub(crate) served_by: Option<DieId>,
    pub(crate) job: JobId,
}

/// Requests by slot, and the slots that wait for the device, by priority.
#[derive(Debug)]
pub(crate) struct HostQueues {
    requests: Vec<InFlight>,
    unused: Vec<u32>,
    waiting: [VecDeque<u32>; Priority::ALL.len()],
    waiting_count: u32,
    /// Requests that each class may give in a round; urgent requests are not limited.
    weights: [u32; Priority::ALL.len()],
    /// Requests that each class may still give in this round.
    credits: [u32; Priority::ALL.len()],
    /// Number of requests inside the device.
    inside: u32,
    /// Number of requests between arrival and acknowledgement.
    outstanding: u32,
    /// The same by job.
    outstanding_of: [u32; JOBS_MAX],
}

impl HostQueues {
    pub(crate) fn new(weights: Weights) -> HostQueues {
        let Weights { high, normal, low } = weights;
        let weights = [u32::MAX, high.max(1), normal.max(1), low.max(1)];
        HostQueues {
            requests: Vec::new(),
            unused: Vec::new(),
            waiting: Default::default(),
            waiting_count: 0,
            weights,
            credits: weights,
            inside: 0,
            outstanding: 0,
            outstanding_of: [0; JOBS_MAX],
        }
    }

    /// Register `request`, which arrives. Returns its slot.
    #[inline]
    pub(crate) fn arrive(&mut self, request: InFlight) -> u32 {
        self.outstanding += 1;
        self.outstanding_of[request.job.index()] += 1;
        match self.unused.pop() {
            Some(slot) => {
                self.requests[slot as usize] = request;
                slot
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as u32
            }
        }
    }

    /// The request in `slot`.
    #[inline]
    pub(crate) fn request(&mut self, slot: u32) -> &mut InFlight {
        &mut self.requests[slot as usize]
    }

    /// Number of requests inside the device.
    #[inline]
    pub(crate) fn inside(&self) -> u32 {
        self.inside
    }

    /// Number of requests between arrival and acknowledgement.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The same by job.
    pub(crate) fn outstanding_of(&self) -> &[u32] {
        &self.outstanding_of
    }

    /// Slot of the request that arrives next.
    pub(crate) fn next_slot(&self) -> u32 {
        self.unused.last().copied().unwrap_or(self.requests.len() as u32)
    }

    /// First sector of the request in `slot`, and its number of sectors.
    pub(crate) fn extent(&self, slot: u32) -> (u64, u32) {
        let InFlight { sector, sectors, .. } = self.requests[slot as usize];
        (sector, sectors)
    }

    /// Queue the request in `slot`, which waits for the device.
    pub(crate) fn wait(&mut self, slot: u32) {
        self.waiting[self.requests[slot as usize].attributes.priority as usize].push_back(slot);
        self.waiting_count += 1;
    }

    /// True if no request waits for the device.
    #[inline]
    pub(crate) fn nobody_waits(&self) -> bool {
        self.waiting_count == 0
    }

    /// Count the request in `slot`, which is taken in while no other waits: the round goes on as if it had been chosen.
    #[inline]
    pub(crate) fn pass(&mut self, slot: u32) {
        let priority = self.requests[slot as usize].attributes.priority;
        if priority == Priority::Urgent {
            return;
        }
        if self.credits[priority as usize] == 0 {
            self.credits = self.weights;
        }
        self.credits[priority as usize] -= 1;
    }

    /// Next request to be taken in: the oldest urgent one, else the oldest of the first class that has not had its share of the round.
    pub(crate) fn next(&mut self) -> Option<u32> {
        if self.nobody_waits() {
            return None;
        }
        self.waiting_count -= 1;
        if let Some(slot) = self.waiting[Priority::Urgent as usize].pop_front() {
            return Some(slot);
        }
        let mut classes = self.waiting.iter_mut().zip(&mut self.credits);
        if let Some((waiting, credit)) = classes.find(|(waiting, credit)| !waiting.is_empty() && **credit > 0) {
            *credit -= 1;
            return waiting.pop_front();
        }
        // Those that wait have had their share, and those that have not do not wait: the next round.
        self.credits = self.weights;
        let (waiting, credit) = self.waiting.iter_mut().zip(&mut self.credits).find(|(waiting, _)| !waiting.is_empty())?;
        *credit -= 1;
        waiting.pop_front()
    }

    /// Count the request in `slot` as one inside the device.
    #[inline]
    pub(crate) fn enter(&mut self, slot: u32) -> &InFlight {
        self.inside += 1;
        &self.requests[slot as usize]
    }

    /// Free `slot`, whose request is acknowledged.
    #[inline]
    pub(crate) fn leave(&mut self, slot: u32) {
        self.inside -= 1;
        self.unused.push(slot);
        self.outstanding -= 1;
        self.outstanding_of[self.requests[slot as usize].job.index()] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: Weights = Weights { high: 5, normal: 3, low: 1 };

    fn of(priority: Priority) -> InFlight {
        InFlight {
            op: HostOp::Read,
            attributes: Attributes::of(priority),
            fua: false,
            sector: 0,
            sectors: 8,
            left: 0,
            arrived: Nanos::ZERO,
            fetched: Nanos::ZERO,
            heard: Nanos::ZERO,
            parts: 0,
            ok: true,
            blank: 0,
            stages: Stages::default(),
            core: Nanos::ZERO,
            dram: Nanos::ZERO,
            served_by: None,
            job: JobId(0),
        }
    }

    fn wait(queues: &mut HostQueues, priority: Priority) -> u32 {
        let slot = queues.arrive(of(priority));
        queues.wait(slot);
        slot
    }

    /// Classes of the next `count` requests taken in, while every class in `classes` always has requests waiting.
    fn taken(queues: &mut HostQueues, classes: &[Priority], count: u32) -> Vec<Priority> {
        for &class in classes {
            (0..count).for_each(|_| {
                wait(queues, class);
            });
        }
        (0..count).map(|_| queues.next().map(|slot| queues.requests[slot as usize].attributes.priority).expect("one waits")).collect()
    }

    fn shares(taken: &[Priority]) -> [usize; 4] {
        Priority::ALL.map(|class| taken.iter().filter(|&&found| found == class).count())
    }

    #[test]
    fn classes_that_always_wait_share_by_weight() {
        use Priority::{High, Low, Normal};
        let taken = taken(&mut HostQueues::new(WEIGHTS), &[Low, Normal, High], 900);
        assert_eq!(shares(&taken), [0, 500, 300, 100]);
        assert_eq!(taken[..9], [High, High, High, High, High, Normal, Normal, Normal, Low]);
    }

    #[test]
    fn a_class_that_does_not_wait_leaves_its_share_to_the_others() {
        use Priority::{Low, Normal};
        assert_eq!(shares(&taken(&mut HostQueues::new(WEIGHTS), &[Low, Normal], 400)), [0, 0, 300, 100]);
        assert_eq!(shares(&taken(&mut HostQueues::new(WEIGHTS), &[Low], 50)), [0, 0, 0, 50]);
    }

    #[test]
    fn a_request_that_passes_counts_as_one_that_was_chosen() {
        let (mut passed, mut chosen) = (HostQueues::new(WEIGHTS), HostQueues::new(WEIGHTS));
        for number in 0..200 {
            let class = Priority::ALL[number * 7 % 11 % 4];
            let slot = passed.arrive(of(class));
            passed.pass(slot);
            wait(&mut chosen, class);
            chosen.next().expect("one waits");
            assert_eq!(passed.credits, chosen.credits, "after {number}, {class:?}");
        }
    }

    #[test]
    fn urgent_requests_wait_for_nobody_and_cost_nobody_its_share() {
        use Priority::{High, Low, Normal, Urgent};
        let mut queues = HostQueues::new(WEIGHTS);
        let first = taken(&mut queues, &[Low, Normal, High], 7);
        assert_eq!(shares(&first), [0, 5, 2, 0]);
        for _ in 0..3 {
            wait(&mut queues, Urgent);
        }
        let next: Vec<Priority> =
            (0..5).map(|_| queues.next().map(|slot| queues.requests[slot as usize].attributes.priority).expect("one waits")).collect();
        assert_eq!(next, [Urgent, Urgent, Urgent, Normal, Low]);
    }

    #[test]
    fn within_a_class_the_oldest_goes_first_and_nothing_is_lost() {
        let mut queues = HostQueues::new(WEIGHTS);
        let mut expected: Vec<u32> = (0..40).map(|number| wait(&mut queues, Priority::ALL[number % 4])).collect();
        let taken: Vec<u32> = std::iter::from_fn(|| queues.next()).collect();
        for class in Priority::ALL {
            let of_class: Vec<u32> =
                taken.iter().copied().filter(|&slot| queues.requests[slot as usize].attributes.priority == class).collect();
            assert!(of_class.is_sorted(), "{class:?}: {of_class:?}");
        }
        let mut all = taken;
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected);
    }
}
