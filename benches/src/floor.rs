//! The floor: what the bare bookkeeping of a page-level FTL costs, with no timing, no queues, no firmware.
//!
//! Map, reverse map and valid counts on the same number of blocks, pages and logical pages as the drive it is held against: once with greedy reclaim,
//! which no simulator that keeps those tables can do without, and once bare, as the cheapest thing that touches them at all.

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

    /// Enter `count` random logical pages at physical pages in turn: one update of map, reverse map and valid counts each, and nothing else. What is written
    /// over is lost, so the tables mean nothing afterwards.
    pub fn bare(&mut self, count: u64) {
        let logical = self.map.len() as u128;
        let blocks = self.valid.len() as u32;
        let (mut block, mut page, mut random) = (0, 0, 88_172_645_463_325_252u64);
        for _ in 0..count {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let lpn = ((u128::from(random) * logical) >> 64) as usize;
            let address = block << SHIFT | page;
            let before = std::mem::replace(&mut self.map[lpn], address);
            if before != u32::MAX {
                let valid = &mut self.valid[(before >> SHIFT) as usize];
                *valid = valid.wrapping_sub(1);
            }
            self.reverse[address as usize] = lpn as u32;
            let valid = &mut self.valid[block as usize];
            *valid = valid.wrapping_add(1);
            page += 1;
            if page == self.pages {
                (page, block) = (0, (block + 1) % blocks);
            }
        }
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
