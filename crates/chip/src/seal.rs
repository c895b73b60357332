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
//! What the cells below a lock hold, no command brings out; nor is there any that takes a lock back.
//!
//! Everything is booked when its pulse begins. A reset calls nothing back: the pulse is taken to be strong enough by then. Pages of which nothing is known
//! here cost nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_cells::Disturbed;
use wordline_flash::{Mark, Sanitisation, Status, Target};
use wordline_units::{BlockId, Lpn, Nanos, PageId, PlaneId};

use crate::block::State;
use crate::chip::{Chip, UNITS_MAX};
use crate::payload::{Contents, Kept, PageImage, Place};
use crate::place::planes;
use crate::spare::PADDING;

/// What was done to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Seal {
    /// It was locked then.
    Locked(Nanos),
    /// It was destroyed with its whole wordline.
    Scrubbed,
    /// It was destroyed alone.
    Reprogrammed,
}

/// What was done to a block and its pages since the last erase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sealed {
    /// It was locked then.
    locked: Option<Nanos>,
    pages: BTreeMap<u16, Seal>,
}

/// What was done to the blocks of a die; those with nothing are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seals(BTreeMap<u32, Sealed>);

impl Seals {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of them lie in a die of so many blocks and pages.
    pub(crate) fn fits(&self, blocks: usize, pages: u32) -> bool {
        self.0.iter().all(|(&block, sealed)| {
            (block as usize) < blocks && sealed.pages.last_key_value().is_none_or(|(&page, _)| u32::from(page) < pages)
        })
    }

    pub(crate) fn erase(&mut self, block: u32) {
        self.0.remove(&block);
    }

    /// A lock that is there stays as old as it is, and what is destroyed stays so.
    fn seal(&mut self, place: Place, how: Sanitisation, now: Nanos) {
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
}

impl Chip {
    /// How a page was made unreadable, if the pins give nothing of it for that reason at `now`: what destroyed it, else a lock that still holds.
    pub fn sealed(&self, plane: PlaneId, block: BlockId, page: PageId, now: Nanos) -> Option<Sanitisation> {
        let block = u32::from(plane.0) * self.sheet.geometry.blocks + block.0;
        self.seal_of(Place { block, page: u32::from(page.0) }, now)
    }

    /// Whether the pins give nothing of a page because it was made unreadable.
    #[inline]
    pub(crate) fn is_sealed(&self, place: Place, now: Nanos) -> bool {
        !self.seals.is_empty() && self.seal_of(place, now).is_some()
    }

    fn seal_of(&self, place: Place, now: Nanos) -> Option<Sanitisation> {
        let sealed = self.seals.0.get(&place.block)?;
        let timing = &self.sheet.timing;
        let locked = match sealed.pages.get(&(place.page as u16)) {
            Some(Seal::Scrubbed) => return Some(Sanitisation::Scrub),
            Some(Seal::Reprogrammed) => return Some(Sanitisation::Reprogram),
            Some(&Seal::Locked(since)) => Some(since),
            None => None,
        };
        let Some(array) = &self.array else {
            let page_lock = locked.map(|_| Sanitisation::LockPage);
            return sealed.locked.map(|_| Sanitisation::LockBlock).or(page_lock);
        };
        if sealed.locked.is_some_and(|since| array.block_lock_holds(place.block, timing.lock_block.as_micros_f64(), since, now)) {
            return Some(Sanitisation::LockBlock);
        }
        let holds = |since| array.page_lock_holds(place.block, place.page, timing.lock_page.as_micros_f64(), since, now);
        locked.is_some_and(holds).then_some(Sanitisation::LockPage)
    }

    /// Make `image` what the pins give, if that is nothing because the page was made unreadable: the way in which it was.
    pub(crate) fn hide(&self, place: Place, image: &mut PageImage) -> Option<Sanitisation> {
        let how = self.seal_of(place, self.latest)?;
        image.bytes.fill(0);
        image.marks.fill(Mark::NOTHING);
        Some(how)
    }

    /// The pulses that the wordline of a page has had, if there were any.
    pub(crate) fn disturbed(&self, place: Place) -> Option<Disturbed> {
        let sealed = self.seals.0.get(&place.block)?;
        let wordline = self.wordline(place.page as u16);
        let mut by = Disturbed { lock_time: self.sheet.timing.lock_page.as_micros_f64(), ..Disturbed::default() };
        for (&page, seal) in sealed.pages.range(wordline.clone()) {
            match seal {
                Seal::Locked(_) => by.locks += 1,
                Seal::Reprogrammed => by.reprogrammed |= 1 << (page - wordline.start),
                Seal::Scrubbed => {}
            }
        }
        (by.locks > 0 || by.reprogrammed != 0).then_some(by)
    }

    /// Make `target` unreadable. A die that has failed does nothing any more.
    pub(crate) fn sanitise(&mut self, target: &Target, how: Sanitisation, now: Nanos) -> Status {
        self.registers.drop_sensed();
        self.registers.taken_in.0 = 0;
        if self.is_dead() || (self.faults.is_some() && planes(target.planes).any(|plane| self.fails_block(target, plane))) {
            return Status::Failed;
        }
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            if how == Sanitisation::Scrub {
                for page in self.wordline(target.page.0) {
                    let place = Place { page: u32::from(page), ..place };
                    self.fill_with_nothing(place);
                    self.seal(place, how, now);
                }
            } else {
                self.seal(place, how, now);
            }
        }
        Status::Good
    }

    fn seal(&mut self, place: Place, how: Sanitisation, now: Nanos) {
        self.seals.seal(place, how, now);
        if let Some(payload) = &mut self.payload {
            payload.sanitise(place, how, !self.ruined.contains(&place));
        }
    }

    /// A page of a wordline that is scrubbed counts as programmed, if it was not.
    fn fill_with_nothing(&mut self, place: Place) {
        if self.is_programmed(place) || self.blocks[place.block as usize].state != State::Usable {
            return;
        }
        let units = self.grain.units as usize;
        self.blocks[place.block as usize].spare.set(self.grain, place.page, &[PADDING; UNITS_MAX as usize][..units]);
        self.mark_programmed(place);
        self.program_zeroes(place);
        if let Some(payload) = &mut self.payload {
            payload.end(place.block);
        }
    }

    /// What the pins give of a page that was made unreadable is programmed at `place`.
    pub(crate) fn program_zeroes(&mut self, place: Place) {
        if let Some(payload) = &mut self.payload {
            let zeroes = PageImage::sealed(self.sheet.geometry.page.0 as usize, self.grain.units as usize);
            payload.program(place, Contents::of(&zeroes.bytes, &zeroes.marks));
        }
    }

    /// A store that was opened again says so of a page.
    pub(crate) fn learn(&mut self, place: Place, kept: Kept) {
        if let Kept::Sanitised(how) = kept {
            self.seals.seal(place, how, Nanos::ZERO);
        }
    }

    /// What the pins give of the mapping unit of a page that was made unreadable: a spare area of zeroes names none.
    pub(crate) const SEALED_UNIT: Lpn = PADDING;
}

impl PageImage {
    /// What the pins give of a page of `bytes` bytes and `units` mapping units that was made unreadable.
    pub(crate) fn sealed(bytes: usize, units: usize) -> PageImage {
        PageImage { bytes: vec![0; bytes], marks: vec![Mark::NOTHING; units] }
    }
}
