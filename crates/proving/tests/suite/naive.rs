//! Does the firmware do exactly what a hundred-line firmware does?

use wordline_ftl::UnitAddr;
use wordline_ftl::victim::VictimPolicy;
use wordline_proving::core::Core;
use wordline_proving::naive::{Naive, Rule};
use wordline_proving::shape;
use wordline_units::random::{Draw, Stream};

const BLOCKS: u32 = 64;
const PAGES: u32 = 32;
const LOGICAL: u32 = 1_700;
const START: u32 = 4;

fn must_agree(name: &str, mut address: impl FnMut(&mut Draw) -> u32) {
    for (rule, victim) in [(Rule::Greedy, VictimPolicy::Greedy), (Rule::Fifo, VictimPolicy::Fifo)] {
        let mut config = shape::firmware(shape::sheet(BLOCKS, PAGES), 1, LOGICAL);
        config.gc.victim = victim;
        config.gc.start = START;
        let mut core = Core::new(config);
        let mut naive = Naive::new(rule, BLOCKS as usize, PAGES as usize, LOGICAL as usize, START as usize);
        let mut draw = Draw::new(7, Stream::Address, 0);
        let writes = 60_000 * wordline_proving::effort();
        for step in 0..writes {
            let lpn = address(&mut draw);
            if draw.happens(0.02) {
                core.trim(lpn);
                naive.trim(lpn);
            } else {
                core.write(lpn);
                naive.write(lpn);
            }
            let counts = (core.counts.programs, core.counts.moves, core.counts.erases);
            assert_eq!(counts, (naive.programs, naive.moves, naive.erases), "{name}, {rule:?}, seed 7, step {step}");
        }
        for lpn in 0..LOGICAL {
            let addr = core.ftl.map().get(lpn);
            let layout = core.ftl.layout();
            let place = (addr != UnitAddr::NONE).then(|| (layout.group(addr).index(), layout.offset(addr) as usize));
            assert_eq!(place, naive.place(lpn), "{name}, {rule:?}: place of page {lpn}");
        }
        core.audit();
        println!(
            "{name:>10} {rule:?}: {writes} requests, {} programs, {} moves, {} erases, as the naive twin",
            naive.programs, naive.moves, naive.erases
        );
    }
}

#[test]
fn does_uniform_writing_agree_to_the_last_erase() {
    must_agree("uniform", |draw| draw.below(u64::from(LOGICAL)) as u32);
}

#[test]
fn does_hot_and_cold_writing_agree_to_the_last_erase() {
    must_agree("hot/cold", |draw| {
        let hot = u64::from(LOGICAL / 10);
        if draw.happens(0.9) { draw.below(hot) as u32 } else { (hot + draw.below(u64::from(LOGICAL) - hot)) as u32 }
    });
}

#[test]
fn does_zipf_writing_agree_to_the_last_erase() {
    // The inverse of the summed weights 1/rank, rank by rank.
    let mut sums = vec![0.0];
    for rank in 1..=LOGICAL {
        sums.push(sums[rank as usize - 1] + 1.0 / f64::from(rank));
    }
    must_agree("Zipf", |draw| {
        let at = draw.unit() * sums[LOGICAL as usize];
        (sums.partition_point(|&sum| sum <= at) - 1) as u32
    });
}
