//! The tries of a read that keeps its die after one that error correction could not mend, and the search that ends them.
//!
//! Once the firmware asks for [`ReadTry::SEARCH`] the controller looks for the best references of the page itself. It begins at the entry of the vendor's
//! table that left the fewest errors and moves one reference at a time, in equal steps. Bits that differ between two reads belong to cells between both
//! positions, and where there are fewest of them lies the valley between two states. Each step is a read like any other, with its own time, and ends the search
//! if it can be corrected.
//!
//! ```text
//!   cells between two positions   │█          █│
//!                                 │██       ▄██│
//!                                 │███▄▁ ▁▂████│
//!   position of one reference     -3 -2 -1 0 1 2 3     valley: between -1 and 0
//! ```

use wordline_chip::Chip;
use wordline_flash::program::STATES_MAX;
use wordline_flash::{Command, Failed, Feature, ReadOffsets, ReadSets, ReadTry, Target};
use wordline_units::Nanos;

use crate::config::SearchSteps;

/// The most counts of a reference.
const BETWEEN_MOST: usize = 2 * SearchSteps::MOST.reach as usize;

/// The tries of one read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tries {
    tried: Vec<ReadTry>,
    /// Fewest errors that an entry of the vendor's table left, and that entry.
    best: Option<(u32, u8)>,
    search: Option<Search>,
}

impl Tries {
    /// Begins a new read.
    pub(crate) fn clear(&mut self) {
        self.tried.clear();
        (self.best, self.search) = (None, None);
    }

    /// Goes on with a search after a try at `chip` that could not be corrected. Returns true if it has a next read.
    pub(crate) fn search_on(&mut self, chip: &mut Chip, of: &Sensing<'_>) -> bool {
        let &Sensing { target, last, now, .. } = of;
        last == ReadTry::SEARCH
            && self
                .search
                .as_mut()
                .is_some_and(|search| search.advance(|reference, from, to| chip.count_between(target, reference, from, to, now)))
    }

    /// Records a try that could not be corrected. Returns the question for the next one.
    pub(crate) fn failed(&mut self, of: &Sensing<'_>) -> Failed<'_> {
        self.push(of.last, of.errors);
        self.question(of.errors)
    }

    /// The question for the next try after one that left `errors` in the worst codeword.
    pub(crate) fn question(&self, errors: u32) -> Failed<'_> {
        Failed { tried: &self.tried, errors }
    }

    /// Takes the answer to the question for the next try of a page that `chip` reads with these `references`.
    pub(crate) fn answered(&mut self, next: Option<ReadTry>, references: &[u8], steps: SearchSteps) {
        if next == Some(ReadTry::SEARCH) {
            self.begin_search(references, steps);
        }
    }

    /// Set the references of `chip` for the try `next`, which may be one of `sets`. Returns the instant at which they are set.
    pub(crate) fn aim(&self, chip: &mut Chip, next: ReadTry, sets: &ReadSets, now: Nanos) -> Nanos {
        match &self.search {
            Some(search) if next == ReadTry::SEARCH => set_references(chip, u32::from(search.entry()), &search.offsets(), now),
            _ => set_try(chip, next, sets, now),
        }
    }

    /// Records a failed try that left `errors` in the worst codeword. The controller knows them from how many parity checks of the code fail.
    fn push(&mut self, failed: ReadTry, errors: u32) {
        self.tried.push(failed);
        if failed.set == ReadTry::DEFAULT.set && self.best.is_none_or(|(fewest, _)| errors < fewest) {
            self.best = Some((errors, failed.entry));
        }
    }

    /// Begins a search for the best of `references`, those that the page is read with.
    fn begin_search(&mut self, references: &[u8], steps: SearchSteps) {
        let entry = self.best.map_or(0, |(_, entry)| entry);
        self.search = Some(Search::new(entry, references, steps));
    }
}

/// A sensing that error correction could not mend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sensing<'a> {
    /// Page that was sensed, of each plane.
    pub(crate) target: &'a Target,
    /// References that it was sensed with.
    pub(crate) last: ReadTry,
    /// Wrong bits in the worst codeword.
    pub(crate) errors: u32,
    pub(crate) now: Nanos,
}

/// The first try of a read that was ordered to begin with `first`: beyond the end of the vendor's table of `levels` entries, its last; of a set that is not
/// among `sets`, the default.
#[inline]
pub(crate) fn first_try(first: ReadTry, levels: u32, sets: &ReadSets) -> ReadTry {
    if first.set == ReadTry::DEFAULT.set {
        return ReadTry::vendor(u32::from(first.entry).min(levels - 1) as u8);
    }
    if sets.get(first.set).is_some() { ReadTry::of_set(first.set) } else { ReadTry::DEFAULT }
}

/// Set the references of the next reads of `chip` to those of a try that is not a search. Returns the instant at which they are set.
#[inline]
pub(crate) fn set_try(chip: &mut Chip, next: ReadTry, sets: &ReadSets, now: Nanos) -> Nanos {
    let offsets = if next.set == ReadTry::DEFAULT.set { None } else { sets.get(next.set) };
    set_references(chip, u32::from(next.entry), offsets.unwrap_or(&ReadOffsets::NONE), now)
}

/// Set the references of the next reads of `chip`: an entry of the retry table, and shifts from there. Only registers that change take time. Returns the
/// instant at which they are set.
#[inline]
pub(crate) fn set_references(chip: &mut Chip, entry: u32, offsets: &ReadOffsets, now: Nanos) -> Nanos {
    let are_set = chip.feature(Feature::ReadLevel) == entry && !chip.shifts_reads() && *offsets == ReadOffsets::NONE;
    if are_set { now } else { change_references(chip, entry, offsets, now) }
}

#[cold]
fn change_references(chip: &mut Chip, entry: u32, offsets: &ReadOffsets, now: Nanos) -> Nanos {
    let references = (1 << chip.sheet().geometry.cell.bits()) - 1;
    std::iter::once((Feature::ReadLevel, entry)).chain(offsets.registers(references)).fold(now, |now, (feature, value)| {
        let stands = chip.feature(feature) == value;
        if stands { now } else { chip.issue(Command::SetFeature { feature, value }, now).ready_at }
    })
}

/// A search for the best references of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Entry of the vendor's table at which the search began.
    entry: u8,
    /// References that the page is read with; the first `count`.
    references: [u8; STATES_MAX],
    count: usize,
    steps: SearchSteps,
    /// Number of references whose valley is known.
    known: usize,
    /// Position of the reference that moves, in steps from the beginning.
    position: i8,
    /// Cells counted between each two neighbouring positions of it so far.
    counts: [u32; BETWEEN_MOST],
    /// Offsets of the valleys that are known.
    found: ReadOffsets,
    /// True once the page is read with all of them.
    is_last: bool,
}

impl Search {
    /// Creates a search that begins at `entry` of the vendor's table.
    pub(crate) fn new(entry: u8, references: &[u8], steps: SearchSteps) -> Search {
        let mut own = [0; STATES_MAX];
        own[..references.len()].copy_from_slice(references);
        Search {
            entry,
            references: own,
            count: references.len(),
            steps,
            known: 0,
            position: -(steps.reach as i8),
            counts: [0; BETWEEN_MOST],
            found: ReadOffsets::NONE,
            is_last: references.is_empty(),
        }
    }

    /// Entry of the vendor's table from which the offsets count.
    pub(crate) fn entry(&self) -> u8 {
        self.entry
    }

    /// Offsets of the present read.
    pub(crate) fn offsets(&self) -> ReadOffsets {
        if self.is_last { self.found } else { self.found.with(self.references[self.known], self.at(self.position)) }
    }

    /// Moves to the next read after one that could not be corrected; false: there is none. `count` counts the bits of the page that differ between the last
    /// two reads, given the reference that was moved and both of its offsets.
    pub(crate) fn advance(&mut self, count: impl FnOnce(u8, i8, i8) -> u32) -> bool {
        if self.is_last {
            return false;
        }
        let (reference, reach) = (self.references[self.known], self.steps.reach as i8);
        if self.position > -reach {
            self.counts[(self.position + reach - 1) as usize] = count(reference, self.at(self.position - 1), self.at(self.position));
        }
        if self.position < reach {
            self.position += 1;
            return true;
        }
        self.found = self.found.with(reference, self.valley());
        self.known += 1;
        self.position = -reach;
        self.is_last = self.known == self.count;
        true
    }

    /// Offset of the middle between the two positions with the fewest cells between them. A count is weighed with its neighbours, because the valley is wide
    /// and each count has its sampling error. Beyond the ends the counts are taken to go on as a parabola through the last three.
    fn valley(&self) -> i8 {
        let counts = &self.counts[..2 * usize::from(self.steps.reach)];
        let last = counts.len() - 1;
        let weighed = |at: usize| {
            let of = |at: usize| i64::from(counts[at]);
            let before = if at > 0 { of(at - 1) } else { 3 * (of(0) - of(1)) + of(2) };
            let after = if at < last { of(at + 1) } else { 3 * (of(last) - of(last - 1)) + of(last - 2) };
            before + 2 * of(at) + after
        };
        let fewest = (0..counts.len()).min_by_key(|&at| weighed(at)).unwrap_or(0);
        let below = i16::from(self.at(fewest as i8 - self.steps.reach as i8));
        (below + i16::from(self.steps.width) / 2) as i8
    }

    /// Offset of a position.
    fn at(&self, position: i8) -> i8 {
        position * self.steps.width as i8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Offsets of all reads of a search whose valleys lie at `valleys`, and those of the last.
    fn searched(references: &[u8], steps: SearchSteps, valleys: impl Fn(u8) -> i8) -> Vec<ReadOffsets> {
        let mut search = Search::new(3, references, steps);
        let mut reads = vec![search.offsets()];
        // Cells below an offset, where their density is a parabola with its lowest point in the valley.
        let below = |reference: u8, at: i8| (i32::from(at) - i32::from(valleys(reference))).pow(3);
        while search.advance(|reference, from, to| (below(reference, to) - below(reference, from)) as u32) {
            reads.push(search.offsets());
            assert!(reads.len() < 1_000, "a search that never ends");
        }
        reads
    }

    #[test]
    fn one_reference_moves_at_a_time_and_stays_at_its_valley() {
        let reads = searched(&[2, 6], SearchSteps { width: 2, reach: 2 }, |reference| if reference == 2 { -3 } else { 1 });
        let at = |low, high| ReadOffsets::NONE.with(2, low).with(6, high);
        let expected =
            [at(-4, 0), at(-2, 0), at(0, 0), at(2, 0), at(4, 0), at(-3, -4), at(-3, -2), at(-3, 0), at(-3, 2), at(-3, 4), at(-3, 1)];
        assert_eq!(reads, expected);
    }

    #[test]
    fn the_search_begins_at_the_entry_that_left_the_fewest_errors() {
        let mut tries = Tries::default();
        for (entry, errors) in [(0, 200), (1, 150), (2, 120), (3, 160)] {
            tries.push(ReadTry::vendor(entry), errors);
        }
        tries.begin_search(&[4], SearchSteps { width: 2, reach: 5 });
        assert_eq!(tries.search.map(|search| search.entry()), Some(2));
        tries.clear();
        assert!(tries.search.is_none() && tries.tried.is_empty());
        tries.begin_search(&[4], SearchSteps { width: 2, reach: 5 });
        assert_eq!(tries.search.map(|search| search.entry()), Some(0), "nothing of the read before is left");
    }

    #[test]
    fn a_read_begins_where_it_was_ordered_to_if_the_controller_knows_that() {
        let sets = ReadSets::new(vec![ReadOffsets::NONE.with(1, -3)]).expect("one is not too many");
        for (ordered, first) in [
            (ReadTry::DEFAULT, ReadTry::DEFAULT),
            (ReadTry::vendor(3), ReadTry::vendor(3)),
            (ReadTry::vendor(9), ReadTry::vendor(7)),
            (ReadTry::of_set(1), ReadTry::of_set(1)),
            (ReadTry { set: 1, entry: 5 }, ReadTry::of_set(1)),
            (ReadTry::of_set(2), ReadTry::DEFAULT),
            (ReadTry::SEARCH, ReadTry::DEFAULT),
        ] {
            assert_eq!(first_try(ordered, 8, &sets), first, "{ordered:?}");
        }
    }

    #[test]
    fn a_page_without_references_is_read_once_more() {
        assert_eq!(searched(&[], SearchSteps { width: 2, reach: 5 }, |_| 0), [ReadOffsets::NONE]);
    }

    proptest! {
        #[test]
        fn every_valley_within_reach_is_found_to_half_a_step(
            width in 1..=SearchSteps::MOST.width,
            reach in SearchSteps::LEAST_REACH..=SearchSteps::MOST.reach,
            parts in prop::collection::vec(-1.0..1.0, 1..=STATES_MAX),
        ) {
            let references: Vec<u8> = (1..=parts.len() as u8).collect();
            let most = f64::from(width) * f64::from(reach);
            let valley = |reference: u8| (parts[usize::from(reference) - 1] * most) as i8;
            let reads = searched(&references, SearchSteps { width, reach }, valley);
            prop_assert_eq!(reads.len(), references.len() * (2 * usize::from(reach) + 1) + 1);
            for &reference in &references {
                let off = i32::from(reads.last().expect("there is one").of(reference)) - i32::from(valley(reference));
                prop_assert!(off.unsigned_abs() <= u32::from(width) / 2 + 1, "R{} is {} off", reference, off);
            }
        }
    }
}
