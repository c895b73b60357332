//! `wordline chip`: the cells of one wordline, as a chart in the terminal and as a page.

use wordline_cells::{Condition, Traits};
use wordline_lab::LabError;
use wordline_lab::bench::{Null, Setup, Teller, states_figure};
use wordline_lab::conditions::{LotSize, pe_list, retention_list, span_text};
use wordline_lab::lot::Lot;
use wordline_lab::protocol::Changes;
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_pages::html::{document, escape};
use wordline_plan::{Chip, chips};
use wordline_units::Celsius;

use crate::args::ChipOptions;
use crate::chip_fit;
use crate::failure::Failure;
use crate::files;
use crate::places::Places;

/// What can be shown.
const SHOWS: [&str; 2] = ["vth", "layers"];
/// H-layers with names: 003 §3.1.
const LAYERS: [&str; 5] = ["typical", "alpha", "beta", "kappa", "omega"];

pub(crate) fn chip(options: &ChipOptions) -> Result<(), Failure> {
    if let Some(task) = &options.task {
        return chip_fit::run(task);
    }
    let Some(name) = &options.chip else { return list() };
    let setup = Setup {
        chip: name.clone(),
        against: None,
        settings: options.settings.clone(),
        null: Null::default(),
        conditions: Changes::new(),
        lot: LotSize { chips: 1, blocks: 1 },
        seed: options.seed,
        threads: 1,
        teller: Teller::default(),
    };
    let chip = Chip::load_set(name, &options.settings)?;
    let summary = chip.summary().to_owned();
    options.html.iter().try_for_each(|path| Places::reading(chip.files()).write_page(path))?;
    let lot = Lot::open(&setup)?;
    let one = |list: Vec<f64>, what: &str| match list.as_slice() {
        [only] => Ok(*only),
        _ => Err(Failure::Usage(format!("one {what} can be shown at a time"))),
    };
    let pe = one(pe_list(&options.pe).map_err(Failure::Usage)?.into_iter().map(f64::from).collect(), "P/E count")?;
    let retention = retention_list(&options.retention).map_err(Failure::Usage)?;
    let (celsius, kept) = (retention.celsius, one(retention.seconds, "retention time")?);
    let condition = lot.aged(pe, lot.model.kept(kept, Celsius(celsius)));
    let layer_named = if options.layer.parse::<u32>().is_ok() { "h-layer " } else { "" };
    let when = format!("{layer_named}{} at {pe} P/E and {}", options.layer, span_text(kept));
    let (text, figure) = match options.show.as_str() {
        "vth" => {
            let traits = layer(&lot, &options.layer)?;
            let figure = states_figure(&lot, &traits, &condition, &when);
            (states_text(&lot, &traits, &condition), figure)
        }
        "layers" => layers(&lot, &condition, &when),
        other => return Err(LabError::unknown("view", other, SHOWS).into()),
    };
    let head = format!("{summary}\n{when}\n\n");
    files::write_or_print("-", &(head + &text))?;
    if let Some(path) = &options.html {
        let title = if options.show == "layers" { "All h-layers" } else { "One wordline" };
        let in_words = format!("<details open><summary>The same in words</summary><pre>{}</pre></details>", escape(&text));
        let sections = [(title.to_owned(), "stack", vec![figure.html()]), ("In figures".to_owned(), "stack", vec![in_words])];
        files::write(path, document(name, &when, &sections).as_bytes())?;
        eprintln!("wordline: figure in {}", path.display());
    }
    Ok(())
}

fn list() -> Result<(), Failure> {
    let chips = chips();
    let width = chips.iter().map(|chip| chip.name.len()).max().unwrap_or(0);
    let lines: Vec<String> = chips
        .iter()
        .map(|chip| {
            let physics = if Chip::load(chip.name).is_ok() { "cells" } else { "" };
            format!("{:width$}  {physics:5}  {}", chip.name, chip.summary)
        })
        .collect();
    files::write_or_print("-", &lines.join("\n"))
}

/// The traits of an h-layer by its name or number, in the first block of the lot.
fn layer(lot: &Lot, name: &str) -> Result<Traits, Failure> {
    let traits = lot.traits(&lot.block(0, 0));
    if let Ok(number) = name.parse::<usize>() {
        let most = traits.len() - 1;
        return traits
            .get(number)
            .copied()
            .ok_or_else(|| Failure::Usage(format!("there is no h-layer {number}; they go from 0, the topmost, to {most}")));
    }
    let aged = lot.old();
    let order = |a: &&Traits, b: &&Traits| lot.n_ret(a, &aged).total_cmp(&lot.n_ret(b, &aged));
    let found = match name {
        "typical" => Some(lot.model.typical()),
        "alpha" => traits.first().copied(),
        "omega" => traits.last().copied(),
        "kappa" => traits.iter().max_by(order).copied(),
        "beta" => traits.iter().min_by(order).copied(),
        _ => None,
    };
    found.ok_or_else(|| LabError::unknown("h-layer", name, LAYERS).into())
}

const WIDTH: usize = 96;
const HEIGHT: usize = 16;

/// The states as a chart of characters: shares of cells on a logarithmic scale, default references below.
fn states_text(lot: &Lot, traits: &Traits, condition: &Condition) -> String {
    let wordline = lot.model.wordline(traits, condition);
    let count = lot.model.physics().shape.states();
    let (references, best) = (lot.model.references(0), wordline.optimal());
    let (low, high) = (wordline.states[0].mean() - 1_200.0, wordline.states[count - 1].mean() + 600.0);
    let step = (high - low) / WIDTH as f64;
    // From a millionth of a state's cells in a column to all of them.
    let decades = 6.0;
    let mut rows = vec![vec![' '; WIDTH]; HEIGHT];
    for (number, state) in wordline.states.iter().enumerate().take(count) {
        let mark = char::from_digit(number as u32, 16).filter(|_| number > 0).unwrap_or('E');
        for column in 0..WIDTH {
            let v = low + step * column as f64;
            let share = state.above(v) - state.above(v + step);
            let tall = HEIGHT as f64 * (1.0 + libm::log10(share.max(1e-12)) / decades);
            for row in rows.iter_mut().rev().take(tall.max(0.0) as usize) {
                row[column] = if row[column] == ' ' { mark } else { '+' };
            }
        }
    }
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let label = if index % 4 == 0 { format!("1e-{:.1}", decades * index as f64 / HEIGHT as f64) } else { String::new() };
        text += &format!("{label:>7} |{}\n", row.iter().collect::<String>().trim_end());
    }
    let mut marks = vec![' '; WIDTH];
    for reference in &references[..count - 1] {
        let column = ((reference - low) / step) as usize;
        if let Some(mark) = marks.get_mut(column) {
            *mark = '^';
        }
    }
    text += &format!("        +{}\n         {}\n", "-".repeat(WIDTH), marks.iter().collect::<String>().trim_end());
    text += &format!("         {:<width$}{:.1} V\n\n", format!("{:.1} V", low / 1e3), high / 1e3, width = WIDTH - 5);
    text += &format!("{:>6} {:>10} {:>10} {:>12} {:>12}\n", "state", "mean mV", "sigma mV", "reference mV", "best mV");
    for (number, state) in wordline.states.iter().enumerate().take(count) {
        let name = if number == 0 { "E".to_owned() } else { format!("P{number}") };
        let references = if number == 0 { String::new() } else { format!(" {:>12.0} {:>12.0}", references[number - 1], best[number - 1]) };
        text += &format!("{name:>6} {:>10.0} {:>10.0}{references}\n", state.mean(), state.deviation());
    }
    let (first, least) = (lot.rates(&wordline, &references), lot.rates(&wordline, &best));
    let bits = lot.model.codeword_bits();
    for (page, (first, least)) in first.iter().zip(&least).enumerate() {
        text += &format!(
            "\npage {page}: {:.1} errors in a codeword with the default references, {:.1} with the best; {:.0} can be corrected",
            first * bits,
            least * bits,
            lot.limit()
        );
    }
    text
}

/// Errors of every h-layer, as bars.
fn layers(lot: &Lot, condition: &Condition, when: &str) -> (String, Figure) {
    let bits = lot.model.codeword_bits();
    let of = |traits: &Traits| lot.worst_page(traits, condition) / bits;
    let rates: Vec<f64> = lot.traits(&lot.block(0, 0)).iter().map(of).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let mut text = String::from("worst page of each h-layer, best references\n");
    for (layer, rate) in rates.iter().enumerate() {
        text += &format!("{layer:>4}  {rate:.2e}  {}\n", "#".repeat((60.0 * rate / most) as usize));
    }
    let points = rates.iter().enumerate().map(|(layer, rate)| (layer as f64, *rate)).collect();
    let figure = Figure::Curves(Curves {
        title: format!("Error rate over the layers, {when}"),
        note: "worst page, best references".to_owned(),
        x: Scale::from_zero("h-layer, 0 the topmost"),
        y: Scale::log("raw bit error rate"),
        curves: vec![Curve { label: "block 0 of chip 0".to_owned(), colour: 0, dashed: false, points }],
        marks: Vec::new(),
    });
    (text.trim_end().to_owned(), figure)
}
