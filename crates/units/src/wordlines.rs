//! Sets of the wordlines of a block.

/// Words of a set.
const WORDS: usize = 8;

/// A set of the wordlines of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordlineSet([u64; WORDS]);

impl WordlineSet {
    /// The set of no wordline.
    pub const NONE: WordlineSet = WordlineSet([0; WORDS]);
    /// The most wordlines that a block may have for a set of them: more do not fit the registers of a die.
    pub const WORDLINES: u32 = 64 * WORDS as u32;

    /// The set of these wordlines.
    pub fn of(wordlines: impl IntoIterator<Item = u32>) -> WordlineSet {
        let mut set = WordlineSet::NONE;
        wordlines.into_iter().for_each(|wordline| set.insert(wordline));
        set
    }

    /// Adds `wordline`, which must be below [`WordlineSet::WORDLINES`].
    pub fn insert(&mut self, wordline: u32) {
        self.0[wordline as usize / 64] |= 1 << (wordline % 64);
    }

    /// True if `wordline` is in the set.
    #[inline]
    pub fn has(&self, wordline: u32) -> bool {
        self.0.get(wordline as usize / 64).is_some_and(|word| word >> (wordline % 64) & 1 == 1)
    }

    /// True if no wordline is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == WordlineSet::NONE
    }

    /// Number of wordlines in the set.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The wordlines of either set.
    #[must_use]
    pub fn with(self, other: WordlineSet) -> WordlineSet {
        WordlineSet(core::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// The wordlines of the set, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let words = self.0;
        (0..WordlineSet::WORDLINES).filter(move |wordline| words[*wordline as usize / 64] >> (wordline % 64) & 1 == 1)
    }

    /// One more than the last wordline of the set; 0: it has none.
    pub fn end(&self) -> u32 {
        let last = self.0.iter().rposition(|&word| word != 0);
        last.map_or(0, |word| (word as u32 + 1) * 64 - self.0[word].leading_zeros())
    }

    /// The set in words of 64 wordlines each, the lowest wordline in the lowest bit.
    pub const fn words(&self) -> [u64; WORDS] {
        self.0
    }

    /// The set that [`WordlineSet::words`] gave.
    pub const fn from_words(words: [u64; WORDS]) -> WordlineSet {
        WordlineSet(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Draw, Stream};
    use std::collections::BTreeSet;

    #[test]
    fn a_set_is_the_set_of_what_was_put_into_it() {
        let mut draw = Draw::new(1, Stream::Construct, 0);
        let mut wordline = || draw.below(u64::from(WordlineSet::WORDLINES)) as u32;
        for count in 0..200 {
            let wordlines: BTreeSet<u32> = (0..count).map(|_| wordline()).collect();
            let (set, other) = (WordlineSet::of(wordlines.iter().copied()), wordline());
            assert_eq!(set.iter().collect::<BTreeSet<_>>(), wordlines);
            assert_eq!((set.len() as usize, set.is_empty()), (wordlines.len(), wordlines.is_empty()));
            assert_eq!(set.end(), wordlines.last().map_or(0, |last| last + 1));
            assert_eq!(set.has(other), wordlines.contains(&other));
            assert_eq!(WordlineSet::from_words(set.words()), set);
            assert!(set.with(WordlineSet::of([other])).has(other));
        }
    }

    #[test]
    fn a_wordline_beyond_the_most_is_in_no_set() {
        assert!(!WordlineSet::of([WordlineSet::WORDLINES - 1]).has(WordlineSet::WORDLINES));
    }
}
