//! Do words and figures of one command agree with each other, under keys that are seldom set together?

use serde_json::Value;

use crate::{Scratch, wordline};

fn printed(scratch: &Scratch, arguments: &str) -> (String, String) {
    let output = wordline(&scratch.0, &arguments.split(' ').collect::<Vec<_>>());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Groups that are emptied and erased late are as good as free: a die that has enough of them is left alone, or it would move its data for ever.
#[test]
fn an_idle_die_that_erases_late_comes_to_rest() {
    let scratch = Scratch::new("idle-late");
    let (told, _) = printed(
        &scratch,
        "run paper-vertrace --size 256MiB --requests 10 -w bursts --set techniques.idle-reclaim.on=true --set techniques.idle-reclaim.after=100us \
         --set techniques.idle-reclaim.until_free=6 --set recovery.on=true --set recovery.oob_copies=true --set run.steady=true -q",
    );
    assert!(told.contains("all self-checks passed") && told.contains("idle-reclaim: acted"), "{told}");
}

#[test]
fn a_drive_that_begins_as_another_is_not_said_to_begin_in_its_own_way() {
    let scratch = Scratch::new("begins");
    let (told, _) = printed(&scratch, "compare --drives pageftl,psr-baseline --size 256MiB --requests 500 --seeds 1 -q");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("psr-baseline: begins as pageftl does"), "{told}");
    assert!(!told.contains("endless random overwrites"), "{told}");
    let (own, _) = printed(&scratch, "compare --drives psr-baseline,pageftl --size 256MiB --requests 500 --seeds 1 -q");
    assert!(own.split_whitespace().collect::<Vec<_>>().join(" ").contains("endless random overwrites"), "{own}");
}

#[test]
fn the_erases_of_a_life_follow_from_its_write_amplification() {
    let scratch = Scratch::new("amplified");
    let (told, _) = printed(
        &scratch,
        "wear-out pageftl --size 256MiB -q --no-leaps --sample 0 --physics off --set faults.endurance=20 -w zipf-write --json -",
    );
    let report: Value = serde_json::from_str(&told).expect("JSON");
    let drive = &report["drives"][0];
    let of = |name: &str| drive[name].as_f64().unwrap_or_else(|| panic!("{name} of {drive}"));
    // 297 MiB of flash for 256 MiB of the host.
    let raw = of("exported_bytes") * 297.0 / 256.0;
    let erased = drive["cycles"]["mean"].as_f64().expect("a mean") * raw / of("written_bytes");
    assert!((of("waf") / erased - 1.0).abs() < 0.15, "{} of programs, {erased} of erases", of("waf"));
}

#[test]
fn lost_data_is_a_warning_and_a_drive_without_room_is_not_one_that_has_never_reclaimed() {
    let scratch = Scratch::new("lost");
    let (told, _) = printed(
        &scratch,
        "run pageftl --size 256MiB -q --requests 3000 -w uniform-write --set run.steady=true --set faults.read_fail=100% --may-fail",
    );
    assert!(told.contains("WARNING: data is lost: "), "{told}");
    let (told, _) =
        printed(&scratch, "run pageftl --size 256MiB -q --requests 20000 -w uniform-write --set faults.program_fail=100% --may-fail");
    assert!(!told.contains("garbage collection was not reached"), "{told}");
}
