//! Does every real trace of the shared set run end to end, with every request served and every check passed?
//!
//! The traces are not part of the project: where they are absent, the test counts as skipped. `samples.rs` runs small traces that are.

use std::path::{Path, PathBuf};

use crate::{outside, wordline};

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "zst") {
            into.push(path);
        }
    }
}

#[test]
fn every_real_trace_runs_end_to_end() {
    let name = "real_traces::every_real_trace_runs_end_to_end";
    let Some(folder) = outside::find_or_skip(env!("CARGO_MANIFEST_DIR"), name, "traces") else { return };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    assert!(paths.len() >= 29, "only {} traces in {}", paths.len(), folder.display());
    for path in paths {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let place = path.to_str().expect("a name in UTF-8");
        let arguments = ["run", "pageftl", "--fit", "compact", "--quiet", "--json", "-", "--workload", place];
        let output = wordline(Path::new("."), &arguments);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let drive = &report["drives"][0];
        let served = ["reads", "writes", "trims", "flushes"].map(|op| drive["host"][op].as_u64().expect("a count")).iter().sum::<u64>();
        assert!(served > 0, "{name}");
        println!(
            "{name:50} {served:>8} requests, {:>10.3} s simulated, read p99 {} us, write p99 {} us, WAF {}",
            drive["simulated_seconds"].as_f64().expect("a time"),
            drive["latency_us"]["read"]["p99"],
            drive["latency_us"]["write"]["p99"],
            drive["waf"]["total"],
        );
    }
}
