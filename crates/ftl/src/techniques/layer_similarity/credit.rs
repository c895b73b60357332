//! Credit of the dies, which decides whether they may narrow their programs.
//!
//! A follower saves about a quarter of a program. One that is not relied on has cost a program, and a wordline that holds nothing until its block is erased:
//! as much as four others save. While few are, which 003 §4.1.4 takes for granted, that is nothing. Where many are, because leaders tell nothing of their
//! followers, programming on like this is slower than the chip by itself; and where half are, half of the flash is lost, so that a drive that has less than
//! that to spare collects and never gains a block.
//!
//! So every follower that is relied on earns its die one credit up to a limit, and every one that is not takes four. A die that cannot pay programs as
//! the chip does by itself, which earns a sixty-fourth each time, so it tries once in 256 programs whether things have changed.

use wordline_units::Id;

use super::state::How;
use crate::state::layout::{BlockGroup, Layout};

/// The credit of each die, in sixty-fourths.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    of: Vec<u16>,
    layout: Layout,
}

/// Credit that a program with the chip's own settings earns.
const TRIAL: u16 = 1;
/// Credit that a follower earns.
const FOLLOWER: u16 = 64 * TRIAL;
/// Credit that a distrusted program costs.
const LOSS: u16 = 4 * FOLLOWER;
/// The greatest credit of a die. A sudden change finds as many leaders stale as layers are open, and 16 of them in a row leave a die trusted.
const MOST: u16 = 16 * LOSS;

impl Credit {
    pub(super) fn new(layout: &Layout) -> Credit {
        Credit { of: vec![MOST; layout.dies as usize], layout: *layout }
    }

    pub(super) fn dies(&self) -> usize {
        self.of.len()
    }

    /// True if the die of `group` may narrow its next program.
    pub(super) fn is_good(&self, group: BlockGroup) -> bool {
        self.of[self.layout.die(group).index()] >= LOSS
    }

    /// Counts a program of a wordline of `group`.
    pub(super) fn programmed(&mut self, group: BlockGroup, how: How) {
        let credit = &mut self.of[self.layout.die(group).index()];
        *credit = match how {
            How::Distrusted => credit.saturating_sub(LOSS),
            How::AsFollower => (*credit + FOLLOWER).min(MOST),
            How::AsLeader { .. } => (*credit + TRIAL).min(MOST),
        };
    }

    pub(super) fn image(&self) -> Vec<u32> {
        self.of.iter().map(|&credit| u32::from(credit)).collect()
    }

    /// Restores the state that [`Credit::image`] gave. Returns false if it is of another shape.
    pub(super) fn restore(&mut self, state: &[u32]) -> bool {
        let is_sound = state.len() == self.of.len() && state.iter().all(|&credit| credit <= u32::from(MOST));
        if is_sound {
            self.of.iter_mut().zip(state).for_each(|(credit, &stood)| *credit = stood as u16);
        }
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use proptest::prelude::*;
    use wordline_flash::{ProgramScope, ProgramSettings};
    use wordline_units::Bytes;

    const LEADER: How = How::AsLeader { settings: ProgramSettings::DEFAULT };

    fn credit() -> Credit {
        Credit::new(&Layout::new(&small_sheet(2, 6, ProgramScope::Wordline), 2, 6, Bytes::kib(16)))
    }

    proptest! {
        /// Followers are relied on with probability `good` of 256. Not checked: whether that is a gain, which is the business of drives.
        #[test]
        fn no_die_loses_more_than_its_limit_and_a_fraction(good in 0u32..=256, dice in prop::collection::vec(0u32..256, 1..4_000)) {
            let mut credit = credit();
            let (mut lost, mut earned) = (0u32, 0);
            for die in dice {
                let how = match (credit.is_good(BlockGroup(0)), die < good) {
                    (false, _) => LEADER,
                    (true, false) => How::Distrusted,
                    (true, true) => How::AsFollower,
                };
                lost += u32::from(how == How::Distrusted);
                earned += match how { How::Distrusted => 0, How::AsFollower => u32::from(FOLLOWER), How::AsLeader { .. } => u32::from(TRIAL) };
                credit.programmed(BlockGroup(0), how);
            }
            prop_assert!(lost * u32::from(LOSS) <= u32::from(MOST) + earned, "{} lost", lost);
            prop_assert!(credit.of[1..].iter().all(|&credit| credit == MOST), "other dies");
            let mut again = self::credit();
            prop_assert!(again.restore(&credit.image()) && again.of == credit.of && !again.restore(&[1; 40]));
        }
    }

    #[test]
    fn a_die_that_was_wrong_tries_again_and_is_trusted_again() {
        let mut credit = credit();
        let tries = (0..2_560).filter(|_| {
            let is_good = credit.is_good(BlockGroup(0));
            credit.programmed(BlockGroup(0), if is_good { How::Distrusted } else { LEADER });
            is_good
        });
        let tries: Vec<u32> = tries.collect();
        assert_eq!((tries[15], tries.len()), (15, 25), "16 at once, then one in 257 programs: {tries:?}");
        (0..256).for_each(|_| credit.programmed(BlockGroup(0), LEADER));
        (0..4).for_each(|_| {
            assert!(credit.is_good(BlockGroup(0)));
            credit.programmed(BlockGroup(0), How::AsFollower);
        });
        assert!(credit.is_good(BlockGroup(0)));
    }
}
