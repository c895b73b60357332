//! The formats that a line of an unknown one resembles most: by its separators, and by what kind of text stands in each column.

use super::fields::{Fields, decimal, whole};
use super::format::Format;
use super::samples::sample;

/// How many formats are named.
const NAMED: usize = 3;
/// How many lines of each sample a line is compared with: the first may be a header, and records differ.
const LINES: usize = 6;

/// What stands in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bit,
    Whole,
    Fraction,
    Letter,
    Word,
    Empty,
}

impl Kind {
    fn of(text: &[u8]) -> Kind {
        match text {
            b"" => Kind::Empty,
            b"0" | b"1" => Kind::Bit,
            _ if whole(text).is_some() => Kind::Whole,
            _ if decimal(text, 1).is_some() => Kind::Fraction,
            [_] => Kind::Letter,
            _ => Kind::Word,
        }
    }

    /// How unlike two columns are.
    fn distance(self, other: Kind) -> usize {
        let is_number = |kind: Kind| matches!(kind, Kind::Bit | Kind::Whole | Kind::Fraction);
        match (self, other) {
            _ if self == other => 0,
            (Kind::Empty, _) | (_, Kind::Empty) => 1,
            _ if is_number(self) == is_number(other) => 1,
            _ => 3,
        }
    }
}

/// A column more or less.
const COLUMN: usize = 2;
/// Commas in place of blanks.
const SEPARATOR: usize = 4;

/// A line as kinds of columns.
struct Shape {
    has_commas: bool,
    kinds: Vec<Kind>,
}

impl Shape {
    fn of(line: &[u8]) -> Shape {
        // Other separators than those of a known format make no line less alike.
        let line: Vec<u8> = line.iter().map(|byte| if matches!(byte, b';' | b'|') { b',' } else { *byte }).collect();
        let has_commas = line.contains(&b',') && Fields::commas(&line).count() > 2;
        let fields = if has_commas { Fields::commas(&line) } else { Fields::blanks(&line) };
        Shape { has_commas, kinds: (0..fields.count().min(16)).map(|index| Kind::of(fields.get(index))).collect() }
    }

    /// The cost of turning one line into the other, column by column.
    fn distance(&self, other: &Shape) -> usize {
        let mut row: Vec<usize> = (0..=other.kinds.len()).map(|index| index * COLUMN).collect();
        for (index, kind) in self.kinds.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = (index + 1) * COLUMN;
            for (at, against) in other.kinds.iter().enumerate() {
                let replaced = diagonal + kind.distance(*against);
                diagonal = row[at + 1];
                row[at + 1] = replaced.min(row[at] + COLUMN).min(diagonal + COLUMN);
            }
        }
        row[other.kinds.len()] + if self.has_commas == other.has_commas { 0 } else { SEPARATOR }
    }
}

/// The formats nearest to `line`, the nearest first.
pub(crate) fn nearest(line: &[u8]) -> Vec<Format> {
    let shape = Shape::of(line);
    let cost = |text: &str| text.lines().take(LINES).map(|line| shape.distance(&Shape::of(line.as_bytes()))).min();
    let mut known: Vec<(usize, Format)> = Format::all().filter_map(|format| Some((cost(sample(format)?)?, format))).collect();
    known.sort_by_key(|(cost, _)| *cost);
    known.into_iter().take(NAMED).map(|(_, format)| format).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<&'static str> {
        nearest(line.as_bytes()).into_iter().map(Format::name).collect()
    }

    #[test]
    fn a_line_that_is_nearly_of_a_format_names_it_first() {
        for (line, name) in [
            ("128166372000000000,hm,0,Write,0,4096,1200,7", "msr"),
            ("128166372000000000;hm;0;Write;0;4096;1200", "msr"),
            ("0,303567,3584,write,0.000000", "spc"),
            ("419,W,8792731648,16384", "alibaba"),
            ("938513000 4 264719034 16 R", "mqsim"),
        ] {
            assert!(names(line)[..2].contains(&name), "{line}: {:?}", names(line));
        }
    }
}
