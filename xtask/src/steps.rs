//! Running commands one after the other, saying which and for how long.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Named steps that have run, with what each took.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs `step` and says so. A failure names the step and everything that had passed before.
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        println!("── {name}");
        let start = Instant::now();
        let outcome = step();
        let took = start.elapsed();
        match outcome {
            Ok(()) => {
                println!("── {name}: ok, {}", seconds(took));
                self.done.push((name, took));
                Ok(())
            }
            Err(why) => {
                let passed: Vec<&str> = self.done.iter().map(|(name, _)| *name).collect();
                Err(format!(
                    "step `{name}` failed after {}: {why}\n  passed before it: {}",
                    seconds(took),
                    if passed.is_empty() { "nothing".to_owned() } else { passed.join(", ") }
                ))
            }
        }
    }

    /// The table of all steps.
    pub(crate) fn summary(&self) -> String {
        let mut lines: Vec<String> = self.done.iter().map(|(name, took)| format!("{name:<12}{:>8}", seconds(*took))).collect();
        lines.push(format!("{:<12}{:>8}", "all", seconds(self.done.iter().map(|(_, took)| *took).sum())));
        lines.join("\n")
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

/// A command at the root of the repository, without standard input, so that nothing can wait for a person.
pub(crate) fn command(root: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    command
}

/// `cargo` as it was called, so that a `+toolchain` reaches everything.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut cargo = command(root, env!("CARGO"), arguments);
    // Set by the cargo that runs this program; they would make build scripts of the inner one run again.
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" || name == "CARGO_MANIFEST_PATH")
    {
        cargo.env_remove(name);
    }
    cargo
}

/// Builds every program and example as the tests do, and returns the folder where they are.
///
/// All packages at once: a package built alone gets other features of its dependencies, and the largest of them would be compiled once more.
pub(crate) fn programs(root: &Path) -> Result<PathBuf, String> {
    run(cargo(root, &["build", "--quiet", "--workspace", "--bins", "--examples"]))?;
    Ok(target(root).join("debug"))
}

/// Builds the `wordline` program and the disk in memory, an example, to be measured, and returns the folder where they are.
pub(crate) fn fast_programs(root: &Path) -> Result<PathBuf, String> {
    run(cargo(root, &["build", "--quiet", "--release", "--package", "wordline"]))?;
    run(cargo(root, &["build", "--quiet", "--release", "--package", "wordline-serve", "--example", "memory"]))?;
    Ok(target(root).join("release"))
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Prints the command, runs it, and fails where it fails.
pub(crate) fn run(mut command: Command) -> Result<(), String> {
    let line = shown(&command);
    println!("$ {line}");
    let status = command.status().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` ended with {status}")) }
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let settings = command.get_envs().filter_map(|(name, value)| Some(format!("{}={:?}", name.to_string_lossy(), value?)));
    settings.chain([program]).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_step_and_what_had_passed() {
        let mut steps = Steps::default();
        steps.run("one", || Ok(())).expect("passes");
        let why = steps.run("two", || Err("broken".to_owned())).expect_err("fails");
        assert!(why.contains("`two`") && why.contains("broken") && why.ends_with("passed before it: one"), "{why}");
        assert!(steps.summary().starts_with("one"));
    }

    #[test]
    fn a_command_that_fails_is_a_failure() {
        let root = Path::new(".");
        assert!(run(command(root, "false", &[])).is_err());
        assert!(run(command(root, "true", &[])).is_ok());
        assert!(run(command(root, "no-such-program-anywhere", &[])).expect_err("cannot start").contains("cannot start"));
    }
}
