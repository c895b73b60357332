//! Errors of runs: why one was refused, or is not to be believed.

use std::path::PathBuf;

use wordline_drive::Restless;
use wordline_drive::image::{ImageError, NotQuiet};
use wordline_plan::PlanError;
use wordline_workload::steady::LEAST_SHARE;
use wordline_workload::{FitError, ReplayError, SpecError, TraceError};

use crate::faults::FaultsError;
use crate::load_key::LoadKey;

/// A run that cannot be made, or whose figures are not to be trusted.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan of a saved drive is wrong.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// The workload is wrong.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// The trace is wrong.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// The trace does not fit on the drive.
    #[error("{0}")]
    Fit(#[from] FitError),
    /// The trace cannot be played so.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// The schedule of faults is wrong.
    #[error("{0}")]
    Faults(#[from] FaultsError),
    /// A file cannot be read.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file holds no saved drive.
    #[error("{path}: {why}", path = path.display())]
    Saved {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: SavedError,
    },
    /// The saved drive is another one.
    #[error("{0}")]
    Image(#[from] ImageError),
    /// The drive cannot be saved as it is.
    #[error("{0}")]
    Busy(#[from] NotQuiet),
    /// Text that is no share.
    #[error("'{0}' is not a share: expected 0 % to 100 %, such as \"90 %\"")]
    NoShare(String),
    /// Text that is no overwrite.
    #[error("'{0}' is not an overwrite: expected random:2x or sequential:1x, in multiples of what is filled")]
    NoOverwrite(String),
    /// An option that only traces have.
    #[error("{flag} is for traces, and the workload is none; name a trace's file with --workload", flag = .0.flag())]
    OnlyForTraces(LoadKey),
    /// An option that only workloads of files have.
    #[error("{flag} is for workloads of files, such as mobile; {workload} has none", flag = key.flag())]
    OnlyForFiles {
        /// The option.
        key: LoadKey,
        /// The workload.
        workload: String,
    },
    /// An option that workloads of jobs do not go with.
    #[error("{flag} is not for {workload}, which has jobs: {why}", flag = key.flag(), why = key.not_for_jobs())]
    NotForJobs {
        /// The option.
        key: LoadKey,
        /// The workload.
        workload: String,
    },
    /// A life under jobs.
    #[error(
        "{0} has jobs at the same time, and a drive is worn out without a clock that would tell how often each comes; take a workload of phases"
    )]
    LifeOfJobs(String),
    /// Versions of files where there are no files.
    #[error("--vertrace needs a workload of files, such as mobile; this one has none")]
    NoFiles,
    /// A trace without requests.
    #[error("{0}: the trace holds no request")]
    NoRequest(String),
    /// A trace that would be played for longer than the clock goes.
    #[error(
        "{name}: played {repeat} times at a speed of {speed}, it lasts {years:.3e} years, and a run 100 at most: take a lower --repeat{slower}",
        slower = if *speed < 1.0 { " or play it faster" } else { "" }
    )]
    TooLong {
        /// The trace.
        name: String,
        /// How often it is played.
        repeat: u32,
        /// How fast it is played.
        speed: f64,
        /// How long that takes.
        years: f64,
    },
    /// A speed beside a number of requests outstanding.
    #[error("--speed does nothing here: --qd issues requests as others complete, not at the trace's times; leave out one of the two")]
    SpeedOfDepth,
    /// A speed of a trace without times.
    #[error("--speed does nothing here: {0} has no times; leave out --speed")]
    SpeedWithoutTimes(String),
    /// An option that changes nothing.
    #[error("{flag} does nothing here: {why}; leave out {flag}", flag = key.flag())]
    Idle {
        /// The option.
        key: LoadKey,
        /// Why nothing follows from it.
        why: String,
    },
    /// An open loop of a trace without times.
    #[error("{0} has no times, so it cannot be replayed in an open loop; use --qd N")]
    OpenWithoutTimes(String),
    /// Rounds of a workload that has none.
    #[error("--until-steady needs a workload of phases: a trace ends before it is steady, and what files do has no rounds")]
    NoRounds,
    /// Rounds that touch too little of the drive.
    #[error(
        "--round {requests} is too short: five rounds that hardly touch the drive look steady whatever it does; a round moves at least {share:.0} % \
         of the drive, which takes {least} requests of phase '{phase}' on this one",
        share = LEAST_SHARE * 100.0
    )]
    ShortRound {
        /// Requests of a round as asked for.
        requests: u64,
        /// Requests that a round must have.
        least: u64,
        /// The phase that is repeated.
        phase: String,
    },
    /// A life without an end.
    #[error(
        "{0} does not wear out: its cells have no physics and blocks take any number of erases; take a chip with physics (`wordline chip` lists them) or \
         --set faults.endurance=N"
    )]
    NoWear(String),
    /// A life at a temperature that changes.
    #[error(
        "{0} has a temperature that changes over time, and a life in leaps repeats epochs of one temperature: give it one, such as --set \
         cells.temperature=\"40 C\""
    )]
    ChangingWarmth(String),
    /// A workload that writes nothing at all.
    #[error(
        "{0} writes nothing, so no drive wears out under it; take one that writes, such as uniform-write, or phases that read at a rate, such as rlr-long"
    )]
    NothingWritten(String),
    /// Reads of which no number a day is known.
    #[error(
        "{workload}: phase '{phase}' is a closed loop{by}, of which no number of reads a day is known; {remedy}",
        by = if *is_asked { " by --qd" } else { "" },
        remedy = if *is_asked { "leave out --qd" } else { "give it a rate, such as arrival = { rate = \"20 /s/GiB\" }" }
    )]
    ReadsWithoutRate {
        /// The workload.
        workload: String,
        /// Its phase.
        phase: String,
        /// Whether it is one because an option makes it one.
        is_asked: bool,
    },
    /// Reads that go to some places more often than to others.
    #[error(
        "{workload}: phase '{phase}' reads some places more often than others, and a leap reads all of a range equally often; take an address that is \
         uniform, shuffled, sequential or zoned"
    )]
    UnevenReads {
        /// The workload.
        workload: String,
        /// Its phase.
        phase: String,
    },
    /// Files that are only read.
    #[error(
        "{0} only reads files, which have no rate of their own, and wears no drive out; take a load of phases that read at a rate, such as rlr-long"
    )]
    ReadsOfFiles(String),
    /// A workload that does not wear a drive out.
    #[error("the workload writes nothing in {0} requests on this drive, so that it does not wear out; take one that writes more")]
    NoWrites(u64),
    /// A drive that wore out before the run.
    #[error("--prefill-reads: the drive wore out before the trace began; take one with more endurance")]
    WornOut,
    /// A drive that cannot be saved.
    #[error(
        "{drive} has recovery.on = true: it keeps its tables on its flash, and a saved drive has none of that; save it with --set recovery.on=false"
    )]
    Recovers {
        /// The drive.
        drive: String,
    },
    /// The drive goes on working when its load has ended.
    #[error("{drive}: {what}")]
    Restless {
        /// The drive.
        drive: String,
        /// Work that goes on.
        what: Restless,
    },
    /// A run's books do not balance: the figures are not to be trusted.
    #[error("the run broke its own checks; its figures are not to be trusted:\n  {drive}: {what}")]
    Broken {
        /// The drive.
        drive: String,
        /// What is amiss.
        what: String,
    },
}

/// A file that is no saved drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// It is something else.
    #[error("not a drive that `wordline age` or `wordline run --save` saved")]
    Foreign,
    /// Another format of saved drives.
    #[error("another version of Wordline saved this drive: make it again")]
    OtherVersion,
    /// It ends too early.
    #[error("the file ends in {0}")]
    Cut(&'static str),
    /// It goes on after its end.
    #[error("{0} bytes stand behind the drive that was saved in it")]
    Longer(usize),
    /// Its plan cannot be read.
    #[error("the plan in it {0}")]
    Head(&'static str),
    /// A part of it cannot be unpacked.
    #[error("{0} damaged")]
    Damaged(&'static str),
    /// Its image is not of its plan, or none.
    #[error("{0}")]
    Image(ImageError),
}
