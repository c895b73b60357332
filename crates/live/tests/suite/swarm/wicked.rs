//! Flash that misbehaves and does not say so: the classic ways in which a block goes bad, and planes and dies that die.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use wordline_chip::{Contents, DieFault, Kept, KeptBlock, PageImage, Payload, Persistent, Place, Sanitisation};
use wordline_units::random::Draw;

/// How a block misbehaves. Programs and erases that fail and say so are the dice of the dies themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A program is reported well and leaves the page as it was.
    ProgramDoesNothing,
    /// An erase is reported well and leaves the block as it was.
    EraseDoesNothing,
    /// No page can be read.
    ReadFails,
    /// All three.
    Dead,
}

/// What is wrong with a die, and the pages that were programmed over others. It outlives the drive.
#[derive(Debug, Default)]
pub(crate) struct Ills {
    blocks: BTreeMap<u32, Fault>,
    /// Blocks that hold what they should have been rid of.
    uncleared: BTreeSet<u32>,
    spoiled: BTreeSet<Place>,
    /// How often something went wrong.
    pub(crate) happened: u64,
}

impl Ills {
    /// A die of `planes` planes of `blocks` blocks each. One time in eight, a plane or the whole die is dead.
    pub(crate) fn new(draw: &mut Draw, planes: u32, blocks: u32) -> Ills {
        let mut ills = Ills::default();
        let all = planes * blocks;
        match draw.below(16) {
            0 => ills.blocks.extend((0..all).map(|block| (block, Fault::Dead))),
            1 => {
                let plane = draw.below(u64::from(planes)) as u32;
                ills.blocks.extend((plane * blocks..(plane + 1) * blocks).map(|block| (block, Fault::Dead)));
            }
            _ => {
                for _ in 0..draw.below(4) {
                    let faults = [Fault::ProgramDoesNothing, Fault::EraseDoesNothing, Fault::ReadFails, Fault::Dead];
                    ills.blocks.insert(draw.below(u64::from(all)) as u32, faults[draw.below(4) as usize]);
                }
            }
        }
        ills
    }

    fn has(&self, block: u32, fault: Fault) -> bool {
        self.blocks.get(&block).is_some_and(|&is| is == fault || is == Fault::Dead)
    }
}

/// Programs that a die gets from no load here, unless it is worked without end.
const ENDLESS: u32 = 1_000_000;

/// A payload with ills.
#[derive(Debug)]
pub(crate) struct Wicked<P> {
    inner: P,
    ills: Arc<Mutex<Ills>>,
    programs: u32,
}

impl<P: Persistent> Wicked<P> {
    pub(crate) fn new(inner: P, ills: &Arc<Mutex<Ills>>) -> Wicked<P> {
        Wicked { inner, ills: Arc::clone(ills), programs: 0 }
    }

    /// Whether a program at `place` reaches the flash.
    ///
    /// # Panics
    /// If there is no end of them.
    fn takes(&mut self, place: Place) -> bool {
        self.programs += 1;
        assert!(self.programs < ENDLESS, "a die is programmed without end");
        let mut ills = self.ills.lock().expect("one thread");
        if ills.uncleared.contains(&place.block) {
            // Over what stands there: neither can be read.
            ills.spoiled.insert(place);
        } else if !ills.has(place.block, Fault::ProgramDoesNothing) {
            return true;
        }
        ills.happened += 1;
        false
    }
}

impl<P: Persistent> Payload for Wicked<P> {
    fn persistent(&self) -> Option<&dyn Persistent> {
        Some(self)
    }

    fn program(&mut self, place: Place, contents: Contents<'_>) {
        if self.takes(place) {
            self.inner.program(place, contents);
        }
    }

    fn read(&self, place: Place, image: &mut PageImage) -> Kept {
        let kept = self.inner.read(place, image);
        let ills = self.ills.lock().expect("one thread");
        if ills.spoiled.contains(&place) || (kept == Kept::Whole && ills.has(place.block, Fault::ReadFails)) { Kept::Torn } else { kept }
    }

    fn copy(&mut self, from: Place, to: Place) {
        if self.takes(to) {
            self.inner.copy(from, to);
        }
    }

    fn sanitise(&mut self, place: Place, how: Sanitisation, is_whole: bool) {
        self.inner.sanitise(place, how, is_whole);
    }

    fn erase(&mut self, block: u32) {
        let mut ills = self.ills.lock().expect("one thread");
        if ills.has(block, Fault::EraseDoesNothing) {
            ills.uncleared.insert(block);
            ills.happened += 1;
        } else {
            self.inner.erase(block);
        }
    }

    fn set_erases(&mut self, block: u32, erases: u32) {
        self.inner.set_erases(block, erases);
    }

    fn end(&mut self, block: u32) {
        self.inner.end(block);
    }

    fn break_off(&mut self, block: u32) {
        self.inner.break_off(block);
    }

    fn fail(&mut self, block: u32) {
        self.inner.fail(block);
    }

    fn corrupt(&mut self, place: Place, draw: &mut Draw) {
        self.inner.corrupt(place, draw);
    }

    fn tear(&mut self, place: Place, contents: Contents<'_>, draw: &mut Draw) {
        if self.takes(place) {
            self.inner.tear(place, contents, draw);
        }
    }

    fn tear_erase(&mut self, block: u32, draw: &mut Draw) {
        self.inner.tear_erase(block, draw);
    }

    fn keep_failure(&mut self, failure: &DieFault) {
        self.inner.keep_failure(failure);
    }
}

impl<P: Persistent> Persistent for Wicked<P> {
    fn kept_block(&self, block: u32) -> KeptBlock {
        self.inner.kept_block(block)
    }

    fn kept_failures(&self) -> Vec<DieFault> {
        self.inner.kept_failures()
    }
}
