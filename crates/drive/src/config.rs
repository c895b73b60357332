//! Configuration of a drive.

use std::sync::Arc;

use wordline_cells::{Age, Faults, Physics};
use wordline_flash::{ReadSets, Sheet};
use wordline_ftl::Config as FirmwareConfig;
use wordline_ftl::config::Protection;
use wordline_ftl::techniques::ReadLimits;
use wordline_units::{Bytes, Celsius, Nanos, Rate};

/// Configuration of everything around the firmware. The plan has checked it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Data sheet of the dies; its geometry is the drive's.
    pub sheet: Sheet,
    /// Rates at which operations fail.
    pub faults: Faults,
    /// Physics of the cells; `None`: operations take the times of the data sheet and fail by rate.
    pub cells: Option<Cells>,
    /// P/E cycles that every block has behind it once the drive is filled, where cells have no physics.
    pub cycles: u32,
    /// Shares of the blocks that measure like the best, the median and the worst class of the table of copies, where cells have no physics; `None`: reads of
    /// such cells find no errors.
    pub classes: Option<[f64; 3]>,
    /// Transfer rate of a channel bus.
    pub channel: Rate,
    /// Transfer rate of the controller's DRAM; `None`: DRAM takes no time.
    pub dram: Option<Rate>,
    /// Transfer rate of the host link outwards, from the drive to the host; `None`: the link takes no time.
    pub link: Option<Rate>,
    /// Transfer rate of the host link inwards, from the host to the drive; `None`: the link takes no time.
    pub link_in: Option<Rate>,
    /// Place of the firmware, its write buffer and the data that it moves.
    pub ftl: FtlPlace,
    /// Latency and throughput of error correction.
    pub ecc: Ecc,
    /// Steps of the search for the references of a page that no entry of the retry table serves, where cells have physics and such a table.
    pub search: SearchSteps,
    /// Time for which the controller waits for a die after the instant at which it should have been done. Then it resets the die, and takes it for failed.
    pub die_timeout: Nanos,
    /// Sets of shifted references that the controller holds for reads, where cells have physics.
    pub read_sets: Arc<ReadSets>,
    /// Number of firmware cores; the host's addresses are striped over them.
    pub cores: u32,
    /// Number of consecutive mapping units that stay together on one core.
    pub stripe_units: u32,
    /// Times that the firmware's steps take.
    pub costs: Costs,
    /// Number of requests that the drive takes in at once; more wait in the host's queues.
    pub queue_depth: u32,
    /// Weights by which the drive takes requests from the host's queues.
    pub weights: Weights,
    /// Way in which the firmware is given TRIMs of several pages.
    pub trims: Trims,
    /// Template of the firmware's configuration; `dies`, `exported_units`, `factory_bad`, `read_entries`, `read_search`, `transfer` and `core` are
    /// filled in for each core.
    pub firmware: FirmwareConfig,
    /// Number of mapping units exported to the host.
    pub exported_units: u64,
    /// The seed of every die's cells and every policy that samples.
    pub seed: u64,
}

/// Cells with physics.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The parameters, checked.
    pub physics: Physics,
    /// Temperature of the drive while it works.
    pub temperature: Celsius,
    /// Later temperatures with the instants at which they begin, rising and counted from the start of a new drive. Empty: the temperature stays.
    pub changes: Vec<(Nanos, Celsius)>,
    /// Age that [`crate::Drive::set_age`] gives the drive once it is filled; `None`: the drive stays as it was built.
    pub age: Option<Age>,
    /// Dwells in the place of that of an age, in seconds: each block has one of them, by a keyed die. Empty: all blocks have that of the age.
    pub dwells: Vec<f64>,
}

/// Place of the firmware, its write buffer and the data that it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FtlPlace {
    /// The drive: data of programs and reads passes its DRAM, data of the host passes the link and DRAM.
    #[default]
    Drive,
    /// The host: data of programs passes the link inwards, data of reads passes it outwards, and nothing passes DRAM.
    Host,
}

/// Error correction, with one engine per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecc {
    /// Time from the last byte in to the last byte out.
    pub latency: Nanos,
    /// Throughput of an engine; `None`: data is corrected as fast as it comes.
    pub rate: Option<Rate>,
}

/// Time a firmware core spends on each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Time to take in one host request.
    pub command: Nanos,
    /// Time to look up or change the map for one unit.
    pub unit: Nanos,
    /// Time to order one flash operation and handle its report.
    pub operation: Nanos,
}

/// Way in which the drive gives a TRIM of several pages to its firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trims {
    /// Whole: all its pages become stale in one event.
    #[default]
    Whole,
    /// Page by page: the next page becomes stale when the firmware has acknowledged the one before, which includes that its data are unreadable where they have
    /// to be (000 §5.4, 002 §7: "when a secured page needs to be invalidated").
    ByPage,
}

/// Weights by which the drive takes requests from the host's queues, as in NVMe's weighted round robin with an urgent class. Urgent requests go first; then
/// come rounds in which each other class may give as many requests as its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Requests of high priority in a round, at least 1.
    pub high: u32,
    /// Requests of normal priority in a round, at least 1.
    pub normal: u32,
    /// Requests of low priority in a round, at least 1.
    pub low: u32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { high: 4, normal: 2, low: 1 }
    }
}

/// Steps of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSteps {
    /// Distance between two positions of a reference, in steps of [`wordline_flash::ReadOffsets::STEP`]; 0: there is no search.
    pub width: u8,
    /// Number of positions to each side of where the search begins.
    pub reach: u8,
}

impl SearchSteps {
    /// Widest distance between two positions, and the most positions to a side, for which offsets fit their registers.
    pub const MOST: SearchSteps = SearchSteps { width: 10, reach: 12 };
    /// Fewest positions to a side that show a valley.
    pub const LEAST_REACH: u8 = 2;
}

impl Config {
    /// Size of the drive as the host sees it.
    pub fn exported(&self) -> Bytes {
        Bytes(self.exported_units * self.firmware.unit.0)
    }

    /// Age that [`crate::Drive::set_age`] gives the drive once it is filled; `None`: the drive stays as it was built. Without physics it is in cycles
    /// alone.
    pub fn age(&self) -> Option<Age> {
        let in_cycles = || Age { cycles: f64::from(self.cycles), dwell: 0.0, retention: 0.0, temperature: 0.0 };
        self.cells.as_ref().map_or_else(|| (self.cycles > 0).then(in_cycles), |cells| cells.age)
    }

    /// True if the controller searches for the references of a page that no entry of the retry table serves.
    pub fn searches(&self) -> bool {
        self.search.width > 0
            && self.cells.as_ref().is_some_and(|cells| cells.physics.retry.entries + cells.physics.retry.disturb_entries > 0.0)
    }

    /// Limits of reads of hinted data: of the technique that acts on hints, or its defaults.
    pub fn read_limits(&self) -> ReadLimits {
        ReadLimits::of(&self.firmware.techniques)
    }

    /// Time in which a page comes over the bus and is corrected.
    pub(crate) fn page_transfer(&self) -> Nanos {
        let page = self.sheet.geometry.page;
        let corrected = self.ecc.rate.map_or(Nanos::ZERO, |rate| rate.span(page));
        self.sheet.timing.bus_overhead + self.channel.span(page) + self.ecc.latency + corrected
    }

    /// Facts that capacitors keep beside the write buffers: their number over all cores, and the bytes of the longest.
    pub fn facts(&self) -> (u32, u32) {
        let geometry = &self.sheet.geometry;
        let units = (geometry.page.0 / self.firmware.unit.0) as u32 * self.sheet.pages_per_program() * geometry.planes;
        (self.cores * wordline_ftl::FACTS, wordline_ftl::fact_bytes(units) as u32)
    }

    /// True if capacitors keep the write buffers.
    pub fn has_capacitors(&self) -> bool {
        self.firmware.buffer.protection == Protection::Capacitor
    }
}
