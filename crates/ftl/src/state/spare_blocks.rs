//! Spare blocks of a die: those that stand in for blocks which leave service.

use std::collections::BTreeMap;

/// Spare blocks of one die, plane by plane.
#[derive(Clone, Debug)]
pub(crate) struct SpareBlocks {
    of_plane: [Vec<u16>; 4],
    /// Erase counts by block of the first plane, where recovery has found blocks that were in use; others are new.
    erases: BTreeMap<u16, u32>,
}

impl SpareBlocks {
    /// Creates the table of new blocks.
    pub(crate) fn new(of_plane: [Vec<u16>; 4]) -> SpareBlocks {
        SpareBlocks { of_plane, erases: BTreeMap::new() }
    }

    /// Spare blocks of each plane. The last of a plane is used first.
    pub(crate) fn of_plane(&self) -> &[Vec<u16>; 4] {
        &self.of_plane
    }

    /// Take one block of each of `planes` planes, if every one has one left. Returns the blocks with their erase count.
    pub(crate) fn take(&mut self, planes: usize) -> Option<([u16; 4], u32)> {
        let of_plane = &mut self.of_plane[..planes];
        if of_plane.iter().any(Vec::is_empty) {
            return None;
        }
        let mut blocks = [0; 4];
        for (block, spares) in blocks.iter_mut().zip(of_plane) {
            *block = spares.pop()?;
        }
        let erases = self.erases.remove(&blocks[0]).unwrap_or(0);
        Some((blocks, erases))
    }

    /// Add one block of each plane, found after a power cut, with the erase count `erases`.
    pub(crate) fn found(&mut self, blocks: &[u16], erases: u32) {
        self.erases.insert(blocks[0], erases);
        self.of_plane.iter_mut().zip(blocks).for_each(|(spares, &block)| spares.push(block));
    }

    /// Forget all blocks, before recovery finds them.
    pub(crate) fn clear(&mut self) {
        self.of_plane.iter_mut().for_each(Vec::clear);
        self.erases.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_without_a_spare_keeps_the_others_for_later() {
        let mut spares = SpareBlocks::new([vec![8, 9], vec![7], vec![], vec![]]);
        assert_eq!(spares.take(2), Some(([9, 7, 0, 0], 0)));
        assert_eq!(spares.take(2), None);
        assert_eq!(spares.of_plane()[0], [8]);
    }

    #[test]
    fn a_block_that_was_in_use_comes_back_with_its_erase_count() {
        let mut spares = SpareBlocks::new([vec![8], vec![], vec![], vec![]]);
        spares.found(&[5], 40);
        assert_eq!(spares.take(1), Some(([5, 0, 0, 0], 40)));
        assert_eq!(spares.take(1), Some(([8, 0, 0, 0], 0)), "and a new one with none");
        spares.found(&[5], 40);
        spares.clear();
        assert_eq!(spares.take(1), None);
    }
}
