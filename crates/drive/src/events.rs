//! Events on their way to an observer: kept in order, and shown many at a time, so that the drive need not be compiled for each kind of observer.

use wordline_engine::{Event, FlashEvent, Observer, Shown, UnitStep};
use wordline_units::Nanos;

/// Room for events between two looks. They stay in the first-level cache.
const BATCH: usize = 24;

/// Number of events after which the observer is shown them: a step of the drive rarely has as many as the rest.
const FULL: usize = 16;

/// Events and steps of units that no observer has been shown yet, oldest first.
#[derive(Clone, Debug)]
pub struct Events {
    batch: Box<[(Nanos, Shown); BATCH]>,
    /// Number of events in the batch.
    count: usize,
    /// Events for which the batch has no room.
    more: Vec<(Nanos, Shown)>,
    is_watched: bool,
    follows: bool,
}

impl Events {
    /// Events for `observer`.
    pub fn of(observer: &dyn Observer) -> Events {
        let nothing = (Nanos::ZERO, Shown::Event(Event::WornOut));
        Events {
            batch: Box::new([nothing; BATCH]),
            count: 0,
            more: Vec::new(),
            is_watched: observer.watches(),
            follows: observer.follows(),
        }
    }

    /// True if steps of single units are wanted.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    #[inline(always)]
    pub(crate) fn happened(&mut self, at: Nanos, event: Event) {
        if self.is_watched {
            self.keep(at, Shown::Event(event));
        }
    }

    /// Keeps the end of the operation of `flash`: copied once, from where it stands to the batch.
    #[inline(always)]
    pub(crate) fn flash_ended(&mut self, at: Nanos, flash: &FlashEvent) {
        if self.is_watched {
            match self.batch.get_mut(self.count) {
                Some(place) => {
                    place.0 = at;
                    place.1 = Shown::Event(Event::Flash(*flash));
                    self.count += 1;
                }
                None => self.keep_more(at, Shown::Event(Event::Flash(*flash))),
            }
        }
    }

    pub(crate) fn followed(&mut self, at: Nanos, step: UnitStep) {
        self.keep(at, Shown::Step(step));
    }

    /// Written in place: a copy of an event costs as much as the event.
    #[inline(always)]
    fn keep(&mut self, at: Nanos, shown: Shown) {
        match self.batch.get_mut(self.count) {
            Some(place) => {
                *place = (at, shown);
                self.count += 1;
            }
            None => self.keep_more(at, shown),
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_more(&mut self, at: Nanos, shown: Shown) {
        self.more.push((at, shown));
    }

    /// True if an observer should be shown what there is.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.count >= FULL
    }

    /// Shows `observer` all that has happened since the last time.
    pub(crate) fn show(&mut self, observer: &mut dyn Observer) {
        if self.count > 0 {
            observer.observe_all(&self.batch[..self.count]);
            self.count = 0;
        }
        if !self.more.is_empty() {
            observer.observe_all(&self.more);
            self.more.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<u64>);

    impl Observer for Seen {
        fn observe(&mut self, at: Nanos, _: &Event) {
            self.0.push(at.0);
        }
    }

    #[test]
    fn all_events_are_shown_once_and_in_order_however_many_there_are() {
        let mut seen = Seen::default();
        let mut events = Events::of(&seen);
        for round in 0..3 {
            let from = round * 100;
            (from..from + 100).for_each(|at| events.happened(Nanos(at), Event::WornOut));
            assert!(events.is_full());
            events.show(&mut seen);
            events.show(&mut seen);
        }
        assert_eq!(seen.0, (0..300).collect::<Vec<_>>());
        assert!(!events.is_full());
    }

    #[test]
    fn an_observer_that_does_not_watch_costs_no_room() {
        let mut events = Events::of(&());
        (0..100).for_each(|at| events.happened(Nanos(at), Event::WornOut));
        assert!(!events.is_full() && events.more.is_empty());
    }
}
