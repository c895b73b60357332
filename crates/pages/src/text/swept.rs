//! A sweep at the terminal: a table for each workload, age and drive, with a row for each value.

use wordline_units::Bytes;

use super::beside::told;
use super::layout::{WIDTH, line, prose};
use crate::number::fit;
use crate::phrases::comparison::with_interval;
use wordline_figures::Report;
use wordline_figures::grid;
use wordline_figures::sweep::{Group, SweepResult, groups};

const VALUE: usize = 14;
const FIGURE: usize = 26;
/// What the host sees, and usable spare.
const CAPACITY: [usize; 2] = [12, 10];

/// The tables of a sweep.
pub(super) fn sweep(report: &Report, sweep: &SweepResult) -> String {
    let mut text = String::new();
    line(&mut text, &fit(&format!("Sweep of {} over {}", sweep.key, sweep.values.join(", ")), WIDTH));
    for note in report.all_notes() {
        prose(&mut text, &format!("Note: {note}."));
    }
    text.push('\n');
    let drives = grid::drives(&report.cells);
    for group in groups(&report.cells) {
        for drive in &drives {
            table(&mut text, sweep, &group, drive);
        }
    }
    prose(&mut text, &format!("{}.", sweep.method));
    if drives.len() > 1 {
        prose(&mut text, &format!("Ratios to {} at each value are on the page and in ratios.csv.", drives[0]));
    }
    told(&mut text, report, None);
    text
}

fn table(text: &mut String, sweep: &SweepResult, group: &Group<'_>, drive: &str) {
    line(text, &fit(&format!("{drive}, {}", group.title()), WIDTH));
    let mut figures = sweep.shown();
    figures.retain(|(path, ..)| sweep.curve(group, drive, path).next().is_some());
    let first = figures.len().min((WIDTH - VALUE - CAPACITY.iter().sum::<usize>()) / FIGURE);
    let (beside, below) = figures.split_at(first);
    let tables = std::iter::once((beside, true)).chain(below.chunks((WIDTH - VALUE) / FIGURE).map(|figures| (figures, false)));
    for (figures, with_capacity) in tables {
        let names = figures.iter().map(|(_, label, unit)| {
            let unit = if ["us", "s"].contains(unit) { format!(", {unit}") } else { String::new() };
            format!("{:>FIGURE$}", fit(&format!("{label}{unit}"), FIGURE - 1))
        });
        let capacity = if with_capacity { format!("{:>1$}{2:>3$}", "for host", CAPACITY[0], "usable", CAPACITY[1]) } else { String::new() };
        line(text, &format!("{:<VALUE$}{capacity}{}", "", names.collect::<String>()));
        for cell in &group.cells {
            let Some(swept) = &cell.swept else { continue };
            let run = cell.drives.iter().find(|run| run.name == drive);
            let capacity = match run.and_then(|run| run.capacity.as_ref()).filter(|_| with_capacity) {
                Some(of) => {
                    let usable = format!("{:.2} %", of.spare_usable * 100.0);
                    format!("{:>1$}{usable:>2$}", Bytes(of.exported_bytes).to_string(), CAPACITY[0], CAPACITY[1])
                }
                None if with_capacity => " ".repeat(CAPACITY.iter().sum()),
                None => String::new(),
            };
            let shown = figures.iter().map(|(path, ..)| {
                format!("{:>FIGURE$}", sweep.point(group, drive, path, &swept.value).map_or("-".to_owned(), with_interval))
            });
            let shown = shown.collect::<String>();
            line(text, &format!("{:<VALUE$}{capacity}{shown}", fit(&swept.value, VALUE - 1)));
        }
        text.push('\n');
    }
}
