//! Who watches a run: the metrics, the log of requests where it was asked for, and VerTrace where it was.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::sync::mpsc::{Sender, channel};

use wordline_drive::{Config, Drive};
use wordline_engine::{Event, Observer, UnitStep};
use wordline_report::table::RequestLog;
use wordline_report::vertrace::{FileScope, FileStep, VerTraceResult};
use wordline_report::{Metrics, VerTrace};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, Nanos};
use wordline_workload::FileLoad;

use crate::tags::Tags;

/// Metrics, perhaps a log of requests, and perhaps the books of files.
pub(crate) struct Watch<F = ()> {
    pub(crate) metrics: Metrics,
    pub(crate) log: Option<RequestLog<BufWriter<File>>>,
    pub(crate) files: F,
}

impl<F: Observer> Observer for Watch<F> {
    const FOLLOWS: bool = F::FOLLOWS;

    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.metrics.observe(at, event);
        if let Some(log) = &mut self.log {
            log.observe(at, event);
        }
        self.files.observe(at, event);
    }

    fn follow(&mut self, at: Nanos, step: &UnitStep) {
        self.files.follow(at, step);
    }
}

/// Who watches files, or nobody.
pub(crate) trait Files: Observer + Sized {
    /// Look at the drive before the run.
    fn begin(drive: &mut Drive<Watch<Self>>);

    /// What it came to.
    fn conclude(&self) -> Option<VerTraceResult>;

    /// Whether its books agree with the drive.
    fn check(drive: &Drive<Watch<Self>>) -> Result<(), String>;

    /// Whose data lies where; `insecure` are the files of which that does not matter.
    fn tags(drive: &Drive<Watch<Self>>, insecure: BTreeSet<u32>) -> Option<Tags>;
}

impl Files for () {
    fn begin(_: &mut Drive<Watch<()>>) {}

    fn conclude(&self) -> Option<VerTraceResult> {
        None
    }

    fn check(_: &Drive<Watch<()>>) -> Result<(), String> {
        Ok(())
    }

    fn tags(_: &Drive<Watch<()>>, _: BTreeSet<u32>) -> Option<Tags> {
        None
    }
}

impl Files for VerTrace {
    fn begin(drive: &mut Drive<Watch<VerTrace>>) {
        let mapped: Vec<_> = drive.mapped().collect();
        mapped.into_iter().for_each(|(unit, place)| drive.observer.files.lies(unit, place));
    }

    fn conclude(&self) -> Option<VerTraceResult> {
        Some(VerTrace::conclude(self))
    }

    fn check(drive: &Drive<Watch<VerTrace>>) -> Result<(), String> {
        drive.observer.files.check(drive.mapped())
    }

    fn tags(drive: &Drive<Watch<VerTrace>>, insecure: BTreeSet<u32>) -> Option<Tags> {
        Some(Tags::of(drive, &drive.observer.files, insecure))
    }
}

/// The books of the files of `load` on a drive of `config`, and who tells them of requests. `plotted` are the files whose counts over time are kept; one of
/// each set if there are none.
pub(crate) fn vertrace(load: &FileLoad, config: &Config, plotted: &[u32]) -> (VerTrace, Sender<FileStep>) {
    let scope = FileScope::of(config.exported(), config.firmware.unit, &config.sheet.geometry);
    let mut plotted = plotted.to_vec();
    if plotted.is_empty() {
        let mut sets: Vec<(usize, u32)> = load.system().files().map(|file| (file.set, file.id)).collect();
        sets.sort_unstable();
        sets.dedup_by_key(|(set, _)| *set);
        plotted = sets.into_iter().map(|(_, file)| file).collect();
    }
    let (told, steps) = channel();
    let mut books = VerTrace::new(scope, steps, &plotted);
    let sectors = load.system().block_bytes() / SECTOR_BYTES;
    for file in load.system().files() {
        for extent in &file.extents {
            let (sector, sectors) = (extent.start * sectors, (extent.len * sectors) as u32);
            books.before(&FileStep { file: file.id, version: 0, sector, sectors, op: HostOp::Write, replaces: false });
        }
    }
    (books, told)
}
