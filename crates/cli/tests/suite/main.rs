//! The command as its user meets it: arguments in, exit code, output and files out.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

mod bad_input;
mod bounded;
mod explained;
mod failing;
mod fair;
mod faulty;
mod forensics;
mod grid;
mod included;
mod interrupted;
mod jobs;
mod looked;
mod mortal;
#[path = "../../../../xtask/src/suite/outside.rs"]
#[allow(dead_code, reason = "no test here needs a program")]
mod outside;
mod places;
mod real_traces;
mod rests;
mod runs;
mod samples;
mod served;
mod service;
mod spare;
mod steady;
mod stopped;
mod sweep;
mod tables;
mod then;
mod traces;
mod tried;
mod worn;

/// Run the command in `folder`.
fn wordline(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wordline")).args(arguments).current_dir(folder).output().expect("the command starts")
}

/// Process of `command`, started in the folder of `scratch`, and the first line that it prints, which is empty if it ends without one.
fn started(scratch: &Scratch, command: &mut Command) -> (Child, String) {
    let mut child = command.current_dir(&scratch.0).stdout(Stdio::piped()).spawn().expect("the command starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    (child, line)
}

/// A folder of one test's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("wordline-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a scratch folder");
        Scratch(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).expect("a scratch file");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
