//! A drive with an observer of its own, which is shown what has happened before each call returns.

use std::ops::{Deref, Range};

use wordline_cells::Age;
use wordline_chip::{DieFault, Payload};
use wordline_engine::Observer;
use wordline_flash::Mark;
use wordline_ftl::techniques::seam::Technique;
use wordline_ftl::{BlockGroup, Trust};
use wordline_units::{Celsius, DieId, HostRequest, Nanos, RequestId, WordlineSet};

use crate::config::Config;
use crate::device::dies::of_kind;
use crate::drive::Drive;
use crate::events::Events;
use crate::faults::Fault;
use crate::host::capacitors::Capacitors;
use crate::host::carried::HostBytes;
use crate::host::jobs::{JobLoad, Jobs};
use crate::host::queues::Pace;
use crate::life::chip_off::ChipsOff;
use crate::life::habits::Habits;
use crate::life::image::{Image, ImageError};
use crate::life::leap::{Leapt, ReadLeapt, Rest};
use crate::life::precondition::Aged;
use crate::life::rest::Restless;
use crate::place::FlashPlace;

/// A drive in virtual time, with an observer of its events.
#[derive(Debug)]
pub struct Watched<O: Observer = ()> {
    drive: Drive,
    /// Observer of the drive's events.
    pub observer: O,
}

impl<O: Observer> Deref for Watched<O> {
    type Target = Drive;

    fn deref(&self) -> &Drive {
        &self.drive
    }
}

/// Calls of the drive after which the observer is shown what has happened.
macro_rules! shown {
    ($(fn $name:ident$(<$generic:ident: $bound:path>)?($($argument:ident: $kind:ty),*) $(-> $returned:ty)?;)*) => {
        $(
            #[doc = concat!("See [`Drive::", stringify!($name), "`].")]
            pub fn $name$(<$generic: $bound>)?(&mut self, $($argument: $kind),*) $(-> $returned)? {
                let returned = self.drive.$name($($argument),*);
                self.show();
                returned
            }
        )*
    };
}

impl<O: Observer> Watched<O> {
    /// See [`Drive::new`].
    pub fn new(config: Config, observer: O) -> Watched<O> {
        let events = Events::of(&observer);
        Watched { drive: Drive::new(config, events), observer }.shown()
    }

    /// See [`Drive::from_image`].
    ///
    /// # Errors
    /// As there.
    pub fn from_image(config: Config, image: Image, observer: O) -> Result<Watched<O>, ImageError> {
        let events = Events::of(&observer);
        Ok(Watched { drive: Drive::from_image(config, image, events)?, observer }.shown())
    }

    /// See [`Drive::from_image_at`].
    ///
    /// # Errors
    /// As there.
    pub fn from_image_at(config: Config, image: Image, now: Nanos, observer: O) -> Result<Watched<O>, ImageError> {
        let events = Events::of(&observer);
        Ok(Watched { drive: Drive::from_image_at(config, image, now, events)?, observer }.shown())
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

    /// See [`Drive::age`].
    pub fn age(&mut self, load: &mut dyn Iterator<Item = HostRequest>, count: u64) -> Aged {
        let aged = self.drive.age(load, count);
        self.show();
        aged
    }
}

impl<O: Observer> Watched<O> {
    /// See [`Drive::wake`].
    pub fn wake<P: Payload + 'static>(
        config: Config,
        observer: O,
        payload: impl FnMut(DieId) -> P,
        capacitors: Option<Box<dyn Capacitors>>,
    ) -> Watched<O> {
        Watched::wake_by(config, observer, payload, capacitors, Trust::Everything)
    }

    /// See [`Drive::wake_by`].
    pub fn wake_by<P: Payload + 'static>(
        config: Config,
        observer: O,
        payload: impl FnMut(DieId) -> P,
        capacitors: Option<Box<dyn Capacitors>>,
        trust: Trust,
    ) -> Watched<O> {
        let events = Events::of(&observer);
        Watched { drive: Drive::wake_by(config, events, &mut of_kind(payload), capacitors, trust), observer }.shown()
    }
}

impl<O: Observer> Watched<O> {
    /// See [`Drive::with_payload`].
    pub fn with_payload<P: Payload + 'static>(config: Config, observer: O, payload: impl FnMut(DieId) -> P) -> Watched<O> {
        let events = Events::of(&observer);
        Watched { drive: Drive::with_payload(config, events, &mut of_kind(payload)), observer }.shown()
    }

    /// See [`Drive::serve`].
    pub fn serve(&mut self, load: &mut dyn Iterator<Item = HostRequest>, pace: Pace, completions: Option<u64>) -> u64 {
        let served = self.drive.serve(load, pace, completions, &mut self.observer);
        self.show();
        served
    }

    /// See [`Drive::serve_jobs`].
    pub fn serve_jobs(&mut self, jobs: &mut Jobs, load: &mut dyn JobLoad, completions: Option<u64>) -> u64 {
        let served = self.drive.serve_jobs(jobs, load, completions, &mut self.observer);
        self.show();
        served
    }

    /// See [`Drive::run_until`].
    pub fn run_until(&mut self, until: Nanos) {
        self.drive.run_until(until, &mut self.observer);
        self.show();
    }

    /// See [`Drive::settle`].
    pub fn settle(&mut self) {
        self.drive.settle(&mut self.observer);
        self.show();
    }

    /// See [`Drive::try_settle`].
    ///
    /// # Errors
    /// As there.
    pub fn try_settle(&mut self) -> Result<(), Restless> {
        let outcome = self.drive.try_settle(&mut self.observer);
        self.show();
        outcome
    }

    /// See [`Drive::go_down`].
    pub fn go_down(&mut self) {
        self.drive.go_down(&mut self.observer);
        self.show();
    }

    /// See [`Drive::join`].
    pub fn join(&mut self, technique: impl FnMut() -> Box<dyn Technique>) {
        self.drive.join(technique);
        self.show();
    }

    /// See [`Drive::chip_off`].
    pub fn chip_off(self) -> ChipsOff {
        self.drive.chip_off()
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
        fn lie(seconds: f64, at: Celsius) -> bool;
        fn set_temperature(temperature: Celsius) -> bool;
        fn spare_next(core: u32, group: BlockGroup, wordlines: WordlineSet) -> Result<(), &'static str>;
    }

    fn show(&mut self) {
        self.drive.show(&mut self.observer);
    }

    fn shown(mut self) -> Watched<O> {
        self.show();
        self
    }
}
