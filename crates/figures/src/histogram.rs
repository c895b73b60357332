//! Latency histograms with buckets of constant relative width.
//!
//! `2^BITS` buckets per octave bound the error of every percentile by `2^-(BITS + 1)` of its value: 0.1 % with 9 bits. The bucket of a value is
//! a leading-zero count, a shift and an add, so recording costs about as much as the memory it touches. Mean, least and greatest value are kept
//! exactly, beside the buckets.

use wordline_units::Nanos;

/// The fine histogram that percentiles and curves are read from: every percentile is within 0.1 % of the exact one.
pub type Latencies = Histogram<9>;

/// The coarse histogram of one row of a time series: within 1.6 %.
pub(crate) type RowLatencies = Histogram<5>;

/// The longest span with a bucket of its own, 2^44 ns (4.9 h). Longer ones count in the last bucket; the exact maximum still shows them.
const OCTAVE_MAX: u32 = 44;

/// A histogram of spans with `2^BITS` buckets per octave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram<const BITS: u32> {
    // Empty until the first record, so that a class of requests that never occurs costs nothing.
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl<const BITS: u32> Default for Histogram<BITS> {
    fn default() -> Self {
        Histogram { buckets: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl<const BITS: u32> Histogram<BITS> {
    const BUCKETS: usize = ((OCTAVE_MAX - BITS + 1) as usize) << BITS;

    /// Count one span.
    #[inline]
    pub fn record(&mut self, span: Nanos) {
        let index = Self::bucket(span.0);
        if self.buckets.is_empty() {
            self.allocate();
        }
        self.buckets[index] += 1;
        self.count += 1;
        self.sum += u128::from(span.0);
        self.min = self.min.min(span.0);
        self.max = self.max.max(span.0);
    }

    #[cold]
    fn allocate(&mut self) {
        self.buckets = vec![0; Self::BUCKETS];
    }

    #[inline]
    fn bucket(value: u64) -> usize {
        let value = value.min((1 << OCTAVE_MAX) - 1);
        if value < 1 << BITS {
            return value as usize;
        }
        let shift = 63 - value.leading_zeros() - BITS;
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// The least and the greatest value of a bucket.
    fn bounds(index: usize) -> (u64, u64) {
        if index < 2 << BITS {
            return (index as u64, index as u64);
        }
        let shift = (index >> BITS) - 1;
        let least = ((index - (shift << BITS)) as u64) << shift;
        (least, least + (1 << shift) - 1)
    }

    /// The buckets that may be occupied; a row of a time series touches few of them.
    fn range(&self) -> std::ops::Range<usize> {
        if self.count == 0 { 0..0 } else { Self::bucket(self.min)..Self::bucket(self.max) + 1 }
    }

    /// How many spans were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of the recorded spans in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact mean in nanoseconds; zero when nothing was recorded.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The exact longest span; zero when nothing was recorded.
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The exact shortest span; zero when nothing was recorded.
    pub fn min(&self) -> Nanos {
        if self.count == 0 { Nanos::ZERO } else { Nanos(self.min) }
    }

    /// The span that a fraction `quantile` of all spans does not exceed (nearest rank), to the precision of a bucket. With fewer samples than
    /// the quantile needs, this is the longest span.
    pub fn quantile(&self, quantile: f64) -> Nanos {
        if self.count == 0 {
            return Nanos::ZERO;
        }
        // A product that should be whole, such as 0.9 * 10, may come out a hair above it.
        let rank = ((quantile * self.count as f64 - 1e-6).ceil().max(1.0) as u64).min(self.count);
        // The outermost ranks are known exactly; a bucket would only blur them.
        if rank == 1 {
            return Nanos(self.min);
        }
        if rank == self.count {
            return Nanos(self.max);
        }
        let mut seen = 0;
        for (index, &count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let (least, greatest) = Self::bounds(index);
                return Nanos((least + (greatest - least) / 2).clamp(self.min, self.max));
            }
        }
        Nanos(self.max)
    }

    /// Add the spans of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.buckets.is_empty() {
            self.allocate();
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forget every span and keep the memory.
    pub fn clear(&mut self) {
        let range = self.range();
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets[range].fill(0);
        *self = Histogram { buckets, ..Histogram::default() };
    }

    /// The occupied buckets in order: greatest value and how many spans.
    pub fn occupied(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let max = self.max;
        let occupied = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        occupied.map(move |(index, &count)| (Nanos(Self::bounds(index).1.min(max)), count))
    }

    pub(crate) fn sparse(&self) -> Sparse {
        let range = self.range();
        let from = range.start as u32;
        let buckets = (from..).zip(&self.buckets[range]);
        Sparse { entries: buckets.filter(|(_, count)| **count > 0).map(|(index, count)| (index, *count)).collect(), max: self.max }
    }
}

/// The occupied buckets of a [`RowLatencies`] and nothing else: what a finished row of a time series keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sparse {
    entries: Vec<(u32, u64)>,
    max: u64,
}

impl Sparse {
    pub(crate) fn merge(&mut self, other: &Sparse) {
        let mut merged = Vec::with_capacity(self.entries.len() + other.entries.len());
        let (mut left, mut right) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        while let Some(&&(index, count)) = left.peek() {
            match right.peek() {
                Some(&&(theirs, more)) if theirs < index => {
                    merged.push((theirs, more));
                    right.next();
                }
                Some(&&(theirs, more)) if theirs == index => {
                    merged.push((index, count + more));
                    left.next();
                    right.next();
                }
                Some(_) | None => {
                    merged.push((index, count));
                    left.next();
                }
            }
        }
        merged.extend(right);
        self.entries = merged;
        self.max = self.max.max(other.max);
    }

    /// The span that a fraction `quantile` does not exceed, within 1.6 %; `None` when nothing was recorded.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<Nanos> {
        let count: u64 = self.entries.iter().map(|entry| entry.1).sum();
        let rank = ((quantile * count as f64 - 1e-6).ceil().max(1.0) as u64).min(count);
        let mut seen = 0;
        for &(index, count) in &self.entries {
            seen += count;
            if seen >= rank {
                let (least, greatest) = RowLatencies::bounds(index as usize);
                return Some(Nanos((least + (greatest - least) / 2).min(self.max)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(sorted: &[u64], quantile: f64) -> u64 {
        let rank = (quantile * sorted.len() as f64 - 1e-6).ceil().max(1.0) as usize;
        sorted[rank.min(sorted.len()) - 1]
    }

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_touch() {
        let mut next = 0;
        for index in 0..Latencies::BUCKETS {
            let (least, greatest) = Latencies::bounds(index);
            assert_eq!(least, next, "bucket {index}");
            assert_eq!(Latencies::bucket(least), index);
            assert_eq!(Latencies::bucket(greatest), index);
            next = greatest + 1;
        }
        assert_eq!(next, 1 << OCTAVE_MAX);
    }

    #[test]
    fn a_span_beyond_the_last_bucket_is_still_counted_and_its_maximum_exact() {
        let mut histogram = Latencies::default();
        histogram.record(Nanos(u64::MAX));
        histogram.record(Nanos(5));
        assert_eq!(histogram.count(), 2);
        assert_eq!(histogram.max(), Nanos(u64::MAX));
        assert_eq!(histogram.quantile(0.5), Nanos(5));
    }

    proptest! {
        #[test]
        fn percentiles_agree_with_an_exact_sort(values in prop::collection::vec(0u64..1 << 38, 1..400), shift in 0u32..30) {
            let mut values: Vec<u64> = values.into_iter().map(|value| value >> shift).collect();
            let (mut fine, mut coarse) = (Latencies::default(), RowLatencies::default());
            for &value in &values {
                fine.record(Nanos(value));
                coarse.record(Nanos(value));
            }
            values.sort_unstable();
            for quantile in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
                let want = exact(&values, quantile) as f64;
                prop_assert!((fine.quantile(quantile).0 as f64 - want).abs() <= want / 1024.0 + 0.5);
                prop_assert!((coarse.sparse().quantile(quantile).unwrap().0 as f64 - want).abs() <= want / 64.0 + 0.5);
            }
            prop_assert_eq!(fine.max().0, *values.last().unwrap());
            prop_assert_eq!(fine.sum(), values.iter().map(|value| u128::from(*value)).sum::<u128>());
        }

        #[test]
        fn merging_is_recording_both(left in prop::collection::vec(0u64..1 << 36, 0..60), right in prop::collection::vec(0u64..1 << 36, 0..60)) {
            let record = |values: &[u64]| {
                let mut histogram = RowLatencies::default();
                values.iter().for_each(|value| histogram.record(Nanos(*value)));
                histogram
            };
            let both = record(&[left.clone(), right.clone()].concat());
            let (mut whole, mut sparse) = (record(&left), record(&left).sparse());
            whole.merge(&record(&right));
            sparse.merge(&record(&right).sparse());
            prop_assert_eq!(sparse, both.sparse());
            prop_assert_eq!(whole.quantile(0.9), both.quantile(0.9));
        }
    }
}
