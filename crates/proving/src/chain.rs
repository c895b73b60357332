//! A technique that asks for what the core does for techniques: copies in a row, which it has data go through again and again, and measurements of pages.
//!
//! It panics where it is told of a measurement that nobody asked for, or of one of a filling that is over.

use std::collections::BTreeMap;

use wordline_ftl::layout::BlockGroup;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Way, abstain};
use wordline_ftl::techniques::seam::{Ask, Card, Copy, Ctx, FlashPage, News, Persists, Technique, ignores};
use wordline_ftl::techniques::work::{NEVER, Work, WorkKind};
use wordline_units::{Cause, PageId, PlaneId};

/// Card of the technique.
pub(crate) const CARD: Card = Card {
    name: "chain",
    source: "an oracle of provenance and of measurements",
    claim: "copies in a row are counted, over power cuts too; a page is measured once it is programmed, and while it is needed",
    hooks: Hooks::of(&[Hook::Way, Hook::Opened, Hook::Closed, Hook::Read, Hook::Erased, Hook::Work]),
    asks: &[Ask::Provenance],
    persists: Persists::Nothing("what it asks for is the core's"),
    limits: "it helps nobody",
};

/// Copies back whatever was copied fewer than four times in a row, and has two pages of each filling measured.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// Pages that are to be measured, and how often at most.
    wanted: BTreeMap<FlashPage, u32>,
    /// Measurements asked for, and heard of.
    counts: [u32; 2],
    /// True if others have pages measured too.
    has_others: bool,
}

impl Chain {
    /// Creates the technique for a core of which other techniques may have pages measured (`has_others`).
    pub fn beside(has_others: bool) -> Chain {
        Chain { has_others, ..Chain::default() }
    }
}

/// Page of `group` that is measured because of `news`: one for those that are opened, another for those that are closed.
fn page_for(ctx: &Ctx<'_>, news: &News) -> Option<FlashPage> {
    let layout = ctx.view.layout();
    let pages = layout.programs * layout.pages_per_program;
    let page = |group: BlockGroup, salt: u32| {
        let mixed = (group.0 ^ ctx.view.erases(group) << 8 ^ salt).wrapping_mul(0x9E37_79B9);
        let page = PageId(((mixed >> 8) % pages) as u16);
        FlashPage { group, plane: PlaneId(((mixed >> 4) % layout.planes) as u8), page }
    };
    match *news {
        News::Opened { group, .. } => Some(page(group, 0x5555)),
        News::Closed { group } => Some(page(group, 0xAAAA_0000)),
        ignores!(Read, Programmed, Erased, Copied, Unmeasured, VictimChosen, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {
            None
        }
    }
}

impl Technique for Chain {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn image(&self) -> Vec<u32> {
        self.counts.to_vec()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        state.try_into().map(|counts| self.counts = counts).is_ok()
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        if let Some(page) = page_for(ctx, news) {
            self.counts[0] += 1;
            *self.wanted.entry(page).or_insert(0) += 1;
        } else if let News::Erased(report) = news {
            self.wanted.retain(|page, _| page.group != report.group);
        } else if let News::Read(report) = news
            && report.cause == Cause::Measure
        {
            match self.wanted.get_mut(&report.at).filter(|left| **left > 0) {
                Some(left) => {
                    self.counts[1] += 1;
                    *left -= 1;
                }
                None => assert!(self.has_others, "{:?} is measured, and nobody wants that any more", report.at),
            }
        }
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let at = page_for(ctx, news)?;
        Some(Work { kind: WorkKind::Measure { at, tally: at.page.0.is_multiple_of(2) }, cause: Cause::Measure, due: NEVER })
    }

    fn way(&self, ctx: &Ctx<'_>, copy: &Copy) -> Says<Way> {
        let copies = ctx.view.copies(copy.from.group, copy.from.program(ctx.view.layout()));
        if copies.is_some_and(|copies| copies < 4) { [Say::Propose(Way::Copyback), Say::Abstain] } else { abstain() }
    }
}
