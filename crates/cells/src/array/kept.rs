//! State of a block's cells that outlives the power of a drive, as a versioned string of bytes.
//!
//! ```text
//!   version 1 │ parts 1 │ erase stress 4 │ program stress 4 │ generation 4 │ aged pages 4 │ age 4 │ relief │ carried rates │ spared wordlines
//! ```
//!
//! All numbers are little-endian, stresses and age are floats. `parts` says which of the last three follow:
//!
//! | bit | part |
//! |---|---|
//! | 0 | relief of the block's wordlines by guarded erases: their count in two bytes, and a byte for each in 1/255 of the erase stress |
//! | 1 | the rates that copybacks carried over: their count in two bytes, and two bytes for each page |
//! | 2 | the wordlines that the last erase has spared, a bit each in 64 bytes |
//!
//! Version 0 is the five numbers alone, as media kept them before there were versions.

use wordline_units::WordlineSet;

use super::{CellArray, Life};

/// State of a block to persist across power-off: accumulated stress, fill generation, any preset age, what guarded erases have spared, and the errors that
/// copybacks carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLife(Vec<u8>);

/// Bytes of the five numbers that every version has.
const NUMBERS: usize = 20;
const VERSION: u8 = 1;
/// Bits of `parts`.
const RELIEF: u8 = 1;
const CARRIED: u8 = 2;
const SPARED: u8 = 4;
/// Bytes of a set of wordlines.
const SET: usize = WordlineSet::WORDLINES as usize / 8;

/// The parts of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts<'a> {
    numbers: [u32; 5],
    relief: &'a [u8],
    carried: &'a [u8],
    /// Empty: the last erase has spared nothing.
    spared: &'a [u8],
}

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

    /// Becomes the state of a block without physics.
    pub fn clear(&mut self) {
        self.0.clear();
        self.0.resize(2 + NUMBERS, 0);
        self.0[0] = VERSION;
    }

    /// Adds the wordlines that the last erase of the block has spared, to a string without them.
    pub fn set_spared(&mut self, spared: WordlineSet) {
        if !spared.is_empty() {
            self.0[1] |= SPARED;
            spared.words().iter().for_each(|word| self.0.extend(word.to_le_bytes()));
        }
    }

    /// The wordlines that the last erase of the block has spared.
    pub fn spared(&self) -> WordlineSet {
        let mut words = WordlineSet::NONE.words();
        let bytes = self.parts().map_or(&[][..], |parts| parts.spared);
        words.iter_mut().zip(bytes.as_chunks().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        WordlineSet::from_words(words)
    }

    fn parts(&self) -> Option<Parts<'_>> {
        let (head, parts, mut rest) = match self.0[..] {
            [0, ref rest @ ..] => (rest, 0, &[][..]),
            [VERSION, parts, ref rest @ ..] => (rest.get(..NUMBERS)?, parts, &rest[NUMBERS..]),
            _ => return None,
        };
        let numbers: &[u8; NUMBERS] = head.try_into().ok()?;
        let mut counted = |bit: u8, width: usize| {
            if parts & bit == 0 {
                return Some(&[][..]);
            }
            let [low, high, behind @ ..] = rest else { return None };
            let (of_part, others) = behind.split_at_checked(width * usize::from(u16::from_le_bytes([*low, *high])))?;
            rest = others;
            Some(of_part)
        };
        let (relief, carried) = (counted(RELIEF, 1)?, counted(CARRIED, 2)?);
        let is_whole = parts & !(RELIEF | CARRIED | SPARED) == 0 && rest.len() == if parts & SPARED == 0 { 0 } else { SET };
        let numbers = core::array::from_fn(|at| u32::from_le_bytes(core::array::from_fn(|byte| numbers[4 * at + byte])));
        is_whole.then_some(Parts { numbers, relief, carried, spared: rest })
    }
}

impl CellArray {
    /// State of `block` to persist across power-off, in the place of what `kept` held.
    pub fn keep(&self, block: u32, kept: &mut KeptLife) {
        let life = &self.lives[block as usize];
        let aged = if life.aged_pages > 0 { self.aged as f32 } else { 0.0 };
        let numbers = [life.erase.to_bits(), life.program.to_bits(), life.generation, u32::from(life.aged_pages), aged.to_bits()];
        let (relief, carried) = (self.kept_relief(block), self.carried.table(block));
        let KeptLife(bytes) = kept;
        bytes.clear();
        bytes.extend([VERSION, if relief.is_some() { RELIEF } else { 0 } | if carried.is_some() { CARRIED } else { 0 }]);
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        if let Some(relief) = relief {
            bytes.extend((self.wordlines() as u16).to_le_bytes());
            bytes.extend(relief);
        }
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
        let Some(Parts { numbers: [erase, program, generation, aged_pages, aged], relief, carried, .. }) = kept.parts() else {
            unreachable!("a string that is none cannot be made")
        };
        let (erase, program, aged) = (f32::from_bits(erase), f32::from_bits(program), f32::from_bits(aged));
        let sound = |stress: f32| if stress.is_finite() { stress.max(0.0) } else { 0.0 };
        self.aged = self.aged.max(f64::from(sound(aged)));
        let life = Life { erase: sound(erase), program: sound(program), generation, aged_pages: aged_pages as u16, ..Life::default() };
        self.lives[block as usize] = life;
        self.settled = None;
        self.rests.erase(block);
        let rates: Vec<u16> = carried.chunks_exact(2).map(|rate| u16::from_le_bytes([rate[0], rate[1]])).collect();
        self.wake_relief(block, relief);
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
        let set = [&[5][..], &[0; SET - 1]].concat();
        let all = [&[3, 0, 8, 0, 9, 1, 0, 7, 1], &set[..]].concat();
        for (head, tail, relief, rates, spared) in [
            (&[0][..], &[][..], &[][..], &[][..], &[][..]),
            (&[1, 0], &[], &[], &[], &[]),
            (&[1, 2], &[0, 0], &[], &[], &[]),
            (&[1, 2], &[2, 0, 7, 1, 9, 0], &[], &[7, 1, 9, 0], &[]),
            (&[1, 1], &[2, 0, 7, 1], &[7, 1], &[], &[]),
            (&[1, 4], &set, &[], &[], &set),
            (&[1, 7], &all, &[8, 0, 9], &[7, 1], &set),
        ] {
            let kept = of(head, tail).unwrap_or_else(|| panic!("{head:?} {tail:?}"));
            assert_eq!(kept.parts(), Some(Parts { numbers: known, relief, carried: rates, spared }));
            assert_eq!(kept.spared(), if spared.is_empty() { WordlineSet::NONE } else { WordlineSet::of([0, 2]) });
        }
        for (head, tail) in [
            (&[2][..], &[][..]),
            (&[0], &[0]),
            (&[1, 1], &[]),
            (&[1, 1], &[3, 0, 1, 2]),
            (&[1, 8], &[]),
            (&[1, 0], &[0]),
            (&[1, 2], &[]),
            (&[1, 2], &[2, 0, 7, 1, 9]),
            (&[1, 4], &[0; SET - 1]),
            (&[1, 4], &[0; SET + 1]),
        ] {
            assert_eq!(of(head, tail), None, "{head:?} {tail:?}");
        }
        assert_eq!(KeptLife::from_bytes(Vec::new()), None);
        assert_eq!(KeptLife::from_bytes(vec![1, 0, 3]), None);
        let empty = Parts { numbers: [0; 5], relief: &[], carried: &[], spared: &[] };
        assert_eq!(KeptLife::default().parts(), Some(empty));
    }

    #[test]
    fn a_block_without_physics_keeps_what_was_spared() {
        let mut kept = KeptLife::default();
        kept.clear();
        kept.set_spared(WordlineSet::NONE);
        assert_eq!((kept.spared(), kept.bytes().len()), (WordlineSet::NONE, 2 + NUMBERS));
        let spared = WordlineSet::of([3, 64, 511]);
        kept.set_spared(spared);
        assert_eq!(KeptLife::from_bytes(kept.bytes().to_vec()).map(|kept| kept.spared()), Some(spared));
    }
}
