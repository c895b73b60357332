//! Notes on what a size has changed besides the size.

use super::SPARE_TOLERANCE;
use crate::plan::Plan;

/// Share of what the host sees from which a write buffer is noted.
const BUFFER_TOLD: f64 = 0.02;

/// Notes on `sized`, which is the drive `own` at another size: blocks of another shape, more dies, a write buffer that is much of it, and usable
/// spare that is not what it was.
pub(super) fn notes(own: &Plan, sized: &Plan) -> Vec<String> {
    let (was, is) = (&own.config().sheet.geometry, &sized.config().sheet.geometry);
    let (before, after) = (own.figures(), sized.figures());
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
    let wordlines = |plan: &Plan| plan.config().sheet.geometry.wordlines();
    for ((key, count), (_, whole)) in sized.sections().techniques.wordlines().zip(own.sections().techniques.wordlines()) {
        if count != whole {
            let share = |count: u32, plan: &Plan| percent(f64::from(count) / f64::from(wordlines(plan)));
            notes.push(format!(
                "at {} {key} is {count} instead of {whole}: {} of a block's wordlines instead of {}",
                after.exported,
                share(count, sized),
                share(whole, own)
            ));
        }
    }
    let buffer = |plan: &Plan| {
        let config = plan.config();
        f64::from(config.cores) * config.firmware.buffer.units as f64 / config.exported_units as f64
    };
    if buffer(sized) > BUFFER_TOLD.max(buffer(own)) {
        notes.push(format!(
            "at {} its write buffer is {} of what the host sees instead of {}: more rewrites end in the buffer, and write amplification is lower",
            after.exported,
            percent(buffer(sized)),
            percent(buffer(own))
        ));
    }
    if off(after.usable_spare, before.usable_spare) {
        notes.push(format!(
            "at {} usable spare is {} of usable flash, at the drive's own {} it is {}",
            after.exported,
            percent(after.usable_spare),
            before.exported,
            percent(before.usable_spare)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::super::{shaped_as, sized};
    use crate::plan::Plan;

    #[test]
    fn a_size_says_what_it_changed_besides() {
        let own = Plan::load("pageftl").expect("a preset");
        let notes = |size: &str| sized(&own, size).expect("it has room").0.notes().join("; ");
        assert_eq!(notes("27 GiB"), "", "blocks and usable spare are as good as its own");
        let small = notes("2 GiB");
        assert!(
            small.contains("2 GiB") && small.contains("instead of 48") && !small.contains("usable spare is") && !small.contains("dies"),
            "{small}"
        );
        let cached = sized(&Plan::load("mqsim-default").expect("a preset"), "1 GiB").expect("it has room").0.notes().join("; ");
        assert!(cached.contains("write buffer is 25.00 % of what the host sees"), "{cached}");
        let large = notes("64 GiB");
        assert!(large.contains("dies on each channel instead of 4") && !large.contains("h-layers"), "{large}");
        // A drive of before this rule, whose media are there.
        let old = Plan::load_set("pageftl", &["geometry.blocks=36", "mapping.capacity=2 GiB"]).expect("it has room");
        let told = shaped_as(&own, &old).expect("it was checked").0.notes().join("; ");
        assert!(told.contains("usable spare is 8.24 %") && told.contains("5.90 %"), "{told}");
    }
}
