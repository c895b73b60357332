//! A die as a person would write it down: lists of facts, no tables, no registers, nothing clever. It knows what is allowed.
#![allow(unreachable_pub, reason = "a module of a test has no outside")]

use std::collections::{BTreeMap, BTreeSet};

use wordline_flash::{Command, Feature, ProgramScope, Sanitisation, Sheet, Status, Stop, Target};
use wordline_units::{Nanos, PlaneId};

/// A plane and a block in it.
pub(crate) type Spot = (u8, u16);

/// What keeps the array busy, or is suspended.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) program: bool,
    pub(crate) spots: Vec<Spot>,
    pub(crate) pages: Vec<u16>,
    /// When it ends; once it is suspended, how much of it is left.
    pub(crate) end: Nanos,
    /// The steps that are left, the running one first, and when that begins.
    pub(crate) steps: Vec<Nanos>,
    pub(crate) from: Nanos,
}

impl Job {
    /// The job with the steps that have ended by `now` taken out.
    fn at(&self, now: Nanos) -> Job {
        let mut job = self.clone();
        while job.steps.len() > 1 && job.from + job.steps[0] <= now {
            job.from += job.steps.remove(0);
        }
        job
    }

    fn left(&self) -> Nanos {
        self.steps.iter().copied().sum()
    }
}

/// `work` in steps of `step`; in one where there are none.
fn steps(mut work: Nanos, step: Nanos) -> Vec<Nanos> {
    let mut all = Vec::new();
    while step > Nanos::ZERO && work > step {
        all.push(step);
        work -= step;
    }
    all.push(work);
    all
}

/// The naive model.
pub(crate) struct Twin {
    pub(crate) sheet: Sheet,
    /// The units of every programmed page.
    pub(crate) pages: BTreeMap<(u8, u16, u16), Vec<u32>>,
    pub(crate) unreadable: BTreeSet<(u8, u16, u16)>,
    pub(crate) unerased: BTreeSet<Spot>,
    pub(crate) bad: BTreeSet<Spot>,
    /// The wordlines that the next erase spares, one bit each, and those that the last one of each block has spared.
    pub(crate) spares: u32,
    pub(crate) spared: BTreeMap<Spot, u32>,
    pub(crate) locked_pages: BTreeSet<(u8, u16, u16)>,
    pub(crate) locked_blocks: BTreeSet<Spot>,
    pub(crate) destroyed: BTreeSet<(u8, u16, u16)>,
    /// The array can be ordered from here on.
    pub(crate) array_free: Nanos,
    /// The pins answer from here on.
    pub(crate) pins_free: Nanos,
    pub(crate) bus: Option<(Nanos, bool)>,
    pub(crate) job: Option<Job>,
    pub(crate) held: Option<Job>,
    /// The step that is done before what is held stops, and its end.
    pub(crate) stopping: Option<(Nanos, Nanos)>,
    /// The end of the sensing of a page.
    pub(crate) sensing: Nanos,
    pub(crate) no_suspend_before: Nanos,
    /// Sensed pages that nobody has fetched, oldest first, with the instant from which they are there.
    pub(crate) waiting: Vec<(Target, Nanos)>,
    /// The page fetched last, if it can be fetched again.
    pub(crate) fetched: Option<Target>,
    /// The page that can be copied, its units and whether it is readable, as they were when it was sensed.
    pub(crate) copy: Option<Target>,
    pub(crate) loaded: u64,
    pub(crate) collecting: Option<(Target, u16)>,
}

pub(crate) fn spots(target: &Target) -> Vec<Spot> {
    (0..4).filter(|plane| target.planes.0 >> plane & 1 == 1).map(|plane| (plane, target.blocks[plane as usize])).collect()
}

impl Twin {
    pub(crate) fn new(sheet: Sheet) -> Twin {
        Twin {
            sheet,
            pages: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            unerased: BTreeSet::new(),
            bad: BTreeSet::new(),
            spares: 0,
            spared: BTreeMap::new(),
            locked_pages: BTreeSet::new(),
            locked_blocks: BTreeSet::new(),
            destroyed: BTreeSet::new(),
            array_free: Nanos::ZERO,
            pins_free: Nanos::ZERO,
            bus: None,
            job: None,
            held: None,
            stopping: None,
            sensing: Nanos::ZERO,
            no_suspend_before: Nanos::ZERO,
            waiting: Vec::new(),
            fetched: None,
            copy: None,
            loaded: 0,
            collecting: None,
        }
    }

    pub(crate) fn per_program(&self) -> u16 {
        if self.sheet.capabilities.program_scope == ProgramScope::Wordline { self.sheet.geometry.cell.bits() as u16 } else { 1 }
    }

    /// How many pages are programmed of a die that takes any order; of another, one more than the last.
    pub(crate) fn next_page(&self, (plane, block): Spot) -> u16 {
        let mut pages = self.pages.range((plane, block, 0)..=(plane, block, u16::MAX));
        if self.sheet.capabilities.any_order { pages.count() as u16 } else { pages.next_back().map_or(0, |(&(.., page), _)| page + 1) }
    }

    pub(crate) fn is_spared(&self, spot: Spot, page: u16) -> bool {
        self.spared.get(&spot).is_some_and(|spared| spared >> (page / 3) & 1 == 1)
    }

    /// Whether a page is the one to be programmed next, or one of them.
    fn is_next(&self, (plane, block): Spot, page: u16) -> bool {
        if self.is_spared((plane, block), page) {
            return false;
        }
        if !self.sheet.capabilities.any_order {
            let next = self.next_page((plane, block));
            return page >= next && (next..page).all(|page| self.is_spared((plane, block), page));
        }
        let has = |page| self.pages.contains_key(&(plane, block, page));
        !has(page) && (page.is_multiple_of(3) || has(page - 1))
    }

    fn exists(&self, target: &Target, with_page: bool) -> bool {
        let geometry = &self.sheet.geometry;
        let all = spots(target);
        !all.is_empty()
            && target.planes.0 < 1 << geometry.planes
            && all.iter().all(|spot| u32::from(spot.1) < geometry.blocks)
            && (!with_page || u32::from(target.page.0) < geometry.pages())
    }

    fn bus_busy(&self, now: Nanos) -> bool {
        self.bus.is_some_and(|(end, _)| now < end)
    }

    fn idle(&self, now: Nanos) -> bool {
        now >= self.array_free && now >= self.pins_free
    }

    fn may_program(&self, target: &Target) -> bool {
        self.exists(target, true)
            && spots(target).iter().all(|spot| {
                !self.bad.contains(spot) && !self.unerased.contains(spot) && self.is_next(*spot, target.page.0) && !self.holds(*spot)
            })
            && !self.held.as_ref().is_some_and(|job| job.program)
    }

    fn holds(&self, spot: Spot) -> bool {
        self.held.as_ref().is_some_and(|job| job.spots.contains(&spot))
    }

    /// Whether the pins give nothing of a page.
    pub(crate) fn hides(&self, (plane, block): Spot, page: u16) -> bool {
        let page = (plane, block, page);
        self.locked_blocks.contains(&(plane, block)) || self.locked_pages.contains(&page) || self.destroyed.contains(&page)
    }

    /// Whether there is something to make unreadable at `spot`.
    fn holds_something(&self, spot: Spot, page: u16, how: Sanitisation) -> bool {
        let has = |page| self.pages.contains_key(&(spot.0, spot.1, page));
        match how {
            Sanitisation::LockPage | Sanitisation::Reprogram => has(page),
            Sanitisation::Scrub => has(page / 3 * 3),
            Sanitisation::LockBlock => self.next_page(spot) > 0 || self.unerased.contains(&spot),
        }
    }

    /// Whether `command` may be given at `now`.
    pub(crate) fn allows(&self, command: &Command, now: Nanos) -> bool {
        let page_bytes = self.sheet.geometry.page.0 + self.sheet.geometry.spare.0;
        let quiet = self.idle(now) && !self.bus_busy(now);
        match command {
            Command::Status | Command::Reset => true,
            Command::SetFeature { .. } | Command::GetFeature { .. } => quiet,
            Command::Read { target, cache } => self.may_read(target, *cache, now),
            Command::DataOut { bytes } => {
                let page = self.waiting.first().copied().or(self.fetched.map(|page| (page, Nanos::ZERO)));
                let Some((page, from)) = page else { return false };
                let most = page_bytes * spots(&page).len() as u64;
                now >= self.pins_free && !self.bus_busy(now) && now >= from && bytes.0 > 0 && bytes.0 <= most
            }
            Command::DataIn { bytes } => {
                let most = page_bytes * u64::from(self.sheet.geometry.planes) * u64::from(self.per_program());
                now >= self.pins_free
                    && !self.bus_busy(now)
                    && bytes.0 > 0
                    && self.loaded + bytes.0 <= most
                    && self.collecting.is_none()
                    && !self.held.as_ref().is_some_and(|job| job.program)
            }
            Command::Program { target, .. } => {
                quiet && self.loaded > 0 && self.may_program(target) && target.page.0 % self.per_program() == 0
            }
            Command::CopybackProgram { target } => {
                let fits = match &self.collecting {
                    Some((begun, _)) => spots(begun) == spots(target) && begun.page.0 + 1 == target.page.0,
                    None => target.page.0 % self.per_program() == 0,
                };
                quiet && self.may_program(target) && fits && self.copy.is_some_and(|source| source.planes == target.planes)
            }
            Command::Erase { target } => {
                quiet
                    && self.exists(target, false)
                    && spots(target).iter().all(|spot| !self.bad.contains(spot))
                    && self.held.is_none()
                    && self.collecting.is_none()
            }
            Command::Sanitise { target, how } => {
                quiet
                    && self.exists(target, true)
                    && self.collecting.is_none()
                    && !self.held.as_ref().is_some_and(|job| job.program)
                    && spots(target).iter().all(|spot| !self.bad.contains(spot) && !self.holds(*spot))
                    && if *how == Sanitisation::LockBlock {
                        // Blocks that are locked as one need not all hold something.
                        spots(target).iter().any(|spot| self.holds_something(*spot, target.page.0, *how))
                    } else {
                        spots(target).iter().all(|spot| self.holds_something(*spot, target.page.0, *how))
                    }
            }
            Command::Suspend { stop } => self.may_stop(*stop, now),
            Command::Abort => now < self.sensing && !self.bus_busy(now),
            Command::Resume => quiet && self.held.is_some(),
        }
    }

    /// Whether work may be stopped at `now`.
    fn may_stop(&self, stop: Stop, now: Nanos) -> bool {
        let working = self.job.as_ref().filter(|job| now < job.end && self.held.is_none() && now >= self.no_suspend_before);
        let is_last = |job: &Job| self.sheet.capabilities.stop_at_step && job.at(now).steps.len() == 1;
        match stop {
            Stop::AtStep => working.is_some_and(|job| !is_last(job)),
            Stop::Now => {
                let is_sooner = |&(_, end): &(Nanos, Nanos)| self.held.is_some() && now + self.halt(self.held.as_ref()) < end;
                working.is_some() || self.stopping.as_ref().is_some_and(is_sooner)
            }
        }
    }

    /// Whether a page may be sensed at `now`.
    fn may_read(&self, target: &Target, cache: bool, now: Nanos) -> bool {
        let clear = spots(target).iter().all(|spot| match &self.held {
            Some(job) if job.spots.contains(spot) => job.program && !job.pages.contains(&target.page.0),
            _ => true,
        });
        let taking_in = self.bus.is_some_and(|(end, inwards)| inwards && now < end);
        let room = match self.waiting.len() {
            0 => !taking_in,
            1 => !self.bus_busy(now),
            _ => false,
        };
        self.exists(target, true) && clear && self.idle(now) && if cache { room } else { !self.bus_busy(now) }
    }

    fn halt(&self, job: Option<&Job>) -> Nanos {
        let t = &self.sheet.timing;
        if job.is_some_and(|job| job.program) { t.halt_program } else { t.halt_erase }
    }

    /// What is at work or already stopping is stopped. Returns for how long the array is still busy with that.
    fn stop(&mut self, stop: Stop, now: Nanos) -> Nanos {
        let t = self.sheet.timing;
        let Some(mut job) = self.job.take() else {
            let (step, _) = self.stopping.take().expect("it was allowed");
            let job = self.held.as_mut().expect("it was allowed");
            job.steps.insert(0, step);
            job.end = job.left();
            return self.halt(self.held.as_ref());
        };
        let by_steps = if job.program { t.step_program } else { t.step_erase } > Nanos::ZERO;
        let span = match stop {
            Stop::Now => self.halt(Some(&job)),
            Stop::AtStep if job.program => t.suspend_program,
            Stop::AtStep => t.suspend_erase,
        };
        if !by_steps {
            // What is left of it, and of settling, is done later.
            (job.steps, job.end) = (vec![job.end - now], job.end - now);
            self.held = Some(job);
            return span;
        }
        let mut job = job.at(now);
        let mut until = now + span;
        if stop == Stop::AtStep {
            let step = job.steps.remove(0);
            until = job.from + step;
            self.stopping = Some((step, until));
        }
        job.end = job.left();
        self.held = Some(job);
        until - now
    }

    fn ruin(&mut self, job: &Job) {
        for &(plane, block) in &job.spots {
            if job.program {
                self.unreadable.extend(job.pages.iter().map(|&page| (plane, block, page)));
            } else {
                self.unerased.insert((plane, block));
            }
        }
    }

    fn busy(&mut self, now: Nanos, pins: Nanos, array: Nanos, job: Option<Job>) -> Nanos {
        self.pins_free = now + pins;
        self.array_free = now + array;
        self.job = job;
        self.sensing = Nanos::ZERO;
        self.array_free
    }

    /// The wordline, or page, of `target` is programmed.
    fn programmed(&mut self, target: &Target, cache: bool, status: Status, now: Nanos) -> Nanos {
        let t = self.sheet.timing;
        let count = self.per_program();
        let first = target.page.0 / count * count;
        let span = if count > 1 { t.program_wordline } else { t.program[usize::from(first) % 3] };
        let array = if cache { t.cache_busy + span } else { span };
        let job = Job {
            program: true,
            spots: spots(target),
            pages: (first..first + count).collect(),
            end: now + array,
            steps: steps(span, t.step_program),
            from: now + array - span,
        };
        if status == Status::Failed {
            self.ruin(&job);
        }
        self.busy(now, if cache { t.cache_busy } else { array }, array, Some(job))
    }

    /// Book an allowed command; `status` is what the die said of it. Returns when it ends and, for a read, whether it must have gone well.
    pub(crate) fn book(&mut self, command: &Command, now: Nanos, until: Nanos, spare: &[u32], status: Status) -> (Nanos, Option<Status>) {
        let t = self.sheet.timing;
        let ends = match command {
            Command::Status => return (self.array_free.max(now), None),
            Command::Reset => self.reset(now),
            Command::SetFeature { feature, value } => {
                if *feature == Feature::Spare0 {
                    self.spares = *value;
                }
                self.busy(now, t.feature, t.feature, None)
            }
            Command::GetFeature { .. } => self.busy(now, t.feature, t.feature, None),
            Command::Read { target, cache } => return self.read(target, *cache, now),
            Command::DataOut { .. } => {
                if !self.waiting.is_empty() {
                    let (page, _) = self.waiting.remove(0);
                    self.fetched = self.waiting.is_empty().then_some(page);
                }
                self.bus = Some((until, false));
                until
            }
            Command::DataIn { bytes } => {
                self.waiting.clear();
                (self.fetched, self.copy) = (None, None);
                self.loaded += bytes.0;
                self.bus = Some((until, true));
                until
            }
            Command::Program { target, cache } => {
                let mut units = spare.chunks(spare.len() / (spots(target).len() * usize::from(self.per_program())));
                let count = self.per_program();
                for page in target.page.0..target.page.0 + count {
                    for (plane, block) in spots(target) {
                        self.pages.insert((plane, block, page), units.next().expect("enough units").to_vec());
                    }
                }
                self.loaded = 0;
                self.programmed(target, *cache, status, now)
            }
            Command::CopybackProgram { target } => self.copyback(target, status, now),
            Command::Erase { target } => self.erase(target, now),
            Command::Sanitise { target, how } => self.sanitise(target, *how, now),
            Command::Suspend { stop } => {
                let span = self.stop(*stop, now);
                self.busy(now, span, span, None)
            }
            Command::Abort => {
                self.waiting.clear();
                (self.fetched, self.copy) = (None, None);
                self.busy(now, t.abort_read, t.abort_read, None)
            }
            Command::Resume => {
                let job = self.held.take().expect("it was allowed");
                let span = t.resume + job.end;
                self.no_suspend_before = now + t.suspend_interval;
                self.stopping = None;
                self.busy(now, span, span, Some(Job { end: now + span, from: now + t.resume, ..job }))
            }
        };
        (ends, None)
    }

    /// Books a reset.
    fn reset(&mut self, now: Nanos) -> Nanos {
        let t = self.sheet.timing;
        let running = self.job.take().filter(|job| now < job.end);
        for job in running.into_iter().chain(self.held.take()) {
            self.ruin(&job);
        }
        if let Some((target, count)) = self.collecting.take() {
            let first = target.page.0 / self.per_program() * self.per_program();
            let job =
                Job { program: true, spots: spots(&target), pages: (first..first + count).collect(), end: now, steps: vec![], from: now };
            self.ruin(&job);
        }
        (self.waiting, self.fetched, self.copy, self.loaded, self.bus) = (Vec::new(), None, None, 0, None);
        self.stopping = None;
        self.busy(now, t.reset, t.reset, None)
    }

    /// Books the sensing of a page.
    fn read(&mut self, target: &Target, cache: bool, now: Nanos) -> (Nanos, Option<Status>) {
        let t = self.sheet.timing;
        let sense = t.read[usize::from(target.page.0) % 3];
        let ends = if cache {
            self.busy(now, t.cache_busy, t.cache_busy + sense, None)
        } else {
            self.waiting.clear();
            self.busy(now, sense, sense, None)
        };
        self.waiting.push((*target, ends));
        self.sensing = ends;
        (self.fetched, self.copy, self.loaded) = (None, Some(*target), 0);
        let lost = spots(target).iter().any(|&(plane, block)| {
            self.unerased.contains(&(plane, block))
                || self.unreadable.contains(&(plane, block, target.page.0))
                || self.hides((plane, block), target.page.0)
        });
        (ends, Some(if lost { Status::Uncorrectable } else { Status::Good }))
    }

    /// Books a program of the page that was sensed last.
    fn copyback(&mut self, target: &Target, status: Status, now: Nanos) -> Nanos {
        let t = self.sheet.timing;
        let source = self.copy.take().expect("it was allowed");
        for ((plane, from), (_, to)) in spots(&source).into_iter().zip(spots(target)) {
            let units = self.units(PlaneId(plane), from, source.page.0);
            self.pages.insert((plane, to, target.page.0), units);
        }
        // One status for all planes: if one page cannot be read, no copy can be trusted.
        let lost = spots(&source).iter().any(|&(plane, block)| {
            self.unerased.contains(&(plane, block))
                || self.unreadable.contains(&(plane, block, source.page.0))
                || self.hides((plane, block), source.page.0)
        });
        if lost {
            self.unreadable.extend(spots(target).iter().map(|&(plane, block)| (plane, block, target.page.0)));
        }
        self.waiting.clear();
        self.fetched = None;
        let inside = target.page.0 % self.per_program();
        if inside + 1 < self.per_program() {
            self.collecting = Some((*target, inside + 1));
            self.busy(now, t.cache_busy, t.cache_busy, None)
        } else {
            self.collecting = None;
            self.programmed(target, false, status, now)
        }
    }

    /// Books an erase.
    fn erase(&mut self, target: &Target, now: Nanos) -> Nanos {
        let t = self.sheet.timing;
        for spot in spots(target) {
            self.pages.retain(|&(plane, block, _), _| (plane, block) != spot);
            self.unreadable.retain(|&(plane, block, _)| (plane, block) != spot);
            self.locked_pages.retain(|&(plane, block, _)| (plane, block) != spot);
            self.destroyed.retain(|&(plane, block, _)| (plane, block) != spot);
            self.locked_blocks.remove(&spot);
            self.unerased.remove(&spot);
            self.spared.insert(spot, self.spares);
            if self.copy.is_some_and(|source| spots(&source).contains(&spot)) {
                self.copy = None;
            }
        }
        let job = Job {
            program: false,
            spots: spots(target),
            pages: Vec::new(),
            end: now + t.erase,
            steps: steps(t.erase, t.step_erase),
            from: now,
        };
        self.busy(now, t.erase, t.erase, Some(job))
    }

    /// Books a lock or destruction.
    fn sanitise(&mut self, target: &Target, how: Sanitisation, now: Nanos) -> Nanos {
        let t = self.sheet.timing;
        for (plane, block) in spots(target) {
            let page = target.page.0;
            match how {
                Sanitisation::LockPage => _ = self.locked_pages.insert((plane, block, page)),
                Sanitisation::LockBlock => _ = self.locked_blocks.insert((plane, block)),
                Sanitisation::Reprogram => _ = self.destroyed.insert((plane, block, page)),
                Sanitisation::Scrub => {
                    for page in page / 3 * 3..page / 3 * 3 + 3 {
                        self.destroyed.insert((plane, block, page));
                        self.pages.entry((plane, block, page)).or_insert_with(|| vec![u32::MAX; 2]);
                    }
                }
            }
        }
        self.waiting.clear();
        (self.fetched, self.copy, self.loaded) = (None, None, 0);
        let span = match how {
            Sanitisation::LockPage => t.lock_page,
            Sanitisation::LockBlock => t.lock_block,
            Sanitisation::Scrub => t.scrub,
            Sanitisation::Reprogram => t.reprogram,
        };
        self.busy(now, span, span, None)
    }

    /// The units of a page, as far as the pins give them.
    pub(crate) fn units(&self, plane: PlaneId, block: u16, page: u16) -> Vec<u32> {
        let shown = self.pages.get(&(plane.0, block, page)).filter(|_| !self.hides((plane.0, block), page));
        shown.cloned().unwrap_or_else(|| vec![u32::MAX; 2])
    }
}
