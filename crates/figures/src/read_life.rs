//! Lives of drives that are only read (`wordline wear-out` under a load that writes nothing), as they are written and printed.
//!
//! Each epoch is a leap over the reads of some days and a stretch in virtual time, in which reads are timed. Leaps have no latency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::made_by::{MadeBy, WorkloadName};
use crate::result::RewritesResult;

/// Lives of several drives under one load that only reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadLivesResult {
    /// The workload, without end.
    pub workload: WorkloadName,
    /// Part of the workload that is repeated, and the parts that are left out.
    pub repeats: String,
    /// Years of reads that were asked for.
    #[schemars(extend("x-unit" = "years"))]
    pub years: f64,
    /// Time in the device above which a read is long.
    #[schemars(extend("x-unit" = "us"))]
    pub long_us: f64,
    /// The life of each drive; the first is the one that the others are held against.
    pub drives: Vec<ReadLifeResult>,
    /// Notes on what these figures leave out.
    pub notes: Vec<String>,
    /// Command, version and plans that make them again.
    pub made_by: MadeBy,
}

/// The life of one drive that is only read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadLifeResult {
    /// The drive's name.
    pub name: String,
    /// The hash of its plan, in hexadecimal.
    pub plan_hash: String,
    /// Its seed.
    pub seed: u64,
    /// Size of the drive as the host sees it.
    #[schemars(extend("x-unit" = "B"))]
    pub exported_bytes: u64,
    /// Reads of the host in a second, by the load's own rate on this drive.
    #[schemars(extend("x-unit" = "1/s"))]
    pub reads_per_second: f64,
    /// Days that it was read.
    #[schemars(extend("x-unit" = "days"))]
    pub days: f64,
    /// Reason why it was read no further than that; null if it was read for all the years.
    pub ended: Option<String>,
    /// Reads of the host: those that were timed and those that leaps stand for.
    #[schemars(extend("x-unit" = "requests"))]
    pub reads: u64,
    /// Reads that leaps carried out for those that they stand for.
    #[schemars(extend("x-unit" = "requests"))]
    pub sampled: u64,
    /// Rewrites by cause, only those that were requested.
    pub rewrites: Vec<RewritesResult>,
    /// Mapping units of the block groups that were rewritten, as if each was full, over those that the drive holds.
    pub rewritten: f64,
    /// Block groups erased.
    #[schemars(extend("x-unit" = "block groups"))]
    pub erases: u64,
    /// The life, epoch by epoch; the first is the stretch of a day without a leap before it.
    pub epochs: Vec<ReadEpochResult>,
}

/// One epoch of a life of reads: a leap, and the stretch behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadEpochResult {
    /// Day of its stretch, from the beginning of the life.
    #[schemars(extend("x-unit" = "days"))]
    pub day: f64,
    /// Reads that were timed in the stretch.
    #[schemars(extend("x-unit" = "requests"))]
    pub timed: u64,
    /// Timed reads that took longer in the device than the limit.
    #[schemars(extend("x-unit" = "requests"))]
    pub long_reads: u64,
    /// Share of those in the reads that were timed.
    #[schemars(extend("x-unit" = "share"))]
    pub long_share: f64,
    /// Mean time in the device of the reads that were timed.
    #[schemars(extend("x-unit" = "us"))]
    pub device_mean_us: f64,
    /// Longest time of a read in the device, of those that were timed.
    #[schemars(extend("x-unit" = "us"))]
    pub device_max_us: f64,
    /// Tries after the first for each page that the host read in the stretch.
    pub retries: f64,
    /// Block groups of which a rewrite was begun in the epoch, whatever the cause.
    #[schemars(extend("x-unit" = "block groups"))]
    pub rewrites: u64,
    /// Rewrites that were postponed at the end of the epoch.
    #[schemars(extend("x-unit" = "block groups"))]
    pub postponed: u64,
    /// Block groups erased in the epoch.
    #[schemars(extend("x-unit" = "block groups"))]
    pub erases: u64,
    /// Reads of the host that failed in the stretch.
    #[schemars(extend("x-unit" = "requests"))]
    pub failed_timed: u64,
    /// Reads of the sample that failed in the leap. Each has the errors of the worst of the reads that it stands for.
    #[schemars(extend("x-unit" = "requests"))]
    pub failed_sampled: u64,
    /// Reads of data to be moved that failed in the leap.
    #[schemars(extend("x-unit" = "pages"))]
    pub failed_moves: u64,
}

impl ReadLifeResult {
    /// Reads that were timed, and those of them that were long.
    pub fn timed(&self) -> (u64, u64) {
        self.epochs.iter().fold((0, 0), |(timed, long), epoch| (timed + epoch.timed, long + epoch.long_reads))
    }

    /// Rewrites that were begun, of all causes.
    pub fn begun(&self) -> u64 {
        self.rewrites.iter().map(|of| of.begun).sum()
    }

    /// Greatest share of long reads of an epoch.
    pub fn long_worst(&self) -> f64 {
        self.epochs.iter().map(|epoch| epoch.long_share).fold(0.0, f64::max)
    }

    /// Reads that failed: in stretches, in samples of leaps, and of data to be moved.
    pub fn failed(&self) -> [u64; 3] {
        self.epochs.iter().fold([0; 3], |[timed, sampled, moves], epoch| {
            [timed + epoch.failed_timed, sampled + epoch.failed_sampled, moves + epoch.failed_moves]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_a_life_are_of_all_its_epochs() {
        let epoch = |timed, long_reads, failed: [u64; 3]| ReadEpochResult {
            timed,
            long_reads,
            long_share: long_reads as f64 / timed as f64,
            failed_timed: failed[0],
            failed_sampled: failed[1],
            failed_moves: failed[2],
            ..ReadEpochResult::default()
        };
        let begun = |cause: &str, begun| RewritesResult { cause: cause.to_owned(), begun, ..RewritesResult::default() };
        let life = ReadLifeResult {
            name: String::new(),
            plan_hash: String::new(),
            seed: 1,
            exported_bytes: 0,
            reads_per_second: 1.0,
            days: 2.0,
            ended: None,
            reads: 30,
            sampled: 0,
            rewrites: vec![begun("disturb", 5), begun("refresh", 2)],
            rewritten: 0.0,
            erases: 0,
            epochs: vec![epoch(10, 4, [1, 2, 3]), epoch(20, 2, [10, 20, 30])],
        };
        assert_eq!((life.timed(), life.begun(), life.long_worst(), life.failed()), ((30, 6), 7, 0.4, [11, 22, 33]));
    }
}
