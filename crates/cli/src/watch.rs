//! Who watches a run: the metrics, and the log of requests where it was asked for.

use std::fs::File;
use std::io::BufWriter;

use wordline_engine::{Event, Observer};
use wordline_report::Metrics;
use wordline_report::table::RequestLog;
use wordline_units::Nanos;

/// Metrics, and perhaps a log of requests.
pub(crate) struct Watch {
    pub(crate) metrics: Metrics,
    pub(crate) log: Option<RequestLog<BufWriter<File>>>,
}

impl Observer for Watch {
    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.metrics.observe(at, event);
        if let Some(log) = &mut self.log {
            log.observe(at, event);
        }
    }
}
