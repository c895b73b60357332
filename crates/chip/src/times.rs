//! Spans of the data sheet as the cells of a die take them.

use wordline_cells::Settings;
use wordline_flash::{ProgramScope, Sheet, Timing};
use wordline_units::Nanos;

use crate::cells::DieCells;
use crate::features::Features;
use crate::place::Shape;
use crate::work::WorkKind;

/// The data sheet and what changes its spans.
#[derive(Clone, Copy)]
pub(crate) struct Times<'a> {
    sheet: &'a Sheet,
    shape: &'a Shape,
    cells: &'a DieCells,
    features: &'a Features,
}

impl<'a> Times<'a> {
    #[inline(always)]
    pub(crate) fn new(sheet: &'a Sheet, shape: &'a Shape, cells: &'a DieCells, features: &'a Features) -> Times<'a> {
        Times { sheet, shape, cells, features }
    }

    /// Spans that the cells do not change.
    #[inline(always)]
    pub(crate) fn timing(self) -> &'a Timing {
        &self.sheet.timing
    }

    /// t_R of a page.
    #[inline(always)]
    pub(crate) fn read(self, page: u16) -> Nanos {
        self.sheet.timing.read[self.shape.page_type(page)]
    }

    /// t_PROG of a page or its wordline: by the physics of the cells, or by rate where a controller has narrowed their settings.
    #[inline(always)]
    pub(crate) fn program(self, page: u16) -> Nanos {
        let span = match self.sheet.capabilities.program_scope {
            ProgramScope::Page => self.sheet.timing.program[self.shape.page_type(page)],
            ProgramScope::Wordline => self.sheet.timing.program_wordline,
        };
        let saving = self.cells.program_saving();
        if saving == 0.0 || self.cells.has_physics() { self.cells.paced(span) } else { shortened(self.features, span, saving) }
    }

    /// t_BERS of the last erase.
    #[inline(always)]
    pub(crate) fn erase(self) -> Nanos {
        self.cells.paced(self.sheet.timing.erase)
    }

    /// Length of the array's steps in work of this kind; none where the data sheet has none.
    #[inline]
    pub(crate) const fn step_of(self, kind: WorkKind) -> Nanos {
        match kind {
            WorkKind::Program => self.sheet.timing.step_program,
            WorkKind::Erase => self.sheet.timing.step_erase,
            WorkKind::Read | WorkKind::Stopping | WorkKind::Other => Nanos::ZERO,
        }
    }

    /// The same on a die that stops at the end of a step; none on others.
    #[inline]
    pub(crate) const fn step_to_stop_at(self, kind: WorkKind) -> Nanos {
        if self.sheet.capabilities.stop_at_step { self.step_of(kind) } else { Nanos::ZERO }
    }
}

/// t_PROG where narrowed settings save this share of it, by rate.
#[cold]
fn shortened(features: &Features, span: Nanos, saving: f64) -> Nanos {
    if features.program_settings() == Settings::default() { span } else { Nanos((span.0 as f64 * (1.0 - saving)) as u64) }
}
