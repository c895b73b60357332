//! Does the read path end where the cells do? A page is lost only where the errors at the best references say so.
//!
//! The twin knows the best references of each wordline from the model and reads the same cells with them: what it can correct is what data at an age are worth.
//! The drive knows the vendor's retry table and what a search finds.
//!
//! Does not check: lifetimes in cycles. Those are a study's (`realwear.life`).

use std::sync::Arc;

use wordline_cells::{Age, CellArray, Condition, Disturbed, Look, Model};
use wordline_drive::{Output, Pace, Watched};
use wordline_plan::Plan;
use wordline_units::{Celsius, HostOp, HostRequest, Nanos};

/// Number of reads of which the twin takes the median: telegraph noise makes each a little different.
const READS: usize = 9;
/// Share of the correctable errors up to which a page is surely worth something: the rest is telegraph noise and the disturb of the reads before.
const SURELY: f64 = 0.95;

/// Some 96 blocks with data, of the calibrated chip: two dies with two planes of 34, of which the host sees 70 %.
fn plan(search: &str) -> Plan {
    let smaller =
        ["flash.channels=1", "flash.dies_per_channel=2", "geometry.planes=2", "geometry.blocks=34", "mapping.over_provisioning=30 %"];
    Plan::load_set("pageftl", &[&smaller[..], &[search]].concat()).expect("a preset")
}

/// Dwell of the blocks whose lifetimes are told first (000 §3), and the retention that is required.
fn aged(cycles: f64) -> Age {
    Age { cycles, dwell: 120.0, retention: 365.25 * 86_400.0, temperature: 30.0 }
}

/// Blocks with a page that is lost, blocks with a page that the twin loses, and pages that are lost though they are surely worth something.
fn lost(plan: &Plan, age: &Age) -> (usize, usize, usize) {
    let config = plan.build();
    let (seed, geometry) = (config.seed, config.sheet.geometry);
    let at = Celsius(age.temperature);
    let model = Arc::new(Model::new(plan.physics().expect("the chip has physics")).expect("the plan has checked it"));
    let bits = geometry.cell.bits();
    let blocks = geometry.planes * geometry.blocks;
    let mut twins: Vec<CellArray> =
        (0..geometry.dies()).map(|die| CellArray::new(Arc::clone(&model), seed, die, blocks as usize, at)).collect();
    twins.iter_mut().for_each(|twin| twin.set_age(age, Nanos::ZERO, |_| geometry.pages() as u16));
    let condition = Condition::new(model.cycled(age.cycles, age.dwell, at), at).kept(model.kept(age.retention, at));

    let mut drive = Watched::new(config, ());
    let units = drive.config().exported_units;
    drive.construct_filled(units);
    drive.set_age(age);
    let mut taken = drive.chip_off();
    let (mut dead, mut worthless, mut wrongly) = (vec![false; (blocks * geometry.dies()) as usize], vec![], 0);
    worthless.resize(dead.len(), false);
    taken.read(|page| {
        let block = u32::from(page.place.plane.0) * geometry.blocks + page.place.block.0;
        let number = u32::from(page.place.page.0);
        let layer = number / bits / geometry.wordlines_per_layer;
        if matches!(page.output, Output::Erased) {
            return;
        }
        let traits = model.traits(&model.block(seed, page.place.die.0.into(), block), layer);
        let best = model.wordline(&traits, &condition).optimal();
        let default = model.references(0);
        let shift = core::array::from_fn(|reference| if best[reference] == 0.0 { 0.0 } else { best[reference] - default[reference] });
        let look = Look { block, page: number, reads: 0, disturbed: &Disturbed::default(), now: Nanos::ZERO };
        let mut ideal: [_; READS] = core::array::from_fn(|_| twins[usize::from(page.place.die.0)].read_shifted(&look, 0, &shift));
        ideal.sort_unstable_by_key(|sensed| sensed.worst);
        let ideal = ideal[READS / 2];
        let at = (u32::from(page.place.die.0) * blocks + block) as usize;
        worthless[at] |= !ideal.corrected;
        if matches!(page.output, Output::Uncorrectable { .. }) {
            dead[at] = true;
            wrongly += usize::from(f64::from(ideal.worst) <= SURELY * model.physics().ecc.correctable);
        }
    });
    let count = |blocks: &[bool]| blocks.iter().filter(|&&is| is).count();
    (count(&dead), count(&worthless), wrongly)
}

#[test]
fn no_block_dies_through_the_read_path_before_its_errors_say_so() {
    for cycles in [4_000.0, 6_000.0, 9_000.0] {
        let (dead, worthless, wrongly) = lost(&plan("controller.search_step=20 mV"), &aged(cycles));
        let (by_table, _, wrongly_by_table) = lost(&plan("controller.search_step=0 mV"), &aged(cycles));
        println!(
            "{cycles} P/E and a year: {dead} blocks lose a page, {worthless} at the best references, {by_table} by the table alone; \
             lost in spite of few errors: {wrongly} pages, by the table alone {wrongly_by_table}"
        );
        assert_eq!(wrongly, 0, "pages are lost whose errors at the best references could be corrected");
        // The planted bug: a read path that ends with the table.
        assert!(cycles < 6_000.0 || wrongly_by_table > 0, "the table alone loses nothing: this test cannot fail");
    }
}

#[test]
fn host_reads_past_the_end_of_the_table_take_their_time_and_are_answered() {
    let served = |search: &str| {
        let mut drive = Watched::new(plan(search).build(), ());
        let units = drive.config().exported_units;
        drive.construct_filled(units);
        drive.set_age(&aged(6_000.0));
        let sectors = drive.unit_bytes().0 / 512;
        let mut reads = (0..units).map(|unit| HostRequest::new(HostOp::Read, unit * sectors, sectors as u32));
        drive.serve(&mut reads, Pace::Closed { depth: 8 }, None);
        (drive.now(), drive.log().hash())
    };
    let (with, without) = (served("controller.search_step=20 mV"), served("controller.search_step=0 mV"));
    println!("reading all: {} with a search at the end, {} without", with.0, without.0);
    assert!(with.0 > without.0, "searches take time");
    assert_ne!(with.1, without.1);
}
