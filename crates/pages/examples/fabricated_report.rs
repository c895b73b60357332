//! Writes a report on made-up drives: `cargo run --example fabricated_report -- OUTPUT.html [one|reads|huge]`.
//! For work on the look of reports.

use fabricated::Toy;
use wordline_figures::Report;
use wordline_pages::{html, text};
use wordline_units::Nanos;

#[path = "../../figures/examples/fabricated/mod.rs"]
mod fabricated;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next();
    let (toys, seeds): (Vec<Toy>, u64) = match arguments.next().as_deref() {
        Some("one") => (vec![Toy { name: "mixed", mix: (60, 8), ..Toy::default() }], 1),
        Some("reads") => (vec![Toy { name: "reads-only", mix: (100, 0), ..Toy::default() }], 1),
        Some("huge") => (vec![Toy { name: "32-TB", shape: (32, 16), blocks: 1_800, requests: 200_000, depth: 512, ..Toy::default() }], 1),
        _ => {
            let base = Toy { name: "pageftl", ..Toy::default() };
            let (less, more) =
                (Toy { name: "pageftl-4k", moved: 6, ..base.clone() }, Toy { name: "pageftl-fifo", moved: 25, ..base.clone() });
            (vec![base, less, Toy { program: Nanos::from_micros(700), ..more }], 3)
        }
    };
    let runs = (1..=seeds).flat_map(|seed| toys.iter().map(move |toy| Toy { seed, ..toy.clone() }.conclude()));
    let (results, details): (Vec<_>, Vec<_>) = runs.unzip();
    print!("{}", text::run(&results[0]));
    let report = Report::new(results);
    if report.comparison.is_some() {
        print!("{}", text::compare(&report));
    }
    if let Some(path) = path {
        std::fs::write(&path, html::page(&report, std::slice::from_ref(&details))).expect("the page can be written");
    }
}
