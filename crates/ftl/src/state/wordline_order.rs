//! Wordline order: which program unit of the open block groups is written next. An exclusive slot.
//!
//! The program units of a group lie in h-layers. The first of each is its *leader*, the others are its *followers*: cells of one h-layer are alike, so what was
//! measured on the leader holds for them (003 §4.1.3). A follower can be programmed once its leader is. Where wordlines go in any order, leaders can be
//! programmed ahead and their followers kept for later.
//!
//! ```text
//!   horizontal first   L0 f f f  L1 f f f  L2 f f f …        one after the other
//!   mixed              L0 L1 L2 L3 … f f f f f f …           leaders while there is time, followers while there is not
//! ```
//!
//! On dies that program page by page, or have one wordline in an h-layer, every program unit counts as a leader.

use crate::state::layout::{BlockGroup, Layout};

/// Order in which the wordlines of blocks for host data are programmed. Blocks for moved data are always written horizontal first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WordlineOrder {
    /// Horizontal first: all wordlines of an h-layer, then those of the next.
    #[default]
    HorizontalFirst,
    /// Mixed: leaders while the write buffer is not fuller than `threshold`, followers while it is (003 §5.2).
    Mixed {
        /// Share of the write buffer in use above which host data counts as a burst.
        threshold: f64,
        /// Number of blocks of a die that take host data at once.
        open_blocks: u32,
    },
}

impl WordlineOrder {
    /// Number of blocks of a die that may take host data at once.
    pub const fn open_blocks(&self) -> u32 {
        match self {
            WordlineOrder::HorizontalFirst => 1,
            WordlineOrder::Mixed { open_blocks, .. } => *open_blocks,
        }
    }
}

/// An open group, with the numbers of its leaders and of its followers that have been ordered. Both go from the first h-layer to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Open {
    pub group: BlockGroup,
    leaders: u32,
    followers: u32,
}

/// A program unit of one of the open groups of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pick {
    /// Place of the open group among those of the die.
    pub at: usize,
    pub program: u32,
}

impl Open {
    /// State of `group` with its first `programs` program units written, horizontal first.
    pub(crate) fn at(group: BlockGroup, programs: u32, layout: &Layout) -> Open {
        let leaders = programs.div_ceil(layout.programs_per_layer);
        Open { group, leaders, followers: programs - leaders }
    }

    /// Program units ordered so far.
    pub(crate) fn ordered(&self) -> u32 {
        self.leaders + self.followers
    }

    /// True if no program unit is left.
    pub(crate) fn is_full(&self, layout: &Layout) -> bool {
        self.ordered() >= layout.data_programs
    }

    /// True if the counts are possible in this layout.
    pub(crate) fn is_sound(&self, layout: &Layout) -> bool {
        self.leaders <= layout.leaders() && self.followers <= self.followers_open(layout)
    }

    /// True if the program units ordered so far are the first ones of the group.
    pub(crate) fn is_prefix(&self, layout: &Layout) -> bool {
        *self == Open::at(self.group, self.ordered(), layout)
    }

    /// True if program unit `program` has been ordered.
    pub(crate) fn has(&self, program: u32, layout: &Layout) -> bool {
        let (layer, place) = (program / layout.programs_per_layer, program % layout.programs_per_layer);
        let followers = layout.programs_per_layer - 1;
        if place == 0 { layer < self.leaders } else { layer * followers + place - 1 < self.followers }
    }

    /// The next leader: i_Leader of 003 §5.2.
    pub(crate) fn leader(&self, layout: &Layout) -> Option<u32> {
        (self.leaders < layout.leaders()).then(|| self.leaders * layout.programs_per_layer)
    }

    /// The next follower whose leader has been ordered: i_Follower < i_Leader.
    pub(crate) fn follower(&self, layout: &Layout) -> Option<u32> {
        let followers = layout.programs_per_layer - 1;
        (self.followers < self.followers_open(layout))
            .then(|| self.followers / followers * layout.programs_per_layer + 1 + self.followers % followers)
    }

    /// Followers whose leader has been ordered and that have not.
    pub(crate) fn followers_waiting(&self, layout: &Layout) -> u32 {
        self.followers_open(layout) - self.followers
    }

    /// Followers whose leader has been ordered. In the last h-layer some of them may be kept for the second copy of the marks.
    fn followers_open(&self, layout: &Layout) -> u32 {
        (self.leaders * (layout.programs_per_layer - 1)).min(layout.data_programs - layout.leaders())
    }

    /// The next program unit, horizontal first.
    pub(crate) fn next(&self, layout: &Layout) -> Option<u32> {
        self.follower(layout).or_else(|| self.leader(layout))
    }

    /// Mark program unit `program` as ordered, which [`Open::leader`] or [`Open::follower`] gave.
    pub(crate) fn order(&mut self, program: u32, layout: &Layout) {
        debug_assert!(self.leader(layout) == Some(program) || self.follower(layout) == Some(program));
        if program.is_multiple_of(layout.programs_per_layer) {
            self.leaders += 1;
        } else {
            self.followers += 1;
        }
    }

    /// The first program unit that `order` gives of a group of which nothing is ordered.
    pub(crate) fn first(&self, order: WordlineOrder, layout: &Layout) -> Option<u32> {
        match order {
            WordlineOrder::HorizontalFirst => self.next(layout),
            WordlineOrder::Mixed { .. } => self.leader(layout).or_else(|| self.follower(layout)),
        }
    }

    /// Pass over the program units that may come next by `order` and that `is_spared` names: they count as ordered.
    pub(crate) fn pass(&mut self, order: WordlineOrder, layout: &Layout, is_spared: impl Fn(u32) -> bool) {
        let next = |open: &Open| {
            let next = match order {
                WordlineOrder::HorizontalFirst => [open.next(layout), None],
                WordlineOrder::Mixed { .. } => [open.leader(layout), open.follower(layout)],
            };
            next.into_iter().flatten().find(|&program| is_spared(program))
        };
        while let Some(program) = next(self) {
            self.order(program, layout);
        }
    }

    /// Program units that take data, are not ordered yet and are not among those that `is_spared` names.
    pub(crate) fn left(&self, layout: &Layout, is_spared: impl Fn(u32) -> bool) -> u32 {
        (0..layout.data_programs).filter(|&program| !self.has(program, layout) && !is_spared(program)).count() as u32
    }

    /// Mark all program units before `end` as ordered or skipped, horizontal first.
    pub(crate) fn skip_to(&mut self, end: u32, layout: &Layout) {
        *self = Open::at(self.group, end, layout);
    }
}

/// Next program unit among the `open` groups; `None`: another group is to be opened, if there is one. `in_use`: the share of the write buffer in use.
/// `may_open`: another group could be opened.
#[inline(always)]
pub(crate) fn pick(order: WordlineOrder, open: &[Open], layout: &Layout, in_use: f64, may_open: bool) -> Option<Pick> {
    match order {
        WordlineOrder::HorizontalFirst => open.first().and_then(|first| Some(Pick { at: 0, program: first.next(layout)? })),
        WordlineOrder::Mixed { threshold, open_blocks } => {
            pick_mixed(open, layout, in_use > threshold, may_open && open.len() < open_blocks as usize)
        }
    }
}

/// Next program unit in the mixed order. `is_burst`: the write buffer is fuller than its threshold. `may_open`: another group could be opened, and not too
/// many are.
fn pick_mixed(open: &[Open], layout: &Layout, is_burst: bool, may_open: bool) -> Option<Pick> {
    // Of several groups, the one with the most followers waiting: so none is left with few leaders and many followers.
    let waiting = |&(_, open): &(usize, &Open)| open.followers_waiting(layout);
    let follower = || {
        let (at, open) = open.iter().enumerate().rev().max_by_key(waiting)?;
        Some(Pick { at, program: open.follower(layout)? })
    };
    let leader = || open.iter().enumerate().find_map(|(at, open)| Some(Pick { at, program: open.leader(layout)? }));
    if is_burst {
        return follower().or_else(leader);
    }
    // Quiet: a leader, if need be of another group.
    leader().or_else(|| if may_open { None } else { follower() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use proptest::prelude::*;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    fn layout(layers: u32, wordlines: u32) -> Layout {
        let mut sheet = small_sheet(1, 5, ProgramScope::Wordline);
        (sheet.geometry.layers, sheet.geometry.wordlines_per_layer) = (layers, wordlines);
        Layout::new(&sheet, 1, 5, Bytes::kib(16))
    }

    #[test]
    fn all_leaders_can_go_first_and_three_of_four_wordlines_wait() {
        let layout = layout(48, 4);
        let mixed = WordlineOrder::Mixed { threshold: 0.9, open_blocks: 2 };
        let mut open = [Open::at(BlockGroup(0), 0, &layout)];
        let mut order = Vec::new();
        while let Some(Pick { program, .. }) = pick(mixed, &open, &layout, 0.9, false) {
            open[0].order(program, &layout);
            order.push(program);
        }
        assert_eq!(order.len(), 192);
        assert!(order[..48].iter().enumerate().all(|(layer, &program)| program == layer as u32 * 4));
        assert!(order[48..].iter().all(|program| program % 4 != 0));
    }

    #[test]
    fn a_burst_takes_followers_and_then_leaders() {
        let layout = layout(4, 4);
        let mixed = WordlineOrder::Mixed { threshold: 0.9, open_blocks: 2 };
        let mut open = [Open::at(BlockGroup(0), 0, &layout)];
        open[0].order(0, &layout);
        open[0].order(4, &layout);
        let burst: Vec<u32> = (0..8)
            .map(|_| {
                let Pick { program, .. } = pick(mixed, &open, &layout, 0.91, true).unwrap();
                open[0].order(program, &layout);
                program
            })
            .collect();
        assert_eq!(burst, [1, 2, 3, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_quiet_die_opens_another_group_for_its_leaders() {
        let layout = layout(2, 4);
        let mixed = WordlineOrder::Mixed { threshold: 0.9, open_blocks: 2 };
        let mut open = vec![Open::at(BlockGroup(0), 0, &layout)];
        open[0].order(0, &layout);
        open[0].order(4, &layout);
        assert_eq!(pick(mixed, &open, &layout, 0.1, true), None);
        assert_eq!(pick(mixed, &open, &layout, 0.1, false), Some(Pick { at: 0, program: 1 }), "there is no other");
        open.push(Open::at(BlockGroup(1), 0, &layout));
        assert_eq!(pick(mixed, &open, &layout, 0.1, true), Some(Pick { at: 1, program: 0 }));
    }

    proptest! {
        #[test]
        fn spared_program_units_are_passed_over_and_all_others_go_once(
            layers in 1u32..6, wordlines in 1u32..5, demand in prop::collection::vec(0.0..1.0, 1..60), mixed: bool, spared: u32,
        ) {
            let layout = layout(layers, wordlines);
            let is_spared = |program: u32| spared >> program & 1 == 1;
            let order = if mixed { WordlineOrder::Mixed { threshold: 0.5, open_blocks: 1 } } else { WordlineOrder::HorizontalFirst };
            let mut open = [Open::at(BlockGroup(0), 0, &layout)];
            open[0].pass(order, &layout, is_spared);
            let mut done: Vec<bool> = (0..layout.data_programs).map(is_spared).collect();
            prop_assert_eq!(open[0].first(order, &layout).is_none(), open[0].is_full(&layout));
            let mut demand = demand.iter().cycle();
            while let Some(Pick { program, .. }) = pick(order, &open, &layout, *demand.next().unwrap(), false) {
                prop_assert!(!done[program as usize], "{program} is spared, or goes twice");
                let left = open[0].left(&layout, is_spared);
                open[0].order(program, &layout);
                open[0].pass(order, &layout, is_spared);
                done[program as usize] = true;
                prop_assert!(open[0].is_sound(&layout) && (mixed || open[0].is_prefix(&layout)));
                prop_assert_eq!(open[0].left(&layout, is_spared), left - 1);
            }
            prop_assert!(open[0].is_full(&layout) && done.iter().all(|&done| done));
        }

        #[test]
        fn every_program_unit_goes_once_and_no_follower_before_its_leader(
            layers in 1u32..6, wordlines in 1u32..9, demand in prop::collection::vec(0.0..1.0, 1..60), mixed: bool,
        ) {
            let layout = layout(layers, wordlines);
            let order = if mixed { WordlineOrder::Mixed { threshold: 0.5, open_blocks: 1 } } else { WordlineOrder::HorizontalFirst };
            let mut open = [Open::at(BlockGroup(0), 0, &layout)];
            let mut done = vec![false; layout.data_programs as usize];
            let mut demand = demand.iter().cycle();
            while let Some(Pick { program, .. }) = pick(order, &open, &layout, *demand.next().unwrap(), false) {
                prop_assert!(!open[0].has(program, &layout) && !done[program as usize]);
                prop_assert!(program % wordlines == 0 || done[(program / wordlines * wordlines) as usize]);
                if !mixed {
                    prop_assert!(open[0].is_prefix(&layout) && program == open[0].ordered());
                }
                open[0].order(program, &layout);
                done[program as usize] = true;
                prop_assert!(open[0].is_sound(&layout));
                for program in 0..layout.data_programs {
                    prop_assert_eq!(open[0].has(program, &layout), done[program as usize]);
                }
            }
            prop_assert!(open[0].is_full(&layout) && done.iter().all(|&done| done));
        }
    }
}
