//! Answers to the question whether a command is legal.

use std::fmt;

use wordline_units::Nanos;

/// The answer of [`crate::Chip::probe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The command may be issued now.
    Ready,
    /// The die is busy. Ask again at `until`, not before.
    Blocked {
        /// The earliest instant, if nothing else is issued meanwhile.
        until: Nanos,
    },
    /// The command makes no sense in this state; waiting does not help. To issue it is a bug in the firmware.
    Illegal(Why),
}

/// Reason for which a command is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// No plane, or a plane that the die does not have.
    Planes,
    /// A block that the plane does not have.
    Block,
    /// A page that the block does not have.
    Page,
    /// The block left the factory bad.
    FactoryBad,
    /// The block's last erase failed or was abandoned.
    NotErased,
    /// The page has been programmed since the last erase.
    Programmed,
    /// A page before it has not been programmed yet.
    PageSkipped,
    /// The block's last erase has spared its wordline.
    Spared,
    /// There is nothing to make unreadable: the page, or its wordline or block, has not been programmed since the last erase.
    NotProgrammed,
    /// A one-shot program must begin at the first page of a wordline.
    InsideWordline,
    /// The block is being erased, or the page programmed, by the suspended operation.
    SuspendedBlock,
    /// The data sheet does not list it.
    Unsupported,
    /// No bytes, or more than the registers hold.
    Size,
    /// No sensed page is in a register.
    NothingSensed,
    /// No data was taken in.
    NothingTakenIn,
    /// The register holds no page of these planes that can still be programmed elsewhere.
    NoCopySource,
    /// Two sensed pages still wait to be put out.
    WouldOverwrite,
    /// Copybacks have begun to collect a wordline of another block.
    Collecting,
    /// The array does nothing that can be suspended.
    NothingToSuspend,
    /// The array senses nothing that could be broken off.
    NothingToAbort,
    /// Nothing is suspended.
    NothingSuspended,
    /// An operation is suspended already.
    SomethingSuspended,
    /// A program is suspended, and its data occupies the registers.
    ProgramSuspended,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Planes => "no plane, or a plane that the die does not have",
            Why::Block => "no such block",
            Why::Page => "no such page",
            Why::FactoryBad => "the block left the factory bad",
            Why::NotErased => "the block's last erase failed or was abandoned",
            Why::Programmed => "the page has been programmed since the last erase",
            Why::Spared => "the last erase of the block has spared its wordline",
            Why::PageSkipped => "a page before it has not been programmed",
            Why::NotProgrammed => "nothing has been programmed there since the last erase",
            Why::InsideWordline => "a one-shot program must begin at the first page of a wordline",
            Why::SuspendedBlock => "the suspended operation is changing it",
            Why::Unsupported => "the data sheet does not list it",
            Why::Size => "no bytes, or more than the registers hold",
            Why::NothingSensed => "no sensed page is in a register",
            Why::NothingTakenIn => "no data was taken in",
            Why::NoCopySource => "the register holds no page of these planes to copy",
            Why::WouldOverwrite => "two sensed pages still wait to be put out",
            Why::Collecting => "copybacks are collecting a wordline of another block",
            Why::NothingToSuspend => "the array does nothing that can be suspended",
            Why::NothingToAbort => "the array senses nothing that could be broken off",
            Why::NothingSuspended => "nothing is suspended",
            Why::SomethingSuspended => "an operation is suspended already",
            Why::ProgramSuspended => "a program is suspended",
        })
    }
}
