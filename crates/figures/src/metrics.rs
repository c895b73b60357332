//! The observer that every figure comes from.

use wordline_engine::{Completion, Event, FlashEvent, Observer};
use wordline_units::{FlashOp, HostOp, Id, Nanos, Priority, Tolerance};

use crate::backlog::Backlog;
use crate::checks::Checks;
use crate::histogram::Latencies;
use crate::job::JobBooks;
use crate::measured::{Measured, Phase};
use crate::scope::Scope;
use crate::series::{Part, Series};
use crate::silence::Silence;
use crate::tolerances::HintedReads;
use crate::totals::Totals;
use crate::violation::{Account, Violation};
use crate::waits::Waits;

/// Counts, histograms, time series and self-checks over a stream of events.
///
/// All tables are sized when it is made; an event allocates nothing, except that the first request of a class brings its histogram into being, a
/// row of the time series is written when its interval ends, and hints of tolerated latency are kept by range. Counting starts at the first event
/// and may be restarted with [`Metrics::reset`]; the self-checks run from the first event to the last and are never reset.
#[derive(Clone, Debug)]
pub struct Metrics {
    scope: Scope,
    checks: Checks,
    window: Nanos,
    totals: Totals,
    at_reset: Totals,
    integral_at_reset: u128,
    spent_at_reset: u128,
    // Those of the phase that goes on, and of the phases of the window before it.
    latencies: [[Latencies; Priority::ALL.len()]; HostOp::ALL.len()],
    earlier: [[Latencies; Priority::ALL.len()]; HostOp::ALL.len()],
    phase: Start,
    phases: Vec<Phase>,
    jobs: JobBooks,
    backlog: Backlog,
    silence: Silence,
    waits: Waits,
    /// Reads by class, from the first hint on.
    hinted: Option<Box<HintedReads>>,
    die_ns: Vec<u64>,
    channel_ns: Vec<u64>,
    // The longest single use, which may have begun before the window.
    core_longest: Nanos,
    dram_longest: Nanos,
    link_longest: Nanos,
    series: Series,
    worn_out: Option<Nanos>,
    /// Units of new host data in the last operation, if it ended well.
    last_host_units: u32,
}

/// Where a phase began, to take differences from.
#[derive(Clone, Debug, Default)]
struct Start {
    name: String,
    queue_depth: Option<u32>,
    at: Nanos,
    totals: Totals,
    integral: u128,
    spent: u128,
}

impl Metrics {
    /// An observer of a drive of this scope, measuring from the start of the run.
    pub fn new(scope: Scope) -> Metrics {
        let totals = Totals::default();
        Metrics {
            scope,
            checks: Checks::new(scope.dies, scope.channels),
            window: Nanos::ZERO,
            totals,
            at_reset: totals,
            integral_at_reset: 0,
            spent_at_reset: 0,
            latencies: Default::default(),
            earlier: Default::default(),
            phase: Start { queue_depth: scope.queue_depth, ..Start::default() },
            phases: Vec::new(),
            jobs: JobBooks::default(),
            backlog: Backlog::default(),
            silence: Silence::default(),
            waits: Waits::new(scope.dies),
            hinted: None,
            die_ns: vec![0; scope.dies as usize],
            channel_ns: vec![0; scope.channels as usize],
            core_longest: Nanos::ZERO,
            dram_longest: Nanos::ZERO,
            link_longest: Nanos::ZERO,
            series: Series::new(scope.interval, Nanos::ZERO, &totals, 0),
            worn_out: None,
            last_host_units: 0,
        }
    }

    /// Begin the measured window at `at`, no earlier than the last event: what happened before, such as preconditioning, is not counted.
    /// Requests in flight count when they complete, with their whole latency.
    pub fn reset(&mut self, at: Nanos) {
        let at = self.checks.clock(at);
        self.checks.compare(at);
        self.window = at;
        self.at_reset = self.totals;
        self.integral_at_reset = self.checks.integral_at(at);
        self.spent_at_reset = self.checks.spent_at(at);
        self.latencies.iter_mut().chain(&mut self.earlier).flatten().for_each(Latencies::clear);
        self.phases.clear();
        self.waits.reset();
        self.hinted.iter_mut().for_each(|hinted| hinted.reset());
        self.jobs.restart(at);
        self.start_phase(at);
        self.die_ns.fill(0);
        self.channel_ns.fill(0);
        self.core_longest = Nanos::ZERO;
        self.dram_longest = Nanos::ZERO;
        self.link_longest = Nanos::ZERO;
        self.silence = Silence::from(at);
        self.series = Series::new(self.scope.interval, at, &self.totals, self.integral_at_reset);
    }

    /// Begin a phase of the workload at `at`, no earlier than the last event: its figures are kept by themselves, too. `queue_depth` is `None` in an open loop.
    pub fn begin_phase(&mut self, at: Nanos, name: &str, queue_depth: Option<u32>) {
        let at = self.checks.clock(at);
        if at > self.window || !self.phases.is_empty() {
            self.end_phase(at);
        }
        (self.phase.name, self.phase.queue_depth) = (name.to_owned(), queue_depth);
        self.start_phase(at);
    }

    /// Begin jobs at `at`, no earlier than the last event, with the name of each and its queue depth if it is a closed loop: the figures of each are kept by
    /// themselves, too. Requests tell which job they are of.
    pub fn begin_jobs<'a>(&mut self, at: Nanos, jobs: impl Iterator<Item = (&'a str, Option<u32>)>) {
        self.jobs.begin(self.checks.clock(at), jobs);
    }

    /// The phase that goes on is measured from `at`.
    fn start_phase(&mut self, at: Nanos) {
        self.backlog = Backlog::default();
        (self.phase.at, self.phase.totals) = (at, self.totals);
        (self.phase.integral, self.phase.spent) = (self.checks.integral_at(at), self.checks.spent_at(at));
    }

    fn end_phase(&mut self, at: Nanos) {
        let start = &self.phase;
        let is_open = start.queue_depth.is_none();
        let totals = self.totals.since(&start.totals);
        self.phases.push(Phase {
            name: start.name.clone(),
            start: start.at - self.window,
            queue_depth: start.queue_depth,
            saturation: self.backlog.saturation(at, totals.queued_share()).filter(|_| is_open),
            measured: Measured {
                scope: Scope { queue_depth: start.queue_depth, ..self.scope },
                elapsed: at - start.at,
                totals,
                in_flight_ns: self.checks.integral_at(at) - start.integral,
                spent_ns: self.checks.spent_at(at).saturating_sub(start.spent),
                held: self.checks.in_flight(),
                latencies: self.latencies.clone(),
                ..Measured::empty(self.scope)
            },
        });
        for (all, these) in self.earlier.iter_mut().flatten().zip(self.latencies.iter_mut().flatten()) {
            all.merge(these);
            these.clear();
        }
    }

    /// The counters of the measured window so far.
    pub fn so_far(&self) -> Totals {
        self.totals.since(&self.at_reset)
    }

    /// The measured window so far: from the start or the last reset to the last event.
    pub fn elapsed(&self) -> Nanos {
        self.checks.now() - self.window
    }

    /// Requests that arrived and have not completed.
    pub fn in_flight(&self) -> u64 {
        self.checks.in_flight()
    }

    /// What is wrong so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.checks.violations()
    }

    /// Hold the drive to the conservation of valid mapping units over the measured window: `before` were valid at its start, and `after` are valid now,
    /// with no program in progress at either instant.
    pub fn check_valid_units(&mut self, before: u64, after: u64) {
        let window = self.so_far();
        let (programmed, invalidated) = (window.host_units() - window.failed_units, window.invalidated_units);
        if i128::from(before) + i128::from(programmed) - i128::from(invalidated) != i128::from(after) {
            self.checks.violated(Account::ValidUnits, || {
                format!("{before} valid units + {programmed} programmed - {invalidated} invalidated is not {after}")
            });
        }
    }

    /// End the measured window at `at`, no earlier than the last event, at which the drive itself says that it still holds `held` requests:
    /// none when the workload ran to its end.
    pub fn finish(mut self, at: Nanos, held: u64) -> Measured {
        self.checks.close(at, held);
        let end = self.checks.now();
        if end >= self.series.next() {
            self.roll(end);
        }
        if end > self.series.start() {
            self.series.close_row(end, &self.totals, self.checks.integral_at(end));
        }
        let elapsed = end - self.window;
        self.check_capacity(elapsed);
        self.end_phase(end);
        let window = self.totals.since(&self.at_reset);
        Measured {
            scope: self.scope,
            elapsed,
            totals: window,
            in_flight_ns: self.checks.integral_at(end) - self.integral_at_reset,
            spent_ns: self.checks.spent_at(end).saturating_sub(self.spent_at_reset),
            held: self.checks.in_flight(),
            longest_silence: self.silence.longest(end, self.checks.in_flight()),
            buffered_units: None,
            phases: self.phases,
            waited: self.waits.finish(),
            by_tolerance: self.hinted.map(|hinted| hinted.finish(window.host(HostOp::Read).requests)),
            jobs: self.jobs.close(self.scope),
            latencies: self.earlier,
            die_ns: self.die_ns,
            channel_ns: self.channel_ns,
            rows: self.series.rows().to_vec(),
            worn_out: self.worn_out,
            violations: self.checks.violations(),
        }
    }

    fn check_capacity(&mut self, elapsed: Nanos) {
        let used = self.totals.since(&self.at_reset);
        let cores = u64::from(self.scope.cores.max(1));
        let [link_in, link_out] = used.link_ns;
        let parts = [
            ("firmware cores", cores, used.core_ns, self.core_longest),
            ("DRAM", 1, used.dram_ns, self.dram_longest),
            ("host link inwards", 1, link_in, self.link_longest),
            ("host link outwards", 1, link_out, self.link_longest),
        ];
        for (name, count, busy, longest) in parts {
            if u128::from(busy) > u128::from(count) * u128::from(elapsed.0 + longest.0) {
                self.checks.violated(Account::CoreAndDramCapacity, || format!("{name} ({count}) held for {busy} ns in {} ns", elapsed.0));
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn roll(&mut self, at: Nanos) {
        while at >= self.series.next() {
            let border = self.series.next();
            self.series.close_row(border, &self.totals, self.checks.integral_at(border));
        }
    }

    #[inline]
    fn completed(&mut self, at: Nanos, done: &Completion) {
        let latency = self.checks.completed(at, done);
        self.silence.answered(at);
        self.totals.complete(done);
        self.jobs.completed(at, done, latency);
        // What the device took in before the window may have held them before it.
        if done.arrived + done.stages.host_queue >= self.window {
            self.totals.core_ns += done.core.0;
            self.totals.dram_ns += done.dram.0;
        }
        self.waits.completed(done);
        if self.hinted.is_some() || done.attributes.tolerance != Tolerance::Default {
            self.completed_hinted(done);
        }
        if done.ok {
            self.latencies[done.op as usize][done.attributes.priority as usize].record(latency);
            self.series.record(done.op, latency);
        }
    }

    /// Count a request of a load with hints.
    #[cold]
    #[inline(never)]
    fn completed_hinted(&mut self, done: &Completion) {
        let Scope { read_limits: Some(limits), unit, .. } = self.scope else { return };
        // Tolerances of reads and trims declare nothing.
        if self.hinted.is_some() || matches!(done.op, HostOp::Hint | HostOp::Write) {
            self.hinted.get_or_insert_with(|| Box::new(HintedReads::new(limits, unit))).completed(done);
        }
    }

    #[inline(always)]
    fn flash(&mut self, at: Nanos, flash: &FlashEvent) {
        if !self.checks.flash(at, flash) {
            return;
        }
        self.totals.operate(flash);
        self.last_host_units = if flash.ok { flash.host_units.into() } else { 0 };
        self.waits.operated(at, flash);
        if flash.op == FlashOp::Program
            && let Some(layer) = &self.scope.h_layer
        {
            self.totals.program_wordline(flash, layer.leads(flash.page));
        }
        self.die_ns[flash.die.index()] += flash.array.0;
        self.channel_ns[flash.channel.index()] += flash.bus.0;
        self.core_longest = self.core_longest.max(flash.core);
        self.dram_longest = self.dram_longest.max(flash.dram);
        self.link_longest = self.link_longest.max(flash.link);
        let row = at.saturating_sub(self.series.start());
        if flash.array > row || flash.bus > row {
            self.book_earlier(row, flash);
        }
    }

    /// Part of the work was done before this row; what was done before the window does not count.
    #[cold]
    #[inline(never)]
    fn book_earlier(&mut self, row: Nanos, flash: &FlashEvent) {
        if flash.array > row {
            let before = self.series.book_earlier(Part::Die, (flash.array - row).0);
            self.totals.die_ns -= before;
            self.die_ns[flash.die.index()] -= before;
        }
        if flash.bus > row {
            let before = self.series.book_earlier(Part::Channel, (flash.bus - row).0);
            self.totals.channel_ns -= before;
            self.channel_ns[flash.channel.index()] -= before;
        }
    }
}

impl Observer for Metrics {
    // One call for a batch of events, and not one for each.
    #[inline(always)]
    fn observe(&mut self, at: Nanos, event: &Event) {
        let at = self.checks.clock(at);
        if at >= self.series.next() {
            self.roll(at);
        }
        match event {
            Event::Arrived { request, op, attributes, sectors } => {
                self.silence.asked(at, self.checks.in_flight());
                self.checks.arrived(at, *request, *op, *attributes, *sectors);
                self.backlog.arrive(at, self.checks.in_flight());
            }
            Event::Completed(done) => self.completed(at, done),
            Event::Flash(flash) => self.flash(at, flash),
            Event::Invalidated { units, .. } => self.totals.invalidated_units += u64::from(*units),
            Event::Retired { .. } => self.totals.retired_blocks += 1,
            Event::Exposed { .. } => self.totals.exposed_blocks += 1,
            Event::ProgrammedAgain { .. } => {
                self.totals.programmed_again += 1;
                // It follows the end of the program that did not land.
                self.totals.failed_units += u64::from(std::mem::take(&mut self.last_host_units));
            }
            Event::DataLost { units, .. } => self.totals.lost_units += u64::from(*units),
            // The cost of a failed die shows in the requests that fail.
            Event::DieSuspected { .. } | Event::DieFailed { .. } | Event::UnitsLost { .. } | Event::UnitsHealed { .. } => {}
            Event::Harmed { .. } => {}
            Event::WornOut => self.worn_out = self.worn_out.or(Some(at)),
            Event::Stopped { kind, how, .. } => self.waits.stopped(*kind, *how),
        }
    }
}
