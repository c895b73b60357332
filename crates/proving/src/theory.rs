//! What write amplification, queueing and buses must be on paper. The formulas are derived in `docs/models/write-amplification.md`.

/// Write amplification of uniform random writes when the block written first is reclaimed first. `alpha` is physical pages in use per logical page.
///
/// The share x of a victim's pages that is still valid solves x = exp(−α(1 − x)), and 1/(1 − x) programs are made per write. (Desnoyers, "Analytic
/// Models of SSD Write Performance", ACM TOS 2014, which gives it with Lambert's W; solved here by iteration, which converges because the slope αx is
/// below one at the root.)
pub fn fifo(alpha: f64) -> f64 {
    assert!(alpha > 1.0);
    let mut x = 0.5;
    for _ in 0..100_000 {
        x = libm::exp(-alpha * (1.0 - x));
    }
    1.0 / (1.0 - x)
}

/// Write amplification of uniform random writes under greedy reclaim with `pages` pages per block, in a drive of many blocks.
///
/// Blocks enter with all pages valid and lose one at a time, a block with i valid pages at rate i per logical page written. Every block that gets
/// down to j valid pages is reclaimed at once, and where that is too few, so are some with j + 1. The balance of flows leaves one linear equation in
/// the victims per write R for each j, and exactly one j for which R is possible.
pub fn greedy(alpha: f64, pages: u32) -> f64 {
    let b = f64::from(pages);
    // Blocks in use per logical page.
    let blocks = alpha / b;
    // H(b) - H(j+1), from the top down.
    let mut harmonic = 1.0 / b;
    for j in (0..pages - 1).rev() {
        let j = f64::from(j);
        let rate = (blocks - 1.0 / (j + 1.0)) / (harmonic - (b - j - 1.0) / (j + 1.0));
        if rate > 0.0 && rate * (b - j) >= 1.0 - 1e-12 && rate * (b - j - 1.0) <= 1.0 + 1e-12 {
            return b * rate;
        }
        harmonic += 1.0 / (j + 1.0);
    }
    panic!("no balance of flows with {pages} pages per block and alpha {alpha}")
}

/// Mean time in the queue of Poisson arrivals at utilisation `rho` of a server that takes `service` for each (Pollaczek and Khinchine, with constant service).
pub fn md1_wait(rho: f64, service: f64) -> f64 {
    rho * service / (2.0 * (1.0 - rho))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn do_the_formulas_meet_where_they_must() {
        // The W-form at α = 1/(1 − 0.25), in the digits of a pocket calculator: x = 0.4546.., A = 1/(1 − x).
        let x = 1.0 - 1.0 / fifo(4.0 / 3.0);
        assert!((x - libm::exp(-4.0 / 3.0 * (1.0 - x))).abs() < 1e-12);
        for alpha in [1.05, 1.075, 1.14, 1.28, 1.5, 2.0] {
            let (limit, large) = (fifo(alpha), greedy(alpha, 60_000));
            assert!((large / limit - 1.0).abs() < 1e-3, "alpha {alpha}: greedy {large} should come near {limit}");
            let mut before = 1.0;
            for pages in [4, 8, 16, 32, 64, 128, 256, 576] {
                let waf = greedy(alpha, pages);
                assert!(
                    waf > before && waf < limit,
                    "alpha {alpha}: {waf} with {pages} pages, {before} with half of them, {limit} at most"
                );
                before = waf;
            }
        }
    }
}
