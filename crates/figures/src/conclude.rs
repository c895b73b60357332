//! From a finished measurement to the results and the pictures of one drive.

use wordline_engine::BlockView;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Cause, FlashOp, HostOp, Nanos, Priority};

use crate::blocks::{BlockMap, Wear};
use crate::cells::BlockCells;
use crate::histogram::Latencies;
use crate::made_by::{Asked, RunName};
use crate::measured::{JobMeasured, Measured, Phase};
use crate::result::{
    BlocksResult, ByOp, CapacityResult, ChecksResult, Copies, DriveResult, FailedResult, FlashResult, HintedReadsResult, HostResult,
    InFlight, JobResult, Latency, PhaseResult, PriorityLatency, ReadErrors, RunResult, Sanitised, SaturatedResult, StageMeans, StopsResult,
    Utilisation, Waf, WaitResult, WordlineResult, Wordlines,
};
use crate::series::Row;
use crate::totals::WordlineCount;

/// What identifies a run and is not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The drive's name.
    pub name: String,
    /// Identity of the checked plan, seed included: 32 hexadecimal digits.
    pub plan_id: String,
    /// Digest of the saved drive that the run began with; `None`: the drive was new.
    pub state: Option<String>,
    /// The number that media and saved drives of this plan carry.
    pub plan_hash: u64,
    /// The seed of all random streams.
    pub seed: u64,
    /// The hash of every event of the run.
    pub event_log_hash: u64,
    /// Whether the drive had reached a steady state when the window began.
    pub steady: bool,
    /// The whole checked plan as text, for people.
    pub plan: String,
    /// Its flash, and how much of it the host sees; `None` where that is not known.
    pub capacity: Option<CapacityResult>,
    /// What must be known beside its figures.
    pub notes: Vec<String>,
    /// What was asked of it; `None` where that is not known.
    pub asked: Option<Asked>,
}

impl Identity {
    /// What tables are marked with.
    pub fn run_name(&self) -> RunName {
        RunName {
            drive: self.name.clone(),
            plan_hash: format!("{:016x}", self.plan_hash),
            seed: self.seed,
            exported_bytes: self.capacity.as_ref().map_or(0, |capacity| capacity.exported_bytes),
            asked: self.asked.clone().unwrap_or_default(),
        }
    }
}

/// What the simulation of the measured window cost; taken by the command line, which has a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Processor time in seconds.
    pub cpu_seconds: f64,
    /// Elapsed time in seconds.
    pub wall_seconds: f64,
    /// The most memory the process held.
    pub peak_rss: Bytes,
}

/// What the pictures of one job are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct JobDetail {
    /// The job's name.
    pub name: String,
    /// As those of [`DriveDetail`], of its requests alone.
    pub curves: [Vec<(Nanos, f64)>; HostOp::ALL.len()],
}

/// What the pictures of one drive are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveDetail {
    /// The drive's name.
    pub name: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// What identifies the run.
    pub run: RunName,
    /// The phases of the workload: when each began, since the start of the measured window, and its name.
    pub phases: Vec<(Nanos, String)>,
    /// The whole checked plan as text.
    pub plan: String,
    /// User bytes of a mapping unit.
    pub unit: Bytes,
    /// Dies in the drive.
    pub dies: u32,
    /// Channel buses in the drive.
    pub channels: u32,
    /// The time series.
    pub rows: Vec<Row>,
    /// Per kind of request, in the order of [`HostOp::ALL`]: a span, and the fraction of requests that took no longer.
    pub curves: [Vec<(Nanos, f64)>; HostOp::ALL.len()],
    /// The jobs of the workload, by number; none where it has none.
    pub jobs: Vec<JobDetail>,
    /// The fraction of the window in which each die's array worked.
    pub die_utilisation: Vec<f64>,
    /// The fraction of the window in which each channel bus was held.
    pub channel_utilisation: Vec<f64>,
    /// The blocks at the end of the run.
    pub map: BlockMap,
    /// How often they have been erased.
    pub wear: Wear,
    /// The cells of each flash block at the end of the window; none unless they were inspected.
    pub cells: Vec<BlockCells>,
}

/// The results and the pictures of one drive, from what was measured and the drive's blocks at the end of the run.
pub fn conclude(identity: &Identity, measured: &Measured, blocks: &[BlockView], cost: Cost) -> (DriveResult, DriveDetail) {
    let wear = Wear::new(blocks);
    let result = result(identity, measured, &wear, cost);
    let detail = DriveDetail {
        name: identity.name.clone(),
        seed: identity.seed,
        run: identity.run_name(),
        phases: measured.phases.iter().map(|phase| (phase.start, phase.name.clone())).collect(),
        plan: identity.plan.clone(),
        unit: measured.scope.unit,
        dies: measured.scope.dies,
        channels: measured.scope.channels,
        rows: measured.rows.clone(),
        curves: HostOp::ALL.map(|op| curve(&measured.latencies(op))),
        jobs: measured.jobs.iter().map(job_detail).collect(),
        die_utilisation: measured.die_utilisation(),
        channel_utilisation: measured.channel_utilisation(),
        map: BlockMap::new(blocks),
        wear,
        cells: Vec::new(),
    };
    (result, detail)
}

fn job_detail(job: &JobMeasured) -> JobDetail {
    JobDetail { name: job.name.clone(), curves: HostOp::ALL.map(|op| curve(&job.measured.latencies(op))) }
}

fn result(identity: &Identity, measured: &Measured, wear: &Wear, cost: Cost) -> DriveResult {
    let totals = &measured.totals;
    let (pages_read, pages_programmed) = (totals.pages(FlashOp::Read), totals.pages_programmed());
    let flash = operations(measured);
    DriveResult {
        name: identity.name.clone(),
        plan_id: identity.plan_id.clone(),
        state: identity.state.clone(),
        plan_hash: format!("{:016x}", identity.plan_hash),
        capacity: identity.capacity.clone(),
        notes: identity.notes.clone(),
        warnings: Vec::new(),
        asked: identity.asked.clone(),
        seed: identity.seed,
        event_log_hash: format!("{:016x}", identity.event_log_hash),
        simulated_seconds: measured.elapsed.as_secs_f64(),
        steady: identity.steady,
        worn_out_seconds: measured.worn_out.map(Nanos::as_secs_f64),
        lost: None,
        trace: None,
        host: host(measured),
        latency_us: by_op(|op| latency(&measured.latencies(op))),
        latency_us_by_priority: priorities(measured),
        hinted_reads: HintedReadsResult::of(measured),
        waits: WaitResult::all(&measured.waited),
        stops: StopsResult::of(&measured.waited.stops, totals),
        stages_us: by_op(|op| measured.stage_means_ns(op).map(stage_means)),
        waf: waf(measured),
        buffered_units: measured.buffered_units,
        longest_silence_us: Some(measured.longest_silence.as_secs_f64() * 1e6),
        copies: Copies::of(&flash),
        flash,
        sanitised: sanitised(measured),
        wordlines: measured.scope.h_layer.map(|_| wordlines(measured)),
        programmed_again: totals.programmed_again,
        lost_units: totals.lost_units,
        rewrites: Vec::new(),
        spared: None,
        techniques: Vec::new(),
        erases: totals.pages(FlashOp::Erase),
        pages_programmed,
        pages_read,
        read_errors: read_errors(measured),
        utilisation: utilisation(measured),
        in_flight: in_flight(measured),
        saturated: saturated(measured),
        phases: phases(measured),
        jobs: jobs(measured),
        vertrace: None,
        blocks: BlocksResult {
            good: wear.blocks,
            bad: wear.bad,
            retired: totals.retired_blocks,
            free_at_begin: None,
            free_at_end: None,
            erases_min: wear.min,
            erases_mean: wear.mean,
            erases_max: wear.max,
            erases_deviation: wear.deviation,
            cells: None,
        },
        checks: ChecksResult { passed: measured.violations.is_empty(), violations: measured.violations.clone(), not_made: Vec::new() },
        run: run(cost, pages_read + pages_programmed, measured.requests()),
    }
}

fn in_flight(measured: &Measured) -> InFlight {
    InFlight {
        mean: measured.mean_in_flight(),
        littles_law: measured.littles_law(),
        iops_times_latency: measured.iops_times_latency(),
        at_end: measured.held,
    }
}

/// The phase that was left behind furthest.
fn saturated(measured: &Measured) -> Option<SaturatedResult> {
    let saturated = measured.phases.iter().filter_map(|phase| Some((phase, phase.saturation?)));
    let (phase, worst) = saturated.max_by_key(|(_, found)| (found.backlog, found.most))?;
    Some(SaturatedResult {
        phase: phase.name.clone(),
        backlog: worst.backlog,
        most: worst.most,
        queued_share: worst.queued_share,
        growth_per_second: worst.growth_per_second,
        asked_per_second: worst.asked_per_second,
    })
}

fn phases(measured: &Measured) -> Vec<PhaseResult> {
    let result = |phase: &Phase| {
        let measured = &phase.measured;
        let (totals, scope) = (&measured.totals, &measured.scope);
        PhaseResult {
            name: phase.name.clone(),
            start_seconds: phase.start.as_secs_f64(),
            simulated_seconds: measured.elapsed.as_secs_f64(),
            host: host(measured),
            latency_us: by_op(|op| latency(&measured.latencies(op))),
            waf: waf(measured),
            erases: totals.pages(FlashOp::Erase),
            die_utilisation: measured.share(totals.die_ns, scope.dies),
            die_utilisation_with_transfers: measured.share(totals.die_ns + totals.channel_ns, scope.dies),
            channel_utilisation: measured.share(totals.channel_ns, scope.channels),
            in_flight: in_flight(measured),
        }
    };
    if measured.phases.len() > 1 { measured.phases.iter().map(result).collect() } else { Vec::new() }
}

fn jobs(measured: &Measured) -> Vec<JobResult> {
    let result = |job: &JobMeasured| JobResult {
        name: job.name.clone(),
        simulated_seconds: job.measured.elapsed.as_secs_f64(),
        host: host(&job.measured),
        latency_us: by_op(|op| latency(&job.measured.latencies(op))),
    };
    measured.jobs.iter().map(result).collect()
}

fn read_errors(measured: &Measured) -> Option<ReadErrors> {
    let errors = &measured.totals.errors;
    let reads: u64 = errors.retries.iter().sum();
    let retries: u64 = errors.retries.iter().zip(0..).map(|(reads, retries)| reads * retries).sum();
    if errors.bits == 0 && retries == 0 {
        return None;
    }
    let last = errors.retries.iter().rposition(|&reads| reads > 0).unwrap_or(0);
    Some(ReadErrors {
        worst_codeword_mean: errors.bits as f64 / reads as f64,
        worst_codeword_max: errors.most.into(),
        retries_mean: retries as f64 / reads as f64,
        by_retries: errors.retries[..=last].to_vec(),
        uncorrectable: Cause::ALL.iter().map(|&cause| measured.totals.flash(FlashOp::Read, cause).failed).sum(),
    })
}

fn host(measured: &Measured) -> HostResult {
    let count = |op| measured.totals.host(op);
    let iops = |op| measured.per_second(count(op).requests as f64);
    HostResult {
        reads: count(HostOp::Read).requests,
        writes: count(HostOp::Write).requests,
        trims: count(HostOp::Trim).requests,
        trims_freed_nothing: count(HostOp::Trim).freed_nothing,
        flushes: count(HostOp::Flush).requests,
        hints: count(HostOp::Hint).requests,
        failed: measured.failed(),
        failed_by: FailedResult {
            reads: count(HostOp::Read).failed,
            writes: count(HostOp::Write).failed,
            trims: count(HostOp::Trim).failed,
            flushes: count(HostOp::Flush).failed,
        },
        read_bytes: count(HostOp::Read).sectors * SECTOR_BYTES,
        read_blank_bytes: count(HostOp::Read).blank_sectors * SECTOR_BYTES,
        write_bytes: count(HostOp::Write).sectors * SECTOR_BYTES,
        iops: measured.per_second(measured.requests() as f64),
        read_iops: iops(HostOp::Read),
        write_iops: iops(HostOp::Write),
        read_mib_s: measured.mib_per_second(HostOp::Read),
        write_mib_s: measured.mib_per_second(HostOp::Write),
        queue_depth: measured.scope.queue_depth,
    }
}

fn by_op<T>(of: impl Fn(HostOp) -> Option<T>) -> ByOp<T> {
    ByOp { read: of(HostOp::Read), write: of(HostOp::Write), trim: of(HostOp::Trim), flush: of(HostOp::Flush) }
}

fn latency(latencies: &Latencies) -> Option<Latency> {
    let at = |quantile| latencies.quantile(quantile).as_micros_f64();
    (latencies.count() > 0).then(|| Latency {
        count: latencies.count(),
        mean: latencies.mean() / 1e3,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        p9999: at(0.9999),
        max: latencies.max().as_micros_f64(),
    })
}

fn priorities(measured: &Measured) -> Vec<PriorityLatency> {
    let classes = Priority::ALL.into_iter().flat_map(|priority| HostOp::ALL.into_iter().map(move |op| (priority, op)));
    classes
        .filter_map(|(priority, op)| {
            let latency_us = latency(measured.latencies_of(op, priority))?;
            Some(PriorityLatency { priority: priority.name().to_owned(), op: op.name().to_owned(), latency_us })
        })
        .collect()
}

fn stage_means(ns: [f64; 8]) -> StageMeans {
    let [host_queue, core, dram, buffer, die_wait, die, channel, ecc] = ns.map(|stage| stage / 1e3);
    StageMeans { host_queue, core, dram, buffer, die_wait, die, channel, ecc }
}

fn waf(measured: &Measured) -> Waf {
    let totals = &measured.totals;
    let moved = |cause| totals.moved_units(cause);
    Waf {
        total: totals.waf(measured.scope.unit),
        host: measured.per_written_unit(totals.host_units()),
        fill: measured.per_written_unit(moved(Cause::Host) + moved(Cause::Fill)),
        gc: measured.per_written_unit(moved(Cause::Gc)),
        wear: measured.per_written_unit(moved(Cause::Wear)),
        disturb: measured.per_written_unit(moved(Cause::Disturb)),
        retire: measured.per_written_unit(moved(Cause::Retire)),
        sanitise: measured.per_written_unit(moved(Cause::Sanitise)).filter(|part| *part > 0.0),
        keys: measured.per_written_unit(totals.own_units(Cause::Keys)).filter(|part| *part > 0.0),
        refresh: measured.per_written_unit(moved(Cause::Refresh)).filter(|part| *part > 0.0),
        recovery: measured.per_written_unit(totals.own_units(Cause::Recovery)),
        padding: measured.per_written_unit(totals.padding_units() - totals.own_units(Cause::Recovery) - totals.own_units(Cause::Keys)),
    }
}

fn operations(measured: &Measured) -> Vec<FlashResult> {
    let kinds = FlashOp::ALL.into_iter().flat_map(|op| Cause::ALL.into_iter().map(move |cause| (op, cause)));
    kinds
        .filter_map(|(op, cause)| {
            let count = measured.totals.flash(op, cause);
            (count.operations > 0).then(|| FlashResult {
                op: op.name().to_owned(),
                cause: cause.name().to_owned(),
                operations: count.operations,
                pages: count.pages,
                failed: count.failed,
            })
        })
        .collect()
}

fn sanitised(measured: &Measured) -> Option<Sanitised> {
    let [page_locks, block_locks, scrubs, reprograms] = FlashOp::SANITISING.map(|op| measured.totals.operations(op));
    (page_locks + block_locks + scrubs + reprograms > 0).then_some(Sanitised { page_locks, block_locks, scrubs, reprograms })
}

fn wordlines(measured: &Measured) -> Wordlines {
    let told = |count: &WordlineCount| WordlineResult {
        host_programs: count.host_programs,
        programs: count.programs,
        program_us: (count.programs > 0).then(|| count.array_ns as f64 / count.programs as f64 / 1e3),
    };
    Wordlines { leaders: told(&measured.totals.leaders), followers: told(&measured.totals.followers) }
}

fn utilisation(measured: &Measured) -> Utilisation {
    let (totals, scope) = (&measured.totals, &measured.scope);
    let max = |shares: Vec<f64>| shares.into_iter().fold(0.0, f64::max);
    let [link_in, link_out] = totals.link_ns.map(|held| (totals.link_ns != [0; 2]).then(|| measured.share(held, 1)));
    Utilisation {
        die: measured.share(totals.die_ns, scope.dies),
        die_with_transfers: measured.share(totals.die_ns + totals.channel_ns, scope.dies),
        channel: measured.share(totals.channel_ns, scope.channels),
        core: measured.share(totals.core_ns, scope.cores),
        dram: measured.share(totals.dram_ns, 1),
        link_in,
        link_out,
        die_max: max(measured.die_utilisation()),
        channel_max: max(measured.channel_utilisation()),
    }
}

fn run(cost: Cost, flash_pages: u64, requests: u64) -> RunResult {
    let rate = |count: u64| (cost.cpu_seconds > 0.0).then(|| count as f64 / cost.cpu_seconds);
    RunResult {
        cpu_seconds: cost.cpu_seconds,
        wall_seconds: cost.wall_seconds,
        peak_rss_bytes: cost.peak_rss.0,
        flash_pages_per_cpu_second: rate(flash_pages),
        host_requests_per_cpu_second: rate(requests),
    }
}

/// The distribution as a curve: only where it moves by enough to see, and every point of its tail.
fn curve(latencies: &Latencies) -> Vec<(Nanos, f64)> {
    let count = latencies.count() as f64;
    let mut points = Vec::new();
    if count == 0.0 {
        return points;
    }
    points.push((latencies.min(), 0.0));
    let (mut seen, mut drawn) = (0, 0.0);
    for (span, more) in latencies.occupied() {
        seen += more;
        let fraction = seen as f64 / count;
        // Steps of 1 % of what is left above: an even spacing on a scale of nines.
        if fraction - drawn >= 0.01 * (1.0 - drawn) || seen == latencies.count() {
            points.push((span, fraction));
            drawn = fraction;
        }
    }
    points
}
