//! Results about rewrites: groups whose data was to be moved for wear, for retention, against read disturb or for a sanitiser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{count, number};

/// Share of a run from which on a rewrite that waits so long counts as starved.
const STARVED: f64 = 0.5;

/// Rewrites of one cause. A rewrite waits while it might start; the time for which a technique holds it back counts apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewritesResult {
    /// Cause: `wear`, `refresh`, `disturb`, `recovery` or `sanitise`.
    pub cause: String,
    /// Rewrites that were requested.
    #[schemars(extend("x-unit" = "block groups"))]
    pub asked: u64,
    /// Rewrites that were begun.
    #[schemars(extend("x-unit" = "block groups"))]
    pub begun: u64,
    /// Requests that became needless, as their group was collected before.
    #[schemars(extend("x-unit" = "block groups"))]
    pub needless: u64,
    /// Requests that still waited at the end.
    #[schemars(extend("x-unit" = "block groups"))]
    pub waiting: u64,
    /// Longest wait, of those that still waited too.
    #[schemars(extend("x-unit" = "us"))]
    pub longest_wait_us: f64,
    /// Longest time that a technique held one back.
    #[schemars(extend("x-unit" = "us"))]
    pub longest_hold_us: f64,
}

impl RewritesResult {
    /// The row of the console.
    pub(crate) fn told(&self) -> String {
        let RewritesResult { cause, asked, begun, needless, waiting, longest_wait_us, longest_hold_us } = self;
        let counts = [(needless, "needless"), (waiting, "waiting")]
            .map(|(number, what)| (*number > 0).then(|| format!(", {} {what}", count(*number))));
        let hold = if *longest_hold_us > 0.0 { format!(", longest held back {} ms", number(longest_hold_us / 1e3)) } else { String::new() };
        let counts = counts.into_iter().flatten().collect::<String>();
        format!(
            "{cause}: {} asked, {} begun{counts}; longest wait {} ms{hold}",
            count(*asked),
            count(*begun),
            number(longest_wait_us / 1e3)
        )
    }

    /// A warning where rewrites wait for much of a window of `seconds`; `None`: they do not.
    pub fn warning(&self, seconds: f64) -> Option<String> {
        let is_starved = self.waiting > 0 && self.longest_wait_us / 1e6 > STARVED * seconds;
        is_starved.then(|| {
            format!(
                "rewrites starve ({}): {} of {} still wait, the first for {} s of {} s",
                self.cause,
                count(self.waiting),
                count(self.asked),
                number(self.longest_wait_us / 1e6),
                number(seconds)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_only_what_there_was_and_a_long_wait_is_a_warning() {
        let done = RewritesResult { cause: "wear".to_owned(), asked: 3, begun: 3, longest_wait_us: 1_500.0, ..RewritesResult::default() };
        assert_eq!(done.told(), "wear: 3 asked, 3 begun; longest wait 1.5 ms");
        let starved = RewritesResult {
            cause: "disturb".to_owned(),
            begun: 1,
            needless: 1,
            waiting: 1,
            longest_wait_us: 6e5,
            longest_hold_us: 2e3,
            ..done.clone()
        };
        assert_eq!(starved.told(), "disturb: 3 asked, 1 begun, 1 needless, 1 waiting; longest wait 600 ms, longest held back 2 ms");
        assert_eq!((done.warning(1e-3), starved.warning(2.0)), (None, None));
        assert!(starved.warning(1.0).is_some_and(|said| said.contains("disturb") && said.contains("1 of 3")));
    }
}
