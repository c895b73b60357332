//! The physical blocks that serve as one block group, as recovery finds them.

use std::collections::BTreeSet;

use wordline_units::DieId;

use super::seen::Seen;
use crate::pages::checkpoint::CheckpointPage;
use crate::pages::journal::{Page, Serial, SnapshotPlaces};
use crate::state::layout::Layout;

/// A *stand*: one block of each plane, which together serve as one block group. Which blocks form a stand follows from the factory bad blocks; which group
/// stands on it changes when blocks go bad.
#[derive(Clone, Debug)]
pub(crate) struct PhysicalBlocks {
    pub(crate) die: DieId,
    pub(crate) blocks: [u16; 4],
    /// True if a program or an erase of one of the stand's blocks has failed.
    pub(crate) broken: bool,
    /// True if a page of the stand is not erased.
    pub(crate) touched: bool,
    pub(crate) erases: u32,
    /// Sort key by age: first the stands that a checkpoint knows, longest closed first, then the others by the highest version in them.
    pub(crate) order: (bool, u64),
    /// Pages of the stand that belong to the journal.
    pub(crate) journal: Vec<Page>,
    /// Program unit of each page in `journal`.
    pub(super) journal_programs: Vec<u32>,
    /// Pages of the stand that belong to checkpoints. Once the newest checkpoint has been chosen, one page of it is left, which says that the stand is
    /// needed.
    pub(crate) checkpoints: Vec<CheckpointPage>,
    /// True if the stand holds pages of checkpoints, useful or not. It then holds nothing else.
    pub(crate) holds_checkpoints: bool,
    /// True if the die reports that an erase of one of the stand's blocks was cut short.
    pub(super) is_torn: bool,
    /// True if nothing was programmed in the stand since the newest checkpoint was begun, so that the checkpoint tells what is needed of it.
    pub(crate) is_settled: bool,
    /// True if no page that was looked at could be read, erased ones included.
    pub(super) is_dark: bool,
    /// Findings about the stand's pages: unreadable ones, summaries and marks.
    pub(crate) seen: Seen,
    pub(super) look: Look,
}

/// Extent to which a stand has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The first program units, up to their first whole page: the stand holds data, or a part of the key store.
    Data,
    /// The first program units, which are erased: nothing was programmed behind them.
    Blank,
    /// Nothing yet, or the first program units: the last of them is not erased, and no page of it is whole.
    Unclear,
    /// All of the stand, or as much as is needed.
    Done,
}

impl PhysicalBlocks {
    /// True if an erase of the stand was begun and cut short: nothing that is still in it was needed.
    pub(super) fn erase_was_begun(&self) -> bool {
        self.is_torn || self.seen.is_erased_in_part()
    }

    /// True for mirrored pages, and for pages of marks, if a page of that kind of this generation of the journal is missing, as far as pages programmed after
    /// it tell.
    pub(super) fn gaps(&self, generation: u64) -> [bool; 2] {
        let pages =
            self.journal.iter().zip(&self.journal_programs).filter(|(page, _)| page.generation == generation && page.serial.own > 0);
        // The last program may have been cut short, but those before it have ended.
        let end = self.seen.written.saturating_sub(1);
        let (mut seen, mut last) = ([BTreeSet::new(), BTreeSet::new()], [0, 0]);
        for (page, &program) in pages {
            let Serial { own, mirrored, marks, here } = page.serial;
            seen[usize::from(!page.facts.is_mirrored())].insert(own);
            let of_this = if program < end { [0; 2] } else { here.map(u32::from) };
            last = [last[0].max(mirrored.saturating_sub(of_this[0])), last[1].max(marks.saturating_sub(of_this[1]))];
        }
        std::array::from_fn(|kind| (1..=last[kind]).any(|serial| !seen[kind].contains(&serial)))
    }

    /// True if power was lost before all programs of this generation's snapshot had been begun, second copies and marks included: nothing was ever promised
    /// on its word. In blocks that have failed the last program did, and the snapshot went elsewhere.
    pub(super) fn is_begun(&self, generation: u64, layout: &Layout) -> bool {
        let mut pages = self.journal.iter().filter(|page| page.generation == generation);
        let places = pages.find_map(|page| Some(SnapshotPlaces::new(layout, page.of_snapshot?.1, page.serial.marks)));
        let written = self.seen.written.saturating_sub(u32::from(self.broken));
        places.is_some_and(|places| written * places.each < places.end)
    }

    /// True if power was lost before the marks in this generation's snapshot were programmed: some are missing, all that are belong to programs that may not
    /// have ended, and nothing was written behind the snapshot.
    pub(super) fn is_cut_short(&self, generation: u64, layout: &Layout) -> bool {
        let pages: Vec<&Page> = self.journal.iter().filter(|page| page.generation == generation).collect();
        let Some((mirrored, marks)) = pages.iter().find_map(|page| Some((page.of_snapshot?.1, page.serial.marks))) else { return false };
        let seen: BTreeSet<u32> = pages.iter().filter(|page| !page.facts.is_mirrored()).map(|page| page.serial.own).collect();
        let places = SnapshotPlaces::new(layout, mirrored, marks);
        let program = |serial: u32| (places.marks + serial - 1) / places.each;
        let is_behind = |page: &&Page| page.of_snapshot.is_none() && (page.facts.is_mirrored() || page.serial.own > marks);
        let mut missing = (1..=marks).filter(|serial| !seen.contains(serial)).peekable();
        missing.peek().is_some() && !pages.iter().any(is_behind) && missing.all(|serial| program(serial) + 1 >= self.seen.written)
    }

    pub(super) fn new(die: DieId, blocks: [u16; 4]) -> PhysicalBlocks {
        PhysicalBlocks {
            die,
            blocks,
            broken: false,
            touched: false,
            erases: 0,
            order: (true, 0),
            journal: Vec::new(),
            journal_programs: Vec::new(),
            checkpoints: Vec::new(),
            holds_checkpoints: false,
            is_torn: false,
            is_settled: false,
            is_dark: false,
            seen: Seen::default(),
            look: Look::Unclear,
        }
    }
}

/// Extent to which a stand is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Up to the last page of the stand.
    TheEnd,
    /// Up to the first program units that are erased, as many as it takes: programs go in order.
    Erased,
}
