//! The server under test: `wordline serve` on media files, to be killed and started again.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::bench::{Bench, quietly, until};
use crate::steps::shown;

/// A gibibyte of 4-KiB units on dies of so many blocks, one on each channel.
fn file(dies: u32, blocks: u32) -> String {
    format!(
        "summary = \"A small drive, for clients\"\ninherit = \"pageftl-4k\"\n[geometry]\nblocks = {blocks}\n[flash]\nchannels = {dies}\n\
         dies_per_channel = 1\n[mapping]\nover_provisioning = \"none\"\ncapacity = \"1 GiB\"\n"
    )
}

/// How long a drive may take to find itself again.
const PATIENCE: Duration = Duration::from_secs(120);

/// A drive that is served, or dead.
pub(super) struct Drive {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    child: Option<Child>,
    /// As it was printed.
    pub(super) uri: String,
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Drive {
    /// A drive without bytes, on media called `media`. `settings` are `KEY=VALUE`, as `--set` takes them; `more` are further arguments. Reclaim begins
    /// within the first rounds.
    pub(super) fn new(bench: &Bench, settings: &[&str], more: &[&str]) -> Result<Drive, String> {
        bench.write("drive.toml", &file(2, 72))?;
        Drive::of(bench, "drive.toml", settings, more)
    }

    /// As [`Drive::new`], on four dies, with room for all data once one of them has failed.
    pub(super) fn of_four_dies(bench: &Bench) -> Result<Drive, String> {
        bench.write("drive.toml", &file(4, 48))?;
        Drive::of(bench, "drive.toml", &[], &[])
    }

    /// As [`Drive::new`], of the drive in `file`.
    pub(super) fn of(bench: &Bench, file: &str, settings: &[&str], more: &[&str]) -> Result<Drive, String> {
        let mut arguments = vec!["serve".to_owned(), bench.path(file), "--media".to_owned(), bench.path("media")];
        arguments.extend(["--socket".to_owned(), bench.path("socket"), "--survive".to_owned(), "process".to_owned()]);
        arguments.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]));
        arguments.extend(more.iter().map(|&word| word.to_owned()));
        let mut drive =
            Drive { program: bench.built("wordline"), arguments, folder: bench.folder.clone(), child: None, uri: String::new() };
        drive.start()?;
        Ok(drive)
    }

    /// Address of its control socket.
    pub(super) fn control(&self) -> String {
        self.folder.join("socket.ctl").display().to_string()
    }

    /// Starts it on what it has kept.
    pub(super) fn start(&mut self) -> Result<(), String> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut server = crate::steps::command(&self.folder, &self.program.display().to_string(), &arguments);
        let line = shown(&server);
        println!("$ {line} &");
        let mut child = server.stdout(Stdio::piped()).spawn().map_err(|error| format!("cannot start `{line}`: {error}"))?;
        let stdout = child.stdout.take();
        self.child = Some(child);
        // It says where it listens once it does.
        let (told, hear) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            if stdout.is_some_and(|stdout| BufReader::new(stdout).read_line(&mut line).is_ok_and(|count| count > 0)) {
                // Nobody may be waiting any more.
                let _ = told.send(line);
            }
        });
        self.uri = hear.recv_timeout(PATIENCE).map_err(|_| format!("the drive did not come up within {PATIENCE:?}"))?.trim().to_owned();
        Ok(())
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Whether it is gone, by itself or not.
    pub(super) fn is_gone(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| child.try_wait().is_ok_and(|status| status.is_some()))
    }

    /// SIGTERM: it has to write everything down and end well.
    pub(super) fn stop(&mut self) -> Result<(), String> {
        if self.child.is_some() {
            quietly(crate::steps::command(&self.folder, "kill", &["-TERM", &self.pid().to_string()]))?;
        }
        self.has_stopped()
    }

    /// Waits for its end, which has to be a good one.
    pub(super) fn has_stopped(&mut self) -> Result<(), String> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let mut ended = None;
        let gone = until("the drive has stopped", PATIENCE, || {
            ended = child.try_wait().ok().flatten();
            ended.is_some()
        });
        if gone.is_err() {
            // It is of no more use.
            let _ = child.kill();
            let _ = child.wait();
        }
        gone?;
        match ended {
            Some(status) if status.success() => Ok(()),
            status => Err(format!("the drive was stopped and ended with {status:?}")),
        }
    }

    /// Ends it in one way or the other: killed in even rounds, stopped in odd ones.
    pub(super) fn end(&mut self, round: u32) -> Result<(), String> {
        if round.is_multiple_of(2) {
            self.kill();
            return Ok(());
        }
        self.stop()
    }

    /// Kills the process with SIGKILL.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may be gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
