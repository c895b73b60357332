//! Optimal read references: sets of offsets to begin a read with, by what firmware knows of a block (000 §3.4.1 and §3.4.2).

use super::bin;
use crate::offsets::{ReadOffsets, ReadSets};

/// Up to three sets of read references, in the order in which a read tries them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence([Option<u8>; Sequence::MOST]);

impl Sequence {
    /// Most sets of a sequence: two retries at most.
    pub const MOST: usize = 3;

    /// A sequence of these sets; `None` if they are too many.
    pub fn of(sets: &[u8]) -> Option<Sequence> {
        let mut held = [None; Sequence::MOST];
        (sets.len() <= Sequence::MOST).then(|| {
            held.iter_mut().zip(sets).for_each(|(held, set)| *held = Some(*set));
            Sequence(held)
        })
    }

    /// Numbers of the sets, the first to try first.
    pub fn sets(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().flatten().copied()
    }
}

/// Sequences by one index of wear, and how far they were proven on chips that they were not made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrtIndex {
    /// A sequence for each step of the index, column of retention, class of h-layers and step of reads, the last of these running fastest.
    pub sequences: Vec<Sequence>,
    /// For each step of the index, the longest retention, in seconds, up to which no read of the other half of the lot needed more than two retries; `None`
    /// where even fresh data did.
    pub proven: Vec<Option<u32>>,
}

/// A place of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrtPlace {
    /// Step of the index.
    pub step: usize,
    /// How long the data were kept, in seconds at the reference temperature; `None`: not known.
    pub kept: Option<u32>,
    /// H-layer of the page; 0 is the topmost.
    pub layer: u32,
    /// Reads of the block since its program.
    pub reads: u32,
}

/// Table of read references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ort {
    /// Seed of the lot that the table was made from.
    pub seed: u64,
    /// Sets of offsets to the default references.
    pub sets: Vec<ReadOffsets>,
    /// Longest retention of each column but the last, which is for data of which it is not known, in seconds.
    pub retention: Vec<u32>,
    /// Class of each h-layer, topmost first.
    pub layers: Vec<u32>,
    /// Most reads of each step.
    pub reads: Vec<u32>,
    /// Most P/E cycles of each step of `by_pe`.
    pub pe: Vec<u32>,
    /// Sequences by age, in tenths; the last is for blocks past their life.
    pub by_age: OrtIndex,
    /// Sequences by P/E count.
    pub by_pe: OrtIndex,
}

impl Ort {
    /// Most sets of a table.
    pub const SETS_MOST: usize = 64;
    /// Most sets of a sequence by the index alone: seven retries at most (000 §3.4.2).
    pub const ALONE_MOST: usize = 8;
    /// Most classes of h-layers.
    pub const CLASSES_MOST: usize = 6;
    /// Steps of the index by age: tenths of a life, and one beyond.
    pub const AGES: usize = 11;

    /// The table's sets as a controller holds them: the set that the table numbers n has number n + 1 there.
    ///
    /// # Panics
    /// If the table has more than [`Ort::SETS_MOST`] sets, which the plan refuses.
    pub fn read_sets(&self) -> ReadSets {
        ReadSets::new(self.sets.clone()).expect("a table has few sets")
    }

    /// Step of an age in thousandths.
    pub fn age_step(age: u16) -> usize {
        usize::from(age / 100).min(Ort::AGES - 1)
    }

    /// Step of a P/E count; the last beyond the table.
    pub fn pe_step(&self, cycles: u32) -> usize {
        bin(&self.pe, cycles).unwrap_or(self.pe.len().saturating_sub(1))
    }

    /// Number of classes of h-layers.
    pub fn classes(&self) -> usize {
        self.layers.iter().max().map_or(0, |most| *most as usize + 1)
    }

    /// Columns of retention, that of the unknown among them.
    pub fn columns(&self) -> usize {
        self.retention.len() + 1
    }

    /// Sets by a step of an index alone, the first to try first, for data kept for any time up to the longest, of any h-layer and with any reads. Each next
    /// set is the one that most of the step's places list, of those that list none of the sets before it.
    pub fn alone(&self, index: &OrtIndex, step: usize) -> Vec<u8> {
        let of_step = self.places(1);
        let known = of_step / self.columns() * self.retention.len();
        let mut left: Vec<&Sequence> = index.sequences.iter().skip(step * of_step).take(known).collect();
        let mut chosen = Vec::new();
        while chosen.len() < Ort::ALONE_MOST {
            let listed = |set: u8| left.iter().filter(|of| of.sets().any(|own| own == set)).count();
            let best = (0..self.sets.len() as u8).max_by_key(|&set| (listed(set), std::cmp::Reverse(set)));
            let Some(best) = best.filter(|&best| listed(best) > 0) else { break };
            chosen.push(best);
            left.retain(|of| of.sets().all(|own| own != best));
        }
        chosen
    }

    /// Number of sequences of an index of so many steps.
    pub fn places(&self, steps: usize) -> usize {
        steps * self.columns() * self.classes() * self.reads.len()
    }

    /// Number of a place among the sequences of an index. What lies beyond an axis is taken for the end of it; retention beyond is unknown.
    pub fn place(&self, of: &OrtPlace) -> usize {
        let column = of.kept.and_then(|kept| bin(&self.retention, kept)).unwrap_or(self.retention.len());
        let class = self.layers.get(of.layer as usize).map_or(0, |class| *class as usize);
        let reads = bin(&self.reads, of.reads).unwrap_or(self.reads.len().saturating_sub(1));
        ((of.step * self.columns() + column) * self.classes() + class) * self.reads.len() + reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ort() -> Ort {
        Ort { retention: vec![0, 86_400], layers: vec![0, 1, 0], reads: vec![1_000, 10_000], pe: vec![1_000, 2_000], ..Ort::default() }
    }

    #[test]
    fn a_controller_holds_the_sets_one_number_higher() {
        let set = |steps| ReadOffsets::NONE.with(1, steps);
        let sets = Ort { sets: vec![set(-3), set(-5)], ..ort() }.read_sets();
        assert_eq!((sets.len(), sets.get(1), sets.get(2)), (2, Some(&set(-3)), Some(&set(-5))));
    }

    #[test]
    fn every_place_has_a_number_of_its_own_and_what_lies_beyond_has_that_of_the_end() {
        let ort = ort();
        let mut seen: Vec<usize> = Vec::new();
        for step in 0..2 {
            for kept in [Some(0), Some(1), None] {
                for layer in 0..2 {
                    seen.extend([1_000, 10_000].map(|reads| ort.place(&OrtPlace { step, kept, layer, reads })));
                }
            }
        }
        assert_eq!(seen, (0..ort.places(2)).collect::<Vec<_>>());
        let of = |kept, layer, reads| ort.place(&OrtPlace { step: 1, kept, layer, reads });
        assert_eq!(of(Some(86_401), 0, 0), of(None, 0, 0), "kept for longer than was tried is not known");
        assert_eq!(of(Some(9), 1, u32::MAX), of(Some(86_400), 1, 10_000));
        assert_eq!(of(Some(0), 2, 0), of(Some(0), 0, 0), "h-layers of a class are alike");
    }

    #[test]
    fn steps_of_both_indices_end_at_the_last() {
        assert_eq!([0, 99, 100, 999, 1_000, 9_999].map(Ort::age_step), [0, 0, 1, 9, 10, 10]);
        assert_eq!([0, 1_000, 1_001, 9_000].map(|cycles| ort().pe_step(cycles)), [0, 0, 1, 1]);
    }

    #[test]
    fn a_step_alone_tries_the_sets_that_serve_most_places_first_and_no_column_of_the_unknown() {
        // Two columns and that of the unknown, two classes and two steps of reads: twelve places a step.
        let of = |sets: &[u8]| Sequence::of(sets).expect("few sets");
        let first = [of(&[3]), of(&[1, 2]), of(&[1]), of(&[4, 1]), of(&[2, 3]), of(&[3, 5]), of(&[1]), of(&[5, 2])];
        let unknown = [of(&[0]); 4];
        let index = OrtIndex { sequences: [of(&[7]); 12].into_iter().chain(first).chain(unknown).collect(), proven: Vec::new() };
        let ort = Ort { sets: vec![ReadOffsets::NONE; 8], ..ort() };
        assert_eq!(ort.alone(&index, 0), [7]);
        assert_eq!(ort.alone(&index, 1), [1, 3, 2], "1 serves four places, 3 three of the others, and 2, before 5, the last");
        let many = OrtIndex { sequences: (0..12).map(|set| of(&[set])).collect(), proven: Vec::new() };
        let wide = Ort { sets: vec![ReadOffsets::NONE; 12], retention: vec![0, 1, 2], layers: vec![0], reads: vec![1, 2, 3], ..ort };
        assert_eq!(wide.alone(&many, 0), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_sequence_has_three_sets_at_most() {
        let sets = |of: &[u8]| Sequence::of(of).map(|sequence| sequence.sets().collect::<Vec<_>>());
        assert_eq!(sets(&[4, 2]), Some(vec![4, 2]));
        assert_eq!(sets(&[]), Some(vec![]));
        assert_eq!(sets(&[1, 2, 3, 4]), None);
    }
}
