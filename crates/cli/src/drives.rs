//! `wordline drives`, `workloads` and `describe`.

use wordline_pages::number::number;
use wordline_plan::presets;
use wordline_runs::{AgedCells, look};
use wordline_workload::AnySpec;

use crate::args::DescribeOptions;
use crate::failure::Failure;
use crate::files;

pub(crate) fn list() -> Result<(), Failure> {
    let presets = presets();
    let width = presets.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let lines: Vec<String> = presets.iter().map(|preset| format!("{:width$}  {}", preset.name, preset.summary)).collect();
    files::write_or_print("-", &lines.join("\n"))
}

pub(crate) fn workloads(name: Option<&str>) -> Result<(), Failure> {
    if let Some(name) = name {
        AnySpec::built_in(name)?;
        return files::write_or_print("-", AnySpec::built_in_text(name).unwrap_or_default().trim_end());
    }
    let names = AnySpec::built_in_names();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for name in names {
        let also: Vec<&str> = AnySpec::other_names(name).collect();
        let also = if also.is_empty() { String::new() } else { format!(" (also: {})", also.join(", ")) };
        lines.push(format!("{name:width$}  {}{also}", AnySpec::built_in(name)?.purpose()));
    }
    files::write_or_print("-", &lines.join("\n"))
}

pub(crate) fn describe(options: &DescribeOptions) -> Result<(), Failure> {
    let (plan, _) = options.options.load(&options.drive, &[])?;
    let cells = options.options.plan.cells.asked_age().and_then(|_| look(&plan));
    let cells = cells.map(|cells| format!("\n\n{}", at_age(&cells))).unwrap_or_default();
    files::write_or_print("-", &format!("{}{cells}", plan.describe().trim_end()))
}

/// The cells of a drive at its age, as comments behind its plan.
fn at_age(cells: &AgedCells) -> String {
    let AgedCells { of, inspected, blocks } = cells;
    let age = |age: Option<f64>| number(age.unwrap_or_default());
    [
        format!("# at this age, by {inspected} of {blocks} flash blocks"),
        format!(
            "# {:<20}{} reference cycles in the mean, {} on a block's worst wordline, {} at most",
            "wear",
            number(of.wear_mean),
            number(of.wear_worst_mean),
            number(of.wear_worst_max)
        ),
        format!(
            "# {:<20}{} in the mean, {} to {}: N(12), wrong bits of the weakest page after a year, over those that can be corrected",
            "age",
            age(of.age_mean),
            age(of.age_min),
            age(of.age_max)
        ),
    ]
    .join("\n")
}
