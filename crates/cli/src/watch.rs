//! Who watches a run: the metrics, the log of requests where it was asked for, and VerTrace where it was.

use std::fs::File;
use std::io::BufWriter;

use wordline_engine::{Event, Observer, UnitStep};
use wordline_report::Metrics;
use wordline_report::table::RequestLog;
use wordline_units::Nanos;

/// Metrics, perhaps a log of requests, and perhaps the books of files.
pub(crate) struct Watch<F = ()> {
    pub(crate) metrics: Metrics,
    pub(crate) log: Option<RequestLog<BufWriter<File>>>,
    pub(crate) files: F,
}

impl<F: Observer> Observer for Watch<F> {
    const FOLLOWS: bool = F::FOLLOWS;

    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.metrics.observe(at, event);
        if let Some(log) = &mut self.log {
            log.observe(at, event);
        }
        self.files.observe(at, event);
    }

    fn follow(&mut self, at: Nanos, step: &UnitStep) {
        self.files.follow(at, step);
    }
}
