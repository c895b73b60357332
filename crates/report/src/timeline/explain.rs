//! A timeline read again: where its slowest requests spent their time, in words and as a drawing.

use std::fmt::Write;

use serde::Deserialize;

use super::{DIES, HOST, ROWS};
use crate::text::number;

/// A timeline that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TraceError(String);

/// A timeline that `wordline run --trace-out` has written.
#[derive(Debug)]
pub struct Trace {
    requests: Vec<Request>,
    dies: Vec<OnDie>,
    left_out: u64,
}

/// A request and its stages.
#[derive(Clone, Debug)]
struct Request {
    from: f64,
    end: f64,
    name: String,
    sector: u64,
    sectors: u64,
    priority: String,
    stages: Vec<(String, f64)>,
}

/// An operation of a die.
#[derive(Debug)]
struct OnDie {
    die: u32,
    from: f64,
    end: f64,
    name: String,
    array: f64,
    retries: u64,
}

/// The slowest requests of a timeline, explained.
#[derive(Debug, PartialEq)]
pub struct Explained {
    /// Number of requests in the timeline.
    pub requests: usize,
    /// Text about the slowest, the slowest first.
    pub text: String,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "traceEvents")]
    events: Vec<Entry>,
    #[serde(rename = "otherData", default)]
    other: std::collections::BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Entry {
    ph: String,
    pid: u32,
    tid: u32,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    name: String,
    #[serde(default)]
    args: Args,
}

#[derive(Default, Deserialize)]
struct Args {
    sector: Option<u64>,
    sectors: Option<u64>,
    priority: Option<String>,
    cause: Option<String>,
    array_ns: Option<f64>,
    retries: Option<u64>,
}

/// Width of a drawing, in characters.
const WIDTH: f64 = 40.0;
/// Instants that are the same but for rounding, in microseconds.
const SAME: f64 = 0.0015;

impl Trace {
    /// Reads a timeline.
    ///
    /// # Errors
    ///
    /// The text is no timeline, or not one of Wordline's.
    pub fn read(text: &str) -> Result<Trace, TraceError> {
        let file: File =
            serde_json::from_str(text).map_err(|error| TraceError(format!("not a timeline of `wordline run --trace-out`: {error}")))?;
        let left_out = file.other.get("left out").and_then(|count| count.as_str()?.parse().ok());
        let Some(left_out) = left_out else {
            return Err(TraceError("a timeline, but not one of `wordline run --trace-out`".to_owned()));
        };
        let mut trace = Trace { requests: Vec::new(), dies: Vec::new(), left_out };
        for Entry { pid, tid, ts, dur, name, args, .. } in file.events.into_iter().filter(|entry| entry.ph == "X") {
            let end = ts + dur;
            match (pid, args.sector) {
                (HOST, Some(sector)) => trace.requests.push(Request {
                    from: ts,
                    end,
                    name,
                    sector,
                    sectors: args.sectors.unwrap_or(0),
                    priority: args.priority.unwrap_or_default(),
                    stages: Vec::new(),
                }),
                // The stages of a request follow it.
                (HOST, None) => trace.requests.last_mut().into_iter().for_each(|request| request.stages.push((name.clone(), dur))),
                (DIES, _) if args.cause.is_some() => trace.dies.push(OnDie {
                    die: (tid.max(1) - 1) / ROWS,
                    from: ts,
                    end,
                    name,
                    array: args.array_ns.unwrap_or(0.0) / 1e3,
                    retries: args.retries.unwrap_or(0),
                }),
                _ => {}
            }
        }
        Ok(trace)
    }

    /// Explains the `count` slowest requests, or those of this operation only.
    pub fn slowest(&self, count: usize, op: Option<&str>) -> Explained {
        let mut slowest: Vec<&Request> = self.requests.iter().filter(|request| op.is_none_or(|op| request.name == op)).collect();
        let requests = slowest.len();
        slowest.sort_by(|a, b| (b.end - b.from).total_cmp(&(a.end - a.from)).then(a.from.total_cmp(&b.from)));
        slowest.truncate(count);
        let mut text = String::new();
        for (number, request) in (1..).zip(&slowest) {
            let _ = writeln!(text, "{number}. {}", self.explained(request));
        }
        if self.left_out > 0 {
            let _ = writeln!(
                text,
                "note: {} operations and requests of the run came after what the timeline holds; slower requests may be among them",
                self.left_out
            );
        }
        Explained { requests, text }
    }

    fn explained(&self, request: &Request) -> String {
        let latency = request.end - request.from;
        let mut text = format!(
            "{} of {} KiB at sector {}, priority {}, at {} us: {} us\n",
            request.name,
            number(request.sectors as f64 / 2.0),
            request.sector,
            request.priority,
            number(request.from),
            number(latency)
        );
        let mut before = 0.0;
        for (name, length) in &request.stages {
            let column = |at: f64| (at / latency * WIDTH).round() as usize;
            let (from, end) = (column(before), column(before + length));
            let bar = format!("{}{}", " ".repeat(from), "█".repeat((end - from).max(1)));
            let _ = writeln!(text, "   {name:14} {:>10} us {:>5.1} %  {bar}", number(*length), 100.0 * length / latency);
            before += length;
        }
        if let Some(told) = self.waited_for(request) {
            let _ = writeln!(text, "   {told}");
        }
        text
    }

    /// What the die of a read did while the read waited for it, if it is clear which die that was.
    fn waited_for(&self, request: &Request) -> Option<String> {
        let stage = |name: &str| request.stages.iter().filter(|stage| stage.0 == name).map(|stage| stage.1).sum::<f64>();
        let (waited, array, last) = (stage("die wait"), stage("die"), stage("DRAM and link"));
        if request.name != "read" || array == 0.0 {
            return None;
        }
        let is_its = |op: &&OnDie| {
            op.name == "read (host)"
                && (op.array - array).abs() < SAME
                && op.from + SAME > request.from
                && op.end < request.end + SAME
                && op.end > request.end - last - SAME
        };
        let mut its = self.dies.iter().filter(is_its);
        let (Some(read), None) = (its.next(), its.next()) else { return None };
        let retries = if read.retries > 0 { format!(" with {} retries", read.retries) } else { String::new() };
        let mut told = format!("die {} read it{retries}", read.die);
        let from = read.from - waited;
        let others = self.dies.iter().filter(|op| op.die == read.die && !std::ptr::eq(*op, read) && op.end > from && op.from < read.from);
        let mut others: Vec<(&str, f64)> = others.map(|op| (op.name.as_str(), op.end.min(read.from) - op.from.max(from))).collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        if waited > 0.0 && !others.is_empty() {
            let list: Vec<String> = others.iter().take(4).map(|(name, time)| format!("{name} {} us", number(*time))).collect();
            let more = if others.len() > 4 { format!(" and {} more", others.len() - 4) } else { String::new() };
            let _ = write!(told, "; while it waited, the die did: {}{more}", list.join(", "));
        }
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, text, waited};
    use super::*;
    use wordline_engine::Observer;
    use wordline_units::Nanos;

    #[test]
    fn a_slow_read_is_told_whom_it_waited_for() {
        let mut timeline = waited();
        timeline.observe(Nanos(5_105), &read(0, 5_000, 0));
        let trace = Trace::read(&text(&timeline)).expect("it is ours");
        let explained = trace.slowest(10, None);
        assert_eq!(explained.requests, 2);
        let lines: Vec<&str> = explained.text.lines().collect();
        assert_eq!(lines[0], "1. read of 16 KiB at sector 64, priority normal, at 1 us: 2.6 us");
        assert!(lines[2].contains("die wait") && lines[2].contains("96.0 %"), "{}", lines[2]);
        assert!(explained.text.contains("die 1 read it; while it waited, the die did: erase (host) 2.495 us"), "{}", explained.text);
        assert!(explained.text.contains("2. read of 16 KiB at sector 64, priority normal, at 4 us"));
        assert_eq!(trace.slowest(1, None).text.matches("sector 64").count(), 1);
        assert_eq!(trace.slowest(10, Some("write")), Explained { requests: 0, text: String::new() });
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["", "{", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":[{\"ph\":3}]}"] {
            let error = Trace::read(text).expect_err("it is not ours").to_string();
            assert!(error.contains("wordline run --trace-out"), "{error}");
        }
    }
}
