//! Sentences on erases that leave wordlines without data.

use wordline_figures::SparedResult;

use crate::number::{count, number};

/// The row of the console. `erases`: all erases of the run.
pub(crate) fn row(of: &SparedResult, erases: u64) -> String {
    let share = |part: u64| if erases > 0 { 100.0 * part as f64 / erases as f64 } else { 0.0 };
    let mut row = format!(
        "{} of {} erases left wordlines without data ({} %); {} % of flash has none now",
        count(of.granted),
        count(erases),
        number(share(of.granted)),
        number(100.0 * of.idle_share)
    );
    let reasons = [
        (of.refused_for_die, "too little room on the die"),
        (of.refused_for_capacity, "too little room for the capacity"),
        (of.refused_for_gc, "too few whole free groups for GC"),
        (of.refused_as_full, "as much was moved out as would fit"),
    ];
    let told: Vec<String> =
        reasons.iter().filter(|(times, _)| *times > 0).map(|(times, why)| format!("{} ({why})", count(*times))).collect();
    if !told.is_empty() {
        row.push_str(&format!("; refused {}", told.join(", ")));
    }
    for (times, what) in [(of.taken_back, "taken back at their end"), (of.made_whole, "erased once more for GC")] {
        if times > 0 {
            row.push_str(&format!("; {} {what}", count(times)));
        }
    }
    row
}

/// Warning of a run in which at least half of the sets that were asked for were refused.
pub(crate) fn warning(of: &SparedResult) -> Option<String> {
    let asked = of.granted + of.refused;
    let rare = of.refused > 0 && 2 * of.refused >= asked;
    rare.then(|| {
        format!(
            "{} of {} erases that were to leave wordlines without data were plain, for want of room: wear, endurance and write amplification are those of \
             what was left. More spare (mapping.capacity), or less that is asked for, changes it",
            count(of.refused),
            count(asked)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_has_the_share_and_every_reason_that_there_was() {
        let of = SparedResult { granted: 42, refused_for_gc: 3, taken_back: 1, idle_share: 0.05, ..SparedResult::default() };
        let told = row(&of, 100);
        assert!(told.starts_with("42 of 100 erases left wordlines without data (42 %); 5 % of flash"), "{told}");
        assert!(told.ends_with("refused 3 (too few whole free groups for GC); 1 taken back at their end"), "{told}");
        assert!(!row(&SparedResult::default(), 0).contains("refused"));
    }

    #[test]
    fn a_run_whose_sets_are_mostly_refused_is_warned_of() {
        let run = |granted, refused| SparedResult { granted, refused, ..SparedResult::default() };
        assert_eq!([run(0, 0), run(9, 0), run(9, 8)].map(|of| warning(&of)), [None, None, None]);
        assert!(warning(&run(1, 3)).is_some_and(|told| told.starts_with("3 of 4 erases")));
        assert!(warning(&run(0, 2)).is_some());
    }
}
