//! A keyed permutation of the first numbers, computed and not stored: the number at place `n` of a shuffled row as long as a drive.
//!
//! A Feistel network over the next power of two; numbers beyond the end are sent through it again until they fall inside.

use wordline_units::random::Draw;

const ROUNDS: usize = 6;

/// A permutation of `0..count`.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    keys: [u64; ROUNDS],
    low_bits: u32,
    masks: [u32; 2],
    count: u32,
}

impl Permutation {
    /// A permutation drawn from `draw`; each is about as likely as any other.
    pub(crate) fn new(count: u32, draw: &mut Draw) -> Permutation {
        let bits = (u32::BITS - count.leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mask = |bits: u32| (1 << bits) - 1;
        Permutation { keys: std::array::from_fn(|_| draw.next_u64()), low_bits, masks: [mask(low_bits), mask(bits - low_bits)], count }
    }

    /// The number at `place`.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> u32 {
        debug_assert!(place < self.count);
        let mut number = self.once(place);
        while number >= self.count {
            number = self.once(number);
        }
        number
    }

    #[inline]
    fn once(&self, number: u32) -> u32 {
        let mut halves = [number & self.masks[0], number >> self.low_bits];
        for pair in self.keys.chunks_exact(2) {
            halves[0] ^= scramble(halves[1], pair[0]) & self.masks[0];
            halves[1] ^= scramble(halves[0], pair[1]) & self.masks[1];
        }
        halves[1] << self.low_bits | halves[0]
    }
}

#[inline]
fn scramble(value: u32, key: u64) -> u32 {
    let mixed = (u64::from(value) ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::random::Stream;

    #[test]
    fn every_number_comes_once_and_not_in_order() {
        for count in [1, 2, 3, 5, 64, 65, 1_000, 4_095, 100_003] {
            let permutation = Permutation::new(count, &mut Draw::new(1, Stream::Construct, count));
            let mut seen = vec![false; count as usize];
            (0..count).for_each(|place| assert!(!std::mem::replace(&mut seen[permutation.at(place) as usize], true), "{count}"));
            if count >= 1_000 {
                let followers = (1..count).filter(|&place| permutation.at(place) == permutation.at(place - 1).wrapping_add(1)).count();
                assert!(followers < 20, "{followers} of {count} follow their neighbour");
            }
        }
    }
}
