//! Blocks, planes and dies that fail for good around power cuts: `failures SEED COUNT REQUESTS [block|plane|die] [two] [group]`. Each drive that breaks a
//! promise is told; the last line has the sums.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_ftl::config::OobPlace;
use wordline_proving::cut::{Extent, Tally, failing_trial, spacious};

fn main() {
    std::panic::set_hook(Box::new(|info| println!("{info}")));
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok()).expect("SEED COUNT REQUESTS are numbers");
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let named: Vec<Extent> = [("block", Extent::Block), ("plane", Extent::Plane), ("die", Extent::Die)]
        .into_iter()
        .filter(|(word, _)| has(word))
        .map(|(_, extent)| extent)
        .collect();
    let extents = if named.is_empty() { &[Extent::Block, Extent::Plane, Extent::Die][..] } else { &named };
    let (mut all, mut broken) = (Tally::default(), 0);
    for seed in number(0)..number(0) + number(1) {
        let mut scenario = spacious(seed);
        if has("group") {
            scenario.config.oob_place = OobPlace::Group;
        }
        match catch_unwind(AssertUnwindSafe(|| failing_trial(scenario, number(2), (extents, if has("two") { 2 } else { 1 }), None))) {
            Ok(Ok(tally)) => all.add(&tally),
            Ok(Err(problem)) => {
                broken += 1;
                println!("{seed}: {problem}");
            }
            Err(_) => {
                broken += 1;
                println!("{seed}: a panic");
            }
        }
    }
    println!("{broken} broken; {all:?}");
}
