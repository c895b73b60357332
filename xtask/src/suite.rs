//! Every test, and one line at the end that says how many.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::steps::{cargo, shown};

/// Runs all tests, or those that `arguments` (for `cargo test`) choose, and prints the count as the last line.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let (count, outcome) = counted(root, arguments);
    println!("\n{count}");
    outcome
}

/// Runs the tests and counts them. Goes on after a failure, so that one run shows every failure there is.
pub(crate) fn counted(root: &Path, arguments: &[&str]) -> (Count, Result<(), String>) {
    let mut count = Count::default();
    let outcome = count_into(&mut count, root, arguments);
    (count, outcome)
}

fn count_into(count: &mut Count, root: &Path, arguments: &[&str]) -> Result<(), String> {
    let chosen = arguments.iter().any(|argument| matches!(*argument, "-p" | "--package"));
    let scope: &[&str] = if chosen { &[] } else { &["--workspace"] };
    // Documentation tests come with it: `cargo test` runs them for every library.
    let mut command = cargo(root, &[&["test", "--no-fail-fast"], scope, arguments].concat());
    println!("$ {}", shown(&command));
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

/// What the closing lines of the test programs add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
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
        write!(f, "{} passed, {} failed", self.passed, self.failed)
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
        assert_eq!(count.to_string(), "12 passed, 2 failed");
    }
}
