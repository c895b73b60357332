//! Refusal of a size for which no shape keeps the share of usable spare, with the next size for which one does.

use super::fit::{self, DIES_MAX, LAYERS_OF_TABLES, goes_by_tables};
use super::{SHAPES_TRIED, SPARE_TOLERANCE, all_made};
use crate::error::PlanError;
use crate::plan::Plan;
use crate::quantity::SIZE;

/// Sizes between one power of two and the next that are tried.
const STEPS: u64 = 32;
/// Shapes that are tried for each.
const TRIED: usize = 2;

/// Why none of these drives, all alike, can have `bytes`. `refused` is what was wrong with the best shape, if there was any. A drive that could not have the
/// size alone is named as the cause.
pub(super) fn refuse(plans: &[&Plan], bytes: u64, refused: Option<PlanError>, no: &dyn Fn(&Plan, String) -> PlanError) -> PlanError {
    let alone = plans.chunks(1).find_map(|plan| Some((plan, all_made(plan, bytes, SHAPES_TRIED).err()?)));
    let (causes, refused) = alone.unwrap_or((plans, refused));
    let (drive, first) = (causes[0], causes[0].figures());
    let (spare, tolerance) = (first.usable_spare * 100.0, SPARE_TOLERANCE * 100.0);
    let mut why = match (&refused, causes) {
        (Some(why), _) => {
            format!("no flash with the usable spare that it has, {spare:.2} % of usable flash, makes a drive: {}", first_of(why))
        }
        (None, [_]) => format!("its usable spare would not stay within {tolerance} % of usable flash of the {spare:.2} % it has"),
        (None, _) => {
            let each: Vec<String> =
                plans.iter().map(|plan| format!("{} {:.2} %", plan.name(), plan.figures().usable_spare * 100.0)).collect();
            format!(
                "drives that have the same flash are compared on one shape of it, and with none would the usable spare of all stay within {tolerance} % of \
                 usable flash of what it is: {}",
                each.join(", ")
            )
        }
    };
    if causes.iter().any(|plan| goes_by_tables(plan)) {
        why += &format!("; a technique goes by tables of h-layers, for which blocks need at least {LAYERS_OF_TABLES}");
    }
    match next(plans, bytes) {
        Some(least) => no(drive, format!("{why}; expected at least {}", SIZE.write(least))),
        None => refused.unwrap_or_else(|| {
            let most = u128::from(DIES_MAX) * u128::from(first.exported.0) / u128::from(first.dies);
            let most = wordline_units::Bytes(u64::try_from(most).unwrap_or(u64::MAX));
            no(drive, format!("{why}; {DIES_MAX} dies, the most there can be, hold about {most}"))
        }),
    }
}

/// The first of the mistakes, without its place.
fn first_of(why: &PlanError) -> String {
    let first = if let PlanError::Mistakes(mistakes) = why { mistakes.first() } else { None };
    first.map_or_else(|| why.to_string(), |mistake| mistake.what.clone())
}

/// The least of the sizes tried, from `bytes` to the drives' own, that all of them can have. Their own is one.
fn next(plans: &[&Plan], bytes: u64) -> Option<u64> {
    let own = plans[0].figures().exported.0;
    let step = plans.iter().map(|plan| fit::size_step(plan)).max()?;
    let mut size = bytes;
    loop {
        let unit = (size.next_power_of_two() / 2 / STEPS).next_multiple_of(step).max(1 << 20).next_multiple_of(step);
        size = (size + 1).next_multiple_of(unit);
        if size >= own {
            return (own > bytes).then_some(own);
        }
        if all_made(plans, size, TRIED).is_ok() {
            return Some(size);
        }
    }
}
