//! Keys that were renamed: what a user is told, and what a plan that an earlier build stored is read as.
//!
//! `tests/renamed/mqsim-b.toml` was written by the last build that had `[reclaim]` and `[wear]`, as it wrote plans beside media and into saved drives.

use wordline_plan::Plan;

const STORED: &str = include_str!("renamed/mqsim-b.toml");
/// The number that the build of then gave it, by the first line of its text.
const NUMBER: u128 = 0xa5f5_03d3_e7c9_0a4b;
/// Its settings beyond the preset, as they are called now.
const SETTINGS: [&str; 2] = ["free_block.gap=20", "gc.scheduler=paced"];

#[test]
fn a_stored_plan_in_the_old_names_is_read_and_keeps_its_number() {
    let plan = Plan::parse_stored("mqsim-b", STORED).unwrap_or_else(|error| panic!("{error}"));
    assert!(plan.has_media_number(NUMBER), "{}", plan.media_number_hex());
    let now = Plan::load_set("mqsim-b", &SETTINGS).expect("a preset");
    assert_eq!(plan.media_number(), now.media_number());
    assert_eq!(plan.build(), now.build());
}

#[test]
fn what_is_stored_of_it_today_has_the_new_names_and_is_the_same_drive() {
    let plan = Plan::parse_stored("mqsim-b", STORED).expect("it was written by a build");
    let text = plan.describe();
    let has = |line: &str| text.lines().any(|found| found.split(" = ").map(str::trim).collect::<Vec<_>>().join(" = ").starts_with(line));
    assert!(has("[gc]") && has("[free_block]") && has("key = \"erases\"") && has("gap = 20"), "{text}");
    assert!(!has("[reclaim]") && !has("[wear]"), "{text}");
    for again in [Plan::parse("mqsim-b", &text), Plan::parse_stored("mqsim-b", &text)] {
        assert_eq!(again.unwrap_or_else(|error| panic!("{error}")).media_number(), plan.media_number());
    }
}

#[test]
fn a_stored_plan_with_a_key_that_never_was_is_refused() {
    let wrong = STORED.replacen("[reclaim]", "[reclaim]\nvictm = 3", 1);
    let told = Plan::parse_stored("mqsim-b", &wrong).expect_err("there is no such key").to_string();
    assert!(told.contains("unknown key `victm` in [reclaim]"), "{told}");
}

#[test]
fn a_user_is_told_the_new_name_of_a_key_and_of_a_section() {
    let told = Plan::parse("mqsim-b", STORED).expect_err("its names are old").to_string();
    for advice in [
        "the key is gc.victim now",
        "the key is gc.start now",
        "the key is gc.floor now",
        "the key is gc.scheduler now",
        "the key is gc.preemptible now",
        "the key is gc.lazy_erase now",
        "the key is free_block.key now: false is \"longest-free\", true is \"erases\"",
        "the key is free_block.gap now",
    ] {
        assert!(told.contains(advice), "{advice}: {told}");
    }
    let set = |setting: &str| Plan::load_set("pageftl", &[setting]).expect_err(setting).to_string();
    assert!(set("reclaim.start=8").contains("the key is gc.start now"));
    assert!(set("wear.dynamic=true").contains("true is \"erases\""));
    let empty = Plan::parse("x", "inherit = \"pageftl\"\n[wear]\n").expect_err("there is no such section").to_string();
    assert!(empty.contains("unknown section [wear]") && empty.contains("the section is [free_block] now"), "{empty}");
}
