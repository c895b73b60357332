//! One figure: its name, value and places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::Field;
use super::part::Part;
use crate::result::{ByOp, Latency};

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It depends.
    Neither,
}

/// Form in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A whole number, its thousands apart.
    Count,
    /// A whole number as it is.
    Plain,
    /// Three or four significant digits.
    Number,
    /// The same, of the value over this.
    Over(f64),
    /// A share, in percent.
    Percent,
}

/// Lines of the terminal that consist of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Longest silence.
    Silence,
    /// Parts of write amplification, as a sum.
    Waf,
    /// Units in the write buffer.
    Buffered,
    /// Operations of the flash.
    Flash,
    /// Data moved inside the dies.
    Copies,
    /// Pages made unreadable.
    Sanitised,
    /// Units lost.
    Lost,
    /// Block groups.
    Groups,
    /// Cells of the flash blocks.
    Cells,
    /// Busy parts of the drive.
    Busy,
    /// Dies with their transfers.
    Transfers,
    /// Cost of the simulation.
    Cost,
}

/// Part of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The line.
    pub line: Line,
    /// Place in the line.
    pub place: u8,
    /// Words around the value, which stands for `{}`.
    pub words: &'static str,
    /// Form of the value.
    pub form: Form,
}

/// Entry of a drive's card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card {
    /// Place on the card; between them stand entries of more than one figure.
    pub place: u8,
    /// Name of the entry.
    pub name: &'static str,
    /// Words around the value, which stands for `{}`.
    pub words: &'static str,
    /// Form of the value.
    pub form: Form,
}

/// Way to a value; `None`: there is nothing to measure.
#[derive(Clone, Copy, Debug)]
enum Of {
    Part(fn(&Part<'_>) -> Option<f64>),
    Latency(fn(&ByOp<Latency>) -> Option<&Latency>, fn(&Latency) -> f64),
}

/// A figure of a run.
#[derive(Clone, Debug)]
pub struct Figure {
    path: String,
    label: String,
    unit: String,
    doc: String,
    better: Better,
    of: Of,
    is_compared: bool,
    /// Comparisons take nothing for a value, too.
    has_zero: bool,
    is_in_grid: bool,
    in_sweep: Option<u8>,
    /// The label says enough without the unit.
    is_bare: bool,
    /// Anything but nothing is bad news.
    is_alarm: bool,
    piece: Option<Piece>,
    card: Option<Card>,
}

impl Figure {
    /// The figure at `path` of an entry of `drives`, called `label`.
    pub(super) fn new(path: &str, label: &str, of: fn(&Part<'_>) -> Option<f64>) -> Figure {
        Figure::with(path.to_owned(), label.to_owned(), Of::Part(of))
    }

    /// A figure of a latency.
    pub(super) fn latency(path: String, label: String, kind: fn(&ByOp<Latency>) -> Option<&Latency>, of: fn(&Latency) -> f64) -> Figure {
        Figure { has_zero: true, better: Better::Lower, ..Figure::with(path, label, Of::Latency(kind, of)) }
    }

    fn with(path: String, label: String, of: Of) -> Figure {
        let (unit, doc) = (String::new(), String::new());
        Figure {
            path,
            label,
            unit,
            doc,
            better: Better::Neither,
            of,
            is_compared: false,
            has_zero: false,
            is_in_grid: false,
            in_sweep: None,
            is_bare: false,
            is_alarm: false,
            piece: None,
            card: None,
        }
    }

    /// Compared, where it is not nothing.
    pub(super) fn compared(self, better: Better) -> Figure {
        Figure { is_compared: true, better, ..self }
    }

    /// Compared, nothing included.
    pub(super) fn compared_with_zero(self, better: Better) -> Figure {
        Figure { has_zero: true, ..self.compared(better) }
    }

    pub(super) fn per(self, unit: &str) -> Figure {
        Figure { unit: unit.to_owned(), ..self }
    }

    pub(super) fn grid(self) -> Figure {
        Figure { is_in_grid: true, ..self }
    }

    pub(super) fn swept(self, place: Option<u8>) -> Figure {
        Figure { in_sweep: place, ..self }
    }

    pub(super) fn bare(self) -> Figure {
        Figure { is_bare: true, ..self }
    }

    pub(super) fn alarm(self) -> Figure {
        Figure { is_alarm: true, ..self }
    }

    pub(super) fn line(self, line: Line, place: u8, words: &'static str, form: Form) -> Figure {
        Figure { piece: Some(Piece { line, place, words, form }), ..self }
    }

    pub(super) fn card_entry(self, place: u8, name: &'static str, words: &'static str, form: Form) -> Figure {
        Figure { card: Some(Card { place, name, words, form }), ..self }
    }

    /// The same with unit and meaning of the member that it is.
    pub(super) fn described(self, fields: &[Field]) -> Figure {
        let field = fields.iter().find(|field| field.path == self.path).unwrap_or_else(|| panic!("no result has a member {}", self.path));
        let unit = if self.unit.is_empty() { field.unit.clone() } else { self.unit };
        Figure { unit, doc: field.doc.clone(), ..self }
    }

    /// Path into an entry of `drives`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Name for people; begins with spaces if it is part of the figure before.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Unit; empty for ratios.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Meaning, as in the reference manual.
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// Direction that is better.
    pub fn better(&self) -> Better {
        self.better
    }

    /// Value in `part`; `None`: there is nothing to measure.
    pub fn of(&self, part: &Part<'_>) -> Option<f64> {
        match self.of {
            Of::Part(of) => of(part),
            Of::Latency(kind, of) => kind(part.latency_us).map(of),
        }
    }

    /// Value in `part` for comparisons; `None` also where nothing of the kind happened.
    pub fn compared_of(&self, part: &Part<'_>) -> Option<f64> {
        self.of(part).filter(|value| self.has_zero || *value > 0.0)
    }

    /// True if comparisons and sweeps have it.
    pub fn is_compared(&self) -> bool {
        self.is_compared
    }

    /// True if a grid of workloads and ages shows it.
    pub fn is_in_grid(&self) -> bool {
        self.is_in_grid
    }

    /// Place among the figures that the page and the terminal show of a sweep.
    pub fn in_sweep(&self) -> Option<u8> {
        self.in_sweep
    }

    /// True if the label stands without its unit.
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// True if any value but nothing is bad news.
    pub fn is_alarm(&self) -> bool {
        self.is_alarm
    }

    /// Piece of a line at the terminal.
    pub fn piece(&self) -> Option<Piece> {
        self.piece
    }

    /// Entry of a drive's card.
    pub fn card(&self) -> Option<Card> {
        self.card
    }
}
