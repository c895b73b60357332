//! The board: firmware cores, DRAM, buses, the host link, error correction and dies, each of which takes one thing at a time.

use std::sync::Arc;

use wordline_chip::Chip;
use wordline_engine::{Bus, Calendar, Server};
use wordline_flash::ReadSets;
use wordline_units::{Bytes, ChannelId, DieId, Id, IdMap, Nanos, Rate};

use super::classes::Classes;
use super::dies::Dies;
use super::head::{Begun, Head};
use super::paths::Paths;
use super::tries::Tries;
use crate::config::{Config, SearchSteps};
use crate::due::{Due, OpSlot, Step};

/// The resources of the controller, and what it has been built with.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) dies: Dies,
    /// Tries of the read that keeps a die after a failed try.
    pub(super) tries: IdMap<DieId, Tries>,
    cores: Vec<Server>,
    channels: Vec<Bus>,
    ecc: Vec<Server>,
    ecc_rate: Option<Rate>,
    ecc_latency: Nanos,
    pub(super) paths: Paths,
    /// Classes of blocks that show no errors of their own.
    pub(super) classes: Option<Classes>,
    order_cost: Nanos,
    bus_overhead: Nanos,
    /// Time for which a die that never answers is waited for, and then for a reset of it.
    patience: Nanos,
    pub(super) read_sets: Arc<ReadSets>,
    pub(super) search: SearchSteps,
    pub(super) pages_per_program: u32,
    pub(super) units_per_program: u32,
    /// Pages of a wordline.
    pub(super) wordline_pages: u32,
    /// True if the dies report how programs went.
    pub(super) traces_programs: bool,
    /// True if the dies report how erases went.
    pub(super) traces_erases: bool,
    /// True if stops that are not at once come at the end of a step.
    pub(super) stops_at_step: bool,
    /// True once power is lost on demand: what is under way does not come to its end.
    pub(super) is_dark: bool,
    /// True if the drive keeps bytes.
    pub(super) keeps_bytes: bool,
}

impl Board {
    pub(super) fn new(config: &Config, dies: Dies) -> Board {
        let (sheet, geometry) = (&config.sheet, &config.sheet.geometry);
        let pages_per_program = sheet.pages_per_program();
        Board {
            tries: IdMap::from_fn(dies.len(), |_| Tries::default()),
            keeps_bytes: dies.keep_bytes(),
            dies,
            cores: vec![Server::default(); config.cores as usize],
            channels: vec![Bus::new(config.channel); geometry.channels as usize],
            ecc: vec![Server::default(); geometry.channels as usize],
            ecc_rate: config.ecc.rate,
            ecc_latency: config.ecc.latency,
            paths: Paths::new(config),
            classes: Classes::of(config),
            order_cost: config.costs.operation,
            bus_overhead: sheet.timing.bus_overhead,
            patience: config.die_timeout + sheet.timing.reset,
            read_sets: Arc::clone(&config.read_sets),
            search: config.search,
            pages_per_program,
            units_per_program: (geometry.page.0 / config.firmware.unit.0) as u32 * pages_per_program * geometry.planes,
            wordline_pages: geometry.cell.bits(),
            traces_programs: config.cells.is_some() || config.faults.program_saving > 0.0,
            traces_erases: sheet.capabilities.erase_trace && config.cells.is_some(),
            stops_at_step: sheet.capabilities.stop_at_step,
            is_dark: false,
        }
    }

    /// Occupy `core` for an order. Returns the time that it takes, and the instant at which the core is through.
    #[inline(always)]
    pub(super) fn take_order(&mut self, core: u32, now: Nanos) -> (Nanos, Nanos) {
        let cost = self.order_cost;
        (cost, if cost == Nanos::ZERO { now } else { self.cores[core as usize].occupy(now, cost) })
    }

    /// Begin an operation of `die` that `core` has ordered, in a place of the table that has seen so many stops.
    #[inline(always)]
    pub(super) fn begin(&mut self, now: Nanos, core: u32, die: DieId, attempt: u16) -> Begun {
        let (core_span, start) = self.take_order(core, now);
        Begun { core, die, channel: self.dies.channel(die), issued: now, core_span, start, attempt }
    }

    /// Occupy `core` for `span`. Returns the instant at which it is through.
    #[inline]
    pub(super) fn occupy_core(&mut self, core: u32, now: Nanos, span: Nanos) -> Nanos {
        self.cores[core as usize].occupy(now, span)
    }

    /// Move `bytes` over the bus of `channel`. Returns the time for which it is held, and the instant at which they are through.
    #[inline]
    pub(super) fn use_bus(&mut self, channel: ChannelId, now: Nanos, bytes: Bytes) -> (Nanos, Nanos) {
        self.channels[channel.index()].transfer(now, bytes, self.bus_overhead)
    }

    /// Correct `bytes` of `channel`. Returns the instant at which the last of them is corrected.
    #[inline]
    pub(super) fn correct(&mut self, channel: ChannelId, now: Nanos, bytes: Bytes) -> Nanos {
        let through = match self.ecc_rate {
            Some(rate) => self.ecc[channel.index()].occupy(now, rate.span(bytes)),
            None => now,
        };
        through + self.ecc_latency
    }

    /// Die of `head`.
    #[inline]
    pub(super) fn chip(&mut self, head: &Head) -> &mut Chip {
        &mut self.dies[head.die()]
    }

    /// Wait for the die of the operation at `op`, which never ends it, and then for a reset of it. Returns the instant at which it is given up.
    #[cold]
    pub(super) fn wait_in_vain(&self, now: Nanos, head: &mut Head) -> Nanos {
        head.no_answer = true;
        head.event.array += self.patience;
        now + self.patience
    }
}

/// Occupy the array with the operation at `op` until `until`.
#[inline]
pub(super) fn work_until(calendar: &mut Calendar<Due>, until: Nanos, op: OpSlot, head: &Head) {
    calendar.enter(until, Due::Device(Step::ArrayDone { op, attempt: head.attempt }));
}
