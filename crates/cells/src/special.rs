//! Tails of the normal distribution and of its sums with a uniform and with an exponential one.

use core::f64::consts::PI;

/// Density of the standard normal distribution.
pub fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt()
}

/// Probability that a standard normal draw is above `z`.
pub fn tail(z: f64) -> f64 {
    let near = bell(z) * ratio(z.abs());
    if z < 0.0 { 1.0 - near } else { near }
}

/// The bell curve without its factor: `exp(−½z²)`.
fn bell(z: f64) -> f64 {
    libm::exp(-0.5 * z * z)
}

/// The ratio `tail(z) / exp(−½z²)` for `z` of zero or more: the rational approximation of Hart (1968) as West (2005) gives it, good to eight digits of the
/// tail itself.
fn ratio(z: f64) -> f64 {
    if z > 7.071_067_811_865_475 {
        let fraction = z + 1.0 / (z + 2.0 / (z + 3.0 / (z + 4.0 / (z + 0.65))));
        return 1.0 / (fraction * (2.0 * PI).sqrt());
    }
    const ABOVE: [f64; 7] = [
        3.526_249_659_989_11e-2,
        0.700_383_064_443_688,
        6.373_962_203_531_65,
        33.912_866_078_383,
        112.079_291_497_871,
        221.213_596_169_931,
        220.206_867_912_376,
    ];
    const BELOW: [f64; 8] = [
        8.838_834_764_831_84e-2,
        1.755_667_163_182_64,
        16.064_177_579_207,
        86.780_732_202_946_1,
        296.564_248_779_674,
        637.333_633_378_831,
        793.826_512_519_948,
        440.413_735_824_752,
    ];
    ABOVE.iter().fold(0.0, |sum, c| sum * z + c) / BELOW.iter().fold(0.0, |sum, c| sum * z + c)
}

/// The integral of [`tail`] from `z` to infinity.
fn tail_integral(z: f64) -> f64 {
    let (e, r) = (bell(z), ratio(z.abs()));
    let beyond = e * (1.0 / (2.0 * PI).sqrt() - z.abs() * r);
    // The integral over the lower half is that over the upper, and the way between.
    if z < 0.0 { beyond - z } else { beyond }
}

/// Probability that `x + w·u` is above `z`, with `x` standard normal and `u` uniform between 0 and 1; `w` is not negative.
pub fn tail_uniform(z: f64, w: f64) -> f64 {
    // Below this width the difference of two integrals would lose more digits than the uniform part adds.
    if w < 1e-3 {
        return tail(z - 0.5 * w);
    }
    ((tail_integral(z - w) - tail_integral(z)) / w).clamp(0.0, 1.0)
}

/// Probability that `x + e` is above `z`, with `x` standard normal and `e` exponential of mean `1 / rate`.
pub fn tail_exponential(z: f64, rate: f64) -> f64 {
    let (above, _) = tail_both(z, rate, rate);
    above
}

/// Probabilities that `x + e` and that `x − f` are above `z`, with `x` standard normal and `e`, `f` exponential of means `1 / up` and `1 / down`.
pub fn tail_both(z: f64, up: f64, down: f64) -> (f64, f64) {
    let e = bell(z);
    // exp(½a² − z·a)·tail(a − z), written so that neither factor overflows: exp(−½z²) is common to both.
    let shifted = |apart: f64| {
        if apart >= 0.0 { e * ratio(apart) } else { libm::exp(0.5 * (apart * apart - z * z)) - e * ratio(-apart) }
    };
    let own = if z < 0.0 { 1.0 - e * ratio(-z) } else { e * ratio(z) };
    ((own + shifted(up - z)).clamp(0.0, 1.0), (own - shifted(down + z)).clamp(0.0, 1.0))
}

/// The `z` above which a standard normal draw lies with probability `p`: the inverse of [`tail`]. `p` is between 0 and 1, both excluded.
pub fn tail_inverse(p: f64) -> f64 {
    let z = tail_inverse_roughly(p);
    // One step of Halley's method.
    let error = (tail(z) - p) / density(z);
    z + error / (1.0 - 0.5 * z * error)
}

/// [`tail_inverse`] to nine digits: Acklam's rational approximation.
pub fn tail_inverse_roughly(p: f64) -> f64 {
    debug_assert!(p > 0.0 && p < 1.0, "no draw is above its quantile with probability {p}");
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] =
        [-5.447_609_879_822_406e1, 1.615_858_368_580_409e2, -1.556_989_798_598_866e2, 6.680_131_188_771_972e1, -1.328_068_155_288_572e1];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
    const LOW: f64 = 0.024_25;
    let poly = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, k| sum * x + k);
    let side = |p: f64| {
        let q = (-2.0 * libm::log(p)).sqrt();
        poly(&C, q) / (poly(&D, q) * q + 1.0)
    };
    // The lower quantile of p, then the sign turned.
    let lower = if p < LOW {
        side(p)
    } else if p > 1.0 - LOW {
        -side(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        poly(&A, r) * q / (poly(&B, r) * r + 1.0)
    };
    -lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_tables_and_with_each_other() {
        assert!((tail(1.959_963_984_540_054) - 0.025).abs() < 1e-15);
        for p in [1e-12, 1e-6, 1e-3, 0.02, 0.3, 0.5, 0.9, 0.999] {
            assert!((tail(tail_inverse(p)) / p - 1.0).abs() < 1e-9, "{p}");
        }
        for z in [-9.0, -3.0, -0.1, 0.0, 0.7, 2.0, 5.0, 7.0, 7.1, 12.0, 20.0] {
            let known = 0.5 * libm::erfc(z * core::f64::consts::FRAC_1_SQRT_2);
            assert!((tail(z) / known - 1.0).abs() < 1e-8, "{z}: {} {known}", tail(z));
        }
        for z in [-3.0, 0.0, 2.0, 5.0] {
            assert!((tail_uniform(z, 1e-4) / tail(z - 0.5e-4) - 1.0).abs() < 1e-6);
            assert!((tail_exponential(z, 1e3) / tail(z - 1e-3) - 1.0).abs() < 1e-4, "a short exponential is a shift by its mean");
        }
    }

    #[test]
    fn sums_agree_with_numerical_integration() {
        for z in [-2.0, 0.5, 3.0, 5.0] {
            let n = 20_000;
            let uniform = (0..n).map(|i| tail(z - 2.3 * (f64::from(i) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n);
            assert!((tail_uniform(z, 2.3) / uniform - 1.0).abs() < 1e-6, "{z}");
            let exponential = (0..n).map(|i| tail(z + libm::log1p(-(f64::from(i) + 0.5) / f64::from(n)) / 1.7)).sum::<f64>() / f64::from(n);
            assert!((tail_exponential(z, 1.7) / exponential - 1.0).abs() < 1e-3, "{z}");
        }
    }
}
