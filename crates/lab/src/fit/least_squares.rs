//! Robust least squares: Levenberg–Marquardt with a numeric Jacobian and Huber's weights, for a few dozen parameters.
//!
//! K. Madsen, H. B. Nielsen, O. Tingleff: Methods for Non-Linear Least Squares Problems, 2004, §3.2 (damping) and §2.1; P. J. Huber 1964 (weights).

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The parameters found.
    pub parameters: Vec<f64>,
    /// Root mean square of the residuals at the parameters found.
    pub rms: f64,
    /// Number of steps taken.
    pub rounds: u32,
    /// Change of the residuals by each parameter's scale, as measured before the last step: a column for each parameter.
    pub columns: Vec<Vec<f64>>,
}

/// The residuals of several sets of parameters at once, so that a caller may spread them over threads.
pub type Residuals<'r> = dyn FnMut(&[Vec<f64>]) -> Vec<Vec<f64>> + 'r;

/// Settings of a search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Residual beyond which residuals count by their size, not by their square.
    pub outlier: f64,
    /// Largest number of steps.
    pub rounds: u32,
    /// Relative improvement of the cost below which the search stops.
    pub tolerance: f64,
    /// Distance at which slopes are measured, in scales.
    pub reach: f64,
    /// Damping of the first step, as a share of the curvature.
    pub damping: f64,
    /// Curvature added to each parameter, so that steps along directions that residuals hardly see stay short.
    pub ridge: f64,
}

/// Finds parameters that make the residuals small, from `start`. `scales`: the size of a usual change of each parameter.
///
/// Residuals that are no numbers are read as very large, so a set of parameters can be refused.
pub fn solve(start: &[f64], scales: &[f64], search: Search, residuals: &mut Residuals<'_>) -> Solution {
    let mut at = start.to_vec();
    let mut now = one(&at, residuals);
    let mut cost = cost_of(&now, search.outlier);
    let mut damping = search.damping;
    let mut rounds = 0;
    let mut columns = Vec::new();
    while rounds < search.rounds {
        rounds += 1;
        columns = jacobian(&at, scales, search.reach, &now, residuals);
        let (normal, gradient) = normal_equations(&columns, &now, search.outlier);
        let mut better = None;
        for _ in 0..12 {
            let Some(step) = damped_step(&normal, &gradient, damping, search.ridge) else {
                damping *= 8.0;
                continue;
            };
            let next: Vec<f64> = at.iter().zip(&step).zip(scales).map(|((at, step), scale)| at + step * scale).collect();
            let then = one(&next, residuals);
            let then_cost = cost_of(&then, search.outlier);
            if then_cost < cost {
                better = Some((next, then, then_cost));
                damping = (damping / 5.0).max(1e-12);
                break;
            }
            damping *= 4.0;
        }
        let Some((next, then, then_cost)) = better else { break };
        let gain = (cost - then_cost) / cost.max(f64::MIN_POSITIVE);
        (at, now, cost) = (next, then, then_cost);
        if gain < search.tolerance {
            break;
        }
    }
    let rms = (now.iter().map(|residual| residual * residual).sum::<f64>() / now.len().max(1) as f64).sqrt();
    Solution { parameters: at, rms, rounds, columns }
}

/// The residuals of one set of parameters.
fn one(at: &[f64], residuals: &mut Residuals<'_>) -> Vec<f64> {
    residuals(&[at.to_vec()]).swap_remove(0)
}

/// The cost of residuals by Huber.
fn cost_of(residuals: &[f64], outlier: f64) -> f64 {
    let sum: f64 = residuals
        .iter()
        .map(|residual| residual.abs())
        .map(|size| if size <= outlier { size * size / 2.0 } else { outlier * (size - outlier / 2.0) })
        .sum();
    if sum.is_finite() { sum } else { f64::MAX }
}

/// The change of the residuals `now` when each parameter moves by its scale, measured at `reach` of it: a column for each parameter. A column is zero where
/// the parameter can move to neither side.
pub fn jacobian(at: &[f64], scales: &[f64], reach: f64, now: &[f64], residuals: &mut Residuals<'_>) -> Vec<Vec<f64>> {
    let mut slopes = |indices: &[usize], sign: f64| -> Vec<Option<Vec<f64>>> {
        let moved = |&index: &usize| {
            let mut moved = at.to_vec();
            moved[index] += sign * reach * scales[index];
            moved
        };
        let sets: Vec<Vec<f64>> = indices.iter().map(moved).collect();
        let slope = |there: &Vec<f64>| {
            let slope: Vec<f64> = there.iter().zip(now).map(|(there, now)| sign * (there - now) / reach).collect();
            slope.iter().all(|slope| slope.is_finite()).then_some(slope)
        };
        residuals(&sets).iter().map(slope).collect()
    };
    let mut columns = slopes(&(0..at.len()).collect::<Vec<_>>(), 1.0);
    // At the edge of what is allowed, look to the other side.
    let refused: Vec<usize> = (0..at.len()).filter(|&index| columns[index].is_none()).collect();
    if !refused.is_empty() {
        refused.iter().zip(slopes(&refused, -1.0)).for_each(|(&index, slope)| columns[index] = slope);
    }
    columns.into_iter().map(|column| column.unwrap_or_else(|| vec![0.0; now.len()])).collect()
}

fn normal_equations(columns: &[Vec<f64>], now: &[f64], outlier: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let weights: Vec<f64> = now.iter().map(|residual| if residual.abs() <= outlier { 1.0 } else { outlier / residual.abs() }).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(&weights).map(|((a, b), weight)| a * b * weight).sum::<f64>();
    let normal = columns.iter().map(|a| columns.iter().map(|b| product(a, b)).collect()).collect();
    let gradient = columns.iter().map(|a| product(a, now)).collect();
    (normal, gradient)
}

/// The step that solves `(N + damping · diag N + ridge) step = −gradient`, by Cholesky's factors.
fn damped_step(normal: &[Vec<f64>], gradient: &[f64], damping: f64, ridge: f64) -> Option<Vec<f64>> {
    let count = gradient.len();
    let mut factor = vec![vec![0.0; count]; count];
    for row in 0..count {
        for column in 0..=row {
            let mut sum = normal[row][column];
            if row == column {
                // A parameter that nothing depends on stays where it is.
                sum += damping * normal[row][row] + ridge;
            }
            sum -= (0..column).map(|inner| factor[row][inner] * factor[column][inner]).sum::<f64>();
            factor[row][column] = if row == column {
                if sum <= 0.0 {
                    return None;
                }
                sum.sqrt()
            } else {
                sum / factor[column][column]
            };
        }
    }
    let mut half = vec![0.0; count];
    for row in 0..count {
        let known: f64 = (0..row).map(|inner| factor[row][inner] * half[inner]).sum();
        half[row] = (-gradient[row] - known) / factor[row][row];
    }
    let mut step = vec![0.0; count];
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|inner| factor[inner][row] * step[inner]).sum();
        step[row] = (half[row] - known) / factor[row][row];
    }
    step.iter().all(|part| part.is_finite()).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search = Search { outlier: 1.0, rounds: 100, tolerance: 1e-10, reach: 1e-3, damping: 1e-3, ridge: 1e-12 };

    fn each(of: impl Fn(&[f64]) -> Vec<f64>) -> impl FnMut(&[Vec<f64>]) -> Vec<Vec<f64>> {
        move |sets| sets.iter().map(|set| of(set)).collect()
    }

    #[test]
    fn the_valley_of_rosenbrock_is_walked_to_its_end() {
        let mut residuals = each(|p| vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]]);
        let search = Search { outlier: 1e9, ..SEARCH };
        let found = solve(&[-1.2, 1.0], &[1.0, 1.0], search, &mut residuals);
        assert!(found.parameters.iter().all(|p| (p - 1.0).abs() < 1e-4), "{found:?}");
    }

    #[test]
    fn an_outlier_does_not_move_a_line_much() {
        let data: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), 3.0 + 0.5 * f64::from(i) + if i == 7 { 100.0 } else { 0.0 })).collect();
        let mut residuals = each(|p| data.iter().map(|(x, y)| p[0] + p[1] * x - y).collect());
        let robust = solve(&[0.0, 0.0], &[1.0, 1.0], Search { outlier: 0.1, ..SEARCH }, &mut residuals);
        assert!((robust.parameters[0] - 3.0).abs() < 0.05 && (robust.parameters[1] - 0.5).abs() < 0.01, "{robust:?}");
        let plain = solve(&[0.0, 0.0], &[1.0, 1.0], Search { outlier: 1e9, ..SEARCH }, &mut residuals);
        assert!((plain.parameters[0] - 3.0).abs() > 1.0, "the outlier was meant to hurt: {plain:?}");
    }

    #[test]
    fn a_parameter_without_effect_stays() {
        let mut residuals = each(|p| vec![p[0] - 2.0, 2.0 * (p[0] - 2.0)]);
        let found = solve(&[0.0, 7.0], &[1.0, 1.0], SEARCH, &mut residuals);
        assert!((found.parameters[0] - 2.0).abs() < 1e-6 && found.parameters[1] == 7.0, "{found:?}");
    }
    #[test]
    fn a_slope_at_an_edge_is_measured_on_the_other_side() {
        let mut residuals = each(|p| vec![if p[0] > 0.0 { f64::NAN } else { 3.0 * p[0] }, p[1]]);
        let columns = jacobian(&[0.0, 0.0], &[2.0, 1.0], 1e-3, &[0.0, 0.0], &mut residuals);
        assert!((columns[0][0] - 6.0).abs() < 1e-9 && columns[0][1] == 0.0 && (columns[1][1] - 1.0).abs() < 1e-9, "{columns:?}");
        let mut never = each(|p| vec![if p[0] == 0.0 { 0.0 } else { f64::NAN }]);
        assert_eq!(jacobian(&[0.0], &[1.0], 1e-3, &[0.0], &mut never), [[0.0]], "a parameter that cannot move");
    }
    #[test]
    fn a_ridge_keeps_what_residuals_hardly_see_where_it_was() {
        let mut residuals = each(|p| vec![p[0] - 2.0 + 1e-6 * p[1], 3.0]);
        let far = solve(&[0.0, 0.0], &[1.0, 1.0], Search { outlier: 1e9, rounds: 1, damping: 0.1, ..SEARCH }, &mut residuals);
        let near = solve(&[0.0, 0.0], &[1.0, 1.0], Search { outlier: 1e9, rounds: 1, damping: 0.1, ridge: 1e-4, ..SEARCH }, &mut residuals);
        assert!(far.parameters[1].abs() > 1.0 && near.parameters[1].abs() < 0.1, "{far:?} {near:?}");
        assert!((near.parameters[0] - far.parameters[0]).abs() < 0.2, "{far:?} {near:?}");
    }
}
