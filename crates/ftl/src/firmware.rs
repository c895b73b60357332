//! The API of one firmware core: its inputs, its flash operations, its acknowledgements.

use std::ops::Range;

use wordline_flash::{EraseSettings, EraseTrace, Failed, Mark, Operation, ReadTry, Report, Status, Stopped};
use wordline_units::{BlockId, Cause, Celsius, DieId, HostOp, Lpn, Nanos, OpTag, PlaneId, Seconds, WordlineSet};

use crate::config::{Config, FreeBlockConfig};
use crate::dispatch::load::{self, Load};
use crate::dispatch::unrest::{self, Unrest};
use crate::dispatch::{Rooms, ended, next};
use crate::free_block::{AHEAD, GroupWear, Policy as _};
use crate::pages::journal::History;
use crate::recovery::flash_reader::{FlashReader, Held};
use crate::recovery::salvage::Doubtful;
use crate::recovery::{self, Recovery, Trust};
use crate::sanitise::keys::Key;
use crate::setup::{self, image::Image, leap::Skipped, waits::WaitTables};
use crate::state::Core;
use crate::state::data::{DataStep, MetadataKind, Newest};
use crate::state::failures::{self, Failures};
use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::state::levelled::{self, Before, Share};
use crate::state::lost::LostSectors;
use crate::state::map::Map;
use crate::state::pending::{Pending, Purpose};
use crate::state::request::{Acknowledgement, Deeds, Note, Request};
use crate::state::rewrites::{self, RewriteCounts};
use crate::state::room::SpareCounts;
use crate::state::services::ServiceTables;
use crate::state::spared::Spared;
use crate::state::view::View;
use crate::state::withheld::{self, LostRun, Withheld};
use crate::techniques::apply::{ctx, learn_all_wear};
use crate::techniques::counts::TechniqueCounts;
use crate::techniques::ladder::Ladder;
use crate::techniques::panel::Panel;
use crate::techniques::seam::{Ask, Card, Ctx, EraseReport, FlashPage, Technique};

/// A firmware core, sans-IO: it owns a share of the logical space and some dies, and nothing that moves.
///
/// The drive tells it what happens ([`Firmware::submit`], [`Firmware::report`], [`Firmware::die_ready`], [`Firmware::stopped`], [`Firmware::tick`]), then
/// asks what to do ([`Firmware::next_operation`]) until there is nothing, and collects what is done ([`Firmware::acknowledge`]). Time is an argument.
/// [`crate::driver`] has that conversation for whoever has no calendar.
#[derive(Debug)]
pub struct Firmware {
    config: Config,
    rooms: Rooms,
    /// Summary of the recovery from a power cut, if there was one.
    recovery: Option<Recovery>,
    /// Units whose data a salvage could not prove.
    doubtful: Vec<Doubtful>,
}

/// The last erase of a block group, in a past that was set and not lived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastErase {
    /// The group.
    pub group: BlockGroup,
    /// Number of erase loops.
    pub loops: u8,
    /// Time that the array worked.
    pub array: Nanos,
    /// Trace of the erase, where a technique asks for traces.
    pub trace: Option<EraseTrace>,
    /// Seconds of rest before the erase.
    pub rest: f64,
    /// Temperature of the rest.
    pub temperature: Celsius,
}

/// The lost sectors of a core, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lost(LostSectors);

impl Firmware {
    /// Creates a core at its first start, with all blocks erased.
    pub fn new(config: Config) -> Firmware {
        Firmware { rooms: setup::build(&config), config, recovery: None, doubtful: Vec::new() }
    }

    /// Recovers the core that ran on this flash with this configuration when power was lost. Every unit that was durable has its last data. Every other
    /// unit has its last data, or an older state since it last was durable.
    pub fn recover(config: Config, flash_reader: &mut dyn FlashReader) -> Firmware {
        Firmware::recover_by(config, flash_reader, Trust::Everything)
    }

    /// Recovers a core as [`Firmware::recover`] does, with the evidence that `trust` accepts.
    pub fn recover_by(config: Config, flash_reader: &mut dyn FlashReader, trust: Trust) -> Firmware {
        let (rooms, recovery, doubtful) = recovery::recover(&config, flash_reader, trust);
        Firmware { config, rooms, recovery: Some(recovery), doubtful }
    }

    /// Adds `technique`, which no plan names, to those that are switched on. It must join before the first request. A late technique gets nothing that a
    /// core is built with: it is asked about secrets only where another technique is a sanitiser, and it can have no key store.
    pub fn join(&mut self, technique: Box<dyn Technique>) {
        let Rooms { core, panel, metadata, .. } = &mut self.rooms;
        assert!(technique.key_store().is_none(), "a key store is for techniques that the core is built with");
        assert!(core.under_way() == 0 && core.requests().is_empty(), "a technique joins before anything is submitted");
        *panel = std::mem::replace(panel, Panel::new(Vec::new(), Ladder::NONE)).with(technique);
        core.watch(setup::watched_by(panel), panel.idle_waits().len());
        if core.services().has() != setup::wanted_by(panel) {
            setup::begin_services(&self.config, core, panel, metadata);
        }
        learn_all_wear(core, panel);
    }

    // What happens.

    /// Begins to load the map entry of `request`, a read that will be submitted soon, and waits for nothing. Other requests need none.
    #[inline]
    pub fn prefetch(&self, request: &Request) {
        if request.op == HostOp::Read {
            self.map().prefetch(request.lpn);
        }
    }

    /// Submits a request of the host.
    pub fn submit(&mut self, now: Nanos, request: Request) -> Deeds {
        let core = &mut self.rooms.core;
        core.set_now(now);
        core.requests_mut().release_by_none();
        let end = request.lpn.checked_add(request.units);
        assert!(end.is_some_and(|end| end <= core.map().exported()), "request beyond the drive's end: the host edge must refuse it");
        self.rooms.submit(request);
        self.deeds()
    }

    /// Reports that an operation has ended. A program or erase ends before any suspend of it that has not been answered yet; its die is ready
    /// ([`Firmware::die_ready`]) by now.
    #[inline]
    pub fn report(&mut self, now: Nanos, report: &Report<'_>) -> Deeds {
        let core = &mut self.rooms.core;
        core.set_now(now);
        core.requests_mut().release_by(report.die, report.spans);
        ended::ended(&mut self.rooms, report);
        self.deeds()
    }

    /// Effects of the present call on the host's data.
    #[inline]
    fn deeds(&mut self) -> Deeds {
        Deeds { invalidated: self.rooms.core.changes_mut().take_invalidated() }
    }

    /// Next try of the read `tag`, whose last try error correction could not mend; `None`: the read fails. The die is kept for the read.
    pub fn next_try(&mut self, now: Nanos, tag: OpTag, failed: &Failed<'_>) -> Option<ReadTry> {
        let Rooms { core, panel, .. } = &mut self.rooms;
        let Pending { purpose, group, offset, .. } = core.pending(tag);
        if matches!(purpose, Purpose::Probe { has_tries: false }) || core.is_failed(core.layout().die(group)) {
            return None;
        }
        panel.next_try(&Ctx { now, ..ctx(core) }, FlashPage::holding(core.layout(), group, offset), failed)
    }

    /// Tells the core that `die` can take an operation.
    #[inline]
    pub fn die_ready(&mut self, die: DieId) {
        self.rooms.core.ready(die);
    }

    /// Answers the order to stop what `die` is doing. If the operation has ended first, [`Firmware::die_ready`] and the report are the only answer. Of several
    /// orders to suspend, each for a harder stop, there is one answer.
    pub fn stopped(&mut self, now: Nanos, die: DieId, how: Stopped) {
        self.rooms.core.set_now(now);
        self.rooms.stopped(die, how);
    }

    /// Asks whether the read that `die` is doing, which error correction could not mend and which would be tried again, gives way to one that waits. If it
    /// does, the die is free, and the core orders the read again under its tag: it goes on with the try that comes next, and no sensing is repeated.
    pub fn yields(&mut self, now: Nanos, die: DieId) -> bool {
        self.rooms.core.set_now(now);
        self.rooms.yields(die)
    }

    /// Tells the core that time has passed.
    pub fn tick(&mut self, now: Nanos) {
        let core = &mut self.rooms.core;
        if now > core.now() {
            // Else what the last report has brought about was due at once.
            core.requests_mut().release_by_none();
        }
        core.set_now(now);
        self.rooms.tick();
    }

    /// Tells the core the temperature of the board's sensor, from now on.
    pub fn warmth(&mut self, now: Nanos, sensor: Celsius) {
        self.rooms.core.services_mut().feel(now, sensor);
    }

    /// Tells the core for how long its drive was away: the seconds at 30 °C between the last birth of data that it has written down and this start, or more. A
    /// core that was not told takes all data for kept at least as long as it knows.
    pub fn away(&mut self, span: Seconds) {
        self.rooms.core.services_mut().get_mut().into_iter().for_each(|services| services.away(span));
    }

    /// Lets `span` seconds at this temperature pass for the data of the core, as where cells age without time passing.
    pub fn let_pass(&mut self, now: Nanos, span: f64, at: Celsius) {
        self.rooms.core.services_mut().get_mut().into_iter().for_each(|services| services.let_pass(now, span, at));
    }

    /// Lets `span` seconds at this temperature pass for which the drive lay without power: all data of the core is older by them than it was.
    pub fn lie(&mut self, span: f64, at: Celsius) {
        self.rooms.core.services_mut().get_mut().into_iter().for_each(|services| services.lie(span, at));
    }

    /// Turns on or off that everything in the write buffer is programmed soon, whether or not a request waits for it.
    pub fn drain(&mut self, on: bool) {
        self.rooms.core.set_flush_all(on);
    }

    /// Begins an orderly shutdown, which ends with a last record in the journal. [`Firmware::is_down`] tells when that record is on flash.
    pub fn go_down(&mut self, now: Nanos) {
        self.rooms.core.set_now(now);
        self.rooms.go_down();
    }

    // What is to be done.

    /// The next flash operation to issue at `now`, if any. [`Firmware::load`] tells by its tag what a program carries. After `None`, the answer stays `None`
    /// until the core is told something.
    #[inline]
    pub fn next_operation(&mut self, now: Nanos) -> Option<Operation> {
        next::next_operation(&mut self.rooms, now)
    }

    /// Contents of the program or copyback `tag` of `die`, valid from its order to its report. A copyback brings no units of its own.
    #[inline]
    pub fn load(&self, die: DieId, tag: OpTag) -> Load<'_> {
        Load::new(&self.rooms, die, tag)
    }

    /// Settings of the erase of `die` that was ordered last, valid until its report; `None`: no erase of the core has settings.
    #[inline]
    pub fn erase_settings(&self, die: DieId) -> Option<&EraseSettings> {
        self.core().groups().erase_settings(die)
    }

    /// The next finished host request. The caller asks until there is none before it tells the core anything else.
    #[inline]
    pub fn acknowledge(&mut self) -> Option<Acknowledgement> {
        self.rooms.core.requests_mut().acknowledge()
    }

    /// The instant at which [`Firmware::tick`] should be called, if nothing else happens before.
    #[inline]
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.rooms.next_deadline()
    }

    /// True if a note for the log is waiting.
    #[inline]
    pub fn has_notes(&self) -> bool {
        self.core().outbox().has_notes()
    }

    /// The next note for the log.
    #[inline]
    pub fn note(&mut self) -> Option<Note> {
        self.rooms.core.outbox_mut().next_note()
    }

    // What it is, and how it stands.

    fn core(&self) -> &Core {
        &self.rooms.core
    }

    /// Configuration of the core.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Address arithmetic of the core.
    pub fn layout(&self) -> &Layout {
        self.core().layout()
    }

    /// Logical-to-physical map of the core.
    pub fn map(&self) -> &Map {
        self.core().map()
    }

    /// Block groups of the core.
    pub fn groups(&self) -> &BlockGroups {
        self.core().groups()
    }

    /// Numbers of the core's dies.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.core().die_ids()
    }

    /// Read-only view of the core's tables at `now`, as techniques get it.
    pub fn view(&self, now: Nanos) -> View<'_> {
        self.core().view().at(now)
    }

    /// Cards of the techniques that are switched on.
    pub fn cards(&self) -> impl Iterator<Item = &'static Card> {
        self.rooms.panel.cards()
    }

    /// Learnt state of the technique `name`, as in an image of a core; `None`: it is not switched on.
    pub fn learnt(&self, name: &str) -> Option<Vec<u32>> {
        self.rooms.panel.image(name)
    }

    /// Units in the write buffer that are not yet on flash.
    pub fn buffered_units(&self) -> u32 {
        self.core().buffer().in_use().count() as u32
    }

    /// Units that the write buffer can still take.
    pub fn buffer_room(&self) -> u32 {
        self.core().buffer().room()
    }

    /// Number of free block groups of `die`.
    pub fn free_groups(&self, die: DieId) -> u32 {
        self.core().die(die).free_count()
    }

    /// Number of spare blocks of `die` in `plane`, for reports.
    pub fn spare_blocks(&self, die: DieId, plane: PlaneId) -> usize {
        self.core().die(die).spare_blocks().of_plane()[usize::from(plane.0)].len()
    }

    /// The spare blocks of `die`.
    pub fn spares_of(&self, die: DieId) -> impl Iterator<Item = (PlaneId, BlockId)> {
        let planes = self.core().die(die).spare_blocks().of_plane().iter().enumerate();
        planes.flat_map(|(plane, spares)| spares.iter().map(move |&block| (PlaneId(plane as u8), BlockId(u32::from(block)))))
    }

    /// True if page `page` of the open `group` has been written, as far as a quiet core can tell.
    pub fn is_written(&self, group: BlockGroup, page: u16) -> bool {
        let layout = self.layout();
        let program = u32::from(page) / layout.pages_per_program;
        let is_ordered = || self.core().die(layout.die(group)).open_at(group).is_some_and(|open| open.has(program, layout));
        !self.groups().is_spared(group, program) && is_ordered()
    }

    /// Number of programmed pages in each plane of `group`, as far as a quiet core can tell; `None` where it cannot, because a program failed. On dies that
    /// program in order, spared pages between programmed ones count.
    pub fn programmed_pages(&self, group: BlockGroup) -> Option<u32> {
        let layout = self.layout();
        let open = match self.groups().use_of(group) {
            Use::Free => return Some(0),
            Use::Closed => None,
            Use::Active => Some(self.core().die(layout.die(group)).open_at(group)?),
            Use::Draining | Use::Drained | Use::Bad | Use::Metadata | Use::Lost => return None,
        };
        let programs = if self.groups().is_plain(group) {
            open.map_or(layout.programs, |open| open.ordered())
        } else {
            let is_ordered = |program| open.is_none_or(|open| open.has(program, layout));
            let mut written = (0..layout.programs).filter(|&program| is_ordered(program) && !self.groups().is_spared(group, program));
            if self.core().settings().any_order { written.count() as u32 } else { written.next_back().map_or(0, |last| last + 1) }
        };
        Some(programs * layout.pages_per_program)
    }

    /// True if no operation is under way and the buffer is empty: the core can be snapshotted.
    pub fn is_quiet(&self) -> bool {
        self.rooms.is_quiet()
    }

    /// True if no operation is under way and none will start by itself. Unlike [`Firmware::is_quiet`], it allows data that has no room to move to.
    pub fn is_at_rest(&self) -> bool {
        self.rooms.is_at_rest()
    }

    /// True if no operation is under way and nothing is waited for but the timers of techniques, which ring for ever.
    pub fn waits_for_timers_only(&self) -> bool {
        self.rooms.waits_for_timers_only()
    }

    /// Work that keeps the core from resting, beside requests of the host; none: an image can be taken.
    pub fn unrest(&self) -> Vec<Unrest> {
        unrest::unrest(&self.rooms)
    }

    /// True if everything is on flash, the record of the shutdown included. Data that a die has no room to move stays where it is.
    pub fn is_down(&self) -> bool {
        let is_left = || self.is_at_rest() && self.core().dies().any(|(_, die)| !die.moved().is_empty());
        (self.is_quiet() || is_left()) && self.rooms.metadata.is_down()
    }

    /// True if the core has stopped taking writes.
    pub fn is_worn_out(&self) -> bool {
        self.core().is_worn_out()
    }

    /// History of this core over all its starts, this one included.
    pub fn history(&self) -> History {
        self.rooms.metadata.history()
    }

    /// Summary of the recovery from a power cut; `None`: this start was not a recovery.
    pub fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// Units whose data a salvage could not prove to be the newest, lowest first; none: the core was not salvaged, or all is proved.
    pub fn doubtful(&self) -> &[Doubtful] {
        &self.doubtful
    }

    /// Number of the newest complete checkpoint.
    pub fn checkpoint(&self) -> Option<u64> {
        self.rooms.metadata.whole_checkpoint()
    }

    /// Number of units that the core refuses to return, because it cannot tell whether its copy is the newest.
    pub fn refused_units(&self) -> u64 {
        self.core().refused().map_or(0, |refused| u64::from(refused.count()))
    }

    /// True if the core refuses to return `lpn`.
    #[inline]
    pub fn is_refused(&self, lpn: u32) -> bool {
        self.core().is_refused(lpn)
    }

    // Dies that have failed.

    /// The dies that have failed.
    pub fn failed_dies(&self) -> impl Iterator<Item = DieId> + '_ {
        self.core().failures().into_iter().flat_map(Failures::dies)
    }

    /// True if `die` has failed: nothing is read or written there any more.
    #[inline]
    pub fn is_die_failed(&self, die: DieId) -> bool {
        self.core().is_failed(die)
    }

    /// Number of units that are lost with failed dies. Each is lost until the host writes or trims it.
    pub fn lost_units(&self) -> u64 {
        self.core().failures().map_or(0, Failures::lost)
    }

    /// Number of units that are lost with `die`.
    pub fn lost_on(&self, die: DieId) -> u32 {
        self.core().failures().map_or(0, |failures| failures.lost_on(die))
    }

    /// Number of times since this start that units have gone from whole to lost.
    pub fn lost_generation(&self) -> u64 {
        self.core().failures().map_or(0, Failures::generation)
    }

    /// True if `lpn` is lost as a whole, because its die has failed. Sectors of it in the write buffer can be read all the same.
    pub fn is_lost(&self, lpn: u32) -> bool {
        self.core().is_lost(self.map().get(lpn))
    }

    /// Lost units of `range` as runs, first unit first: the units of a run lie on one die. It looks at each mapped unit if anything is lost.
    pub fn lost(&self, range: Range<u32>) -> impl Iterator<Item = LostRun> + '_ {
        withheld::lost(self.core(), range)
    }

    /// Reason why the copy of `lpn` on flash is not returned to the host, as far as the core has noticed; `None`: it is returned.
    pub fn withheld(&self, lpn: u32) -> Option<Withheld> {
        withheld::of(self.core(), lpn)
    }

    /// Number of units whose copy on flash is not returned to the host. Where some are refused and others are lost, it looks at each mapped unit.
    pub fn withheld_units(&self) -> u64 {
        withheld::count(self.core())
    }

    /// Share that the exported units are of the units of the block groups in service, each counted whole. Above 1, some have no place.
    pub fn utilisation(&self) -> f64 {
        failures::utilisation(self.core())
    }

    /// Counts of what techniques were asked and of what became of their answers, since the core was made.
    pub fn technique_counts(&self) -> Vec<TechniqueCounts> {
        self.rooms.panel.counts()
    }

    /// Counts of requested rewrites by cause, as of the instant that the core was given last.
    pub fn rewrites(&self) -> Vec<(Cause, RewriteCounts)> {
        rewrites::counts(self.core())
    }

    /// Check map, spare areas, validity marks and counts against each other. `spare` reads a spare area from flash. The error is the first disagreement.
    pub fn audit(&self, spare: impl Fn(UnitAddr) -> Lpn) -> Result<(), String> {
        setup::audit::audit(self.core(), spare)
    }

    // Cores that are used already.

    /// Image of the core as plain data, if it is quiet.
    pub fn image(&self) -> Option<Image> {
        setup::image::image(&self.rooms)
    }

    /// Restores the core that `image` was made of. This core must be new; the image may be anything. An image of no such core is refused with the reason.
    pub fn restore(&mut self, image: Image) -> Result<(), &'static str> {
        setup::image::restore(&mut self.rooms, image)
    }

    /// Lost sectors of the core: those that it could not read when they had to be moved or completed. An image does not have them.
    pub fn lost_sectors(&self) -> Lost {
        Lost(setup::image::lost(self.core()))
    }

    /// Units with lost sectors in a core that stores no bytes, in their order, and one bit for each of those sectors.
    pub fn units_with_lost_sectors(&self) -> impl Iterator<Item = (u32, u64)> {
        self.core().lost().into_iter().flat_map(|lost| lost.all())
    }

    /// Restores the lost sectors of a core that was just restored.
    pub fn restore_lost(&mut self, lost: Lost) -> Result<(), &'static str> {
        setup::image::restore_lost(&mut self.rooms.core, lost.0)
    }

    /// State of the core's services, and work that waits. An image has neither, because not every core has any.
    pub fn beside_image(&self) -> (ServiceTables, WaitTables) {
        (self.core().services().image(self.core().now()), setup::waits::image(&self.rooms))
    }

    /// Restores the services of a core that was just restored.
    pub fn restore_service_tables(&mut self, tables: ServiceTables) -> Result<(), &'static str> {
        let layout = *self.layout();
        self.rooms.core.services_mut().restore(tables, &layout)
    }

    /// Restores the waits of a core that was just restored, and whose time is `now`.
    pub fn restore_waits(&mut self, waits: &WaitTables, now: Nanos) -> Result<(), &'static str> {
        setup::waits::restore(&mut self.rooms, waits, now)
    }

    /// Makes this fresh core look as if its first `units` units had been written once in order. It costs nothing per unit. It returns, for each group that
    /// holds data, how many of its program units are written; the caller gives the flash the same content ([`crate::Layout::regular_lpn`]).
    pub fn construct_filled(&mut self, units: u32) -> Vec<(BlockGroup, u32)> {
        assert!(self.is_quiet(), "only a quiet core can be constructed");
        let Rooms { core, sanitise, .. } = &mut self.rooms;
        setup::construct::fill(core, sanitise, units)
    }

    /// Makes this fresh core look as if its first `units` units had been overwritten one by one, uniformly at random, until the state was steady. `write`
    /// gets each die's program units, group by group in program order, with the group's blocks and the unit's spare area; the caller gives the flash that
    /// content, and the wear of [`Firmware::groups`].
    pub fn construct_steady(&mut self, units: u32, seed: u64, write: impl FnMut(DieId, [u16; 4], &[Lpn])) {
        assert!(self.is_quiet(), "only a quiet core can be constructed");
        let Rooms { core, sanitise, .. } = &mut self.rooms;
        setup::construct::steady(&self.config, core, sanitise, units, seed, write);
    }

    /// True if a technique asks for a past that was set.
    pub fn asks_past(&self) -> bool {
        self.rooms.panel.asks_past()
    }

    /// True if a technique asks for traces of erases.
    pub fn traces_erases(&self) -> bool {
        self.rooms.panel.asks(Ask::EraseTrace)
    }

    /// Tells the techniques the past of a group as ordinary news: its last erase, and that what it holds was written since. They may have pages measured.
    pub fn observe_past(&mut self, now: Nanos, past: &PastErase) {
        self.rooms.core.set_now(now);
        let &PastErase { group, loops, array, trace, rest, temperature } = past;
        let rest = self.rooms.core.services().get().map(|services| services.rest_of(rest, temperature));
        self.rooms.observe_past(EraseReport { group, status: Status::Good, loops, array, trace, rest, has_left: false });
    }

    /// Orders the next erase of `group` to spare `wordlines`, the same in each plane. Those that hold the second copy of marks are left out. More than the
    /// configuration allows are refused, with the reason. An erase that there is no room for, or that is to bring a group for metadata, spares nothing.
    pub fn spare_next(&mut self, group: BlockGroup, wordlines: WordlineSet) -> Result<(), &'static str> {
        self.rooms.core.groups_mut().spare_next(group, wordlines)
    }

    /// True if every technique goes on as it does now while the load does.
    pub fn is_settled(&self) -> bool {
        self.rooms.panel.is_settled()
    }

    /// Counts of what became of the sets that were ordered, since the core was made.
    pub fn spare_counts(&self) -> SpareCounts {
        self.core().groups().guarded().map_or_else(SpareCounts::default, |spared| *spared.room().counts())
    }

    /// Spared wordlines of the core. Its image does not have them.
    pub fn spared_wordlines(&self) -> Spared {
        self.core().groups().spared_image()
    }

    /// Restores the spared wordlines of a new core, before [`Firmware::restore`].
    pub fn restore_spared(&mut self, spared: &Spared) -> Result<(), &'static str> {
        self.rooms.core.groups_mut().restore_spared(spared)
    }

    /// Sets the erase count of `group`.
    pub fn set_erases(&mut self, group: BlockGroup, erases: u32) {
        self.rooms.core.groups_mut().set_erases(group, erases);
    }

    /// Goes on from `now`, at which the image was taken that the core has been restored from. Without that, its time begins anew.
    pub fn go_on_from(&mut self, now: Nanos) {
        self.rooms.core.services_mut().go_on_from(now);
    }

    /// Lets each read of the host from now on stand for `times`: techniques are told of so many.
    pub fn reads_stand_for(&mut self, times: u32) {
        self.rooms.core.set_read_times(times);
    }

    /// Share of each group of `die` in `times` epochs, of the erases that `used` tells, where that is so long that static wear levelling shares the die's
    /// erases out. `used`: `None` for a group that is out of service. `None`: it is not so long, or nobody levels.
    pub fn levelled(&self, die: DieId, times: u32, used: impl Fn(BlockGroup) -> Option<u32>) -> Option<Vec<Share>> {
        let FreeBlockConfig { key, gap } = self.core().settings().free_block;
        let groups = self.layout().groups_of(die).map(|index| BlockGroup(index as u32));
        let (ctx, panel) = (ctx(self.core()), &self.rooms.panel);
        let wear = |group: BlockGroup| {
            let (erases, wear) = (self.groups().erases(group), self.groups().likely_wear(group));
            key.levelled_wear(&GroupWear { erases, wear, ahead: panel.wear_after(&ctx, group, AHEAD) })
        };
        let groups: Vec<Before> = groups.map(|group| Before::new(wear(group), used(group))).collect();
        levelled::shares(&groups, gap?, times)
    }

    /// Skips `times` epochs of `span`: erase counts grow, techniques are told, and all else stays. The clock is the caller's. `skipped` has all groups.
    ///
    /// # Panics
    /// If the core is not quiet, or if it keeps a journal, whose records name the erase counts of groups.
    pub fn leap(&mut self, times: u32, skipped: &[Skipped], span: Nanos) {
        assert!(self.is_quiet(), "only a quiet core can skip cycles");
        setup::leap::leap(&mut self.rooms, times, skipped, span);
    }

    // For whoever keeps the bytes.

    /// Location of the newest bytes of `lpn`.
    pub fn newest(&self, lpn: u32) -> Newest {
        self.core().newest(lpn)
    }

    /// Content of buffer slot `slot`.
    pub fn held_in(&self, slot: u32) -> Held {
        self.core().buffer().content(slot)
    }

    /// Buffer slots that hold something.
    pub fn slots_in_use(&self) -> impl Iterator<Item = u32> + '_ {
        self.core().buffer().in_use()
    }

    /// Units of which some sectors are in the write buffer, each at least once.
    pub fn units_in_buffer(&self) -> impl Iterator<Item = u32> + '_ {
        self.core().buffer().in_use().map(|slot| self.core().buffer().unit_in(slot))
    }

    /// Version for a copy of `lpn` that marks its bytes as lost: newer than what was there, older than anything of it in the buffer.
    pub fn version_of_lost(&mut self, lpn: u32) -> u64 {
        self.rooms.core.buffer_mut().version_of_lost(lpn)
    }

    /// The next data step, oldest first. The caller asks after every call that tells the core something, before [`Firmware::next_operation`].
    #[inline]
    pub fn next_data_step(&mut self) -> Option<DataStep> {
        self.rooms.core.outbox_mut().next_step()
    }

    /// The next fact that capacitors are to keep: its index, below [`crate::FACTS`], and its bytes, at most [`crate::fact_bytes`] of them.
    pub fn take_kept_fact(&mut self) -> Option<(u32, Vec<u8>)> {
        self.rooms.core.outbox_mut().next_fact()
    }

    /// Records the marks of the program or copyback just ordered on `die`. A drive that keeps bytes calls it before the operation is reported.
    pub fn note_marks(&mut self, die: DieId, marks: &[Mark]) {
        self.rooms.metadata.note_marks(die, marks);
    }

    /// Bytes of part `unit` of the program of metadata that has just been ordered. A core has one program of each `kind` under way at most.
    pub fn metadata_bytes(&self, kind: MetadataKind, unit: u32) -> &[u8] {
        load::metadata_bytes(&self.rooms, kind, unit)
    }

    /// Epoch in which the program just ordered at `group` is encrypted.
    pub fn key_epoch(&self, group: BlockGroup) -> Option<u32> {
        self.rooms.sanitise.keys().map(|keys| keys.epoch(self.core(), group))
    }

    /// Key of the unit at `offset` of the block group that stands on `block` of the first plane.
    pub fn key_of(&self, die: DieId, block: u16, offset: u32, epoch: u32) -> Option<Key> {
        let forest = self.rooms.sanitise.keys()?.forest();
        Some(forest.key(forest.stand(die, block), epoch, offset))
    }

    /// Leaves of each tree of the key store.
    pub fn key_leaves(&self) -> Option<u32> {
        self.rooms.sanitise.keys().map(|keys| keys.forest().leaves())
    }
}
