//! Does a drive that cannot rest, or cannot be saved, name the work that keeps it?

use wordline_drive::{Pace, Watched};
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::{Card, Ctx, News, Persists, Technique};
use wordline_ftl::techniques::work::{NEVER, Work, WorkKind};
use wordline_units::Cause;

use crate::small::{Shape, uniform};

/// Wants each block group moved as soon as it is closed, so that it never has an end.
#[derive(Debug)]
struct Mover;

const MOVER: Card = Card {
    name: "mover",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Closed, Hook::Work]),
    asks: &[],
    persists: Persists::Nothing("it learns nothing"),
    limits: "all",
};

impl Technique for Mover {
    fn card(&self) -> &'static Card {
        &MOVER
    }

    fn work(&self, _: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Closed { group } = *news else { return None };
        Some(Work { kind: WorkKind::Rewrite(group), cause: Cause::Disturb, due: NEVER })
    }
}

/// A small drive of two dies with some writes behind it.
fn written() -> Watched {
    let shape = Shape { channels: 1, blocks: 16, layers: 2, ..Shape::default() };
    let mut drive = shape.drive();
    let span = drive.config().exported_units / 2;
    drive.serve(&mut uniform(&shape.config(), span, 1), Pace::Closed { depth: 8 }, Some(2 * span));
    drive
}

#[test]
fn a_drive_that_never_rests_says_which_work_goes_on_and_where() {
    let mut drive = written();
    drive.try_settle().expect("nobody keeps it");
    assert_eq!(drive.unrest(), [""; 0]);
    drive.join(|| Box::new(Mover));
    let span = drive.config().exported_units / 2;
    let config = drive.config().clone();
    drive.serve(&mut uniform(&config, span, 2), Pace::Closed { depth: 8 }, Some(2 * span));
    let told = drive.try_settle().expect_err("a group that is moved closes another").to_string();
    assert!(told.starts_with("the drive does not come to rest: ") && told.contains("a refresh for read disturb"), "{told}");
    assert!(told.contains("on die 0") || told.contains("on die 1"), "{told}");
    let busy = drive.image().expect_err("it is not at rest").to_string();
    assert!(busy.contains("a refresh for read disturb"), "{busy}");
}

#[test]
fn a_drive_that_waits_for_company_says_how_many_units_wait() {
    let mut drive = written();
    let told = drive.unrest().join("; ");
    assert!(
        told.contains("units in the write buffer wait for a program") || told.contains("for a write of the host is under way"),
        "{told}"
    );
    let busy = drive.image().expect_err("it is not at rest").to_string();
    assert!(busy.starts_with("the drive cannot be saved as it is: "), "{busy}");
    drive.settle();
    assert!(drive.image().is_ok());
}
