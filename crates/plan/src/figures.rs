//! What follows from a plan by arithmetic.

use wordline_drive::{Config, FtlPlace};
use wordline_flash::ProgramScope;
use wordline_units::Bytes;

/// Figures of a drive that follow from its plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Dies in the drive.
    pub dies: u32,
    /// Planes in a die.
    pub planes: u32,
    /// Block groups in a die, one block from each plane: blocks in a plane.
    pub groups_per_die: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// Flash pages in the drive.
    pub pages: u64,
    /// User bytes of flash in the drive.
    pub raw: Bytes,
    /// What the host sees.
    pub exported: Bytes,
    /// Nominal spare: (raw − exported) / raw.
    pub spare_factor: f64,
    /// Usable spare, with which GC works: (usable − exported) / usable, where usable flash is raw flash less [`SetAside::total`]. Below zero for a drive that
    /// shows more than it has.
    pub usable_spare: f64,
    /// Flash that holds no data for good, by what keeps it free.
    pub set_aside: SetAside,
    /// All channels together, in bytes per second.
    pub channel_bandwidth: f64,
    /// All planes sensing at once, in bytes per second: the mean t_R over page types.
    pub sense_bandwidth: f64,
    /// All planes programming at once, in bytes per second: the mean t_PROG over page types.
    pub program_bandwidth: f64,
    /// The most the drive can read, in bytes per second: the narrowest of planes, channels, ECC, DRAM and link.
    pub read_peak: f64,
    /// The most the drive can write without garbage collection, in bytes per second: the narrowest of planes, channels, ECC, DRAM and link.
    pub write_peak: f64,
}

/// Flash that is not the host's and that GC cannot use as spare either, in block groups of the whole drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetAside {
    /// What garbage collection keeps free: `gc.start` of each die.
    pub free: f64,
    /// The empty half of the open groups of each die: those for host data and one for moved data.
    pub open: f64,
    /// Spare blocks, and the factory bad blocks expected beyond them.
    pub bad: f64,
    /// Journal, checkpoints and keys.
    pub own: f64,
    /// The second copy of out-of-band marks, at the end of each block.
    pub marks: f64,
}

impl SetAside {
    fn of(config: &Config) -> SetAside {
        let geometry = &config.sheet.geometry;
        let (dies, spares) = (f64::from(geometry.dies()), f64::from(config.firmware.spare_blocks));
        let bad = config.faults.factory_bad * f64::from(geometry.blocks);
        SetAside {
            free: dies * f64::from(config.firmware.gc.start),
            open: dies * f64::from(config.firmware.open_for_moved() + config.firmware.wordline_order.open_blocks()) / 2.0,
            // A spare stands in for a bad block of its own plane; a group is lost with any of its planes.
            bad: dies * (spares + (bad - spares).max(0.0) * f64::from(geometry.planes)),
            own: f64::from(config.cores) * f64::from(wordline_ftl::metadata_groups(&config.firmware)),
            marks: dies * f64::from(geometry.blocks) * (1.0 - data_share(config)),
        }
    }

    /// All of it.
    pub fn total(&self) -> f64 {
        self.free + self.open + self.bad + self.own + self.marks
    }
}

/// [`Figures::usable_spare`] of a drive.
pub(crate) fn usable_spare(config: &Config) -> f64 {
    let geometry = &config.sheet.geometry;
    let groups = f64::from(geometry.dies()) * f64::from(geometry.blocks);
    let shown = config.exported().0 as f64 / geometry.raw().0 as f64;
    // One group at least is taken as usable, so that the share is a number where everything is set aside: far below zero.
    let usable = (groups - SetAside::of(config).total()).max(1.0) / groups;
    1.0 - shown / usable
}

/// The share of a block group that takes data.
pub(crate) fn data_share(config: &Config) -> f64 {
    f64::from(wordline_ftl::data_units(&config.firmware)) / group_units(config)
}

/// Mapping units in a block group.
fn group_units(config: &Config) -> f64 {
    let geometry = &config.sheet.geometry;
    f64::from(geometry.planes) * f64::from(geometry.pages()) * (geometry.page.0 / config.firmware.unit.0) as f64
}

impl Figures {
    /// The figures of a drive.
    pub(crate) fn of(config: &Config) -> Figures {
        let (geometry, timing) = (&config.sheet.geometry, &config.sheet.timing);
        let bits = geometry.cell.bits() as usize;
        let mean = |times: &[wordline_units::Nanos]| times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / times.len() as f64;
        let planes = f64::from(geometry.dies()) * f64::from(geometry.planes) * geometry.page.0 as f64;
        let sense_bandwidth = planes / mean(&timing.read[..bits]);
        let program_bandwidth = match config.sheet.capabilities.program_scope {
            ProgramScope::Page => planes / mean(&timing.program[..bits]),
            ProgramScope::Wordline => planes * bits as f64 / timing.program_wordline.as_secs_f64(),
        };
        let channels = f64::from(geometry.channels);
        let channel_bandwidth = channels * config.channel.bytes_per_second() as f64;
        let rate = |rate: Option<wordline_units::Rate>| rate.map_or(f64::INFINITY, |rate| rate.bytes_per_second() as f64);
        let memory = match config.ftl {
            // Data crosses the DRAM twice: once in, once out.
            FtlPlace::Drive => rate(config.dram) / 2.0,
            FtlPlace::Host => f64::INFINITY,
        };
        let around = channel_bandwidth.min(channels * rate(config.ecc.rate)).min(memory);
        let (raw, exported, set_aside) = (geometry.raw(), config.exported(), SetAside::of(config));
        let spare_factor = (raw.0 - exported.0) as f64 / raw.0 as f64;
        Figures {
            dies: geometry.dies(),
            planes: geometry.planes,
            groups_per_die: geometry.blocks,
            pages_per_block: geometry.pages(),
            pages: raw.0 / geometry.page.0,
            raw,
            exported,
            spare_factor,
            usable_spare: usable_spare(config),
            set_aside,
            channel_bandwidth,
            sense_bandwidth,
            program_bandwidth,
            read_peak: around.min(rate(config.link)).min(sense_bandwidth),
            write_peak: around.min(rate(config.link_in)).min(program_bandwidth),
        }
    }
}
