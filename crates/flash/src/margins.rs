//! How far the window of program voltages may be narrowed: a table that the maker of the chip gives beside the data sheet.
//!
//! V_start and V_final are set for the worst h-layer of the worst block at the end of its life; other wordlines could do with less (003 §4.1.2). Two
//! tables tell firmware how much:
//!
//! - by what it measures on a leader wordline (cubeFTL): the errors between the erased state and P1 just after its program, BER_EP1, say by how much the
//!   wordlines of the same h-layer that are programmed after it may raise V_start and lower V_final. One look-up for both of 003's tables: from the
//!   spare margin to the total, and from the total to its parts at either end.
//! - by h-layer alone (vertFTL, Hung et al.): a margin on V_final that is safe in every block and for the whole life, whatever is measured.
//!
//! Both were found by characterising many chips, never by looking into the one that they are used on. Margins are whole loops: a part of ΔV_ISPP takes no
//! pulse away.

use wordline_units::Microvolts;

/// The tables of a kind of chip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    /// ΔV_ISPP: what each loop's pulse is higher than the one before.
    pub step: Microvolts,
    /// How far below its default R1 stands while the leader's errors are counted: at its default, healthy wordlines show none.
    pub lowered: Microvolts,
    /// Followers begin to verify a state so many loops before its first cells arrived on their leader. A verify slows the cells just below its level, so
    /// that one in the loop in which they arrive may come too late.
    pub early: u8,
    /// What followers may take by what their leader shows: bounds rise, margins fall.
    pub steps: Vec<MarginStep>,
    /// What every wordline of an h-layer may take from V_final, whatever its leader shows; topmost layer first.
    pub layers: Vec<Microvolts>,
}

/// One line of the leader's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarginStep {
    /// The most errors that the leader may show: cells of its erased state and of P1 that R1, lowered, takes for the other, over the whole wordline, just after
    /// it was programmed with default parameters.
    pub errors_max: u32,
    /// What its followers may take.
    pub window: WindowMargin,
}

/// By how much a program's window is narrower than the chip's own. [`Default`]: not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowMargin {
    /// V_start is raised by this.
    pub start: Microvolts,
    /// V_final is lowered by this.
    pub end: Microvolts,
}

impl WindowMargin {
    /// Both ends together, x + y in 003.
    pub const fn total(self) -> Microvolts {
        Microvolts(self.start.0 + self.end.0)
    }
}

impl Margins {
    /// What the followers of a leader may take that shows so many errors between the erased state and P1. Beyond the table, nothing.
    pub fn for_errors(&self, errors: u32) -> WindowMargin {
        self.steps.iter().find(|step| errors <= step.errors_max).map_or_else(WindowMargin::default, |step| step.window)
    }

    /// The same for a leader whose P1 had its first cells in loop `p1_first`, counted from 1: V_start is raised by no more loops than went by before it, or the
    /// first pulse would already throw cells past P1.
    pub fn window(&self, errors: u32, p1_first: u8) -> WindowMargin {
        self.room(self.for_errors(errors), p1_first)
    }

    /// As much of a margin as there is room for before the first cells of P1 arrive.
    pub fn room(&self, margin: WindowMargin, p1_first: u8) -> WindowMargin {
        let before = u32::from(p1_first.saturating_sub(1));
        WindowMargin { start: margin.start.min(Microvolts(self.step.0.saturating_mul(before))), ..margin }
    }

    /// N_skip of a follower whose V_start is raised by `start`, for a state whose first cells arrived in loop `first` on its leader, counted from 1.
    pub fn skip(&self, first: u8, start: Microvolts) -> u8 {
        let before = u32::from(first.saturating_sub(1)).saturating_sub(u32::from(self.early));
        before.saturating_sub(self.loops_earlier(start)) as u8
    }

    /// By how many loops earlier than on its leader a state arrives on a follower whose V_start is raised so much, rounded up: so many verifies less may be
    /// skipped there, because a verify that comes too late lets fast cells run past their level. 003 §4.1 leaves this open; counted from the leader's
    /// V_start, followers would skip too many.
    pub fn loops_earlier(&self, start: Microvolts) -> u32 {
        if self.step.0 == 0 { 0 } else { start.0.div_ceil(self.step.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margins() -> Margins {
        let line =
            |errors_max, start, end| MarginStep { errors_max, window: WindowMargin { start: Microvolts(start), end: Microvolts(end) } };
        Margins {
            step: Microvolts(162_500),
            lowered: Microvolts(0),
            early: 1,
            steps: vec![line(3, 325_000, 162_500), line(40, 162_500, 0)],
            layers: vec![Microvolts(0), Microvolts(162_500)],
        }
    }

    #[test]
    fn more_errors_never_give_more_margin_and_beyond_the_table_there_is_none() {
        let margins = margins();
        assert_eq!(margins.for_errors(0), margins.steps[0].window);
        assert_eq!(margins.for_errors(3), margins.steps[0].window);
        assert_eq!(margins.for_errors(4), margins.steps[1].window);
        assert_eq!(margins.for_errors(40), margins.steps[1].window);
        for errors in [41, u32::MAX] {
            assert_eq!(margins.for_errors(errors), WindowMargin::default());
        }
        for errors in 0..50 {
            assert!(margins.for_errors(errors + 1).total() <= margins.for_errors(errors).total(), "{errors}");
        }
        assert_eq!(Margins::default().for_errors(0), WindowMargin::default());
    }

    #[test]
    fn v_start_rises_by_no_more_than_p1_leaves_and_skips_follow_it() {
        let margins = margins();
        for (first, start) in [(0, 0), (1, 0), (2, 162_500), (3, 325_000), (9, 325_000)] {
            let window = margins.window(0, first);
            assert_eq!((window.start.0, window.end.0), (start, 162_500), "{first}");
        }
        // The leader saw the state in loop 7: five verifies are of no use, and fewer once all comes earlier.
        for (start, skip) in [(0, 5), (162_500, 4), (325_000, 3), (2_000_000, 0)] {
            assert_eq!(margins.skip(7, Microvolts(start)), skip, "{start}");
        }
        assert_eq!((margins.skip(0, Microvolts(0)), margins.skip(1, Microvolts(0))), (0, 0));
    }

    #[test]
    fn a_part_of_a_loop_counts_as_a_loop_where_verifies_are_skipped() {
        let margins = margins();
        for (start, loops) in [(0, 0), (1, 1), (162_500, 1), (162_501, 2), (325_000, 2)] {
            assert_eq!(margins.loops_earlier(Microvolts(start)), loops, "{start}");
        }
        assert_eq!(Margins::default().loops_earlier(Microvolts(5)), 0);
    }
}
