//! Names of options of a load, as the command line has them and as errors name them.

/// Name of an option of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKey {
    /// The option [`crate::Load::open_loop`].
    OpenLoop,
    /// The option [`crate::Load::speed`].
    Speed,
    /// The option [`crate::Load::repeat`].
    Repeat,
    /// The option [`crate::Load::fit`].
    Fit,
    /// The option [`crate::Load::prefill_reads`].
    PrefillReads,
    /// The option [`crate::Load::lenient`].
    Lenient,
    /// The option [`crate::Load::format`].
    Format,
    /// The option [`crate::Load::time_unit`].
    TimeUnit,
    /// The option [`crate::Load::sector`].
    Sector,
    /// The option [`crate::Load::spaces`].
    Volumes,
    /// The option [`crate::Load::within_tick`].
    WithinTick,
    /// The option [`crate::Load::secure`].
    SecureFraction,
    /// The option [`crate::Load::length`].
    Length,
    /// The option [`crate::Load::queue_depth`].
    QueueDepth,
    /// The option [`crate::Load::until_steady`].
    UntilSteady,
}

impl LoadKey {
    /// The option as the command line has it.
    pub fn flag(self) -> &'static str {
        match self {
            LoadKey::OpenLoop => "--open-loop",
            LoadKey::Speed => "--speed",
            LoadKey::Repeat => "--repeat",
            LoadKey::Fit => "--fit",
            LoadKey::PrefillReads => "--prefill-reads",
            LoadKey::Lenient => "--lenient",
            LoadKey::Format => "--format",
            LoadKey::TimeUnit => "--time-unit",
            LoadKey::Sector => "--sector",
            LoadKey::Volumes => "--volumes",
            LoadKey::WithinTick => "--within-tick",
            LoadKey::SecureFraction => "--secure-fraction",
            LoadKey::Length => "--length",
            LoadKey::QueueDepth => "--qd",
            LoadKey::UntilSteady => "--until-steady",
        }
    }

    /// Reason why the option does not go with jobs.
    pub(crate) fn not_for_jobs(self) -> &'static str {
        match self {
            LoadKey::QueueDepth => "each has a pace of its own; change `arrival` in its file",
            LoadKey::UntilSteady => "they end at their own times, so that there is no round to repeat",
            LoadKey::OpenLoop
            | LoadKey::Speed
            | LoadKey::Repeat
            | LoadKey::Fit
            | LoadKey::PrefillReads
            | LoadKey::Lenient
            | LoadKey::Format
            | LoadKey::TimeUnit
            | LoadKey::Sector
            | LoadKey::Volumes
            | LoadKey::WithinTick
            | LoadKey::SecureFraction
            | LoadKey::Length => "it is for traces or files",
        }
    }
}
