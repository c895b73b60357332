//! The command line's shape.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::cells::CellRange;
use crate::characterize::CharacterizeOptions;
use crate::chip_fit::ChipTask;
use crate::columns::ColumnOptions;
use crate::failure::Failure;
use crate::import::ImportOptions;
use crate::load::{LengthOptions, LoadOptions};
use crate::plans::{DriveOptions, ShapeOptions, Starts};

/// A 3D-NAND SSD you can take apart: run real firmware on a modelled drive, and see where the time, the writes and the wear go.
#[derive(Debug, Parser)]
#[command(name = "wordline", version = wordline_runs::VERSION, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload or a trace on one drive.
    Run(RunOptions),
    /// Compare drives: the same workloads at the same ages, paired by random streams, with ratios.
    Compare(CompareOptions),
    /// Make a used drive in seconds, and save it as a start for runs.
    Age(AgeOptions),
    /// Write a drive until it is worn out: TB written, years, P/E cycles by block, what ended it, and how it was on its way. Minutes for years: cycles that are
    /// like those before are skipped.
    WearOut(WearOutOptions),
    /// Serve a drive as a network block device (NBD): the same firmware, with real bytes, on the wall's clock or as fast as it goes.
    ///
    /// There are 16 places for clients, and 16 more for those that have not opened the disk yet (with --tls: that have not shown a certificate yet), of whom
    /// the oldest goes when another one comes, and each within 30 s. When all 16 places are taken, a new client has the place of the one that has been silent
    /// for longest, if that is a minute or more and nothing it asked for is under way; else it is hung up on.
    Serve(ServeOptions),
    /// Send a command to the control socket of a served drive, and print the answer as JSON.
    Ctl(CtlOptions),
    /// Record the requests of a served drive as a trace on standard output, until `wordline ctl SOCKET stop-recording`. Its head has the command
    /// that replays it.
    Record(RecordOptions),
    /// Watch a served drive: requests, latency, write amplification, garbage collection, dies, blocks. `q` ends it.
    Top(TopOptions),
    /// Explain the slowest requests of a timeline: where they spent their time, and what they waited for.
    Explain(ExplainOptions),
    /// Inspect, convert or measure a block trace.
    Trace(TraceOptions),
    /// Convert a job file of another program to a workload file.
    Import(ImportOptions),
    /// Read every page of a drive's chips off the board: stale data that an attacker recovers, by address and version or by file.
    Forensics(ForensicsOptions),
    /// Measure a lot of virtual chips: raw tables of every page over P/E, retention and reads, or one of the benches of the papers.
    Characterize(CharacterizeOptions),
    /// Show the cells of a chip, list the chips that come with Wordline, fit one to measured histograms, or calibrate one to claims.
    Chip(ChipOptions),
    /// Run the studies of the papers, and print each claim beside the measured figure.
    Reproduce(ReproduceOptions),
    /// List the drives that come with Wordline.
    Drives,
    /// List the workloads that come with Wordline, or print one.
    Workloads {
        /// Print this workload's file, as a start for your own.
        name: Option<String>,
    },
    /// Print a drive's whole checked plan, with the source of every value.
    Describe(DescribeOptions),
}

/// Destinations of results.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputOptions {
    /// Write the results as JSON ("-": standard output). docs/reference/output.md describes every name.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
    /// Write one self-contained HTML page with all charts.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write tables of intervals and of requests as Parquet files into this folder. docs/reference/output.md describes every column.
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write tables of intervals, of requests, of each run's figures and of ratios as CSV files into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// The length of an interval in charts and tables, such as 10ms; by default from 1 ms, doubled until a run has at most 512.
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<String>,
    /// Print no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunOptions {
    /// A drive's name (see `wordline drives`) or file; pageftl by default.
    #[arg(conflicts_with = "from")]
    pub(crate) drive: Option<String>,
    /// Start from a drive saved by `wordline age`, or by --save. With --retention, such as 3mo or 3mo@40C, it has lain so long without power, beside the age
    /// that it has.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "size", "fill", "physics", "age", "pe"])]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: DriveOptions,
    /// A built-in workload, a workload file (.toml), or a block trace (plain, .gz or .zst; recognised by content).
    #[arg(long, short, default_value = "default", value_name = "NAME|FILE")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    #[command(flatten)]
    pub(crate) length: LengthOptions,
    /// Inspect the cells of all flash blocks at the end of the run: their wear, their ages by the errors of a year, and the errors that copybacks carried. They
    /// are in the JSON, and in a table of blocks beside the others.
    #[arg(long)]
    pub(crate) cells: bool,
    /// File workloads: count each file's stale versions on the flash, and the time that they stay there (VerTrace).
    #[arg(long)]
    pub(crate) vertrace: bool,
    /// Files whose counts over time are in the results (default: one of each set).
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "vertrace")]
    pub(crate) plot_files: Vec<u32>,
    /// Save the drive after the run, once idle. With --vertrace, record which file each page belongs to.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["requests", "until_steady"])]
    pub(crate) save: Option<PathBuf>,
    /// Die that fails for good, and the instant of the load, such as 17@2s. Dies count over the drive from 0, times from the beginning of the load.
    /// May be given several times.
    #[arg(long, value_name = "DIE@TIME")]
    pub(crate) kill_die: Vec<String>,
    /// Schedule of dies, planes and blocks that fail for good.
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Exit with 0 although the drive failed requests. Otherwise the exit code is 4 where requests failed that were not lost with a part of the schedule of
    /// failures, unless run.may_fail = true in the drive's file.
    #[arg(long)]
    pub(crate) may_fail: bool,
    #[command(flatten)]
    pub(crate) timeline: TimelineOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The timeline of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct TimelineOptions {
    /// Write a timeline of requests, dies, channels and cores, which Perfetto (ui.perfetto.dev) and Chrome's tracing draw and `wordline explain` reads.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_out: Option<PathBuf>,
    /// Begin of the timeline after the begin of the measured window, such as 250ms (default 0).
    #[arg(long, value_name = "TIME", requires = "trace_out")]
    pub(crate) trace_from: Option<String>,
    /// Length of the timeline (default: to the end of the run).
    #[arg(long, value_name = "TIME", requires = "trace_out")]
    pub(crate) trace_for: Option<String>,
    /// Most operations and requests in the timeline. Later ones are counted and left out.
    #[arg(long, value_name = "N", requires = "trace_out", default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) trace_events: u32,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainOptions {
    /// Timeline written by `wordline run --trace-out`.
    pub(crate) file: PathBuf,
    /// Number of requests that are explained.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) slowest: u32,
    /// Requests of this operation only.
    #[arg(long, value_name = "OP", value_parser = ["read", "write", "trim", "flush", "hint"])]
    pub(crate) op: Option<String>,
    /// Write a chart of each of these requests, and of what its die did while it waited, as one HTML page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AgeOptions {
    /// A drive's name (see `wordline drives`) or file.
    #[arg(default_value = "pageftl")]
    pub(crate) drive: String,
    #[command(flatten)]
    pub(crate) options: DriveOptions,
    /// Share of the drive that is written, in order.
    #[arg(long, default_value = "100%", value_name = "PERCENT")]
    pub(crate) fill: String,
    /// Overwrite that share afterwards, by the real firmware without timing: random:2x or sequential:1x, in multiples of the share.
    #[arg(long, value_name = "PATTERN:TIMES")]
    pub(crate) overwrite: Option<String>,
    /// Construct the steady state of uniform random overwrites directly, instead of writing towards it.
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) steady: bool,
    /// File in which the drive is saved.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: PathBuf,
    /// Print no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Failures that the media of a served drive survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Survive {
    /// The death of the process.
    Process,
    /// The death of the host.
    Host,
}

/// Clients that a server with TLS accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TlsClients {
    /// Those with a certificate.
    Certified,
    /// Every client.
    Any,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ServeOptions {
    /// A drive's name (see `wordline drives`) or file. Without it: the drive whose media are in the --media folder, as it was made, or else pageftl.
    pub(crate) drive: Option<String>,
    #[command(flatten)]
    pub(crate) options: DriveOptions,
    /// Folder for the bytes: a sparse file for each die. Its data come back with the next start, however the last one ended. Without it, the
    /// bytes are in memory and go with the process. No other user may own the folder or write in it, and links in it are not followed.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) media: Option<PathBuf>,
    /// Serve the --media folder for reading only, and write nothing in it: writes are refused, and the firmware's own writes stay in memory. The
    /// folder may be anybody's, and on a file system that cannot be written.
    #[arg(long, requires = "media")]
    pub(crate) read_only: bool,
    /// As --read-only, with the best copy of each mapping unit that can be read, also where a start would refuse it or would answer with an error. A list of
    /// the stretches of which nobody can tell that they are the newest goes to FILE, or to standard output behind the address.
    #[arg(long, value_name = "FILE", requires = "media", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) salvage: Option<String>,
    /// Failure that flushed data survive: the death of the process, or that of the host as well, which costs a sync of the files.
    #[arg(long, value_name = "process|host", default_value = "process", requires = "media")]
    pub(crate) survive: Survive,
    /// Die whose file is gone from the folder. It is made anew as a failed die, and the drive starts with the others. May be given several times.
    /// With --read-only and --salvage it is made in memory.
    #[arg(long, value_name = "N", requires = "media")]
    pub(crate) missing_die: Vec<u32>,
    /// Pace of virtual time: as fast as possible, the drive's own, or a multiple of it.
    #[arg(long, value_name = "off|real|xN", default_value = "off")]
    pub(crate) timing: wordline_live::Timing,
    /// With a --timing other than off: time that the socket takes for an answer and the next request, such as 50us, or auto to measure it at the start. Answers
    /// leave earlier by that time, so that a client sees the drive's own latencies. Without it, none leaves early.
    #[arg(long, value_name = "TIME|auto", default_value = "0us")]
    pub(crate) link: wordline_serve::Link,
    /// Listen on a Unix socket at this path.
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen on this address; port 0 takes any that is free. Any but a loopback address needs --tls. Without --socket and --listen: on the socket that was
    /// handed over (LISTEN_FDS), or else on 127.0.0.1:10809.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Speak TLS and nothing else, with server-cert.pem and server-key.pem of this folder, to clients with a certificate by its ca-cert.pem.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tls: Option<PathBuf>,
    /// Clients served with --tls. Any: also those without a certificate.
    #[arg(long, value_name = "certified|any", default_value = "certified", requires = "tls")]
    pub(crate) tls_clients: TlsClients,
    /// The export's name.
    #[arg(long, value_name = "NAME", default_value = "disk")]
    pub(crate) export: String,
    /// Listen on a Unix socket at this path for `wordline ctl`, `top` and `record`; by default beside --socket, with `.ctl` behind its name.
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Serve metrics at http://ADDRESS:PORT/metrics, as OpenMetrics text for Prometheus and others; PORT alone is on 127.0.0.1, and port 0 takes any that is
    /// free. Every client that reaches the address can read them.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = metrics_address)]
    pub(crate) metrics: Option<std::net::SocketAddr>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CtlOptions {
    /// The control socket of a served drive.
    pub(crate) socket: PathBuf,
    /// A command, such as status, smart, hint, lba-status, kill-die, fault read, heat, snapshot, stop; `help` lists all.
    pub(crate) command: String,
    /// Arguments of the command, such as offset=1MiB length=64KiB priority=high.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// Print `smart` as JSON; the other commands always do.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ForensicsOptions {
    /// The folder with the media of a served drive, whose server has stopped; or a drive saved by `wordline run --save` or `wordline age`.
    pub(crate) target: PathBuf,
    /// Search for this text in everything that was read, and print its places and versions.
    #[arg(long, value_name = "TEXT")]
    pub(crate) find: Option<String>,
    /// Count data beyond error correction as recovered, too: the bits as the chips put them out, with their errors, and those of programs and erases that
    /// were broken off.
    #[arg(long)]
    pub(crate) raw_chips: bool,
    /// Time for which the chips lay before they were read, such as 5y or 90d@40C (default: at 30 °C). For drives whose cells have physics.
    #[arg(long, value_name = "TIME[@TEMPERATURE]")]
    pub(crate) after: Option<String>,
    /// Lines in each list.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) rows: usize,
    /// Write all of it as JSON ("-": standard output). docs/reference/forensics.md describes every name.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RecordOptions {
    /// The control socket of a served drive.
    pub(crate) socket: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TopOptions {
    /// The control socket of a served drive.
    pub(crate) socket: PathBuf,
    /// Print one view and exit.
    #[arg(long)]
    pub(crate) once: bool,
    /// Seconds between two views.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) every: u64,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CompareOptions {
    /// Drives' names or files; the first is what the others are compared with.
    #[arg(long, value_delimiter = ',', default_value = "pageftl,pageftl-4k,pageftl-fifo", value_name = "NAME,…")]
    pub(crate) drives: Vec<String>,
    #[command(flatten)]
    pub(crate) shape: ShapeOptions,
    #[command(flatten)]
    pub(crate) cells: CellRange,
    /// Run every drive with one key of its plan at each of these values, such as mapping.over_provisioning=5%,7%,14%,20%,28%: each figure as a curve, with its
    /// interval. With --size, a sweep of mapping.over_provisioning is of equal flash: the size is what the host sees at the drive's own share.
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(crate) sweep: Option<String>,
    /// Number of seeds. Confidence intervals need at least two.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Exit with 0 although drives failed requests. Otherwise the exit code is 4, unless run.may_fail = true in the drive's file. The figures are those of the
    /// requests that did not fail, either way.
    #[arg(long)]
    pub(crate) may_fail: bool,
    /// Begin each drive by its own file: its fill, its steady state, its age. Otherwise all begin as the first does. Where
    /// they then begin differently, ratios have neither colours nor stars, and the exit code is 4.
    #[arg(long)]
    pub(crate) own_start: bool,
    /// Number of runs at the same time (default: the number of cores).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// One or more of: a built-in workload, a workload file (.toml), a block trace (plain, .gz or .zst; recognised by content). Each is run at each --age. May
    /// be given several times; a file whose path has a comma in it stands in a --workload of its own.
    #[arg(long, short, default_value = "default", value_name = "NAME|FILE,…")]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    #[command(flatten)]
    pub(crate) length: LengthOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

impl CompareOptions {
    /// The starts of the drives.
    pub(crate) fn start(&self) -> Starts {
        if self.own_start { Starts::Own } else { Starts::Alike(self.load.fill.is_some()) }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WearOutOptions {
    /// A drive's name (see `wordline drives`) or file.
    #[arg(default_value = "pageftl")]
    pub(crate) drive: String,
    /// Drives that are worn out under the same workload, for comparison.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) against: Vec<String>,
    #[command(flatten)]
    pub(crate) options: DriveOptions,
    /// Built-in workload, workload file (.toml) or block trace, without end: its last phase that writes goes on, a trace begins again. A load of phases
    /// that only read at a rate, such as rlr-long, goes on for --years: days of reads in leaps, with reads that are timed between them.
    #[arg(long, short, default_value = "default", value_name = "NAME|FILE")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// Length of the life in years (default 5): rests between erases and the ages of data follow from it.
    /// With --dwpd: years after which the life counts as ended. Loads that only read need it: they end a life at no time.
    #[arg(long, value_name = "N")]
    pub(crate) years: Option<f64>,
    /// Drive writes a day, however long the drive lives.
    #[arg(long, value_name = "N")]
    pub(crate) dwpd: Option<f64>,
    /// End of the life: uncorrectable (a page cannot be read, by the host or to be moved), spare (no write is taken any more), or a share of blocks gone bad
    /// such as 2.5%, of those that the host sees (default: the first of uncorrectable, spare and 2.5%).
    #[arg(long, value_name = "WHAT")]
    pub(crate) until: Option<String>,
    /// Time without power after which written data must be readable; the life ends when it is not. The default is a year,
    /// as JESD218 asks of client drives at the end of their lives. It is read from a copy of the drive after each epoch. none: data need not keep.
    #[arg(long, value_name = "TIME|none")]
    pub(crate) must_keep: Option<String>,
    /// Number of epochs of a life that are run, about; the time between them is skipped.
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub(crate) epochs: u32,
    /// Length of an epoch in drive writes (default 1). Longer epochs tell blocks apart better.
    #[arg(long, value_name = "WRITES")]
    pub(crate) epoch: Option<f64>,
    /// Requests of a short run in virtual time after each epoch, on a copy of the drive, that measures IOPS (default 4000). 0: none. Under loads that only
    /// read: reads that are timed in each epoch (default 20000).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=10_000_000))]
    pub(crate) sample: Option<u64>,
    /// Time in the device above which a read counts as long, under loads that only read (default 400us).
    #[arg(long, value_name = "TIME")]
    pub(crate) long_read: Option<String>,
    /// Skip nothing. A life takes hours then, or days.
    #[arg(long)]
    pub(crate) no_leaps: bool,
    /// One pass with leaps that grow with the life, in place of a scout and a pass with even ones: about half the time. Lives that a
    /// page ends are some 5 % shorter in the mean; the output says within how much the end is known.
    #[arg(long, conflicts_with = "no_leaps")]
    pub(crate) quick: bool,
    /// Write the lives as JSON ("-": standard output). docs/reference/wear-out.md describes every name.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
    /// Write one self-contained HTML page with figures.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Number of drives at the same time (default: the number of cores).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Print no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl WearOutOptions {
    /// The number `value` of the option `name`, if it is one from 0.001 to 1,000.
    pub(crate) fn positive(&self, name: &str, value: f64) -> Result<f64, Failure> {
        let is_sound = value.is_finite() && (1e-3..=1e3).contains(&value);
        if is_sound { Ok(value) } else { Err(Failure::Usage(format!("--{name} {value}: expected a number from 0.001 to 1000"))) }
    }
}

#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ChipOptions {
    #[command(subcommand)]
    pub(crate) task: Option<ChipTask>,
    /// The chip's name or file; without one, a list of those that come with Wordline.
    pub(crate) chip: Option<String>,
    /// vth: the states of a wordline and the references. layers: errors over the h-layers.
    #[arg(long, default_value = "vth", value_name = "WHAT")]
    pub(crate) show: String,
    /// The h-layer: typical, alpha (topmost), beta (best), kappa (worst), omega (lowest), or its number from the top.
    #[arg(long, default_value = "typical", value_name = "LAYER")]
    pub(crate) layer: String,
    /// P/E cycles, such as 2k.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) pe: String,
    /// Retention and its temperature, such as 1y or 13h@85C.
    #[arg(long, default_value = "0", value_name = "TIME[@TEMPERATURE]")]
    pub(crate) retention: String,
    /// Change a value of the chip. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// The seed of the lot that the block is from.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Write one self-contained HTML page with the figure.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ReproduceOptions {
    /// Studies, groups of studies (cells), claims, or the beginning of claims' names; all studies by default.
    pub(crate) names: Vec<String>,
    /// List the studies and the claims they answer, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Write all lines as JSON ("-": standard output).
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
    /// Write one self-contained HTML page with tables and figures.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Drives of this size, such as 8GiB, or whole: as their files have them. Without, each study has its own.
    #[arg(long, value_name = "SIZE|whole")]
    pub(crate) size: Option<String>,
    /// Number of seeds, from the studies' own on. Verdicts that depend on the seed are listed; JSON, page and --strict are of the first.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Write the figures of each seed as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) by_seed: Option<PathBuf>,
    /// Exit with 1 where a claim is off or stays when its effect is off; otherwise such a claim is a finding, and no failure.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Number of threads (default: the number of cores). Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Print no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DescribeOptions {
    /// A drive's name or file.
    pub(crate) drive: String,
    #[command(flatten)]
    pub(crate) options: DriveOptions,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TraceOptions {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
    /// Count malformed lines instead of stopping at the first.
    #[arg(long, global = true)]
    pub(crate) lenient: bool,
    #[arg(long, global = true, value_name = "FORMAT", help = formats())]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) columns: ColumnOptions,
}

fn formats() -> String {
    format!("Read as this format instead of recognising it: {}", wordline_workload::Format::names().join(", "))
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Describe a trace: format, columns, span, first and last records.
    Info {
        /// The trace, plain or packed (.gz, .zst).
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure a trace: requests, sizes, footprint, overwrites, gaps.
    Stats {
        /// The trace, plain or packed (.gz, .zst).
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a trace in another format.
    Convert {
        /// The trace, plain or packed (.gz, .zst).
        file: PathBuf,
        /// msr, mqsim, fio, blkparse or csv.
        #[arg(long, value_name = "FORMAT")]
        to: String,
        /// Output file, packed if its name ends in .gz or .zst (default: standard output).
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Address of metrics; a port alone is one of this machine.
fn metrics_address(text: &str) -> Result<std::net::SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| "expected a port, such as 9100, or an address with one, such as 127.0.0.1:9100".to_owned())
}
