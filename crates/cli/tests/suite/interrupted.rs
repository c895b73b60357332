//! Does a program that is interrupted leave nothing half-written?

#![cfg(unix)]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Scratch;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The names of unfinished files.
fn parts(scratch: &Scratch) -> Vec<String> {
    let names =
        std::fs::read_dir(&scratch.0).expect("a folder").map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".part")).collect()
}

/// How `child` ended, killed if it does not end.
fn ended(mut child: Child, signal: Signal) -> ExitStatus {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status;
        }
        std::thread::yield_now();
    }
    child.kill().expect("it runs");
    child.wait().expect("it is killed");
    panic!(
        "{signal:?} did not end the program; where tests are run with it ignored (`nohup`, or `&` in a script), the program ignores it, too"
    )
}

#[test]
fn signals_remove_unfinished_files_and_end_the_program_as_they_do() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let scratch = Scratch::new(&format!("interrupted-{}", signal.as_raw()));
        scratch.file("out.csv", b"from before");
        let pipe = scratch.0.join("trace");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let child = Command::new(env!("CARGO_BIN_EXE_wordline"))
            .args(["trace", "convert", "trace", "--to", "csv", "--output", "out.csv"])
            .current_dir(&scratch.0)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // More than is looked at to recognise the format, and no end: the program waits for the rest.
        let mut writer = std::fs::File::options().write(true).open(&pipe).expect("the program reads it");
        let line = b"128166372003061629,hm,0,Read,383496192,32768,413\n";
        writer.write_all(&line.repeat(4_000)).expect("the program reads it");
        let started = Instant::now();
        while parts(&scratch).is_empty() {
            assert!(started.elapsed() < PATIENCE, "no unfinished file appeared");
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let status = ended(child, signal);
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status:?}");
        assert_eq!(parts(&scratch), [""; 0]);
        assert_eq!(std::fs::read(scratch.0.join("out.csv")).expect("the file"), b"from before");
        drop(writer);
    }
}
