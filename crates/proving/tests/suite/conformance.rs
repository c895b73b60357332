//! Does every technique keep to what the seam asks of all, and is somebody who does not found out?

use wordline_flash::{Failed, Margins};
use wordline_ftl::BlockGroup;
use wordline_ftl::techniques::DECLARATIONS;
use wordline_ftl::techniques::declaration::Site;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Urgency, Way, abstain};
use wordline_ftl::techniques::seam::{Card, Conflict, Copy, Ctx, Fit, FlashPage, Memo, Moving, News, Persists, Place, Rung, Technique};
use wordline_ftl::techniques::work::{NEVER, Work, WorkKind};
use wordline_proving::bystander::Bystander;
use wordline_proving::conformance::{check, core, every_choice};
use wordline_proving::effort;
use wordline_proving::tables::tables;
use wordline_units::{Cause, DieId, Nanos};

#[test]
fn does_every_technique_keep_to_the_seam() {
    let (layout, sheet) = core();
    let (margins, tables) = (Margins::default(), tables(sheet.geometry.layers));
    let site = Site { margins: Some(&margins), tables: &tables, ..Site::bare(&layout, &sheet) };
    for choice in every_choice() {
        for seed in 0..8 * effort() {
            check(&|| choice.build(&site), seed).unwrap_or_else(|problem| panic!("{choice:?}: {problem}"));
        }
    }
}

#[test]
fn is_every_technique_there_is_held_to_it() {
    let tried: Vec<&str> = every_choice().iter().map(|choice| choice.card().name).collect();
    for declaration in DECLARATIONS {
        let (name, params) = (declaration.card.name, declaration.params);
        let times = tried.iter().filter(|tried| **tried == name).count();
        assert!(times > usize::from(!params.is_empty()), "{name} is held to it {times} times");
    }
}

#[test]
fn does_the_bystander_keep_to_the_seam() {
    check(&|| Box::new(Bystander::default()), 1).unwrap_or_else(|problem| panic!("{problem}"));
}

/// What is wrong with a [`Rogue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// It answers a question that its hooks do not name.
    HookMissing,
    /// It learns from news that its hooks do not name.
    NewsMissing,
    /// It forgets what it has learnt when it is restored.
    Forgets,
    /// It dares more once its memos are lost.
    BolderAfterLoss,
    /// It wants a die collected that is not there.
    NoSuchDie,
    /// It wants to be woken at an instant that has passed.
    WakesInThePast,
    /// It tries a read again as it was tried last.
    RungTwice,
    /// It lets data that comes over the bus go nowhere.
    FitsNowhere,
    /// It stops programs and does not ask for one program at a time.
    StopsAnyProgram,
}

/// A technique with one thing wrong.
#[derive(Clone, Debug)]
struct Rogue {
    wrong: Wrong,
    reads: u32,
    has_memos: bool,
}

const fn card(hooks: Hooks) -> Card {
    let persists = Persists::Memos("how many pages were read");
    Card { name: "rogue", source: "a planted bug", claim: "none", hooks, asks: &[], persists, limits: "all" }
}

const ALL: Hooks = Hooks::of(&[Hook::Read, Hook::Way, Hook::Idle, Hook::Work, Hook::Timer, Hook::Remember, Hook::Rung, Hook::Fit]);
const WHOLE: Card = card(ALL);
const STOPPER: Card = card(ALL.with(Hooks::of(&[Hook::Stop])));
const NO_WAY: Card = card(ALL.without(Hook::Way));
const NO_READ: Card = card(ALL.without(Hook::Read));

impl Technique for Rogue {
    fn card(&self) -> &'static Card {
        match self.wrong {
            Wrong::HookMissing => &NO_WAY,
            Wrong::NewsMissing => &NO_READ,
            Wrong::StopsAnyProgram => &STOPPER,
            Wrong::Forgets | Wrong::BolderAfterLoss | Wrong::NoSuchDie | Wrong::WakesInThePast | Wrong::RungTwice | Wrong::FitsNowhere => {
                &WHOLE
            }
        }
    }

    fn image(&self) -> Vec<u32> {
        vec![self.reads]
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        if self.wrong != Wrong::Forgets {
            self.reads = state[0];
        }
        true
    }

    fn recover(&mut self, _: &wordline_ftl::groups::BlockGroups, memos: &[Memo]) {
        self.has_memos = !memos.is_empty();
    }

    fn learn(&mut self, _: &Ctx<'_>, news: &News) {
        self.reads += u32::from(matches!(news, News::Read(_)));
    }

    fn remember(&self, _: &Ctx<'_>, news: &News) -> Option<Memo> {
        matches!(news, News::Read(_)).then_some(Memo { group: BlockGroup(0), slot: 0, value: self.reads })
    }

    fn work(&self, _: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Idle { die, .. } = *news else { return None };
        let die = if self.wrong == Wrong::NoSuchDie { DieId(99) } else { die };
        Some(Work { kind: WorkKind::Collect(die), cause: Cause::Gc, due: NEVER })
    }

    fn way(&self, _: &Ctx<'_>, _: &Copy) -> Says<Way> {
        let dares = self.wrong == Wrong::HookMissing || (self.wrong == Wrong::BolderAfterLoss && !self.has_memos);
        [if dares { Say::Propose(Way::Copyback) } else { Say::Abstain }, Say::AtMost(Way::Copyback)]
    }

    fn rung(&self, _: &Ctx<'_>, _: FlashPage, failed: &Failed<'_>) -> Option<Rung> {
        let next = *failed.tried.last()?;
        (self.wrong == Wrong::RungTwice).then_some(Rung { cost: Nanos(1), next })
    }

    fn fit(&self, _: &Ctx<'_>, _: &Moving, _: &Place) -> Fit {
        if self.wrong == Wrong::FitsNowhere { Fit::Never } else { Fit::Exact }
    }

    fn stop(&self, _: &Ctx<'_>, _: &Conflict) -> Says<Urgency> {
        if self.wrong == Wrong::StopsAnyProgram { [Say::Propose(Urgency::Now), Say::Abstain] } else { abstain() }
    }

    fn wake_at(&self) -> Option<Nanos> {
        (self.wrong == Wrong::WakesInThePast).then_some(Nanos(1))
    }
}

#[test]
fn is_every_planted_breach_found_out() {
    for (wrong, words) in [
        (Wrong::StopsAnyProgram, "it stops programs or sanitises, and its card does not ask for one program at a time"),
        (Wrong::HookMissing, "it answers way, which its hooks do not name"),
        (Wrong::NewsMissing, "it learns from Read, which its hooks do not name"),
        (Wrong::Forgets, "it does not know again what its image says"),
        (Wrong::BolderAfterLoss, "without its memos it dares more"),
        (Wrong::NoSuchDie, "it wants work done where nothing is"),
        (Wrong::WakesInThePast, "at one that has passed"),
        (Wrong::RungTwice, "it would try ReadTry"),
        (Wrong::FitsNowhere, "it lets data of the bus go nowhere"),
    ] {
        let problem = check(&|| Box::new(Rogue { wrong, reads: 0, has_memos: false }), 1).expect_err("it breaks the rules");
        assert!(problem.contains(words), "{wrong:?}: {problem}");
    }
}
