//! Bytes that are lost: flipped bits, and programs and erases that a power cut tears. Only the store hears of them: the die is off.

use wordline_units::random::{Draw, Stream};

use crate::payload::{Contents, Payload};
use crate::place::{Place, Shape};

/// Bits of a page flip, as many and which by `seed`.
pub(crate) fn corrupt(payload: &mut dyn Payload, place: Place, shape: &Shape, seed: u64) {
    let mut draw = Draw::new(seed, Stream::Injected, place.block * shape.pages() + place.page);
    payload.corrupt(place, &mut draw);
}

/// The power goes while a program unit of `places`, with `units` mapping units in each, takes in `contents`: by `draw`, some of its pages are programmed, one
/// in part, and the others not.
pub(crate) fn program(
    payload: Option<&mut (dyn Payload + 'static)>,
    places: &[Place],
    units: usize,
    contents: Contents<'_>,
    draw: &mut Draw,
) {
    let torn = draw.below(places.len() as u64) as usize;
    let Some(payload) = payload else { return };
    for (index, &place) in places.iter().enumerate().take(torn + 1) {
        let of_page = contents.of_page(index, units);
        if index < torn {
            payload.program(place, of_page);
            payload.end(place.block);
        } else {
            payload.tear(place, of_page, draw);
        }
    }
}

/// The power goes while `blocks` are erased: by `draw`, some are, one in part, and the others not.
pub(crate) fn erase(payload: Option<&mut (dyn Payload + 'static)>, blocks: &[u32], draw: &mut Draw) {
    let torn = draw.below(blocks.len() as u64) as usize;
    let Some(payload) = payload else { return };
    for (index, &block) in blocks.iter().enumerate().take(torn + 1) {
        if index < torn {
            payload.erase(block);
            payload.end(block);
        } else {
            payload.tear_erase(block, draw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Kept, PageImage, RamPayload};
    use wordline_flash::{Mark, example};

    #[test]
    fn pages_before_the_torn_one_are_programmed_and_those_behind_it_are_not() {
        let bytes = example::sheet().geometry.page.0 as usize;
        let (all, marks) = (vec![7; 3 * bytes], [Mark::NOTHING; 3]);
        let places = [0, 1, 2].map(|page| Place { block: 4, page });
        let mut counts = [0; 3];
        for seed in 0..30 {
            let mut payload = RamPayload::new(&example::sheet(), 1);
            let mut draw = Draw::new(seed, Stream::Injected, 0);
            program(Some(&mut payload), &places, 1, Contents::of(&all, &marks), &mut draw);
            let mut image = PageImage::new(bytes, 1);
            let whole = places.map(|place| payload.read(place, &mut image) == Kept::Whole && image.bytes == all[..bytes]);
            assert!(whole.is_sorted_by(|before, after| before >= after), "{whole:?}");
            counts[whole.iter().filter(|&&is_whole| is_whole).count()] += 1;
        }
        assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    }
}
