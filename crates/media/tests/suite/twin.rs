//! Does a drive read as what was done to it, opened again after every operation?

use proptest::prelude::*;
use wordline_media::{Backing, Durability, Media, Memory};

use crate::common::{dice, draw_act, erased, expect, identity, memory, perform, see};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn reopened_after_every_operation(seed in any::<u64>(), dies in 1..4u32, count in 1..60usize) {
        let mut draw = dice(seed);
        let (mut media, _) = memory(dies, Durability::Process);
        let mut twin = erased(dies);
        for _ in 0..count {
            let act = draw_act(&mut draw, &twin);
            perform(&mut media, act);
            expect(&mut twin, act);
            prop_assert_eq!(&see(&media), &twin, "after {:?}", act);
            let files: Vec<Memory> = (0..dies).map(|die| media.die(die).backing().clone()).collect();
            media = Media::open_memory(&files, Some(&identity(dies)), Durability::Process).expect("its own file");
            prop_assert_eq!(&see(&media), &twin, "reopened after {:?}", act);
        }
    }
}

#[test]
fn an_erase_gives_space_back() {
    let (mut media, _) = memory(1, Durability::Process);
    let mut seen = erased(1);
    let empty = media.die(0).backing().allocated();
    for _ in 0..5 {
        let act = crate::common::Act::Program(0, wordline_media::Place { block: 1, page: seen[0][1].cursor }, 1);
        perform(&mut media, act);
        expect(&mut seen, act);
    }
    assert!(media.die(0).backing().allocated() >= empty + 5 * 1200);
    media.erase_block(0, 1).expect("no fault");
    // The records of the block remain.
    assert_eq!(media.die(0).backing().allocated(), empty + 2 * 4096);
    assert_eq!(media.die(0).backing().length().expect("memory"), crate::common::SHAPE.file_bytes());
}

#[test]
fn a_page_that_landed_elsewhere_does_not_pass() {
    let (mut media, _) = memory(1, Durability::Process);
    let place = |block, page| wordline_media::Place { block, page };
    for block in [0, 1] {
        perform(&mut media, crate::common::Act::Program(0, place(block, 0), u64::from(block) + 1));
    }
    let mut file = media.die(0).backing().unrecorded();
    let slot = 1200 + 24 + 16;
    let start = file.length().expect("memory") - 16 * 512 - 4 * 8192;
    let mut bytes = vec![0; slot];
    file.read(start, &mut bytes).expect("memory");
    file.write(start + 8192, &bytes).expect("memory");
    let media = Media::open_memory(&[file], None, Durability::Process).expect("still a die");
    let states: Vec<_> = see(&media)[0].iter().map(|block| block.pages[0].0).collect();
    use wordline_media::PageState::{Erased, Torn, Written};
    assert_eq!(states, [Written, Torn, Erased, Erased]);
}
