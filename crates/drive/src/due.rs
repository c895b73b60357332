//! Entries of the calendar.

/// Place of an operation under way in the controller's table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpSlot(u32);

impl OpSlot {
    /// No operation.
    pub(crate) const NONE: OpSlot = OpSlot(u32::MAX);

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Place number `index`.
    #[inline]
    pub(crate) const fn at(index: usize) -> OpSlot {
        OpSlot(index as u32)
    }
}

/// An event of the calendar. The type is one word, so that it goes into the calendar in a register: written to memory part by part and read as a whole, it
/// would stall the processor at every event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// The next request of an open loop arrives.
    Arrival,
    /// A core receives a part of a request.
    Submit { part: u32 },
    /// A step of an operation under way.
    Device(Step),
    /// A read's data has reached the host.
    Delivered { slot: u32 },
    /// The deadline of a core has come.
    Tick { core: u32 },
    /// A part of a die fails, as it was ordered to.
    Harm { number: u32 },
    /// The temperature changes.
    Warmth,
}

/// A step of an operation under way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A page has been sensed, unless that was broken off since.
    Sensed { op: OpSlot, attempt: u16 },
    /// A page has left the die.
    Transferred { op: OpSlot },
    /// A read is corrected and in DRAM.
    Read { op: OpSlot },
    /// A read could not be corrected and is tried again with other references.
    Retry { op: OpSlot },
    /// A die that programs can take in the data of its next program.
    LoadNext { op: OpSlot },
    /// A die has the data of its next program.
    Loaded { op: OpSlot },
    /// The array has ended a program, an erase, a copyback or a sanitisation, unless it was suspended since.
    ArrayDone { op: OpSlot, attempt: u16 },
    /// A part of a copyback before its program has ended.
    Copied { op: OpSlot, attempt: u16 },
    /// A die may accept a suspend now.
    TrySuspend { op: OpSlot, attempt: u16 },
    /// A suspend has taken hold, unless a sooner one was ordered since.
    Suspended { op: OpSlot, attempt: u16 },
    /// The die is free after a read that was broken off.
    Aborted { op: OpSlot },
}

const _: () = assert!(size_of::<Due>() == 8);
