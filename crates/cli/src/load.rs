//! From the options of a load to the load, and from a name to a workload.

use clap::Args;
use wordline_runs::{Load, Workload, share};
use wordline_workload::file::spec::Multiple;
use wordline_workload::{Fit, Format, WithinTick};

use crate::columns::{ColumnOptions, read};
use crate::failure::Failure;

/// Options of loads, shared by all commands that put a workload on a drive.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoadOptions {
    /// Queue depth of a closed loop, in place of the workload's arrivals.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) qd: Option<u32>,
    /// Issue a trace's requests at its own times (default for traces that have times).
    #[arg(long, conflicts_with = "qd")]
    pub(crate) open_loop: bool,
    /// Replay speed of a trace with times, in an open loop (default 1).
    #[arg(long, value_name = "FACTOR")]
    pub(crate) speed: Option<f64>,
    /// Treatment of a trace's addresses beyond the drive: reject (default), wrap, scale or compact.
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<String>,
    /// Count malformed trace lines instead of stopping at the first.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Read a trace as this format instead of recognising it; `wordline help trace` lists the formats.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) columns: ColumnOptions,
    /// Records of a trace that share a time because its clock is coarse: spread (evenly over the tick, default) or burst (at once).
    #[arg(long, value_name = "HOW")]
    pub(crate) within_tick: Option<String>,
    /// Share of the drive that is written, in order, before the run (default: the drive's own `fill`).
    #[arg(long, value_name = "PERCENT")]
    pub(crate) fill: Option<String>,
    /// Write the data that a trace reads before it writes it, as it was there when the trace was recorded. No time passes.
    #[arg(long)]
    pub(crate) prefill_reads: bool,
    /// File workloads: share of written data that belongs to secure files (default 100 %). The rest may stay readable on the flash.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) secure_fraction: Option<String>,
}

impl LoadOptions {
    /// The load that was asked for, as long as its workload is.
    pub(crate) fn load(&self) -> Result<Load, Failure> {
        Ok(Load {
            queue_depth: self.qd,
            open_loop: self.open_loop,
            speed: self.speed,
            fit: self.fit.as_deref().map(Fit::parse).transpose()?,
            lenient: self.lenient,
            format: format(self.format.as_deref())?,
            time_unit: self.columns.time_unit()?,
            sector: self.columns.sector()?,
            spaces: self.columns.spaces()?,
            within_tick: read("--within-tick", self.within_tick.as_deref(), WithinTick::parse)?,
            fill: self.fill.as_deref().map(share).transpose()?,
            prefill_reads: self.prefill_reads,
            secure: self.secure_fraction.as_deref().map(share).transpose()?,
            ..Load::default()
        })
    }
}

/// Options on the length of a load. `wear-out` has none of these: its workload goes on until the drive's life ends, and a trace begins again until then.
#[derive(Clone, Debug, Args)]
pub(crate) struct LengthOptions {
    /// Number of times that a trace is played (default 1).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: Option<u32>,
    /// Stop after this many requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// File workloads: amount written, in capacities of the drive, such as 400% (default: the workload's own).
    #[arg(long, value_name = "PERCENT")]
    pub(crate) length: Option<String>,
    /// Repeat the workload's last phase until throughput and write amplification are steady (SNIA PTS: five rounds within 20 %, drift within 10 %),
    /// then measure one round more.
    #[arg(long, conflicts_with = "requests")]
    pub(crate) until_steady: bool,
    /// Requests in one round of --until-steady; by default what writes (or reads, if it writes nothing) a quarter of the drive, and at least a fifth.
    #[arg(long, value_name = "N", requires = "until_steady", conflicts_with = "requests")]
    pub(crate) round: Option<u64>,
}

impl LengthOptions {
    /// `load` with the length that was asked for.
    pub(crate) fn of(&self, load: Load) -> Result<Load, Failure> {
        let length = self.length.as_deref().map(Multiple::parse).transpose();
        Ok(Load {
            repeat: self.repeat,
            requests: self.requests,
            length: length.map_err(|error| Failure::Usage(format!("--length: {error}")))?.map(|multiple| multiple.0),
            until_steady: self.until_steady,
            round: self.round,
            ..load
        })
    }
}

/// The workload called `name`. What is worth knowing of a trace is printed.
pub(crate) fn workload(name: &str, load: &Load) -> Result<Workload, Failure> {
    Ok(Workload::load(name, load, &mut |line| eprintln!("wordline: {line}"))?)
}

/// The format of a trace by its `name`, if there is one.
pub(crate) fn format(name: Option<&str>) -> Result<Option<Format>, Failure> {
    name.map(Format::parse).transpose().map_err(|error| Failure::Usage(error.to_string()))
}
