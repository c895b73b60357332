//! One firmware core: hear, speak, acknowledge.

use std::collections::{BTreeMap, VecDeque};

use wordline_flash::{Operation, ProgramSettings, ProgramTrace, Report};
use wordline_units::random::{Draw, Stream as Dice};
use wordline_units::{Bytes, DieId, HostOp, IdMap, Lpn, Nanos, PlaneId};

use crate::buffer::Buffer;
use crate::checkpoint::Checkpoints;
use crate::config::{Acknowledge, Config, Protection};
use crate::data::DataStep;
use crate::die::{Activity, Die, Stream};
use crate::groups::Groups;
use crate::idle::IdleDies;
use crate::journal::Journal;
use crate::journal_page::History;
use crate::keys::Keys;
use crate::layout::{Group, Layout, UnitAddr};
use crate::list::Slab;
use crate::map::Map;
use crate::oob::OobCopies;
use crate::operations::Pending;
use crate::recover::Recovery;
use crate::refused::Refused;
use crate::request::{Acknowledgement, Note, Request};
use crate::secrets::Secrets;
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::panel::Panel;
use crate::techniques::seam::{Card, Ctx, News, Technique};
use crate::techniques::work::{NEVER, Work};
use crate::view::View;

/// A host request in hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) request: Request,
    /// Reads, or durable units, still to come.
    pub(crate) pending: u32,
    /// Units of a write not yet in the buffer.
    pub(crate) unadmitted: u32,
    pub(crate) ok: bool,
    /// Sectors of a read in units that hold nothing.
    pub(crate) blank: u32,
}

/// A firmware core, sans-IO: it owns a share of the logical space and some dies, and nothing that moves.
///
/// The drive tells it what happens ([`Ftl::submit`], [`Ftl::report`], [`Ftl::die_ready`], [`Ftl::tick`]), then asks what to do ([`Ftl::speak`]) until
/// there is nothing, and collects what is done ([`Ftl::acknowledge`]). Time is an argument.
#[derive(Debug)]
pub struct Ftl {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) map: Map,
    pub(crate) groups: Groups,
    pub(crate) buffer: Buffer,
    pub(crate) dies: IdMap<DieId, Die>,
    pub(crate) idle: IdleDies,
    /// Dies that can take an operation and may have one to do.
    pub(crate) ready: Vec<DieId>,
    pub(crate) suspends: Vec<DieId>,
    pub(crate) pending: Slab<Pending>,
    pub(crate) parts: Slab<Part>,
    /// Writes that wait for room in the buffer, in order of arrival.
    pub(crate) admissions: VecDeque<u32>,
    pub(crate) flushes: VecDeque<Flush>,
    /// The buffer is to be emptied.
    pub(crate) draining: bool,
    pub(crate) done: VecDeque<Acknowledgement>,
    pub(crate) notes: VecDeque<Note>,
    pub(crate) data_steps: VecDeque<DataStep>,
    /// What capacitors are to keep, beside the buffer.
    pub(crate) kept_facts: VecDeque<(u32, Vec<u8>)>,
    /// The second copy of the marks, where there is one.
    pub(crate) oob: Option<Box<OobCopies>>,
    /// What it has lived through.
    pub(crate) history: History,
    /// Units that are not handed out, if there are any.
    pub(crate) refused: Option<Box<Refused>>,
    /// It was told that the power will go.
    pub(crate) is_going: bool,
    /// Of a core that keeps data.
    pub(crate) journal: Option<Box<Journal>>,
    pub(crate) checkpoints: Option<Box<Checkpoints>>,
    /// How it came back from a power cut.
    pub(crate) recovery: Option<Recovery>,
    /// How often spare blocks had been erased when it came back, by die and block of the first plane; others are new.
    pub(crate) spare_erases: BTreeMap<(DieId, u16), u32>,
    /// Only where a technique cares.
    pub(crate) secrets: Option<Box<Secrets>>,
    /// Only where a technique destroys keys.
    pub(crate) keys: Option<Box<Keys>>,
    pub(crate) panel: Panel,
    /// The instant of the call that is being answered.
    pub(crate) now: Nanos,
    /// What the die has told of the program that ends.
    pub(crate) trace: Option<ProgramTrace>,
    /// The earliest deadline of work that is held back; [`NEVER`]: there is none.
    pub(crate) held_until: Nanos,
    /// Whether work was ever held back, with a deadline or without.
    pub(crate) has_held: bool,
    /// Room for work that techniques want done.
    pub(crate) work: Vec<Work>,
    /// Room for the addresses a trim makes stale.
    pub(crate) stale: Vec<(u32, UnitAddr)>,
    /// Room for the logical units of the page that has landed.
    pub(crate) run: Vec<u32>,
    pub(crate) victim_draw: Draw,
    pub(crate) under_way: u32,
    pub(crate) starved: bool,
    /// How often the host has changed what is valid: its programs and trims.
    pub(crate) changes: u64,
    pub(crate) worn_out: bool,
    /// Units of host data that became stale and have not been written down.
    pub(crate) invalidated: u32,
    pub(crate) sectors_per_unit: u32,
}

/// Hooks by which something becomes due that no die waits for.
const TIMED: Hooks = Hooks::of(&[Hook::Timer, Hook::MayWork]);

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flush {
    pub(crate) part: u32,
    /// Writes up to this epoch must be durable.
    pub(crate) epoch: u64,
    /// And trims up to this version.
    pub(crate) trims: u64,
    /// Once all of it is on flash: so many programs must be sealed.
    pub(crate) sealed: Option<u64>,
    /// Once it could pass: the newest gate there was then.
    pub(crate) gate: Option<u64>,
}

impl Ftl {
    /// A core at its first start, all blocks erased.
    pub fn new(config: Config) -> Ftl {
        let layout = config.layout();
        let sectors_per_unit = (config.unit.0 / wordline_units::host::SECTOR_BYTES) as u32;
        let (blocks, usable, mut spares) = crate::retire::form_groups(&config, &layout);
        let mut table = Groups::new(layout, blocks);
        for (group, &usable) in usable.iter().enumerate() {
            if !usable {
                table.retire(Group(group as u32), None);
            }
        }
        let dies = IdMap::from_fn(config.dies as usize, |die: DieId| {
            let free = layout.groups_of(die).filter(|&group| usable[group]).map(|group| Group(group as u32)).collect();
            Die::new(free, std::mem::take(&mut spares[usize::from(die.0)]))
        });
        let mut choices = config.techniques.clone();
        choices.sort_unstable();
        let techniques: Vec<_> = choices.iter().map(|choice| choice.build(&layout, &config.sheet, config.margins.as_deref())).collect();
        let panel = Panel::new(techniques);
        let (store, waiters) = (panel.key_store(), panel.idle_waits().len());
        let mut ftl = Ftl {
            keys: store.map(|store| Box::new(Keys::new(store, &layout, &config))),
            map: Map::new(layout, config.exported_units),
            groups: table,
            buffer: Buffer::new(config.buffer.units, sectors_per_unit, config.buffer.protection),
            dies,
            idle: IdleDies::new(config.dies, waiters),
            ready: Vec::new(),
            suspends: Vec::new(),
            pending: Slab::default(),
            parts: Slab::default(),
            admissions: VecDeque::new(),
            flushes: VecDeque::new(),
            draining: false,
            done: VecDeque::new(),
            notes: VecDeque::new(),
            data_steps: VecDeque::new(),
            kept_facts: VecDeque::new(),
            oob: None,
            history: History { starts: 1, ..History::default() },
            refused: None,
            is_going: false,
            journal: None,
            checkpoints: None,
            recovery: None,
            spare_erases: BTreeMap::new(),
            held_until: NEVER,
            has_held: false,
            secrets: panel.has(Hook::Sanitise).then(|| Box::new(Secrets::new(layout))),
            trace: None,
            panel,
            now: Nanos::ZERO,
            work: Vec::new(),
            stale: Vec::new(),
            run: Vec::new(),
            victim_draw: Draw::new(config.seed, Dice::Victim, config.core),
            under_way: 0,
            starved: false,
            changes: 0,
            worn_out: false,
            invalidated: 0,
            sectors_per_unit,
            layout,
            config,
        };
        if ftl.config.keeps_data || ftl.config.recovers {
            ftl.start_journal();
            if ftl.config.copies_oob() {
                let bytes = ftl.unit_bytes(layout.units_per_program).0 as usize;
                let has_capacitors = ftl.config.buffer.protection == Protection::Capacitor;
                ftl.oob = Some(Box::new(OobCopies::new(layout, bytes, has_capacitors)));
            }
            if ftl.secrets.is_none() {
                ftl.start_checkpoints();
            }
        }
        ftl
    }

    /// What it was told when it started.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The arithmetic of its addresses.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Its block groups.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The cards of the techniques that are switched on.
    pub fn cards(&self) -> impl Iterator<Item = &'static Card> {
        self.panel.cards()
    }

    /// Let `technique`, which no plan names, join those that are switched on, before anything is submitted. What a core is built with it does not get by that:
    /// it is asked about secrets only where another technique is a sanitiser, and can have no key store.
    pub fn join(&mut self, technique: Box<dyn Technique>) {
        assert!(technique.key_store().is_none(), "a key store is for techniques that the core is built with");
        assert_eq!((self.under_way, self.parts.len()), (0, 0), "a technique joins before anything is submitted");
        self.panel = std::mem::replace(&mut self.panel, Panel::new(Vec::new())).with(technique);
        self.idle.await_by(self.panel.idle_waits().len());
    }

    /// Units in the write buffer that are not yet on flash.
    pub fn buffered_units(&self) -> u32 {
        self.buffer.in_use().count() as u32
    }

    /// What the technique `name` has learnt, as in an image of a core; `None`: it is not switched on.
    pub fn learnt(&self, name: &str) -> Option<Vec<u32>> {
        self.panel.image(name)
    }

    /// The host asks for something.
    pub fn submit(&mut self, now: Nanos, request: Request) {
        self.now = now;
        let end = request.lpn.checked_add(request.units);
        assert!(end.is_some_and(|end| end <= self.map.exported()), "request beyond the drive's end: the host edge must refuse it");
        let part = Part { request, pending: 0, unadmitted: 0, ok: true, blank: 0 };
        match request.op {
            HostOp::Read => self.read(part),
            HostOp::Write => self.write(now, part),
            HostOp::Trim => self.trim(now, part),
            HostOp::Flush => self.flush(part),
        }
    }

    /// An operation has ended. `spare` is the spare area of the page it read, unit by unit.
    pub fn report(&mut self, now: Nanos, report: &Report, spare: &[Lpn]) {
        self.now = now;
        self.under_way -= 1;
        self.conclude(now, report, spare);
    }

    /// `die` can take an operation.
    #[inline]
    pub fn die_ready(&mut self, die: DieId) {
        let state = &mut self.dies[die];
        state.activity = match state.activity {
            Activity::Suspending(cause) => {
                state.busy.stops = state.busy.stops.saturating_add(1);
                state.served = 0;
                Activity::Suspended(cause)
            }
            Activity::Free | Activity::Busy | Activity::Working(_) => Activity::Free,
            Activity::Suspended(cause) => Activity::Suspended(cause),
        };
        self.ready.push(die);
    }

    /// The program or erase of `die` ended before the suspend took hold, or cannot be suspended now.
    #[inline]
    pub fn suspend_refused(&mut self, die: DieId) {
        if let Activity::Suspending(cause) = self.dies[die].activity {
            self.dies[die].activity = Activity::Working(cause);
        }
    }

    /// The next operation to be issued at `now`, if any.
    #[inline]
    pub fn speak(&mut self, now: Nanos) -> Option<Operation> {
        // Asked after every event, and most leave nothing to say: every die is at work, or there is nothing to write.
        let nothing_to_write = self.idle.is_empty() || self.buffer.complete() == 0;
        if self.ready.is_empty() && nothing_to_write && self.suspends.is_empty() && self.under_way > 0 {
            return None;
        }
        self.now = now;
        self.find_word(now)
    }

    fn find_word(&mut self, now: Nanos) -> Option<Operation> {
        if let Some(die) = self.suspends.pop() {
            return Some(Operation {
                tag: u32::MAX,
                die,
                kind: wordline_flash::OperationKind::Suspend,
                cause: wordline_units::Cause::Host,
            });
        }
        loop {
            if let Some(die) = self.ready.pop() {
                match self.decide(now, die) {
                    Some(operation) => return Some(operation),
                    None => self.idle.insert(die, now),
                }
                continue;
            }
            if let Some(die) = self.idle_writer(now) {
                self.idle.remove(die);
                self.ready.push(die);
                continue;
            }
            if !self.ready.is_empty() {
                continue;
            }
            if self.under_way == 0 && self.journal.is_some() && self.rescue_journal() {
                continue;
            }
            if self.under_way == 0 && self.keys.is_some() && self.rescue_keys() {
                continue;
            }
            self.give_up_if_stuck(now);
            return None;
        }
    }

    /// The spare area of the program that `die` has just been ordered to do.
    #[inline]
    pub fn spare(&self, die: DieId) -> &[Lpn] {
        &self.dies[die].spare
    }

    /// How the program or copyback that `die` has just been ordered to do is to be done; `None`: nobody sets programs, and nobody wants to hear of them.
    #[inline]
    pub fn program_settings(&self, die: DieId) -> Option<&ProgramSettings> {
        self.panel.sets_programs().then(|| &self.dies[die].settings)
    }

    /// What a die tells of the program whose report comes next.
    pub fn hear(&mut self, trace: ProgramTrace) {
        self.trace = Some(trace);
    }

    /// Units of the program that `die` is doing, by origin: host, moved, padding.
    #[inline]
    pub fn carried(&self, die: DieId) -> [u16; 3] {
        self.dies[die].carried
    }

    /// The next host request that is done.
    #[inline]
    pub fn acknowledge(&mut self) -> Option<Acknowledgement> {
        self.done.pop_front()
    }

    /// Units of host data that have become stale since this was last asked.
    #[inline]
    pub fn take_invalidated(&mut self) -> u32 {
        std::mem::take(&mut self.invalidated)
    }

    /// Whether there is something to be written down.
    #[inline]
    pub fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// The next thing to be written down.
    #[inline]
    pub fn note(&mut self) -> Option<Note> {
        self.notes.pop_front()
    }

    /// When [`Ftl::tick`] should be called, if nothing else happens before.
    #[inline]
    pub fn next_deadline(&self) -> Option<Nanos> {
        if let Some(due) = self.register_due() {
            // Alone: a deadline of idle dies that has passed, with nothing to be done about it, would hide it.
            return Some(due);
        }
        // Dies wait only while they are idle: for data to write, or for time to pass. Techniques have timers of their own.
        let no_die_waits = self.idle.is_empty() || (self.idle.waiters() == 0 && self.buffer.complete() == 0);
        let is_alone = !self.panel.has_any(TIMED);
        if no_die_waits && is_alone { None } else { self.deadline_of_waits() }
    }

    /// When the register of keys will have been overwritten.
    pub(crate) fn register_due(&self) -> Option<Nanos> {
        self.keys.as_ref().and_then(|keys| keys.due)
    }

    fn deadline_of_waits(&self) -> Option<Nanos> {
        let linger = match (self.config.schedule.linger, self.buffer.oldest_complete()) {
            (Some(linger), Some(entered)) => Some(entered + linger),
            _ => None,
        };
        // A core that takes no more writes may have no room left to move anything: asked again and again, it would never rest.
        if self.idle.waiters() == 0 && !self.panel.has_any(TIMED) {
            return linger;
        }
        let idle = self.panel.idle_waits().enumerate().filter(|_| !self.worn_out);
        let idle = idle.filter_map(|(place, wait)| self.idle.oldest(place).map(|since| since + wait)).min();
        let held = (self.held_until != NEVER).then_some(self.held_until);
        [linger, idle, self.panel.alarm(), held].into_iter().flatten().min()
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Nanos) {
        self.now = now;
        if self.register_due().is_some_and(|due| due <= now) {
            self.register_overwritten(now);
        }
        for place in 0..self.idle.waiters() {
            self.tell_idle(now, place);
        }
        if self.panel.alarm().is_some_and(|at| at <= now) {
            let mut wanted = std::mem::take(&mut self.work);
            let Ftl { panel, groups, dies, .. } = self;
            panel.ring(&Ctx { now, view: View::new(groups, dies) }, &mut wanted);
            self.enqueue_all(wanted);
        }
        if self.held_until <= now {
            self.start_due(now);
        }
    }

    /// Tell the technique at `place` of [`Panel::idle_waits`] of all dies that have been idle for as long as it asked for.
    fn tell_idle(&mut self, now: Nanos, place: usize) {
        let wait = self.panel.idle_waits().nth(place).expect("there are as many lines of idle dies");
        while let Some((die, idle)) = self.idle.longest(place, now).filter(|&(_, idle)| idle >= wait) {
            // Told once in a spell: the die leaves the line whatever the answer is, and joins it again when it next falls idle.
            self.idle.told(place, die);
            let news = News::Idle { die, idle, free: self.dies[die].free.len() as u32 };
            let Ftl { panel, groups, dies, .. } = self;
            if let Some(work) = panel.learn_idle(place, &Ctx { now, view: View::new(groups, dies) }, &news) {
                self.enqueue_work(work);
            }
        }
    }

    /// The instant, and what techniques can see.
    #[inline]
    pub(crate) fn ctx(&self) -> Ctx<'_> {
        Ctx { now: self.now, view: View::new(&self.groups, &self.dies) }
    }

    /// Whether nothing is under way and the buffer is empty: the instant for a snapshot.
    pub fn is_quiet(&self) -> bool {
        self.under_way == 0
            && self.buffer.is_empty()
            && self.parts.len() == 0
            && self.dies.iter().all(|(_, die)| die.moved.is_empty())
            && self.secrets.as_ref().is_none_or(|secrets| secrets.is_idle())
            && self.oob.as_ref().is_none_or(|oob| oob.is_idle())
    }

    /// Whether nothing is under way and nothing will be by itself: as [`Ftl::is_quiet`], but for data of dies that have no room left to move it to.
    pub fn is_at_rest(&self) -> bool {
        let has_room = |die: &Die| !die.open[Stream::Moved as usize].is_empty() || !die.free.is_empty() || !die.erasable.is_empty();
        let is_done = |die: &Die| die.moved.is_empty() || !has_room(die);
        self.under_way == 0 && self.buffer.is_empty() && self.parts.len() == 0 && self.dies.iter().all(|(_, die)| is_done(die))
    }

    /// From now on, or no longer, everything in the write buffer is to be programmed soon, whether or not somebody waits for it.
    pub fn drain(&mut self, on: bool) {
        self.draining = on;
    }

    /// Units that the write buffer can still take.
    pub fn buffer_room(&self) -> u32 {
        self.buffer.room()
    }

    /// Whether the core has stopped taking writes.
    pub fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    /// Free block groups of `die`.
    pub fn free_groups(&self, die: DieId) -> u32 {
        self.dies[die].free.len() as u32
    }

    /// Let the techniques that have subscribed to it learn `news`, and gather what they want done.
    #[inline]
    pub(crate) fn notify(&mut self, news: News) {
        if self.panel.has(news.hook()) {
            self.notify_all(&news);
        }
    }

    fn notify_all(&mut self, news: &News) {
        let Ftl { panel, groups, dies, now, .. } = self;
        panel.learn(&Ctx { now: *now, view: View::new(groups, dies) }, news);
        if self.panel.has(Hook::Remember) {
            self.note_memos(news);
        }
        if self.panel.has(Hook::Work) {
            let mut wanted = std::mem::take(&mut self.work);
            self.panel.work(&self.ctx(), news, &mut wanted);
            self.enqueue_all(wanted);
        }
    }

    fn enqueue_all(&mut self, mut wanted: Vec<Work>) {
        wanted.drain(..).for_each(|work| self.enqueue_work(work));
        self.work = wanted;
    }

    pub(crate) fn acknowledges_buffered(&self, request: &Request) -> bool {
        self.config.buffer.acknowledge == Acknowledge::Buffered && !request.fua
    }

    pub(crate) fn unit_bytes(&self, units: u32) -> Bytes {
        Bytes(u64::from(units) * self.config.unit.0)
    }

    /// Physical spare places of `die` in `plane`, for reports.
    pub fn spare_blocks(&self, die: DieId, plane: PlaneId) -> usize {
        self.dies[die].spares[usize::from(plane.0)].len()
    }
}
