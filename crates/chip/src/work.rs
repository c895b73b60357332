//! Work of the array: what it does, where, and what of it is suspended.

use wordline_flash::command::PLANES_MAX;
use wordline_flash::{PlaneSet, Status, Target};
use wordline_units::{Nanos, PageId};

use crate::stop::Progress;

/// Kind of the array's work, for those who would suspend or abandon it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// A program.
    Program,
    /// An erase.
    Erase,
    /// The sensing of a page.
    Read,
    /// The rest of a step, at whose end what is suspended then stops.
    Stopping,
    /// Something that cannot be stopped and leaves no ruin.
    Other,
}

impl WorkKind {
    #[inline(always)]
    pub(crate) const fn is_suspendable(self) -> bool {
        matches!(self, WorkKind::Program | WorkKind::Erase)
    }
}

/// The array's last or present work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    kind: WorkKind,
    target: Target,
    /// Pages being programmed from the target's page on.
    pages: u16,
}

impl Work {
    /// Nothing that matters later.
    pub(crate) const OTHER: Work = Work::new(WorkKind::Other, NOWHERE);

    /// Work at `target` that programs no pages.
    #[inline(always)]
    pub(crate) const fn new(kind: WorkKind, target: Target) -> Work {
        Work { kind, target, pages: 0 }
    }

    /// A program of `pages` pages from `target` on.
    #[inline(always)]
    pub(crate) const fn program(target: Target, pages: u16) -> Work {
        Work { kind: WorkKind::Program, target, pages }
    }

    #[inline(always)]
    pub(crate) const fn kind(&self) -> WorkKind {
        self.kind
    }

    #[inline(always)]
    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// Pages of each block that it programs.
    #[inline]
    pub(crate) fn pages(&self) -> std::ops::Range<u16> {
        self.target.page.0..self.target.page.0 + self.pages
    }
}

/// No plane at all.
pub(crate) const NOWHERE: Target = Target { planes: PlaneSet(0), blocks: [0; PLANES_MAX], page: PageId(0) };

/// A suspended operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    work: Work,
    remaining: Nanos,
    status: Status,
    progress: Progress,
}

impl Held {
    pub(crate) fn new(work: Work, remaining: Nanos, status: Status, progress: Progress) -> Held {
        Held { work, remaining, status, progress }
    }

    #[inline(always)]
    pub(crate) fn work(&self) -> &Work {
        &self.work
    }

    /// Time that is left of it.
    #[inline]
    pub(crate) fn remaining(&self) -> Nanos {
        self.remaining
    }

    /// Status at its end.
    pub(crate) fn status(&self) -> Status {
        self.status
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// It ends as failed.
    pub(crate) fn fail(&mut self) {
        self.status = Status::Failed;
    }

    /// It was going to stop at the end of a step of length `step`, and stops at once.
    pub(crate) fn raise(&mut self, step: Nanos) {
        self.remaining += self.progress.raise(step);
    }
}
