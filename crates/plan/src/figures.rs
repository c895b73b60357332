//! What follows from a plan by arithmetic.

use wordline_drive::Config;
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
    /// (raw − exported) / raw.
    pub spare_factor: f64,
    /// All channels together, in bytes per second.
    pub channel_bandwidth: f64,
    /// All planes sensing at once, in bytes per second: the mean t_R over page types.
    pub sense_bandwidth: f64,
    /// All planes programming at once, in bytes per second: the mean t_PROG over page types.
    pub program_bandwidth: f64,
    /// The most the drive can read, in bytes per second: the narrowest of planes, channels, ECC, DRAM and link.
    pub read_peak: f64,
    /// The most the drive can write without reclaim, in bytes per second: the narrowest of planes, channels, ECC, DRAM and link.
    pub write_peak: f64,
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
        // Data crosses the DRAM twice: once in, once out.
        let around = channel_bandwidth.min(channels * rate(config.ecc.rate)).min(rate(config.dram) / 2.0).min(rate(config.link));
        let (raw, exported) = (geometry.raw(), config.exported());
        Figures {
            dies: geometry.dies(),
            planes: geometry.planes,
            groups_per_die: geometry.blocks,
            pages_per_block: geometry.pages(),
            pages: raw.0 / geometry.page.0,
            raw,
            exported,
            spare_factor: (raw.0 - exported.0) as f64 / raw.0 as f64,
            channel_bandwidth,
            sense_bandwidth,
            program_bandwidth,
            read_peak: around.min(sense_bandwidth),
            write_peak: around.min(program_bandwidth),
        }
    }
}
