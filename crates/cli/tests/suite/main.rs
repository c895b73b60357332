//! The command as its user meets it: arguments in, exit code, output and files out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
mod worn;

/// Run the command in `folder`.
fn wordline(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wordline")).args(arguments).current_dir(folder).output().expect("the command starts")
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
