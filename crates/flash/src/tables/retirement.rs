//! Errors just after program that a block must not show, if its data are to last.

use super::bin;

/// Most errors just after program with which data are safe for a year.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retirement {
    /// Seed of the lot that the table was made from.
    pub seed: u64,
    /// Most P/E cycles of each bin.
    pub pe: Vec<u32>,
    /// Most wrong bits of the worst codeword of a page, read with the default references just after its program, in each bin.
    pub errors_max: Vec<u32>,
    /// Retention that data must last, in seconds.
    pub kept: u32,
    /// Probability up to which a page that shows no more may be uncorrectable then, in the mean over these.
    pub risk: f64,
}

impl Retirement {
    /// Most errors in the bin of a P/E count; the last bin's beyond the table.
    pub fn errors_max(&self, cycles: u32) -> Option<u32> {
        let bin = bin(&self.pe, cycles).unwrap_or(self.pe.len().saturating_sub(1));
        self.errors_max.get(bin).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_reach_up_to_their_count_and_the_last_goes_on() {
        let table = Retirement { pe: vec![1_000, 2_000], errors_max: vec![30, 20], ..Retirement::default() };
        assert_eq!([0, 1_000, 1_001, 9_000].map(|cycles| table.errors_max(cycles)), [Some(30), Some(30), Some(20), Some(20)]);
        assert_eq!(Retirement::default().errors_max(0), None);
    }
}
