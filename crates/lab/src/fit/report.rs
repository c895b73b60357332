//! The outcome of a fit in words: for the terminal, and as a page of the documentation.

use std::fmt::Write;

use super::chip_file::Origin;
use super::judge::{Summary, Verdict, layer_agreement};
use super::naive::{Naive, scaled_neighbour};
use super::outcome::Outcome;

/// Rows of the table: a title and its summary.
fn rows(outcome: &Outcome) -> Vec<(String, Summary)> {
    let mut rows = vec![("fitted".to_owned(), outcome.fitted())];
    if !outcome.held_out.is_empty() {
        rows.push(("held out".to_owned(), outcome.held()));
    }
    rows.extend(outcome.left_out.iter().map(|(pe, summary)| (format!("P/E {pe}, from all others"), summary.clone())));
    rows.extend(
        outcome
            .left_once
            .iter()
            .map(|(once, summary)| (format!("retention {}, seen at P/E {} only", once.retention, once.pe), summary.clone())),
    );
    let mut pe: Vec<u32> = outcome.against.iter().map(|verdict| verdict.pe).collect();
    pe.dedup();
    rows.extend(
        pe.into_iter().map(|pe| (format!("other file, P/E {pe}"), Summary::of(outcome.against.iter().filter(|verdict| verdict.pe == pe)))),
    );
    rows
}

/// The report for a terminal.
pub fn text(outcome: &Outcome) -> String {
    let rows = rows(outcome);
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "A step is {:.2} mV. Residuals in steps: median, width (5 % to 95 %), tails (0.1 %, 99.9 %); misreads predicted / measured.\n",
        outcome.voltage.step
    );
    let _ = writeln!(text, "{:width$}  conditions  median  width  tails  within  boundary by boundary", "");
    for (name, summary) in &rows {
        let [conditions, median, width_rms, tails, factor, ratios] = cells(summary, " ");
        let _ = writeln!(text, "{name:width$}  {conditions:>10}  {median:>6}  {width_rms:>5}  {tails:>5}  x {factor:>4}  {ratios}");
    }
    let table = against_naive(outcome);
    if !table.is_empty() {
        let _ = writeln!(text, "\nTypical factor in the misreads of a P/E count that was left out, against predictions without a model:");
    }
    for row in &table {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            format!("{cell:>width$}")
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  "));
    }
    if !table.is_empty() {
        let _ = writeln!(text, "{}", verdict_on_naive(outcome));
    }
    let (correlation, measured, predicted) = layer_agreement(&outcome.verdicts);
    let _ = write!(
        text,
        "\nLayers: worst over best {measured:.2} measured, {predicted:.2} predicted; correlation over the layers {correlation:.2}."
    );
    text
}

/// One row of either table: conditions, residuals of median, width and tails, typical factor, and the factor of each boundary.
fn cells(summary: &Summary, between: &str) -> [String; 6] {
    let ratios: Vec<String> = summary.ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let residual = |value: f64| format!("{value:.3}");
    [
        summary.conditions.to_string(),
        residual(summary.median_rms),
        residual(summary.width_rms),
        residual(summary.tail_rms),
        format!("{:.2}", summary.factor),
        ratios.join(between),
    ]
}

/// The page of the documentation, generated with the numbers of this fit.
///
/// `command` is what wrote it, and `picture` the file of [`figures::misreads`](super::figures::misreads).
pub fn markdown(outcome: &Outcome, name: &str, origin: &Origin, command: &str, picture: &str) -> String {
    let mut text = String::new();
    let fitted = outcome.fitted();
    let _ = writeln!(text, "# {name}: a chip fitted to measured histograms\n");
    let _ = writeln!(text, "*Generated; do not edit.*\n\n```console\n$ {command}\n```\n");
    let (measured, like) = (&origin.measured, &origin.like);
    let _ = writeln!(
        text,
        "Measured: {measured}. The chip inherits from `{like}` what histograms do not tell; every fitted value is in its file with this source. \
         Voltages are those of `{like}`'s scale: one step of the file is read as {:.2} mV, as the file gives no unit.\n",
        outcome.voltage.step
    );
    let _ = writeln!(
        text,
        "The model is fitted to eleven quantiles of each state of the mean layer, from 0.01 % to 99.99 %, under all conditions at once (robust least \
         squares); then each layer gets a level and a width. One parameter set holds for all {} conditions.\n",
        fitted.conditions
    );
    let _ = writeln!(text, "## How near it comes\n");
    let _ = writeln!(
        text,
        "Residuals are root mean squares in steps. Misreads: cells on the wrong side at the best step between two neighbouring states, of the cells of both; \
         predicted over measured. \"From all others\": the fit was repeated without that P/E count and asked for it.\n"
    );
    let boundaries: Vec<String> = (0..fitted.ratios.len()).map(|boundary| format!("P{}/P{}", boundary + 1, boundary + 2)).collect();
    let _ = writeln!(text, "| | conditions | median | width 5–95 % | 0.1 %, 99.9 % | typical factor | {} |", boundaries.join(" | "));
    let _ = writeln!(text, "|---|---:|---:|---:|---:|---:|{}", "---:|".repeat(boundaries.len()));
    for (row, summary) in rows(outcome) {
        let _ = writeln!(text, "| {row} | {} |", cells(&summary, " | ").join(" | "));
    }
    let (correlation, worst, predicted) = layer_agreement(&outcome.verdicts);
    let _ = writeln!(
        text,
        "\nLayers: worst over best in misreads {worst:.2} measured (counting noise included), {predicted:.2} predicted; correlation over the layers \
         {correlation:.2}.\n"
    );
    let _ = writeln!(text, "![Misreads over P/E cycles, measured and predicted]({picture})\n");
    let _ = writeln!(
        text,
        "*Cells misread, mean of the boundaries, over P/E cycles, one colour for each retention index; dashed: measured, solid: predicted for the mean layer, \
         also between and beyond what was measured. The page that `--html` writes has this and the residuals of states, tails and layers.*\n"
    );
    if !outcome.left_out.is_empty() {
        beside_naive(&mut text, outcome);
    }
    by_retention(&mut text, outcome);
    let _ = writeln!(text, "\n## Where it is wrong\n");
    for line in worst_states(&outcome.verdicts) {
        let _ = writeln!(text, "- {line}");
    }
    let _ = writeln!(
        text,
        "- Counts far out in the tails are too high in the file: a step that only one of two repeats saw keeps its full count.\n\
         - From one P/E count to the next all states of all retention indices move together by about 0.1 step, up or down, as if each count had \
         been measured on another block. No law of wear follows that, and the fit does not try."
    );
    text
}

/// Writes how the fit stands beside predictions without a model.
fn beside_naive(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(
        text,
        "## Against predictions without a model\n\nTypical factor in the misreads of a P/E count that was left out: by the fit to all others, and by three \
         rows that need no model and are drawn, boundary by boundary, through the misreads measured at other counts.\n"
    );
    for (number, row) in against_naive(outcome).iter().enumerate() {
        let _ = writeln!(text, "| {} |", row.join(" | "));
        if number == 0 {
            let _ = writeln!(text, "|{}", "---:|".repeat(row.len()));
        }
    }
    let _ = writeln!(text, "\n{}\n", verdict_on_naive(outcome));
    let _ = writeln!(
        text,
        "The same for a retention index that the fit saw at one P/E count only, which tells what time it stands for. Its neighbour is the index whose \
         misreads are nearest at that count; it is scaled there, boundary by boundary.\n\n| retention | fit | neighbour, scaled |\n|---:|---:|---:|"
    );
    let pairs: Vec<(u8, f64, Option<f64>)> =
        outcome.left_once.iter().map(|(once, fit)| (once.retention, fit.factor, scaled_neighbour(&outcome.verdicts, *once))).collect();
    for (retention, fit, naive) in &pairs {
        let naive = naive.map_or("–".to_owned(), |naive| format!("{naive:.2}"));
        let _ = writeln!(text, "| {retention} | {fit:.2} | {naive} |");
    }
    let nearer = pairs.iter().filter(|(_, fit, naive)| naive.is_some_and(|naive| *fit < naive)).count();
    let _ = writeln!(text, "\nThe fit is nearer than the scaled neighbour for {nearer} of {} indices.\n", pairs.len());
}

/// Writes the times that retention indices stand for, and the misreads of each condition.
fn by_retention(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(text, "## Retention indices\n");
    let _ = writeln!(
        text,
        "The file gives no unit for them. The one that loses most is read as {:.0} days at the reference temperature; the others follow from the fit. \
         \"Reads\" stands for whatever lifts states from index to index and more so when worn, in the proportions of read disturb; the \
         file does not say what did.\n",
        outcome.subject.anchor_seconds / 86_400.0
    );
    let retentions = retentions(&outcome.verdicts);
    let _ = writeln!(text, "| index | time | reads |\n|---:|---:|---:|");
    for (index, (seconds, reads)) in retentions.iter().zip(outcome.subject.equivalents()) {
        let _ = writeln!(text, "| {index} | {:.1} h | {:.0} |", seconds / 3600.0, reads);
    }
    let _ = writeln!(text, "\n## Misreads, condition by condition\n");
    let _ = writeln!(text, "Mean of all boundaries, measured → predicted, in parts per million of cells.\n");
    let header: Vec<String> = retentions.iter().map(|index| format!("retention {index}")).collect();
    let _ = writeln!(text, "| P/E | {} |\n|---:|{}", header.join(" | "), "---:|".repeat(retentions.len()));
    for row in outcome.verdicts.chunks(retentions.len().max(1)) {
        let cells: Vec<String> =
            row.iter().map(|verdict| format!("{:.0} → {:.0}", ppm(&verdict.measured), ppm(&verdict.predicted))).collect();
        let _ = writeln!(text, "| {} | {} |", row[0].pe, cells.join(" | "));
    }
}

/// Factors of the fit without a count, and of the [`Naive`] rows, for each count that was left out.
fn factors(outcome: &Outcome) -> Vec<(u32, f64, [Option<f64>; 3])> {
    let of = |(pe, summary): &(u32, Summary)| (*pe, summary.factor, Naive::ALL.map(|naive| naive.factor(&outcome.verdicts, *pe)));
    outcome.left_out.iter().map(of).collect()
}

/// Geometric means of the fit and of a naive row over the counts where there is the row, and the number of those where the fit is nearer, of how many.
fn beside(factors: &[(u32, f64, [Option<f64>; 3])], column: usize) -> (f64, f64, usize, usize) {
    let pairs: Vec<(f64, f64)> = factors.iter().filter_map(|(_, fit, naive)| Some((*fit, naive[column]?))).collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| libm::exp(pairs.iter().map(|pair| libm::log(of(pair))).sum::<f64>() / pairs.len().max(1) as f64);
    (mean(|pair| pair.0), mean(|pair| pair.1), pairs.iter().filter(|pair| pair.0 < pair.1).count(), pairs.len())
}

/// Table of the fit beside predictions without a model, its titles first; nothing where no count was left out.
fn against_naive(outcome: &Outcome) -> Vec<[String; 5]> {
    let factors = factors(outcome);
    if factors.is_empty() {
        return Vec::new();
    }
    let row = |title: String, fit: String, [between, line, nearest]: [String; 3]| [title, fit, between, line, nearest];
    let told = |factor: Option<f64>| factor.map_or("–".to_owned(), |factor| format!("{factor:.2}"));
    let titles = row("P/E".to_owned(), "fit".to_owned(), Naive::ALL.map(|naive| naive.title().to_owned()));
    let of_count = |(pe, fit, naive): &(u32, f64, [Option<f64>; 3])| row(pe.to_string(), format!("{fit:.2}"), naive.map(told));
    std::iter::once(titles).chain(factors.iter().map(of_count)).collect()
}

/// Sentences, one for each row without a model: whether the fit predicts better.
fn verdict_on_naive(outcome: &Outcome) -> String {
    let factors = factors(outcome);
    let sentence = |(column, naive): (usize, Naive)| {
        let (fit, other, nearer, of) = beside(&factors, column);
        let told = if fit < other { "It beats" } else { "It does not claim to predict better than" };
        format!("{told} \"{}\": {fit:.2} against {other:.2} in the geometric mean of {of} counts, nearer at {nearer}.", naive.title())
    };
    Naive::ALL.into_iter().enumerate().map(sentence).collect::<Vec<_>>().join(" ")
}

pub(super) fn ppm(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len().max(1) as f64 * 1e6
}

/// The retention indices, rising.
pub(super) fn retentions(verdicts: &[Verdict]) -> Vec<u8> {
    let first = verdicts.first().map_or(0, |verdict| verdict.pe);
    verdicts.iter().take_while(|verdict| verdict.pe == first).map(|verdict| verdict.retention).collect()
}

/// For each state, the mean residual of its median and of its tails, where it is a tenth of a step or more.
fn worst_states(verdicts: &[Verdict]) -> Vec<String> {
    let states = verdicts.first().map_or(0, |verdict| verdict.residuals.len());
    let mut lines = Vec::new();
    for (level, what) in [(1, "0.1 %"), (5, "the median"), (9, "99.9 %")] {
        let means: Vec<String> = (0..states)
            .map(|state| (state, verdicts.iter().map(|verdict| verdict.residuals[state][level]).sum::<f64>() / verdicts.len() as f64))
            .filter(|(_, mean)| mean.abs() >= 0.1)
            .map(|(state, mean)| format!("P{} by {mean:+.2}", state + 1))
            .collect();
        if !means.is_empty() {
            lines.push(format!("In the mean of all conditions, {what} is predicted off, in steps: {}.", means.join(", ")));
        }
    }
    lines
}
