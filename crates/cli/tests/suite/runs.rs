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
fn what_was_overwritten_without_timing_can_be_read() {
    let scratch = Scratch::new("overwritten");
    for pattern in ["sequential:1x", "random:3x"] {
        let arguments = ["age", "pageftl", "--size", "4GiB", "--fill", "90%", "--overwrite", pattern, "--save", "aged.wl"];
        let saved = wordline(&scratch.0, &arguments);
        assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
        let output =
            wordline(&scratch.0, &["run", "--from", "aged.wl", "--workload", "uniform-read", "--requests", "20000", "--json", "-"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let run: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let errors = &run["drives"][0]["read_errors"];
        assert!(errors["worst_codeword_max"].as_u64() > Some(0), "{pattern}: the cells have physics: {errors:#}");
        assert_eq!(errors["uncorrectable"], 0, "{pattern}: hardly worn, and not kept: {errors:#}");
    }
}

/// Requests hold cores and DRAM as operations of dies do.
#[test]
fn what_is_saturated_is_busy() {
    let scratch = Scratch::new("saturated");
    let saturated = [("core", "costs.command=200 us"), ("dram", "controller.dram=100 MB/s")];
    for ((part, setting), workload) in saturated.into_iter().flat_map(|part| [(part, "uniform-read"), (part, "uniform-write")]) {
        let arguments = ["run", "pageftl", "--workload", workload, "--requests", "3000", "--qd", "64", "--set", setting, "--json", "-"];
        let output = wordline(&scratch.0, &arguments);
        assert!(output.status.success(), "{setting}: {}", String::from_utf8_lossy(&output.stderr));
        let run: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let busy = run["drives"][0]["utilisation"][part].as_f64().expect("a share");
        assert!((0.97..=1.01).contains(&busy), "{setting}, {workload}: {part} is busy {busy}");
    }
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

#[test]
fn an_aged_drive_says_how_often_it_read_again() {
    let scratch = Scratch::new("physics");
    let run = |options: &[&str]| -> serde_json::Value {
        let mut arguments = vec!["run", "pageftl", "--requests", "4000", "--json", "-"];
        arguments.extend(options);
        let output = wordline(&scratch.0, &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")["drives"][0].clone()
    };
    let retries = |drive: &serde_json::Value| drive["read_errors"]["retries_mean"].as_f64();
    let (off, fresh, aged) = (run(&["--physics", "off"]), run(&[]), run(&["--pe", "2k", "--retention", "1y@30C"]));
    assert_eq!(retries(&off), None, "without physics there are no errors to count");
    assert!(retries(&fresh).expect("errors are counted") < 0.01, "{fresh:#}");
    assert!(retries(&aged).expect("errors are counted") > 0.5, "{aged:#}");
    assert_eq!(run(&["--age", "2k+1y@30C"])["event_log_hash"], aged["event_log_hash"], "two ways to say the same");
}

#[test]
fn versions_of_files_are_traced_without_changing_the_run() {
    let scratch = Scratch::new("files");
    let run = |options: &[&str]| -> serde_json::Value {
        let mut arguments = vec!["run", "pageftl", "--size", "1GiB", "--workload", "mobile", "--length", "150%", "--json", "-"];
        arguments.extend(options);
        let output = wordline(&scratch.0, &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")["drives"][0].clone()
    };
    let (plain, traced, insecure) = (run(&[]), run(&["--vertrace", "--plot-files", "0,9"]), run(&["--secure-fraction", "60%"]));
    assert!(plain["vertrace"].is_null());
    assert_eq!(plain["event_log_hash"], traced["event_log_hash"], "watching changes nothing");
    assert_eq!(plain["event_log_hash"], insecure["event_log_hash"], "a drive without a sanitiser does not care");
    let written = plain["host"]["write_bytes"].as_f64().expect("bytes");
    assert!((written / 1.5 / (1u64 << 30) as f64 - 1.0).abs() < 0.02, "{written}");
    let [uni, multi] = [0, 1].map(|class| &traced["vertrace"]["classes"][class]);
    // A picture that was deleted was stale as a whole; one that never was, at most by copies of reclaim.
    assert!(multi["vaf_mean"].as_f64() >= Some(1.0) && multi["files"] == multi["insecure_files"], "{multi:#}");
    assert!(uni["vaf_mean"].as_f64() < Some(0.5) && uni["files"].as_u64() > Some(50), "{uni:#}");
    let plots = traced["vertrace"]["plots"].as_array().expect("plots");
    assert_eq!(plots.iter().map(|plot| plot["file"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(9)]);
    assert!(plots.iter().all(|plot| plot["points"].as_array().is_some_and(|points| points.len() == 256 * 3 / 2 + 1)), "{plots:#?}");
}

/// The command adds arguments, a terminal and files to a run, and takes no way of its own through it.
#[test]
fn the_command_makes_the_run_that_anybody_makes() {
    use wordline_runs::{Job, Load, Workload};
    const SET: [&str; 5] =
        ["mapping.over_provisioning=40 %", "geometry.blocks=24", "geometry.layers=4", "cells.cycles=2000", "cells.retention=1y"];
    let scratch = Scratch::new("anybody");
    let set: Vec<&str> = SET.iter().flat_map(|&setting| ["--set", setting]).collect();
    let hash_of = |arguments: &[&str]| {
        let output = wordline(&scratch.0, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let run: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        run["drives"][0]["event_log_hash"].as_str().expect("a hash").to_owned()
    };
    let plan = wordline_plan::Plan::load_set("pageftl", &SET).unwrap_or_else(|error| panic!("{error}")).with_seed(7);
    let cases: [(&str, &[&str], Load); 3] = [
        ("mailserver", &["--length", "30%"], Load { length: Some(0.3), ..Load::default() }),
        ("oltp", &["--qd", "4", "--fill", "60%"], Load { queue_depth: Some(4), fill: Some(0.6), ..Load::default() }),
        ("hot-cold", &["--requests", "3000"], Load { requests: Some(3_000), ..Load::default() }),
    ];
    for (name, options, load) in cases {
        let workload = Workload::load(name, &load, &mut |line| panic!("{line}")).unwrap_or_else(|error| panic!("{error}"));
        let anybody = Job::new(&plan, &workload, &load).run((), &mut ()).unwrap_or_else(|error| panic!("{error}")).result;
        let shared = [&["--workload", name, "--json", "-"], options].concat();
        let run = hash_of(&[&["run", "pageftl", "--seed", "7"], &set[..], &shared[..]].concat());
        assert_eq!(run, anybody.event_log_hash, "run {name}");
        // A comparison counts its seeds from the drive's own.
        let seeded = ["--drives", "pageftl", "--seeds", "1", "--set", "run.seed=7"];
        let compared = hash_of(&[&["compare"], &seeded[..], &set[..], &shared[..], &["--html", "page.html"]].concat());
        assert_eq!(compared, anybody.event_log_hash, "compare {name}");
    }
}

/// Retries of a read, in the mean.
fn retries(report: &serde_json::Value) -> f64 {
    report["drives"][0]["read_errors"]["retries_mean"].as_f64().unwrap_or_else(|| panic!("{}", report["drives"][0]["read_errors"]))
}

#[test]
fn a_saved_drive_that_has_lain_since_needs_more_retries() {
    let scratch = Scratch::new("lain");
    let small = ["--set", "geometry.blocks=24", "--set", "geometry.layers=4", "--set", "mapping.over_provisioning=40 %"];
    let saved = wordline(&scratch.0, &[&["age", "pageftl", "--age", "2k", "--save", "aged.wl"], &small[..]].concat());
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let base = ["run", "--from", "aged.wl", "--workload", "uniform-read", "--requests", "5000", "--json", "-", "--quiet"];
    let run = |more: &[&str]| -> serde_json::Value {
        let output = wordline(&scratch.0, &[&base[..], more].concat());
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let reports = [&[][..], &["--retention", "3mo"], &["--retention", "3mo@40C"], &["--retention", "1y"]].map(run);
    let each = reports.each_ref().map(retries);
    assert!(each.is_sorted() && each[1] > each[0] + 0.1 && each[2] > each[1], "{each:?}");
    assert!(reports[0]["drives"][0]["asked"].get("lain").is_none());
    assert_eq!(reports[1]["drives"][0]["asked"]["lain"], 7_884_000.0);
    // An age that a drive is set to, and the same time that it lies, are one.
    let set = wordline(&scratch.0, &[&["age", "pageftl", "--age", "2k+1y", "--save", "old.wl"], &small[..]].concat());
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    let output = wordline(&scratch.0, &[&["run", "--from", "old.wl"], &base[3..]].concat());
    let old: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(retries(&old), each[3]);
}

#[test]
fn a_time_to_lie_is_read_with_care() {
    let scratch = Scratch::new("lying");
    for (name, more) in [("cells.wl", &[][..]), ("none.wl", &["--physics", "off"])] {
        let saved = wordline(&scratch.0, &[&["age", "pageftl", "--size", "4GiB", "--save", name], more].concat());
        assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    }
    for (from, text, expected) in [
        ("cells.wl", "3 months", "--retention 3 months: "),
        ("cells.wl", "3", "has no unit"),
        ("cells.wl", "0 s", "no time to be kept for"),
        ("cells.wl", "3mo@400C", "no temperature of a drive"),
        ("none.wl", "3mo", "the cells of this drive have no physics"),
    ] {
        let output = wordline(&scratch.0, &["run", "--from", from, "--retention", text, "--requests", "10"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{from} {text}: {told}");
    }
}
