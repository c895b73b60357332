//! Does a timeline of a run hold what the run did, in the part that was asked for, and can it be read again?

use serde_json::Value;

use crate::{Scratch, wordline};

fn run(scratch: &Scratch, more: &[&str]) -> (Value, String) {
    let base = ["run", "pageftl", "--requests", "3000", "--json", "-", "--quiet", "--trace-out", "timeline.json"];
    let output = wordline(&scratch.0, &[&base[..], more].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    (serde_json::from_slice(&output.stdout).expect("JSON and nothing else"), told)
}

fn timeline(scratch: &Scratch) -> Value {
    let text = std::fs::read_to_string(scratch.0.join("timeline.json")).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Slices of a process whose arguments have `key`.
fn slices<'a>(timeline: &'a Value, process: u64, key: &'a str) -> impl Iterator<Item = &'a Value> {
    let events = timeline["traceEvents"].as_array().expect("a list").iter();
    events.filter(move |event| event["ph"] == "X" && event["pid"] == process && !event["args"][key].is_null())
}

#[test]
fn a_timeline_holds_every_request_and_explains_the_slowest() {
    let scratch = Scratch::new("explained");
    let (plain, _) = {
        let output = wordline(&scratch.0, &["run", "pageftl", "--requests", "3000", "--json", "-", "--quiet"]);
        (serde_json::from_slice::<Value>(&output.stdout).expect("JSON"), ())
    };
    let (watched, told) = run(&scratch, &[]);
    assert_eq!(watched["drives"][0]["event_log_hash"], plain["drives"][0]["event_log_hash"], "whoever watches changes nothing");
    assert!(!told.contains("not in it"), "{told}");
    let whole = timeline(&scratch);
    let requests: Vec<&Value> = slices(&whole, 1, "sector").collect();
    let served = |op: &str| plain["drives"][0]["host"][op].as_u64().expect("a count");
    let all: u64 = ["reads", "writes", "trims", "flushes"].map(served).iter().sum();
    assert_eq!(requests.len() as u64, all);
    let slowest = requests.iter().filter_map(|request| request["args"]["latency_ns"].as_u64()).max().expect("requests");
    let output = wordline(&scratch.0, &["explain", "timeline.json", "--slowest", "4"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.starts_with(&format!("the slowest 4 of {all} requests")), "{text}");
    let first = text.lines().find(|line| line.starts_with("1. ")).expect("the slowest");
    let micros: f64 =
        first.rsplit(": ").next().and_then(|told| told.trim_end_matches(" us").replace(',', "").parse().ok()).expect("a time");
    assert!((micros * 1e3 / slowest as f64 - 1.0).abs() < 0.001, "{first} for {slowest} ns");

    // A part of it, and no more of that than was allowed.
    let (_, told) = run(&scratch, &["--trace-from", "5ms", "--trace-for", "10ms", "--trace-events", "100"]);
    assert!(told.contains("not in it") && told.contains("--trace-events"), "{told}");
    let part = timeline(&scratch);
    let starts: Vec<f64> = slices(&part, 2, "cause").filter_map(|slice| slice["ts"].as_f64()).collect();
    assert!(!starts.is_empty() && starts.iter().all(|start| (5_000.0..15_000.0).contains(start)), "{starts:?}");
    assert!(slices(&part, 1, "sector").count() + starts.len() <= 100);
    let output = wordline(&scratch.0, &["explain", "timeline.json", "--op", "read"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("came after what the timeline holds"));
}

#[test]
fn what_is_no_timeline_or_no_time_is_refused() {
    let scratch = Scratch::new("unexplained");
    scratch.file("results.json", b"{\"drives\": []}");
    let cases: [(&[&str], &str); 4] = [
        (&["explain", "results.json"], "results.json: not a timeline of `wordline run --trace-out`"),
        (&["explain", "missing.json"], "missing.json"),
        (&["run", "pageftl", "--requests", "10", "--trace-out", "t.json", "--trace-for", "0ms"], "--trace-for"),
        (&["run", "pageftl", "--requests", "10", "--trace-from", "1ms"], "--trace-out"),
    ];
    for (arguments, names) in cases {
        let output = wordline(&scratch.0, arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(names), "{arguments:?}: {told}");
        assert!(!scratch.0.join("t.json").exists());
    }
}
