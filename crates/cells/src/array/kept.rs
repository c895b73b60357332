//! State of a block's cells that outlives the power of a drive, as a versioned string of bytes.
//!
//! ```text
//!   version 1 │ parts 1 │ erase stress 4 │ program stress 4 │ generation 4 │ aged pages 4 │ age 4 │ carried rates: count 2, each 2
//! ```
//!
//! All numbers are little-endian, stresses and age are floats. `parts` says which parts follow: bit 1, the rates that copybacks carried over. Bit 0 is
//! reserved for the relief of the block's wordlines, a byte for each in 1/255 of the erase stress, which stands before the carried rates. Version 0 is the
//! five numbers alone, as media kept them before there were versions.

use super::{CellArray, Life};

/// State of a block to persist across power-off: accumulated stress, fill generation, any preset age, and the errors that copybacks carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLife(Vec<u8>);

/// Bytes of the five numbers that every version has.
const NUMBERS: usize = 20;
const VERSION: u8 = 1;
/// Bit of the carried rates in `parts`.
const CARRIED: u8 = 2;

impl Default for KeptLife {
    /// State of a new block.
    fn default() -> KeptLife {
        KeptLife(vec![0; 1 + NUMBERS])
    }
}

impl KeptLife {
    /// The string that a store has kept. `None`: it is none of those that this version of Wordline writes or wrote.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<KeptLife> {
        let kept = KeptLife(bytes);
        kept.parts().is_some().then_some(kept)
    }

    /// The string, for a store.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The five numbers and the carried rates.
    fn parts(&self) -> Option<([u32; 5], &[u8])> {
        let (head, parts, rest) = match self.0[..] {
            [0, ref rest @ ..] => (rest, 0, &[][..]),
            [VERSION, parts, ref rest @ ..] => (rest.get(..NUMBERS)?, parts, &rest[NUMBERS..]),
            _ => return None,
        };
        let numbers: &[u8; NUMBERS] = head.try_into().ok()?;
        let carried = match (parts, rest) {
            (0, []) => rest,
            (CARRIED, [low, high, rates @ ..]) if rates.len() == 2 * usize::from(u16::from_le_bytes([*low, *high])) => rates,
            _ => return None,
        };
        Some((core::array::from_fn(|at| u32::from_le_bytes(core::array::from_fn(|byte| numbers[4 * at + byte]))), carried))
    }
}

impl CellArray {
    /// State of `block` to persist across power-off, in the place of what `kept` held.
    pub fn keep(&self, block: u32, kept: &mut KeptLife) {
        let life = &self.lives[block as usize];
        let aged = if life.aged_pages > 0 { self.aged as f32 } else { 0.0 };
        let numbers = [life.erase.to_bits(), life.program.to_bits(), life.generation, u32::from(life.aged_pages), aged.to_bits()];
        let carried = self.carried.table(block);
        let KeptLife(bytes) = kept;
        bytes.clear();
        bytes.extend([VERSION, if carried.is_some() { CARRIED } else { 0 }]);
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        if let Some(rates) = carried {
            bytes.extend((rates.len() as u16).to_le_bytes());
            rates.iter().for_each(|rate| bytes.extend(rate.to_le_bytes()));
        }
    }

    /// State of `block` to persist across power-off.
    pub fn kept(&self, block: u32) -> KeptLife {
        let mut kept = KeptLife(Vec::new());
        self.keep(block, &mut kept);
        kept
    }

    /// Restores the state that [`CellArray::kept`] gave. Retention from before the power-off starts again at zero, and a drive that is off does not age.
    pub fn wake(&mut self, block: u32, kept: &KeptLife) {
        let Some(([erase, program, generation, aged_pages, aged], carried)) = kept.parts() else {
            unreachable!("a string that is none cannot be made")
        };
        let (erase, program, aged) = (f32::from_bits(erase), f32::from_bits(program), f32::from_bits(aged));
        let sound = |stress: f32| if stress.is_finite() { stress.max(0.0) } else { 0.0 };
        self.aged = self.aged.max(f64::from(sound(aged)));
        let life = Life { erase: sound(erase), program: sound(program), generation, aged_pages: aged_pages as u16, ..Life::default() };
        self.lives[block as usize] = life;
        let rates: Vec<u16> = carried.chunks_exact(2).map(|rate| u16::from_le_bytes([rate[0], rate[1]])).collect();
        self.wake_carried(block, &rates);
        self.forget_what_was_worked_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_both_versions_are_read_and_no_others() {
        let numbers: Vec<u8> = (1..=NUMBERS as u8).collect();
        let of = |head: &[u8], tail: &[u8]| KeptLife::from_bytes([head, &numbers, tail].concat());
        let known = [0x0403_0201, 0x0807_0605, 0x0c0b_0a09, 0x100f_0e0d, 0x1413_1211];
        for (head, tail, rates) in
            [(&[0][..], &[][..], &[][..]), (&[1, 0], &[], &[]), (&[1, 2], &[0, 0], &[]), (&[1, 2], &[2, 0, 7, 1, 9, 0], &[7, 1, 9, 0])]
        {
            let kept = of(head, tail).unwrap_or_else(|| panic!("{head:?} {tail:?}"));
            assert_eq!(kept.parts(), Some((known, rates)));
        }
        for (head, tail) in [
            (&[2][..], &[][..]),
            (&[0], &[0]),
            (&[1, 1], &[0, 0]),
            (&[1, 4], &[]),
            (&[1, 0], &[0]),
            (&[1, 2], &[]),
            (&[1, 2], &[2, 0, 7, 1, 9]),
        ] {
            assert_eq!(of(head, tail), None, "{head:?} {tail:?}");
        }
        assert_eq!(KeptLife::from_bytes(Vec::new()), None);
        assert_eq!(KeptLife::from_bytes(vec![1, 0, 3]), None);
        assert_eq!(KeptLife::default().parts(), Some(([0; 5], &[][..])));
    }
}
