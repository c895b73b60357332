//! Predictions of a subject for the conditions of a file.

use wordline_cells::{Condition as Kept, History, Model, Traits, Wordline};
use wordline_units::Celsius;

use super::parameters::Subject;

/// The conversion of steps to millivolts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voltage {
    /// Millivolts in a step.
    pub step: f64,
    /// Voltage of position 0, in millivolts.
    pub zero: f64,
}

impl Voltage {
    /// The voltage of a position in steps.
    pub fn of(self, position: f64) -> f64 {
        self.zero + self.step * position
    }
}

/// A subject prepared for predictions.
pub(super) struct Predictor {
    pub(super) model: Model,
    /// Time and reads of each retention index.
    equivalents: Vec<(f64, f64)>,
    layers: Vec<Traits>,
}

impl Predictor {
    /// The predictor of a subject. `None`: its parameters make no chip.
    pub(super) fn new(subject: &Subject) -> Option<Predictor> {
        let mut physics = subject.physics.clone();
        // One block was measured. How blocks differ is not asked here.
        for parameter in wordline_cells::Physics::PARAMETERS.iter().filter(|parameter| parameter.section == "variation") {
            physics.set(parameter.section, parameter.key, &[0.0]);
        }
        let model = Model::new(&physics).ok()?;
        let block = model.block(0, 0, 0);
        let layers = (0..physics.shape.layers).map(|layer| model.traits(&block, layer)).collect();
        Some(Predictor { model, equivalents: subject.equivalents(), layers })
    }

    /// The condition of a P/E count and the retention index at `place`.
    fn condition(&self, pe: u32, place: usize) -> Kept {
        let physics = self.model.physics();
        let history = History { erase: pe as f32, program: pe as f32, gentle: 0.0 };
        let (seconds, reads) = self.equivalents[place];
        Kept::new(history, Celsius(physics.retention.temperature)).kept(seconds).read(reads)
    }

    /// A wordline of the mean layer.
    pub(super) fn typical(&self, pe: u32, place: usize) -> Wordline {
        self.model.wordline(&self.model.typical(), &self.condition(pe, place))
    }

    /// A wordline of a layer.
    pub(super) fn layer(&self, layer: usize, pe: u32, place: usize) -> Wordline {
        self.model.wordline(&self.layers[layer], &self.condition(pe, place))
    }
}
