//! Files that are being written, and what becomes of them when the program is interrupted: nothing half-written stays.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::failure::Failure;
use crate::stopping::is_ignored;

/// The files that have no name of their own yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes `path`, which is removed when the program is interrupted before [`rename`] or [`remove`].
pub(crate) fn create(path: &Path) -> io::Result<File> {
    // Held while the file is made, so that it is either in the list or not there.
    let mut list = unfinished();
    let file = File::create(path)?;
    list.insert(path.to_owned());
    Ok(file)
}

/// Gives the file its name.
pub(crate) fn rename(path: &Path, name: &Path) -> io::Result<()> {
    let mut list = unfinished();
    std::fs::rename(path, name)?;
    list.remove(path);
    Ok(())
}

/// Removes the file. Nothing can be done if even that fails.
pub(crate) fn remove(path: &Path) {
    let mut list = unfinished();
    let _ = std::fs::remove_file(path);
    list.remove(path);
}

/// Lets SIGINT, SIGTERM and the end of the terminal remove what is unfinished before they end the program, which then ends as if nobody had caught them.
pub(crate) fn remove_on_signals() -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Usage(format!("signals cannot be caught: {error}"));
    // Under nohup a terminal that closes is to change nothing.
    let wanted = [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(wanted).map_err(failed)?;
    let listen = move || {
        let Some(signal) = signals.forever().next() else { return };
        // Never released: nothing is made or renamed any more.
        let list = unfinished();
        list.iter().for_each(|path| drop(std::fs::remove_file(path)));
        // Ends the process; where it cannot, the exit code says the same.
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(failed)?;
    Ok(())
}
