//! The seam: what the core asks of techniques, and how it merges their answers.
//!
//! A technique proposes through `&self` and learns through `&mut self`; acting is the core's. Each question has one merge rule, and every rule gives the same
//! result in whatever order the answers come, so any set of techniques can run together without one of them knowing of another.
//!
//! | question | answer | merge |
//! |---|---|---|
//! | [`Technique::upkeep`] | [`Upkeep`] | union |
//! | [`Technique::idle_wait`] | a span | the shortest |
//! | [`Technique::vote_copyback`] | [`Vote`] | consent: somebody proposes, nobody refuses |
//! | [`Technique::urge_suspend`] | [`Urgency`] | the greatest |
//! | [`Technique::sanitise`] | [`Remedy`] | the most thorough |
//! | [`Technique::program_settings`] | [`ProgramSettings`] | the most careful, number by number |
//! | [`Technique::distrusts`] | yes or no | somebody does |
//! | [`Technique::key_store`] | [`KeyStore`] | the greatest |
//! | [`Technique::read_entry`] | an entry of the read-retry table | the least |
//! | [`Technique::remember`] | [`Memo`] | each technique's apart; of one group, the greatest |
//!
//! There is no wildcard over [`News`] in a technique (a lint sees to it): whoever adds a kind of news is asked by the compiler what each technique makes of it.

use wordline_flash::{ProgramSettings, ProgramTrace, Status, WindowMargin};
use wordline_units::{Cause, DieId, Nanos, PageId, PlaneId, Priority};

use crate::groups::Groups;
use crate::layout::Group;

/// Something the firmware did or heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A page of `group` was read.
    PageRead {
        /// The group.
        group: Group,
        /// In which of its blocks.
        plane: PlaneId,
        /// The page, in program order.
        page: PageId,
        /// Tries after the first, each at another entry of the read-retry table.
        retries: u32,
        /// The entry of the last try.
        entry: u8,
        /// How it ended.
        status: Status,
    },
    /// `group` was erased, or put on other blocks: it holds nothing.
    Erased {
        /// The group.
        group: Group,
    },
    /// A program has ended: told where techniques set programs.
    Programmed {
        /// Where it went.
        at: Wordline,
        /// How it ended.
        status: Status,
        /// What the die tells of it; `None`: it cannot.
        trace: Option<ProgramTrace>,
    },
    /// `die` has had nothing to do for the span that a technique asked for.
    Idle {
        /// The die.
        die: DieId,
        /// How long it has been idle.
        idle: Nanos,
        /// Free groups it has.
        free: u32,
    },
}

/// A program unit of a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wordline {
    /// The group.
    pub group: Group,
    /// The h-layer.
    pub layer: u32,
    /// Its place in the h-layer.
    pub place: u32,
}

/// A piece of work that a technique wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Upkeep {
    /// Move all valid data of `group` elsewhere and erase it.
    Rewrite {
        /// The group.
        group: Group,
        /// What the moved pages are counted under.
        cause: Cause,
    },
    /// Reclaim one victim of `die`, if it would free anything.
    Reclaim {
        /// The die.
        die: DieId,
    },
}

/// An opinion on whether a program unit may be moved by copyback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vote {
    /// No opinion.
    Abstain,
    /// It would pay.
    Propose,
    /// It must not be.
    Refuse,
}

/// How urgently the die should stop what it is doing for a waiting read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Not at all: the read waits.
    Wait,
    /// At once, if the die can.
    Now,
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

/// What a technique is, for people and for the interaction matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The mechanism's name: its folder, and the word in plans.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it promises.
    pub claim: &'static str,
    /// The questions it answers.
    pub answers: &'static [&'static str],
    /// What the die must be able to do.
    pub needs: &'static [&'static str],
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
    fn learn(&mut self, _news: &News) {}

    /// Work to be done because of `news`, which was learnt before.
    fn upkeep(&self, _news: &News) -> Option<Upkeep> {
        None
    }

    /// Whether it answers [`Technique::sanitise`]: only then does the core know which data is secret.
    fn is_sanitiser(&self) -> bool {
        false
    }

    /// What is to be done about stale secrets, before whatever made them stale is acknowledged. `None`: nothing.
    fn sanitise(&self, _exposed: &Exposed) -> Option<Remedy> {
        None
    }

    /// The key store that it needs, for [`Remedy::DropKeys`]. Data that is moved gets another key, so it must not be moved by copyback.
    fn key_store(&self) -> Option<KeyStore> {
        None
    }

    /// Whether it answers [`Technique::program_settings`]: only then does the core ask, and the die tell, what each program was like.
    fn is_programmer(&self) -> bool {
        false
    }

    /// How the program unit at `at` may be programmed, other than the die does by itself.
    fn program_settings(&self, _at: &Wordline) -> Option<ProgramSettings> {
        None
    }

    /// Whether what has been programmed, as `news` says, must not be relied on: it is programmed again elsewhere. Asked before the news is learnt.
    fn distrusts(&self, _news: &News) -> bool {
        false
    }

    /// What must not be forgotten because of `news`, which was learnt before. It is on flash a program or two later, and nobody waits for it; only a technique
    /// whose card says [`Persists::Memos`] is asked.
    fn remember(&self, _news: &News) -> Option<Memo> {
        None
    }

    /// After how long an idle die should be reported with [`News::Idle`]; `None`: never.
    fn idle_wait(&self) -> Option<Nanos> {
        None
    }

    /// Whether valid data of `from` may be moved by copyback.
    fn vote_copyback(&self, _from: Group) -> Vote {
        Vote::Abstain
    }

    /// Whether it answers [`Technique::read_entry`]: only then is anybody asked.
    fn estimates_reads(&self) -> bool {
        false
    }

    /// The entry of the vendor's read-retry table at which a read of `page` of the block of `group` in `plane` should begin, as far as it knows one.
    fn read_entry(&self, _group: Group, _plane: PlaneId, _page: PageId) -> Option<u8> {
        None
    }

    /// Whether a program or erase (`working` says why it was ordered) should be suspended for a waiting read of this priority.
    fn urge_suspend(&self, _working: Cause, _waiting: Priority) -> Urgency {
        Urgency::Wait
    }
}

/// Union: every item once, in the order of the items.
pub fn merge_upkeep(answers: impl IntoIterator<Item = Option<Upkeep>>, into: &mut Vec<Upkeep>) {
    into.extend(answers.into_iter().flatten());
    if into.len() > 1 {
        into.sort_unstable();
        into.dedup();
    }
}

/// The shortest wait that anybody asks for.
pub fn merge_idle_wait(answers: impl IntoIterator<Item = Option<Nanos>>) -> Option<Nanos> {
    answers.into_iter().flatten().min()
}

/// Consent. With a two-valued vote, copyback would be allowed where no technique asked for it.
pub fn merge_votes(answers: impl IntoIterator<Item = Vote>) -> bool {
    answers.into_iter().max() == Some(Vote::Propose)
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

/// The least entry. A read goes up its table first: begun too low it takes as many retries as it is off, begun too high it goes to the end of the table before
/// it looks below.
pub fn merge_read_entries(answers: impl IntoIterator<Item = Option<u8>>) -> Option<u8> {
    answers.into_iter().flatten().min()
}

/// The greatest urgency.
pub fn merge_urgency(answers: impl IntoIterator<Item = Urgency>) -> Urgency {
    answers.into_iter().max().unwrap_or(Urgency::Wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn upkeep() -> impl Strategy<Value = Option<Upkeep>> {
        prop_oneof![
            Just(None),
            (0u32..4).prop_map(|group| Some(Upkeep::Rewrite { group: Group(group), cause: Cause::Disturb })),
            (0u16..4).prop_map(|die| Some(Upkeep::Reclaim { die: DieId(die) })),
        ]
    }

    fn vote() -> impl Strategy<Value = Vote> {
        prop_oneof![Just(Vote::Abstain), Just(Vote::Propose), Just(Vote::Refuse)]
    }

    proptest! {
        #[test]
        fn merges_do_not_depend_on_the_order_of_answers(
            upkeeps in prop::collection::vec(upkeep(), 0..8).prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())),
            votes in prop::collection::vec(vote(), 0..8).prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())),
        ) {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            merge_upkeep(upkeeps.0, &mut a);
            merge_upkeep(upkeeps.1, &mut b);
            prop_assert_eq!(a, b);
            let consent = votes.0.contains(&Vote::Propose) && !votes.0.contains(&Vote::Refuse);
            prop_assert_eq!(merge_votes(votes.0), consent);
            prop_assert_eq!(merge_votes(votes.1), consent);
        }
    }

    #[test]
    fn nobody_asked_means_nothing_is_done() {
        assert!(!merge_votes([]));
        assert_eq!(merge_urgency([]), Urgency::Wait);
        assert_eq!(merge_idle_wait([None, None]), None);
        assert_eq!(merge_read_entries([None, None]), None);
        assert_eq!(merge_read_entries([Some(7), None, Some(3)]), Some(3));
        assert_eq!(merge_idle_wait([Some(Nanos(5)), None, Some(Nanos(3))]), Some(Nanos(3)));
    }
}
