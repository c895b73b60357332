//! Is whatever a replay changes about a trace told beside its figures, on the console and in JSON?

use std::path::Path;

use serde_json::Value;

use crate::{Scratch, wordline};

/// A drive of one plane with 64 blocks.
const TINY: &str = "summary = \"one plane\"\ninherit = \"mqsim-default\"\nchip = \"mqsim\"\n[geometry]\nplanes = 1\nblocks = 64\n\
    [flash]\nchannels = 1\ndies_per_channel = 1\n[mapping]\nover_provisioning = \"20 %\"\n[gc]\nstart = 4\nfloor = 2\n[buffer]\nsize = \"1 MiB\"\n";

/// The text of a run, and its result.
fn run(scratch: &Scratch, arguments: &[&str]) -> (String, Value) {
    let output = wordline(&scratch.0, &[&["run"], arguments, &["--quiet", "--json", "run.json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&std::fs::read(scratch.0.join("run.json")).expect("a file")).expect("JSON");
    // Lines are broken between words.
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    (text, report["drives"][0].clone())
}

/// The error of a command that is refused.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = wordline(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The same 1,500 requests, at 150 a second, with whole seconds and with their own times.
fn clocks() -> [String; 2] {
    let mut dice: u64 = 0x9E37_79B9_7F4A_7C15;
    let (mut coarse, mut own, mut at) = ("Timestamp,Offset,Size,IOType,VolumeID\n".to_owned(), "time_us,op,offset,length\n".to_owned(), 0);
    for _ in 0..1_500 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (gap, unit, writes) = (dice >> 33, dice >> 13 & 0x7_FFFF, dice >> 60 < 5);
        at += 100 + gap % 13_000;
        coarse += &format!("{},{},8,{},12\n", 1_538_323_200 + at / 1_000_000, unit * 8, u8::from(writes));
        own += &format!("{at},{},{},4096\n", if writes { "write" } else { "read" }, unit * 4096);
    }
    [coarse, own]
}

#[test]
fn a_trace_in_whole_seconds_is_not_a_trace_of_bursts() {
    let scratch = Scratch::new("whole-seconds");
    let [coarse, own] = clocks();
    scratch.file("coarse.csv", coarse.as_bytes());
    scratch.file("own.csv", own.as_bytes());
    let of = |arguments: &[&str]| run(&scratch, &[&["pageftl", "--size", "4GiB", "--workload"], arguments].concat());
    let mean = |result: &Value| result["latency_us"]["read"]["mean"].as_f64().expect("reads");
    let ((text, spread), (_, burst), (plain, fine)) =
        (of(&["coarse.csv"]), of(&["coarse.csv", "--within-tick", "burst"]), of(&["own.csv"]));
    assert!(mean(&spread) < 1.2 * mean(&fine) && mean(&burst) > 5.0 * mean(&fine), "{} {} {}", mean(&spread), mean(&burst), mean(&fine));
    assert!(text.contains("tick of 1 s") && text.contains("spread evenly") && !plain.contains("tick of"), "{text}{plain}");
    assert!(
        spread["notes"]
            .as_array()
            .is_some_and(|notes| notes.iter().any(|note| note.as_str().is_some_and(|note| note.contains("tick of 1 s"))))
    );
    let told = |result: &Value| (result["trace"]["tick_ns"].clone(), result["trace"]["within_tick"].clone());
    assert_eq!(told(&spread), (1_000_000_000u64.into(), "spread".into()));
    assert_eq!(told(&burst), (1_000_000_000u64.into(), "burst".into()));
    assert_eq!(told(&fine), (1_000.into(), Value::Null));
    let (text, asked) = of(&["own.csv", "--within-tick", "burst"]);
    assert!(!text.contains("tick of") && asked["trace"]["within_tick"].is_null(), "{text}");
    assert_eq!(asked["event_log_hash"], fine["event_log_hash"], "a fine tick is played as it stands");
    let (closed, _) = of(&["coarse.csv", "--qd", "4"]);
    assert!(!closed.contains("tick of"), "no times are used: {closed}");
    let error = refused(&scratch.0, &["run", "pageftl", "--workload", "coarse.csv", "--within-tick", "spread", "--qd", "4"]);
    assert!(error.contains("--within-tick does nothing here: --qd"), "{error}");
    assert!(
        refused(&scratch.0, &["run", "pageftl", "--workload", "coarse.csv", "--within-tick", "brust"]).contains("did you mean 'burst'?")
    );
}

#[test]
fn a_request_over_the_end_wraps_whole() {
    let scratch = Scratch::new("wrapped");
    scratch.file("tiny.toml", TINY.as_bytes());
    let of = |body: &str, fit: &str| {
        scratch.file("t.csv", format!("time_us,op,offset,length\n{body}").as_bytes());
        run(&scratch, &["tiny.toml", "--workload", "t.csv", "--fit", fit])
    };
    // The drive has 107,372,544 B: the write is of its last 4 KiB and of its first.
    let blank = |result: &Value| result["host"]["read_blank_bytes"].as_u64().expect("a size");
    let (text, before) = of("0,write,214740992,8192\n6000000,read,107364352,4096\n", "wrap");
    assert_eq!((blank(&before), &before["trace"]["split"], &before["trace"]["moved"]), (4_096, &1.into(), &0.into()));
    assert!(text.contains("--fit wrap") && text.contains("1 split at the end"), "{text}");
    assert_eq!(blank(&of("0,write,214740992,8192\n5000000,read,0,4096\n", "wrap").1), 0);
    // 200 MiB are 200 MiB.
    let long = "0,write,0,209715200\n100,read,0,209715200\n200,trim,0,209715200\n";
    let (_, whole) = of(long, "wrap");
    assert_eq!((&whole["host"]["write_bytes"], &whole["host"]["read_bytes"]), (&209_715_200.into(), &209_715_200.into()));
    let (text, clipped) = of(long, "scale");
    let left_out = 3 * (209_715_200 - clipped["capacity"]["exported_bytes"].as_u64().expect("a size"));
    assert_eq!((&clipped["trace"]["clipped"], &clipped["trace"]["clipped_bytes"]), (&3.into(), &left_out.into()));
    assert!(text.contains("3 clipped to the drive"), "{text}");
}

#[test]
fn a_trace_that_ends_at_the_last_byte_of_small_units_is_served() {
    let scratch = Scratch::new("last-byte");
    let small = ["mqsim-b", "--set", "mapping.unit=512 B", "--set", "geometry.page=512 B", "--set", "geometry.spare=64 B"];
    let small = [&small[..], &["--set", "mapping.over_provisioning=12.0001 %"]].concat();
    scratch.file("first.csv", b"time_us,op,offset,length\n0,write,0,512\n");
    let (_, first) = run(&scratch, &[&small[..], &["--workload", "first.csv"]].concat());
    let capacity = first["capacity"]["exported_bytes"].as_u64().expect("a size");
    assert_ne!(capacity % 4_096, 0, "choose another share");
    scratch.file("tail.csv", format!("time_us,op,offset,length\n0,write,{0},512\n5000,read,{0},512\n", capacity - 512).as_bytes());
    let (_, tail) = run(&scratch, &[&small[..], &["--workload", "tail.csv"]].concat());
    assert_eq!((&tail["host"]["writes"], &tail["host"]["read_blank_bytes"]), (&1.into(), &0.into()));
}

#[test]
fn volumes_skipped_lines_and_requests_that_are_not_there_are_told() {
    let scratch = Scratch::new("told-of-traces");
    let rows = "Timestamp,Response,IOType,LUN,Offset,Size\n1455592000.1,0.0001,W,3,0,4096\n1455592000.2,0.0001,,3,0,4096\n\
                1455592000.3,0.0001,R,4,0,4096\n";
    scratch.file("lun.csv", rows.as_bytes());
    let (text, apart) = run(&scratch, &["pageftl", "--workload", "lun.csv", "--fill", "0%", "--requests", "50"]);
    for part in
        ["2 volumes of the trace stand side by side, over 8 KiB", "lines of the trace that were passed over: 1", "ended after 2 requests"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let trace = &apart["trace"];
    assert_eq!((&trace["volumes"], &trace["spaces"], &trace["skipped_lines"]), (&2.into(), &"apart".into(), &1.into()));
    assert_eq!(apart["host"]["read_blank_bytes"], 4_096, "of the other volume, nothing was written");
    let (text, one) = run(&scratch, &["pageftl", "--workload", "lun.csv", "--fill", "0%", "--volumes", "one", "--requests", "2"]);
    assert!(text.contains("taken as one address space") && !text.contains("asks for more"), "{text}");
    assert_eq!((&one["host"]["read_blank_bytes"], &one["trace"]["spaces"]), (&0.into(), &"one".into()));
    let (text, generated) = run(&scratch, &["pageftl", "--workload", "uniform-read", "--requests", "50"]);
    assert!(!text.contains("asks for more") && generated["trace"].is_null(), "{text}");
    for (flag, value) in [("--volumes", "one"), ("--time-unit", "ms"), ("--sector", "4096"), ("--within-tick", "burst")] {
        let error = refused(&scratch.0, &["run", "pageftl", "--workload", "uniform-read", flag, value]);
        assert!(error.contains(&format!("{flag} is for traces")), "{error}");
    }
    assert!(refused(&scratch.0, &["trace", "info", "lun.csv", "--sector", "4096"]).contains("counts in bytes"));
    assert!(refused(&scratch.0, &["trace", "info", "lun.csv", "--time-unit", "hours"]).contains("--time-unit: 'hours' is no unit"));
}

#[test]
fn a_burst_that_waits_for_itself_is_saturated() {
    let scratch = Scratch::new("one-burst");
    let line = |number: u64| format!("7,read,{},4096\n", number * 7_919 % 100_000 * 4_096);
    scratch.file("t.csv", format!("time_us,op,offset,length\n{}", (0..3_000).map(line).collect::<String>()).as_bytes());
    let (text, burst) = run(&scratch, &["pageftl", "--size", "2GiB", "--fill", "100%", "--workload", "t.csv"]);
    let found = &burst["saturated"];
    assert_eq!((&found["most"], &found["growth_per_second"]), (&3_000.into(), &0.0.into()));
    assert!(found["queued_share"].as_f64() > Some(0.5), "{found:#}");
    assert!(text.contains("WARNING: saturated") && text.contains("bursts of the open loop"), "{text}");
    assert!(text.contains("too few different times"), "{text}");
}
