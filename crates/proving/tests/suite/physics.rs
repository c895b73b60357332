//! Does a drive whose cells have physics take the time and make the errors that the model says, and the time of the data sheet while it is fresh?
//!
//! Does not check: whether the model is right. That is the business of the studies.

use wordline_cells::{Age, Condition, Model};
use wordline_drive::{Pace, Watched};
use wordline_figures::{Metrics, Scope};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, HostOp, HostRequest};

const DEPTH_1: Pace = Pace::Closed { depth: 1 };

fn reads(seed: u64, units: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Mix, 0);
    std::iter::from_fn(move || Some(HostRequest::new(HostOp::Read, draw.below(units) * 32, 32)))
}

fn writes(seed: u64, units: u64) -> impl Iterator<Item = HostRequest> {
    reads(seed, units).map(|read| HostRequest { op: HostOp::Write, ..read })
}

fn plan(settings: &[&str]) -> Plan {
    Plan::load_set("pageftl", settings).expect("a preset")
}

fn drive(plan: &Plan) -> Watched<Metrics> {
    let config = plan.build();
    let scope = Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores);
    let units = config.exported_units;
    let age = config.cells.as_ref().and_then(|cells| cells.age);
    let mut drive = Watched::new(config, Metrics::new(scope));
    drive.construct_filled(units);
    age.iter().for_each(|age| drive.set_age(age));
    drive
}

#[test]
fn does_a_fresh_drive_take_the_times_of_its_data_sheet() {
    let [on, off] = ["cells.physics=true", "cells.physics=false"].map(|setting| {
        let mut drive = drive(&plan(&[setting]));
        let units = drive.config().exported_units;
        drive.serve(&mut writes(5, units), Pace::Closed { depth: 32 }, Some(30_000));
        let written = drive.now();
        drive.serve(&mut reads(6, units), DEPTH_1, Some(5_000));
        (written.as_secs_f64(), (drive.now() - written).as_secs_f64(), drive.log().hash())
    });
    println!("writing {:.4} s with physics, {:.4} s without; reading {:.4} s and {:.4} s", on.0, off.0, on.1, off.1);
    assert!((on.0 / off.0 - 1.0).abs() < 0.02, "writing takes {} s with physics and {} s without", on.0, off.0);
    assert!((on.1 / off.1 - 1.0).abs() < 0.01, "reading takes {} s with physics and {} s without", on.1, off.1);
    assert_ne!(on.2, off.2, "programs of different layers take different times");
}

/// What the model says of the pages of a die's first blocks: mean retries, share that cannot be corrected.
fn expected(model: &Model, seed: u64, age: &Age, dies: u32) -> f64 {
    let shape = model.physics().shape;
    let bits = shape.cell.bits();
    let at = Celsius(age.temperature);
    let condition = Condition::new(model.cycled(age.cycles, age.dwell, at), at).kept(model.kept(age.retention, at)).read(32.0);
    let (mut retries, mut count) = (0.0, 0.0);
    let mut dice = Draw::new(99, Stream::CellSample, 0);
    for die in 0..dies {
        for block in 0..60 {
            let specimen = model.block(seed, die, block * 7);
            for layer in 0..shape.layers {
                let wordline = model.wordline(&model.traits(&specimen, layer), &condition);
                for page in 0..bits {
                    retries += f64::from(model.read(&wordline, page, dice.next_u64(), dice.next_u64()).retries);
                    count += 1.0;
                }
            }
        }
    }
    retries / count
}

#[test]
fn does_an_aged_drive_retry_as_often_as_the_model_says_and_take_that_long() {
    let plan = plan(&["cells.cycles=2000", "cells.retention=1 y"]);
    let config = plan.build();
    let cells = config.cells.clone().expect("the preset has physics");
    let age = cells.age.expect("it was set");
    let units = config.exported_units;
    let model = Model::new(&cells.physics).expect("checked");
    let expected = expected(&model, config.seed, &age, config.sheet.geometry.dies());

    let mut aged = drive(&plan);
    aged.serve(&mut reads(7, units), DEPTH_1, Some(40_000));
    let totals = aged.observer.clone().finish(aged.now(), 0).totals;
    let seen = totals.errors.retries.iter().zip(0..).map(|(reads, retries)| (reads * retries) as f64).sum::<f64>() / 40_000.0;
    println!("{seen:.3} retries per read, {expected:.3} by the model; seed {}", config.seed);
    assert!(expected > 0.5, "at this age reads are retried: {expected}");
    assert!((seen / expected - 1.0).abs() < 0.05, "{seen} retries per read, {expected} by the model");

    let mut fresh = drive(&self::plan(&[]));
    fresh.serve(&mut reads(7, units), DEPTH_1, Some(40_000));
    let timing = &config.sheet.timing;
    // A try costs the setting of its references, the sensing, the transfer and error correction; the next read of a die sets them back.
    let transfer = config.channel.span(config.firmware.unit) + timing.bus_overhead;
    let once = (timing.feature + timing.read[0] + transfer + config.ecc.latency).as_secs_f64();
    let longer = (aged.now().as_secs_f64() - fresh.now().as_secs_f64()) / 40_000.0;
    println!("{:.2} us longer a read, {:.2} us by the retries", longer * 1e6, seen * once * 1e6);
    assert!((longer / (seen * once) - 1.0).abs() < 0.05, "a read takes {longer} s longer, {} s by its retries", seen * once);
}

#[test]
fn does_a_saved_drive_with_physics_go_on_as_the_same_drive() {
    let plan = plan(&["cells.cycles=1500", "cells.retention=1 mo"]);
    let mut first = drive(&plan);
    let units = first.config().exported_units;
    first.serve(&mut writes(8, units), Pace::Closed { depth: 16 }, Some(5_000));
    first.settle();
    let image = first.image().expect("a settled drive");
    let fork = || {
        let config = plan.build();
        let scope = Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores);
        let mut drive = Watched::from_image(config, image.clone(), Metrics::new(scope)).expect("its own image");
        drive.serve(&mut reads(9, units), DEPTH_1, Some(3_000));
        (drive.log().hash(), drive.now())
    };
    assert_eq!(fork(), fork());
    let off = Watched::from_image(self::plan(&["cells.physics=false"]).build(), image.clone(), ());
    assert!(off.is_err(), "an image with physics must not pass for one without");
}
