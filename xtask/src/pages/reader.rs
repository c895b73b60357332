//! A reader who types the lines of a page in a folder of his own, one after the other.
//!
//! Folders for anything (`/tmp`, `/var/tmp`) are his folder, so that a page does not write over what the machine has there. `wordline serve`, `top` and
//! `record` go on beside the lines after them. A server is waited for until its socket is there. It is stopped before another one, or
//! `wordline forensics`, takes its media, and at the end of the page.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// For one line, until it is ended as hung.
const LINE_MAX: Duration = Duration::from_secs(20 * 60);
/// Until a server listens, and until it has stopped.
const SERVER_MAX: Duration = Duration::from_secs(60);
/// From the start of `top` and `record` to the next line.
const GLANCE: Duration = Duration::from_millis(700);
const POLL: Duration = Duration::from_millis(10);

/// His folder, and what he has left running.
pub(super) struct Reader {
    base: PathBuf,
    folder: PathBuf,
    search: OsString,
    running: Vec<Running>,
}

struct Running {
    line: String,
    child: Child,
    output: PathBuf,
    is_server: bool,
    media: Option<String>,
}

/// Outcome of a line.
#[derive(Debug)]
pub(super) struct Done {
    /// Standard output and standard error, as they came.
    pub(super) output: String,
    pub(super) took: Duration,
}

impl Reader {
    /// A reader in an empty folder below `base`, which is new, with the programs of a folder before all others.
    pub(super) fn new(base: PathBuf, programs: &Path) -> Result<Reader, String> {
        let folder = base.join("here");
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let others = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&others));
        let search = std::env::join_paths(all).map_err(|error| format!("{}: {error}", programs.display()))?;
        Ok(Reader { base, folder, search, running: Vec::new() })
    }

    /// Gives the folder what a clone of the repository has for readers.
    pub(super) fn link_clone(&self, root: &Path) -> Result<(), String> {
        for name in ["chips", "drives", "studies"] {
            let link = self.folder.join(name);
            if !link.exists() {
                std::os::unix::fs::symlink(root.join(name), &link).map_err(|error| format!("cannot link {name}: {error}"))?;
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))
    }

    /// Types a line. A line that fails, hangs or does not listen is an error with its output.
    pub(super) fn type_line(&mut self, line: &str) -> Result<Done, String> {
        let start = Instant::now();
        let here = self.here(line);
        let words: Vec<&str> = here.split_whitespace().collect();
        let media = match words.as_slice() {
            ["wordline", "serve", ..] => value(&words, "--media"),
            ["wordline", "forensics", folder, ..] => Some((*folder).to_owned()),
            _ => None,
        };
        self.stop(|running| media.is_some() && running.media == media)?;
        let output = self.base.join(format!("output-{}", self.running.len()));
        if let ["wordline", "serve" | "top" | "record", ..] = words.as_slice() {
            let socket = value(&words, "--socket");
            if words[1] == "serve" && socket.is_none() {
                return Err(format!("`{line}` names no --socket: it would listen where others can reach it"));
            }
            let child = self.start(&format!("exec {}", here.trim_end_matches('&')), &output)?;
            let is_server = words[1] == "serve";
            self.running.push(Running { line: line.to_owned(), child, output: output.clone(), is_server, media });
            self.settle(socket.as_deref())?;
        } else {
            let mut child = self.start(&here, &output)?;
            let status = wait(&mut child, LINE_MAX)?;
            if !status.is_some_and(|status| status.success()) {
                let end = status.map_or_else(|| "did not end and was killed".to_owned(), |status| status.to_string());
                return Err(format!("`{line}`: {end}\n{}", self.seen(&output)));
            }
        }
        Ok(Done { output: self.seen(&output), took: start.elapsed() })
    }

    /// Stops all that he has left running, the latest first.
    pub(super) fn leave(mut self) -> Result<(), String> {
        self.stop(|_| true)
    }

    fn start(&self, line: &str, output: &Path) -> Result<Child, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", output.display());
        let file = File::create(output).map_err(failed)?;
        let other = file.try_clone().map_err(failed)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&self.folder).env("PATH", &self.search).env_remove("WORDLINE_BLESS");
        shell.stdin(Stdio::null()).stdout(file).stderr(other);
        shell.spawn().map_err(|error| format!("cannot start `{line}`: {error}"))
    }

    /// Waits until what was started last listens, or has had its glance.
    fn settle(&mut self, socket: Option<&str>) -> Result<(), String> {
        let start = Instant::now();
        let last = self.running.last_mut().expect("just started");
        loop {
            let status = last.child.try_wait().map_err(|error| format!("`{}`: {error}", last.line))?;
            let is_there = match socket {
                Some(socket) => self.folder.join(socket).exists(),
                None => !last.is_server && start.elapsed() >= GLANCE,
            };
            let has_failed = status.is_some_and(|status| last.is_server || !status.success());
            if has_failed || start.elapsed() > SERVER_MAX {
                let mut failed = self.running.pop().expect("just started");
                // A server that has ended by itself is not killed.
                let _ = failed.child.kill();
                let _ = failed.child.wait();
                return Err(format!("`{}` does not serve\n{}", failed.line, self.seen(&failed.output)));
            }
            if is_there || status.is_some() {
                return Ok(());
            }
            pause();
        }
    }

    /// Stops by SIGTERM. A server owes an orderly end; `top` and `record` may end by the signal.
    fn stop(&mut self, is_meant: impl Fn(&Running) -> bool) -> Result<(), String> {
        while let Some(place) = self.running.iter().rposition(&is_meant) {
            let mut stopped = self.running.remove(place);
            if stopped.child.try_wait().is_ok_and(|status| status.is_none()) {
                let told = Command::new("kill").args(["-TERM", &stopped.child.id().to_string()]).status();
                told.map_err(|error| format!("cannot run `kill`: {error}"))?;
            }
            let status = wait(&mut stopped.child, SERVER_MAX)?;
            if stopped.is_server && !status.is_some_and(|status| status.success()) {
                let output = self.seen(&stopped.output);
                return Err(format!("`{}` did not stop in order: {status:?}\n{output}", stopped.line));
            }
        }
        Ok(())
    }

    /// The line with his folder for folders of anything.
    fn here(&self, line: &str) -> String {
        let folder = format!("{}/", self.folder.display());
        line.replace("/var/tmp/", "\0").replace("/tmp/", "\0").replace('\0', &folder)
    }

    /// The output with `/tmp` for his folder.
    fn seen(&self, output: &Path) -> String {
        let text = fs::read(output).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        text.replace(&self.folder.display().to_string(), "/tmp")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for running in &mut self.running {
            // It may have ended by itself; an error has been told before.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// The status at its end; `None` for what had to be killed after `most`.
fn wait(child: &mut Child, most: Duration) -> Result<Option<ExitStatus>, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("cannot wait: {error}"))? {
            return Ok(Some(status));
        }
        if start.elapsed() > most {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        pause();
    }
}

/// Between two looks at a process.
#[expect(clippy::disallowed_methods, reason = "a process ends, and listens, in the machine's time")]
fn pause() {
    std::thread::sleep(POLL);
}

/// The word after `name`.
fn value(words: &[&str], name: &str) -> Option<String> {
    let place = words.iter().position(|word| *word == name)?;
    words.get(place + 1).map(|word| (*word).to_owned())
}

/// True if a program is found by its name.
pub(super) fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A reader with a program that serves until it is stopped, and then says so in `FOLDER.stopped`.
    fn reader(name: &str) -> Reader {
        let base = std::env::temp_dir().join(format!("wordline-reader-{name}-{}", std::process::id()));
        let programs = base.join("programs");
        fs::create_dir_all(&programs).expect("writable");
        let program = programs.join("wordline");
        // `serve --media FOLDER --socket PATH`.
        let script = "#!/bin/sh\ncase $1 in\nserve) trap 'echo > $3.stopped; exit 0' TERM; echo > $5 || exit 3; while :; do sleep 0.02; done;;\n\
                      record) echo recorded; while :; do sleep 0.02; done;;\nforensics) cat $2.stopped && echo /tmp/x;;\n*) exit 3;;\nesac\n";
        fs::write(&program, script).expect("writable");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
        Reader::new(base, &programs).expect("a folder")
    }

    #[test]
    fn a_server_is_waited_for_and_stopped_before_its_media_are_read() {
        let mut reader = reader("server");
        reader.type_line("wordline serve --media /var/tmp/drive --socket /tmp/sock &").expect("serves");
        assert!(reader.folder.join("sock").exists() && !Path::new("/tmp/sock").exists());
        reader.type_line("wordline record /tmp/sock > /tmp/record.csv").expect("goes on");
        let done = reader.type_line("wordline forensics /var/tmp/drive").expect("the server has stopped");
        assert_eq!(done.output, "\n/tmp/x\n");
        assert_eq!(fs::read_to_string(reader.folder.join("record.csv")).expect("recorded"), "recorded\n");
        let base = reader.base.clone();
        reader.leave().expect("all has stopped");
        assert!(!base.exists());
    }

    #[test]
    fn a_line_that_fails_and_a_server_that_ends_are_errors() {
        let mut reader = reader("fails");
        assert!(reader.type_line("wordline gone").expect_err("status 3").starts_with("`wordline gone`: exit status: 3"));
        assert!(reader.type_line("wordline serve --media a --socket no/folder").expect_err("status 3").contains("does not serve"));
        assert!(reader.type_line("wordline serve --media a").expect_err("the network").contains("names no --socket"));
        assert_eq!(reader.type_line("echo a; echo b >&2").expect("runs").output, "a\nb\n");
    }
}
