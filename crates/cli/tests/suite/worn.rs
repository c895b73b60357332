//! `wordline wear-out`: drives written until their ends.

use serde_json::Value;

use crate::{Scratch, wordline};

/// A drive of 64 small blocks, each good for 300 erases.
const SMALL: [&str; 17] = [
    "wear-out",
    "pageftl",
    "--quiet",
    "--physics",
    "off",
    "--set",
    "geometry.blocks=64",
    "--set",
    "geometry.layers=4",
    "--set",
    "flash.channels=1",
    "--set",
    "flash.dies_per_channel=1",
    "--set",
    "mapping.over_provisioning=30 %",
    "--workload",
    "uniform-write",
];
const LIMIT: [&str; 6] = ["--set", "faults.endurance=300", "--set", "mapping.spare_blocks=3", "--epochs", "12"];

fn told(scratch: &Scratch, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = wordline(&scratch.0, arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_drive_lives_as_long_as_its_blocks_are_good_for() {
    let scratch = Scratch::new("worn");
    let asked = [&SMALL[..], &LIMIT, &["--json", "-", "--html", "life.html"]].concat();
    let (code, stdout, stderr) = told(&scratch, &asked);
    assert_eq!(code, Some(0), "{stderr}");
    let result: Value = serde_json::from_str(&stdout).expect("JSON and nothing else");
    let life = &result["drives"][0];
    assert!(["worn-out", "bad-blocks"].contains(&life["end"].as_str().expect("a word")), "{}", life["end"]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    // Blocks are worn unevenly, and the first that fail end the life.
    assert!((240.0..=301.0).contains(&number(&life["cycles"]["mean"])), "{}", life["cycles"]["mean"]);
    assert!(number(&life["cycles"]["most"]) <= 301.0);
    // What blocks were written with is what the host wrote, and what was moved beside it. The mean counts new spare blocks, too.
    let blocks = 64.0 * 0.7 / 61.0;
    let expected = number(&life["cycles"]["median"]) / number(&life["waf"]) / blocks;
    println!("{} drive writes, {expected} by erases; {}", life["drive_writes"], life["cycles"]);
    let writes = number(&life["drive_writes"]);
    assert!((writes / expected - 1.0).abs() < 0.05, "{writes} drive writes, {expected} by erases and WAF");
    assert!((number(&life["years"]) / 5.0 - 1.0).abs() < 0.16, "its pace is that of five years: {}", life["years"]);
    let epochs = life["epochs"].as_array().expect("epochs");
    assert!(epochs.len() >= 10 && epochs.iter().any(|epoch| epoch["iops"].is_number()));
    let bytes: Vec<f64> = epochs.iter().map(|epoch| number(&epoch["written_bytes"])).collect();
    assert!(bytes.is_sorted(), "{bytes:?}");
    assert_eq!(told(&scratch, &asked).1, stdout, "the same seed is the same life");
    let page = std::fs::read_to_string(scratch.0.join("life.html")).expect("a page");
    assert!(page.contains("Write amplification") && page.contains("P/E cycles at the end"));
    let (_, shown, _) = told(&scratch, &[&SMALL[..], &LIMIT].concat());
    assert!(shown.contains("drive writes") && shown.contains("note: what lies between two epochs is not simulated"), "{shown}");
}

#[test]
fn what_cannot_be_worn_out_is_refused_before_anything_is_written() {
    let scratch = Scratch::new("worn-refused");
    for (arguments, expected) in [
        (&[][..], "pageftl does not wear out"),
        (&["--against", "pageftl"], "named twice"),
        (&["--years", "0"], "--years 0"),
        (&["--until", "never"], "expected uncorrectable, spare"),
        (&["--must-keep", "1x"], "is no unit of time"),
        (&["--must-keep", "never"], "or none, where data need not keep"),
        (&["--workload", "uniform-read"], "uniform-read: phase 'read' is a closed loop, of which no number of reads a day is known"),
        (&["--workload", "uniform-write", "--long-read", "400us"], "--long-read is for loads that only read"),
        (&["--workload", "rlr-long"], "rlr-long only reads, which wears no drive out; it needs --years N, such as"),
        (&["--workload", "rlr-long", "--years", "0.5", "--quick"], "--quick is for loads that write"),
        (&["--workload", "rlr-long", "--years", "0.5", "--dwpd", "1"], "--dwpd is for loads that write"),
        (&["--workload", "rlr-long", "--years", "0.5", "--must-keep", "1y"], "--must-keep is for loads that write"),
        (&["--workload", "rlr-long", "--years", "0.5", "--long-read", "400"], "is a bare number where a time is expected"),
        (&["--workload", "rlr-long", "--years", "0.5", "--long-read", "0us"], "expected a time above zero"),
        (&["--workload", "rlr-long", "--years", "0.5", "--sample", "0"], "--sample 0: rlr-long only reads"),
        (&["--workload", "rlr-long", "--years", "0.5", "--qd", "4"], "is a closed loop by --qd"),
        (&["--workload", "rlr-long", "--years", "0"], "--years 0"),
        (&["--fit", "wrap"], "--fit is for traces"),
        (&["--secure-fraction", "50 %"], "--secure-fraction is for workloads of files"),
        (&["--workload", "no-such-load"], "no-such-load"),
    ] {
        let (code, _, stderr) = told(&scratch, &[&SMALL[..15], arguments, &["--html", "life.html"]].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(!scratch.0.join("life.html").exists());
    }
}

#[test]
fn a_load_that_only_reads_goes_by_days_of_reads_side_by_side() {
    let scratch = Scratch::new("worn-by-reads");
    let few = ["--size", "1GiB", "--epochs", "10", "--sample", "500", "--set", "techniques.read-disturb-refresh.reads_max=5000"];
    let asked =
        ["wear-out", "rewriter", "--against", "retrier", "--workload", "rlr-long", "--years", "0.02", "--quiet", "--html", "life.html"];
    let asked = [&asked[..], &few, &["--json", "-"]].concat();
    let (code, stdout, stderr) = told(&scratch, &asked);
    assert_eq!(code, Some(0), "{stderr}");
    let result: Value = serde_json::from_str(&stdout).expect("JSON and nothing else");
    assert_eq!((&result["years"], &result["long_us"]), (&Value::from(0.02), &Value::from(400.0)));
    for (drive, name) in result["drives"].as_array().expect("drives").iter().zip(["rewriter", "retrier"]) {
        assert_eq!(drive["name"], name);
        let epochs = drive["epochs"].as_array().expect("epochs");
        assert_eq!(epochs.len(), 11, "the first day, and ten leaps");
        assert!(epochs.iter().all(|epoch| epoch["timed"] == 500), "{epochs:?}");
        let begun: u64 = epochs.iter().map(|epoch| epoch["rewrites"].as_u64().expect("a number")).sum();
        let of_causes: u64 = drive["rewrites"].as_array().expect("causes").iter().map(|of| of["begun"].as_u64().expect("a number")).sum();
        assert_eq!(begun, of_causes);
        // The setting is of both drives: the retrier has a trigger here, and its guard beside it.
        assert!(begun > 0, "{name}");
    }
    let page = std::fs::read_to_string(scratch.0.join("life.html")).expect("a page");
    assert!(page.contains("Long reads") && page.contains("Postponed rewrites") && page.contains("Day by day"));
    assert_eq!(told(&scratch, &asked).1, stdout, "the same seed is the same life");
    let (_, shown, _) = told(&scratch, &asked[..asked.len() - 2]);
    for words in [
        "retrier on rlr-long",
        "times that of rewriter",
        "note: each epoch leaps over the reads of 0.73 days",
        "no read of a leap has a latency",
    ] {
        assert!(shown.contains(words), "{words} is not in\n{shown}");
    }
}

#[test]
fn the_last_phase_that_writes_is_repeated_and_told() {
    let scratch = Scratch::new("worn-default");
    let asked = [&SMALL[..15], &LIMIT, &["--quick", "--sample", "0"]].concat();
    let (code, shown, stderr) = told(&scratch, &asked);
    assert_eq!(code, Some(0), "{stderr}");
    let head =
        "repeats phase 'storm' without end, the last of 3 that writes; once before it: 'mixed'; left out: 'read-back' (writes nothing)\n";
    assert!(shown.starts_with(head), "{shown}");
    let read = scratch.0.join("read.csv");
    std::fs::write(&read, "op,offset,length\nread,0,4096\n").expect("there is room");
    let (code, _, stderr) = told(&scratch, &[&SMALL[..15], &LIMIT, &["--workload", "read.csv"]].concat());
    assert!(code == Some(2) && stderr.contains("read.csv writes nothing"), "{stderr}");
}

#[test]
fn a_life_under_a_trace_takes_the_options_of_traces() {
    let scratch = Scratch::new("worn-trace");
    // Beyond the drive, and malformed in its last line.
    let lines: String = (0..400u64).map(|at| format!("{at},write,{},16384\n", at * 7_919 % 500 * (1 << 20))).collect();
    std::fs::write(scratch.0.join("trace.csv"), format!("time_us,op,offset,length\n{lines}oops\n")).expect("there is room");
    let asked = [&SMALL[..15], &LIMIT, &["--quick", "--sample", "64", "--workload", "trace.csv"]].concat();
    let (code, _, stderr) = told(&scratch, &asked);
    assert_eq!(code, Some(2), "the last line is malformed: {stderr}");
    let (code, _, stderr) = told(&scratch, &[&asked[..], &["--lenient"]].concat());
    assert!(code == Some(2) && stderr.contains("choose a fit of 'wrap'"), "its addresses lie beyond the drive: {stderr}");
    let (code, shown, stderr) = told(&scratch, &[&asked[..], &["--lenient", "--fit", "wrap", "--speed", "2", "--format", "csv"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(shown.starts_with("repeats the trace over and over\n"), "{shown}");
}

#[test]
fn data_must_keep_for_a_year_unless_it_need_not_and_cells_beyond_their_calibration_are_told() {
    let scratch = Scratch::new("worn-keeps");
    let physics: Vec<&str> = SMALL.iter().copied().filter(|word| !["--physics", "off"].contains(word)).collect();
    let asked = [&physics[..], &LIMIT, &["--quick", "--sample", "0", "--dwpd", "10", "--set", "calibrated.cycles=200"]].concat();
    let year = "data that could not be read after 1y without power (--must-keep, as JESD218 asks of client drives)";
    let (code, shown, stderr) = told(&scratch, &asked);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(shown.contains(year), "{shown}");
    assert!(
        shown.contains("note: pageftl ends with cycles of 297, and") && shown.contains("cells were calibrated to 200 cycles"),
        "{shown}"
    );
    let (_, shown, _) = told(&scratch, &[&asked[..], &["--must-keep", "none"]].concat());
    assert!(!shown.contains("--must-keep") && shown.contains("ends at the first of: a page that cannot be read; no write"), "{shown}");
    let (_, shown, _) = told(&scratch, &[&asked[..], &["--must-keep", "3mo"]].concat());
    assert!(shown.contains("after 3mo without power (--must-keep)"), "{shown}");
}

#[test]
fn the_time_of_a_life_is_told_from_its_first_epochs_unless_nobody_wants_to_know() {
    let scratch = Scratch::new("worn-time");
    let asked = [&SMALL[..], &LIMIT, &["--sample", "0", "--dwpd", "10"]].concat();
    assert_eq!(told(&scratch, &asked).2, "", "--quiet");
    let loud: Vec<&str> = asked.iter().copied().filter(|word| *word != "--quiet").collect();
    let (_, _, stderr) = told(&scratch, &loud);
    let scout = "in the first 3 of the scout: at least ";
    assert!(stderr.contains(scout) && stderr.contains("in the first 3 of pass 1: about "), "{stderr}");
    let (_, _, stderr) = told(&scratch, &[&loud[..], &["--quick"]].concat());
    assert!(!stderr.contains("scout") && stderr.contains("in the first 3 of pass 1: at least "), "{stderr}");
}
