//! Determinism: the same numbers whatever the number of threads, to the last bit.

use wordline_lab::bench::{BENCHES, Setup};
use wordline_lab::conditions::retention_list;
use wordline_lab::grid::{By, Grid, Summary, read_block};
use wordline_lab::lot::Lot;
use wordline_lab::protocol::Changes;

use crate::{run, setup};

/// Drives so small that they take no time.
fn small() -> Changes {
    let changed = [
        (
            "sanitise",
            "size = \"192 MiB\"\nlength = 0.2\nshort = 0.05\nworkloads = [\"mailserver\", \"dbserver\", \"fileserver\", \"mailserver\"]\nfractions = [\"50 %\", \"100 %\"]",
        ),
        (
            "sensitivity",
            "size = \"192 MiB\"\nlength = 0.1\nspare = [\"20 %\"]\nfill = [\"50 %\"]\ndepth = [8]\nvictims = [\"fifo\"]\nstart = [5]",
        ),
        (
            "alike",
            "size = \"whole\"\nlengths = [0.05, 0.05, 0.05, 0.05, 0.05, 0.05]\nworkloads = [\"varmail\", \"webserver\", \"webproxy\", \"oltp\", \"varmail\", \"mailserver\"]",
        ),
        ("followers", "size = \"whole\"\ncycles = [0]\nwritten = \"16 MiB\"\nbanked = \"4 MiB\"\nburst = \"2 MiB\""),
        (
            "bursts",
            "size = \"whole\"\nwritten = \"16 MiB\"\nbuffers = [\"2 MiB\"]\nbursts = [1]\nrests = [0.25]\nopen_blocks = [1, 2]\nlatency = \"mailserver\"\nlatency_length = 0.05\nlatency_burst = \"2 MiB\"\nlengths = [0.05, 0.05, 0.05, 0.05, 0.05, 0.05]\nworkloads = [\"varmail\", \"webserver\", \"webproxy\", \"oltp\", \"varmail\", \"mailserver\"]",
        ),
        ("versions", "size = \"192 MiB\"\nlength = 0.5"),
        ("aged", BY_AGE),
        ("bounded", BY_AGE),
        ("copied", BY_AGE),
        ("rcftl", "size = \"whole\"\nworkloads = [\"varmail\", \"webproxy\", \"varmail\", \"webproxy\"]"),
        (
            "longftl",
            "size = \"whole\"\nworkloads = [\"varmail\", \"webproxy\", \"varmail\", \"webproxy\", \"varmail\", \"webproxy\", \"varmail\", \"webproxy\"]",
        ),
        ("modes", "size = \"whole\"\nworkloads = [\"fio-high\", \"fio-mid\", \"fio-low\"]"),
        ("months", "days = 8\nleap = 4\ntimed = 500"),
        ("ssds", "ssds = 2\ndays = 4\nleap = 4\ntimed = 200"),
        ("hints", "longer = [\"50 us\", \"400 us\"]\nmixed = [\"rlr-fileserver-70\"]\ndays = 4\nleap = 4\nstretch = 200\nrate = 1"),
        ("quotas", "size = \"whole\"\nworkload = \"varmail\""),
        (
            "endurance",
            "channels = 1\ndies = 1\nepochs = 4\nworkloads = [\"varmail\", \"webproxy\", \"varmail\", \"webproxy\", \"varmail\", \"mailserver\"]",
        ),
    ];
    changed.into_iter().map(|(bench, text)| (bench.to_owned(), text.parse().expect("a table"))).collect()
}

/// Conditions of benches of blocks by their age.
const BY_AGE: &str = "size = \"whole\"\nlengths = [0.2, 0.2, 0.2, 0.2, 0.2, 0.2]\nworkloads = [\"varmail\", \"webproxy\", \"varmail\", \"webproxy\", \"varmail\", \"mailserver\"]";

/// Benches that take longest on small drives. They run where `WORDLINE_LONG` is set, as `cargo xtask nightly` does.
const LONG: [&str; 12] =
    ["alike", "aged", "bounded", "conflicts", "copied", "endurance", "longftl", "modes", "paftl", "rcftl", "sanitise", "told"];

#[test]
fn benches_find_the_same_with_one_thread_and_with_several() {
    let is_long = std::env::var_os("WORDLINE_LONG").is_some_and(|value| value != "0");
    // `life` wears out the blocks of a lot, whatever the drive is.
    for bench in BENCHES.iter().filter(|bench| bench.name != "life" && (is_long || !LONG.contains(&bench.name))) {
        let with = |threads| Setup { conditions: small(), ..setup(threads, few(bench.name)) };
        let (one, many) = (run(bench.name, &with(1)), run(bench.name, &with(3)));
        let bits = |findings: &wordline_lab::bench::Findings| {
            findings.values.iter().map(|(name, value)| (*name, value.to_bits())).collect::<Vec<_>>()
        };
        assert_eq!(bits(&one), bits(&many), "{}", bench.name);
        // What a bench promises it measures, where it can: two chips are needed for some.
        let missing: Vec<&str> = bench.metrics.iter().map(|metric| metric.name).filter(|name| one.get(name).is_none()).collect();
        assert!(missing.is_empty() || bench.name == "reprogram", "{} did not measure {missing:?}", bench.name);
        assert!(!one.figures.is_empty() || bench.name == "arithmetic", "{} drew nothing", bench.name);
    }
}

/// Settings of the drives of a bench. Chips with margins have blocks of one shape only, so that a small drive of them has few, and much of them spare.
fn few(bench: &str) -> &'static [&'static str] {
    match bench {
        "alike" | "followers" | "bursts" => &["geometry.blocks=12", "mapping.over_provisioning=70 %"],
        "aged" | "bounded" | "copied" => {
            &["flash.channels=1", "geometry.blocks=24", "mapping.spare_blocks=2", "mapping.over_provisioning=60 %"]
        }
        "rcftl" | "modes" | "quotas" | "longftl" => &["geometry.blocks=24", "mapping.over_provisioning=60 %"],
        // A gap that nobody comes to keeps no leap short.
        "endurance" => &["geometry.blocks=24", "mapping.spare_blocks=2", "mapping.over_provisioning=60 %", "free_block.gap=1000"],
        _ => &[],
    }
}

#[test]
fn a_summary_does_not_depend_on_the_order_of_blocks() {
    let lot = Lot::open(&setup(1, &[])).expect("a chip");
    let grid = Grid { pe: vec![0, 2_000], retention: retention_list("0,1y").expect("times"), reads: vec![0] };
    let rows: Vec<_> = (0..3).map(|block| read_block(&lot, &grid, &lot.block(0, block), false)).collect();
    let (mut there, mut back) = (Summary::default(), Summary::default());
    rows.iter().for_each(|rows| there.take(&grid, By::Layer, rows));
    rows.iter().rev().for_each(|rows| back.take(&grid, By::Layer, rows));
    assert_eq!(there.text(&grid, By::Layer), back.text(&grid, By::Layer));
    assert_eq!(rows[0].len(), 2 * 2 * 192 * 3);
}
