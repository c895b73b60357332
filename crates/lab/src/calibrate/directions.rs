//! Directions of parameters and what residuals determine of them: singular values of a Jacobian.
//!
//! One-sided Jacobi rotations: G. H. Golub, C. F. Van Loan: Matrix Computations, 4th edition, §8.6.3.

/// A direction of parameters: a unit vector, and the change of all residuals by one step along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// Singular value: length of the change of the residuals by one step along the direction.
    pub size: f64,
    /// Part of each parameter in the direction.
    pub parts: Vec<f64>,
}

/// Sweeps over all pairs of columns, of which ten are usual.
const SWEEPS: u32 = 60;

/// The directions of a Jacobian, which is given by its columns, in falling order of their sizes.
pub fn directions(columns: &[Vec<f64>]) -> Vec<Direction> {
    let count = columns.len();
    let mut turned = columns.to_vec();
    let mut parts: Vec<Vec<f64>> = (0..count).map(|which| (0..count).map(|other| f64::from(u8::from(which == other))).collect()).collect();
    for _ in 0..SWEEPS {
        let mut is_turned = false;
        for first in 0..count {
            for second in first + 1..count {
                if let Some((cosine, sine)) = rotation(&turned[first], &turned[second]) {
                    rotate(&mut turned, [first, second], cosine, sine);
                    rotate(&mut parts, [first, second], cosine, sine);
                    is_turned = true;
                }
            }
        }
        if !is_turned {
            break;
        }
    }
    let mut found: Vec<Direction> =
        turned.iter().zip(parts).map(|(column, parts)| Direction { size: product(column, column).sqrt(), parts }).collect();
    found.sort_by(|a, b| b.size.total_cmp(&a.size));
    found
}

/// The rotation after which two columns stand at right angles; `None` where they do.
fn rotation(first: &[f64], second: &[f64]) -> Option<(f64, f64)> {
    const RIGHT: f64 = 1e-12;
    let (one, two, both) = (product(first, first), product(second, second), product(first, second));
    if both.abs() <= RIGHT * (one * two).sqrt() {
        return None;
    }
    let ratio = (two - one) / (2.0 * both);
    let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    Some((cosine, cosine * tangent))
}

fn rotate(columns: &mut [Vec<f64>], [first, second]: [usize; 2], cosine: f64, sine: f64) {
    let (head, tail) = columns.split_at_mut(second);
    for (a, b) in head[first].iter_mut().zip(&mut tail[0]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_residual_sees_is_the_last_direction() {
        // Residuals see the sum of two parameters, a third, and nothing of a fourth.
        let columns = [vec![3.0, 0.0, 4.0], vec![3.0, 0.0, 4.0], vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 0.0]];
        let found = directions(&columns);
        let sizes: Vec<f64> = found.iter().map(|direction| direction.size).collect();
        assert!((sizes[0] - 50f64.sqrt()).abs() < 1e-9 && (sizes[1] - 2.0).abs() < 1e-9, "{sizes:?}");
        assert!(sizes[2] < 1e-9 && sizes[3] < 1e-9, "{sizes:?}");
        let weak = found.iter().filter(|direction| direction.size < 1e-9);
        let (difference, unseen): (Vec<_>, Vec<_>) = weak.partition(|direction| direction.parts[3].abs() < 0.5);
        assert!((difference[0].parts[0] + difference[0].parts[1]).abs() < 1e-9 && difference[0].parts[0].abs() > 0.7, "{difference:?}");
        assert!((unseen[0].parts[3].abs() - 1.0).abs() < 1e-9, "{unseen:?}");
    }

    #[test]
    fn directions_are_unit_vectors_that_give_the_columns_back() {
        let columns: Vec<Vec<f64>> = (0..5).map(|c| (0..7).map(|r| f64::from((c * 7 + r) * (c + 3) % 11) - 4.0).collect()).collect();
        let found = directions(&columns);
        for (which, one) in found.iter().enumerate() {
            let image: Vec<f64> = (0..7).map(|row| columns.iter().zip(&one.parts).map(|(column, part)| column[row] * part).sum()).collect();
            assert!((product(&image, &image).sqrt() - one.size).abs() < 1e-9, "{which}");
            assert!((product(&one.parts, &one.parts) - 1.0).abs() < 1e-9, "{which}");
            assert!(found[which + 1..].iter().all(|other| product(&one.parts, &other.parts).abs() < 1e-9), "{which}");
        }
    }
}
