//! Epochs of a die: its erases since an instant.

use crate::blocks::Blocks;

/// Erases of each block before the present epoch, if one is under way. No image has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epoch(Option<Box<[u32]>>);

impl Epoch {
    /// The epoch that begins now.
    pub(crate) fn of(blocks: &Blocks) -> Epoch {
        Epoch(Some(blocks.iter().map(|block| block.erases()).collect()))
    }

    /// Erases of a block in the epoch.
    ///
    /// # Panics
    /// If no epoch is under way.
    pub(crate) fn erases(&self, blocks: &Blocks, block: u32) -> u32 {
        let before = self.0.as_ref().expect("erases are counted from the beginning of an epoch")[block as usize];
        blocks.of(block).erases().saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::shape;

    #[test]
    fn erases_are_counted_from_the_beginning_of_the_epoch() {
        let mut blocks = Blocks::new(shape(1), false);
        blocks.of_mut(3).set_erases(40);
        let epoch = Epoch::of(&blocks);
        blocks.of_mut(3).erase(false);
        assert_eq!((epoch.erases(&blocks, 3), epoch.erases(&blocks, 0)), (1, 0));
    }
}
