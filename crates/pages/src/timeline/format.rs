//! The trace format of Chrome as Perfetto takes it, checked: what a viewer would drop or draw wrongly without a word is an error here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What a trace in the format of Chrome holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Number of slices.
    pub slices: usize,
    /// Number of instants.
    pub marks: usize,
    /// Number of changes of counters.
    pub counts: usize,
    /// Number of rows with a name.
    pub rows: usize,
}

/// Checks `text`: every event has a phase, a name, a process and, but for counters, a row; times are numbers and lengths are not negative; the slices of a
/// row lie apart or inside each other; counters have numbers and nothing else, and their instants come in order; every process and row has a name. Slices
/// and marks may come in any order, because the format allows it.
///
/// # Errors
///
/// What is wrong with it, and where.
pub fn check(text: &str) -> Result<Checked, String> {
    let json: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    let events = json["traceEvents"].as_array().ok_or("no list called traceEvents")?;
    let mut checked = Checked::default();
    let mut rows: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut counters: BTreeMap<(u64, &str), u64> = BTreeMap::new();
    let (mut processes, mut named) = (BTreeSet::new(), BTreeSet::new());
    let mut used = BTreeSet::new();
    for event in events {
        let wrong = |what: &str| Err(format!("{what}: {event}"));
        let Some(name) = event["name"].as_str().filter(|name| !name.is_empty()) else { return wrong("no name") };
        let Some(process) = event["pid"].as_u64() else { return wrong("no process") };
        let row = event["tid"].as_u64();
        let at = time(&event["ts"]);
        used.insert(process);
        match (event["ph"].as_str(), row, at) {
            (Some("M"), Some(row), _) => match name {
                "process_name" if event["args"]["name"].is_string() => _ = processes.insert(process),
                "thread_name" if event["args"]["name"].is_string() => _ = named.insert((process, row)),
                "thread_sort_index" if event["args"]["sort_index"].is_u64() => {}
                _ => return wrong("no metadata that is known"),
            },
            (Some("X"), Some(row), Some(at)) => {
                let Some(length) = time(&event["dur"]) else { return wrong("a slice without a length") };
                rows.entry((process, row)).or_default().push((at, at + length));
                checked.slices += 1;
            }
            (Some("i"), Some(row), Some(_)) => {
                if !matches!(event["s"].as_str(), Some("t" | "p" | "g")) {
                    return wrong("a mark without a scope");
                }
                rows.entry((process, row)).or_default();
                checked.marks += 1;
            }
            (Some("C"), _, Some(at)) => {
                let Some(args) = event["args"].as_object().filter(|args| !args.is_empty()) else {
                    return wrong("a counter without values");
                };
                if !args.values().all(Value::is_number) {
                    return wrong("a counter whose value is no number");
                }
                if counters.insert((process, name), at).is_some_and(|before| before > at) {
                    return wrong("a counter that goes back in time");
                }
                checked.counts += 1;
            }
            (Some("X" | "i" | "C"), ..) => return wrong("no row, or no time"),
            _ => return wrong("no phase that is known"),
        }
    }
    if let Some(process) = used.difference(&processes).next() {
        return Err(format!("process {process} has no name"));
    }
    for ((process, row), slices) in rows {
        if !named.contains(&(process, row)) {
            return Err(format!("row {row} of process {process} has no name"));
        }
        if let Some(from) = overlap(slices) {
            return Err(format!("slices of row {row} of process {process} overlap at {} us", from as f64 / 1e3));
        }
    }
    checked.rows = named.len();
    Ok(checked)
}

/// The beginning of the first slice that overlaps another without lying inside it.
fn overlap(mut slices: Vec<(u64, u64)>) -> Option<u64> {
    slices.sort_by_key(|&(from, end)| (from, std::cmp::Reverse(end)));
    let mut open: Vec<u64> = Vec::new();
    for (from, end) in slices {
        while open.last().is_some_and(|&last| last <= from) {
            open.pop();
        }
        if open.last().is_some_and(|&last| last < end) {
            return Some(from);
        }
        open.push(end);
    }
    None
}

/// A time that is not negative, in nanoseconds.
fn time(value: &Value) -> Option<u64> {
    value.as_f64().filter(|micros| (0.0..=9e12).contains(micros)).map(|micros| (micros * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wordline_engine::Observer;
    use wordline_units::{Attributes, FlashOp, HostOp, Nanos, Priority, RequestId};

    use super::super::tests::{flash, read_of, stopped, text};
    use super::super::{Event, Timeline, Window};
    use super::*;

    #[test]
    fn a_timeline_is_what_perfetto_takes_and_what_is_not_is_found() {
        let good = text(&stopped());
        let checked = check(&good).expect("it is in the format");
        assert_eq!((checked.slices, checked.marks, checked.rows), (10, 1, 4), "{good}");
        assert!(checked.counts >= 5, "{checked:?}");
        let line = |part: &str| good.lines().find(|line| line.contains(part)).expect("it is there");
        let without = |part: &str| good.replace(&format!("{}\n", line(part)), "");
        let planted = [
            (good.replace("\"dur\":", "\"length\":"), "a slice without a length"),
            (good.replacen("\"dur\":", "\"dur\":-", 1), "a slice without a length"),
            (good.replacen("\"ts\":", "\"at\":", 1), "no row, or no time"),
            (good.replacen("\"ph\":\"X\"", "\"ph\":\"Y\"", 1), "no phase that is known"),
            (good.replace("\"s\":\"t\",", ""), "a mark without a scope"),
            (good.replacen("\"name\":\"host\"", "\"name\":3", 1), "no metadata that is known"),
            (good.replacen("{\"requests\":1}", "{\"requests\":\"1\"}", 1), "a counter whose value is no number"),
            (good.replacen("{\"requests\":1}", "{}", 1), "a counter without values"),
            (without("\"name\":\"dies\""), "process 2 has no name"),
            (without("\"name\":\"die 1\""), "row 9 of process 2 has no name"),
            // The read inside the erase ends after it.
            (good.replace(line("\"read (host)\""), &line("\"read (host)\"").replace("\"dur\":0.1", "\"dur\":9.1")), "overlap at"),
            ("{}".to_owned(), "no list"),
            (good.trim_end().trim_end_matches('}').to_owned(), "no JSON"),
        ];
        for (bad, what) in planted {
            let error = check(&bad).expect_err(what);
            assert!(error.contains(what), "{error} for {what}");
        }
    }

    #[test]
    fn the_file_of_a_bounded_window_is_bounded_however_long_the_run() {
        let size = |requests: u64, most: usize| {
            let mut timeline = Timeline::new(Some(Window { most, ..Window::default() }));
            for n in 0..requests {
                let at = 1_000 * n;
                timeline.observe(
                    Nanos(at),
                    &Event::Arrived { request: RequestId(3), op: HostOp::Read, attributes: Attributes::of(Priority::High), sectors: 32 },
                );
                timeline.observe(Nanos(at + 265), &Event::Flash(flash((n % 4) as u16, FlashOp::Read, at + 165, 60)));
                timeline.observe(Nanos(at + 265), &read_of(Priority::High, 3, at, 160));
            }
            let text = text(&timeline);
            check(&text).expect("it is in the format");
            (text.len(), timeline.left_out())
        };
        let (bytes, left_out) = size(200, 100);
        assert_eq!(left_out, 300);
        // Only the number of what is left out has more digits.
        assert!((bytes..bytes + 4).contains(&size(4_000, 100).0));
        assert!(bytes < 4_000 + 100 * 1_000, "{bytes}");
    }

    proptest! {
        #[test]
        fn whatever_happens_is_written_in_the_format(
            ops in prop::collection::vec((0_u16..3, 0_usize..3, 1_000_u64..9_000, 60_u64..900), 0..24),
            waits in prop::collection::vec((0_u64..4_000, 0_usize..4), 0..8),
            (from, length, most) in (0_u64..4_000, 1_u64..9_000, 1_usize..40),
        ) {
            let window = Window { from: Nanos(from), length: Some(Nanos(length)), most };
            let mut timeline = Timeline::new(Some(window));
            timeline.start_at(Nanos(500));
            let mut events: Vec<(u64, Event)> = Vec::new();
            for (die, kind, issued, array) in ops {
                // One bus for each operation: it is the drive that sees to it that transfers do not overlap.
                let mut event = flash(die, [FlashOp::Read, FlashOp::Program, FlashOp::Erase][kind], issued, array);
                event.bus = Nanos::ZERO;
                events.push((issued + array + 40, Event::Flash(event)));
            }
            for (request, (wait, priority)) in waits.into_iter().enumerate() {
                let arrived = 600 + wait;
                let priority = Priority::ALL[priority];
                let id = RequestId(request as u32);
                events.push((arrived, Event::Arrived { request: id, op: HostOp::Read, attributes: Attributes::of(priority), sectors: 32 }));
                events.push((arrived + 105 + wait, read_of(priority, request as u32, arrived, wait)));
            }
            events.sort_by_key(|event| event.0);
            events.iter().for_each(|(at, event)| timeline.observe(Nanos(*at), event));
            let text = text(&timeline);
            prop_assert!(check(&text).is_ok(), "{:?}", check(&text));
            prop_assert!(super::super::Trace::read(&text).is_ok());
        }
    }
}
