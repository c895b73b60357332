//! Tables that a maker gives with a chip, found as a maker finds them: by characterising many chips on a test bench, none of which is in the drive.
//!
//! Each table is fitted on one half of a lot, the chips of even number, and judged on the other half, whose chips it has never seen. The judged figures are
//! printed beside it. What is measured is what a test bench can measure on real dies: errors that reads count, erase traces, times, and blocks that are cycled,
//! copied, read and kept until they fail. What firmware will see once (a count of errors, a trace) is drawn with its noise. What the bench can repeat as often
//! as it likes (error rates at best references, the weakest wordline, the probability that a page fails) is taken exactly, as if it had.

pub(crate) mod aging;
mod copyback;
mod disturb;
mod guard;
mod ort;
mod retirement;
mod text;

use std::sync::atomic::{AtomicU64, Ordering};

use wordline_cells::Block;
use wordline_runs::parallel;

use crate::bench::Setup;
use crate::error::LabError;
use crate::lot::Lot;
use crate::protocol::Protocol;

pub use aging::characterise as aging;
pub use copyback::characterise as copyback;
pub use disturb::characterise as disturb;
pub use guard::characterise as guard;
pub use ort::characterise as ort;
pub use retirement::characterise as retirement;

/// A kind of table that a lot gives.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Name of the table, and of its section in a chip file.
    pub name: &'static str,
    /// One line on what the table tells.
    pub summary: &'static str,
    /// Name of the file of its conditions in `studies/benches/`, without ending.
    pub conditions: &'static str,
    /// Conditions of the table, if numbers of reads are among them.
    reads: Option<&'static Protocol>,
    /// Characterises a setup's lot.
    pub run: fn(&Setup) -> Result<Text, LabError>,
}

/// The first of `protocols`, if there is one.
const fn first(protocols: &[&'static Protocol]) -> Option<&'static Protocol> {
    match protocols {
        [] => None,
        [first, ..] => Some(first),
    }
}

macro_rules! kinds {
    ($($name:ident ($conditions:literal $(, reads of $reads:expr)?): $summary:literal,)*) => {
        /// All kinds of tables.
        pub const KINDS: &[Kind] = &[$(Kind {
            name: stringify!($name),
            summary: $summary,
            conditions: $conditions,
            reads: first(&[$($reads)?]),
            run: |setup| $name(setup).map(|found| found.text()),
        }),*];
    };
}
kinds! {
    aging ("aging"): "the age of a block, from what its erases and reads show",
    ort ("ort", reads of &ort::PROTOCOL): "sets of read references to begin with, by age or P/E count, retention, h-layer and reads",
    retirement ("retirement"): "errors just after program beyond which data are not safe for a year",
    disturb ("disturb"): "reads of a block up to which no retry is needed, and up to which no data are lost",
    copyback ("copyback_table"): "copies in a row without correction that are safe, by P/E count and by age",
    guard ("guard_table"): "which h-layers are weak, and what erases that spare the weakest wordlines are worth",
}

/// Condition that holds numbers of reads.
const READS: &str = "reads";

impl Kind {
    /// True if the table has steps of reads.
    pub fn takes_reads(&self) -> bool {
        self.reads.is_some()
    }

    /// Sets the numbers of reads that end the steps of the table in `setup`: a `list` such as `10k,1M`.
    ///
    /// # Errors
    ///
    /// Text of the fault of the list, or that the table has no such steps.
    pub fn set_reads(&self, setup: &mut Setup, list: &str) -> Result<(), String> {
        let protocol = self.reads.ok_or_else(|| format!("{} has no steps of reads", self.name))?;
        let list = toml::Value::Array(list.split(',').map(|reads| toml::Value::String(reads.trim().to_owned())).collect());
        if let Some((fault, _)) = protocol.fault(READS, &list) {
            return Err(fault);
        }
        setup.conditions.entry(self.conditions.to_owned()).or_default().insert(READS.to_owned(), list);
        Ok(())
    }
}

/// A table as a section of a chip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Judgement of the table, as remarks of TOML.
    pub remarks: String,
    /// The section.
    pub section: String,
}

/// A quantity by which a table was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Name of the quantity.
    pub name: &'static str,
    /// Value of the quantity.
    pub value: f64,
    /// Meaning of the quantity, with its unit.
    pub meaning: String,
}

/// A table that was found, and how it was judged.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// The table.
    pub table: T,
    /// Figures by which it was judged.
    pub judged: Vec<Judged>,
    /// Name of its section.
    section: &'static str,
    /// Text of the table's source.
    source: String,
    /// Keys of the section, each with its value as TOML.
    keys: Vec<(&'static str, String)>,
}

impl<T> Found<T> {
    /// The figure of this name.
    ///
    /// # Panics
    ///
    /// There is none.
    pub fn figure(&self, name: &str) -> f64 {
        let known = || self.judged.iter().map(|judged| judged.name).collect::<Vec<_>>().join(", ");
        self.judged.iter().find(|judged| judged.name == name).unwrap_or_else(|| panic!("no figure {name}; there are {}", known())).value
    }

    /// The table as a section of a chip file.
    pub fn text(&self) -> Text {
        let width = self.judged.iter().map(|judged| judged.name.len()).max().unwrap_or(0);
        let figure = |judged: &Judged| {
            let value = if judged.value.is_finite() { format!("{}", text::rounded(judged.value, 4)) } else { "–".to_owned() };
            format!("# {:width$}  {value:>9}  {}\n", judged.name, judged.meaning)
        };
        let remarks = self.judged.iter().map(figure).collect();
        let keys: String = self.keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        // A setting may have quotes of its own.
        let source = toml::Value::from(self.source.as_str());
        Text { remarks, section: format!("[{}]\nsource = {source}\n{keys}", self.section) }
    }
}

/// A list of figures under way.
#[derive(Debug, Default)]
struct Figures(Vec<Judged>);

impl Figures {
    fn set(&mut self, name: &'static str, value: f64, meaning: impl Into<String>) {
        self.0.push(Judged { name, value, meaning: meaning.into() });
    }
}

/// One half of a lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    /// Chips of even number, that tables are made from.
    Fitted,
    /// Chips of odd number, that tables are judged by.
    Judged,
}

/// A lot that opens only if it has both halves.
fn open(setup: &Setup, name: &str) -> Result<Lot, LabError> {
    if setup.lot.chips < 2 {
        let what =
            "a table is made from the chips of even number and judged by the others: expected a lot of at least 2 chips, such as 16x12";
        return Err(LabError::Usage(format!("{name}, lot {}: {what}", setup.lot)));
    }
    Lot::open(setup)
}

/// Results of `work` for every block of a half, chip by chip. Reports its progress.
fn walk<T: Send>(lot: &Lot, setup: &Setup, half: Half, what: &str, work: impl Fn(&Block) -> T + Sync) -> Vec<T> {
    let first = u32::from(half == Half::Judged);
    let blocks = lot.size.blocks;
    let all = (lot.size.chips - first).div_ceil(2) * blocks;
    let done = AtomicU64::new(0);
    parallel::map(lot.threads, all as usize, |index| {
        let index = index as u32;
        let found = work(&lot.block(first + 2 * (index / blocks), index % blocks));
        setup.teller.tell(&format!("{what}: {} of {all} blocks", done.fetch_add(1, Ordering::Relaxed) + 1));
        found
    })
}

#[cfg(test)]
mod tests {
    use wordline_flash::Tables;
    use wordline_plan::Chip;

    use super::*;
    use crate::bench::{Null, Teller};
    use crate::conditions::LotSize;
    use crate::protocol::Changes;

    /// A lot of the chip that the studies are about.
    pub(super) fn lot(size: &str, seed: u64) -> Setup {
        Setup {
            chip: crate::CHIP.to_owned(),
            against: None,
            settings: Vec::new(),
            null: Null::default(),
            conditions: Changes::new(),
            lot: LotSize::read(size).expect("a lot"),
            seed,
            threads: 2,
            teller: Teller::default(),
        }
    }

    /// The tables that a plan reads from a printed section.
    pub(super) fn parsed(text: &Text) -> Tables {
        let text = format!("inherit = \"{}\"\n{}{}", crate::CHIP, text.remarks, text.section);
        Chip::parse("found", &text).unwrap_or_else(|error| panic!("{error}\n{text}")).tables().clone()
    }

    #[test]
    fn halves_have_no_chip_in_common_and_all_blocks_between_them() {
        let setup = lot("3x2", 7);
        let lot = open(&setup, "x").expect("a lot");
        let names = |half| walk(&lot, &setup, half, "x", |block| (block.chip, block.block));
        assert_eq!(names(Half::Fitted), [(0, 0), (0, 1), (2, 0), (2, 1)]);
        assert_eq!(names(Half::Judged), [(1, 0), (1, 1)]);
    }
}
