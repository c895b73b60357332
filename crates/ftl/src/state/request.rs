//! What a core is asked to do for the host, and what it answers.

use std::collections::VecDeque;

use wordline_flash::Spans;
use wordline_units::{HostOp, Priority};

use crate::state::layout::{Group, UnitAddr};
use crate::util::list::Slab;

/// The part of a host request that falls to one core. Units are consecutive in the core's own logical space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The drive's name for it; comes back in the [`Acknowledgement`].
    pub id: u32,
    /// What to do.
    pub op: HostOp,
    /// The first unit.
    pub lpn: u32,
    /// How many units, the partly covered ones at both ends included.
    pub units: u32,
    /// Sectors of the first unit that are not covered.
    pub skip_head: u32,
    /// Sectors of the last unit that are not covered.
    pub skip_tail: u32,
    /// The host's queue.
    pub priority: Priority,
    /// A write is to be acknowledged only when it is durable.
    pub fua: bool,
    /// A write whose data may stay readable on the chips once it is stale.
    pub insecure: bool,
}

/// The end of a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The drive's name for it.
    pub id: u32,
    /// Whether all of it could be done.
    pub ok: bool,
    /// Of a read: its sectors in units that hold nothing.
    pub blank: u32,
    /// What the operation took whose report released it; `None`: no report did.
    pub released_by: Option<Spans>,
}

/// What follows at once from a call that tells the core something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Units of host data that became stale by it.
    pub invalidated: u32,
}

/// Something the drive should write down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// What stands at this address cannot be read any more, because its key is gone.
    KeyGone(UnitAddr),
    /// A block group went out of service or changed its blocks.
    Retired(Group),
    /// A die refuses to make unreadable what is stale and secret in this block group.
    Exposed(Group),
    /// A program in this block group is not relied on, and its data goes elsewhere.
    ProgrammedAgain(Group),
    /// No more writes are taken.
    WornOut,
}

/// A host request in hand.
#[derive(Clone, Copy, Debug)]
struct Part {
    request: Request,
    /// Reads, or durable units, still to come.
    pending: u32,
    /// Units of a write not yet in the buffer.
    unadmitted: u32,
    ok: bool,
    /// Sectors of a read in units that hold nothing.
    blank: u32,
}

/// A request that is done and waits to be acknowledged.
#[derive(Clone, Copy, Debug)]
struct Done {
    id: u32,
    ok: bool,
    blank: u32,
}

/// The host's requests: those in hand with what each waits for, writes that wait for room, and what is done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    parts: Slab<Part>,
    /// Writes that wait for room in the buffer, in order of arrival.
    admissions: VecDeque<u32>,
    done: VecDeque<Done>,
    /// What the operation took that was reported last; `None`: what is being answered is no report.
    released_by: Option<Spans>,
}

impl Requests {
    /// Take `request` in hand; `unadmitted`: units of it that are not in the buffer yet.
    #[inline]
    pub(crate) fn begin(&mut self, request: Request, unadmitted: u32) -> u32 {
        self.parts.insert(Part { request, pending: 0, unadmitted, ok: true, blank: 0 })
    }

    /// What `part` asks for.
    #[inline]
    pub(crate) fn request(&self, part: u32) -> Request {
        self.parts[part].request
    }

    /// Whether nothing is in hand.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.len() == 0
    }

    /// `part` waits for one thing more.
    #[inline]
    pub(crate) fn hold(&mut self, part: u32) {
        self.parts[part].pending += 1;
    }

    /// One of the things that `part` waits for is over: it is done, if that was the last.
    #[inline(always)]
    pub(crate) fn release(&mut self, part: u32) {
        let state = &mut self.parts[part];
        state.pending -= 1;
        if state.pending == 0 && state.unadmitted == 0 {
            self.finish(part);
        }
    }

    /// Whether `part` waits for nothing.
    #[inline]
    pub(crate) fn is_free(&self, part: u32) -> bool {
        self.parts[part].pending == 0
    }

    /// Not all of `part` could be done.
    pub(crate) fn spoil(&mut self, part: u32) {
        self.parts[part].ok = false;
    }

    /// `sectors` sectors that the read `part` asks for are in units that hold nothing.
    pub(crate) fn add_blank(&mut self, part: u32, sectors: u32) {
        self.parts[part].blank += sectors;
    }

    /// Units of the write `part` that are not in the buffer yet.
    #[inline]
    pub(crate) fn unadmitted(&self, part: u32) -> u32 {
        self.parts[part].unadmitted
    }

    /// One of them is.
    #[inline]
    pub(crate) fn admit_one(&mut self, part: u32) {
        self.parts[part].unadmitted -= 1;
    }

    /// The write `part` is not taken.
    pub(crate) fn refuse(&mut self, part: u32) {
        (self.parts[part].ok, self.parts[part].unadmitted) = (false, 0);
    }

    /// `part` is done.
    #[inline]
    pub(crate) fn finish(&mut self, part: u32) {
        let part = self.parts.remove(part);
        self.done.push_back(Done { id: part.request.id, ok: part.ok, blank: part.blank });
    }

    /// What is done from now on is released by an operation that took this; `None`: by none.
    #[inline]
    pub(crate) fn release_by(&mut self, spans: Option<Spans>) {
        self.released_by = spans;
    }

    /// The next that is done.
    #[inline]
    pub(crate) fn acknowledge(&mut self) -> Option<Acknowledgement> {
        let Done { id, ok, blank } = self.done.pop_front()?;
        Some(Acknowledgement { id, ok, blank, released_by: self.released_by })
    }

    /// The write `part` waits for room behind all others.
    pub(crate) fn wait_for_room(&mut self, part: u32) {
        self.admissions.push_back(part);
    }

    /// The write that has waited longest for room.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<u32> {
        self.admissions.front().copied()
    }

    /// How many wait for room.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.admissions.len()
    }

    /// Take it: all of it is in the buffer, or it is refused.
    pub(crate) fn take_waiting(&mut self) -> Option<u32> {
        self.admissions.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: Request = Request {
        id: 7,
        op: HostOp::Write,
        lpn: 0,
        units: 2,
        skip_head: 0,
        skip_tail: 0,
        priority: Priority::Normal,
        fua: false,
        insecure: false,
    };

    #[test]
    fn a_request_is_done_once_it_waits_for_nothing_and_is_all_in() {
        let mut requests = Requests::default();
        let part = requests.begin(WRITE, 1);
        requests.hold(part);
        requests.release(part);
        assert_eq!(requests.acknowledge(), None, "a unit of it is not in the buffer yet");
        requests.admit_one(part);
        requests.hold(part);
        requests.hold(part);
        requests.release(part);
        assert_eq!(requests.acknowledge(), None);
        requests.spoil(part);
        requests.release(part);
        assert_eq!(requests.acknowledge(), Some(Acknowledgement { id: 7, ok: false, blank: 0, released_by: None }));
        assert!(requests.is_empty());
    }
}
