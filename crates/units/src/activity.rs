//! What flash does and why: the words that events, tables and firmware share.

use serde::{Deserialize, Serialize};

/// A flash operation as the firmware orders it: the array work and the transfers that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlashOp {
    /// Sense a page and move what is wanted of it to the controller.
    Read,
    /// Move data to the page register and program it.
    Program,
    /// Erase a block.
    Erase,
    /// Sense a page into the register and program it elsewhere in the same plane, without the bus.
    Copyback,
    /// Lock a page: the die puts out zeroes for it until its block is erased.
    LockPage,
    /// Lock all pages of a block.
    LockBlock,
    /// Destroy all pages of a wordline in one shot.
    Scrub,
    /// Destroy one page of a wordline in one shot.
    Reprogram,
}

impl FlashOp {
    /// All operations, in the order tables list them.
    pub const ALL: [FlashOp; 8] = [
        FlashOp::Read,
        FlashOp::Program,
        FlashOp::Erase,
        FlashOp::Copyback,
        FlashOp::LockPage,
        FlashOp::LockBlock,
        FlashOp::Scrub,
        FlashOp::Reprogram,
    ];

    /// Those that make programmed pages unreadable without an erase.
    pub const SANITISING: [FlashOp; 4] = [FlashOp::LockPage, FlashOp::LockBlock, FlashOp::Scrub, FlashOp::Reprogram];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            FlashOp::Read => "read",
            FlashOp::Program => "program",
            FlashOp::Erase => "erase",
            FlashOp::Copyback => "copyback",
            FlashOp::LockPage => "page lock",
            FlashOp::LockBlock => "block lock",
            FlashOp::Scrub => "scrub",
            FlashOp::Reprogram => "reprogram",
        }
    }
}

/// Why the firmware ordered a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cause {
    /// The host asked for it.
    Host,
    /// A host write smaller than a mapping unit needs the rest of the unit (read-modify-write).
    Fill,
    /// Garbage collection: valid data leaves a block so that the block can be erased for its space.
    Gc,
    /// Valid data leaves a little-worn block so that the block takes its share of wear.
    Wear,
    /// Valid data leaves a block that has been read too often since it was written.
    Disturb,
    /// Valid data leaves a block that has failed a program.
    Retire,
    /// What the firmware writes to find itself again after a power cut: its journal and checkpoints of its map.
    Recovery,
    /// What is stale must not be readable on the chips: locks and scrubs, and moves and erases that are done for nothing else.
    Sanitise,
    /// Keys of stale secrets are destroyed: the log of the key store is written and let go.
    Keys,
    /// A page is read for nothing but the count of its errors.
    Measure,
    /// Valid data leaves a block because it has been kept there for long.
    Refresh,
    /// A page is read to learn whether its die has failed.
    Probe,
}

impl Cause {
    /// All causes, in the order tables list them.
    pub const ALL: [Cause; 12] = [
        Cause::Host,
        Cause::Fill,
        Cause::Gc,
        Cause::Wear,
        Cause::Disturb,
        Cause::Retire,
        Cause::Recovery,
        Cause::Sanitise,
        Cause::Keys,
        Cause::Measure,
        Cause::Refresh,
        Cause::Probe,
    ];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Fill => "fill",
            Cause::Gc => "gc",
            Cause::Wear => "wear",
            Cause::Disturb => "disturb",
            Cause::Retire => "retire",
            Cause::Recovery => "recovery",
            Cause::Sanitise => "sanitise",
            Cause::Keys => "keys",
            Cause::Measure => "measure",
            Cause::Refresh => "refresh",
            Cause::Probe => "probe",
        }
    }
}
