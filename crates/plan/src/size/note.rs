//! Notes on what a size has changed besides the size.

use super::SPARE_TOLERANCE;
use crate::plan::Plan;

impl Plan {
    /// Notes on `sized`, which is this drive at another size: blocks of another shape, more dies, and usable spare that is not what it was.
    pub(super) fn size_notes(&self, sized: &Plan) -> Vec<String> {
        let (was, is) = (&self.config().sheet.geometry, &sized.config().sheet.geometry);
        let (before, after) = (self.figures(), sized.figures());
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        let off = |now: f64, then: f64| (now - then).abs() > SPARE_TOLERANCE;
        let mut notes = Vec::new();
        if is.layers != was.layers {
            let of = if is.layers == 1 { "1 h-layer".to_owned() } else { format!("{} h-layers", is.layers) };
            notes.push(format!(
                "at {} its blocks have {of} instead of {}, so that usable spare stays: an erase or a lock of a block is of less data, and each h-layer stands \
                 for those of its height",
                after.exported, was.layers
            ));
        }
        if is.dies_per_channel > was.dies_per_channel {
            notes.push(format!(
                "at {} it has {} dies on each channel instead of {}: more flash works at the same time than in the drive of {}",
                after.exported, is.dies_per_channel, was.dies_per_channel, before.exported
            ));
        }
        if off(after.usable_spare, before.usable_spare) {
            notes.push(format!(
                "at {} usable spare is {} of raw flash, at the drive's own {} it is {}",
                after.exported,
                percent(after.usable_spare),
                before.exported,
                percent(before.usable_spare)
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
        assert!(
            small.contains("2 GiB") && small.contains("instead of 48") && !small.contains("usable spare is") && !small.contains("dies"),
            "{small}"
        );
        let large = notes("64 GiB");
        assert!(large.contains("dies on each channel instead of 4") && !large.contains("h-layers"), "{large}");
        // A drive of before this rule, whose media are there.
        let old = Plan::load_set("pageftl", &["geometry.blocks=36", "mapping.capacity=2 GiB"]).expect("it has room");
        let told = own.shaped_as(&old).expect("it was checked").0.notes().join("; ");
        assert!(told.contains("usable spare is 7.10 %") && told.contains("5.83 %"), "{told}");
    }
}
