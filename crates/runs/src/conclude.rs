//! The last step of a run: from what was measured to a result.

use wordline_drive::Watched;
use wordline_engine::BlockView;
use wordline_figures::cells::BlockCells;
use wordline_figures::vertrace::VerTraceResult;
use wordline_figures::{
    CapacityResult, Cost, DriveDetail, DriveResult, Identity, Measured, RewritesResult, SparedResult, TechniqueResult, conclude,
};
use wordline_pages::phrases::warnings;
use wordline_plan::Plan;

use crate::files::Files;
use crate::measuring::Measuring;
use crate::settle::Settled;
use crate::watch::{Beside, Watch};

/// Figures of a run at the end of its window, before the drive is brought to rest.
pub(crate) struct Measurement {
    measured: Measured,
    blocks: Vec<BlockView>,
    event_log_hash: u64,
    vertrace: Option<VerTraceResult>,
    is_steady: bool,
    cost: Cost,
    rewrites: Vec<RewritesResult>,
    spared: Option<SparedResult>,
    techniques: Vec<TechniqueResult>,
    /// Free block groups at the beginning of the window and at its end.
    free_groups: [u64; 2],
    cells: Vec<BlockCells>,
}

impl Measurement {
    /// Figures of `drive` now.
    pub(crate) fn take<F: Files, B: Beside>(drive: &Watched<Watch<F, B>>, window: &Measuring, is_steady: bool) -> Measurement {
        let mut measured = drive.observer.metrics().clone().finish(drive.now(), u64::from(drive.outstanding()));
        measured.buffered_units = Some(drive.buffered_units());
        Measurement {
            measured,
            blocks: drive.blocks().collect(),
            event_log_hash: drive.log().hash(),
            vertrace: drive.observer.files().conclude(),
            is_steady,
            cost: window.cost(),
            rewrites: window.rewrites(drive),
            spared: window.spared(drive),
            techniques: window.techniques(drive),
            free_groups: [window.free_groups(), drive.free_groups()],
            cells: window.cells(drive),
        }
    }

    /// The result of the run that `identity` identifies, with the outcome of the checks after its end.
    pub(crate) fn conclude(self, identity: Identity, settled: Settled) -> (DriveResult, DriveDetail, Measured) {
        let identity = Identity { event_log_hash: self.event_log_hash, steady: self.is_steady, ..identity };
        let (mut result, mut detail) = conclude(&identity, &self.measured, &self.blocks, self.cost);
        result.vertrace = self.vertrace;
        (result.rewrites, result.spared, result.techniques) = (self.rewrites, self.spared, self.techniques);
        result.warnings = warnings::of_run(&result);
        [result.blocks.free_at_begin, result.blocks.free_at_end] = self.free_groups.map(Some);
        (result.blocks.cells, detail.cells) = (wordline_figures::cells::summary(&self.cells), self.cells);
        let Settled { violations: later, not_made } = settled;
        result.checks.add(later);
        result.checks.not_made = not_made;
        (result, detail, self.measured)
    }
}

/// Identity of a run of a drive of `plan` that has not yet been made.
pub fn identity(plan: &Plan) -> Identity {
    let (name, plan_hash, seed) = (plan.name().to_owned(), plan.media_number(), plan.seed());
    let plan_id = plan.id();
    let (capacity, notes) = (Some(capacity(plan)), plan.notes().to_vec());
    Identity { name, plan_id, plan_hash, seed, plan: plan.describe(), capacity, notes, ..Identity::default() }
}

/// Capacity of the flash of the drive of `plan`.
pub fn capacity(plan: &Plan) -> CapacityResult {
    let (figures, config) = (plan.figures(), plan.build());
    let geometry = &config.sheet.geometry;
    CapacityResult {
        raw_bytes: figures.raw.0,
        exported_bytes: figures.exported.0,
        spare_nominal: figures.spare_factor,
        spare_usable: figures.usable_spare,
        channels: geometry.channels,
        dies: figures.dies,
        planes: figures.planes,
        blocks: figures.groups_per_die,
        h_layers: geometry.layers,
        pages_per_block: figures.pages_per_block,
        page_bytes: geometry.page.0,
        unit_bytes: config.firmware.unit.0,
    }
}
