//! The seam: what the core tells techniques and asks of them.
//!
//! A technique proposes through `&self` and learns through `&mut self`; acting is the core's. It is told and asked only what the [`Hooks`] of its card name.
//! Each question has one merge rule, and every rule gives the same result in whatever order the answers come, so any set of techniques can run together
//! without one of them knowing of another. [`Panel`](super::panel::Panel) holds the techniques of a core and merges.
//!
//! | question | answer | merge |
//! |---|---|---|
//! | [`Technique::work`] | [`Work`] | union; of one kind, the earliest deadline |
//! | [`Technique::may_work`] | [`Says<Start>`](Says) | agreement; the core proposes that it starts |
//! | [`Technique::retries_borne`] | a count | the least |
//! | [`Technique::stop`] | [`Says<Urgency>`](Says) | agreement |
//! | [`Technique::hold`] | [`Says<Hold>`](Says) | agreement; the core proposes to serve |
//! | [`Technique::way`] | [`Says<Way>`](Says) | agreement |
//! | [`Technique::sanitise`] | [`SanitiseMethod`] | the most thorough |
//! | [`Technique::program_settings`] | [`ProgramSettings`] | the most careful, number by number |
//! | [`Technique::erase_settings`] | [`IdleWordlines`] | union of each kind |
//! | [`Technique::distrusts`] | yes or no | somebody does |
//! | [`Technique::key_store`] | [`KeyStore`] | the greatest |
//! | [`Technique::estimate`] | [`Estimate`] | the best: the least doubt |
//! | [`Technique::wear_of`] | [`Wear`] | the greatest |
//! | [`Technique::rung`] | [`Rung`] | the cheapest, and nothing twice; the core has a rung of its own |
//! | [`Technique::remember`] | [`Memo`] | each technique's apart; of one group, the greatest |
//! | [`Technique::retention`], [`Technique::renews_within`] | a time | the shortest; a plan holds the one against the other |
//! | [`Technique::idle_after`], [`Technique::wake_at`] | a span, an instant | none: each technique has its own |
//!
//! Agreement is [`agree`](super::say::agree): the greatest proposal, as far as the least cap lets it. Answers without an opinion may have a reason ([`Why`]);
//! it decides nothing and is counted ([`counts`](super::counts)).
//!
//! There is no wildcard over [`News`] in a technique (a lint sees to it): a technique names the kinds that it ignores with [`ignores!`], so the
//! compiler lists every technique for which a new kind of news needs a decision.

use wordline_flash::{EraseTrace, Failed, ProgramSettings, ProgramTrace, ReadTry, Report, Status, Stop, Tally};
use wordline_units::{Cause, Celsius, DieId, Nanos, Priority, Seconds};

pub use super::address::{FlashPage, ProgramUnit};
use super::census::Census;
use super::hooks::{Hook, Hooks};
pub use super::leap::Leap;
use super::say::{Hold, Says, Start, Urgency, Way, abstain};
use super::value::Value;
pub use super::why::Why;
use super::work::{Waiting, Work};
use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
pub use crate::state::spared::IdleWordlines;
pub use crate::state::stops::{Busy, ByPriority};
pub use crate::state::view::View;
pub use crate::state::warm_clock::{Day, Kept};
pub use crate::state::wear::Worn;
pub use wordline_units::Wear;

/// Context of a call: the instant, and a view of the core.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// The present instant.
    pub now: Nanos,
    /// Temperature of the board's sensor; `None`: there is none.
    pub warmth: Option<Celsius>,
    /// Read-only view of the core's tables.
    pub view: View<'a>,
}

/// An event that the firmware tells techniques.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A page was read.
    Read(ReadReport),
    /// A program has ended.
    Programmed(ProgramReport),
    /// An erase has ended, or a block group has left its blocks without one: it holds nothing any more.
    Erased(EraseReport),
    /// A copyback has ended.
    Copied(CopyReport),
    /// A page that was to be measured was not read, in the present filling of its group: nothing of it is valid any more, or the group takes no reads.
    Unmeasured {
        /// Page that was to be measured.
        at: FlashPage,
    },
    /// A block group was opened for writing.
    Opened {
        /// The group.
        group: BlockGroup,
        /// True if the group takes moved data, false if it takes new host data.
        moved: bool,
    },
    /// A block group was closed: it takes no more data.
    Closed {
        /// The group that was closed.
        group: BlockGroup,
    },
    /// A victim was chosen: the block group is going to be emptied.
    VictimChosen {
        /// The victim's block group.
        victim: BlockGroup,
        /// Cause for which the group is emptied.
        why: Cause,
    },
    /// Valid data was moved to another place.
    Moved {
        /// Group that the data left.
        from: BlockGroup,
        /// Program unit that it lies in now.
        to: ProgramUnit,
        /// Number of units moved.
        units: u16,
        /// Way by which the data was moved.
        way: Way,
    },
    /// A block group has left its blocks: it stands on spare ones, or is out of service.
    Retired {
        /// The group.
        group: BlockGroup,
    },
    /// Valid data could not be read to be moved, and is lost.
    DataLost {
        /// Page that could not be read.
        at: FlashPage,
        /// Number of units lost.
        units: u16,
    },
    /// A die has failed: nothing is read or written there any more. Its groups with valid data are lost, the others bad.
    DieFailed {
        /// The die.
        die: DieId,
    },
    /// A program or erase was suspended for a read, or a read was broken off or gave way between two tries for one of a higher priority.
    Stopped(StopReport),
    /// The instant that the technique named has come. Only that technique is told.
    Timer,
    /// A die has been idle for as long as the technique asked for. Only that technique is told, once for each spell.
    Idle {
        /// The die.
        die: DieId,
        /// Time for which the die has been idle.
        idle: Nanos,
        /// Number of groups of the die that are free or will be: emptied groups, whose erase may wait until they are needed, count.
        free: u32,
    },
}

/// Pattern for the kinds of [`News`] that a technique ignores, each by its name: `ignores!(Copied, Timer) => {}`. A match with it still has to name every kind.
#[macro_export]
macro_rules! ignores {
    ($($kind:ident),+ $(,)?) => {
        $($crate::techniques::seam::News::$kind { .. })|+
    };
}
pub use ignores;

impl News {
    /// Block group of which the event may tell how worn it is: it was erased, or a page of it was measured.
    pub fn wears(&self) -> Option<BlockGroup> {
        match *self {
            News::Erased(EraseReport { group, .. }) => Some(group),
            News::Read(ReadReport { at, cause: Cause::Measure, .. }) => Some(at.group),
            ignores!(
                Read,
                Programmed,
                Copied,
                Unmeasured,
                Opened,
                Closed,
                VictimChosen,
                Moved,
                Retired,
                DataLost,
                DieFailed,
                Stopped,
                Timer,
                Idle
            ) => None,
        }
    }

    /// Hook by which a technique subscribes to the event.
    pub const fn hook(&self) -> Hook {
        match self {
            News::Read(_) => Hook::Read,
            News::Programmed(_) => Hook::Programmed,
            News::Erased(_) => Hook::Erased,
            News::Copied(_) => Hook::Copied,
            News::Unmeasured { .. } => Hook::Unmeasured,
            News::Opened { .. } => Hook::Opened,
            News::Closed { .. } => Hook::Closed,
            News::VictimChosen { .. } => Hook::VictimChosen,
            News::Moved { .. } => Hook::Moved,
            News::Retired { .. } => Hook::Retired,
            News::DataLost { .. } => Hook::DataLost,
            News::DieFailed { .. } => Hook::DieFailed,
            News::Stopped(_) => Hook::Stopped,
            News::Timer => Hook::Timer,
            News::Idle { .. } => Hook::Idle,
        }
    }
}

/// Report of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// Page that was read.
    pub at: FlashPage,
    /// Cause of the read.
    pub cause: Cause,
    /// Status of the last try.
    pub status: Status,
    /// Number of tries after the first.
    pub retries: u32,
    /// Reference voltages of the last try.
    pub last: ReadTry,
    /// Bits corrected in the worst codeword.
    pub worst: u32,
    /// Bits corrected in all codewords, where they were to be counted and could be.
    pub tally: Option<Tally>,
    /// Time that the array worked.
    pub array: Nanos,
    /// Number of reads like this one that it stands for: 1 but in a leap over reads, where only a sample is carried out.
    pub times: u32,
}

/// Report of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramReport {
    /// Program unit that was programmed.
    pub at: ProgramUnit,
    /// Status of the program.
    pub status: Status,
    /// Number of program loops; 0 where the die does not report it.
    pub loops: u8,
    /// Time that the array worked.
    pub array: Nanos,
    /// Trace of the program, where a technique asks for [`Ask::Programs`]; `None`: the die cannot report it, or was not asked.
    pub trace: Option<ProgramTrace>,
}

/// Report of an erase, or the reason why there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseReport {
    /// Block group that was erased.
    pub group: BlockGroup,
    /// Status of the erase.
    pub status: Status,
    /// Number of erase loops; 0 where the die does not report it, or where nothing was erased.
    pub loops: u8,
    /// Time that the array worked.
    pub array: Nanos,
    /// Trace of the erase, where a technique asks for [`Ask::EraseTrace`]; `None`: the die cannot report it, or was not asked.
    pub trace: Option<EraseTrace>,
    /// Time that the group had rested since its erase before, where a technique asks for [`Ask::WarmClock`].
    pub rest: Option<Kept>,
    /// True if the group has left its blocks, erased or not: what was learnt of them no longer holds for the group.
    pub has_left: bool,
}

impl EraseReport {
    /// Creates the report of the erase of `group` from `report`. `has_left`: its blocks retire.
    pub fn of(report: &Report, group: BlockGroup, has_left: bool) -> EraseReport {
        let &Report { status, loops, erase: trace, spans, .. } = report;
        EraseReport { group, status, loops, array: spans.die, trace, rest: None, has_left }
    }

    /// Creates the report of `group` leaving its blocks without an erase, because a program in it has failed.
    pub fn without_erase(group: BlockGroup) -> EraseReport {
        EraseReport { group, status: Status::Failed, loops: 0, array: Nanos::ZERO, trace: None, rest: None, has_left: true }
    }
}

/// Report of a copyback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyReport {
    /// Program unit that was copied.
    pub from: ProgramUnit,
    /// Program unit that it was copied to.
    pub to: ProgramUnit,
    /// Status of the copyback.
    pub status: Status,
    /// Copies in a row since error correction that the data has gone through, this one counted, where a technique asks for [`Ask::Provenance`].
    pub copies: Option<u8>,
    /// Time that the array worked.
    pub array: Nanos,
}

/// Report of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopReport {
    /// Operation that was stopped, with this stop counted.
    pub busy: Busy,
    /// Kind of the stop. At once a read is broken off; at a step it gives way between two tries.
    pub how: Stop,
    /// Time from the order until the die was free.
    pub waited: Nanos,
}

/// An operation that a read waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Operation that the die is doing. Of reads, only those of a lower priority are in conflict, and only where the die can break them off.
    pub busy: Busy,
    /// Priority of the read.
    pub waiting: Priority,
    /// True if the die has no free block group: everybody waits for GC's programs and erases.
    pub is_out_of_groups: bool,
}

/// A program or erase that is suspended while a further read waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Program or erase that is suspended.
    pub busy: Busy,
    /// Number of reads served since the suspend, by their priority.
    pub served: ByPriority,
    /// Priority of the next read.
    pub next: Priority,
    /// True if the die has no free block group.
    pub is_out_of_groups: bool,
}

/// A whole program unit that is going to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Program unit that is going to be moved.
    pub from: ProgramUnit,
    /// Block group that would take it; `None`: there is none, or techniques have yet to say which place suits.
    pub to: Option<BlockGroup>,
    /// Cause for which the unit is moved.
    pub why: Cause,
}

/// Data that looks for a place, as a whole program unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moving {
    /// Block group that the data leaves, of its first unit where it is gathered from several; `None`: new data of the host.
    pub from: Option<BlockGroup>,
    /// Way on which the data comes. New data of the host comes over the bus.
    pub way: Way,
    /// Cause of the program.
    pub cause: Cause,
}

/// Block group that could take data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The group.
    pub group: BlockGroup,
    /// True if the group is being written, false if it is free.
    pub is_open: bool,
}

/// Answer how well a place suits data, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The place is as good as any.
    Exact,
    /// The place will do; a lower number is better.
    Loose(u8),
    /// The data must not go there. Only data that comes by copyback may be refused: what passes the controller always has a place.
    Never,
}

/// A technique's estimate of where a read should begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate {
    /// Expected number of further tries, in sixteenths.
    pub doubt: u16,
    /// The first try.
    pub first: ReadTry,
}

/// A way to try a failed read once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rung {
    /// Expected time until the data is there, if this way is gone.
    pub cost: Nanos,
    /// Next try on this way.
    pub next: ReadTry,
}

/// Stale secrets of one block group that must not stay readable: what a sanitiser decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleSecrets {
    /// Block group that holds them.
    pub group: BlockGroup,
    /// Number of flash pages that hold any of the stale secrets.
    pub pages: u32,
    /// Number of valid units in the group.
    pub valid: u32,
    /// True if no page of the group waits to be programmed: the group has been written to its end, or is given up.
    pub is_full: bool,
    /// True if a program in the group has failed: no erase will follow.
    pub has_failed: bool,
}

/// Method of sanitising stale secrets, in rising order of what it destroys with them. Valid data in its way is moved first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SanitiseMethod {
    /// Destroy the keys of the secrets, where there is a key store.
    DropKeys,
    /// Lock each page with secrets.
    LockPages,
    /// Reprogram each page with secrets in one shot.
    Reprogram,
    /// Lock the whole block, which must hold nothing valid and nothing that waits to be programmed.
    LockBlock,
    /// Scrub each wordline with secrets.
    Scrub,
    /// Erase the block group.
    Erase,
}

/// A technique's demand for a key store, with which every unit on flash is encrypted with a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyStore {
    /// Number of units whose keys are the leaves of one tree; a power of two, 64 at least.
    pub leaves: u32,
    /// Time to overwrite the controller's register.
    pub register: Nanos,
}

/// A number about a block group that outlasts a power cut. It holds until the group is erased, and only grows: a lower number changes nothing. So memos can
/// be written in any order, and more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memo {
    /// Block group of the memo.
    pub group: BlockGroup,
    /// Slot of the memo, below [`Memo::SLOTS`]. A technique has a memo of each slot for each group.
    pub slot: u8,
    /// Value of the memo.
    pub value: u32,
}

impl Memo {
    /// Number of slots that a technique has for each block group.
    pub const SLOTS: u8 = 4;
}

/// State of a technique that outlasts a power cut, and where it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persists {
    /// No state; the text says what that costs.
    Nothing(&'static str),
    /// Memos in the journal; the text says what they mean. Without a journal, in a core that keeps no data, nothing is written.
    Memos(&'static str),
}

/// A service that a technique asks for: of the dies, where it costs time, or of the core, where it costs memory. Subscribing to a hook never changes what a die
/// does, or what a core keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Settings for programs by [`Technique::program_settings`], and a trace of each program from the die.
    Programs,
    /// A trace of each erase from the die, in [`EraseReport::trace`].
    EraseTrace,
    /// Provenance of all data: [`View::copies`], [`View::born`] and [`CopyReport::copies`]. It brings the warm clock with it, by whose days it goes, and
    /// outlasts a power cut.
    Provenance,
    /// The warm clock: [`View::kept`], [`View::today`] and [`EraseReport::rest`].
    WarmClock,
    /// Load of the write buffer: [`View::buffer_load`].
    BufferLoad,
    /// Tolerated latency of reads: [`View::units_tolerating`].
    Tolerances,
    /// One program of a die at a time: no die takes in the data of its next program while it does one. A technique needs it that stops programs, or makes
    /// unreadable what they have made stale: a die takes stops for what its array does, and the data of a second program is in the way of both.
    OneProgram,
    /// Block groups of a die that are open for moved data at once, for [`Technique::fit`]. A core has as many as the greatest demand, and at least one.
    Places(Amount),
    /// A program unit with counts of copies at the end of each block group that has received a copy, where the parameter of this key has this value. Such a
    /// group takes one program unit of data less.
    Counters(&'static str, Value),
    /// Memo slots that the technique uses for each block group; one where it does not ask.
    Slots(u32),
    /// Wordlines that hold no data after an erase, for [`Technique::erase_settings`]: at most as many after one erase. The demands of several techniques add
    /// up, as their sets may be apart. A set is granted only where there is room for it.
    Spared(Amount),
}

/// Amount of a service that a technique asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Fixed number.
    Fixed(u32),
    /// Value of the technique's parameter of this key, a count.
    Param(&'static str),
    /// Most wordlines that a mode of the chip's table of guarded erases spares; 0: the chip has no such table.
    GuardModes,
}

/// Description of a technique, for people, for the core and for the interaction matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// Name of the mechanism: its folder, and the word in plans.
    pub name: &'static str,
    /// Source of the mechanism.
    pub source: &'static str,
    /// Claim of the source.
    pub claim: &'static str,
    /// Hooks that the technique subscribes to.
    pub hooks: Hooks,
    /// Services that the technique asks for.
    pub asks: &'static [Ask],
    /// State that outlasts a power cut.
    pub persists: Persists,
    /// Known limits of the technique.
    pub limits: &'static str,
}

/// One technique. Every question has a default answer that changes nothing.
pub trait Technique: std::fmt::Debug + Send {
    /// Card of the technique.
    fn card(&self) -> &'static Card;

    /// Block groups by what the technique holds of them, for results.
    fn censuses(&self) -> Vec<Census> {
        Vec::new()
    }

    /// Learnt state, for a snapshot of the drive.
    fn image(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Restores the state that [`Technique::image`] gave. Returns false if it is of another shape.
    #[must_use]
    fn restore(&mut self, state: &[u32]) -> bool {
        state.is_empty()
    }

    /// Restarts the technique after a power cut. The core found its flash as `groups` says. `memos` are the technique's own that were written down, at most
    /// one for a group and slot; state that was not written down begins anew.
    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {}

    /// Skips cycles. A technique that counts them adds those of the leap to its counters, in proportion; it learns nothing else of them. The data of each group
    /// is what it was.
    fn leap(&mut self, _leap: &Leap<'_>) {}

    /// Learns an event.
    fn learn(&mut self, _ctx: &Ctx<'_>, _news: &News) {}

    /// Work that the technique wants done because of `news`, which it learnt before.
    fn work(&self, _ctx: &Ctx<'_>, _news: &News) -> Option<Work> {
        None
    }

    /// Answer whether `work`, which some technique wants done, may start. It is asked whenever the work could start, until it is due.
    fn may_work(&self, _ctx: &Ctx<'_>, _work: &Work, _waiting: &Waiting) -> Says<Start> {
        abstain()
    }

    /// Most retries that a read of `group` may need while work on it stays [`Start::Parked`]. It is asked when the work is parked.
    fn retries_borne(&self, _ctx: &Ctx<'_>, _group: BlockGroup) -> u32 {
        u32::MAX
    }

    /// Method by which stale secrets are sanitised before the request that made them stale is acknowledged. `None`: the technique does nothing.
    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        None
    }

    /// Key store that the technique needs, for [`SanitiseMethod::DropKeys`]. Data that is moved gets another key, so it must not be moved by copyback.
    fn key_store(&self) -> Option<KeyStore> {
        None
    }

    /// Settings for the program of the unit at `at`; `None`: the die's defaults. It is asked only where a technique asks for [`Ask::Programs`].
    fn program_settings(&self, _ctx: &Ctx<'_>, _at: &ProgramUnit) -> Option<ProgramSettings> {
        None
    }

    /// Wordlines of `group` that take no data after its next erase; `None`: all take data, for this technique. It is asked when the erase is ordered, in a
    /// core whose techniques ask for [`Ask::Spared`]. An answer has no more wordlines than that. All take data where the core needs a whole group.
    fn erase_settings(&self, _ctx: &Ctx<'_>, _group: BlockGroup) -> Option<IdleWordlines> {
        None
    }

    /// True if the program of `report` must not be relied on: its data is programmed again elsewhere. It is asked before the news is learnt.
    fn distrusts(&self, _ctx: &Ctx<'_>, _report: &ProgramReport) -> bool {
        false
    }

    /// Memo that the technique must not lose because of `news`, which it learnt before. It is on flash a program or two later, and no request waits for it.
    fn remember(&self, _ctx: &Ctx<'_>, _news: &News) -> Option<Memo> {
        None
    }

    /// Time after which the technique is told of an idle die with [`News::Idle`]; `None`: never.
    fn idle_after(&self) -> Option<Nanos> {
        None
    }

    /// Time at 30 °C for which the technique's tables hold, from the first program of data on: it must be moved over the bus by then. `None`: for ever.
    fn retention(&self) -> Option<Seconds> {
        None
    }

    /// Time at 30 °C within which the technique has all data moved over the bus while the drive has power; `None`: it does not.
    fn renews_within(&self) -> Option<Seconds> {
        None
    }

    /// Reason to doubt results with these parameters, which results carry; `None`: there is none.
    fn doubt(&self) -> Option<String> {
        None
    }

    /// Greatest share of the wordlines of all blocks that the technique wants to be without data in the mean.
    fn idle_share(&self) -> f64 {
        0.0
    }

    /// Most pages of a block group that the technique has measured in each filling.
    fn measured_pages(&self) -> u32 {
        0
    }

    /// Reads of a block group since its last erase from which on the technique has it rewritten; `None`: it goes by no reads.
    fn reads_most(&self) -> Option<u32> {
        None
    }

    /// Instant at which the technique is told [`News::Timer`]; `None`: never. It is asked again after each event that the technique has learnt. An instant
    /// that has passed counts as none.
    fn wake_at(&self) -> Option<Nanos> {
        None
    }

    /// Answer how a whole program unit may be moved.
    fn way(&self, _ctx: &Ctx<'_>, _copy: &Copy) -> Says<Way> {
        abstain()
    }

    /// Answer how well the place `to` suits `data`. It is asked of the open block groups when a program is ordered, and of free ones where none suits exactly.
    fn fit(&self, _ctx: &Ctx<'_>, _data: &Moving, _to: &Place) -> Fit {
        Fit::Exact
    }

    /// True if the answer of [`Technique::fit`] may differ between two free groups of a die. Where no technique's does, one of them is asked for all.
    fn tells_free_apart(&self) -> bool {
        true
    }

    /// True if the answer of [`Technique::fit`] may differ between two open groups of a die. Where no technique's does, it is asked only of free ones.
    fn tells_open_apart(&self) -> bool {
        true
    }

    /// True if the technique goes on as it does now while the load does. A life leaps over no epoch in which a technique was not settled.
    fn is_settled(&self) -> bool {
        true
    }

    /// Wear of `group`. It is asked after news of an erase or of a measurement that the technique has learnt ([`News::wears`]), and of all groups when the core
    /// starts.
    fn wear_of(&self, _ctx: &Ctx<'_>, _group: BlockGroup) -> Result<Worn, Why> {
        Err(Why::NoConcern)
    }

    /// Wear that `group` will have after so many further erases, as far as the technique can tell. It is asked when a drive skips cycles ([`Technique::leap`]).
    fn wear_after(&self, _ctx: &Ctx<'_>, _group: BlockGroup, _erases: u32) -> Option<Wear> {
        None
    }

    /// Estimate where a read of `at` should begin. It is asked when the read is ordered, but for a measurement, which begins at the default.
    fn estimate(&self, _ctx: &Ctx<'_>, _at: FlashPage) -> Result<Estimate, Why> {
        Err(Why::NoConcern)
    }

    /// Way to try the read of `at` that has `failed` once more, with a try that has not been made. It is asked once for each failed try, and never of a
    /// read that can be corrected.
    fn rung(&self, _ctx: &Ctx<'_>, _at: FlashPage, _failed: &Failed<'_>) -> Option<Rung> {
        None
    }

    /// Answer whether the program or erase that a die is doing should give way to a waiting read. It is asked when the read comes, and after each resume.
    fn stop(&self, _ctx: &Ctx<'_>, _conflict: &Conflict) -> Says<Urgency> {
        abstain()
    }

    /// Answer whether a further read is served while something is suspended.
    fn hold(&self, _ctx: &Ctx<'_>, _held: &Held) -> Says<Hold> {
        abstain()
    }
}
