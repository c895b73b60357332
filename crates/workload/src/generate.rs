//! Requests from a workload: the same seed, workload and capacity give the same requests on every machine.
//!
//! Each phase has dice of its own for addresses, mixture and arrivals, so changing one phase leaves the others alone. A request
//! takes one number for the mixture, if there is anything to choose, and as many as its pattern needs for the address. A phase with a tolerance begins with the
//! hint for its part of the drive.

mod arrival;
mod jobs;
mod pattern;
mod scatter;
mod zipf;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, Bytes, HostOp, HostRequest, Nanos, Priority, Tolerance};

use crate::spec::{Arrival, Gaps, PhaseSpec, SpecError, WorkloadSpec};
use arrival::Clock;
pub use jobs::JobsGenerator;
use pattern::{Pattern, Space};

/// Shares are compared with so many random bits.
const SHARE_BITS: u32 = 24;

/// The requests of a workload on a drive of some capacity.
#[derive(Clone, Debug)]
pub struct Generator {
    phases: Vec<Phase>,
    current: usize,
}

/// One phase while it runs.
#[derive(Clone, Debug)]
pub struct Phase {
    name: String,
    first_sector: u64,
    space: Space,
    /// Upper bounds of read, write and trim; the rest flushes.
    ops: [u32; 3],
    fua: u32,
    /// Hint for the phase's part of the drive that is still to come, and the sectors that it covers from `first_sector` on.
    hint: Option<(Tolerance, u64)>,
    hinted: u64,
    /// Writes until the next flush and between flushes; where there are none, more than ever come. Zero too while a hint is to come.
    writes_left: u64,
    flush_every: u64,
    /// Upper bound of each size, in the order of the sizes.
    sizes: Vec<u32>,
    chooses: bool,
    pattern: Pattern,
    addresses: Draw,
    mixture: Draw,
    clock: Option<Clock>,
    queue_depth: Option<u32>,
    gaps: Option<Gaps>,
    priority: Priority,
    requests_left: u64,
    sectors_left: u64,
    time_limit: Option<Nanos>,
    begins: Nanos,
    latest: Nanos,
}

/// A share as a bound on random bits.
fn bound(share: f64) -> u32 {
    libm::round(share.clamp(0.0, 1.0) * f64::from(1u32 << SHARE_BITS)) as u32
}

/// The bounds of consecutive shares. From the last share above zero on they are open, so that rounding never lets through what has
/// no share.
fn bounds(shares: impl Iterator<Item = f64>) -> Vec<u32> {
    let shares: Vec<f64> = shares.collect();
    let last = shares.iter().rposition(|share| *share > 0.0).unwrap_or(0);
    let mut sum = 0.0;
    let bound_of = |(index, share): (usize, &f64)| {
        sum += share;
        if index >= last { 1 << SHARE_BITS } else { bound(sum) }
    };
    shares.iter().enumerate().map(bound_of).collect()
}

impl Phase {
    fn new(spec: &PhaseSpec, number: u32, seed: u64, capacity: Bytes) -> Result<Phase, String> {
        let start = spec.start.on(capacity).0.div_ceil(SECTOR_BYTES);
        let room = (capacity.0 / SECTOR_BYTES).saturating_sub(start);
        let span = (spec.span.on(capacity).0 / SECTOR_BYTES).min(room);
        let whole = |size: Bytes| size.0 > 0 && size.0.is_multiple_of(SECTOR_BYTES) && size.0 / SECTOR_BYTES <= u64::from(u32::MAX);
        if spec.sizes.is_empty() || spec.sizes.iter().any(|(size, _)| !whole(*size)) {
            return Err("sizes are multiples of 512 B above zero".to_owned());
        }
        let sizes: Vec<u32> = spec.sizes.iter().map(|(size, _)| (size.0 / SECTOR_BYTES) as u32).collect();
        let least = u64::from(sizes.iter().copied().min().unwrap_or(1));
        let most = u64::from(sizes.iter().copied().max().unwrap_or(1));
        let align = spec.align.map_or(least, |align| (align.0 / SECTOR_BYTES).max(1));
        if most > span {
            let (size, room) = (Bytes(most * SECTOR_BYTES), Bytes(span * SECTOR_BYTES));
            return Err(format!("a request of {size} does not fit the {room} that it may use of this drive of {capacity}"));
        }
        let mix = [spec.mix.read, spec.mix.write, spec.mix.trim, spec.mix.flush];
        if mix.iter().any(|share| !(0.0..=1.0).contains(share)) || (mix.iter().sum::<f64>() - 1.0).abs() > 1e-6 {
            return Err("the shares of the mix do not sum to 100 %".to_owned());
        }
        let (clock, queue_depth) = match spec.arrival {
            Arrival::Closed { queue_depth, .. } => (None, Some(queue_depth.max(1))),
            Arrival::Open { rate, process, burst } => {
                (Some(Clock::new(rate.on(capacity), process, burst, Draw::new(seed, Stream::Arrival, number))?), None)
            }
        };
        if spec.limit.requests.is_none() && spec.limit.bytes.is_none() && spec.limit.time.is_none() {
            return Err("it needs an end: requests, bytes or time".to_owned());
        }
        if spec.flush_every == Some(0) {
            return Err("a flush follows after at least one write".to_owned());
        }
        if spec.mix.flush >= 1.0 && spec.limit.requests.is_none() && spec.limit.time.is_none() {
            return Err("flushes move no bytes, so a limit of bytes alone never ends it".to_owned());
        }
        let ops = bounds(mix.into_iter());
        let space = Space::new(span, align, least, sizes);
        let several = mix.iter().filter(|share| **share > 0.0).count() > 1;
        Ok(Phase {
            name: spec.name.clone(),
            first_sector: start,
            pattern: Pattern::new(&spec.address, &space, seed)?,
            chooses: several || space.sizes.len() > 1 || spec.fua > 0.0,
            ops: [ops[0], ops[1], ops[2]],
            fua: bound(spec.fua) >> (SHARE_BITS - 16),
            hint: spec.tolerance.map(|tolerance| (tolerance, span)),
            hinted: 0,
            writes_left: if spec.tolerance.is_some() { 0 } else { spec.flush_every.unwrap_or(u64::MAX) },
            flush_every: spec.flush_every.unwrap_or(u64::MAX),
            sizes: bounds(spec.sizes.iter().map(|(_, share)| *share)),
            space,
            addresses: Draw::new(seed, Stream::Address, number),
            mixture: Draw::new(seed, Stream::Mix, number),
            clock,
            queue_depth,
            gaps: spec.gaps(),
            priority: spec.priority,
            requests_left: spec.limit.requests.unwrap_or(u64::MAX),
            sectors_left: spec.limit.bytes.map_or(u64::MAX, |bytes| bytes.on(capacity).0.div_ceil(SECTOR_BYTES)),
            time_limit: spec.limit.time,
            begins: Nanos::ZERO,
            latest: Nanos::ZERO,
        })
    }

    /// The name in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many requests are outstanding; `None` in an open loop.
    pub fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    /// Gaps between requests of a closed loop, if there are any.
    pub fn gaps(&self) -> Option<Gaps> {
        self.gaps
    }

    /// How long the phase lasts at most. In a closed loop the driver has to call [`Generator::end_phase`] when it is over.
    pub fn time_limit(&self) -> Option<Nanos> {
        self.time_limit
    }

    /// The time from which the phase's requests count, which is that of the last request of the phase before. A driver that starts
    /// the phase only after all earlier requests are answered subtracts it.
    pub fn begins(&self) -> Nanos {
        self.begins
    }

    // The one stream of most workloads pays for no call because jobs have several.
    #[inline(always)]
    fn next(&mut self) -> Option<HostRequest> {
        if self.writes_left == 0 {
            return Some(self.next_aside());
        }
        if self.requests_left == 0 || self.sectors_left == 0 {
            return None;
        }
        let at = match &mut self.clock {
            None => self.begins,
            Some(clock) => {
                let since = clock.next();
                if self.time_limit.is_some_and(|limit| since >= limit) {
                    self.requests_left = 0;
                    return None;
                }
                self.begins.saturating_add(since)
            }
        };
        self.latest = at;
        self.requests_left -= 1;
        let bits = if self.chooses { self.mixture.next_u64() } else { 0 };
        let (op, size, fua) = self.choose(bits);
        if op == HostOp::Flush {
            return Some(HostRequest { at, attributes: Attributes::of(self.priority), ..HostRequest::new(op, 0, 0) });
        }
        let (start, sectors) = (self.pattern.next(&self.space, size, &mut self.addresses), self.space.sizes[size].sectors);
        self.sectors_left = self.sectors_left.saturating_sub(u64::from(sectors));
        self.writes_left -= u64::from(op == HostOp::Write);
        Some(HostRequest { at, attributes: Attributes::of(self.priority), fua, ..HostRequest::new(op, self.first_sector + start, sectors) })
    }

    /// The hint of the phase, or the next part of it if it has more sectors than a request; then the flush after so many writes.
    #[cold]
    fn next_aside(&mut self) -> HostRequest {
        let (at, attributes) = (self.latest, Attributes::of(self.priority));
        let Some((tolerance, sectors)) = self.hint else {
            self.writes_left = self.flush_every;
            return HostRequest { at, attributes, ..HostRequest::new(HostOp::Flush, 0, 0) };
        };
        let from = self.first_sector + self.hinted;
        let piece = u32::try_from(sectors - self.hinted).unwrap_or(u32::MAX);
        self.hinted += u64::from(piece);
        if self.hinted == sectors {
            (self.hint, self.writes_left) = (None, self.flush_every);
        }
        HostRequest { at, attributes: attributes.with_tolerance(tolerance), ..HostRequest::new(HostOp::Hint, from, piece) }
    }

    /// What to do, with which of the sizes, and whether with unit access: three disjoint groups of bits, one for each.
    #[inline]
    fn choose(&self, bits: u64) -> (HostOp, usize, bool) {
        // Counting the bounds passed needs no branch, and a branch on dice is mispredicted as often as it can be.
        let low = bits as u32 & ((1 << SHARE_BITS) - 1);
        let op = HostOp::ALL[self.ops.iter().map(|bound| usize::from(low >= *bound)).sum::<usize>()];
        let middle = (bits >> SHARE_BITS) as u32 & ((1 << SHARE_BITS) - 1);
        let size = self.sizes.iter().map(|bound| usize::from(middle >= *bound)).sum();
        let high = (bits >> (2 * SHARE_BITS)) as u32;
        (op, size, op == HostOp::Write && high < self.fua)
    }
}

impl Generator {
    /// The requests of the workload `spec` on a drive of `capacity`.
    pub fn new(spec: &WorkloadSpec, seed: u64, capacity: Bytes) -> Result<Generator, SpecError> {
        if spec.phases.is_empty() {
            return Err(SpecError::of(&spec.name, "(none)", "a workload needs at least one phase"));
        }
        let phases = spec.phases.iter().zip(0..).map(|(phase, number)| {
            Phase::new(phase, number, seed, capacity).map_err(|message| SpecError::of(&spec.name, &phase.name, message))
        });
        Ok(Generator { phases: phases.collect::<Result<_, _>>()?, current: 0 })
    }

    /// All phases, in order.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The number of the phase that the next request comes from, if that phase has one left; equal to the number of phases at the end.
    pub fn phase_number(&self) -> usize {
        self.current
    }

    /// The present phase; `None` at the end.
    pub fn phase(&self) -> Option<&Phase> {
        self.phases.get(self.current)
    }

    /// How many requests are outstanding in the present phase; `None` in an open loop and at the end.
    pub fn queue_depth(&self) -> Option<u32> {
        self.phase().and_then(Phase::queue_depth)
    }

    /// The next request of the present phase; `None` when the phase is over, for drivers that wait between phases.
    #[inline]
    pub fn next_in_phase(&mut self) -> Option<HostRequest> {
        self.phases.get_mut(self.current)?.next()
    }

    /// End the present phase and begin the next one, if there is one.
    pub fn end_phase(&mut self) -> Option<&Phase> {
        let latest = self.phase()?.latest;
        self.current += 1;
        let next = self.phases.get_mut(self.current)?;
        next.begins = latest;
        next.latest = latest;
        Some(next)
    }
}

impl Iterator for Generator {
    type Item = HostRequest;

    /// The next request, whatever its phase. Times never run backwards.
    #[inline]
    fn next(&mut self) -> Option<HostRequest> {
        loop {
            if let Some(request) = self.next_in_phase() {
                return Some(request);
            }
            self.end_phase()?;
        }
    }
}
