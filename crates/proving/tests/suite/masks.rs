//! Wordlines that erases spare: nothing is programmed there, nothing is missed beside them, and no cut lets a core take one for a blank one.
//!
//! The swarm and the cuts draw such drives among others; here are only such. In each, somebody orders sets by dice (`src/masks.rs`): the first wordline most
//! often, because recovery looks at it first.

use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};

use wordline_flash::ProgramScope;
use wordline_ftl::wordline_order::WordlineOrder;
use wordline_proving::cut::{self, MANY, Tally, rotten_trial_on, trial_on};
use wordline_proving::effort;
use wordline_proving::harness::Harness;
use wordline_proving::swarm::{self, Scenario, spare};

fn masked(mut scenario: Scenario) -> Option<Scenario> {
    spare(1 + (scenario.seed % 3) as u32, &mut scenario);
    (scenario.config.spared_max > 0).then_some(scenario)
}

/// Which of the ways of a die a scenario is of: any order or none, whole wordlines or pages, mixed or not.
fn kind(scenario: &Scenario) -> usize {
    let able = scenario.config.sheet.capabilities;
    match (able.any_order, able.program_scope, scenario.config.wordline_order) {
        (false, ProgramScope::Page, _) => 0,
        (false, ProgramScope::Wordline, _) => 1,
        (true, _, WordlineOrder::HorizontalFirst) => 2,
        (true, _, WordlineOrder::Mixed { .. }) => 3,
    }
}

/// The scenario on a die that takes wordlines in any order, every other time.
fn any_order(mut scenario: Scenario) -> Scenario {
    scenario.config.sheet.capabilities.any_order |= scenario.seed % 4 == 1;
    scenario
}

#[test]
fn does_any_seed_break_the_twin_where_erases_spare_wordlines() {
    let (mut guarded, mut runs) = ([0; 4], [0; 4]);
    for scenario in (0..400 * effort()).filter_map(|seed| masked(any_order(swarm::scenario(seed)))) {
        let (seed, kind) = (scenario.seed, kind(&scenario));
        let ran = catch_unwind(|| {
            let mut harness = Harness::new(scenario);
            harness.run(1_500);
            harness.guarded
        });
        guarded[kind] += ran.unwrap_or_else(|_| panic!("seed {seed}"));
        runs[kind] += 1;
    }
    println!("{runs:?} drives in order by pages, by wordlines, in any order, mixed; {guarded:?} guarded erases");
    assert!(
        runs.iter().all(|&count| count > 10) && guarded.iter().all(|&count| count > 500),
        "{runs:?} drives, {guarded:?} guarded erases"
    );
}

/// What `trial` of each of these scenarios has seen, and how many drives there were of each kind.
fn tried(
    scenarios: impl Iterator<Item = Scenario>,
    trial: impl Fn(Scenario) -> Result<Tally, String> + RefUnwindSafe,
) -> (Tally, [u32; 4]) {
    let (mut tally, mut runs, mut broken) = (Tally::default(), [0; 4], Vec::new());
    for scenario in scenarios {
        let (seed, kind) = (scenario.seed, kind(&scenario));
        runs[kind] += 1;
        match catch_unwind(AssertUnwindSafe(|| trial(scenario))) {
            Ok(Ok(seen)) => tally.add(&seen),
            Ok(Err(problem)) => broken.push((seed, problem)),
            // The message is on the terminal already.
            Err(_) => broken.push((seed, "a panic".to_owned())),
        }
    }
    println!("{runs:?} drives in order by pages, by wordlines, in any order, mixed; {tally:?}");
    assert!(broken.is_empty(), "{} seeds are broken: {broken:#?}", broken.len());
    (tally, runs)
}

#[test]
fn does_any_cut_lose_something_where_erases_spare_wordlines() {
    let seeds = 20_000..20_000 + 200 * effort();
    let (tally, runs) =
        tried(seeds.filter_map(|seed| masked(any_order(cut::scenario(seed)))), |scenario| trial_on(scenario, None, 300, None));
    assert!(runs.iter().all(|&count| count > 10) && tally.guarded.iter().all(|&count| count > 200), "{runs:?}, {tally:?}");
    // Sets are granted and refused.
    assert!(tally.spared[0] > 1_000 && tally.spared[1] > 200, "{tally:?}");
    // What lies behind a spared first wordline is found with a checkpoint and without.
    assert!(tally.checkpoints[1] > 100 && tally.guarded[2] > 500 && tally.guarded[3] > 500, "{tally:?}");
}

#[test]
fn do_pages_that_become_unreadable_take_more_with_them_where_erases_spare_wordlines() {
    let seeds = 30_000..30_000 + 100 * effort();
    let (tally, _) =
        tried(seeds.filter_map(|seed| masked(any_order(cut::still(seed)))), |scenario| rotten_trial_on(scenario, 100, MANY, None));
    let [_, pages, lost, _] = tally.marks;
    assert!(tally.guarded[1] > 50 && pages > 1_000 && tally.units > 2 * lost, "{tally:?}");
}

/// A page that was torn at one cut, in a group whose summary was torn at the next: all of it has moved, the group was not erased yet, and the power goes again.
#[test]
fn torn_pages_of_a_group_that_waits_for_its_erase_stay_known() {
    let spared = masked(any_order(cut::scenario(20_089))).expect("its dies can spare wordlines");
    let mut plain = spared.clone();
    plain.config.spared_max = 0;
    for scenario in [spared, plain] {
        trial_on(scenario, None, 150, None).unwrap();
    }
}

/// A snapshot of the journal whose program failed, the next one cut short before its marks were down, and the one before them in force.
#[test]
fn a_snapshot_that_failed_is_not_missed() {
    trial_on(masked(any_order(cut::scenario(21_439))).expect("its dies can spare wordlines"), None, 300, None).unwrap();
}

/// A measurement that was broken off for a read of the host: its page was locked before it had another turn.
#[test]
fn a_measurement_that_was_broken_off_does_not_read_what_is_gone() {
    trial_on(masked(any_order(cut::scenario(22_683))).expect("its dies can spare wordlines"), None, 300, None).unwrap();
}
