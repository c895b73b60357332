//! A technique for the hooks that no technique of the product subscribes to yet: it parts moved data, holds work back, spares wordlines, and keeps books
//! of news.
//!
//! Its answers are by dice of what the question is about, so an answer that is asked for twice is given twice.
//!
//! Checks: a copy stays on its die; data that was copied back was told as a copyback before; nothing of a failed die is emptied, moved or copied; a die
//! fails once.

use std::collections::BTreeSet;

use wordline_flash::Status;
use wordline_ftl::layout::BlockGroup;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Start, Way, abstain};
use wordline_ftl::techniques::seam::{
    Amount, Ask, Card, Ctx, Fit, IdleWordlines, Memo, Moving, News, Persists, Place, ProgramUnit, Technique, ignores,
};
use wordline_ftl::techniques::work::{Waiting, Work};
use wordline_units::random::{Draw, Stream};
use wordline_units::{DieId, WordlineSet};

/// Block groups of a die that take moved data at once beside a stand-in.
pub(crate) const PLACES: u32 = 2;
/// The number of the dice of answers.
const ANSWERS: u32 = 18;

/// Card of the stand-in.
pub(crate) const CARD: Card = Card {
    name: "stand-in",
    source: "an oracle of hooks",
    claim: "data is as safe wherever it goes, whenever work starts and whatever erases spare",
    hooks: Hooks::of(&[
        Hook::Copied,
        Hook::Moved,
        Hook::VictimChosen,
        Hook::Retired,
        Hook::DataLost,
        Hook::Stopped,
        Hook::DieFailed,
        Hook::MayWork,
        Hook::Fit,
        Hook::EraseSettings,
    ]),
    asks: &[Ask::Places(Amount::Fixed(PLACES)), Ask::Spared(Amount::Fixed(3))],
    persists: Persists::Nothing("its books are of one start"),
    limits: "it helps nobody",
};

/// Answers by dice, for a core whose erases spare a given number of wordlines.
#[derive(Clone, Debug)]
pub struct StandIn {
    seed: u64,
    spared_max: u32,
    failed: BTreeSet<DieId>,
    /// Place of the latest good copyback.
    copied: Option<ProgramUnit>,
}

impl StandIn {
    /// Creates a stand-in with dice of `seed`, in a core whose erases spare up to `spared_max` wordlines.
    pub fn new(seed: u64, spared_max: u32) -> StandIn {
        StandIn { seed, spared_max, failed: BTreeSet::new(), copied: None }
    }

    fn dice(&self, of: u64) -> Draw {
        Draw::new(self.seed ^ of, Stream::Mix, ANSWERS)
    }

    fn assert_alive(&self, ctx: &Ctx<'_>, group: BlockGroup, what: &str) {
        let die = ctx.view.layout().die(group);
        assert!(!self.failed.contains(&die), "{what} {group:?}, and {die:?} has failed");
    }
}

impl Technique for StandIn {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn recover(&mut self, _: &wordline_ftl::groups::BlockGroups, _: &[Memo]) {
        self.failed.clear();
        self.copied = None;
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        let layout = ctx.view.layout();
        match *news {
            News::Copied(report) => {
                let (from, to) = (report.from.group, report.to.group);
                assert!(from != to && layout.die(from) == layout.die(to), "{report:?} leaves its die");
                self.assert_alive(ctx, to, "a copy to");
                self.copied = (report.status == Status::Good).then_some(report.to);
            }
            News::Moved { from, to, units, way } => {
                // Of the bus, data may stay in its group: what lies in the way of a sanitiser moves to the group that is open.
                assert!(units > 0 && (way == Way::Bus || from != to.group), "{units} units of {from:?} are moved to {to:?}");
                assert!(way != Way::Copyback || self.copied == Some(to), "{to:?} was copied, and the last copy is {:?}", self.copied);
                self.assert_alive(ctx, to.group, "data was moved to");
            }
            News::VictimChosen { victim, .. } => self.assert_alive(ctx, victim, "the victim is"),
            News::DieFailed { die } => assert!(self.failed.insert(die), "{die:?} fails a second time"),
            ignores!(Unmeasured, Read, Programmed, Erased, Opened, Closed, Retired, DataLost, Stopped, Timer, Idle) => {}
        }
    }

    fn may_work(&self, ctx: &Ctx<'_>, _: &Work, waiting: &Waiting) -> Says<Start> {
        let holds = waiting.reads.is_some() && self.dice(ctx.now.0).happens(0.5);
        if holds { [Say::AtMost(Start::Later), Say::Abstain] } else { abstain() }
    }

    /// Data of even groups and of odd ones is wanted apart, and some copies go nowhere else.
    fn fit(&self, _: &Ctx<'_>, data: &Moving, to: &Place) -> Fit {
        match data.from {
            Some(from) if from.0 % 2 != to.group.0 % 2 => {
                let is_strict = data.way == Way::Copyback && self.dice(from.0.into()).happens(0.5);
                if is_strict { Fit::Never } else { Fit::Loose(1) }
            }
            Some(_) | None => Fit::Exact,
        }
    }

    fn erase_settings(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Option<IdleWordlines> {
        let mut dice = self.dice(u64::from(group.0) << 32 | u64::from(ctx.view.erases(group)));
        if dice.happens(0.5) {
            return None;
        }
        let (most, wordlines) = (u64::from(self.spared_max), u64::from(ctx.view.layout().wordlines()));
        let spared = WordlineSet::of((0..dice.below(most + 1)).map(|_| dice.below(wordlines) as u32));
        Some(spared.into())
    }
}
