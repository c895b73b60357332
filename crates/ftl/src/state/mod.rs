//! The core's tables, and what they agree on: which unit lies where, what each block group holds, what each die and each request is at.
//!
//! Every other room works on these tables through [`Core`]. Nothing here decides anything.

use wordline_flash::{Operation, OperationKind};
use wordline_units::{Attributes, Bytes, Cause, DieId, IdMap, Nanos, OpTag, Priority};

pub(crate) mod allocation;
pub(crate) mod barriers;
pub(crate) mod batch;
pub(crate) mod beginning;
pub(crate) mod buffer;
pub(crate) mod changes;
pub(crate) mod data;
pub(crate) mod die;
pub(crate) mod failures;
pub(crate) mod grants;
pub mod groups;
pub(crate) mod idle;
pub mod layout;
pub(crate) mod levelled;
pub(crate) mod load;
pub(crate) mod loadable;
pub(crate) mod lost;
pub mod map;
pub(crate) mod measures;
pub(crate) mod outbox;
pub(crate) mod parked;
pub(crate) mod pending;
pub(crate) mod provenance;
pub(crate) mod readers;
pub(crate) mod reads;
pub(crate) mod refused;
pub mod request;
pub(crate) mod rewrites;
pub(crate) mod room;
pub(crate) mod services;
pub(crate) mod settings;
pub(crate) mod spare_blocks;
pub(crate) mod spared;
pub(crate) mod stops;
pub(crate) mod tolerances;
pub(crate) mod trimmed;
pub(crate) mod unreadable;
pub mod view;
pub(crate) mod warm_clock;
pub(crate) mod wear;
pub(crate) mod withheld;
pub mod wordline_order;
pub(crate) mod work;

use barriers::Barriers;
use beginning::{Beginning, Watched};
use buffer::Buffer;
use changes::Changes;
use data::{MetadataKind, Newest};
use die::Die;
use failures::Failures;
use groups::BlockGroups;
use idle::IdleDies;
use layout::{BlockGroup, Layout, UnitAddr};
use load::BufferLoad;
use loadable::LoadableDies;
use lost::LostSectors;
use map::Map;
use outbox::Outbox;
use pending::{Pending, Purpose};
use readers::Readers;
use refused::Refused;
use request::{Note, Requests};
use services::{OwnMemos, ServiceRoom};
use settings::Settings;
use stops::Busy;
use trimmed::TrimmedParts;
use view::{Demand, View};
use work::{Activity, Stream};

use crate::util::list::Slab;

/// The tables of one core.
#[derive(Debug)]
pub(crate) struct Core {
    settings: Settings,
    layout: Layout,
    map: Map,
    groups: BlockGroups,
    buffer: Buffer,
    dies: IdMap<DieId, Die>,
    idle: IdleDies,
    loadable: LoadableDies,
    /// Dies that can take an operation and may have one to do.
    ready: Vec<DieId>,
    pending: Slab<OpTag, Pending>,
    under_way: u32,
    requests: Requests,
    barriers: Barriers,
    readers: Readers,
    /// Units that the core refuses to return, if there are any.
    refused: Option<Box<Refused>>,
    /// Lost sectors, once there are any in a core that stores no bytes.
    lost: Option<Box<LostSectors>>,
    /// Failed dies, once a die was suspect.
    failures: Option<Box<Failures>>,
    trimmed: TrimmedParts,
    outbox: Outbox,
    services: ServiceRoom,
    /// Instant of the call that is being answered.
    now: Nanos,
    changes: Changes,
    /// True if some die can collect nothing.
    gc_stalled: bool,
    /// True if something follows from a unit that becomes stale: some die can collect nothing, or valid units of each die are counted.
    heeds_stale: bool,
    worn_out: bool,
    /// True if the buffer is to be emptied.
    flushes_all: bool,
    watched: Watched,
    /// Load of the write buffer, where a technique asks for it.
    load: Option<Box<BufferLoad>>,
    /// Number of reads that each read of the host stands for: more than one in a leap over reads.
    read_times: u32,
}

impl Core {
    /// Creates the tables of a new core, with all blocks erased.
    pub(crate) fn new(beginning: Beginning) -> Core {
        let Beginning { settings, layout, exported, groups, mut spares, waiters, watched, watches_reads } = beginning;
        let table = BlockGroups::new(layout, groups.iter().map(|&(blocks, _)| blocks).collect());
        let mut table = table.with_spared(settings.spared_max);
        let usable = |group: &BlockGroup| groups[group.index()].1;
        (0..groups.len() as u32).map(BlockGroup).filter(|group| !usable(group)).for_each(|group| table.retire(group, None));
        let dies = IdMap::from_fn(layout.dies as usize, |die: DieId| {
            let free = layout.groups_of(die).map(|group| BlockGroup(group as u32)).filter(usable).collect();
            Die::new(free, std::mem::take(&mut spares[usize::from(die.0)]))
        });
        Core {
            map: Map::new(layout, exported),
            groups: table,
            buffer: Buffer::new(settings.buffer.units, settings.sectors(), settings.buffer.protection),
            dies,
            idle: IdleDies::new(layout.dies, waiters),
            loadable: LoadableDies::new(layout.dies, settings.capabilities.cache_program && !watched.one_program),
            ready: Vec::new(),
            pending: Slab::default(),
            under_way: 0,
            requests: Requests::default(),
            barriers: Barriers::default(),
            readers: Readers::new(watches_reads),
            refused: None,
            lost: None,
            failures: None,
            trimmed: TrimmedParts::default(),
            outbox: Outbox::new(settings.keeps_data),
            services: ServiceRoom::default(),
            now: Nanos::ZERO,
            changes: Changes::default(),
            gc_stalled: false,
            heeds_stale: settings.spared_max > 0,
            worn_out: false,
            flushes_all: false,
            watched,
            load: watched.load.then(|| Box::new(BufferLoad::new(settings.buffer.load_window, Nanos::ZERO))),
            read_times: 1,
            settings,
            layout,
        }
    }

    // The tables.

    #[inline]
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    #[inline]
    pub(crate) fn map_mut(&mut self) -> &mut Map {
        &mut self.map
    }

    #[inline]
    pub(crate) fn groups(&self) -> &BlockGroups {
        &self.groups
    }

    #[inline]
    pub(crate) fn groups_mut(&mut self) -> &mut BlockGroups {
        &mut self.groups
    }

    #[inline]
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    #[inline]
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    #[inline]
    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }

    #[inline]
    pub(crate) fn requests_mut(&mut self) -> &mut Requests {
        &mut self.requests
    }

    pub(crate) fn barriers(&self) -> &Barriers {
        &self.barriers
    }

    pub(crate) fn barriers_mut(&mut self) -> &mut Barriers {
        &mut self.barriers
    }

    #[inline]
    pub(crate) fn die(&self, die: DieId) -> &Die {
        &self.dies[die]
    }

    #[inline]
    pub(crate) fn die_mut(&mut self, die: DieId) -> &mut Die {
        &mut self.dies[die]
    }

    /// All dies with their numbers.
    pub(crate) fn dies(&self) -> impl Iterator<Item = (DieId, &Die)> {
        self.dies.iter()
    }

    /// The numbers of all dies.
    pub(crate) fn die_ids(&self) -> impl Iterator<Item = DieId> + use<> {
        (0..self.layout.dies as u16).map(DieId)
    }

    /// View of the tables for techniques.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        let demand = Demand { settings: &self.settings, requests: &self.requests, buffer: &self.buffer, load: self.load.as_deref() };
        View::new(&self.groups, &self.dies, &self.services, self.now).with(demand)
    }

    /// Instant of the call that is being answered.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    #[inline]
    pub(crate) fn set_now(&mut self, now: Nanos) {
        self.now = now;
        if self.load.is_some() {
            self.count_load();
        }
    }

    /// Counts the load of the buffer up to the present instant.
    #[inline(never)]
    fn count_load(&mut self) {
        if let Some(load) = &mut self.load {
            load.pass(self.now, self.settings.buffer.units - self.buffer.room());
        }
    }

    /// Services for techniques, with the sensor that they go by, and measurements.
    #[inline]
    pub(crate) fn services(&self) -> &ServiceRoom {
        &self.services
    }

    #[inline]
    pub(crate) fn services_mut(&mut self) -> &mut ServiceRoom {
        &mut self.services
    }

    /// Note for the services that what the groups hold is from before.
    pub(crate) fn find_data(&mut self, memos_of: impl Fn(BlockGroup) -> OwnMemos) {
        self.services.find(&self.groups, self.now, memos_of);
    }

    // Dies that wait, and are waited for.

    /// Let `die` ask for work again, if it is idle.
    #[inline]
    pub(crate) fn wake(&mut self, die: DieId) {
        if self.idle.contains(die) {
            self.idle.remove(die);
            self.ready.push(die);
        }
    }

    /// Note that `die` has ended its operation: it can take another, or goes on with a program that it was given before.
    #[inline]
    pub(crate) fn ready(&mut self, die: DieId) {
        self.requests.release_by_none();
        if self.dies[die].ready() {
            self.ready.push(die);
        }
        self.loadable.remove(die);
    }

    /// Dies that can take in the data of another program.
    #[inline]
    pub(crate) fn loadable(&self) -> &LoadableDies {
        &self.loadable
    }

    pub(crate) fn loadable_mut(&mut self) -> &mut LoadableDies {
        &mut self.loadable
    }

    /// Note that `die` can take an operation, though what it did last has not ended.
    pub(crate) fn let_in(&mut self, die: DieId) {
        self.requests.release_by_none();
        self.ready.push(die);
    }

    /// Queue the read `tag` of `die`, which is under way, before the others of this `priority`.
    pub(crate) fn queue_again(&mut self, die: DieId, priority: Priority, tag: OpTag) {
        self.under_way -= 1;
        self.pending[tag].is_begun = true;
        self.pending[tag].next = self.dies[die].reads_mut().push_front(priority, tag);
    }

    /// The next die that can take an operation.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> Option<DieId> {
        self.ready.pop()
    }

    /// True if a die can take an operation.
    #[inline]
    pub(crate) fn is_any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Note that `die` has nothing to do.
    #[inline]
    pub(crate) fn rest(&mut self, die: DieId) {
        if !self.failures.as_ref().is_some_and(|failures| failures.bars(die)) {
            self.idle.insert(die, self.now);
        }
    }

    #[inline]
    pub(crate) fn idle(&self) -> &IdleDies {
        &self.idle
    }

    pub(crate) fn idle_mut(&mut self) -> &mut IdleDies {
        &mut self.idle
    }

    /// Next idle die, in turn, that can take a program of host data.
    #[inline]
    pub(crate) fn next_idle_writer(&mut self) -> Option<DieId> {
        let Core { idle, dies, settings, .. } = self;
        idle.next(|die| dies[die].activity() == Activity::Free && can_write(&dies[die], settings))
    }

    /// True if `die` could take a program of host data.
    #[inline]
    pub(crate) fn can_write(&self, die: DieId) -> bool {
        can_write(&self.dies[die], &self.settings)
    }

    /// True if `die` has a free group beyond the reserve.
    #[inline]
    pub(crate) fn is_roomy(&self, die: DieId) -> bool {
        self.dies[die].free_count() > self.settings.gc.floor
    }

    /// True if a technique sets programs and learns how they went.
    #[inline]
    pub(crate) fn sets_programs(&self) -> bool {
        self.watched.programs
    }

    /// Set what techniques watch. `wait`: the number of subscribers to idle dies.
    pub(crate) fn watch(&mut self, watched: Watched, wait: usize) {
        self.watched = watched;
        let (window, now) = (self.settings.buffer.load_window, self.now);
        self.load = watched.load.then(|| self.load.take().unwrap_or_else(|| Box::new(BufferLoad::new(window, now))));
        self.loadable.turn(self.settings.capabilities.cache_program && !watched.one_program);
        self.idle.await_by(wait);
    }

    #[inline]
    pub(crate) fn is_gc_stalled(&self) -> bool {
        self.gc_stalled
    }

    /// Failed dies; `None`: nothing has ever gone wrong.
    #[inline]
    pub(crate) fn failures(&self) -> Option<&Failures> {
        self.failures.as_deref()
    }

    /// True if `die` has failed.
    #[inline]
    pub(crate) fn is_failed(&self, die: DieId) -> bool {
        self.failures.as_ref().is_some_and(|failures| failures.has(die))
    }

    /// True if the unit at `addr` is lost, because its die has failed.
    #[inline]
    pub(crate) fn is_lost(&self, addr: UnitAddr) -> bool {
        self.failures.is_some() && addr != UnitAddr::NONE && self.is_failed(self.layout.die(self.layout.group(addr)))
    }

    // Operations.

    /// Number of operations under way.
    #[inline]
    pub(crate) fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Store what an operation is for. Returns its tag.
    #[inline]
    pub(crate) fn begin(&mut self, pending: Pending) -> OpTag {
        self.pending.insert(pending)
    }

    /// Purpose and address of the operation `tag`.
    #[inline]
    pub(crate) fn pending(&self, tag: OpTag) -> Pending {
        self.pending[tag]
    }

    /// Lengthen the transfer of the queued read `tag` by `bytes`.
    pub(crate) fn lengthen(&mut self, tag: OpTag, bytes: Bytes) {
        self.pending[tag].bytes += bytes;
    }

    /// End the operation `tag`.
    #[inline]
    pub(crate) fn end(&mut self, tag: OpTag) -> Pending {
        self.under_way -= 1;
        self.pending.remove(tag)
    }

    /// Mark program unit `program` as ordered in the group open for `stream` at `at`. Returns the group, and true if that was its last unit.
    #[inline]
    pub(crate) fn take_program(&mut self, die: DieId, stream: Stream, at: usize, program: u32) -> (BlockGroup, bool) {
        let (group, closes) = self.dies[die].issue_program(stream, at, program, &self.layout);
        (group, closes || (self.groups.can_spare() && self.pass_spared(die, group)))
    }

    /// Pass over the program units on spared wordlines that come next in the open `group` of `die`. Returns true if no other is left in it: the group is then
    /// open no longer.
    #[cold]
    pub(crate) fn pass_spared(&mut self, die: DieId, group: BlockGroup) -> bool {
        let Core { dies, groups, layout, settings, .. } = self;
        dies[die].pass_open(group, settings.wordline_order, layout, |program| groups.is_spared(group, program))
    }

    /// Order the operation `tag` of `die`.
    #[inline]
    pub(crate) fn issue(&mut self, die: DieId, tag: OpTag, kind: OperationKind, cause: Cause) -> Operation {
        self.under_way += 1;
        if self.watched.busy {
            self.note_busy(die, tag, kind, cause);
        }
        let is_long = matches!(kind, OperationKind::Program { .. } | OperationKind::Erase { .. } | OperationKind::Copyback { .. });
        self.dies[die].begin(cause, is_long);
        Operation { tag, die, kind, cause }
    }

    /// Keep the operation under way for the techniques that are asked whether it is stopped.
    #[cold]
    #[inline(never)]
    fn note_busy(&mut self, die: DieId, tag: OpTag, kind: OperationKind, cause: Cause) {
        let Some(kind) = kind.op() else { return };
        let Pending { group, attributes, .. } = self.pending[tag];
        let busy = Busy { reader: attributes.map(|attributes| attributes.priority), ..Busy::new(die, kind, cause, group) };
        self.dies[die].note_busy(self.now, tag, busy);
    }

    /// Fill a program of `die` from the buffer, and with padding where the buffer has too few units.
    pub(crate) fn batch_host(&mut self, die: DieId) {
        let Core { dies, buffer, map, layout, .. } = self;
        dies[die].programs_mut().now_mut().fill_from(layout.units_per_program, buffer, map);
    }

    /// Order the erase of `group`, for `purpose`. What becomes metadata is erased without sparing anything, and so is what is needed for it.
    pub(crate) fn issue_erase(&mut self, group: BlockGroup, purpose: Purpose, cause: Cause) -> Operation {
        let is_set = grants::begin_erase(self, group, matches!(purpose, Purpose::JournalErase));
        let tag = self.begin(Pending::new(purpose, group, 0, Bytes(0)));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(0));
        self.issue(self.layout.die(group), tag, OperationKind::Erase { target, is_traced: self.watched.erases, is_set }, cause)
    }

    /// Order program unit `program` of `group`, with the units that the die has gathered.
    #[inline(always)]
    pub(crate) fn issue_program(&mut self, group: BlockGroup, program: u32, purpose: Purpose, cause: Cause) -> Operation {
        let bytes = self.settings.unit_bytes(self.layout.units_per_program);
        let tag = self.begin(Pending::new(purpose, group, 0, bytes));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        let die = self.layout.die(group);
        let origin = self.dies[die].programs().now().origin();
        let is_cached = self.loadable.is_on() && origin.host > 0;
        self.issue(die, tag, OperationKind::Program { target, bytes, origin, is_set: self.watched.programs, is_cached }, cause)
    }

    /// Order a program of metadata of this `kind` at program unit `program` of `group`.
    pub(crate) fn issue_metadata(&mut self, kind: MetadataKind, group: BlockGroup, program: u32) -> Operation {
        let (die, units) = (self.layout.die(group), self.layout.units_per_program);
        self.dies[die].programs_mut().now_mut().fill(units, kind);
        self.issue_program(group, program, Purpose::Metadata { kind, program }, kind.cause())
    }

    /// Queue a read of `bytes` of the page that holds `addr`. Returns its tag and its die.
    #[inline]
    pub(crate) fn queue_read(
        &mut self,
        purpose: Purpose,
        cause: Cause,
        addr: UnitAddr,
        bytes: Bytes,
        attributes: Attributes,
    ) -> (OpTag, DieId) {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        let die = self.layout.die(group);
        let tag = self.pending.insert(Pending { attributes: Some(attributes), ..Pending::read(purpose, group, offset, bytes, cause) });
        self.groups.pin(group);
        if self.readers.is_on() {
            self.readers.begin(self.layout.unit(group, self.layout.page_start(offset)));
        }
        if let Some(before) = self.dies[die].reads_mut().push(attributes.priority, tag) {
            self.pending[before].next = tag;
        }
        (tag, die)
    }

    /// Take the next read that waits for `die`.
    #[inline]
    pub(crate) fn pop_read(&mut self, die: DieId) -> Option<OpTag> {
        let Core { dies, pending, .. } = self;
        dies[die].reads_mut().pop(|tag| pending[tag].next)
    }

    /// End a read of the page that holds `offset` of `group`. Returns true if no other read of it is left, where reads of pages are counted.
    #[inline]
    pub(crate) fn end_reading(&mut self, group: BlockGroup, offset: u32) -> bool {
        self.readers.is_on() && self.readers.end(self.layout.unit(group, self.layout.page_start(offset)))
    }

    /// True if one of the pages that begin at `starts` in `group` is being read.
    pub(crate) fn is_being_read(&self, group: BlockGroup, starts: impl Iterator<Item = u32>) -> bool {
        self.readers.has(starts.map(|start| self.layout.unit(group, start)))
    }

    // Units.

    /// Location of the newest bytes of `lpn`.
    pub(crate) fn newest(&self, lpn: u32) -> Newest {
        let on_flash = self.map.get(lpn);
        Newest { buffered: self.buffer.held(lpn), on_flash, is_refused: self.is_refused(lpn) || self.is_lost(on_flash) }
    }

    /// Number of reads that each read of the host stands for.
    pub(crate) fn read_times(&self) -> u32 {
        self.read_times
    }

    /// Set the number of reads that each read of the host stands for.
    pub(crate) fn set_read_times(&mut self, times: u32) {
        self.read_times = times;
    }

    /// True if `lpn` is refused.
    #[inline]
    pub(crate) fn is_refused(&self, lpn: u32) -> bool {
        self.refused.as_ref().is_some_and(|refused| refused.has(lpn))
    }

    pub(crate) fn refused(&self) -> Option<&Refused> {
        self.refused.as_deref()
    }

    /// Set the units that are refused.
    pub(crate) fn refuse(&mut self, refused: Refused) {
        self.refused = Some(Box::new(refused));
    }

    /// Stop refusing `lpn`, which was written or trimmed.
    #[inline]
    pub(crate) fn trust(&mut self, lpn: u32) {
        if let Some(refused) = &mut self.refused {
            refused.remove(lpn);
            if refused.count() == 0 {
                self.refused = None;
            }
        }
    }

    /// Lost sectors, if the core has ever lost any.
    #[inline]
    pub(crate) fn lost(&self) -> Option<&LostSectors> {
        self.lost.as_deref()
    }

    /// Lost sectors, for whoever loses some. Only a core that stores no bytes keeps them here: elsewhere the marks on flash tell.
    #[cold]
    pub(crate) fn lost_mut(&mut self) -> Option<&mut LostSectors> {
        (!self.settings.keeps_data).then(|| &mut **self.lost.get_or_insert_default())
    }

    /// Units that are trimmed in part.
    #[inline]
    pub(crate) fn trimmed(&self) -> &TrimmedParts {
        &self.trimmed
    }

    /// Units that are trimmed in part, to be changed.
    pub(crate) fn trimmed_mut(&mut self) -> &mut TrimmedParts {
        &mut self.trimmed
    }

    /// Counts of what the host has changed.
    #[inline]
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    #[inline]
    pub(crate) fn changes_mut(&mut self) -> &mut Changes {
        &mut self.changes
    }

    // What is promised.

    #[inline]
    pub(crate) fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    pub(crate) fn wear_out(&mut self) {
        self.worn_out = true;
        self.outbox.note(Note::WornOut);
    }

    #[inline]
    pub(crate) fn is_flushing_all(&self) -> bool {
        self.flushes_all
    }

    pub(crate) fn set_flush_all(&mut self, is_flushing_all: bool) {
        self.flushes_all = is_flushing_all;
    }

    /// Queue of what the core tells the drive.
    #[inline]
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    #[inline]
    pub(crate) fn outbox_mut(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    // As plain data.

    /// True if every die is free and no read waits.
    pub(crate) fn is_still(&self) -> bool {
        !self.outbox.has_stops() && self.dies.iter().all(|(_, die)| die.activity() == Activity::Free && die.reads().waiting() == 0)
    }

    /// Restore the core from these dies, which the caller has checked, and from the other facts of an image.
    pub(crate) fn restore(&mut self, dies: Vec<work::Holdings>, turn: u32, is_gc_stalled: bool, is_worn_out: bool) {
        let mut holdings = dies.into_iter();
        self.dies = IdMap::from_fn(self.dies.len(), |_: DieId| Die::restored(holdings.next().expect("as many as dies")));
        self.idle.set_turn(turn);
        (self.gc_stalled, self.worn_out) = (is_gc_stalled, is_worn_out);
        self.heeds_stale |= is_gc_stalled;
    }
}

#[inline]
fn can_write(die: &Die, settings: &Settings) -> bool {
    !die.open(Stream::Host).is_empty() || die.free_count() > settings.gc.floor
}
