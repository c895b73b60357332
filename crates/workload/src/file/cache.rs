//! The host's page cache between files and the drive: which blocks the host has in its memory, and which of them the drive does not have yet.
//!
//! Blocks are replaced least recently used first. A block that is written without being durable stays in memory until it is the oldest of too many such
//! blocks, is replaced, or is synchronised; one that its file has lost meanwhile never reaches the drive.

use std::collections::VecDeque;

use wordline_units::Tolerance;

use super::tag::FileTag;

/// No block.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Clean,
    /// Written so many writes after the first; the number tells apart what is queued more than once.
    Dirty(u32),
}

/// Blocks in the memory of the host.
#[derive(Clone, Debug)]
pub(super) struct PageCache {
    capacity: u32,
    /// Number of blocks that may be dirty.
    dirty_max: u32,
    state: Vec<State>,
    /// The more and the less recently used neighbour of each block that is cached.
    links: Vec<[u32; 2]>,
    newest: u32,
    oldest: u32,
    held: u32,
    dirty: u32,
    writes: u32,
    /// Dirty blocks in the order in which they became so, some of them clean or written again meanwhile.
    queue: VecDeque<(u32, u32)>,
    /// Whose data a dirty block holds.
    owners: Vec<Owner>,
}

/// Whose data a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) tag: FileTag,
    /// Whether its file is secure.
    pub(super) is_secure: bool,
    /// Latency that reads of its file may have.
    pub(super) tolerance: Tolerance,
}

const NOBODY: Owner = Owner { tag: FileTag { file: 0, version: 0, replaces: false }, is_secure: true, tolerance: Tolerance::Default };

impl PageCache {
    /// Creates a cache of `capacity` blocks for a drive of `blocks`, of which `dirty` may be dirty.
    pub(super) fn new(blocks: u64, capacity: u64, dirty: u64) -> PageCache {
        let blocks = blocks as usize;
        PageCache {
            capacity: (capacity.min(blocks as u64) as u32).max(1),
            dirty_max: dirty as u32,
            state: vec![State::Absent; blocks],
            links: vec![[NONE; 2]; blocks],
            newest: NONE,
            oldest: NONE,
            held: 0,
            dirty: 0,
            writes: 0,
            queue: VecDeque::new(),
            owners: vec![NOBODY; blocks],
        }
    }

    /// True if `block` is in memory, and then it is the one used most recently.
    pub(super) fn hit(&mut self, block: u64) -> bool {
        let block = block as u32;
        if self.state[block as usize] == State::Absent {
            return false;
        }
        self.unlink(block);
        self.link(block);
        true
    }

    /// Keep `block`, which the drive has.
    pub(super) fn keep(&mut self, block: u64) {
        self.clean(block);
        if !self.hit(block) {
            self.state[block as usize] = State::Clean;
            self.held += 1;
            self.link(block as u32);
        }
    }

    /// Write `block` in memory only.
    pub(super) fn write(&mut self, block: u64, owner: Owner) {
        self.keep(block);
        self.writes += 1;
        self.dirty += 1;
        self.state[block as usize] = State::Dirty(self.writes);
        self.owners[block as usize] = owner;
        self.queue.push_back((block as u32, self.writes));
    }

    /// Note that the drive has `block`, or that nobody needs it any more.
    fn clean(&mut self, block: u64) {
        if let State::Dirty(_) = self.state[block as usize] {
            self.state[block as usize] = State::Clean;
            self.dirty -= 1;
        }
    }

    /// Forget `block`, whose file is gone.
    pub(super) fn forget(&mut self, block: u64) {
        self.clean(block);
        if self.state[block as usize] == State::Clean {
            self.state[block as usize] = State::Absent;
            self.unlink(block as u32);
            self.held -= 1;
        }
    }

    /// Next run of blocks to be written to the drive, because too many are dirty, memory is full of them, or `all` are to be written: first block, number of
    /// blocks, and whose data they are.
    pub(super) fn write_back(&mut self, all: bool) -> Option<(u64, u64, Owner)> {
        while self.held > self.capacity {
            let oldest = u64::from(self.oldest);
            if let State::Dirty(_) = self.state[self.oldest as usize] {
                return Some(self.run(oldest));
            }
            self.forget(oldest);
        }
        while self.dirty > if all { 0 } else { self.dirty_max } {
            let (block, write) = self.queue.pop_front().expect("what is dirty was queued");
            if self.state[block as usize] == State::Dirty(write) {
                return Some(self.run(u64::from(block)));
            }
        }
        None
    }

    /// The dirty blocks around `block` that one write left; they are clean now.
    fn run(&mut self, block: u64) -> (u64, u64, Owner) {
        let owner = self.owners[block as usize];
        let belongs = |cache: &PageCache, block: u64| {
            matches!(cache.state.get(block as usize), Some(State::Dirty(_))) && cache.owners[block as usize] == owner
        };
        let (mut first, mut end) = (block, block + 1);
        while first > 0 && belongs(self, first - 1) {
            first -= 1;
        }
        while belongs(self, end) {
            end += 1;
        }
        (first..end).for_each(|block| self.clean(block));
        (first, end - first, owner)
    }

    fn link(&mut self, block: u32) {
        self.links[block as usize] = [NONE, self.newest];
        match self.newest {
            NONE => self.oldest = block,
            newest => self.links[newest as usize][0] = block,
        }
        self.newest = block;
    }

    fn unlink(&mut self, block: u32) {
        let [newer, older] = self.links[block as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize][1] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize][0] = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;

    use super::*;

    fn owner(version: u32) -> Owner {
        Owner { tag: FileTag { file: 1, version, replaces: true }, is_secure: true, tolerance: Tolerance::Default }
    }

    /// The same without any cleverness: blocks in the order of their use, dirty ones by the number of their write.
    #[derive(Default)]
    struct Naive {
        used: VecDeque<u64>,
        dirty: BTreeMap<u64, (u32, Owner)>,
        writes: u32,
    }

    impl Naive {
        fn touch(&mut self, block: u64) {
            self.used.retain(|&other| other != block);
            self.used.push_back(block);
        }

        fn write_back(&mut self, capacity: usize, most: usize) -> Option<(u64, u64, Owner)> {
            let first = loop {
                if self.used.len() > capacity {
                    let oldest = self.used[0];
                    if self.dirty.contains_key(&oldest) {
                        break oldest;
                    }
                    self.used.pop_front();
                } else if self.dirty.len() > most {
                    break *self.dirty.iter().min_by_key(|(_, (write, _))| *write).expect("there are some").0;
                } else {
                    return None;
                }
            };
            let owner = self.dirty[&first].1;
            let belongs = |block: &u64| self.dirty.get(block).is_some_and(|(_, other)| *other == owner);
            let low = (0..first).rev().take_while(belongs).last().unwrap_or(first);
            let end = (first..).take_while(belongs).last().expect("itself") + 1;
            self.dirty.retain(|block, _| !(low..end).contains(block));
            Some((low, end - low, owner))
        }
    }

    proptest! {
        #[test]
        fn it_is_equal_to_its_naive_twin(steps in prop::collection::vec((0u64..12, 0u8..5, 0u32..3), 1..300), capacity in 1u64..12, dirty in 0u64..8) {
            let (mut cache, mut naive) = (PageCache::new(12, capacity, dirty), Naive::default());
            for (block, kind, version) in steps {
                match kind {
                    0 => {
                        prop_assert_eq!(cache.hit(block), naive.used.contains(&block));
                        if naive.used.contains(&block) {
                            naive.touch(block);
                        }
                    }
                    1 => {
                        cache.keep(block);
                        naive.dirty.remove(&block);
                        naive.touch(block);
                    }
                    2 | 3 => {
                        cache.write(block, owner(version));
                        naive.writes += 1;
                        naive.dirty.insert(block, (naive.writes, owner(version)));
                        naive.touch(block);
                    }
                    _ => {
                        cache.forget(block);
                        naive.dirty.remove(&block);
                        naive.used.retain(|&other| other != block);
                    }
                }
                loop {
                    let (own, twin) = (cache.write_back(false), naive.write_back(capacity as usize, dirty as usize));
                    prop_assert_eq!(own, twin);
                    if own.is_none() {
                        break;
                    }
                }
                prop_assert_eq!((cache.held as usize, cache.dirty as usize), (naive.used.len(), naive.dirty.len()));
            }
            while cache.write_back(true).is_some() {}
            prop_assert_eq!(cache.dirty, 0);
        }
    }
}
