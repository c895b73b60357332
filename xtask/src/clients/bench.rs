//! What every kind of client works with: a folder of its own, the programs that were built, and how to call others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::steps::{command, shown};

/// A scratch folder and what was asked for.
pub(super) struct Bench {
    programs: PathBuf,
    /// Gone with this.
    pub(super) folder: PathBuf,
    pub(super) rounds: u32,
    pub(super) seed: u64,
}

impl Drop for Bench {
    fn drop(&mut self) {
        // Left-overs in the temporary folder are no reason to fail.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    pub(super) fn new(programs: &Path, name: &str, rounds: u32, seed: u64) -> Result<Bench, String> {
        let mut mktemp = command(programs, "mktemp", &["-d", "-t", &format!("wordline-{name}-XXXXXX")]);
        let output = mktemp.output().map_err(|error| format!("cannot start mktemp: {error}"))?;
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        // Others than root own databases in it.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Bench { programs: programs.to_owned(), folder, rounds, seed })
    }

    /// A program of this project.
    pub(super) fn built(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// The path of `name` in the scratch folder.
    pub(super) fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// A command in the scratch folder.
    pub(super) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        command(&self.folder, program, arguments)
    }

    /// Runs a client whose output matters to nobody unless it fails.
    pub(super) fn client(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        said(self.command(program, arguments)).map(|_| ())
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))
    }
}

/// Runs a command and returns what it wrote to standard output. Where it fails, the error has the last lines of all that it wrote.
pub(super) fn said(mut command: Command) -> Result<String, String> {
    let line = shown(&command);
    println!("$ {line}");
    let output = command.output().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let both = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let last: Vec<&str> = both.lines().rev().take(30).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("`{line}` ended with {}\n{}", output.status, last.join("\n")))
}

/// Runs a command that is not to be seen unless it fails.
pub(super) fn quietly(mut command: Command) -> Result<(), String> {
    let line = shown(&command);
    let output = command.output().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("`{line}`: {}", String::from_utf8_lossy(&output.stderr).trim())) }
}

/// Waits until `what` holds, and says what did not happen if it takes longer than `patience`.
pub(super) fn until(what: &str, patience: Duration, mut holds: impl FnMut() -> bool) -> Result<(), String> {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > patience {
            return Err(format!("after {patience:?} still not: {what}"));
        }
        pause(20);
    }
    Ok(())
}

/// Lets so many milliseconds go by.
#[expect(
    clippy::disallowed_methods,
    reason = "other programs are at work meanwhile; when the kill comes decides what it hits, not what is right"
)]
pub(super) fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// A command whose output goes to a file.
pub(super) fn logged(mut command: Command, log: &str) -> Result<Command, String> {
    let open = || fs::File::create(log).map_err(|error| format!("cannot write {log}: {error}"));
    let out = open()?;
    let err = out.try_clone().map_err(|error| format!("cannot write {log}: {error}"))?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    Ok(command)
}
