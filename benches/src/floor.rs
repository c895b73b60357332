//! The floor: what the bare bookkeeping of a page-level FTL costs, with no timing, no queues, no firmware.
//!
//! Map, reverse map, valid counts and greedy reclaim on the same number of blocks, pages and logical pages as the drive it is held against. No
//! simulator that keeps those tables can be faster.

use wordline_units::random::{Draw, Stream};

const SHIFT: u32 = 10;

/// The tables of a bare FTL.
#[derive(Debug)]
pub struct Floor {
    map: Vec<u32>,
    reverse: Vec<u32>,
    valid: Vec<u32>,
    closed: Vec<bool>,
    free: Vec<u32>,
    open: u32,
    next: u32,
    pages: u32,
    /// Pages written, moved ones included.
    pub written: u64,
}

impl Floor {
    /// `blocks` blocks of `pages` pages, holding `logical` pages written once in order.
    pub fn new(blocks: u32, pages: u32, logical: u32) -> Floor {
        assert!(pages <= 1 << SHIFT);
        let mut floor = Floor {
            map: vec![u32::MAX; logical as usize],
            reverse: vec![u32::MAX; (blocks as usize) << SHIFT],
            valid: vec![0; blocks as usize],
            closed: vec![false; blocks as usize],
            free: (1..blocks).rev().collect(),
            open: 0,
            next: 0,
            pages,
            written: 0,
        };
        (0..logical).for_each(|page| floor.write(page));
        floor
    }

    /// Write `count` uniformly drawn pages, reclaiming while fewer than `keep` blocks are free. Returns the pages written in all.
    pub fn overwrite(&mut self, count: u64, keep: usize, seed: u64) -> u64 {
        let before = self.written;
        let mut draw = Draw::new(seed, Stream::Address, 0);
        let logical = self.map.len() as u64;
        for _ in 0..count {
            self.write(draw.below(logical) as u32);
            while self.free.len() < keep {
                self.reclaim();
            }
        }
        self.written - before
    }

    #[inline]
    fn write(&mut self, page: u32) {
        if self.next == self.pages {
            self.closed[self.open as usize] = true;
            self.open = self.free.pop().expect("reclaim keeps some free");
            self.next = 0;
        }
        let address = self.open << SHIFT | self.next;
        self.next += 1;
        self.written += 1;
        let before = std::mem::replace(&mut self.map[page as usize], address);
        if before != u32::MAX {
            self.valid[(before >> SHIFT) as usize] -= 1;
        }
        self.reverse[address as usize] = page;
        self.valid[self.open as usize] += 1;
    }

    fn reclaim(&mut self) {
        let victim = (0..self.valid.len())
            .filter(|&block| self.closed[block])
            .min_by_key(|&block| self.valid[block])
            .expect("there are closed blocks");
        for page in 0..self.pages {
            let address = (victim as u32) << SHIFT | page;
            let logical = self.reverse[address as usize];
            if self.map[logical as usize] == address {
                self.write(logical);
            }
        }
        self.closed[victim] = false;
        self.free.insert(0, victim as u32);
    }
}
