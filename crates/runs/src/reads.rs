//! Loads that only read, as days of reads at a rate.

use std::ops::Range;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Nanos};
use wordline_workload::spec::{Address, Amount, Arrival, Burst, Limit, Rate};
use wordline_workload::{PhaseSpec, WorkloadSpec};

use crate::error::RunError;
use crate::load::Load;
use crate::workload::Workload;

/// A load that only reads, without end and at a rate of its own.
#[derive(Clone, Debug)]
pub struct Reads {
    workload: Workload,
    phase: PhaseSpec,
    told: String,
}

impl Reads {
    /// The reads of `workload` under `load`: its last phase, if no phase writes or trims. `None`: it is another load.
    ///
    /// # Errors
    ///
    /// It only reads, and its reads have no rate, or go to some places of a range more often than to others; or it only reads files.
    pub fn of(workload: &Workload, load: &Load) -> Result<Option<Reads>, RunError> {
        let spec = match workload {
            Workload::Made(spec) => spec,
            Workload::Filed(files, _) if !files.writes() => return Err(RunError::ReadsOfFiles(files.name.clone())),
            Workload::Filed(..) | Workload::Jobs(_) | Workload::Traced(_) => return Ok(None),
        };
        let changes = |phase: &PhaseSpec| phase.mix.write > 0.0 || phase.mix.trim > 0.0;
        let (Some(last), false) = (spec.phases.last().filter(|last| last.mix.read > 0.0), spec.phases.iter().any(changes)) else {
            return Ok(None);
        };
        let in_words = || (spec.name.clone(), last.name.clone());
        if load.queue_depth.is_some() || matches!(last.arrival, Arrival::Closed { .. }) {
            let (workload, phase) = in_words();
            return Err(RunError::ReadsWithoutRate { workload, phase, is_asked: load.queue_depth.is_some() });
        }
        if let Address::Zipf { .. } | Address::HotCold { .. } | Address::Mixed(_) = last.address {
            let (workload, phase) = in_words();
            return Err(RunError::UnevenReads { workload, phase });
        }
        let phase = PhaseSpec { limit: Limit::none(), ..last.clone() };
        let told = match spec.phases.len() {
            1 => format!("phase '{}' without end", phase.name),
            count => format!("phase '{}' without end, the last of {count}; the others are left out", phase.name),
        };
        let workload = Workload::Made(WorkloadSpec { phases: vec![phase.clone()], ..spec.clone() });
        Ok(Some(Reads { workload, phase, told }))
    }

    /// The workload.
    pub(crate) fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Sentence on the part of the workload that is without end.
    pub fn told(&self) -> &str {
        &self.told
    }

    /// Reads in a second on a drive of `capacity`, in the mean over bursts.
    pub fn per_second(&self, capacity: Bytes) -> f64 {
        let Arrival::Open { rate, burst, .. } = self.phase.arrival else { return 0.0 };
        let busy = burst.map_or(1.0, |Burst { busy: Nanos(busy), idle: Nanos(idle) }| busy as f64 / (busy + idle) as f64);
        Rate::on(rate, capacity) * busy * self.phase.mix.read
    }

    /// Ranges of mapping units of `unit` in which all places are read equally often, each with its share of the reads.
    pub(crate) fn ranges(&self, capacity: Bytes, unit: Bytes) -> Vec<(Range<u64>, f64)> {
        let start = self.phase.start.on(capacity).0.div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
        let span = self.phase.span.on(capacity).0.min(capacity.0 - start.min(capacity.0));
        let units = |from: u64, to: u64| from / unit.0..to.min(start + span).div_ceil(unit.0);
        let Address::Zoned(zones) = &self.phase.address else { return vec![(units(start, start + span), 1.0)] };
        let mut from = start;
        let zone = |zone: &wordline_workload::spec::Zone| {
            let length = match zone.span {
                Amount::Bytes(bytes) => bytes.0,
                Amount::OfDrive(share) => (span as f64 * share) as u64,
            };
            let range = units(from, from + length);
            from += length;
            (range, zone.share)
        };
        zones.iter().map(zone).collect()
    }
}

#[cfg(test)]
mod tests {
    use wordline_workload::spec::{Mix, Zone};

    use super::*;

    fn open(rate: Rate) -> Arrival {
        Arrival::Open { rate, process: Default::default(), burst: None }
    }

    fn reading(change: impl FnOnce(&mut PhaseSpec)) -> PhaseSpec {
        let mut phase = PhaseSpec { arrival: open(Rate::PerGib(20.0)), ..PhaseSpec::new("read", Limit::requests(10)) };
        change(&mut phase);
        phase
    }

    fn of(phases: Vec<PhaseSpec>) -> Result<Option<Reads>, RunError> {
        let workload = Workload::Made(WorkloadSpec { name: "made".to_owned(), purpose: String::new(), phases });
        Reads::of(&workload, &Load::default())
    }

    #[test]
    fn files_that_are_only_read_have_no_rate() {
        let of = |name: &str| Reads::of(&Workload::load(name, &Load::default(), &mut |_| ()).expect("it is built in"), &Load::default());
        assert!(of("rlr-fileserver-read").expect_err("it only reads").to_string().contains("rlr-fileserver-read only reads files"));
        assert!(of("rlr-fileserver-90").expect("it writes").is_none());
    }

    #[test]
    fn a_load_that_writes_or_trims_anywhere_is_none_that_only_reads() {
        let mixed = |mix: Mix| reading(|phase| phase.mix = mix);
        let writes = mixed(Mix::reads(0.9));
        let trims = mixed(Mix { read: 0.5, trim: 0.5, ..Mix::default() });
        for phases in [vec![writes.clone()], vec![trims], vec![writes, reading(|_| ())]] {
            assert!(of(phases).expect("it is another load").is_none());
        }
        assert!(of(vec![mixed(Mix { flush: 1.0, ..Mix::default() })]).expect("it is another load").is_none());
        let reads = of(vec![reading(|_| ()), reading(|phase| phase.name = "more".to_owned())]).expect("it has a rate").expect("it reads");
        assert_eq!(reads.told(), "phase 'more' without end, the last of 2; the others are left out");
    }

    #[test]
    fn reads_without_a_rate_and_reads_that_favour_some_places_are_refused() {
        let closed = reading(|phase| phase.arrival = Arrival::Closed { queue_depth: 4, gaps: None });
        let told = of(vec![closed]).expect_err("it has no rate").to_string();
        assert!(told.contains("made: phase 'read' is a closed loop") && told.contains("/s/GiB"), "{told}");
        let workload = Workload::Made(WorkloadSpec { name: "made".to_owned(), purpose: String::new(), phases: vec![reading(|_| ())] });
        let told = Reads::of(&workload, &Load { queue_depth: Some(2), ..Load::default() }).expect_err("--qd").to_string();
        assert!(told.contains("leave out --qd"), "{told}");
        let zipf = reading(|phase| phase.address = Address::Zipf { theta: 0.9, scatter: true });
        let told = of(vec![zipf]).expect_err("it is uneven").to_string();
        assert!(told.contains("phase 'read'") && told.contains("uniform, shuffled, sequential or zoned"), "{told}");
    }

    #[test]
    fn the_rate_counts_reads_alone_and_grows_with_the_drive() {
        let per_second =
            |phase: PhaseSpec, gib: u64| of(vec![phase]).expect("it has a rate").expect("it reads").per_second(Bytes::gib(gib));
        assert_eq!(per_second(reading(|_| ()), 40), 800.0);
        assert_eq!(per_second(reading(|phase| phase.arrival = open(Rate::PerSecond(7.0))), 40), 7.0);
        let half = Mix { read: 0.5, flush: 0.5, ..Mix::default() };
        assert_eq!(per_second(reading(|phase| phase.mix = half), 1), 10.0);
        let bursts = reading(|phase| {
            let burst = Some(Burst { busy: Nanos(1), idle: Nanos(3) });
            phase.arrival = Arrival::Open { rate: Rate::PerSecond(8.0), process: Default::default(), burst };
        });
        assert_eq!(per_second(bursts, 1), 2.0);
    }

    #[test]
    fn ranges_are_the_part_of_the_drive_that_is_read_zone_by_zone() {
        let ranges = |phase: PhaseSpec| of(vec![phase]).expect("it has a rate").expect("it reads").ranges(Bytes::mib(1), Bytes::kib(16));
        assert_eq!(ranges(reading(|_| ())), [(0..64, 1.0)]);
        let half = reading(|phase| (phase.start, phase.span) = (Amount::OfDrive(0.5), Amount::Bytes(Bytes::kib(160))));
        assert_eq!(ranges(half), [(32..42, 1.0)]);
        let zone = |share, span| Zone { share, span };
        let by_share = vec![zone(0.9, Amount::OfDrive(0.25)), zone(0.1, Amount::OfDrive(0.75))];
        assert_eq!(ranges(reading(|phase| phase.address = Address::Zoned(by_share))), [(0..16, 0.9), (16..64, 0.1)]);
        let by_size = vec![zone(0.5, Amount::Bytes(Bytes::kib(32))), zone(0.5, Amount::Bytes(Bytes::kib(16)))];
        assert_eq!(ranges(reading(|phase| phase.address = Address::Zoned(by_size))), [(0..2, 0.5), (2..3, 0.5)]);
    }
}
