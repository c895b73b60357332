//! Observers of a run: the metrics, VerTrace where it was asked for, and whoever else watches.

use std::io::Write;

use wordline_engine::{Event, Observer, UnitStep};
use wordline_figures::Metrics;
use wordline_pages::table::RequestLog;
use wordline_pages::timeline::Timeline;
use wordline_units::Nanos;

/// An observer beside the metrics, told of the run what no event says.
pub trait Beside: Observer + Sized {
    /// Hears how the run came about, name by name.
    fn mark(&mut self, _about: &[(String, String)]) {}

    /// Hears that the phase called `name` begins.
    fn begin_phase(&mut self, _name: &str) {}

    /// Hears that the measured window begins only now, at `from`.
    fn start_at(&mut self, _from: Nanos) {}
}

impl Beside for () {}

impl<A: Beside, B: Beside> Beside for (A, B) {
    fn mark(&mut self, about: &[(String, String)]) {
        self.0.mark(about);
        self.1.mark(about);
    }

    fn begin_phase(&mut self, name: &str) {
        self.0.begin_phase(name);
        self.1.begin_phase(name);
    }

    fn start_at(&mut self, from: Nanos) {
        self.0.start_at(from);
        self.1.start_at(from);
    }
}

impl Beside for Timeline {
    fn mark(&mut self, about: &[(String, String)]) {
        Timeline::mark(self, about);
    }

    fn start_at(&mut self, from: Nanos) {
        Timeline::start_at(self, from);
    }
}

/// Logs of requests.
pub struct Logs<W: Write + Send>(Vec<RequestLog<W>>);

impl<W: Write + Send> Logs<W> {
    /// Several logs of the same requests.
    pub fn new(logs: Vec<RequestLog<W>>) -> Logs<W> {
        Logs(logs)
    }

    /// The logs, to be finished.
    pub fn into_each(self) -> impl Iterator<Item = RequestLog<W>> {
        self.0.into_iter()
    }
}

impl<W: Write + Send> Observer for Logs<W> {
    #[inline(always)]
    fn observe(&mut self, at: Nanos, event: &Event) {
        // Most runs have none, and hear of ten events for each request.
        if !self.0.is_empty() {
            self.0.iter_mut().for_each(|log| log.observe(at, event));
        }
    }
}

impl<W: Write + Send> Beside for Logs<W> {
    fn mark(&mut self, about: &[(String, String)]) {
        self.0.iter_mut().for_each(|log| log.mark(about));
    }

    fn begin_phase(&mut self, name: &str) {
        self.0.iter_mut().for_each(|log| log.begin_phase(name));
    }

    fn start_at(&mut self, from: Nanos) {
        self.0.iter_mut().for_each(|log| log.start_at(from));
    }
}

/// The observers of a run.
#[derive(Debug)]
pub struct Watch<F = (), B = ()> {
    metrics: Metrics,
    files: F,
    beside: B,
    /// Whether the window has ended, and what follows is none of the workload's.
    is_over: bool,
}

impl<F, B> Watch<F, B> {
    /// Observers that have seen nothing yet.
    pub(crate) fn new(metrics: Metrics, files: F, beside: B) -> Watch<F, B> {
        Watch { metrics, files, beside, is_over: false }
    }

    /// The metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(crate) fn metrics_mut(&mut self) -> &mut Metrics {
        &mut self.metrics
    }

    pub(crate) fn files(&self) -> &F {
        &self.files
    }

    pub(crate) fn files_mut(&mut self) -> &mut F {
        &mut self.files
    }

    /// The observer beside the metrics.
    pub fn beside_mut(&mut self) -> &mut B {
        &mut self.beside
    }

    /// Ends the window: the observer beside the metrics hears of nothing that follows.
    pub(crate) fn end_window(&mut self) {
        self.is_over = true;
    }

    /// The observer of files, which saw the drive come to rest, and the one beside the metrics, which did not.
    pub fn into_parts(self) -> (F, B) {
        (self.files, self.beside)
    }
}

impl<F, B: Beside> Watch<F, B> {
    /// Begins the phase called `name` at `at`; in an open loop where there is no depth.
    pub(crate) fn begin_phase(&mut self, at: Nanos, name: &str, depth: Option<u32>) {
        self.metrics.begin_phase(at, name, depth);
        self.beside.begin_phase(name);
    }

    /// Begins jobs at `at`, with the name and the queue depth of each.
    pub(crate) fn begin_jobs<'a>(&mut self, at: Nanos, jobs: impl Iterator<Item = (&'a str, Option<u32>)>) {
        self.metrics.begin_jobs(at, jobs);
    }

    /// Begins the measured window at `at`: what was before is forgotten.
    pub fn measure_from(&mut self, at: Nanos) {
        self.metrics.reset(at);
        self.beside.start_at(at);
    }
}

impl<F: Observer, B: Observer> Observer for Watch<F, B> {
    fn follows(&self) -> bool {
        self.files.follows() || self.beside.follows()
    }

    #[inline(always)]
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.metrics.observe(at, event);
        if !self.is_over {
            self.beside.observe(at, event);
        }
        self.files.observe(at, event);
    }

    fn follow(&mut self, at: Nanos, step: &UnitStep) {
        if !self.is_over && self.beside.follows() {
            self.beside.follow(at, step);
        }
        if self.files.follows() {
            self.files.follow(at, step);
        }
    }
}
