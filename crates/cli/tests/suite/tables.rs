//! The tables that a run writes: as CSV, in intervals of the length that was asked for.

use serde_json::Value;

use crate::{Scratch, wordline};

/// A table of CSV without commas in its fields, each row with the names of the columns.
struct Sheet {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    fn read(scratch: &Scratch, name: &str) -> Sheet {
        let text = std::fs::read_to_string(scratch.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let columns = lines.next().expect("a header");
        Sheet { columns, rows: lines.collect() }
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let place = self.columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("no {name} in {:?}", self.columns));
        self.rows.iter().map(|row| row[place].as_str()).collect()
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        self.column(name).iter().map(|field| field.parse().expect("a number")).collect()
    }
}

fn run(scratch: &Scratch, arguments: &[&str]) -> (Value, String) {
    let output = wordline(&scratch.0, &[arguments, &["--json", "-", "--quiet"]].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    (serde_json::from_slice(&output.stdout).expect("JSON and nothing else"), told)
}

#[test]
fn intervals_are_as_long_as_was_asked_for_and_hold_every_request() {
    let scratch = Scratch::new("intervals");
    let base = ["run", "pageftl", "--requests", "4000", "--csv", "tables", "--interval"];
    let (report, told) = run(&scratch, &[&base[..], &["2ms"]].concat());
    assert!(!told.contains("would be more"), "{told}");
    let intervals = Sheet::read(&scratch, "tables/intervals.csv");
    let widths = intervals.numbers("width_s");
    let (last, others) = widths.split_last().expect("intervals");
    assert!(others.len() > 2 && others.iter().all(|width| *width == 0.002) && *last <= 0.002, "{widths:?}");
    let served = |op: &str| report["drives"][0]["host"][op].as_f64().expect("a count");
    for op in ["reads", "writes", "trims"] {
        assert_eq!(intervals.numbers(op).iter().sum::<f64>(), served(op));
    }
    let requests = Sheet::read(&scratch, "tables/requests.csv");
    assert_eq!(requests.rows.len() as f64, ["reads", "writes", "trims", "flushes"].map(served).iter().sum::<f64>());
    assert_eq!(requests.column("op").iter().filter(|op| **op == "read").count() as f64, served("reads"));
    let runs = Sheet::read(&scratch, "tables/runs.csv");
    assert_eq!(runs.column("event_log_hash"), [report["drives"][0]["event_log_hash"].as_str().expect("a hash")]);
    assert!(!scratch.0.join("tables/ratios.csv").exists(), "one drive is compared with none");
    // Intervals change nothing of the run.
    let (other, told) = run(&scratch, &[&base[..], &["10ns"]].concat());
    assert_eq!(other["drives"][0]["event_log_hash"], report["drives"][0]["event_log_hash"]);
    assert!(told.contains("intervals of 10 ns would be more than 65536; each is "), "{told}");
}

#[test]
fn a_grid_writes_every_table_in_both_formats() {
    let scratch = Scratch::new("grid-tables");
    let drives = ["compare", "--drives", "pageftl,pageftl-4k", "--workload", "oltp,uniform-read", "--requests", "400", "--seeds", "2"];
    let (report, _) = run(&scratch, &[&drives[..], &["--csv", "tables", "--parquet", "tables"]].concat());
    let runs = Sheet::read(&scratch, "tables/runs.csv");
    assert_eq!(runs.rows.len(), 8);
    assert_eq!(runs.column("workload")[3..5], ["oltp", "uniform-read"]);
    let ratios = Sheet::read(&scratch, "tables/ratios.csv");
    let cells = report["cells"].as_array().expect("cells");
    let expected: usize = cells.iter().map(|cell| cell["comparison"]["ratios"].as_array().expect("ratios").len()).sum();
    assert_eq!(ratios.rows.len(), expected);
    let mut names: Vec<String> = std::fs::read_dir(scratch.0.join("tables"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    // For each run its requests, for each workload its intervals, in both formats; and the two of all runs.
    assert_eq!(names.len(), 2 * (8 + 2) + 2, "{names:?}");
}
