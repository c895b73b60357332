//! Is write amplification under uniform random writes what closed forms say? The table is in `docs/models/write-amplification.md`.
//!
//! Does not check: other workloads (no closed form is exact for them; the naive twin is), several dies, or anything about time.

use wordline_ftl::victim::VictimPolicy;
use wordline_proving::core::Core;
use wordline_proving::{effort, shape, theory};
use wordline_units::random::{Draw, Stream};

const START: u32 = 3;
const SEED: u64 = 11;

/// Programs per host write in the long run, on `blocks` blocks of `pages` pages with `spare` of them not shown to the host; and physical pages in use
/// per logical page.
fn measured(victim: VictimPolicy, blocks: u32, pages: u32, spare: f64) -> (f64, f64) {
    let logical = (f64::from(blocks * pages) * (1.0 - spare)).round() as u32;
    let mut config = shape::firmware(shape::sheet(blocks, pages), 1, logical);
    config.gc.victim = victim;
    config.gc.start = START;
    let mut core = Core::new(config);
    (0..logical).for_each(|lpn| core.write(lpn));
    let mut draw = Draw::new(SEED, Stream::Address, 0);
    let mut overwrite = |core: &mut Core, count: u64| (0..count).for_each(|_| core.write(draw.below(u64::from(logical)) as u32));
    overwrite(&mut core, 3 * u64::from(logical));
    let before = core.counts;
    let writes = 2 * u64::from(logical) * effort();
    overwrite(&mut core, writes);
    core.audit();
    // While the host writes, `START` blocks are free, and of the two blocks being written half is still empty on average.
    let in_use = f64::from((blocks - START - 1) * pages);
    ((core.counts.programs - before.programs) as f64 / writes as f64, in_use / f64::from(logical))
}

fn must_meet(victim: VictimPolicy, blocks: u32, pages: u32, expected: impl Fn(f64) -> f64) {
    for spare in [0.07, 0.14, 0.28] {
        let (waf, alpha) = measured(victim, blocks, pages, spare);
        let theory = expected(alpha);
        let error = (waf / theory - 1.0) * 100.0;
        println!(
            "| {} | {pages} | {blocks} | {:.0} % | {alpha:.4} | {theory:.3} | {waf:.3} | {error:+.2} % |",
            victim.name(),
            spare * 100.0
        );
        assert!(error.abs() < 2.0, "seed {SEED}: {} with {pages} pages per block: {waf} against {theory}", victim.name());
    }
}

#[test]
fn does_greedy_reclaim_meet_the_balance_of_flows_with_32_pages_per_block() {
    must_meet(VictimPolicy::Greedy, 4_096, 32, |alpha| theory::greedy(alpha, 32));
}

#[test]
fn does_greedy_reclaim_meet_the_balance_of_flows_with_128_pages_per_block() {
    must_meet(VictimPolicy::Greedy, 2_048, 128, |alpha| theory::greedy(alpha, 128));
}

#[test]
fn does_greedy_reclaim_meet_the_balance_of_flows_with_576_pages_per_block() {
    must_meet(VictimPolicy::Greedy, 768, 576, |alpha| theory::greedy(alpha, 576));
}

#[test]
fn does_fifo_reclaim_meet_desnoyers_with_32_pages_per_block() {
    must_meet(VictimPolicy::Fifo, 4_096, 32, theory::fifo);
}

#[test]
fn does_fifo_reclaim_meet_desnoyers_with_128_pages_per_block() {
    must_meet(VictimPolicy::Fifo, 2_048, 128, theory::fifo);
}

#[test]
fn does_fifo_reclaim_meet_desnoyers_with_576_pages_per_block() {
    must_meet(VictimPolicy::Fifo, 768, 576, theory::fifo);
}
