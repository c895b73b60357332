//! Counters of a timeline: requests outstanding, requests inside the device, and reads that wait for a die, by priority.
//!
//! The first is counted as requests arrive and complete. The others are told by the stages of requests that have completed, so that they are known of every
//! request that completes in the run, also after the window, and of no other.

use std::io::{Result, Write};

use wordline_engine::Completion;
use wordline_units::{HostOp, Nanos, Priority};

use super::HOST;
use super::out::Out;

/// Counters over a window.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Requests that have arrived in the run and have not completed.
    outstanding: u64,
    /// As many before the window.
    before: u64,
    /// As many from each instant on.
    steps: Vec<(Nanos, u64)>,
    /// From when until when requests were inside the device.
    inside: Vec<(Nanos, Nanos)>,
    /// From when until when reads of each priority waited for a die.
    waiting: [Vec<(Nanos, Nanos)>; Priority::ALL.len()],
    /// Instant from which on there are too many steps.
    full: Option<Nanos>,
}

/// The part of a run that is counted, and the most steps of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) from: Nanos,
    pub(super) end: Nanos,
    pub(super) most: usize,
}

impl Counters {
    /// Forgets the steps, and not who is outstanding.
    pub(super) fn clear(&mut self) {
        *self = Counters { outstanding: self.outstanding, before: self.outstanding, ..Counters::default() };
    }

    /// A request has arrived at `at`.
    pub(super) fn arrived(&mut self, at: Nanos, part: Part) {
        self.outstanding += 1;
        self.step(at, part);
    }

    /// A request has completed at `at`.
    pub(super) fn completed(&mut self, at: Nanos, done: &Completion, part: Part) {
        self.outstanding = self.outstanding.saturating_sub(1);
        let end = self.full.map_or(part.end, |full| full.min(part.end));
        let note = |spans: &mut Vec<(Nanos, Nanos)>, from: Nanos, to: Nanos| {
            if from < end && to > part.from && to > from {
                spans.push((from.max(part.from), to));
            }
        };
        let stages = &done.stages;
        let fetched = done.arrived + stages.host_queue;
        note(&mut self.inside, fetched, at);
        if done.op == HostOp::Read {
            let heard = fetched + stages.core + stages.buffer;
            note(&mut self.waiting[done.attributes.priority as usize], heard, heard + stages.die_wait);
        }
        self.step(at, part);
    }

    fn step(&mut self, at: Nanos, part: Part) {
        if at < part.from {
            self.before = self.outstanding;
        } else if at < part.end && self.full.is_none() {
            // A request has two steps.
            let is_full = self.steps.len() >= part.most.saturating_mul(2);
            match self.steps.last_mut().filter(|last| last.0 == at) {
                Some(last) => last.1 = self.outstanding,
                None if is_full => self.full = Some(at),
                None => self.steps.push((at, self.outstanding)),
            }
        }
    }

    /// Writes the counters of `part`.
    pub(super) fn write(&self, out: &mut Out<'_, impl Write>, part: Part) -> Result<()> {
        let end = self.full.map_or(part.end, |full| full.min(part.end));
        if self.steps.is_empty() && self.inside.is_empty() {
            return Ok(());
        }
        let is_told = self.steps.first().is_some_and(|first| first.0 == part.from);
        let first = (!is_told).then_some((part.from, self.before));
        for (at, value) in first.into_iter().chain(self.steps.iter().copied()) {
            out.count(HOST, "requests outstanding", at, [("requests", value)].into_iter())?;
        }
        for (at, [value]) in levels([&self.inside], end) {
            out.count(HOST, "requests inside the device", at, [("requests", value)].into_iter())?;
        }
        let seen = Priority::ALL.map(|priority| !self.waiting[priority as usize].is_empty());
        for (at, values) in levels(self.waiting.each_ref(), end) {
            let named = Priority::ALL.iter().map(|priority| priority.name()).zip(values);
            out.count(HOST, "reads waiting for a die", at, named.zip(seen).filter(|(_, seen)| *seen).map(|(value, _)| value))?;
        }
        Ok(())
    }
}

/// How many of each kind of spans there are, from each instant before `end` at which that changes.
fn levels<const N: usize>(spans: [&Vec<(Nanos, Nanos)>; N], end: Nanos) -> Vec<(Nanos, [u64; N])> {
    let of = |(kind, spans): (usize, &Vec<(Nanos, Nanos)>)| {
        let ends: Vec<_> = spans.iter().flat_map(|&(from, to)| [(from, kind, true), (to, kind, false)]).collect();
        ends
    };
    let mut changes: Vec<(Nanos, usize, bool)> = spans.into_iter().enumerate().flat_map(of).filter(|change| change.0 < end).collect();
    changes.sort_unstable();
    let (mut now, mut levels) = ([0; N], Vec::<(Nanos, [u64; N])>::new());
    for (at, kind, begins) in changes {
        if begins {
            now[kind] += 1
        } else {
            now[kind] -= 1
        }
        match levels.last_mut().filter(|last| last.0 == at) {
            Some(last) => last.1 = now,
            None => levels.push((at, now)),
        }
    }
    levels.dedup_by(|next, before| next.1 == before.1);
    levels
}

#[cfg(test)]
mod tests {
    use wordline_engine::Stages;
    use wordline_units::{Attributes, RequestId};

    use super::*;

    const PART: Part = Part { from: Nanos(100), end: Nanos(200), most: 10 };

    fn read(arrived: u64, host_queue: u64, die_wait: u64, priority: Priority) -> Completion {
        let stages = Stages { host_queue: Nanos(host_queue), die_wait: Nanos(die_wait), die: Nanos(5), ..Stages::default() };
        Completion {
            request: RequestId(0),
            op: HostOp::Read,
            attributes: Attributes::of(priority),
            sectors: 8,
            sector: 0,
            arrived: Nanos(arrived),
            stages,
            core: Nanos::ZERO,
            dram: Nanos::ZERO,
            ok: true,
            for_failure: false,
            blank: 0,
            die: None,
            job: wordline_units::JobId(0),
        }
    }

    /// The counter called `name`, instant by instant.
    fn written(counters: &Counters, part: Part, name: &str) -> Vec<(f64, serde_json::Value)> {
        let mut bytes = Vec::new();
        let mut out = Out::begin(&mut bytes, Nanos::ZERO, serde_json::Map::new()).expect("memory takes everything");
        counters.write(&mut out, part).and_then(|()| out.end()).expect("memory takes everything");
        let json: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
        let events = json["traceEvents"].as_array().expect("a list").iter().filter(|event| event["name"] == name);
        events.map(|event| ((event["ts"].as_f64().expect("a time") * 1e3).round(), event["args"].clone())).collect()
    }

    #[test]
    fn who_is_outstanding_inside_and_waiting_is_counted_also_from_before_the_window_and_until_after_it() {
        let mut counters = Counters::default();
        // One is inside before the window begins; one waits in the host's queue until it is done, and completes after the window.
        counters.arrived(Nanos(50), PART);
        counters.arrived(Nanos(110), PART);
        counters.completed(Nanos(130), &read(50, 0, 75, Priority::Normal), PART);
        counters.completed(Nanos(250), &read(110, 20, 60, Priority::Urgent), PART);
        let counted = |name: &str| written(&counters, PART, name);
        let one = |count: u64| serde_json::json!({ "requests": count });
        assert_eq!(counted("requests outstanding"), [(100.0, one(1)), (110.0, one(2)), (130.0, one(1))]);
        assert_eq!(counted("requests inside the device"), [(100.0, one(1))], "one leaves as the other comes");
        let waiting = |urgent: u64, normal: u64| serde_json::json!({ "urgent": urgent, "normal": normal });
        let expected = [(100.0, waiting(0, 1)), (125.0, waiting(0, 0)), (130.0, waiting(1, 0)), (190.0, waiting(0, 0))];
        assert_eq!(counted("reads waiting for a die"), expected);
    }

    #[test]
    fn there_are_no_more_steps_than_were_allowed_and_none_is_wrong() {
        let mut counters = Counters::default();
        let part = Part { most: 3, ..PART };
        for n in 0..20 {
            counters.arrived(Nanos(100 + 2 * n), part);
            counters.completed(Nanos(101 + 2 * n), &read(100 + 2 * n, 0, 0, Priority::Normal), part);
        }
        assert_eq!(written(&counters, part, "requests outstanding").len(), 6);
        let inside = written(&counters, part, "requests inside the device");
        assert_eq!(inside.iter().map(|step| step.0).collect::<Vec<_>>(), [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]);
        counters.clear();
        assert!(written(&counters, part, "requests outstanding").is_empty());
    }
}
