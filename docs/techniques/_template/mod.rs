//! One sentence: what the technique does, and for whom.
//!
//! One paragraph: the effect it exploits, what the firmware measures of it, what it decides, and what that costs.

use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way, abstain};
use crate::techniques::seam::{Card, Copy, Ctx, News, Persists, Technique, ignores};

/// What it declares.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        // The folder's name with dashes: the word in drive files.
        name: "template",
        // Authors, venue, year and section; or the standard; or "common practice".
        source: "nobody",
        // What it promises, in a form that a test can refute.
        claim: "refuses copyback from groups that were read since their last erase",
        // The news that it is told and the questions that it is asked; it hears of nothing else.
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::Way]),
        // What it asks of dies that costs them time.
        asks: &[],
        // What of it outlasts a power cut, and where that stands; or what it costs that nothing does.
        persists: Persists::Nothing("groups read before a power cut pass for unread"),
        // Where it is known to fall short.
        limits: "an example: it helps nobody",
    },
    // What it does, in the words of the reference of keys.
    about: "copyback is refused from groups that were read since their last erase.",
    // What it is set to: `Params::ALL`, where `params!` declares them.
    params: &[],
    // What the die must have; a drive file that switches it on without is refused.
    needs: &[Need::Copyback],
};

/// What it remembers.
#[derive(Clone, Debug, Default)]
pub struct Template {
    read: Vec<BlockGroup>,
}

impl Template {
    /// Knows nothing yet. The site has the layout, the data sheet and the chip's table of margins.
    pub fn new(_site: &Site<'_>) -> Self {
        Template::default()
    }
}

impl Technique for Template {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    // Learn here, and only here. The last arm names the kinds of news that are ignored, so the compiler asks about a new kind.
    fn learn(&mut self, _ctx: &Ctx<'_>, news: &News) {
        match news {
            News::Read(report) => self.read.push(report.at.group),
            News::Erased(report) => self.read.retain(|&read| read != report.group),
            ignores!(
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
            ) => {}
        }
    }

    // Decide here, and change nothing. A question without an opinion is left out. To refuse is to cap at the least.
    fn way(&self, _ctx: &Ctx<'_>, copy: &Copy) -> Says<Way> {
        if self.read.contains(&copy.from.group) { [Say::AtMost(Way::Bus), Say::Abstain] } else { abstain() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::Layout;
    use crate::techniques::empty::EmptyCore;
    use crate::techniques::seam::{EraseReport, FlashPage, ProgramUnit, ReadReport};
    use wordline_flash::{ReadTry, Status, example};
    use wordline_units::{Bytes, Cause, Nanos, PageId, PlaneId};

    // The test that fails when the technique is off.
    #[test]
    fn a_group_that_was_read_is_refused_until_it_is_erased() {
        let core = EmptyCore::new(Layout::new(&example::sheet(), 1, 8, Bytes::kib(16)));
        let ctx = &core.ctx(Nanos::ZERO);
        let mut technique = Template::default();
        let asked = |technique: &Template, group: u32| {
            let from = ProgramUnit { group: BlockGroup(group), layer: 0, place: 0 };
            technique.way(ctx, &Copy { from, to: None, why: Cause::Gc })
        };
        let at = FlashPage { group: BlockGroup(3), plane: PlaneId(0), page: PageId(7) };
        let (cause, status, array) = (Cause::Host, Status::Good, Nanos::from_micros(70));
        let last = ReadTry::DEFAULT;
        technique.learn(ctx, &News::Read(ReadReport { at, cause, status, retries: 0, last, worst: 0, tally: None, array, times: 1 }));
        assert_eq!(asked(&technique, 3), [Say::AtMost(Way::Bus), Say::Abstain]);
        assert_eq!(asked(&technique, 4), abstain());
        let group = BlockGroup(3);
        technique.learn(ctx, &News::Erased(EraseReport { group, status, loops: 0, array, trace: None, rest: None, has_left: false }));
        assert_eq!(asked(&technique, 3), abstain());
    }
}
