//! Plain counters of what the host asked and what the flash did. Time series are differences of these, which keeps rows out of the hot path.

use wordline_engine::{Completion, FlashEvent, Stages};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Cause, FlashOp, HostOp};

/// What completed requests of one kind add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCount {
    /// Requests completed without a failure.
    pub requests: u64,
    /// Their sectors, 512 bytes each.
    pub sectors: u64,
    /// Their time per stage in nanoseconds, in the order of [`Stages::NAMES`].
    pub stages_ns: [u64; 8],
    /// Of reads: sectors among them in mapping units that hold nothing, because they were never written or were trimmed. Of trims: sectors beyond the units
    /// that they freed.
    pub blank_sectors: u64,
    /// Of trims: requests among them that freed no mapping unit, because none held anything, or none was trimmed whole.
    pub freed_nothing: u64,
    /// Requests that failed in part or whole.
    pub failed: u64,
    /// Those of them that failed because a part of a die had failed for good.
    pub for_failures: u64,
    /// Summed latency of those that failed in nanoseconds.
    pub failed_ns: u64,
}

impl HostCount {
    /// The summed latency of the requests that did not fail, in nanoseconds.
    pub fn latency_ns(&self) -> u64 {
        self.stages_ns.iter().sum()
    }
}

/// What flash operations of one kind and cause add up to. Units are mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCount {
    /// Operations; an operation on several planes or pages is one.
    pub operations: u64,
    /// Flash pages read, programmed, locked or destroyed; blocks for erases and block locks.
    pub pages: u64,
    /// Units of new host data programmed.
    pub host_units: u64,
    /// Units of old data programmed again.
    pub moved_units: u64,
    /// Units programmed with padding.
    pub padding_units: u64,
    /// Operations with bad status.
    pub failed: u64,
}

/// What error correction met. Nothing where the cells have no physics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCount {
    /// Flash reads by their retries; the last counts all beyond it too.
    pub retries: [u64; 32],
    /// Σ of the wrong bits in the worst codeword of each read.
    pub bits: u64,
    /// The most of them.
    pub most: u16,
}

/// Programs of the first wordlines of h-layers, or of the others. Nothing where it is not told who leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordlineCount {
    /// Programs with data that the host wrote.
    pub host_programs: u64,
    /// Programs of all causes.
    pub programs: u64,
    /// Σ of the time that the arrays took for them, in nanoseconds.
    pub array_ns: u64,
}

/// All counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    host: [HostCount; HostOp::ALL.len()],
    flash: [[FlashCount; Cause::ALL.len()]; FlashOp::ALL.len()],
    /// What error correction met.
    pub errors: ErrorCount,
    /// Programs of the first wordline of an h-layer.
    pub leaders: WordlineCount,
    /// Programs of the others.
    pub followers: WordlineCount,
    /// Σ of the time the dies' arrays worked, in nanoseconds.
    pub die_ns: u64,
    /// Σ of the time the channel buses were held, in nanoseconds.
    pub channel_ns: u64,
    /// Σ of the time firmware cores were held by requests and flash operations, in nanoseconds.
    pub core_ns: u64,
    /// Σ of the time the DRAM was held by requests and flash operations, in nanoseconds.
    pub dram_ns: u64,
    /// Σ of the time the host link was held inwards and outwards by flash operations, in nanoseconds.
    pub link_ns: [u64; 2],
    /// Mapping units of host data that became invalid.
    pub invalidated_units: u64,
    /// Units of new host data in programs with bad status, or that the firmware does not rely on: they are programmed again.
    pub failed_units: u64,
    /// Block groups that went out of service.
    pub retired_blocks: u64,
    /// Block groups in which something stale and secret could not be made unreadable.
    pub exposed_blocks: u64,
    /// Programs that were done again elsewhere because a technique distrusted them.
    pub programmed_again: u64,
    /// Mapping units of host data that could not be read when they had to be moved or completed.
    pub lost_units: u64,
}

impl Totals {
    /// What the completed requests of one kind add up to.
    pub fn host(&self, op: HostOp) -> &HostCount {
        &self.host[op as usize]
    }

    /// The share of the latency of requests that they spent in the host's queue; 0 where none completed without a failure.
    pub fn queued_share(&self) -> f64 {
        let sum = |of: fn(&HostCount) -> u64| self.host.iter().map(|count| of(count) as f64).sum::<f64>();
        // The first of the stages is the host's queue.
        sum(|count| count.stages_ns[0]) / sum(HostCount::latency_ns).max(1.0)
    }

    /// What the flash operations of one kind and cause add up to.
    pub fn flash(&self, op: FlashOp, cause: Cause) -> &FlashCount {
        &self.flash[op as usize][cause as usize]
    }

    /// Flash pages of all causes; block groups for erases.
    pub fn pages(&self, op: FlashOp) -> u64 {
        self.flash[op as usize].iter().map(|count| count.pages).sum()
    }

    /// Operations of all causes.
    pub fn operations(&self, op: FlashOp) -> u64 {
        self.flash[op as usize].iter().map(|count| count.operations).sum()
    }

    /// Flash pages programmed, copyback included.
    pub fn pages_programmed(&self) -> u64 {
        self.pages(FlashOp::Program) + self.pages(FlashOp::Copyback)
    }

    /// Units of host data programmed, whatever the cause of the program.
    pub fn host_units(&self) -> u64 {
        self.programs().map(|(_, count)| count.host_units).sum()
    }

    /// Units of old data programmed again by programs of one cause, copyback included.
    pub fn moved_units(&self, cause: Cause) -> u64 {
        self.programs().filter(|(of, _)| *of == cause).map(|(_, count)| count.moved_units).sum()
    }

    /// Units of old data programmed again, whatever the cause.
    pub fn all_moved_units(&self) -> u64 {
        self.programs().map(|(_, count)| count.moved_units).sum()
    }

    /// Units programmed with padding.
    pub fn padding_units(&self) -> u64 {
        self.programs().map(|(_, count)| count.padding_units).sum()
    }

    /// Units of what the firmware programs for itself, the journal and checkpoints or keys; [`Totals::padding_units`] has them too.
    pub fn own_units(&self, cause: Cause) -> u64 {
        self.programs().filter(|(of, _)| *of == cause).map(|(_, count)| count.padding_units).sum()
    }

    /// Units programmed with whatever content: host data, old data and padding.
    pub fn programmed_units(&self) -> u64 {
        self.programs().map(|(_, count)| count.host_units + count.moved_units + count.padding_units).sum()
    }

    /// Write amplification: units of `unit` bytes programmed over units' worth of sectors that the host wrote; `None` when it wrote nothing.
    pub fn waf(&self, unit: Bytes) -> Option<f64> {
        self.per_written_unit(self.programmed_units(), unit)
    }

    /// `units` of `unit` bytes over units' worth of sectors that the host wrote; `None` when it wrote nothing.
    pub fn per_written_unit(&self, units: u64, unit: Bytes) -> Option<f64> {
        let written = self.host(HostOp::Write).sectors * SECTOR_BYTES;
        (written > 0).then(|| units as f64 * unit.0 as f64 / written as f64)
    }

    fn programs(&self) -> impl Iterator<Item = (Cause, &FlashCount)> {
        [FlashOp::Program, FlashOp::Copyback]
            .into_iter()
            .flat_map(move |op| Cause::ALL.into_iter().map(move |cause| (cause, self.flash(op, cause))))
    }

    #[inline]
    pub(crate) fn complete(&mut self, done: &Completion) {
        let count = &mut self.host[done.op as usize];
        // What failed was not served: it has no part in rates, amplification or latency.
        if !done.ok {
            count.failed += 1;
            count.for_failures += u64::from(done.for_failure);
            count.failed_ns += done.stages.total().0;
            return;
        }
        count.requests += 1;
        count.sectors += u64::from(done.sectors);
        count.blank_sectors += u64::from(done.blank);
        count.freed_nothing += u64::from(done.op == HostOp::Trim && done.blank == done.sectors);
        add_stages(&mut count.stages_ns, &done.stages);
    }

    #[inline]
    pub(crate) fn operate(&mut self, flash: &FlashEvent) {
        let count = &mut self.flash[flash.op as usize][flash.cause as usize];
        count.operations += 1;
        count.pages += u64::from(flash.pages);
        count.host_units += u64::from(flash.host_units);
        count.moved_units += u64::from(flash.moved_units);
        count.padding_units += u64::from(flash.padding_units);
        count.failed += u64::from(!flash.ok);
        self.failed_units += if flash.ok { 0 } else { u64::from(flash.host_units) };
        if flash.op == FlashOp::Read {
            let errors = &mut self.errors;
            errors.retries[usize::from(flash.retries).min(errors.retries.len() - 1)] += 1;
            errors.bits += u64::from(flash.errors);
            errors.most = errors.most.max(flash.errors);
        }
        self.die_ns += flash.array.0;
        self.channel_ns += flash.bus.0;
        self.core_ns += flash.core.0;
        self.dram_ns += flash.dram.0;
        self.link_ns[usize::from(flash.op == FlashOp::Read)] += flash.link.0;
    }

    /// A wordline was programmed that leads its h-layer, or one that does not.
    #[inline]
    pub(crate) fn program_wordline(&mut self, flash: &FlashEvent, leads: bool) {
        let count = if leads { &mut self.leaders } else { &mut self.followers };
        count.host_programs += u64::from(flash.cause == Cause::Host);
        count.programs += 1;
        count.array_ns += flash.array.0;
    }

    /// What happened since `earlier`.
    pub(crate) fn since(&self, earlier: &Totals) -> Totals {
        let mut delta = *self;
        for (mine, theirs) in delta.host.iter_mut().zip(&earlier.host) {
            mine.requests -= theirs.requests;
            mine.sectors -= theirs.sectors;
            mine.blank_sectors -= theirs.blank_sectors;
            mine.freed_nothing -= theirs.freed_nothing;
            mine.failed -= theirs.failed;
            mine.for_failures -= theirs.for_failures;
            mine.failed_ns -= theirs.failed_ns;
            for (now, then) in mine.stages_ns.iter_mut().zip(theirs.stages_ns) {
                *now -= then;
            }
        }
        for (mine, theirs) in delta.errors.retries.iter_mut().zip(earlier.errors.retries) {
            *mine -= theirs;
        }
        delta.errors.bits -= earlier.errors.bits;
        for (mine, theirs) in delta.flash.iter_mut().flatten().zip(earlier.flash.iter().flatten()) {
            mine.operations -= theirs.operations;
            mine.pages -= theirs.pages;
            mine.host_units -= theirs.host_units;
            mine.moved_units -= theirs.moved_units;
            mine.padding_units -= theirs.padding_units;
            mine.failed -= theirs.failed;
        }
        for (mine, theirs) in [(&mut delta.leaders, &earlier.leaders), (&mut delta.followers, &earlier.followers)] {
            mine.host_programs -= theirs.host_programs;
            mine.programs -= theirs.programs;
            mine.array_ns -= theirs.array_ns;
        }
        delta.die_ns -= earlier.die_ns;
        delta.channel_ns -= earlier.channel_ns;
        delta.core_ns -= earlier.core_ns;
        delta.dram_ns -= earlier.dram_ns;
        for (mine, theirs) in delta.link_ns.iter_mut().zip(earlier.link_ns) {
            *mine -= theirs;
        }
        delta.invalidated_units -= earlier.invalidated_units;
        delta.failed_units -= earlier.failed_units;
        delta.retired_blocks -= earlier.retired_blocks;
        delta.exposed_blocks -= earlier.exposed_blocks;
        delta.programmed_again -= earlier.programmed_again;
        delta.lost_units -= earlier.lost_units;
        delta
    }
}

#[inline]
fn add_stages(sums: &mut [u64; 8], stages: &Stages) {
    for (sum, stage) in sums.iter_mut().zip(stages.values()) {
        *sum += stage.0;
    }
}
