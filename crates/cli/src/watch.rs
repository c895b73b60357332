//! Who watches a run: the metrics, logs of requests where they were asked for, and VerTrace where it was.

use std::fs::File;
use std::io::BufWriter;

use wordline_engine::{Event, Observer, UnitStep};
use wordline_report::Metrics;
use wordline_report::table::RequestLog;
use wordline_units::Nanos;

/// Metrics, perhaps logs of requests, and perhaps the books of files.
pub(crate) struct Watch<F = ()> {
    pub(crate) metrics: Metrics,
    pub(crate) logs: Vec<RequestLog<BufWriter<File>>>,
    pub(crate) files: F,
}

impl<F> Watch<F> {
    /// The phase called `name` begins at `at`; in an open loop where there is no depth.
    pub(crate) fn begin_phase(&mut self, at: Nanos, name: &str, depth: Option<u32>) {
        self.metrics.begin_phase(at, name, depth);
        self.logs.iter_mut().for_each(|log| log.begin_phase(name));
    }
}

impl<F: Observer> Observer for Watch<F> {
    const FOLLOWS: bool = F::FOLLOWS;

    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.metrics.observe(at, event);
        for log in &mut self.logs {
            log.observe(at, event);
        }
        self.files.observe(at, event);
    }

    fn follow(&mut self, at: Nanos, step: &UnitStep) {
        self.files.follow(at, step);
    }
}
