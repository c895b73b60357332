//! Host requests of a core and their acknowledgements.

use std::collections::VecDeque;

use wordline_flash::Spans;
use wordline_units::{Attributes, DieId, HostOp, PartId};

use crate::state::layout::{BlockGroup, UnitAddr};
use crate::util::list::Slab;

/// The part of a host request that falls to one core. Units are consecutive in the core's own logical space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Id that the drive gives the request; it returns in the [`Acknowledgement`].
    pub id: u32,
    /// Kind of request.
    pub op: HostOp,
    /// First unit of the request.
    pub lpn: u32,
    /// Number of units, the partly covered ones at both ends included.
    pub units: u32,
    /// Sectors of the first unit that are not covered.
    pub skip_head: u32,
    /// Sectors of the last unit that are not covered.
    pub skip_tail: u32,
    /// Attributes of the host's request.
    pub attributes: Attributes,
    /// True for a write that is acknowledged only when it is durable.
    pub fua: bool,
}

/// The end of a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Id that the drive gave the request.
    pub id: u32,
    /// True if the request succeeded in full.
    pub ok: bool,
    /// Sectors of a read in units that hold nothing; sectors of a trim beyond the units that it freed.
    pub blank: u32,
    /// Latency parts of the operation whose report released the request; `None`: no report did.
    pub released_by: Option<Spans>,
    /// Die of the operation that was reported last.
    pub die: DieId,
}

/// Effects of a call that tells the core something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Units of host data that became stale by the call.
    pub invalidated: u32,
}

/// A note for the drive's event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The data at this address cannot be read any more, because its key is destroyed.
    KeyGone(UnitAddr),
    /// A block group went out of service or changed its blocks.
    Retired(BlockGroup),
    /// Stale secrets of this block group stay readable, because a die failed to sanitise them.
    Exposed(BlockGroup),
    /// A program in this block group is not relied on; its data is programmed again elsewhere.
    ProgrammedAgain(BlockGroup),
    /// Units of this block group could not be read to be moved or completed: so many of them.
    DataLost(BlockGroup, u32),
    /// A die is suspected to have failed, because an operation in this block group went badly.
    DieSuspected(BlockGroup),
    /// A die has failed: nothing is read or written there any more.
    DieFailed(DieId),
    /// Units were lost with a failed die: so many of them.
    UnitsLost(DieId, u32),
    /// Units that were lost with a failed die were written or trimmed: so many of them.
    UnitsHealed(DieId, u32),
    /// The core takes no more writes.
    WornOut,
}

/// A host request under way.
#[derive(Clone, Copy, Debug)]
struct Part {
    request: Request,
    /// Reads, or durable units, that the request still waits for.
    pending: u32,
    /// Units of a write that are not in the buffer yet.
    unadmitted: u32,
    ok: bool,
    /// Sectors of a read in units that hold nothing.
    blank: u32,
}

/// A finished request that waits to be acknowledged.
#[derive(Clone, Copy, Debug)]
struct Done {
    id: u32,
    ok: bool,
    blank: u32,
}

/// Table of the host's requests: those under way with what each waits for, writes that wait for room, and finished ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    parts: Slab<PartId, Part>,
    /// Writes that wait for room in the buffer, in order of arrival.
    admissions: VecDeque<PartId>,
    done: VecDeque<Done>,
    /// Latency parts of the operation reported last; `None`: the call being answered is no report.
    released_by: Option<Spans>,
    /// Die of the operation reported last.
    reported: DieId,
}

impl Requests {
    /// Begin `request`. `unadmitted`: units of it that are not in the buffer yet. Returns its part number.
    #[inline]
    pub(crate) fn begin(&mut self, request: Request, unadmitted: u32) -> PartId {
        self.parts.insert(Part { request, pending: 0, unadmitted, ok: true, blank: 0 })
    }

    /// Host request of `part`.
    #[inline]
    pub(crate) fn request(&self, part: PartId) -> Request {
        self.parts[part].request
    }

    /// True if no request is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.len() == 0
    }

    /// Add one thing that `part` waits for.
    #[inline]
    pub(crate) fn hold(&mut self, part: PartId) {
        self.parts[part].pending += 1;
    }

    /// Remove one of the things that `part` waits for. If it was the last, `part` is finished.
    #[inline(always)]
    pub(crate) fn release(&mut self, part: PartId) {
        let state = &mut self.parts[part];
        state.pending -= 1;
        if state.pending == 0 && state.unadmitted == 0 {
            self.finish(part);
        }
    }

    /// True if `part` waits for nothing.
    #[inline]
    pub(crate) fn is_free(&self, part: PartId) -> bool {
        self.parts[part].pending == 0
    }

    /// Mark `part` as failed, in whole or in part.
    pub(crate) fn spoil(&mut self, part: PartId) {
        self.parts[part].ok = false;
    }

    /// Count `sectors` sectors of `part` that read nothing, or free nothing.
    pub(crate) fn add_blank(&mut self, part: PartId, sectors: u32) {
        self.parts[part].blank += sectors;
    }

    /// Units of the write `part` that are not in the buffer yet.
    #[inline]
    pub(crate) fn unadmitted(&self, part: PartId) -> u32 {
        self.parts[part].unadmitted
    }

    /// Count one more unit of `part` as in the buffer.
    #[inline]
    pub(crate) fn admit_one(&mut self, part: PartId) {
        self.parts[part].unadmitted -= 1;
    }

    /// Refuse the write `part`.
    pub(crate) fn refuse(&mut self, part: PartId) {
        (self.parts[part].ok, self.parts[part].unadmitted) = (false, 0);
    }

    /// Finish `part`.
    #[inline]
    pub(crate) fn finish(&mut self, part: PartId) {
        let part = self.parts.remove(part);
        self.done.push_back(Done { id: part.request.id, ok: part.ok, blank: part.blank });
    }

    /// Note that no operation releases requests from now on.
    #[inline]
    pub(crate) fn release_by_none(&mut self) {
        self.released_by = None;
    }

    /// Note that an operation of `die` with these latency parts releases requests from now on.
    #[inline]
    pub(crate) fn release_by(&mut self, die: DieId, spans: Spans) {
        (self.released_by, self.reported) = (Some(spans), die);
    }

    /// Take the next finished request.
    #[inline]
    pub(crate) fn acknowledge(&mut self) -> Option<Acknowledgement> {
        let Done { id, ok, blank } = self.done.pop_front()?;
        Some(Acknowledgement { id, ok, blank, released_by: self.released_by, die: self.reported })
    }

    /// Queue the write `part` behind all others that wait for room.
    pub(crate) fn wait_for_room(&mut self, part: PartId) {
        self.admissions.push_back(part);
    }

    /// Write that has waited longest for room.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<PartId> {
        self.admissions.front().copied()
    }

    /// Number of writes that wait for room.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.admissions.len()
    }

    /// Take the write that has waited longest: all of it is in the buffer, or it is refused.
    pub(crate) fn take_waiting(&mut self) -> Option<PartId> {
        self.admissions.pop_front()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A write of four units of normal priority, answered as soon as it is buffered.
    pub(crate) const WRITE: Request =
        Request { id: 0, op: HostOp::Write, lpn: 0, units: 4, skip_head: 0, skip_tail: 0, attributes: Attributes::NONE, fua: false };

    #[test]
    fn a_request_is_done_once_it_waits_for_nothing_and_is_all_in() {
        let mut requests = Requests::default();
        let part = requests.begin(Request { id: 7, ..WRITE }, 1);
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
        assert_eq!(requests.acknowledge(), Some(Acknowledgement { id: 7, ok: false, blank: 0, released_by: None, die: DieId(0) }));
        assert!(requests.is_empty());
    }
}
