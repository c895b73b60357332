//! Lines that consist of figures of the catalogue.

use wordline_figures::DriveResult;
use wordline_figures::catalogue::{Line, Part, Piece, figures};

use crate::number::written;

/// Words between two pieces.
const fn between(line: Line) -> &'static str {
    match line {
        Line::Waf => " + ",
        Line::Flash | Line::Copies | Line::Sanitised => ", ",
        Line::Silence | Line::Buffered | Line::Lost | Line::Groups | Line::Cells | Line::Busy | Line::Transfers | Line::Cost => "",
    }
}

/// The figures of `which` in their order; `None` where `drive` has none of them.
pub(super) fn of(which: Line, drive: &DriveResult) -> Option<String> {
    let part = Part::of_run(drive);
    let of_line = figures().iter().filter_map(|figure| Some((figure, figure.piece().filter(|piece| piece.line == which)?)));
    let mut pieces: Vec<(Piece, f64)> = of_line.filter_map(|(figure, piece)| Some((piece, figure.of(&part)?))).collect();
    pieces.sort_by_key(|(piece, _)| piece.place);
    let words: Vec<String> = pieces.into_iter().map(|(piece, value)| piece.words.replacen("{}", &written(value, piece.form), 1)).collect();
    (!words.is_empty()).then(|| words.join(between(which)))
}
