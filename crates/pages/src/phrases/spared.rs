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
}
