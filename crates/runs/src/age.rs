//! A used drive in seconds: filled, overwritten without timing, and set to its age.

use wordline_cells::Age;
use wordline_drive::Watched;
use wordline_drive::image::Image;
use wordline_engine::Observer;
use wordline_plan::Plan;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest, Nanos};

use crate::error::RunError;
use crate::prepare::{Start, prepare};
use crate::progress::Progress;

/// The way in which the filled part of a drive is overwritten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overwrite {
    is_random: bool,
    times: f64,
}

impl Overwrite {
    /// Reads `random:2x` or `sequential:1x`.
    ///
    /// # Errors
    ///
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Overwrite, RunError> {
        let wrong = || RunError::NoOverwrite(text.to_owned());
        let (pattern, times) = text.split_once(':').ok_or_else(wrong)?;
        let times: f64 = times.strip_suffix('x').unwrap_or(times).parse().map_err(|_| wrong())?;
        let is_random = match pattern {
            "random" => true,
            "sequential" => false,
            _ => return Err(wrong()),
        };
        if (0.0..=1000.0).contains(&times) { Ok(Overwrite { is_random, times }) } else { Err(wrong()) }
    }

    /// How often the filled part is overwritten.
    pub fn times(self) -> f64 {
        self.times
    }
}

/// The use that a drive has behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Share of the drive that is filled.
    pub fill: f64,
    /// Whether it is in the steady state of uniform random overwrites from the beginning.
    pub is_steady: bool,
    /// How the filled part is overwritten, if it is.
    pub overwrite: Option<Overwrite>,
}

/// A drive that has been used.
#[derive(Debug)]
pub struct Used {
    /// The drive.
    pub image: Image,
    /// Bytes that were filled.
    pub filled: Bytes,
    /// Bytes that the host sees.
    pub exported: Bytes,
    /// Write amplification of the last overwrites, if there were any.
    pub waf: Option<f64>,
    /// The age that it was set to, if its cells have one.
    pub age: Option<Age>,
}

/// Makes a used drive of `plan`.
///
/// # Errors
///
/// The drive's tables contradict each other, or it cannot be saved.
pub fn age(plan: &Plan, usage: Usage, progress: &mut dyn Progress) -> Result<Used, RunError> {
    let config = plan.build();
    if config.firmware.recovers {
        return Err(RunError::Recovers { drive: plan.name().to_owned() });
    }
    let (unit, seed, exported) = (config.firmware.unit, config.seed, config.exported());
    let age = config.age();
    let units = (config.exported_units as f64 * usage.fill) as u64;
    let start = if usage.is_steady { Start::Steady { fill: usage.fill } } else { Start::Filled { units } };
    let mut waf = None;
    let prepared = prepare(config, start, ())?.written_over(|drive| {
        if let Some(overwrite) = usage.overwrite.filter(|_| units > 0) {
            waf = Some(write_over(drive, overwrite, units, seed, progress));
        }
    });
    let drive = prepared.aged();
    drive.audit().map_err(|what| RunError::Broken { drive: plan.name().to_owned(), what })?;
    Ok(Used { image: drive.image()?, filled: Bytes(units * unit.0), exported, waf, age })
}

/// Overwrites by the real firmware without timing, in slices so that progress shows; returns the write amplification of the last slice.
fn write_over<O: Observer>(drive: &mut Watched<O>, overwrite: Overwrite, filled: u64, seed: u64, progress: &mut dyn Progress) -> f64 {
    let sectors = (drive.unit_bytes().0 / SECTOR_BYTES) as u32;
    let mut draw = Draw::new(seed, Stream::Construct, 0);
    let mut next = 0;
    let mut load = std::iter::from_fn(|| {
        let unit = if overwrite.is_random {
            draw.below(filled)
        } else {
            next = (next + 1) % filled;
            next
        };
        let sector = unit * u64::from(sectors);
        Some(HostRequest::new(HostOp::Write, sector, sectors))
    });
    let total = (filled as f64 * overwrite.times) as u64;
    progress.expect(Some(total));
    let (mut done, mut waf) = (0, 1.0);
    while done < total {
        let slice = (total / 10).max(100_000).min(total - done);
        let aged = drive.age(&mut load, slice);
        // The rest at the end is too small to tell anything.
        if slice >= total / 10 {
            waf = aged.waf();
        }
        done += slice;
        progress.update(done, Nanos::ZERO, "overwriting");
    }
    waf
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overwrites_are_read_as_written_and_nonsense_is_refused() {
        assert_eq!(Overwrite::parse("random:2x").unwrap(), Overwrite { is_random: true, times: 2.0 });
        assert_eq!(Overwrite::parse("sequential:0.5x").unwrap(), Overwrite { is_random: false, times: 0.5 });
        for wrong in ["random", "random:", "zipf:2x", "random:-1x", "random:nanx", "random:1e9x"] {
            assert!(Overwrite::parse(wrong).is_err(), "{wrong}");
        }
    }
}
