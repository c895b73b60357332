//! The scan of recovery: what a core reads from its flash after a power cut, and what that says.
//!
//! The core asks a [`FlashReader`] for the record of every block and reads the first program unit of each stand until a page tells what the stand holds:
//! data, the journal, a checkpoint or keys. Journal and checkpoints are read whole. Of the other stands the marks are read, except of those that the newest
//! checkpoint knows: they were closed or free when it was begun and have not been erased since. For each unit the findings say where its newest copies lie.
//! `recovery/mod.rs` rebuilds the rooms from them.
//!
//! A place that a checkpoint gives comes without its version; it is not above the checkpoint's number. A copy with a higher version is newer, and for the few
//! others that are found beside it the mark is read after all.

pub(super) mod by_log;
pub(super) mod lost;

pub(crate) use lost::Evidence;

use std::collections::{BTreeMap, BTreeSet};

use wordline_flash::Mark;
use wordline_units::{BlockId, DieId, Id, PlaneId};

use crate::config::{Config, Protection};
use crate::dispatch::Rooms;
use crate::pages::checkpoint::{CheckpointPage, KnownGroup, KnownState, Said};
use crate::pages::journal::{Facts, Page, Record};
use crate::pages::oob::{Filling, MarkCopy, OobPage, ProgramMarks};
use crate::recovery::flash_reader::{FlashReader, Found, Held, PagePlace, Reader};
use crate::recovery::keys::KeysFound;
use crate::recovery::log_found::{LogFound, LogPages};
use crate::recovery::physical_blocks::{Look, PhysicalBlocks, Until};
use crate::recovery::seen::{SealedMarks, Unread};
use crate::recovery::{JournalFound, Recovery, Trust, find_journal};
use crate::state::data::{CHECKPOINT, JOURNAL, KEYS, OOB};
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::techniques::hooks::Hook;

/// A copy of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) version: u64,
    /// Index of the copy's stand in [`RecoveryScan::stands`].
    pub(crate) stand: u32,
    pub(crate) offset: u32,
}

impl Copied {
    pub(crate) const NONE: Copied = Copied { version: 0, stand: u32::MAX, offset: 0 };
}

/// Data that must not stay readable once it is stale.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretsFound {
    /// Secret copies, stale ones included: unit, stand, offset.
    pub(crate) known: Vec<(u32, u32, u32)>,
    /// Torn pages of unknown content: stand, offset of the first unit.
    pub(crate) torn: Vec<(u32, u32)>,
}

/// All findings on the flash of a core, from which recovery rebuilds its rooms.
#[derive(Clone, Debug)]
pub(crate) struct RecoveryScan {
    pub(crate) stands: Vec<PhysicalBlocks>,
    /// Stand that each group had when the core was new; `None`: the group was out of service from the start.
    pub(crate) homes: Vec<Option<usize>>,
    /// The spare stands of each die, in the order in which they are used up.
    pub(crate) spares: Vec<Vec<usize>>,
    /// Newest copy of each logical unit; [`Copied::NONE`]: none was found.
    pub(crate) best: Vec<Copied>,
    /// Newest copy of each logical unit that can be read, for a salvage.
    pub(crate) readable: Option<Vec<Copied>>,
    /// Further copies of units, each of the version that was its unit's newest when the copy was found.
    pub(crate) twins: Vec<(u32, Copied)>,
    /// Highest version found: in marks, records, checkpoints or the write buffer.
    pub(crate) version: u64,
    /// Summary of the recovery, with counts of what was read.
    pub(crate) tally: Recovery,
    /// Units whose entry in `best` is the checkpoint's, with the checkpoint's number for a version; one bit each.
    assumed: Vec<u64>,
    /// Copies that the checkpoint places in stands that are not settled: unit, stand, offset.
    unsettled: Vec<(u32, u32, u32)>,
    /// Copies of `assumed` units that may be older or newer than the checkpoint's copy. [`Copied::NONE`]: no other copy, but the version has to be read.
    doubtful: Vec<(u32, Copied)>,
    /// Secret data, in a core with a technique that sanitises.
    pub(crate) secret: Option<SecretsFound>,
    /// Key store as it was found, in a core that has one.
    pub(crate) keys: Option<KeysFound>,
    /// Newest content of each unit that capacitors have kept of the write buffer, with its slot.
    pub(crate) held: BTreeMap<u32, (u32, Held)>,
    /// Trims that capacitors have kept, each with its place there.
    pub(crate) kept_trims: Vec<(u32, Record)>,
    /// Place in the capacitors of each program unit whose marks they have kept.
    pub(crate) kept_places: BTreeMap<(Filling, u32), u32>,
    /// Marks that capacitors have kept, each with the serial number that the map log had come to, in a core with such a log.
    pub(crate) kept_marks: Vec<(u64, ProgramMarks)>,
    /// Youngest generation of the journal whose snapshot is whole, or the youngest if none is; `None`: no page of the journal was found.
    pub(crate) journal: Option<JournalFound>,
    /// Generations of the journal that count: that one and, where its snapshot was cut short before its marks were programmed, earlier ones down to the first
    /// whose marks were.
    pub(crate) in_force: Vec<u64>,
    /// Generations of the journal between or before these that were cut short while they were begun. As long as they are there, none is missing.
    pub(crate) never_held: Vec<u64>,
    /// The map log, in a core that has one.
    pub(crate) log: Option<LogFound>,
    /// Pages of the map log that were found, as long as they are read.
    log_pages: Option<LogPages>,
    /// Second copies of marks, from the journal and from capacitors.
    pub(crate) sealed: SealedMarks,
    /// True if a copy in a settled stand is needed that the checkpoint does not tell of.
    pub(crate) is_overtaken: bool,
    /// True if marks are written twice.
    has_copies: bool,
    /// Copies in pages that cannot be read, by stand and offset.
    lost: BTreeSet<(u32, u32)>,
    /// Copies in whole pages that were given up, by stand and offset.
    given_up: BTreeSet<(u32, u32)>,
    /// True if a page of a program that had ended cannot be read, and no second copy of its marks was found. The checkpoint may have known the page, and does
    /// not tell of copies before it.
    is_rotten: bool,
    /// True if there is a checkpoint that could not be relied upon.
    pub(crate) is_distrusted: bool,
    /// True if the dies program the units of a group in order, so that only the last one can have been cut short.
    is_in_order: bool,
    /// Greatest number of wordlines that an erase has spared: they are erased whatever lies behind them.
    spared_max: u32,
    /// True if an unreadable page of unknown content may be needed, or a record of a trim may be missing: then all units are refused.
    pub(crate) is_unknown: bool,
}

impl RecoveryScan {
    /// Read the flash of a core. `fresh`: a new core with the same configuration, on whose stands the lost core wrote. `trust`: the evidence that is relied
    /// on.
    ///
    /// What a page says of a unit counts unless the second copy of its marks, which may be found later, says that the unit was given up: then all is read
    /// once more.
    pub(crate) fn gather(config: &Config, fresh: &Rooms, flash_reader: &mut dyn FlashReader, trust: Trust) -> RecoveryScan {
        let mut given_up = BTreeSet::new();
        let mut before = Recovery::default();
        loop {
            let mut scan = RecoveryScan::gather_but(config, fresh, flash_reader, trust, &given_up);
            let known = given_up.len();
            if fresh.panel.has(Hook::Distrusts) {
                given_up.extend(lost::given_up(&scan, fresh.core.layout()));
            }
            if given_up.len() == known {
                scan.tally.groups += before.groups;
                scan.tally.pages += before.pages;
                return scan;
            }
            before.groups += scan.tally.groups;
            before.pages += scan.tally.pages;
        }
    }

    /// Read the flash of a core as if nothing were said of the units `given_up`, by stand and offset.
    fn gather_but(
        config: &Config,
        fresh: &Rooms,
        flash_reader: &mut dyn FlashReader,
        trust: Trust,
        given_up: &BTreeSet<(u32, u32)>,
    ) -> RecoveryScan {
        let mut scan = RecoveryScan { given_up: given_up.clone(), ..RecoveryScan::stands(config, fresh) };
        scan.readable = (trust == Trust::Salvage).then(|| scan.best.clone());
        let mut reader = Reader { layout: *fresh.core.layout(), flash_reader, marks: Vec::new(), bytes: Vec::new() };
        let all = 0..scan.stands.len();
        if scan.log_pages.is_some() {
            return by_log::gather(scan, config, fresh, &mut reader, trust);
        }
        scan.keys = fresh.sanitise.keys().map(|keys| KeysFound::gather(keys, &scan.stands, &mut reader));
        all.clone().for_each(|stand| scan.read_records(stand, &mut reader));
        if trust == Trust::Everything {
            all.clone().for_each(|stand| scan.look_at_first(stand, &mut reader));
            scan.apply_checkpoint(fresh.core.layout());
        }
        // On such dies what is erased may lie before what is not.
        let until = if config.sheet.capabilities.any_order { Until::TheEnd } else { Until::Erased };
        for stand in all {
            match scan.stands[stand].look {
                Look::Done => {}
                _ if trust.reads_all() => scan.look_at(stand, &mut reader, Until::TheEnd),
                Look::Data | Look::Unclear => scan.look_at(stand, &mut reader, until),
                Look::Blank => scan.look_behind(stand, &mut reader),
            }
        }
        if trust.reads_all() {
            scan.stands.iter_mut().for_each(|stand| stand.checkpoints.clear());
        }
        lost::look_at_kept(&mut scan, config, &mut reader);
        scan.journal = find_journal(&scan);
        lost::look_at_marks(&mut scan);
        let marks_lost = lost::check_journal(&mut scan, fresh.core.layout());
        (0..scan.stands.len()).for_each(|stand| lost::find_lost(&mut scan, stand, marks_lost, fresh.core.layout()));
        scan.is_rotten |= lost::lacks_unsettled(&scan, fresh.core.layout());
        if scan.is_rotten && scan.tally.checkpoint.is_some() {
            return RecoveryScan { is_distrusted: true, ..RecoveryScan::gather_but(config, fresh, flash_reader, Trust::Marks, given_up) };
        }
        lost::doubt_refused(&mut scan);
        if config.buffer.protection == Protection::Capacitor {
            scan.look_at_buffer(config.buffer.units, &mut reader);
        }
        scan.resolve(&mut reader);
        scan.look_for_room(&mut reader);
        scan
    }

    fn stands(config: &Config, fresh: &Rooms) -> RecoveryScan {
        let layout = fresh.core.layout();
        let exported = fresh.core.map().exported() as usize;
        let mut scan = RecoveryScan {
            stands: Vec::new(),
            homes: Vec::with_capacity(layout.group_count()),
            spares: Vec::new(),
            best: vec![Copied::NONE; exported],
            readable: None,
            twins: Vec::new(),
            version: 0,
            tally: Recovery::default(),
            assumed: vec![0; exported.div_ceil(64)],
            unsettled: Vec::new(),
            doubtful: Vec::new(),
            secret: fresh.sanitise.is_on().then(SecretsFound::default),
            keys: None,
            held: BTreeMap::new(),
            kept_trims: Vec::new(),
            kept_places: BTreeMap::new(),
            kept_marks: Vec::new(),
            journal: None,
            in_force: Vec::new(),
            never_held: Vec::new(),
            log: None,
            log_pages: config.has_twins().then(LogPages::default),
            sealed: SealedMarks::default(),
            is_overtaken: false,
            has_copies: config.copies_oob(),
            lost: BTreeSet::new(),
            given_up: BTreeSet::new(),
            is_rotten: false,
            is_distrusted: false,
            is_in_order: !config.sheet.capabilities.any_order,
            spared_max: config.most_spared(),
            is_unknown: false,
        };
        for group in (0..layout.group_count() as u32).map(BlockGroup) {
            let usable = fresh.core.groups().use_of(group) != Use::Bad;
            scan.homes.push(usable.then_some(scan.stands.len()));
            if usable {
                scan.stands.push(PhysicalBlocks::new(layout.die(group), fresh.core.groups().blocks(group)));
            }
        }
        for (die, state) in fresh.core.dies() {
            let planes = &state.spare_blocks().of_plane()[..layout.planes as usize];
            let count = planes.iter().map(Vec::len).min().unwrap_or(0);
            let first = scan.stands.len();
            for turn in 0..count {
                let mut blocks = [0; 4];
                for (block, spares) in blocks.iter_mut().zip(planes) {
                    *block = spares[spares.len() - 1 - turn];
                }
                scan.stands.push(PhysicalBlocks::new(die, blocks));
            }
            scan.spares.push((first..first + count).collect());
        }
        scan
    }

    fn read_records(&mut self, number: usize, reader: &mut Reader<'_>) {
        let stand = &mut self.stands[number];
        for plane in (0..reader.layout.planes as u8).map(PlaneId) {
            let record = reader.flash_reader.block(stand.die, plane, BlockId(u32::from(stand.blocks[usize::from(plane.0)])));
            stand.broken |= !record.healthy;
            stand.is_torn |= record.is_torn;
            stand.erases = stand.erases.max(record.erases);
        }
    }

    /// Number of program units in a row that must be erased for the rest of stand `number` to be blank, where programs go in order. Of one more wordline than
    /// an erase may spare, one takes data; and blocks that were never erased have none spared.
    fn erased_run(&self, number: usize, layout: &Layout) -> u32 {
        if self.spared_max == 0 || self.stands[number].erases == 0 { 1 } else { (self.spared_max + 1) * layout.programs_per_wordline() }
    }

    /// Number of program units at the beginning of stand `number` of which one is not erased, unless nothing was programmed in the stand.
    fn first_programs(&self, number: usize, layout: &Layout) -> u32 {
        let run = self.erased_run(number, layout);
        // Where wordlines go in any order, the spared one may be the first that would have been programmed, and any other has been instead.
        if run > 1 && !self.is_in_order { layout.programs } else { run.min(layout.programs) }
    }

    /// Read pages of the first program units until one is whole, which tells what the stand holds. Stands of the journal and of checkpoints are read to their
    /// first erased program unit: nothing of them is ever spared.
    fn look_at_first(&mut self, number: usize, reader: &mut Reader<'_>) {
        let (mut is_blank, mut has_answered) = (true, false);
        for program in 0..self.first_programs(number, &reader.layout) {
            for place in reader.places(self.stands[number].die, self.stands[number].blocks, program) {
                match reader.page(place, &mut self.tally) {
                    Found::Erased => has_answered = true,
                    Found::Gone => (is_blank, has_answered) = (false, true),
                    Found::Torn | Found::Unreadable => is_blank = false,
                    Found::Whole if matches!(reader.marks[0].lpn, JOURNAL | CHECKPOINT) => {
                        return self.look_at(number, reader, Until::Erased);
                    }
                    Found::Whole => {
                        (self.stands[number].touched, self.stands[number].look) = (true, Look::Data);
                        return;
                    }
                }
            }
            if !is_blank {
                break;
            }
        }
        self.stands[number].touched |= !is_blank;
        self.stands[number].is_dark = !is_blank && !has_answered;
        self.stands[number].look = if is_blank { Look::Blank } else { Look::Unclear };
    }

    /// Deal with a stand whose first program units are erased, as many as it takes. Programs go in order, so nothing was programmed behind them; but an erase
    /// that was cut short may have left anything there.
    fn look_behind(&mut self, number: usize, reader: &mut Reader<'_>) {
        if self.stands[number].erases == 0 {
            return;
        }
        if self.tally.checkpoint.is_some() {
            // It was erased since the checkpoint, and is erased again before it is used: that is cheaper than to read all of it.
            self.stands[number].touched = true;
        } else {
            self.look_at(number, reader, Until::TheEnd);
        }
    }

    fn look_at(&mut self, number: usize, reader: &mut Reader<'_>, until: Until) {
        self.stands[number].look = Look::Done;
        self.tally.groups += 1;
        let (last_run, mut run, [mut is_behind, mut has_answered]) = (self.erased_run(number, &reader.layout), 0, [false; 2]);
        for program in 0..reader.layout.programs {
            let (mut erased, mut whole, mut gone) = (0, 0, 0);
            let places = reader.places(self.stands[number].die, self.stands[number].blocks, program);
            let pages = places.len() as u32;
            for place in places {
                let found = reader.page(place, &mut self.tally);
                self.stands[number].touched |= found != Found::Erased;
                if is_behind && matches!(found, Found::Torn | Found::Unreadable) {
                    // Programs go in order, so it was never programmed since its erase: the block is erased again before it is used.
                    self.tally.strays += 1;
                    self.stands[number].seen.note_stray();
                    erased += 1;
                    continue;
                }
                match found {
                    Found::Erased => erased += 1,
                    Found::Whole => whole += 1,
                    Found::Gone => gone += 1,
                    Found::Torn | Found::Unreadable => {}
                }
                match found {
                    Found::Whole => self.read_page(number, place, reader),
                    Found::Torn | Found::Unreadable | Found::Gone => {
                        let unread = Unread { first: first_unit(place, &reader.layout), is_gone: found == Found::Gone };
                        self.stands[number].seen.unread.push(unread);
                    }
                    Found::Erased => {}
                }
            }
            has_answered |= erased + whole + gone > 0;
            self.stands[number].seen.note_program(program, (erased, whole, gone, pages), &reader.layout);
            run = if erased == pages { run + 1 } else { 0 };
            // Where there are secrets, an erase that was cut short may have left some.
            is_behind |= run == last_run && self.is_in_order && self.secret.is_none();
            if run == last_run && until == Until::Erased {
                break;
            }
        }
        self.stands[number].is_dark = !has_answered;
        self.stands[number].seen.end(&reader.layout);
    }

    pub(crate) fn filling(&self, number: usize) -> Filling {
        let PhysicalBlocks { die, blocks, erases, .. } = self.stands[number];
        Filling { die: die.0, blocks, erases }
    }

    fn read_page(&mut self, number: usize, place: PagePlace, reader: &mut Reader<'_>) {
        let layout = &reader.layout;
        assert_eq!(reader.marks.len(), layout.units_per_page as usize, "a whole page has a mark for each of its units");
        match reader.marks[0].lpn {
            JOURNAL => {
                reader.flash_reader.bytes(place, &mut reader.bytes);
                self.read_journal(number, first_unit(place, &reader.layout) / reader.layout.units_per_program, &reader.bytes);
            }
            CHECKPOINT => {
                reader.flash_reader.bytes(place, &mut reader.bytes);
                self.stands[number].holds_checkpoints = true;
                if let Some(page) = CheckpointPage::read(&reader.bytes) {
                    self.version = self.version.max(page.number);
                    self.stands[number].checkpoints.push(page);
                }
            }
            KEYS => {}
            OOB => {
                reader.flash_reader.bytes(place, &mut reader.bytes);
                let page = OobPage::read(&reader.bytes).filter(|page| page.filling == self.filling(number));
                let program = first_unit(place, layout) / layout.units_per_program;
                page.into_iter().for_each(|page| self.stands[number].seen.note_summary(program, page));
            }
            _ => {
                if let Some(keys) = &mut self.keys {
                    keys.see(number, reader.flash_reader.key_epoch(place));
                }
                let first = first_unit(place, layout);
                if self.has_copies {
                    let given_up = &self.given_up;
                    let marks = (first..).zip(&reader.marks).map(|(offset, mark)| {
                        let is_given_up = !given_up.is_empty() && given_up.contains(&(number as u32, offset));
                        if is_given_up { MarkCopy::NOTHING } else { MarkCopy::of(mark) }
                    });
                    self.stands[number].seen.note_marks(first, marks, layout);
                }
                self.read_marks(number, first, &reader.marks);
            }
        }
    }

    fn read_journal(&mut self, number: usize, program: u32, bytes: &[u8]) {
        if self.log.is_some() || self.log_pages.is_some() {
            return by_log::read(self, number, bytes);
        }
        let Some(page) = Page::read(bytes) else {
            return;
        };
        self.note_version(&page.facts);
        self.stands[number].journal.push(page);
        self.stands[number].journal_programs.push(program);
    }

    /// Note the highest version in `facts`.
    fn note_version(&mut self, facts: &Facts) {
        let newest = match facts {
            Facts::Records(records) => records.iter().map(|record| record.version).max().unwrap_or(0),
            Facts::Unmapped { version, .. } | Facts::Refused { version, .. } => *version,
            Facts::History(history) => history.version,
            Facts::Memos(_) | Facts::Marks(_) => 0,
        };
        self.version = self.version.max(newest);
    }

    fn read_marks(&mut self, number: usize, first: u32, marks: &[Mark]) {
        let RecoveryScan { stands, best, assumed, doubtful, twins, version, secret, keys, lost, given_up, log, readable, .. } = self;
        for (offset, mark) in (first..).zip(marks) {
            let lpn = mark.lpn.0;
            let Some(best) = best.get_mut(lpn as usize) else {
                continue;
            };
            *version = (*version).max(mark.version);
            if keys.as_ref().is_some_and(|keys| !keys.has(number, &stands[number], offset)) {
                // Nobody can read it: that is as if it were torn.
                continue;
            }
            if let Some(secret) = secret.as_mut().filter(|_| !mark.insecure) {
                secret.known.push((lpn, number as u32, offset));
            }
            let stand = &mut stands[number];
            stand.order = (true, stand.order.1.max(mark.version));
            if !given_up.is_empty() && given_up.contains(&(number as u32, offset)) {
                continue;
            }
            let copy = Copied { version: mark.version, stand: number as u32, offset };
            for readable in readable.iter_mut().map(|all| &mut all[lpn as usize]).filter(|readable| readable.version < copy.version) {
                *readable = copy;
            }
            if log.is_some() {
                let is_best_lost = lost.contains(&(best.stand, best.offset));
                by_log::weigh(lpn, copy, best, assumed, is_best_lost, &mut by_log::Others { doubtful, twins });
            } else if is_set(assumed, lpn) && mark.version <= best.version {
                doubtful.push((lpn, copy));
            } else if mark.version > best.version {
                assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
                *best = copy;
            } else if mark.version == best.version {
                if lost.contains(&(best.stand, best.offset)) {
                    *best = copy;
                } else {
                    twins.push((lpn, copy));
                }
            }
        }
    }

    /// Apply the newest whole checkpoint: stands that it knows and that were not erased since are settled, and its addresses are taken.
    fn apply_checkpoint(&mut self, layout: &Layout) {
        if let Some((number, pages)) = self.newest_checkpoint() {
            self.apply_pages(number, &pages, layout);
        }
    }

    /// Apply the `pages` of checkpoint `number`.
    fn apply_pages(&mut self, number: u64, pages: &[CheckpointPage], layout: &Layout) {
        (self.tally.checkpoint, self.version) = (Some(number), self.version.max(number));
        let (settles, is_log) = (self.secret.is_none(), self.log.is_some());
        let stands: BTreeMap<(DieId, [u16; 4]), usize> =
            self.stands.iter().enumerate().map(|(number, stand)| ((stand.die, stand.blocks), number)).collect();
        // Of each group, the stand that it stood on, if that was not erased since.
        let mut stood = vec![None; layout.group_count()];
        for page in pages {
            let Said::Groups { first, groups } = &page.said else { continue };
            for (group, known) in (*first..).map(BlockGroup).zip(groups) {
                let Some(KnownGroup { blocks, erases, state }) = *known else { continue };
                let Some(&number) = stands.get(&(layout.die(group), blocks)) else { continue };
                let stand = &mut self.stands[number];
                if stand.erases != erases || (stand.broken && !is_log) {
                    continue;
                }
                stood[group.index()] = Some(number as u32);
                match (state, stand.look) {
                    _ if !settles || stand.broken => {}
                    // Even if its first page cannot be read, unless an erase was begun since.
                    (KnownState::Closed { age }, Look::Data | Look::Unclear)
                        if stand.look == Look::Data || (self.has_copies && !stand.is_torn) =>
                    {
                        (stand.look, stand.order) = (Look::Done, (false, u64::from(u32::MAX - age)));
                        stand.is_settled = true;
                        self.tally.settled += 1;
                    }
                    (KnownState::Free, Look::Blank) => stand.look = Look::Done,
                    _ => {}
                }
            }
        }
        for page in pages {
            let Said::Places { first, places } = &page.said else { continue };
            for (lpn, &addr) in (*first..).zip(places).filter(|&(_, addr)| *addr != UnitAddr::NONE) {
                let (stand, offset): (Option<u32>, u32) = (stood[layout.group(addr).index()], layout.offset(addr));
                match stand {
                    Some(stand) if is_log || self.stands[stand as usize].is_settled => {
                        if is_log {
                            self.unsettled.push((lpn, stand, offset));
                        }
                        self.best[lpn as usize] = Copied { version: number, stand, offset };
                        self.assumed[lpn as usize / 64] |= 1 << (lpn % 64);
                    }
                    Some(stand) => self.unsettled.push((lpn, stand, offset)),
                    None => {}
                }
            }
        }
    }

    /// Number and pages of the newest checkpoint of which no page is missing. Of the pages in the stands one is left in each stand that holds a part of it.
    fn newest_checkpoint(&mut self) -> Option<(u64, Vec<CheckpointPage>)> {
        // How many pages each has, and how many it should have.
        let mut seen: BTreeMap<u64, (u32, Option<u32>)> = BTreeMap::new();
        for page in self.stands.iter().flat_map(|stand| &stand.checkpoints) {
            let (count, total) = seen.entry(page.number).or_default();
            *count += 1;
            if page.said == Said::End {
                *total = Some(page.index + 1);
            }
        }
        let newest = seen.iter().rev().find(|(_, (count, total))| Some(*count) == *total).map(|(&number, _)| number);
        let mut pages = Vec::new();
        for stand in &mut self.stands {
            let (its, others): (Vec<_>, Vec<_>) =
                std::mem::take(&mut stand.checkpoints).into_iter().partition(|page| Some(page.number) == newest);
            // What is left says that the stand is needed, and no more.
            stand.checkpoints = its.first().map(|page| CheckpointPage { said: Said::End, ..page.clone() }).into_iter().collect();
            drop(others);
            pages.extend(its);
        }
        newest.map(|number| (number, pages))
    }

    /// Unit and version of `copy`, whose page cannot be read, by the second copy of its mark. If need be, the summary of its stand is read for it.
    fn second_mark_of(&mut self, copy: Copied, reader: &mut Reader<'_>) -> Option<(u32, u64)> {
        let number = copy.stand as usize;
        if !self.has_copies {
            return None;
        }
        let known = |scan: &RecoveryScan, layout: &Layout| {
            lost::second_mark(scan, number, copy.offset, layout).map(|mark| (mark.lpn, mark.version))
        };
        if let Some(mark) = known(self, &reader.layout) {
            return Some(mark);
        }
        // A summary is the last thing in its group.
        for program in (0..reader.layout.programs).rev() {
            let mut has_data = false;
            for place in reader.places(self.stands[number].die, self.stands[number].blocks, program) {
                if reader.page(place, &mut self.tally) == Found::Whole {
                    has_data |= reader.marks[0].lpn != OOB;
                    if reader.marks[0].lpn == OOB {
                        self.read_page(number, place, reader);
                    }
                }
            }
            if has_data {
                break;
            }
        }
        known(self, &reader.layout)
    }

    /// True for each stand that holds a secret copy.
    pub(crate) fn holds_secrets(&self) -> Vec<bool> {
        let mut holds = vec![false; self.stands.len()];
        self.secret.iter().flat_map(|secret| &secret.known).for_each(|&(_, stand, _)| holds[stand as usize] = true);
        holds
    }

    /// True for each stand that holds the newest copy of a unit.
    pub(crate) fn live(&self) -> Vec<bool> {
        let mut is_live = vec![false; self.stands.len()];
        self.best.iter().filter(|copy| **copy != Copied::NONE).for_each(|copy| is_live[copy.stand as usize] = true);
        is_live
    }

    /// Read the settled stands of dies that may have no free stand, so that twins can be found. A die that lost power while it moved data into its last free
    /// group has no room now, unless all that was moved still lies where it came from, too; and the checkpoint does not tell of copies that were overtaken.
    fn look_for_room(&mut self, reader: &mut Reader<'_>) {
        let mut rooms = vec![0u32; self.spares.len()];
        for (stand, _) in self.stands.iter().zip(self.live()).filter(|(_, is_live)| !is_live) {
            rooms[stand.die.index()] += u32::from(!stand.broken && stand.journal.is_empty() && stand.checkpoints.is_empty());
        }
        // The journal takes a group of the die that has most.
        let most = (0..rooms.len()).max_by_key(|&die| rooms[die]).filter(|&die| rooms[die] < 2);
        for die in (0..rooms.len()).filter(|&die| rooms[die] == 0 || most == Some(die)) {
            for number in 0..self.stands.len() {
                let is_settled = self.stands[number].look == Look::Done && !self.stands[number].order.0;
                if is_settled && self.stands[number].die.index() == die {
                    self.look_at(number, reader, Until::TheEnd);
                    lost::find_lost(self, number, false, &reader.layout);
                }
            }
        }
        self.resolve(reader);
    }

    /// Take in the newest content of each unit that capacitors have kept of the write buffer. The version that flash has of such a unit must be read.
    fn look_at_buffer(&mut self, slots: u32, reader: &mut Reader<'_>) {
        for slot in 0..slots {
            let Some(held) = reader.flash_reader.held(slot).filter(|held| (held.lpn.0 as usize) < self.best.len()) else {
                continue;
            };
            self.version = self.version.max(held.version);
            if self.held.get(&held.lpn.0).is_none_or(|&(_, other)| other.version < held.version) {
                self.held.insert(held.lpn.0, (slot, held));
                self.doubtful.push((held.lpn.0, Copied::NONE));
            }
        }
    }

    /// Resolve doubts: read the mark of the checkpoint's copy of each doubtful unit, and take the newest of its copies.
    fn resolve(&mut self, reader: &mut Reader<'_>) {
        let mut doubtful = std::mem::take(&mut self.doubtful);
        doubtful.retain(|&(lpn, _)| is_set(&self.assumed, lpn));
        doubtful.sort_by_key(|&(lpn, _)| (self.best[lpn as usize].stand, self.best[lpn as usize].offset));
        for &(lpn, _) in &doubtful {
            if !is_set(&self.assumed, lpn) {
                continue;
            }
            self.assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
            self.tally.doubts += 1;
            let best = self.best[lpn as usize];
            let PhysicalBlocks { die, blocks, .. } = self.stands[best.stand as usize];
            let mark = reader.mark((die, blocks), best.offset, &mut self.tally).map(|mark| (mark.lpn.0, mark.version));
            let is_read = mark.is_some();
            let mark = mark.or_else(|| self.second_mark_of(best, reader));
            let best = &mut self.best[lpn as usize];
            match mark {
                Some((marked, version)) if marked == lpn => best.version = version,
                // Nobody knows if it is the newest: neither it is handed out nor an older one. The log may say nothing of a page that no start could read.
                _ if !is_read && (mark.is_none() || self.log.is_some()) && self.has_copies => {}
                Some(_) | None => *best = Copied::NONE,
            }
            if !is_read && *best != Copied::NONE {
                self.lost.insert((best.stand, best.offset));
            }
        }
        for (lpn, copy) in doubtful.into_iter().filter(|&(_, copy)| copy != Copied::NONE) {
            let best = &mut self.best[lpn as usize];
            let [is_lost, is_best_lost] = [copy, *best].map(|copy| self.lost.contains(&(copy.stand, copy.offset)));
            match copy.version.cmp(&best.version) {
                std::cmp::Ordering::Greater => *best = copy,
                std::cmp::Ordering::Equal if is_best_lost => {
                    *best = copy;
                    self.is_overtaken |= self.stands[copy.stand as usize].is_settled;
                }
                std::cmp::Ordering::Equal if !is_lost => self.twins.push((lpn, copy)),
                std::cmp::Ordering::Equal | std::cmp::Ordering::Less => {}
            }
        }
    }
}

/// The offset of the first unit of the page at `place`.
fn first_unit(place: PagePlace, layout: &Layout) -> u32 {
    (u32::from(place.page.0) * layout.planes + u32::from(place.plane.0)) * layout.units_per_page
}

fn is_set(bits: &[u64], lpn: u32) -> bool {
    bits[lpn as usize / 64] >> (lpn % 64) & 1 == 1
}
