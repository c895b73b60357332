//! The least size with which a drive keeps its share of spare flash, for those who asked for less.

use super::{DIES_MAX, EPSILON, SPARE_TOLERANCE, Shape};
use crate::error::PlanError;
use crate::plan::Plan;
use crate::quantity::SIZE;

/// Why none of these drives, all alike, can have `bytes`. `refused` is what was wrong with the last shape that was tried, if any was.
pub(super) fn refuse(plans: &[&Plan], bytes: u64, refused: Option<PlanError>, no: &dyn Fn(String) -> PlanError) -> PlanError {
    let first = plans[0];
    let config = first.config();
    let whole = u32::max(config.sheet.geometry.layers, 1);
    // The drive that needs most speaks for all.
    let least = |layers: u32| plans.iter().map(|plan| plan.least(layers)).try_fold(0, |most, least| Some(most.max(least?)));
    // Between the sizes of one number of h-layers and those of the next there may be none.
    let next = (1..=whole).filter_map(least).filter(|size| *size > bytes).min();
    match next {
        Some(least_size) => {
            let spare = first.spare_of_data() * 100.0;
            let blocks = match least(whole) {
                Some(size) if size > least_size => {
                    format!(" with blocks of fewer h-layers, and {} with the chip's own of {whole}", at_least(size))
                }
                _ => String::new(),
            };
            no(format!(
                "its spare flash would not stay within {} % of raw flash of the {spare:.2} % it has: expected at least {}{blocks}",
                SPARE_TOLERANCE * 100.0,
                at_least(least_size)
            ))
        }
        _ => refused.unwrap_or_else(|| {
            let geometry = config.sheet.geometry;
            let row = first.row(1, whole) / u128::from(geometry.channels);
            let most =
                u128::from(DIES_MAX) * u128::from(geometry.blocks) * row * u128::from(first.figures().exported.0) / first.data_flash();
            let most = wordline_units::Bytes(u64::try_from(most).unwrap_or(u64::MAX));
            no(format!("no number of blocks and dies holds it; {DIES_MAX} dies, the most there can be, hold about {most}"))
        }),
    }
}

/// A size to ask for: of the next larger unit that is not much more.
fn at_least(bytes: u64) -> String {
    let unit = [1 << 30, 1 << 20, 1 << 10].into_iter().find(|unit| bytes >= 10 * unit).unwrap_or(1);
    SIZE.write(bytes.next_multiple_of(unit))
}

impl Plan {
    /// The size from which on every one can be had with blocks of `layers` h-layers and the dies that the drive has; `None`: there is none up to the chip's
    /// number of blocks.
    fn least(&self, layers: u32) -> Option<u64> {
        let geometry = self.config().sheet.geometry;
        let dies_per_channel = u64::from(geometry.dies_per_channel);
        let (row, step) = (self.row(dies_per_channel, layers), self.size_step());
        // The least that so many blocks may show: the most spare that is allowed.
        let shown = |blocks: u64| {
            let share = 1.0 - self.spare_of_data() - SPARE_TOLERANCE + EPSILON;
            ((row * u128::from(blocks)) as f64 * share / step as f64).ceil() as u64 * step
        };
        // So many blocks are there for all sizes below those of one block more.
        let works = |blocks: u64| {
            shown(blocks) > 0 && self.made(Shape { layers, dies_per_channel, blocks }, shown(blocks + 1) - self.size_step()).is_ok()
        };
        let (mut low, mut high) = (0, u64::from(geometry.blocks));
        if !works(high) {
            return None;
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if works(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(shown(high))
    }
}
