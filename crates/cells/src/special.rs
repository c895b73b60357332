//! Tails of the normal distribution and of its sums with a uniform and with an exponential one.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// Density of the standard normal distribution.
pub fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt()
}

/// Probability that a standard normal draw is above `z`.
pub fn tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// The integral of [`tail`] from `z` to infinity.
fn tail_integral(z: f64) -> f64 {
    density(z) - z * tail(z)
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
    // exp(rate²/2 − z·rate)·Q(rate − z), in a form in which neither factor overflows.
    let apart = rate - z;
    let second = if apart > 20.0 {
        density(z) / apart * (1.0 - 1.0 / (apart * apart))
    } else {
        libm::exp(0.5 * rate * rate - z * rate) * tail(apart)
    };
    (tail(z) + second).clamp(0.0, 1.0)
}

/// The `z` above which a standard normal draw lies with probability `p`: the inverse of [`tail`], by rational approximation (Acklam) and one step of
/// Halley's method. `p` is between 0 and 1, both excluded.
pub fn tail_inverse(p: f64) -> f64 {
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
    let z = -lower;
    let error = (tail(z) - p) / density(z);
    z + error / (1.0 - 0.5 * z * error)
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
