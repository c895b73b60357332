//! Does a timeline of a run hold what the run did, in the part that was asked for, and can it be read again?

use serde_json::Value;
use wordline_pages::timeline::check;

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

/// A trace of writes and reads of every priority, more than a drive can follow.
fn mixed() -> String {
    let mut trace = "time_us,op,offset,length,priority\n".to_owned();
    for n in 0_u64..6_000 {
        let (op, priority) = match n % 10 {
            0..3 => ("write", "low"),
            3 => ("read", "urgent"),
            4..6 => ("read", "high"),
            6..9 => ("read", "normal"),
            _ => ("read", "low"),
        };
        trace.push_str(&format!("{},{op},{},16384,{priority}\n", n * 15, n * 7_919 % 60_000 * 16_384));
    }
    trace
}

#[test]
fn a_timeline_of_a_drive_that_stops_for_reads_is_what_perfetto_takes_and_adds_up() {
    let scratch = Scratch::new("mixed-priorities");
    scratch.file("mixed.csv", mixed().as_bytes());
    let run = |more: &[&str]| {
        let base = ["run", "paftl", "-w", "mixed.csv", "--quiet", "--trace-out", "timeline.json"];
        let output = wordline(&scratch.0, &[&base[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(scratch.0.join("timeline.json")).expect("it was written")
    };
    let text = run(&[]);
    let checked = check(&text).expect("it is in the format");
    assert!(checked.marks > 100 && checked.counts > 6_000, "{checked:?}");
    for what in ["stop, at step: program (host)", "stop, now: read (host)", "reads waiting for a die", "take in: read"] {
        assert!(text.contains(what), "{what}");
    }
    // The stages of each request fill it.
    let json = timeline(&scratch);
    let (mut left, mut requests) = (0, 0);
    for slice in json["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "X" && event["pid"] == 1) {
        match slice["args"]["latency_ns"].as_i64() {
            Some(latency) => {
                assert_eq!(left, 0, "before {slice}");
                (left, requests) = (latency, requests + 1);
            }
            None => left -= (slice["dur"].as_f64().expect("a time") * 1e3).round() as i64,
        }
    }
    assert_eq!((left, requests), (0, 6_000));
    // No more were inside than the device has places.
    let inside = json["traceEvents"].as_array().expect("a list").iter().filter(|event| event["name"] == "requests inside the device");
    let most = inside.filter_map(|event| event["args"]["requests"].as_u64()).max();
    assert_eq!(most, Some(256), "the queue depth of the drive");

    let output = wordline(&scratch.0, &["explain", "timeline.json", "--slowest", "3", "--html", "page.html"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains("who waited for whom"), "{told}");
    // Each class has its share of each row, and they are the whole.
    for class in 0..4 {
        let share = |line: &str| line.split(" %").nth(class).and_then(|part| part.split_whitespace().next_back()?.parse::<f64>().ok());
        let rows = told.lines().skip_while(|line| !line.contains("who waited")).filter(|line| line.matches(" %").count() == 4);
        let whole: f64 = rows.filter_map(share).sum();
        assert!((whole - 100.0).abs() < 0.6, "{whole} of class {class}: {told}");
    }
    let page = std::fs::read_to_string(scratch.0.join("page.html")).expect("it was written");
    assert_eq!(page.matches("<figure>").count(), 3);
    assert!(page.contains("read (host), lower priority") && page.matches("<svg").count() >= 3);

    // A window is in the format, too, and no larger than it was allowed to be.
    let part = run(&["--trace-from", "20ms", "--trace-for", "30ms", "--trace-events", "500"]);
    check(&part).expect("it is in the format");
    assert!(part.len() < 500 * 2_000 + 10_000, "{}", part.len());
}

#[test]
fn a_page_takes_the_place_of_no_file_that_is_not_a_page_of_ours() {
    let scratch = Scratch::new("page-of-slow");
    run(&scratch, &[]);
    scratch.file("notes.html", b"<p>mine</p>");
    let explain = |html: &str| wordline(&scratch.0, &["explain", "timeline.json", "--html", html]);
    for (html, what) in [("notes.html", "is no page that Wordline wrote"), ("timeline.json", "would be written over what is read")] {
        let output = explain(html);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(what));
    }
    assert_eq!(std::fs::read(scratch.0.join("notes.html")).expect("it is there"), b"<p>mine</p>");
    assert!(explain("page.html").status.success() && explain("page.html").status.success(), "over its own page");
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
