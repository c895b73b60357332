//! `wordline age`: a used drive in seconds.

use wordline_runs::age::{Overwrite, Usage, age as used};
use wordline_runs::{Stopwatch, saved, share};
use wordline_units::Bytes;

use crate::args::AgeOptions;
use crate::failure::Failure;
use crate::files;
use crate::places::Places;
use crate::progress::Board;
use crate::run::save;

pub(crate) fn age(options: &AgeOptions) -> Result<(), Failure> {
    let (plan, _) = options.options.load(&options.drive, &[])?;
    let fill = share(&options.fill)?;
    let overwrite = options.overwrite.as_deref().map(Overwrite::parse).transpose()?;
    if let Some(overwrite) = options.overwrite.as_deref().filter(|_| fill == 0.0) {
        return Err(Failure::Usage(format!("--overwrite {overwrite} has nothing to overwrite: --fill is {}", options.fill)));
    }
    Places::reading(plan.files()).write(&options.save)?;
    let watch = Stopwatch::start();
    let usage = Usage { fill, is_steady: options.steady, overwrite };
    let used = match overwrite {
        Some(_) => {
            let mut line = Board::new(options.quiet).line(plan.name());
            let used = used(&plan, usage, &mut line)?;
            line.finish();
            used
        }
        None => used(&plan, usage, &mut ())?,
    };
    let mut told = format!("{} of {} filled", used.filled, used.exported);
    if options.steady {
        told += ", in the steady state of uniform random overwrites";
    }
    if let (Some(overwrite), Some(waf)) = (overwrite, used.waf) {
        told += &format!(", overwritten {} times with a write amplification of {waf:.3}", overwrite.times());
    }
    if let Some(age) = used.age {
        told += &format!(", aged by {} cycles and {} d of retention", age.cycles, (age.retention / 86.4).round() / 1e3);
    }
    let size = save(&options.save, saved::to_bytes(&plan, &used.image, None))?;
    let cost = watch.read();
    files::write_or_print(
        "-",
        &format!("{}: {told}; {} in {} ({:.1} s)", plan.name(), Bytes(size), options.save.display(), cost.wall_seconds),
    )
}
