//! Results that can be trusted: what was read of nothing, loads that the drive cannot follow, options that would do nothing, and how a run is made again.

use serde_json::Value;

use crate::{Scratch, wordline};

fn text(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = wordline(&scratch.0, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let told = text(scratch, &[arguments, &["--quiet", "--json", "-"]].concat());
    serde_json::from_str(&told).expect("JSON and nothing else")
}

fn refused(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = wordline(&scratch.0, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A trace in the project's own columns: reads of 4 KiB that jump about, and a write to every fourth place before it is read.
fn trace(requests: u64, gap_us: u64) -> String {
    let mut text = String::from("time_us,op,offset,length\n");
    for number in 0..requests {
        let place = number * 7_919 % 16_384;
        let op = if number % 4 == 0 { "write" } else { "read" };
        text.push_str(&format!("{},{op},{},4096\n", number * gap_us, place * 16_384));
    }
    text
}

const SMALL: [&str; 5] = ["run", "pageftl", "--size", "2GiB", "--workload"];

#[test]
fn reads_of_what_was_never_written_are_told_and_can_be_written_first() {
    let scratch = Scratch::new("blank");
    scratch.file("t.csv", trace(8_000, 1_000).as_bytes());
    let run = |more: &[&str]| json(&scratch, &[&SMALL[..], &["t.csv"], more].concat())["drives"][0].clone();
    let mean = |drive: &Value| drive["latency_us"]["read"]["mean"].as_f64().expect("there were reads");
    let (empty, full, first) = (run(&["--fill", "0%"]), run(&[]), run(&["--fill", "0%", "--prefill-reads"]));
    assert_eq!(empty["host"]["read_blank_bytes"], empty["host"]["read_bytes"], "nothing was ever there");
    assert!(empty["warnings"][0].as_str().is_some_and(|text| text.starts_with("100 % of what was read holds nothing")), "{empty:#}");
    assert!(mean(&empty) < 20.0 && mean(&full) > 60.0, "{} {}", mean(&empty), mean(&full));
    assert_eq!((&full["host"]["read_blank_bytes"], full.get("warnings")), (&0.into(), None));
    // Three of four places are read first; a read of the flash takes as long as on a full drive.
    assert_eq!((&first["host"]["read_blank_bytes"], first.get("warnings")), (&0.into(), None));
    assert_eq!(first["asked"]["prefilled_reads"], 6_000);
    assert!(mean(&first) > 60.0, "{}", mean(&first));
    assert_eq!(first["host"]["writes"], empty["host"]["writes"], "what is written first is not measured");
    let shown = text(&scratch, &[&SMALL[..], &["t.csv", "--fill", "0%", "--quiet"]].concat());
    assert!(shown.contains("WARNING: 100 % of what was read") && shown.contains("unwritten  100 % of what was read"), "{shown}");
    assert!(refused(&scratch, &["run", "pageftl", "--prefill-reads"]).contains("--prefill-reads is for traces"));
}

#[test]
fn a_drive_file_of_ones_own_is_filled_as_presets_are() {
    let scratch = Scratch::new("own-fill");
    let own: Vec<String> = text(&scratch, &["describe", "pageftl", "--size", "2GiB"])
        .lines()
        .filter(|line| !line.starts_with("fill "))
        .map(str::to_owned)
        .collect();
    scratch.file("own.toml", own.join("\n").as_bytes());
    let run = json(&scratch, &["run", "own.toml", "--workload", "uniform-read", "--requests", "500"]);
    let drive = &run["drives"][0];
    assert_eq!((&drive["host"]["read_blank_bytes"], &drive["asked"]["fill"]), (&0.into(), &1.0.into()));
    assert!(drive["latency_us"]["read"]["p50"].as_f64().is_some_and(|p50| p50 > 60.0), "{drive:#}");
}

#[test]
fn an_open_loop_too_fast_for_the_drive_is_saturated() {
    let scratch = Scratch::new("saturated");
    scratch.file("t.csv", trace(20_000, 1_000).as_bytes());
    let run = |speed: &str| json(&scratch, &[&SMALL[..], &["t.csv", "--speed", speed]].concat())["drives"][0].clone();
    assert_eq!(run("1")["saturated"], Value::Null);
    let fast = run("1000");
    let found = &fast["saturated"];
    assert!(
        found["backlog"].as_u64().is_some_and(|backlog| backlog > 1_000) && found["growth_per_second"].as_f64() > Some(0.0),
        "{found:#}"
    );
    let [mean, law] = ["mean", "littles_law"].map(|name| fast["in_flight"][name].as_f64().expect("a number"));
    assert!((mean / law - 1.0).abs() < 1e-6, "{mean} {law}");
    let shown = text(&scratch, &[&SMALL[..], &["t.csv", "--speed", "1000", "--requests", "9000", "--quiet"]].concat());
    assert!(shown.contains("WARNING: saturated") && shown.contains("still in flight at the end"), "{shown}");
}

#[test]
fn a_speed_that_would_do_nothing_is_refused() {
    let scratch = Scratch::new("speed");
    scratch.file("t.csv", trace(100, 1_000).as_bytes());
    scratch.file("timeless.csv", b"op,offset,length\nread,0,4096\nwrite,8192,4096\n");
    let with = |more: &[&str]| refused(&scratch, &[&SMALL[..], more].concat());
    assert!(with(&["t.csv", "--speed", "10", "--qd", "4"]).contains("--speed does nothing here: --qd"));
    assert!(with(&["timeless.csv", "--speed", "10"]).contains("--speed does nothing here: timeless.csv has no times"));
}

#[test]
fn what_a_model_was_not_made_for_is_told_beside_the_figures() {
    let scratch = Scratch::new("doubt");
    let run = ["run", "pageftl", "--size", "2GiB", "--requests", "200", "--quiet"];
    let shown = text(&scratch, &[&run[..], &["--set", "cells.cycles=4294967295", "--set", "physics.retention.energy=0eV"]].concat());
    let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Note: it has cycles of 4294967295, and the cells were calibrated to 20000 cycles"), "{shown}");
    assert!(told.contains("Note: physics.retention.energy is 0 eV"), "{shown}");
    let reads = ["characterize", "disturb", "--lot", "1x1", "--reads", "0,1000000M", "--pe", "0", "--quiet"];
    let shown = text(&scratch, &reads);
    assert!(shown.contains("WARNING: there are reads of 1000000000000, and the cells were calibrated to 1000000 reads"), "{shown}");
    let shown = text(&scratch, &["characterize", "disturb", "--lot", "1x1", "--reads", "0,1M", "--pe", "0", "--quiet"]);
    assert!(!shown.contains("WARNING"), "{shown}");
}

#[test]
fn what_a_run_leaves_makes_it_again() {
    let scratch = Scratch::new("again");
    scratch.file("my trace.csv", trace(2_000, 500).as_bytes());
    let arguments = [&SMALL[..], &["my trace.csv", "--seed", "7", "--fill", "50%", "--html", "page.html", "--parquet", "tables"]].concat();
    let first = json(&scratch, &arguments);
    let command = first["made_by"]["command"].as_str().expect("a command").to_owned();
    assert!(command.starts_with("wordline run pageftl --size 2GiB --workload 'my trace.csv' --seed 7 --fill 50%"), "{command}");
    let page = std::fs::read_to_string(scratch.0.join("page.html")).expect("a page");
    let drive = &first["drives"][0];
    let (digest, hash) = (drive["asked"]["workload"]["digest"].as_str().expect("a digest"), drive["plan_hash"].as_str().expect("a hash"));
    assert!(
        page.contains("wordline run pageftl --size 2GiB --workload &#39;my trace.csv&#39;") && page.contains(digest) && page.contains(hash)
    );
    assert_eq!((&first["made_by"]["plans"][0]["hash"], &drive["asked"]["fill"]), (&drive["plan_hash"], &0.5.into()));
    for table in ["requests", "intervals"] {
        let bytes = std::fs::read(scratch.0.join(format!("tables/{table}.parquet"))).expect("a table");
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has("wordline.command") && has(digest) && has(hash), "{table}");
    }
    // A shell and that line give the same run; another trace of the same name has another digest.
    let line = command.replacen("wordline", env!("CARGO_BIN_EXE_wordline"), 1);
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(&scratch.0).output().expect("a shell");
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again["drives"][0]["event_log_hash"], drive["event_log_hash"]);
    scratch.file("my trace.csv", trace(2_000, 501).as_bytes());
    assert_ne!(json(&scratch, &arguments)["drives"][0]["asked"]["workload"]["digest"], drive["asked"]["workload"]["digest"]);
    // The plan that is written down makes the same drive without the command.
    scratch.file("plan.toml", first["made_by"]["plans"][0]["text"].as_str().expect("a plan").as_bytes());
    let plan = json(&scratch, &["run", "plan.toml", "--requests", "10"]);
    assert_eq!(plan["drives"][0]["plan_hash"], drive["plan_hash"]);
    let shown = text(&scratch, &["run", "pageftl", "--size", "2GiB", "--requests", "10", "--quiet"]);
    assert!(shown.lines().any(|line| line == "  again        wordline run pageftl --size 2GiB --requests 10 --quiet"), "{shown}");
    let compared = json(
        &scratch,
        &["compare", "--drives", "pageftl,pageftl-4k", "--workload", "oltp,rocks", "--size", "2GiB", "--requests", "50", "--seeds", "1"],
    );
    let digests: Vec<&Value> = [0, 1].iter().map(|cell| &compared["cells"][cell]["drives"][0]["asked"]["workload"]["digest"]).collect();
    assert!(digests[0].is_string() && digests[0] != digests[1], "{digests:?}");
    assert!(compared["made_by"]["command"].as_str().is_some_and(|command| command.starts_with("wordline compare --drives")));
}

#[test]
fn the_first_command_of_the_readme_tells_its_phases_apart() {
    let scratch = Scratch::new("phases");
    let run = json(&scratch, &["run", "pageftl", "--size", "2GiB", "--csv", "tables", "--html", "page.html"]);
    let drive = &run["drives"][0];
    let phases: Vec<&str> = drive["phases"].as_array().expect("phases").iter().filter_map(|phase| phase["name"].as_str()).collect();
    assert_eq!(phases, ["mixed", "storm", "read-back"]);
    let count = |value: &Value, name: &str| value["host"][name].as_u64().expect("a count");
    for name in ["reads", "writes", "trims", "flushes", "write_bytes", "read_bytes"] {
        let parts: u64 = [0, 1, 2].iter().map(|phase| count(&drive["phases"][phase], name)).sum();
        assert_eq!(parts, count(drive, name), "{name}");
    }
    assert_eq!((count(&drive["phases"][1], "reads"), count(&drive["phases"][2], "writes")), (0, 0));
    let table = std::fs::read_to_string(scratch.0.join("tables/requests.csv")).expect("a table");
    let of = |phase: &str| table.lines().filter(|line| line.ends_with(&format!(",{phase}"))).count() as u64;
    let asked = |phase: usize| ["reads", "writes", "trims", "flushes"].iter().map(|name| count(&drive["phases"][phase], name)).sum::<u64>();
    assert_eq!([of("mixed"), of("storm"), of("read-back")], [asked(0), asked(1), asked(2)]);
    assert!(std::fs::read_to_string(scratch.0.join("page.html")).expect("a page").contains("<td>storm</td>"));
}

/// A start is no property of a drive: one that differs from another in its start alone is the same drive in a comparison.
#[test]
fn drives_that_differ_in_their_start_alone_are_equal_in_a_comparison() {
    let scratch = Scratch::new("start");
    for (preset, start) in [
        ("pageftl", "fill = \"75 %\"\nsteady = true"),
        ("secssd", "fill = \"40 %\""),
        ("psr-baseline", "steady = false"),
        ("paper-evanesco", "fill = \"100 %\"\nsteady = true"),
    ] {
        scratch.file("other.toml", format!("summary = \"another start\"\ninherit = \"{preset}\"\n[run]\n{start}\n").as_bytes());
        let drives = format!("{preset},other.toml");
        let words = ["compare", "--drives", &drives, "--size", "1GiB", "-w", "uniform-write", "--requests", "300", "--seeds", "2"];
        let told = json(&scratch, &words);
        let ratios = told["comparison"]["ratios"].as_array().expect("two drives");
        let others: Vec<&Value> = ratios.iter().filter(|ratio| ratio["drive"] == "other").collect();
        assert!(others.len() > 5 && others.iter().all(|ratio| ratio["ratio"].is_null() || ratio["ratio"] == 1.0), "{preset}: {others:#?}");
        let notes: Vec<&str> = told["drives"][2]["notes"].as_array().expect("some").iter().filter_map(Value::as_str).collect();
        assert!(notes.iter().any(|note| note.starts_with(&format!("begins as {preset} does, with run."))), "{notes:?}");
    }
}

#[test]
fn starts_of_their_own_make_ratios_without_a_verdict_and_exit_code_4() {
    let scratch = Scratch::new("own-start");
    scratch.file("other.toml", b"summary = \"less full\"\ninherit = \"pageftl\"\n[run]\nfill = \"30 %\"\n");
    let words = ["compare", "--drives", "pageftl,other.toml", "--size", "1GiB", "-w", "uniform-write", "--requests", "300", "--own-start"];
    let output = wordline(&scratch.0, &[&words[..], &["--quiet", "--json", "-"]].concat());
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(4) && why.contains("run.fill = \"30 %\" of other"), "{why}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    let ratios = told["comparison"]["ratios"].as_array().expect("two drives");
    assert!(ratios.iter().filter(|ratio| ratio["drive"] == "other").all(|ratio| ratio["unlike"] == true && ratio["together"] == false));
    // The same share by hand is no start of their own.
    let given = wordline(&scratch.0, &[&words[..], &["--quiet", "--fill", "50%"]].concat());
    assert!(given.status.success(), "{}", String::from_utf8_lossy(&given.stderr));
}
