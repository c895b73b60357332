//! Writes a report on three made-up drives: `cargo run --example fabricated_report -- OUTPUT.html`. For work on the look of reports.

use fabricated::Toy;
use wordline_report::{Report, html, text};
use wordline_units::Nanos;

mod fabricated;

fn main() {
    let toys = [
        Toy { name: "pageftl", ..Toy::default() },
        Toy { name: "pageftl-4k", moved: 6, ..Toy::default() },
        Toy { name: "pageftl-fifo", moved: 25, program: Nanos::from_micros(700), ..Toy::default() },
    ];
    let mut drives = Vec::new();
    for seed in 1..=3 {
        for toy in &toys {
            drives.push(Toy { seed, ..toy.clone() }.conclude());
        }
    }
    let (results, details): (Vec<_>, Vec<_>) = drives.into_iter().unzip();
    print!("{}", text::run(&results[0]));
    let report = Report::new(results);
    print!("{}", text::compare(&report));
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, html::page(&report, &details)).expect("the page can be written");
    }
}
