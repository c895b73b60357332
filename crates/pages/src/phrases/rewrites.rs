//! Sentences on rewrites.

use wordline_figures::RewritesResult;

use crate::number::{count, number};

/// Share of a run from which on a rewrite that waits so long counts as starved.
const STARVED: f64 = 0.5;

/// The row of the console.
pub(crate) fn row(of: &RewritesResult) -> String {
    let RewritesResult { cause, asked, begun, needless, waiting, parked, longest_wait_us, longest_hold_us } = of;
    let counts = [(needless, "needless"), (waiting, "waiting"), (parked, "postponed")]
        .map(|(number, what)| (*number > 0).then(|| format!(", {} {what}", count(*number))));
    let hold = if *longest_hold_us > 0.0 { format!(", longest held back {} ms", number(longest_hold_us / 1e3)) } else { String::new() };
    let counts = counts.into_iter().flatten().collect::<String>();
    format!("{cause}: {} asked, {} begun{counts}; longest wait {} ms{hold}", count(*asked), count(*begun), number(longest_wait_us / 1e3))
}

/// A warning where rewrites wait for much of a window of `seconds`; `None`: they do not.
pub(crate) fn warning(of: &RewritesResult, seconds: f64) -> Option<String> {
    let is_starved = of.waiting > 0 && of.longest_wait_us / 1e6 > STARVED * seconds;
    is_starved.then(|| {
        format!(
            "rewrites starve ({}): {} of {} still wait, the first for {} s of {} s",
            of.cause,
            count(of.waiting),
            count(of.asked),
            number(of.longest_wait_us / 1e6),
            number(seconds)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_only_what_there_was_and_a_long_wait_is_a_warning() {
        let done = RewritesResult { cause: "wear".to_owned(), asked: 3, begun: 3, longest_wait_us: 1_500.0, ..RewritesResult::default() };
        assert_eq!(row(&done), "wear: 3 asked, 3 begun; longest wait 1.5 ms");
        let starved = RewritesResult {
            cause: "disturb".to_owned(),
            begun: 1,
            needless: 1,
            waiting: 1,
            parked: 2,
            longest_wait_us: 6e5,
            longest_hold_us: 2e3,
            ..done.clone()
        };
        assert_eq!(
            row(&starved),
            "disturb: 3 asked, 1 begun, 1 needless, 1 waiting, 2 postponed; longest wait 600 ms, longest held back 2 ms"
        );
        assert_eq!((warning(&done, 1e-3), warning(&starved, 2.0)), (None, None));
        assert!(warning(&starved, 1.0).is_some_and(|said| said.contains("disturb") && said.contains("1 of 3")));
    }
}
