//! Logs of requests that a run writes, each whole or not there.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use wordline_pages::table::{Format, RequestLog};
use wordline_runs::Logs;
use wordline_units::Nanos;

use crate::failure::Failure;
use crate::files::Pending;

/// Logs that are written to files.
pub(crate) type FileLogs = Logs<BufWriter<File>>;

/// The files of logs, which appear under their names when the logs are finished.
#[derive(Debug)]
pub(crate) struct LogFiles(Vec<Pending>);

impl LogFiles {
    /// Begins a log for each of `paths`, in the format that its name's ending says.
    pub(crate) fn begin(paths: &[PathBuf]) -> Result<(LogFiles, FileLogs), Failure> {
        let (mut pending, mut logs) = (Vec::new(), Vec::new());
        for path in paths {
            let format = if path.extension().is_some_and(|ending| ending == "csv") { Format::Csv } else { Format::Parquet };
            let (place, file) = Pending::create(path)?;
            pending.push(place);
            logs.push(RequestLog::new(format, file, Nanos::ZERO)?);
        }
        Ok((LogFiles(pending), Logs::new(logs)))
    }

    /// Finishes `logs`, which were begun with them.
    pub(crate) fn finish(self, logs: FileLogs) -> Result<(), Failure> {
        for (pending, log) in self.0.into_iter().zip(logs.into_each()) {
            drop(log.finish()?);
            pending.finish()?;
        }
        Ok(())
    }
}
