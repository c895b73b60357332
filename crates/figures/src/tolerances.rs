//! Reads of the host by the latency that it tolerates for their data, and those that took longer in the device.
//!
//! ```text
//!   hint, or write with a class ──► class of units, as the firmware keeps it ─┐
//!   read ──► strictest class of its units ◄────────────────────────────────────┘ ──► time in the device over the limit of the class?
//! ```
//!
//! Classes begin with the first hint of a run: hints of an earlier run of a saved drive are not in its events.

use std::collections::BTreeMap;
use std::ops::Range;

use wordline_engine::Completion;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, HostOp, Nanos, Tolerance};

/// Classes with a limit, strictest first: all but [`Tolerance::Default`].
pub const CLASSES: [Tolerance; 3] = [Tolerance::Shortest, Tolerance::Typical, Tolerance::Longer];

/// Times that reads may take in the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Technique that acts on hints about reads.
    pub technique: &'static str,
    /// Time of each of [`CLASSES`].
    pub times: [Nanos; CLASSES.len()],
    /// True if the drive acts on hints.
    pub in_effect: bool,
}

/// Reads of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassReads {
    /// True if a hint has declared the class.
    pub is_declared: bool,
    /// Reads completed without a failure.
    pub reads: u64,
    /// Reads of them that took longer in the device than the limit of the class.
    pub over: u64,
    /// Longest time in the device.
    pub longest: Nanos,
}

/// Reads by class: those of [`CLASSES`], then those of data without one.
pub type ByClass = [ClassReads; CLASSES.len() + 1];

/// Place of a class in [`ByClass`].
const fn place(class: Tolerance) -> usize {
    match class {
        Tolerance::Shortest => 0,
        Tolerance::Typical => 1,
        Tolerance::Longer => 2,
        Tolerance::Default => CLASSES.len(),
    }
}

/// Place of a class among all, the strictest first: data without one tolerates nothing.
const fn rank(class: Tolerance) -> u8 {
    match class {
        Tolerance::Default => 0,
        Tolerance::Shortest => 1,
        Tolerance::Typical => 2,
        Tolerance::Longer => 3,
    }
}

/// Classes of all mapping units since the first hint, and the reads of each class.
#[derive(Clone, Debug)]
pub(crate) struct HintedReads {
    limits: ReadLimits,
    unit: u64,
    /// Class of all units from a key to the next key.
    from: BTreeMap<u64, Tolerance>,
    reads: ByClass,
}

impl HintedReads {
    /// No hint yet, on a drive that is mapped in units of `unit`.
    pub(crate) fn new(limits: ReadLimits, unit: Bytes) -> HintedReads {
        HintedReads { limits, unit: unit.0 / SECTOR_BYTES, from: BTreeMap::new(), reads: ByClass::default() }
    }

    /// Forget the reads, and keep the classes.
    pub(crate) fn reset(&mut self) {
        self.reads.iter_mut().for_each(|class| *class = ClassReads { is_declared: class.is_declared, ..ClassReads::default() });
    }

    /// Learn of a request that is done: a hint or a write with a class changes classes, and a read counts.
    pub(crate) fn completed(&mut self, done: &Completion) {
        match done.op {
            HostOp::Hint => self.declare(done),
            HostOp::Write if done.attributes.tolerance != Tolerance::Default => self.declare(done),
            HostOp::Read if done.ok => self.read(done),
            HostOp::Read | HostOp::Write | HostOp::Trim | HostOp::Flush => {}
        }
    }

    /// Reads by class, of `reads` that were completed without a failure.
    pub(crate) fn finish(&self, reads: u64) -> ByClass {
        let mut by_class = self.reads;
        // Those before the first hint were of no class.
        let with_class: u64 = by_class[..CLASSES.len()].iter().map(|class| class.reads).sum();
        by_class[CLASSES.len()].reads = reads.saturating_sub(with_class);
        by_class
    }

    fn read(&mut self, done: &Completion) {
        let units = done.sector / self.unit..(done.sector + u64::from(done.sectors)).div_ceil(self.unit);
        let class = self.strictest(units);
        let (device, of) = (done.stages.device(), &mut self.reads[place(class)]);
        of.reads += 1;
        of.longest = of.longest.max(device);
        of.over += u64::from(self.limits.times.get(place(class)).is_some_and(|limit| device > *limit));
    }

    /// Strictest class of these units.
    fn strictest(&self, units: Range<u64>) -> Tolerance {
        let begin = self.from.range(..=units.start).next_back().map_or(Tolerance::Default, |(_, class)| *class);
        let inside = self.from.range(units.start + 1..units.end.max(units.start + 1)).map(|(_, class)| *class);
        inside.fold(begin, |strictest, class| if rank(class) < rank(strictest) { class } else { strictest })
    }

    /// The class of `done` for its units. A unit that it covers in part becomes stricter by it, and never more tolerant.
    fn declare(&mut self, done: &Completion) {
        let (class, unit) = (done.attributes.tolerance, self.unit);
        self.reads[place(class)].is_declared = true;
        let (begin, end) = (done.sector, done.sector + u64::from(done.sectors));
        let (first, last) = (begin.div_ceil(unit), end / unit);
        if first < last {
            self.set(first..last, class);
        }
        let [head, tail] = [begin / unit, (end / unit).max(begin / unit)];
        for part in
            [(head, !begin.is_multiple_of(unit)), (tail, !end.is_multiple_of(unit))].into_iter().filter(|part| part.1).map(|part| part.0)
        {
            if rank(class) < rank(self.strictest(part..part + 1)) {
                self.set(part..part + 1, class);
            }
        }
    }

    fn set(&mut self, units: Range<u64>, class: Tolerance) {
        let behind = self.strictest(units.end..units.end + 1);
        let before = units.start.checked_sub(1).map_or(Tolerance::Default, |unit| self.strictest(unit..unit + 1));
        let inside: Vec<u64> = self.from.range(units.clone()).map(|(unit, _)| *unit).collect();
        inside.into_iter().for_each(|unit| _ = self.from.remove(&unit));
        // A run that goes on needs no second key.
        if before != class {
            self.from.insert(units.start, class);
        }
        if behind == class {
            self.from.remove(&units.end);
        } else {
            self.from.insert(units.end, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use wordline_engine::Stages;
    use wordline_units::random::{Draw, Stream};
    use wordline_units::{Attributes, JobId, RequestId};

    use super::*;

    const LIMITS: ReadLimits = ReadLimits { technique: "hints", times: [Nanos(100), Nanos(200), Nanos(300)], in_effect: true };
    /// Sectors of a unit.
    const UNIT: u64 = 8;

    fn done(op: HostOp, sector: u64, sectors: u32, tolerance: Tolerance, die: u64) -> Completion {
        // Waits are none of the device's time.
        let stages = Stages { die: Nanos(die), die_wait: Nanos(10_000), host_queue: Nanos(10_000), ..Stages::default() };
        Completion {
            request: RequestId(0),
            op,
            attributes: Attributes::NONE.with_tolerance(tolerance),
            sectors,
            sector,
            arrived: Nanos::ZERO,
            stages,
            core: Nanos::ZERO,
            dram: Nanos::ZERO,
            ok: true,
            for_failure: false,
            blank: 0,
            die: None,
            job: JobId(0),
        }
    }

    fn hinted() -> HintedReads {
        HintedReads::new(LIMITS, Bytes(UNIT * SECTOR_BYTES))
    }

    #[test]
    fn a_read_counts_in_the_class_of_its_data_and_is_over_beyond_its_limit_alone() {
        let mut reads = hinted();
        reads.completed(&done(HostOp::Hint, 0, 80, Tolerance::Longer, 0));
        reads.completed(&done(HostOp::Write, 160, 8, Tolerance::Shortest, 0));
        reads.completed(&done(HostOp::Write, 0, 8, Tolerance::Default, 0));
        for (sector, die) in [(0, 300), (8, 301), (160, 100), (160, 101), (400, 9_000)] {
            reads.completed(&done(HostOp::Read, sector, 8, Tolerance::Default, die));
        }
        // One that failed, and others that read nothing.
        reads.completed(&Completion { ok: false, ..done(HostOp::Read, 0, 8, Tolerance::Default, 9_000) });
        reads.completed(&done(HostOp::Flush, 0, 0, Tolerance::Default, 9_000));
        let [shortest, typical, longer, none] = reads.finish(7);
        assert_eq!(shortest, ClassReads { is_declared: true, reads: 2, over: 1, longest: Nanos(101) });
        assert_eq!(longer, ClassReads { is_declared: true, reads: 2, over: 1, longest: Nanos(301) });
        assert_eq!(typical, ClassReads::default());
        assert_eq!(none, ClassReads { is_declared: false, reads: 3, over: 0, longest: Nanos(9_000) }, "two came before the first hint");
        reads.reset();
        reads.completed(&done(HostOp::Read, 8, 8, Tolerance::Default, 301));
        assert_eq!(reads.finish(1)[2], ClassReads { is_declared: true, reads: 1, over: 1, longest: Nanos(301) }, "classes stay");
    }

    #[test]
    fn the_strictest_class_of_a_read_counts_and_data_without_one_is_strictest() {
        let mut reads = hinted();
        reads.completed(&done(HostOp::Hint, 0, 80, Tolerance::Longer, 0));
        reads.completed(&done(HostOp::Hint, 80, 80, Tolerance::Typical, 0));
        let class = |reads: &HintedReads, units: Range<u64>| reads.strictest(units);
        assert_eq!(class(&reads, 9..11), Tolerance::Typical);
        assert_eq!(class(&reads, 0..10), Tolerance::Longer);
        assert_eq!(class(&reads, 19..21), Tolerance::Default);
        reads.completed(&done(HostOp::Hint, 4, 8, Tolerance::Default, 0));
        assert_eq!([0, 1, 2].map(|unit| class(&reads, unit..unit + 1)), [Tolerance::Default, Tolerance::Default, Tolerance::Longer]);
        reads.completed(&done(HostOp::Hint, 17, 2, Tolerance::Shortest, 0));
        reads.completed(&done(HostOp::Hint, 81, 2, Tolerance::Longer, 0));
        assert_eq!([2, 10].map(|unit| class(&reads, unit..unit + 1)), [Tolerance::Shortest, Tolerance::Typical], "in part: stricter alone");
    }

    #[test]
    fn classes_are_those_of_a_table_of_units_whatever_the_order_of_hints() {
        let (mut reads, mut table, mut draw) = (hinted(), [Tolerance::Default; 64], Draw::new(7, Stream::Mix, 0));
        for _ in 0..2_000 {
            let (begin, length) = (draw.below(480), draw.below(32) + 1);
            let class = Tolerance::ALL[draw.below(4) as usize];
            reads.completed(&done(HostOp::Hint, begin, length as u32, class, 0));
            for (unit, of) in (0..).zip(&mut table) {
                let covered = (begin + length).min((unit + 1) * UNIT).saturating_sub(begin.max(unit * UNIT));
                if covered == UNIT || (covered > 0 && rank(class) < rank(*of)) {
                    *of = class;
                }
            }
            (0..).zip(&table).for_each(|(unit, class)| assert_eq!(reads.strictest(unit..unit + 1), *class));
            assert!(reads.from.values().zip(reads.from.values().skip(1)).all(|(one, next)| one != next), "no needless key");
        }
    }
}
