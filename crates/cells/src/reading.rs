//! Errors of a read from an error rate: the wrong bits of each codeword, the outcome of correction, and the retries.

use crate::model::Model;
use crate::special::{tail, tail_inverse_roughly};
use crate::wordline::{References, Wordline};

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

impl Model {
    /// The errors of one read of a page with this raw bit error rate. `bits` are the random bits of the page and its program: errors stay the same from read
    /// to read but for telegraph noise, whose random bits are `noise`.
    pub fn errors(&self, rate: f64, wear: f64, bits: u64, noise: u64) -> Errors {
        let (codewords, length) = (self.codewords(), self.codeword_bits());
        let mean = rate * length;
        // The worst of n codewords is below a count with the n-th power of the probability that one is.
        let u = unit(bits);
        let worst = errors_at(mean, length, libm::exp(libm::log(u) / codewords));
        let rest = errors_at(mean * (codewords - 1.0), length * (codewords - 1.0), unit(bits.rotate_left(32)));
        let telegraph = self.telegraph(wear);
        let flicker = if telegraph > 0.0 { libm::round(-tail_inverse_roughly(unit(noise)) * telegraph) } else { 0.0 };
        let worst = (f64::from(worst) + flicker).clamp(0.0, length) as u32;
        Errors { page: (worst + rest.min(worst.saturating_mul(codewords as u32 - 1))), worst }
    }

    /// Standard deviation of a codeword's errors between two reads of a page.
    pub fn telegraph(&self, wear: f64) -> f64 {
        let ecc = &self.physics().ecc;
        ecc.telegraph * (1.0 + ecc.telegraph_wear * wear / self.physics().wear.reference)
    }

    /// Probability that a page of this raw bit error rate cannot be corrected.
    pub fn uncorrectable(&self, rate: f64) -> f64 {
        let (codewords, length) = (self.codewords(), self.codeword_bits());
        let mean = rate * length;
        let limit = self.physics().ecc.correctable;
        let one = if mean > 12.0 { tail((limit + 0.5 - mean) / (mean * (1.0 - rate)).sqrt()) } else { 1.0 - poisson(mean, limit) };
        1.0 - libm::pow(1.0 - one, codewords)
    }

    /// Reads a page: with the default references, then down the vendor's retry table until it can be corrected.
    pub fn read(&self, wordline: &Wordline, page: u32, bits: u64, noise: u64) -> Reading {
        self.read_through(wordline, page, bits, noise, (0..=self.retry_entries()).map(|entry| self.references(entry)))
    }

    /// Reads a page with one set of references after the other until it can be corrected. `sets` must not be empty.
    pub fn read_through(
        &self,
        wordline: &Wordline,
        page: u32,
        bits: u64,
        noise: u64,
        sets: impl IntoIterator<Item = References>,
    ) -> Reading {
        self.read_at(wordline.wear, bits, noise, sets.into_iter().map(|references| wordline.error_rate(self, page, &references)))
    }

    /// Reads a page whose error rate is known for each try: wordlines of an h-layer share them. `rates` must not be empty.
    pub fn read_at(&self, wear: f64, bits: u64, noise: u64, rates: impl IntoIterator<Item = f64>) -> Reading {
        let mut reading = Reading { retries: 0, first: Errors::default(), errors: Errors::default(), corrected: false };
        for (retry, rate) in rates.into_iter().enumerate() {
            let errors = self.errors(rate, wear, bits, noise.wrapping_add(retry as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let corrected = f64::from(errors.worst) <= self.physics().ecc.correctable;
            let first = if retry == 0 { errors } else { reading.first };
            reading = Reading { retries: retry as u32, first, errors, corrected };
            if corrected {
                break;
            }
        }
        reading
    }
}

/// Poisson probability of at most `most` when `mean` are expected.
fn poisson(mean: f64, most: f64) -> f64 {
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
