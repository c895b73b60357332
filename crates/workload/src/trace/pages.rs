//! A set of page numbers, dense where the trace is dense and absent elsewhere.

use std::collections::BTreeMap;

const CHUNK_PAGES: u64 = 4096;
const WORDS: usize = (CHUNK_PAGES / 64) as usize;

#[derive(Clone, Debug)]
enum Chunk {
    /// Every page of the chunk, which keeps huge extents cheap.
    Full,
    Some(Box<[u64; WORDS]>),
}

/// Page numbers that were touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    chunks: BTreeMap<u64, Chunk>,
    count: u64,
}

impl Pages {
    /// Add pages `first..=last`.
    pub(crate) fn add(&mut self, first: u64, last: u64) {
        let mut page = first;
        loop {
            let chunk = page / CHUNK_PAGES;
            let from = page % CHUNK_PAGES;
            let to = if last / CHUNK_PAGES == chunk { last % CHUNK_PAGES } else { CHUNK_PAGES - 1 };
            self.add_within(chunk, from as usize, to as usize);
            if last / CHUNK_PAGES == chunk {
                return;
            }
            page = (chunk + 1) * CHUNK_PAGES;
        }
    }

    fn add_within(&mut self, chunk: u64, from: usize, to: usize) {
        let whole = from == 0 && to as u64 == CHUNK_PAGES - 1;
        let entry = self.chunks.entry(chunk).or_insert_with(|| Chunk::Some(Box::new([0; WORDS])));
        match entry {
            Chunk::Full => {}
            Chunk::Some(bits) if whole => {
                let held: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
                self.count += CHUNK_PAGES - held;
                *entry = Chunk::Full;
            }
            Chunk::Some(bits) => {
                for word in from / 64..=to / 64 {
                    let mask = mask(word, from, to);
                    self.count += u64::from((mask & !bits[word]).count_ones());
                    bits[word] |= mask;
                }
            }
        }
    }

    /// How many pages are in the set.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The set with its ranks, for lookups.
    pub(crate) fn ranked(self) -> RankedPages {
        let mut before = 0;
        let mut chunks = Vec::with_capacity(self.chunks.len());
        for (number, chunk) in self.chunks {
            let held = match &chunk {
                Chunk::Full => CHUNK_PAGES,
                Chunk::Some(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
            };
            chunks.push((number, before, chunk));
            before += held;
        }
        RankedPages { chunks, count: before }
    }
}

/// The bits of word `word` that stand for `from..=to`.
fn mask(word: usize, from: usize, to: usize) -> u64 {
    let low = if word == from / 64 { from % 64 } else { 0 };
    let high = if word == to / 64 { to % 64 } else { 63 };
    (u64::MAX << low) & (u64::MAX >> (63 - high))
}

/// Pages that know how many others come before them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankedPages {
    chunks: Vec<(u64, u64, Chunk)>,
    count: u64,
}

impl RankedPages {
    /// How many pages of the set are below `page`.
    pub(crate) fn rank(&self, page: u64) -> u64 {
        let (chunk, within) = (page / CHUNK_PAGES, (page % CHUNK_PAGES) as usize);
        let next = self.chunks.partition_point(|(number, _, _)| *number <= chunk);
        let Some((number, before, held)) = next.checked_sub(1).and_then(|index| self.chunks.get(index)) else {
            return 0;
        };
        if *number != chunk {
            return self.chunks.get(next).map_or(self.count, |(_, before, _)| *before);
        }
        before
            + match held {
                Chunk::Full => within as u64,
                Chunk::Some(bits) => {
                    let whole: u64 = bits[..within / 64].iter().map(|word| u64::from(word.count_ones())).sum();
                    whole + u64::from((bits[within / 64] & !(u64::MAX << (within % 64))).count_ones())
                }
            }
    }

    /// How many pages are in the set.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_agree_with_a_plain_set(
            extents in proptest::collection::vec((0u64..40_000, 0u64..9_000), 1..20),
            probes in proptest::collection::vec(0u64..60_000, 20),
        ) {
            let mut pages = Pages::default();
            let mut plain = BTreeSet::new();
            for (first, more) in extents {
                pages.add(first, first + more);
                plain.extend(first..=first + more);
            }
            prop_assert_eq!(pages.count(), plain.len() as u64);
            let ranked = pages.ranked();
            for probe in probes {
                prop_assert_eq!(ranked.rank(probe), plain.range(..probe).count() as u64);
            }
        }
    }
}
