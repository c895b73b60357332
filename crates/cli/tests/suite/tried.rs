//! Do words and figures of one command agree with each other, under keys that are seldom set together?

use serde_json::Value;

use crate::{Scratch, wordline};

/// Standard output of a command that must succeed, its words one space apart.
fn printed(name: &str, arguments: &str) -> String {
    let output = wordline(&Scratch::new(name).0, &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Groups that are emptied and erased late are as good as free: a die that has enough of them is left alone, or it would move its data for ever.
#[test]
fn an_idle_die_that_erases_late_comes_to_rest() {
    let told = printed(
        "idle-late",
        "run paper-vertrace --size 256MiB --requests 10 -w bursts --set techniques.idle-reclaim.on=true --set techniques.idle-reclaim.after=100us \
         --set techniques.idle-reclaim.until_free=6 --set recovery.on=true --set recovery.oob_copies=true --set run.steady=true -q",
    );
    assert!(told.contains("all self-checks passed") && told.contains("idle-reclaim: acted"), "{told}");
}

#[test]
fn a_drive_that_begins_as_another_is_not_said_to_begin_in_its_own_way() {
    let compared = |drives| printed("begins", &format!("compare --drives {drives} --size 256MiB --requests 500 --seeds 1 -q"));
    let told = compared("pageftl,psr-baseline");
    assert!(told.contains("psr-baseline: begins as pageftl does") && !told.contains("endless random overwrites"), "{told}");
    let own = compared("psr-baseline,pageftl");
    assert!(own.contains("endless random overwrites"), "{own}");
}

#[test]
fn the_erases_of_a_life_follow_from_its_write_amplification() {
    let json = |name, command: &str| -> Value { serde_json::from_str(&printed(name, command)).expect("JSON") };
    let drive = "pageftl --size 256MiB -q --physics off -w zipf-write --json -";
    let run = json("raw", &format!("run {drive} --requests 1"));
    let life = json("amplified", &format!("wear-out {drive} --no-leaps --sample 0 --set faults.endurance=20"));
    let of = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {value}"));
    let erased = of(&life, "/drives/0/cycles/mean") * of(&run, "/drives/0/capacity/raw_bytes") / of(&life, "/drives/0/written_bytes");
    let waf = of(&life, "/drives/0/waf");
    assert!((waf / erased - 1.0).abs() < 0.1, "{waf} by programs, {erased} by erases");
}

#[test]
fn lost_data_is_a_warning_and_a_drive_without_room_is_not_one_that_has_never_reclaimed() {
    let run = |more| printed("lost", &format!("run pageftl --size 256MiB -q -w uniform-write --may-fail {more}"));
    let told = run("--requests 3000 --set run.steady=true --set faults.read_fail=100%");
    assert!(told.contains("WARNING: data is lost: "), "{told}");
    let told = run("--requests 20000 --set faults.program_fail=100%");
    assert!(told.contains("WORN OUT") && !told.contains("garbage collection was not reached"), "{told}");
}
