//! A drive with an observer of its own, which is shown what has happened before each call returns.

use std::ops::{Deref, Range};

use wordline_cells::Age;
use wordline_chip::{DieFault, NoPayload, Payload, Persistent};
use wordline_engine::Observer;
use wordline_flash::Mark;
use wordline_ftl::techniques::seam::Technique;
use wordline_ftl::{BlockGroup, Trust};
use wordline_units::{Celsius, DieId, HostRequest, Nanos, RequestId, WordlineSet};

use crate::capacitors::Capacitors;
use crate::carried::HostBytes;
use crate::config::Config;
use crate::control::FlashPlace;
use crate::desoldered::Desoldered;
use crate::drive::Machine;
use crate::events::Events;
use crate::faults::Fault;
use crate::habits::Habits;
use crate::host::Pace;
use crate::image::{Image, ImageError};
use crate::jobs::{JobLoad, Jobs};
use crate::leap::{Leapt, ReadLeapt, Rest};
use crate::precondition::Aged;
use crate::rest::Restless;

/// A drive in virtual time, with an observer of its events.
#[derive(Debug)]
pub struct Drive<O: Observer = (), P: Payload = NoPayload> {
    machine: Machine<P>,
    /// Observer of the drive's events.
    pub observer: O,
}

impl<O: Observer, P: Payload> Deref for Drive<O, P> {
    type Target = Machine<P>;

    fn deref(&self) -> &Machine<P> {
        &self.machine
    }
}

/// Calls of the drive after which the observer is shown what has happened.
macro_rules! shown {
    ($(fn $name:ident$(<$generic:ident: $bound:path>)?($($argument:ident: $kind:ty),*) $(-> $returned:ty)?;)*) => {
        $(
            #[doc = concat!("See [`Machine::", stringify!($name), "`].")]
            pub fn $name$(<$generic: $bound>)?(&mut self, $($argument: $kind),*) $(-> $returned)? {
                let returned = self.machine.$name($($argument),*);
                self.show();
                returned
            }
        )*
    };
}

impl<O: Observer> Drive<O> {
    /// See [`Machine::new`].
    pub fn new(config: Config, observer: O) -> Drive<O> {
        let events = Events::of(&observer);
        Drive { machine: Machine::new(config, events), observer }.shown()
    }

    /// See [`Machine::from_image`].
    ///
    /// # Errors
    /// As there.
    pub fn from_image(config: Config, image: Image, observer: O) -> Result<Drive<O>, ImageError> {
        let events = Events::of(&observer);
        Ok(Drive { machine: Machine::from_image(config, image, events)?, observer }.shown())
    }

    /// See [`Machine::from_image_at`].
    ///
    /// # Errors
    /// As there.
    pub fn from_image_at(config: Config, image: Image, now: Nanos, observer: O) -> Result<Drive<O>, ImageError> {
        let events = Events::of(&observer);
        Ok(Drive { machine: Machine::from_image_at(config, image, now, events)?, observer }.shown())
    }

    shown! {
        fn construct_filled(units: u64);
        fn construct_steady(fills: &[f64], seed: u64);
        fn begin_epoch();
        fn leap(times: u32, rest: Rest) -> Leapt;
        fn read_worst_of(times: u32);
        fn read_leap(units: Range<u64>, reads: u64) -> ReadLeapt;
        fn set_habits(habits: Habits);
        fn fill(fraction: f64);
    }

    /// See [`Machine::age`].
    pub fn age(&mut self, load: &mut impl Iterator<Item = HostRequest>, count: u64) -> Aged {
        let aged = self.machine.age(load, count);
        self.show();
        aged
    }
}

impl<O: Observer, P: Persistent> Drive<O, P> {
    /// See [`Machine::wake`].
    pub fn wake(config: Config, observer: O, payload: impl FnMut(DieId) -> P, capacitors: Option<Box<dyn Capacitors>>) -> Drive<O, P> {
        Drive::wake_by(config, observer, payload, capacitors, Trust::Everything)
    }

    /// See [`Machine::wake_by`].
    pub fn wake_by(
        config: Config,
        observer: O,
        payload: impl FnMut(DieId) -> P,
        capacitors: Option<Box<dyn Capacitors>>,
        trust: Trust,
    ) -> Drive<O, P> {
        let events = Events::of(&observer);
        Drive { machine: Machine::wake_by(config, events, payload, capacitors, trust), observer }.shown()
    }
}

impl<O: Observer, P: Payload> Drive<O, P> {
    /// See [`Machine::with_payload`].
    pub fn with_payload(config: Config, observer: O, payload: impl FnMut(DieId) -> P) -> Drive<O, P> {
        let events = Events::of(&observer);
        Drive { machine: Machine::with_payload(config, events, payload), observer }.shown()
    }

    /// See [`Machine::serve`].
    pub fn serve(&mut self, load: &mut impl Iterator<Item = HostRequest>, pace: Pace, completions: Option<u64>) -> u64 {
        let served = self.machine.serve(load, pace, completions, &mut self.observer);
        self.show();
        served
    }

    /// See [`Machine::serve_jobs`].
    pub fn serve_jobs(&mut self, jobs: &mut Jobs, load: &mut impl JobLoad, completions: Option<u64>) -> u64 {
        let served = self.machine.serve_jobs(jobs, load, completions, &mut self.observer);
        self.show();
        served
    }

    /// See [`Machine::run_until`].
    pub fn run_until(&mut self, until: Nanos) {
        while self.machine.next_at().is_some_and(|at| at <= until) && self.machine.step() {
            if self.machine.events.is_full() {
                self.show();
            }
        }
        self.machine.run_until(until);
        self.show();
    }

    /// See [`Machine::join`].
    pub fn join(&mut self, technique: impl FnMut() -> Box<dyn Technique>) {
        self.machine.join(technique);
        self.show();
    }

    /// See [`Machine::desolder`].
    pub fn desolder(self) -> Desoldered<P> {
        self.machine.desolder()
    }

    shown! {
        fn step() -> bool;
        fn submit(request: &HostRequest, bytes: &[u8]) -> RequestId;
        fn submit_with(request: &HostRequest, bytes: HostBytes) -> RequestId;
        fn connect(capacitors: Box<dyn Capacitors>);
        fn let_go(request: RequestId);
        fn take_bytes(write: RequestId) -> Vec<u8>;
        fn mark_of(core: u32, lpn: u32) -> Option<Mark>;
        fn inject(fault: Fault);
        fn clear_faults();
        fn corrupt(place: &FlashPlace, seed: u64) -> bool;
        fn schedule(at: Nanos, die: DieId, fault: DieFault);
        fn set_age(age: &Age);
        fn set_temperature(temperature: Celsius) -> bool;
        fn spare_next(core: u32, group: BlockGroup, wordlines: WordlineSet) -> Result<(), &'static str>;
        fn settle();
        fn try_settle() -> Result<(), Restless>;
        fn go_down();
    }

    fn show(&mut self) {
        self.machine.events.show(&mut self.observer);
    }

    fn shown(mut self) -> Drive<O, P> {
        self.show();
        self
    }
}
