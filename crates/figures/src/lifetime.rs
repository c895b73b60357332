//! Lives of drives to their ends (`wordline wear-out`), as they are written and printed.
//!
//! A life is run in epochs, and what lies between two of them is skipped: `Drive::leap` adds the use of an epoch many times to erase counts and to the wear of
//! cells. Figures are of epochs; bytes and years are of the whole life.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::made_by::{MadeBy, WorkloadName};

/// Lives of several drives under one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifetimesResult {
    /// The workload, without end.
    pub workload: WorkloadName,
    /// Part of the workload that is repeated until a life ends, and the parts that are left out.
    pub repeats: String,
    /// Ends of a life: the first to come counts.
    pub ends: Vec<String>,
    /// The life of each drive; the first is the one that the others are held against.
    pub drives: Vec<LifetimeResult>,
    /// What these figures leave out.
    pub notes: Vec<String>,
    /// How they are made again.
    pub made_by: MadeBy,
}

/// The life of one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifetimeResult {
    /// The drive's name.
    pub name: String,
    /// The hash of its plan, in hexadecimal.
    pub plan_hash: String,
    /// Its seed.
    pub seed: u64,
    /// What the host sees of it.
    #[schemars(extend("x-unit" = "B"))]
    pub exported_bytes: u64,
    /// What ended the life: `host-read`, `moved-unit`, `kept-data`, `worn-out`, `bad-blocks`, or `years` where it outlived those that were asked for.
    pub end: LifeEnd,
    /// The end in words, with the first page or block that was lost.
    pub reason: String,
    /// Bytes that the host had written when the life ended: the endurance that a data sheet tells in TB written.
    #[schemars(extend("x-unit" = "B"))]
    pub written_bytes: u64,
    /// Those bytes in drives' fills.
    pub drive_writes: f64,
    /// Length of the life at the pace that it was written at, with the rests between two erases that follow from it.
    pub years: f64,
    /// Drive writes per day over that time.
    pub dwpd: f64,
    /// The share of the life that lies between its end and what was run before it: the last leap.
    #[schemars(extend("x-unit" = "share"))]
    pub resolution: f64,
    /// The share by which single lives in leaps that ended so were longer or shorter than whole ones, at most, as measured on small drives; 0 without leaps.
    /// The end is known within this and `resolution` together.
    #[schemars(extend("x-unit" = "share"))]
    pub leaps_off: f64,
    /// Units programmed for each unit that the host wrote, over all epochs.
    pub waf: f64,
    /// Erases of the block groups in service, at the end.
    pub cycles: CyclesResult,
    /// Block groups that have gone out of service or moved to spare blocks.
    pub grown_bad: u64,
    /// Years that each pass over the life took, where its pace was looked for.
    pub passes_years: Vec<f64>,
    /// The life, epoch by epoch.
    pub epochs: Vec<EpochResult>,
}

/// What ends a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LifeEnd {
    /// A read of the host that could not be corrected.
    HostRead,
    /// A read of data to be moved or completed that could not be corrected.
    MovedUnit,
    /// Data that had been kept for as long as was asked for and could not be read then.
    KeptData,
    /// The drive takes no more writes.
    WornOut,
    /// More block groups have failed than were allowed.
    BadBlocks,
    /// It outlived the years that were asked for.
    Years,
}

/// Erase counts of block groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CyclesResult {
    /// The least, the median, the mean and the greatest.
    pub least: u32,
    /// Half of the groups have fewer.
    pub median: u32,
    /// Their mean.
    pub mean: f64,
    /// The greatest.
    pub most: u32,
    /// All of them, in rising order.
    pub all: Vec<u32>,
}

/// One epoch of a life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpochResult {
    /// Bytes that the host had written at its end.
    #[schemars(extend("x-unit" = "B"))]
    pub written_bytes: u64,
    /// Age of the drive at its end.
    pub years: f64,
    /// Epochs like it that were skipped after it.
    pub skipped: u32,
    /// Erases of a block group in service at its end, in the mean.
    pub cycles_mean: f64,
    /// The least.
    pub cycles_least: u32,
    /// The most.
    pub cycles_most: u32,
    /// Units programmed for each unit that the host wrote in it.
    pub waf: f64,
    /// Tries after the first for each page read in it.
    pub retries: f64,
    /// Requests in a second of a short run in virtual time on a copy of the drive; null where none was made.
    #[schemars(extend("x-unit" = "1/s"))]
    pub iops: Option<f64>,
    /// Block groups that had failed by its end.
    pub grown_bad: u64,
    /// Mode at its end of the technique that has modes, mean of the cores; null where none has.
    pub mode: Option<f64>,
    /// True if a technique still tried modes at its end. No epoch is skipped then.
    pub tries_modes: bool,
    /// Part of the wordlines in service that take no data at its end, because an erase spared them or a technique has given them up.
    #[schemars(extend("x-unit" = "share"))]
    pub idle_share: f64,
    /// Erases in it that were plain although a technique wanted wordlines without data, for want of room.
    #[schemars(extend("x-unit" = "block groups"))]
    #[serde(default)]
    pub refused_sets: u64,
    /// Reads of the host in it that could not be corrected.
    pub failed_host_reads: u64,
    /// Reads of data to be moved or completed in it that could not be corrected.
    pub failed_moves: u64,
}

impl CyclesResult {
    /// Summary of these erase counts.
    pub fn of(mut all: Vec<u32>) -> CyclesResult {
        all.sort_unstable();
        let (Some(&least), Some(&most)) = (all.first(), all.last()) else { return CyclesResult::default() };
        let mean = all.iter().map(|&cycles| f64::from(cycles)).sum::<f64>() / all.len() as f64;
        CyclesResult { least, median: all[all.len() / 2], mean, most, all }
    }
}

impl LifeEnd {
    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            LifeEnd::HostRead => "host-read",
            LifeEnd::MovedUnit => "moved-unit",
            LifeEnd::KeptData => "kept-data",
            LifeEnd::WornOut => "worn-out",
            LifeEnd::BadBlocks => "bad-blocks",
            LifeEnd::Years => "years",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erase_counts_are_summed_up_in_any_order() {
        let CyclesResult { least, median, mean, most, all } = CyclesResult::of(vec![5, 1, 9]);
        assert_eq!((least, median, mean, most, all), (1, 5, 5.0, 9, vec![1, 5, 9]));
        assert_eq!(CyclesResult::of(Vec::new()), CyclesResult::default());
    }
}
