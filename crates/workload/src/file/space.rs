//! The free space of a file system, as extents.

use std::collections::BTreeMap;

/// How many free extents are looked at for one that holds all that is wanted. Allocators that search further find better places and take longer.
const PROBES: usize = 64;

/// Blocks in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// The first block.
    pub start: u64,
    /// How many.
    pub len: u64,
}

impl Extent {
    /// The block after the last one.
    pub fn end(&self) -> u64 {
        self.start + self.len
    }
}

/// Free extents by where they begin. Two of them never touch.
#[derive(Clone, Debug, Default)]
pub struct Space {
    free: BTreeMap<u64, u64>,
    blocks: u64,
}

impl Space {
    /// `blocks` blocks, all free.
    pub fn new(blocks: u64) -> Space {
        let mut space = Space::default();
        space.give(Extent { start: 0, len: blocks });
        space
    }

    /// How many blocks are free.
    pub fn free(&self) -> u64 {
        self.blocks
    }

    /// How many extents they are in.
    pub fn extents(&self) -> usize {
        self.free.len()
    }

    /// Take `blocks` blocks, as near behind `goal` as they lie in one piece; if none of the next free extents is large enough, the largest of these
    /// first, and so on. `None`, and nothing is taken, if there are not so many.
    pub fn take(&mut self, goal: u64, blocks: u64) -> Option<Vec<Extent>> {
        if blocks > self.blocks {
            return None;
        }
        let mut taken = Vec::with_capacity(1);
        let (mut goal, mut left) = (goal, blocks);
        while left > 0 {
            let found = self.near(goal, left);
            let piece = Extent { start: found.start, len: found.len.min(left) };
            self.cut(piece);
            left -= piece.len;
            goal = piece.end();
            taken.push(piece);
        }
        Some(taken)
    }

    /// Take the blocks that follow `goal`, up to `blocks` of them, if the very next is free.
    pub fn extend(&mut self, goal: u64, blocks: u64) -> Option<Extent> {
        let len = (*self.free.get(&goal)?).min(blocks);
        let piece = Extent { start: goal, len };
        self.cut(piece);
        Some(piece)
    }

    /// The first free extent behind `goal` with room for `blocks`, or the largest of the first few. Something is free.
    fn near(&self, goal: u64, blocks: u64) -> Extent {
        let tail = self.free.range(..goal).next_back().filter(|&(&start, &len)| start + len > goal);
        let tail = tail.map(|(&start, &len)| Extent { start: goal, len: start + len - goal });
        let behind = self.free.range(goal..).chain(self.free.range(..goal)).map(|(&start, &len)| Extent { start, len });
        let mut largest = Extent { start: 0, len: 0 };
        for extent in tail.into_iter().chain(behind).take(PROBES) {
            if extent.len >= blocks {
                return extent;
            }
            if extent.len > largest.len {
                largest = extent;
            }
        }
        largest
    }

    /// Take `piece`, which lies in one free extent, out of it.
    fn cut(&mut self, piece: Extent) {
        let (&start, &len) = self.free.range(..=piece.start).next_back().expect("what is taken is free");
        debug_assert!(start + len >= piece.end() && piece.len > 0);
        self.free.remove(&start);
        if piece.start > start {
            self.free.insert(start, piece.start - start);
        }
        if start + len > piece.end() {
            self.free.insert(piece.end(), start + len - piece.end());
        }
        self.blocks -= piece.len;
    }

    /// Give `extent` back.
    ///
    /// # Panics
    /// If part of it is free already.
    pub fn give(&mut self, extent: Extent) {
        let Extent { mut start, mut len } = extent;
        self.blocks += len;
        if let Some((&before, &blocks)) = self.free.range(..=start).next_back() {
            assert!(before + blocks <= start, "blocks {start} + {len} are given back twice");
            if before + blocks == start {
                self.free.remove(&before);
                (start, len) = (before, blocks + len);
            }
        }
        if let Some((&behind, &blocks)) = self.free.range(start..).next() {
            assert!(start + len <= behind, "blocks {start} + {len} are given back twice");
            if start + len == behind {
                self.free.remove(&behind);
                len += blocks;
            }
        }
        self.free.insert(start, len);
    }

    /// Whether `block` is free.
    pub fn is_free(&self, block: u64) -> bool {
        self.free.range(..=block).next_back().is_some_and(|(&start, &len)| block < start + len)
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::random::{Draw, Stream};

    use super::*;

    #[test]
    fn extents_are_those_of_a_bitmap() {
        for seed in 0..20 {
            let mut draw = Draw::new(seed, Stream::Mix, 0);
            let blocks = 300;
            let mut space = Space::new(blocks);
            let mut used = vec![false; blocks as usize];
            let mut held: Vec<Extent> = Vec::new();
            for _ in 0..2_000 {
                if draw.happens(0.55) {
                    let (goal, want) = (draw.below(blocks), 1 + draw.below(24));
                    let free = used.iter().filter(|&&used| !used).count() as u64;
                    let taken = space.take(goal, want);
                    assert_eq!(taken.is_some(), want <= free, "seed {seed}");
                    for extent in taken.unwrap_or_default() {
                        for block in extent.start..extent.end() {
                            assert!(!std::mem::replace(&mut used[block as usize], true), "seed {seed}: block {block} twice");
                        }
                        held.push(extent);
                    }
                } else if !held.is_empty() {
                    let extent = held.swap_remove(draw.below(held.len() as u64) as usize);
                    (extent.start..extent.end()).for_each(|block| used[block as usize] = false);
                    space.give(extent);
                }
                assert_eq!(space.free(), used.iter().filter(|&&used| !used).count() as u64);
                let runs = used.chunk_by(|a, b| a == b).filter(|run| !run[0]).count();
                assert_eq!(space.extents(), runs, "seed {seed}: neighbours that are not one");
                for block in 0..blocks {
                    assert_eq!(space.is_free(block), !used[block as usize], "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn what_fits_in_one_piece_comes_in_one_piece_near_the_goal() {
        let mut space = Space::new(100);
        assert_eq!(space.take(40, 10), Some(vec![Extent { start: 40, len: 10 }]));
        assert_eq!(space.take(0, 40), Some(vec![Extent { start: 0, len: 40 }]));
        // Behind 30 there are 50 blocks in one piece.
        assert_eq!(space.take(30, 50), Some(vec![Extent { start: 50, len: 50 }]));
        assert_eq!(space.take(0, 1), None);
        space.give(Extent { start: 10, len: 5 });
        space.give(Extent { start: 60, len: 7 });
        assert_eq!(space.take(0, 9), Some(vec![Extent { start: 60, len: 7 }, Extent { start: 10, len: 2 }]));
        assert_eq!(space.extend(12, 9), Some(Extent { start: 12, len: 3 }));
        assert_eq!(space.extend(12, 1), None);
    }

    #[test]
    #[should_panic(expected = "given back twice")]
    fn giving_back_what_is_free_is_noticed() {
        let mut space = Space::new(10);
        space.take(0, 4);
        space.give(Extent { start: 3, len: 3 });
    }
}
