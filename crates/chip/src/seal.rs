//! Pages that were made unreadable without an erase, and what the pins give of them.
//!
//! | how | cells | pins | lasts |
//! |---|---|---|---|
//! | page lock | keep what they hold | zeroes, spare area too; uncorrectable | until the erase, as long as most of its flag cells hold |
//! | block lock | keep what they hold | the same for every page of the block | until the erase, as long as its select cells cut off enough bit lines |
//! | scrub, reprogram | hold nothing any more | the same | until the erase |
//!
//! A read of such a page takes as long as any. Its bits are all zero, and that is no codeword of a controller which scrambles its data, so error correction
//! says that it cannot be corrected. The data sheet of 002 has the bits and leaves the status open (§5.2): it is taken to be the same for both locks.
//! No command brings out what the cells below a lock hold; nor is there any that takes a lock back.
//!
//! Everything is booked when its pulse begins. A reset calls nothing back: the pulse is taken to be strong enough by then. Pages of which nothing is known
//! here cost nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_cells::Disturbed;
use wordline_flash::Sanitisation;
use wordline_units::{Lpn, Nanos};

use crate::cells::DieCells;
use crate::place::{Place, Shape};
use crate::spare::PADDING;

/// Deed done to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Seal {
    /// It was locked then.
    Locked(Nanos),
    /// It was destroyed with its whole wordline.
    Scrubbed,
    /// It was destroyed alone.
    Reprogrammed,
}

/// Deeds done to a block and its pages since the last erase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sealed {
    /// It was locked then.
    locked: Option<Nanos>,
    pages: BTreeMap<u16, Seal>,
}

/// Deeds done to the blocks of a die; those with nothing are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seals(BTreeMap<u32, Sealed>);

impl Seals {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if all of them lie in a die of so many blocks and pages.
    pub(crate) fn fits(&self, blocks: usize, pages: u32) -> bool {
        self.0.iter().all(|(&block, sealed)| {
            (block as usize) < blocks && sealed.pages.last_key_value().is_none_or(|(&page, _)| u32::from(page) < pages)
        })
    }

    pub(crate) fn erase(&mut self, block: u32) {
        self.0.remove(&block);
    }

    /// A lock that is there stays as old as it is, and what is destroyed stays so.
    pub(crate) fn seal(&mut self, place: Place, how: Sanitisation, now: Nanos) {
        let sealed = self.0.entry(place.block).or_default();
        let page = place.page as u16;
        match how {
            Sanitisation::LockPage => {
                sealed.pages.entry(page).or_insert(Seal::Locked(now));
            }
            Sanitisation::LockBlock => {
                sealed.locked.get_or_insert(now);
            }
            Sanitisation::Scrub => {
                sealed.pages.insert(page, Seal::Scrubbed);
            }
            Sanitisation::Reprogram => {
                let seal = sealed.pages.entry(page).or_insert(Seal::Reprogrammed);
                if let Seal::Locked(_) = seal {
                    *seal = Seal::Reprogrammed;
                }
            }
        }
    }

    /// No lock is younger than `now`.
    pub(crate) fn settle(&mut self, now: Nanos) {
        for sealed in self.0.values_mut() {
            sealed.locked = sealed.locked.map(|since| since.min(now));
            for seal in sealed.pages.values_mut() {
                if let Seal::Locked(since) = seal {
                    *since = (*since).min(now);
                }
            }
        }
    }

    /// The way in which a page was made unreadable, if the pins give nothing of it for that reason at `now`: what destroyed it, else a lock that still holds.
    pub(crate) fn of(&self, place: Place, now: Nanos, cells: &DieCells) -> Option<Sanitisation> {
        let sealed = self.0.get(&place.block)?;
        let locked = match sealed.pages.get(&(place.page as u16)) {
            Some(Seal::Scrubbed) => return Some(Sanitisation::Scrub),
            Some(Seal::Reprogrammed) => return Some(Sanitisation::Reprogram),
            Some(&Seal::Locked(since)) => Some(since),
            None => None,
        };
        if sealed.locked.is_some_and(|since| cells.block_lock_holds(place.block, since, now)) {
            return Some(Sanitisation::LockBlock);
        }
        locked.is_some_and(|since| cells.page_lock_holds(place, since, now)).then_some(Sanitisation::LockPage)
    }

    /// True if the pins give nothing of a page because it was made unreadable.
    #[inline(always)]
    pub(crate) fn hides(&self, place: Place, now: Nanos, cells: &DieCells) -> bool {
        !self.is_empty() && self.of(place, now, cells).is_some()
    }

    /// The pulses that the wordline of a page has had, if there were any. Locks take pulses of `lock_time` microseconds.
    pub(crate) fn disturbed(&self, place: Place, shape: &Shape, lock_time: f64) -> Option<Disturbed> {
        let sealed = self.0.get(&place.block)?;
        let wordline = shape.wordline(place.page as u16);
        let mut by = Disturbed { lock_time, ..Disturbed::default() };
        for (&page, seal) in sealed.pages.range(wordline.clone()) {
            match seal {
                Seal::Locked(_) => by.locks += 1,
                Seal::Reprogrammed => by.reprogrammed |= 1 << (page - wordline.start),
                Seal::Scrubbed => {}
            }
        }
        (by.locks > 0 || by.reprogrammed != 0).then_some(by)
    }
}

/// The mapping unit of a page that was made unreadable, as the pins give it: a spare area of zeroes names none.
pub(crate) const SEALED_UNIT: Lpn = PADDING;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_stays_as_old_as_it_is_and_what_is_destroyed_stays_so() {
        let mut seals = Seals::default();
        let place = |page| Place { block: 2, page };
        seals.seal(place(3), Sanitisation::LockPage, Nanos(5));
        seals.seal(place(3), Sanitisation::LockPage, Nanos(9));
        assert_eq!(seals.0[&2].pages[&3], Seal::Locked(Nanos(5)));
        seals.settle(Nanos(4));
        assert_eq!(seals.0[&2].pages[&3], Seal::Locked(Nanos(4)));
        seals.seal(place(3), Sanitisation::Reprogram, Nanos(9));
        seals.seal(place(3), Sanitisation::LockPage, Nanos(9));
        assert_eq!(seals.0[&2].pages[&3], Seal::Reprogrammed);
        seals.seal(place(3), Sanitisation::Scrub, Nanos(9));
        seals.seal(place(3), Sanitisation::Reprogram, Nanos(9));
        assert_eq!(seals.0[&2].pages[&3], Seal::Scrubbed);
        assert!(seals.fits(3, 4) && !seals.fits(3, 3) && !seals.fits(2, 4));
        seals.erase(2);
        assert!(seals.is_empty());
    }
}
