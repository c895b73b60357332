//! What a plan promises: it describes itself, its hash is of what matters, settings and seeds do what they say, and the reference is up to date.

use std::fs;
use std::path::Path;

use wordline_flash::Sanitisation;
use wordline_ftl::techniques::declaration::{Declaration, Kind, Need, Param, Value};
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::{Choice, DECLARATIONS};
use wordline_plan::{Chip, Plan, json_schema, presets, reference_markdown};

#[test]
fn a_description_is_a_drive_file_that_makes_the_same_drive() {
    for preset in presets() {
        let plan = Plan::load(preset.name).expect(preset.name);
        let text = plan.describe();
        let again = Plan::parse("described.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.build(), plan.build(), "{}", preset.name);
        assert_eq!(again.media_number(), plan.media_number(), "{}", preset.name);
    }
}

#[test]
fn the_hash_is_of_what_matters() {
    let hash = |text: &str| Plan::parse("x.toml", text).unwrap_or_else(|error| panic!("{error}")).media_number();
    let plain = hash("inherit = \"pageftl\"");
    assert_eq!(
        plain,
        hash("# a remark\nsummary = \"another\"\ninherit=\"pageftl\"\n[free_block]\n[gc]\nstart = { value = 4, source = \"me\" }")
    );
    assert_eq!(plain, hash("inherit = \"pageftl\"\n[timing]\nt_read = \"0.08 ms\""), "the same time in another unit");
    assert_eq!(plain, hash("inherit = \"pageftl\"\n[run]\nseed = 7"), "seeds are told apart by themselves");
    assert_eq!(plain, hash("inherit = \"pageftl\"\n[techniques.idle-reclaim]\nafter = \"1 ms\""), "a parameter of a technique that is off");
    let exported = Plan::load("pageftl").expect("a preset").figures().exported.0;
    assert_eq!(
        plain,
        hash(&format!("inherit = \"pageftl\"\n[mapping]\ncapacity = \"{exported} B\"")),
        "the same capacity said in another way"
    );
    assert_ne!(plain, hash("inherit = \"pageftl\"\n[mapping]\nover_provisioning = \"8 %\""));
    assert_ne!(plain, hash("inherit = \"pageftl\"\n[timing]\nt_read = \"81 us\""));
    assert_eq!(Plan::load("pageftl").expect("a preset").media_number_hex().len(), 16);
}

#[test]
fn settings_and_seeds_reach_the_drive() {
    let plan = Plan::load("pageftl").expect("a preset").with_seed(u64::MAX);
    assert_eq!((plan.seed(), plan.build().seed, plan.build().firmware.seed), (u64::MAX, u64::MAX, u64::MAX));
    let changed = plan.override_keys(&["gc.start=9", "gc.floor = 5", "gc.start=8", "timing.t_read=[\"60 us\", \"80 us\", \"100 us\"]"]);
    let changed = changed.expect("settings");
    assert_eq!((changed.build().firmware.gc.start, changed.build().firmware.gc.floor), (8, 5), "the last of two holds");
    assert_eq!(changed.build().sheet.timing.read[2].0, 100_000);
    assert_eq!(changed.seed(), u64::MAX, "the seed stays");
    assert_eq!(changed.override_key("run.seed=3").expect("a setting").seed(), 3);
    assert!(changed.describe().contains("# --set"));
    let capacity = plan.override_key("mapping.capacity=20 GiB").expect("a setting");
    assert_eq!(
        capacity.figures().exported,
        wordline_units::Bytes::gib(20),
        "a nearer capacity outdoes the over-provisioning it is laid over"
    );
}

#[test]
fn over_provisioning_is_the_spare_factor() {
    let plan = Plan::load("pageftl").expect("a preset").override_key("mapping.over_provisioning=28 %").expect("a setting");
    let figures = plan.figures();
    assert!((figures.spare_factor - 0.28).abs() < 1e-6, "{}", figures.spare_factor);
    assert_eq!(plan.build().exported_units, 1_972_224 * 72 / 100);
}

#[test]
fn the_largest_capacity_that_a_message_names_works_and_the_next_does_not() {
    let plan = Plan::load("pageftl").expect("a preset");
    let told = plan.override_key("mapping.over_provisioning=0 %").expect_err("over-full").to_string();
    let size = told.split("can show is ").nth(1).and_then(|rest| rest.split(',').next()).expect("it names a size");
    let largest = plan.override_key(&format!("mapping.capacity={size}")).expect("it works");
    let next = largest.figures().exported.0 + 16_384;
    assert!(plan.override_key(&format!("mapping.capacity={next} B")).is_err());
    let op = told.split("over-provisioning of ").nth(1).and_then(|rest| rest.split(':').next()).expect("it names a share");
    plan.override_key(&format!("mapping.over_provisioning={op}")).expect("so does the share");
}

#[test]
fn bandwidths_follow_from_the_sheet() {
    let figures = *Plan::load("mqsim-b").expect("a preset").figures();
    assert_eq!(figures.channel_bandwidth, 1e9);
    assert!((figures.program_bandwidth - 8.0 * 16_384.0 / 700e-6).abs() < 1.0);
    assert!((figures.sense_bandwidth - 8.0 * 16_384.0 / 65e-6).abs() < 1.0);
    assert_eq!(figures.read_peak, 1e9);
    assert_eq!(figures.write_peak, figures.program_bandwidth);
}

/// A value of `param` that a drive can have which has room for it.
fn tried(param: &Param) -> Option<Value> {
    if param.kind == Kind::FreeGroups { Some(Value::Count(22)) } else { param.default.or(param.tried.last().copied()) }
}

/// All of these techniques on, in one drive.
fn switched_on(declarations: &[&'static Declaration]) {
    let mut text = String::from(
        "inherit = \"mqsim-b-copyback\"\nchip = \"tlc-48l-suspend\"\nphysics_of = \"tlc48-tables\"\n[capabilities]\nprogram_settings = true\nerase_trace = true\nguarded_erase = true\nany_order = true\n",
    );
    for declaration in declarations {
        text += &format!("[techniques.{}]\non = true\n", declaration.card.name);
        for param in declaration.params {
            text += &match tried(param).expect("a value to try") {
                Value::Flag(flag) => format!("{} = {flag}\n", param.key),
                Value::Count(count) => format!("{} = {count}\n", param.key),
                Value::Span(span) => format!("{} = \"{} ns\"\n", param.key, span.0),
                Value::Word(word) => format!("{} = \"{word}\"\n", param.key),
            };
        }
    }
    let plan = Plan::parse("all.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let of = |declaration: &&'static Declaration| {
        let values: Vec<Value> = declaration.params.iter().filter_map(tried).collect();
        Choice::of(declaration.card.name, &values).expect("it is whole")
    };
    assert_eq!(plan.build().firmware.techniques, declarations.iter().map(of).collect::<Vec<_>>());
}

#[test]
fn every_technique_of_the_firmware_can_be_switched_on() {
    // Keys of places and copies by thresholds exclude each other.
    let keeps_keys = |declaration: &&&'static Declaration| declaration.card.hooks.has(Hook::KeyStore);
    let without = |refused: &dyn Fn(&&&'static Declaration) -> bool| -> Vec<&'static Declaration> {
        DECLARATIONS.iter().filter(|declaration| !refused(declaration)).copied().collect()
    };
    switched_on(&without(&keeps_keys));
    switched_on(&without(&|declaration| declaration.has_need(Need::NoKeys)));
    assert!(DECLARATIONS.iter().any(|declaration| keeps_keys(&declaration) && !declaration.has_need(Need::NoKeys)));
}

#[test]
fn the_reference_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let message = "run cargo run -p wordline-plan --example generate_plan_reference -- .";
    // Not `assert_eq!`: thousands of lines of schema would bury the message.
    assert!(fs::read_to_string(folder.join("plan.md")).expect(message) == reference_markdown(), "{message}");
    assert!(fs::read_to_string(folder.join("plan.schema.json")).expect(message) == json_schema(), "{message}");
}

#[test]
fn a_die_can_lock_what_it_has_a_time_for() {
    let able = |settings: &[&str]| {
        let sheet = Plan::load_set("pageftl", settings).expect("a preset").build().sheet;
        Sanitisation::ALL.map(|how| sheet.capabilities.can_sanitise(how).then(|| sheet.timing.sanitise(how).0 / 1_000))
    };
    assert_eq!(able(&[]), [Some(100), Some(300), Some(100), Some(100)], "the times of 002 §5.5 and §7, in microseconds");
    let without = able(&["timing.t_lock_block=none", "timing.t_scrub=none", "timing.t_lock_page=250 us"]);
    assert_eq!(without, [Some(250), None, None, Some(100)]);
    assert_eq!(
        Sanitisation::ALL.map(|how| Plan::load("mqsim-default").expect("a preset").build().sheet.capabilities.can_sanitise(how)),
        [false; 4]
    );
    let error = Plan::load_set("pageftl", &["timing.t_scrub=0 us"]).expect_err("it takes no time").to_string();
    assert!(error.contains("timing.t_scrub is zero"), "{error}");
    let error = Plan::load_set("pageftl", &["physics.flag.cells=8"]).expect_err("no majority").to_string();
    assert!(error.contains("expected an odd number"), "{error}");
}

#[test]
fn retries_come_from_the_physics_or_by_rate_and_not_from_both() {
    let by_rate = ["retries.share=30 %", "retries.mean=2.5", "retries.alike=66 %", "retries.entries=32"];
    let with = |settings: &[&str]| Plan::load_set("pageftl", &[&by_rate, settings].concat()).map(|plan| plan.build());
    let config = with(&["cells.physics=false"]).unwrap_or_else(|error| panic!("{error}"));
    let retries = config.faults.retries.expect("it was set");
    assert_eq!((retries.share, retries.mean, retries.alike, retries.entries), (0.3, 2.5, 0.66, 32));
    assert_eq!(with(&["cells.physics=false", "retries.share=0 %"]).expect("none is as good as never").faults.retries, None);
    let off = "cells.physics=false";
    for (settings, expected) in [
        (&[][..], "retries.share is 30 %, and the cells have their physics"),
        (&[off, "retries.mean=none"], "retries.mean is not set, and retries.share is"),
        (&[off, "retries.entries=none"], "retries.entries is not set, and retries.share is"),
        (&[off, "retries.mean=0.9"], "retries.mean is 0.9: expected at least 1"),
        (&[off, "retries.mean=often"], "expected a number, such as 2.5"),
        (&[off, "retries.entries=257"], "retries.entries is 257: expected 2 to 256"),
        (&[off, "retries.entries=1"], "retries.entries is 1: expected 2 to 256"),
        (&[off, "retries.share=130 %"], "a share of more than 100 %"),
        (&[off, "capabilities.copyback=true", "techniques.plain-copyback.on=true"], "what a die copies by itself is not tried again"),
        (&[off, "retries.maen=2"], "mean"),
    ] {
        let error = with(settings).expect_err(expected).to_string();
        assert!(error.contains(expected), "{settings:?}: {error}");
    }
    let error = Plan::load_set("pageftl", &["physics.retry.entries=256"]).expect_err("an entry is a byte").to_string();
    assert!(error.contains("physics.retry.entries is 256: expected at most 255"), "{error}");
}

#[test]
fn garbage_collection_starts_at_a_count_or_at_a_share_of_a_die() {
    let start = |settings: &[&str]| Plan::load_set("pageftl", settings).map(|plan| plan.build().firmware.gc.start);
    let blocks = Plan::load("pageftl").expect("a preset").build().sheet.geometry.blocks;
    assert_eq!(start(&["gc.start=9"]).ok(), Some(9));
    assert_eq!(start(&["gc.start=5 %"]).ok(), Some(blocks / 20));
    assert_eq!(start(&["gc.start=5 %", "geometry.blocks=399"]).ok(), Some(19), "rounded down");
    let told = |value: &str| start(&[&format!("gc.start={value}")]).expect_err(value).to_string();
    assert!(told("0.1 %").contains(&format!("0.1 % of a die's {blocks} blocks, and gc.floor")), "{}", told("0.1 %"));
    assert!(told("101 %").contains("a share of more than 100 %"));
    assert!(
        told("true").contains("expected a whole number, such as 8, or a share of the die's blocks, such as \"5 %\""),
        "{}",
        told("true")
    );
}

#[test]
fn programs_come_from_the_physics_or_by_rate_and_not_from_both() {
    let with = |settings: &[&str]| Plan::load_set("cubeftl", settings).map(|plan| plan.build());
    let (off, saving) = ("cells.physics=false", "programs.saving=35.9 %");
    let config = with(&[off, saving]).unwrap_or_else(|error| panic!("{error}"));
    assert!((config.faults.program_saving - 0.359).abs() < 1e-12);
    for (settings, expected) in [
        (&[saving][..], "programs.saving is 35.9 %, and the cells have their physics"),
        (&[off, "programs.saving=100 %"], "programs.saving is 100 %: expected less than 100 %"),
        (&[off, "programs.savin=10 %"], "saving"),
    ] {
        let error = with(settings).expect_err(expected).to_string();
        assert!(error.contains(expected), "{settings:?}: {error}");
    }
    let error = Plan::load_set("mqsim-default", &[saving]).expect_err("no settings").to_string();
    assert!(error.contains("needs capabilities.program_settings"), "{error}");
}

#[test]
fn a_chip_whose_geometry_cannot_be_is_told_that_and_nothing_else() {
    for (key, expected) in [
        ("planes=0", "geometry.planes is 0: expected at least 1"),
        ("planes=5", "geometry.planes is 5: expected at most 4"),
        ("blocks=0", "geometry.blocks is 0: expected at least 1"),
        ("layers=0", "geometry.layers is 0: expected at least 1"),
        ("wordlines_per_layer=70000", "geometry.wordlines_per_layer is 70000: expected at most 65535"),
    ] {
        let told = Chip::load_set("tlc48", &[format!("geometry.{key}")]).expect_err(key).to_string();
        assert!(told.contains(expected) && !told.contains("margins"), "{key}: {told}");
    }
}

/// A chip with a table of ages and one of errors, made from a lot of this seed.
fn with_tables(seed: u64) -> String {
    format!(
        "[aging]\nsource = \"test\"\nseed = {seed}\nweights = [0.001, 2.5, 1, -0.5, 3]\nplus = [0.001, 0, 1]\nplus_plus = [0, 0, 1, 1]\nlimit = 64\nflicker = 1.25\nsafe = 2\npage = 3\nrest_max = \"3 h\"\npe = [1000, 2000]\npe_worst = [300, 1000]\nenergy = \"1.1 eV\"\n\n[retirement_limits]\nsource = \"test\"\nseed = {seed}\npe = [1000]\nerrors_max = [30]\nkept = \"1y\"\nrisk = \"1 %\"\n"
    )
}

#[test]
fn a_table_of_a_lot_reaches_the_firmware_and_not_that_of_the_runs_own_seed() {
    let drive = |lot: u64| format!("inherit = \"pageftl\"\n{}", with_tables(lot));
    let plan = Plan::parse("x.toml", &drive(1_001)).unwrap_or_else(|error| panic!("{error}"));
    let tables = plan.build().firmware.tables;
    assert_eq!(tables.aging.as_ref().map(|aging| (aging.seed, aging.weights[1], aging.rest_max)), Some((1_001, 2.5, 10_800)));
    assert_eq!(tables.retirement.as_ref().map(|table| (table.errors_max(1), table.risk)), Some((Some(30), 0.01)));
    assert!(tables.ort.is_none() && tables.guard.is_none());
    let again = Plan::parse("described.toml", &plan.describe()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((again.build(), again.media_number()), (plan.build(), plan.media_number()), "a description has the tables");
    // Every way to the lot's own seed.
    let told = |error: wordline_plan::PlanError| error.to_string();
    let refused = told(Plan::parse("x.toml", &drive(1)).expect_err("the default seed"));
    for table in ["aging", "retirement_limits"] {
        assert!(refused.contains(&format!("{table}.seed is 1, and so is run.seed")), "{refused}");
    }
    assert!(plan.allows_seed(1_002).is_ok());
    assert!(told(plan.allows_seed(1_001).expect_err("its own")).contains("aging.seed is 1001"));
    assert!(told(plan.override_key("run.seed=1001").expect_err("its own")).contains("aging.seed is 1001"));
    let without = plan.override_keys(&["run.seed=1001", "aging.seed=none", "retirement_limits.seed=none"]).expect("it does without");
    assert_eq!(without.build().firmware.tables, wordline_flash::Tables::default());
}

#[test]
fn a_table_comes_with_the_physics_to_a_chip_of_the_same_pages_only() {
    let lender = format!("inherit = \"tlc48\"\n{}", with_tables(1_001));
    let drive = |more: &str| format!("inherit = \"paper-cubeftl\"\nchip = \"tlc-48l-oneshot\"\nphysics_of = \"lender.toml\"\n{more}");
    let load = |text: String| {
        let lender = lender.clone();
        let reader = move |path: &Path| Ok(if path.ends_with("lender.toml") { lender.clone() } else { text.clone() });
        Plan::load_with("x.toml", &reader).unwrap_or_else(|error| panic!("{error}")).build().firmware.tables
    };
    assert!(load(drive("")).aging.is_some());
    assert!(load(drive("[geometry]\nwordlines_per_layer = 2\n")).aging.is_none(), "its pages are others");
}

/// The most that the drive can show with these settings, in MiB, as the message about a fuller one gives it.
fn most_shown(settings: &[&str]) -> u64 {
    let plan = Plan::load("pageftl").unwrap();
    let told = plan.override_keys(&[settings, &["mapping.over_provisioning=0 %"]].concat()).expect_err("it is over-full").to_string();
    let size = told.split("can show is ").nth(1).and_then(|rest| rest.split(" MiB").next());
    size.and_then(|size| size.parse().ok()).unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn each_block_that_is_open_for_moved_data_is_taken_off_the_spare_of_each_die() {
    let geometry = Plan::load("pageftl").unwrap().build().sheet.geometry;
    let group = (u64::from(geometry.dies() * geometry.planes * geometry.pages()) * geometry.page.0) >> 20;
    let shown = [1, 5, 16].map(|blocks| most_shown(&[format!("placement.moved_blocks={blocks}").as_str()]));
    assert_eq!([shown[0] - shown[1], shown[0] - shown[2]], [4 * group, 15 * group]);
    let refused = Plan::load("pageftl").unwrap().override_keys(&["placement.moved_blocks=16", "mapping.over_provisioning=3 %"]);
    let told = refused.expect_err("seventeen of a die's blocks are open").to_string();
    assert!(told.contains("over-full") && told.contains("17 are open"), "{told}");
}

#[test]
fn a_limit_of_reads_is_above_the_reads_that_measure_a_block() {
    let load = |drive: &str, more: &[&str], limit: u32| {
        let on = ["techniques.read-disturb-refresh.on=true".to_owned(), format!("techniques.read-disturb-refresh.reads_max={limit}")];
        let settings: Vec<String> = on.into_iter().chain(more.iter().map(|&setting| setting.to_owned())).collect();
        Plan::load_set(drive, &settings).map(drop).map_err(|error| error.to_string())
    };
    let refused = |drive: &str, more: &[&str], limit: u32| {
        let told = load(drive, more, limit).expect_err("it is refused");
        assert!(told.contains("its limit of reads is"), "{told}");
    };
    // One page by its age, and two pages of a wordline by its class.
    refused("rftl", &[], 1);
    assert_eq!(load("rftl", &[], 2), Ok(()));
    refused("rcftl", &[], 2);
    assert_eq!(load("rcftl", &[], 3), Ok(()));
    assert_eq!(load("rcftl", &["techniques.restricted-copyback.classes=worst"], 1), Ok(()), "nothing is measured");
    assert_eq!(load("paper-rftl", &[], 1), Ok(()), "no technique measures");
}
