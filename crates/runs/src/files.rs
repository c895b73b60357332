//! Observers of the files of a workload: VerTrace, or nobody.

use std::sync::mpsc::{Sender, channel};

use wordline_drive::Config;
use wordline_engine::{Observer, UnitPlace};
use wordline_figures::VerTrace;
use wordline_figures::vertrace::{FileScope, FileStep, VerTraceResult};
use wordline_units::HostOp;
use wordline_units::host::SECTOR_BYTES;
use wordline_workload::FileLoad;

/// An observer of files, or none.
pub trait Files: Observer + Sized {
    /// Begins the observation. `mapped`: where the drive's data lies before the run.
    fn begin(&mut self, mapped: impl Iterator<Item = (u64, UnitPlace)>);

    /// The result of the observation so far.
    fn conclude(&self) -> Option<VerTraceResult>;

    /// The books, if there are any.
    fn books(self) -> Option<VerTrace>;

    /// Checks that the observer's books agree with the drive.
    ///
    /// # Errors
    ///
    /// What is amiss.
    fn check(&self, mapped: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String>;
}

impl Files for () {
    fn begin(&mut self, _: impl Iterator<Item = (u64, UnitPlace)>) {}

    fn conclude(&self) -> Option<VerTraceResult> {
        None
    }

    fn books(self) -> Option<VerTrace> {
        None
    }

    fn check(&self, _: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String> {
        Ok(())
    }
}

impl Files for VerTrace {
    fn begin(&mut self, mapped: impl Iterator<Item = (u64, UnitPlace)>) {
        mapped.for_each(|(unit, place)| self.lies(unit, place));
    }

    fn conclude(&self) -> Option<VerTraceResult> {
        Some(VerTrace::conclude(self))
    }

    fn books(self) -> Option<VerTrace> {
        Some(self)
    }

    fn check(&self, mapped: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String> {
        VerTrace::check(self, mapped)
    }
}

/// The files whose counts over time are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plotted {
    /// Files with these numbers.
    Files(Vec<u32>),
    /// The first files of each set, so many of each, and at least one.
    OfEachSet(usize),
}

impl Plotted {
    /// Numbers of the files of `load` that are meant.
    fn of(&self, load: &FileLoad) -> Vec<u32> {
        match self {
            Plotted::Files(files) => files.clone(),
            Plotted::OfEachSet(count) => {
                let sets = load.system().files().map(|file| file.set).max().map_or(0, |last| last + 1);
                let of_set = |set| load.system().files().filter(move |file| file.set == set).map(|file| file.id).take((*count).max(1));
                (0..sets).flat_map(of_set).collect()
            }
        }
    }
}

/// The books of the files of `load` on a drive of `config`, and the sender by which they hear of requests.
pub(crate) fn vertrace(load: &FileLoad, config: &Config, plotted: &Plotted) -> (VerTrace, Sender<FileStep>) {
    let scope = FileScope::of(config.exported(), config.firmware.unit, &config.sheet.geometry);
    let (told, steps) = channel();
    let mut books = VerTrace::new(scope, steps, &plotted.of(load));
    let sectors = load.system().block_bytes() / SECTOR_BYTES;
    for file in load.system().files() {
        for extent in &file.extents {
            let (sector, sectors) = (extent.start * sectors, (extent.len * sectors) as u32);
            books.before(&FileStep { file: file.id, version: 0, sector, sectors, op: HostOp::Write, replaces: false });
        }
    }
    (books, told)
}
