//! A trace as the requests of a host.
//!
//! Times start at zero with the earliest record; readers hand out records in the order of their times. A trace without times yields time zero throughout and
//! is meant for a closed loop.

use wordline_units::{HostOp, HostRequest, JobId, Nanos, Priority};

use crate::fit::Placement;
use crate::trace::{TraceError, TraceReader, TraceRecord};

/// How to replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Times between requests are divided by this.
    pub speed: f64,
    /// How many times the trace is played.
    pub repeat: u32,
    /// The class of every request that the trace gives none.
    pub priority: Priority,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions { speed: 1.0, repeat: 1, priority: Priority::Normal }
    }
}

/// A replay that cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The speed factor is not a positive number.
    #[error("a speed of {0} is not a positive number: 10 plays ten times as fast, 0.5 half as fast")]
    Speed(f64),
    /// The trace could not be opened.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// The requests of a trace, played one or more times. `O` opens the trace anew for each time.
pub struct Replay<'a, O> {
    open: O,
    reader: TraceReader<'a>,
    placement: Placement,
    options: ReplayOptions,
    passes_left: u32,
    first: Option<Nanos>,
    origin: Nanos,
    latest: Nanos,
    requests: u64,
    finished: bool,
}

impl<'a, O: FnMut() -> Result<TraceReader<'a>, TraceError>> Replay<'a, O> {
    /// Replay the trace that `open` opens, at the addresses of `placement`.
    pub fn new(mut open: O, placement: Placement, options: ReplayOptions) -> Result<Replay<'a, O>, ReplayError> {
        if !(options.speed.is_finite() && options.speed > 0.0) {
            return Err(ReplayError::Speed(options.speed));
        }
        let reader = open()?;
        Ok(Replay {
            open,
            reader,
            placement,
            options,
            passes_left: options.repeat,
            first: None,
            origin: Nanos::ZERO,
            latest: Nanos::ZERO,
            requests: 0,
            finished: options.repeat == 0,
        })
    }

    /// The reader of the present pass, for its format and the lines it passed over.
    pub fn reader(&self) -> &TraceReader<'a> {
        &self.reader
    }

    fn request(&mut self, record: &TraceRecord) -> Option<HostRequest> {
        let (sector, sectors) = match record.op {
            HostOp::Flush => (0, 0),
            HostOp::Read | HostOp::Write | HostOp::Trim => self.placement.place(record)?,
        };
        if let Some(at) = record.at {
            let first = *self.first.get_or_insert(at);
            // The cast saturates, and 53 bits of nanoseconds are 104 days.
            let since = Nanos((at.saturating_sub(first).0 as f64 / self.options.speed) as u64);
            self.latest = self.latest.max(self.origin.saturating_add(since));
        }
        self.requests += 1;
        Some(HostRequest {
            at: self.latest,
            sector,
            sectors,
            op: record.op,
            priority: record.priority.unwrap_or(self.options.priority),
            fua: record.fua,
            insecure: record.insecure,
            job: JobId(0),
        })
    }

    /// Begin again, one average gap after the last request.
    fn again(&mut self) -> Result<(), TraceError> {
        let span = self.latest.saturating_sub(self.origin).0;
        let gap = span.checked_div(self.requests.saturating_sub(1)).unwrap_or(0);
        self.origin = self.latest.saturating_add(Nanos(gap));
        self.first = None;
        self.requests = 0;
        self.reader = (self.open)()?;
        Ok(())
    }
}

impl<'a, O: FnMut() -> Result<TraceReader<'a>, TraceError>> Iterator for Replay<'a, O> {
    type Item = Result<HostRequest, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.finished {
            match self.reader.next() {
                Some(Ok(record)) if record.volume as usize >= self.placement.volumes() => {
                    self.finished = true;
                    let what = format!("volume {} was not there before", record.volume);
                    return Some(Err(TraceError::Changed { file: self.reader.file().to_owned(), what }));
                }
                Some(Ok(record)) => {
                    if let Some(request) = self.request(&record) {
                        return Some(Ok(request));
                    }
                }
                Some(Err(error)) => {
                    self.finished = true;
                    return Some(Err(error));
                }
                None => {
                    self.passes_left -= 1;
                    if self.passes_left == 0 {
                        self.finished = true;
                    } else if let Err(error) = self.again() {
                        self.finished = true;
                        return Some(Err(error));
                    }
                }
            }
        }
        None
    }
}
