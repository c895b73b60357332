//! A trace as the requests of a host.
//!
//! Times start at zero with the earliest record; readers hand out records in the order of their times. A trace without times yields time zero throughout and
//! is meant for a closed loop.

use wordline_units::{Attributes, HostOp, HostRequest, JobId, Nanos, Priority};

use crate::fit::{Changes, Placed, Placement};
use crate::trace::{TraceError, TraceReader, TraceRecord};
use crate::words::did_you_mean;

/// Treatment of records that share one time because the clock of their trace is coarse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WithinTick {
    /// They are spread evenly over the tick, in their order.
    #[default]
    Spread,
    /// They come at once.
    Burst,
}

impl WithinTick {
    /// Every way, the default first.
    pub const ALL: [WithinTick; 2] = [WithinTick::Spread, WithinTick::Burst];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            WithinTick::Spread => "spread",
            WithinTick::Burst => "burst",
        }
    }

    /// The way of this name.
    ///
    /// # Errors
    /// The words that are known.
    pub fn parse(name: &str) -> Result<WithinTick, String> {
        let lower = name.trim().to_ascii_lowercase();
        let known = WithinTick::ALL.map(WithinTick::name);
        let found = WithinTick::ALL.into_iter().find(|within| within.name() == lower);
        found.ok_or_else(|| format!("'{name}' is no way to play a tick; known are {}{}", known.join(", "), did_you_mean(&lower, known)))
    }
}

/// How to replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Times between requests are divided by this.
    pub speed: f64,
    /// How many times the trace is played.
    pub repeat: u32,
    /// The class of every request that the trace gives none.
    pub priority: Priority,
    /// The tick over which records with the same time are spread; `None` plays them at once.
    pub spread: Option<Nanos>,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions { speed: 1.0, repeat: 1, priority: Priority::Normal, spread: None }
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

/// A reader ahead of the one that is played, which counts the records of each time.
struct Ahead<'a> {
    reader: TraceReader<'a>,
    tick: Nanos,
    next: Option<Nanos>,
    at: Option<Nanos>,
    records: u64,
    passed: u64,
}

impl<'a> Ahead<'a> {
    fn new(reader: TraceReader<'a>, tick: Nanos) -> Ahead<'a> {
        Ahead { reader, tick, next: None, at: None, records: 0, passed: 0 }
    }

    /// When the next record of the trace comes, whose time is `at`. Of several with one time, the first keeps it.
    fn place(&mut self, at: Nanos) -> Nanos {
        if self.at != Some(at) {
            (self.at, self.records, self.passed) = (Some(at), self.count(at), 0);
        }
        let into = u128::from(self.tick.0) * u128::from(self.passed) / u128::from(self.records.max(1));
        self.passed += 1;
        at.saturating_add(Nanos(u64::try_from(into).unwrap_or(u64::MAX)))
    }

    /// The number of records with the time `at`. A line that cannot be read ends the count; the reader that is played tells of it.
    fn count(&mut self, at: Nanos) -> u64 {
        let mut count = 0;
        loop {
            let next = self.next.take().or_else(|| self.reader.next()?.ok()?.at);
            match next {
                Some(next) if next == at => count += 1,
                later => {
                    self.next = later;
                    return count;
                }
            }
        }
    }
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
    ahead: Option<Ahead<'a>>,
    /// Rest of a request that was split, and the number of sectors that it has.
    rest: Option<(HostRequest, u64)>,
    changes: Changes,
}

impl<'a, O> Replay<'a, O>
where
    O: FnMut() -> Result<TraceReader<'a>, TraceError>,
{
    /// Replay the trace that `open` opens, at the addresses of `placement`.
    pub fn new(mut open: O, placement: Placement, options: ReplayOptions) -> Result<Replay<'a, O>, ReplayError> {
        if !(options.speed.is_finite() && options.speed > 0.0) {
            return Err(ReplayError::Speed(options.speed));
        }
        let reader = open()?;
        let ahead = options.spread.map(|tick| open().map(|reader| Ahead::new(reader, tick))).transpose()?;
        Ok(Replay {
            ahead,
            rest: None,
            changes: Changes::default(),
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

    /// Where the volumes lie.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Changes to the requests that were played so far.
    pub fn changes(&self) -> Changes {
        self.changes
    }

    fn request(&mut self, record: &TraceRecord) -> Option<HostRequest> {
        let at = record.at.map(|at| self.ahead.as_mut().map_or(at, |ahead| ahead.place(at)));
        let Placed { sector, sectors, rest } = match record.op {
            HostOp::Flush => Placed { sector: 0, sectors: 0, rest: 0 },
            HostOp::Read | HostOp::Write | HostOp::Trim | HostOp::Hint => self.placement.place(record, &mut self.changes)?,
        };
        if let Some(at) = at {
            let first = *self.first.get_or_insert(at);
            // The cast saturates, and 53 bits of nanoseconds are 104 days.
            let since = Nanos((at.saturating_sub(first).0 as f64 / self.options.speed) as u64);
            self.latest = self.latest.max(self.origin.saturating_add(since));
        }
        self.requests += 1;
        let request = HostRequest {
            at: self.latest,
            sector,
            sectors,
            op: record.op,
            attributes: Attributes::of(record.priority.unwrap_or(self.options.priority))
                .with_secure(!record.insecure)
                .with_tolerance(record.tolerance),
            fua: record.fua,
            job: JobId(0),
        };
        self.rest = (rest > 0).then_some((request, rest));
        Some(request)
    }

    /// The next piece of a request that was split, from the beginning of the drive on.
    fn piece(&mut self) -> Option<HostRequest> {
        let (request, left) = self.rest.take()?;
        let sectors = left.min(self.placement.sectors());
        self.rest = (left > sectors).then_some((request, left - sectors));
        Some(HostRequest { sector: 0, sectors: u32::try_from(sectors).unwrap_or(u32::MAX), ..request })
    }

    /// Begin again, one average gap after the last request.
    fn again(&mut self) -> Result<(), TraceError> {
        let span = self.latest.saturating_sub(self.origin).0;
        let gap = span.checked_div(self.requests.saturating_sub(1)).unwrap_or(0);
        self.origin = self.latest.saturating_add(Nanos(gap));
        self.first = None;
        self.requests = 0;
        self.reader = (self.open)()?;
        if let Some(tick) = self.options.spread {
            self.ahead = Some(Ahead::new((self.open)()?, tick));
        }
        Ok(())
    }
}

impl<'a, O: FnMut() -> Result<TraceReader<'a>, TraceError>> Iterator for Replay<'a, O> {
    type Item = Result<HostRequest, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(piece) = self.piece() {
            return Some(Ok(piece));
        }
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
