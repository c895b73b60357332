//! The verdict on a run's books.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::violation::Violation;

/// The self-checks of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChecksResult {
    /// True if every account balanced. If not, no figure of this drive can be trusted.
    pub passed: bool,
    /// The accounts that did not balance.
    pub violations: Vec<Violation>,
    /// Checks that were not made, each with the reason; absent where all were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_made: Vec<String>,
}

impl ChecksResult {
    /// Adds violations that were found after the figures were taken, each once. The verdict follows them.
    pub fn add(&mut self, later: Vec<Violation>) {
        for violation in later {
            if !self.violations.contains(&violation) {
                self.violations.push(violation);
            }
        }
        self.passed = self.violations.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::Account;

    #[test]
    fn a_violation_that_is_found_later_changes_the_verdict() {
        let violation = Violation { account: Account::ValidUnits, count: 1, first_ns: 0, message: "one is missing".to_owned() };
        let mut checks = ChecksResult { passed: true, violations: Vec::new(), not_made: Vec::new() };
        checks.add(Vec::new());
        assert!(checks.passed);
        checks.add(vec![violation.clone()]);
        checks.add(vec![violation]);
        assert_eq!((checks.passed, checks.violations.len()), (false, 1), "each once");
    }
}
