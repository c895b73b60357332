//! A run, or one phase of it, as the catalogue looks at it.

use crate::result::{ByOp, DriveResult, HostResult, Latency, PhaseResult, Utilisation, Waf};

/// A whole run, or one phase of one. A phase has fewer figures.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// What the host got.
    pub host: &'a HostResult,
    /// Latencies by kind of request.
    pub latency_us: &'a ByOp<Latency>,
    /// Write amplification.
    pub waf: &'a Waf,
    /// Block groups erased.
    pub erases: u64,
    /// Busy parts of the drive; only the means of dies and channels in a phase.
    pub utilisation: Utilisation,
    /// Length in simulated time.
    pub simulated_seconds: f64,
    /// The run; `None` for one of its phases.
    pub run: Option<&'a DriveResult>,
}

impl<'a> Part<'a> {
    /// The whole of `run`.
    pub fn of_run(run: &'a DriveResult) -> Part<'a> {
        Part {
            host: &run.host,
            latency_us: &run.latency_us,
            waf: &run.waf,
            erases: run.erases,
            utilisation: run.utilisation.clone(),
            simulated_seconds: run.simulated_seconds,
            run: Some(run),
        }
    }

    /// One phase of a run.
    pub fn of_phase(phase: &'a PhaseResult) -> Part<'a> {
        Part {
            host: &phase.host,
            latency_us: &phase.latency_us,
            waf: &phase.waf,
            erases: phase.erases,
            utilisation: Utilisation {
                die: phase.die_utilisation,
                die_with_transfers: phase.die_utilisation_with_transfers,
                channel: phase.channel_utilisation,
                ..Utilisation::default()
            },
            simulated_seconds: phase.simulated_seconds,
            run: None,
        }
    }
}
