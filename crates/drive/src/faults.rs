//! Faults on demand for a whole drive: those of its dies, and two that wait for whichever die comes next.
//!
//! The firmware learns of them from the reports of what it orders. The one that ends everything is the power cut: the program or erase under way is torn, and
//! from then on nothing reaches a die any more; the caller asks [`crate::Drive::power_cut`] and drops the drive.

use wordline_chip::DieFault;
use wordline_engine::FailedPart;
use wordline_flash::{Operation, OperationKind, Target};
use wordline_ftl::Firmware;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, DieId, FlashOp, Nanos, PageId};

use crate::device::Controller;
use crate::host::data::DataPlane;

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

/// Faults on demand that have not come, beside those that dies have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    /// Faults that wait for an operation.
    waiting: Option<Box<Waiting>>,
    /// Faults that were ordered for instants, until they have come.
    to_come: Vec<Option<(Nanos, DieId, DieFault)>>,
}

/// Faults that wait for an operation on any die.
#[derive(Clone, Debug, Default)]
struct Waiting {
    programs: u32,
    power: Option<(u64, u64)>,
    struck: Option<PowerCut>,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.programs == 0 && self.power.is_none() && self.struck.is_none()
    }
}

/// The part of a die that `fault` makes fail for good, if it does.
pub(crate) fn failed_part(fault: DieFault) -> Option<FailedPart> {
    match fault {
        DieFault::Die { silent } => Some(FailedPart::Die { silent }),
        DieFault::Plane(plane) => Some(FailedPart::Plane(plane)),
        DieFault::Blocks { plane, first, last } => Some(FailedPart::Blocks { plane, first, last }),
        DieFault::Read { .. } | DieFault::Program { .. } => None,
    }
}

impl Faults {
    /// True if a fault waits for an operation, or power is lost.
    #[inline]
    pub(crate) fn are_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Lets this number of the next programs fail.
    pub(crate) fn fail_programs(&mut self, programs: u32) {
        let waiting = self.waiting.get_or_insert_default();
        waiting.programs = waiting.programs.saturating_add(programs);
        self.forget_nothing();
    }

    /// Cuts the power during operation number `after` from now on, or now if that is 0.
    pub(crate) fn cut_power(&mut self, after: u64, seed: u64, device: &mut Controller) {
        let waiting = self.waiting.get_or_insert_default();
        if after == 0 {
            waiting.struck.get_or_insert(PowerCut { torn: None });
            device.go_dark();
        } else {
            waiting.power = Some((after, seed));
        }
        self.forget_nothing();
    }

    /// Faults that wait for an operation.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Fault> {
        self.waiting.iter().flat_map(|waiting| {
            let programs = (waiting.programs > 0).then_some(Fault::Program { programs: waiting.programs });
            programs.into_iter().chain(waiting.power.map(|(after, seed)| Fault::Power { after, seed }))
        })
    }

    /// Clears the faults that wait for an operation. Power does not come back.
    pub(crate) fn clear(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            (waiting.programs, waiting.power) = (0, None);
        }
        self.forget_nothing();
    }

    /// Place at which a power cut on demand has struck.
    pub(crate) fn power_cut(&self) -> Option<PowerCut> {
        self.waiting.as_ref().and_then(|waiting| waiting.struck)
    }

    /// Schedules `fault` of `die` for the instant `at`. Returns its number.
    pub(crate) fn schedule(&mut self, at: Nanos, die: DieId, fault: DieFault) -> u32 {
        self.to_come.push(Some((at, die, fault)));
        (self.to_come.len() - 1) as u32
    }

    /// Faults that were ordered for instants that have not come.
    pub(crate) fn scheduled(&self) -> impl Iterator<Item = (Nanos, DieId, DieFault)> {
        self.to_come.iter().flatten().copied()
    }

    /// Takes scheduled fault `number`, whose instant has come.
    pub(crate) fn come(&mut self, number: u32) -> Option<(DieId, DieFault)> {
        self.to_come[number as usize].take().map(|(_, die, fault)| (die, fault))
    }

    fn forget_nothing(&mut self) {
        if self.waiting.as_ref().is_some_and(|waiting| waiting.is_empty()) {
            self.waiting = None;
        }
    }

    /// Applies waiting faults to `operation` of `core`, whose firmware is `ftl`. Returns true if it does not reach its die.
    #[cold]
    pub(crate) fn meet(
        &mut self,
        (core, operation): (u32, &Operation),
        ftl: &mut Firmware,
        device: &mut Controller,
        data: &mut Option<Box<DataPlane>>,
    ) -> bool {
        let die = device.dies().die(core, operation.die);
        let Some(waiting) = &mut self.waiting else { return false };
        if waiting.struck.is_some() {
            return true;
        }
        let Some((op, target)) = written(operation) else { return false };
        if op != FlashOp::Erase && waiting.programs > 0 {
            waiting.programs -= 1;
            device.dies_mut()[die].inject(DieFault::Program { programs: 1 });
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
        device.go_dark();
        if op == FlashOp::Program && device.is_working(die) {
            // Its data was on the way into the die; the array was at the program before.
            waiting.struck = Some(PowerCut { torn: None });
            return true;
        }
        waiting.struck = Some(PowerCut { torn: Some((op, die, block, target.page)) });
        let mut draw = Draw::new(seed, Stream::Injected, u32::from(die.0));
        match (op, data) {
            (FlashOp::Erase, _) => device.dies_mut()[die].tear_erase(&target, &mut draw),
            (FlashOp::Program, Some(data)) => {
                data.gather(core, (operation.die, operation.tag), ftl, device.dies_mut());
                device.dies_mut()[die].tear_program(&target, data.gathered(core), &mut draw);
            }
            // A copyback is torn before its first page; where nothing is kept there is nothing to tear.
            (_, _) => {}
        }
        true
    }
}

/// Kind and target of `operation`, if it writes to its die.
fn written(operation: &Operation) -> Option<(FlashOp, Target)> {
    match operation.kind {
        OperationKind::Program { target, .. } => Some((FlashOp::Program, target)),
        OperationKind::Copyback { to, .. } => Some((FlashOp::Copyback, to)),
        OperationKind::Erase { target, .. } => Some((FlashOp::Erase, target)),
        OperationKind::Read { .. }
        | OperationKind::Sanitise { .. }
        | OperationKind::Suspend { .. }
        | OperationKind::Resume
        | OperationKind::Abort => None,
    }
}
