//! What has happened to a wordline since it was made: all its states depend on.

use wordline_units::Celsius;

use crate::program::Settings;
use crate::wear::History;

/// The condition of a wordline when it is read. Small and [`Copy`]: set it by decree, or keep it up to date as things happen.
///
/// [`Condition::new`] is a wordline just programmed, on a fresh block, at the reference temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Cycles of its block.
    pub history: History,
    /// How it was programmed.
    pub settings: Settings,
    /// How long its data have been kept, in seconds at the reference temperature: see [`Model::kept`](crate::Model::kept).
    pub retention: f64,
    /// Page reads of its block since it was programmed.
    pub reads: f64,
    /// Temperature when it was programmed.
    pub programmed_at: Celsius,
    /// Temperature when it is read.
    pub read_at: Celsius,
    /// Time from the erase of its block to its program, in seconds.
    pub open_interval: f64,
    /// Whether the next layer has been programmed after it.
    pub neighbour: bool,
    /// Whether its last erase was gentle.
    pub gently_erased: bool,
    /// Raw bit error rate of each page when it was written: errors that copybacks carried over.
    pub carried: [f32; 4],
    /// Pages that were destroyed by one-shot reprogramming, if any.
    pub reprogrammed: Option<Reprogrammed>,
    /// Sum of the doses of the page locks of this wordline: see [`flag::dose`](crate::flag::dose).
    pub lock_dose: f32,
}

/// One-shot reprogramming of a wordline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reprogrammed {
    /// Bit p: page p was destroyed.
    pub pages: u8,
    /// By how many deviations this wordline was shifted further than others: drawn once, standard normal.
    pub luck: f32,
}

impl Condition {
    /// A wordline just programmed, with the history of its block, at one temperature.
    pub fn new(history: History, at: Celsius) -> Condition {
        Condition {
            history,
            settings: Settings::default(),
            retention: 0.0,
            reads: 0.0,
            programmed_at: at,
            read_at: at,
            open_interval: 0.0,
            neighbour: true,
            gently_erased: false,
            carried: [0.0; 4],
            reprogrammed: None,
            lock_dose: 0.0,
        }
    }

    /// The same, after `seconds` at the reference temperature.
    #[must_use]
    pub fn kept(self, seconds: f64) -> Condition {
        Condition { retention: seconds, ..self }
    }

    /// The same, after so many reads of its block.
    #[must_use]
    pub fn read(self, reads: f64) -> Condition {
        Condition { reads, ..self }
    }

    /// The same, programmed with other settings.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Condition {
        Condition { settings, ..self }
    }
}
