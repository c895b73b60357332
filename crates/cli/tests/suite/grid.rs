//! `wordline compare` over several workloads and ages; and what is told of wordlines.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Scratch, wordline};

/// What the command writes with `--json -`.
fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = wordline(&scratch.0, &[arguments, &["--json", "-", "--quiet"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON and nothing else")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The hashes of everything that happened, run by run.
fn hashes(cell: &Value) -> Vec<&str> {
    list(&cell["drives"]).iter().filter_map(|drive| drive["event_log_hash"].as_str()).collect()
}

const DRIVES: &str = "paper-cubeftl,cubeftl";
const SMALL: [&str; 6] = ["--size", "1GiB", "--requests", "400", "--seeds", "2"];

/// A comparison without what it says of all intervals of its report together: a grid has more of them than one cell.
fn by_itself(comparison: &Value) -> Value {
    let mut comparison = comparison.clone();
    for ratio in comparison["ratios"].as_array_mut().expect("a list") {
        ratio.as_object_mut().expect("an object").remove("together");
    }
    comparison
}

#[test]
fn a_cell_of_the_grid_is_the_run_that_one_would_make_of_it_alone() {
    let scratch = Scratch::new("grid");
    let compare = |more: &[&str]| json(&scratch, &[&["compare", "--drives", DRIVES], &SMALL[..], more].concat());
    let grid = compare(&["--workload", "oltp,proxy", "--age", "fresh,2k+1mo", "--parquet", "tables", "--threads", "2"]);
    assert_eq!((list(&grid["drives"]).len(), grid.get("comparison")), (0, None));
    let cells = list(&grid["cells"]);
    let named: Vec<_> = cells.iter().map(|cell| (cell["age"].as_str().unwrap(), cell["workload"].as_str().unwrap())).collect();
    assert_eq!(named, [("fresh", "oltp"), ("fresh", "proxy"), ("2k+1mo", "oltp"), ("2k+1mo", "proxy")]);
    let mut seen = BTreeSet::new();
    for cell in cells {
        let runs: Vec<_> = list(&cell["drives"]).iter().map(|run| (run["name"].as_str().unwrap(), run["seed"].as_u64().unwrap())).collect();
        assert_eq!(runs, [("paper-cubeftl", 1), ("paper-cubeftl", 2), ("cubeftl", 1), ("cubeftl", 2)]);
        assert_eq!((&cell["comparison"]["baseline"], &cell["comparison"]["seeds"]), (&"paper-cubeftl".into(), &serde_json::json!([1, 2])));
        assert!(list(&cell["comparison"]["ratios"]).iter().any(|ratio| ratio["figure"] == "host.iops" && ratio["low"].is_number()));
        let alone = compare(&["--workload", cell["workload"].as_str().unwrap(), "--age", cell["age"].as_str().unwrap(), "--threads", "1"]);
        assert!(alone.get("cells").is_none() && alone["comparison"].is_object(), "one cell is written as ever");
        assert_eq!((hashes(cell), by_itself(&cell["comparison"])), (hashes(&alone), by_itself(&alone["comparison"])));
        seen.extend(hashes(cell).into_iter().map(str::to_owned));
    }
    assert_eq!(seen.len(), 16, "no two runs are the same");
    // A file of intervals for each cell, a file of requests for each run.
    assert_eq!(std::fs::read_dir(scratch.0.join("tables")).expect("a folder").count(), 4 + 16);
}

#[test]
fn the_table_has_a_row_for_each_workload_and_a_part_for_each_age() {
    let scratch = Scratch::new("grid-text");
    let arguments =
        [&["compare", "--drives", "pageftl,pageftl-4k", "--workload", "oltp", "--workload", "web,uniform-write", "-q"][..], &SMALL]
            .concat();
    let output = wordline(&scratch.0, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {text}"));
    for name in ["oltp", "web", "uniform-write"] {
        assert!(row(name).contains('×') && row(name).contains('['), "{text}");
    }
    assert!(text.contains("All self-checks of 12 runs passed."), "{text}");
    let page = std::fs::read_to_string(scratch.0.join("wordline-compare.html")).expect("a page");
    assert_eq!(page.matches("<details class=\"cell\">").count(), 3);
    assert!(page.contains("class=\"whisker\"") && page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn a_file_with_a_comma_in_its_path_stands_alone() {
    let scratch = Scratch::new("comma");
    scratch.file("a,b.csv", b"128166372003061629,hm,0,Write,32768,32768,413\n128166372016382155,hm,0,Read,32768,4096,100\n");
    let run = |workloads: &[&str]| {
        json(&scratch, &[&["compare", "--drives", "pageftl,pageftl-4k", "--requests", "10", "--seeds", "1"], workloads].concat())
    };
    let one = run(&["--workload", "a,b.csv"]);
    assert_eq!(list(&one["drives"]).len(), 2);
    let two = run(&["--workload", "uniform-read", "--workload", "a,b.csv"]);
    let named: Vec<_> = list(&two["cells"]).iter().map(|cell| &cell["workload"]).collect();
    assert_eq!(named, ["uniform-read", "a,b.csv"]);
    let output = wordline(&scratch.0, &["compare", "--workload", "a,c.csv", "-q"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("a --workload of its own"), "{told}");
}

#[test]
fn leaders_and_followers_are_all_that_was_programmed() {
    let scratch = Scratch::new("wordlines");
    let run = |drive: &str, more: &[&str]| {
        let arguments = [&["run", drive, "--workload", "rocks", "--size", "8GiB", "--length", "8%", "--html", "run.html"], more].concat();
        json(&scratch, &arguments)["drives"][0].clone()
    };
    let page = || std::fs::read_to_string(scratch.0.join("run.html")).expect("a page");
    let cube = run("cubeftl", &[]);
    let sum = |name: &str| ["leaders", "followers"].map(|who| cube["wordlines"][who][name].as_u64().expect("a number")).iter().sum::<u64>();
    let programs = |causes: &dyn Fn(&str) -> bool| -> u64 {
        let kinds = list(&cube["flash"]).iter().filter(|kind| kind["op"] == "program" && causes(kind["cause"].as_str().unwrap()));
        kinds.map(|kind| kind["operations"].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("host_programs"), programs(&|cause| cause == "host"));
    assert_eq!(sum("programs"), programs(&|_| true));
    assert!(sum("host_programs") > 1_000, "{:#}", cube["wordlines"]);
    let took = |drive: &Value, who: &str| drive["wordlines"][who]["program_us"].as_f64().expect("a time");
    assert!(took(&cube, "followers") < 0.85 * took(&cube, "leaders"), "{:#}", cube["wordlines"]);
    assert!(page().contains("Wordlines programmed"));
    // Without the technique all wordlines are alike; and where a program is a page's, nobody leads.
    let plain = run("paper-cubeftl", &[]);
    assert!((took(&plain, "followers") / took(&plain, "leaders") - 1.0).abs() < 0.02, "{:#}", plain["wordlines"]);
    let pages = run("pageftl", &["--requests", "2000"]);
    assert!(pages.get("wordlines").is_none() && !page().contains("Wordlines programmed"));
}
