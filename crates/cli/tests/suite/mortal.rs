//! A drive that dies in a comparison: what it failed is told, and nothing else is of it.

use serde_json::Value;

use crate::{Scratch, wordline};

/// A drive whose blocks are worn out by one erase each.
const MORTAL: &str = "inherit = \"pageftl\"\n[faults]\nendurance = { value = 1, source = \"x\" }\n";
const RUN: [&str; 12] =
    ["--size", "1GiB", "--workload", "uniform-write", "--requests", "160000", "--seeds", "1", "--physics", "off", "--quiet", "--json"];

#[test]
fn a_dead_drive_does_not_win() {
    let scratch = Scratch::new("mortal");
    scratch.file("mortal.toml", MORTAL.as_bytes());
    scratch.file("allowed.toml", format!("{MORTAL}[run]\nmay_fail = {{ value = true, source = \"x\" }}\n").as_bytes());
    let compare = |drive: &str, more: &[&str]| {
        let drives = format!("pageftl,{drive}.toml");
        wordline(&scratch.0, &[&["compare", "--drives", &drives][..], &RUN, &["out.json"], more].concat())
    };
    let output = compare("mortal", &[]);
    let (told, why) = (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(output.status.code(), Some(4), "{told}{why}");
    assert!(why.contains("mortal: ") && why.contains("--may-fail") && why.contains("may_fail"), "{why}");
    for words in ["requests failed", "worn out after, s", "FAILED: mortal: "] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let json: Value = serde_json::from_slice(&std::fs::read(scratch.0.join("out.json")).expect("a file")).expect("JSON");
    let dead = &json["drives"][1];
    let number = |path: &str| dead.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    let (writes, failed) = (number("/host/writes"), number("/host/failed"));
    assert!(writes > 0.0 && failed > writes && writes + failed == 131_072.0, "{writes} and {failed}");
    assert!((number("/host/iops") * number("/simulated_seconds") / writes - 1.0).abs() < 1e-9);
    assert_eq!((number("/latency_us/write/count"), number("/host/failed_by/writes")), (writes, failed));
    assert!(number("/waf/total") > 1.0, "what failed was not written: {}", number("/waf/total"));
    assert!(number("/worn_out_seconds") < number("/simulated_seconds"));
    let page = std::fs::read_to_string(scratch.0.join("wordline-compare.html")).expect("a page");
    assert!(page.contains("Requests failed.") && !page.contains("class=\"better\""));
    // Where it may, the figures are the same and the exit code is 0.
    assert_eq!(compare("mortal", &["--may-fail"]).status.code(), Some(0));
    assert_eq!(compare("allowed", &[]).status.code(), Some(0));
    let of = |drive: &str| {
        let output = wordline(&scratch.0, &["describe", drive]);
        String::from_utf8_lossy(&output.stdout).lines().next().and_then(|line| line.rsplit(' ').next()).map(str::to_owned)
    };
    assert_eq!(of("mortal.toml"), of("allowed.toml"), "whether it may fail is not in the plan's hash");
}
