//! Measured histograms of threshold voltages: the file format and its contents.
//!
//! A comma-separated file, plain or compressed with gzip or zstd. The first line names the columns, in any order:
//!
//! | column | what | range |
//! |---|---|---|
//! | `model` | programmed state, P1 is 2 (1 would be the erased state, which is not read) | 2 to 16 |
//! | `WL` | wordline of the block, from the top; neighbours share an h-layer | 0 to 65535 |
//! | `Retention` | how the data were kept: an index, 1 for the freshest | 1 to 255 |
//! | `PEC` | program/erase cycles before | 0 to 1000000 |
//! | `step` | read-voltage step | 0 to 4095 |
//! | `freq` | cells found in that step, or their mean over repeated measurements | above 0, to 1e9 |
//!
//! Steps without cells are left out. Every state must be there for every wordline, retention and P/E count that appears: a table with a hole is refused.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::axis::Axis;
use super::curve::Curve;

/// Reason why a file of histograms was refused.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The file could not be opened.
    #[error("{file}: cannot open the histograms: {source}")]
    Open {
        /// Name of the file.
        file: String,
        /// Error of the system.
        source: io::Error,
    },
    /// Reading or decompressing the file failed part way.
    #[error("{file}:{line}: cannot read on after this line: {source}")]
    Read {
        /// Name of the file.
        file: String,
        /// Number of the last line that was read.
        line: u64,
        /// Error of the system.
        source: io::Error,
    },
    /// A line that is not as it should be.
    #[error("{file}:{line}: {what}")]
    Line {
        /// Name of the file.
        file: String,
        /// Number of the line.
        line: u64,
        /// Text of what was expected and what was found.
        what: String,
    },
    /// Lines that are right each, but together are no table.
    #[error("{file}: {what}")]
    Table {
        /// Name of the file.
        file: String,
        /// Text of what is missing.
        what: String,
    },
}

/// The histograms of a whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Histograms {
    /// Positions of the steps on an even axis.
    pub axis: Axis,
    /// Number of programmed states.
    pub states: usize,
    /// Numbers of the wordlines in the file.
    pub wordlines: Vec<u16>,
    /// Retention indices.
    pub retentions: Vec<u8>,
    /// P/E counts.
    pub pe: Vec<u32>,
    curves: Vec<Curve>,
}

/// The key of a curve: P/E count, retention, wordline, state.
type Key = (u32, u8, u16, u8);

const COLUMNS: [&str; 6] = ["model", "WL", "Retention", "PEC", "step", "freq"];
/// Length of the longest line. A longer one is no line of this format, and must not be gathered in memory.
const LONGEST_LINE: u64 = 4096;
/// Bound on the number of curves. More of them are a mistaken column.
const MOST_CURVES: usize = 4 << 20;

impl Histograms {
    /// Reads a file of histograms.
    ///
    /// # Errors
    /// Says file and line of what is wrong, or what is missing in the table.
    pub fn open(path: &Path) -> Result<Histograms, HistogramError> {
        let name = path.display().to_string();
        match std::fs::File::open(path) {
            Ok(file) => Histograms::read(file, &name),
            Err(source) => Err(HistogramError::Open { file: name, source }),
        }
    }

    /// Reads histograms from any source; `name` is for messages.
    ///
    /// # Errors
    /// As [`Histograms::open`].
    pub fn read(source: impl Read, name: &str) -> Result<Histograms, HistogramError> {
        let plain = wordline_workload::trace::input::decompressed(source).map_err(|source| HistogramError::Read {
            file: name.to_owned(),
            line: 0,
            source,
        })?;
        let mut lines = BufReader::with_capacity(1 << 16, plain);
        let mut line = Vec::new();
        let mut number = 0;
        let mut order: Option<[usize; 6]> = None;
        let mut curves: BTreeMap<Key, Curve> = BTreeMap::new();
        loop {
            line.clear();
            let refuse = |what: String| HistogramError::Line { file: name.to_owned(), line: number + 1, what };
            match lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(length) if length as u64 == LONGEST_LINE => return Err(refuse(format!("a line of {LONGEST_LINE} bytes or more"))),
                Ok(_) => {}
                Err(source) => return Err(HistogramError::Read { file: name.to_owned(), line: number, source }),
            }
            let text = std::str::from_utf8(&line).map_err(|_| refuse("expected text, found bytes that are none".into()))?.trim();
            match &order {
                None => order = Some(header(text).map_err(refuse)?),
                Some(_) if text.is_empty() => {}
                Some(order) => {
                    let (key, step, count) = row(text, order).map_err(refuse)?;
                    if curves.len() >= MOST_CURVES {
                        return Err(refuse(format!("more than {MOST_CURVES} curves: expected no more states, wordlines and conditions")));
                    }
                    let curve = curves.entry(key).or_default();
                    if !curve.put(step, count) {
                        return Err(refuse(format!("step {step} of {} a second time", named(key))));
                    }
                }
            }
            number += 1;
        }
        table(curves).map_err(|what| HistogramError::Table { file: name.to_owned(), what })
    }

    /// The curve of a state (P1 is 0), a wordline, a retention and a P/E count, all by their place in the lists.
    pub fn curve(&self, pe: usize, retention: usize, wordline: usize, state: usize) -> &Curve {
        &self.curves[((pe * self.retentions.len() + retention) * self.wordlines.len() + wordline) * self.states + state]
    }

    /// The curve of this number.
    pub fn nth(&self, index: usize) -> &Curve {
        &self.curves[index]
    }

    /// Number of curves.
    pub fn len(&self) -> usize {
        self.curves.len()
    }

    /// True if there are no curves, which is true of no file that was read.
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty()
    }
}

/// Places of [`COLUMNS`] in the first line of a file.
fn header(text: &str) -> Result<[usize; 6], String> {
    let found: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut order = [0; 6];
    for (column, place) in COLUMNS.iter().zip(&mut order) {
        *place = found.iter().position(|name| name.eq_ignore_ascii_case(column)).ok_or_else(|| {
            let shown = wordline_plan::shown(text);
            format!("expected a first line that names the columns {}; {column} is missing in \"{shown}\"", COLUMNS.join(","))
        })?;
    }
    if found.len() != COLUMNS.len() {
        return Err(format!("expected the {} columns {}, found {}", COLUMNS.len(), COLUMNS.join(","), found.len()));
    }
    Ok(order)
}

fn row(text: &str, order: &[usize; 6]) -> Result<(Key, u16, f32), String> {
    let mut fields = [""; 6];
    let mut count = 0;
    for field in text.split(',') {
        if let Some(place) = fields.get_mut(count) {
            *place = field.trim();
        }
        count += 1;
    }
    if count != 6 {
        return Err(format!("expected 6 fields, found {count}"));
    }
    let whole = |column: usize, low: u32, high: u32| -> Result<u32, String> {
        let field = fields[order[column]];
        let number = field.parse::<u32>().ok().filter(|number| (low..=high).contains(number));
        number.ok_or_else(|| {
            format!("column {}: expected a whole number from {low} to {high}, found '{}'", COLUMNS[column], wordline_plan::shown(field))
        })
    };
    let (state, wordline) = (whole(0, 2, 16)? as u8, whole(1, 0, 65_535)? as u16);
    let (retention, pe, step) = (whole(2, 1, 255)? as u8, whole(3, 0, 1_000_000)?, whole(4, 0, 4_095)? as u16);
    let field = fields[order[5]];
    let count = field.parse::<f32>().ok().filter(|count| *count > 0.0 && *count <= 1e9);
    let count =
        count.ok_or_else(|| format!("column freq: expected a count above 0 and up to 1e9, found '{}'", wordline_plan::shown(field)))?;
    Ok(((pe, retention, wordline, state - 2), step, count))
}

fn named((pe, retention, wordline, state): Key) -> String {
    format!("P{} of wordline {wordline} at retention {retention} and P/E {pe}", state + 1)
}

/// The distinct values, rising.
fn distinct<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = values.collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn table(curves: BTreeMap<Key, Curve>) -> Result<Histograms, String> {
    if curves.is_empty() {
        return Err("no histogram: expected lines after the first, which names the columns".into());
    }
    let pe = distinct(curves.keys().map(|key| key.0));
    let retentions = distinct(curves.keys().map(|key| key.1));
    let wordlines = distinct(curves.keys().map(|key| key.2));
    let states = usize::from(curves.keys().map(|key| key.3).max().unwrap_or(0)) + 1;
    if !(states + 1).is_power_of_two() || states < 3 {
        return Err(format!("the highest state is P{states}: expected P3 (MLC), P7 (TLC) or P15 (QLC)"));
    }
    let expected = pe.len() * retentions.len() * wordlines.len() * states;
    if curves.len() != expected {
        let all = pe.iter().flat_map(|&pe| {
            let wordlines = &wordlines;
            retentions.iter().flat_map(move |&retention| {
                wordlines.iter().flat_map(move |&wordline| (0..states as u8).map(move |state| (pe, retention, wordline, state)))
            })
        });
        let hole = all.into_iter().find(|key| !curves.contains_key(key)).map_or_else(String::new, named);
        return Err(format!("a table with holes, the first at {hole}: {} of {expected} curves are there", curves.len()));
    }
    if let Some((key, _)) = curves.iter().find(|(_, curve)| curve.bins.len() < 3) {
        return Err(format!("{} has counts in fewer than 3 steps: that is no distribution", named(*key)));
    }
    let curves: Vec<Curve> = curves.into_values().collect();
    Ok(Histograms { axis: Axis::of(&curves, states), states, wordlines, retentions, pe, curves })
}
