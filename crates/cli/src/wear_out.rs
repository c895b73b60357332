//! `wordline wear-out`: lives of drives to their ends.

use wordline_figures::{LifetimeResult, LifetimesResult};
use wordline_lab::LIFE_BY_MEAN;
use wordline_lab::conditions::{span, span_text};
use wordline_pages::lifetime::{page, shown};
use wordline_pages::number::number;
use wordline_plan::Plan;
use wordline_runs::wear_out::{Ends, Leaps, Pace, WearOut, YEARS_BAND, wear_out as live};
use wordline_runs::{Reads, Repeated, share};
use wordline_units::{Nanos, calendar};

use crate::args::WearOutOptions;
use crate::failure::Failure;
use crate::lives::{self, Lives};
use crate::load;
use crate::plans::raw_flash_note;
use crate::read_out::read_out;

/// Time without power at the end of life that JESD218 asks of client drives.
const MUST_KEEP: &str = "1y";
const YEAR_KEPT: Nanos = Nanos::from_millis(calendar::YEAR * 1_000);

pub(crate) fn wear_out(options: &WearOutOptions) -> Result<(), Failure> {
    let load = options.load.load()?;
    let workload = load::workload(&options.workload, &load)?;
    load.check(workload.is_trace())?;
    if let Some(reads) = Reads::of(&workload, &load)? {
        return read_out(options, &load, &reads);
    }
    if options.long_read.is_some() {
        return Err(Failure::Usage(format!("--long-read is for loads that only read, such as rlr-long; {} is none", options.workload)));
    }
    let asked = asked(options)?;
    let lives = Lives::of(options)?;
    let repeats = Repeated::of(&workload)?.told().to_owned();
    let drives = lives.each(asked.passes(), |plan, progress| live(plan, &workload, &load, &asked, progress))?;
    let plans = lives.plans();
    let mut notes = notes(plans, &asked);
    notes.extend(raw_flash_note(plans));
    if let Pace::Years(years) = asked.pace {
        // Passes come to an end, whether or not they have found the pace.
        let is_off = |life: &&LifetimeResult| (life.years / years - 1.0).abs() > YEARS_BAND;
        notes.extend(drives.iter().filter(is_off).map(|life| {
            format!("{}: no pace was found at which its life takes {years} years; at the last one it takes {:.2}", life.name, life.years)
        }));
    }
    notes.extend(plans.iter().zip(&drives).flat_map(|(plan, life)| beyond(plan, life, &asked)));
    let (workload, made_by) = lives.identity();
    let result = LifetimesResult { workload, repeats, ends: ends(&asked), drives, notes, made_by };
    lives::write(options, || page(&result), &wordline_pages::json(&result), || shown(&result))
}

/// The life that the options ask for.
fn asked(options: &WearOutOptions) -> Result<WearOut, Failure> {
    let usual = WearOut::default();
    let years = options.years.map(|years| options.positive("years", years)).transpose()?;
    let dwpd = options.dwpd.map(|dwpd| options.positive("dwpd", dwpd)).transpose()?;
    let epoch_writes = options.epoch.map_or(Ok(usual.epoch_writes), |writes| options.positive("epoch", writes))?;
    let (pace, years) = match (dwpd, years) {
        (Some(dwpd), years) => (Pace::Dwpd(dwpd), years),
        (None, Some(years)) => (Pace::Years(years), None),
        (None, None) => (usual.pace, None),
    };
    let wrong_time = |what| Failure::Usage(format!("--must-keep: {what}; or none, where data need not keep"));
    let kept = match options.must_keep.as_deref().unwrap_or(MUST_KEEP).trim() {
        "none" => None,
        text => Some(span(text).map(|seconds| Nanos((seconds * 1e9) as u64)).map_err(wrong_time)?),
    };
    let ends = match options.until.as_deref() {
        None => Ends { kept, years, ..usual.ends },
        Some("uncorrectable") => Ends { uncorrectable: true, bad_blocks: None, kept, years },
        Some("spare") => Ends { uncorrectable: false, bad_blocks: None, kept, years },
        Some(text) => {
            let wrong =
                |_| Failure::Usage(format!("--until '{text}': expected uncorrectable, spare, or a share of bad blocks such as 2.5%"));
            Ends { uncorrectable: false, bad_blocks: Some(share(text).map_err(wrong)?), kept, years }
        }
    };
    let leaps = match (options.no_leaps, options.quick) {
        (true, _) => Leaps::None,
        (false, true) => Leaps::Growing,
        (false, false) => Leaps::Even,
    };
    Ok(WearOut { pace, ends, epochs: options.epochs, epoch_writes, sample: options.sample.unwrap_or(usual.sample), leaps })
}

/// Sentence on the ends of a life.
fn ends(asked: &WearOut) -> Vec<String> {
    let Ends { uncorrectable, kept, bad_blocks, years } = asked.ends;
    let kept = kept.map(|kept| {
        let told = span_text(kept.as_secs_f64());
        let by = if kept == YEAR_KEPT { ", as JESD218 asks of client drives" } else { "" };
        format!("data that could not be read after {told} without power (--must-keep{by})")
    });
    let ends = [
        uncorrectable.then(|| "a page that cannot be read".to_owned()),
        kept,
        Some("no write is taken any more".to_owned()),
        bad_blocks.map(|share| format!("more than {} % of the blocks that the host sees gone bad", number(share * 100.0))),
        years.map(|years| format!("{years} years")),
    ];
    ends.into_iter().flatten().collect()
}

/// Note on a life that goes beyond the calibration of its drive's cells.
fn beyond(plan: &Plan, life: &LifetimeResult, asked: &WearOut) -> Vec<String> {
    if plan.build().cells.is_none() {
        return Vec::new();
    }
    let kept = asked.ends.kept.unwrap_or_default().as_secs_f64();
    plan.calibrated().beyond(&format!("{} ends with", life.name), f64::from(life.cycles.most), kept, 0.0)
}

/// What the figures leave out.
fn notes(plans: &[Plan], asked: &WearOut) -> Vec<String> {
    let mut notes = Vec::new();
    let configs: Vec<_> = plans.iter().map(Plan::build).collect();
    if asked.leaps != Leaps::None {
        notes.push(
            "what lies between two epochs is not simulated: erase counts and the wear of cells grow by the use of each block in the last eight epochs, \
             data stays where it is, and without static wear levelling, blocks that none of them erased are not erased"
                .to_owned(),
        );
        if configs.iter().any(|config| config.firmware.free_block.gap.is_some()) {
            notes.push(
                "where static wear levelling is on, what is skipped brings the blocks of a die to one level: a few percent longer lives than levelling, which \
                 does not hold the hottest blocks back; blocks with cold data follow within the gap"
                    .to_owned(),
            );
        }
        if configs.iter().any(|config| config.faults.program_fail > 0.0 || config.faults.erase_fail > 0.0) {
            notes.push("programs and erases that fail by rate do so in epochs only: fewer blocks go bad than by the rates".to_owned());
        }
        if asked.ends.uncorrectable {
            notes.push(
                "reads of data that stays in its block over a leap are not multiplied: read disturb is that of the epochs".to_owned(),
            );
        }
    }
    for (plan, config) in plans.iter().zip(&configs) {
        if config.cells.is_none() {
            notes.push(format!(
                "{}: cells have no physics, so no page is lost to wear or keeping: blocks fail at their limit of erases or by rate",
                plan.name()
            ));
        } else if config.faults.endurance.is_some() {
            notes.push(format!("{}: beside the wear of its cells, the drive file limits the erases of a block", plan.name()));
        }
    }
    if configs.iter().any(|config| config.cells.is_some()) {
        notes.push(LIFE_BY_MEAN.to_owned());
    }
    if asked.sample > 0 {
        notes.push(format!(
            "IOPS are of {} requests in virtual time on a copy of the drive, behind {} that are not measured",
            asked.sample,
            asked.sample / 4
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;
    use crate::args::{Arguments, Command};

    fn options(words: &[&str]) -> WearOutOptions {
        let words = ["wordline", "wear-out"].into_iter().chain(words.iter().copied());
        let matches = crate::shape().try_get_matches_from(words).expect("it is a command");
        let command = Arguments::from_arg_matches(&matches).expect("it is a command").command;
        let Command::WearOut(options) = command else { panic!("it is wear-out") };
        options
    }

    #[test]
    fn ends_and_paces_are_read_and_nonsense_is_refused() {
        let of = |words: &[&str]| asked(&options(words));
        let usual = WearOut::default();
        assert_eq!(of(&[]).expect("the defaults"), usual);
        assert_eq!(of(&["--years", "3"]).expect("years").pace, Pace::Years(3.0));
        let both = of(&["--years", "3", "--dwpd", "0.5"]).expect("both");
        assert_eq!((both.pace, both.ends.years), (Pace::Dwpd(0.5), Some(3.0)));
        let until = |what: &str| of(&["--until", what]).map(|asked| (asked.ends.uncorrectable, asked.ends.bad_blocks));
        assert_eq!(until("uncorrectable").expect("a word"), (true, None));
        assert_eq!(until("spare").expect("a word"), (false, None));
        assert_eq!(until("5 %").expect("a share"), (false, Some(0.05)));
        assert!(until("never").is_err_and(|failure| failure.to_string().contains("uncorrectable, spare")));
        for wrong in [["--years", "0"], ["--years", "nan"], ["--dwpd", "-1"], ["--epoch", "1e9"]] {
            assert!(of(&wrong).is_err_and(|failure| failure.to_string().starts_with(wrong[0])), "{wrong:?}");
        }
    }
}
