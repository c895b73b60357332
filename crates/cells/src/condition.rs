//! The condition of a wordline: its history and settings, on which all its states depend.

use wordline_units::Celsius;

use crate::program::Settings;
use crate::wear::History;

/// The condition of a wordline when it is read. It is small and [`Copy`]: preset it, or keep it up to date as things happen.
///
/// [`Condition::new`] is a wordline just programmed, on a fresh block, at the reference temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Erase and program history of the wordline's block.
    pub history: History,
    /// Program settings of the wordline.
    pub settings: Settings,
    /// Retention of the data, in seconds at the reference temperature: see [`Model::kept`](crate::Model::kept).
    pub retention: f64,
    /// Page reads of the block since the wordline was programmed.
    pub reads: f64,
    /// Temperature at the program.
    pub programmed_at: Celsius,
    /// Temperature at the read.
    pub read_at: Celsius,
    /// Time from the erase of the block to the program, in seconds.
    pub open_interval: f64,
    /// True if the next layer has been programmed after this wordline.
    pub neighbour: bool,
    /// True if the wordline's last erase was gentle.
    pub gently_erased: bool,
    /// Raw bit error rate of each page when it was written: errors that copybacks carried over.
    pub carried: [f32; 4],
    /// Pages that were destroyed by one-shot reprogramming, if any.
    pub reprogrammed: Option<Reprogrammed>,
    /// Sum of the doses of the wordline's page locks: see [`flag::dose`](crate::flag::dose).
    pub lock_dose: f32,
}

/// One-shot reprogramming of a wordline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reprogrammed {
    /// Bit p: page p was destroyed.
    pub pages: u8,
    /// Extra shift of this wordline over the mean, in deviations between wordlines: one standard normal draw.
    pub luck: f32,
}

impl Condition {
    /// The condition just after a program, with the history of the block, at one temperature.
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

    /// Condition after `seconds` more of retention at the reference temperature.
    #[must_use]
    pub fn kept(self, seconds: f64) -> Condition {
        Condition { retention: seconds, ..self }
    }

    /// Condition after `reads` more reads of the block.
    #[must_use]
    pub fn read(self, reads: f64) -> Condition {
        Condition { reads, ..self }
    }

    /// Condition with other program settings.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Condition {
        Condition { settings, ..self }
    }
}
