//! The `[margins]` section of a chip file: whether its lists go together, and with the chip.

use std::sync::Arc;

use wordline_cells::{Physics, Shape};
use wordline_flash::{MarginStep, Margins, WindowMargin};
use wordline_units::Microvolts;

use crate::keys::filled;
use crate::kind::{Kind, List};
use crate::layer::{Mistakes, Set};

/// The most loops that a program may have.
const LOOPS: u32 = wordline_cells::program::LOOPS as u32;
const ANEW: &str = "`wordline characterize margins` finds a table for this chip; step = \"none\" does without";

/// The table; `None` where there is none, or where there are mistakes.
pub(crate) fn check(keys: &filled::Margins, shape: &Shape, physics: Option<&Physics>, mistakes: &mut Mistakes<'_>) -> Option<Arc<Margins>> {
    let step = keys.step.value.0?;
    let before = mistakes.count();
    if step.0 == 0 {
        mistakes.at(&keys.step.origin, "margins.step is zero: expected a voltage greater than that", None);
    }
    if let Some(ispp) = physics.map(|physics| &physics.ispp).filter(|ispp| (ispp.step - step.millivolts()).abs() > 1e-3) {
        let what = format!("margins.step is {}, and physics.ispp.step is {} mV: expected the same", step.write(), ispp.step);
        mistakes.at(&keys.step.origin, what, Some(ANEW.into()));
    }
    if keys.early.value > LOOPS {
        mistakes.at(&keys.early.origin, format!("margins.early is {}: expected at most {LOOPS}", keys.early.value), None);
    }
    if keys.cells.value != shape.cells() {
        let what = format!("margins.cells is {}, and a wordline has {} cells: expected the same", keys.cells.value, shape.cells());
        mistakes.at(&keys.cells.origin, what, Some(ANEW.into()));
    }
    let lines = keys.errors.value.0.len();
    for (key, list) in [("start", &keys.start), ("end", &keys.end)] {
        if list.value.0.len() != lines {
            let what = format!("margins.{key} lists {} voltages and margins.errors {lines} bounds: expected as many", list.value.0.len());
            mistakes.at(&list.origin, what, None);
        }
    }
    if keys.layers.value.0.len() != shape.layers as usize {
        let what = format!(
            "margins.layers lists {} voltages, and a block has {} h-layers: expected as many",
            keys.layers.value.0.len(),
            shape.layers
        );
        mistakes.at(&keys.layers.origin, what, Some(ANEW.into()));
    }
    if let Some(pair) = keys.errors.value.0.windows(2).find(|pair| pair[0] >= pair[1]) {
        mistakes.at(&keys.errors.origin, format!("margins.errors has {} after {}: expected rising bounds", pair[1], pair[0]), None);
    }
    let windows = keys.start.value.0.iter().zip(&keys.end.value.0).map(|(&start, &end)| WindowMargin { start, end });
    let steps: Vec<MarginStep> =
        keys.errors.value.0.iter().zip(windows).map(|(&errors_max, window)| MarginStep { errors_max, window }).collect();
    if let Some(pair) = steps.windows(2).find(|pair| pair[0].window.total() <= pair[1].window.total()) {
        let [first, second] = [pair[0], pair[1]].map(|step| step.window.total().write());
        let what = format!("margins.start and margins.end make {second} after {first}: expected less and less as errors rise");
        mistakes.at(&keys.end.origin, what, None);
    }
    if let Some(ispp) = physics.map(|physics| &physics.ispp) {
        let too_wide = |voltage: Microvolts| voltage.millivolts() >= ispp.window;
        let tell = |mistakes: &mut Mistakes<'_>, list: &Set<List<Microvolts>>, key: &str, voltage: Microvolts| {
            let what = format!("margins.{key} takes {} from a window of {} mV: expected less than all of it", voltage.write(), ispp.window);
            mistakes.at(&list.origin, what, None);
        };
        if let Some(step) = steps.iter().find(|step| too_wide(step.window.total())) {
            tell(mistakes, &keys.end, "start with margins.end", step.window.total());
        }
        if let Some(&layer) = keys.layers.value.0.iter().find(|layer| too_wide(**layer)) {
            tell(mistakes, &keys.layers, "layers", layer);
        }
    }
    (mistakes.count() == before).then(|| {
        Arc::new(Margins { step, lowered: keys.lowered.value, early: keys.early.value as u8, steps, layers: keys.layers.value.0.clone() })
    })
}
