//! The rows of the table: drives and loads, most of them with MQSim's figure beside ours.
//!
//! Where those figures and the drive come from, in MQSim's own words, is in `docs/models/mqsim-side-by-side.md`.

use wordline_drive::{Pace, Watched};
use wordline_engine::Observer;
use wordline_figures::{Metrics, Scope};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest, Tolerance};

use crate::seconds;

/// One row: a drive, a load, and what the peer did with the same.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// The preset.
    pub drive: &'static str,
    /// Settings on top of it.
    pub settings: &'static [&'static str],
    /// Share of the exported units that hold data at the start.
    pub fill: f64,
    /// Sectors of one request, and what its addresses are multiples of.
    pub size: (u32, u32),
    /// Share of reads in percent.
    pub reads: u64,
    /// Addresses run on instead of being drawn.
    pub sequential: bool,
    /// Host writes before the measurement, in multiples of the filled units.
    pub overwrites: f64,
    /// Requests measured.
    pub requests: u64,
    /// True if the host lets reads of the whole drive take longer.
    pub is_hinted: bool,
    /// MQSim's requests per second of processor time, as measured on the same drive and load; or why there is none.
    pub peer: Result<f64, &'static str>,
}

/// What a row came to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests per second of processor time.
    pub requests_per_second: f64,
    /// Flash operations per second of processor time.
    pub operations_per_second: f64,
    /// Nanoseconds of processor time per flash operation.
    pub nanos_per_operation: f64,
    /// Flash operations per request.
    pub operations_per_request: f64,
    /// Simulated requests per second.
    pub simulated_iops: f64,
    /// Bytes of map and spare areas per flash page.
    pub bytes_per_page: f64,
}

/// What the peer's figures are, for whoever reads the table.
pub const PEER: &str = "MQSim at commit 7ec40e3, its own -O3 build, median of 5 runs on an idle AMD EPYC VM (another machine or hour than ours);\n\
    30.09 GiB, 2 channels x 4 dies, TLC 65/700/5000 us, 500 MT/s, 12 % over-provisioning, greedy, 90 % full, queue depth 32: docs/models/mqsim-side-by-side.md";

/// The rows.
pub const ROWS: &[Row] = &[
    Row { name: "16K random read", fill: 0.9, reads: 100, requests: 4_000_000, peer: Ok(386e3), ..BASE },
    Row { name: "4K random read", fill: 0.9, reads: 100, size: (8, 8), requests: 4_000_000, peer: Ok(360e3), ..BASE },
    Row { name: "16K random write, fresh", fill: 0.0, requests: 1_000_000, peer: Ok(425e3), ..BASE },
    Row { name: "16K random write, steady", peer: Ok(39.3e3), ..BASE },
    Row { name: "16K random write, steady, cache", drive: "mqsim-b-cache", peer: Ok(50.9e3), ..BASE },
    Row { name: "4K write on 16K boundaries, steady", size: (8, 32), peer: Ok(39.8e3), ..BASE },
    Row { name: "4K write on 4K boundaries, steady", size: (8, 8), peer: Err("crashes"), ..BASE },
    Row { name: "70/30 mix 16K, steady", reads: 70, peer: Err("error exit"), ..BASE },
    Row {
        name: "128K sequential write",
        size: (256, 256),
        sequential: true,
        fill: 0.0,
        overwrites: 0.0,
        requests: 150_000,
        peer: Ok(116e3),
        ..BASE
    },
    Row { name: "2 planes, 16K write, steady", drive: "mqsim-b-2planes", peer: Err("serves nothing"), ..BASE },
    Row { name: "copyback, 16K write, steady", drive: "mqsim-b-copyback", peer: Err("segmentation fault"), ..BASE },
    Row { name: "rcftl's base, 16K write", drive: "paper-rcftl-host", overwrites: 0.5, peer: Err("no quotas"), ..BASE },
    Row { name: "rcftl, 16K write", drive: "rcftl", overwrites: 0.5, peer: Err("no quotas"), ..BASE },
    Row { name: "longftl's base, 16K write", drive: "paper-longftl", overwrites: 0.5, peer: Err("no modes"), ..BASE },
    Row {
        name: "longftl, mode 5, 16K write",
        drive: "longftl-fixed",
        settings: &["techniques.guarded-erase.mode=5"],
        overwrites: 0.5,
        peer: Err("no modes"),
        ..BASE
    },
    Row { name: "hinted's base, 16K write", drive: "rlr-ssd", peer: Err("no hints"), ..BASE },
    Row { name: "hinted, 16K write", drive: "hinted", is_hinted: true, peer: Err("no hints"), ..BASE },
    Row { name: "preemptible reclaim, steady", drive: "mqsim-b-preemptible", peer: Err("no progress"), ..BASE },
    Row { name: "pageftl, physics off, steady", drive: "pageftl", settings: &["cells.physics=false"], peer: NO_CELLS, ..BASE },
    Row { name: "pageftl, physics on, steady", drive: "pageftl", peer: NO_CELLS, ..BASE },
    Row { name: "pageftl, physics on, 2K P/E, steady", drive: "pageftl", settings: &["cells.cycles=2000"], peer: NO_CELLS, ..BASE },
    Row { name: "rftl, physics on, 2K P/E, steady", drive: "rftl", settings: &["cells.cycles=2000"], peer: NO_CELLS, ..BASE },
    Row { name: "paftl, 70/30, physics on, 2K P/E", drive: "paftl", settings: &["cells.cycles=2000"], reads: 70, peer: NO_CELLS, ..BASE },
    Row {
        name: "pageftl, 2K P/E + 1 year, read",
        drive: "pageftl",
        settings: &["cells.cycles=2000", "cells.retention=1 y"],
        reads: 100,
        peer: NO_CELLS,
        ..BASE
    },
];

const NO_CELLS: Result<f64, &str> = Err("no cells");

const BASE: Row = Row {
    name: "",
    drive: "mqsim-b",
    settings: &[],
    fill: 0.9,
    size: (32, 32),
    reads: 0,
    sequential: false,
    overwrites: 2.0,
    requests: 1_000_000,
    is_hinted: false,
    peer: Err("not measured"),
};

impl Row {
    /// Measure it with nobody watching.
    pub fn measure(&self) -> Measured {
        self.measure_with(|_| ())
    }

    /// Measure it with the metrics that every `wordline run` keeps.
    pub fn measure_watched(&self) -> Measured {
        self.measure_with(Metrics::new)
    }

    fn measure_with<O: Observer>(&self, observer: impl FnOnce(Scope) -> O) -> Measured {
        let plan = Plan::load_set(self.drive, self.settings).expect("a preset");
        let config = plan.build();
        let scope = Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores);
        let pages = f64::from(
            config.sheet.geometry.dies() * config.sheet.geometry.planes * config.sheet.geometry.blocks * config.sheet.geometry.pages(),
        );
        let filled = (config.exported_units as f64 * self.fill) as u64;
        let sectors_per_unit = config.firmware.unit.0 / 512;
        let span = (if filled > 0 { filled } else { config.exported_units }) * sectors_per_unit / u64::from(self.size.1);
        let age = config.cells.as_ref().and_then(|cells| cells.age);
        let mut drive = Watched::new(config, observer(scope));
        drive.construct_filled(filled);
        age.iter().for_each(|age| drive.set_age(age));
        if self.is_hinted {
            let sectors = drive.config().exported_units * sectors_per_unit;
            let hint = HostRequest::hint(0, u32::try_from(sectors).expect("less than 2 TiB"), Tolerance::Longer);
            drive.serve(&mut std::iter::once(hint), Pace::Closed { depth: 1 }, None);
        }
        let mut draw = Draw::new(798, Stream::Address, 0);
        let mut mix = Draw::new(798, Stream::Mix, 0);
        let mut next = 0;
        let mut load = std::iter::from_fn(|| {
            let place = if self.sequential {
                next = (next + 1) % span;
                next
            } else {
                draw.below(span)
            };
            let op = if self.reads == 100 || (self.reads > 0 && mix.below(100) < self.reads) { HostOp::Read } else { HostOp::Write };
            Some(HostRequest::new(op, place * u64::from(self.size.1), self.size.0))
        });
        let pace = Pace::Closed { depth: 32 };
        if self.fill > 0.0 && self.reads < 100 {
            let warm = filled as f64 * self.overwrites * f64::from(self.size.1.min(32)) / 32.0;
            drive.serve(&mut load, pace, Some(warm as u64));
        }
        let (start, events) = (drive.now(), drive.operations());
        let seconds = seconds(|| {
            drive.serve(&mut load, pace, Some(self.requests));
        });
        let operations = (drive.operations() - events) as f64;
        let requests = self.requests as f64;
        Measured {
            requests_per_second: requests / seconds,
            operations_per_second: operations / seconds,
            nanos_per_operation: seconds * 1e9 / operations,
            operations_per_request: operations / requests,
            simulated_iops: requests / (drive.now() - start).as_secs_f64(),
            bytes_per_page: drive.memory_bytes() as f64 / pages,
        }
    }
}
