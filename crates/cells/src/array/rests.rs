//! Times for which a drive lay without power: all that was programmed is older by them, although no virtual time has passed.
//!
//! A block has a list of rests, each with the number of pages that were programmed then, until its erase. Dies that never lay so cost a test.

use serde::{Deserialize, Serialize};
use wordline_units::Nanos;

/// A rest of a block: the number of its pages, from the first on, that were programmed by then, and its seconds at the reference temperature.
type Rest = (u16, f64);

/// Rests of the blocks of a die that hold data since before them, as plain data for an image.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RestTables {
    /// Instant of the last rest.
    at: Nanos,
    /// Number of each such block, and its rests.
    blocks: Vec<(u32, Vec<Rest>)>,
}

/// Rests of the blocks of a die.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rests {
    /// Rests by block. The list is empty on a die that never lay without power.
    blocks: Vec<Vec<Rest>>,
    /// Instant of the last rest.
    at: Nanos,
}

impl Rests {
    /// Seconds at the reference temperature for which a page lay.
    #[inline]
    pub(crate) fn of(&self, block: u32, page: u32) -> f64 {
        if self.blocks.is_empty() { 0.0 } else { self.sum(block, page) }
    }

    /// The same for what was done to a page at `since`, such as a lock: none, if the page has not lain since.
    pub(crate) fn since(&self, since: Nanos, block: u32, page: u32) -> f64 {
        if since <= self.at { self.of(block, page) } else { 0.0 }
    }

    #[cold]
    fn sum(&self, block: u32, page: u32) -> f64 {
        self.blocks[block as usize].iter().filter(|(pages, _)| page < u32::from(*pages)).map(|(_, seconds)| seconds).sum()
    }

    /// Forgets the rests of a block that is erased.
    #[inline]
    pub(crate) fn erase(&mut self, block: u32) {
        if let Some(rests) = self.blocks.get_mut(block as usize) {
            rests.clear();
        }
    }

    /// Adds a rest of `kept` seconds at the reference temperature, which ends at `now`, of all of `blocks` blocks. `pages` returns the number of programmed
    /// pages of a block.
    pub(crate) fn lie(&mut self, blocks: usize, kept: f64, now: Nanos, mut pages: impl FnMut(usize) -> u16) {
        self.at = now;
        for block in 0..blocks {
            let pages = pages(block);
            if pages > 0 {
                self.add(blocks, block as u32, (pages, kept));
            }
        }
    }

    /// Rests of all blocks, for an image.
    pub(crate) fn tables(&self) -> RestTables {
        let held = (0..).zip(&self.blocks).filter(|(_, rests)| !rests.is_empty());
        let blocks: Vec<_> = held.map(|(block, rests)| (block, rests.clone())).collect();
        if blocks.is_empty() { RestTables::default() } else { RestTables { at: self.at, blocks } }
    }

    /// Rests of an image, of a die of `blocks` blocks with `most` pages each. `None`: they are of a die of another size.
    pub(crate) fn of_tables(RestTables { at, blocks: tables }: &RestTables, blocks: usize, most: usize) -> Option<Rests> {
        let is_sound = |&(pages, seconds): &Rest| usize::from(pages) <= most && seconds.is_finite() && seconds >= 0.0;
        if tables.iter().any(|(block, rests)| *block as usize >= blocks || !rests.iter().all(is_sound)) {
            return None;
        }
        let mut all = Rests { at: *at, ..Rests::default() };
        tables.iter().for_each(|(block, rests)| rests.iter().for_each(|rest| all.add(blocks, *block, *rest)));
        Some(all)
    }

    /// Adds a rest of a block, of `blocks`.
    fn add(&mut self, blocks: usize, block: u32, (pages, seconds): Rest) {
        self.blocks.resize_with(blocks, Vec::new);
        let rests = &mut self.blocks[block as usize];
        match rests.last_mut().filter(|(before, _)| *before == pages) {
            Some((_, before)) => *before += seconds,
            None => rests.push((pages, seconds)),
        }
    }
}
