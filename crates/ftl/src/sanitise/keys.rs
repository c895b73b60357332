//! The key store: a key for each unit on flash, and how keys are destroyed for good.
//!
//! ```text
//!   register of the controller (overwritten in place)
//!        │ opens                                        key log: block groups, written in order
//!        ▼                                              [ trees ][ table ] [ trees ][ table ] …    one commit after another
//!   table of the newest commit ── opens ──► newest copy of each tree ── gives ──► keys of units
//! ```
//!
//! - A stand is the block of each plane that a group stands on. Its units have keys by where they lie and by the *epoch*, which grows with each erase. Keys are
//!   the leaves of trees; whoever has an inner node has all leaves below it, so an untouched tree is one key. A tree whose leaves are gone is told by
//!   the nodes that are left. It also has one key for all epochs to come, from which none that is past can be made.
//! - To destroy keys is a *commit*: the trees they were in are written without them, the table is written anew, and at last the register is overwritten. From
//!   then on nothing opens the old table. What waits while a commit is under way goes together into the next.
//! - When the log is longer than [`GROWTH`] times what it must hold, and than a group, a commit writes all trees, and the groups before it are let go.
//! - Nothing is taken and nothing is written before the first key is destroyed.
//!
//! [`KeyPage`] has the bytes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wordline_flash::Operation;
use wordline_units::{DieId, Id, Nanos};

use crate::metadata::log::{Log, Rescue};
use crate::pages::keys::{KeyFacts, KeyPage, Tree, entries_per_page, pack};
use crate::state::Core;
use crate::state::allocation;
use crate::state::data::{DataStep, MetadataKind};
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::techniques::seam::KeyStore;

/// Greatest length of the log, as a multiple of what it must hold.
pub(crate) const GROWTH: usize = 4;

/// The key of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Tree that holds the key.
    pub tree: u32,
    /// Leaf of the tree.
    pub leaf: u32,
    /// Epoch of the stand when the unit was programmed.
    pub epoch: u32,
}

/// Keys to be destroyed, and the barriers that wait for it.
#[derive(Clone, Debug, Default)]
struct Batch {
    keys: BTreeMap<Key, UnitAddr>,
    barriers: Vec<u64>,
    /// Version up to which trims must be on flash first.
    trims: u64,
}

/// A commit on its way to flash.
#[derive(Clone, Debug)]
struct Writing {
    number: u64,
    /// Program units of the commit that have been ordered.
    ordered: u32,
    programs: u32,
    /// Bytes of the commit, in a core that keeps data.
    image: Vec<u8>,
    /// Number of log groups that are not needed once the commit is whole.
    before: usize,
}

/// Layout of the trees over the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forest {
    /// Leaves of a tree.
    leaves: u32,
    /// Trees of a stand.
    per_stand: u32,
    /// Stands of a die: one for each block of its first plane.
    blocks: u32,
    dies: u32,
}

impl Forest {
    pub(crate) fn new(layout: &Layout, blocks: u32, leaves: u32) -> Forest {
        Forest { leaves, per_stand: layout.units_per_group.div_ceil(leaves), blocks, dies: layout.dies }
    }

    pub(crate) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// Trees of a stand.
    pub(crate) fn per_stand(&self) -> u32 {
        self.per_stand
    }

    pub(crate) fn stand(&self, die: DieId, block: u16) -> usize {
        die.index() * self.blocks as usize + usize::from(block)
    }

    pub(crate) fn stands(&self) -> usize {
        (self.dies * self.blocks) as usize
    }

    pub(crate) fn trees(&self) -> usize {
        self.stands() * self.per_stand as usize
    }

    pub(crate) fn stand_of(&self, tree: u32) -> usize {
        (tree / self.per_stand) as usize
    }

    pub(crate) fn key(&self, stand: usize, epoch: u32, offset: u32) -> Key {
        Key { tree: stand as u32 * self.per_stand + offset / self.leaves, leaf: offset % self.leaves, epoch }
    }
}

/// The key store's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Program(BlockGroup),
    /// A page is due and no group can take it.
    NoRoom,
}

/// The key store of one core.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    forest: Forest,
    /// Time that an overwrite of the register takes.
    register_time: Nanos,
    trees: Vec<Tree>,
    /// Commit that each tree was last written by; 0: never.
    commits: Vec<u64>,
    /// Present epoch of each stand.
    epochs: Vec<u32>,
    /// Commits, one after the other.
    log: Log,
    /// Number of the newest commit.
    number: u64,
    /// Keys that the next commit destroys.
    waiting: Batch,
    /// Keys that the commit under way destroys.
    under_way: Batch,
    writing: Option<Writing>,
    /// True if the next commit writes all trees.
    anew: bool,
    /// True if a commit is due even without keys to destroy, because a part of the log is gone.
    is_torn: bool,
    /// Length in pages at which the log is written anew, as of when its last group was taken.
    pages_most: usize,
    /// Instant at which the register will have been overwritten.
    due: Option<Nanos>,
}

impl Keys {
    /// Creates the key store of a new core, with program units of `program_bytes` bytes where the core keeps data, and 0 elsewhere.
    pub(crate) fn new(store: KeyStore, layout: &Layout, blocks: u32, program_bytes: usize) -> Keys {
        let forest = Forest::new(layout, blocks, store.leaves);
        let tree = |number| Tree { number, epoch: 0, gone: Vec::new() };
        Keys {
            forest,
            register_time: store.register,
            trees: (0..forest.trees() as u32).map(tree).collect(),
            commits: vec![0; forest.trees()],
            epochs: vec![0; forest.stands()],
            log: Log::new(MetadataKind::Keys, program_bytes),
            number: 0,
            waiting: Batch::default(),
            under_way: Batch::default(),
            writing: None,
            anew: false,
            is_torn: false,
            pages_most: 0,
            due: None,
        }
    }

    /// True if a commit has keys to destroy. Trims are durable up to `durable`.
    fn wants(&self, durable: u64) -> bool {
        self.is_torn || !self.under_way.keys.is_empty() || (!self.waiting.keys.is_empty() && self.waiting.trims <= durable)
    }

    /// True if the key of `addr` is already to be destroyed.
    pub(crate) fn is_doomed(&self, core: &Core, addr: UnitAddr) -> bool {
        let key = self.key_at(core, addr);
        self.waiting.keys.contains_key(&key) || self.under_way.keys.contains_key(&key)
    }

    /// Number of pages of a commit that writes everything.
    fn pages(&self, bytes: usize) -> usize {
        let trees = self.trees.iter().filter(|tree| !tree.gone.is_empty()).map(|tree| tree.bytes(self.forest.leaves));
        trees.sum::<usize>() / bytes + self.trees.len().div_ceil(entries_per_page(bytes)) + 1
    }

    /// Remove the keys that the commit destroys from their trees. Returns the trees.
    pub(crate) fn cut(&mut self) -> BTreeSet<u32> {
        let mut changed = BTreeSet::new();
        for key in self.under_way.keys.keys() {
            changed.insert(key.tree);
            let tree = &mut self.trees[key.tree as usize];
            if tree.epoch < key.epoch {
                (tree.epoch, tree.gone) = (key.epoch, Vec::new());
            }
            if tree.epoch == key.epoch {
                tree.gone.resize((self.forest.leaves as usize).div_ceil(64), 0);
                tree.gone[key.leaf as usize / 64] |= 1 << (key.leaf % 64);
            }
        }
        // What was encrypted in an epoch that is over has been erased: none of its keys is needed.
        for &number in &changed {
            let tree = &mut self.trees[number as usize];
            if tree.epoch < self.epochs[self.forest.stand_of(number)] {
                tree.gone.fill(u64::MAX);
            }
        }
        changed
    }

    pub(crate) fn forest(&self) -> Forest {
        self.forest
    }

    /// The trees of a new core.
    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Stand of `group`.
    fn stand(&self, core: &Core, group: BlockGroup) -> usize {
        self.forest.stand(core.layout().die(group), core.groups().blocks(group)[0])
    }

    /// The key of the unit at `addr`.
    fn key_at(&self, core: &Core, addr: UnitAddr) -> Key {
        let stand = self.stand(core, core.layout().group(addr));
        self.forest.key(stand, self.epochs[stand], core.layout().offset(addr))
    }

    /// Epoch in which a program of `group` is encrypted now.
    pub(crate) fn epoch(&self, core: &Core, group: BlockGroup) -> u32 {
        self.epochs[self.stand(core, group)]
    }

    /// Number of the commit that is under way.
    pub(crate) fn commit_number(&self) -> u64 {
        self.number
    }

    /// The bytes of part `unit` of the program that has just been ordered, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        self.log.bytes(unit, bytes)
    }

    /// Instant at which the register will have been overwritten.
    #[inline]
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.due
    }

    /// Groups of the log that are in use. They hold nothing that an image needs, because an image takes all valid data for secret and all trees for whole.
    pub(crate) fn groups<'a>(&'a self, core: &'a Core) -> impl Iterator<Item = BlockGroup> + 'a {
        self.log.groups().filter(|&group| core.groups().use_of(group) == Use::Metadata)
    }

    /// Request that the key of `addr` is destroyed, for which `barrier` is held. Returns the version up to which trims must be on flash first, where that is
    /// new.
    pub(crate) fn drop_key(&mut self, core: &Core, addr: UnitAddr, barrier: u64, trims: u64) -> u64 {
        let key = self.key_at(core, addr);
        let is_late = self.under_way.keys.contains_key(&key);
        let batch = if is_late { &mut self.under_way } else { &mut self.waiting };
        batch.barriers.push(barrier);
        if is_late {
            return 0;
        }
        batch.keys.insert(key, addr);
        batch.trims = batch.trims.max(trims);
        batch.trims
    }

    /// Begin the next epoch of `group`, which has been erased: its units have other keys from now on.
    pub(crate) fn next_epoch(&mut self, core: &Core, group: BlockGroup) {
        let stand = self.stand(core, group);
        let trees = &self.trees[stand * self.forest.per_stand as usize..][..self.forest.per_stand as usize];
        let past = trees.iter().filter(|tree| !tree.gone.is_empty()).map(|tree| tree.epoch).max().unwrap_or(0);
        self.epochs[stand] = self.epochs[stand].max(past) + 1;
    }

    /// Restore the store after a power cut: the trees that the register opens, each with the commit it was written by, in `groups`. `newest`: newest commit
    /// that left anything. `seen`: epochs of stands.
    pub(crate) fn resume(
        &mut self,
        groups: VecDeque<BlockGroup>,
        (trees, commits): (Vec<Tree>, Vec<u64>),
        newest: u64,
        seen: impl Iterator<Item = (usize, u32)>,
        programs: u32,
    ) {
        // What follows a torn page is not trusted with more: the next commit writes all of it anew.
        self.anew = !groups.is_empty();
        self.log.resume(groups, programs);
        self.number = newest;
        for tree in &trees {
            // Where nothing is encrypted now, the next epoch is one of which no key is gone.
            let epoch = &mut self.epochs[self.forest.stand_of(tree.number)];
            *epoch = (*epoch).max(if tree.gone.is_empty() { 0 } else { tree.epoch + 1 });
        }
        (self.trees, self.commits) = (trees, commits);
        seen.for_each(|(stand, epoch)| self.epochs[stand] = epoch);
    }

    // The log.

    /// Next step of the key store. Trims are durable up to `durable`.
    fn next(&self, core: &Core, durable: u64) -> Step {
        let is_written = self.writing.as_ref().is_some_and(|writing| writing.ordered == writing.programs);
        let has_work = (self.writing.is_some() && !is_written) || (self.writing.is_none() && self.wants(durable));
        if self.log.is_stuck() || self.log.is_busy() || self.due.is_some() || !has_work {
            return Step::Nothing;
        }
        self.log.room(core.layout(), 1).map_or(Step::NoRoom, Step::Program)
    }

    /// Wake the die on which the key store has its next operation, if it has one.
    pub(crate) fn wake(&mut self, core: &mut Core, durable: u64) {
        if self.next(core, durable) == Step::NoRoom {
            self.find_room(core, core.settings().gc.floor);
        }
        if let Step::Program(group) = self.next(core, durable) {
            core.wake(core.layout().die(group));
        }
    }

    fn find_room(&mut self, core: &mut Core, left: u32) -> bool {
        let is_found = self.log.find_room(core, left);
        if is_found {
            self.pages_most = GROWTH * self.pages(core.settings().page);
        }
        is_found
    }

    /// Rescue a key store that has no room, when no operation is under way: it takes the last free group, or gives up.
    pub(crate) fn rescue(&mut self, core: &mut Core, durable: u64) -> Rescue {
        if self.next(core, durable) != Step::NoRoom {
            return Rescue::Needless;
        }
        if self.find_room(core, 0) {
            self.wake(core, durable);
            return Rescue::Found;
        }
        if allocation::make_plain(core) {
            // The erase ends in the same place, with a group that the key store takes.
            return Rescue::Found;
        }
        self.log.set_stuck();
        Rescue::Stuck
    }

    /// Next operation of `die` for the key store.
    pub(crate) fn step(&mut self, core: &mut Core, durable: u64, die: DieId) -> Option<Operation> {
        match self.next(core, durable) {
            Step::Program(group) if core.layout().die(group) == die => {
                if self.writing.is_none() {
                    self.begin_commit(core, durable);
                }
                Some(self.program(core))
            }
            Step::NoRoom => {
                self.wake(core, durable);
                None
            }
            Step::Program(_) | Step::Nothing => None,
        }
    }

    /// Put together the bytes of the next commit.
    fn begin_commit(&mut self, core: &Core, durable: u64) {
        let (bytes, layout) = (core.settings().page, core.layout());
        let pages_per_program = (layout.units_per_program / layout.units_per_page) as usize;
        self.is_torn = false;
        if self.under_way.keys.is_empty() && self.waiting.trims <= durable {
            self.under_way = std::mem::take(&mut self.waiting);
        }
        let changed = self.cut();
        // A commit may begin anywhere in a group, so that is asked of each; of one group alone nothing could be let go.
        let before = self.log.before_newest();
        let written = (before * layout.programs as usize + self.log.program() as usize) * pages_per_program;
        self.anew |= before > 0 && written > self.pages_most;
        self.number += 1;
        let number = self.number;
        let of_all = |keys: &Keys| keys.trees.iter().filter(|tree| !tree.gone.is_empty()).map(|tree| tree.number).collect();
        let chosen: Vec<u32> = if self.anew { of_all(self) } else { changed.into_iter().collect() };
        chosen.iter().for_each(|&tree| self.commits[tree as usize] = number);
        let trees = chosen.iter().map(|&tree| self.trees[tree as usize].clone()).collect();
        let mut pages = pack(number, trees, self.forest.leaves, bytes);
        let each = entries_per_page(bytes);
        pages.extend(self.commits.chunks(each).enumerate().map(|(index, commits)| KeyPage {
            commit: number,
            facts: KeyFacts::Table { first: (index * each) as u32, commits: commits.to_vec() },
        }));
        let count = pages.len().div_ceil(pages_per_program);
        let mut image = Vec::new();
        if core.settings().keeps_data {
            image.resize(count * pages_per_program * bytes, 0);
            pages.iter().zip(image.chunks_exact_mut(bytes)).for_each(|(page, bytes)| page.write(self.forest.leaves, bytes));
        }
        let before = if self.anew { before } else { 0 };
        self.anew = false;
        self.writing = Some(Writing { number, ordered: 0, programs: count as u32, image, before });
    }

    fn program(&mut self, core: &mut Core) -> Operation {
        let writing = self.writing.as_mut().expect("begun before");
        if !writing.image.is_empty() {
            let length = self.log.program_bytes();
            self.log.image_mut().copy_from_slice(&writing.image[writing.ordered as usize * length..][..length]);
        }
        writing.ordered += 1;
        self.log.issue(core)
    }

    /// Go on without the groups on dies that have failed: a commit of everything comes elsewhere, from memory.
    pub(crate) fn leave(&mut self, core: &Core) {
        let newest = self.log.groups().last();
        let before = self.writing.as_ref().map_or(0, |writing| writing.before);
        let (left, had_any) = self.log.leave(core, before);
        if !had_any {
            return;
        }
        (self.anew, self.is_torn) = (true, true);
        let is_cut = newest.is_some_and(|newest| core.is_failed(core.layout().die(newest)));
        match &mut self.writing {
            // The report of its program ends it.
            Some(writing) if self.log.is_busy() || !is_cut || self.due.is_some() => writing.before = left,
            Some(_) => self.writing = None,
            None => {}
        }
    }

    /// End a program of the key store in `group`.
    pub(crate) fn programmed(&mut self, core: &mut Core, good: bool, group: BlockGroup) {
        let writing = self.writing.as_mut().expect("it was ordered");
        if !good {
            // What is whole stays where it is until a commit of everything, elsewhere, is whole.
            (self.writing, self.anew) = (None, true);
            return self.log.failed(core, group);
        }
        self.log.ended();
        if writing.ordered == writing.programs {
            self.due = Some(core.now() + self.register_time);
        }
    }

    /// End the overwrite of the register: earlier tables can no longer be opened. Returns the units that have lost their keys, and the barriers that waited.
    pub(crate) fn overwritten(&mut self, core: &mut Core) -> (Vec<UnitAddr>, Vec<u64>) {
        self.due = None;
        let writing = self.writing.take().expect("it was written");
        core.outbox_mut().step(DataStep::Register { commit: writing.number });
        let done = std::mem::take(&mut self.under_way);
        self.log.release_oldest(core, writing.before);
        let gone = done.keys.iter().filter(|&(key, &addr)| self.key_at(core, addr) == *key).map(|(_, &addr)| addr).collect();
        (gone, done.barriers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;

    /// A store with trees of 64 leaves, on a core whose groups have 48 units.
    fn store() -> (Keys, Core) {
        let config = small(64);
        let layout = config.layout();
        let store = KeyStore { leaves: 64, register: Nanos(20) };
        let Rooms { core, .. } = build(&config);
        (Keys::new(store, &layout, config.sheet.geometry.blocks, 0), core)
    }

    #[test]
    fn every_unit_of_every_stand_has_a_key_of_its_own() {
        let (keys, core) = store();
        let layout = core.layout();
        let all = |forest: Forest| {
            let keys = (0..forest.stands()).flat_map(move |stand| (0..48).map(move |offset| forest.key(stand, 0, offset)));
            keys.inspect(move |key| assert!((key.tree as usize) < forest.trees() && key.leaf < forest.leaves())).collect::<BTreeSet<_>>()
        };
        for leaves in [16, 64] {
            let forest = Forest::new(layout, 10, leaves);
            assert_eq!(all(forest).len(), 48 * forest.stands(), "{leaves} leaves");
            assert!((0..forest.trees() as u32).all(|tree| forest.stand_of(tree) < forest.stands()));
        }
        assert_eq!(keys.forest().per_stand(), 1);
    }

    #[test]
    fn destroying_a_key_leaves_its_neighbours_and_those_of_later_epochs() {
        let (mut keys, core) = store();
        let layout = core.layout();
        keys.drop_key(&core, layout.unit(BlockGroup(3), 5), 1, 0);
        assert!(keys.is_doomed(&core, layout.unit(BlockGroup(3), 5)) && !keys.is_doomed(&core, layout.unit(BlockGroup(3), 6)));
        keys.under_way = std::mem::take(&mut keys.waiting);
        let changed = keys.cut();
        let stand = keys.stand(&core, BlockGroup(3));
        let has = |keys: &Keys, epoch, offset| {
            let key = keys.forest.key(stand, epoch, offset);
            keys.trees[key.tree as usize].has(epoch, key.leaf)
        };
        assert!(!has(&keys, 0, 5) && has(&keys, 0, 6) && has(&keys, 1, 5));
        assert_eq!(changed.len(), 1);
        assert!(keys.trees.iter().filter(|tree| !changed.contains(&tree.number)).all(|tree| tree.gone.is_empty()));
        // After an erase the units have other keys, and none of the epoch before is kept.
        keys.under_way = Batch::default();
        keys.next_epoch(&core, BlockGroup(3));
        assert_eq!(keys.epoch(&core, BlockGroup(3)), 1);
        assert!(!keys.is_doomed(&core, layout.unit(BlockGroup(3), 5)));
    }

    #[test]
    fn a_commit_waits_for_the_trims_that_made_its_keys_needless() {
        let (mut keys, core) = store();
        let addr = core.layout().unit(BlockGroup(1), 0);
        assert_eq!(keys.drop_key(&core, addr, 1, 9), 9);
        assert!(!keys.wants(8) && keys.wants(9));
        assert_eq!(keys.next(&core, 8), Step::Nothing);
        assert_eq!(keys.next(&core, 9), Step::NoRoom, "the log has no group yet");
    }
}
