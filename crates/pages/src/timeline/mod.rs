//! Timelines of a run: what each request, die and channel did in a window of it, in the JSON that Perfetto and Chrome's tracing draw.
//!
//! ```text
//!   process 1  host            a row for each place in the queue: requests, and below each its stages; counters of requests and of reads that wait
//!   process 2  dies            a row for each die: flash operations from order to report, stops and failures as marks; a second row where two overlap
//!   process 3  channels        a row for each channel: transfers
//!   process 4  firmware cores  work of cores, as many rows as are at work at once: no event says which core it was
//! ```
//!
//! Dies and channels are drawn at the instants of the run. The stages of a request are its time by place, in the usual order: of a stage that comes several
//! times, as DRAM does, the parts are drawn as one. Of a read that was tried again only the last transfer is drawn.

mod cores;
mod counters;
mod explain;
mod format;
mod out;
mod page;
mod rows;
mod stops;
mod trace;
mod waits;

use std::io::{Result, Write};

use wordline_engine::{Completion, Event, FailedPart, FlashEvent, Observer, StopKind};
use wordline_units::{Cause, DieId, FlashOp, HostOp, Nanos};

use cores::Work;
use counters::{Counters, Part};
pub use explain::{Explained, slowest_explained};
pub use format::{Checked, check};
use out::Out;
pub use page::page;
use rows::Rows;
use stops::Stoppable;
pub use trace::{Trace, TraceError};

/// The part of a run that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Beginning, counted from that of the measured part of the run.
    pub from: Nanos,
    /// Length; `None`: to the end of the run.
    pub length: Option<Nanos>,
    /// Most operations, requests and stops together; what comes after them is counted and left out.
    pub most: usize,
}

impl Default for Window {
    /// The first 200,000 of the measured part.
    fn default() -> Window {
        Window { from: Nanos::ZERO, length: None, most: 200_000 }
    }
}

/// What a timeline keeps.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Flash(Nanos, FlashEvent),
    Completed(Nanos, Completion),
    Stopped(Nanos, Stop),
    Harmed(Nanos, DieId, FailedPart),
}

/// A stop of a flash operation.
#[derive(Clone, Copy, Debug)]
struct Stop {
    die: DieId,
    how: StopKind,
    kind: FlashOp,
    cause: Cause,
    waited: Nanos,
}

/// A timeline of a run, or of nothing.
#[derive(Debug, Default)]
pub struct Timeline {
    window: Option<Window>,
    /// Beginning of the measured part.
    began: Nanos,
    seen: Vec<Seen>,
    left_out: u64,
    counters: Counters,
    about: Vec<(String, String)>,
}

impl Timeline {
    /// A timeline of `window`, or of nothing.
    pub fn new(window: Option<Window>) -> Timeline {
        Timeline { window, ..Timeline::default() }
    }

    /// Notes how the run came about, name by name.
    pub fn mark(&mut self, about: &[(String, String)]) {
        self.about = about.to_vec();
    }

    /// Begins the measured part of the run at `from`: what was before is forgotten.
    pub fn start_at(&mut self, from: Nanos) {
        self.began = from;
        self.seen.clear();
        self.counters.clear();
        self.left_out = 0;
    }

    /// Operations, requests and stops in the window that are not drawn because they are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Operations, requests and stops that are drawn.
    pub fn drawn(&self) -> usize {
        self.seen.len()
    }

    /// The part of the run that is counted.
    fn part(&self, window: Window) -> Part {
        let from = self.began + window.from;
        Part { from, end: window.length.map_or(Nanos::MAX, |length| from + length), most: window.most }
    }

    #[cold]
    fn watch(&mut self, at: Nanos, event: &Event) {
        let Some(window) = self.window else { return };
        let part = self.part(window);
        let (begins, seen) = match *event {
            Event::Flash(flash) => (flash.issued, Seen::Flash(at, flash)),
            Event::Completed(done) => {
                self.counters.completed(at, &done, part);
                (done.arrived, Seen::Completed(at, done))
            }
            Event::Stopped { die, how, kind, cause, waited } => (at, Seen::Stopped(at, Stop { die, how, kind, cause, waited })),
            Event::Harmed { die, part } => (at, Seen::Harmed(at, die, part)),
            Event::Arrived { .. } => return self.counters.arrived(at, part),
            Event::Invalidated { .. }
            | Event::Retired { .. }
            | Event::ProgrammedAgain { .. }
            | Event::Exposed { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::WornOut => return,
        };
        if begins < part.from || begins >= part.end {
            return;
        }
        if self.seen.len() < window.most { self.seen.push(seen) } else { self.left_out += 1 }
    }

    /// Writes the timeline as JSON.
    ///
    /// # Errors
    ///
    /// `to` cannot be written.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        let mut other: Vec<(String, String)> = self.about.clone();
        other.push((LEFT_OUT.to_owned(), self.left_out.to_string()));
        other.push(("stages".to_owned(), "of a request: time by place in the usual order, not instants".to_owned()));
        let other = other.into_iter().map(|(name, text)| (name, text.into())).collect();
        let mut out = Out::begin(to, self.began, other)?;
        for (process, name) in [(HOST, "host"), (DIES, "dies"), (CHANNELS, "channels"), (CORES, "firmware cores")] {
            out.name(process, None, name)?;
        }
        if let Some(window) = self.window {
            self.counters.write(&mut out, self.part(window))?;
        }
        self.write_requests(&mut out)?;
        self.write_dies(&mut out)?;
        self.write_channels(&mut out)?;
        self.write_cores(&mut out)?;
        out.end()
    }

    fn write_requests(&self, out: &mut Out<'_, impl Write>) -> Result<()> {
        let mut places: Vec<u32> = Vec::new();
        for seen in &self.seen {
            let Seen::Completed(at, done) = *seen else { continue };
            let place = done.request.0 + 1;
            if !places.contains(&place) {
                places.push(place);
            }
            let [host_queue, core, dram, buffer, die_wait, die, channel, ecc] = done.stages.values();
            let served = done.die.map_or(String::new(), |die| format!(",\"die\":{}", die.0));
            let args = format!(
                "\"sector\":{},\"sectors\":{},\"priority\":\"{}\",\"ok\":{},\"latency_ns\":{}{served}",
                done.sector,
                done.sectors,
                done.attributes.priority.name(),
                done.ok,
                (at - done.arrived).0
            );
            out.slice(HOST, place, done.op.name(), (done.arrived, at), &args)?;
            // A read's data go through DRAM last.
            let (first, last) = if done.op == HostOp::Read { (Nanos::ZERO, dram) } else { (dram, Nanos::ZERO) };
            let parts = [host_queue, core, first, buffer, die_wait, die, channel, ecc, last];
            let names = ["host queue", "core", "DRAM and link", "write buffer", "die wait", "die", "channel", "ECC", "DRAM and link"];
            let mut from = done.arrived;
            for (name, part) in names.into_iter().zip(parts).filter(|(_, part)| *part > Nanos::ZERO) {
                out.slice(HOST, place, name, (from, from + part), "")?;
                from += part;
            }
        }
        places.sort_unstable();
        places.into_iter().try_for_each(|place| out.name(HOST, Some(place), &format!("place {}", place - 1)))
    }

    fn write_dies(&self, out: &mut Out<'_, impl Write>) -> Result<()> {
        let mut flash: Vec<(Nanos, &FlashEvent)> =
            self.seen.iter().filter_map(|seen| if let Seen::Flash(at, event) = seen { Some((*at, event)) } else { None }).collect();
        // What contains another comes before it.
        flash.sort_by_key(|&(at, event)| (event.die, event.issued, std::cmp::Reverse(at)));
        let mut rows = Rows::nested(ROWS);
        let mut stoppable = Stoppable::default();
        for (at, event) in flash {
            let row = rows.place(event.die, event.issued, at);
            // A read does not count how often it gave way.
            if event.stops > 0 || event.op == FlashOp::Read {
                stoppable.note((event.die, event.op, event.cause), (event.issued, at), row);
            }
            let class = event.attributes.map_or(String::new(), |attributes| format!(",\"priority\":\"{}\"", attributes.priority.name()));
            let args = format!(
                "\"cause\":\"{}\",\"block\":{},\"page\":{},\"pages\":{},\"array_ns\":{},\"bus_ns\":{},\"retries\":{},\"errors\":{},\"stops\":{},\"stops_now\":{},\"ok\":{}{class}",
                event.cause.name(),
                event.block.0,
                event.page.0,
                event.pages,
                event.array.0,
                event.bus.0,
                event.retries,
                event.errors,
                event.stops,
                event.stops_now,
                event.ok
            );
            let name = format!("{} ({})", event.op.name(), event.cause.name());
            out.slice(DIES, tid(event.die, row), &name, (event.issued, at), &args)?;
        }
        for seen in &self.seen {
            let Seen::Stopped(at, Stop { die, how, kind, cause, waited }) = *seen else { continue };
            let row = stoppable.row((die, kind, cause), at, waited).unwrap_or(0);
            let how = match how {
                StopKind::Now => "now",
                StopKind::AtStep => "at step",
                StopKind::FixedTime => "fixed time",
            };
            let (kind, cause) = (kind.name(), cause.name());
            let args = format!("\"how\":\"{how}\",\"kind\":\"{kind}\",\"cause\":\"{cause}\",\"waited_ns\":{}", waited.0);
            out.mark(DIES, tid(die, row), &format!("stop, {how}: {kind} ({cause})"), at, &args)?;
            if rows.is_without(die) {
                rows.place(die, at, at);
            }
        }
        for seen in &self.seen {
            let Seen::Harmed(at, die, part) = *seen else { continue };
            out.mark(DIES, tid(die, 0), &part.to_string(), at, "")?;
            if rows.is_without(die) {
                rows.place(die, at, at);
            }
        }
        for (die, row) in rows.all() {
            let more = if row == 0 { String::new() } else { format!(", row {}", row + 1) };
            out.name(DIES, Some(tid(die, row)), &format!("die {}{more}", die.0))?;
        }
        Ok(())
    }

    fn write_channels(&self, out: &mut Out<'_, impl Write>) -> Result<()> {
        let mut channels: Vec<u32> = Vec::new();
        for seen in &self.seen {
            let Seen::Flash(_, event) = seen else { continue };
            if event.bus == Nanos::ZERO {
                continue;
            }
            let channel = u32::from(event.channel.0) + 1;
            if !channels.contains(&channel) {
                channels.push(channel);
            }
            // Each try of a read moves as much as the last.
            let transfers = if event.op == FlashOp::Read { u64::from(event.retries) + 1 } else { 1 };
            let args = format!("\"die\":{}", event.die.0);
            let from = event.bus_end.saturating_sub(Nanos(event.bus.0 / transfers));
            out.slice(CHANNELS, channel, event.op.name(), (from, event.bus_end), &args)?;
        }
        channels.sort_unstable();
        channels.into_iter().try_for_each(|channel| out.name(CHANNELS, Some(channel), &format!("channel {}", channel - 1)))
    }

    fn write_cores(&self, out: &mut Out<'_, impl Write>) -> Result<()> {
        let (mut requests, mut orders) = (Vec::new(), Vec::new());
        for seen in &self.seen {
            match seen {
                Seen::Flash(_, event) if event.core > Nanos::ZERO => {
                    let name = format!("order: {} ({})", event.op.name(), event.cause.name());
                    orders.push(Work { from: event.issued, end: event.issued + event.core, name });
                }
                Seen::Completed(_, done) if done.core > Nanos::ZERO && done.stages.core > Nanos::ZERO => {
                    let end = done.arrived + done.stages.host_queue + done.stages.core;
                    requests.push(Work { from: end - done.core.min(done.stages.core), end, name: format!("take in: {}", done.op.name()) });
                }
                Seen::Flash(..) | Seen::Completed(..) | Seen::Stopped(..) | Seen::Harmed(..) => {}
            }
        }
        for (row, work) in (1..).zip(cores::rows(requests, orders)) {
            work.into_iter().try_for_each(|Work { from, end, name }| out.slice(CORES, row, &name, (from, end), ""))?;
            out.name(CORES, Some(row), &format!("{row} at work"))?;
        }
        Ok(())
    }
}

impl Observer for Timeline {
    #[inline(always)]
    fn observe(&mut self, at: Nanos, event: &Event) {
        if self.window.is_some() {
            self.watch(at, event);
        }
    }
}

const HOST: u32 = 1;
const DIES: u32 = 2;
const CHANNELS: u32 = 3;
const CORES: u32 = 4;
/// The name of the number of operations and requests that are not drawn, by which a timeline is known again.
const LEFT_OUT: &str = "left out";
/// Rows that a die may have.
const ROWS: u32 = 8;

fn tid(die: DieId, row: u32) -> u32 {
    u32::from(die.0) * ROWS + row + 1
}

#[cfg(test)]
mod tests {
    use wordline_engine::Stages;
    use wordline_units::{Attributes, BlockId, ChannelId, JobId, PageId, Priority, RequestId};

    use super::*;

    pub(super) fn flash(die: u16, op: FlashOp, issued: u64, array: u64) -> FlashEvent {
        FlashEvent {
            die: DieId(die),
            channel: ChannelId(0),
            op,
            cause: Cause::Host,
            block: BlockId(7),
            page: PageId(3),
            pages: 1,
            host_units: 1,
            moved_units: 0,
            padding_units: 0,
            issued: Nanos(issued),
            array: Nanos(array),
            bus: Nanos(if op == FlashOp::Erase { 0 } else { 40 }),
            bus_end: Nanos(issued + array + 40),
            dram: Nanos::ZERO,
            link: Nanos::ZERO,
            core: Nanos::ZERO,
            ok: true,
            retries: 0,
            errors: 0,
            stops: 0,
            stops_now: 0,
            attributes: None,
        }
    }

    pub(super) fn read(request: u32, arrived: u64, die_wait: u64) -> Event {
        read_of(Priority::Normal, request, arrived, die_wait)
    }

    /// A read that takes 105 beside its wait.
    pub(super) fn read_of(priority: Priority, request: u32, arrived: u64, die_wait: u64) -> Event {
        let stages = Stages { core: Nanos(5), die_wait: Nanos(die_wait), die: Nanos(60), channel: Nanos(40), ..Stages::default() };
        Event::Completed(Completion {
            request: RequestId(request),
            op: HostOp::Read,
            attributes: Attributes::of(priority),
            sectors: 32,
            sector: 64,
            arrived: Nanos(arrived),
            stages,
            core: Nanos(5),
            dram: Nanos::ZERO,
            ok: true,
            for_failure: false,
            blank: 0,
            die: None,
            job: JobId(0),
        })
    }

    /// An erase of garbage collection on die 1, which is stopped for an urgent read.
    pub(super) fn stopped() -> Timeline {
        let mut timeline = Timeline::new(Some(Window::default()));
        let arrived = Event::Arrived { request: RequestId(0), op: HostOp::Read, attributes: Attributes::of(Priority::Urgent), sectors: 32 };
        timeline.observe(Nanos(2_000), &arrived);
        let stop = Event::Stopped { die: DieId(1), how: StopKind::AtStep, kind: FlashOp::Erase, cause: Cause::Gc, waited: Nanos(20) };
        timeline.observe(Nanos(2_025), &stop);
        timeline.observe(Nanos(2_130), &Event::Flash(FlashEvent { core: Nanos(3), ..flash(1, FlashOp::Read, 2_025, 60) }));
        timeline.observe(Nanos(2_130), &read_of(Priority::Urgent, 0, 2_000, 25));
        let erase = FlashEvent { cause: Cause::Gc, stops: 1, ..flash(1, FlashOp::Erase, 1_000, 3_500) };
        timeline.observe(Nanos(5_000), &Event::Flash(erase));
        timeline
    }

    #[test]
    fn a_die_that_fails_is_a_mark_on_its_row_and_no_stop() {
        let mut timeline = stopped();
        timeline.observe(Nanos(2_050), &Event::Harmed { die: DieId(1), part: FailedPart::Die { silent: true } });
        let text = text(&timeline);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let marks: Vec<&serde_json::Value> =
            json["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "i").collect();
        assert_eq!((marks.len(), &marks[1]["name"]), (2, &"the die fails and falls silent".into()), "{text}");
        let stops = |timeline: &str| super::trace::Trace::read(timeline).expect("a timeline").stops(1, 0, u64::MAX).len();
        assert_eq!((stops(&text), stops(&self::text(&stopped()))), (1, 1));
    }

    /// An erase of die 1, in which a read waits, after a warm-up that is forgotten.
    pub(super) fn waited() -> Timeline {
        let mut timeline = Timeline::new(Some(Window::default()));
        timeline.mark(&[("run".to_owned(), "a \"quoted\" name".to_owned())]);
        timeline.observe(Nanos(50), &Event::Flash(flash(0, FlashOp::Program, 10, 30)));
        timeline.start_at(Nanos(1_000));
        timeline.observe(Nanos(4_500), &Event::Flash(flash(1, FlashOp::Erase, 1_000, 3_500)));
        timeline.observe(Nanos(4_600), &Event::Flash(flash(1, FlashOp::Read, 4_500, 60)));
        timeline.observe(Nanos(4_600), &read(3, 2_000, 2_495));
        timeline
    }

    pub(super) fn text(timeline: &Timeline) -> String {
        let mut bytes = Vec::new();
        timeline.write(&mut bytes).expect("memory takes everything");
        String::from_utf8(bytes).expect("it is text")
    }

    #[test]
    fn what_was_seen_is_drawn_from_the_beginning_of_the_measured_part() {
        let timeline = waited();
        let json: serde_json::Value = serde_json::from_str(&text(&timeline)).expect("it is JSON");
        assert_eq!(json["otherData"]["run"], "a \"quoted\" name");
        let events = json["traceEvents"].as_array().expect("a list");
        let slices = |process: u32| {
            let of = events.iter().filter(move |event| event["ph"] == "X" && event["pid"] == process);
            of.map(|event| (event["name"].as_str().unwrap().to_owned(), event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap()))
                .collect::<Vec<_>>()
        };
        let named = |name: &str, ts, dur| (name.to_owned(), ts, dur);
        assert_eq!(slices(DIES), [named("erase (host)", 0.0, 3.5), named("read (host)", 3.5, 0.1)]);
        assert_eq!(slices(CHANNELS), [named("read", 3.56, 0.04)]);
        assert_eq!(slices(HOST)[..3], [named("read", 1.0, 2.6), named("core", 1.0, 0.005), named("die wait", 1.005, 2.495)]);
        // The stages fill the request.
        let (last, whole) = (slices(HOST).pop().unwrap(), &slices(HOST)[0]);
        assert!((last.1 + last.2 - whole.1 - whole.2).abs() < 1e-9);
    }

    #[test]
    fn a_stop_is_on_the_row_of_what_was_stopped_and_says_how() {
        let of = |timeline: &Timeline| {
            let json: serde_json::Value = serde_json::from_str(&text(timeline)).expect("it is JSON");
            let mark = json["traceEvents"].as_array().expect("a list").iter().find(|event| event["ph"] == "i").cloned().expect("a stop");
            (mark["tid"].clone(), mark["name"].clone(), mark["args"].clone())
        };
        let args = serde_json::json!({ "how": "at step", "kind": "erase", "cause": "gc", "waited_ns": 20 });
        assert_eq!(of(&stopped()), (9.into(), "stop, at step: erase (gc)".into(), args.clone()));
        // What overlaps the erase and began before it takes the first row, and the erase with its stop the second.
        let mut timeline = stopped();
        timeline.observe(Nanos(5_100), &Event::Flash(flash(1, FlashOp::Program, 900, 1_000)));
        assert_eq!(of(&timeline).0, 9, "the program lasts until after the erase: it lies inside");
        let mut timeline = stopped();
        timeline.observe(Nanos(5_100), &Event::Flash(flash(1, FlashOp::Program, 2_900, 1_000)));
        assert_eq!(of(&timeline).0, 9);
        let mut timeline = stopped();
        let early = flash(1, FlashOp::Program, 900, 1_000);
        timeline.seen.push(Seen::Flash(Nanos(1_940), early));
        assert_eq!(of(&timeline).0, 10, "the program ends in the middle of the erase");
        // A read that gives way: the one that begins as it stops is not it, and lies on another row.
        let mut timeline = Timeline::new(Some(Window::default()));
        let stop = Event::Stopped { die: DieId(1), how: StopKind::Now, kind: FlashOp::Read, cause: Cause::Host, waited: Nanos(5) };
        timeline.observe(Nanos(2_000), &stop);
        timeline.observe(Nanos(2_200), &Event::Flash(flash(1, FlashOp::Read, 1_900, 60)));
        timeline.observe(Nanos(2_300), &Event::Flash(flash(1, FlashOp::Read, 2_000, 60)));
        timeline.observe(Nanos(2_100), &Event::Flash(flash(1, FlashOp::Program, 1_800, 60)));
        assert_eq!((of(&timeline).0, of(&timeline).1), (10.into(), "stop, now: read (host)".into()));
    }

    #[test]
    fn work_of_cores_is_drawn_where_it_ends_for_requests_and_where_it_begins_for_orders() {
        let json: serde_json::Value = serde_json::from_str(&text(&stopped())).expect("it is JSON");
        let events = json["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "X" && event["pid"] == CORES);
        let work: Vec<_> = events.map(|event| (event["name"].as_str(), event["ts"].as_f64(), event["dur"].as_f64())).collect();
        assert_eq!(work, [(Some("take in: read"), Some(2.0), Some(0.005)), (Some("order: read (host)"), Some(2.025), Some(0.003))]);
    }

    #[test]
    fn a_window_has_a_beginning_an_end_and_a_most() {
        let drawn = |window: Window| {
            let mut timeline = Timeline::new(Some(window));
            (0..10).for_each(|n| timeline.observe(Nanos(n * 100 + 70), &Event::Flash(flash(0, FlashOp::Read, n * 100, 60))));
            (timeline.drawn(), timeline.left_out())
        };
        assert_eq!(drawn(Window::default()), (10, 0));
        assert_eq!(drawn(Window { from: Nanos(200), length: Some(Nanos(300)), ..Window::default() }), (3, 0), "at 200, 300 and 400");
        assert_eq!(drawn(Window { most: 4, ..Window::default() }), (4, 6));
        let mut none = Timeline::new(None);
        none.observe(Nanos(70), &Event::Flash(flash(0, FlashOp::Read, 0, 60)));
        assert_eq!((none.drawn(), none.left_out()), (0, 0));
    }
}
