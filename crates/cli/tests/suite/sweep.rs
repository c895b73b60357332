//! `wordline compare --sweep`: one key at several values.

use serde_json::Value;

use crate::{Scratch, wordline};

const SMALL: [&str; 7] = ["compare", "--drives", "pageftl", "--size", "2GiB", "--workload", "uniform-write"];

fn told(scratch: &Scratch, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = wordline(&scratch.0, &[&SMALL[..], &["--quiet"], arguments].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn points<'a>(report: &'a Value, figure: &str) -> Vec<&'a Value> {
    let all = report["sweep"]["points"].as_array().expect("points");
    all.iter().filter(|point| point["figure"] == figure).collect()
}

#[test]
fn more_spare_flash_is_less_write_amplification_of_the_same_flash() {
    let scratch = Scratch::new("sweep");
    let asked = ["--sweep", "mapping.over_provisioning=7%,14%,28%", "--seeds", "2"];
    let (code, stdout, stderr) = told(&scratch, &[&asked[..], &["--json", "-", "--csv", "tables"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON and nothing else");
    let waf = points(&report, "waf.total");
    let named: Vec<_> = waf.iter().map(|point| point["value"].as_str().expect("a value")).collect();
    assert_eq!((named, report["sweep"].get("warnings")), (vec!["7%", "14%", "28%"], None));
    let mean = |index: usize| waf[index]["mean"].as_f64().expect("a number");
    assert!(mean(0) > 1.5 * mean(1) && mean(1) > 1.5 * mean(2) && mean(2) > 1.2, "{waf:#?}");
    let ends = |name: &str| waf[1][name].as_f64().expect("an end");
    assert!(ends("low") < mean(1) && mean(1) < ends("high"), "{waf:#?}");
    // The mean is that of the runs themselves, and the flash is the same at each value.
    let cells = report["cells"].as_array().expect("cells");
    let run = |cell: usize, seed: usize| &cells[cell]["drives"][seed];
    let of = |seed: usize| run(1, seed)["waf"]["total"].as_f64().expect("a number");
    assert!((mean(1) - (of(0) + of(1)) / 2.0).abs() < 1e-12);
    let capacity = |cell: usize, name: &str| run(cell, 0)["capacity"][name].as_u64().expect("bytes");
    assert!((0..3).all(|cell| capacity(cell, "raw_bytes") == capacity(0, "raw_bytes")));
    for (cell, more) in [(0, 0.0), (1, 0.0708), (2, 0.2125)] {
        // Usable spare differs as it does at the drive's own size, where 40 of 3,424 groups are set aside.
        let usable = |cell: usize| run(cell, 0)["capacity"]["spare_usable"].as_f64().expect("a share");
        assert!((usable(cell) - usable(0) - more).abs() < 1e-3, "{more}: {}", usable(cell));
        assert_eq!(cells[cell]["swept"]["key"], "mapping.over_provisioning");
    }
    let csv = std::fs::read_to_string(scratch.0.join("tables/sweep.csv")).expect("a table");
    assert!(csv.starts_with("workload,age,drive,key,setting,figure,unit,seeds,mean,low,high,failed\n"), "{csv}");
    let row = csv.lines().find(|line| line.contains(",14%,waf.total,")).expect("a row");
    assert!(row.contains(&format!(",2,{},", mean(1))), "{row}");
    let (_, shown, _) = told(&scratch, &asked);
    assert!(shown.contains("Sweep of mapping.over_provisioning over 7%, 14%, 28%") && shown.contains(" ± "), "{shown}");
    assert!(shown.contains("of the same") && shown.contains("at the drive's own share"), "{shown}");
    let page = std::fs::read_to_string(scratch.0.join("wordline-compare.html")).expect("a page");
    assert!(page.contains("uniform-write over mapping.over_provisioning") && page.contains("data-names=") && page.contains(">14%</text>"));
}

#[test]
fn values_at_which_reclaim_was_never_reached_are_told() {
    let scratch = Scratch::new("sweep-unreached");
    let sweep = ["--sweep", "mapping.over_provisioning=7%,28%", "--seeds", "1", "--requests", "12000"];
    let (code, shown, stderr) = told(&scratch, &sweep);
    assert_eq!(code, Some(0), "{stderr}");
    let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("WARNING: GC was never reached by pageftl on uniform-write at 28%: "), "{shown}");
    assert!(told.contains("wordline age DRIVE --steady --set mapping.over_provisioning=VALUE"), "{shown}");
}

#[test]
fn words_are_swept_too_and_drives_that_the_key_does_not_touch_are_told() {
    let scratch = Scratch::new("sweep-words");
    let (code, stdout, stderr) = told(&scratch, &["--sweep", "gc.victim=greedy,fifo", "--seeds", "1", "--requests", "4000", "--json", "-"]);
    assert_eq!(code, Some(0), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON and nothing else");
    assert_eq!(points(&report, "waf.total").iter().map(|point| &point["value"]).collect::<Vec<_>>(), ["greedy", "fifo"]);
    assert_eq!(report["cells"][0]["drives"][0]["capacity"], report["cells"][1]["drives"][0]["capacity"]);
    let idle = "inherit = \"pageftl\"\n[techniques.idle-reclaim]\non = true\nafter = \"1 ms\"\nuntil_free = 20\n";
    scratch.file("idle.toml", idle.as_bytes());
    let sweep = ["--drives", "idle.toml", "--sweep", "techniques.idle-reclaim.until_free=10,20", "--seeds", "1", "--requests", "400"];
    let (code, shown, stderr) = told(&scratch, &sweep);
    assert_eq!(code, Some(0), "{stderr}");
    let notes = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(notes.contains("Note: pageftl: techniques.idle-reclaim.until_free changes nothing in it"), "{shown}");
    assert!(!notes.contains("idle: techniques.idle-reclaim.until_free changes nothing"), "{shown}");
    let (code, _, stderr) = told(&scratch, &["--sweep", "techniques.idle-reclaim.until_free=10,20"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("20 makes the same drive as 10") && stderr.contains("is what it belongs to switched on?"), "{stderr}");
}

#[test]
fn a_sweep_that_cannot_be_is_refused_before_anything_runs() {
    let scratch = Scratch::new("sweep-refused");
    for (asked, more, words) in [
        ("mapping.over_provisionin=5%,7%", &[][..], &["mapping.over_provisionin=5%", "did you mean `over_provisioning`"][..]),
        ("gc.victim=greedy,fif", &[], &["--sweep gc.victim=fif", "did you mean \"fifo\""]),
        ("mapping.over_provisioning=7%,99.99%", &[], &["--sweep mapping.over_provisioning=99.99%, pageftl:"]),
        ("mapping.over_provisioning=7%,5", &[], &["a bare number", "\"5 %\""]),
        ("mapping.over_provisioning=7%,7%", &[], &["7% is named twice"]),
        ("mapping.over_provisioning=7%,7 %", &[], &["7 % makes the same drive as 7%"]),
        ("mapping.over_provisioning=7%", &[], &["one value is no sweep"]),
        ("mapping.over_provisioning", &[], &["there is no '='"]),
        ("mapping.capacity=1GiB,2GiB", &[], &["--size says it too"]),
        ("gc.victim=greedy,fifo", &["--set", "gc.victim=fifo"], &["--set gc.victim=fifo says it too"]),
        ("run.fill=50%,80%", &["--fill", "10%"], &["--fill says it too"]),
    ] {
        let (code, shown, stderr) = told(&scratch, &[&["--sweep", asked], more].concat());
        assert_eq!((code, shown.as_str()), (Some(2), ""), "{asked}: {stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{asked}: {stderr}");
    }
    assert_eq!(std::fs::read_dir(&scratch.0).expect("a folder").count(), 0, "nothing was written");
}
