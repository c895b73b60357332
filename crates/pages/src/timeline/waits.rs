//! Who waited for whom: time that reads waited for a die, by what the die was doing.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::trace::{OnDie, Request, Trace, priorities};
use crate::html::escape;
use crate::number::{count, number};

/// What a die was doing while a read waited for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doing {
    /// An operation, by kind and cause; of a host's read, the priority of that against the one that waits.
    Op(String, Against),
    /// What came after the read's own order: a core was busy, the read was being stopped, or what was ordered before it went on while it had given way.
    Itself,
    /// Nothing that the timeline holds.
    Nothing,
    /// Which die it was is not clear.
    Unclear,
}

/// The priority of the request that a die was reading for, against the one that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Against {
    /// No read of the host.
    Other,
    Higher,
    Same,
    Lower,
    /// A read whose event has no class, and that is not the last read of a request in the timeline.
    Unknown,
}

impl Doing {
    /// The words for it.
    pub(super) fn name(&self) -> String {
        match self {
            Doing::Op(name, Against::Other) => name.clone(),
            Doing::Op(name, Against::Higher) => format!("{name}, higher priority"),
            Doing::Op(name, Against::Same) => format!("{name}, same priority"),
            Doing::Op(name, Against::Lower) => format!("{name}, lower priority"),
            Doing::Op(name, Against::Unknown) => format!("{name}, priority not known"),
            Doing::Itself => "after its order: core, stops, resumed work".to_owned(),
            Doing::Nothing => "nothing in the timeline".to_owned(),
            Doing::Unclear => "die not clear".to_owned(),
        }
    }
}

/// What the die of the read of this number did while the read waited for it, and for how many nanoseconds each. All of them together are the time that it
/// waited. At each instant a die does what was ordered last: what is stopped for a read is not what it does.
pub(super) fn waited_for(trace: &Trace, request: usize) -> BTreeMap<Doing, u64> {
    let waiting = &trace.requests()[request];
    let (from, end) = waiting.die_wait();
    let mut doing = BTreeMap::new();
    let mut add = |what: Doing, length: u64| {
        if length > 0 {
            *doing.entry(what).or_insert(0) += length;
        }
    };
    let Some(reader) = trace.reader(request) else {
        add(Doing::Unclear, end - from);
        return doing;
    };
    let others = trace.on_die(reader.die, from, reader.end).into_iter().filter(|(op, _)| !std::ptr::eq(*op, reader));
    let others: Vec<(&OnDie, Doing)> =
        others.map(|(op, urgency)| (op, Doing::Op(op.name.clone(), against(waiting, &op.name, urgency)))).collect();
    // It waited until it was ordered.
    for (what, length) in done(&others, from, reader.from) {
        add(what.unwrap_or(Doing::Nothing), length);
    }
    // What is left of its wait came after that: a core was busy, or it gave way to what was ordered later.
    let mut left = end - reader.from;
    if trace.gave_way(reader) {
        let later: Vec<(&OnDie, Doing)> = others.into_iter().filter(|(op, _)| op.from > reader.from).collect();
        let again = reader.end - (waiting.stage("channel") + waiting.stage("ECC")).min(reader.end - reader.from);
        for (what, length) in done(&later, reader.from, again) {
            if let Some(what) = what {
                let length = length.min(left);
                left -= length;
                add(what, length);
            }
        }
    }
    add(Doing::Itself, left);
    doing
}

/// The table of all reads.
pub(super) fn waits(trace: &Trace) -> Waits {
    let mut waits = Waits::default();
    for (number, request) in trace.requests().iter().enumerate().filter(|(_, request)| request.op == "read") {
        let Some(urgency) = request.urgency() else { continue };
        waits.reads[urgency] += 1;
        waits.total[urgency] += request.stage("die wait");
        for (what, length) in waited_for(trace, number) {
            waits.rows.entry(what).or_default()[urgency] += length;
        }
    }
    waits
}

/// What was ordered last of `ops`, which come as they were ordered, part by part from `from` to `end`, and how long each part is.
fn done(ops: &[(&OnDie, Doing)], from: u64, end: u64) -> Vec<(Option<Doing>, u64)> {
    let mut bounds: Vec<u64> = ops.iter().flat_map(|(op, _)| [op.from, op.end]).filter(|&at| at > from && at < end).collect();
    bounds.extend([from, end]);
    bounds.sort_unstable();
    let part = |part: &[u64]| {
        let last = ops.iter().rev().find(|(op, _)| op.from <= part[0] && op.end >= part[1]);
        (last.map(|(_, doing)| doing.clone()), part[1] - part[0])
    };
    bounds.windows(2).map(part).filter(|(_, length)| *length > 0).collect()
}

fn against(waiting: &Request, name: &str, urgency: Option<usize>) -> Against {
    if name != "read (host)" {
        return Against::Other;
    }
    match (urgency, waiting.urgency()) {
        (Some(other), Some(own)) if other < own => Against::Higher,
        (Some(other), Some(own)) if other == own => Against::Same,
        (Some(_), Some(_)) => Against::Lower,
        _ => Against::Unknown,
    }
}

const CLASSES: usize = wordline_units::Priority::ALL.len();

/// What is said below the table.
const NOTES: &str = "For each read, the wait for the last of its flash reads. At each instant a die does what was ordered last, and what is stopped for a \
                     read is not what it does. An operation that began before the window, or had not ended when the run or the timeline did, is \
                     \"nothing in the timeline\"; so is a die that was free. The priority of another read is known where it waited in the queue of its \
                     die, or was the last flash read of a request in the timeline.";

/// Time that reads waited for a die, in nanoseconds, by their priority and by what the die was doing.
#[derive(Debug, Default)]
pub(super) struct Waits {
    reads: [u64; CLASSES],
    total: [u64; CLASSES],
    rows: BTreeMap<Doing, [u64; CLASSES]>,
}

impl Waits {
    /// The rows, the longest first.
    fn longest(&self) -> Vec<(String, &[u64; CLASSES])> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(_, times)| std::cmp::Reverse(times.iter().sum::<u64>()));
        rows.into_iter().map(|(doing, times)| (doing.name(), times)).collect()
    }

    /// The classes that have reads.
    fn classes(&self) -> Vec<(usize, &'static str)> {
        priorities().enumerate().filter(|(class, _)| self.reads[*class] > 0).collect()
    }

    /// Share of a class's whole wait, in percent.
    fn share(&self, class: usize, time: u64) -> f64 {
        100.0 * time as f64 / self.total[class].max(1) as f64
    }

    /// The table as text; nothing where no read waited.
    pub(super) fn text(&self) -> String {
        let classes = self.classes();
        if self.rows.is_empty() {
            return String::new();
        }
        let mut text = "who waited for whom: time that reads waited for a die, by what the die was doing\n".to_owned();
        let mut line = |name: &str, cell: &dyn Fn(usize, &'static str) -> String| {
            let _ = write!(text, "   {name:42}");
            classes.iter().for_each(|&(class, name)| _ = write!(text, "{:>24}", cell(class, name)));
            text.push('\n');
        };
        line("priority of the reads", &|_, name| name.to_owned());
        line("reads", &|class, _| count(self.reads[class]));
        line("waited for a die, all together", &|class, _| format!("{} us        ", number(self.total[class] as f64 / 1e3)));
        for (name, times) in self.longest() {
            line(&name, &|class, _| format!("{} us {:>5.1} %", number(times[class] as f64 / 1e3), self.share(class, times[class])));
        }
        let mut width = 0;
        text.push_str("   ");
        for word in NOTES.split(' ') {
            width += word.chars().count() + 1;
            if width > 110 {
                text.push_str("\n   ");
                width = word.chars().count() + 1;
            }
            let _ = write!(text, "{word} ");
        }
        text.push('\n');
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// The table as HTML; nothing where no read waited.
    pub(super) fn html(&self) -> String {
        let classes = self.classes();
        if self.rows.is_empty() {
            return String::new();
        }
        let mut html = "<div class=\"tablebox\"><table><thead><tr><th>priority of the reads</th>".to_owned();
        classes.iter().for_each(|(_, name)| _ = write!(html, "<th>{name}</th>"));
        html.push_str("</tr></thead><tbody>");
        let mut line = |name: &str, cell: &dyn Fn(usize) -> String| {
            let _ = write!(html, "<tr><td>{}</td>", escape(name));
            classes.iter().for_each(|&(class, _)| _ = write!(html, "<td>{}</td>", cell(class)));
            html.push_str("</tr>");
        };
        line("reads", &|class| count(self.reads[class]));
        line("waited for a die, all together", &|class| format!("{} µs", number(self.total[class] as f64 / 1e3)));
        for (name, times) in self.longest() {
            let cell =
                |class: usize| format!("{} µs <small>{:.1} %</small>", number(times[class] as f64 / 1e3), self.share(class, times[class]));
            line(&name, &cell);
        }
        let _ = write!(html, "</tbody></table><p class=\"note\">{}</p></div>", escape(NOTES));
        html
    }
}

#[cfg(test)]
mod tests {
    use wordline_engine::Observer;
    use wordline_engine::StopKind;
    use wordline_units::{Cause, DieId, FlashOp, Nanos, Priority};

    use super::super::tests::{flash, read_of, text, waited};
    use super::super::{Event, Timeline, Window};
    use super::*;

    fn op(name: &str) -> Doing {
        Doing::Op(name.to_owned(), Against::Other)
    }

    #[test]
    fn a_wait_over_several_operations_is_shared_out_by_time_and_nothing_of_it_is_lost() {
        let mut timeline = Timeline::new(Some(Window::default()));
        // A program, stopped for an urgent read; then a low read after it waits for the rest of the program, and for itself.
        timeline.observe(Nanos(1_100), &Event::Flash(flash(0, FlashOp::Read, 1_000, 60)));
        timeline.observe(Nanos(1_100), &read_of(Priority::Urgent, 1, 900, 95));
        timeline.observe(Nanos(2_000), &Event::Flash(flash(0, FlashOp::Program, 600, 1_360)));
        timeline.observe(Nanos(2_110), &Event::Flash(flash(0, FlashOp::Read, 2_000, 60)));
        timeline.observe(Nanos(2_110), &read_of(Priority::Low, 2, 495, 1_510));
        let trace = Trace::read(&text(&timeline)).expect("it is ours");
        assert_eq!(waited_for(&trace, 0), BTreeMap::from([(op("program (host)"), 95)]));
        let urgent = Doing::Op("read (host)".to_owned(), Against::Higher);
        // 500 to 600 nothing, to 1,000 program, to 1,100 the urgent read, to 2,000 program, to 2,010 its own order.
        let expected = [(op("program (host)"), 1_300), (urgent, 100), (Doing::Itself, 10), (Doing::Nothing, 100)];
        assert_eq!(waited_for(&trace, 1), BTreeMap::from(expected));
        let waits = waits(&trace);
        assert_eq!((waits.reads, waits.total), ([1, 0, 0, 1], [95, 0, 0, 1_510]));
        for class in 0..CLASSES {
            assert_eq!(waits.rows.values().map(|times| times[class]).sum::<u64>(), waits.total[class]);
        }
        let told = waits.text();
        let line = told.lines().find(|line| line.contains("higher priority")).expect("a row");
        assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), "read (host), higher priority 0 us 0.0 % 0.1 us 6.6 %");
        assert!(waits.html().contains("<td>read (host), higher priority</td><td>0 µs <small>0.0 %</small></td><td>0.1 µs"));
    }

    #[test]
    fn a_read_that_gave_way_waited_for_what_it_gave_way_to() {
        let mut timeline = Timeline::new(Some(Window::default()));
        // Ordered at 1,000, stopped at 1,030, ordered again at 1,135 after an urgent read.
        let stop = Event::Stopped { die: DieId(0), how: StopKind::Now, kind: FlashOp::Read, cause: Cause::Host, waited: Nanos(5) };
        timeline.observe(Nanos(1_030), &stop);
        timeline.observe(Nanos(1_130), &Event::Flash(flash(0, FlashOp::Read, 1_030, 60)));
        timeline.observe(Nanos(1_130), &read_of(Priority::Urgent, 1, 1_010, 15));
        timeline.observe(Nanos(1_235), &Event::Flash(flash(0, FlashOp::Read, 1_000, 60)));
        timeline.observe(Nanos(1_235), &read_of(Priority::Low, 2, 995, 135));
        let trace = Trace::read(&text(&timeline)).expect("it is ours");
        let urgent = Doing::Op("read (host)".to_owned(), Against::Higher);
        assert_eq!(waited_for(&trace, 1), BTreeMap::from([(urgent, 100), (Doing::Itself, 35)]));
        let lower = Doing::Op("read (host)".to_owned(), Against::Lower);
        assert_eq!(waited_for(&trace, 0), BTreeMap::from([(lower, 15)]));
    }

    #[test]
    fn where_it_is_not_clear_which_die_it_was_that_is_said() {
        let written = text(&waited()).replace("\"array_ns\":60", "\"array_ns\":61");
        let table = waits(&Trace::read(&written).expect("it is ours"));
        assert_eq!(table.rows, BTreeMap::from([(Doing::Unclear, [0, 0, 2_495, 0])]));
        assert!(table.text().contains("die not clear") && table.text().contains("100.0 %"));
        assert_eq!(waits(&Trace::read(&text(&Timeline::default())).expect("it is ours")).text(), "");
    }
}
