//! Reads by class, who waited for whom, and stops, as tables.

use super::layout::line;
use crate::number::{count, fit, number};
use wordline_figures::catalogue::{Depth, latency};
use wordline_figures::result::{DriveResult, StopsOf, WaitResult};
use wordline_figures::waits::Behind;

const NAME: usize = 12;
const CELL: usize = 17;

/// True if the drive served reads of several classes, or stopped something for one.
pub(super) fn tells(drive: &DriveResult) -> bool {
    drive.stops.is_some() || reads(drive).count() > 1
}

/// Classes that reads came in, with their latencies.
fn reads(drive: &DriveResult) -> impl Iterator<Item = &wordline_figures::result::PriorityLatency> {
    drive.latency_us_by_priority.iter().filter(|class| class.op == "read")
}

/// All tables of `drive`.
pub(super) fn tables(text: &mut String, drive: &DriveResult) {
    let header: String = latency(Depth::Most).map(|column| format!("{:>11}", column.head)).collect();
    line(text, &format!("  {:<NAME$}{:>11}{header}", "reads, us", "requests"));
    for class in reads(drive) {
        let of = &class.latency_us;
        let cells: String = latency(Depth::Most).map(|column| format!("{:>11}", number((column.of)(of)))).collect();
        line(text, &format!("  {:<NAME$}{:>11}{cells}", class.priority, count(of.count)));
    }
    text.push('\n');
    waits(text, &drive.waits);
    if let Some(stops) = &drive.stops {
        let kinds = [("erases", &stops.erases), ("programs", &stops.programs), ("copybacks", &stops.copybacks)];
        kinds.into_iter().filter(|(_, of)| of.operations > 0).for_each(|(name, of)| line(text, &stopped(name, of)));
        line(
            text,
            &format!(
                "  {:<NAME$}{} broken off, {} gave way between tries",
                "reads",
                count(stops.reads_broken_off),
                count(stops.reads_gave_way)
            ),
        );
        text.push('\n');
    }
}

/// Stops of one kind of operation, in a line.
fn stopped(name: &str, of: &StopsOf) -> String {
    format!(
        "  {name:<NAME$}{} of {} stopped; {} stops each, {} of them at once; at most {} and {}",
        count(of.stopped),
        count(of.operations),
        number(of.mean),
        number(of.mean_now),
        of.max,
        of.max_now
    )
}

/// Who waited for whom: a row for what dies were doing, a column for each class.
fn waits(text: &mut String, waits: &[WaitResult]) {
    let mut classes: Vec<&str> = waits.iter().map(|wait| wait.priority.as_str()).collect();
    classes.dedup();
    if classes.is_empty() {
        return;
    }
    let header = classes.iter().map(|class| format!("{:>CELL$}", fit(class, CELL - 1))).collect::<String>();
    line(text, &format!("  {:<18}{header}   reads that waited, and their mean wait in us", "came behind a"));
    for behind in Behind::ALL.map(Behind::name) {
        let of = |class: &&str| waits.iter().find(|wait| wait.behind == behind && wait.priority == **class);
        if classes.iter().all(|class| of(class).is_none()) {
            continue;
        }
        let cell = |class: &&str| {
            let told = of(class).map_or("-".to_owned(), |wait| format!("{} · {}", count(wait.reads), number(wait.mean_us)));
            format!("{:>CELL$}", fit(&told, CELL - 1))
        };
        line(text, &format!("  {behind:<18}{}", classes.iter().map(cell).collect::<String>()));
    }
    text.push('\n');
}
