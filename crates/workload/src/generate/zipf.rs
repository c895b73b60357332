//! Zipf ranks in constant time, exact for any number of slots and any skew.
//!
//! The first ranks have a weight each; the rest is cut into ranges that grow by a 64th, weighed as if every rank of a range were as
//! likely as its first. A range or rank is chosen from an alias table, a rank of the range evenly, and kept with the probability by
//! which the weight was too large; what is not kept is drawn again from the start. That is rejection sampling with an envelope
//! which is at most theta / 64 too high, so nearly every draw is kept and almost none needs a power.

use wordline_units::random::Draw;

/// Ranks with a weight of their own.
const HEAD: u64 = 256;
const GROWTH: u64 = 64;

#[derive(Clone, Debug)]
struct Range {
    /// Alias table: below this, the range itself, else `alias`.
    threshold: u64,
    alias: u32,
    /// The first rank, from 1, and how many there are.
    first: u64,
    count: u64,
    /// Draws below this are kept whatever the rank.
    surely_kept: f64,
}

/// Ranks `0..slots`, rank r with a weight of `1 / (r + 1)^theta`.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    ranges: Vec<Range>,
    theta: f64,
}

impl Zipf {
    pub(crate) fn new(slots: u64, theta: f64) -> Zipf {
        let mut ranges = Vec::new();
        let mut weights = Vec::new();
        let mut first: u64 = 1;
        while first <= slots {
            let count = if first <= HEAD { 1 } else { (first / GROWTH).min(slots - first + 1) };
            weights.push(count as f64 * libm::pow(first as f64, -theta));
            let surely_kept = libm::pow(first as f64 / (first + count - 1) as f64, theta);
            ranges.push(Range { threshold: u64::MAX, alias: 0, first, count, surely_kept });
            first += count;
        }
        let mut zipf = Zipf { ranges, theta };
        zipf.fill_aliases(&weights);
        zipf
    }

    /// Vose's construction: every cell of the table is shared by at most two ranges.
    fn fill_aliases(&mut self, weights: &[f64]) {
        let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..shares.len()).partition(|index| shares[*index] < 1.0);
        while let (Some(low), Some(high)) = (small.pop(), large.pop()) {
            self.ranges[low].threshold = (shares[low] * 18_446_744_073_709_551_616.0) as u64;
            self.ranges[low].alias = high as u32;
            shares[high] -= 1.0 - shares[low];
            if shares[high] < 1.0 { small.push(high) } else { large.push(high) }
        }
        for index in small.into_iter().chain(large) {
            self.ranges[index].alias = index as u32;
        }
    }

    /// One rank.
    #[inline]
    pub(crate) fn draw(&self, draw: &mut Draw) -> u64 {
        loop {
            let wide = u128::from(draw.next_u64()) * self.ranges.len() as u128;
            let cell = &self.ranges[(wide >> 64) as usize];
            let range = if (wide as u64) < cell.threshold { cell } else { &self.ranges[cell.alias as usize] };
            if range.count == 1 {
                return range.first - 1;
            }
            let within = u128::from(draw.next_u64()) * u128::from(range.count);
            let rank = range.first + (within >> 64) as u64;
            let kept = ((within as u64) >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
            if kept < range.surely_kept || kept < libm::pow(range.first as f64 / rank as f64, self.theta) {
                return rank - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::random::Stream;

    use super::*;

    #[test]
    fn ranks_occur_as_often_as_the_law_says() {
        for (slots, theta) in [(1u64, 0.99), (10, 0.5), (1_000, 0.99), (5_000, 1.0), (20_000, 1.4), (3_000, 0.1)] {
            let zipf = Zipf::new(slots, theta);
            let mut draw = Draw::new(11, Stream::Address, 0);
            const DRAWS: u32 = 400_000;
            let mut counts = vec![0u32; slots as usize];
            for _ in 0..DRAWS {
                counts[zipf.draw(&mut draw) as usize] += 1;
            }
            let weights: Vec<f64> = (1..=slots).map(|rank| libm::pow(rank as f64, -theta)).collect();
            let total: f64 = weights.iter().sum();
            // Compare the share of ever longer prefixes: a wrong range shows in one of them.
            let (mut expected, mut seen, mut next) = (0.0, 0u32, 1);
            for rank in 0..slots as usize {
                expected += weights[rank] / total;
                seen += counts[rank];
                if rank + 1 == next || rank + 1 == slots as usize {
                    next *= 2;
                    let found = f64::from(seen) / f64::from(DRAWS);
                    let deviation = libm::sqrt(expected * (1.0 - expected).max(0.0) / f64::from(DRAWS));
                    assert!(
                        (found - expected).abs() < 5.0 * deviation + 1e-9,
                        "{slots} slots, theta {theta}, rank {rank}: {found} against {expected}"
                    );
                }
            }
        }
    }
}
