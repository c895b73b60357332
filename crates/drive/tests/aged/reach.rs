//! Is every physical parameter of a chip reached from a drive?
//!
//! Each parameter is changed by a tenth, and one of a few small drives must then do something else: the hash of its events changes. What no drive reaches
//! stands in [`UNREACHED`] with its reason, and a parameter that is reached may not stand there.

use wordline_cells::{Parameter, Physics, Unit};
use wordline_drive::{Config, Output, Pace, Watched};
use wordline_flash::Sanitisation;
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, HostOp, HostRequest, Nanos};

/// Parameters that no drive reaches, each with the reason.
const UNREACHED: &[(&str, &str)] = &[
    ("tails.erased_share", TOO_SMALL),
    ("tails.erased_length", TOO_SMALL),
    ("variation.erase_block", "a tenth of it brings no block of these trials over the edge of one more loop"),
    ("ispe.gentle_gate", GUARDED),
    ("ispe.stress_scale", GUARDED),
    ("ispe.pulse", RELATIVE),
    ("ispe.verify", RELATIVE),
    ("ispe.suspend", STOPS),
    ("ispe.suspend_power", STOPS),
    ("ispe.suspend_time", STOPS),
    ("ispe.gentle_shift", GUARDED),
    ("ispe.wear_power", "a tenth of it brings no block of these trials over the edge of one more loop"),
    ("wear.onset", "the blocks of these trials have hundreds of cycles behind them, when wear has long set in"),
    ("temperature.shift", WARMTH),
    ("temperature.low_shift", WARMTH),
    ("temperature.spread", WARMTH),
];

const TOO_SMALL: &str = "a tenth of it changes the errors of no page of these trials by a bit";
const GUARDED: &str = "dies have no guarded erase";
const RELATIVE: &str = "t_BERS is the data sheet's, times loops over those of a fresh die: the length of a loop cancels";
const STOPS: &str = "no erase of these trials is stopped, which costs its cells something, and a stop takes the data sheet's time";
const WARMTH: &str =
    "a die reads with the references of its present temperature: what a difference to that of the program does is not modelled there";

const SMALL: [&str; 6] = [
    "flash.channels=1",
    "flash.dies_per_channel=1",
    "geometry.blocks=24",
    "mapping.over_provisioning=60 %",
    "buffer.size=1 MiB",
    "cells.cycles=2000",
];

/// A small drive, and what is done to it.
struct Trial {
    name: &'static str,
    settings: &'static [&'static str],
    /// Time from one request to the next.
    period: Nanos,
    requests: u32,
    /// Reads go to so many units.
    hot: u64,
    /// Days of heat after which the drive's dies are looked at without it.
    days: &'static [u64],
}

const SECOND: u64 = 1_000_000_000;

/// Followers with settings of their own; erases after long rests, on blocks that stay open for hours and are read again and again; locks; destroyed pages.
const TRIALS: [Trial; 4] = [
    Trial { name: "cubeftl", settings: &["cells.retention=1 mo"], period: Nanos(1_000_000), requests: 3_000, hot: u64::MAX, days: &[] },
    Trial {
        name: "pageftl",
        settings: &["cells.retention=1 d", "cells.cycles=9000", "cells.dwell=2 h"],
        period: Nanos(600 * SECOND),
        requests: 9_000,
        hot: 40,
        days: &[],
    },
    Trial {
        name: "secssd",
        settings: &[
            "cells.retention=1 mo",
            "cells.cycles=900",
            "timing.t_lock_page=120 us",
            "timing.t_lock_block=400 us",
            "physics.select.voltage=4",
        ],
        period: Nanos(1_000_000),
        requests: 6_000,
        hot: u64::MAX,
        days: &[1, 20, 365, 23_360],
    },
    Trial {
        name: "osrssd",
        settings: &["cells.retention=1 mo", "cells.cycles=600"],
        period: Nanos(1_000_000),
        requests: 6_000,
        hot: u64::MAX,
        days: &[],
    },
];

/// Writes, trims and reads.
fn requests(seed: u64, config: &Config, trial: &Trial) -> impl Iterator<Item = HostRequest> + use<> {
    let (span, sectors, period) = (config.exported_units, (config.firmware.unit.0 / 512) as u32, trial.period.0);
    let (mut draw, hot) = (Draw::new(seed, Stream::Mix, 0), trial.hot.min(span));
    (0..u64::from(trial.requests)).map(move |number| {
        let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Trim][draw.below(5) as usize];
        let unit = draw.below(if op == HostOp::Read { hot } else { span });
        let request = HostRequest::new(op, unit * u64::from(sectors), sectors);
        HostRequest { at: Nanos(period * number), ..request }
    })
}

fn config(trial: &Trial) -> Config {
    let settings: Vec<&str> = SMALL.iter().chain(trial.settings).copied().collect();
    Plan::load_set(trial.name, &settings).unwrap_or_else(|error| panic!("{}: {error}", trial.name)).build()
}

fn physics(trial: &Trial) -> Physics {
    config(trial).cells.expect("the preset has physics").physics
}

/// The hash of the events of a trial's drive with cells of these parameters, cool, then warm, then years later, and how many of its pages are still locked
/// in the decades after.
fn run(trial: &Trial, change: impl FnOnce(&mut Physics)) -> (u64, Vec<u32>) {
    let mut config = config(trial);
    let cells = config.cells.as_mut().expect("the preset has physics");
    change(&mut cells.physics);
    cells.physics.check().unwrap_or_else(|faults| panic!("{faults:?}"));
    let age = cells.age.expect("it was set");
    let (config, units) = (config.clone(), config.exported_units);
    let mut drive = Watched::new(config.clone(), ());
    drive.construct_filled(units);
    drive.set_age(&age);
    for (seed, temperature) in [(1, 30.0), (2, 55.0)] {
        assert!(drive.set_temperature(Celsius(temperature)));
        let origin = drive.now();
        drive.serve(&mut requests(seed, &config, trial), Pace::Open { origin }, None);
        drive.settle();
    }
    drive.set_age(&wordline_cells::Age { retention: 5.0 * 365.0 * 86_400.0, ..age });
    let origin = drive.now();
    drive.serve(&mut requests(3, &config, trial).filter(|request| request.op == HostOp::Read), Pace::Open { origin }, None);
    drive.settle();
    if !trial.days.is_empty() {
        // Whole blocks become stale.
        let sectors = config.firmware.unit.0 / 512;
        let mut all = [HostRequest::new(HostOp::Trim, 0, (units * sectors) as u32)].into_iter();
        drive.serve(&mut all, Pace::Closed { depth: 64 }, None);
        drive.settle();
    }
    let (hash, mut locked, mut dies) = (drive.log().hash(), Vec::new(), drive.chip_off());
    for days in trial.days {
        dies.wait(Nanos(days * 86_400 * SECOND), Celsius(85.0));
        let mut zeroes = [0; 2];
        dies.read(|page| match page.output {
            Output::Zeroes(Sanitisation::LockBlock) => zeroes[1] += 1,
            Output::Zeroes(_) => zeroes[0] += 1,
            Output::Erased | Output::Corrected { .. } | Output::Uncorrectable { .. } | Output::Ruined => {}
        });
        locked.extend(zeroes);
    }
    (hash, locked)
}

/// Sets of parameters with one changed by a tenth, up and down, as far as they can be a chip. A list of codes is turned round; nothing becomes something.
fn changes(physics: &Physics, section: &str, key: &str, unit: Unit) -> Vec<Physics> {
    let before = physics.get(section, key).expect("it is one of the parameters");
    let something = if matches!(unit, Unit::Millivolts | Unit::MillivoltList) { 20.0 } else { 0.1 };
    let by = |factor: f64| before.iter().map(|&number| if number == 0.0 { something } else { number * factor }).collect::<Vec<f64>>();
    let mut ways = vec![by(1.1), by(0.9)];
    if unit == Unit::Codes {
        ways = vec![before.iter().rev().copied().collect()];
    }
    if before.len() == 1 && before[0].fract() == 0.0 {
        // An odd number of cells stays odd.
        ways.extend([vec![before[0] + 2.0], vec![before[0] - 2.0]]);
    }
    let set = |way: Vec<f64>| {
        let mut changed = physics.clone();
        changed.set(section, key, &way);
        changed.check().is_ok().then_some(changed)
    };
    let changed: Vec<Physics> = ways.into_iter().filter_map(set).take(2).collect();
    assert!(!changed.is_empty(), "{section}.{key} cannot be changed from {before:?}");
    changed
}

/// Every eighth parameter, which takes a minute; with WORDLINE_REACH=all in the environment, all of them.
fn looked_at() -> impl Iterator<Item = &'static Parameter> {
    let step = if std::env::var("WORDLINE_REACH").is_ok_and(|which| which == "all") { 1 } else { 8 };
    Physics::PARAMETERS.iter().step_by(step)
}

#[test]
fn every_physical_parameter_is_reached_from_a_drive_or_stands_in_the_list() {
    let before: Vec<_> = TRIALS.iter().map(|trial| run(trial, |_| ())).collect();
    println!("locked: {:?}", before.iter().map(|(_, locked)| locked).collect::<Vec<_>>());
    let (mut unreached, mut by) = (Vec::new(), [0; TRIALS.len()]);
    for parameter in looked_at() {
        let is_reached = |trial: &usize| {
            let changed = changes(&physics(&TRIALS[*trial]), parameter.section, parameter.key, parameter.unit);
            changed.into_iter().any(|changed| run(&TRIALS[*trial], |physics| *physics = changed) != before[*trial])
        };
        // Of the trials, those in which the section has a part.
        let trials: &[usize] = match parameter.section {
            "flag" | "select" => &[2],
            "reprogram" => &[3],
            "ispe" => &[2],
            "variation" => &[0, 2],
            _ => &[0, 1],
        };
        match trials.iter().copied().find(is_reached) {
            Some(trial) => by[trial] += 1,
            None => unreached.push(format!("{}.{}", parameter.section, parameter.key)),
        }
    }
    println!("reached by the trials: {by:?}; unreached: {unreached:?}");
    let is_looked_at = |name: &str| looked_at().any(|parameter| name == format!("{}.{}", parameter.section, parameter.key));
    let listed: Vec<&str> = UNREACHED.iter().map(|(name, _)| *name).filter(|name| is_looked_at(name)).collect();
    assert_eq!(unreached, listed);
}

#[test]
fn planted_bug_a_parameter_that_the_cells_do_not_look_at() {
    let trial = &TRIALS[0];
    let before = run(trial, |_| ());
    let changed = changes(&physics(trial), "wear", "noise", Unit::Number);
    // Cells that look at the value of before, whatever the chip file says.
    let deaf = |changed: &Physics| {
        let deaf = Physics { wear: physics(trial).wear, ..changed.clone() };
        run(trial, |physics| *physics = deaf)
    };
    assert!(changed.iter().all(|changed| deaf(changed) == before), "a parameter that reaches nothing is found out");
    assert!(changed.into_iter().any(|changed| run(trial, |physics| *physics = changed) != before));
}
