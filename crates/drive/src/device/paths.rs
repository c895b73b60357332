//! Paths of data between the host, the memory of the firmware, and the dies: DRAM and both directions of the host link.
//!
//! ```text
//!   firmware in the drive   host ──link in──► DRAM ──► bus ──► die      host ◄──link out── DRAM ◄── ECC ◄── bus ◄── die
//!   firmware in the host    memory of the host ──link in──► bus ──► die      memory of the host ◄──link out── ECC ◄── bus ◄── die
//! ```
//!
//! The memory of the firmware holds the write buffer and all data that is moved. Data flows along a path as it comes: all parts of the path are held at once,
//! and the slowest decides. Copybacks take no path.

use wordline_engine::Bus;
use wordline_units::{Bytes, Nanos};

use crate::config::{Config, FtlPlace};

/// DRAM, the host link, and the place of the firmware between them.
#[derive(Debug)]
pub(super) struct Paths {
    ftl: FtlPlace,
    dram: Option<Bus>,
    link_in: Option<Bus>,
    link_out: Option<Bus>,
}

/// Transfer of a request's data between the host and the memory of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Time for which DRAM is held.
    pub(crate) dram: Nanos,
    /// Instant at which all data is through.
    pub(crate) end: Nanos,
}

impl Paths {
    /// Idle paths of a drive.
    pub(super) fn new(config: &Config) -> Paths {
        let [dram, link_in, link_out] = [config.dram, config.link_in, config.link].map(|rate| rate.map(Bus::new));
        Paths { ftl: config.ftl, dram, link_in, link_out }
    }

    /// True if an operation of a die holds the link in the place of DRAM.
    #[inline]
    pub(super) fn pass_link(&self) -> bool {
        self.ftl == FtlPlace::Host
    }

    /// Move `bytes` of a program from the memory of the firmware towards its die. Returns the time for which DRAM or the link is held, and the instant at which
    /// they are through; `None`: the path takes no time.
    #[inline]
    pub(super) fn use_to_die(&mut self, now: Nanos, bytes: Bytes) -> Option<(Nanos, Nanos)> {
        let path = if self.pass_link() { &mut self.link_in } else { &mut self.dram };
        path.as_mut().map(|path| path.transfer(now, bytes, Nanos::ZERO))
    }

    /// Move `bytes` of a read from its die towards the memory of the firmware. Returns the time for which DRAM or the link is held, and the instant at which
    /// they are through; `None`: the path takes no time.
    #[inline]
    pub(super) fn use_from_die(&mut self, now: Nanos, bytes: Bytes) -> Option<(Nanos, Nanos)> {
        let path = if self.pass_link() { &mut self.link_out } else { &mut self.dram };
        path.as_mut().map(|path| path.transfer(now, bytes, Nanos::ZERO))
    }

    /// Move `bytes` of a write from the host into the memory of the firmware.
    #[inline]
    pub(super) fn use_from_host(&mut self, now: Nanos, bytes: Bytes) -> Passed {
        if self.pass_link() {
            return Passed { dram: Nanos::ZERO, end: now };
        }
        between(now, bytes, &mut self.dram, &mut self.link_in)
    }

    /// Move `bytes` of a read from the memory of the firmware to the host.
    #[inline]
    pub(super) fn use_to_host(&mut self, now: Nanos, bytes: Bytes) -> Passed {
        if self.pass_link() {
            return Passed { dram: Nanos::ZERO, end: now };
        }
        between(now, bytes, &mut self.dram, &mut self.link_out)
    }
}

/// Hold DRAM and one direction of the link at once.
#[inline]
fn between(now: Nanos, bytes: Bytes, dram: &mut Option<Bus>, link: &mut Option<Bus>) -> Passed {
    let mut passed = Passed { dram: Nanos::ZERO, end: now };
    if let Some(link) = link {
        passed.end = link.transfer(now, bytes, Nanos::ZERO).1;
    }
    if let Some(dram) = dram {
        let (held, end) = dram.transfer(now, bytes, Nanos::ZERO);
        passed = Passed { dram: held, end: passed.end.max(end) };
    }
    passed
}
