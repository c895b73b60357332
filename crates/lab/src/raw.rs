//! Raw tables: one row for each page and condition, as CSV or Parquet by the file's ending.

use std::io::Write;

use wordline_report::html::figure::Figure;
use wordline_report::table::{Cell, Column, Format, Kind, Table, TableError};

use crate::grid::Row;
use crate::protocol::Changes;

const fn column(name: &'static str, kind: Kind, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, kind, unit, meaning }
}

/// The columns of a characterisation.
pub const COLUMNS: &[Column] = &[
    column("chip", Kind::Integer, "", "Chip of the lot"),
    column("block", Kind::Integer, "", "Block of the chip"),
    column("layer", Kind::Integer, "", "H-layer; 0 is the topmost"),
    column("wordline", Kind::Integer, "", "Wordline of the block: layer times wordlines in a layer, plus its place in the layer"),
    column("page", Kind::Integer, "", "Page of the wordline; 0 is the LSB page"),
    column("pe", Kind::Integer, "cycles", "Program/erase cycles before, with a minute of dwell at 30 °C"),
    column("retention_s", Kind::Real, "s", "Time between program and read"),
    column("temperature_c", Kind::Real, "°C", "Temperature of that time"),
    column("reads", Kind::Integer, "", "Reads of the block between program and read"),
    column("bits", Kind::Integer, "bits", "Bits of the page, spare area included"),
    column("errors", Kind::Integer, "bits", "Wrong bits of a first read with the default references"),
    column("worst_codeword_errors", Kind::Integer, "bits", "Wrong bits of the worst codeword of that read"),
    column(
        "retries",
        Kind::Integer,
        "",
        "Entries of the vendor's retry table that were tried until the page could be corrected; the last, where it could not",
    ),
    column("t_prog_us", Kind::Real, "us", "t_PROG of the wordline"),
    column("t_bers_us", Kind::Real, "us", "t_BERS of the block's last erase"),
];

/// The columns of a bench's own data.
pub const FIGURE_COLUMNS: &[Column] = &[
    column("figure", Kind::Text, "", "Title of the figure"),
    column("series", Kind::Text, "", "Curve, row or series of the figure"),
    column("x", Kind::Text, "", "Place on the axis across, or name of the column"),
    column("value", Kind::Real, "", "Value; its unit stands in the figure's title or axis"),
];

/// A raw table that is being written.
pub enum Raw<W: Write + Send> {
    /// A comma-separated table.
    Csv(W),
    /// A Parquet table.
    Parquet(Box<Table<W>>),
}

/// An error while a raw table is written.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// The file could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] std::io::Error),
    /// The Parquet writer failed.
    #[error("{0}")]
    Table(#[from] TableError),
}

impl<W: Write + Send> Raw<W> {
    /// Begins a table in the format that the name's ending says; `None` where it says neither.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn begin(name: &str, columns: &[Column], mut to: W) -> Result<Option<Raw<W>>, RawError> {
        if name.ends_with(".parquet") {
            return Ok(Some(Raw::Parquet(Box::new(Table::new(Format::Parquet, "characterisation", columns, to)?))));
        }
        if name.ends_with(".csv") {
            let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            writeln!(to, "{}", names.join(","))?;
            return Ok(Some(Raw::Csv(to)));
        }
        Ok(None)
    }

    /// Adds the pages of a block.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn pages(&mut self, rows: &[Row]) -> Result<(), RawError> {
        match self {
            Raw::Csv(to) => {
                for row in rows {
                    writeln!(
                        to,
                        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                        row.chip,
                        row.block,
                        row.layer,
                        row.wordline,
                        row.page,
                        row.pe,
                        row.retention_s,
                        row.temperature_c,
                        row.reads,
                        row.bits,
                        row.errors,
                        row.worst_codeword_errors,
                        row.retries,
                        row.t_prog_us,
                        row.t_bers_us
                    )?;
                }
            }
            Raw::Parquet(table) => {
                for row in rows {
                    let whole = |value: u32| Cell::Integer(u64::from(value));
                    table.push(&[
                        whole(row.chip),
                        whole(row.block),
                        whole(row.layer),
                        whole(row.wordline),
                        whole(row.page),
                        whole(row.pe),
                        Cell::Real(Some(row.retention_s)),
                        Cell::Real(Some(row.temperature_c)),
                        Cell::Integer(row.reads),
                        Cell::Integer(row.bits),
                        Cell::Integer(row.errors),
                        whole(row.worst_codeword_errors),
                        whole(row.retries),
                        Cell::Real(Some(row.t_prog_us)),
                        Cell::Real(Some(row.t_bers_us)),
                    ]);
                }
                table.flush()?;
            }
        }
        Ok(())
    }

    /// Adds the data behind figures.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn figures(&mut self, figures: &[Figure]) -> Result<(), RawError> {
        for figure in figures {
            for (series, x, value) in figure.data() {
                match self {
                    Raw::Csv(to) => writeln!(to, "{},{},{},{value}", quoted(figure.title()), quoted(&series), quoted(&x))?,
                    Raw::Parquet(table) => {
                        let [title, series, x] = [figure.title(), &series, &x].map(|text| text.as_bytes().to_vec().into());
                        table.push(&[Cell::Text(&title), Cell::Text(&series), Cell::Text(&x), Cell::Real(Some(value))]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the buffered rows and ends the table.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn finish(self) -> Result<(), RawError> {
        match self {
            Raw::Csv(mut to) => to.flush()?,
            Raw::Parquet(table) => table.finish()?.flush()?,
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Text of the reference of the raw tables.
pub fn reference() -> String {
    let mut text = String::from(
        "# Raw tables of characterisations\n\nWhat `wordline characterize --out FILE` writes: one row for each page and condition, as CSV or Parquet by the file's ending. In Parquet, units stand\n\
         also in the file's metadata, under `unit.` and the column's name. Generated by `cargo xtask docs`.\n\n",
    );
    let table = |columns: &[Column]| {
        let mut text = String::from("| column | type | unit | meaning |\n|---|---|---|---|\n");
        for column in columns {
            text += &format!("| `{}` | {} | {} | {} |\n", column.name, column.kind.name(), column.unit, column.meaning);
        }
        text
    };
    text += &table(COLUMNS);
    text += "\nThe benches with names of their own (`wordline characterize retries` and others) write the data behind their figures:\n\n";
    text += &table(FIGURE_COLUMNS);
    text += "\n## Benches\n\nWhat a bench measures, and at which conditions. Conditions are data: each bench has a file in `studies/benches/`, with the source of every\n\
             value, and a study may change some for itself:\n\n\
             ```toml\n[conditions.vth]\nsource = \"where they come from\"\ncycled = \"3k\"\nkept = \"6mo\"\n```\n";
    for bench in crate::bench::BENCHES {
        text += &format!("\n### `{}`\n\n{}.\n\n| measured | unit | meaning |\n|---|---|---|\n", bench.name, bench.summary);
        for metric in bench.metrics {
            text += &format!("| `{}` | {} | {} |\n", metric.name, metric.unit, metric.meaning);
        }
        let conditions = bench.conditions.told(&Changes::new()).unwrap_or_default();
        if !conditions.is_empty() {
            text += "\n| condition | value | meaning |\n|---|---|---|\n";
        }
        for (name, value, meaning) in conditions {
            text += &format!("| `{name}` | {value} | {meaning} |\n");
        }
    }
    text
}
