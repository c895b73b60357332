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
fn the_cells_of_every_flash_block_are_a_table_and_change_nothing() {
    let scratch = Scratch::new("cells");
    let base = ["run", "pageftl", "--set", "geometry.blocks=24", "--set", "geometry.layers=4", "--set", "mapping.over_provisioning=40 %"];
    let base = [&base[..], &["--age", "2k+1mo", "--requests", "20000", "--workload", "uniform-write"]].concat();
    let (plain, _) = run(&scratch, &base);
    assert!(plain["drives"][0]["blocks"].get("cells").is_none(), "it was not asked for");
    let (report, _) = run(&scratch, &[&base[..], &["--cells", "--csv", "tables", "--parquet", "tables"]].concat());
    assert_eq!(report["drives"][0]["event_log_hash"], plain["drives"][0]["event_log_hash"]);
    assert!(std::fs::metadata(scratch.0.join("tables/blocks.parquet")).is_ok_and(|file| file.len() > 0));

    let blocks = Sheet::read(&scratch, "tables/blocks.csv");
    let plan = &report["drives"][0]["capacity"];
    let of_drive = ["dies", "planes"].map(|key| plan[key].as_u64().expect("a count")).iter().product::<u64>() * 24;
    assert_eq!(blocks.rows.len() as u64, of_drive);
    let in_service: Vec<bool> = blocks.column("in_service").iter().map(|field| *field == "true").collect();
    let good = |name: &str| -> Vec<f64> {
        blocks.numbers(name).into_iter().zip(&in_service).filter_map(|(value, good)| good.then_some(value)).collect()
    };
    let cells = &report["drives"][0]["blocks"]["cells"];
    let told = |name: &str| cells[name].as_f64().unwrap_or_else(|| panic!("{name} in {cells}"));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert_eq!(told("blocks"), good("age").len() as f64);
    for (name, of) in [("wear_mean", "wear_mean"), ("wear_worst_mean", "wear_worst"), ("age_mean", "age")] {
        assert!((told(name) / mean(&good(of)) - 1.0).abs() < 1e-9, "{name}");
    }
    assert!((told("wear_added_mean") / mean(&blocks.numbers("wear_added")) - 1.0).abs() < 1e-9);
    // 2,000 cycles with a rest between them, and what the run has added: an erase and a program are a cycle without rest.
    let erases = report["drives"][0]["erases"].as_f64().expect("a count") * plan["planes"].as_f64().expect("a count");
    assert!(told("wear_added_mean") > 0.0 && told("wear_added_mean") < 2.0 * erases / blocks.rows.len() as f64, "{erases} erases");
    assert!((500.0..4_000.0).contains(&told("wear_mean")) && told("wear_worst_max") > told("wear_mean"));
    assert!(told("age_min") < told("age_max") && (0.05..1.0).contains(&told("age_mean")));
}

#[test]
fn cells_without_physics_are_not_inspected() {
    let scratch = Scratch::new("no-cells");
    let output = wordline(&scratch.0, &["run", "pageftl", "--physics", "off", "--cells", "--csv", "tables"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("pageftl: its cells have no physics, and --cells inspects them") && !scratch.0.join("tables").exists(), "{told}");
}

#[test]
fn a_drive_is_described_with_its_cells_at_an_age() {
    let scratch = Scratch::new("described");
    let described = |more: &[&str]| {
        let output = wordline(&scratch.0, &[&["describe", "pageftl", "--size", "4GiB"], more].concat());
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("# wear ") || line.starts_with("# age ")).count();
    assert_eq!([lines(&described(&[])), lines(&described(&["--age", "2k", "--physics", "off"]))], [0, 0]);
    let first = |text: &str, name: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(&format!("# {name} "))).unwrap_or_else(|| panic!("{text}"));
        line.split_whitespace().nth(2).and_then(|number| number.replace(',', "").parse().ok()).unwrap_or_else(|| panic!("{line}"))
    };
    let (young, old) = (described(&["--age", "1k"]), described(&["--age", "4k+1mo"]));
    let [wears, ages] = ["wear", "age"].map(|name| first(&old, name) / first(&young, name));
    assert!((wears - 4.0).abs() < 0.01 && ages > 1.5, "{old}");
    // It is still a plan.
    scratch.file("old.toml", old.as_bytes());
    let output = wordline(&scratch.0, &["describe", "old.toml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
