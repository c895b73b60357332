//! Lives of drives as text for a terminal.

use std::fmt::Write;

use wordline_figures::{EpochResult, LifetimeResult, LifetimesResult};

use crate::number::{count, number, share};

/// Epochs of each drive that are printed.
const EPOCHS: usize = 8;

/// The lives as text.
pub fn shown(result: &LifetimesResult) -> String {
    let mut text = format!("repeats {}\nends at the first of: {}\n\n", result.repeats, result.ends.join("; "));
    let (first, has_modes) = (result.drives.first(), has_modes(result));
    for drive in &result.drives {
        let _ = writeln!(text, "{} on {}, seed {}", drive.name, result.workload.name, drive.seed);
        rows(drive, first.filter(|first| !std::ptr::eq(*first, drive)), has_modes)
            .iter()
            .for_each(|(name, value)| _ = writeln!(text, "  {name:18}{value}"));
        let _ = writeln!(text, "  {}", head());
        some(&drive.epochs).for_each(|epoch| _ = writeln!(text, "  {}", line(epoch)));
        text.push('\n');
    }
    result.notes.iter().for_each(|note| _ = writeln!(text, "note: {note}"));
    text.trim_end().to_owned()
}

/// Words on a life that is known within the share `off` of itself.
fn known(off: f64) -> String {
    if off < 1.0 { format!("known within {}", share(off)) } else { "known no closer than its own length".to_owned() }
}

/// True if a drive has a mode, or wordlines without data.
pub(super) fn has_modes(result: &LifetimesResult) -> bool {
    result.drives.iter().flat_map(|drive| &drive.epochs).any(|epoch| epoch.mode.is_some() || epoch.idle_share > 0.0)
}

/// Words on the mode of a drive at the end of its life and on its way, and on its wordlines without data.
fn modes(life: &LifetimeResult) -> [(&'static str, String); 2] {
    let all: Vec<f64> = life.epochs.iter().filter_map(|epoch| epoch.mode).collect();
    let mode = all.last().map_or("none".to_owned(), |&last| {
        let [least, most] = [all.iter().copied().fold(last, f64::min), all.iter().copied().fold(last, f64::max)];
        let tried = life.epochs.iter().filter(|epoch| epoch.tries_modes).count();
        let whole =
            if tried > 0 { format!("; modes were tried in {tried} of the epochs, after which none was skipped") } else { String::new() };
        format!("{} at the end, {} to {} on the way{whole}", number(last), number(least), number(most))
    });
    let idle = life.epochs.last().map_or(0.0, |epoch| epoch.idle_share);
    let refused: u64 = life.epochs.iter().map(|epoch| epoch.refused_sets).sum();
    let refused = match refused {
        0 => String::new(),
        sets => format!("; {} erases of the epochs were plain for want of room", count(sets)),
    };
    [("mode", mode), ("without data", format!("{} of the wordlines in service at the end{refused}", share(idle)))]
}

/// The figures of a life, each with its name. `first`: the life that this one is held against. `has_modes`: some drive of the result has modes.
pub(super) fn rows(life: &LifetimeResult, first: Option<&LifetimeResult>, has_modes: bool) -> Vec<(&'static str, String)> {
    let cycles = &life.cycles;
    let ratio =
        first.map(|first| format!(", {} times that of {}", number(life.drive_writes / first.drive_writes), first.name)).unwrap_or_default();
    let passes = match life.passes_years.as_slice() {
        [] | [_] => String::new(),
        many => format!("; passes took {}", many.iter().map(|&years| number(years)).collect::<Vec<_>>().join(", ")),
    };
    let of_that = if life.leaps_off > 0.0 {
        format!(": {} by the last leap, {} by leaps as measured", share(life.resolution), share(life.leaps_off))
    } else {
        String::new()
    };
    let mut rows = vec![
        ("end", life.reason.clone()),
        (
            "written",
            format!(
                "{} TB, {} drive writes{ratio}; {}{of_that}",
                number(life.written_bytes as f64 / 1e12),
                number(life.drive_writes),
                known(life.resolution + life.leaps_off)
            ),
        ),
        ("life", format!("{} years at {} drive writes a day{passes}", number(life.years), number(life.dwpd))),
        (
            "P/E of blocks",
            format!(
                "{} to {}, mean {}, median {}",
                count(cycles.least.into()),
                count(cycles.most.into()),
                number(cycles.mean),
                count(cycles.median.into())
            ),
        ),
        ("WAF", number(life.waf)),
        ("blocks gone bad", count(life.grown_bad)),
    ];
    if has_modes {
        rows.extend(modes(life));
    }
    rows
}

/// A few epochs of a life, evenly over it, the first and the last among them.
pub(crate) fn some<E>(epochs: &[E]) -> impl Iterator<Item = &E> {
    let last = epochs.len().saturating_sub(1);
    let mut places: Vec<usize> = (0..EPOCHS.min(epochs.len())).map(|at| at * last / (EPOCHS - 1).min(last.max(1))).collect();
    places.dedup();
    places.into_iter().filter_map(|place| epochs.get(place))
}

fn head() -> String {
    format!(
        "{:>12}{:>12}{:>10}{:>16}{:>8}{:>12}{:>10}{:>7}",
        "TB written", "years", "P/E mean", "least–most", "WAF", "retries", "IOPS", "bad"
    )
}

fn line(epoch: &EpochResult) -> String {
    format!(
        "{:>12}{:>12}{:>10}{:>16}{:>8}{:>12}{:>10}{:>7}",
        number(epoch.written_bytes as f64 / 1e12),
        number(epoch.years),
        number(epoch.cycles_mean),
        format!("{}–{}", count(epoch.cycles_least.into()), count(epoch.cycles_most.into())),
        number(epoch.waf),
        number(epoch.retries),
        epoch.iops.map_or("-".to_owned(), |iops| count(iops as u64)),
        count(epoch.grown_bad)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::tests::lives;

    #[test]
    fn a_life_is_told_with_its_end_and_beside_the_first() {
        let text = shown(&lives());
        let head = "repeats phase 'storm' without end\nends at the first of: no write is taken; data does not keep\n\none on oltp";
        assert!(text.starts_with(head), "{text}");
        for words in [
            "TB, 300 drive writes; known within 15.4 %: 0.4 % by the last leap, 15 % by leaps as measured",
            "450 drive writes, 1.5 times that of one",
            "passes took 3, 2",
            "note: what fails",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() < 150));
        assert!(!text.contains("without data"), "no drive has modes");
        let mut moded = lives();
        for (epoch, mode) in moded.drives[0].epochs.iter_mut().zip([3.0, 2.0]) {
            (epoch.mode, epoch.tries_modes, epoch.idle_share) = (Some(mode), mode > 2.0, 0.025);
            epoch.refused_sets = 600;
        }
        let text = shown(&moded);
        for words in [
            "mode              2 at the end, 2 to 3 on the way; modes were tried in 1 of the epochs",
            "without data      2.5 % of the wordlines in service at the end; 1,200 erases of the epochs were plain",
            "mode              none",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
        let mut whole = lives();
        whole.drives[0].leaps_off = 0.0;
        assert!(shown(&whole).contains("TB, 300 drive writes; known within 0.4 %\n"), "a whole life has no leaps");
        whole.drives[0].resolution = 7.0;
        assert!(shown(&whole).contains("TB, 300 drive writes; known no closer than its own length\n"), "it ended in its first epoch");
    }

    #[test]
    fn the_first_and_the_last_epoch_are_printed_whatever_their_number() {
        for number in [0, 1, 2, 7, 8, 9, 60] {
            let epochs: Vec<EpochResult> =
                (0..number).map(|at| EpochResult { written_bytes: at as u64, ..EpochResult::default() }).collect();
            let printed: Vec<u64> = some(&epochs).map(|epoch| epoch.written_bytes).collect();
            assert_eq!(printed.len(), number.min(EPOCHS));
            assert_eq!(printed.first().copied(), epochs.first().map(|epoch| epoch.written_bytes));
            assert_eq!(printed.last().copied(), epochs.last().map(|epoch| epoch.written_bytes));
        }
    }
}
