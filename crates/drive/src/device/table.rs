//! The table of operations under way, and which of them each die works on.

use wordline_flash::{Operation, OperationKind, Target};
use wordline_units::{BlockId, Cause, ChannelId, DieId, FlashOp, IdMap, Nanos, OpTag, PageId, PlaneId};

use super::copyback::Copyback;
use super::head::{Begun, Head};
use super::parked::ParkedReads;
use super::program::Program;
use super::read::Read;
use crate::due::OpSlot;

/// A flash operation under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    pub(super) head: Head,
    pub(super) kind: Kind,
}

/// State of an operation by its kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Read(Read),
    Program(Program),
    Copyback(Copyback),
    /// Erases and sanitisations: the array works on its own.
    Array,
}

impl UnderWay {
    /// A place that no operation has been in.
    fn vacant() -> UnderWay {
        let (die, now) = (DieId(0), Nanos::ZERO);
        let begun = Begun { core: 0, die, channel: ChannelId(0), issued: now, core_span: now, start: now, attempt: 0 };
        let operation = Operation { tag: OpTag(0), die, cause: Cause::Host, kind: OperationKind::Resume };
        let target = Target::single(PlaneId(0), BlockId(0), PageId(0));
        UnderWay { head: Head::new(&begun, &operation, (FlashOp::Erase, target, 0)), kind: Kind::Array }
    }

    /// True if it is a copyback whose program has not begun.
    pub(super) fn is_before_program(&self) -> bool {
        matches!(&self.kind, Kind::Copyback(copyback) if copyback.is_before_program())
    }
}

/// Operations that a die works on.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Program, erase, copyback or sanitisation that the die is busy with.
    present: OpSlot,
    /// Program that the die does next, while it is busy with one.
    next: OpSlot,
}

/// The operations under way.
#[derive(Debug)]
pub(super) struct Table {
    places: Vec<UnderWay>,
    idle: Vec<OpSlot>,
    works: IdMap<DieId, Work>,
    pub(super) parked: ParkedReads,
}

impl Table {
    /// Creates an empty table for a number of `dies`.
    pub(super) fn new(dies: usize) -> Table {
        let works = IdMap::from_fn(dies, |_| Work { present: OpSlot::NONE, next: OpSlot::NONE });
        Table { places: Vec::new(), idle: Vec::new(), works, parked: ParkedReads::default() }
    }

    /// Allocates a place. Returns also the number of stops that it has seen.
    #[inline]
    pub(super) fn open(&mut self) -> (OpSlot, u16) {
        match self.idle.pop() {
            Some(op) => (op, self.places[op.index()].head.attempt),
            None => self.open_new(),
        }
    }

    /// Allocates a place that no operation has been in.
    #[cold]
    #[inline(never)]
    fn open_new(&mut self) -> (OpSlot, u16) {
        let op = OpSlot::at(self.places.len());
        self.places.push(UnderWay::vacant());
        (op, 0)
    }

    /// Puts an operation into the place `op`, which [`Table::open`] has just returned.
    #[inline(always)]
    pub(super) fn put(&mut self, op: OpSlot, head: Head, kind: Kind) {
        self.places[op.index()] = UnderWay { head, kind };
    }

    /// Frees the place `op`. Its content, which is returned, stays until the place is taken again.
    #[inline]
    pub(super) fn close(&mut self, op: OpSlot) -> &mut UnderWay {
        self.idle.push(op);
        self.at_mut(op)
    }

    /// The operation at `op`.
    #[inline]
    pub(super) fn at(&self, op: OpSlot) -> &UnderWay {
        &self.places[op.index()]
    }

    /// The operation at `op`.
    #[inline]
    pub(super) fn at_mut(&mut self, op: OpSlot) -> &mut UnderWay {
        &mut self.places[op.index()]
    }

    /// The read at `op`.
    #[inline]
    pub(super) fn read(&mut self, op: OpSlot) -> (&mut Head, &mut Read) {
        let UnderWay { head, kind } = self.at_mut(op);
        let Kind::Read(read) = kind else { unreachable!("only a read has such a step") };
        (head, read)
    }

    /// The program at `op`.
    #[inline]
    pub(super) fn program(&mut self, op: OpSlot) -> (&mut Head, &mut Program) {
        let UnderWay { head, kind } = self.at_mut(op);
        let Kind::Program(program) = kind else { unreachable!("only a program has such a step") };
        (head, program)
    }

    /// The copyback at `op`.
    pub(super) fn copyback(&mut self, op: OpSlot) -> (&mut Head, &mut Copyback) {
        let UnderWay { head, kind } = self.at_mut(op);
        let Kind::Copyback(copyback) = kind else { unreachable!("only a copyback has parts") };
        (head, copyback)
    }

    /// Every read of `die` that is or was in the table, with its place.
    pub(super) fn reads_of(&mut self, die: DieId) -> impl Iterator<Item = (OpSlot, &mut Head, &mut Read)> {
        self.places.iter_mut().enumerate().filter_map(move |(index, UnderWay { head, kind })| match kind {
            Kind::Read(read) if head.die() == die => Some((OpSlot::at(index), head, read)),
            Kind::Read(_) | Kind::Program(_) | Kind::Copyback(_) | Kind::Array => None,
        })
    }

    /// Operation that `die` is busy with; [`OpSlot::NONE`]: with none but reads.
    #[inline]
    pub(super) fn present(&self, die: DieId) -> OpSlot {
        self.works[die].present
    }

    /// Program that `die` does next, while it is busy with one.
    pub(super) fn next(&self, die: DieId) -> OpSlot {
        self.works[die].next
    }

    /// Note that `die` is busy with `op`.
    #[inline]
    pub(super) fn occupy(&mut self, die: DieId, op: OpSlot) {
        self.works[die].present = op;
    }

    /// Note that `die` does the program `op` after the one that it is busy with.
    pub(super) fn follow(&mut self, die: DieId, op: OpSlot) {
        debug_assert_eq!(self.works[die].next, OpSlot::NONE, "a die takes in the data of one program");
        self.works[die].next = op;
    }

    /// End what `die` is busy with. Returns the program that it is busy with from now on.
    #[inline]
    pub(super) fn end_work(&mut self, die: DieId) -> OpSlot {
        let work = &mut self.works[die];
        *work = Work { present: work.next, next: OpSlot::NONE };
        work.present
    }

    /// Takes the read `tag` of `core` out of those that wait to be ordered again.
    #[inline]
    pub(super) fn take_parked(&mut self, core: u32, tag: OpTag) -> Option<(OpSlot, super::tries::Tries)> {
        self.parked.take(core, tag)
    }
}
