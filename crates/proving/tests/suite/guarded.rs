//! Do erases spare the wordlines that are weakest, as often as a mode promises? The cells' own stress answers, which no firmware sees.
//!
//! Does not check: lives to their end. Those are `wordline wear-out`'s.

use std::sync::Arc;

use wordline_cells::{Age, Condition, Model};
use wordline_drive::Watched;
use wordline_plan::Plan;
use wordline_proving::bench::overwrites;
use wordline_units::{BlockId, Celsius, DieId, PlaneId};

/// The mode that is tried: 24 wordlines in 41.67 % of all erases, which is worth 1.37 lives.
const MODE: &str = "techniques.guarded-erase.mode=5";
const WORDLINES: usize = 24;
const SHARE: f64 = 0.4167;
const PROMISE: f64 = 1.37;
/// Wear of a gentle erase over that of a normal one (001 §3.2.2).
const COEFFICIENT: f64 = 0.35;
/// Erases of a block that are enough to see shares.
const ERASES: f32 = 12.0;
/// Sectors of a unit of 8 KiB.
const SECTORS: u32 = 16;
/// Overwrites of the space of a drive.
const PASSES: u64 = 30;

/// One die of the source's chip, with its cells.
fn plan(more: &[&str]) -> Plan {
    let small = ["flash.channels=1", "geometry.blocks=34", "mapping.over_provisioning=40 %", MODE];
    Plan::load_set("longftl-fixed", &[&small[..], more].concat()).expect("a preset")
}

/// A block after its life: the share of its erase stress in which each wordline was spared.
struct Worn {
    plane: u32,
    block: u32,
    spared: Vec<f64>,
}

/// Overwrites a drive of this plan at random, from an age of so many cycles on, and looks at the cells of all blocks.
fn worn(plan: &Plan, cycles: f64) -> Vec<Worn> {
    let config = plan.build();
    let geometry = config.sheet.geometry;
    let mut drive = Watched::new(config, ());
    let units = drive.config().exported_units;
    drive.construct_filled(units);
    if cycles > 0.0 {
        drive.set_age(&Age { cycles, dwell: 120.0, retention: 0.0, temperature: 30.0 });
    }
    let all = || (0..geometry.planes).flat_map(|plane| (0..geometry.blocks).map(move |block| (plane, block)));
    let stress = |drive: &Watched, (plane, block): (u32, u32), wordline: u32| {
        drive.inspect(DieId(0), PlaneId(plane as u8), BlockId(block)).expect("its cells have physics").of_wordline(wordline)
    };
    let before: Vec<f32> = all().map(|at| stress(&drive, at, 0).erase).collect();
    drive.age(&mut overwrites(5, units, SECTORS), PASSES * units);
    let look = |(at, before): ((u32, u32), f32)| {
        let spent = stress(&drive, at, 0).erase - before;
        let spared = (0..geometry.wordlines()).map(|wordline| f64::from(stress(&drive, at, wordline).gentle / spent)).collect();
        (spent >= ERASES).then_some(Worn { plane: at.0, block: at.1, spared })
    };
    let found: Vec<Worn> = all().zip(before).filter_map(look).collect();
    assert!(found.len() > 40, "only {} blocks were erased often enough", found.len());
    found
}

#[test]
fn no_wordline_wears_faster_than_its_mode_promises() {
    let plan = plan(&[]);
    let guard = plan.build().firmware.tables.guard.expect("a table comes with the drive");
    let geometry = plan.build().sheet.geometry;
    let least = guard.relative.iter().copied().fold(f64::INFINITY, f64::min);
    let blocks = worn(&plan, 0.0);
    let (mut lives, mut means) = (Vec::new(), Vec::new());
    for Worn { spared, .. } in &blocks {
        let life = |(wordline, share): (usize, &f64)| {
            guard.relative[wordline / geometry.wordlines_per_layer as usize] / least / (1.0 - (1.0 - COEFFICIENT) * share)
        };
        lives.push(spared.iter().enumerate().map(life).fold(f64::INFINITY, f64::min));
        means.push(spared.iter().sum::<f64>() / spared.len() as f64);
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let [life, share] = [mean(&lives), mean(&means)];
    println!("{} blocks: {life:.3} lives in the mean for {PROMISE} promised, {share:.4} of wordlines and erases spared", blocks.len());
    assert!(life >= 0.97 * PROMISE, "{life}");
    let told = SHARE * WORDLINES as f64 / f64::from(geometry.wordlines());
    assert!((share / told - 1.0).abs() < 0.1, "{share} for {told}");
}

#[test]
fn a_survey_finds_the_weakest_wordlines_where_the_table_is_wrong() {
    let wrong: Vec<String> = (0..48).map(|place| ((place * 17 + 20) % 48).to_string()).collect();
    let order = format!("guard.order=[{}]", wrong.join(", "));
    let share_of_weakest = |survey: &str| {
        let plan = plan(&[&order, survey]);
        let (seed, geometry) = (plan.build().seed, plan.build().sheet.geometry);
        let model = Arc::new(Model::new(plan.physics().expect("the chip has physics")).expect("the plan has checked it"));
        let at = Celsius(30.0);
        let condition = Condition::new(model.cycled(6_000.0, 120.0, at), at);
        let blocks = worn(&plan, 6_000.0);
        let each = geometry.wordlines_per_layer as usize;
        let of_block = |worn: &Worn| {
            let specimen = model.block(seed, 0, worn.plane * geometry.blocks + worn.block);
            let errors = |layer: u32| {
                let wordline = model.wordline(&model.traits(&specimen, layer), &condition);
                wordline.error_rate(&model, geometry.cell.bits() - 1, &model.references(0))
            };
            let mut layers: Vec<u32> = (0..geometry.layers).collect();
            layers.sort_by(|&one, &other| errors(other).total_cmp(&errors(one)));
            let weakest = layers[..3].iter().flat_map(|&layer| &worn.spared[layer as usize * each..][..each]);
            weakest.sum::<f64>() / (3 * each) as f64
        };
        blocks.iter().map(of_block).sum::<f64>() / blocks.len() as f64
    };
    let [seen, blind] = ["techniques.guarded-erase.survey_every=2", "techniques.guarded-erase.survey_every=1000000"].map(share_of_weakest);
    println!("the three weakest layers were spared in {seen:.3} of all erases, {SHARE} is the mode's; without surveys {blind:.3}");
    assert!(seen > 0.5 * SHARE && seen > 2.0 * blind, "{seen} {blind}");
}

#[test]
fn drives_that_withhold_wordlines_come_back_from_their_image_and_guard_as_often_beside() {
    let beside = [
        "techniques.bad-page-management.on=true",
        "techniques.bad-page-management.fixed=2",
        "capabilities.any_order=true",
        "retirement.policy=spent",
    ];
    let small = ["flash.channels=1", "geometry.blocks=34", "mapping.over_provisioning=40 %"];
    let alone = Plan::load_set("bpm-2.1", &small).expect("a preset");
    for (name, plan, guards) in [("alone", alone, false), ("beside guarded erases", plan(&beside), true)] {
        let mut drive = Watched::new(plan.build(), ());
        let units = drive.config().exported_units;
        drive.construct_filled(units);
        drive.age(&mut overwrites(5, units, SECTORS), 8 * units);
        let core = &drive.firmware()[0];
        let groups = || (0..core.layout().group_count() as u32).map(wordline_ftl::BlockGroup);
        let count = |holds: &dyn Fn(wordline_ftl::BlockGroup) -> bool| groups().filter(|&group| holds(group)).count();
        let withheld = count(&|group| core.groups().spared(group) != core.groups().gentle(group));
        let guarded = count(&|group| !core.groups().gentle(group).is_empty());
        println!("{name}: of {} groups {withheld} withhold wordlines and {guarded} had a guarded erase", groups().count());
        assert!(withheld > 10 && if guards { guarded > 5 } else { guarded == 0 }, "{name}");
        let image = drive.image().expect("it is at rest");
        let back = Watched::from_image(plan.build(), image.clone(), ()).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(back.image().expect("just restored") == image, "{name}");
    }
}
