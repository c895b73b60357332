//! The result of a calibration as text, as settings and as a chip file.

use std::collections::BTreeMap;
use std::fmt::Write;

use wordline_pages::html::figure::scientific;

use super::directions::{Direction, directions};
use super::questions::Question;
use super::search::{Calibration, Task};

/// Size below which a direction is weak: an e-fold along it, ten steps, changes all residuals together by less than one half width.
const WEAK: f64 = 0.1;
/// Part of a direction below which a parameter is not named.
const NAMED: f64 = 0.25;

/// Text of the whole result.
pub fn text(task: &Task, found: &Calibration) -> String {
    [head(task, found), claims(task, found), parameters(found), weak(found), moves(found)].concat()
}

fn head(task: &Task, found: &Calibration) -> String {
    let [before, after] = [&found.before, &found.after].map(|values| rms(&task.questions.residuals(values), task.questions.all.len()));
    let mut text = format!(
        "{} readings, {} parameters; residuals in half widths of bands, root mean square: {before:.4} before",
        task.questions.all.len(),
        found.moved.len()
    );
    if found.steps > 0 {
        let _ = write!(text, ", {after:.4} after {} {}", found.steps, if found.steps == 1 { "step" } else { "steps" });
    }
    let _ = writeln!(text, " ({} chips measured)", found.chips);
    for (study, why) in &task.questions.left_out {
        let _ = writeln!(text, "left out: study {study}, because {why}");
    }
    for (name, why) in &task.parameters.left_out {
        let _ = writeln!(text, "left out: {name}, because {why}");
    }
    if let (count, Some(last)) = &found.refused {
        let _ = writeln!(text, "{count} sets of values are of no possible chip, the last by: {}", last.replace('\n', " "));
    }
    text
}

fn rms(residuals: &[f64], count: usize) -> f64 {
    (residuals.iter().map(|residual| residual * residual).sum::<f64>() / count.max(1) as f64).sqrt()
}

/// A line for each reading: largest residual before first.
fn claims(task: &Task, found: &Calibration) -> String {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let width = |name: fn(&Question) -> &str| task.questions.all.iter().map(|question| name(question).len()).max().unwrap_or(0);
    let (wide, next) = (width(|question| &question.claim.id), width(|question| &question.metric));
    let mut lines: Vec<(f64, String)> = Vec::new();
    for ((question, before), after) in task.questions.all.iter().zip(&found.before).zip(&found.after) {
        let residual = |values: &[f64]| mean(&values.iter().map(|value| question.residual(*value)).collect::<Vec<_>>());
        let target = question.target().map_or_else(|| question.band().to_string(), scientific);
        let mut line = format!(
            "{:wide$} {:next$} {target:>22}  {:>10} {:>8.2}",
            question.claim.id,
            question.metric,
            scientific(mean(before)),
            residual(before)
        );
        if found.steps > 0 {
            let _ = write!(line, "  {:>10} {:>8.2}", scientific(mean(after)), residual(after));
        }
        lines.push((residual(before).abs(), line));
    }
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    let after = if found.steps > 0 { format!("  {:>10} {:>8}", "after", "residual") } else { String::new() };
    let head = format!("\n{:wide$} {:next$} {:>22}  {:>10} {:>8}{after}\n", "claim", "measured", "target", "before", "residual");
    head + &lines.into_iter().map(|(_, line)| line + "\n").collect::<String>()
}

/// A line for each parameter: most effect first.
fn parameters(found: &Calibration) -> String {
    let norm = |column: &[f64]| column.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    let mut order: Vec<(f64, usize)> = found.columns.iter().map(|column| norm(column)).zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text =
        format!("\n{:36} {:>16} {:>16}  {}\n", "parameter", "before", "after", "effect of a tenth on all residuals, in half widths");
    for (norm, which) in order {
        let moved = &found.moved[which];
        let (from, to) = (moved.parameter.text(0.0), moved.parameter.text(moved.to));
        let _ = writeln!(text, "{:36} {from:>16} {to:>16}  {}", moved.parameter.name(), scientific(norm));
    }
    text
}

/// Names of the parameters that no residual depends on.
pub fn undetermined(found: &Calibration) -> Vec<String> {
    let is_zero = |column: &[f64]| column.iter().all(|slope| *slope == 0.0);
    let columns = found.moved.iter().zip(&found.columns);
    columns.filter(|(_, column)| is_zero(column)).map(|(moved, _)| moved.parameter.name()).collect()
}

/// Singular values, and the directions that residuals do not determine.
fn weak(found: &Calibration) -> String {
    let (seen, columns): (Vec<_>, Vec<_>) =
        found.moved.iter().zip(&found.columns).filter(|(_, column)| column.iter().any(|slope| *slope != 0.0)).unzip();
    let all = directions(&columns.into_iter().cloned().collect::<Vec<_>>());
    let sizes: Vec<String> = all.iter().map(|direction| scientific(direction.size)).collect();
    let mut text = format!("\nsingular values: {}\n", sizes.join(" "));
    let named = |direction: &Direction| {
        let mut parts: Vec<(f64, String)> = direction
            .parts
            .iter()
            .zip(&seen)
            .map(|(part, moved)| (*part, moved.parameter.name()))
            .filter(|(part, _)| part.abs() >= NAMED)
            .collect();
        parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        // A direction has no sign: the largest part is written with a plus.
        let sign = parts.first().map_or(1.0, |(part, _)| part.signum());
        parts.iter().map(|(part, name)| format!("{:+.2} {name}", part * sign)).collect::<Vec<_>>().join(" ")
    };
    for direction in all.iter().filter(|direction| direction.size < WEAK) {
        let _ = writeln!(text, "weak direction, {}: {}", scientific(direction.size), named(direction));
    }
    let undetermined = undetermined(found);
    if !undetermined.is_empty() {
        let _ = writeln!(text, "undetermined, because no residual depends on it: {}", undetermined.join(", "));
    }
    text
}

/// The settings of the parameters that moved.
pub fn settings(found: &Calibration) -> Vec<String> {
    found.moved.iter().filter(|moved| moved.to != 0.0).map(|moved| moved.parameter.setting(moved.to)).collect()
}

fn moves(found: &Calibration) -> String {
    let lines = settings(found).into_iter().map(|setting| format!("--set '{setting}'\n")).collect::<String>();
    if lines.is_empty() { String::new() } else { format!("\n{lines}") }
}

/// Text of a chip file with the values found, and the settings that the search started at; all else is inherited. `command`: the command that found them.
pub fn chip_file(task: &Task, found: &Calibration, command: &str) -> String {
    let started = task.settings.iter().filter_map(|setting| setting.split_once('='));
    let started = started.map(|(path, value)| (path.trim().to_owned(), value.trim().to_owned()));
    let at_end = found.moved.iter().filter(|moved| moved.to != 0.0);
    let at_end = at_end.map(|moved| (moved.parameter.name(), moved.parameter.text(moved.to)));
    // The later counts where a path is there twice.
    let mut values: BTreeMap<String, (String, String)> = BTreeMap::new();
    started.chain(at_end).for_each(|(path, value)| {
        let (section, key) = path.rsplit_once('.').unwrap_or(("", &path));
        values.insert(path.clone(), (section.to_owned(), format!("{key} = {}", toml(&value))));
    });
    let mut text = format!("# Written by `{command}`.\nsummary = \"{} calibrated to claims\"\ninherit = \"{}\"\n", task.chip, task.chip);
    let mut last = String::new();
    for (section, line) in values.into_values() {
        if section != last {
            let _ = write!(text, "\n[{section}]\nsource = \"calibrated to claims: {}\"\n", command.replace('"', "'"));
            last = section;
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

/// A value of a setting as TOML: numbers and lists as they are, all else in quotes.
fn toml(value: &str) -> String {
    let is_bare = value.starts_with(['[', '{', '"', '\'']) || value.parse::<f64>().is_ok();
    if is_bare { value.to_owned() } else { format!("\"{value}\"") }
}
