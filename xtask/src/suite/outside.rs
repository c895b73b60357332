//! Files and programs that some tests need and that are not part of the project: where to look for them, and how a test reports that it was skipped.
//!
//! The task `cargo xtask test` and the tests themselves compile this one file, so that both mean the same.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Environment variable that names the folder with the outside files. Without it, the folder `shared` beside the checkout is taken.
pub(crate) const FOLDER: &str = "WORDLINE_SHARED";

/// Environment variable that names the file to which skipped tests append their names, one a line.
pub(crate) const SKIPPED: &str = "WORDLINE_SKIPPED_TESTS";

/// The path of `needed` among the outside files. `None` where it is absent: the caller returns at once, and `test` counts as skipped.
///
/// `crate_folder` is the caller's `CARGO_MANIFEST_DIR`, two levels below the root of the checkout.
pub(crate) fn find_or_skip(crate_folder: &str, test: &str, needed: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os(FOLDER) {
        Some(named) => Some(PathBuf::from(named)),
        None => Path::new(crate_folder).ancestors().nth(3).map(|beside| beside.join("shared")),
    };
    let found = folder.map(|folder| folder.join(needed)).filter(|path| path.exists());
    if found.is_none() {
        skip(test, &format!("{FOLDER} names no folder with {needed}"));
    }
    found
}

/// Whether `program` can be started. If not, the caller returns at once, and `test` counts as skipped. `package`: Debian's name of what brings it.
pub(crate) fn has_program_or_skip(test: &str, program: &str, package: &str) -> bool {
    let started = std::process::Command::new(program).arg("-V").output();
    let has = started.is_ok();
    if !has {
        skip(test, &format!("{program} is missing: apt-get install {package}"));
    }
    has
}

/// Reports `test` as skipped: to the task that counts it, or to whoever runs the test by hand.
fn skip(test: &str, why: &str) {
    match std::env::var_os(SKIPPED) {
        Some(list) => {
            let mut list = OpenOptions::new().append(true).create(true).open(list).expect("the list of skipped tests can be written");
            // One write, so that lines of tests that run at the same time stay whole.
            list.write_all(format!("{test}\n").as_bytes()).expect("the list of skipped tests can be written");
        }
        // Not `eprintln`, which the test harness keeps to itself when a test passes.
        None => {
            let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
        }
    }
}
