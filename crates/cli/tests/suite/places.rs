//! Does what is written arrive where it was sent, and nothing else change there?

#![cfg(unix)]

use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};

use crate::{Scratch, wordline};

/// A trace with so many requests.
fn trace(requests: u32) -> String {
    let lines = (0..requests).map(|number| format!("{number},write,{},4096\n", number * 4096));
    "time_us,op,offset,length\n".chars().chain(lines.collect::<String>().chars()).collect()
}

fn command(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    command.args(arguments).current_dir(&scratch.0).stderr(Stdio::piped());
    command
}

#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced() {
    let scratch = Scratch::new("link");
    scratch.file("trace.csv", trace(3).as_bytes());
    scratch.file("behind.csv", b"old");
    symlink("behind.csv", scratch.0.join("link.csv")).expect("a link");
    let output = wordline(&scratch.0, &["trace", "convert", "trace.csv", "--to", "csv", "--output", "link.csv"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(scratch.0.join("link.csv").is_symlink());
    assert_eq!(std::fs::read_to_string(scratch.0.join("behind.csv")).expect("the file").lines().count(), 4);
}

#[test]
fn a_pipe_stays_a_pipe_and_its_reader_gets_all() {
    let scratch = Scratch::new("pipe");
    scratch.file("trace.csv", trace(3).as_bytes());
    let pipe = scratch.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for arguments in
        [&["trace", "convert", "trace.csv", "--to", "csv", "--output", "pipe"][..], &["reproduce", "arithmetic", "-q", "--json", "pipe"]]
    {
        let mut reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("cat");
        let output = wordline(&scratch.0, arguments);
        let is_pipe = std::fs::symlink_metadata(&pipe).is_ok_and(|there| there.file_type().is_fifo());
        if !output.status.success() || !is_pipe {
            reader.kill().expect("nobody else ends it");
            panic!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let read = reader.wait_with_output().expect("cat ends");
        assert!(read.stdout.len() > 50, "{arguments:?}: {:?}", String::from_utf8_lossy(&read.stdout));
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let scratch = Scratch::new("gone");
    scratch.file("trace.csv", trace(20_000).as_bytes());
    for arguments in [&["trace", "convert", "trace.csv", "--to", "mqsim"][..], &["describe", "pageftl"], &["drives"]] {
        let mut child = command(&scratch, arguments).stdout(Stdio::piped()).spawn().expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_printed_to_a_full_disk_is_an_error() {
    let scratch = Scratch::new("full");
    scratch.file("trace.csv", trace(3).as_bytes());
    let run = ["run", "pageftl", "--requests", "10", "-q", "--json", "-"];
    for arguments in [&["trace", "stats", "trace.csv"][..], &["describe", "pageftl"], &["drives"], &run] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("the full disk");
        let output = command(&scratch, arguments).stdout(full).output().expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains("standard output") && told.contains("space"), "{arguments:?}: {told}");
    }
}

#[test]
fn what_ends_as_a_packed_file_is_one() {
    let scratch = Scratch::new("packed");
    scratch.file("trace.csv", trace(5_000).as_bytes());
    for packed in ["there.csv.gz", "there.csv.zst"] {
        for (from, to) in [("trace.csv", packed), (packed, "back.csv")] {
            let output = wordline(&scratch.0, &["trace", "convert", from, "--to", "csv", "--output", to]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let bytes = |name: &str| std::fs::read(scratch.0.join(name)).expect("it was written");
        assert!(bytes(packed).len() * 3 < bytes("trace.csv").len(), "{packed} is not packed");
        let output = wordline(&scratch.0, &["trace", "convert", "trace.csv", "--to", "csv"]);
        assert_eq!(bytes("back.csv"), output.stdout, "{packed}");
    }
}
