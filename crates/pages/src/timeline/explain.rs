//! The slowest requests of a timeline in words: where each spent its time, and what its die did while it waited.

use std::fmt::Write;

use super::trace::{Request, Trace};
use super::waits::{waited_for, waits};
use crate::number::number;

/// The slowest requests of a timeline, explained.
#[derive(Debug, PartialEq)]
pub struct Explained {
    /// Number of requests in the timeline.
    pub requests: usize,
    /// Text about the slowest, the slowest first.
    pub text: String,
}

/// Width of a drawing, in characters.
const WIDTH: f64 = 40.0;
/// Things that a die did which are named.
const NAMED: usize = 4;

/// Nanoseconds as microseconds.
pub(super) fn micros(nanos: u64) -> String {
    format!("{} us", number(nanos as f64 / 1e3))
}

/// Explains the `count` slowest requests, or those of this operation only, and then whom the reads of the timeline waited for.
pub fn slowest_explained(trace: &Trace, count: usize, op: Option<&str>) -> Explained {
    let (slowest, requests) = trace.slowest(count, op);
    let mut text = String::new();
    for (place, number) in (1..).zip(slowest) {
        let _ = writeln!(text, "{place}. {}", explained(trace, number));
    }
    if op.is_none_or(|op| op == "read") {
        let waits = waits(trace).text();
        let _ = write!(text, "{waits}{}", if waits.is_empty() { "" } else { "\n" });
    }
    if let Some(note) = note(trace) {
        let _ = writeln!(text, "note: {note}");
    }
    Explained { requests, text }
}

/// What is said of a timeline that does not hold all of its part of the run.
pub(super) fn note(trace: &Trace) -> Option<String> {
    let left_out = trace.left_out();
    let told =
        format!("{left_out} operations and requests of the run came after what the timeline holds; slower requests may be among them");
    (left_out > 0).then_some(told)
}

/// The request of this number in words.
pub(super) fn explained(trace: &Trace, number: usize) -> String {
    let request = &trace.requests()[number];
    let latency = request.latency();
    let mut text = format!("{}: {}\n", title(request), micros(latency));
    let mut before = 0;
    for (name, length) in &request.stages {
        let column = |at: u64| (at as f64 / latency as f64 * WIDTH).round() as usize;
        let (from, end) = (column(before), column(before + length));
        let bar = format!("{}{}", " ".repeat(from), "█".repeat((end - from).max(1)));
        let share = 100.0 * *length as f64 / latency as f64;
        let _ = writeln!(text, "   {name:14} {:>13} {share:>5.1} %  {bar}", micros(*length));
        before += length;
    }
    if let Some(told) = whom_it_waited_for(trace, number) {
        let _ = writeln!(text, "   {told}");
    }
    text
}

/// What the die of a read did while the read waited for it, if it is clear which die that was.
pub(super) fn whom_it_waited_for(trace: &Trace, number: usize) -> Option<String> {
    let reader = trace.reader(number)?;
    let retries = if reader.retries > 0 { format!(" with {} retries", reader.retries) } else { String::new() };
    let mut told = format!("die {} read it{retries}", reader.die);
    let mut did: Vec<_> = waited_for(trace, number).into_iter().collect();
    did.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
    let list: Vec<String> = did.iter().take(NAMED).map(|(doing, length)| format!("{} {}", doing.name(), micros(*length))).collect();
    if !list.is_empty() {
        let more = if did.len() > NAMED { format!(" and {} more", did.len() - NAMED) } else { String::new() };
        let _ = write!(told, "; while it waited, the die did: {}{more}", list.join("; "));
    }
    let (from, end) = trace.requests()[number].die_wait();
    let stops: Vec<String> = trace
        .stops(reader.die, from, if trace.gave_way(reader) { reader.end } else { end })
        .iter()
        .map(|stop| format!("{}, at {} after {}", stop.name, micros(stop.at - trace.requests()[number].from), micros(stop.waited)))
        .collect();
    if !stops.is_empty() {
        let more = if stops.len() > NAMED { format!(" and {} more", stops.len() - NAMED) } else { String::new() };
        let _ = write!(told, "; stops: {}{more}", stops[..stops.len().min(NAMED)].join("; "));
    }
    Some(told)
}

/// What a request asked, and when.
pub(super) fn title(request: &Request) -> String {
    format!(
        "{} of {} KiB at sector {}, priority {}, at {}",
        request.op,
        number(request.sectors as f64 / 2.0),
        request.sector,
        request.priority,
        micros(request.from)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, stopped, text, waited};
    use super::*;
    use wordline_engine::Observer;
    use wordline_units::Nanos;

    #[test]
    fn a_slow_read_is_told_whom_it_waited_for() {
        let mut timeline = waited();
        timeline.observe(Nanos(5_105), &read(0, 5_000, 0));
        let trace = Trace::read(&text(&timeline)).expect("it is ours");
        let explained = slowest_explained(&trace, 10, None);
        assert_eq!(explained.requests, 2);
        let lines: Vec<&str> = explained.text.lines().collect();
        assert_eq!(lines[0], "1. read of 16 KiB at sector 64, priority normal, at 1 us: 2.6 us");
        assert!(lines[2].contains("die wait") && lines[2].contains("96.0 %"), "{}", lines[2]);
        assert!(explained.text.contains("die 1 read it; while it waited, the die did: erase (host) 2.495 us\n"), "{}", explained.text);
        assert!(explained.text.contains("2. read of 16 KiB at sector 64, priority normal, at 4 us"));
        assert!(explained.text.contains("who waited for whom"));
        assert_eq!(slowest_explained(&trace, 1, None).text.matches("sector 64").count(), 1);
        assert_eq!(slowest_explained(&trace, 10, Some("write")), Explained { requests: 0, text: String::new() });
    }

    #[test]
    fn a_read_for_which_something_was_stopped_says_how() {
        let trace = Trace::read(&text(&stopped())).expect("it is ours");
        let told = whom_it_waited_for(&trace, 0).expect("its die is clear");
        assert!(told.ends_with("; stops: stop, at step: erase (gc), at 0.025 us after 0.02 us"), "{told}");
    }
}
