//! The timing and legality rules of a die, as data.
//!
//! One row per class of command says what the array, the interface, the bus, the registers and a suspended operation must be like before
//! the command is legal, and how long it keeps the array and the interface busy. [`crate::Chip::probe`] walks the row,
//! [`crate::Chip::issue`] adds up its spans, and [`markdown`] prints it, so the manual cannot drift from the model. What is *not* here is
//! what belongs to an address: page order, bad blocks and suspended blocks are checked in `place.rs`.

use std::fmt;
use std::fmt::Write;

use wordline_flash::{Command, Sanitisation, Stop};

/// Commands that share a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Sense a page.
    Read,
    /// Sense a page while the page before is put out.
    CacheRead,
    /// Move a sensed page to the controller.
    DataOut,
    /// Move data for a program into the die.
    DataIn,
    /// A page program.
    Program,
    /// Program, and take in the next data meanwhile.
    CacheProgram,
    /// Program from the register.
    Copyback,
    /// A block erase.
    Erase,
    /// Lock a page.
    LockPage,
    /// Lock a block.
    LockBlock,
    /// Scrub a wordline.
    Scrub,
    /// Destroy a page of a wordline by one-shot reprogramming.
    Reprogram,
    /// Stop a program or an erase at the end of a step, or in a fixed time.
    Suspend,
    /// Stop a program or an erase at once.
    Halt,
    /// Go on with what was suspended.
    Resume,
    /// Set or get a feature.
    Feature,
    /// Read the status register.
    Status,
    /// Break off a read.
    Abort,
    /// Abandon everything.
    Reset,
}

impl Class {
    /// The row of `command`.
    #[inline]
    pub const fn of(command: &Command) -> Class {
        match command {
            Command::Read { cache: false, .. } => Class::Read,
            Command::Read { cache: true, .. } => Class::CacheRead,
            Command::DataOut { .. } => Class::DataOut,
            Command::DataIn { .. } => Class::DataIn,
            Command::Program { cache: false, .. } => Class::Program,
            Command::Program { cache: true, .. } => Class::CacheProgram,
            Command::CopybackProgram { .. } => Class::Copyback,
            Command::Erase { .. } => Class::Erase,
            Command::Sanitise { how: Sanitisation::LockPage, .. } => Class::LockPage,
            Command::Sanitise { how: Sanitisation::LockBlock, .. } => Class::LockBlock,
            Command::Sanitise { how: Sanitisation::Scrub, .. } => Class::Scrub,
            Command::Sanitise { how: Sanitisation::Reprogram, .. } => Class::Reprogram,
            Command::Suspend { stop: Stop::AtStep } => Class::Suspend,
            Command::Suspend { stop: Stop::Now } => Class::Halt,
            Command::Resume => Class::Resume,
            Command::SetFeature { .. } | Command::GetFeature { .. } => Class::Feature,
            Command::Status => Class::Status,
            Command::Abort => Class::Abort,
            Command::Reset => Class::Reset,
        }
    }
}

/// What the array must be doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    /// The array is idle.
    Idle,
    /// A program or an erase, long enough after the last resume, and before its last step.
    Suspendable,
    /// A program or an erase, long enough after the last resume, or the rest of the step at whose end it was going to stop, if at once is sooner.
    Haltable,
    /// The sensing of a page.
    Sensing,
    /// The array may be doing anything.
    Any,
}

/// What the interface (the ready/busy line) must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The interface reports ready.
    Ready,
    /// The interface may report ready or busy.
    Any,
}

/// Which data transfer may be going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    /// No data transfer.
    Idle,
    /// Data out, from the cache register; but no data in, and none while a newer page waits for the cache register.
    DataOut,
    /// Any data transfer, or none.
    Any,
}

/// What the data and cache registers must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// A sensed page that may be put out.
    Sensed,
    /// Data that was taken in.
    TakenIn,
    /// A page sensed in the same planes, whose block has not been erased since.
    CopySource,
    /// At most one page that has not been put out, because there is room for two.
    Room,
    /// Nothing of a wordline that copybacks have begun to collect.
    NotCollecting,
    /// The registers may hold anything.
    Any,
}

/// What may be suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspended {
    /// Nothing is suspended.
    Nothing,
    /// Nothing, or what is still going to stop at the end of a step.
    AtMostStopping,
    /// Nothing, or an erase.
    AtMostErase,
    /// Something is suspended.
    Something,
    /// Anything or nothing.
    Any,
}

/// An ability that the data sheet must list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Every die can do it.
    Basic,
    /// Cache read.
    CacheRead,
    /// Cache program.
    CacheProgram,
    /// Copyback program.
    Copyback,
    /// Locking pages.
    PageLock,
    /// Locking blocks.
    BlockLock,
    /// Scrubbing wordlines.
    Scrub,
    /// One-shot reprogramming.
    Reprogram,
    /// Suspending what the array is doing.
    Suspend,
    /// Stopping at once what the array is doing.
    Halt,
    /// Breaking off a read.
    Abort,
}

/// A span of the data sheet, or one that the die remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// t_R of the page type.
    Read,
    /// t_PROG of the page type or of the wordline.
    Program,
    /// t_PROG, or t_CBSY for a page that does not complete a wordline programmed in one shot.
    Copyback,
    /// Block erase time, t_BERS.
    Erase,
    /// Page lock time, t_pLock.
    LockPage,
    /// Block lock time, t_bLock.
    LockBlock,
    /// The shot that scrubs a wordline.
    Scrub,
    /// The shot that destroys a page of a wordline.
    Reprogram,
    /// Cache busy time, t_CBSY.
    HandOver,
    /// From a suspend until the array is free: the rest of the running step, or a fixed time.
    Suspend,
    /// From a stop at once until the array is free.
    Halt,
    /// From the breaking off of a read until the array is free.
    Abort,
    /// Added by a resume.
    Resume,
    /// What was left of the suspended operation.
    Remaining,
    /// Set-feature time, t_FEAT.
    Feature,
    /// Reset time, t_RST.
    Reset,
}

/// One row: what must hold, and what follows.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The commands it is about.
    pub class: Class,
    /// What the data sheet must list.
    pub ability: Ability,
    /// What the array must be doing.
    pub array: Array,
    /// What the ready/busy line must say.
    pub interface: Interface,
    /// Which transfer may be going on.
    pub bus: Bus,
    /// What the registers must hold.
    pub registers: Registers,
    /// What may be suspended.
    pub suspended: Suspended,
    /// How long the array is busy from then on: the sum. Empty: the array goes on with what it does.
    pub array_busy: &'static [Span],
    /// How long the interface is busy from then on: the sum. Empty: it stays as it is.
    pub interface_busy: &'static [Span],
}

/// The rule from which the rows differ: an idle die, and nothing happens.
const QUIET: Rule = Rule {
    class: Class::Status,
    ability: Ability::Basic,
    array: Array::Idle,
    interface: Interface::Ready,
    bus: Bus::Idle,
    registers: Registers::Any,
    suspended: Suspended::Any,
    array_busy: &[],
    interface_busy: &[],
};

/// The rows of what makes pages unreadable: one pulse that nothing interrupts. The page buffer holds its pattern, so a suspended program, whose data is
/// there, is in the way, and nothing that was sensed or taken in is there any more afterwards.
const ONE_SHOT: Rule = Rule { registers: Registers::NotCollecting, suspended: Suspended::AtMostErase, ..QUIET };

/// The rules, in the order of [`Class`].
pub const RULES: [Rule; 19] = [
    Rule { class: Class::Read, array_busy: &[Span::Read], interface_busy: &[Span::Read], ..QUIET },
    Rule {
        class: Class::CacheRead,
        ability: Ability::CacheRead,
        bus: Bus::DataOut,
        registers: Registers::Room,
        array_busy: &[Span::HandOver, Span::Read],
        interface_busy: &[Span::HandOver],
        ..QUIET
    },
    Rule { class: Class::DataOut, array: Array::Any, registers: Registers::Sensed, ..QUIET },
    Rule { class: Class::DataIn, array: Array::Any, registers: Registers::NotCollecting, suspended: Suspended::AtMostErase, ..QUIET },
    Rule {
        class: Class::Program,
        registers: Registers::TakenIn,
        suspended: Suspended::AtMostErase,
        array_busy: &[Span::Program],
        interface_busy: &[Span::Program],
        ..QUIET
    },
    Rule {
        class: Class::CacheProgram,
        ability: Ability::CacheProgram,
        registers: Registers::TakenIn,
        suspended: Suspended::AtMostErase,
        array_busy: &[Span::HandOver, Span::Program],
        interface_busy: &[Span::HandOver],
        ..QUIET
    },
    Rule {
        class: Class::Copyback,
        ability: Ability::Copyback,
        registers: Registers::CopySource,
        suspended: Suspended::AtMostErase,
        array_busy: &[Span::Copyback],
        interface_busy: &[Span::Copyback],
        ..QUIET
    },
    Rule {
        class: Class::Erase,
        registers: Registers::NotCollecting,
        suspended: Suspended::Nothing,
        array_busy: &[Span::Erase],
        interface_busy: &[Span::Erase],
        ..QUIET
    },
    Rule {
        class: Class::LockPage,
        ability: Ability::PageLock,
        array_busy: &[Span::LockPage],
        interface_busy: &[Span::LockPage],
        ..ONE_SHOT
    },
    Rule {
        class: Class::LockBlock,
        ability: Ability::BlockLock,
        array_busy: &[Span::LockBlock],
        interface_busy: &[Span::LockBlock],
        ..ONE_SHOT
    },
    Rule { class: Class::Scrub, ability: Ability::Scrub, array_busy: &[Span::Scrub], interface_busy: &[Span::Scrub], ..ONE_SHOT },
    Rule {
        class: Class::Reprogram,
        ability: Ability::Reprogram,
        array_busy: &[Span::Reprogram],
        interface_busy: &[Span::Reprogram],
        ..ONE_SHOT
    },
    Rule {
        class: Class::Suspend,
        ability: Ability::Suspend,
        array: Array::Suspendable,
        interface: Interface::Any,
        bus: Bus::Any,
        suspended: Suspended::Nothing,
        array_busy: &[Span::Suspend],
        interface_busy: &[Span::Suspend],
        ..QUIET
    },
    Rule {
        class: Class::Halt,
        ability: Ability::Halt,
        array: Array::Haltable,
        interface: Interface::Any,
        bus: Bus::Any,
        suspended: Suspended::AtMostStopping,
        array_busy: &[Span::Halt],
        interface_busy: &[Span::Halt],
        ..QUIET
    },
    Rule {
        class: Class::Resume,
        suspended: Suspended::Something,
        array_busy: &[Span::Resume, Span::Remaining],
        interface_busy: &[Span::Resume, Span::Remaining],
        ..QUIET
    },
    Rule { class: Class::Feature, array_busy: &[Span::Feature], interface_busy: &[Span::Feature], ..QUIET },
    Rule { class: Class::Status, array: Array::Any, interface: Interface::Any, bus: Bus::Any, ..QUIET },
    Rule {
        class: Class::Abort,
        ability: Ability::Abort,
        array: Array::Sensing,
        interface: Interface::Any,
        array_busy: &[Span::Abort],
        interface_busy: &[Span::Abort],
        ..QUIET
    },
    Rule {
        class: Class::Reset,
        array: Array::Any,
        interface: Interface::Any,
        bus: Bus::Any,
        array_busy: &[Span::Reset],
        interface_busy: &[Span::Reset],
        ..QUIET
    },
];

const _: () = {
    let mut row = 0;
    while row < RULES.len() {
        assert!(RULES[row].class as usize == row, "the rules stand in the order of Class");
        row += 1;
    }
};

impl Rule {
    /// The row of a class.
    #[inline]
    pub const fn of(class: Class) -> &'static Rule {
        &RULES[class as usize]
    }
}

/// The table as Markdown, for the reference manual.
pub fn markdown() -> String {
    let sum = |spans: &[Span]| match spans {
        [] => "—".to_owned(),
        spans => spans.iter().map(|span| format!("{span:?}")).collect::<Vec<_>>().join(" + "),
    };
    let mut text = String::from(
        "| command | ability | array | interface | bus | registers | suspended | array busy | interface busy |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for rule in &RULES {
        let Rule { class, ability, array, interface, bus, registers, suspended, .. } = rule;
        let _ = writeln!(
            text,
            "| {class} | {ability:?} | {array:?} | {interface:?} | {bus:?} | {registers:?} | {suspended:?} | {} | {} |",
            sum(rule.array_busy),
            sum(rule.interface_busy),
        );
    }
    text
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
