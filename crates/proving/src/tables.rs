//! Made-up tables of how chips age. They say nothing of any cells: they make techniques act, often and in every way, on the small drives of the proving ground.

use std::sync::Arc;

use wordline_flash::ReadOffsets;
use wordline_flash::tables::{Aging, CopyIndex, Copyback, Guard, GuardMode, Ort, OrtIndex, Sequence, Tables};

/// Steps of the index by age.
const AGES: usize = Ort::AGES;
/// P/E counts up to which bins reach: small drives are not erased often.
pub(crate) const PE: [u32; 3] = [2, 8, 40];

/// Tables for dies with `layers` h-layers.
pub fn tables(layers: u32) -> Tables {
    Tables {
        aging: Some(Arc::new(aging())),
        ort: Some(Arc::new(ort(layers))),
        copyback: Some(Arc::new(copyback())),
        guard: Some(Arc::new(guard(layers))),
        ..Tables::NONE
    }
}

/// Modes that spare a wordline now and then, and one of each h-layer half of the time. The h-layers in the middle are the weakest.
fn guard(layers: u32) -> Guard {
    let mode = |wordlines, share, endurance| GuardMode { wordlines, share, endurance };
    Guard {
        order: (0..layers).map(|rank| if rank % 2 == 0 { layers / 2 + rank / 2 } else { layers / 2 - rank.div_ceil(2) }).collect(),
        relative: vec![1.0; layers as usize],
        modes: vec![mode(1, 0.3, 1.2), mode(layers, 0.5, 1.4)],
        coefficient: 0.35,
        ..Guard::default()
    }
}

/// Ages that are all over a life after a few erases.
fn aging() -> Aging {
    Aging {
        weights: [1.0, 5.0, 0.5, -0.5, 2.0],
        plus: [1.0, 0.01, 1.0],
        plus_plus: [1.0, 0.01, 0.5, 1.0],
        limit: 64.0,
        flicker: 0.5,
        safe: 1.0,
        page: 1,
        rest_max: 10_800,
        pe: PE.to_vec(),
        pe_worst: vec![150, 450, 900],
        energy: 1.1,
        ..Aging::default()
    }
}

/// Two sets, in sequences of one to three, of which some are proven.
fn ort(layers: u32) -> Ort {
    let retention = vec![0, 60];
    let reads = vec![10, 1_000];
    let index = |steps: usize| {
        let places = steps * (retention.len() + 1) * reads.len() * 2;
        let sequence =
            |place: usize| Sequence::of(&[[0, 1, 2], [1, 2, 0], [2, 0, 1]][place % 3][..1 + place % 3]).expect("three sets at most");
        let proven = (0..steps).map(|step| [None, Some(60), Some(31_536_000)][step % 3]).collect();
        OrtIndex { sequences: (0..places).map(sequence).collect(), proven }
    };
    Ort {
        sets: (1..=3).map(|steps| ReadOffsets::NONE.with(1, -steps)).collect(),
        layers: (0..layers).map(|layer| u32::from(layer == 0)).collect(),
        pe: PE.to_vec(),
        by_age: index(AGES),
        by_pe: index(PE.len()),
        retention,
        reads,
        ..Ort::default()
    }
}

/// Copies in a row that a new block of the worst class stands. One of the next better class stands one more.
const COPIES: u32 = 4;

/// Errors just after program up to which a block is of the best class, and of the median one.
const ERRORS: [u32; 2] = [5, 9];

/// Errors just after program of the block of this number on a die: blocks of all classes are there.
pub fn errors_of(die: u16, block: u32) -> u32 {
    [3, 7, 12][(u32::from(die) + block) as usize % 3]
}

/// Copies in a row that a new block of this class stands.
fn copies_of(most: u32, class: usize) -> u32 {
    most + (Copyback::CLASSES - 1 - class) as u32
}

/// Copies in a row that a block of this class and age stands: one less for each tenth of a life that it has begun.
pub fn copies_at_age(class: usize, thousandths: u16) -> u32 {
    copies_of(COPIES, class).saturating_sub(u32::from(thousandths).div_ceil(100))
}

/// Copies in a row that a block of this class stands which was erased so often: one less for each bin of counts that it has passed, and none beyond the last.
pub fn copies_at_count(class: usize, erases: u32) -> u32 {
    PE.iter().position(|&most| erases <= most).map_or(0, |bin| copies_of(COPIES, class) - bin as u32)
}

/// Thresholds from four copies down to none.
fn copyback() -> Copyback {
    copyback_of(COPIES)
}

/// Thresholds of one copy more than blocks stand.
pub(crate) fn generous() -> Copyback {
    copyback_of(COPIES + 1)
}

fn copyback_of(most: u32) -> Copyback {
    let line = |class: usize, bins: usize| (0..bins).map(|bin| copies_of(most, class).saturating_sub(bin as u32)).collect();
    let lines = |bins: usize| (0..Copyback::CLASSES).map(|class| line(class, bins)).collect::<Vec<_>>();
    let index = |bins: usize| CopyIndex { class_errors: vec![ERRORS; bins], thresholds: lines(bins), with_set: lines(bins) };
    Copyback {
        pe: PE.to_vec(),
        retention: vec![31_536_000],
        layers: vec![0],
        by_age: index(Copyback::AGES),
        by_pe: index(PE.len()),
        risk: 0.01,
        ..Copyback::default()
    }
}

#[cfg(test)]
mod tests {
    use wordline_flash::tables::OrtPlace;

    use super::*;

    #[test]
    fn every_place_of_the_read_references_has_a_sequence() {
        let ort = ort(3);
        for (index, steps) in [(&ort.by_age, AGES), (&ort.by_pe, PE.len())] {
            assert_eq!((index.sequences.len(), index.proven.len()), (ort.places(steps), steps));
            let last = OrtPlace { step: steps - 1, kept: None, layer: 0, reads: u32::MAX };
            assert!(index.sequences.get(ort.place(&last)).is_some());
        }
    }
}
