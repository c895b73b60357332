//! Drives that were given a life and drives that lived it.

use wordline_cells::{Age, Condition, Model};
use wordline_drive::Watched;
use wordline_engine::BlockState;
use wordline_plan::Plan;
use wordline_units::{BlockId, Celsius, DieId, HostOp, HostRequest, PlaneId};

/// A drive of 64 blocks with physics.
pub(crate) const SMALL: [&str; 6] = [
    "flash.channels=1",
    "flash.dies_per_channel=1",
    "geometry.planes=1",
    "geometry.blocks=64",
    "mapping.over_provisioning=30 %",
    "buffer.size=1 MiB",
];

pub(crate) fn drive(settings: &[&str]) -> Watched {
    let plan = Plan::load_set("pageftl", &[&SMALL[..], settings].concat()).unwrap_or_else(|error| panic!("{error}"));
    let config = plan.build();
    let units = config.exported_units;
    let mut drive = Watched::new(config, ());
    drive.construct_filled(units);
    drive
}

/// Overwrites of the whole drive in order, without end.
fn in_order(drive: &Watched) -> impl Iterator<Item = HostRequest> + use<> {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    (0..).map(move |unit| HostRequest::new(HostOp::Write, unit % units * sectors, sectors as u32))
}

/// Erase count of each group that is not open, with the stress that its first block has gone through: of erases, and of programs. Writes in order leave almost
/// nothing to move, so the open group of moved data is never filled and never erased.
fn lived(drive: &Watched) -> Vec<(u32, f64, f64)> {
    let history = |block: u32| drive.inspect(DieId(0), PlaneId(0), BlockId(block)).expect("the cells have physics").history();
    drive
        .blocks()
        .zip(0..)
        .filter(|(view, _)| view.state != BlockState::Active)
        .map(|(view, block)| (view.erases, history(block).erase.into(), history(block).program.into()))
        .collect()
}

/// Cycles by which the age of a block at `cycles` may be off before a read of it shows more than its telegraph noise: mean errors of a codeword of the
/// reference wordline, just programmed, change by one deviation of that noise.
fn margin(model: &Model, cycles: f64) -> f64 {
    let at = Celsius(30.0);
    let errors = |cycles: f64| {
        let wordline = model.wordline(&model.typical(), &Condition::new(model.cycled(cycles, 0.0, at), at));
        wordline.error_rate(model, 0, &model.references(0)) * model.codeword_bits()
    };
    let slope = (errors(cycles * 1.1) - errors(cycles)) / (cycles * 0.1);
    model.telegraph(cycles) / slope
}

#[test]
fn a_drive_set_to_300_cycles_is_one_that_has_gone_through_300() {
    const CYCLES: u32 = 300;
    // Greedy takes the first of the victims that hold nothing, so that others which hold nothing are never erased.
    let mut cycled = drive(&["gc.victim=fifo"]);
    let mut load = in_order(&cycled);
    let erases = |drive: &Watched| drive.blocks().map(|block| u64::from(block.erases)).sum::<u64>();
    let (each, groups) = (cycled.config().exported_units, cycled.blocks().count() as u64);
    while erases(&cycled) < groups * u64::from(CYCLES) {
        cycled.age(&mut load, each / 4);
    }
    let mut set = drive(&[]);
    set.set_age(&Age { cycles: CYCLES.into(), dwell: 0.0, retention: 0.0, temperature: 30.0 });
    assert_eq!((cycled.audit(), set.audit()), (Ok(()), Ok(())));

    let cells = set.config().cells.as_ref().expect("it has physics");
    let margin = margin(&Model::new(&cells.physics).expect("it is checked"), CYCLES.into());
    // The telegraph noise of one read is worth more cycles than the blocks have behind them and would let anything pass: the band is a hundredth, and a cycle
    // that has begun.
    let band = f64::from(CYCLES) / 100.0 + 1.0;
    println!("{CYCLES} cycles, telegraph margin {margin:.1} cycles, band {band:.1}");
    assert!(band < margin, "what is within the band is within the margin");
    let off = |told: &[(u32, f64, f64)]| {
        told.iter()
            .flat_map(|&(count, erase, program)| [f64::from(count), erase, program].map(|of| (of - f64::from(CYCLES)).abs()))
            .fold(0.0, f64::max)
    };
    println!("the most that a block is off: cycled {:.1}, set {:.1}", off(&lived(&cycled)), off(&lived(&set)));
    assert!(off(&lived(&set)) < 1e-3, "counts and stress are those of the age");
    assert!(off(&lived(&cycled)) <= band);
    // What the band catches: cells that are worn and counts that are not, as it once was.
    let uncounted: Vec<_> = lived(&set).into_iter().map(|(_, erase, program)| (0, erase, program)).collect();
    assert!(off(&uncounted) > band);
}

#[test]
fn each_block_has_one_of_the_rests_and_the_same_one_again() {
    let settings = ["cells.cycles=1000", "cells.dwells=[\"0 s\", \"1 h\", \"3 h\"]"];
    let aged = || {
        let mut drive = drive(&settings);
        let age = drive.config().cells.as_ref().and_then(|cells| cells.age).expect("it was set");
        drive.set_age(&age);
        lived(&drive)
    };
    let blocks = aged();
    assert_eq!(blocks, aged());
    let mut stresses: Vec<_> = blocks.iter().map(|&(_, erase, _)| erase as u32).collect();
    stresses.sort_unstable();
    let each = stresses.chunk_by(|a, b| a == b).map(<[u32]>::len).collect::<Vec<_>>();
    assert_eq!(each.len(), 3, "{stresses:?}");
    assert!(each.iter().all(|count| (12..=31).contains(count)), "about a third each of some 60: {each:?}");
    assert!(blocks.iter().all(|&(count, ..)| count == 1_000), "all have been erased as often");
}

#[test]
fn spare_blocks_are_as_new_as_they_are() {
    let mut drive = drive(&["mapping.spare_blocks=4"]);
    drive.set_age(&Age { cycles: 500.0, dwell: 0.0, retention: 0.0, temperature: 30.0 });
    let spares: Vec<_> = drive.firmware()[0].spares_of(DieId(0)).collect();
    assert_eq!(spares.len(), 4);
    for (plane, block) in spares {
        assert_eq!(drive.inspect(DieId(0), plane, block).map(|cells| cells.history().erase), Some(0.0));
    }
    assert!(drive.blocks().all(|block| block.erases == 500));
}
