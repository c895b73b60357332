//! Judgement of a fitted chip by the measurements, condition by condition.

use wordline_cells::Wordline;
use wordline_cells::special::tail_inverse;

use super::digest::{Condition, Digest, LEVELS};
use super::parameters::Subject;
use super::predict::{Predictor, Voltage};

/// Measured and predicted values of one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// P/E cycles.
    pub pe: u32,
    /// Retention index.
    pub retention: u8,
    /// True if the condition was held out of the fit.
    pub held_out: bool,
    /// For each state: predicted quantiles minus measured ones of the mean layer, in steps.
    pub residuals: Vec<[f64; LEVELS.len()]>,
    /// For each boundary between programmed states, lowest first: share of the cells of both that are misread at the best step, over all layers.
    pub measured: Vec<f64>,
    /// Predicted shares of misread cells, laid out as `measured`.
    pub predicted: Vec<f64>,
    /// For each layer: misreads of all boundaries, measured and predicted.
    pub layers: Vec<(f64, f64)>,
}

/// Judges every condition of a file.
///
/// `None`: the subject makes no chip.
pub fn judge(digest: &Digest, subject: &Subject, voltage: Voltage, held_out: &dyn Fn(u32) -> bool) -> Option<Vec<Verdict>> {
    let predictor = Predictor::new(subject)?;
    let retentions = digest.retentions();
    let place = |retention: u8| retentions.iter().position(|&known| known == retention).unwrap_or(0);
    let verdict = |condition: &Condition| {
        let place = place(condition.retention);
        let typical = predictor.typical(condition.pe, place);
        let residuals = (0..digest.states).map(|state| {
            let measured = condition.mean_quantiles(state);
            let predicted = LEVELS.map(|level| quantile(&typical, state, level, voltage));
            std::array::from_fn(|level| predicted[level] - measured[level])
        });
        let boundaries = digest.states - 1;
        let mut sums = vec![(0.0, 0.0); boundaries];
        let layers: Vec<(f64, f64)> = condition
            .layers
            .iter()
            .enumerate()
            .map(|(number, layer)| {
                let wordline = predictor.layer(number, condition.pe, place);
                let mut whole = (0.0, 0.0);
                for (boundary, sum) in sums.iter_mut().enumerate() {
                    let predicted = misread(&wordline, boundary, &digest.edges, voltage);
                    *sum = (sum.0 + layer.misread[boundary], sum.1 + predicted);
                    whole = (whole.0 + layer.misread[boundary], whole.1 + predicted);
                }
                whole
            })
            .collect();
        let count = layers.len() as f64;
        Verdict {
            pe: condition.pe,
            retention: condition.retention,
            held_out: held_out(condition.pe),
            residuals: residuals.collect(),
            measured: sums.iter().map(|sum| sum.0 / count).collect(),
            predicted: sums.iter().map(|sum| sum.1 / count).collect(),
            layers,
        }
    };
    Some(digest.conditions.iter().map(verdict).collect())
}

/// The position in steps below which the share `level` of a state's cells lies.
fn quantile(wordline: &Wordline, state: usize, level: f64, voltage: Voltage) -> f64 {
    let state = &wordline.states[state + 1];
    let (mut low, mut high) = (state.mean() - 40.0 * state.deviation(), state.mean() + 40.0 * state.deviation());
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let below = if level < 0.5 { state.below(middle) < level } else { state.above(middle) > 1.0 - level };
        if below { low = middle } else { high = middle }
    }
    (0.5 * (low + high) - voltage.zero) / voltage.step
}

/// Misreads at the best of the measured edges, of the cells of both states. Boundary 0 is that between P1 and P2.
pub(super) fn misread(wordline: &Wordline, boundary: usize, edges: &[f64], voltage: Voltage) -> f64 {
    let (lower, upper) = (&wordline.states[boundary + 1], &wordline.states[boundary + 2]);
    let (low, high) = (lower.mean(), upper.mean());
    let between = edges.iter().map(|&edge| voltage.of(edge)).filter(|edge| (low..high).contains(edge));
    between.map(|edge| 0.5 * (lower.above(edge) + upper.below(edge))).fold(0.5, f64::min)
}

/// Summary of many verdicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of conditions.
    pub conditions: usize,
    /// Root mean square of the medians' residuals, in steps.
    pub median_rms: f64,
    /// Root mean square of the residuals of the width from 5 % to 95 %, in steps.
    pub width_rms: f64,
    /// Root mean square of the residuals of the quantiles at 0.1 % and 99.9 %, in steps.
    pub tail_rms: f64,
    /// For each boundary: misreads predicted over measured, as a geometric mean over the conditions.
    pub ratios: Vec<f64>,
    /// Lowest and highest ratio of predicted to measured misreads of a boundary in one condition.
    pub range: (f64, f64),
    /// Typical factor between predicted and measured misreads of a boundary in one condition: e to the root mean square of its logarithm.
    pub factor: f64,
}

impl Summary {
    /// Summary of `verdicts`; all zero if there are none.
    pub fn of<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Summary {
        let mut summary = Summary { range: (f64::INFINITY, 0.0), ..Summary::default() };
        let (mut squares, mut counts, mut logs, mut log_squares) = ([0.0; 3], [0.0; 3], Vec::new(), 0.0);
        for verdict in verdicts {
            summary.conditions += 1;
            for residual in &verdict.residuals {
                let middle = LEVELS.len() / 2;
                let mut add = |kind: usize, value: f64| {
                    squares[kind] += value * value;
                    counts[kind] += 1.0;
                };
                add(0, residual[middle]);
                add(1, residual[middle + 2] - residual[middle - 2]);
                add(2, residual[1]);
                add(2, residual[LEVELS.len() - 2]);
            }
            logs.resize(verdict.measured.len(), 0.0);
            for (log, (measured, predicted)) in logs.iter_mut().zip(verdict.measured.iter().zip(&verdict.predicted)) {
                let ratio = predicted / measured.max(1e-9);
                summary.range = (summary.range.0.min(ratio), summary.range.1.max(ratio));
                *log += libm::log(ratio);
                log_squares += libm::log(ratio) * libm::log(ratio);
            }
        }
        let rms = |kind: usize| if counts[kind] > 0.0 { (squares[kind] / counts[kind]).sqrt() } else { 0.0 };
        (summary.median_rms, summary.width_rms, summary.tail_rms) = (rms(0), rms(1), rms(2));
        let count = summary.conditions.max(1) as f64;
        summary.factor = libm::exp((log_squares / (count * logs.len().max(1) as f64)).sqrt());
        summary.ratios = logs.iter().map(|log| libm::exp(log / count)).collect();
        summary
    }
}

/// Agreement of the layers' errors: correlation over the layers of measured and predicted misreads, and worst over best layer of both.
pub fn layer_agreement(verdicts: &[Verdict]) -> (f64, f64, f64) {
    let layers = verdicts.first().map_or(0, |verdict| verdict.layers.len());
    // Relative to the condition's mean, so that worn conditions do not outweigh fresh ones.
    let sums: Vec<(f64, f64)> = (0..layers)
        .map(|layer| {
            verdicts.iter().fold((0.0, 0.0), |sum, verdict| {
                let mean = |of: fn(&(f64, f64)) -> f64| verdict.layers.iter().map(of).sum::<f64>() / layers as f64;
                (sum.0 + verdict.layers[layer].0 / mean(|pair| pair.0), sum.1 + verdict.layers[layer].1 / mean(|pair| pair.1))
            })
        })
        .collect();
    let mean = |of: fn(&(f64, f64)) -> f64| sums.iter().map(of).sum::<f64>() / layers.max(1) as f64;
    let (measured, predicted) = (mean(|sum| sum.0), mean(|sum| sum.1));
    let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
    for sum in &sums {
        both += (sum.0 - measured) * (sum.1 - predicted);
        one += (sum.0 - measured) * (sum.0 - measured);
        other += (sum.1 - predicted) * (sum.1 - predicted);
    }
    let spread = |of: fn(&(f64, f64)) -> f64| {
        let (low, high) = sums.iter().map(of).fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), sum| (low.min(sum), high.max(sum)));
        high / low
    };
    (both / (one * other).sqrt().max(1e-300), spread(|sum| sum.0), spread(|sum| sum.1))
}

/// Normal deviate of a share, for the axes of figures.
pub fn deviate(level: f64) -> f64 {
    tail_inverse(1.0 - level)
}
