//! Everything that can end a command early, with its exit code.

use std::path::PathBuf;
use std::process::ExitCode;

use wordline_pages::table::TableError;
use wordline_plan::PlanError;
use wordline_runs::RunError;
use wordline_workload::{FitError, SpecError, TraceError};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Plan(#[from] PlanError),
    #[error("{0}")]
    Spec(#[from] SpecError),
    #[error("{0}")]
    Trace(#[from] TraceError),
    #[error("{0}")]
    Fit(#[from] FitError),
    #[error("{0}")]
    Run(#[from] RunError),
    #[error("{0}")]
    Table(#[from] TableError),
    #[error("{path}: {error}", path = path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0}")]
    Lab(#[from] wordline_lab::LabError),
    #[error("{0}")]
    Usage(String),
    /// Claims that are off, where that was to count as a failure.
    #[error("{0}")]
    Off(String),
    /// A served drive that has stopped, and not well.
    #[error("{0}")]
    Stop(String),
    /// Drives of a comparison that failed requests and were not allowed to.
    #[error(
        "drives failed requests, so that they did not do the same work; --may-fail, or run.may_fail = true in a drive's file, allows it:\n{0}"
    )]
    Failed(String),
    /// A drive that failed requests and was not allowed to.
    #[error("{0}; --may-fail, or run.may_fail = true in the drive's file, allows it")]
    Unserved(String),
    /// Drives of a comparison that did not begin alike.
    #[error(
        "the drives did not begin alike, so that ratios say nothing of the drives alone; without --own-start all begin as the first does:\n  {0}"
    )]
    Unlike(String),
    /// A run's books do not balance: the figures are not to be trusted.
    #[error("the run broke its own checks; its figures are not to be trusted:\n{0}")]
    Checks(String),
}

impl Failure {
    /// 3 for a run that broke its checks; 4 for drives that failed requests, for a comparison in which they did not begin alike, or for a served drive that
    /// could not write everything down when it stopped; 1 for claims that are off where that was to count; 2 for everything the user can mend.
    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Failure::Checks(_) | Failure::Run(RunError::Broken { .. } | RunError::Restless { .. }) => ExitCode::from(3),
            Failure::Failed(_) | Failure::Unserved(_) | Failure::Unlike(_) => ExitCode::from(4),
            Failure::Off(_) => ExitCode::from(1),
            Failure::Stop(_) => ExitCode::from(4),
            Failure::Plan(_)
            | Failure::Spec(_)
            | Failure::Trace(_)
            | Failure::Fit(_)
            | Failure::Run(_)
            | Failure::Table(_)
            | Failure::File { .. }
            | Failure::Lab(_)
            | Failure::Usage(_) => ExitCode::from(2),
        }
    }
}
