//! The key store on its way to flash: which operation comes next, and what follows when it ends. `keys.rs` says what for.

use wordline_flash::{Operation, OperationKind, Report, Status};
use wordline_units::{Cause, DieId, Nanos};

use crate::die::Entry;
use crate::firmware::Ftl;
use crate::key_page::{KeyFacts, KeyPage, entries_per_page, pack};
use crate::keys::{GROWTH, KEYS, Keys, Writing};
use crate::layout::Group;
use crate::operations::{Pending, Purpose};

/// What the key store would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Program(Group),
    /// Something has to be written and there is no place for it.
    NoRoom,
}

impl Ftl {
    fn keys_next(&self) -> Step {
        let Some(keys) = self.keys.as_deref() else {
            return Step::Nothing;
        };
        let is_written = keys.writing.as_ref().is_some_and(|writing| writing.ordered == writing.programs);
        let has_work = (keys.writing.is_some() && !is_written) || (keys.writing.is_none() && keys.wants(self.trims_durable()));
        match keys.groups.back() {
            _ if keys.stuck || keys.busy || keys.due.is_some() || !has_work => Step::Nothing,
            Some(&group) if keys.program < self.layout.programs => Step::Program(group),
            _ => Step::NoRoom,
        }
    }

    /// The key store may have something to do: the die that it would do it on is to ask.
    #[cold]
    pub(crate) fn wake_keys(&mut self) {
        if self.keys_next() == Step::NoRoom {
            self.find_room_for_keys(self.config.reclaim.floor);
        }
        if let Step::Program(group) = self.keys_next() {
            self.wake(self.layout.die(group));
        }
    }

    fn find_room_for_keys(&mut self, left: u32) -> bool {
        let Some(group) = self.take_own_group(left) else {
            return false;
        };
        let bytes = self.config.sheet.geometry.page.0 as usize;
        let keys = self.keys.as_mut().expect("they want room");
        keys.groups.push_back(group);
        (keys.program, keys.pages_most) = (0, GROWTH * keys.pages(bytes));
        true
    }

    /// Nothing is under way. If that is because the key store has no room, it takes the last there is; returns whether there is something to do now.
    pub(crate) fn rescue_keys(&mut self) -> bool {
        if self.keys_next() != Step::NoRoom {
            return false;
        }
        if self.find_room_for_keys(0) {
            self.wake_keys();
            return true;
        }
        self.keys.as_mut().expect("they want room").stuck = true;
        if !self.worn_out {
            self.wear_out();
        }
        false
    }

    /// The next operation of `die` that serves the key store.
    #[cold]
    pub(crate) fn keys_step(&mut self, die: DieId) -> Option<Operation> {
        match self.keys_next() {
            Step::Program(group) if self.layout.die(group) == die => {
                if self.keys.as_ref().is_some_and(|keys| keys.writing.is_none()) {
                    self.begin_commit();
                }
                Some(self.program_keys(group))
            }
            Step::NoRoom => {
                self.wake_keys();
                None
            }
            Step::Program(_) | Step::Nothing => None,
        }
    }

    /// Put together what the next commit writes.
    fn begin_commit(&mut self) {
        let bytes = self.config.sheet.geometry.page.0 as usize;
        let pages_per_program = (self.layout.units_per_program / self.layout.units_per_page) as usize;
        let (is_kept, programs) = (self.config.keeps_data, self.layout.programs as usize);
        let keys = self.keys.as_mut().expect("asked before");
        if keys.under_way.keys.is_empty() {
            keys.under_way = std::mem::take(&mut keys.waiting);
        }
        let changed = keys.cut();
        // A commit may begin anywhere in a group, so that is asked of each; of one group alone nothing could be let go.
        let before = keys.groups.len() - 1;
        let written = (before * programs + keys.program as usize) * pages_per_program;
        keys.anew |= before > 0 && written > keys.pages_most;
        keys.number += 1;
        let number = keys.number;
        let of_all = |keys: &Keys| keys.trees.iter().filter(|tree| !tree.gone.is_empty()).map(|tree| tree.number).collect();
        let chosen: Vec<u32> = if keys.anew { of_all(keys) } else { changed.into_iter().collect() };
        chosen.iter().for_each(|&tree| keys.commits[tree as usize] = number);
        let trees = chosen.iter().map(|&tree| keys.trees[tree as usize].clone()).collect();
        let mut pages = pack(number, trees, keys.forest.leaves, bytes);
        let each = entries_per_page(bytes);
        pages.extend(keys.commits.chunks(each).enumerate().map(|(index, commits)| KeyPage {
            commit: number,
            facts: KeyFacts::Table { first: (index * each) as u32, commits: commits.to_vec() },
        }));
        let count = pages.len().div_ceil(pages_per_program);
        let mut image = Vec::new();
        if is_kept {
            image.resize(count * pages_per_program * bytes, 0);
            pages.iter().zip(image.chunks_exact_mut(bytes)).for_each(|(page, bytes)| page.write(keys.forest.leaves, bytes));
        }
        let before = if keys.anew { before } else { 0 };
        keys.anew = false;
        keys.writing = Some(Writing { number, ordered: 0, programs: count as u32, image, before });
    }

    fn program_keys(&mut self, group: Group) -> Operation {
        let units = self.layout.units_per_program;
        let bytes = self.unit_bytes(units);
        let keys = self.keys.as_mut().expect("asked before");
        keys.busy = true;
        let program = keys.program;
        keys.program += 1;
        let writing = keys.writing.as_mut().expect("begun before");
        if !writing.image.is_empty() {
            keys.image.clear();
            let length = bytes.0 as usize;
            keys.image.extend_from_slice(&writing.image[writing.ordered as usize * length..][..length]);
        }
        writing.ordered += 1;
        let die = self.layout.die(group);
        let state = &mut self.dies[die];
        state.begin_batch();
        (0..units).for_each(|unit| state.push_entry(Entry::Keys { unit }, KEYS.0));
        let tag = self.pending.insert(Pending::new(Purpose::Keys, group, 0, bytes));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        self.order(die, tag, OperationKind::Program { target, bytes }, Cause::Keys)
    }

    /// The bytes of part `unit` of the key store's program that has just been ordered.
    pub fn key_bytes(&self, unit: u32) -> &[u8] {
        let keys = self.keys.as_ref().expect("only a core with a key store programs it");
        let bytes = self.config.unit.0 as usize;
        &keys.image[unit as usize * bytes..][..bytes]
    }

    /// The number of the commit that is under way.
    pub(crate) fn commit_number(&self) -> u64 {
        self.keys.as_ref().map_or(0, |keys| keys.number)
    }

    /// A program of key pages in `group` has ended.
    pub(crate) fn keys_programmed(&mut self, now: Nanos, report: &Report, group: Group) {
        self.dies[report.die].batch.clear();
        let programs = self.layout.programs;
        let keys = self.keys.as_mut().expect("it was ordered");
        keys.busy = false;
        let writing = keys.writing.as_mut().expect("it was ordered");
        if report.status != Status::Good {
            // What is whole stays where it is until a commit of everything, elsewhere, is whole.
            (keys.writing, keys.program, keys.anew) = (None, programs, true);
            self.groups.condemn(group);
        } else if writing.ordered == writing.programs {
            keys.due = Some(now + keys.register_time);
        }
        self.wake_keys();
        self.settle(now);
    }
}
