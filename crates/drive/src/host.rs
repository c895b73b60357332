//! The host's side: queues by priority, and how fast requests come.

use std::collections::VecDeque;

use wordline_engine::Stages;
use wordline_units::{HostOp, Nanos, Priority};

/// How the host paces its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each request comes at its own time, counted from `origin`, whatever the drive does.
    Open {
        /// The instant that the requests' times count from.
        origin: Nanos,
    },
    /// So many requests are always outstanding; each completion brings the next.
    Closed {
        /// How many.
        depth: u32,
    },
}

/// A host request between its arrival and its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) op: HostOp,
    pub(crate) priority: Priority,
    pub(crate) fua: bool,
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
    pub(crate) arrived: Nanos,
    pub(crate) fetched: Nanos,
    /// When the firmware heard of the last of its parts.
    pub(crate) heard: Nanos,
    /// Parts not yet acknowledged by their cores.
    pub(crate) parts: u32,
    pub(crate) ok: bool,
    pub(crate) stages: Stages,
}

/// Requests by slot, and the slots that wait for the device, by priority.
#[derive(Debug, Default)]
pub(crate) struct HostQueues {
    pub(crate) requests: Vec<InFlight>,
    unused: Vec<u32>,
    waiting: [VecDeque<u32>; Priority::ALL.len()],
    /// Requests inside the device.
    pub(crate) inside: u32,
    /// Requests between arrival and acknowledgement.
    pub(crate) outstanding: u32,
}

impl HostQueues {
    pub(crate) fn arrive(&mut self, request: InFlight) -> u32 {
        self.outstanding += 1;
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.requests[slot as usize] = request;
                slot
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as u32
            }
        };
        self.waiting[request.priority as usize].push_back(slot);
        slot
    }

    /// The next request to be taken in: the most urgent class first, in it the oldest.
    pub(crate) fn next(&mut self) -> Option<u32> {
        self.waiting.iter_mut().find_map(VecDeque::pop_front)
    }

    pub(crate) fn leave(&mut self, slot: u32) {
        self.unused.push(slot);
        self.outstanding -= 1;
    }
}
