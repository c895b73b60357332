//! Lives of drives that are only read, as text for a terminal.

use std::fmt::Write;

use wordline_figures::{ReadEpochResult, ReadLifeResult, ReadLivesResult};

use crate::lifetime::some;
use crate::number::{count, number};
use crate::phrases::rewrites;

/// The lives as text.
pub fn shown(result: &ReadLivesResult) -> String {
    let mut text = format!("repeats {}\n{}\n\n", result.repeats, asked(result));
    let first = result.drives.first();
    for drive in &result.drives {
        let _ = writeln!(text, "{} on {}, seed {}", drive.name, result.workload.name, drive.seed);
        rows(drive, first.filter(|first| !std::ptr::eq(*first, drive)))
            .iter()
            .for_each(|(name, value)| _ = writeln!(text, "  {name:18}{value}"));
        let _ = writeln!(text, "  {}", head());
        some(&drive.epochs).for_each(|epoch| _ = writeln!(text, "  {}", line(epoch)));
        text.push('\n');
    }
    result.notes.iter().for_each(|note| _ = writeln!(text, "note: {note}"));
    text.trim_end().to_owned()
}

/// Words on the time and the limit of long reads.
pub(super) fn asked(result: &ReadLivesResult) -> String {
    format!("{} years of reads; a read is long above {} us in the device", number(result.years), number(result.long_us))
}

/// The figures of a life, each with its name. `first`: the life that this one is held against.
pub(super) fn rows(life: &ReadLifeResult, first: Option<&ReadLifeResult>) -> Vec<(&'static str, String)> {
    let times = |of: fn(&ReadLifeResult) -> f64| {
        first
            .filter(|first| of(first) > 0.0)
            .map(|first| format!(", {} times that of {}", number(of(life) / of(first)), first.name))
            .unwrap_or_default()
    };
    let (timed, long) = life.timed();
    let [failed_timed, failed_sampled, failed_moves] = life.failed();
    let last = life.epochs.last().map_or(0.0, |epoch| epoch.long_share);
    let mut rows = vec![
        ("read", format!("{} reads in {} days, {} a second", number(life.reads as f64), number(life.days), number(life.reads_per_second))),
        (
            "rewritten",
            format!("{} times what it holds, {} block groups{}", number(life.rewritten), count(life.begun()), times(|life| life.rewritten)),
        ),
        ("erased", format!("{} block groups{}", count(life.erases), times(|life| life.erases as f64))),
        (
            "long reads",
            format!(
                "{} of {} that were timed, {} on the last day, {} on the worst{}",
                of_all(if timed > 0 { long as f64 / timed as f64 } else { 0.0 }),
                count(timed),
                of_all(last),
                of_all(life.long_worst()),
                times(|life| life.timed().1 as f64)
            ),
        ),
        (
            "failed",
            format!(
                "{} of the reads that were timed, {} of {} carried out in leaps, {} of data to be moved",
                count(failed_timed),
                count(failed_sampled),
                count(life.sampled),
                count(failed_moves)
            ),
        ),
    ];
    rows.extend(life.rewrites.iter().map(|of| ("rewrites", rewrites::row(of))));
    rows.extend(life.ended.iter().map(|why| ("ended", why.clone())));
    rows
}

/// A share of long reads, which are few.
pub(super) fn of_all(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

fn head() -> String {
    format!(
        "{:>8}{:>12}{:>12}{:>12}{:>12}{:>14}{:>14}{:>10}{:>10}",
        "day", "rewrites", "postponed", "erases", "long reads", "device, us", "longest, us", "retries", "failed"
    )
}

fn line(epoch: &ReadEpochResult) -> String {
    format!(
        "{:>8}{:>12}{:>12}{:>12}{:>12}{:>14}{:>14}{:>10}{:>10}",
        number(epoch.day),
        count(epoch.rewrites),
        count(epoch.postponed),
        count(epoch.erases),
        of_all(epoch.long_share),
        number(epoch.device_mean_us),
        number(epoch.device_max_us),
        number(epoch.retries),
        count(epoch.failed_timed + epoch.failed_sampled + epoch.failed_moves)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_life::tests::lives;

    #[test]
    fn lives_are_told_beside_the_first_with_what_was_asked_and_left_out() {
        let text = shown(&lives());
        let head =
            "repeats phase 'read' without end\n0.5 years of reads; a read is long above 400 us in the device\n\none on rlr-long, seed 1\n";
        assert!(text.starts_with(head), "{text}");
        for words in [
            "read              345,600,000 reads in 20 days, 200 a second",
            "rewritten         3 times what it holds, 900 block groups\n",
            "rewritten         0 times what it holds, 0 block groups, 0 times that of one",
            "long reads        1 % of 60,000 that were timed, 2 % on the last day, 2 % on the worst",
            "failed            0 of the reads that were timed, 1 of 400,000 carried out in leaps, 0 of data to be moved",
            "rewrites          disturb: 900 asked, 900 begun",
            "note: leaps have no latency",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
        assert!(!text.contains("ended"), "both lived on");
        assert!(text.lines().all(|line| line.chars().count() < 150));
        let mut short = lives();
        short.drives[1].ended = Some("it takes no more writes".to_owned());
        assert!(shown(&short).contains("ended             it takes no more writes"));
    }
}
