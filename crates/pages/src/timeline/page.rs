//! The slowest requests of a timeline as one self-contained HTML page.

use std::collections::BTreeSet;
use std::fmt::Write;

use wordline_engine::Stages;
use wordline_units::FlashOp;

use super::explain::{explained, micros, note, title};
use super::trace::{OnDie, Trace};
use super::waits::waits;
use crate::html::gantt::{Bar, Gantt, Lane, Shade};
use crate::html::{document, escape};

/// Lanes that a die may have.
const LANES: usize = 6;
/// Stops of a die that may be drawn.
const MARKS: usize = 60;

/// The page of the `count` slowest requests, or of those of this operation only, of the timeline called `name`.
pub fn page(trace: &Trace, name: &str, count: usize, op: Option<&str>) -> String {
    let (slowest, of) = trace.slowest(count, op);
    let kind = op.unwrap_or("request");
    let subtitle = format!("The slowest {} of {of} {kind}{} in this timeline", slowest.len(), plural(kind, of));
    let mut sections = Vec::new();
    if let Some(note) = note(trace) {
        sections.push(("What is left out".to_owned(), "stack", vec![format!("<div class=\"told\">{}</div>", escape(&note))]));
    }
    let colours = colours(trace, &slowest);
    let charts = (1..).zip(slowest).map(|(place, number)| chart(trace, place, number, &colours).html()).collect();
    sections.push(("Where the time went".to_owned(), "stack", charts));
    if op.is_none_or(|op| op == "read") {
        let title = "Who waited for whom: time that reads waited for a die, by what the die was doing";
        sections.push((title.to_owned(), "stack", vec![waits(trace).html()]));
    }
    let mut about = String::new();
    trace.about().for_each(|(name, text)| _ = write!(about, "<tr><td>{}</td><td><code>{}</code></td></tr>", escape(name), escape(text)));
    let about = format!("<details><summary>About the run</summary><table>{about}</table></details>");
    sections.push(("The run".to_owned(), "stack", vec![about]));
    document(&format!("Slow requests of {name}"), &subtitle, &sections)
}

/// The operations that are seen in the charts of these requests, in the order of their colours.
fn colours<'a>(trace: &'a Trace, requests: &[usize]) -> Vec<&'a str> {
    let seen = requests.iter().flat_map(|&number| {
        let (from, end) = drawn(trace, number);
        trace.reader(number).map_or(Vec::new(), |reader| trace.on_die(reader.die, from, end))
    });
    let seen: BTreeSet<&str> = seen.map(|(op, _)| op.name.as_str()).collect();
    let order = |name: &&str| (FlashOp::ALL.iter().position(|op| name.starts_with(op.name())), !name.ends_with("(host)"));
    let mut names: Vec<&str> = seen.into_iter().collect();
    names.sort_by_key(order);
    names
}

/// The chart of the request of this number, the slowest of all but `place - 1`.
fn chart(trace: &Trace, place: usize, number: usize, colours: &[&str]) -> Gantt {
    let request = &trace.requests()[number];
    let mut lanes = vec![Lane { name: "the request, stage by stage".to_owned(), bars: stages(trace, number), marks: Vec::new() }];
    let (from, end) = drawn(trace, number);
    let mut note = match trace.reader(number) {
        Some(reader) => {
            lanes.extend(die(trace, number, reader, colours));
            format!("below it, what die {} did in that time", reader.die)
        }
        None if request.op == "read" && request.stage("die") > 0 => "which die read it is not clear from the timeline".to_owned(),
        None => "no event says which die it waited for".to_owned(),
    };
    if from > request.from {
        let _ = write!(note, "; its {} in the host's queue are not drawn", micros(from - request.from));
    }
    Gantt {
        title: format!("{place}. {}: {}", title(request), micros(request.latency())),
        note,
        length: (end - from) as f64 / 1e3,
        lanes,
        words: explained(trace, number),
    }
}

/// From when until when a request is drawn. A long wait in the host's queue would leave no room for what comes after it.
fn drawn(trace: &Trace, number: usize) -> (u64, u64) {
    let request = &trace.requests()[number];
    let queued = request.stage("host queue");
    let is_cut = queued < request.latency() && 2 * queued > request.latency();
    (request.from + if is_cut { queued } else { 0 }, request.end)
}

fn stages(trace: &Trace, number: usize) -> Vec<Bar> {
    let request = &trace.requests()[number];
    let (drawn, _) = drawn(trace, number);
    let mut from = request.from;
    let bar = |(name, length): &(String, u64)| {
        let start = from;
        from += length;
        let stage = Stages::NAMES.iter().position(|known| known == name)?;
        let tip = format!("{name}: {:.1} % of the request", 100.0 * *length as f64 / request.latency() as f64);
        let since = |at: u64| (at - drawn) as f64 / 1e3;
        (start >= drawn).then(|| Bar { shade: Shade::Stage(stage), from: since(start), end: since(from), word: name.clone(), tip })
    };
    request.stages.iter().filter_map(bar).collect()
}

/// What the die of `reader` did during the request of this number, in as many lanes as overlap.
fn die(trace: &Trace, number: usize, reader: &OnDie, colours: &[&str]) -> Vec<Lane> {
    let (from, end) = drawn(trace, number);
    let since = |at: u64| (at.clamp(from, end) - from) as f64 / 1e3;
    let mut lanes: Vec<(u64, Lane)> = Vec::new();
    for (op, urgency) in trace.on_die(reader.die, from, end) {
        let colour = colours.iter().position(|name| *name == op.name).unwrap_or(colours.len());
        let shade = Shade::Op(colour, op.name.clone());
        let priority = urgency.and_then(|urgency| super::trace::priorities().nth(urgency));
        let priority = priority.map(|name| format!(", priority {name}")).unwrap_or_default();
        let stops = if op.stops > 0 { format!(", {} stop{}", op.stops, if op.stops > 1 { "s" } else { "" }) } else { String::new() };
        let word = if std::ptr::eq(op, reader) { "this read".to_owned() } else { op.name.clone() };
        let tip = format!("{word}{priority}{stops}, from order to report {}", micros(op.end - op.from));
        let bar = Bar { shade, from: since(op.from), end: since(op.end), word, tip };
        let free = lanes.iter().position(|(end, _)| *end <= op.from);
        let lane = free.unwrap_or_else(|| {
            if lanes.len() < LANES {
                let more = if lanes.is_empty() { String::new() } else { ", at the same time".to_owned() };
                lanes.push((0, Lane { name: format!("die {}{more}", reader.die), bars: Vec::new(), marks: Vec::new() }));
            }
            lanes.len() - 1
        });
        lanes[lane].0 = lanes[lane].0.max(op.end);
        lanes[lane].1.bars.push(bar);
    }
    if let Some((_, first)) = lanes.first_mut() {
        let stops = trace.stops(reader.die, from, end);
        if stops.len() <= MARKS {
            first.marks = stops.iter().map(|stop| (since(stop.at), format!("{}\nafter {}", stop.name, micros(stop.waited)))).collect();
        } else {
            let _ = write!(first.name, ", {} stops", stops.len());
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

fn plural(kind: &str, count: usize) -> &'static str {
    match (kind, count) {
        (_, 1) => "",
        ("flush", _) => "es",
        _ => "s",
    }
}

#[cfg(test)]
mod tests {
    use wordline_engine::{Event, Observer};
    use wordline_units::{Nanos, Priority};

    use super::super::tests::{flash, read_of, stopped, text};
    use super::super::{Timeline, Window};
    use super::*;

    #[test]
    fn a_long_wait_in_the_queue_of_the_host_is_said_and_not_drawn() {
        let queued = |length: u64| {
            let mut timeline = Timeline::new(Some(Window::default()));
            let Event::Completed(mut done) = read_of(Priority::High, 0, 1_000, 95) else { unreachable!("it is a completion") };
            done.stages.host_queue = Nanos(length);
            timeline.observe(Nanos(1_200 + length), &Event::Flash(flash(2, FlashOp::Read, 1_100 + length, 60)));
            timeline.observe(Nanos(1_200 + length), &Event::Completed(done));
            let trace = Trace::read(&text(&timeline)).expect("it is ours");
            let chart = chart(&trace, 1, 0, &[]);
            let ends: Vec<f64> = chart.lanes.iter().filter_map(|lane| lane.bars.last().map(|bar| bar.end)).collect();
            assert_eq!(ends, [chart.length; 2]);
            (chart.lanes[0].bars.len(), chart.length, chart.note.contains("0.3 us in the host's queue are not drawn"))
        };
        assert_eq!(queued(100), (5, 0.3, false));
        assert_eq!(queued(300), (4, 0.2, true));
    }

    #[test]
    fn a_page_shows_the_slowest_and_what_their_die_did_and_loads_nothing() {
        let trace = Trace::read(&text(&stopped())).expect("it is ours");
        let chart = chart(&trace, 1, 0, &colours(&trace, &[0]));
        let lanes: Vec<_> = chart.lanes.iter().map(|lane| (lane.name.as_str(), lane.bars.len(), lane.marks.len())).collect();
        assert_eq!(lanes, [("the request, stage by stage", 4, 0), ("die 1", 1, 1), ("die 1, at the same time", 1, 0)]);
        assert_eq!(colours(&trace, &[0]), ["read (host)", "erase (gc)"]);
        // The stages fill the chart.
        assert_eq!(chart.lanes[0].bars.last().map(|bar| bar.end), Some(chart.length));
        assert!(chart.lanes[0].bars.windows(2).all(|pair| pair[0].end == pair[1].from));
        let html = page(&trace, "a <timeline>.json", 10, None);
        assert!(html.contains(crate::html::GENERATOR) && html.contains("Slow requests of a &lt;timeline&gt;.json"));
        assert!(html.contains("The slowest 1 of 1 request in this timeline"));
        assert!(html.contains("Who waited for whom") && html.contains("erase (gc)") && html.contains("stop, at step: erase (gc)"));
        for loaded in ["src=", "href=", "http:", "https:", "@import", "url("] {
            assert!(!html.contains(loaded), "{loaded}");
        }
        assert!(page(&trace, "t.json", 10, Some("flush")).contains("The slowest 0 of 0 flushes"));
    }
}
