//! What a drive is made of.

use wordline_cells::{Age, Faults, Physics};
use wordline_flash::Sheet;
use wordline_ftl::Config as FirmwareConfig;
use wordline_ftl::config::Protection;
use wordline_units::{Bytes, Celsius, Nanos, Rate};

use crate::host::Weights;

/// Everything around the firmware. The plan has checked it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The dies' data sheet; its geometry is the drive's.
    pub sheet: Sheet,
    /// How cells fail.
    pub faults: Faults,
    /// The physics of the cells; `None`: they take their time and fail by rate.
    pub cells: Option<Cells>,
    /// The channel bus.
    pub channel: Rate,
    /// The controller's DRAM; `None`: free.
    pub dram: Option<Rate>,
    /// The host link, in each direction; `None`: free.
    pub link: Option<Rate>,
    /// Error correction.
    pub ecc: Ecc,
    /// Firmware cores; the host's addresses are striped over them.
    pub cores: u32,
    /// How many mapping units stay together on one core.
    pub stripe_units: u32,
    /// What the firmware's steps cost.
    pub costs: Costs,
    /// Requests the drive takes in at once; more wait in the host's queues.
    pub queue_depth: u32,
    /// How the host's queues take turns.
    pub weights: Weights,
    /// Template of the firmware's configuration; `dies`, `exported_units`, `factory_bad`, `read_entries` and `core` are filled in per core.
    pub firmware: FirmwareConfig,
    /// Mapping units the whole drive shows to the host.
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
    /// What the drive is set to, by [`crate::Drive::set_age`], once it is filled; `None`: it stays as it was built.
    pub age: Option<Age>,
}

/// Error correction: one engine per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecc {
    /// From the last byte in to the last byte out.
    pub latency: Nanos,
    /// Throughput of an engine; `None`: as fast as data comes.
    pub rate: Option<Rate>,
}

/// Time a firmware core spends on each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Take in one host request.
    pub command: Nanos,
    /// Look up or change the map for one unit.
    pub unit: Nanos,
    /// Order one flash operation and hear its report.
    pub operation: Nanos,
}

impl Config {
    /// The drive's size as the host sees it.
    pub fn exported(&self) -> Bytes {
        Bytes(self.exported_units * self.firmware.unit.0)
    }

    /// What capacitors keep beside its write buffers: how many facts, of all cores together, and the bytes of the longest.
    pub fn facts(&self) -> (u32, u32) {
        let geometry = &self.sheet.geometry;
        let units = (geometry.page.0 / self.firmware.unit.0) as u32 * self.sheet.pages_per_program() * geometry.planes;
        (self.cores * wordline_ftl::FACTS, wordline_ftl::fact_bytes(units) as u32)
    }

    /// Whether capacitors keep its write buffers.
    pub fn has_capacitors(&self) -> bool {
        self.firmware.buffer.protection == Protection::Capacitor
    }
}
