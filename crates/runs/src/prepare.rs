//! The first two steps of a run: a drive as it lies there before the first request, and its age.

use wordline_drive::image::{Image, ImageError};
use wordline_drive::{Config, Watched};
use wordline_engine::Observer;
use wordline_plan::Plan;
use wordline_units::Celsius;

use crate::error::RunError;
use crate::load::Load;
use crate::prefill::prefill_reads;
use crate::source::Source;
use crate::workload::Workload;

/// The state of a drive before a run.
#[derive(Debug)]
pub enum Start {
    /// New, with the first units written once in order.
    Filled {
        /// How many units.
        units: u64,
    },
    /// New, with a share of its units in the steady state of uniform random overwrites.
    Steady {
        /// The share.
        fill: f64,
    },
    /// As it was saved, with the age that it had; and the digest of what it was saved in.
    Saved(Box<Image>, String),
}

impl Start {
    /// Start of a new drive of `plan`, whose configuration is `config`, with its first `units` units written: in order, or as the plan says.
    pub fn of(plan: &Plan, config: &Config, units: u64) -> Start {
        if plan.begins_steady() { Start::Steady { fill: units as f64 / config.exported_units as f64 } } else { Start::Filled { units } }
    }
}

/// A time for which a drive lies without power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lying {
    /// The time, in seconds.
    pub seconds: f64,
    /// Its temperature.
    pub at: Celsius,
}

/// A drive that has its data and not yet its age. Nothing can be asked of it before [`Prepared::aged`].
#[derive(Debug)]
pub struct Prepared<O: Observer> {
    drive: Watched<O>,
    is_new: bool,
}

/// Prepares a drive of `config` as `start` says, under the eyes of `observer`.
///
/// # Errors
///
/// The saved drive is not of this configuration.
pub(crate) fn prepare<O: Observer>(config: Config, start: Start, observer: O) -> Result<Prepared<O>, ImageError> {
    match start {
        Start::Filled { units } => Ok(Prepared::filled(config, units, observer)),
        Start::Steady { fill } => Ok(Prepared::steady(config, fill, observer)),
        Start::Saved(image, _) => Ok(Prepared { drive: Watched::from_image(config, *image, observer)?, is_new: false }),
    }
}

impl<O: Observer> Prepared<O> {
    /// A new drive of `config` with its first `units` units written once in order.
    pub fn filled(config: Config, units: u64, observer: O) -> Prepared<O> {
        let mut drive = Watched::new(config, observer);
        drive.construct_filled(units);
        Prepared { drive, is_new: true }
    }

    /// A new drive of `config` with the share `fill` of its units in the steady state of uniform random overwrites.
    pub fn steady(config: Config, fill: f64, observer: O) -> Prepared<O> {
        let (seed, fills) = (config.seed, vec![fill; config.cores as usize]);
        let mut drive = Watched::new(config, observer);
        drive.construct_steady(&fills, seed);
        Prepared { drive, is_new: true }
    }

    /// Writes what the trace of `workload` reads before it writes it. Returns the number of units; `None` where it is no trace.
    pub(crate) fn prefill_reads(&mut self, workload: &Workload) -> Result<Option<u64>, RunError> {
        prefill_reads(&mut self.drive, workload)
    }

    /// Ages the drive without timing, by the firmware itself, in a way that `write` knows.
    pub(crate) fn written_over(mut self, write: impl FnOnce(&mut Watched<O>)) -> Prepared<O> {
        write(&mut self.drive);
        self
    }

    /// Lets a drive whose cells have physics lie without power.
    pub(crate) fn lain(mut self, lying: Option<Lying>) -> Prepared<O> {
        lying.into_iter().for_each(|lying| _ = self.drive.lie(lying.seconds, lying.at));
        self
    }

    /// Sets a new drive to the age that its plan asks for. Returns it, ready for requests.
    pub fn aged(mut self) -> Watched<O> {
        let age = self.drive.config().age();
        age.iter().filter(|_| self.is_new).for_each(|age| self.drive.set_age(age));
        self.drive
    }
}

/// Number of units that are written before a run of a drive of `plan`, which has this `config`.
pub fn filled(plan: &Plan, config: &Config, source: &Source, load: &Load) -> u64 {
    let units = config.exported_units;
    let share = |fill: f64| (units as f64 * fill) as u64;
    match (source.files(), load.fill) {
        // The drive holds what the file system believes it does, as far as that is whole units.
        (Some(files), _) => files.prefilled().0 / config.firmware.unit.0,
        (None, Some(fill)) => share(fill),
        (None, None) if load.until_steady => units,
        (None, None) => share(plan.initial_fill()),
    }
}
