//! The workloads of the SNIA Solid State Storage Performance Test Specification: preconditioning and the IOPS test's rounds.
//!
//! The order is: purge (a fresh drive), then [`independent`], then [`iops_round`] again and again until
//! [`steady`](crate::steady) says so. The rounds are the workload-dependent preconditioning and the measurement at once.

use wordline_units::{Bytes, Nanos};

use crate::spec::{Address, Amount, Arrival, Limit, Mix, PhaseSpec, WorkloadSpec};

/// Shares of reads in the IOPS test, in the order of the rounds.
pub const READ_SHARES: [f64; 7] = [1.0, 0.95, 0.65, 0.50, 0.35, 0.05, 0.0];

/// Sizes in the IOPS test, in the order of the rounds.
pub const SIZES: [Bytes; 8] =
    [Bytes::kib(1024), Bytes::kib(128), Bytes::kib(64), Bytes::kib(32), Bytes::kib(16), Bytes::kib(8), Bytes::kib(4), Bytes(512)];

/// How long each cell of a round lasts in the specification. A simulation may take less and should then say so.
pub const CELL_TIME: Nanos = Nanos::from_secs(60);

/// Workload-independent preconditioning: the whole drive written twice, in order, 128 KiB at a time.
pub fn independent(queue_depth: u32) -> WorkloadSpec {
    let phase = PhaseSpec {
        mix: Mix::reads(0.0),
        sizes: vec![(Bytes::kib(128), 1.0)],
        address: Address::Sequential { streams: 1 },
        arrival: Arrival::Closed { queue_depth, gaps: None },
        ..PhaseSpec::new("fill twice", Limit::bytes(Amount::OfDrive(2.0)))
    };
    WorkloadSpec {
        name: "pts-independent".to_owned(),
        purpose: "SNIA PTS workload-independent preconditioning: twice the capacity in sequential 128 KiB writes".to_owned(),
        phases: vec![phase],
    }
}

/// One round of the IOPS test: every share of reads with every size, each until `limit`, at random over the whole drive.
///
/// The phases are named `read share/size`, for example `65/4 KiB`.
pub fn iops_round(limit: Limit, queue_depth: u32) -> WorkloadSpec {
    let cells = READ_SHARES.iter().flat_map(|share| SIZES.iter().map(move |size| (*share, *size)));
    WorkloadSpec {
        name: "pts-iops-round".to_owned(),
        purpose: "one round of the SNIA PTS IOPS test: 7 mixtures of reads and writes with 8 sizes".to_owned(),
        phases: cells.map(|(share, size)| random(share, size, limit, queue_depth)).collect(),
    }
}

/// One round of the write saturation test: random 4 KiB writes until `limit`, which the specification sets at one minute.
pub fn write_saturation_round(limit: Limit, queue_depth: u32) -> WorkloadSpec {
    WorkloadSpec {
        name: "pts-write-saturation-round".to_owned(),
        purpose: "one round of the SNIA PTS write saturation test: random 4 KiB writes".to_owned(),
        phases: vec![random(0.0, Bytes::kib(4), limit, queue_depth)],
    }
}

fn random(read_share: f64, size: Bytes, limit: Limit, queue_depth: u32) -> PhaseSpec {
    let name = format!("{:.0}/{size}", read_share * 100.0);
    PhaseSpec {
        mix: Mix::reads(read_share),
        sizes: vec![(size, 1.0)],
        arrival: Arrival::Closed { queue_depth, gaps: None },
        ..PhaseSpec::new(&name, limit)
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::HostOp;

    use super::*;
    use crate::Generator;

    #[test]
    fn preconditioning_writes_every_sector_twice_in_order() {
        let capacity = Bytes::mib(3);
        let requests: Vec<_> = Generator::new(&independent(8), 1, capacity).expect("fits").collect();
        assert_eq!(requests.len(), 48);
        for (index, request) in requests.iter().enumerate() {
            assert_eq!((request.op, request.sector, request.sectors), (HostOp::Write, index as u64 % 24 * 256, 256));
        }
    }

    #[test]
    fn a_round_has_every_mixture_with_every_size() {
        let round = iops_round(Limit::requests(10), 32);
        assert_eq!(round.phases.len(), 56);
        let generator = Generator::new(&round, 1, Bytes::gib(1)).expect("fits");
        assert_eq!(generator.count(), 560);
    }
}
