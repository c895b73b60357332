//! `wordline drives`, `workloads` and `describe`.

use wordline_plan::presets;
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
    files::write_or_print("-", plan.describe().trim_end())
}
