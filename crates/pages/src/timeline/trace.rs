//! A timeline read again: its requests, the operations of its dies, and which operation read for which request.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{DIES, HOST, LEFT_OUT, ROWS};

/// A timeline that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TraceError(String);

/// A timeline that `wordline run --trace-out` has written.
#[derive(Debug)]
pub struct Trace {
    requests: Vec<Request>,
    ops: Vec<OnDie>,
    stops: Vec<Stop>,
    /// Operation that read for each request, where it is clear which one.
    readers: Vec<Option<usize>>,
    /// Most urgent of the requests for which an operation read.
    urgencies: Vec<Option<usize>>,
    about: BTreeMap<String, String>,
    left_out: u64,
}

/// A request and its stages, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) from: u64,
    pub(super) end: u64,
    pub(super) op: String,
    pub(super) sector: u64,
    pub(super) sectors: u64,
    pub(super) priority: String,
    /// The die that served it, where the timeline says so.
    die: Option<u32>,
    pub(super) stages: Vec<(String, u64)>,
}

/// An operation of a die, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct OnDie {
    pub(super) die: u32,
    pub(super) from: u64,
    pub(super) end: u64,
    /// Kind and cause.
    pub(super) name: String,
    pub(super) array: u64,
    pub(super) retries: u64,
    pub(super) stops: u64,
    /// Class of a read, where the timeline says so, by its place among [`priorities`].
    class: Option<usize>,
}

/// A stop of an operation of a die, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) die: u32,
    pub(super) at: u64,
    pub(super) name: String,
    pub(super) waited: u64,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "traceEvents")]
    events: Vec<Entry>,
    #[serde(rename = "otherData", default)]
    other: BTreeMap<String, serde_json::Value>,
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
    die: Option<u32>,
    array_ns: Option<u64>,
    retries: Option<u64>,
    stops: Option<u64>,
    waited_ns: Option<u64>,
}

/// The classes of priority, most urgent first.
pub(super) fn priorities() -> impl Iterator<Item = &'static str> {
    wordline_units::Priority::ALL.into_iter().map(wordline_units::Priority::name)
}

impl Request {
    pub(super) fn latency(&self) -> u64 {
        self.end - self.from
    }

    /// Time in the stage called `name`.
    pub(super) fn stage(&self, name: &str) -> u64 {
        self.stages.iter().filter(|stage| stage.0 == name).map(|stage| stage.1).sum()
    }

    /// From when until when a read waited for its die.
    pub(super) fn die_wait(&self) -> (u64, u64) {
        let heard = self.from + self.stage("host queue") + self.stage("core") + self.stage("write buffer");
        (heard, heard + self.stage("die wait"))
    }

    /// Place of its class among [`priorities`].
    pub(super) fn urgency(&self) -> Option<usize> {
        priorities().position(|name| name == self.priority)
    }
}

impl Trace {
    /// Reads a timeline.
    ///
    /// # Errors
    ///
    /// The text is no timeline, or not one of Wordline's, or its stages do not fill its requests.
    pub fn read(text: &str) -> Result<Trace, TraceError> {
        let file: File =
            serde_json::from_str(text).map_err(|error| TraceError(format!("not a timeline of `wordline run --trace-out`: {error}")))?;
        let left_out = file.other.get(LEFT_OUT).and_then(|count| count.as_str()?.parse().ok());
        let Some(left_out) = left_out else {
            return Err(TraceError("a timeline, but not one of `wordline run --trace-out`".to_owned()));
        };
        let about = file.other.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect();
        let (mut requests, mut ops, mut stops) = (Vec::<Request>::new(), Vec::new(), Vec::new());
        for Entry { ph, pid, tid, ts, dur, name, args } in file.events {
            let (from, length) = (nanos(ts)?, nanos(dur)?);
            let (end, die) = (from + length, (tid.max(1) - 1) / ROWS);
            match (ph.as_str(), pid, args.sector) {
                ("X", HOST, Some(sector)) => requests.push(Request {
                    from,
                    end,
                    op: name,
                    sector,
                    sectors: args.sectors.unwrap_or(0),
                    priority: args.priority.unwrap_or_default(),
                    die: args.die,
                    stages: Vec::new(),
                }),
                // The stages of a request follow it.
                ("X", HOST, None) => requests.last_mut().into_iter().for_each(|request| request.stages.push((name.clone(), length))),
                ("X", DIES, _) if args.cause.is_some() => ops.push(OnDie {
                    die,
                    from,
                    end,
                    name,
                    array: args.array_ns.unwrap_or(0),
                    retries: args.retries.unwrap_or(0),
                    stops: args.stops.unwrap_or(0),
                    class: args.priority.and_then(|class| priorities().position(|name| name == class)),
                }),
                // A mark without it is of a die that fails.
                ("i", DIES, _) if args.waited_ns.is_some() => stops.push(Stop { die, at: from, name, waited: args.waited_ns.unwrap_or(0) }),
                _ => {}
            }
        }
        for request in &requests {
            let told: u64 = request.stages.iter().map(|stage| stage.1).sum();
            if told != request.latency() {
                let (told, latency, at) = (told as f64 / 1e3, request.latency() as f64 / 1e3, request.from as f64 / 1e3);
                let what = format!("the stages of the {} at {at} us are {told} us, and it took {latency} us", request.op);
                return Err(TraceError(format!("a timeline that does not add up: {what}")));
            }
        }
        ops.sort_by_key(|op| (op.die, op.from, std::cmp::Reverse(op.end)));
        stops.sort_by_key(|stop| (stop.die, stop.at));
        let readers = readers(&requests, &ops);
        let mut urgencies: Vec<Option<usize>> = ops.iter().map(|op| op.class).collect();
        for (request, reader) in requests.iter().zip(&readers) {
            if let (Some(reader), Some(urgency)) = (*reader, request.urgency())
                && ops[reader].class.is_none()
            {
                urgencies[reader] = Some(urgencies[reader].map_or(urgency, |other| other.min(urgency)));
            }
        }
        Ok(Trace { requests, ops, stops, readers, urgencies, about, left_out })
    }

    /// All requests.
    pub(super) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Operations and requests of the run that came after what the timeline holds.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What is said of the run, name by name.
    pub(super) fn about(&self) -> impl Iterator<Item = (&str, &str)> {
        self.about.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The operation that read for the request of this number, if it is clear which one that was.
    pub(super) fn reader(&self, request: usize) -> Option<&OnDie> {
        self.readers[request].map(|op| &self.ops[op])
    }

    /// Operations of `die` that lasted between `from` and `end`, as they began, each with the urgency of the request that it read for, where that is known.
    pub(super) fn on_die(&self, die: u32, from: u64, end: u64) -> Vec<(&OnDie, Option<usize>)> {
        let begin = self.ops.partition_point(|op| op.die < die);
        let last = self.ops.partition_point(|op| (op.die, op.from) < (die, end));
        let those = self.ops[begin..last].iter().zip(&self.urgencies[begin..last]);
        those.filter(|(op, _)| op.end > from).map(|(op, urgency)| (op, *urgency)).collect()
    }

    /// Stops on `die` from `from` to `end`.
    pub(super) fn stops(&self, die: u32, from: u64, end: u64) -> &[Stop] {
        let begin = self.stops.partition_point(|stop| (stop.die, stop.at) < (die, from));
        let last = self.stops.partition_point(|stop| (stop.die, stop.at) <= (die, end));
        &self.stops[begin..last.max(begin)]
    }

    /// Whether `reader` left its die for another operation after it was ordered.
    pub(super) fn gave_way(&self, reader: &OnDie) -> bool {
        let is_its = |stop: &Stop| stop.at > reader.from && stop.at < reader.end && stop.name.ends_with(": read (host)");
        self.stops(reader.die, reader.from, reader.end).iter().any(is_its)
    }

    /// Numbers of the `count` slowest requests, the slowest first, or of those of this operation only; and of how many they are.
    pub(super) fn slowest(&self, count: usize, op: Option<&str>) -> (Vec<usize>, usize) {
        let all = 0..self.requests.len();
        let mut slowest: Vec<usize> = all.filter(|&number| op.is_none_or(|op| self.requests[number].op == op)).collect();
        let of = slowest.len();
        slowest.sort_by_key(|&number| (std::cmp::Reverse(self.requests[number].latency()), self.requests[number].from));
        slowest.truncate(count);
        (slowest, of)
    }
}

/// Microseconds of a timeline, which has three decimals of them.
fn nanos(micros: f64) -> Result<u64, TraceError> {
    if !(0.0..=9e12).contains(&micros) {
        return Err(TraceError(format!("not a timeline of `wordline run --trace-out`: a time of {micros} us")));
    }
    Ok((micros * 1e3).round() as u64)
}

/// The operation that read for each read request. It ended when the request had nothing before it but its way through DRAM to the host, its array worked as
/// long as the request says, and it was ordered while the request waited. Where several dies have one like that, it is not clear which one it was.
fn readers(requests: &[Request], ops: &[OnDie]) -> Vec<Option<usize>> {
    let mut ends: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (number, op) in ops.iter().enumerate().filter(|(_, op)| op.name == "read (host)") {
        ends.entry((op.end, op.array)).or_default().push(number);
    }
    let reader = |request: &Request| {
        let array = request.stage("die");
        if request.op != "read" || array == 0 {
            return None;
        }
        let (heard, ordered) = request.die_wait();
        let all = ends.get(&(request.end - request.stage("DRAM and link"), array))?;
        let is_its = |op: &OnDie| (heard..=ordered).contains(&op.from) && request.die.is_none_or(|die| die == op.die);
        let mut fit = all.iter().filter(|&&op| is_its(&ops[op]));
        match (fit.next(), fit.next()) {
            (Some(&only), None) => Some(only),
            _ => None,
        }
    };
    requests.iter().map(reader).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{text, waited};
    use super::*;

    #[test]
    fn a_read_is_known_by_its_end_its_array_and_its_order_and_only_where_one_fits() {
        let written = text(&waited());
        let trace = Trace::read(&written).expect("it is ours");
        assert_eq!(trace.reader(0).map(|op| (op.die, op.from)), Some((1, 3_500)));
        assert_eq!(
            trace.on_die(1, 0, 3_600).iter().map(|(op, of)| (op.name.as_str(), *of)).collect::<Vec<_>>(),
            [("erase (host)", None), ("read (host)", Some(2)),]
        );
        assert!(trace.on_die(1, 3_500, 3_500).is_empty() && trace.on_die(0, 0, 9_000).is_empty());
        // Another die reads at the same time for as long.
        let line = written.lines().find(|line| line.contains("\"read (host)\"")).expect("a read").trim_end_matches(',');
        let twice = written.replace(line, &format!("{line},\n{}", line.replace("\"tid\":9", "\"tid\":17")));
        assert!(Trace::read(&twice).expect("it is ours").reader(0).is_none());
        // Where the request says which die it was, that is the one.
        let told = twice.replace("\"latency_ns\":2600", "\"latency_ns\":2600,\"die\":2");
        assert_eq!(Trace::read(&told).expect("it is ours").reader(0).map(|op| op.die), Some(2));
        // A class that the read has counts, and not that of the request.
        let told = written.replace("\"ok\":true}}", "\"ok\":true,\"priority\":\"high\"}}");
        assert_eq!(Trace::read(&told).expect("it is ours").on_die(1, 3_500, 3_600)[0].1, Some(1));
    }

    #[test]
    fn a_stage_that_is_missing_is_found() {
        let written = text(&waited());
        let line = written.lines().find(|line| line.contains("\"die wait\"")).expect("it waited");
        let error = Trace::read(&written.replace(&format!("{line}\n"), "")).expect_err("2.495 us are missing").to_string();
        assert!(error.contains("the stages of the read at 1 us are 0.105 us, and it took 2.6 us"), "{error}");
    }

    #[test]
    fn other_files_are_refused() {
        let negative = text(&waited()).replace("\"ts\":3.500", "\"ts\":-3.500");
        for text in ["", "{", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":[{\"ph\":3}]}", &negative] {
            let error = Trace::read(text).expect_err("it is not ours").to_string();
            assert!(error.contains("wordline run --trace-out"), "{error}");
        }
    }
}
