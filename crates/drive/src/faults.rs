//! Faults on demand for a whole drive: those of its dies, and two that wait for whichever die comes next.
//!
//! The firmware learns of them from the reports of what it orders. The one that ends everything is the power cut: the program or erase under way is torn, and
//! from then on nothing reaches a die any more; who drives the drive asks [`Drive::power_cut`] and drops it.

use wordline_chip::DieFault;
use wordline_flash::{Operation, OperationKind};
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, DieId, FlashOp, PageId};

use crate::control::FlashPlace;
use crate::drive::Drive;
use crate::flash::FlightSlot;

/// A fault on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A fault of a die, counted over the drive.
    Die(DieId, DieFault),
    /// Failure of the next programs, on any die.
    Program {
        /// Number of programs that fail.
        programs: u32,
    },
    /// Power cut during a later program or erase.
    Power {
        /// Number of that operation, counted from 1; 0: the power goes now, between two operations.
        after: u64,
        /// Seed that decides how far the torn operation comes.
        seed: u64,
    },
}

/// Place at which a power cut on demand has struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCut {
    /// Torn operation: its kind, its die, the block in its first plane, and its first page; `None`: the cut came between operations.
    pub torn: Option<(FlashOp, DieId, BlockId, PageId)>,
}

/// Faults that wait for an operation on any die.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    programs: u32,
    power: Option<(u64, u64)>,
    struck: Option<PowerCut>,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.programs == 0 && self.power.is_none() && self.struck.is_none()
    }
}

impl Drive {
    /// Injects `fault` beside those that are active. A die, plane or blocks that fail for good are an event, [`wordline_engine::Event::Harmed`].
    ///
    /// # Panics
    /// If it names a die, or a part of one, that is not there.
    pub fn inject(&mut self, fault: Fault) {
        match fault {
            Fault::Die(die, fault) => self.harm(die, fault),
            Fault::Program { programs } => {
                let waiting = self.waiting.get_or_insert_default();
                waiting.programs = waiting.programs.saturating_add(programs);
            }
            Fault::Power { after, seed } => {
                let waiting = self.waiting.get_or_insert_default();
                if after == 0 {
                    waiting.struck.get_or_insert(PowerCut { torn: None });
                } else {
                    waiting.power = Some((after, seed));
                }
            }
        }
        self.forget_nothing();
    }

    /// All active faults, with what is left of them.
    pub fn faults(&self) -> Vec<Fault> {
        let of_dies = self.chips.iter().flat_map(|(die, chip)| chip.faults().into_iter().map(move |fault| Fault::Die(die, fault)));
        let mut faults: Vec<Fault> = of_dies.collect();
        if let Some(waiting) = &self.waiting {
            faults.extend((waiting.programs > 0).then_some(Fault::Program { programs: waiting.programs }));
            faults.extend(waiting.power.map(|(after, seed)| Fault::Power { after, seed }));
        }
        faults
    }

    /// Clears all faults but those of dies, planes and blocks, which have failed for good. Destroyed data stays destroyed, and power does not come back.
    pub fn clear_faults(&mut self) {
        for die in 0..self.config.sheet.geometry.dies() {
            self.chips[DieId(die as u16)].clear_faults();
        }
        if let Some(waiting) = &mut self.waiting {
            (waiting.programs, waiting.power) = (0, None);
        }
        self.forget_nothing();
    }

    /// Corrupts the page at `place` with bit flips drawn from `seed`: it cannot be corrected until its block is erased. Returns true if something was
    /// programmed there.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn corrupt(&mut self, place: &FlashPlace, seed: u64) -> bool {
        self.chips[place.die].corrupt(place.plane, place.block, place.page, seed)
    }

    /// Place at which a power cut on demand has struck. From then on no operation of the firmware reaches a die.
    #[inline]
    pub fn power_cut(&self) -> Option<PowerCut> {
        self.waiting.as_ref().and_then(|waiting| waiting.struck)
    }

    fn forget_nothing(&mut self) {
        if self.waiting.as_ref().is_some_and(|waiting| waiting.is_empty()) {
            self.waiting = None;
        }
    }

    /// Apply waiting faults to `operation` of `core`. Returns true if it does not reach its die.
    #[cold]
    pub(crate) fn meets_fault(&mut self, core: u32, operation: &Operation) -> bool {
        let die = self.wiring.die(core, operation.die);
        let Some(waiting) = &mut self.waiting else { return false };
        if waiting.struck.is_some() {
            return true;
        }
        let (op, target) = match operation.kind {
            OperationKind::Program { target, .. } => (FlashOp::Program, target),
            OperationKind::Copyback { to, .. } => (FlashOp::Copyback, to),
            OperationKind::Erase { target, .. } => (FlashOp::Erase, target),
            OperationKind::Read { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => return false,
        };
        if op != FlashOp::Erase && waiting.programs > 0 {
            waiting.programs -= 1;
            self.chips[die].inject(DieFault::Program { programs: 1 });
        }
        let seed = match &mut waiting.power {
            Some((after, seed)) => {
                *after -= 1;
                (*after == 0).then_some(*seed)
            }
            None => None,
        };
        let Some(seed) = seed else {
            self.forget_nothing();
            return false;
        };
        let block = target.planes.first_plane().map_or(BlockId(0), |plane| target.block(plane));
        waiting.power = None;
        if op == FlashOp::Program && self.working[die] != FlightSlot::NONE {
            // Its data was on the way into the die; the array was at the program before.
            waiting.struck = Some(PowerCut { torn: None });
            return true;
        }
        waiting.struck = Some(PowerCut { torn: Some((op, die, block, target.page)) });
        let mut draw = Draw::new(seed, Stream::Injected, u32::from(die.0));
        match op {
            FlashOp::Erase => self.chips[die].tear_erase(&target, &mut draw),
            FlashOp::Program if self.data.is_some() => {
                self.gather(core, operation.die, operation.tag);
                if let Some(data) = &self.data {
                    self.chips[die].tear_program(&target, data.gathered(core), &mut draw);
                }
            }
            // A copyback is torn before its first page; where nothing is kept there is nothing to tear.
            FlashOp::Program
            | FlashOp::Copyback
            | FlashOp::Read
            | FlashOp::LockPage
            | FlashOp::LockBlock
            | FlashOp::Scrub
            | FlashOp::Reprogram => {}
        }
        true
    }
}
