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
use crate::techniques::seam::{News, ProgramReport, ProgramUnit};

impl Ftl {
    /// How program unit `program` of `group` is to be programmed.
    pub(crate) fn settings_for(&self, group: Group, program: u32) -> ProgramSettings {
        self.panel.program_settings(&self.ctx(), &ProgramUnit::new(&self.layout, group, program))
    }

    /// Whether a program that has ended well must not be relied on. The techniques have learnt of it afterwards.
    pub(crate) fn is_distrusted(&mut self, report: &Report, group: Group, program: u32) -> bool {
        let trace = self.trace.take();
        let &Report { status, loops, array, .. } = report;
        let told = ProgramReport { at: ProgramUnit::new(&self.layout, group, program), status, loops, array, trace };
        let is_bad = status == Status::Good && self.panel.distrusts(&self.ctx(), &told);
        self.notify(News::Programmed(told));
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
