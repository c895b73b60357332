//! `sweep.csv`: every figure over the values of the key that was swept.

use std::io::{self, Write};

use super::column::{Column, Kind, integer, real, word};
use super::csv::quoted;
use wordline_figures::Report;

/// The columns of `sweep.csv`.
pub const SWEEP: &[Column] = &[
    word("workload", "the workload"),
    word("age", "the age of the cells; empty where none was named"),
    word("drive", "the drive"),
    word("key", "the key that was swept"),
    word("setting", "its value"),
    word("figure", "the figure, by its name in `runs.csv`"),
    word("unit", "its unit"),
    integer("seeds", "", "how many runs have the figure"),
    real("mean", "", "the arithmetic mean over the seeds"),
    real("low", "", "the lower end of the 95 % confidence interval; empty with one seed"),
    real("high", "", "the upper end"),
    Column { name: "failed", kind: Kind::Flag, unit: "", meaning: "whether the drive failed requests with any of the seeds" },
];

/// Write one row for each workload, age, drive, figure and value; only the header where nothing was swept.
///
/// # Errors
/// When the file cannot be written.
pub fn write_sweep<W: Write>(mut to: W, report: &Report) -> io::Result<W> {
    writeln!(to, "{}", SWEEP.iter().map(|column| column.name).collect::<Vec<_>>().join(","))?;
    if let Some(sweep) = &report.sweep {
        for point in &sweep.points {
            let age = point.age.as_deref().unwrap_or("");
            let words = [&point.workload, age, &point.drive, &sweep.key, &point.value, &point.figure, &point.unit];
            let words = words.map(|word| quoted(word).into_owned()).join(",");
            let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
            writeln!(to, "{words},{},{},{},{},{}", point.seeds, point.mean, number(point.low), number(point.high), point.failed)?;
        }
    }
    to.flush()?;
    Ok(to)
}
