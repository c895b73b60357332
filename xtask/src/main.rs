//! The project's tasks: everything that CI does, and everything that is generated. `cargo xtask` lists them.
//!
//! Each task is a handful of ordinary commands that can also be typed by hand; they are printed as they run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod ci;
mod clients;
mod docs;
mod pages;
mod steps;
mod suite;
mod tidy;

const HELP: &str = "\
Usage: cargo xtask TASK [ARGUMENTS]

  test [ARGS]      run every test: unit, integration and documentation tests of all crates
  ci               everything CI runs, in its order; stops at the first failure
  tidy             check style and architecture (file lengths, crate walls, links, banned words), and the subjects of new commits
  tidy --freeze    write the list of exceptions to the newest rules anew, if it has shrunk
  docs [--check]   write the generated documentation; with --check, only say whether it is out of date
  pages [ARGS]     run the lines that README.md and the tutorials show, and compare what they print; `--bless` writes what was measured into the pages
  clients [NAMES]  let real clients at the block device server: fio, libnbd, ext4, PostgreSQL, RocksDB …; `clients help` lists them
  nightly [ARGS]   what takes hours: tests and generated tables of which CI runs a slice, all lines of the pages, and all clients, guests of QEMU
                   included, as often as `clients nightly` says
  deny             check licences, banned crates and sources (needs cargo-deny)
  bench [ARGS]     run every benchmark

ARGS of test and bench go to cargo: `cargo xtask test -p wordline-ftl victim`.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let outcome = match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        ["test", rest @ ..] => suite::run(&root, rest),
        ["ci"] => ci::run(&root),
        ["tidy"] => ci::tidy(&root),
        ["tidy", "--freeze"] => tidy::freeze(&root).map(|size| println!("{size} exceptions")),
        ["docs"] => docs::write(&root),
        ["docs", "--check"] => docs::check(&root, docs::Extent::All),
        ["pages", "help" | "--help" | "-h"] => {
            print!("{}", pages::HELP);
            Ok(())
        }
        ["pages", rest @ ..] => pages::run(&root, rest),
        ["clients", rest @ ..] => clients::run(&root, rest),
        ["nightly", rest @ ..] => nightly(&root, rest),
        ["deny"] => ci::deny(&root),
        ["bench", rest @ ..] => ci::bench(&root, rest),
        [task, ..] => {
            eprintln!("no such task, or not with these arguments: {task}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Tests of which CI runs a slice and the lines of pages that take long, then all clients for as long as it takes.
fn nightly(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut reach = steps::cargo(root, &["test", "-p", "wordline-drive", "--test", "aged", "reach"]);
    reach.env("WORDLINE_REACH", "all");
    steps::run(reach)?;
    let mut plans = steps::cargo(root, &["test", "-p", "wordline-runs", "--test", "suite", "plans"]);
    plans.env("WORDLINE_LONG", "1");
    steps::run(plans)?;
    let mut benches = steps::cargo(root, &["test", "-p", "wordline-lab", "--test", "suite", "determinism"]);
    benches.env("WORDLINE_LONG", "1");
    steps::run(benches)?;
    let mut heats = steps::cargo(root, &["test", "-p", "wordline-proving", "--test", "suite", "disturbed"]);
    heats.env("WORDLINE_LONG", "1");
    steps::run(heats)?;
    docs::check(root, docs::Extent::All)?;
    pages::run(root, &["--nightly"])?;
    clients::run(root, &[&["nightly"], arguments].concat())
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}
