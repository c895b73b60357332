//! Outcomes of steps: effects that the controller leaves to the drive.

use wordline_units::DieId;

use crate::due::OpSlot;

/// Effect of a step on the firmware.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// No effect.
    Nothing,
    /// A read has left its die, which is free.
    Free { core: u32, local: DieId },
    /// An operation has ended; its die is free with it or was before. The array is busy with the program `next` from now on, if with any.
    Ended { op: OpSlot, frees: bool, next: OpSlot },
    /// A read could not be corrected: [`super::Controller::question`] asks how it is tried again.
    Failed { op: OpSlot },
    /// A read is to be tried again, and may give way before.
    MayYield { op: OpSlot },
    /// The die has the data of a program and begins it now.
    Loaded { op: OpSlot },
    /// A suspend has taken hold.
    Held { op: OpSlot },
    /// The die is free after a read that was broken off.
    Aborted { op: OpSlot },
    /// The die does not accept a stop.
    Refused { core: u32, local: DieId },
}

const _: () = assert!(size_of::<Outcome>() <= 16);
