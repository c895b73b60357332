//! Are rewrites that wait for the host's hints counted, kept and started as they should?
//!
//! Does not check: how long reads take then. Drives with cells do.

use wordline_proving::effort;
use wordline_proving::harness::Harness;
use wordline_proving::swarm::{hinted, scenario};

/// What runs have seen: comparisons of classes, hints, parked rewrites after a run, restored cores, rewrites begun before they were due and later.
type Seen = [u64; 6];

fn run(seed: u64) -> Seen {
    let mut harness = Harness::new(hinted(scenario(seed)).expect("it keeps no data"));
    let (mut parked, mut restored) = (0, 0);
    harness.look_closely();
    harness.fill();
    for _ in 0..2 {
        harness.run(150);
        parked += harness.hinted()[2];
        restored += u64::from(harness.go_through_image());
        harness.idle(1_000);
    }
    let [compared, hints, _] = harness.hinted();
    let [early, late] = harness.begun().map(u64::from);
    [compared, hints, parked, restored, early, late]
}

#[test]
fn are_classes_exact_and_does_what_is_due_start_whatever_happens_to_data() {
    let (mut seen, mut with_parked, mut broken) = (Seen::default(), 0, Vec::new());
    for seed in 70_000..70_000 + 100 * effort() {
        match std::panic::catch_unwind(|| run(seed)) {
            Ok(told) => {
                with_parked += u32::from(told[2] > 0);
                seen.iter_mut().zip(told).for_each(|(sum, told)| *sum += told);
            }
            // The message is on the terminal already.
            Err(_) => broken.push(seed),
        }
    }
    println!("comparisons, hints, parked, restored cores, begun early and late: {seen:?}; drives with parked rewrites: {with_parked}");
    assert!(broken.is_empty(), "{} seeds are broken: {broken:?}", broken.len());
    assert!(seen.iter().all(|&seen| seen > 50) && with_parked > 30, "{seen:?} {with_parked}");
}
