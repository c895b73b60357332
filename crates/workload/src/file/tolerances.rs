//! Tolerances of sets of files, and of blocks: the class that hints and writes have given each block.

use wordline_units::Tolerance;

use super::space::Extent;

/// Tolerances by set and by block.
#[derive(Clone, Debug)]
pub(super) struct Tolerances {
    sets: Vec<Option<Tolerance>>,
    /// Class that the drive has of each block.
    blocks: Vec<Tolerance>,
}

impl Tolerances {
    /// Creates the tolerances of a drive of `blocks` blocks that has had no hint. `sets`: the tolerance of each set, if it has one.
    pub(super) fn new(sets: Vec<Option<Tolerance>>, blocks: u64) -> Tolerances {
        Tolerances { sets, blocks: vec![Tolerance::Default; blocks as usize] }
    }

    /// Tolerance of the files of `set`.
    pub(super) fn of(&self, set: usize) -> Tolerance {
        self.sets[set].unwrap_or_default()
    }

    /// Runs of blocks to be hinted for `set`, whose files have `extents`, with their class; none for a set without a tolerance. The drive has the class of all
    /// of them from now on.
    pub(super) fn declare(&mut self, set: usize, mut extents: Vec<Extent>) -> Vec<(Extent, Tolerance)> {
        let Some(tolerance) = self.sets[set] else { return Vec::new() };
        extents.sort_unstable();
        let mut runs: Vec<(Extent, Tolerance)> = Vec::new();
        for extent in extents {
            self.fill(extent, tolerance);
            match runs.last_mut() {
                Some((run, _)) if run.end() == extent.start => run.len += extent.len,
                _ => runs.push((extent, tolerance)),
            }
        }
        runs
    }

    /// Notes a write with `tolerance` to the blocks of `piece`. Returns true if the write has no tolerance and the drive has one of such a block: a hint must
    /// take it away first.
    pub(super) fn write(&mut self, piece: Extent, tolerance: Tolerance) -> bool {
        let blocks = &self.blocks[piece.start as usize..piece.end() as usize];
        let is_stale = tolerance == Tolerance::Default && blocks.iter().any(|&block| block != Tolerance::Default);
        self.fill(piece, tolerance);
        is_stale
    }

    fn fill(&mut self, extent: Extent, tolerance: Tolerance) {
        self.blocks[extent.start as usize..extent.end() as usize].fill(tolerance);
    }
}
