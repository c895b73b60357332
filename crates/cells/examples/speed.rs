//! Speed of the questions that a die asks: `cargo run --release -p wordline-cells --example speed`.

use std::hint::black_box;
use std::time::Instant;

use wordline_cells::{Condition, Model, Settings};
use wordline_units::{Celsius, Nanos};

fn time(what: &str, count: u32, mut ask: impl FnMut(u32)) {
    let start = Instant::now();
    (0..count).for_each(&mut ask);
    println!("{what:<44} {:>9.1} ns", start.elapsed().as_secs_f64() * 1e9 / f64::from(count));
}

fn main() {
    let chip = wordline_plan::Chip::load("tlc48").unwrap_or_else(|error| panic!("{error}"));
    let Ok(model) = Model::new(chip.physics()) else { return };
    let home = Celsius(30.0);
    let block = model.block(1, 0, 0);
    let condition = |n: u32| Condition::new(model.cycled(2_000.0 + f64::from(n % 64), 60.0, home), home).kept(1e6 + f64::from(n));
    let traits = model.traits(&block, 7);
    let wordline = model.wordline(&traits, &condition(0));
    let references = model.references(0);
    time("a block of a lot", 1_000_000, |n| {
        black_box(model.block(1, n, n));
    });
    time("traits of a layer", 1_000_000, |n| {
        black_box(model.traits(&block, n % 48));
    });
    time("program", 1_000_000, |n| {
        black_box(model.program(&traits, &condition(n).history, &Settings::default()));
    });
    time("erase", 100_000, |n| {
        black_box(model.erase(&block, &condition(n).history));
    });
    time("states of a wordline", 300_000, |n| {
        black_box(model.wordline(&traits, &condition(n)));
    });
    time("error rate of a page, default references", 1_000_000, |n| {
        black_box(wordline.error_rate(&model, n % 3, &references));
    });
    let mut array = wordline_cells::CellArray::new(std::sync::Arc::new(model.clone()), 1, 0, 400, home);
    let page = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) % (400 * 576);
    time("a read of a die, at random", 1_000_000, |n| {
        black_box(array.read(page(n) / 576, page(n) % 576, n % 5_000, 0, Nanos(1_000_000 * u64::from(n))));
    });
    time("a read of a die, page after page", 1_000_000, |n| {
        black_box(array.read(n / 576 % 400, n % 576, n % 5_000, 0, Nanos(1_000_000 * u64::from(n))));
    });
    time("best references", 30_000, |_| {
        black_box(wordline.optimal());
    });
    time("errors of a page", 1_000_000, |n| {
        black_box(model.errors(0.003, 2_000.0, u64::from(n) << 33, u64::from(n) << 21));
    });
}
