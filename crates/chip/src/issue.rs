//! Carrying out a command.

use wordline_cells::Outcome;
use wordline_flash::{Command, Feature, ProgramScope, Status, Stop, Target};
use wordline_units::{Lpn, Nanos, PageId};

use crate::block::State;
use crate::chip::{AS_ON_THE_SHEET, Chip, Held, UNITS_MAX, Work, WorkKind};
use crate::payload::{Contents, Place};
use crate::place::{planes, shares_block};
use crate::probe::Probe;
use crate::registers::Registers;
use crate::rule::{Class, Rule, Span};
use crate::spare::{PADDING, Spare};
use crate::stop::Progress;

/// What follows from a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// When the die has done it. With the cache register the interface may be ready earlier: [`Chip::probe`] knows.
    pub ready_at: Nanos,
    /// What the status register will say then.
    pub status: Status,
    /// Of a read: wrong bits in the worst codeword, as error correction will find. Nothing where the cells have no physics.
    pub errors: u32,
    /// Of a program or an erase: pulses it takes, of the slowest plane. Nothing where the cells have no physics.
    pub loops: u8,
}

impl Chip {
    /// Carry out `command` at `now`: any command but a program ([`Chip::program`]) or a data transfer ([`Chip::transfer`]).
    ///
    /// # Panics
    /// If [`Chip::probe`] does not say [`Probe::Ready`]: that is a bug in the firmware or the controller.
    #[inline]
    pub fn issue(&mut self, command: Command, now: Nanos) -> Issued {
        if let Command::Read { target, cache } = command {
            return if cache { self.read(Class::CacheRead, target, now) } else { self.read(Class::Read, target, now) };
        }
        if let Command::SetFeature { .. } | Command::GetFeature { .. } = command {
            return self.set_or_get(command, now);
        }
        self.issue_rarer(command, now)
    }

    /// Set or get a feature. Apart from others because firmware that sets programs does so several times for each: with the class known, the rules are few.
    fn set_or_get(&mut self, command: Command, now: Nanos) -> Issued {
        self.demand(Class::Feature, &command, now);
        if let Command::SetFeature { feature, value } = command {
            self.features[feature as usize] = value;
            // Settings of programs change with each program.
            if feature == Feature::ReadLevel || feature as usize >= Feature::ReadOffsets1 as usize {
                self.note_registers();
            }
        }
        self.occupy(Class::Feature, now, Work::OTHER, Status::Good)
    }

    /// All but reads and features.
    fn issue_rarer(&mut self, command: Command, now: Nanos) -> Issued {
        let class = Class::of(&command);
        self.demand(class, &command, now);
        match command {
            Command::Erase { target } => {
                let status = self.erase(&target, now);
                Issued { loops: self.took.loops, ..self.occupy(class, now, Work { kind: WorkKind::Erase, target, pages: 0 }, status) }
            }
            Command::Sanitise { target, how } => {
                let status = self.sanitise(&target, how, now);
                self.occupy(class, now, Work { target, ..Work::OTHER }, status)
            }
            Command::CopybackProgram { target } => self.copyback(target, now),
            Command::Suspend { stop } => self.suspend(class, stop, now),
            Command::Resume => {
                let Some(held) = self.suspended else { unreachable!("the rules demand a suspended operation") };
                let issued = self.occupy(class, now, held.work, held.status);
                self.suspended = None;
                self.progress = held.progress;
                self.progress.resumed(issued.ready_at);
                self.suspend_from = now + self.sheet.timing.suspend_interval;
                issued
            }
            Command::SetFeature { .. } | Command::GetFeature { .. } => self.set_or_get(command, now),
            Command::Status => Issued { ready_at: now.max(self.array_until), status: self.status, errors: 0, loops: 0 },
            Command::Abort => {
                self.registers.drop_sensed();
                self.cells.take_back_try();
                self.occupy(class, now, Work::OTHER, Status::Good)
            }
            Command::Reset => {
                self.abandon(now);
                self.occupy(class, now, Work::OTHER, Status::Good)
            }
            Command::Read { target, .. } => self.read(class, target, now),
            Command::Program { .. } => panic!("a program needs its spare area: Chip::program"),
            Command::DataIn { .. } | Command::DataOut { .. } => panic!("the bus decides how long data takes: Chip::transfer"),
        }
    }

    /// Stop what the array is doing, or what it is going to stop at the end of a step, in the way of `stop`.
    fn suspend(&mut self, class: Class, stop: Stop, now: Nanos) -> Issued {
        if let Some(Held { work, remaining, status, mut progress }) = self.suspended {
            let remaining = remaining + progress.raise(self.step_of(work.kind));
            let issued = self.occupy(class, now, Work::OTHER, Status::Good);
            self.suspended = Some(Held { work, remaining, status, progress });
            return issued;
        }
        let (work, status, mut progress) = (self.work, self.status, self.progress());
        let at_step = self.step_to_stop_at(work.kind);
        let ends = match stop {
            Stop::AtStep if at_step > Nanos::ZERO => Work { kind: WorkKind::Stopping, ..Work::OTHER },
            Stop::AtStep | Stop::Now => Work::OTHER,
        };
        let until = self.array_until;
        let issued = self.occupy(class, now, ends, Status::Good);
        let remaining = match stop {
            Stop::Now => progress.stop_now(self.step_of(work.kind), now, until),
            Stop::AtStep if at_step > Nanos::ZERO => progress.stop_at_step(at_step, now, until),
            Stop::AtStep => progress.stop_anywhere(now, until),
        };
        self.suspended = Some(Held { work, remaining, status, progress });
        if work.kind == WorkKind::Erase && self.array.is_some() {
            self.stop_cells(&work.target, u32::from(progress.stops().all));
        }
        issued
    }

    /// How far the array has come with the program or erase that it is working at. It is worked out for whoever asks: most work is never stopped.
    pub(crate) fn progress(&self) -> Progress {
        if self.progress.is_of(self.array_until) {
            return self.progress;
        }
        let span = match self.work.kind {
            WorkKind::Program => self.span(Span::Program, &self.work),
            WorkKind::Erase => self.span(Span::Erase, &self.work),
            WorkKind::Read | WorkKind::Stopping | WorkKind::Other => Nanos::ZERO,
        };
        Progress::new(self.array_until.saturating_sub(span))
    }

    /// The length of the array's steps in work of this kind; none where nobody knows.
    pub(crate) const fn step_of(&self, kind: WorkKind) -> Nanos {
        match kind {
            WorkKind::Program => self.sheet.timing.step_program,
            WorkKind::Erase => self.sheet.timing.step_erase,
            WorkKind::Read | WorkKind::Stopping | WorkKind::Other => Nanos::ZERO,
        }
    }

    /// The same on a die that stops at the end of a step; none on others.
    #[inline]
    pub(crate) const fn step_to_stop_at(&self, kind: WorkKind) -> Nanos {
        if self.sheet.capabilities.stop_at_step { self.step_of(kind) } else { Nanos::ZERO }
    }

    /// What the array does that could be stopped at once, or is going to stop at the end of its step.
    pub(crate) fn stoppable(&self) -> WorkKind {
        match &self.suspended {
            Some(held) if self.work.kind == WorkKind::Stopping => held.work.kind,
            _ => self.work.kind,
        }
    }

    /// How long it takes to stop that at once.
    pub(crate) fn halt_time(&self) -> Nanos {
        let timing = &self.sheet.timing;
        if self.stoppable() == WorkKind::Erase { timing.halt_erase } else { timing.halt_program }
    }

    /// Move a program unit from `from` to `to` without the bus, beginning at `now`. A die that programs whole wordlines in one shot collects the pages
    /// one by one and programs all of them with the last, whose end and status this is. It says nothing of errors: error correction sees none of the data, and
    /// where cells have physics, what was sensed wrong is programmed wrong.
    pub fn copy_back(&mut self, from: Target, to: Target, now: Nanos) -> Issued {
        let mut last = Issued { ready_at: now, status: Status::Good, errors: 0, loops: 0 };
        for page in 0..self.sheet.pages_per_program() as u16 {
            let [from, to] = [from, to].map(|target| Target { page: PageId(target.page.0 + page), ..target });
            let sensed = self.issue(Command::Read { target: from, cache: false }, last.ready_at);
            if sensed.status == Status::Uncorrectable {
                self.read_failed(&from);
            }
            let sensed = sensed.ready_at;
            last = self.issue(Command::CopybackProgram { target: to }, sensed);
        }
        last
    }

    /// Carry out a program command at `now`. `spare` names the mapping units of the program unit: page of the wordline by page, in it plane
    /// by plane, in it unit by unit, with [`crate::PADDING`] where there is none. `contents` is the pages in the same order, or nothing where the die keeps
    /// nothing.
    ///
    /// # Panics
    /// If [`Chip::probe`] does not say [`Probe::Ready`], or if `spare` is not of the program unit's size.
    #[inline]
    pub fn program(&mut self, command: Command, now: Nanos, spare: &[Lpn], contents: Contents<'_>) -> Issued {
        let Command::Program { ref target, cache } = command else { panic!("{command:?} is not a program") };
        if cache {
            self.program_as(Class::CacheProgram, &command, target, now, spare, contents)
        } else {
            self.program_as(Class::Program, &command, target, now, spare, contents)
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
        let pages = self.sheet.pages_per_program();
        let units = self.grain.units as usize;
        let expected = (pages * target.planes.len()) as usize * units;
        assert!(spare.len() == expected, "{command:?} has a spare area of {} units instead of {expected}", spare.len());
        let first = u32::from(target.page.0);
        let mut rest = spare;
        let mut places = Vec::new();
        for page in first..first + pages {
            for plane in planes(target.planes) {
                let place = Place { block: self.flat(target, plane) as u32, page };
                if self.payload.is_some() {
                    places.push(place);
                }
                let (of_page, others) = rest.split_at(units);
                self.blocks[place.block as usize].spare.set(self.grain, page, of_page);
                self.mark_programmed(place);
                rest = others;
            }
        }
        if let Some(payload) = &mut self.payload {
            payload.program_pages(&places, units, contents);
        }
        let work = Work { kind: WorkKind::Program, target: *target, pages: pages as u16 };
        if let Some(array) = &self.array {
            if !array.is_clean() {
                self.program_clean(target);
            }
            if self.is_dead() {
                self.took = AS_ON_THE_SHEET;
            } else {
                self.program_cells(target, now);
            }
        }
        let status = self.verify(work);
        self.registers.taken_in.0 = 0;
        Issued { loops: self.took.loops, ..self.occupy(class, now, work, status) }
    }

    /// Carry out a data transfer ([`Command::DataIn`] or [`Command::DataOut`]) that has the bus from `now` to `until`.
    ///
    /// # Panics
    /// If [`Chip::probe`] does not say [`Probe::Ready`].
    #[inline(always)]
    pub fn transfer(&mut self, command: Command, now: Nanos, until: Nanos) {
        assert!(until >= now, "a transfer ends after it begins");
        if let Command::DataIn { bytes } = command {
            self.demand(Class::DataIn, &command, now);
            self.registers.take_in(bytes);
            self.bus_takes_in = true;
        } else if let Command::DataOut { .. } = command {
            self.demand(Class::DataOut, &command, now);
            self.registers.put_out();
            self.bus_takes_in = false;
        } else {
            panic!("{command:?} is not a transfer");
        }
        self.bus_until = until;
    }

    /// Insist that `command` is legal.
    #[inline(always)]
    fn demand(&mut self, class: Class, command: &Command, now: Nanos) {
        assert!(now >= self.latest, "time runs back at a die: {now} after {}", self.latest);
        self.end(now);
        if !matches!(self.earliest(class, command, now), Ok(from) if from <= now) {
            self.refuse(*command, now);
        }
        self.latest = now;
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, command: Command, now: Nanos) -> ! {
        match self.probe(&command, now) {
            Probe::Illegal(why) => panic!("illegal flash command at {now}: {command:?}: {why}"),
            Probe::Blocked { until } => panic!("flash command at {now}, but blocked until {until}: {command:?}"),
            Probe::Ready => unreachable!("probe and issue walk the same rules"),
        }
    }

    #[inline(always)]
    fn read(&mut self, class: Class, target: Target, now: Nanos) -> Issued {
        let cache = class == Class::CacheRead;
        self.demand(class, &Command::Read { target, cache }, now);
        if self.faults.is_some() && self.has_failed_at(&target) {
            return self.read_noise(class, target, now);
        }
        let mut known = self.sense(&target, now);
        let mut status = known;
        let mut errors = 0;
        if self.array.is_some() {
            let sensed = self.sense_cells(&target, now);
            errors = sensed.worst;
            if !sensed.corrected {
                status = Status::Uncorrectable;
            }
        } else if self.cells.has_retries() && !self.try_serves(&target) {
            status = Status::Uncorrectable;
            known = status;
        }
        let issued = self.occupy(class, now, Work { kind: WorkKind::Read, target, pages: 0 }, status);
        self.registers.sense(target, known, issued.ready_at, cache);
        Issued { errors, ..issued }
    }

    /// A read of pages that have failed for good. The die draws no dice for it.
    #[cold]
    #[inline(never)]
    fn read_noise(&mut self, class: Class, target: Target, now: Nanos) -> Issued {
        let issued = self.occupy(class, now, Work { kind: WorkKind::Read, target, pages: 0 }, Status::Uncorrectable);
        self.registers.sense(target, Status::Uncorrectable, issued.ready_at, class == Class::CacheRead);
        Issued { errors: self.noise(), ..issued }
    }

    /// The array and the interface are busy as the rules say.
    #[inline(always)]
    fn occupy(&mut self, class: Class, now: Nanos, work: Work, status: Status) -> Issued {
        let rule = Rule::of(class);
        let ready_at = now + self.sum(rule.array_busy, &work);
        self.interface_until =
            if rule.interface_busy.len() == rule.array_busy.len() { ready_at } else { now + self.sum(rule.interface_busy, &work) };
        self.array_until = ready_at;
        if self.payload.is_some() {
            self.is_unended = work.kind.suspendable();
        }
        self.work = work;
        self.status = status;
        Issued { ready_at, status, errors: 0, loops: 0 }
    }

    #[inline(always)]
    fn sum(&self, spans: &[Span], work: &Work) -> Nanos {
        match *spans {
            [span] => self.span(span, work),
            [first, second] => self.span(first, work) + self.span(second, work),
            _ => unreachable!("a command occupies the die for one span or for two"),
        }
    }

    #[inline(always)]
    fn span(&self, span: Span, work: &Work) -> Nanos {
        let timing = &self.sheet.timing;
        match span {
            Span::Read => timing.read[self.page_type(work.target.page.0)],
            Span::Copyback if work.kind == WorkKind::Other => timing.cache_busy,
            Span::Program | Span::Copyback => self.programmed_in(match self.sheet.capabilities.program_scope {
                ProgramScope::Page => timing.program[self.page_type(work.target.page.0)],
                ProgramScope::Wordline => timing.program_wordline,
            }),
            Span::Erase => self.paced(timing.erase),
            Span::LockPage => timing.lock_page,
            Span::LockBlock => timing.lock_block,
            Span::Scrub => timing.scrub,
            Span::Reprogram => timing.reprogram,
            Span::HandOver => timing.cache_busy,
            Span::Suspend => self.suspend_span(),
            Span::Halt => self.halt_time(),
            Span::Abort => timing.abort_read,
            Span::Resume => timing.resume,
            Span::Remaining => self.suspended.map_or(Nanos::ZERO, |held| held.remaining),
            Span::Feature => timing.feature,
            Span::Reset => timing.reset,
        }
    }

    /// From a suspend that has just been ordered until the array is free.
    fn suspend_span(&self) -> Nanos {
        let timing = &self.sheet.timing;
        let step = self.step_to_stop_at(self.work.kind);
        if step > Nanos::ZERO {
            self.progress().step_end(step, self.latest) - self.latest
        } else if self.work.kind == WorkKind::Erase {
            timing.suspend_erase
        } else {
            timing.suspend_program
        }
    }

    /// Sense a page of each plane.
    #[inline(always)]
    fn sense(&mut self, target: &Target, now: Nanos) -> Status {
        let mut status = Status::Good;
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            let sealed = self.is_sealed(place, now);
            let block = &mut self.blocks[place.block as usize];
            block.reads = block.reads.saturating_add(self.read_times);
            let ruined = block.state == State::Torn || (!self.ruined.is_empty() && self.ruined.contains(&place));
            let faulty = self.faults.is_some() && self.fails_read(target, plane);
            if self.cells.read() == Outcome::Bad || ruined || sealed || faulty {
                status = Status::Uncorrectable;
            }
        }
        status
    }

    /// Whether the pages that `work` programs have verified. If not, they hold nothing that can be read.
    #[inline]
    fn verify(&mut self, work: Work) -> Status {
        if self.faults.is_some() {
            return self.verify_faulty(work);
        }
        match self.cells.program() {
            Outcome::Good => Status::Good,
            Outcome::Bad => self.fail_program(work),
        }
    }

    #[cold]
    fn verify_faulty(&mut self, work: Work) -> Status {
        let fails = self.is_dead() || self.cells.program() == Outcome::Bad || self.fails_program(&work.target);
        if fails { self.fail_program(work) } else { Status::Good }
    }

    // By value, so that the work of a program that succeeds has no address and stays in registers.
    #[cold]
    fn fail_program(&mut self, work: Work) -> Status {
        self.ruin(&work);
        Status::Failed
    }

    fn erase(&mut self, target: &Target, now: Nanos) -> Status {
        let mut status = Status::Good;
        let has_faults = self.faults.is_some();
        let spared = self.spares();
        let is_dead = self.is_dead();
        if is_dead {
            self.took = AS_ON_THE_SHEET;
        } else if self.array.is_some() {
            self.erase_cells(target, now, spared);
        }
        for plane in planes(target.planes) {
            let index = self.flat(target, plane);
            let block = &self.blocks[index];
            let outcome = if is_dead { Outcome::Bad } else { self.cells.erase(block.erases) };
            let outcome = if has_faults && self.fails_block(target, plane) { Outcome::Bad } else { outcome };
            let block = &mut self.blocks[index];
            block.erases = block.erases.saturating_add(1);
            block.reads = 0;
            block.spare.erase();
            block.state = State::Usable;
            if outcome == Outcome::Bad {
                block.state = State::Torn;
                status = Status::Failed;
            }
            self.mark_erased(index as u32);
            self.mark_spared(index as u32, spared);
            if let Some(payload) = &mut self.payload {
                payload.erase(index as u32);
            }
            self.keep_life(index as u32);
            self.seals.erase(index as u32);
            if has_faults {
                self.heal(index as u32);
            }
            if !self.ruined.is_empty() {
                self.ruined.retain(|place| place.block != index as u32);
            }
        }
        if self.registers.source.is_some_and(|source| shares_block(&source, target)) {
            // The register still has the page for the bus, but its spare area can no longer be looked up.
            self.registers.source = None;
        }
        status
    }

    /// Program the page in the register. A die that programs whole wordlines in one shot collects the pages first.
    fn copyback(&mut self, target: Target, now: Nanos) -> Issued {
        let class = Class::Copyback;
        let Some(source) = self.registers.source else { unreachable!("the rules demand a page in the register") };
        for plane in planes(target.planes) {
            let (from, to) = (self.place(&source, plane), self.place(&target, plane));
            // Of a page that was made unreadable the register holds zeroes.
            let sealed = self.is_sealed(from, self.registers.data_from);
            self.carry(plane, to);
            if sealed {
                self.program_zeroes(to);
            } else {
                if let Some(payload) = &mut self.payload {
                    payload.copy(from, to);
                }
            }
            // Unit by unit through a small array, because the spare areas of the two blocks may be in different forms.
            let units = &mut [PADDING; UNITS_MAX as usize][..self.grain.units as usize];
            let copied = &self.blocks[from.block as usize];
            if sealed {
                // Its spare area names none.
            } else if self.is_programmed(from) && copied.spare == Spare::Stored {
                units.copy_from_slice(&self.stored(from));
            } else if self.is_programmed(from) {
                for (unit, lpn) in units.iter_mut().enumerate() {
                    *lpn = copied.spare.get(self.grain, from.page, unit as u32);
                }
            }
            self.blocks[to.block as usize].spare.set(self.grain, to.page, units);
            self.mark_programmed(to);
            if self.registers.source_status != Status::Good {
                self.ruined.insert(to);
            }
        }
        self.registers.drop_sensed();
        let pages = self.sheet.pages_per_program() as u16;
        let complete = u32::from(pages) == 1 || self.page_type(target.page.0) + 1 == usize::from(pages);
        if !complete {
            self.registers.collecting = Some(target);
            return self.occupy(class, now, Work::OTHER, Status::Good);
        }
        self.registers.collecting = None;
        let first = PageId(target.page.0 + 1 - pages);
        let work = Work { kind: WorkKind::Program, target: Target { page: first, ..target }, pages };
        if self.is_dead() {
            self.took = AS_ON_THE_SHEET;
        } else if self.array.is_some() {
            self.program_cells(&work.target, now);
        }
        let status = self.verify(work);
        Issued { loops: self.took.loops, ..self.occupy(class, now, work, status) }
    }

    /// Stop everything. What was being changed is lost.
    fn abandon(&mut self, now: Nanos) {
        if self.array_until > now {
            let work = self.work;
            self.break_off(&work);
        }
        self.is_unended = false;
        if let Some(held) = self.suspended.take() {
            self.break_off(&held.work);
        }
        if let Some(last) = self.registers.collecting {
            let pages = self.page_type(last.page.0) as u16 + 1;
            let target = Target { page: PageId(last.page.0 + 1 - pages), ..last };
            self.break_off(&Work { kind: WorkKind::Program, target, pages });
        }
        self.registers = Registers::EMPTY;
        self.bus_until = self.bus_until.min(now);
    }

    /// What `work` was changing can no longer be read, and does not end.
    pub(crate) fn break_off(&mut self, work: &Work) {
        self.ruin(work);
        if work.kind.suspendable() {
            planes(work.target.planes).for_each(|plane| {
                let block = self.flat(&work.target, plane) as u32;
                if let Some(payload) = &mut self.payload {
                    payload.break_off(block);
                }
            });
        }
    }

    /// What `work` was changing can no longer be read.
    #[cold]
    fn ruin(&mut self, work: &Work) {
        for plane in planes(work.target.planes) {
            let block = self.flat(&work.target, plane) as u32;
            match work.kind {
                WorkKind::Program => {
                    let first = u32::from(work.target.page.0);
                    self.ruined.extend((first..first + u32::from(work.pages)).map(|page| Place { block, page }));
                }
                WorkKind::Erase => self.blocks[block as usize].state = State::Torn,
                WorkKind::Read | WorkKind::Stopping | WorkKind::Other => {}
            }
        }
    }
}
