//! Errors of a read from an error rate: the wrong bits of each codeword, the outcome of correction, and the retries.

use crate::special::tail_inverse_roughly;

/// The bit errors of one read of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Wrong bits in the whole page.
    pub page: u32,
    /// Wrong bits in the worst codeword of the page.
    pub worst: u32,
}

/// A page read with its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Number of entries of the retry table that were tried; 0 is the default alone.
    pub retries: u32,
    /// Errors of the first try.
    pub first: Errors,
    /// Errors of the last try.
    pub errors: Errors,
    /// True if the last try could be corrected.
    pub corrected: bool,
}

/// A uniform number strictly between 0 and 1 from random bits.
pub fn unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// Quantile `u` of the number of errors of mean `mean` among `bits`: a normal quantile with its skew corrected (Cornish-Fisher), and the exact sum where the
/// mean is small.
pub fn errors_at(mean: f64, bits: f64, u: f64) -> u32 {
    if mean <= 0.0 {
        return 0;
    }
    if mean < 12.0 {
        // Poisson: at these rates a codeword is long enough.
        let (mut count, mut term) = (0u32, libm::exp(-mean));
        let mut sum = term;
        while sum < u && count < 200 {
            count += 1;
            term *= mean / f64::from(count);
            sum += term;
        }
        return count;
    }
    let p = mean / bits;
    let sigma = (mean * (1.0 - p)).sqrt();
    let z = -tail_inverse_roughly(u);
    let skew = (1.0 - 2.0 * p) / sigma;
    let count = libm::floor(mean + sigma * (z + (z * z - 1.0) * skew / 6.0) + 0.5);
    count.clamp(0.0, bits) as u32
}

/// Poisson probability of at most `most` when `mean` are expected.
pub(crate) fn poisson(mean: f64, most: f64) -> f64 {
    let mut term = libm::exp(-mean);
    let mut sum = term;
    let mut count = 1.0;
    while count <= most {
        term *= mean / count;
        sum += term;
        count += 1.0;
    }
    sum.min(1.0)
}
