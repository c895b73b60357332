//! Is what harm on demand has done seen as harm, now and when the files are opened again, and is what stands beside it as it was?

use wordline_media::{Backing, Condition, Durability, Media, Memory, PageBuffer, PageState, Place};

use crate::common::{SHAPE, dice, identity, memory, page};

/// One die with three pages in block 2.
fn written() -> Media<Memory> {
    let (mut media, _) = memory(1, Durability::Process);
    for number in 0..3 {
        let mut page = page(&SHAPE, 7 + u64::from(number));
        media.die_mut(0).program_page(Place { block: 2, page: number }, &mut page).expect("memory");
    }
    media
}

fn opened(media: &Media<Memory>) -> Media<Memory> {
    Media::open_memory(&[media.die(0).backing().clone()], Some(&identity(1)), Durability::Process).expect("sound files")
}

fn states<B: Backing>(media: &Media<B>) -> Vec<PageState> {
    let mut buffer = PageBuffer::new(&SHAPE);
    (0..SHAPE.pages).map(|page| media.die(0).read_page(Place { block: 2, page }, &mut buffer).expect("memory").0).collect()
}

#[test]
fn a_corrupt_page_is_torn_at_every_seed_and_its_neighbours_are_whole() {
    use PageState::{Erased, Torn, Written};
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..500 {
        let mut media = written();
        media.die_mut(0).corrupt_page(Place { block: 2, page: 1 }, &mut dice(seed)).expect("memory");
        for media in [&media, &opened(&media)] {
            assert_eq!(states(media), [Written, Torn, Written, Erased, Erased], "seed {seed}");
        }
        let mut buffer = PageBuffer::new(&SHAPE);
        media.die(0).read_page(Place { block: 2, page: 1 }, &mut buffer).expect("memory");
        seen.insert([buffer.data(), buffer.spare()].concat());
    }
    assert!(seen.len() > 490, "{} ways of 500 seeds", seen.len());
}

#[test]
fn a_page_that_the_power_tears_is_never_whole() {
    for seed in 0..500 {
        let mut media = written();
        media.die_mut(0).tear_page(Place { block: 2, page: 3 }, &page(&SHAPE, 9), &mut dice(seed)).expect("memory");
        let again = states(&opened(&media));
        assert_eq!(again[..3], [PageState::Written; 3], "seed {seed}");
        assert!(again[3] != PageState::Written && again[4] == PageState::Erased, "seed {seed}: {again:?}");
    }
}

#[test]
fn an_erase_that_the_power_tears_leaves_a_torn_block() {
    for seed in 0..50 {
        let mut media = written();
        media.die_mut(0).tear_erase(2, &mut dice(seed)).expect("memory");
        let mut again = opened(&media);
        let block = again.die(0).block(2);
        assert_eq!((block.condition, block.erases), (Condition::Torn, 1), "seed {seed}");
        assert!(states(&again).iter().all(|state| *state == PageState::Torn), "seed {seed}");
        again.erase_block(0, 2).expect("memory");
        assert_eq!(states(&again), [PageState::Erased; 5], "seed {seed}: an erase mends it");
    }
}
