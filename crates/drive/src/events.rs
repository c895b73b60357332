//! Events on their way to an observer: kept in order, and shown many at a time, so that the drive need not be compiled for each kind of observer.

use wordline_engine::{Event, Observer, Shown, UnitStep};
use wordline_units::Nanos;

/// Number of events that are kept at most between two looks.
const BATCH: usize = 64;

/// Events and steps of units that no observer has been shown yet, oldest first.
#[derive(Clone, Debug)]
pub struct Events {
    waiting: Vec<(Nanos, Shown)>,
    is_watched: bool,
    follows: bool,
}

impl Events {
    /// Events for `observer`.
    pub fn of(observer: &dyn Observer) -> Events {
        let is_watched = observer.watches();
        Events { waiting: Vec::with_capacity(if is_watched { 2 * BATCH } else { 0 }), is_watched, follows: observer.follows() }
    }

    /// True if steps of single units are wanted.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    #[inline(always)]
    pub(crate) fn happened(&mut self, at: Nanos, event: Event) {
        if self.is_watched {
            self.waiting.push((at, Shown::Event(event)));
        }
    }

    pub(crate) fn followed(&mut self, at: Nanos, step: UnitStep) {
        self.waiting.push((at, Shown::Step(step)));
    }

    /// True if an observer should be shown what there is.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= BATCH
    }

    /// Shows `observer` all that has happened since the last time.
    pub(crate) fn show(&mut self, observer: &mut dyn Observer) {
        if !self.waiting.is_empty() {
            observer.observe_all(&self.waiting);
            self.waiting.clear();
        }
    }
}
