//! Settings of an erase: the wordlines that it spares.
//!
//! A guarded erase (001 §3.2) lowers the stress of some wordlines of a block by a raised voltage on their control gates. They are not erased deep enough to
//! take data, so until the next erase they cannot be programmed.

use wordline_units::WordlineSet;

use crate::command::Feature;

/// Settings of an erase. [`Default`]: a plain erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EraseSettings {
    /// Wordlines that are erased gently and take no data until the next erase, the same in each plane.
    pub spared: WordlineSet,
}

impl EraseSettings {
    /// Registers of a die with `wordlines` wordlines in a block, each with its content: 32 wordlines in each, the lowest in the lowest bit.
    pub fn registers(&self, wordlines: u32) -> impl Iterator<Item = (Feature, u32)> + use<> {
        let words = self.spared.words();
        let half = move |at: usize| (words[at / 2] >> (at % 2 * 32)) as u32;
        Feature::SPARES.into_iter().enumerate().take(wordlines.div_ceil(32) as usize).map(move |(at, feature)| (feature, half(at)))
    }

    /// Settings that the registers `of` a die hold.
    pub fn from_registers(of: impl Fn(Feature) -> u32) -> EraseSettings {
        let mut words = WordlineSet::NONE.words();
        for (at, feature) in Feature::SPARES.into_iter().enumerate() {
            words[at / 2] |= u64::from(of(feature)) << (at % 2 * 32);
        }
        EraseSettings { spared: WordlineSet::from_words(words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn registers_hold_all_wordlines(wordlines in prop::collection::btree_set(0..WordlineSet::WORDLINES, 0..40)) {
            let settings = EraseSettings { spared: WordlineSet::of(wordlines) };
            let registers: Vec<(Feature, u32)> = settings.registers(WordlineSet::WORDLINES).collect();
            let of = |feature| registers.iter().find(|(of, _)| *of == feature).map_or(0, |(_, value)| *value);
            prop_assert_eq!(EraseSettings::from_registers(of), settings);
        }
    }

    #[test]
    fn a_die_has_as_many_registers_as_its_wordlines_need() {
        let plain = EraseSettings::default();
        assert_eq!([1, 32, 33, 192, 512].map(|wordlines| plain.registers(wordlines).count()), [1, 1, 2, 6, 16]);
    }
}
