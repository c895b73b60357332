//! Can any set of techniques run together without one of them knowing of another?
//!
//! Does not check: whether they go well together, which is measured in `docs/reference/interactions.md`.

use wordline_drive::{Config, Pace, Watched};
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Start};
use wordline_ftl::techniques::seam::{Card, Ctx, Fit, Moving, News, Persists, Place, Technique};
use wordline_ftl::techniques::work::{NEVER, Waiting, Work, WorkKind};
use wordline_ftl::techniques::{Choice, idle_reclaim};
use wordline_proving::bench::Tally;
use wordline_proving::bystander::Bystander;
use wordline_proving::interactions::{SMALL, Small, bursts, config, hint, overwrites};
use wordline_units::{Cause, FlashOp, Nanos};

/// A drive under overwrites and then bursts; `join`: more techniques join it first.
fn hash(config: Config, join: impl FnOnce(&mut Watched<Tally>)) -> (u64, Watched<Tally>) {
    let (span, age, hint) = (config.exported_units, config.cells.as_ref().and_then(|cells| cells.age), hint(&config));
    let mut drive = Watched::new(config, Tally::default());
    join(&mut drive);
    drive.construct_filled(span);
    age.iter().for_each(|age| drive.set_age(age));
    drive.serve(&mut hint.into_iter().chain(overwrites(1, span).take(4_000)), Pace::Closed { depth: 16 }, None);
    drive.settle();
    let origin = drive.now();
    drive.serve(&mut bursts(1, span).take(4_000), Pace::Open { origin }, None);
    drive.settle();
    (drive.log().hash(), drive)
}

fn nobody(_: &mut Watched<Tally>) {}

#[test]
fn does_a_bystander_change_nothing_beside_any_technique() {
    for Small { techniques, build, .. } in SMALL {
        let each = techniques.iter().map(|choice| vec![*choice]);
        for set in each.chain([Vec::new(), techniques.to_vec()]) {
            let (alone, _) = hash(build(&set), nobody);
            let (with, drive) = hash(build(&set), |drive| drive.join(|| Box::new(Bystander::default())));
            assert_eq!(with, alone, "{set:?}");
            let heard = drive.firmware()[0].learnt("bystander").expect("it has joined")[0];
            assert!(heard > 5_000, "{set:?}: it heard {heard} news only");
        }
    }
}

/// The defect that this was written for: of two idle waits only the shorter was kept.
#[test]
fn does_idle_reclaim_still_hear_of_idle_dies_beside_somebody_who_hears_of_them_sooner() {
    let idle = [Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(5), until_free: 6 })];
    let (none, _) = hash(config(&[]), nobody);
    let (alone, _) = hash(config(&idle), nobody);
    let (with, _) = hash(config(&idle), |drive| drive.join(|| Box::new(Bystander::default())));
    assert_ne!(alone, none, "it has something to do");
    assert_eq!(with, alone);
}

#[test]
fn do_sets_of_techniques_do_the_same_in_whatever_order_they_are_listed() {
    for Small { techniques, build, .. } in SMALL {
        let mut order = techniques.to_vec();
        let (expected, _) = hash(build(&order), nobody);
        order.reverse();
        assert_eq!(hash(build(&order), nobody).0, expected);
        order.rotate_left(2);
        assert_eq!(hash(build(&order), nobody).0, expected);
    }
}

/// Wants a block group rewritten as soon as it is closed, by `due` after that.
#[derive(Debug)]
struct Mover {
    due: Option<Nanos>,
    asked: bool,
}

/// Has every piece of work wait, for ever.
#[derive(Debug)]
struct Holder;

const fn card(name: &'static str, hooks: Hooks) -> Card {
    let persists = Persists::Nothing("it knows nothing that could be forgotten");
    Card { name, source: "a test", claim: "none", hooks, asks: &[], persists, limits: "all" }
}

const MOVER: Card = card("mover", Hooks::of(&[Hook::Closed, Hook::Work]));
const HOLDER: Card = card("holder", Hooks::of(&[Hook::MayWork]));

impl Technique for Mover {
    fn card(&self) -> &'static Card {
        &MOVER
    }

    fn learn(&mut self, _: &Ctx<'_>, _: &News) {
        self.asked = true;
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Closed { group } = *news else { return None };
        let due = self.due.map_or(NEVER, |span| ctx.now + span);
        Some(Work { kind: WorkKind::Rewrite(group), cause: Cause::Disturb, due })
    }
}

impl Technique for Holder {
    fn card(&self) -> &'static Card {
        &HOLDER
    }

    fn may_work(&self, _: &Ctx<'_>, _: &Work, _: &Waiting) -> Says<Start> {
        [Say::AtMost(Start::Later), Say::Abstain]
    }
}

/// Pages programmed for disturb after overwrites that close groups and `rest` of nothing to do.
fn moved(due: Option<Nanos>, holds: bool, rest: Nanos) -> u64 {
    let config = config(&[]);
    let span = config.exported_units;
    let mut drive = Watched::new(config, Tally::default());
    drive.join(|| Box::new(Mover { due, asked: false }));
    if holds {
        drive.join(|| Box::new(Holder));
    }
    drive.construct_filled(span / 2);
    drive.serve(&mut overwrites(1, span).take(600), Pace::Closed { depth: 16 }, None);
    let now = drive.now();
    drive.run_until(now + rest);
    drive.observer.flash[FlashOp::Program as usize][Cause::Disturb as usize]
}

#[test]
fn is_work_held_back_until_it_is_due_and_no_longer() {
    let long = Nanos::from_secs(5);
    let soon = Nanos::from_secs(2);
    assert!(moved(None, false, Nanos::from_secs(1)) > 0, "nobody holds it back");
    assert_eq!(moved(None, true, long), 0, "held back, and never due: as if the deadline were ignored");
    assert_eq!(moved(Some(soon), true, Nanos::from_secs(1)), 0, "not due yet");
    assert!(moved(Some(soon), true, long) > 0, "past its deadline nobody is asked");
}

/// Wants what moves out of even groups and out of odd ones apart, and keeps books of where it went.
#[derive(Debug, Default)]
struct Parted {
    /// Class of the data in each group that takes moved data, and how many program units of the other class it has.
    holds: std::collections::BTreeMap<u32, (u32, u32)>,
}

const PARTED: Card = card("parted", Hooks::of(&[Hook::Fit, Hook::Moved, Hook::Erased]));

impl Technique for Parted {
    fn card(&self) -> &'static Card {
        &PARTED
    }

    fn image(&self) -> Vec<u32> {
        let mixed = self.holds.values().filter(|&&(_, others)| others > 0).count();
        vec![self.holds.len() as u32, mixed as u32]
    }

    fn restore(&mut self, _: &[u32]) -> bool {
        true
    }

    fn learn(&mut self, _: &Ctx<'_>, news: &News) {
        if let News::Moved { from, to, .. } = *news {
            let (class, others) = self.holds.entry(to.group.0).or_insert((from.0 % 2, 0));
            *others += u32::from(*class != from.0 % 2);
        } else if let News::Erased(report) = news {
            self.holds.remove(&report.group.0);
        }
    }

    fn fit(&self, _: &Ctx<'_>, data: &Moving, to: &Place) -> Fit {
        let Some(from) = data.from else { return Fit::Exact };
        match self.holds.get(&to.group.0) {
            Some(&(class, _)) if class != from.0 % 2 => Fit::Loose(1),
            Some(_) => Fit::Exact,
            None if to.is_open => Fit::Loose(2),
            None => Fit::Exact,
        }
    }
}

/// Share of the groups with moved data that hold data of both classes.
fn mixed(moved_blocks: u32) -> (f64, u64) {
    let mut parted = config(&[]);
    parted.firmware.moved_blocks = moved_blocks;
    let (hash, drive) = hash(parted, |drive| drive.join(|| Box::new(Parted::default())));
    drive.audit().expect("the tables agree");
    let learnt = drive.firmware()[0].learnt("parted").expect("it has joined");
    (f64::from(learnt[1]) / f64::from(learnt[0]), hash)
}

#[test]
fn does_data_that_suits_different_places_go_to_different_blocks() {
    let (plain, _) = hash(config(&[]), nobody);
    let ((one, hash_of_one), (two, _)) = (mixed(1), mixed(2));
    assert_eq!(hash_of_one, plain, "with one block for moved data there is nothing to choose");
    assert!(two < 0.5 * one, "{two} of the blocks are mixed, and {one} where there is one at a time");
}
