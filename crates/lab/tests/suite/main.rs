//! The lab from outside: studies that are wrong, claims that must all be there, benches that must not depend on threads and must follow physics;
//! and VerTrace on a whole drive.

mod calibrated;
mod determinism;
mod inventory;
mod margins;
mod mistakes;
mod nulls;
#[path = "../../../../xtask/src/suite/outside.rs"]
#[allow(dead_code, reason = "no test here needs a program")]
mod outside;
mod physics;
mod tables;
mod vertrace;

use wordline_lab::bench::{Findings, Null, Setup, Teller, bench};
use wordline_lab::conditions::LotSize;
use wordline_lab::protocol::Changes;

/// A small lot of the chip that the studies are about.
fn setup(threads: usize, settings: &[&str]) -> Setup {
    Setup {
        chip: wordline_lab::CHIP.to_owned(),
        against: None,
        settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
        null: Null::default(),
        conditions: Changes::new(),
        lot: LotSize { chips: 1, blocks: 3 },
        seed: 1,
        threads,
        teller: Teller::default(),
    }
}

fn run(name: &str, setup: &Setup) -> Findings {
    let bench = bench(name).unwrap_or_else(|error| panic!("{error}"));
    (bench.run)(setup).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// One quantity of a bench on a chip with settings of its own.
fn measured(full: &str, settings: &[&str]) -> f64 {
    let (name, metric) = full.split_once('.').expect("bench.metric");
    run(name, &setup(2, settings)).get(metric).unwrap_or_else(|| panic!("{full} was not measured"))
}
