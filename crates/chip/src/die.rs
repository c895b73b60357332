//! A die: its parts, and the commands that it carries out.
//!
//! A command is checked against the rules (`legal.rs`), books what it does to pages and blocks (`medium.rs`), and occupies array and interface
//! (`activity.rs`).

use wordline_flash::{Command, EraseTrace, Sheet, Status, Target};
use wordline_units::{Lpn, Nanos, PageId};

use crate::activity::{Activity, Issued};
use crate::features::Features;
use crate::legal::Legality;
use crate::medium::Medium;
use crate::payload::Contents;
use crate::probe::Probe;
use crate::registers::Registers;
use crate::rule::Class;
use crate::stop::Stops;
use crate::times::Times;
use crate::work::{Work, WorkKind};

/// The parts of a die.
#[derive(Clone, Debug)]
pub(crate) struct Die {
    sheet: Sheet,
    medium: Medium,
    features: Features,
    registers: Registers,
    activity: Activity,
}

impl Die {
    /// An idle die of `sheet`.
    pub(crate) fn new(sheet: Sheet, medium: Medium) -> Die {
        Die {
            activity: Activity::new(medium.payload().is_some()),
            medium,
            features: Features::new(sheet.capabilities.program_settings),
            registers: Registers::EMPTY,
            sheet,
        }
    }

    #[inline(always)]
    pub(crate) fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    #[inline(always)]
    pub(crate) fn medium(&self) -> &Medium {
        &self.medium
    }

    #[inline(always)]
    pub(crate) fn medium_mut(&mut self) -> &mut Medium {
        &mut self.medium
    }

    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// Medium and features, to be changed together.
    pub(crate) fn parts_mut(&mut self) -> (&mut Medium, &mut Features) {
        (&mut self.medium, &mut self.features)
    }

    pub(crate) fn registers(&self) -> &Registers {
        &self.registers
    }

    #[inline(always)]
    pub(crate) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// The instant of the last command.
    #[inline(always)]
    pub(crate) fn latest(&self) -> Nanos {
        self.activity.latest()
    }

    #[inline(always)]
    fn times(&self) -> Times<'_> {
        Times::new(&self.sheet, self.medium.shape(), self.medium.cells(), &self.features)
    }

    #[inline(always)]
    fn legality(&self) -> Legality<'_> {
        Legality::new(&self.sheet, &self.medium, &self.features, &self.registers, &self.activity)
    }

    /// Stops of the program or erase that the array is doing or has just done, or that is suspended.
    pub(crate) fn stops(&self) -> Stops {
        self.activity.stops(self.times())
    }

    /// t_BERS as the last erase has taken it.
    pub(crate) fn erase_time(&self) -> Nanos {
        self.times().erase()
    }

    /// True if `command` may be issued at `now`. Changes nothing.
    #[inline]
    pub(crate) fn probe(&self, command: &Command, now: Nanos) -> Probe {
        match self.legality().earliest(Class::of(command), command, now) {
            Ok(from) if from <= now => Probe::Ready,
            Ok(until) => Probe::Blocked { until },
            Err(why) => Probe::Illegal(why),
        }
    }

    /// Carry out `command` at `now`: any command but a program ([`Die::program`]) or a data transfer ([`Die::transfer`]).
    ///
    /// # Panics
    /// If [`Die::probe`] does not return [`Probe::Ready`]: that is a bug in the firmware or the controller.
    #[inline]
    pub(crate) fn issue(&mut self, command: &Command, now: Nanos) -> Issued {
        match command {
            Command::Read { target, cache: false } => self.read(Class::Read, command, target, now),
            Command::Read { target, cache: true } => self.read(Class::CacheRead, command, target, now),
            Command::SetFeature { .. } | Command::GetFeature { .. } => self.set_or_get(command, now),
            Command::DataOut { .. }
            | Command::DataIn { .. }
            | Command::Program { .. }
            | Command::CopybackProgram { .. }
            | Command::Erase { .. }
            | Command::Sanitise { .. }
            | Command::Suspend { .. }
            | Command::Resume
            | Command::Status
            | Command::Abort
            | Command::Reset => self.issue_rarer(command, now),
        }
    }

    /// Set or get a feature. Apart from others because firmware that sets programs does so several times for each: with the class known, the rules are few.
    #[inline(never)]
    fn set_or_get(&mut self, command: &Command, now: Nanos) -> Issued {
        self.demand(Class::Feature, command, now);
        if let &Command::SetFeature { feature, value } = command {
            self.features.set(feature, value);
        }
        self.occupy(Class::Feature, now, Work::OTHER, Status::Good)
    }

    /// All but reads and features.
    #[inline(never)]
    fn issue_rarer(&mut self, command: &Command, now: Nanos) -> Issued {
        let class = Class::of(command);
        self.demand(class, command, now);
        match command {
            Command::Erase { target } => self.erase(target, now),
            Command::Sanitise { target, how } => {
                self.registers.drop_sensed();
                self.registers.drop_taken_in();
                let status = self.medium.sanitise(target, *how, now);
                self.occupy(class, now, Work::new(WorkKind::Other, *target), status)
            }
            Command::CopybackProgram { target } => self.copyback(target, now),
            Command::Suspend { stop } => {
                let Die { sheet, medium, features, activity, .. } = self;
                let times = Times::new(sheet, medium.shape(), medium.cells(), features);
                let (issued, stopped) = activity.suspend(class, *stop, now, times);
                if let Some((target, stops)) = stopped
                    && medium.cells().has_physics()
                {
                    medium.stop_erase(&target, u32::from(stops));
                    features.note_erase(EraseTrace { stops, ..features.erase_trace() });
                }
                issued
            }
            Command::Resume => {
                let Die { sheet, medium, features, activity, .. } = self;
                activity.resume(class, now, Times::new(sheet, medium.shape(), medium.cells(), features))
            }
            Command::SetFeature { .. } | Command::GetFeature { .. } => self.set_or_get(command, now),
            Command::Status => self.activity.status(now),
            Command::Abort => {
                self.registers.drop_sensed();
                self.medium.cells_mut().rates_mut().take_back_try();
                self.occupy(class, now, Work::OTHER, Status::Good)
            }
            Command::Reset => {
                self.abandon(now);
                self.occupy(class, now, Work::OTHER, Status::Good)
            }
            Command::Read { target, .. } => self.read(class, command, target, now),
            Command::Program { .. } => panic!("a program needs its spare area: Chip::program"),
            Command::DataIn { .. } | Command::DataOut { .. } => panic!("the bus decides how long data takes: Chip::transfer"),
        }
    }

    #[inline(always)]
    fn read(&mut self, class: Class, command: &Command, target: &Target, now: Nanos) -> Issued {
        self.demand(class, command, now);
        let cache = class == Class::CacheRead;
        if !self.medium.faults().is_none() && self.medium.faults().has_failed_at(target) {
            return self.read_noise(class, target, now);
        }
        let mut known = self.medium.sense(target, now);
        let mut status = known;
        let mut errors = 0;
        if self.medium.cells().has_physics() {
            let sensed = self.medium.sense_cells(target, now, &self.features, &mut self.registers);
            errors = sensed.worst;
            if !sensed.corrected {
                status = Status::Uncorrectable;
            }
        } else if self.medium.cells().rates().has_retries() && !self.medium.try_serves(target, self.features.level()) {
            status = Status::Uncorrectable;
            known = status;
        }
        let issued = self.occupy(class, now, Work::new(WorkKind::Read, *target), status);
        self.registers.sense(target, known, issued.ready_at, cache);
        Issued { errors, ..issued }
    }

    /// A read of pages that have failed for good. The die draws no dice for it.
    #[cold]
    #[inline(never)]
    fn read_noise(&mut self, class: Class, target: &Target, now: Nanos) -> Issued {
        let issued = self.occupy(class, now, Work::new(WorkKind::Read, *target), Status::Uncorrectable);
        self.registers.sense(target, Status::Uncorrectable, issued.ready_at, class == Class::CacheRead);
        Issued { errors: self.medium.cells().noise(&self.sheet.geometry), ..issued }
    }

    /// Carry out a program command at `now`. `spare` names the mapping units of the program unit: page of the wordline by page, in it plane
    /// by plane, in it unit by unit, with [`crate::PADDING`] where there is none. `contents` is the pages in the same order, or nothing where the die keeps
    /// nothing.
    ///
    /// # Panics
    /// If [`Die::probe`] does not return [`Probe::Ready`], or if `spare` is not of the program unit's size.
    #[inline]
    pub(crate) fn program(&mut self, command: &Command, now: Nanos, spare: &[Lpn], contents: Contents<'_>) -> Issued {
        let Command::Program { target, cache } = command else { panic!("{command:?} is not a program") };
        if *cache {
            self.program_as(Class::CacheProgram, command, target, now, spare, contents)
        } else {
            self.program_as(Class::Program, command, target, now, spare, contents)
        }
    }

    #[inline(always)]
    fn program_as(
        &mut self,
        class: Class,
        command: &Command,
        target: &Target,
        now: Nanos,
        spare: &[Lpn],
        contents: Contents<'_>,
    ) -> Issued {
        self.demand(class, command, now);
        let shape = self.medium.shape();
        let pages = shape.per_program();
        let expected = (pages * target.planes.len() * shape.units()) as usize;
        assert!(spare.len() == expected, "{command:?} has a spare area of {} units instead of {expected}", spare.len());
        self.medium.program(target, spare, contents);
        if let Some(array) = self.medium.cells().physics() {
            if !array.is_clean() {
                self.medium.program_clean(target);
            }
            self.medium.program_cells(target, now, &self.features);
        }
        let work = Work::program(*target, pages as u16);
        let status = self.medium.verify(&work);
        self.registers.drop_taken_in();
        Issued { loops: self.medium.cells().loops(), ..self.occupy(class, now, work, status) }
    }

    fn erase(&mut self, target: &Target, now: Nanos) -> Issued {
        let status = self.medium.erase(target, now, &mut self.features);
        self.registers.note_erase(target);
        let work = Work::new(WorkKind::Erase, *target);
        Issued { loops: self.medium.cells().loops(), ..self.occupy(Class::Erase, now, work, status) }
    }

    /// Program the page in the register. A die that programs whole wordlines in one shot collects the pages first.
    fn copyback(&mut self, target: &Target, now: Nanos) -> Issued {
        let Some((source, status, since)) = self.registers.source() else { unreachable!("the rules demand a sensed page") };
        self.medium.copy([&source, target], status, since, &self.registers);
        self.registers.drop_sensed();
        let pages = self.medium.shape().per_program() as u16;
        let is_complete = pages == 1 || self.medium.shape().page_type(target.page.0) + 1 == usize::from(pages);
        self.registers.collect((!is_complete).then_some(*target));
        if !is_complete {
            return self.occupy(Class::Copyback, now, Work::OTHER, Status::Good);
        }
        let first = Target { page: PageId(target.page.0 + 1 - pages), ..*target };
        if self.medium.cells().has_physics() {
            self.medium.program_cells(&first, now, &self.features);
        }
        let work = Work::program(first, pages);
        let status = self.medium.verify(&work);
        Issued { loops: self.medium.cells().loops(), ..self.occupy(Class::Copyback, now, work, status) }
    }

    /// Carry out a data transfer ([`Command::DataIn`] or [`Command::DataOut`]) that has the bus from `now` to `until`.
    ///
    /// # Panics
    /// If [`Die::probe`] does not return [`Probe::Ready`].
    #[inline(always)]
    pub(crate) fn transfer(&mut self, command: &Command, now: Nanos, until: Nanos) {
        assert!(until >= now, "a transfer ends after it begins");
        if let Command::DataIn { bytes } = command {
            self.demand(Class::DataIn, command, now);
            self.registers.take_in(*bytes);
            self.activity.transfer(true, until);
        } else if let Command::DataOut { .. } = command {
            self.demand(Class::DataOut, command, now);
            self.registers.put_out();
            self.activity.transfer(false, until);
        } else {
            panic!("{command:?} is not a transfer");
        }
    }

    /// Insist that `command` is legal.
    #[inline(always)]
    fn demand(&mut self, class: Class, command: &Command, now: Nanos) {
        assert!(now >= self.activity.latest(), "time runs back at a die: {now} after {}", self.activity.latest());
        self.end(now);
        if !matches!(self.legality().earliest(class, command, now), Ok(from) if from <= now) {
            self.refuse(command, now);
        }
        self.activity.set_latest(now);
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, command: &Command, now: Nanos) -> ! {
        match self.probe(command, now) {
            Probe::Illegal(why) => panic!("illegal flash command at {now}: {command:?}: {why}"),
            Probe::Blocked { until } => panic!("flash command at {now}, but blocked until {until}: {command:?}"),
            Probe::Ready => unreachable!("probe and issue walk the same rules"),
        }
    }

    #[inline(always)]
    fn occupy(&mut self, class: Class, now: Nanos, work: Work, status: Status) -> Issued {
        let Die { sheet, medium, features, activity, .. } = self;
        activity.occupy(class, now, work, status, Times::new(sheet, medium.shape(), medium.cells(), features))
    }

    /// Stop everything. The pages that were being changed are lost.
    fn abandon(&mut self, now: Nanos) {
        self.activity.abandon(now).iter().flatten().for_each(|work| self.medium.break_off(work));
        if let Some(&last) = self.registers.collecting() {
            let pages = self.medium.shape().page_type(last.page.0) as u16 + 1;
            self.medium.break_off(&Work::program(Target { page: PageId(last.page.0 + 1 - pages), ..last }, pages));
        }
        self.registers = Registers::EMPTY;
    }

    /// The store of bytes gets the end of what the array was doing, if it has ended by `now`: what is there of it is whole. Commands that come
    /// later do the same; but the process may die before there is one.
    #[inline(always)]
    pub(crate) fn end(&mut self, now: Nanos) {
        if self.activity.has_ended(now) {
            self.end_work();
        }
    }

    #[inline(never)]
    fn end_work(&mut self) {
        let (work, has_failed) = self.activity.take_end();
        self.medium.end(&work, has_failed);
    }

    /// A part of the die has failed at `now`: programs and erases there count for nothing. Returns whether there was one.
    #[cold]
    pub(crate) fn fail_under_way(&mut self, now: Nanos) -> bool {
        let Die { medium, activity, .. } = self;
        let hit = activity.fail(now, |target| medium.faults().has_failed_at(target));
        hit.iter().flatten().for_each(|work| medium.break_off(work));
        hit.iter().any(Option::is_some)
    }

    /// True if nothing is going on at `now` and nothing is suspended or half collected.
    pub(crate) fn is_at_rest(&self, now: Nanos) -> bool {
        self.registers.collecting().is_none() && self.activity.is_at_rest(now)
    }

    /// Put the clock at `now`, wherever it was, with empty registers.
    ///
    /// # Panics
    /// If an operation is suspended or a wordline half collected: that is no rest.
    pub(crate) fn rest(&mut self, now: Nanos) {
        let is_idle = self.activity.suspended().is_none() && self.registers.collecting().is_none();
        assert!(is_idle, "a die in the middle of an operation cannot rest");
        if self.activity.is_unended() {
            self.end_work();
        }
        self.activity.rest(now);
        self.registers = Registers::EMPTY;
        self.medium.settle(now);
    }
}
