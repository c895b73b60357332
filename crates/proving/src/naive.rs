//! A page-level firmware in a hundred lines of vectors, written from the rules and not from the firmware's code.
//!
//! The rules: one die; the host writes one block and moved data another; when a write or move has used up its block, the block that has been free
//! longest is opened; whenever fewer than `start` blocks are free, victims are emptied and erased one after the other until that is no longer so.
//! Checks: counts of programs, moves and erases, and where everything lies, exactly. Does not check: several dies, planes, mapping units below a
//! page, buffers, failures, or anything about time.

/// Which block goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The fewest valid pages; among equals, the lowest number.
    Greedy,
    /// The one closed first.
    Fifo,
}

const NOWHERE: usize = usize::MAX;

#[derive(Clone, Debug)]
struct Block {
    /// The logical page in each page written so far.
    pages: Vec<u32>,
    valid: usize,
    /// When it was filled up; `None` while it is free or being written.
    closed: Option<u64>,
}

/// The drive.
#[derive(Clone, Debug)]
pub struct Naive {
    rule: Rule,
    start: usize,
    pages_per_block: usize,
    blocks: Vec<Block>,
    /// Block and page of each logical page.
    map: Vec<(usize, usize)>,
    free: Vec<usize>,
    open: [Option<usize>; 2],
    closings: u64,
    /// All programs.
    pub programs: u64,
    /// Programs of data that was programmed before.
    pub moves: u64,
    /// Erased block groups.
    pub erases: u64,
}

impl Naive {
    /// `blocks` erased blocks.
    pub fn new(rule: Rule, blocks: usize, pages_per_block: usize, logical: usize, start: usize) -> Naive {
        Naive {
            rule,
            start,
            pages_per_block,
            blocks: vec![Block { pages: vec![], valid: 0, closed: None }; blocks],
            map: vec![(NOWHERE, 0); logical],
            free: (0..blocks).collect(),
            open: [None; 2],
            closings: 0,
            programs: 0,
            moves: 0,
            erases: 0,
        }
    }

    /// The host writes `page`.
    pub fn write(&mut self, page: u32) {
        self.reclaim();
        self.put(0, page);
        // The firmware looks after its free blocks as soon as the program is done, before the next write comes.
        self.reclaim();
    }

    /// The host trims `page`.
    pub fn trim(&mut self, page: u32) {
        self.forget(page);
        self.map[page as usize] = (NOWHERE, 0);
    }

    /// Block and page of `page`.
    pub fn place(&self, page: u32) -> Option<(usize, usize)> {
        Some(self.map[page as usize]).filter(|&(block, _)| block != NOWHERE)
    }

    fn forget(&mut self, page: u32) {
        let (block, _) = self.map[page as usize];
        if block != NOWHERE {
            self.blocks[block].valid -= 1;
        }
    }

    fn put(&mut self, stream: usize, page: u32) {
        let block = match self.open[stream] {
            Some(block) => block,
            None => self.free.remove(0),
        };
        self.forget(page);
        self.map[page as usize] = (block, self.blocks[block].pages.len());
        self.blocks[block].pages.push(page);
        self.blocks[block].valid += 1;
        self.programs += 1;
        self.moves += stream as u64;
        let full = self.blocks[block].pages.len() == self.pages_per_block;
        self.open[stream] = (!full).then_some(block);
        if full {
            self.blocks[block].closed = Some(self.closings);
            self.closings += 1;
        }
    }

    fn victim(&self) -> Option<usize> {
        let closed = self.blocks.iter().enumerate().filter_map(|(number, block)| Some((number, block, block.closed?)));
        // With nothing but valid pages everywhere, moving any of them frees nothing.
        if closed.clone().all(|(_, block, _)| block.valid == self.pages_per_block) {
            return None;
        }
        match self.rule {
            Rule::Greedy => closed.min_by_key(|&(number, block, _)| (block.valid, number)),
            Rule::Fifo => closed.min_by_key(|&(_, _, when)| when),
        }
        .map(|(number, ..)| number)
    }

    fn reclaim(&mut self) {
        while self.free.len() < self.start {
            let Some(victim) = self.victim() else { return };
            self.blocks[victim].closed = None;
            let pages = std::mem::take(&mut self.blocks[victim].pages);
            for (place, page) in pages.into_iter().enumerate() {
                if self.map[page as usize] == (victim, place) {
                    self.put(1, page);
                }
            }
            self.erases += 1;
            self.free.push(victim);
        }
    }
}
