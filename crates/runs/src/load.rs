//! Changes that a user makes to the way in which a workload comes.

use wordline_units::{Bytes, Nanos};
use wordline_workload::trace::{OnFault, ReadOptions, Spaces};
use wordline_workload::{Fit, Format, ReplayError, ReplayOptions, WithinTick};

use crate::error::RunError;
use crate::load_key::LoadKey;

/// Options of a load. By default the workload comes as it says itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Number of requests that are always outstanding (closed loop), whatever the workload says.
    pub queue_depth: Option<u32>,
    /// Whether a trace's requests are to be issued at its own times, which it must have.
    pub open_loop: bool,
    /// Speed of a trace in an open loop, over its own.
    pub speed: Option<f64>,
    /// Number of times that a trace is played.
    pub repeat: Option<u32>,
    /// Number of requests after which the run stops.
    pub requests: Option<u64>,
    /// Treatment of a trace's addresses beyond the drive.
    pub fit: Option<Fit>,
    /// Whether malformed lines of a trace are counted and passed over.
    pub lenient: bool,
    /// Format of a trace, where it is not to be recognised.
    pub format: Option<Format>,
    /// Unit of a trace's times, where it is not that of its format.
    pub time_unit: Option<Nanos>,
    /// Size of a trace's sectors, where they are not of 512 B.
    pub sector: Option<Bytes>,
    /// Address spaces of a trace's volumes; each its own by default.
    pub spaces: Option<Spaces>,
    /// Treatment of a trace's records that share a time because its clock is coarse. By default they are spread.
    pub within_tick: Option<WithinTick>,
    /// Share of the drive that is written, in order, before the run.
    pub fill: Option<f64>,
    /// Whether what a trace reads before it writes it is written before the run.
    pub prefill_reads: bool,
    /// Share of what a workload of files writes that belongs to secure files.
    pub secure: Option<f64>,
    /// Bytes that a workload of files writes, in capacities of the drive.
    pub length: Option<f64>,
    /// Whether the last phase is repeated until the drive is steady, and measured then.
    pub until_steady: bool,
    /// Number of requests of one round until the drive is steady.
    pub round: Option<u64>,
}

impl Load {
    /// Refuses options of traces, unless a workload of the run is one (`has_trace`).
    ///
    /// # Errors
    ///
    /// The first option that does nothing, or a speed that is none.
    pub fn check(&self, has_trace: bool) -> Result<(), RunError> {
        self.replay()?;
        let given = [
            (LoadKey::OpenLoop, self.open_loop),
            (LoadKey::Speed, self.speed.is_some()),
            (LoadKey::Repeat, self.repeat.is_some()),
            (LoadKey::Fit, self.fit.is_some()),
            (LoadKey::PrefillReads, self.prefill_reads),
            (LoadKey::Lenient, self.lenient),
            (LoadKey::Format, self.format.is_some()),
            (LoadKey::TimeUnit, self.time_unit.is_some()),
            (LoadKey::Sector, self.sector.is_some()),
            (LoadKey::Volumes, self.spaces.is_some()),
            (LoadKey::WithinTick, self.within_tick.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) if !has_trace => Err(RunError::OnlyForTraces(key)),
            _ => Ok(()),
        }
    }

    /// Refuses options of workloads of files, which `workload` is none of.
    pub(crate) fn without_files(&self, workload: &str) -> Result<(), RunError> {
        let given = [(LoadKey::SecureFraction, self.secure.is_some()), (LoadKey::Length, self.length.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => Err(RunError::OnlyForFiles { key, workload: workload.to_owned() }),
            None => Ok(()),
        }
    }

    /// Refuses options that do not go with jobs, which `workload` has.
    pub(crate) fn with_jobs(&self, workload: &str) -> Result<(), RunError> {
        self.without_files(workload)?;
        let given = [(LoadKey::QueueDepth, self.queue_depth.is_some()), (LoadKey::UntilSteady, self.until_steady)];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => Err(RunError::NotForJobs { key, workload: workload.to_owned() }),
            None => Ok(()),
        }
    }

    /// How a trace is read.
    pub(crate) fn read(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            on_fault: if self.lenient { OnFault::Skip } else { OnFault::Stop },
            time_unit: self.time_unit,
            sector: self.sector,
            spaces: self.spaces.unwrap_or_default(),
        }
    }

    /// How a trace is played.
    pub(crate) fn replay(&self) -> Result<ReplayOptions, RunError> {
        let speed = self.speed.unwrap_or(1.0);
        if !(speed.is_finite() && speed > 0.0) {
            return Err(ReplayError::Speed(speed).into());
        }
        Ok(ReplayOptions { speed, repeat: self.repeat.unwrap_or(1), ..ReplayOptions::default() })
    }
}

/// Reads a share such as "90 %": a number between 0 and 1.
///
/// # Errors
///
/// The text is no share.
pub fn share(text: &str) -> Result<f64, RunError> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    number
        .and_then(|number| number.parse::<f64>().ok())
        .filter(|value| (0.0..=100.0).contains(value))
        .map(|value| value / 100.0)
        .ok_or_else(|| RunError::NoShare(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_with_their_unit_and_nothing_else_is() {
        for (text, value) in [("90 %", 0.9), ("0%", 0.0), (" 12.5 % ", 0.125), ("100%", 1.0)] {
            assert_eq!(share(text).expect("a share"), value, "{text}");
        }
        for wrong in ["0.9", "", "%", "101 %", "-1 %", "nan %"] {
            assert!(matches!(share(wrong), Err(RunError::NoShare(text)) if text == wrong), "{wrong}");
        }
    }

    #[test]
    fn options_of_traces_are_refused_without_one() {
        let wrong = Load { repeat: Some(2), lenient: true, ..Load::default() };
        assert!(matches!(wrong.check(false), Err(RunError::OnlyForTraces(LoadKey::Repeat))));
        assert!(Load { requests: Some(3), until_steady: true, ..Load::default() }.check(false).is_ok());
        let still = Load { speed: Some(0.0), ..Load::default() };
        assert!(matches!(still.check(false), Err(RunError::Replay(ReplayError::Speed(_)))));
    }
}
