//! Points of a life to go back to, the things that do not change between them, and the ends of a life.

use wordline_drive::image::Image;
use wordline_drive::{Aged, Config, FlashPlace, Habits, Watched};
use wordline_figures::LifeEnd;
use wordline_plan::Plan;
use wordline_units::Nanos;

use crate::error::RunError;
use crate::load::Load;
use crate::source::{Place, Source, Stage};
use crate::workload::Workload;

/// What ends a life, beside a drive that takes no more writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// A page that cannot be read by the host, or when it is to be moved.
    pub uncorrectable: bool,
    /// Time for which all data must be kept without power lost or refresh, from the end of each epoch on: a year at the end of life is what JESD218 asks of
    /// client drives. `None`: nothing is kept longer than it happens to be.
    pub kept: Option<Nanos>,
    /// Share of the blocks that the host sees which may go bad; `None`: any.
    pub bad_blocks: Option<f64>,
    /// Years after which nobody looks any longer.
    pub years: Option<f64>,
}

/// Things that do not change over a life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) config: &'a Config,
    /// Its requests, without end.
    pub(crate) workload: &'a Workload,
    pub(crate) load: &'a Load,
    /// Sectors that the host writes in an epoch.
    pub(crate) sectors: u64,
    /// Time that this takes at the pace of the life.
    pub(crate) time: Nanos,
    /// Requests of the short run in virtual time after an epoch; 0: there is none.
    pub(crate) sample: u64,
}

impl World<'_> {
    /// The requests of the life from their beginning.
    pub(crate) fn source(&self) -> Result<Source, RunError> {
        Source::new(self.workload, self.load, self.config.seed, self.config.exported())
    }
}

/// Sums over a life, with what was skipped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Sectors that the host has written.
    pub(crate) sectors: u64,
    /// Units programmed.
    pub(crate) units: f64,
}

/// A point of a life to go back to.
pub(crate) struct Point {
    image: Image,
    habits: Habits,
    now: Nanos,
    source: Option<Place>,
    stage: Stage,
    tally: Tally,
}

/// The end of a life, and the reason in words.
pub(crate) type End = (LifeEnd, String);

impl Tally {
    /// Adds the work of an epoch, so many times. Sectors are counted as they come.
    pub(crate) fn add(&mut self, work: &Aged, times: f64) {
        self.units += times * work.programmed() as f64;
    }
}

/// A place in words, behind what happened there.
pub(crate) fn place_of(place: &FlashPlace) -> String {
    format!(": die {}, plane {}, block {}, page {}", place.die.0, place.plane.0, place.block.0, place.page.0)
}

impl Point {
    /// The point at which `drive` is, with the requests of `source` left in its stage.
    pub(crate) fn of(drive: &Watched, source: &Source, stage: &Stage, tally: Tally) -> Result<Point, RunError> {
        let (image, habits) = (drive.image()?, drive.habits().clone());
        Ok(Point { image, habits, now: drive.now(), source: source.place(), stage: stage.clone(), tally })
    }

    /// Sums over the life up to this point.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// The drive at this point.
    pub(crate) fn drive(&self, config: &Config) -> Result<Watched, RunError> {
        let mut drive = Watched::from_image_at(config.clone(), self.image.clone(), self.now, ())?;
        drive.set_habits(self.habits.clone());
        Ok(drive)
    }

    /// Requests that follow. A trace cannot be read from its middle, and begins again.
    pub(crate) fn requests(&self, world: &World<'_>) -> Result<(Source, Stage), RunError> {
        if let Some(place) = &self.source {
            return Ok((place.source(), self.stage.clone()));
        }
        let mut source = world.source()?;
        let stage = source.next_stage().expect("a workload has a stage");
        Ok((source, stage))
    }
}
