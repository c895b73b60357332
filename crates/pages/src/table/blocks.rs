//! `blocks.parquet` and `blocks.csv`: the cells of each flash block at the end of a run.

use std::io::Write;

use parquet::data_type::ByteArray;
use wordline_figures::cells::BlockCells;
use wordline_figures::conclude::DriveDetail;
use wordline_units::Id;

use super::column::{Cell, Column, Kind, integer, real, word};
use super::file::{Format, Table, TableError};

/// A block of one drive.
struct At<'a> {
    name: &'a ByteArray,
    drive: &'a DriveDetail,
    block: &'a BlockCells,
}

type Value = for<'a> fn(&At<'a>) -> Cell<'a>;

const IN_SERVICE: Column = Column {
    name: "in_service",
    kind: Kind::Flag,
    unit: "",
    meaning: "whether it is of a block group in service; spare and bad blocks are of none",
};

/// Columns of a table of blocks, each with its value.
const LIST: &[(Column, Value)] = &[
    (word("drive", "the drive's name"), |at| Cell::Text(at.name)),
    (integer("seed", "", "the seed of all random streams"), |at| Cell::Integer(at.drive.seed)),
    (integer("die", "", "the block's die, counted over the drive"), |at| Cell::Integer(at.block.die.index() as u64)),
    (integer("plane", "", "its plane"), |at| Cell::Integer(at.block.plane.index() as u64)),
    (integer("block", "", "its number in the plane"), |at| Cell::Integer(at.block.block.index() as u64)),
    (IN_SERVICE, |at| Cell::Flag(at.block.in_service)),
    (integer("erases", "erases", "its erases, over its whole life"), |at| Cell::Integer(at.block.erases.into())),
    (real("wear_mean", "reference cycles", "mean wear of its wordlines"), |at| Cell::Real(Some(at.block.wear_mean))),
    (real("wear_worst", "reference cycles", "wear of its most worn wordline"), |at| Cell::Real(Some(at.block.wear_worst))),
    (real("wear_added", "reference cycles", "growth of its mean wear in the window"), |at| Cell::Real(Some(at.block.wear_added))),
    (real("age", "", "wrong bits of its weakest page after a year, N(12), over those that can be corrected"), |at| {
        Cell::Real(at.block.age)
    }),
    (real("carried_mean", "bits", "carried errors of a codeword, in the mean over its pages"), |at| {
        Cell::Real(Some(at.block.carried_mean))
    }),
    (real("carried_worst", "bits", "carried errors of a codeword of the page with the most"), |at| {
        Cell::Real(Some(at.block.carried_worst))
    }),
];

/// The columns of a table of blocks.
pub fn blocks() -> Vec<Column> {
    LIST.iter().map(|(column, _)| *column).collect()
}

/// Writes the cells of the flash blocks of this drive, marked with `about`; returns where they were written to.
///
/// # Errors
/// When the file cannot be written.
pub fn write_blocks<W: Write + Send>(format: Format, to: W, drive: &DriveDetail, about: &[(String, String)]) -> Result<W, TableError> {
    let mut table = Table::new(format, "blocks", &blocks(), to)?;
    table.mark(about);
    let name = ByteArray::from(drive.name.as_str());
    for block in &drive.cells {
        let at = At { name: &name, drive, block };
        let cells: Vec<Cell<'_>> = LIST.iter().map(|(_, of)| of(&at)).collect();
        table.push(&cells);
    }
    table.finish()
}
