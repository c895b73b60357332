//! What a size has changed besides the size, in words for whoever reads the results.

use super::SPARE_TOLERANCE;
use crate::plan::Plan;

impl Plan {
    /// What is to be said of `sized`, which is this drive at another size: blocks of another shape, and usable spare that is not what it was.
    pub(super) fn size_notes(&self, sized: &Plan) -> Vec<String> {
        let (was, is) = (&self.config().sheet.geometry, &sized.config().sheet.geometry);
        let (before, after) = (self.figures(), sized.figures());
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        let off = |now: f64, then: f64| (now - then).abs() > SPARE_TOLERANCE;
        let mut notes = Vec::new();
        if is.layers != was.layers {
            let of = if is.layers == 1 { "1 h-layer".to_owned() } else { format!("{} h-layers", is.layers) };
            notes.push(format!(
                "at {} its blocks have {of} instead of {}, so that the share of spare flash stays: an erase or a lock of a block is of less data, and what goes \
                 by h-layer has fewer of them",
                after.exported, was.layers
            ));
        }
        if off(after.usable_spare, before.usable_spare) {
            notes.push(format!(
                "at {} usable spare is {} of raw flash, at the drive's own {} it is {}: GC keeps as many blocks free of {} in a plane as of {}",
                after.exported,
                percent(after.usable_spare),
                before.exported,
                percent(before.usable_spare),
                is.blocks,
                was.blocks
            ));
        }
        if off(after.spare_factor, before.spare_factor) {
            notes.push(format!(
                "at {} spare flash is {} of raw flash, at the drive's own {} it is {}",
                after.exported,
                percent(after.spare_factor),
                before.exported,
                percent(before.spare_factor)
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;

    #[test]
    fn a_size_says_what_it_changed_besides() {
        let own = Plan::load("pageftl").expect("a preset");
        let notes = |size: &str| own.sized(size).expect("it has room").0.notes().join("; ");
        assert_eq!(notes("27 GiB"), "", "blocks and usable spare are as good as its own");
        let small = notes("2 GiB");
        assert!(small.contains("2 GiB") && small.contains("h-layers instead of 48") && !small.contains("usable"), "{small}");
        let middle = notes("8 GiB");
        assert!(middle.contains("usable spare is 3.43 %") && middle.contains("it is 5.83 %") && !middle.contains("h-layers"), "{middle}");
        // A drive of before this rule, whose media are there.
        let old = Plan::load_set("pageftl", &["geometry.blocks=36", "mapping.capacity=2 GiB"]).expect("it has room");
        let told = own.shaped_as(&old).expect("it was checked").0.notes().join("; ");
        assert!(told.contains("spare flash is 20.99 %") && told.contains("7.00 %"), "{told}");
    }
}
