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
//! Here is what is there and what waits; `key_write.rs` brings it to flash, `key_page.rs` is the bytes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wordline_units::{Cause, DieId, Id, Lpn, Nanos};

use crate::config::Config;
use crate::data::DataStep;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::key_page::{self, Tree};
use crate::layout::{Group, Layout, UnitAddr};
use crate::request::Note;
use crate::secrets::Secrets;
use crate::techniques::hooks::Hook;
use crate::techniques::seam::{KeyStore, merge_key_stores};

/// The logical unit in the spare areas of key pages.
pub const KEYS: Lpn = Lpn(u32::MAX - 3);
/// How many times as long as what it must hold the log may become.
pub(crate) const GROWTH: usize = 4;

/// The key of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Which tree it is in.
    pub tree: u32,
    /// Which leaf of it.
    pub leaf: u32,
    /// The epoch of its stand when the unit was programmed.
    pub epoch: u32,
}

/// Keys to be destroyed, and who waits for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub(crate) keys: BTreeMap<Key, UnitAddr>,
    pub(crate) gates: Vec<u64>,
    /// Trims up to this version must be on flash first.
    pub(crate) trims: u64,
}

/// A commit on its way to flash.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(crate) number: u64,
    /// Program units of it that have been ordered, and all.
    pub(crate) ordered: u32,
    pub(crate) programs: u32,
    /// Its bytes, of a core that keeps data.
    pub(crate) image: Vec<u8>,
    /// Groups of the log that are not needed once it is whole.
    pub(crate) before: usize,
}

/// How trees lie over the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forest {
    /// Leaves of a tree.
    pub(crate) leaves: u32,
    /// Trees of a stand.
    per_stand: u32,
    /// Stands of a die: one for each block of its first plane.
    blocks: u32,
    dies: u32,
}

impl Forest {
    fn new(layout: &Layout, blocks: u32, leaves: u32) -> Forest {
        Forest { leaves, per_stand: layout.units_per_group.div_ceil(leaves), blocks, dies: layout.dies }
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

/// The key store of one core.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) forest: Forest,
    /// How long an overwrite of the register takes.
    pub(crate) register_time: Nanos,
    pub(crate) trees: Vec<Tree>,
    /// The commit that each was last written by; 0: never.
    pub(crate) commits: Vec<u64>,
    /// The present epoch of each stand.
    pub(crate) epochs: Vec<u32>,
    /// The log, oldest group first, and the next program unit of the last.
    pub(crate) groups: VecDeque<Group>,
    pub(crate) program: u32,
    /// The number of the newest commit.
    pub(crate) number: u64,
    /// What cannot wait for another commit goes into the next.
    pub(crate) waiting: Batch,
    /// What goes with the commit that is under way.
    pub(crate) under_way: Batch,
    pub(crate) writing: Option<Writing>,
    /// A program of it is under way.
    pub(crate) busy: bool,
    /// The next commit writes all trees.
    pub(crate) anew: bool,
    /// How many pages the log may have before it is written anew, as of when its last group was taken.
    pub(crate) pages_most: usize,
    /// When the register will have been overwritten.
    pub(crate) due: Option<Nanos>,
    /// The bytes of the program that is under way.
    pub(crate) image: Vec<u8>,
    /// Nothing can be written any more.
    pub(crate) stuck: bool,
}

impl Keys {
    pub(crate) fn new(store: KeyStore, layout: &Layout, config: &Config) -> Keys {
        let forest = Forest::new(layout, config.sheet.geometry.blocks, store.leaves);
        let tree = |number| Tree { number, epoch: 0, gone: Vec::new() };
        Keys {
            forest,
            register_time: store.register,
            trees: (0..forest.trees() as u32).map(tree).collect(),
            commits: vec![0; forest.trees()],
            epochs: vec![0; forest.stands()],
            groups: VecDeque::new(),
            program: layout.programs,
            number: 0,
            waiting: Batch::default(),
            under_way: Batch::default(),
            writing: None,
            busy: false,
            anew: false,
            pages_most: 0,
            due: None,
            image: Vec::new(),
            stuck: false,
        }
    }

    /// Whether a commit has something to destroy. Trims are durable up to `durable`.
    pub(crate) fn wants(&self, durable: u64) -> bool {
        !self.under_way.keys.is_empty() || (!self.waiting.keys.is_empty() && self.waiting.trims <= durable)
    }

    /// Whether `key` is to be destroyed already.
    fn is_doomed(&self, key: Key) -> bool {
        self.waiting.keys.contains_key(&key) || self.under_way.keys.contains_key(&key)
    }

    /// Pages of a commit that writes everything.
    pub(crate) fn pages(&self, bytes: usize) -> usize {
        let trees = self.trees.iter().filter(|tree| !tree.gone.is_empty()).map(|tree| tree.bytes(self.forest.leaves));
        trees.sum::<usize>() / bytes + self.trees.len().div_ceil(key_page::entries_per_page(bytes)) + 1
    }

    /// The keys that the commit destroys are none of their trees' any more. Returns the trees.
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
}

/// Block groups that the key store of a core with this configuration takes at most.
pub(crate) fn groups(config: &Config, layout: &Layout) -> u32 {
    let Some(store) = store(config, layout) else {
        return 0;
    };
    let forest = Forest::new(layout, config.sheet.geometry.blocks, store.leaves);
    let page = config.sheet.geometry.page.0 as usize;
    let used = |tree: u32| (layout.units_per_group - tree * store.leaves).min(store.leaves);
    let of_stand = (0..forest.per_stand).map(|tree| key_page::most_bytes(store.leaves, used(tree)));
    let largest = key_page::most_bytes(store.leaves, used(0));
    let trees = key_page::most_pages(forest.stands() * of_stand.sum::<usize>(), largest, page);
    let pages = trees + forest.trees().div_ceil(key_page::entries_per_page(page));
    let per_program = (layout.units_per_program / layout.units_per_page) as usize;
    let (whole, group) = (pages.div_ceil(per_program), layout.programs as usize);
    // The log before it is found too long, the commit that makes it so, and the one that writes all of it anew. Then the end of a group that a program has
    // failed in or that is not trusted after a power cut, and a group that waits for its erase.
    ((GROWTH * whole).max(group) + 2 * whole).div_ceil(group) as u32 + 2
}

/// Block groups that a core with this configuration keeps for keys at most; 0 where it has no key store.
pub fn key_groups(config: &Config) -> u32 {
    groups(config, &config.layout())
}

fn store(config: &Config, layout: &Layout) -> Option<KeyStore> {
    let with_store = config.techniques.iter().filter(|choice| choice.card().hooks.has(Hook::KeyStore));
    merge_key_stores(with_store.map(|choice| choice.build(layout, &config.sheet, config.margins.as_deref()).key_store()))
}

impl Ftl {
    /// The key of the unit at `addr`.
    fn key_at(&self, keys: &Keys, addr: UnitAddr) -> Key {
        let group = self.layout.group(addr);
        let stand = keys.forest.stand(self.layout.die(group), self.groups.blocks(group)[0]);
        keys.forest.key(stand, keys.epochs[stand], self.layout.offset(addr))
    }

    /// The epoch in which the program that `die` has just been ordered to do at `group` is encrypted; for whoever keeps bytes.
    pub fn key_epoch(&self, group: Group) -> Option<u32> {
        let keys = self.keys.as_ref()?;
        Some(keys.epochs[keys.forest.stand(self.layout.die(group), self.groups.blocks(group)[0])])
    }

    /// The key of the unit at `offset` of the stand on `block` of the first plane; for whoever keeps bytes.
    pub fn key_of(&self, die: DieId, block: u16, offset: u32, epoch: u32) -> Option<Key> {
        let forest = self.keys.as_ref()?.forest;
        Some(forest.key(forest.stand(die, block), epoch, offset))
    }

    /// Leaves of each tree of the key store.
    pub fn key_leaves(&self) -> Option<u32> {
        self.keys.as_ref().map(|keys| keys.forest.leaves)
    }

    /// Whether the key of `addr` is to be destroyed already.
    pub(crate) fn is_key_doomed(&self, addr: UnitAddr) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.is_doomed(self.key_at(keys, addr)))
    }

    /// Destroy the key of `addr`; `gate` waits for it.
    pub(crate) fn drop_key(&mut self, addr: UnitAddr, gate: u64, trims: u64) {
        let keys = self.keys.as_ref().expect("only who keeps keys drops them");
        let key = self.key_at(keys, addr);
        let Ftl { keys: Some(keys), secrets: Some(secrets), .. } = self else {
            unreachable!("a sanitiser is there");
        };
        secrets.hold(gate);
        let is_late = keys.under_way.keys.contains_key(&key);
        let batch = if is_late { &mut keys.under_way } else { &mut keys.waiting };
        batch.gates.push(gate);
        if !is_late {
            batch.keys.insert(key, addr);
            batch.trims = batch.trims.max(trims);
            if batch.trims > self.trims_durable() {
                self.hurry_journal();
            }
        }
    }

    /// A group has been erased: its units have other keys from now on.
    pub(crate) fn next_epoch(&mut self, group: Group) {
        if let Some(keys) = &mut self.keys {
            let stand = keys.forest.stand(self.layout.die(group), self.groups.blocks(group)[0]);
            let trees = &keys.trees[stand * keys.forest.per_stand as usize..][..keys.forest.per_stand as usize];
            let past = trees.iter().filter(|tree| !tree.gone.is_empty()).map(|tree| tree.epoch).max().unwrap_or(0);
            keys.epochs[stand] = keys.epochs[stand].max(past) + 1;
        }
    }

    /// The register has been overwritten: nothing opens what was before.
    pub(crate) fn register_overwritten(&mut self, now: Nanos) {
        let keys = self.keys.as_mut().expect("it was due");
        keys.due = None;
        let writing = keys.writing.take().expect("it was written");
        if self.config.keeps_data {
            self.data_steps.push_back(DataStep::Register { commit: writing.number });
        }
        let done = std::mem::take(&mut keys.under_way);
        let needless: Vec<Group> = keys.groups.drain(..writing.before).collect();
        needless.into_iter().for_each(|group| self.release_own_group(group, Cause::Keys));
        let keys = self.keys.as_ref().expect("it was due");
        let gone: Vec<UnitAddr> = done.keys.iter().filter(|&(key, &addr)| self.key_at(keys, addr) == *key).map(|(_, &addr)| addr).collect();
        let secrets: &mut Secrets = self.secrets.as_mut().expect("a sanitiser is there");
        gone.iter().for_each(|&addr| secrets.gone_one(addr));
        self.notes.extend(gone.into_iter().map(Note::KeyGone));
        done.gates.into_iter().for_each(|gate| self.pass_gate(gate));
        for index in 0..self.dies.len() {
            let die = DieId(index as u16);
            // What failed leaves service once nothing secret is in it.
            if !self.dies[die].erasable.is_empty() {
                self.wake(die);
            }
        }
        self.wake_keys();
        self.settle(now);
    }

    /// The groups of the key store hold nothing that an image would need: it takes everything valid for secret, and trees for whole.
    pub(crate) fn key_groups(&self) -> impl Iterator<Item = Group> + '_ {
        self.keys.iter().flat_map(|keys| keys.groups.iter().copied()).filter(|group| self.groups.use_of(*group) == Use::Journal)
    }
}
