//! Single failures of flash and what they cost: `price SEED COUNT REQUESTS stop|cut [page|block|die] [group]`. Each drive with a failure that costs more than
//! what it held is told with its figures; the last line has the sums.

use wordline_proving::cut::{End, Extent, Price, priced_trial, still, twinned};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok()).expect("SEED COUNT REQUESTS are numbers");
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let end = if has("stop") { End::Stop } else { End::Cut };
    let named: Vec<Extent> = [("page", Extent::Page), ("block", Extent::Block), ("die", Extent::Die)]
        .into_iter()
        .filter(|(word, _)| has(word))
        .map(|(_, extent)| extent)
        .collect();
    let extents = if named.is_empty() { Extent::ALL } else { &named };
    let mut all = Price::default();
    for seed in number(0)..number(0) + number(1) {
        let scenario = if has("group") { still(seed) } else { twinned(still(seed)) };
        match priced_trial(scenario, number(2), &[end], extents, None) {
            Ok(price) => {
                if price.over.iter().any(|&over| over > 0) {
                    println!("{seed}: {price:?}");
                }
                all.add(&price);
            }
            Err(problem) => println!("{seed}: {problem}"),
        }
    }
    println!("{all:?}");
}
