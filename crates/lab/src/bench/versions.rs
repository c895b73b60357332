//! Bench of VerTrace: how many stale versions of files stay on flash, and how long (000 §5.1.1, 002 §3).

use wordline_figures::vertrace::{ClassResult, Extreme, FilePlot, PlotPoint, VerTraceResult};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{Job, Ran, all, files, plan};
use crate::protocol::{Count, Name, Number, conditions};

macro_rules! classes {
    ($($workload:literal $class:literal $name:literal)*) => {
        &[
            $(
                m(concat!($workload, "-", $class, "-vaf"), "ratio", concat!($workload, ", ", $name, ": mean VAF")),
                m(concat!($workload, "-", $class, "-vaf-max"), "ratio", concat!($workload, ", ", $name, ": highest VAF")),
                m(concat!($workload, "-", $class, "-insecure"), "ratio", concat!($workload, ", ", $name, ": mean T_insecure, in capacities written")),
                m(concat!($workload, "-", $class, "-insecure-max"), "ratio", concat!($workload, ", ", $name, ": longest T_insecure")),
            )*
            m("most-vaf-elsewhere", "ratio", "Highest VAF of all but the database's multi-version files, over theirs"),
            m("uni-vaf-least", "ratio", "Highest VAF of uni-version files, the lower one of mobile and mailserver"),
            m("uni-insecure-eager", "ratio", "Mean T_insecure of uni-version files where emptied blocks are erased at once, over where they are not, mailserver"),
            m("uni-insecure-order", "ratio", "Mean T_insecure of uni-version files of dbserver over the highest of mobile and mailserver"),
            m("grown-invalid", "count", "Most invalid units of a file of mobile that only grows"),
            m("table-valid-range", "share", "Valid units of a file of dbserver that is overwritten: lowest to highest, over highest"),
            m("table-rise", "share", "Share of the way to the peak of its invalid units that the first capacity written brings"),
            m("table-decline", "share", "Invalid units at the end over their peak"),
        ]
    };
}

/// The `versions` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "versions",
    summary: "Stale versions of files on flash (VerTrace)",
    metrics: classes! {
        "mobile" "uv" "uni-version files" "mobile" "mv" "multi-version files"
        "mailserver" "uv" "uni-version files" "mailserver" "mv" "multi-version files"
        "dbserver" "uv" "uni-version files" "dbserver" "mv" "multi-version files"
    },
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "versions",
    /// Conditions of the drive whose files are watched.
    struct At {
        /// the drive whose files are watched
        drive: Name,
        /// exported size of the drive, or "whole"
        size: Name,
        /// bytes written, in capacities
        length: Number,
        /// workload of the phone
        mobile: Name,
        /// workload of the mail server
        mailserver: Name,
        /// workload of the database server
        dbserver: Name,
        /// number of files that are followed and only grow
        grown: Count,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let load = |more: &[&str]| plan(setup, &at.drive, &at.size, more);
    let (lazy, eager) = (load(&[])?, load(&["gc.lazy_erase=false"])?);
    let jobs = [(&at.mobile, &lazy), (&at.mailserver, &lazy), (&at.dbserver, &lazy), (&at.mailserver, &eager)].map(|(name, plan)| {
        let options = FileOptions { length: Some(at.length), ..FileOptions::default() };
        Ok(Job::new(plan.clone(), files(name)?, options, Some(at.grown as usize)))
    });
    let jobs = jobs.into_iter().collect::<Result<Vec<Job>, LabError>>()?;
    let traced = |ran: Ran| ran.result.vertrace.expect("files were watched");
    let ran: Vec<VerTraceResult> = all(setup, &jobs)?.into_iter().map(traced).collect();
    let [mobile, mailserver, dbserver, eager] = ran.try_into().expect("a result for each job");
    Ok(judge(&mobile, &mailserver, &dbserver, &eager))
}

fn class<'r>(result: &'r VerTraceResult, name: &str) -> &'r ClassResult {
    result.classes.iter().find(|class| class.class == name).expect("both classes are there")
}

fn judge(mobile: &VerTraceResult, mailserver: &VerTraceResult, dbserver: &VerTraceResult, eager: &VerTraceResult) -> Findings {
    let mut findings = Findings::default();
    let of = |result, name| {
        let class = class(result, name);
        let most = |extreme: Option<Extreme>| extreme.map_or(f64::NAN, |extreme| extreme.value);
        let or_not = |mean: Option<f64>| mean.unwrap_or(f64::NAN);
        [or_not(class.vaf_mean), most(class.vaf_max), or_not(class.t_insecure_mean), most(class.t_insecure_max)]
    };
    let results = [mobile, mailserver, dbserver];
    let classes: Vec<[f64; 4]> = results.into_iter().flat_map(|result| [of(result, "uni-version"), of(result, "multi-version")]).collect();
    for (metric, value) in BENCH.metrics.iter().zip(classes.iter().flatten()) {
        findings.set(metric.name, *value);
    }
    let [mobile_uv, mobile_mv, mail_uv, mail_mv, db_uv, db_mv] = <[[f64; 4]; 6]>::try_from(classes).expect("six classes");
    let elsewhere = [mobile_uv, mobile_mv, mail_uv, mail_mv, db_uv].map(|class| class[1]).into_iter().fold(0.0, f64::max);
    findings.set("most-vaf-elsewhere", elsewhere / db_mv[1]);
    findings.set("uni-vaf-least", mobile_uv[1].min(mail_uv[1]));
    findings.set("uni-insecure-eager", of(eager, "uni-version")[2] / mail_uv[2]);
    findings.set("uni-insecure-order", db_uv[2] / mobile_uv[2].max(mail_uv[2]));
    let most_invalid = |plot: &FilePlot| plot.points.iter().map(|point| point.invalid).max().unwrap_or(0);
    let grown = mobile.plots.iter().filter(|plot| plot.class == "uni-version").max_by_key(|plot| most_invalid(plot));
    if let Some(grown) = grown {
        findings.set("grown-invalid", f64::from(most_invalid(grown)));
    }
    let table = dbserver.plots.iter().filter(|plot| plot.class == "multi-version").max_by_key(|plot| most_invalid(plot));
    if let Some(table) = table {
        let (low, high) = table.points.iter().fold((u32::MAX, 0), |(low, high), point| (low.min(point.valid), high.max(point.valid)));
        let peak = f64::from(most_invalid(table));
        let early = table.points.iter().filter(|point| point.at <= 1.0).map(|point| point.invalid).max().unwrap_or(0);
        findings.set("table-valid-range", f64::from(high - low) / f64::from(high));
        findings.set("table-rise", f64::from(early) / peak);
        findings.set("table-decline", table.points.last().map_or(f64::NAN, |point| f64::from(point.invalid) / peak));
    }
    findings.figures = [("mobile, a file that grows", grown), ("dbserver, a file that is overwritten", table)]
        .into_iter()
        .filter_map(|(title, plot)| Some(over_time(title, plot?)))
        .collect();
    findings
}

fn over_time(title: &str, plot: &FilePlot) -> Figure {
    let curve = |colour, label: &str, of: &dyn Fn(&PlotPoint) -> u32| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: plot.points.iter().map(|point| (point.at, f64::from(of(point)))).collect(),
    };
    Figure::Curves(Curves {
        title: format!("Units of file {} ({title})", plot.file),
        note: "on flash".to_owned(),
        x: Scale::from_zero("capacities written"),
        y: Scale::from_zero("units"),
        curves: vec![curve(0, "valid", &|point| point.valid), curve(1, "invalid", &|point| point.invalid)],
        marks: Vec::new(),
    })
}
