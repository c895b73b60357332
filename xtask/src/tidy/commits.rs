//! Subjects of commits that `origin/main` does not have yet: `crate: imperative`, in at most 72 characters.

use std::path::Path;
use std::process::Command;

use super::tree::{Finding, Severity};

/// Characters of the longest subject.
const LONGEST: usize = 72;

/// Checks the new commits. Without an `origin/main` there are none.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let log = Command::new("git")
        .args(["log", "--no-merges", "--format=%h %s", "origin/main..HEAD"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !log.status.success() {
        return Ok(Vec::new());
    }
    Ok(String::from_utf8_lossy(&log.stdout).lines().filter_map(|line| line.split_once(' ')).filter_map(finding).collect())
}

fn finding((commit, subject): (&str, &str)) -> Option<Finding> {
    let why = complaint(subject)?;
    Some(Finding {
        severity: Severity::Error,
        path: format!("commit {commit}"),
        line: 0,
        rule: "commit-subject",
        message: format!("`{subject}`: {why}"),
    })
}

/// Fault of a subject, if it has one.
fn complaint(subject: &str) -> Option<&'static str> {
    if subject.chars().count() > LONGEST {
        return Some("more than 72 characters");
    }
    let Some((place, change)) = subject.split_once(": ") else {
        return Some("name the crate or folder first: `ftl: drop trims that free nothing`");
    };
    let is_place =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-/.".contains(c));
    if !place.split(", ").all(is_place) {
        return Some("what stands before the colon is the name of a crate or folder, or several, in lower case");
    }
    let first = change.split(' ').next().unwrap_or_default();
    if !first.starts_with(|c: char| c.is_ascii_lowercase()) || change.ends_with('.') {
        return Some("an imperative in lower case follows the colon, without a full stop");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_name_a_place_and_an_imperative() {
        for good in ["ftl: drop trims that free nothing", "cli, plan: put nouns first", "docs: say it", ".ci: name clients", "drive: x"] {
            assert_eq!(complaint(good), None, "{good}");
        }
        let long = format!("ftl: {}", "x".repeat(68));
        for bad in ["Drop trims", "ftl drop trims", "FTL: drop trims", "ftl: Drop trims", "ftl: drop trims.", ": drop", long.as_str()] {
            assert!(complaint(bad).is_some(), "{bad}");
        }
        assert_eq!(complaint(&long[..72]), None);
    }
}
