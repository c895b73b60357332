//! `runs.csv` and `ratios.csv`: the figures of each run, and those of each drive over those of the first.

use std::io::{self, Write};

use serde_json::Value;

use super::column::{Column, Kind, real, word};
use super::csv::quoted;
use wordline_figures::Report;
use wordline_figures::compare::Comparison;
use wordline_figures::result::DriveResult;

/// The columns of `ratios.csv`.
pub const RATIOS: &[Column] = &[
    word("workload", "the workload, where several workloads or ages were asked for"),
    word("age", "the age of the cells, where several workloads or ages were asked for and one was named"),
    word("baseline", "the drive that the others are divided by"),
    word("drive", "the drive"),
    word("figure", "the figure, by its name in `runs.csv`"),
    word("unit", "its unit"),
    real("value", "", "the figure in the arithmetic mean over the seeds; 0 where there was nothing to measure"),
    real("ratio", "", "the geometric mean over the seeds of the figure over the baseline's; empty where one is zero"),
    real("low", "", "the lower end of the 95 % confidence interval; empty with one seed"),
    real("high", "", "the upper end"),
    word("phase", "the phase of the workload; empty for the whole"),
    word("setting", "the key that was swept and its value; empty where none was"),
    real("p", "", "how likely a ratio at least as far from 1 is where nothing differs; empty with one seed"),
    Column {
        name: "together",
        kind: Kind::Flag,
        unit: "",
        meaning: "whether it differs from 1 with all intervals taken together (Holm, 5 %)",
    },
];

/// The runs of a report, each with its workload and age where there are several, and with the setting that was swept.
type Of<'a> = ([String; 3], &'a [DriveResult], Option<&'a Comparison>);

fn cells(report: &Report) -> Vec<Of<'_>> {
    if report.cells.is_empty() {
        return vec![(Default::default(), &report.drives, report.comparison.as_ref())];
    }
    let of = |cell: &wordline_figures::grid::CellResult| cell.age.is_some();
    debug_assert!(report.cells.iter().all(of) || !report.cells.iter().any(of), "either all cells have an age or none has");
    report
        .cells
        .iter()
        .map(|cell| {
            let setting = cell.swept.as_ref().map(|swept| format!("{}={}", swept.key, swept.value)).unwrap_or_default();
            let of = [cell.workload.clone(), cell.age.clone().unwrap_or_default(), setting];
            (of, &cell.drives[..], cell.comparison.as_ref())
        })
        .collect()
}

/// Write one row for each run: every single figure of the JSON output, under its name there. Lists are left out: they are tables of their own.
///
/// # Errors
/// When the file cannot be written.
pub fn write_runs<W: Write>(mut to: W, report: &Report) -> io::Result<W> {
    let mut columns = ["workload", "age", "setting"].map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<(usize, String)>> = Vec::new();
    for (of, drives, _) in cells(report) {
        for drive in drives {
            let mut row: Vec<(usize, String)> = of.iter().cloned().enumerate().collect();
            let figures = serde_json::to_value(drive).map_err(io::Error::other)?;
            flatten(&figures, "", &mut |name, text| {
                let column = columns.iter().position(|known| known == name).unwrap_or_else(|| {
                    columns.push(name.to_owned());
                    columns.len() - 1
                });
                row.push((column, text));
            });
            rows.push(row);
        }
    }
    writeln!(to, "{}", columns.join(","))?;
    for row in rows {
        let mut fields = vec![String::new(); columns.len()];
        for (column, text) in row {
            fields[column] = quoted(&text).into_owned();
        }
        writeln!(to, "{}", fields.join(","))?;
    }
    to.flush()?;
    Ok(to)
}

/// Each single value below `value`, with its path.
fn flatten(value: &Value, path: &str, each: &mut impl FnMut(&str, String)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(member, &path, each);
            }
        }
        // A member that has figures in other runs has none in this one.
        Value::Null | Value::Array(_) => {}
        Value::String(text) => each(path, text.clone()),
        Value::Bool(_) | Value::Number(_) => each(path, value.to_string()),
    }
}

/// Write one row for each figure of each drive that was compared; only the header where nothing was.
///
/// # Errors
/// When the file cannot be written.
pub fn write_ratios<W: Write>(mut to: W, report: &Report) -> io::Result<W> {
    writeln!(to, "{}", RATIOS.iter().map(|column| column.name).collect::<Vec<_>>().join(","))?;
    for ([workload, age, setting], _, comparison) in cells(report) {
        let Some(comparison) = comparison else { continue };
        let whole = comparison.ratios.iter().map(|ratio| ("", ratio));
        let phases = comparison.phases.iter().flat_map(|phase| phase.ratios.iter().map(|ratio| (phase.phase.as_str(), ratio)));
        for (phase, ratio) in whole.chain(phases) {
            let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
            let words =
                [&workload, &age, &comparison.baseline, &ratio.drive, &ratio.figure, &ratio.unit].map(|word| quoted(word).into_owned());
            let numbers = [number(Some(ratio.value)), number(ratio.ratio), number(ratio.low), number(ratio.high)];
            let chance = number(ratio.p);
            writeln!(to, "{},{},{},{},{chance},{}", words.join(","), numbers.join(","), quoted(phase), quoted(&setting), ratio.together)?;
        }
    }
    to.flush()?;
    Ok(to)
}
