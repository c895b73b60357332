//! Predictions of misreads that need no model: what a fit has to beat where it claims to predict.
//!
//! Each takes the measured misreads of the other P/E counts, boundary by boundary, at the same retention.

use super::judge::Verdict;
use super::search::Once;

/// A prediction without a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naive {
    /// On the line between the next lower and the next higher count.
    Between,
    /// On the line through the last four counts before.
    Line,
    /// The value of the nearest count.
    Nearest,
}

/// Counts that [`Naive::Line`] is drawn through.
const THROUGH: usize = 4;

impl Naive {
    /// All of them.
    pub const ALL: [Naive; 3] = [Naive::Between, Naive::Line, Naive::Nearest];

    /// Name for a table.
    pub const fn title(self) -> &'static str {
        match self {
            Naive::Between => "between its neighbours",
            Naive::Line => "line through the last four",
            Naive::Nearest => "nearest count",
        }
    }

    /// Typical factor between the misreads that it says for `pe` and those measured there: e to the root mean square of the logarithm. `None`: there are
    /// too few counts on the side that it looks to.
    pub fn factor(self, verdicts: &[Verdict], pe: u32) -> Option<f64> {
        let (mut squares, mut count) = (0.0, 0.0);
        for verdict in verdicts.iter().filter(|verdict| verdict.pe == pe) {
            for (boundary, measured) in verdict.measured.iter().enumerate() {
                let others = verdicts.iter().filter(|other| other.retention == verdict.retention && other.pe != pe);
                let mut known: Vec<(f64, f64)> = others.map(|other| (f64::from(other.pe), other.measured[boundary])).collect();
                known.sort_by(|a, b| a.0.total_cmp(&b.0));
                let log = libm::log(self.of(&known, f64::from(pe))?.max(1e-9) / measured.max(1e-9));
                squares += log * log;
                count += 1.0;
            }
        }
        (count > 0.0).then(|| libm::exp((squares / count).sqrt()))
    }

    /// Value at `pe`, by `known` pairs of count and value, in the order of their counts.
    fn of(self, known: &[(f64, f64)], pe: f64) -> Option<f64> {
        let above = known.partition_point(|&(at, _)| at < pe);
        match self {
            Naive::Between => {
                let ((from, low), (to, high)) = (*known.get(above.checked_sub(1)?)?, *known.get(above)?);
                Some(low + (high - low) * (pe - from) / (to - from))
            }
            Naive::Line => {
                let last = &known[above.checked_sub(THROUGH)?..above];
                let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / THROUGH as f64;
                let (at, value) = (mean(|pair| pair.0), mean(|pair| pair.1));
                let rise = last.iter().map(|pair| (pair.0 - at) * (pair.1 - value)).sum::<f64>();
                let run = last.iter().map(|pair| (pair.0 - at) * (pair.0 - at)).sum::<f64>();
                Some(value + rise / run * (pe - at))
            }
            Naive::Nearest => known.iter().min_by(|a, b| (a.0 - pe).abs().total_cmp(&(b.0 - pe).abs())).map(|pair| pair.1),
        }
    }
}

/// Typical factor between the misreads of a retention index that was seen at one P/E count and what its nearest neighbour among the indices says: the
/// neighbour's misreads at the other counts, times what parts both at the count that was seen. `None`: there is no neighbour, or nothing to compare.
pub fn scaled_neighbour(verdicts: &[Verdict], once: Once) -> Option<f64> {
    let at = |retention: u8, pe: u32| verdicts.iter().find(|verdict| verdict.retention == retention && verdict.pe == pe);
    let seen = at(once.retention, once.pe)?;
    let log = |a: f64, b: f64| libm::log(a.max(1e-9) / b.max(1e-9));
    let apart = |other: &&Verdict| seen.measured.iter().zip(&other.measured).map(|(a, b)| log(*a, *b).abs()).sum::<f64>();
    let others = verdicts.iter().filter(|verdict| verdict.pe == once.pe && verdict.retention != once.retention);
    let neighbour = others.min_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let (mut squares, mut count) = (0.0, 0.0);
    for hidden in verdicts.iter().filter(|verdict| once.hides(verdict.retention, verdict.pe)) {
        let beside = at(neighbour.retention, hidden.pe)?;
        for (boundary, measured) in hidden.measured.iter().enumerate() {
            let by = log(beside.measured[boundary], *measured) + log(seen.measured[boundary], neighbour.measured[boundary]);
            squares += by * by;
            count += 1.0;
        }
    }
    (count > 0.0).then(|| libm::exp((squares / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(of: impl Fn(f64) -> f64) -> Vec<Verdict> {
        let at = |pe: u32| Verdict {
            pe,
            retention: 1,
            held_out: false,
            residuals: Vec::new(),
            measured: vec![of(f64::from(pe)), 2.0 * of(f64::from(pe))],
            predicted: Vec::new(),
            layers: Vec::new(),
        };
        [0, 1000, 2000, 3000, 5000, 6000].map(at).to_vec()
    }

    #[test]
    fn straight_lines_are_met_by_both_lines_and_missed_by_the_nearest_count() {
        let verdicts = verdicts(|pe| 1.0 + pe / 1000.0);
        let of = |naive: Naive, pe: u32| naive.factor(&verdicts, pe);
        assert!(of(Naive::Between, 5000).is_some_and(|factor| (factor - 1.0).abs() < 1e-9));
        assert!(of(Naive::Line, 6000).is_some_and(|factor| (factor - 1.0).abs() < 1e-9));
        assert!(of(Naive::Nearest, 5000).is_some_and(|factor| (factor - 7.0 / 6.0).abs() < 1e-9));
        assert_eq!((of(Naive::Between, 0), of(Naive::Between, 6000), of(Naive::Line, 3000)), (None, None, None));
        assert_eq!(of(Naive::Nearest, 4000), None, "nothing was measured there");
    }

    #[test]
    fn a_retention_that_is_in_proportion_to_another_is_met_by_its_scaled_neighbour() {
        let mut all = verdicts(|pe| 1.0 + pe / 1000.0);
        let longer: Vec<Verdict> = all
            .iter()
            .map(|verdict| Verdict {
                retention: 2,
                measured: verdict.measured.iter().map(|share| 3.0 * share).collect(),
                ..verdict.clone()
            })
            .collect();
        all.extend(longer);
        let once = Once { retention: 2, pe: 3000 };
        assert!(scaled_neighbour(&all, once).is_some_and(|factor| (factor - 1.0).abs() < 1e-9));
        all.iter_mut().filter(|verdict| verdict.retention == 2 && verdict.pe == 6000).for_each(|verdict| verdict.measured[0] *= 2.0);
        assert!(scaled_neighbour(&all, once).is_some_and(|factor| factor > 1.1));
        assert_eq!(scaled_neighbour(&verdicts(|pe| pe), Once { retention: 1, pe: 3000 }), None, "it has no neighbour");
    }

    #[test]
    fn a_line_overshoots_what_saturates() {
        let verdicts = verdicts(|pe| 1.0 + (pe / 1000.0).min(3.0));
        assert!(Naive::Line.factor(&verdicts, 6000).is_some_and(|factor| factor > 1.1));
    }
}
