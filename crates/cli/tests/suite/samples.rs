//! Does the small trace of every format run end to end, with every request that it holds served?
//!
//! The samples are those that the reference of trace formats shows; `crates/workload/samples` has them.

use std::path::Path;

use serde_json::Value;

use crate::{Scratch, wordline};

/// What each holds of reads, writes, trims and flushes. Formats without a word for the last two leave them out.
fn expected(format: &str) -> [u64; 4] {
    match format {
        "blkparse" | "cloudphysics" | "csv" | "fio2" | "fio3" => [5, 7, 1, 1],
        "wiscsee" => [5, 7, 1, 0],
        _ => [5, 7, 0, 0],
    }
}

fn run(folder: &Path, trace: &str) -> (Value, String) {
    let output = wordline(folder, &["run", "pageftl", "--quiet", "--json", "-", "--workload", trace]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{trace}: {told}");
    (serde_json::from_slice(&output.stdout).expect("JSON"), told)
}

fn served(report: &Value) -> [u64; 4] {
    ["reads", "writes", "trims", "flushes"].map(|op| report["drives"][0]["host"][op].as_u64().expect("a count"))
}

#[test]
fn every_sample_runs_end_to_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workload/samples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let format = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let (report, told) = run(Path::new("."), path.to_str().expect("a name in UTF-8"));
        assert_eq!(served(&report), expected(&format), "{format}");
        // The rows of this one stand in the order of their completion.
        assert_eq!(told.contains("1 record up to 600 us late; each is issued at its time"), format == "flashnet", "{format}: {told}");
        count += 1;
    }
    assert_eq!(count, 18);
}

#[test]
fn two_halves_that_were_exchanged_answer_as_the_whole() {
    let scratch = Scratch::new("halves");
    let lines: Vec<String> = (0..2_000).map(|number| format!("{},read,{},4096\n", number * 1000, number * 4096)).collect();
    let head = "time_us,op,offset,length\n";
    scratch.file("whole.csv", format!("{head}{}", lines.concat()).as_bytes());
    scratch.file("halves.csv", format!("{head}{}{}", lines[1_000..].concat(), lines[..1_000].concat()).as_bytes());
    let ((whole, silent), (halves, told)) = (run(&scratch.0, "whole.csv"), run(&scratch.0, "halves.csv"));
    assert_eq!(halves["drives"][0]["event_log_hash"], whole["drives"][0]["event_log_hash"]);
    assert!(told.contains("halves.csv: 1000 records up to 1.999 s late") && silent.is_empty(), "{told}{silent}");
}
