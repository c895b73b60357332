//! Text of a table as a section of a chip file.

use crate::bench::Setup;
use crate::lot::Lot;

/// The command that finds a table.
fn command(setup: &Setup, name: &str) -> String {
    let chip = if setup.chip == crate::CHIP { String::new() } else { format!(" --chip {}", setup.chip) };
    let settings: String = setup.settings.iter().map(|setting| format!(" --set '{setting}'")).collect();
    let reads = setup.conditions.get(name).and_then(|changed| changed.get("reads")).map(|reads| format!(" --reads {}", listed(reads)));
    let reads = reads.unwrap_or_default();
    format!("wordline characterize {name} --table{chip}{settings}{reads} --lot {} --seed {}", setup.lot, setup.seed)
}

/// The values of a list as an option has them.
fn listed(list: &toml::Value) -> String {
    let values = list.as_array().into_iter().flatten().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    values.collect::<Vec<_>>().join(",")
}

/// Text of a table's source: command, lot, halves, and `how` it was found.
pub(super) fn source(setup: &Setup, lot: &Lot, name: &str, how: &str) -> String {
    format!(
        "characterised by `{}`: made from {} blocks of the {} chips of even number, judged by those of the {} others; {how}; all at {} °C, programs with default settings",
        command(setup, name),
        lot.size.chips.div_ceil(2) * lot.size.blocks,
        lot.size.chips.div_ceil(2),
        lot.size.chips / 2,
        lot.room.0
    )
}

/// A value rounded to so many digits, so that what is printed is what is used.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    // A number that is written is read again.
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// A list on one line, or twelve values to a line where it is long.
pub(super) fn list<T: ToString>(values: &[T]) -> String {
    lines(values, 12)
}

/// A list with so many values to a line.
pub(super) fn lines<T: ToString>(values: &[T], width: usize) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    let lines: Vec<String> = values.chunks(width.max(1)).map(|values| values.join(", ")).collect();
    if lines.len() < 2 { format!("[{}]", lines.concat()) } else { format!("[\n    {},\n]", lines.join(",\n    ")) }
}

/// A time in whole seconds as TOML.
pub(super) fn span(seconds: u32) -> String {
    format!("\"{seconds} s\"")
}

/// A share as TOML.
pub(super) fn share(share: f64) -> String {
    format!("\"{} %\"", rounded(share * 100.0, 6))
}
