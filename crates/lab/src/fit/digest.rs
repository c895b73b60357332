//! Digest of histograms for the comparison with a model: the quantiles of each state, and the share of misread cells.
//!
//! The wordlines of an h-layer are pooled: they differ by less than counting noise. All positions are in steps of [`Axis`](super::Axis).

use super::histograms::Histograms;

/// Shares of a state's cells that lie below the points compared: the body, and both tails as far as counts carry.
pub const LEVELS: [f64; 11] = [1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999];

/// The states of one layer under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// For each state, the position at which each of [`LEVELS`] is reached.
    pub quantiles: Vec<[f64; LEVELS.len()]>,
    /// For each boundary, lowest first: share of cells on its wrong side at the best step, of the cells of both states.
    pub misread: Vec<f64>,
    /// For each boundary, the best threshold.
    pub thresholds: Vec<f64>,
}

/// The layers under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// P/E cycles.
    pub pe: u32,
    /// Retention index.
    pub retention: u8,
    /// Layers under the condition, topmost first.
    pub layers: Vec<Layer>,
}

/// The digest of a file of histograms.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// Number of programmed states.
    pub states: usize,
    /// Conditions of the file: P/E counts rising, and within them retentions.
    pub conditions: Vec<Condition>,
    /// The thresholds at which misreads were counted: the edges of steps.
    pub edges: Vec<f64>,
}

impl Digest {
    /// The digest of `histograms`; `None` if wordlines do not fill whole layers of `per_layer`.
    pub fn of(histograms: &Histograms, per_layer: usize) -> Option<Digest> {
        let count = histograms.wordlines.len();
        if per_layer == 0 || !count.is_multiple_of(per_layer) {
            return None;
        }
        let grid = Grid::of(histograms);
        let conditions = (0..histograms.pe.len()).flat_map(|pe| (0..histograms.retentions.len()).map(move |retention| (pe, retention)));
        let conditions = conditions.map(|(pe, retention)| Condition {
            pe: histograms.pe[pe],
            retention: histograms.retentions[retention],
            layers: (0..count / per_layer)
                .map(|layer| grid.layer(histograms, pe, retention, layer * per_layer..(layer + 1) * per_layer))
                .collect(),
        });
        Some(Digest { states: histograms.states, conditions: conditions.collect(), edges: grid.edges.clone() })
    }

    /// P/E counts of the file, rising.
    pub fn pe(&self) -> Vec<u32> {
        let mut pe: Vec<u32> = self.conditions.iter().map(|condition| condition.pe).collect();
        pe.dedup();
        pe
    }

    /// Retention indices of the file, rising.
    pub fn retentions(&self) -> Vec<u8> {
        let mut retentions: Vec<u8> = self.conditions.iter().map(|condition| condition.retention).collect();
        retentions.sort_unstable();
        retentions.dedup();
        retentions
    }

    /// Number of layers of the block.
    pub fn layers(&self) -> usize {
        self.conditions.first().map_or(0, |condition| condition.layers.len())
    }
}

impl Condition {
    /// Mean quantiles of a state over the layers.
    pub fn mean_quantiles(&self, state: usize) -> [f64; LEVELS.len()] {
        std::array::from_fn(|level| self.layers.iter().map(|layer| layer.quantiles[state][level]).sum::<f64>() / self.layers.len() as f64)
    }
}

/// The bins of a file: positions of their middles, by label.
struct Grid {
    /// Labels of the bins, from the lowest to the highest that were measured.
    labels: Vec<u16>,
    /// The lower edge of each bin, and the upper edge of the last.
    edges: Vec<f64>,
}

impl Grid {
    fn of(histograms: &Histograms) -> Grid {
        let all = (0..histograms.len()).map(|index| histograms.nth(index));
        let (mut low, mut high) = (u16::MAX, 0);
        for curve in all {
            if let (Some(first), Some(last)) = (curve.bins.first(), curve.bins.last()) {
                (low, high) = (low.min(first.0), high.max(last.0));
            }
        }
        let labels: Vec<u16> = (low..=high).filter(|label| !histograms.axis.skipped.contains(label)).collect();
        let mut edges: Vec<f64> = labels.iter().map(|&label| histograms.axis.position(label) - 0.5).collect();
        edges.push(histograms.axis.position(high) + 0.5);
        Grid { labels, edges }
    }

    fn layer(&self, histograms: &Histograms, pe: usize, retention: usize, wordlines: std::ops::Range<usize>) -> Layer {
        let pooled: Vec<Vec<f64>> = (0..histograms.states)
            .map(|state| {
                let mut counts = vec![0.0; self.labels.len()];
                for wordline in wordlines.clone() {
                    for &(label, count) in &histograms.curve(pe, retention, wordline, state).bins {
                        if let Ok(bin) = self.labels.binary_search(&label) {
                            counts[bin] += f64::from(count);
                        }
                    }
                }
                self.bridge(histograms, &mut counts);
                // How many lie below each edge.
                let mut below = vec![0.0; counts.len() + 1];
                for (bin, count) in counts.iter().enumerate() {
                    below[bin + 1] = below[bin] + count;
                }
                below
            })
            .collect();
        let quantiles = pooled.iter().map(|below| LEVELS.map(|level| self.quantile(below, level))).collect();
        let (mut misread, mut thresholds) = (Vec::new(), Vec::new());
        for pair in pooled.windows(2) {
            let total = pair[0][self.labels.len()] + pair[1][self.labels.len()];
            let wrong = |edge: usize| pair[0][self.labels.len()] - pair[0][edge] + pair[1][edge];
            let best = (0..self.edges.len()).min_by(|&a, &b| wrong(a).total_cmp(&wrong(b))).unwrap_or(0);
            misread.push(wrong(best) / total);
            thresholds.push(self.edges[best]);
        }
        Layer { quantiles, misread, thresholds }
    }

    /// Fills a step that was not measured with the geometric mean of its neighbours.
    fn bridge(&self, histograms: &Histograms, counts: &mut [f64]) {
        for label in &histograms.axis.unmeasured {
            if let Ok(bin) = self.labels.binary_search(label) {
                counts[bin] = (counts[bin - 1] * counts[bin + 1]).sqrt();
            }
        }
    }

    /// The position below which the share `level` lies: between two edges, even in the logarithm of the nearer tail.
    fn quantile(&self, below: &[f64], level: f64) -> f64 {
        let total = below[below.len() - 1];
        let (wanted, from_above) = if level <= 0.5 { (level * total, false) } else { ((1.0 - level) * total, true) };
        let tail = |edge: usize| if from_above { total - below[edge] } else { below[edge] };
        // The last edge on the near side of the quantile, seen from the middle outwards.
        let upper = (1..below.len()).find(|&edge| below[edge] >= level * total).unwrap_or(below.len() - 1);
        let (inner, outer) = (tail(upper - 1), tail(upper));
        let (a, b) = (inner.max(0.25), outer.max(0.25));
        let wanted = wanted.max(0.25);
        let share = if (a - b).abs() < 1e-12 { 0.5 } else { libm::log(wanted / a) / libm::log(b / a) };
        self.edges[upper - 1] + share.clamp(0.0, 1.0) * (self.edges[upper] - self.edges[upper - 1])
    }
}
