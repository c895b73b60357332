//! Tables of a chip for its blocks with fewer h-layers.
//!
//! The design of an h-layer is a function of its height (docs/models/cells.md), and a block with fewer h-layers spans the same height. Each of its h-layers
//! therefore goes by the table's entry of the h-layer nearest to that height; what a table says of a whole block, or of a cell, stays as it is.

use crate::keys::filled::Sections;
use crate::kind::{Kind, List};
use crate::plan::Plan;

/// The h-layer of a block of `of` at the height of h-layer `layer` of a block of `from`: topmost first, the outermost ones fall together.
fn at_height(layer: u32, from: u32, of: u32) -> u32 {
    if from < 2 { 0 } else { (2 * layer * (of - 1) + (from - 1)) / (2 * (from - 1)) }
}

/// The entries of a list with one for each of `own` h-layers that those of a block of `layers` go by.
fn picked<T: Clone>(list: &[T], own: u32, layers: u32) -> Vec<T> {
    (0..layers).filter_map(|layer| list.get(at_height(layer, layers, own) as usize).cloned()).collect()
}

/// The h-layers of a block of `layers` at the heights of those in `list`, each once, in the same order.
fn moved(list: &[u32], own: u32, layers: u32) -> Vec<u32> {
    let mut moved = Vec::new();
    for &layer in list {
        let layer = at_height(layer, own, layers);
        if !moved.contains(&layer) {
            moved.push(layer);
        }
    }
    moved
}

/// The number of wordlines of a block of `layers` h-layers that is the share of `count` in a block of `own`.
fn in_proportion(count: u32, own: u32, layers: u32) -> u32 {
    (2 * count * layers + own) / (2 * own)
}

/// The settings that fit the tables of this drive to blocks of `layers` h-layers, as far as `other` has them, too, and counts of wordlines of its techniques.
pub(super) fn settings(plan: &Plan, layers: u32, other: &Sections) -> Vec<String> {
    let (sections, own) = (plan.sections(), plan.config().sheet.geometry.layers);
    let mut settings = Vec::new();
    let mut set = |key: &str, value: String| settings.push(format!("{key}={value}"));
    if sections.margins.step.value.0.is_some() && other.margins.step.value.0.is_some() {
        set("margins.layers", List(picked(&sections.margins.layers.value.0, own, layers)).write());
    }
    if sections.aging.seed.value.0.is_some() && other.aging.seed.value.0.is_some() {
        let geometry = plan.config().sheet.geometry;
        let of_layer = geometry.pages() / own;
        let page = sections.aging.page.value;
        set("aging.page", (at_height(page / of_layer, own, layers) * of_layer + page % of_layer).to_string());
    }
    if sections.ort.seed.value.0.is_some() && other.ort.seed.value.0.is_some() {
        let classes = &sections.ort.layers.value.0;
        let picked = picked(classes, own, layers);
        // Rows of the table are for all its classes: blocks that lack one go without it.
        if picked.iter().max() == classes.iter().max() {
            set("ort.layers", List(picked).write());
        }
    }
    if sections.copyback.seed.value.0.is_some() && other.copyback.seed.value.0.is_some() {
        set("copyback.layers", List(moved(&sections.copyback.layers.value.0, own, layers)).write());
    }
    if sections.guard.seed.value.0.is_some() && other.guard.seed.value.0.is_some() {
        let guard = &sections.guard;
        let rank = |layer: &u32| guard.order.value.0.iter().position(|other| *other == at_height(*layer, layers, own));
        let mut order: Vec<u32> = (0..layers).collect();
        order.sort_by_key(rank);
        set("guard.order", List(order).write());
        set("guard.relative", List(picked(&guard.relative.value.0, own, layers)).write());
        // The share of a block's wordlines that a mode spares is what its endurance goes by.
        let spared = guard.wordlines.value.0.iter().map(|count| in_proportion(*count, own, layers)).collect();
        set("guard.wordlines", List::<u32>(spared).write());
    }
    // Checked even where the cells do without it.
    if let Some(physics) = plan.physics() {
        let profile = &physics.profile;
        // A list of one value is that of all h-layers.
        if profile.offset.len() > 1 {
            let offset: Vec<String> = picked(&profile.offset, own, layers).iter().map(|shift| format!("\"{shift} mV\"")).collect();
            set("physics.profile.offset", format!("[{}]", offset.join(", ")));
        }
        if profile.width.len() > 1 {
            let width: Vec<String> = picked(&profile.width, own, layers).iter().map(|width| format!("{width:?}")).collect();
            set("physics.profile.width", format!("[{}]", width.join(", ")));
        }
    }
    for (key, count) in sections.techniques.wordlines() {
        // A count that is there stays one: a block that may lose some wordline is not one that may lose none.
        set(&key, in_proportion(count, own, layers).max(count.min(1)).to_string());
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::super::sized;
    use super::*;

    #[test]
    fn an_h_layer_goes_by_the_one_at_its_height() {
        assert_eq!([0, 1, 2, 3].map(|layer| at_height(layer, 4, 48)), [0, 16, 31, 47]);
        assert_eq!([0, 5, 24, 47].map(|layer| at_height(layer, 48, 12)), [0, 1, 6, 11]);
        assert_eq!(at_height(0, 1, 48), 0);
        assert_eq!(picked(&[7, 8, 9], 3, 3), [7, 8, 9]);
        assert_eq!(moved(&[5, 4, 6, 3], 48, 12), [1]);
        assert_eq!(moved(&[5, 4, 6, 3], 48, 48), [5, 4, 6, 3]);
    }

    #[test]
    fn a_small_drive_has_the_tables_that_its_techniques_go_by() {
        for (drive, size) in [("rftl", "1 GiB"), ("paftl", "1 GiB"), ("vertftl", "1 GiB")] {
            let own = Plan::load(drive).expect("a preset");
            let (plan, _) = sized(&own, size).unwrap_or_else(|error| panic!("{drive} {size}: {error}"));
            let (was, is) = (own.config(), plan.config());
            assert!(is.sheet.geometry.layers < was.sheet.geometry.layers, "{drive}");
            let tables = |config: &wordline_drive::Config| {
                let tables = &config.firmware.tables;
                (
                    config.firmware.margins.is_some(),
                    tables.aging.is_some(),
                    tables.ort.is_some(),
                    tables.copyback.is_some(),
                    tables.disturb.is_some(),
                )
            };
            assert_eq!(tables(is), tables(was), "{drive}");
        }
    }

    #[test]
    fn a_small_drive_gives_up_the_share_of_its_blocks_that_its_own_size_does() {
        let lost = |plan: &Plan| plan.sections().techniques.wordlines().map(|(_, count)| count).collect::<Vec<_>>();
        for (drive, whole, small) in [("bpm-2.1", [4, 4], [1, 1]), ("bpm-5.2", [10, 10], [1, 1])] {
            let own = Plan::load(drive).expect("a preset");
            let (plan, _) = sized(&own, "1 GiB").expect("it has room");
            assert_eq!((lost(&own), lost(&plan)), (whole.to_vec(), small.to_vec()), "{drive}");
            let told = plan.notes().join("; ");
            assert!(told.contains("fixed is 1 instead of") && told.contains("3.57 % of a block's wordlines"), "{told}");
        }
        assert_eq!([(4, 12), (10, 12), (1, 12), (0, 12), (4, 48)].map(|(count, layers)| in_proportion(count, 48, layers)), [1, 3, 0, 0, 4]);
    }

    #[test]
    fn a_drive_whose_blocks_are_made_smaller_by_hand_gets_no_table_of_another_block() {
        let told = Plan::load_set("rftl", &["geometry.layers=24"]).expect_err("its tables are of 48 h-layers").to_string();
        assert!(told.contains("aging.seed is not set"), "{told}");
    }
}
