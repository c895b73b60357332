//! The catalogue: every figure of a run, with its name, unit, meaning, value, and the places where it is shown. Comparisons, grids, sweeps, lines at the
//! terminal and cards of the page are made from it; a new figure is one entry of `list.rs`.
//!
//! ```text
//! member of a result type: name, doc, unit ─┐
//!                                           ├─► Figure ─► comparison, grid, sweep, line, card
//! entry of the list: label, value, places ──┘
//! ```

mod columns;
mod fields;
mod figure;
mod list;
mod part;

use std::sync::LazyLock;

pub use columns::{Column, Depth, latency};
pub use figure::{Better, Card, Figure, Form, Line, Piece};
pub use part::Part;

/// Every figure, in the order of tables.
pub fn figures() -> &'static [Figure] {
    static ALL: LazyLock<Vec<Figure>> = LazyLock::new(|| {
        let fields = fields::of_runs();
        list::all().into_iter().map(|figure| figure.described(&fields)).collect()
    });
    &ALL
}

/// Figures of comparisons, in the order of tables.
pub fn compared() -> impl Iterator<Item = &'static Figure> {
    figures().iter().filter(|figure| figure.is_compared())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_scalar_of_a_result_is_in_the_catalogue_or_on_the_list_of_those_that_are_not() {
        let listed: BTreeSet<&str> = figures().iter().map(Figure::path).collect();
        assert_eq!(listed.len(), figures().len(), "each once");
        let is_elsewhere = |path: &str| list::ELSEWHERE.iter().any(|(start, _)| path.starts_with(start));
        let missing: Vec<String> = fields::of_runs()
            .into_iter()
            .map(|field| field.path)
            .filter(|path| !listed.contains(path.as_str()) && !is_elsewhere(path))
            .collect();
        assert!(missing.is_empty(), "not in the catalogue, and not left out of it: {missing:?}");
        let both: Vec<&&str> = listed.iter().filter(|path| is_elsewhere(path)).collect();
        assert!(both.is_empty(), "in the catalogue, and left out of it: {both:?}");
    }

    #[test]
    fn what_is_left_out_of_the_catalogue_is_there() {
        let fields = fields::of_runs();
        for (start, why) in list::ELSEWHERE {
            assert!(fields.iter().any(|field| field.path.starts_with(start)), "no member begins with {start}");
            assert!(!why.is_empty(), "{start} without a reason");
        }
    }

    #[test]
    fn places_in_a_line_on_a_card_and_in_sweeps_are_taken_once() {
        let pieces: Vec<(Line, u8)> = figures().iter().filter_map(Figure::piece).map(|piece| (piece.line, piece.place)).collect();
        let cards: Vec<u8> = figures().iter().filter_map(Figure::card).map(|card| card.place).collect();
        let swept: Vec<u8> = figures().iter().filter_map(Figure::in_sweep).collect();
        assert_eq!(pieces.iter().collect::<BTreeSet<_>>().len(), pieces.len(), "{pieces:?}");
        assert_eq!(cards.iter().collect::<BTreeSet<_>>().len(), cards.len(), "{cards:?}");
        assert_eq!(swept.iter().collect::<BTreeSet<_>>().len(), swept.len(), "{swept:?}");
    }
}
