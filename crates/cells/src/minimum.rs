//! Minimum of a function of one number: Brent's method (1973), golden sections with a parabola through the last points where it can be trusted.

/// Share of an interval that a golden section cuts off.
const GOLDEN: f64 = 0.381_966_011_250_105;

/// The argument between `low` and `high` at which `cost` is least, to `tolerance`. The search begins at `start`, which lies between them.
pub(crate) fn minimum(low: f64, high: f64, start: f64, tolerance: f64, cost: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    // The best point so far, the second best, and the one that was second best before.
    let mut best = (start, cost(start));
    let (mut second, mut third) = (best, best);
    let (mut step, mut before) = (0.0f64, 0.0f64);
    loop {
        let (x, middle) = (best.0, 0.5 * (low + high));
        if (x - middle).abs() <= 2.0 * tolerance - 0.5 * (high - low) {
            return x;
        }
        let last = core::mem::replace(&mut before, step);
        match parabola(best, second, third) {
            // A step that does not shrink, or that leaves the interval, is none.
            Some(to) if last.abs() > tolerance && (to - x).abs() < 0.5 * last.abs() && to > low && to < high => {
                step = to - x;
                if to - low < 2.0 * tolerance || high - to < 2.0 * tolerance {
                    step = tolerance.copysign(middle - x);
                }
            }
            Some(_) | None => {
                before = if x < middle { high - x } else { low - x };
                step = GOLDEN * before;
            }
        }
        let at = x + if step.abs() >= tolerance { step } else { tolerance.copysign(step) };
        let tried = (at, cost(at));
        if tried.1 <= best.1 {
            if at >= x {
                low = x
            } else {
                high = x
            }
            (third, second, best) = (second, best, tried);
        } else {
            if at < x {
                low = at
            } else {
                high = at
            }
            if tried.1 <= second.1 || second.0 == x {
                (third, second) = (second, tried);
            } else if tried.1 <= third.1 || third.0 == x || third.0 == second.0 {
                third = tried;
            }
        }
    }
}

/// The lowest point of the parabola through three points, if there is one.
fn parabola((x, fx): (f64, f64), (w, fw): (f64, f64), (v, fv): (f64, f64)) -> Option<f64> {
    let (r, q) = ((x - w) * (fx - fv), (x - v) * (fx - fw));
    let under = 2.0 * (q - r);
    (under != 0.0).then(|| x - ((x - v) * q - (x - w) * r) / under)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn minima_are_found_in_few_looks() {
        for (at, from) in [(130.0, 350.0), (699.0, 350.0), (0.4, 20.0), (350.0, 350.0)] {
            let looks = Cell::new(0);
            let cost = |x: f64| {
                looks.set(looks.get() + 1);
                libm::cosh((x - at) / 80.0) + 1e-3 * (x - at).abs()
            };
            let found = minimum(0.0, 700.0, from, 0.25, cost);
            assert!((found - at).abs() <= 0.5, "{found} for {at}");
            assert!(looks.get() <= 25, "{} looks for {at}", looks.get());
        }
        // One side is all there is.
        assert!(minimum(0.0, 700.0, 350.0, 0.25, |x| x) <= 0.5);
    }
}
