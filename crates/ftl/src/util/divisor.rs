//! Division by a number that is known when a core starts.
//!
//! The counts of dies, planes and program units are whatever the drive has, so the compiler cannot turn divisions by them into multiplications; a division
//! of the processor's takes as long as a dozen other steps, and a host read needs two or three. The multiplication by a rounded-up inverse of 64 bits is
//! exact for all numbers of 32 bits (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019, Theorem 1).

/// A divisor that is fixed when a core starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    by: u32,
    /// 2^64 / `by`, rounded up; 0 stands for the inverse of 1, which does not fit.
    inverse: u64,
}

impl Divisor {
    /// # Panics
    /// If `by` is 0.
    pub(crate) fn new(by: u32) -> Divisor {
        Divisor { by, inverse: (u64::MAX / u64::from(by)).wrapping_add(1) }
    }

    /// Quotient of `value` by the divisor.
    #[inline(always)]
    pub(crate) fn quotient(self, value: u32) -> u32 {
        if self.inverse == 0 { value } else { ((u128::from(self.inverse) * u128::from(value)) >> 64) as u32 }
    }

    /// Quotient and remainder of `value` by the divisor.
    #[inline(always)]
    pub(crate) fn split(self, value: u32) -> (u32, u32) {
        let quotient = self.quotient(value);
        (quotient, value - quotient * self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_divides_as_the_processor_does(value: u32, wide in 1u32.., small in 1u32..5_000, around in 0u32..3) {
            for by in [wide, small] {
                // Multiples and their neighbours are where an inexact inverse goes wrong.
                let near = (value / by * by).saturating_add(around).saturating_sub(1);
                for value in [value, near, u32::MAX] {
                    prop_assert_eq!(Divisor::new(by).split(value), (value / by, value % by));
                }
            }
        }
    }

    #[test]
    fn it_divides_by_one_and_by_powers_of_two() {
        for by in (0..32).map(|bit| 1u32 << bit) {
            for value in [0, 1, by - 1, by, u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(by).split(value), (value / by, value % by), "{value} by {by}");
            }
        }
    }
}
