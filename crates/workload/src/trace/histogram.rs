//! Counts by magnitude, in constant memory.

/// Sixteen steps for each doubling: percentiles are right to within 6 %.
const STEPS: u32 = 16;

/// How often values of each magnitude occurred.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; (65 * STEPS) as usize], total: 0, sum: 0, least: u64::MAX, most: 0 }
    }
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        self.counts[slot(value)] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn least(&self) -> u64 {
        if self.total == 0 { 0 } else { self.least }
    }

    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    pub(crate) fn mean(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.sum as f64 / self.total as f64 }
    }

    /// The value below or at which `percent` of all values lie, to within a step.
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let wanted = (u128::from(self.total) * u128::from(percent)).div_ceil(100);
        let mut seen: u128 = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= wanted && *count > 0 {
                return upper(index).clamp(self.least(), self.most);
            }
        }
        self.most
    }
}

fn slot(value: u64) -> usize {
    if value < u64::from(STEPS) {
        return value as usize;
    }
    let magnitude = value.ilog2();
    let step = (value >> (magnitude - 4)) as u32 & (STEPS - 1);
    ((magnitude - 3) * STEPS + step) as usize
}

/// The largest value of a slot.
fn upper(slot: usize) -> u64 {
    let slot = slot as u32;
    if slot < STEPS {
        return u64::from(slot);
    }
    let (magnitude, step) = (slot / STEPS + 3, u64::from(slot % STEPS));
    let low = (u64::from(STEPS) + step) << (magnitude - 4);
    low + ((1u64 << (magnitude - 4)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_slot() {
        for value in (0..70).map(|bit| if bit < 64 { 1u64 << bit } else { u64::MAX - bit }).chain(0..5_000) {
            let index = slot(value);
            assert!(upper(index) >= value, "{value}");
            assert!(index == 0 || upper(index - 1) < value, "{value}");
        }
    }

    #[test]
    fn percentiles_are_near_the_exact_ones() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|value| histogram.add(value));
        assert!((500..=532).contains(&histogram.percentile(50)));
        assert!((990..=1000).contains(&histogram.percentile(99)));
        assert_eq!(histogram.mean(), 500.5);
    }
}
