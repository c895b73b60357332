//! What a core finds on its flash when it wakes up after a power cut.
//!
//! The core asks a [`Survey`] for the record of every block and for one page of each block group, which tells whether it holds data, the journal or a
//! checkpoint. Journal and checkpoints it reads whole. Of the other groups it reads the marks, except of those of which the newest checkpoint knows them: those
//! that were settled when it was begun and have not been erased since. Of each unit it remembers where its newest copies lie. What follows from that is for
//! `recover.rs`.
//!
//! A place that a checkpoint gives comes without its version; it is not above the checkpoint's number. A copy with a higher version is newer, and for the few
//! others that are found beside it the mark is read after all.

use std::collections::BTreeMap;

use wordline_flash::Mark;
use wordline_units::{BlockId, DieId, Id, PlaneId};

use crate::checkpoint::CHECKPOINT;
use crate::checkpoint_page::{CheckpointPage, Said, Settled};
use crate::config::Protection;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::journal::JOURNAL;
use crate::journal_page::{Facts, Page};
use crate::key_recover::KeysFound;
use crate::keys::KEYS;
use crate::layout::{Group, Layout, UnitAddr};
use crate::recover::{Recovery, Trust};
use crate::survey::{Found, Held, PagePlace, Reader, Survey};

/// A block of each plane that belong together: what a group stands on. Which blocks do is fixed by the blocks that were bad from the start; which group stands
/// on them changes when blocks go bad.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) die: DieId,
    pub(crate) blocks: [u16; 4],
    /// A program or an erase of one of its blocks has failed.
    pub(crate) broken: bool,
    /// A page of it is not erased.
    pub(crate) touched: bool,
    pub(crate) erases: u32,
    /// Which stands were written before it: first those that a checkpoint knows, oldest first, then by the highest version in them.
    pub(crate) order: (bool, u64),
    /// Its pages that belong to the journal.
    pub(crate) journal: Vec<Page>,
    /// Its pages that belong to checkpoints.
    pub(crate) checkpoints: Vec<CheckpointPage>,
    look: Look,
}

/// How far a stand has been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Its first program unit: it holds data.
    Data,
    /// Its first program unit, which is erased.
    Blank,
    /// Its first program unit, of which nothing is whole.
    Unclear,
    /// All of it, or as much as is needed.
    Done,
}

/// A copy of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) version: u64,
    /// The number of its stand.
    pub(crate) stand: u32,
    pub(crate) offset: u32,
}

impl Copied {
    pub(crate) const NONE: Copied = Copied { version: 0, stand: u32::MAX, offset: 0 };
}

/// What must not stay readable once it is stale.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretsFound {
    /// All copies: unit, stand, offset.
    pub(crate) known: Vec<(u32, u32, u32)>,
    /// Pages of which nobody can say what they hold: stand, offset of the first unit.
    pub(crate) torn: Vec<(u32, u32)>,
}

/// All that was found.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    pub(crate) stands: Vec<Stand>,
    /// The stand that each group had when the core was new.
    pub(crate) homes: Vec<Option<usize>>,
    /// The spare stands of each die, in the order in which they are used up.
    pub(crate) spares: Vec<Vec<usize>>,
    /// The newest copy of each logical unit.
    pub(crate) best: Vec<Copied>,
    /// Other copies of the same version as the newest, when they were found.
    pub(crate) twins: Vec<(u32, Copied)>,
    /// The highest version of anything.
    pub(crate) version: u64,
    /// How much was read.
    pub(crate) tally: Recovery,
    /// Which of the newest copies are as the checkpoint says, with its number for a version. One bit each.
    assumed: Vec<u64>,
    /// Copies that may be newer or older than those. [`Copied::NONE`]: nothing but the doubt.
    doubtful: Vec<(u32, Copied)>,
    /// What is secret, of a core that has to do something about it.
    pub(crate) secret: Option<SecretsFound>,
    /// What the key store says, of a core that has one.
    pub(crate) keys: Option<KeysFound>,
    /// What capacitors have kept of each unit, and in which slot.
    pub(crate) held: BTreeMap<u32, (u32, Held)>,
}

impl Findings {
    /// Look at what `fresh`, a new core with the same configuration, could have written.
    pub(crate) fn gather(fresh: &Ftl, survey: &mut dyn Survey, trust: Trust) -> Findings {
        let mut findings = Findings::stands(fresh);
        let mut reader = Reader { layout: fresh.layout, survey, marks: Vec::new(), bytes: Vec::new() };
        let all = 0..findings.stands.len();
        findings.keys = fresh.keys.as_ref().map(|keys| KeysFound::gather(keys, &findings.stands, &mut reader));
        all.clone().for_each(|stand| findings.read_records(stand, &mut reader));
        if trust == Trust::Everything {
            all.clone().for_each(|stand| findings.look_at_first(stand, &mut reader));
            findings.apply_checkpoint(&fresh.layout);
        }
        // On such dies what is erased may lie before what is not.
        let until = if fresh.config.sheet.capabilities.any_order { Until::TheEnd } else { Until::Erased };
        for stand in all {
            match findings.stands[stand].look {
                Look::Done => {}
                _ if trust == Trust::Marks => findings.look_at(stand, &mut reader, Until::TheEnd),
                Look::Data | Look::Unclear => findings.look_at(stand, &mut reader, until),
                Look::Blank => findings.look_behind(stand, &mut reader),
            }
        }
        if trust == Trust::Marks {
            findings.stands.iter_mut().for_each(|stand| stand.checkpoints.clear());
        }
        if fresh.config.buffer.protection == Protection::Capacitor {
            findings.look_at_buffer(fresh.config.buffer.units, &mut reader);
        }
        findings.resolve(&mut reader);
        findings.look_for_room(&mut reader);
        findings
    }

    fn stands(fresh: &Ftl) -> Findings {
        let layout = &fresh.layout;
        let exported = fresh.map.exported() as usize;
        let mut findings = Findings {
            stands: Vec::new(),
            homes: Vec::with_capacity(layout.group_count()),
            spares: Vec::new(),
            best: vec![Copied::NONE; exported],
            twins: Vec::new(),
            version: 0,
            tally: Recovery::default(),
            assumed: vec![0; exported.div_ceil(64)],
            doubtful: Vec::new(),
            secret: fresh.secrets.is_some().then(SecretsFound::default),
            keys: None,
            held: BTreeMap::new(),
        };
        for group in (0..layout.group_count() as u32).map(Group) {
            let usable = fresh.groups.use_of(group) != Use::Bad;
            findings.homes.push(usable.then_some(findings.stands.len()));
            if usable {
                findings.stands.push(Stand::new(layout.die(group), fresh.groups.blocks(group)));
            }
        }
        for (die, state) in fresh.dies.iter() {
            let planes = &state.spares[..layout.planes as usize];
            let count = planes.iter().map(Vec::len).min().unwrap_or(0);
            let first = findings.stands.len();
            for turn in 0..count {
                let mut blocks = [0; 4];
                for (block, spares) in blocks.iter_mut().zip(planes) {
                    *block = spares[spares.len() - 1 - turn];
                }
                findings.stands.push(Stand::new(die, blocks));
            }
            findings.spares.push((first..first + count).collect());
        }
        findings
    }

    fn read_records(&mut self, number: usize, reader: &mut Reader<'_>) {
        let stand = &mut self.stands[number];
        for plane in (0..reader.layout.planes as u8).map(PlaneId) {
            let record = reader.survey.block(stand.die, plane, BlockId(u32::from(stand.blocks[usize::from(plane.0)])));
            stand.broken |= !record.healthy;
            stand.erases = stand.erases.max(record.erases);
        }
    }

    /// Read pages of the first program unit until one says what the group holds. The journal and checkpoints are read whole.
    fn look_at_first(&mut self, number: usize, reader: &mut Reader<'_>) {
        let mut is_blank = true;
        for place in reader.places(self.stands[number].die, self.stands[number].blocks, 0) {
            match reader.page(place, &mut self.tally) {
                Found::Erased => {}
                Found::Torn | Found::Gone | Found::Unreadable => is_blank = false,
                Found::Whole if matches!(reader.marks[0].lpn, JOURNAL | CHECKPOINT) => {
                    return self.look_at(number, reader, Until::Erased);
                }
                Found::Whole => {
                    (self.stands[number].touched, self.stands[number].look) = (true, Look::Data);
                    return;
                }
            }
        }
        self.stands[number].look = if is_blank { Look::Blank } else { Look::Unclear };
    }

    /// The first program unit is erased. Programs go in order, so nothing was programmed behind it; but an erase that was cut short may have left anything
    /// there.
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
        for program in 0..reader.layout.programs {
            let mut is_blank = true;
            for place in reader.places(self.stands[number].die, self.stands[number].blocks, program) {
                let found = reader.page(place, &mut self.tally);
                is_blank &= found == Found::Erased;
                self.stands[number].touched |= found != Found::Erased;
                match found {
                    Found::Whole => self.read_page(number, place, reader),
                    Found::Torn | Found::Unreadable => self.note_torn(number, place, &reader.layout),
                    Found::Erased | Found::Gone => {}
                }
            }
            if is_blank && until == Until::Erased {
                return;
            }
        }
    }

    /// Nobody knows what the page at `place` holds. It may be secret, and nothing in it is wanted.
    fn note_torn(&mut self, number: usize, place: PagePlace, layout: &Layout) {
        if let Some(secret) = &mut self.secret {
            secret.torn.push((number as u32, (u32::from(place.page.0) * layout.planes + u32::from(place.plane.0)) * layout.units_per_page));
        }
    }

    fn read_page(&mut self, number: usize, place: PagePlace, reader: &mut Reader<'_>) {
        let layout = &reader.layout;
        assert_eq!(reader.marks.len(), layout.units_per_page as usize, "a whole page has a mark for each of its units");
        match reader.marks[0].lpn {
            JOURNAL => {
                reader.survey.bytes(place, &mut reader.bytes);
                self.read_journal(number, &reader.bytes);
            }
            CHECKPOINT => {
                reader.survey.bytes(place, &mut reader.bytes);
                if let Some(page) = CheckpointPage::read(&reader.bytes) {
                    self.version = self.version.max(page.number);
                    self.stands[number].checkpoints.push(page);
                }
            }
            KEYS => {}
            _ => {
                if let Some(keys) = &mut self.keys {
                    keys.see(number, reader.survey.key_epoch(place));
                }
                let first = (u32::from(place.page.0) * layout.planes + u32::from(place.plane.0)) * layout.units_per_page;
                self.read_marks(number, first, &reader.marks);
            }
        }
    }

    fn read_journal(&mut self, number: usize, bytes: &[u8]) {
        let Some(page) = Page::read(bytes) else {
            return;
        };
        let newest = match &page.facts {
            Facts::Records(records) => records.iter().map(|record| record.version).max().unwrap_or(0),
            Facts::Unmapped { version, .. } => *version,
            Facts::Memos(_) => 0,
        };
        self.version = self.version.max(newest);
        self.stands[number].journal.push(page);
    }

    fn read_marks(&mut self, number: usize, first: u32, marks: &[Mark]) {
        let Findings { stands, best, assumed, doubtful, twins, version, secret, keys, .. } = self;
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
            let copy = Copied { version: mark.version, stand: number as u32, offset };
            if is_set(assumed, lpn) && mark.version <= best.version {
                doubtful.push((lpn, copy));
            } else if mark.version > best.version {
                assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
                *best = copy;
            } else if mark.version == best.version {
                twins.push((lpn, copy));
            }
        }
    }

    /// Take from the newest whole checkpoint what it knows and still holds.
    fn apply_checkpoint(&mut self, layout: &Layout) {
        let Some((number, pages)) = self.newest_checkpoint() else {
            return;
        };
        (self.tally.checkpoint, self.version) = (Some(number), self.version.max(number));
        let known: BTreeMap<(DieId, [u16; 4]), usize> =
            self.stands.iter().enumerate().map(|(number, stand)| ((stand.die, stand.blocks), number)).collect();
        // Of each group, the stand that holds what it held.
        let mut holds: Vec<Option<u32>> = vec![None; layout.group_count()];
        for page in &pages {
            let Said::Groups { first, groups } = &page.said else { continue };
            for (group, settled) in (*first..).map(Group).zip(groups) {
                let Some(Settled { blocks, erases, age }) = *settled else { continue };
                let Some(&number) = known.get(&(layout.die(group), blocks)) else { continue };
                let stand = &mut self.stands[number];
                match (age, stand.look) {
                    _ if stand.erases != erases || stand.broken => {}
                    (Some(age), Look::Data) => {
                        (stand.look, stand.order) = (Look::Done, (false, u64::from(u32::MAX - age)));
                        holds[group.index()] = Some(number as u32);
                        self.tally.settled += 1;
                    }
                    (None, Look::Blank) => stand.look = Look::Done,
                    _ => {}
                }
            }
        }
        for page in &pages {
            let Said::Places { first, places } = &page.said else { continue };
            for (lpn, &addr) in (*first..).zip(places).filter(|&(_, addr)| *addr != UnitAddr::NONE) {
                if let Some(stand) = holds[layout.group(addr).index()] {
                    self.best[lpn as usize] = Copied { version: number, stand, offset: layout.offset(addr) };
                    self.assumed[lpn as usize / 64] |= 1 << (lpn % 64);
                }
            }
        }
    }

    /// The pages of the newest checkpoint of which no page is missing.
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

    /// Which stands hold something secret.
    pub(crate) fn holds_secrets(&self) -> Vec<bool> {
        let mut holds = vec![false; self.stands.len()];
        self.secret.iter().flat_map(|secret| &secret.known).for_each(|&(_, stand, _)| holds[stand as usize] = true);
        holds
    }

    /// Which stands hold the newest copy of something.
    pub(crate) fn live(&self) -> Vec<bool> {
        let mut is_live = vec![false; self.stands.len()];
        self.best.iter().filter(|copy| **copy != Copied::NONE).for_each(|copy| is_live[copy.stand as usize] = true);
        is_live
    }

    /// A die that was cut off while it moved data into its last free group has no room now, unless all that was moved still lies where it came from too. The
    /// checkpoint does not tell of copies that were overtaken, so on such a die everything is read.
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
                }
            }
        }
        self.resolve(reader);
    }

    /// Of each unit, what was held last. Whether flash has something newer is to be known for certain.
    fn look_at_buffer(&mut self, slots: u32, reader: &mut Reader<'_>) {
        for slot in 0..slots {
            let Some(held) = reader.survey.held(slot).filter(|held| (held.lpn.0 as usize) < self.best.len()) else {
                continue;
            };
            self.version = self.version.max(held.version);
            if self.held.get(&held.lpn.0).is_none_or(|&(_, other)| other.version < held.version) {
                self.held.insert(held.lpn.0, (slot, held));
                self.doubtful.push((held.lpn.0, Copied::NONE));
            }
        }
    }

    /// Where copies were found that may be newer than what the checkpoint knows: read the mark of that.
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
            let best = &mut self.best[lpn as usize];
            let mark =
                reader.mark((self.stands[best.stand as usize].die, self.stands[best.stand as usize].blocks), best.offset, &mut self.tally);
            match mark.filter(|mark| mark.lpn.0 == lpn) {
                Some(mark) => best.version = mark.version,
                None => *best = Copied::NONE,
            }
        }
        for (lpn, copy) in doubtful.into_iter().filter(|&(_, copy)| copy != Copied::NONE) {
            let best = &mut self.best[lpn as usize];
            match copy.version.cmp(&best.version) {
                std::cmp::Ordering::Greater => *best = copy,
                std::cmp::Ordering::Equal => self.twins.push((lpn, copy)),
                std::cmp::Ordering::Less => {}
            }
        }
    }
}

fn is_set(bits: &[u64], lpn: u32) -> bool {
    bits[lpn as usize / 64] >> (lpn % 64) & 1 == 1
}

/// How far to read a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// All pages there are.
    TheEnd,
    /// The first program unit that is erased: programs go in order.
    Erased,
}

impl Stand {
    fn new(die: DieId, blocks: [u16; 4]) -> Stand {
        Stand {
            die,
            blocks,
            broken: false,
            touched: false,
            erases: 0,
            order: (true, 0),
            journal: Vec::new(),
            checkpoints: Vec::new(),
            look: Look::Unclear,
        }
    }
}
