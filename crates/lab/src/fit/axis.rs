//! The axis of read steps: which labels stand for a step, and which do not.
//!
//! A measurement of all states is stitched together from windows around each of them. At a seam a label can be missing from every curve. Then either a
//! step was not measured there, or there is no such step and the voltages go on without a gap. The shape of the curves on both sides tells which.

use super::curve::Curve;

/// The steps of a file on an even axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Labels at which the axis goes on without a step, rising.
    pub skipped: Vec<u16>,
    /// Labels that stand for a step which was not measured, rising.
    pub unmeasured: Vec<u16>,
}

/// Fewest cells on either side of a seam from which its width can be told.
const FEWEST_CELLS: f64 = 200.0;

impl Axis {
    /// Judges the labels that no curve has. Curves come with the states running fastest.
    pub(super) fn of(curves: &[Curve], states: usize) -> Axis {
        let highest = curves.iter().filter_map(|curve| curve.bins.last()).map(|bin| bin.0).max().unwrap_or(0);
        let mut sums = vec![vec![0.0; usize::from(highest) + 3]; states];
        for (index, curve) in curves.iter().enumerate() {
            for &(step, count) in &curve.bins {
                sums[index % states][usize::from(step)] += f64::from(count);
            }
        }
        let seen = |step: usize| sums.iter().any(|sum| sum[step] > 0.0);
        let first = (0..=usize::from(highest)).find(|&step| seen(step)).unwrap_or(0);
        let mut axis = Axis::default();
        for step in first + 2..usize::from(highest).saturating_sub(1) {
            if seen(step) || !seen(step - 1) || !seen(step + 1) {
                continue;
            }
            match seam_width(&sums, step) {
                Some(width) if width < 1.5 => axis.skipped.push(step as u16),
                Some(_) => axis.unmeasured.push(step as u16),
                // Too few cells: a step where there happened to be none.
                None => {}
            }
        }
        axis
    }

    /// Position of the middle of a step, in steps.
    pub fn position(&self, step: u16) -> f64 {
        f64::from(step) - self.skipped.iter().filter(|&&label| label < step).count() as f64
    }
}

/// Number of steps between the two labels beside `step`: the fall of the counts between them, in terms of the falls just outside.
fn seam_width(sums: &[Vec<f64>], step: usize) -> Option<f64> {
    let (mut across, mut beside) = (0.0, 0.0);
    for sum in sums {
        let around = [sum[step - 2], sum[step - 1], sum[step + 1], sum[step + 2]];
        let weight = around.into_iter().fold(f64::MAX, f64::min);
        if weight < FEWEST_CELLS {
            continue;
        }
        let fall = |from: f64, to: f64| libm::log(from / to);
        let outside = (fall(around[0], around[1]) + fall(around[2], around[3])) / 2.0;
        // Logarithms of counts are as exact as their root.
        across += weight.sqrt() * fall(around[1], around[2]) * outside.signum();
        beside += weight.sqrt() * outside.abs();
    }
    (beside > 0.0).then(|| across / beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bells on an even axis, with `skip` labels left out and `lose` steps not measured.
    fn curves(skip: Option<u16>, lose: Option<u16>) -> Vec<Curve> {
        let bell = |centre: f64| {
            let bins = (1..=40u16).filter(|&step| Some(step) != lose).filter_map(|step| {
                let z = (f64::from(step) - centre) / 2.4;
                let count = 50_000.0 * libm::exp(-z * z / 2.0);
                let label = step + u16::from(skip.is_some_and(|label| label <= step));
                (count >= 1.0).then_some((label, count as f32))
            });
            Curve { bins: bins.collect() }
        };
        vec![bell(10.0), bell(26.6)]
    }

    #[test]
    fn an_axis_without_seams_is_even() {
        assert_eq!(Axis::of(&curves(None, None), 2), Axis::default());
    }

    #[test]
    fn a_label_passed_over_is_told_from_a_step_not_measured() {
        let skipped = Axis::of(&curves(Some(14), None), 2);
        assert_eq!(skipped, Axis { skipped: vec![14], unmeasured: vec![] });
        assert_eq!(skipped.position(13), 13.0);
        assert_eq!(skipped.position(15), 14.0);
        assert_eq!(Axis::of(&curves(None, Some(14)), 2), Axis { skipped: vec![], unmeasured: vec![14] });
    }
}
