//! Bars: where the time of a request went, how busy the parts were, how worn the blocks are.

use std::fmt::Write;

use wordline_engine::Stages;

use super::axis::{Axis, Unit, micros};
use super::chart::{Names, colour, figure_head, plot, upward};
use super::escape;
use crate::number::{count, fit, number, percent};
use wordline_figures::conclude::DriveDetail;
use wordline_figures::result::{ByOp, DriveResult, StageMeans};
use wordline_figures::waits::Behind;

/// The height of a bar, and from one to the next with its name above it.
const BAR: f64 = 20.0;
const STEP: f64 = 44.0;
/// The height of a name.
const NAME: f64 = 16.0;
/// Dies side by side in a heat strip.
const STRIP: usize = 64;

/// Stacked bars of mean time per stage, one figure per kind of request that occurred.
pub(super) fn stages(drives: &[&DriveResult]) -> String {
    type Of = fn(&ByOp<StageMeans>) -> Option<&StageMeans>;
    let kinds: [(&str, Of); 4] = [
        ("Reads", |by| by.read.as_ref()),
        ("Writes", |by| by.write.as_ref()),
        ("Trims", |by| by.trim.as_ref()),
        ("Flushes", |by| by.flush.as_ref()),
    ];
    let mut html = String::new();
    for (title, of) in kinds {
        let bars: Vec<(String, Values)> =
            drives.iter().filter_map(|drive| of(&drive.stages_us).map(|means| (drive.name.clone(), means.values()))).collect();
        if !bars.is_empty() {
            stacked(&mut html, (title, "mean time per request in each stage"), &Stages::NAMES, &bars);
        }
    }
    html
}

/// Stacked bars of the mean wait for the die, a bar for each drive and class: who waited for whom. Nothing where reads were of one class and nothing was
/// stopped.
pub(super) fn waits(drives: &[&DriveResult]) -> String {
    let classes = |drive: &&DriveResult| drive.latency_us_by_priority.iter().filter(|class| class.op == "read").count();
    if drives.iter().all(|drive| drive.stops.is_none() && classes(drive) < 2) {
        return String::new();
    }
    let mut bars = Vec::new();
    for drive in drives {
        for class in drive.latency_us_by_priority.iter().filter(|class| class.op == "read") {
            let of = |behind: Behind| {
                let found = drive.waits.iter().find(|wait| wait.priority == class.priority && wait.behind == behind.name());
                found.map_or(0.0, |wait| wait.mean_us * wait.reads as f64 / class.latency_us.count.max(1) as f64)
            };
            bars.push((format!("{}, {} reads", drive.name, class.priority), Behind::ALL.map(of)));
        }
    }
    let note = "mean wait of a read for its die, by what the die was doing when it came";
    let mut html = String::new();
    stacked(&mut html, ("Who waited for whom", note), &Behind::ALL.map(Behind::name), &bars);
    html
}

/// Values of a stacked bar, part by part.
type Values = [f64; Stages::NAMES.len()];

fn stacked(html: &mut String, (title, note): (&str, &str), parts: &[&str; Stages::NAMES.len()], bars: &[(String, Values)]) {
    figure_head(html, title, note);
    let total = |values: &Values| values.iter().sum::<f64>();
    let axis = Axis::linear("", Unit::Micros, bars.iter().map(|bar| total(&bar.1)).fold(0.0, f64::max));
    let height = STEP * bars.len() as f64;
    let _ = write!(html, "<div class=\"across\">{}", plot(height, &format!("aria-label=\"{title}: {note}\"")));
    scale(html, &axis, height);
    for (index, (name, means)) in bars.iter().enumerate() {
        let y = STEP * index as f64 + NAME;
        label(html, name, y);
        let mut from = 0.0;
        for (stage, (what, &value)) in parts.iter().zip(means).enumerate() {
            let (start, end) = (across(&axis, from), across(&axis, from + value));
            from += value;
            if value > 0.0 {
                let share = percent(value / total(means));
                let _ = write!(
                    html,
                    "<rect class=\"t{stage}\" x=\"{start:.2}%\" y=\"{y}\" width=\"{:.2}%\" height=\"{BAR}\" data-tip=\"{}&#10;{what}: {} ({share})\"/>",
                    (end - start).max(0.05),
                    escape(name),
                    micros(value)
                );
            }
        }
        let _ = write!(html, "<text x=\"{:.2}%\" dx=\"8\" y=\"{}\">{}</text>", across(&axis, from), y + 15.0, micros(total(means)));
    }
    html.push_str("</svg></div></div><div class=\"legend\">");
    for (stage, name) in parts.iter().enumerate() {
        if bars.iter().any(|bar| bar.1[stage] > 0.0) {
            let _ = write!(html, "<span><i class=\"t{stage}\"></i>{name}</span>");
        }
    }
    html.push_str("</div></figure>");
}

/// A place across, in percent of the plot.
fn across(axis: &Axis, value: f64) -> f64 {
    axis.place(value) * 100.0
}

pub(super) fn scale(html: &mut String, axis: &Axis, height: f64) {
    let mut names = Names::new();
    for tick in &axis.ticks {
        let (x, name) = (across(axis, *tick), axis.tick(*tick));
        let _ = write!(html, "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"{height}\"/>");
        if let Some(class) = names.place(x / 100.0, &name, true) {
            let _ = write!(html, "<text class=\"tick middle{class}\" x=\"{x:.2}%\" y=\"{}\">{name}</text>", height + 16.0);
        }
    }
}

/// The name of the bar that begins at `y`, above it.
pub(super) fn label(html: &mut String, name: &str, y: f64) {
    let _ = write!(html, "<text x=\"0\" y=\"{}\">{}</text>", y - 4.0, escape(&fit(name, 40)));
}

/// How busy each kind of part was, drive by drive.
pub(super) fn utilisation(drives: &[&DriveResult]) -> String {
    type Of = fn(&DriveResult) -> f64;
    let parts: [(&str, Of); 5] = [
        ("die arrays", |drive| drive.utilisation.die),
        ("dies, with transfers", |drive| drive.utilisation.die_with_transfers),
        ("channels", |drive| drive.utilisation.channel),
        ("firmware cores", |drive| drive.utilisation.core),
        ("DRAM", |drive| drive.utilisation.dram),
    ];
    let mut html = String::new();
    figure_head(&mut html, "Parts busy", "busy time over the number of parts times the window");
    let axis = Axis::linear("", Unit::Share, 1.0);
    let bar = if drives.len() > 4 { 10.0 } else { 15.0 };
    let group = bar * drives.len() as f64 + NAME + 8.0;
    let height = group * parts.len() as f64;
    let _ = write!(html, "<div class=\"across\">{}", plot(height, "aria-label=\"Utilisation\""));
    scale(&mut html, &axis, height);
    for (part, (name, of)) in parts.iter().enumerate() {
        let top = group * part as f64 + NAME;
        label(&mut html, name, top);
        for (index, drive) in drives.iter().enumerate() {
            let (y, share) = (top + bar * index as f64, of(drive));
            let end = across(&axis, share);
            let _ = write!(
                html,
                "<rect class=\"fill {}\" x=\"0\" y=\"{y}\" width=\"{:.2}%\" height=\"{}\" data-tip=\"{}&#10;{name}: {}\"/>",
                colour(index),
                end.max(0.15),
                bar - 2.0,
                escape(&drive.name),
                percent(share)
            );
            let _ = write!(html, "<text class=\"tick\" x=\"{end:.2}%\" dx=\"6\" y=\"{:.1}\">{}</text>", y + bar - 3.5, percent(share));
        }
    }
    html.push_str("</svg></div></div>");
    if drives.len() > 1 {
        html.push_str("<div class=\"legend\">");
        for (index, drive) in drives.iter().enumerate() {
            let _ = write!(html, "<span><i class=\"fill {}\"></i>{}</span>", colour(index), escape(&drive.name));
        }
        html.push_str("</div>");
    }
    html.push_str("</figure>");
    html
}

/// Every die and channel of a drive, coloured by how busy it was.
pub(super) fn strips(details: &[&DriveDetail]) -> String {
    // One scale for all, so that the eye may compare drives, dies and channels.
    let shares = details.iter().flat_map(|detail| detail.die_utilisation.iter().chain(&detail.channel_utilisation));
    let full = (shares.copied().fold(0.01, f64::max) * 10.0).ceil() / 10.0;
    details
        .iter()
        .filter(|detail| !detail.die_utilisation.is_empty())
        .map(|detail| drive_strips(if details.len() == 1 { "Each die and channel" } else { &detail.name }, detail, full))
        .collect()
}

fn drive_strips(title: &str, detail: &DriveDetail, full: f64) -> String {
    let mut html = String::new();
    let range = |shares: &[f64]| {
        let (low, high) = shares.iter().fold((f64::MAX, 0.0_f64), |(low, high), share| (low.min(*share), high.max(*share)));
        format!("{} to {}", percent(low.min(high)), percent(high))
    };
    let note = format!("dies {}, channels {}", range(&detail.die_utilisation), range(&detail.channel_utilisation));
    figure_head(&mut html, title, &note);
    let (dies, channels) = (&detail.die_utilisation, &detail.channel_utilisation);
    let rows = dies.len().div_ceil(STRIP);
    let height = 26.0 * (rows + channels.len().div_ceil(STRIP)) as f64 + 8.0;
    let _ = write!(html, "<div class=\"bare\">{}", plot(height, "aria-label=\"Utilisation of each die and channel\""));
    strip(&mut html, "die", dies, 0.0, full);
    strip(&mut html, "channel", channels, 26.0 * rows as f64 + 8.0, full);
    let _ = write!(html, "</svg></div></div><div class=\"legend\"><span>{}</span></div></figure>", ramp("idle", &percent(full)));
    html
}

fn strip(html: &mut String, name: &str, shares: &[f64], top: f64, full: f64) {
    let _ = write!(html, "<text class=\"tick left\" x=\"0\" y=\"{}\">{name}s</text>", top + 16.0);
    let across = shares.len().min(STRIP);
    let width = 100.0 / across.max(1) as f64;
    for (index, share) in shares.iter().enumerate() {
        let (x, y) = (width * (index % STRIP) as f64, top + 26.0 * (index / STRIP) as f64);
        let wide = width * if across > 32 { 0.9 } else { 0.97 };
        let _ = write!(html, "<rect class=\"hole\" x=\"{x:.2}%\" y=\"{y}\" width=\"{wide:.2}%\" height=\"22\"/>");
        let _ = write!(
            html,
            "<rect class=\"heat\" fill-opacity=\"{:.2}\" x=\"{x:.2}%\" y=\"{y}\" width=\"{wide:.2}%\" height=\"22\" data-tip=\"{name} {index}: {} busy\"/>",
            share / full,
            percent(*share)
        );
    }
}

/// The key of a colour ramp.
pub(super) fn ramp(low: &str, high: &str) -> String {
    let mut html = format!("{low} ");
    for level in 0..6 {
        let _ = write!(html, "<i class=\"heat\" style=\"opacity:{:.2}\"></i>", 0.08 + 0.92 * f64::from(level) / 5.0);
    }
    let _ = write!(html, " {high}");
    html
}

/// How often the blocks of a drive have been erased.
pub(super) fn wear(title: &str, detail: &DriveDetail, drive: usize) -> String {
    let wear = &detail.wear;
    let mut html = String::new();
    let note = format!(
        "erases per block group: {} to {}, mean {}, standard deviation {}; {} bad",
        count(u64::from(wear.min)),
        count(u64::from(wear.max)),
        number(wear.mean),
        number(wear.deviation),
        count(wear.bad)
    );
    figure_head(&mut html, title, &note);
    let height = 170.0;
    let mut axis = Axis::linear("", Unit::Plain("blocks"), wear.bars.iter().map(|bar| bar.2).max().unwrap_or(0) as f64);
    axis.ticks.retain(|tick| tick.fract() == 0.0);
    let up = |value: f64| (1.0 - axis.place(value)) * height;
    html.push_str(&plot(height, "aria-label=\"Histogram of erase counts\""));
    upward(&mut html, &axis, height);
    let step = 100.0 / wear.bars.len() as f64;
    // A few bars should not become walls.
    let thick = (step * 0.92).min(10.0);
    let mut names = Names::new();
    for (index, (from, to, blocks)) in wear.bars.iter().enumerate() {
        let middle = step * (index as f64 + 0.5);
        let range = if from == to { from.to_string() } else { format!("{from}–{to}") };
        let _ = write!(
            html,
            "<rect class=\"fill {}\" x=\"{:.2}%\" y=\"{:.1}\" width=\"{thick:.2}%\" height=\"{:.1}\" data-tip=\"{range} erases: {} block groups\"/>",
            colour(drive),
            middle - thick / 2.0,
            up(*blocks as f64),
            height - up(*blocks as f64),
            count(*blocks)
        );
        if let Some(class) = names.place(middle / 100.0, &range, true) {
            let _ = write!(html, "<text class=\"tick middle{class}\" x=\"{middle:.2}%\" y=\"{}\">{range}</text>", height + 16.0);
        }
    }
    let _ = write!(html, "<text class=\"name middle\" x=\"50%\" y=\"{}\">erases</text></svg></div></figure>", height + 36.0);
    html
}
