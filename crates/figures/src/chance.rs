//! How far figures of a few seeds can be told from chance: intervals, and what is left of differences where many of them stand beside each other.

/// The chance that is taken of saying that something differs where nothing does.
pub(crate) const RISK: f64 = 0.05;

/// The mean of the samples and half the width of its 95 % interval; no interval for one sample.
pub(crate) fn interval(samples: &[f64]) -> (f64, Option<f64>) {
    let (mean, error) = mean(samples);
    (mean, error.map(|error| student_t(samples.len() - 1) * error))
}

/// How likely a mean at least as far from nothing is where there is nothing but noise, by Student's t; `None` for one sample.
pub(crate) fn of_no_difference(samples: &[f64]) -> Option<f64> {
    match mean(samples) {
        // The same each time: nothing at all, or no chance.
        (mean, Some(0.0)) => Some(if mean == 0.0 { 1.0 } else { 0.0 }),
        (mean, error) => Some(beyond(libm::fabs(mean / error?), samples.len() - 1)),
    }
}

/// The mean of the samples, and its standard error where there are several.
fn mean(samples: &[f64]) -> (f64, Option<f64>) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    if samples.len() < 2 {
        return (mean, None);
    }
    let variance = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>() / (n - 1.0);
    (mean, Some(libm::sqrt(variance / n)))
}

/// The 97.5th percentile of Student's t.
fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
        2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    // Beyond the table, the first terms of the expansion about the normal distribution are within 1e-4.
    TABLE.get(freedom - 1).copied().unwrap_or_else(|| {
        let z = 1.959_964;
        let (cube, n) = (z * z * z, freedom as f64);
        z + (cube + z) / (4.0 * n) + (5.0 * cube * z * z + 16.0 * cube + 3.0 * z) / (96.0 * n * n)
    })
}

/// The probability that Student's t is further than `t` from nothing, on either side: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn beyond(t: f64, freedom: usize) -> f64 {
    let angle = libm::atan(t / libm::sqrt(freedom as f64));
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    for k in 0..freedom / 2 {
        sum += term;
        let (above, below) = if is_odd { (2 * k + 2, 2 * k + 3) } else { (2 * k + 1, 2 * k + 2) };
        term *= cosine * cosine * above as f64 / below as f64;
    }
    let within = if is_odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    // Cancellation leaves errors of some 1e-16, which may be negative.
    (1.0 - within).max(0.0)
}

/// Which of these chances are too small for all of them together, by Holm's procedure: the least against the risk over their number, the next against the
/// risk over one fewer, and so on to the first that is not.
pub(crate) fn holm(chances: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|one, other| chances[*one].total_cmp(&chances[*other]));
    let mut differs = vec![false; chances.len()];
    for (rank, index) in order.into_iter().enumerate() {
        if chances[index] > RISK / (chances.len() - rank) as f64 {
            break;
        }
        differs[index] = true;
    }
    differs
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::random::{Draw, Stream};

    #[test]
    fn the_interval_is_the_textbook_one() {
        let (mean, half) = interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean - 3.0).abs() < 1e-12);
        // s = 1.5811, s/sqrt(5) = 0.70711, t(4) = 2.7764.
        assert!((half.unwrap() - 1.963_24).abs() < 1e-4);
        assert_eq!(interval(&[7.0]), (7.0, None));
    }

    #[test]
    fn student_t_is_smooth_where_the_table_ends() {
        assert!((student_t(31) - 2.0395).abs() < 2e-3);
        assert!((student_t(1_000) - 1.9623).abs() < 1e-3);
    }

    #[test]
    fn an_interval_that_just_touches_nothing_has_a_chance_of_five_percent() {
        for freedom in (1..=40).chain([200, 1_001]) {
            let p = beyond(student_t(freedom), freedom);
            assert!((p - 0.05).abs() < 2e-5, "{freedom}: {p}");
        }
        // Closed forms: Cauchy's distribution with one degree of freedom, 1 - t/sqrt(2 + t^2) with two.
        assert!((beyond(1.0, 1) - 0.5).abs() < 1e-12);
        assert!((beyond(50.0, 2) - (1.0 - 50.0 / libm::sqrt(2_502.0))).abs() < 1e-12);
        assert!((beyond(0.0, 7) - 1.0).abs() < 1e-12);
        assert_eq!([of_no_difference(&[0.0; 3]), of_no_difference(&[0.1; 2]), of_no_difference(&[0.1])], [Some(1.0), Some(0.0), None]);
    }

    #[test]
    pub(crate) fn holm_compares_each_with_how_many_are_left() {
        // 0.05/4 = 0.0125, 0.05/3 = 0.0167, 0.05/2 = 0.025: the third is above, so the last, though below 0.05, is not looked at.
        assert_eq!(holm(&[0.04, 0.012, 0.03, 0.016]), [false, true, false, true]);
        assert_eq!(holm(&[0.013, 0.9, 0.9, 0.9]), [false; 4]);
        assert_eq!(holm(&[]), [false; 0]);
    }

    /// In how many of a thousand tables of forty figures over five seeds anything, and a figure that does differ, is said to differ.
    fn found(random: &mut Draw, difference: f64) -> (usize, usize, usize) {
        let mut gaussian = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut counts = (0, 0, 0);
        for _ in 0..1_000 {
            let chances: Vec<f64> = (0..40)
                .map(|figure| {
                    let samples: Vec<f64> = (0..5).map(|_| gaussian() + if figure == 0 { difference } else { 0.0 }).collect();
                    of_no_difference(&samples).expect("five samples")
                })
                .collect();
            let differs = holm(&chances);
            counts.0 += usize::from(chances[1..].iter().any(|p| *p <= RISK));
            counts.1 += usize::from(differs[1..].iter().any(|differs| *differs));
            counts.2 += usize::from(differs[0]);
        }
        counts
    }

    #[test]
    fn of_many_tables_in_which_nothing_differs_few_have_a_mark() {
        let mut random = Draw::new(7, Stream::Mix, 0);
        let (by_itself, together, _) = found(&mut random, 0.0);
        // 1 - 0.95^39 = 86 % have an interval that excludes 1, and at most 5 % a mark: three standard deviations are 3.3 and 2.1 %.
        assert!((830..900).contains(&by_itself), "{by_itself}");
        assert!((15..72).contains(&together), "{together}");
        // Twenty times the noise is found all the same.
        let (_, together, differing) = found(&mut random, 20.0);
        assert!(together < 72 && differing > 950, "{together} {differing}");
    }
}
