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

/// Refused with exit code 2, these words, and everything in the folder as it was.
fn refused(scratch: &Scratch, arguments: &[&str], words: &[&str]) {
    let contents = || {
        let files = std::fs::read_dir(&scratch.0).expect("a folder").map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> =
            files.filter(|path| path.is_file()).map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect();
        files.sort();
        files
    };
    let before = contents();
    let output = wordline(&scratch.0, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
    assert!(words.iter().all(|word| told.contains(word)), "{arguments:?}: {told}");
    assert!(contents() == before, "{arguments:?} changed a file");
}

const OVER_INPUT: &[&str] = &["would be written over what is read", "name another file"];
const OVER_OUTPUT: &[&str] = &["two outputs would be written there", "name another file"];

#[test]
fn no_output_takes_the_place_of_an_input() {
    let scratch = Scratch::new("over-input");
    scratch.file("trace.csv", trace(3).as_bytes());
    scratch.file("parent.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n");
    scratch.file("drive.toml", b"inherit = \"parent.toml\"\nsummary = \"x\"\n");
    scratch.file("chip.toml", b"inherit = \"tlc48\"\nsummary = \"x\"\n");
    scratch.file("load.toml", b"name = \"x\"\n[[phases]]\nrequests = 1\nsize = \"4 KiB\"\nmix = { read = \"100 %\" }\naddress = \"uniform\"\narrival = { queue_depth = 1 }\n");
    scratch.file("cells.csv", b"model,WL,Retention,PEC,step,freq\n2,0,1,0,9,5\n");
    scratch.file("sda.blktrace.0", b"");
    scratch.file("sda.blktrace.1", b"");
    symlink("trace.csv", scratch.0.join("link.csv")).expect("a link");
    let saved = wordline(&scratch.0, &["age", "pageftl", "--fill", "0%", "--save", "saved.wl", "-q"]);
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let study = "title = \"x\"\nlot = \"1x1\"\n";
    scratch.file("study.toml", study.as_bytes());
    let cases: &[&[&str]] = &[
        &["trace", "convert", "trace.csv", "--to", "csv", "--output", "trace.csv"],
        &["trace", "convert", "trace.csv", "--to", "csv", "--output", "./link.csv"],
        &["trace", "convert", "link.csv", "--to", "csv", "--output", "trace.csv"],
        &["trace", "convert", "sda.blktrace.0", "--to", "csv", "--output", "sda.blktrace.1"],
        &["run", "pageftl", "--workload", "trace.csv", "--json", "trace.csv"],
        &["run", "pageftl", "--workload", "load.toml", "--html", "load.toml"],
        &["run", "drive.toml", "--workload", "trace.csv", "--json", "drive.toml"],
        &["run", "drive.toml", "--workload", "trace.csv", "--save", "parent.toml"],
        &["run", "--from", "saved.wl", "--workload", "trace.csv", "--save", "saved.wl"],
        &["compare", "--drives", "pageftl,drive.toml", "--workload", "trace.csv", "--json", "drive.toml"],
        &["compare", "--workload", "trace.csv,load.toml", "--html", "link.csv"],
        &["age", "drive.toml", "--save", "parent.toml"],
        &["characterize", "--chip", "chip.toml", "--html", "chip.toml"],
        &["chip", "chip.toml", "--html", "chip.toml"],
        &["chip", "fit", "cells.csv", "--step", "40 mV", "--out", "cells.csv"],
        &["chip", "fit", "cells.csv", "--step", "40 mV", "--like", "chip.toml", "--out", "chip.toml"],
        &["reproduce", "study.toml", "--json", "study.toml"],
        &["forensics", "saved.wl", "--json", "saved.wl"],
    ];
    for arguments in cases {
        refused(&scratch, arguments, OVER_INPUT);
    }
}

#[test]
fn no_output_takes_the_place_of_another() {
    let scratch = Scratch::new("over-output");
    scratch.file("trace.csv", trace(3).as_bytes());
    std::fs::create_dir(scratch.0.join("tables")).expect("a folder");
    let run = |more: &[&'static str]| [&["run", "pageftl", "--workload", "trace.csv"][..], more].concat();
    for arguments in [
        run(&["--json", "out", "--html", "out"]),
        run(&["--json", "out", "--save", "./out"]),
        run(&["--parquet", "tables", "--json", "tables/requests.parquet"]),
        run(&["--parquet", "tables", "--html", "tables/../tables/intervals.parquet"]),
        [&["compare", "--workload", "trace.csv"][..], &["--json", "wordline-compare.html"]].concat(),
        [&["compare", "--workload", "trace.csv"][..], &["--parquet", "tables", "--json", "tables/requests-pageftl-fifo-2.parquet"]]
            .concat(),
        vec!["reproduce", "arithmetic", "--json", "out", "--by-seed", "out"],
        vec!["characterize", "--out", "out.csv", "--html", "out.csv"],
        vec!["chip", "fit", "cells.csv", "--step", "40 mV", "--report", "out.md", "--html", "out.svg"],
    ] {
        refused(&scratch, &arguments, OVER_OUTPUT);
    }
    // What goes nowhere may go there twice.
    let output = wordline(&scratch.0, &run(&["-q", "--json", "/dev/null", "--html", "/dev/null"]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_page_replaces_a_page_of_ours_and_no_other_file() {
    let scratch = Scratch::new("pages");
    scratch.file("trace.csv", trace(3).as_bytes());
    scratch.file("wordline-compare.html", b"<!DOCTYPE html><title>mine</title>");
    scratch.file("notes.html", b"notes");
    let words = &["is there, and is no page that Wordline wrote", "--html"];
    let compare = ["compare", "--drives", "pageftl,pageftl-4k", "--seeds", "1", "-q", "--workload", "trace.csv"];
    refused(&scratch, &compare, words);
    refused(&scratch, &[&compare[..], &["--html", "notes.html"]].concat(), words);
    refused(&scratch, &["run", "pageftl", "--workload", "trace.csv", "--html", "notes.html"], words);
    refused(&scratch, &["chip", "tlc48", "--html", "notes.html"], words);
    std::fs::remove_file(scratch.0.join("wordline-compare.html")).expect("it is there");
    for _ in 0..2 {
        let output = wordline(&scratch.0, &compare);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let output = wordline(&scratch.0, &["chip", "tlc48", "--html", "wordline-compare.html"]);
    assert!(output.status.success(), "another page of ours: {}", String::from_utf8_lossy(&output.stderr));
}
