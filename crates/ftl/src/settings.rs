//! Programs as techniques want them, and what the die tells of them.
//!
//! ```text
//!   ordered ──program_settings──▶ set-features, program, get-features ──trace──▶ distrusts? ──no──▶ lands
//!                                                                                    └──yes──▶ its data waits again, and goes to the next wordline
//! ```

use wordline_flash::{ProgramSettings, Report, Status};
use wordline_units::{DieId, Nanos};

use crate::die::Entry;
use crate::firmware::Ftl;
use crate::layout::Group;
use crate::sanitise::Lander;
use crate::seam::{News, Wordline, merge_distrust, merge_program_settings};

impl Ftl {
    fn wordline(&self, group: Group, program: u32) -> Wordline {
        let each = self.layout.programs_per_layer;
        Wordline { group, layer: program / each, place: program % each }
    }

    /// How program unit `program` of `group` is to be programmed.
    pub(crate) fn settings_for(&self, group: Group, program: u32) -> ProgramSettings {
        let at = self.wordline(group, program);
        merge_program_settings(
            self.techniques.iter().filter(|technique| technique.is_programmer()).map(|technique| technique.program_settings(&at)),
        )
    }

    /// Whether a program that has ended well must not be relied on. The techniques have learnt of it afterwards.
    pub(crate) fn is_distrusted(&mut self, report: &Report, group: Group, program: u32) -> bool {
        let news = News::Programmed { at: self.wordline(group, program), status: report.status, trace: self.trace.take() };
        let is_bad = report.status == Status::Good && merge_distrust(self.techniques.iter().map(|technique| technique.distrusts(&news)));
        self.spread(news);
        is_bad
    }

    /// What was programmed at `program` of `group` is not relied on: it is stale from the first, and what it holds goes elsewhere.
    pub(crate) fn program_again(
        &mut self,
        now: Nanos,
        die: DieId,
        (group, program): (Group, u32),
        closes: bool,
        batch: &[Entry],
        carried: Option<&[Option<Lander>]>,
    ) {
        self.take_back(die, batch);
        for offset in self.layout.units_of(program) {
            self.groups.add_stale(self.layout.unit(group, offset));
        }
        if closes {
            self.complete_group(group);
        }
        self.leave_unsettled(group);
        self.notes.push_back(crate::request::Note::ProgrammedAgain(group));
        if let Some(carried) = carried {
            self.after_landing(group, program * self.layout.units_per_program, false, carried);
        }
        self.settle(now);
    }
}
