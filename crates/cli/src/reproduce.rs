//! `wordline reproduce`: the claims of the sources put to the machine.

use std::path::Path;
use std::sync::Arc;

use wordline_lab::bench::Teller;
use wordline_lab::reproduce::{Bookings, Count, Outcome, select, set_beside, to_json, unmeasured};
use wordline_lab::seeds::BySeed;
use wordline_lab::{Study, page};
use wordline_runs::parallel;

use crate::args::ReproduceOptions;
use crate::failure::Failure;
use crate::files;
use crate::places::Places;
use crate::progress::{Board, Parts};

pub(crate) fn reproduce(options: &ReproduceOptions) -> Result<(), Failure> {
    let mut studies = select(&options.names)?;
    if let Some(size) = &options.size {
        studies = sized(studies, size)?;
    }
    if options.list {
        return files::write_or_print("-", &list(&studies));
    }
    let json = options.json.as_deref().filter(|&name| name != "-").map(Path::new);
    let mut places = Places::reading(options.names.iter().filter(|name| name.ends_with(".toml")));
    [json, options.by_seed.as_deref()].into_iter().flatten().try_for_each(|path| places.write(path))?;
    options.html.iter().try_for_each(|path| places.write_page(path))?;
    let threads = options.threads.map_or_else(parallel::cores, |threads| threads as usize);
    let board = Board::new(options.quiet);
    let first = studies.first().map_or(1, |study| study.seed);
    let mut runs: Vec<(u64, Vec<Outcome>)> = Vec::new();
    for step in 0..options.seeds {
        let what = if options.seeds > 1 { format!("seed {}", first.wrapping_add(step)) } else { "reproduce".to_owned() };
        let bar = Arc::new(Parts::new(board.count(&what, "studies", studies.len() as u64)));
        let heard = Arc::clone(&bar);
        let (mut outcomes, mut bookings) = (Vec::new(), Bookings::telling(Teller::new(move |text| heard.more(text))));
        for (index, study) in studies.iter().enumerate() {
            bar.at(index as u64, &study.id);
            outcomes.push(bookings.run(&Study { seed: study.seed.wrapping_add(step), ..study.clone() }, threads)?);
        }
        bar.finish();
        set_beside(&mut outcomes);
        runs.push((first.wrapping_add(step), outcomes));
    }
    let by_seed = BySeed::of(&runs);
    let outcomes = runs.swap_remove(0).1;
    if options.json.as_deref() != Some("-") {
        files::write_or_print("-", &page::text(&outcomes))?;
        if options.seeds > 1 {
            files::write_or_print("-", &by_seed.text(&studies))?;
        }
    }
    if let Some(name) = &options.json {
        let lines: Vec<_> = outcomes.iter().flat_map(|outcome| &outcome.lines).collect();
        files::write_or_print(name, &to_json(&lines))?;
    }
    if let Some(path) = &options.by_seed {
        files::write(path, by_seed.to_json().as_bytes())?;
    }
    if let Some(path) = &options.html {
        files::write(path, page::page(&outcomes).as_bytes())?;
        eprintln!("wordline: tables and figures in {}", path.display());
    }
    let count = Count::of(outcomes.iter().flat_map(|outcome| &outcome.lines));
    if options.strict && count.off + count.stays > 0 { Err(Failure::Off(page::summary(count))) } else { Ok(()) }
}

/// The studies on drives of this size.
fn sized(studies: Vec<Study>, size: &str) -> Result<Vec<Study>, Failure> {
    if size != "whole" {
        wordline_plan::read_size(size).map_err(|why| Failure::Usage(format!("--size: {why}, or whole")))?;
    }
    if !studies.iter().any(Study::has_size) {
        return Err(Failure::Usage("--size: none of these studies is of drives that have one".to_owned()));
    }
    Ok(studies.into_iter().map(|study| study.sized(size)).collect())
}

fn list(studies: &[Study]) -> String {
    let mut text = String::new();
    let width = studies.iter().map(|study| study.id.len()).max().unwrap_or(0);
    for study in studies {
        text += &format!("{:width$}  {}  {}\n", study.id, study.group, study.title);
        for judgement in &study.judge {
            let row = if judgement.row.is_some() { "  row of record" } else { "" };
            let null = judgement.null_settings();
            let null = if null.is_empty() { String::new() } else { format!("  null {}", null.join(", ")) };
            text += &format!("{:width$}    {}  {}{row}{null}\n", "", judgement.claim.id, judgement.measured);
        }
        for aside in &study.aside {
            text += &format!("{:width$}    {}  nothing to measure\n", "", aside.claim.id);
        }
    }
    for (group, open, all) in unmeasured() {
        text += &format!("{group}: {open} of {all} claims have no study yet\n");
    }
    text.trim_end().to_owned()
}
