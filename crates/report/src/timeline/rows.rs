//! Rows of a die in a timeline: slices of one row lie apart or inside each other.

use std::collections::BTreeMap;

use wordline_units::{DieId, Nanos};

use super::ROWS;

/// Ends of the slices that are open in each row of each die.
#[derive(Debug, Default)]
pub(super) struct Rows(BTreeMap<DieId, Vec<Vec<Nanos>>>);

impl Rows {
    /// The first row of `die` on which a slice from `from` to `end` lies apart from the others or inside them. Slices come by their beginnings. Where there is
    /// none, it is the last row that a die may have.
    pub(super) fn place(&mut self, die: DieId, from: Nanos, end: Nanos) -> u32 {
        let rows = self.0.entry(die).or_default();
        for (number, open) in (0..ROWS).zip(rows.iter_mut()) {
            while open.last().is_some_and(|&last| last <= from) {
                open.pop();
            }
            if open.last().is_none_or(|&last| end <= last) {
                open.push(end);
                return number;
            }
        }
        if rows.len() < ROWS as usize {
            rows.push(vec![end]);
        }
        rows.len() as u32 - 1
    }

    /// All rows, die by die.
    pub(super) fn all(&self) -> impl Iterator<Item = (DieId, u32)> + '_ {
        self.0.iter().flat_map(|(&die, rows)| (0..rows.len() as u32).map(move |row| (die, row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_inside_stays_and_what_overlaps_has_a_row_of_its_own() {
        let mut rows = Rows::default();
        let mut place = |from, end| rows.place(DieId(4), Nanos(from), Nanos(end));
        let placed = [place(0, 100), place(20, 40), place(40, 60), place(50, 130), place(100, 120), place(130, 140)];
        assert_eq!(placed, [0, 0, 0, 1, 0, 0]);
        assert_eq!(rows.all().collect::<Vec<_>>(), [(DieId(4), 0), (DieId(4), 1)]);
    }
}
