//! The search of a calibration: damped steps from the chip as it is, each judged by the same seeds.

use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_plan::Chip;

use super::parameters::{Parameter, Parameters};
use super::questions::Questions;
use crate::error::LabError;
use crate::fit::least_squares::{Search, jacobian, solve};

/// The input of a calibration.
pub struct Task {
    /// Name or file of the chip.
    pub chip: String,
    /// Settings on top of the chip, at which the search starts.
    pub settings: Vec<String>,
    /// Parameters that move.
    pub parameters: Parameters,
    /// Questions whose residuals are made small.
    pub questions: Questions,
    /// Share of a value by which it moves to measure its effect. Counts and loops go by steps, below which an effect is noise.
    pub step: f64,
    /// Largest number of steps of the search. Zero: the Jacobian alone.
    pub iterations: u32,
    /// Number of threads to spread over; results do not depend on it.
    pub threads: usize,
}

/// A parameter and its place in the search.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The parameter.
    pub parameter: Parameter,
    /// Place at the end, from 0 at the start: e-folds of the value, or shares of it where it is below zero.
    pub to: f64,
}

/// The result of a calibration.
pub struct Calibration {
    /// Parameters in the order of the reference.
    pub moved: Vec<Moved>,
    /// Values of each question at each seed before the first step.
    pub before: Vec<Vec<f64>>,
    /// The same after the last.
    pub after: Vec<Vec<f64>>,
    /// Change of the residuals by a step of 0.1 of each parameter, measured before the last step that was tried: a column for each parameter.
    pub columns: Vec<Vec<f64>>,
    /// Number of steps that were tried.
    pub steps: u32,
    /// Number of chips that were measured.
    pub chips: usize,
    /// Number of chips that were refused, and the error of the last of them.
    pub refused: (usize, Option<String>),
}

/// The usual change of a parameter, in e-folds: about a tenth.
const SCALE: f64 = 0.1;
/// Residual in half widths beyond which residuals count by their size, so that what is out of reach does not bend the rest.
const OUTLIER: f64 = 3.0;
/// Damping of the first step.
const DAMPING: f64 = 0.03;
/// Curvature added to each parameter: a tenth of it costs a tenth of a half width in each step, so that weak directions stay where they are.
const RIDGE: f64 = 0.01;
/// Relative improvement of the cost below which the search stops.
const TOLERANCE: f64 = 1e-4;

/// Measures the chips of a search and keeps what it found.
struct Measured<'t> {
    task: &'t Task,
    heard: &'t (dyn Fn(usize, &str) + Sync),
    seen: Vec<(Vec<f64>, Vec<Vec<f64>>)>,
    chips: usize,
    refused: (usize, Option<String>),
}

impl Measured<'_> {
    /// Values of the questions at each of these points, or the error of the chip there.
    fn at(&mut self, points: &[Vec<f64>]) -> Vec<Result<Vec<Vec<f64>>, LabError>> {
        let task = self.task;
        let settings: Vec<Vec<String>> =
            points.iter().map(|point| [task.settings.clone(), task.parameters.settings(point)].concat()).collect();
        let checked: Vec<Result<(), LabError>> =
            settings.iter().map(|settings| Ok(Chip::load_set(&task.chip, settings).map(drop)?)).collect();
        let possible: Vec<Vec<String>> =
            settings.into_iter().zip(&checked).filter(|(_, is)| is.is_ok()).map(|(settings, _)| settings).collect();
        let (before, done) = (self.chips, AtomicUsize::new(0));
        let runs = task.questions.runs();
        let heard = |bench: &str| (self.heard)(before + done.fetch_add(1, Ordering::Relaxed) / runs, bench);
        let mut found = task.questions.measure(&possible, task.threads, &heard).into_iter();
        self.chips += possible.len();
        let one = |checked: Result<(), LabError>| checked.and_then(|()| found.next().expect("a possible chip was measured"));
        checked.into_iter().map(one).collect()
    }

    /// Residuals at each of these points; not numbers where there is no such chip. `count`: number of residuals.
    fn residuals(&mut self, points: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
        let found = self.at(points);
        let mut residuals = Vec::with_capacity(points.len());
        for (point, found) in points.iter().zip(found) {
            match found {
                Ok(values) => {
                    residuals.push(self.task.questions.residuals(&values));
                    self.seen.push((point.clone(), values));
                }
                Err(error) => {
                    self.refused = (self.refused.0 + 1, Some(error.to_string()));
                    residuals.push(vec![f64::NAN; count]);
                }
            }
        }
        residuals
    }

    /// Values at a point that was measured.
    fn values(&self, point: &[f64]) -> Vec<Vec<f64>> {
        self.seen.iter().find(|(seen, _)| seen == point).map(|(_, values)| values.clone()).unwrap_or_default()
    }
}

/// Carries out a calibration. `heard` hears the number of chips measured so far, and of the bench that has just ended.
///
/// # Errors
///
/// The chip is wrong before anything has moved, or a bench cannot run on it.
pub fn calibrate(task: &Task, heard: &(dyn Fn(usize, &str) + Sync)) -> Result<Calibration, LabError> {
    let mut measured = Measured { task, heard, seen: Vec::new(), chips: 0, refused: (0, None) };
    let start = vec![0.0; task.parameters.free.len()];
    let before = measured.at(std::slice::from_ref(&start)).swap_remove(0)?;
    let now = task.questions.residuals(&before);
    measured.seen.push((start.clone(), before.clone()));
    let scales = vec![SCALE; start.len()];
    let reach = libm::log1p(task.step) / SCALE;
    let search = Search { outlier: OUTLIER, rounds: task.iterations, tolerance: TOLERANCE, reach, damping: DAMPING, ridge: RIDGE };
    // The start was measured; a search begins with it.
    let mut residuals = |points: &[Vec<f64>]| match points {
        [only] if *only == start => vec![now.clone()],
        _ => measured.residuals(points, now.len()),
    };
    let (to, columns, steps) = if task.iterations == 0 {
        (start.clone(), jacobian(&start, &scales, reach, &now, &mut residuals), 0)
    } else {
        let found = solve(&start, &scales, search, &mut residuals);
        (found.parameters, found.columns, found.rounds)
    };
    let after = measured.values(&to);
    let moved = task.parameters.free.iter().cloned().zip(to).map(|(parameter, to)| Moved { parameter, to }).collect();
    Ok(Calibration { moved, before, after, columns, steps, chips: measured.chips, refused: measured.refused })
}
