//! The chip file that a fit writes: each fitted value with its source. Everything else is inherited.

use std::fmt::Write;

use wordline_cells::{Physics, Unit};

use super::parameters::{OF_HIGHEST, Subject, fitted_keys};
use super::search::Task;

/// Remarks of a chip file on its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Name of the chip it inherits from.
    pub like: String,
    /// Description of what was measured, in words.
    pub measured: String,
    /// Accuracy of the fit, in words.
    pub residual: String,
}

/// Keys of the layers' own design. The histograms' own description of layers is in two lists.
const LAYER_KEYS: [(&str, &str); 5] =
    [("profile", "noise_field"), ("profile", "noise_edge"), ("profile", "loss_edge"), ("profile", "loss_field"), ("wear", "field")];

/// Rounds every fitted value to the digits it is written with, so that the file and the judgement of it are about the same chip.
pub fn rounded(mut subject: Subject) -> Subject {
    for (section, key) in written_keys() {
        if let Some(values) = subject.physics.get(section, key) {
            let values: Vec<f64> = values.iter().map(|value| round(unit(section, key), *value)).collect();
            subject.physics.set(section, key, &values);
        }
    }
    for share in subject.kept.iter_mut().chain(&mut subject.read) {
        *share = digits(*share, 4);
    }
    subject
}

/// Text of the chip file.
pub fn chip_file(task: &Task<'_>, subject: &Subject, origin: &Origin) -> String {
    let mut text = String::new();
    let line = |text: &mut String, line: &str| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    };
    let fitted = format!("fitted to measured histograms, {}; {}", origin.measured, origin.residual);
    line(&mut text, "# Written by `wordline chip fit`. What is not here is not in histograms, and is inherited.");
    line(&mut text, &format!("# A step of the file is read as {:.2} mV.", task.voltage.step));
    line(
        &mut text,
        &format!(
            "# Retention indices {} are read as this much time at the reference temperature and these reads:",
            list(&task.digest.retentions())
        ),
    );
    for (place, (seconds, reads)) in subject.equivalents().into_iter().enumerate() {
        let index = task.digest.retentions()[place];
        line(&mut text, &format!("#   {index}: {} h, {} reads", number(digits(seconds / 3600.0, 3)), number(digits(reads, 3))));
    }
    let _ = writeln!(text, "summary = \"{}-layer chip fitted to measured histograms\"", task.digest.layers());
    let _ = writeln!(text, "inherit = \"{}\"\n", origin.like);
    let _ = writeln!(text, "[geometry]");
    let wordlines = task.digest.layers() * subject.physics.shape.wordlines_per_layer as usize;
    let _ = writeln!(
        text,
        "layers = {{ value = {}, source = \"{wordlines} wordlines in the file, {} to an h-layer as in {}\" }}",
        task.digest.layers(),
        subject.physics.shape.wordlines_per_layer,
        origin.like
    );
    let _ = writeln!(
        text,
        "\n[margins]\nstep = {{ value = \"none\", source = \"the table of {} is of that chip; nobody characterised this one\" }}",
        origin.like
    );
    let mut section = "";
    for (known, key) in ordered() {
        if known != section {
            section = known;
            let _ = writeln!(text, "\n[physics.{section}]\nsource = \"{fitted}\"");
        }
        let values = subject.physics.get(section, key).unwrap_or_default();
        let value = written(unit(section, key), &values);
        let source = if LAYER_KEYS.contains(&(section, key)) {
            Some("what sets layers apart is in profile.offset and profile.width, which hold for all conditions measured")
        } else if (section, key) == ("states", "references") {
            Some(
                "best thresholds of the fitted fresh chip; R1 lies below the states that were measured and is the inherited one, if it fits",
            )
        } else if OF_HIGHEST.contains(&(section, key)) {
            Some("in the value of each state")
        } else if (section, key) == ("wear", "reference") {
            Some("by definition: the most cycles in the file, each taken as a reference cycle")
        } else {
            None
        };
        let _ = match source {
            Some(source) => writeln!(text, "{key} = {{ value = {value}, source = \"{source}\" }}"),
            None => writeln!(text, "{key} = {value}"),
        };
    }
    text
}

/// All keys a fit writes.
fn written_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = [("states", "verify"), ("states", "references"), ("profile", "offset"), ("profile", "width"), ("wear", "reference")];
    fitted_keys().chain(more).chain(LAYER_KEYS).chain(OF_HIGHEST)
}

/// All keys a fit writes, in the order of the reference.
fn ordered() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all: Vec<(&str, &str)> = written_keys().collect();
    let known = Physics::PARAMETERS.iter().map(|parameter| (parameter.section, parameter.key));
    known.filter(move |key| all.contains(key))
}

fn unit(section: &str, key: &str) -> Unit {
    Physics::PARAMETERS
        .iter()
        .find(|parameter| (parameter.section, parameter.key) == (section, key))
        .map_or(Unit::Number, |found| found.unit)
}

/// The value rounded to the digits it is written with.
fn round(unit: Unit, value: f64) -> f64 {
    match unit.names().first() {
        // A tenth of a millivolt is a four hundredth of a step.
        Some(("mV", _)) => decimals(value, 1e1),
        Some((_, size)) if *size < 1.0 => percent(value) / 100.0,
        _ => digits(value, 4),
    }
}

/// A share in per cent, to four digits and no less than a millionth.
fn percent(share: f64) -> f64 {
    decimals(digits(share * 100.0, 4), 1e6)
}

fn decimals(value: f64, scale: f64) -> f64 {
    libm::round(value * scale) / scale
}

/// The value rounded to `count` digits.
pub(crate) fn digits(value: f64, count: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = f64::from(count - 1) - libm::floor(libm::log10(value.abs()));
    // Multiplying by a power of ten that is a whole number keeps what is written exact.
    if places >= 0.0 {
        let scale = libm::pow(10.0, places);
        libm::round(value * scale) / scale
    } else {
        let scale = libm::pow(10.0, -places);
        libm::round(value / scale) * scale
    }
}

fn written(unit: Unit, values: &[f64]) -> String {
    let one = |value: &f64| match unit.names().first() {
        None => number(*value),
        Some((name, size)) if *size < 1.0 => format!("\"{} {name}\"", number(percent(*value))),
        Some((name, size)) => format!("\"{} {name}\"", number(*value / size)),
    };
    if unit.is_list() {
        let items: Vec<String> = values.iter().map(one).collect();
        // Eight to a line: the layers of a block do not fit into one.
        let lines: Vec<String> = items.chunks(8).map(|items| items.join(", ")).collect();
        if lines.len() == 1 { format!("[{}]", lines[0]) } else { format!("[\n    {},\n]", lines.join(",\n    ")) }
    } else {
        one(&values[0])
    }
}

/// The shortest text that is read as the same number.
pub(crate) fn number(value: f64) -> String {
    // Minus zero is zero.
    format!("{}", value + 0.0)
}

fn list(indices: &[u8]) -> String {
    indices.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}
