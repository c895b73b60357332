//! Bench of drives that use the similarity of wordlines of an h-layer for programs and reads, against drives that do not: IOPS under six workloads at three
//! ages (003 §6.2).
//!
//! Retries come from the physics, and once more by the rates of the source, then without programs that take less: by these rows only reads can gain. Programs
//! take what the physics say, and once more what the source has put in: a share of t_PROG less for each that is narrowed. At the later ages both are by rate.

use wordline_pages::html::figure::{Columns, Figure};
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{files, plan};
use crate::lot::{greatest, least, mean, share};
use crate::paced::{Load, Rhythm, Trial, Tried, all};
use crate::programs::{Again, Programs};
use crate::protocol::{Count, Cycles, Degrees, Name, Number, Share, Span, conditions};

/// The `alike` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "alike",
    summary: "IOPS of drives that use what h-layers have in common, under six workloads at three ages",
    metrics: &[
        m("fresh-max", "ratio", "IOPS of cubeFTL over the plain drive when fresh, highest of the workloads"),
        m("fresh-best", "count", "The workload in which it is highest, by its place in the list"),
        m("fresh-over-vert", "ratio", "IOPS of cubeFTL over vertFTL when fresh, highest"),
        m("fresh-least", "ratio", "IOPS of cubeFTL over the better of the two when fresh, lowest of the workloads"),
        m("fresh-vert-oltp", "ratio", "IOPS of vertFTL over the plain drive when fresh, under the database"),
        m("vert-max", "ratio", "The same, highest of the workloads"),
        m("vert-order", "share", "Workloads in which plain <= vertFTL < cubeFTL when fresh"),
        m("order", "share", "Workloads and ages in which plain <= vertFTL <= cubeFTL"),
        m("fresh-reads-alone", "share", "How far IOPS with read offsets alone lie from the plain drive's when fresh, at most"),
        m("month", "ratio", "Mean gain of cubeFTL over the plain drive at the second age, over that when fresh"),
        m("month-vert", "ratio", "The same of the gain over vertFTL"),
        m("year", "ratio", "Mean gain of cubeFTL over the plain drive at the third age, over that when fresh"),
        m("year-vert", "ratio", "The same of the gain over vertFTL"),
        m("month-best", "count", "The workload in which cubeFTL gains most at the second age, by its place in the list"),
        m("year-best", "count", "The same at the third age"),
        m("year-proxy", "ratio", "IOPS of cubeFTL over the plain drive at the third age, under the proxy"),
        m(
            "reads-over-programs",
            "share",
            "Gain of read offsets alone less that of program settings alone, at the third age, under the proxy",
        ),
        m("fewer-retries", "share", "Retries that read offsets save at the second and third age, mean of the workloads that read"),
        m(
            "fewer-bound",
            "share",
            "Retries on the plain drive that are of h-layers read before since their block was erased: what a table can save that is never wrong and learns \
             from reads alone, same mean",
        ),
        m("fewer-bound-types", "share", "The same of a table that knows each page type of an h-layer by itself"),
        m("fewer-alone", "share", "Retries that read offsets save without program settings, same mean"),
        m("fewer-pooled", "share", "The same, of the retries of all workloads at both ages together"),
        m("fewer-least", "share", "The same, in the workload and age where it is least"),
        m(
            "left-first",
            "share",
            "Retries that are left with read offsets alone, over the plain drive's: first reads of h-layers, same mean",
        ),
        m("left-type", "share", "The same: first reads of a page type of h-layers of which another had been read"),
        m("left-again", "share", "The same: all others"),
        m(
            "mispredicted",
            "share",
            "Reads of page types of h-layers read before that were retried nonetheless, read offsets alone, second and third age",
        ),
        m("rate-month-best", "count", "With retries by rate: the workload that gains most at the second age, by its place in the list"),
        m("rate-year-best", "count", "The same at the third age"),
        m("rate-month", "ratio", "With retries by rate: mean IOPS of cubeFTL over the plain drive at the second age"),
        m("rate-year", "ratio", "The same at the third age"),
        m("rate-year-proxy", "ratio", "The same under the proxy"),
        m(
            "rate-fewer-retries",
            "share",
            "With retries by rate: retries saved at the second and third age, mean of the workloads that read",
        ),
        m("put-in-max", "ratio", "With programs by rate: IOPS of cubeFTL over the plain drive when fresh, highest of the workloads"),
        m("put-in-best", "count", "The workload in which it is highest, by its place in the list"),
        m("put-in-over-vert", "ratio", "With programs by rate: IOPS of cubeFTL over vertFTL when fresh, highest"),
        m("put-in-vert-max", "ratio", "With programs by rate: IOPS of vertFTL over the plain drive when fresh, highest"),
        m("put-in-month", "ratio", "With programs and retries by rate: mean gain of cubeFTL at the second age, over that when fresh"),
        m("put-in-year", "ratio", "The same at the third age"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "alike",
    /// Conditions of drives under workloads of files.
    struct At {
        /// the plain drive, without the techniques that are compared
        plain: Name,
        /// the drive with a program window for each h-layer that is found off-line
        vert: Name,
        /// the drive with program settings and read offsets from the h-layer's leader
        cube: Name,
        /// exported size of each drive, or "whole"
        size: Name,
        /// workloads of files: mail, web, proxy, database, and two databases under a client
        workloads: [Name; 6],
        /// bytes written under each workload, in capacities
        lengths: [Number; 6],
        /// P/E cycles and retention of three ages, the first fresh
        ages: [(Cycles, Span); 3],
        /// temperature at which data are kept
        kept_at: Degrees,
        /// share of the reads that need retries, at the second and third age
        rates: [Share; 2],
        /// mean number of retries of the reads that need any
        rate_mean: Number,
        /// share of the reads that need as many retries as others of their h-layer
        rate_alike: Share,
        /// entries of the retry table of the model of retries by rate
        rate_entries: Count,
        /// share of t_PROG that programs take less by rate, on the drive with windows found off-line and on the one with a leader in each h-layer
        rate_savings: [Share; 2],
    }
}

/// Indices of the proxy and of the database among the workloads.
const PROXY: usize = 2;
const OLTP: usize = 3;
/// Indices of the plain drive and of read offsets alone among the variants.
const PLAIN: usize = 0;
const READS: usize = 3;
const READS_ON: &str = "techniques.layer-read-offsets.on=true";
const READS_OFF: &str = "techniques.layer-read-offsets.on=false";

/// Results by age, workload and variant.
type Table = Vec<Vec<Vec<Tried>>>;

/// A drive by name, with additional settings.
struct Variant<'a> {
    name: &'a str,
    settings: Vec<String>,
}

impl At {
    fn age(&self, age: usize) -> Vec<String> {
        let (cycles, kept) = self.ages[age];
        vec![format!("cells.cycles={cycles}"), format!("cells.retention={kept} s"), format!("cells.kept_at={} C", self.kept_at.0)]
    }

    fn rate(&self, rate: usize) -> Vec<String> {
        let percent = |share: f64| format!("{} %", 100.0 * share);
        vec![
            "cells.physics=false".to_owned(),
            format!("retries.share={}", percent(self.rates[rate])),
            format!("retries.mean={}", self.rate_mean),
            format!("retries.alike={}", percent(self.rate_alike)),
            format!("retries.entries={}", self.rate_entries),
        ]
    }

    /// Settings of a drive whose programs, and at the later ages retries, are by rate; of the plain drive without a saving.
    fn put_in(&self, age: usize, saving: Option<f64>) -> Vec<String> {
        let retries = if age == 0 { vec!["cells.physics=false".to_owned()] } else { self.rate(age - 1) };
        let saving = saving.map(|saving| format!("programs.saving={} %", 100.0 * saving));
        retries.into_iter().chain(saving).collect()
    }

    /// Runs every variant under every workload.
    fn table(&self, setup: &Setup, what: &str, ages: &[Vec<Variant<'_>>]) -> Result<Table, LabError> {
        let mut trials = Vec::new();
        for variants in ages {
            for (name, length) in self.workloads.iter().zip(self.lengths) {
                let spec = Box::new(files(name)?);
                for variant in variants {
                    let settings: Vec<&str> = variant.settings.iter().map(String::as_str).collect();
                    let plan = plan(setup, variant.name, &self.size, &settings)?;
                    let load = Load::Files(spec.clone(), FileOptions { length: Some(length), ..FileOptions::default() });
                    trials.push(Trial { plan, load, rhythm: Rhythm::default() });
                }
            }
        }
        let mut tried = all(setup, what, &trials)?.into_iter();
        let mut of = |count: usize| tried.by_ref().take(count).collect::<Vec<Tried>>();
        Ok(ages.iter().map(|variants| self.workloads.iter().map(|_| of(variants.len())).collect()).collect())
    }
}

/// IOPS of one variant over another, for each workload.
fn gains(rows: &[Vec<Tried>], which: usize, over: usize) -> Vec<f64> {
    rows.iter().map(|row| row[which].iops() / row[over].iops()).collect()
}

/// Share of the retries of `over` that `which` saves, for each workload in which there are any: one that does not read has none.
fn fewer(rows: &[Vec<Tried>], which: usize, over: usize) -> Vec<f64> {
    let reads = rows.iter().filter(|row| row[over].retries() > 0.0);
    reads.map(|row| 1.0 - row[which].retries() / row[over].retries()).collect()
}

/// The place of the greatest value in the list, counted from 1.
fn best(values: &[f64]) -> f64 {
    values.iter().position(|value| *value == greatest(values)).map_or(f64::NAN, |place| (place + 1) as f64)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let with = |name, settings: Vec<String>, more: &[&str]| Variant {
        name,
        settings: settings.into_iter().chain(more.iter().map(|&setting| setting.to_owned())).collect(),
    };
    // Plain, vertFTL, cubeFTL, read offsets alone, program settings alone.
    let ages: Vec<Vec<Variant<'_>>> = (0..at.ages.len())
        .map(|age| {
            let four = [(&at.plain, &[][..]), (&at.vert, &[]), (&at.cube, &[]), (&at.plain, &[READS_ON]), (&at.cube, &[READS_OFF])];
            four.into_iter().map(|(name, more)| with(name, at.age(age), more)).collect()
        })
        .collect();
    let table = at.table(setup, "physics", &ages)?;
    let by_rate: Vec<Vec<Variant<'_>>> =
        (0..at.rates.len()).map(|rate| [&at.plain, &at.cube].into_iter().map(|name| with(name, at.rate(rate), &[])).collect()).collect();
    let rated = at.table(setup, "retries by rate", &by_rate)?;
    let [vert, cube] = at.rate_savings;
    let put_in: Vec<Vec<Variant<'_>>> = (0..at.ages.len())
        .map(|age| {
            let three = [(&at.plain, None), (&at.vert, Some(vert)), (&at.cube, Some(cube))];
            three.into_iter().map(|(name, saving)| with(name, at.put_in(age, saving), &[])).collect()
        })
        .collect();
    let put_in = at.table(setup, "programs by rate", &put_in)?;
    Ok(judge(&at, &table, &rated, &put_in))
}

fn judge(at: &At, table: &Table, rated: &Table, put_in: &Table) -> Findings {
    let mut findings = Findings::default();
    let cube: Vec<Vec<f64>> = table.iter().map(|rows| gains(rows, 2, 0)).collect();
    let over_vert: Vec<Vec<f64>> = table.iter().map(|rows| gains(rows, 2, 1)).collect();
    let vert: Vec<Vec<f64>> = table.iter().map(|rows| gains(rows, 1, 0)).collect();
    findings.set("fresh-max", greatest(&cube[0]));
    findings.set("fresh-best", best(&cube[0]));
    findings.set("fresh-over-vert", greatest(&over_vert[0]));
    findings.set("fresh-least", least(&cube[0]).min(least(&over_vert[0])));
    findings.set("fresh-vert-oltp", vert[0][OLTP]);
    findings.set("vert-max", greatest(&vert[0]));
    findings.set("vert-order", share(vert[0].iter().zip(&over_vert[0]).map(|(vert, cube)| *vert >= 1.0 && *cube > 1.0)));
    let all = |of: &[Vec<f64>]| of.iter().flatten().copied().collect::<Vec<f64>>();
    findings.set("order", share(all(&vert).iter().zip(&all(&over_vert)).map(|(vert, cube)| *vert >= 1.0 && *cube >= 1.0)));
    let alone: Vec<Vec<f64>> = table.iter().map(|rows| gains(rows, 3, 0)).collect();
    findings.set("fresh-reads-alone", greatest(&alone[0].iter().map(|gain| (gain - 1.0).abs()).collect::<Vec<_>>()));
    let grown = |of: &[Vec<f64>], age: usize| (mean(&of[age]) - 1.0) / (mean(&of[0]) - 1.0);
    findings.set("month", grown(&cube, 1));
    findings.set("month-vert", grown(&over_vert, 1));
    findings.set("year", grown(&cube, 2));
    findings.set("year-vert", grown(&over_vert, 2));
    findings.set("month-best", best(&cube[1]));
    findings.set("year-best", best(&cube[2]));
    findings.set("year-proxy", cube[2][PROXY]);
    let programs = gains(&table[2], 4, 0);
    findings.set("reads-over-programs", alone[2][PROXY] - programs[PROXY]);
    findings.set("fewer-retries", mean(&all(&[fewer(&table[1], 2, 0), fewer(&table[2], 2, 0)])));
    saved(table, &mut findings);
    let by_rate = rated_gains(rated, &mut findings);
    let given: Vec<Vec<f64>> = put_in.iter().map(|rows| gains(rows, 2, 0)).collect();
    let given_vert = gains(&put_in[0], 1, 0);
    findings.set("put-in-max", greatest(&given[0]));
    findings.set("put-in-best", best(&given[0]));
    findings.set("put-in-over-vert", greatest(&gains(&put_in[0], 2, 1)));
    findings.set("put-in-vert-max", greatest(&given_vert));
    findings.set("put-in-month", grown(&given, 1));
    findings.set("put-in-year", grown(&given, 2));
    let columns = |title: String, note: &str, series: Vec<(String, Vec<f64>)>| {
        let groups = at.workloads.to_vec();
        Figure::Columns(Columns { title, note: note.to_owned(), x: "workload".to_owned(), y: "IOPS ratio".to_owned(), groups, series })
    };
    let names = ["fresh".to_owned(), aged(at, 1), aged(at, 2)];
    for (age, name) in names.iter().enumerate() {
        let plain = (at.plain.clone(), vec![1.0; at.workloads.len()]);
        let series = vec![plain, (at.vert.clone(), vert[age].clone()), (at.cube.clone(), cube[age].clone())];
        findings.figures.push(columns(format!("IOPS, {name}"), "against the plain drive (003 Fig 23)", series));
    }
    let causes = vec![("read offsets alone".to_owned(), alone[2].clone()), ("program settings alone".to_owned(), programs)];
    findings.figures.push(columns(
        format!("IOPS by cause, {}", names[2]),
        "against the plain drive",
        [causes, vec![(at.cube.clone(), cube[2].clone())]].concat(),
    ));
    let both = |age: usize, name: &str| (name.to_owned(), by_rate[age].clone());
    findings.figures.push(columns(
        format!("IOPS of {} with retries by rate", at.cube),
        "against the plain drive; programs gain nothing here, for cells have no physics",
        vec![both(0, &names[1]), both(1, &names[2])],
    ));
    findings.figures.push(columns(
        format!("IOPS with programs by rate, {}", names[0]),
        "against the plain drive: times are put in, as in the source, not worked out",
        vec![(at.vert.clone(), given_vert), (at.cube.clone(), given[0].clone())],
    ));
    findings
}

/// Records the gains of reads with retries by rate, and returns them by age.
fn rated_gains(rated: &Table, findings: &mut Findings) -> Vec<Vec<f64>> {
    let by_rate: Vec<Vec<f64>> = rated.iter().map(|rows| gains(rows, 1, 0)).collect();
    findings.set("rate-month-best", best(&by_rate[0]));
    findings.set("rate-year-best", best(&by_rate[1]));
    findings.set("rate-month", mean(&by_rate[0]));
    findings.set("rate-year", mean(&by_rate[1]));
    findings.set("rate-year-proxy", by_rate[1][PROXY]);
    findings.set("rate-fewer-retries", mean(&[fewer(&rated[0], 1, 0), fewer(&rated[1], 1, 0)].concat()));
    by_rate
}

/// Records the retries that read offsets save, those that a table could save that learns from reads alone and is never wrong, and what becomes of the rest.
fn saved(table: &Table, findings: &mut Findings) {
    let aged: Vec<&Vec<Tried>> = table[1..].iter().flatten().filter(|row| row[PLAIN].retries() > 0.0).collect();
    let bound = |of: fn(&Programs) -> &Again| {
        let part = |programs: &Programs| of(programs).retries as f64 / programs.retries as f64;
        mean(&aged.iter().map(|row| part(&row[PLAIN].programs)).collect::<Vec<f64>>())
    };
    findings.set("fewer-bound", bound(|programs| &programs.by_layer));
    findings.set("fewer-bound-types", bound(|programs| &programs.by_type));
    let alone: Vec<f64> = table[1..].iter().flat_map(|rows| fewer(rows, READS, PLAIN)).collect();
    findings.set("fewer-alone", mean(&alone));
    findings.set("fewer-least", least(&alone));
    // Of the plain drive's retries a read, those that are left where nothing of the h-layer, or of the page type in it, was known.
    let left = |of: fn(&Programs) -> u64| {
        let share = |row: &Vec<Tried>| of(&row[READS].programs) as f64 / row[READS].programs.reads as f64 / row[PLAIN].retries();
        mean(&aged.iter().copied().map(share).collect::<Vec<f64>>())
    };
    findings.set("left-first", left(|programs| programs.retries - programs.by_layer.retries));
    findings.set("left-type", left(|programs| programs.by_layer.retries - programs.by_type.retries));
    findings.set("left-again", left(|programs| programs.by_type.retries));
    let sum = |which: usize, of: fn(&Programs) -> u64| aged.iter().map(|row| of(&row[which].programs)).sum::<u64>() as f64;
    let rate = |which: usize| sum(which, |programs| programs.retries) / sum(which, |programs| programs.reads);
    findings.set("fewer-pooled", 1.0 - rate(READS) / rate(PLAIN));
    findings.set("mispredicted", sum(READS, |programs| programs.by_type.retried) / sum(READS, |programs| programs.by_type.reads));
}

/// An age in words.
fn aged(at: &At, age: usize) -> String {
    let (cycles, kept) = at.ages[age];
    format!("{cycles} P/E and {}", crate::conditions::span_text(kept))
}
