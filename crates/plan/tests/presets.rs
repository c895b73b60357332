//! The drives that come with Wordline: all of them are right, every value has its source, and the figures are those of the papers.

use std::fs;
use std::path::Path;

use wordline_flash::tables::CopyReferences;
use wordline_plan::{Plan, presets};
use wordline_units::{Bytes, CellKind, Nanos};

fn plan(name: &str) -> Plan {
    Plan::load(name).unwrap_or_else(|error| panic!("{name}:\n{error}"))
}

#[test]
fn every_preset_is_right_and_says_what_it_is() {
    for preset in presets() {
        let plan = plan(preset.name);
        assert_eq!(plan.name(), preset.name);
        assert_eq!(plan.summary(), preset.summary);
        assert!(!preset.summary.is_empty(), "{}", preset.name);
        let config = plan.build();
        assert!(config.exported_units > 0 && config.exported() < config.sheet.geometry.raw());
        assert_eq!(u64::from(config.firmware.exported_units) * u64::from(config.cores), config.exported_units);
    }
}

#[test]
fn every_value_of_every_preset_has_a_source() {
    for preset in presets() {
        let text = plan(preset.name).describe();
        let unsourced: Vec<&str> = text.lines().filter(|line| line.contains("no source given")).collect();
        assert!(unsourced.is_empty(), "{}: {unsourced:#?}", preset.name);
    }
}

#[test]
fn every_file_is_in_the_list_of_presets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = |folder: &str| {
        let mut names: Vec<String> = fs::read_dir(root.join(folder))
            .expect("the folder is there")
            .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        names.sort();
        names
    };
    let mut listed: Vec<String> = presets().iter().map(|preset| preset.name.to_owned()).collect();
    listed.sort();
    assert_eq!(names("drives"), listed);
    for chip in names("chips") {
        Plan::parse("x.toml", &format!("inherit = \"pageftl\"\nchip = \"{chip}\"\n[mapping]\nunit = \"4 KiB\"\n"))
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_preset_on_disk_is_the_preset() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives/mqsim-b-cache.toml");
    let from_disk = Plan::load(root.to_str().expect("UTF-8")).expect("it is there");
    assert_eq!(from_disk.media_number(), plan("mqsim-b-cache").media_number());
    assert_eq!(from_disk.name(), "mqsim-b-cache");
}

#[test]
fn mqsim_side_by_side_drive_is_exact() {
    let plan = plan("mqsim-b");
    assert_eq!(plan.figures().pages, 1_972_224);
    let config = plan.build();
    assert_eq!(config.exported_units, 1_735_557, "12 % of 1,972,224 pages kept back");
    // 2 ns a byte: 32.8 us for a page.
    assert_eq!(config.channel.span(Bytes::kib(16)), Nanos(32_768));
    assert_eq!((config.firmware.gc.start, config.firmware.gc.floor), (21, 2));
    assert_eq!(config.sheet.timing.erase, Nanos::from_millis(5));
    assert_eq!((config.seed, plan.initial_fill()), (321, 0.9));
    let two_planes = self::plan("mqsim-b-2planes");
    assert_eq!(two_planes.figures().pages, 1_972_224);
    assert_eq!(two_planes.build().sheet.geometry.planes, 2);
    assert_eq!(self::plan("mqsim-b-cache").build().firmware.buffer.units, 16_384);
    assert!(self::plan("mqsim-b-preemptible").build().firmware.gc.preemptible);
    assert_eq!(self::plan("mqsim-b-copyback").build().firmware.techniques.len(), 1);
    assert_eq!(self::plan("mqsim-default").figures().raw, Bytes::gib(512));
}

#[test]
fn drives_of_the_papers_have_their_figures() {
    let figures = *plan("paper-cubeftl").figures();
    assert_eq!((figures.pages, figures.raw.0, figures.pages_per_block), (1_972_224, 32_312_918_016, 576));
    let sheet = plan("paper-cubeftl").build().sheet;
    assert_eq!((sheet.geometry.wordlines(), sheet.pages_per_program(), sheet.geometry.cell), (192, 3, CellKind::Tlc));
    assert_eq!(sheet.timing.program_wordline, Nanos::from_micros(700));

    let timing = plan("pageftl").build().sheet.timing;
    assert_eq!((timing.read[0], timing.program[2], timing.erase), (Nanos(80_000), Nanos(700_000), Nanos(3_500_000)));

    assert_eq!(plan("paper-rcftl").figures().raw, Bytes::gib(128));
    assert_eq!(plan("paper-longftl").figures().raw, Bytes(4 * 2 * 1822 * 576 * 8192));
    assert_eq!(plan("paper-vertrace").figures().exported, Bytes::gib(16));
    assert_eq!(plan("paper-rlr").figures().raw, Bytes::gib(16));
    for (name, dies) in [("4tb", 64), ("8tb", 128), ("16tb", 256), ("32tb", 512)] {
        let plan = plan(&format!("paper-reparo-{name}"));
        assert_eq!(plan.figures().dies, dies);
        let config = plan.build();
        assert_eq!((config.cores, config.firmware.dies, config.sheet.geometry.channels), (4, dies / 4, 16));
        assert_eq!((config.sheet.geometry.pages(), config.firmware.unit), (768, Bytes::kib(4)));
        assert_eq!(plan.figures().raw.0 / u64::from(dies), 5460 * 768 * 16_384, "5460 blocks of 12 MiB in a die");
    }
}

#[test]
fn the_testbed_of_rcftl_has_a_table_as_told_which_stands_beside_every_seed() {
    let plan = plan("paper-rcftl-host");
    let config = plan.build();
    assert_eq!((config.ftl, config.classes), (wordline_drive::FtlPlace::Host, Some([0.25, 0.5, 0.25])));
    let rates = [config.link, config.link_in].map(|rate| rate.expect("it takes time").bytes_per_second());
    assert_eq!(rates, [1_600_000_000, 1_000_000_000]);
    let table = config.firmware.tables.copyback.as_ref().expect("001 Table 6");
    let year = table.column(365 * 86_400).expect("its longest");
    let allowed = |class, cycles| table.by_pe.threshold(CopyReferences::Default, year, class, table.pe_bin(cycles).expect("a bin"));
    assert_eq!([0, 400, 401, 5_000].map(|cycles| allowed(0, cycles)), [5, 5, 4, 2], "the best class");
    assert_eq!([400, 2_000, 5_000].map(|cycles| allowed(2, cycles)), [3, 2, 0], "the worst class");
    for seed in [0, 1, 7] {
        assert!(plan.allows_seed(seed).is_ok(), "a table as told is of no lot");
    }
    // A table that was made from chips is refused beside their seed.
    assert!(plan.override_key("copyback.seed=7").expect("another lot").allows_seed(7).is_err());
    // All data is moved off the chip: the techniques that copy are in the drives that inherit.
    assert_eq!(config.firmware.techniques.iter().map(|choice| choice.declaration().card.name).collect::<Vec<_>>(), ["idle-reclaim"]);
}

#[test]
fn the_link_inwards_is_as_fast_as_outwards_where_nothing_else_is_set() {
    let rates = |settings: &[&str]| {
        let config = Plan::load_set("pageftl", settings).expect("a drive").build();
        [config.link, config.link_in].map(|rate| rate.map(|rate| rate.bytes_per_second() / 1_000_000))
    };
    assert_eq!(rates(&[]), [Some(3_200); 2]);
    assert_eq!(rates(&["controller.link=1 GB/s"]), [Some(1_000); 2]);
    assert_eq!(rates(&["controller.link=none"]), [None; 2]);
    assert_eq!(rates(&["controller.link_in=1 GB/s"]), [Some(3_200), Some(1_000)]);
    assert_eq!(rates(&["controller.link_in=none"]), [Some(3_200), None]);
}

#[test]
fn presets_that_differ_in_one_choice_differ_in_that_only() {
    let base = plan("pageftl");
    let changed = |other: &str, setting: &str| {
        assert_eq!(base.override_key(setting).expect(setting).media_number(), plan(other).media_number(), "{other}")
    };
    changed("pageftl-fifo", "gc.victim=fifo");
    changed("pageftl-4k", "mapping.unit=4 KiB");
    let tables = ["aging", "ort", "retirement_limits", "disturb", "copyback"].map(|table| format!("{table}.seed=none"));
    let own = ["capabilities.erase_trace=false", "mapping.spare_blocks=0", "cells.lifetime=2000", "cells.dwell=0 s"];
    let all: Vec<String> = own.into_iter().map(str::to_owned).chain(tables).collect();
    let rftl = Plan::load_set("paper-rftl", &all).expect("a preset");
    assert_eq!(base.media_number(), rftl.media_number(), "000 §3.4.3 and 003 §6.1 describe one drive");
}
