//! One run.

use wordline_units::Bytes;

use wordline_figures::catalogue::{self, Depth, Line};
use wordline_figures::result::{DriveResult, Latency, Wordlines};

use crate::number::{count, fit, number, percent, share};
use crate::phrases::{drive as of_drive, rewrites, spared, techniques, warnings};

use super::layout::{line, prose};
use super::{classes, jobs, lines, phases, tolerances, versions};

/// The results of one drive.
pub fn run(drive: &DriveResult) -> String {
    let mut text = String::new();
    let steady = if drive.steady { "steady" } else { "not steady" };
    line(&mut text, &format!("{}  (seed {}, {} s simulated, {steady})", fit(&drive.name, 60), drive.seed, number(drive.simulated_seconds)));
    if let Some(capacity) = &drive.capacity {
        line(&mut text, &format!("  {:<13}{}", "drive", of_drive::told(capacity)));
    }
    drive.notes.iter().for_each(|note| prose(&mut text, &format!("Note: {note}.")));
    let unreached = warnings::unreached(std::slice::from_ref(drive));
    drive.warnings.iter().chain(&unreached).for_each(|warning| prose(&mut text, &format!("WARNING: {warning}.")));
    text.push('\n');
    host(&mut text, drive);
    latencies(&mut text, drive);
    if classes::tells(drive) {
        classes::tables(&mut text, drive);
    }
    tolerances::table(&mut text, drive);
    phases::table(&mut text, drive);
    jobs::table(&mut text, drive);
    stages(&mut text, drive);
    operations(&mut text, drive);
    if let Some(of) = &drive.vertrace {
        text.push('\n');
        versions::lines(of).iter().for_each(|content| line(&mut text, content));
        text.push('\n');
    }
    foot(&mut text, drive);
    text
}

fn host(text: &mut String, drive: &DriveResult) {
    let host = &drive.host;
    line(text, &format!("  {:<10}{:>16}{:>14}{:>14}", "host", "requests", "IOPS", "MiB/s"));
    let kinds = [
        ("read", host.reads, host.read_iops, Some(host.read_mib_s)),
        ("write", host.writes, host.write_iops, Some(host.write_mib_s)),
        ("trim", host.trims, per_second(host.trims, drive), None),
        ("flush", host.flushes, per_second(host.flushes, drive), None),
        ("hint", host.hints, per_second(host.hints, drive), None),
    ];
    for (name, requests, iops, bandwidth) in kinds.into_iter().filter(|kind| kind.1 > 0) {
        line(text, &format!("  {name:<10}{:>16}{:>14}{:>14}", count(requests), number(iops), bandwidth.map_or(String::new(), number)));
    }
    if host.trims_freed_nothing > 0 {
        let share = share(host.trims_freed_nothing as f64 / host.trims.max(1) as f64);
        line(text, &format!("  in vain    {share} of the trims freed nothing: no mapping unit that held anything was trimmed whole"));
    }
    if host.read_blank_bytes > 0 {
        let blank = share(host.read_blank_bytes as f64 / host.read_bytes.max(1) as f64);
        line(text, &format!("  unwritten  {blank} of what was read holds nothing: it was never written, or was trimmed"));
    }
    lost(text, drive);
    if host.failed > drive.lost.map_or(0, |lost| lost.failed) {
        let by = &host.failed_by;
        let kinds = [("reads", by.reads), ("writes", by.writes), ("trims", by.trims), ("flushes", by.flushes)];
        let kinds: Vec<String> =
            kinds.iter().filter(|(_, failed)| *failed > 0).map(|(name, failed)| format!("{} {name}", count(*failed))).collect();
        let asked = share(host.failed as f64 / host.asked() as f64);
        line(text, &format!("  FAILED     {} ({asked} of all requests); the figures are of the others", kinds.join(", ")));
    }
    if let Some(silence) = lines::of(Line::Silence, drive) {
        line(text, &format!("  {:<11}{silence}", "silence"));
    }
    if let Some(seconds) = drive.worn_out_seconds.filter(|_| host.failed > 0) {
        line(text, &format!("  WORN OUT   after {} s: too few good blocks are left, and writes fail", number(seconds)));
    }
    text.push('\n');
}

/// Cost of the faults of the run's schedule, if it has one.
fn lost(text: &mut String, drive: &DriveResult) {
    let Some(lost) = drive.lost else { return };
    let asked = drive.host.asked().max(1) as f64;
    let (bytes, failed) = (Bytes(lost.bytes), count(lost.failed));
    line(
        text,
        &format!("  lost       {bytes} to the faults; {failed} requests failed for it ({} of all)", share(lost.failed as f64 / asked)),
    );
    if lost.faults_to_come > 0 {
        line(text, &format!("  to come    {} faults: the run ended before their instants", count(lost.faults_to_come)));
    }
}

fn per_second(requests: u64, drive: &DriveResult) -> f64 {
    if drive.simulated_seconds > 0.0 { requests as f64 / drive.simulated_seconds } else { 0.0 }
}

fn classes(drive: &DriveResult) -> impl Iterator<Item = (&'static str, &Latency)> {
    let latency = &drive.latency_us;
    [("read", &latency.read), ("write", &latency.write), ("trim", &latency.trim), ("flush", &latency.flush)]
        .into_iter()
        .filter_map(|(name, latency)| latency.as_ref().map(|latency| (name, latency)))
}

fn latencies(text: &mut String, drive: &DriveResult) {
    let header: String = catalogue::latency(Depth::All).map(|column| format!("{:>12}", column.head)).collect();
    line(text, &format!("  {:<13}{header}", "latency, us"));
    for (name, latency) in classes(drive) {
        let values: String = catalogue::latency(Depth::All).map(|column| format!("{:>12}", number((column.of)(latency)))).collect();
        line(text, &format!("  {name:<13}{values}"));
    }
    text.push('\n');
}

fn stages(text: &mut String, drive: &DriveResult) {
    let header = ["queue", "core", "DRAM", "buffer", "die wait", "die", "channel", "ECC"];
    line(text, &format!("  {:<13}{}", "of it, us", header.map(|name| format!("{name:>10}")).concat()));
    let stages = [("read", &drive.stages_us.read), ("write", &drive.stages_us.write), ("trim", &drive.stages_us.trim)];
    for (name, means) in stages {
        if let Some(means) = means {
            line(text, &format!("  {name:<13}{}", means.values().map(|value| format!("{:>10}", number(value))).concat()));
        }
    }
    text.push('\n');
}

/// One line of figures below its name; nothing where there are none.
fn named(text: &mut String, drive: &DriveResult, name: &str, which: Line) {
    if let Some(figures) = lines::of(which, drive) {
        line(text, &format!("  {name:<13}{figures}"));
    }
}

fn operations(text: &mut String, drive: &DriveResult) {
    if let Some(total) = drive.waf.total {
        let sum = lines::of(Line::Waf, drive).map(|parts| format!("  = {parts}")).unwrap_or_default();
        line(text, &format!("  {:<13}{}{sum}", "WAF", number(total)));
        named(text, drive, "", Line::Buffered);
    }
    named(text, drive, "flash", Line::Flash);
    named(text, drive, "copies", Line::Copies);
    named(text, drive, "sanitised", Line::Sanitised);
    if let Some(lines) = wordlines(drive) {
        line(text, &format!("  {:<13}{lines}", "wordlines"));
    }
    named(text, drive, "lost", Line::Lost);
    errors(text, drive);
    if let Some(of) = &drive.spared {
        line(
            text,
            &format!(
                "  {:<13}{}",
                "spared",
                spared::row(of, drive.flash.iter().filter(|row| row.op == "erase").map(|row| row.operations).sum())
            ),
        );
    }
    for (at, of) in drive.rewrites.iter().enumerate() {
        line(text, &format!("  {:<13}{}", if at == 0 { "rewrites" } else { "" }, rewrites::row(of)));
    }
    for (at, technique) in drive.techniques.iter().enumerate() {
        let told = format!("{}: {}", technique.name, techniques::row(technique));
        line(text, &format!("  {:<13}{told}", if at == 0 { "techniques" } else { "" }));
        technique.censuses.iter().map(techniques::census).for_each(|told| line(text, &format!("  {:<15}{told}", "")));
    }
    named(text, drive, "block groups", Line::Groups);
    named(text, drive, "cells", Line::Cells);
    named(text, drive, "busy", Line::Busy);
    named(text, drive, "", Line::Transfers);
    if let Some(seconds) = drive.worn_out_seconds.filter(|_| drive.host.failed == 0) {
        line(text, &format!("  WORN OUT   after {} s: too few good blocks are left, and writes would fail", number(seconds)));
    }
}

fn errors(text: &mut String, drive: &DriveResult) {
    let Some(errors) = &drive.read_errors else { return };
    let reads: u64 = errors.by_retries.iter().sum();
    let retried = 1.0 - errors.by_retries[0] as f64 / reads as f64;
    line(
        text,
        &format!(
            "  {:<13}{} bits in the worst codeword (most {}), {} of reads retried ({} retries each), {} uncorrectable",
            "errors",
            number(errors.worst_codeword_mean),
            errors.worst_codeword_max,
            percent(retried),
            number(if retried > 0.0 { errors.retries_mean / retried } else { 0.0 }),
            count(errors.uncorrectable)
        ),
    );
}

/// Leaders and followers, and programs done again; `None` where there is nothing of either.
fn wordlines(drive: &DriveResult) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(Wordlines { leaders, followers }) = &drive.wordlines {
        let host = leaders.host_programs + followers.host_programs;
        for (name, programs) in [("leaders", leaders), ("followers", followers)] {
            // Where the host wrote nothing, what was moved still took its time.
            let of = if parts.is_empty() { " of the host's" } else { "" };
            let share = if host > 0 { format!(" {}{of}", percent(programs.host_programs as f64 / host as f64)) } else { String::new() };
            let took = programs.program_us.map(|us| format!(" (t_PROG {} us)", number(us))).unwrap_or_default();
            if programs.programs > 0 {
                parts.push(format!("{name}{share}{took}"));
            }
        }
    }
    if drive.programmed_again > 0 {
        parts.push(format!("{} programmed again", count(drive.programmed_again)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn foot(text: &mut String, drive: &DriveResult) {
    named(text, drive, "cost", Line::Cost);
    let state = drive.state.as_ref().map(|state| format!(", begun in {state}")).unwrap_or_default();
    line(text, &format!("  {:<13}plan {}{state}, events {}", "identity", drive.plan_id, drive.event_log_hash));
    if drive.checks.passed {
        let (mean, law) = (number(drive.in_flight.mean), number(drive.in_flight.littles_law));
        let left = match drive.in_flight.at_end {
            0 => String::new(),
            left => format!("; {} still in flight at the end", count(left)),
        };
        let made = if drive.checks.not_made.is_empty() { "" } else { " that were made" };
        line(text, &format!("  {:<13}all self-checks{made} passed; in flight {mean}, by Little's law {law}{left}", "checks"));
    } else {
        line(text, "  CHECKS FAILED: no figure above can be trusted");
        for violation in &drive.checks.violations {
            prose(text, &violation.to_string());
        }
    }
    for check in &drive.checks.not_made {
        prose(text, &format!("NOT CHECKED: {check}."));
    }
}
