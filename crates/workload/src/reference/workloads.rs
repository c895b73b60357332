//! `docs/reference/workloads.md`: workload files, key by key.

use std::fmt::Write;

use wordline_units::{Bytes, Nanos};

use super::keys::{FILES, PHASES, Part};
use crate::AnySpec;
use crate::file::spec::Multiple;
use crate::spec::Rate;
use crate::spec::quantity::{Quantity, Share};

/// The reference of workload files.
pub fn workloads_markdown() -> String {
    let mut text = String::from(
        "# Workload files\n\n\
         *Generated from the code by `wordline_workload::reference::workloads_markdown`. Do not edit.*\n\n\
         A workload file is TOML and its name ends in `.toml`:\n\
         `wordline run DRIVE --workload my.toml`. There are two kinds. A workload of *phases*, or of *jobs* at the same time, draws\n\
         independent requests; a workload of *files* is what threads do to files. A file with `sets` is of the second kind.\n\
         `wordline workloads` lists those that come with the program, and `wordline workloads NAME` prints one, as a start for your own.\n\
         Traces are [another page](traces.md).\n\n\
         A key that is not listed here is refused, and so is a number without a unit where a unit belongs.\n\n\
         ## Quantities\n\n| quantity | written as | units |\n|---|---|---|\n",
    );
    units::<Bytes>(&mut text, "size", "\"16 KiB\"");
    units::<Share>(&mut text, "share", "\"70 %\"");
    units::<Multiple>(&mut text, "multiple of the drive", "\"400 %\"");
    units::<Nanos>(&mut text, "time", "\"10 ms\"");
    units::<Rate>(&mut text, "rate", "\"20 k/s\"");
    text.push_str("\n## Workloads of phases or jobs\n");
    parts(&mut text, &PHASES);
    example(&mut text, "mixed-70-30");
    example(&mut text, "reader-beside-writers");
    text.push_str("\n## Workloads of files\n");
    parts(&mut text, &FILES);
    example(&mut text, "varmail");
    text.push_str("\n## Workloads that come with the program\n\n| name | also | what it is for |\n|---|---|---|\n");
    for name in AnySpec::built_in_names() {
        let also: Vec<String> = AnySpec::other_names(name).map(|name| format!("`{name}`")).collect();
        let purpose = AnySpec::built_in(name).map(|spec| spec.purpose().to_owned()).unwrap_or_default();
        let _ = writeln!(text, "| `{name}` | {} | {} |", also.join(", "), purpose.replace('|', "\\|"));
    }
    text
}

fn units<Q: Quantity>(text: &mut String, name: &str, example: &str) {
    let units: Vec<String> = Q::UNITS.iter().map(|(unit, _)| format!("`{unit}`")).collect();
    // Writing into a String cannot fail.
    let _ = writeln!(text, "| {name} | `{example}` | {} |", units.join(", "));
}

fn parts(text: &mut String, parts: &[Part]) {
    for part in parts {
        let _ = writeln!(text, "\n### {}\n", part.title);
        if !part.about.is_empty() {
            let _ = writeln!(text, "{}\n", part.about);
        }
        text.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
        for key in part.keys {
            let default = if key.default.is_empty() { "must be set where it belongs" } else { key.default };
            let _ = writeln!(text, "| `{}` | {} | {default} | {} |", key.name, key.value, key.meaning);
        }
    }
}

fn example(text: &mut String, name: &str) {
    let file = AnySpec::built_in_text(name).unwrap_or_default().trim_end();
    let _ = writeln!(text, "\nAn example, `{name}`:\n\n```toml\n{file}\n```");
}
