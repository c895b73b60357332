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
//! | [`Technique::stop`] | [`Says<Urgency>`](Says) | agreement |
//! | [`Technique::hold`] | [`Says<Hold>`](Says) | agreement; the core proposes to serve |
//! | [`Technique::way`] | [`Says<Way>`](Says) | agreement |
//! | [`Technique::sanitise`] | [`Remedy`] | the most thorough |
//! | [`Technique::program_settings`] | [`ProgramSettings`] | the most careful, number by number |
//! | [`Technique::distrusts`] | yes or no | somebody does |
//! | [`Technique::key_store`] | [`KeyStore`] | the greatest |
//! | [`Technique::estimate`] | [`Estimate`] | the best: the least doubt |
//! | [`Technique::rung`] | [`Rung`] | the cheapest, and nothing twice; the core has a rung of its own |
//! | [`Technique::remember`] | [`Memo`] | each technique's apart; of one group, the greatest |
//! | [`Technique::idle_after`], [`Technique::wake_at`] | a span, an instant | none: each technique has its own |
//!
//! Agreement is [`agree`](super::say::agree): the greatest proposal, as far as the least cap lets it.
//!
//! There is no wildcard over [`News`] in a technique (a lint sees to it): whoever adds a kind of news is asked by the compiler what each technique makes of it.

use wordline_flash::{Failed, ProgramSettings, ProgramTrace, ReadTry, Report, Status, WindowMargin};
use wordline_units::{Cause, DieId, Nanos, PageId, PlaneId, Priority};

use super::hooks::{Hook, Hooks};
use super::say::{Hold, Says, Start, Urgency, Way, abstain};
use super::work::{Waiting, Work};
use crate::state::groups::Groups;
use crate::state::layout::{Group, Layout};
use crate::state::view::View;
pub use crate::state::work::Busy;

/// A page of a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlashPage {
    /// The group.
    pub group: Group,
    /// In which of its blocks.
    pub plane: PlaneId,
    /// The page, in program order.
    pub page: PageId,
}

/// A program unit of a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramUnit {
    /// The group.
    pub group: Group,
    /// The h-layer.
    pub layer: u32,
    /// Its place in the h-layer.
    pub place: u32,
}

impl ProgramUnit {
    /// The unit that is the `program`th of `group`.
    pub fn new(layout: &Layout, group: Group, program: u32) -> ProgramUnit {
        let each = layout.programs_per_layer;
        ProgramUnit { group, layer: program / each, place: program % each }
    }
}

/// The instant, and what can be seen of the core.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// The instant.
    pub now: Nanos,
    /// The core's tables, to be read.
    pub view: View<'a>,
}

/// Something that the firmware did or heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A page was read.
    Read(ReadReport),
    /// A program has ended.
    Programmed(ProgramReport),
    /// A block group holds nothing any more.
    Erased(EraseReport),
    /// A copyback has ended.
    Copied(CopyReport),
    /// A block group begins to be written.
    Opened {
        /// The group.
        group: Group,
        /// Whether it takes data that was programmed before, and not new data of the host.
        moved: bool,
    },
    /// A block group takes no more data.
    Closed {
        /// The group.
        group: Group,
    },
    /// A block group is going to be emptied.
    VictimChosen {
        /// The group.
        victim: Group,
        /// Why the group is emptied.
        why: Cause,
    },
    /// Valid data lies elsewhere.
    Moved {
        /// The group that it left.
        from: Group,
        /// Where it lies.
        to: ProgramUnit,
        /// How many units.
        units: u16,
        /// How it came there.
        way: Way,
    },
    /// A block group has left its blocks: it stands on spare ones, or is out of service.
    Retired {
        /// The group.
        group: Group,
    },
    /// Valid data could not be read to be moved.
    DataLost {
        /// Where it lies.
        at: FlashPage,
        /// How many units.
        units: u16,
    },
    /// The instant that the technique named has come. Told to that technique only.
    Timer,
    /// A die has been idle for as long as the technique asked for. Told to that technique only, once for each spell.
    Idle {
        /// The die.
        die: DieId,
        /// How long it has been idle.
        idle: Nanos,
        /// Free groups that it has.
        free: u32,
    },
}

impl News {
    /// The hook by which a technique hears it.
    pub const fn hook(&self) -> Hook {
        match self {
            News::Read(_) => Hook::Read,
            News::Programmed(_) => Hook::Programmed,
            News::Erased(_) => Hook::Erased,
            News::Copied(_) => Hook::Copied,
            News::Opened { .. } => Hook::Opened,
            News::Closed { .. } => Hook::Closed,
            News::VictimChosen { .. } => Hook::VictimChosen,
            News::Moved { .. } => Hook::Moved,
            News::Retired { .. } => Hook::Retired,
            News::DataLost { .. } => Hook::DataLost,
            News::Timer => Hook::Timer,
            News::Idle { .. } => Hook::Idle,
        }
    }
}

/// What a die reported of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// Which page.
    pub at: FlashPage,
    /// Why it was read.
    pub cause: Cause,
    /// How it ended.
    pub status: Status,
    /// Tries after the first.
    pub retries: u32,
    /// The last try.
    pub last: ReadTry,
    /// Bits corrected in the worst codeword.
    pub worst: u32,
    /// How long the array worked.
    pub array: Nanos,
}

/// What a die reported of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramReport {
    /// Where it went.
    pub at: ProgramUnit,
    /// How it ended.
    pub status: Status,
    /// Its loops; 0 where the die does not know.
    pub loops: u8,
    /// How long the array worked.
    pub array: Nanos,
    /// What the die tells of it where a technique asks for [`Ask::Programs`]; `None`: it cannot, or was not asked.
    pub trace: Option<ProgramTrace>,
}

/// What a die reported of an erase, or why there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseReport {
    /// The group.
    pub group: Group,
    /// How it ended.
    pub status: Status,
    /// Its loops; 0 where the die does not know, or where nothing was erased.
    pub loops: u8,
    /// How long the array worked.
    pub array: Nanos,
    /// The group has left its blocks, erased or not: what was known of them says nothing of it any more.
    pub has_left: bool,
}

impl EraseReport {
    /// What `report` says of the erase of `group`, which has left its blocks where that failed.
    pub fn of(report: &Report, group: Group) -> EraseReport {
        let &Report { status, loops, spans, .. } = report;
        EraseReport { group, status, loops, array: spans.die, has_left: status != Status::Good }
    }

    /// `group` has left its blocks without an erase, because a program in it has failed.
    pub fn without_erase(group: Group) -> EraseReport {
        EraseReport { group, status: Status::Failed, loops: 0, array: Nanos::ZERO, has_left: true }
    }
}

/// What a die reported of a copyback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyReport {
    /// Which unit was copied.
    pub from: ProgramUnit,
    /// Where to.
    pub to: ProgramUnit,
    /// How it ended.
    pub status: Status,
    /// How long the array worked.
    pub array: Nanos,
}

/// A program or erase that a read waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What the die is doing.
    pub busy: Busy,
    /// The priority of the read.
    pub waiting: Priority,
}

/// A program or erase that is suspended while a further read waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// What is suspended.
    pub busy: Busy,
    /// Reads that have been served since it was suspended.
    pub served: u16,
    /// The priority of the next one.
    pub next: Priority,
}

/// A whole program unit that is going to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Which one.
    pub from: ProgramUnit,
    /// Why the unit is moved.
    pub why: Cause,
}

/// Where a read should begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate {
    /// How many further tries it will take, as far as can be known, in sixteenths.
    pub doubt: u16,
    /// The first try.
    pub first: ReadTry,
}

/// A way to try a read once more that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rung {
    /// How long it will take until the data are there if this way is gone, as far as can be known.
    pub cost: Nanos,
    /// The next try on it.
    pub next: ReadTry,
}

/// Stale secrets of one block group, which must not stay readable: what a sanitiser decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// The group.
    pub group: Group,
    /// Flash pages that hold any of them.
    pub pages: u32,
    /// Valid units in the group.
    pub valid: u32,
    /// No page of it waits to be programmed: it has been written to its end, or is given up.
    pub is_full: bool,
    /// A program in it has failed: no erase will follow.
    pub has_failed: bool,
}

/// What is done so that stale secrets cannot be read, in rising order of what it takes along. Valid data in its way is moved first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Destroy their keys, where there is a key store.
    DropKeys,
    /// Lock each of their pages.
    LockPages,
    /// Reprogram each of their pages in one shot.
    Reprogram,
    /// Lock the whole block, which must hold nothing valid and nothing that waits to be programmed.
    LockBlock,
    /// Scrub each of their wordlines.
    Scrub,
    /// Erase the block group.
    Erase,
}

/// What a technique asks of the store of keys: with one, every unit on flash is encrypted with a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyStore {
    /// Units whose keys are the leaves of one tree; a power of two, 64 at least.
    pub leaves: u32,
    /// How long it takes to overwrite the controller's register.
    pub register: Nanos,
}

/// A number about a block group that outlasts a power cut. It holds until the group is erased, and only grows: a lower one says nothing new. So memos can be
/// written down in any order, and more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memo {
    /// The group.
    pub group: Group,
    /// The number.
    pub value: u32,
}

/// What of a technique outlasts a power cut, and where that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persists {
    /// Nothing; what that costs.
    Nothing(&'static str),
    /// Its memos, in the journal; what they say. Without a journal, in a core that keeps no data, nothing is written.
    Memos(&'static str),
}

/// What a technique asks of dies that costs them time, beside what they do by themselves. To subscribe to a hook never changes what a die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Programs are set by [`Technique::program_settings`], and the die tells of each what it was like.
    Programs,
}

/// What a technique is, for people, for the core and for the interaction matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The mechanism's name: its folder, and the word in plans.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it promises.
    pub claim: &'static str,
    /// What it is told and asked.
    pub hooks: Hooks,
    /// What it asks of dies.
    pub asks: &'static [Ask],
    /// What of it outlasts a power cut.
    pub persists: Persists,
    /// Where it is known to fall short.
    pub limits: &'static str,
}

/// One technique. Every question has an answer that changes nothing.
pub trait Technique: std::fmt::Debug + Send {
    /// What it is.
    fn card(&self) -> &'static Card;

    /// What it has learnt, for a snapshot of the drive.
    fn image(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Know again what [`Technique::image`] gave; `false`: it is of another shape.
    #[must_use]
    fn restore(&mut self, state: &[u32]) -> bool {
        state.is_empty()
    }

    /// The core has come back from a power cut and found its flash as `groups` says. `memos` are the technique's own that were written down, one at most for a
    /// group; what was not written down begins anew.
    fn recover(&mut self, _groups: &Groups, _memos: &[Memo]) {}

    /// Hear what happened.
    fn learn(&mut self, _ctx: &Ctx<'_>, _news: &News) {}

    /// Work to be done because of `news`, which was learnt before.
    fn work(&self, _ctx: &Ctx<'_>, _news: &News) -> Option<Work> {
        None
    }

    /// Whether `work`, which somebody wants done, may start. Asked whenever it could, until it is due.
    fn may_work(&self, _ctx: &Ctx<'_>, _work: &Work, _waiting: &Waiting) -> Says<Start> {
        abstain()
    }

    /// What is to be done about stale secrets, before whatever made them stale is acknowledged. `None`: nothing.
    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &Exposed) -> Option<Remedy> {
        None
    }

    /// The key store that it needs, for [`Remedy::DropKeys`]. Data that is moved gets another key, so it must not be moved by copyback.
    fn key_store(&self) -> Option<KeyStore> {
        None
    }

    /// How the program unit at `at` may be programmed, other than the die does by itself. Only where a technique asks for [`Ask::Programs`].
    fn program_settings(&self, _ctx: &Ctx<'_>, _at: &ProgramUnit) -> Option<ProgramSettings> {
        None
    }

    /// Whether what has been programmed, as `report` says, must not be relied on: it is programmed again elsewhere. Asked before the news is learnt.
    fn distrusts(&self, _ctx: &Ctx<'_>, _report: &ProgramReport) -> bool {
        false
    }

    /// What must not be forgotten because of `news`, which was learnt before. It is on flash a program or two later, and nobody waits for it.
    fn remember(&self, _ctx: &Ctx<'_>, _news: &News) -> Option<Memo> {
        None
    }

    /// After how long an idle die is reported to it with [`News::Idle`]; `None`: never.
    fn idle_after(&self) -> Option<Nanos> {
        None
    }

    /// The instant at which it wants to be told [`News::Timer`]; `None`: never. Asked again after each news that it has learnt. An instant that has passed
    /// counts as none.
    fn wake_at(&self) -> Option<Nanos> {
        None
    }

    /// How a whole program unit may be moved.
    fn way(&self, _ctx: &Ctx<'_>, _copy: &Copy) -> Says<Way> {
        abstain()
    }

    /// Where a read of `at` should begin, as far as it knows. Asked when the read is ordered.
    fn estimate(&self, _ctx: &Ctx<'_>, _at: FlashPage) -> Option<Estimate> {
        None
    }

    /// How the read of `at` that has `failed` may be tried once more: in a way that has not been tried. Asked once for each try that failed, and never of a
    /// read that can be corrected.
    fn rung(&self, _ctx: &Ctx<'_>, _at: FlashPage, _failed: &Failed<'_>) -> Option<Rung> {
        None
    }

    /// Whether the program or erase that a die is doing should give way to a waiting read. Asked when the read comes, and after each resume.
    fn stop(&self, _ctx: &Ctx<'_>, _conflict: &Conflict) -> Says<Urgency> {
        abstain()
    }

    /// Whether a further read is served while something is suspended.
    fn hold(&self, _ctx: &Ctx<'_>, _held: &Held) -> Says<Hold> {
        abstain()
    }
}

/// The most thorough remedy: each takes along what those below it do.
pub fn merge_remedies(answers: impl IntoIterator<Item = Option<Remedy>>) -> Option<Remedy> {
    answers.into_iter().flatten().max()
}

/// The greatest key store.
pub fn merge_key_stores(answers: impl IntoIterator<Item = Option<KeyStore>>) -> Option<KeyStore> {
    answers.into_iter().flatten().max()
}

/// Each margin and each skip as small as anybody has it who asks for something: what one technique takes of the margin to error correction, no other can
/// take as well.
pub fn merge_program_settings(answers: impl IntoIterator<Item = Option<ProgramSettings>>) -> ProgramSettings {
    let careful = |a: ProgramSettings, b: ProgramSettings| ProgramSettings {
        window: WindowMargin { start: a.window.start.min(b.window.start), end: a.window.end.min(b.window.end) },
        skip: core::array::from_fn(|state| a.skip[state].min(b.skip[state])),
        lowered: a.lowered.max(b.lowered),
    };
    answers.into_iter().flatten().reduce(careful).unwrap_or(ProgramSettings::DEFAULT)
}

/// Distrust by one is enough.
pub fn merge_distrust(answers: impl IntoIterator<Item = bool>) -> bool {
    answers.into_iter().any(|distrusts| distrusts)
}

/// The estimate with the least doubt; of equals, the one that begins lowest. A read goes up its table first: begun too low it takes as many retries as it
/// is off, begun too high it goes to the end of the table before it looks below.
pub fn merge_estimates(answers: impl IntoIterator<Item = Option<Estimate>>) -> Option<Estimate> {
    answers.into_iter().flatten().min()
}

/// The cheapest way on; of equals, the least try. A try that is among `tried` is nobody's way on: so a read ends, whatever anybody answers.
pub fn merge_rungs(answers: impl IntoIterator<Item = Option<Rung>>, tried: &[ReadTry]) -> Option<ReadTry> {
    answers.into_iter().flatten().filter(|rung| !tried.contains(&rung.next)).min().map(|rung| rung.next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nobody_asked_means_nothing_is_done() {
        assert_eq!(merge_estimates([None, None]), None);
        assert_eq!(merge_rungs([None], &[]), None);
        assert_eq!(merge_remedies([None, Some(Remedy::Erase), Some(Remedy::LockPages)]), Some(Remedy::Erase));
        assert_eq!(merge_program_settings([None]), ProgramSettings::DEFAULT);
        assert!(!merge_distrust([]));
    }

    #[test]
    fn less_doubt_goes_before_a_lower_entry_and_a_cheaper_way_before_a_lower_one() {
        let estimate = |doubt, entry| Some(Estimate { doubt, first: ReadTry::vendor(entry) });
        assert_eq!(merge_estimates([estimate(16, 1), None, estimate(3, 7), estimate(3, 5)]), estimate(3, 5));
        let rung = |cost, entry| Some(Rung { cost: Nanos(cost), next: ReadTry::vendor(entry) });
        let answers = [rung(90, 1), None, rung(20, 9), rung(20, 6), rung(10, 4)];
        assert_eq!(merge_rungs(answers, &[ReadTry::DEFAULT]), Some(ReadTry::vendor(4)));
        assert_eq!(merge_rungs(answers, &[ReadTry::vendor(4)]), Some(ReadTry::vendor(6)), "not twice");
    }

    fn answer<T: std::fmt::Debug + Clone + 'static>(of: impl Strategy<Value = T> + 'static) -> impl Strategy<Value = Vec<Option<T>>> {
        prop::collection::vec(prop::option::of(of), 0..8)
    }

    fn tries() -> impl Strategy<Value = ReadTry> {
        (0u8..3, 0u8..6).prop_map(|(set, entry)| ReadTry { set, entry })
    }

    proptest! {
        /// In any order of answers the same, one of those given, and none that is better was given.
        #[test]
        fn estimates_come_to_the_best_in_any_order(
            answers in answer((0u16..4, tries()).prop_map(|(doubt, first)| Estimate { doubt, first })),
            turn in 0usize..8,
        ) {
            let merged = merge_estimates(answers.clone());
            let mut turned = answers.clone();
            turned.rotate_left(turn.min(answers.len()));
            prop_assert_eq!(merge_estimates(turned.clone()), merged);
            turned.reverse();
            prop_assert_eq!(merge_estimates(turned), merged);
            prop_assert_eq!(merged.is_some(), answers.iter().any(Option::is_some));
            prop_assert!(merged.is_none() || answers.contains(&merged));
            for other in answers.into_iter().flatten() {
                let best = merged.expect("somebody knows");
                prop_assert!((best.doubt, best.first) <= (other.doubt, other.first));
            }
        }

        /// In any order of answers the same, the cheapest of what has not been tried, and nothing twice.
        #[test]
        fn rungs_come_to_the_cheapest_in_any_order_and_to_nothing_twice(
            answers in answer((0u64..4, tries()).prop_map(|(cost, next)| Rung { cost: Nanos(cost), next })),
            tried in prop::collection::vec(tries(), 1..6),
            turn in 0usize..8,
        ) {
            let merged = merge_rungs(answers.clone(), &tried);
            let mut turned = answers.clone();
            turned.rotate_left(turn.min(answers.len()));
            prop_assert_eq!(merge_rungs(turned.clone(), &tried), merged);
            turned.reverse();
            prop_assert_eq!(merge_rungs(turned, &tried), merged);
            let left: Vec<Rung> = answers.into_iter().flatten().filter(|rung| !tried.contains(&rung.next)).collect();
            prop_assert_eq!(merged.is_some(), !left.is_empty());
            if let Some(next) = merged {
                let cheapest = left.iter().map(|rung| rung.cost).min().expect("there is one");
                let least = left.iter().filter(|rung| rung.cost == cheapest).map(|rung| rung.next).min();
                prop_assert_eq!(Some(next), least);
            }
        }
    }
}
