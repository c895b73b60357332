//! The core's own rung: the order in which a read goes through the vendor's read-retry table.
//!
//! ```text
//!   entry     0   1   2   3   4   5   6   7        begins at 3
//!   try       8   7   6   1   2   3   4   5
//! ```
//!
//! Upwards first: charge is lost for as long as data is kept, so what was right a while ago is by now too low. What is below comes last, from the nearest down,
//! and is needed only where the read began too high. Every entry is tried at most once, whoever else has a say in what is tried between. A read that no entry
//! serves ends with a search for the references of its page, where the controller can do that.

use wordline_flash::{Failed, ReadTry, Sheet};
use wordline_units::Nanos;

use super::seam::Rung;

/// Tries that a step up the table is taken to cost.
const BLIND: u64 = 3;

/// The vendor's table, as a way to try reads again. It is always there, and asked after each try that failed like any technique ([`Technique::rung`]).
///
/// [`Technique::rung`]: super::seam::Technique::rung
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    entries: u32,
    /// True if the controller can search for the best references once the table is at its end.
    searches: bool,
    /// Time that a try costs.
    sense: Nanos,
}

impl Ladder {
    /// The ladder of a die without a read-retry table.
    pub const NONE: Ladder = Ladder { entries: 1, searches: false, sense: Nanos::ZERO };

    /// The ladder of dies of this `sheet` whose table has `entries` entries. `searches`: behind them stands [`ReadTry::SEARCH`].
    pub fn new(sheet: &Sheet, entries: u32, searches: bool) -> Ladder {
        Ladder { entries, searches, sense: sheet.timing.read[0] }
    }

    /// The next try of a read that has `failed`: the next entry, or a search once all have been tried; `None`: that has failed as well. The cost of an entry is
    /// that of three tries: the ladder does not know how many will be needed, and it is seldom one; that of a search is of a table's length, and of no less.
    pub fn rung(&self, failed: &Failed<'_>) -> Option<Rung> {
        let mut is_tried = [false; 1 << u8::BITS];
        let mut begin = None;
        for of_table in failed.tried.iter().filter(|of| of.set == ReadTry::DEFAULT.set) {
            begin = begin.or(Some(u32::from(of_table.entry)));
            is_tried[usize::from(of_table.entry)] = true;
        }
        let begin = begin.unwrap_or(0).min(self.entries);
        if let Some(entry) = (begin..self.entries).chain((0..begin).rev()).find(|&entry| !is_tried[entry as usize]) {
            return Some(Rung { cost: Nanos(self.sense.0 * BLIND), next: ReadTry::vendor(entry as u8) });
        }
        let is_left = self.searches && !failed.tried.contains(&ReadTry::SEARCH);
        is_left.then(|| Rung { cost: Nanos(self.sense.0 * u64::from(self.entries).max(BLIND)), next: ReadTry::SEARCH })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Entries that a read tries which begins at `begin` and never succeeds.
    fn walk(begin: u8, entries: u32) -> Vec<u32> {
        let ladder = Ladder { entries, searches: false, sense: Nanos(1) };
        let mut tried = vec![ReadTry::vendor(begin)];
        while let Some(rung) = ladder.rung(&Failed { tried: &tried, errors: 99 }) {
            tried.push(rung.next);
            assert!(tried.len() < 1_000, "a read that never ends: {tried:?}");
        }
        tried.iter().map(|of| u32::from(of.entry)).collect()
    }

    #[test]
    fn from_the_default_a_read_goes_down_the_table() {
        assert_eq!(walk(0, 5), [0, 1, 2, 3, 4]);
        assert_eq!(walk(0, 1), [0]);
        assert_eq!(walk(3, 8), [3, 4, 5, 6, 7, 2, 1, 0]);
        assert_eq!(walk(4, 5), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn what_others_have_tried_is_left_out_and_nothing_else() {
        let ladder = Ladder { entries: 5, searches: false, sense: Nanos(1) };
        let next = |tried: &[ReadTry]| ladder.rung(&Failed { tried, errors: 99 }).map(|rung| rung.next);
        let [zero, one, two, three, four] = [0, 1, 2, 3, 4].map(ReadTry::vendor);
        let other = ReadTry { set: 1, entry: 3 };
        assert_eq!(next(&[other]), Some(zero), "of another set, it says nothing of the table");
        assert_eq!(next(&[one, three]), Some(two), "somebody has jumped ahead");
        assert_eq!(next(&[one, three, two, other]), Some(four));
        assert_eq!(next(&[one, three, two, four]), Some(zero));
        assert_eq!(next(&[one, three, two, four, zero, other]), None);
        assert_eq!(Ladder::NONE.rung(&Failed { tried: &[zero], errors: 99 }), None);
    }

    #[test]
    fn a_search_comes_last_and_once() {
        let ladder = Ladder { entries: 2, searches: true, sense: Nanos(3) };
        let next = |tried: &[ReadTry]| ladder.rung(&Failed { tried, errors: 99 });
        let [zero, one] = [0, 1].map(ReadTry::vendor);
        assert_eq!(next(&[zero]), Some(Rung { cost: Nanos(9), next: one }));
        assert_eq!(next(&[one, zero]), Some(Rung { cost: Nanos(9), next: ReadTry::SEARCH }));
        assert_eq!(next(&[zero, ReadTry::SEARCH]).map(|rung| rung.next), Some(one), "somebody searched first");
        assert_eq!(next(&[zero, one, ReadTry::SEARCH]), None);
        assert_eq!(Ladder { searches: false, ..ladder }.rung(&Failed { tried: &[zero, one], errors: 99 }), None);
    }

    proptest! {
        #[test]
        fn every_entry_is_tried_once_and_those_above_the_first_before_those_below(entries in 1u32..=256, part in 0.0..1.0) {
            let begin = (f64::from(entries) * part) as u32;
            let tried = walk(begin as u8, entries);
            let mut sorted = tried.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..entries).collect::<Vec<_>>());
            let above = (entries - begin) as usize;
            prop_assert!(tried[..above].windows(2).all(|pair| pair[1] == pair[0] + 1), "{:?}", tried);
            prop_assert!(tried[above..].windows(2).all(|pair| pair[1] + 1 == pair[0]), "{:?}", tried);
        }

        #[test]
        fn the_table_is_gone_through_to_its_end_whatever_is_tried_between(
            entries in 1u32..20,
            others in prop::collection::vec((0u8..2, 0u8..20), 1..40),
        ) {
            let ladder = Ladder { entries, searches: false, sense: Nanos(1) };
            let mut tried: Vec<ReadTry> = Vec::new();
            for (set, entry) in others {
                let other = ReadTry { set, entry: entry % entries as u8 };
                if !tried.contains(&other) {
                    tried.push(other);
                }
            }
            while let Some(rung) = ladder.rung(&Failed { tried: &tried, errors: 99 }) {
                prop_assert!(!tried.contains(&rung.next), "{:?} is tried twice", rung.next);
                tried.push(rung.next);
            }
            prop_assert!((0..entries as u8).all(|entry| tried.contains(&ReadTry::vendor(entry))), "{:?}", tried);
        }
    }
}
