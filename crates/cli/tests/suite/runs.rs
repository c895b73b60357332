//! Are runs the same whenever they should be?

use crate::{Scratch, wordline};

#[test]
fn a_saved_drive_gives_the_same_run_each_time() {
    let scratch = Scratch::new("fork");
    let saved = wordline(&scratch.0, &["age", "pageftl", "--steady", "--fill", "50%", "--save", "aged.wl"]);
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let runs: Vec<serde_json::Value> = (0..2)
        .map(|_| {
            let output =
                wordline(&scratch.0, &["run", "--from", "aged.wl", "--workload", "uniform-write", "--requests", "3000", "--json", "-"]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&output.stdout).expect("JSON")
        })
        .collect();
    let hash = |run: &serde_json::Value| run["drives"][0]["event_log_hash"].clone();
    assert!(hash(&runs[0]).is_string());
    assert_eq!(hash(&runs[0]), hash(&runs[1]));
}

#[test]
fn the_number_of_threads_changes_nothing_but_the_time() {
    let scratch = Scratch::new("threads");
    let hashes = |threads: &str| {
        let output = wordline(
            &scratch.0,
            &["compare", "--drives", "pageftl,pageftl-4k", "--seeds", "2", "--threads", threads, "--requests", "4000", "--json", "-"],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["drives"].as_array().expect("drives").iter().map(|drive| drive["event_log_hash"].clone()).collect::<Vec<_>>()
    };
    let one = hashes("1");
    assert_eq!(one.len(), 4);
    assert_eq!(one, hashes("2"));
}
