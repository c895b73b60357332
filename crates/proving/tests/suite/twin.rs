//! Does the firmware hold what it was given, whatever the options, the order of events and the failures of flash?

use wordline_proving::harness::Harness;
use wordline_proving::swarm::scenario;

fn swarm(seeds: std::ops::Range<u64>, requests: u64) {
    let (mut asked, mut reused, mut followed, mut operations, mut stops, mut broken) = (0, 0, 0, [0u64; 5], [0u64; 4], Vec::new());
    for seed in seeds {
        let ran = std::panic::catch_unwind(|| {
            let mut harness = Harness::new(scenario(seed));
            harness.run(requests);
            (harness.requests, harness.reused(), harness.followed, harness.operations, harness.stops)
        });
        match ran {
            Ok((requests, elsewhere, after, counts, stopped)) => {
                followed += after;
                stops.iter_mut().zip(stopped).for_each(|(sum, count)| *sum += count);
                asked += requests;
                reused += elsewhere;
                operations.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            // The oracle's message is on the terminal already.
            Err(_) => {
                eprintln!("that was seed {seed}");
                broken.push(seed);
            }
        }
    }
    println!(
        "{asked} requests; reads, programs, erases, copybacks, stops and resumes: {operations:?}; of them stops at a step, at once, of reads, and reads between two tries: {stops:?}; {reused} reads begun elsewhere than at the default; {followed} programs ordered while their die was at another"
    );
    assert!(stops.iter().all(|&count| count > 100), "everything is stopped: {stops:?}");
    assert!(reused > 1_000, "reads are begun at what was learnt");
    assert!(followed > 1_000, "dies take in data while they program");
    assert!(broken.is_empty(), "these seeds break an oracle: {broken:?}; the first is {:?}", scenario(broken[0]));
}

#[test]
fn does_any_seed_break_the_twin_on_short_runs() {
    swarm(0..1_500 * wordline_proving::effort(), 600);
}

#[test]
fn does_any_seed_break_the_twin_on_long_runs() {
    swarm(1_000_000..1_000_000 + 80 * wordline_proving::effort(), 30_000);
}

/// A write that waits in part brings a newer unit under the same version. Its program fails after an older one has landed, and reads are answered from the
/// buffer.
#[test]
fn what_a_failed_program_gives_back_may_be_newer_than_flash() {
    Harness::new(scenario(1_000_378)).run(4_500);
}
