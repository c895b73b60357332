//! Does every real trace of the shared set run end to end, with every request served and every check passed?
//!
//! The traces are not part of the project. Where they are absent the test says so and fails, unless WORDLINE_ALLOW_ABSENT=1.

use std::path::{Path, PathBuf};

use crate::wordline;

fn traces() -> Option<PathBuf> {
    let named = std::env::var_os("WORDLINE_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("shared"));
    named.into_iter().chain(beside).map(|shared| shared.join("traces")).find(|folder| folder.is_dir())
}

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
    let Some(folder) = traces() else {
        eprintln!("NOT RUN: the shared traces are absent");
        assert!(std::env::var_os("WORDLINE_ALLOW_ABSENT").is_some_and(|value| value == "1"), "the shared traces are absent");
        return;
    };
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
