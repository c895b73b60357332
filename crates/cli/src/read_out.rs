//! `wordline wear-out` under a load that only reads: days of reads, in leaps.

use wordline_drive::READS_EACH;
use wordline_figures::{ReadLifeResult, ReadLivesResult};
use wordline_pages::number::number;
use wordline_pages::read_life::{page, shown};
use wordline_plan::Plan;
use wordline_runs::read_out::{ReadOut, read_out as live, reads_of_a_block};
use wordline_runs::wear_out::Passes;
use wordline_runs::{Load, Reads};
use wordline_units::Nanos;
use wordline_workload::spec::read_time;

use crate::args::WearOutOptions;
use crate::failure::Failure;
use crate::lives::{self, Lives};
use crate::plans::raw_flash_note;

/// Days of a year.
const DAYS: f64 = 365.25;

/// Reads the drives of `options` as `reads` does.
pub(crate) fn read_out(options: &WearOutOptions, load: &Load, reads: &Reads) -> Result<(), Failure> {
    let asked = asked(options)?;
    let lives = Lives::of(options)?;
    let passes = Passes { scout: None, epochs: Some(asked.epochs), most: 1 };
    let drives = lives.each(passes, |plan, progress| live(plan, reads, load, &asked, progress))?;
    let mut notes = notes(lives.plans(), &drives, &asked);
    notes.extend(raw_flash_note(lives.plans()));
    let (workload, made_by) = lives.identity();
    let repeats = reads.told().to_owned();
    let long_us = asked.long.as_micros_f64();
    let result = ReadLivesResult { workload, repeats, years: asked.years, long_us, drives, notes, made_by };
    lives::write(options, || page(&result), &wordline_pages::json(&result), || shown(&result))
}

/// The life of reads that the options ask for.
fn asked(options: &WearOutOptions) -> Result<ReadOut, Failure> {
    let usual = ReadOut::default();
    let workload = &options.workload;
    let idle = [
        ("--dwpd", options.dwpd.is_some()),
        ("--until", options.until.is_some()),
        ("--must-keep", options.must_keep.is_some()),
        ("--epoch", options.epoch.is_some()),
        ("--no-leaps", options.no_leaps),
        ("--quick", options.quick),
    ];
    if let Some((flag, _)) = idle.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Usage(format!("{flag} is for loads that write; {workload} only reads, for --years, in leaps of --epochs")));
    }
    let Some(years) = options.years else {
        return Err(Failure::Usage(format!("{workload} only reads, which wears no drive out; it needs --years N, such as --years 0.5")));
    };
    let years = options.positive("years", years)?;
    let long = options.long_read.as_deref().map_or(Ok(usual.long), |text| {
        let wrong = |why: &str| Failure::Usage(format!("--long-read {text}: {why}"));
        let long = read_time(text).map_err(|why| wrong(&why))?;
        if long > Nanos::ZERO { Ok(long) } else { Err(wrong("expected a time above zero, such as 400us")) }
    })?;
    let timed = options.sample.unwrap_or(usual.timed);
    if timed == 0 {
        return Err(Failure::Usage(format!("--sample 0: {workload} only reads, and long reads are told from those that are timed")));
    }
    Ok(ReadOut { years, epochs: options.epochs, timed, long })
}

/// Notes on what the figures leave out.
fn notes(plans: &[Plan], drives: &[ReadLifeResult], asked: &ReadOut) -> Vec<String> {
    let (days, timed) = (asked.years * DAYS / f64::from(asked.epochs), asked.timed);
    let mut notes = vec![
        format!(
            "each epoch leaps over the reads of {} days: a sample of them is carried out, each read for up to {READS_EACH} of the same place, and has the errors \
             of the worst of those; no read of a leap has a latency",
            number(days)
        ),
        format!(
            "long reads are counted of the {timed} reads that are timed behind each leap (--sample), so a share below 1 in {timed} is seen as none"
        ),
        format!(
            "all reads of a leap come at its beginning, and its days pass behind them; firmware that looks at the number of reads may look up to {} reads late",
            READS_EACH - 1
        ),
    ];
    for (plan, life) in plans.iter().zip(drives) {
        if life.sampled == 0 {
            notes.push(format!("{}: holds nothing, so its reads cost no flash operation, and leaps have none (--fill)", plan.name()));
        }
        if plan.build().cells.is_none() {
            notes.push(format!("{}: cells have no physics, so no read disturbs data or is retried", plan.name()));
        } else {
            notes.extend(beyond(plan, life));
        }
    }
    notes
}

/// Note on a drive that goes beyond the calibration of its cells.
fn beyond(plan: &Plan, life: &ReadLifeResult) -> Vec<String> {
    let config = plan.build();
    let reads = libm::round(reads_of_a_block(&config.sheet.geometry, life));
    let cycles = config.age().map_or(0.0, |age| age.cycles);
    plan.calibrated().beyond(&format!("{} ends with", life.name), cycles, life.days * 86_400.0, reads)
}
