//! Text of the margins section of a chip file, with remarks on its effects.

use std::fmt::Write;

use wordline_flash::Margins;
use wordline_units::Microvolts;

use super::{Age, At};
use crate::bench::Setup;
use crate::conditions::span_text;
use crate::lot::Lot;

/// The command that finds this table.
fn command(setup: &Setup) -> String {
    let chip = if setup.chip == crate::CHIP { String::new() } else { format!(" --chip {}", setup.chip) };
    let settings: String = setup.settings.iter().map(|setting| format!(" --set '{setting}'")).collect();
    format!("wordline characterize margins{chip}{settings} --lot {} --seed {}", setup.lot, setup.seed)
}

pub(super) fn source(setup: &Setup, at: &At, lot: &Lot) -> String {
    let pe: Vec<String> = at.pe.iter().map(|pe| pe.to_string()).collect();
    format!(
        "characterised by `{}`: {} blocks of {} virtual chips at {} P/E, kept for {} at {} °C; the worst page of every follower cannot be corrected with at most {} %",
        command(setup),
        setup.lot.total(),
        setup.lot.chips,
        pe.join(", "),
        span_text(at.kept),
        lot.room.0,
        at.risk * 100.0
    )
}

fn volts(voltage: Microvolts) -> String {
    format!("\"{} mV\"", voltage.millivolts())
}

fn list(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    // Twelve to a line: the layers of a block do not fit into one.
    let lines: Vec<String> = values.chunks(12).map(|values| values.join(", ")).collect();
    if lines.len() < 2 { format!("[{}]", lines.concat()) } else { format!("[\n    {},\n]", lines.join(",\n    ")) }
}

/// The margins section as TOML, without remarks.
pub(super) fn section(table: &Margins, cells: u32, source: &str) -> String {
    let steps = &table.steps;
    format!(
        "[margins]\nsource = {}\nstep = {}\ncells = {}\nlowered = {}\nearly = {}\nerrors = {}\nstart = {}\nend = {}\nlayers = {}\n",
        // A setting may have quotes of its own.
        toml::Value::from(source),
        volts(table.step),
        cells,
        volts(table.lowered),
        table.early,
        list(steps.iter().map(|step| step.errors_max.to_string())),
        list(steps.iter().map(|step| volts(step.window.start))),
        list(steps.iter().map(|step| volts(step.window.end))),
        list(table.layers.iter().map(|layer| volts(*layer))),
    )
}

/// Effects of the table at each age, as remarks of TOML.
pub(super) fn remarks(ages: &[Age]) -> String {
    let mut text = String::new();
    for age in ages {
        let Age { pe, expected, counted, showing, most, worst, saved, kappa } = age;
        // A few leaders that all show the same have no order.
        let rank = |value: &f64| if value.is_nan() { "nothing".to_owned() } else { format!("{value:.2}") };
        let per_cent = |value: &f64| format!("{:.1} %", value * 100.0);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "# {pe} P/E");
        let _ = writeln!(
            text,
            "#   errors between E and P1: {} of leaders show any, {most} at most; rank correlation with those after retention {} expected, {} counted",
            per_cent(showing),
            rank(expected),
            rank(counted)
        );
        let [leader, first, table] = worst;
        let _ = writeln!(
            text,
            "#   errors of the worst page's codeword, worst wordline: {leader:.1} leader, {first:.1} skipping up to L_min, {table:.1} by the table"
        );
        let saved: Vec<String> = saved.iter().map(per_cent).collect();
        let _ = writeln!(
            text,
            "#   t_PROG saved: {} skipping up to L_min, {} margins alone, {} both; {} skipping by the table, {} both; {} static",
            saved[0], saved[1], saved[2], saved[3], saved[4], saved[5]
        );
        let _ = writeln!(text, "#   the worst h-layer: {} by the table, {} static", per_cent(&kappa[0]), per_cent(&kappa[1]));
    }
    text
}
