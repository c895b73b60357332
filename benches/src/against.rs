//! Steady writes against the bare loop, in turns: the figure of one is worth nothing unless the other was measured in the same moment, because both hang
//! on caches that a shared machine gives and takes.

use wordline_drive::{Pace, Watched};
use wordline_plan::Plan;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest};

use crate::floor::Floor;
use crate::seconds;

/// Drives of growing size, and what is set on top of them.
pub const DRIVES: &[(&str, &[&str])] = &[("mqsim-b", &[]), ("paper-rcftl", &["cells.physics=false"]), ("mqsim-default", &[])];

/// Turns taken by each.
const TURNS: usize = 9;
/// Requests of a turn of the drive.
const REQUESTS: u64 = 100_000;
/// Pages of a turn of the bare loop.
const PAGES: u64 = 8_000_000;

/// What the turns came to.
#[derive(Clone, Copy, Debug)]
pub struct Against {
    /// Flash pages of the drive.
    pub pages: u64,
    /// Nanoseconds of a page in the bare loop, on tables of that size: least and median of the turns.
    pub bare: [f64; 2],
    /// Nanoseconds of a flash operation of the drive: least and median of the turns.
    pub drive: [f64; 2],
    /// Flash operations for each request.
    pub operations_per_request: f64,
}

/// Uniform writes of whole mapping units at nine tenths of a steady `preset`, and a bare loop on as many blocks, pages and logical pages.
pub fn measure(preset: &str, settings: &[&str]) -> Against {
    const FILL: f64 = 0.9;
    let config = Plan::load_set(preset, settings).expect("a preset").build();
    let geometry = config.sheet.geometry;
    let blocks = geometry.dies() * geometry.planes * geometry.blocks;
    let units = (config.exported_units as f64 * FILL) as u64;
    let sectors = (config.firmware.unit.0 / SECTOR_BYTES) as u32;
    let units_per_page = geometry.page.0 / config.firmware.unit.0;
    let mut floor = Floor::new(blocks, geometry.pages(), (units / units_per_page) as u32);
    let mut drive = Watched::new(config, ());
    drive.construct_steady(&vec![FILL; drive.config().cores as usize], 1);
    let mut draw = Draw::new(798, Stream::Address, 0);
    let mut load = std::iter::from_fn(|| Some(HostRequest::new(HostOp::Write, draw.below(units) * u64::from(sectors), sectors)));
    let pace = Pace::Closed { depth: 32 };
    // Until reclaim runs evenly, and the bare loop's map is in no order either.
    drive.serve(&mut load, pace, Some(5 * REQUESTS));
    floor.bare(PAGES);
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    let start = drive.operations();
    for _ in 0..TURNS {
        bare.push(seconds(|| floor.bare(PAGES)) * 1e9 / PAGES as f64);
        let before = drive.operations();
        let spent = seconds(|| {
            drive.serve(&mut load, pace, Some(REQUESTS));
        });
        whole.push(spent * 1e9 / (drive.operations() - before) as f64);
    }
    let told = |turns: &mut Vec<f64>| {
        turns.sort_by(f64::total_cmp);
        [turns[0], turns[TURNS / 2]]
    };
    let operations_per_request = (drive.operations() - start) as f64 / (TURNS as u64 * REQUESTS) as f64;
    Against {
        operations_per_request,
        pages: u64::from(blocks) * u64::from(geometry.pages()),
        bare: told(&mut bare),
        drive: told(&mut whole),
    }
}
