//! Back after a power cut: everything the core knew, from what stands on its flash.
//!
//! 1. Of each unit the copy with the highest version is the newest; copies of the same version hold the same bytes.
//! 2. Unless the journal says that the unit was trimmed at a higher version. The journal is the youngest generation whose snapshot is whole.
//! 3. Blocks with a newest copy are closed, however far they were written; the others are erased before they are used.
//! 4. What capacitors have kept of the write buffer is a copy like others; where it is the newest, or the newest on flash is known by its own page alone, it
//!    goes back to where it was.
//! 5. Blocks that the die reports as bad are emptied and replaced, or have been.
//! 6. Techniques are given what they have written down in the journal.
//!
//! Each page is judged by itself, so it does not matter which part of a multi-plane or one-shot program has reached the flash: none of it was reported as
//! programmed. Nothing is written here, so a power cut during recovery changes nothing; and what the core writes afterwards is again marks and facts that hold.
//! What was recovered is durable as it stands: it follows from pages alone that stay where they are until something newer is on flash.
//!
//! How much has to be read for that is bounded by what was written since the newest checkpoint of the map: see `findings.rs`. Without one, all marks are read.

use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use wordline_units::{Cause, DieId};

use crate::config::Config;
use crate::die::{Die, Wanted};
use crate::findings::{Copied, Evidence, Findings, SecretsFound, Stand};
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::journal::Other;
use crate::journal_page::{Facts, Page, Record};
use crate::layout::Group;
use crate::memos::WrittenMemo;
use crate::oob::page::MarkCopy;
use crate::request::Note;
use crate::survey::{Held, Survey};

/// Versions left out after a power cut, so that none is given twice even if a page that could not be read at first can be read later.
const VERSIONS_SKIPPED: u64 = 1 << 20;

/// How a core came back from a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The number of the checkpoint that it used.
    pub checkpoint: Option<u64>,
    /// Block groups of which the checkpoint knew all that was needed.
    pub settled: u64,
    /// Block groups that were read.
    pub groups: u64,
    /// Pages that were read, erased ones included.
    pub pages: u64,
    /// Units of which the mark had to be read because the checkpoint left it open which copy is the newest.
    pub doubts: u64,
    /// Units whose newest copy is in a page that cannot be read, as far as that was looked at: reads of them fail until they are written again.
    pub lost: u64,
    /// Units that are refused, because nobody can tell whether what there is of them is the newest.
    pub refused: u64,
    /// Pages that cannot be read of programs that no flush had covered: what they held is as it was before.
    pub unsealed: u64,
    /// The core had been told that the power would go, and nothing has been written since.
    pub is_clean: bool,
}

/// What recovery relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Whatever there is, checkpoints included.
    Everything,
    /// The journal and the marks of all pages: what must come out without checkpoints as with them.
    Marks,
}

/// The journal's state, as far as it is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalFound {
    /// Where it stands.
    pub(crate) stand: usize,
    pub(crate) generation: u64,
    /// Its snapshot is whole.
    pub(crate) is_whole: bool,
}

impl Ftl {
    /// The core that was running on this flash with this configuration, as it was when the power went, or would have been a moment before or after: every
    /// unit that was durable has its last data, and every other its last data or an older state since it last was durable.
    pub fn recover(config: Config, survey: &mut dyn Survey) -> Ftl {
        Ftl::recover_by(config, survey, Trust::Everything)
    }

    /// As [`Ftl::recover`], by what `trust` says.
    pub fn recover_by(config: Config, survey: &mut dyn Survey, trust: Trust) -> Ftl {
        assert!(config.keeps_data, "only a core that keeps data has anything to recover");
        let mut ftl = Ftl::new(config);
        // A checkpoint does not tell of copies that are stale, and those are what a sanitiser looks for.
        let trust = if ftl.secrets.is_some() { Trust::Marks } else { trust };
        let mut findings = Findings::gather(&ftl, survey, trust);
        let journal = findings.journal;
        let kept_trims = findings.trims_to_keep(journal.as_ref());
        findings.drop_trimmed();
        findings.settle_twins();
        findings.tally.lost = findings.count_lost();
        let is_live = findings.live();
        let stands = ftl.assign(&findings, &is_live, journal.as_ref());
        ftl.lay_out_groups(&findings, &is_live, &stands, journal.as_ref());
        ftl.resume_checkpoints(&findings, &stands);
        ftl.resume_journal(&findings, journal.as_ref(), &stands);
        ftl.resume_keys(&findings, &stands);
        ftl.restore_buffer(&findings);
        ftl.buffer.count_from(findings.version + VERSIONS_SKIPPED);
        if !ftl.has_enough_space() {
            ftl.worn_out = true;
            ftl.notes.push_back(Note::WornOut);
        }
        ftl.journal.as_mut().expect("the core keeps data").resume_kept(&kept_trims);
        ftl.resume_history(&mut findings, journal.as_ref());
        ftl.refuse(&findings);
        findings.tally.refused = ftl.refused_units();
        ftl.recovery = Some(findings.tally);
        ftl.find_secrets(&findings, &stands);
        ftl.recall_memos(&findings.memos(journal.as_ref()));
        for die in 0..ftl.layout.dies as u16 {
            ftl.wake(DieId(die));
        }
        ftl
    }

    /// How it came back from a power cut; `None`: it did not have to.
    pub fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// Give each group the stand that it had, or one that is as good. `None`: it is out of service.
    fn assign(&mut self, findings: &Findings, is_live: &[bool], journal: Option<&JournalFound>) -> Vec<Option<usize>> {
        let holds_secrets = findings.holds_secrets();
        let is_vital = |stand: usize| is_live[stand] || findings.is_own(stand, journal);
        let is_needed = |stand: usize| is_vital(stand) || holds_secrets[stand];
        // What is broken and empty has been replaced, or is to be. A spare is used up by each replacement, in a fixed order.
        let serves = |stand: usize| !findings.stands[stand].broken || is_needed(stand);
        let mut stands = findings.homes.clone();
        for die in (0..self.layout.dies as u16).map(DieId) {
            let mut left = findings.spares[usize::from(die.0)].iter().copied().filter(|&spare| serves(spare)).peekable();
            for group in self.layout.groups_of(die) {
                if stands[group].is_some_and(|home| !serves(home)) {
                    stands[group] = left.next();
                }
            }
            let left: Vec<usize> = left.collect();
            for spares in self.dies[die].spares.iter_mut() {
                spares.clear();
            }
            for &spare in left.iter().rev() {
                if is_needed(spare) {
                    // Only where a block has become unreadable since: it takes the place of one that holds nothing.
                    let place_without = |needs: &dyn Fn(usize) -> bool| {
                        self.layout.groups_of(die).find(|&group| stands[group].is_some_and(|stand| !needs(stand)))
                    };
                    let place = place_without(&is_needed).or_else(|| if is_vital(spare) { place_without(&is_vital) } else { None });
                    if let Some(place) = place {
                        stands[place] = Some(spare);
                    }
                } else if !findings.stands[spare].touched {
                    // It may have been in service before the cut.
                    self.spare_erases.insert((die, findings.stands[spare].blocks[0]), findings.stands[spare].erases);
                    for (spares, &block) in
                        self.dies[die].spares.iter_mut().zip(&findings.stands[spare].blocks[..self.layout.planes as usize])
                    {
                        spares.push(block);
                    }
                }
            }
        }
        stands
    }

    /// Whatever is secret, stale and readable became so a moment before the power went, and is dealt with now.
    fn find_secrets(&mut self, findings: &Findings, stands: &[Option<usize>]) {
        let Some(SecretsFound { known, torn }) = &findings.secret else {
            return;
        };
        let mut group_of = vec![None; findings.stands.len()];
        for (group, stand) in (0..).map(Group).zip(stands) {
            if let Some(stand) = stand {
                group_of[*stand] = Some(group);
            }
        }
        for &(lpn, stand, offset) in known {
            let Some(group) = group_of[stand as usize] else { continue };
            let addr = self.layout.unit(group, offset);
            self.secrets.as_mut().expect("it found some").keep(addr);
            if self.map.get(lpn) != addr {
                self.expose(lpn, addr);
            }
        }
        self.guard(Vec::new(), Vec::new(), Vec::new());
        let pages: Vec<(Group, u32)> = torn.iter().filter_map(|&(stand, first)| Some((group_of[stand as usize]?, first))).collect();
        self.expose_torn(&pages);
    }

    /// What capacitors have kept and flash has not goes on as if nothing had happened. Of what flash has, too, as long as only its own page tells of it: the
    /// host was promised it. What is refused may have been trimmed or written since.
    fn restore_buffer(&mut self, findings: &Findings) {
        if findings.is_unknown {
            return;
        }
        let mut refused = BTreeMap::new();
        for (lpn, version) in findings.refused_before() {
            let newest = refused.entry(lpn).or_insert(version);
            *newest = version.max(*newest);
        }
        let is_newest = |lpn: u32, held: &Held| {
            let best = &findings.best[lpn as usize];
            let is_only_one = || findings.is_lost(best) || !findings.is_sealed(best, &self.layout);
            let is_newest = held.version > best.version || (held.version == best.version && *best != Copied::NONE && is_only_one());
            is_newest && refused.get(&lpn).is_none_or(|&version| held.version >= version)
        };
        let mut kept: Vec<(u32, Held)> =
            findings.held.iter().filter(|(lpn, (_, held))| is_newest(**lpn, held)).map(|(_, &kept)| kept).collect();
        kept.sort_unstable_by_key(|(_, held)| held.version);
        kept.into_iter().for_each(|(slot, held)| self.buffer.restore(slot, held));
    }

    /// Make the tables say what the stands hold.
    fn lay_out_groups(&mut self, findings: &Findings, is_live: &[bool], stands: &[Option<usize>], journal: Option<&JournalFound>) {
        let layout = self.layout;
        let mut group_of = vec![None; findings.stands.len()];
        for (group, stand) in stands.iter().enumerate() {
            if let Some(stand) = stand {
                group_of[*stand] = Some(Group(group as u32));
            }
        }
        let words = self.groups.words;
        for (group, &stand) in (0..).map(Group).zip(stands) {
            let uses = &mut self.groups.uses[group.index()];
            let Some(stand) = stand else {
                *uses = Use::Bad;
                continue;
            };
            *uses = if findings.is_own(stand, journal) { Use::Journal } else { Use::Free };
            self.groups.blocks[group.index()] = findings.stands[stand].blocks;
            self.groups.erases[group.index()] = findings.stands[stand].erases;
            if is_live[stand] {
                // What is not found below was never programmed, or is not wanted.
                self.groups.stale[group.index() * words..][..words].fill(u64::MAX);
            }
        }
        let mut valid = vec![0u32; stands.len()];
        for (lpn, copy) in (0..).zip(&findings.best).filter(|&(_, copy)| *copy != Copied::NONE) {
            if let Some(group) = group_of[copy.stand as usize] {
                self.map.set(lpn, layout.unit(group, copy.offset));
                self.groups.stale[group.index() * words + copy.offset as usize / 64] &= !(1 << (copy.offset % 64));
                valid[group.index()] += 1;
            }
        }
        for (_, die) in self.dies.iter_mut() {
            die.free.clear();
        }
        // Closed as they were last written, oldest first.
        let mut order: Vec<Group> = group_of.iter().flatten().copied().collect();
        order.sort_unstable_by_key(|group| (stands[group.index()].map(|stand| findings.stands[stand].order), *group));
        for group in order {
            let stand = &findings.stands[stands[group.index()].expect("it has one")];
            let die = layout.die(group);
            let holds_data = valid[group.index()] > 0;
            if self.groups.use_of(group) == Use::Journal {
                continue;
            }
            if !holds_data && !stand.touched {
                self.groups.uses[group.index()] = Use::Free;
                continue;
            }
            if !holds_data {
                self.groups.uses[group.index()] = Use::Drained;
                self.dies[die].erasable.push((group, Cause::Reclaim));
                if stand.broken {
                    // Nothing of it is needed, but something in it must not stay readable.
                    self.groups.condemn(group);
                }
                continue;
            }
            self.groups.uses[group.index()] = Use::Free;
            self.groups.open(group);
            self.groups.add_valid(group, valid[group.index()]);
            if stand.broken {
                self.groups.condemn(group);
                self.dies[die].failed.push((group, layout.units_per_group));
            }
            let stand = stands[group.index()].expect("it has one");
            self.resume_marks(findings, stand, group);
        }
        for index in 0..stands.len() {
            let group = Group(index as u32);
            if self.groups.use_of(group) == Use::Free {
                self.dies[layout.die(group)].free.push_back(group);
            }
        }
    }

    /// Close `group`, which stands on `stand`, or have its summary written first.
    fn resume_marks(&mut self, findings: &Findings, stand: usize, group: Group) {
        let layout = self.layout;
        let Stand { broken, seen, erases, .. } = &findings.stands[stand];
        if let (Some(oob), Some(begin)) = (&mut self.oob, findings.sealed.early_summary(findings.filling(stand), seen, &layout)) {
            oob.found_early(group, begin);
        }
        let is_done = seen.written == 0 || seen.is_summarised(&layout) || seen.is_old(&layout);
        let Some(oob) = self.oob.as_mut().filter(|_| !is_done) else {
            if !broken {
                self.groups.close(group);
            }
            return;
        };
        let programs = seen.written.min(layout.data_programs);
        let mut marks = seen.marks().to_vec();
        marks.resize(layout.data_units as usize, MarkCopy::NOTHING);
        for page in &seen.unread {
            for offset in page.first..(page.first + layout.units_per_page).min(layout.data_units) {
                if let Some(mark) = findings.second_mark(stand, offset, &layout) {
                    marks[offset as usize] = mark;
                }
            }
        }
        let summary = if self.config.sheet.capabilities.any_order {
            Some(layout.data_programs).filter(|_| seen.written <= layout.data_programs)
        } else {
            // A sanitiser may scrub what was not programmed yet of a wordline that it scrubs.
            let is_whole = self.secrets.is_none() || layout.ends_wordline(seen.written);
            Some(seen.written).filter(|&written| !seen.is_ragged && is_whole && written + layout.oob_programs() <= layout.programs)
        };
        let summary = summary.filter(|_| !broken);
        let filling = findings.filling(stand);
        oob.found(group, &marks, programs, summary, |program| findings.kept_places.get(&(filling, program)).copied());
        if summary.is_none() && !broken {
            // There is no place for a summary: the journal keeps its marks until its data has moved.
            self.groups.close(group);
            self.leave_unsettled(group);
            self.dies[layout.die(group)].wanted.push_back(Wanted::by_core(group, Cause::Recovery, *erases));
        }
    }

    /// The checkpoint that was used stays until the next one is whole, unless it does not tell of something that is needed.
    fn resume_checkpoints(&mut self, findings: &Findings, stands: &[Option<usize>]) {
        let programs = self.layout.programs;
        let holds = |stand: usize| !findings.stands[stand].checkpoints.is_empty();
        let groups: VecDeque<Group> =
            (0..).map(Group).zip(stands).filter(|(_, stand)| stand.is_some_and(holds)).map(|(group, _)| group).collect();
        for &group in &groups {
            if stands[group.index()].is_some_and(|stand| findings.stands[stand].broken) {
                self.groups.condemn(group);
            }
        }
        let Some(checkpoints) = &mut self.checkpoints else { return };
        if findings.is_distrusted {
            // What is relied upon instead may be erased before it, and then it would pass for good.
            let is_in = |group: &Group| stands[group.index()].is_some_and(|stand| findings.stands[stand].holds_checkpoints);
            let left = self.dies.iter().flat_map(|(_, die)| &die.erasable).map(|&(group, _)| group);
            checkpoints.abandon(&left.filter(is_in).collect());
        }
        if findings.is_overtaken {
            checkpoints.abandon(&groups);
            for group in groups {
                self.groups.uses[group.index()] = Use::Drained;
                self.dies[self.layout.die(group)].erasable.push((group, Cause::Recovery));
            }
        } else {
            checkpoints.resume(groups, findings.tally.checkpoint, programs);
        }
    }

    /// The journal goes on with a snapshot: what follows a torn page is not trusted with more.
    fn resume_journal(&mut self, findings: &Findings, found: Option<&JournalFound>, stands: &[Option<usize>]) {
        let programs = self.layout.programs;
        let seen = findings.stands.iter().flat_map(|stand| &stand.journal).map(|page| page.generation).max();
        let current = found.and_then(|found| stands.iter().position(|&stand| stand == Some(found.stand))).map(|group| Group(group as u32));
        if let (Some(found), Some(group)) = (found, current)
            && findings.stands[found.stand].broken
        {
            self.groups.condemn(group);
        }
        let evidence = findings.evidence(&self.layout);
        let needed = |group: Group| stands[group.index()].map_or(Evidence::None, |stand| evidence[stand]);
        let (mut active, mut program) = (current, programs);
        if found.is_none() && seen.is_none() {
            // As when it was new: nothing needs a snapshot yet.
            match self.take_empty_group(&needed) {
                Other::Erased(group) => (active, program) = (Some(group), 0),
                Other::Used(group) => active = Some(group),
                Other::Missing => {}
            }
        }
        let other = self.take_empty_group(&needed);
        self.journal.as_mut().expect("the core keeps data").resume(active, seen.unwrap_or(1), program, other);
    }

    /// A group that holds nothing, of the die with the most of them: the journal had one there, or one more than the others have now. Erased, if there is one;
    /// else one of those that are `needed` least.
    fn take_empty_group(&mut self, needed: &dyn Fn(Group) -> Evidence) -> Other {
        let least = |die: &Die| {
            die.erasable.iter().map(|&(group, _)| needed(group)).min().filter(|_| die.free.is_empty()).unwrap_or(Evidence::None)
        };
        let empty = |die: &Die| die.free.len() + die.erasable.len();
        let best = |die: &DieId| {
            let state = &self.dies[*die];
            (empty(state) > 0, std::cmp::Reverse(least(state)), empty(state), std::cmp::Reverse(*die))
        };
        let die = (0..self.layout.dies as u16).map(DieId).max_by_key(best);
        let state = &mut self.dies[die.expect("a core has a die")];
        let at = (0..state.erasable.len()).min_by_key(|&at| needed(state.erasable[at].0));
        let other = match (state.free.pop_front(), at) {
            (Some(group), _) => Other::Erased(group),
            (None, Some(at)) => Other::Used(state.erasable.remove(at).0),
            (None, None) => Other::Missing,
        };
        if let Other::Erased(group) | Other::Used(group) = other {
            self.groups.uses[group.index()] = Use::Journal;
        }
        other
    }
}

/// The generations of the journal, by number and stand, and whether the snapshot of each is whole.
pub(crate) fn generations(findings: &Findings) -> BTreeMap<(u64, usize), bool> {
    // How many pages of its snapshot each generation has, and should have.
    let mut generations: BTreeMap<(u64, usize), (BTreeMap<u32, ()>, u32)> = BTreeMap::new();
    for (stand, found) in findings.stands.iter().enumerate() {
        for page in &found.journal {
            let (seen, total) = generations.entry((page.generation, stand)).or_default();
            if let Some((index, pages)) = page.of_snapshot {
                seen.insert(index, ());
                *total = pages;
            } else if page.generation > 1 && *total == 0 {
                // Behind a snapshot of which nothing was read.
                *total = u32::MAX;
            }
        }
    }
    generations.into_iter().map(|(generation, (seen, total))| (generation, seen.len() as u32 == total)).collect()
}

/// The youngest generation that is whole.
pub(crate) fn find_journal(findings: &Findings) -> Option<JournalFound> {
    let generations = generations(findings);
    let whole = generations.iter().rev().find(|(_, is_whole)| **is_whole);
    let last = whole.or_else(|| generations.iter().next_back());
    last.map(|(&(generation, stand), _)| JournalFound { stand, generation, is_whole: whole.is_some() })
}

impl Findings {
    /// Whether `stand` holds something that the core has written for itself and still needs.
    fn is_own(&self, stand: usize, journal: Option<&JournalFound>) -> bool {
        journal.is_some_and(|journal| journal.stand == stand) || !self.stands[stand].checkpoints.is_empty() || self.holds_keys(stand)
    }

    /// Trims that capacitors have kept and the journal may not have, oldest first, with their places.
    fn trims_to_keep(&self, journal: Option<&JournalFound>) -> Vec<(u32, Record)> {
        let of_page = |page: &Page| match &page.facts {
            Facts::Records(records) => records.iter().map(|record| record.version).max(),
            Facts::Unmapped { version, .. } => Some(*version),
            Facts::Memos(_) | Facts::Marks(_) | Facts::Refused { .. } | Facts::History(_) => None,
        };
        let pages = journal.map_or(&[][..], |journal| &self.stands[journal.stand].journal);
        let known =
            pages.iter().filter(|page| journal.is_some_and(|journal| page.generation == journal.generation)).filter_map(of_page).max();
        let mut trims: Vec<(u32, Record)> =
            self.kept_trims.iter().filter(|(_, record)| known.is_none_or(|known| record.version > known)).copied().collect();
        trims.sort_unstable_by_key(|(_, record)| record.version);
        trims
    }

    /// What techniques have written down.
    fn memos(&self, journal: Option<&JournalFound>) -> Vec<WrittenMemo> {
        let pages = journal.map_or(&[][..], |journal| &self.stands[journal.stand].journal);
        let of_page = |page: &Page| match &page.facts {
            Facts::Memos(memos) => memos.clone(),
            Facts::Records(_) | Facts::Unmapped { .. } | Facts::Marks(_) | Facts::Refused { .. } | Facts::History(_) => Vec::new(),
        };
        pages.iter().filter(|page| journal.is_some_and(|journal| page.generation == journal.generation)).flat_map(of_page).collect()
    }

    /// Forget copies of which the journal says that they are not wanted.
    fn drop_trimmed(&mut self) {
        let Findings { stands, best, held, kept_trims, in_force, .. } = self;
        let mut records: Vec<Record> = std::mem::take(kept_trims).into_iter().map(|(_, record)| record).collect();
        // Other generations say nothing more, or were cut short while they were begun: what those alone say was never promised, and did not count at the start
        // that followed.
        for page in stands.iter().flat_map(|stand| &stand.journal).filter(|page| in_force.contains(&page.generation)) {
            match &page.facts {
                Facts::Records(some) => records.extend(some),
                Facts::Unmapped { first, version, bits } => {
                    let units = (*first..).zip(0..bits.len() * 8).filter(|&(_, bit)| bits[bit / 8] >> (bit % 8) & 1 == 1);
                    for (lpn, _) in units {
                        forget_older(best, held, lpn, *version);
                    }
                }
                Facts::Memos(_) | Facts::Marks(_) | Facts::Refused { .. } | Facts::History(_) => {}
            }
        }
        // Over the units in order, the newest of the trims that cover each.
        records.sort_unstable_by_key(|record| record.first);
        let mut upcoming = records.into_iter().peekable();
        let mut covering: BinaryHeap<(u64, u64)> = BinaryHeap::new();
        for lpn in 0..best.len() as u32 {
            while let Some(record) = upcoming.next_if(|record| record.first <= lpn) {
                covering.push((record.version, u64::from(record.first) + u64::from(record.count)));
            }
            while covering.peek().is_some_and(|&(_, end)| end <= u64::from(lpn)) {
                covering.pop();
            }
            if let Some(&(version, _)) = covering.peek() {
                forget_older(best, held, lpn, version);
            }
        }
    }

    /// Of several copies of one version, choose so that as many stands as possible hold nothing that is needed. Data on the way from one block to another lies
    /// in both, and the space that the move was to bring may be all the space there is: one of the two must become free again.
    fn settle_twins(&mut self) {
        let mut holders: BTreeMap<u32, Vec<Copied>> = BTreeMap::new();
        for &(lpn, copy) in &self.twins {
            let best = self.best[lpn as usize];
            if copy.version == best.version {
                holders.entry(lpn).or_insert_with(|| vec![best]).push(copy);
            }
        }
        let mut sole = vec![0u32; self.stands.len()];
        for (lpn, copy) in (0..).zip(&self.best).filter(|&(_, copy)| *copy != Copied::NONE) {
            if !holders.contains_key(&lpn) {
                sole[copy.stand as usize] += 1;
            }
        }
        let mut shared: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&lpn, copies) in &mut holders {
            copies.sort_unstable_by_key(|copy| copy.stand);
            copies.dedup_by_key(|copy| copy.stand);
            if let [copy] = copies[..] {
                sole[copy.stand as usize] += 1;
            }
            copies.iter().for_each(|copy| shared.entry(copy.stand).or_default().push(lpn));
        }
        // What has failed goes first: its units have been moved away, or it could not have been replaced.
        let mut stands: Vec<u32> = shared.keys().copied().collect();
        stands.sort_by_key(|&stand| !self.stands[stand as usize].broken);
        for stand in stands.into_iter().filter(|&stand| sole[stand as usize] == 0).collect::<Vec<_>>() {
            if sole[stand as usize] > 0 {
                continue;
            }
            for lpn in &shared[&stand] {
                let copies = holders.get_mut(lpn).expect("a shared unit has holders");
                copies.retain(|copy| copy.stand != stand);
                if let [copy] = copies[..] {
                    sole[copy.stand as usize] += 1;
                }
            }
        }
        for (lpn, copies) in holders {
            let best = &mut self.best[lpn as usize];
            let is_other = (best.stand, best.offset) != (copies[0].stand, copies[0].offset);
            self.is_overtaken |= is_other && self.stands[copies[0].stand as usize].is_settled;
            *best = copies[0];
        }
    }
}

/// Of `lpn` nothing older than `version` is wanted.
fn forget_older(best: &mut [Copied], held: &mut BTreeMap<u32, (u32, Held)>, lpn: u32, version: u64) {
    if let Some(copy) = best.get_mut(lpn as usize).filter(|copy| copy.version < version) {
        *copy = Copied::NONE;
    }
    if held.get(&lpn).is_some_and(|(_, held)| held.version < version) {
        held.remove(&lpn);
    }
}
