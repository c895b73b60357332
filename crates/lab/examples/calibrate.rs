//! Effect of a change of a chip's physics on the claims, before it goes into a chip file: `cargo run -p wordline-lab --example calibrate -- [seeds=N]
//! [lot=CxB] [STUDY …] [physics.section.key=value …]`.
//!
//! The real benches and bands, on lots of several seeds; a line for each question, its columns parted by tabs; a star where it is off. A setting applies to
//! the chip of a study and to the one it compares with.

use wordline_lab::bench::{Bench, Findings, Setup, metric};
use wordline_lab::conditions::LotSize;
use wordline_lab::reproduce::select;
use wordline_runs::parallel;

fn main() {
    if let Err(error) = calibrate() {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

/// Findings of the benches of one lot.
struct Bookings(Vec<(&'static str, Setup, Findings)>);

impl Bookings {
    fn value(&mut self, bench: &'static Bench, name: &str, setup: Setup) -> Result<Option<f64>, wordline_lab::LabError> {
        if let Some((_, _, findings)) = self.0.iter().find(|(known, held, _)| *known == bench.name && *held == setup) {
            return Ok(findings.get(name));
        }
        let findings = (bench.run)(&setup)?;
        let value = findings.get(name);
        self.0.push((bench.name, setup, findings));
        Ok(value)
    }
}

fn calibrate() -> Result<(), wordline_lab::LabError> {
    let (mut names, mut settings, mut seeds, mut lot) = (Vec::new(), Vec::new(), 3, None);
    for word in std::env::args().skip(1) {
        match word.split_once('=') {
            Some(("seeds", count)) => seeds = count.parse().unwrap_or(seeds),
            Some(("lot", size)) => lot = LotSize::read(size).ok(),
            Some(_) => settings.push(word),
            None => names.push(word),
        }
    }
    let studies = select(&names)?;
    let threads = parallel::cores();
    let mut bookings = Bookings(Vec::new());
    let mut off = vec![std::collections::BTreeSet::new(); seeds as usize];
    for study in &studies {
        println!("{}", study.id);
        for judgement in &study.judge {
            let Some((bench, metric)) = metric(&judgement.measured) else { continue };
            let mut values = |settings: &[String]| -> Result<Vec<f64>, wordline_lab::LabError> {
                let setup = |step: u64| {
                    let of = study.setup(threads);
                    // A study of one block has no need of more.
                    let lot = lot.filter(|_| of.lot.total() > 1).unwrap_or(of.lot);
                    Setup { settings: settings.to_vec(), seed: study.seed.wrapping_add(step), lot, ..of }
                };
                (0..seeds).map(|step| Ok(bookings.value(bench, metric.name, setup(step))?.unwrap_or(f64::NAN))).collect()
            };
            let now = values(&settings)?;
            let cells: Vec<String> = now
                .iter()
                .enumerate()
                .map(|(seed, value)| {
                    let miss = judgement.band.miss(*value) != 0.0;
                    if miss {
                        off[seed].insert(judgement.claim.id.as_str());
                    }
                    format!("\t{value:>12.4}{}", if miss { "*" } else { " " })
                })
                .collect();
            println!("\t{:38}\t{:30}\t{:24}{}", judgement.claim.id, judgement.measured, judgement.band.to_string(), cells.concat());
        }
    }
    let count: Vec<String> = off.iter().map(|off| off.len().to_string()).collect();
    println!("claims off: {}", count.join(", "));
    Ok(())
}
