//! Every test, and one line at the end that says how many.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::steps::{cargo, shown};

#[allow(dead_code, reason = "looking for the files is the tests' part")]
mod outside;

/// Runs all tests, or those that `arguments` (for `cargo test`) choose, and prints the count as the last line.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let (count, outcome) = counted(root, arguments);
    println!("\n{count}");
    outcome
}

/// Runs the tests and counts them. Goes on after a failure, so that one run shows every failure there is.
pub(crate) fn counted(root: &Path, arguments: &[&str]) -> (Count, Result<(), String>) {
    let mut count = Count::default();
    let list = std::env::temp_dir().join(format!("wordline-skipped-{}", std::process::id()));
    let outcome = count_into(&mut count, root, arguments, &list);
    // Absent where no test was skipped.
    count.skip(&fs::read_to_string(&list).unwrap_or_default());
    let _ = fs::remove_file(&list);
    (count, outcome)
}

fn count_into(count: &mut Count, root: &Path, arguments: &[&str], skipped: &Path) -> Result<(), String> {
    let chosen = arguments.iter().any(|argument| matches!(*argument, "-p" | "--package"));
    let scope: &[&str] = if chosen { &[] } else { &["--workspace"] };
    // Documentation tests come with it: `cargo test` runs them for every library.
    let mut command = cargo(root, &[&["test", "--no-fail-fast"], scope, arguments].concat());
    println!("$ {}", shown(&command));
    command.env(outside::SKIPPED, skipped);
    if let Some(folder) = std::env::var_os(outside::FOLDER) {
        // Each test runs in the folder of its crate, where a relative path would lead elsewhere.
        command.env(outside::FOLDER, root.join(folder));
    }
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("cannot start cargo: {error}"))?;
    let mut failed = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("piped above")).lines() {
        let line = line.map_err(|error| format!("cannot read what cargo prints: {error}"))?;
        println!("{line}");
        count.add(&line);
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            failed.push(name.to_owned());
        }
    }
    let status = child.wait().map_err(|error| format!("cargo was lost: {error}"))?;
    if status.success() {
        return if count.passed == 0 { Err("no test ran".to_owned()) } else { Ok(()) };
    }
    Err(if failed.is_empty() { format!("cargo test ended with {status}") } else { format!("failed tests: {}", failed.join(", ")) })
}

/// What the closing lines of the test programs add up to, and which tests were skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    passed: u64,
    failed: u64,
    skipped: Vec<String>,
}

impl Count {
    /// The tests that did not run because files from outside the project are absent.
    pub(crate) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Takes the skipped tests, whose names are the lines of `list`, out of those that passed.
    fn skip(&mut self, list: &str) {
        self.skipped = list.lines().map(str::to_owned).collect();
        self.skipped.sort();
        self.skipped.dedup();
        self.passed = self.passed.saturating_sub(self.skipped.len() as u64);
    }

    /// Adds a line such as `test result: ok. 5 passed; 0 failed; 0 ignored; …`; other lines count nothing.
    fn add(&mut self, line: &str) {
        let Some((_, numbers)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else { return };
        for part in numbers.split("; ") {
            match part.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse::<u64>().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse::<u64>().unwrap_or(0),
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped.len())?;
        if self.skipped.is_empty() { Ok(()) } else { write!(f, ": {}", self.skipped.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_add_up() {
        let mut count = Count::default();
        for line in [
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test a::b ... ok",
            "test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            count.add(line);
        }
        assert_eq!(count.to_string(), "12 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn skipped_tests_are_named_and_not_counted_as_passed() {
        let mut count = Count { passed: 5, failed: 1, skipped: Vec::new() };
        count.skip("b::two\na::one\n");
        assert_eq!(count.to_string(), "3 passed, 1 failed, 2 skipped: a::one, b::two");
        assert_eq!(count.skipped(), ["a::one", "b::two"]);
    }
}
