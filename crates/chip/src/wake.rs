//! A die whose store was opened again.
//!
//! Of each block it takes over what the store has of it; pages are looked at on demand. A spare area of such a block is read from its page whenever
//! it is needed, until the block is erased: to read all of them at once would take as long as to read the die.

use wordline_flash::Sanitisation;
use wordline_units::Nanos;

use crate::block::State;
use crate::medium::Medium;
use crate::payload::{Kept, KeptBlock, PageImage, Persistent};
use crate::place::Place;
use crate::spare::Spare;

/// The store of a die, which outlives the drive.
///
/// # Panics
/// If it does not.
fn persistent(medium: &Medium) -> &dyn Persistent {
    medium.payload().and_then(|payload| payload.persistent()).expect("a die wakes from a store that outlives the drive")
}

/// Take over what the store has of a block.
pub(crate) fn block(medium: &mut Medium, block: u32) -> KeptBlock {
    let kept = persistent(medium).kept_block(block);
    let blocks = medium.blocks_mut();
    let entry = blocks.of_mut(block);
    entry.set_erases(kept.erases);
    *entry.spare_mut() = if kept.next_page > 0 { Spare::Stored } else { Spare::Empty };
    if kept.is_torn {
        entry.set_state(State::Torn);
    }
    // Gaps among wordlines that go in any order show when such a page is looked at. The firmware programs no block
    // on before its next erase.
    blocks.mark_first(block, kept.next_page);
    blocks.mark_spared(block, kept.life.spared());
    if kept.is_locked {
        medium.seals_mut().seal(Place { block, page: 0 }, Sanitisation::LockBlock, Nanos::ZERO);
    }
    if let Some(array) = medium.physics_mut() {
        array.wake(block, &kept.life);
        if kept.next_page == 0 {
            // A power cut after the erase, or before the first page of copied data.
            array.wake_empty(block);
        }
    }
    kept
}

/// Take over the parts of the die that have failed for good.
pub(crate) fn failures(medium: &mut Medium) {
    persistent(medium).kept_failures().into_iter().for_each(|failure| medium.fail(failure));
}

/// Look at a page. `image` becomes what the pins give of it at `now`.
pub(crate) fn page(medium: &mut Medium, place: Place, now: Nanos, image: &mut PageImage) -> Kept {
    let kept = medium.read_payload(place, None, image);
    match (kept, medium.hide(place, now, image)) {
        (_, Some(how)) => Kept::Sanitised(how),
        (Kept::Torn, None) => Kept::Torn,
        // Its lock has not held.
        (Kept::Sanitised(_), None) => Kept::Whole,
        (Kept::Erased | Kept::Whole, None) => kept,
    }
}
