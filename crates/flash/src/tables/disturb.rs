//! Reads that a block stands.

use super::bin;

/// Reads of a block at which retries begin, and at which data are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disturb {
    /// Seed of the lot that the table was made from.
    pub seed: u64,
    /// Most P/E cycles of each bin.
    pub pe: Vec<u32>,
    /// Most reads up to which the default references serve every page of the worst block, of data kept for no time, in each bin.
    pub retry: Vec<u64>,
    /// Most reads up to which some entry of the retry table serves every page of the worst block, of data kept as long as `kept` says, in each bin.
    pub fails: Vec<u64>,
    /// Most reads up to which a search for the best references serves every page of the worst block, of data kept for `kept`, in each bin; empty:
    /// not measured.
    pub searched: Vec<u64>,
    /// Retention for which `fails` holds, in seconds.
    pub kept: u32,
    /// Probability up to which the worst page may not be served.
    pub risk: f64,
}

impl Disturb {
    /// Reads up to which no retry is needed and up to which no data are lost, at a P/E count; the last bin's beyond the table.
    pub fn reads(&self, cycles: u32) -> Option<(u64, u64)> {
        let bin = bin(&self.pe, cycles).unwrap_or(self.pe.len().saturating_sub(1));
        Some((*self.retry.get(bin)?, *self.fails.get(bin)?))
    }

    /// Reads up to which a search serves every page, at a P/E count; the last bin's beyond the table. `None`: not measured.
    pub fn searched(&self, cycles: u32) -> Option<u64> {
        let bin = bin(&self.pe, cycles).unwrap_or(self.pe.len().saturating_sub(1));
        self.searched.get(bin).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counts_are_those_of_the_bin() {
        let table =
            Disturb { pe: vec![1_000, 2_000], retry: vec![30, 20], fails: vec![300, 200], searched: vec![900, 400], ..Disturb::default() };
        assert_eq!([1_000, 1_001, 9_000].map(|cycles| table.reads(cycles)), [Some((30, 300)), Some((20, 200)), Some((20, 200))]);
        assert_eq!([1_000, 9_000].map(|cycles| table.searched(cycles)), [Some(900), Some(400)]);
        assert_eq!((Disturb::default().reads(0), Disturb::default().searched(0)), (None, None));
    }
}
