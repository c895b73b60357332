//! `wordline age`: a used drive in seconds.

use wordline_drive::Drive;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest, Nanos};

use crate::args::AgeOptions;
use crate::cost::Stopwatch;
use crate::failure::Failure;
use crate::files;
use crate::places::Places;
use crate::progress::Board;
use crate::simulate::percent;
use crate::snapshot;

/// How the filled part is overwritten.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Overwrite {
    random: bool,
    times: f64,
}

pub(crate) fn age(options: &AgeOptions) -> Result<(), Failure> {
    let (plan, _) = options.options.load(&options.drive, &[])?;
    let fill = percent(&options.fill)?;
    let overwrite = options.overwrite.as_deref().map(parse).transpose()?;
    Places::reading(plan.files()).write(&options.save)?;
    let config = plan.build();
    let (unit, seed) = (config.firmware.unit, config.seed);
    let filled = (config.exported_units as f64 * fill) as u64;
    let watch = Stopwatch::start();
    let mut drive = Drive::new(config, ());
    let mut told = format!("{} of {} filled", Bytes(filled * unit.0), drive.config().exported());
    if options.steady {
        drive.construct_steady(fill, seed);
        told += ", in the steady state of uniform random overwrites";
    } else {
        drive.construct_filled(filled);
    }
    if let Some(overwrite) = overwrite.filter(|_| filled > 0) {
        let waf = write_over(&mut drive, overwrite, filled, seed, Board::new(options.quiet).line(plan.name()));
        told += &format!(", overwritten {} times with a write amplification of {waf:.3}", overwrite.times);
    }
    if let Some(age) = drive.config().cells.as_ref().and_then(|cells| cells.age) {
        drive.set_age(&age);
        told += &format!(", aged by {} cycles and {} d of retention", age.cycles, age.retention / 86_400.0);
    }
    drive.audit().map_err(|problem| Failure::Checks(format!("  {}: {problem}", plan.name())))?;
    let image = drive.image().map_err(|error| Failure::Usage(error.to_string()))?;
    let size = snapshot::save(&options.save, &plan, &image, None)?;
    let cost = watch.read();
    files::write_or_print(
        "-",
        &format!("{}: {told}; {} in {} ({:.1} s)", plan.name(), Bytes(size), options.save.display(), cost.wall_seconds),
    )
}

/// Overwrite by the real firmware without timing, in slices so that progress shows; returns the write amplification of the last slice.
fn write_over(drive: &mut Drive, overwrite: Overwrite, filled: u64, seed: u64, mut line: crate::progress::Line) -> f64 {
    let sectors = (drive.unit_bytes().0 / SECTOR_BYTES) as u32;
    let mut draw = Draw::new(seed, Stream::Construct, 0);
    let mut next = 0;
    let mut load = std::iter::from_fn(|| {
        let unit = if overwrite.random {
            draw.below(filled)
        } else {
            next = (next + 1) % filled;
            next
        };
        let sector = unit * u64::from(sectors);
        Some(HostRequest::new(HostOp::Write, sector, sectors))
    });
    let total = (filled as f64 * overwrite.times) as u64;
    line.expect(Some(total));
    let (mut done, mut waf) = (0, 1.0);
    while done < total {
        let slice = (total / 10).max(100_000).min(total - done);
        let aged = drive.age(&mut load, slice);
        // The rest at the end is too small to tell anything.
        if slice >= total / 10 {
            waf = aged.waf();
        }
        done += slice;
        line.update(done, Nanos::ZERO, "overwriting");
    }
    line.finish();
    waf
}

fn parse(text: &str) -> Result<Overwrite, Failure> {
    let wrong =
        || Failure::Usage(format!("'{text}' is not an overwrite: expected random:2x or sequential:1x, in multiples of what is filled"));
    let (pattern, times) = text.split_once(':').ok_or_else(wrong)?;
    let times: f64 = times.strip_suffix('x').unwrap_or(times).parse().map_err(|_| wrong())?;
    let random = match pattern {
        "random" => true,
        "sequential" => false,
        _ => return Err(wrong()),
    };
    if (0.0..=1000.0).contains(&times) { Ok(Overwrite { random, times }) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overwrites_are_read_as_written_and_nonsense_is_refused() {
        assert_eq!(parse("random:2x").unwrap(), Overwrite { random: true, times: 2.0 });
        assert_eq!(parse("sequential:0.5x").unwrap(), Overwrite { random: false, times: 0.5 });
        for wrong in ["random", "random:", "zipf:2x", "random:-1x", "random:nanx", "random:1e9x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
