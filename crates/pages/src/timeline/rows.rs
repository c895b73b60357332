//! Rows of a timeline: slices of one row lie apart or inside each other.

use std::collections::BTreeMap;

use wordline_units::Nanos;

/// Ends of the slices that are open in each row of each part, such as a die.
#[derive(Debug)]
pub(super) struct Rows<P> {
    parts: BTreeMap<P, Vec<Vec<Nanos>>>,
    /// Most rows of a part.
    most: u32,
    /// Whether slices may lie inside each other.
    nest: bool,
}

impl<P: Ord + Copy> Rows<P> {
    /// Rows whose slices may lie inside each other, `most` of each part.
    pub(super) fn nested(most: u32) -> Rows<P> {
        Rows { parts: BTreeMap::new(), most, nest: true }
    }

    /// Rows whose slices lie apart.
    pub(super) fn apart() -> Rows<P> {
        Rows { parts: BTreeMap::new(), most: u32::MAX, nest: false }
    }

    /// The first row of `part` on which a slice from `from` to `end` fits. Slices come by their beginnings. Where there is none, it is the last row that a part
    /// may have.
    pub(super) fn place(&mut self, part: P, from: Nanos, end: Nanos) -> u32 {
        let rows = self.parts.entry(part).or_default();
        for (number, open) in (0..self.most).zip(rows.iter_mut()) {
            while open.last().is_some_and(|&last| last <= from) {
                open.pop();
            }
            if open.last().is_none_or(|&last| self.nest && end <= last) {
                open.push(end);
                return number;
            }
        }
        if rows.len() < self.most as usize {
            rows.push(vec![end]);
        }
        rows.len() as u32 - 1
    }

    /// Whether `part` has no row.
    pub(super) fn is_without(&self, part: P) -> bool {
        !self.parts.contains_key(&part)
    }

    /// All rows, part by part.
    pub(super) fn all(&self) -> impl Iterator<Item = (P, u32)> + '_ {
        self.parts.iter().flat_map(|(&part, rows)| (0..rows.len() as u32).map(move |row| (part, row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_inside_stays_and_what_overlaps_has_a_row_of_its_own() {
        let placed = |mut rows: Rows<u8>| {
            let spans = [(0, 100), (20, 40), (40, 60), (50, 130), (100, 120), (130, 140)];
            (spans.map(|(from, end)| rows.place(4, Nanos(from), Nanos(end))), rows.all().collect::<Vec<_>>())
        };
        assert_eq!(placed(Rows::nested(8)), ([0, 0, 0, 1, 0, 0], vec![(4, 0), (4, 1)]));
        assert_eq!(placed(Rows::apart()), ([0, 1, 1, 2, 0, 0], vec![(4, 0), (4, 1), (4, 2)]));
        assert_eq!(placed(Rows::nested(1)), ([0, 0, 0, 0, 0, 0], vec![(4, 0)]));
    }
}
