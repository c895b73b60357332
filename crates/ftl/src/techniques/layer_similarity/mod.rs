//! Followers are programmed as their leader has shown that they can be: the optimal parameter manager of cubeFTL.
//!
//! All wordlines of an h-layer are made alike, and age alike. So the first of them to be programmed, the leader, is programmed as the chip does by itself, and
//! the die is asked what it was like:
//!
//! - the loop in which the fastest cells of each state arrived: followers need no verify of that state before;
//! - the errors between the erased state and P1: the fewer they are, the more may be taken from the window at either end, as the chip's table of margins says.
//!
//! A follower whose V_start is raised has its cells arrive earlier, so it may skip fewer verifies: 003 leaves this open, and without it fast cells run past
//! their level. And the table may ask for a verify one loop before the first cells arrived, because a verify slows cells that are close. After each program
//! the die's count of wrong cells is compared with that of the wordline programmed before it on the layer. If it is far higher, something has changed since
//! (003 §4.1.4): the data is programmed again, and the next wordline of the layer is the new leader.
//!
//! A follower that is programmed again costs more than several others save. So each die has credit, which followers earn and programs that are done again use
//! up; where there is none left, it programs as chips do by themselves, and tries again now and then (`credit.rs`).
//!
//! What was seen of a leader is kept until all its followers are programmed, and lost with the power: then a block takes no more data before its next erase.

mod credit;
mod params;
mod state;

use wordline_flash::{Margins, ProgramSettings, ProgramTrace, Status};

use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, News, Persists, ProgramReport, ProgramUnit, Technique, ignores};

use credit::Credit;
pub use params::Params;
use state::{How, Layers, Seen};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "layer-similarity",
        source: "Shim, Exploiting Process Similarity of 3D Flash Memory for High Performance SSDs, dissertation, SNU 2020, §4.1 and §5.1 (cubeFTL)",
        claim: "programs of all wordlines of an h-layer but the first take a third less time, and their data is read as reliably",
        hooks: Hooks::of(&[Hook::Programmed, Hook::Erased, Hook::ProgramSettings, Hook::Distrusts]),
        asks: &[Ask::Programs],
        persists: Persists::Nothing(
            "what leaders have shown; blocks that were open at a power cut take no more data before their next erase",
        ),
        limits: "a leader may have been programmed long before its followers; the comparison after each program is what guards against that",
    },
    about: "the wordlines of an h-layer that follow its first are programmed as that one has shown that they can be (003 §4.1, §5.1). Without \
            `cells.physics` the die tells of no program, and nothing is gained.",
    params: Params::ALL,
    needs: &[Need::ProgramSettings],
};

/// The optimal parameter manager of cubeFTL.
#[derive(Clone, Debug)]
pub struct LayerSimilarity {
    params: Params,
    margins: Margins,
    layers: Layers,
    credit: Credit,
}

impl LayerSimilarity {
    /// Creates the technique for the wordlines of the `site`. Without a table of margins the window stays as it is, and verifies begin a loop early.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let margins = site.margins.cloned().unwrap_or_else(|| Margins { early: 1, ..Margins::default() });
        LayerSimilarity { params, margins, layers: Layers::new(site.layout), credit: Credit::new(site.layout) }
    }

    /// Observations of the leader whose follower the wordline at `at` is; `None`: the wordline is programmed as a leader.
    fn leader_of(&self, at: &ProgramUnit) -> Option<&Seen> {
        self.layers.get(at).filter(|_| !self.params.relent || self.credit.is_good(at.group))
    }

    /// Settings for the followers of a leader with this trace.
    fn of_followers(&self, trace: &ProgramTrace) -> ProgramSettings {
        let mut settings = self.of_leader();
        if self.params.window {
            settings.window = self.margins.window(trace.low_errors, trace.first[0]);
        }
        if self.params.verify {
            for (skip, first) in settings.skip.iter_mut().zip(trace.first) {
                *skip = if self.params.literal { first.saturating_sub(1) } else { self.margins.skip(first, settings.window.start) };
            }
        }
        settings
    }

    /// Settings for a leader: the chip's own, and the level below which cells are counted.
    fn of_leader(&self) -> ProgramSettings {
        ProgramSettings { lowered: self.margins.lowered, ..ProgramSettings::DEFAULT }
    }
}

impl Technique for LayerSimilarity {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        [self.credit.image(), self.layers.image()].concat()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let Some((credit, layers)) = state.split_at_checked(self.credit.dies()) else {
            return false;
        };
        self.credit.restore(credit) && self.layers.restore(layers)
    }

    fn program_settings(&self, _ctx: &Ctx<'_>, at: &ProgramUnit) -> Option<ProgramSettings> {
        // A layer of which nothing is known is programmed by a leader.
        Some(self.leader_of(at).map_or_else(|| self.of_leader(), |seen| seen.settings))
    }

    fn distrusts(&self, _ctx: &Ctx<'_>, report: &ProgramReport) -> bool {
        let ProgramReport { at, trace: Some(trace), .. } = report else {
            return false;
        };
        self.leader_of(at).is_some_and(|seen| self.params.is_off(trace.errors, seen.errors))
    }

    fn learn(&mut self, _ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Programmed(ProgramReport { at, status: Status::Good, trace: Some(trace), .. }) => {
                let how = match self.leader_of(&at) {
                    None => How::AsLeader { settings: self.of_followers(&trace) },
                    Some(seen) if self.params.is_off(trace.errors, seen.errors) => How::Distrusted,
                    Some(_) => How::AsFollower,
                };
                self.credit.programmed(at.group, how);
                self.layers.programmed(&at, trace.errors, how);
            }
            News::Programmed(ProgramReport { at, .. }) => self.layers.count(&at, false),
            News::Erased(report) => self.layers.erased(report.group),
            ignores!(Read, Copied, Unmeasured, Opened, Closed, VictimChosen, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use wordline_units::Nanos;

    use crate::state::layout::BlockGroup;

    /// The technique without a table of margins, with all that it can do.
    fn technique() -> (LayerSimilarity, EmptyCore) {
        let config = small(64);
        let layout = config.layout();
        let params = Params { window: true, verify: true, literal: false, check: true, relent: true };
        (LayerSimilarity::new(&Site::bare(&layout, &config.sheet), params), EmptyCore::new(layout))
    }

    fn at(place: u32) -> ProgramUnit {
        ProgramUnit { group: BlockGroup(0), layer: 1, place }
    }

    fn programmed(place: u32, first: u8, errors: u32) -> ProgramReport {
        let trace = ProgramTrace { first: [first; wordline_flash::program::STATES_MAX], errors, ..ProgramTrace::default() };
        ProgramReport { at: at(place), status: Status::Good, loops: 9, array: Nanos(1), trace: Some(trace) }
    }

    #[test]
    fn a_follower_skips_what_its_leader_has_shown_and_others_skip_nothing() {
        let (mut technique, core) = technique();
        let ctx = core.ctx(Nanos(0));
        let skip = |technique: &LayerSimilarity, at: &ProgramUnit| technique.program_settings(&ctx, at).expect("it sets all").skip[0];
        assert_eq!(skip(&technique, &at(0)), 0, "a leader");
        technique.learn(&ctx, &News::Programmed(programmed(0, 6, 10)));
        assert_eq!(skip(&technique, &at(1)), 4, "a loop early");
        assert_eq!(skip(&technique, &ProgramUnit { layer: 0, ..at(1) }), 0, "another layer");
        technique.learn(&ctx, &News::Erased(crate::techniques::seam::EraseReport::without_erase(BlockGroup(0))));
        assert_eq!(skip(&technique, &at(1)), 0, "its leader is erased");
    }

    #[test]
    fn a_follower_with_far_more_errors_is_distrusted_and_the_next_wordline_leads() {
        let (mut technique, core) = technique();
        let ctx = core.ctx(Nanos(0));
        assert!(!technique.distrusts(&ctx, &programmed(0, 6, 1_000_000)), "a leader has nothing to be compared with");
        technique.learn(&ctx, &News::Programmed(programmed(0, 6, 100)));
        assert!(!technique.distrusts(&ctx, &programmed(1, 6, 150)));
        assert!(technique.distrusts(&ctx, &programmed(1, 6, 10_000)));
        technique.learn(&ctx, &News::Programmed(programmed(1, 6, 10_000)));
        assert_eq!(technique.program_settings(&ctx, &at(2)).map(|settings| settings.skip[0]), Some(0));
    }

    #[test]
    fn the_technique_comes_back_from_its_image_and_from_no_other() {
        let (mut before, core) = technique();
        before.learn(&core.ctx(Nanos(0)), &News::Programmed(programmed(0, 6, 100)));
        let (mut after, _) = technique();
        assert!(after.restore(&before.image()));
        assert_eq!(after.image(), before.image());
        assert!(!after.restore(&before.image()[1..]) && !after.restore(&[]));
    }
}
