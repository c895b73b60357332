//! Bench of SecureSSD and its rivals under workloads of files: the cost of each against the same drive that leaves stale data readable (000 §5.4, 002 §7).

use wordline_figures::DriveResult;
use wordline_pages::html::figure::{Columns, Curve, Curves, Figure, Scale};
use wordline_plan::Plan;
use wordline_units::Bytes;
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{Job, Ran, all, baseline, files, plan};
use crate::lot::{greatest, least, mean, share};
use crate::protocol::{Name, Number, Rising, Share, Size, conditions};

/// The `sanitise` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "sanitise",
    summary: "Drives that make stale data unreadable, under workloads of files",
    metrics: &[
        m("lock-iops", "share", "IOPS with locks over those without sanitising, mean of the workloads"),
        m("scrub-iops", "share", "The same with scrubbing"),
        m("scrub-iops-whole", "share", "The same, where the host trims whole files"),
        m("scrub-iops-turn", "share", "The same, where it trims whole files and the drive takes their pages one after another"),
        m("erase-iops", "share", "The same with erasing at once, over a short run"),
        m("erase-iops-max", "share", "Its highest"),
        m("order", "share", "Workloads in which erasing < scrubbing < page locks alone < locks"),
        m("lock-over-scrub-max", "ratio", "IOPS with locks over those with scrubbing, highest"),
        m("lock-over-scrub", "ratio", "The same, mean"),
        m("fewer-erases-max", "share", "Erases that locks save against scrubbing, highest"),
        m("fewer-erases", "share", "The same, mean"),
        m("fewer-erases-whole", "share", "The same, against scrubbing where the host trims whole files"),
        m("fewer-erases-turn", "share", "The same, where the drive takes their pages one after another"),
        m("erase-waf-max", "ratio", "Write amplification with erasing at once over that without sanitising, highest, over a short run"),
        m("erase-waf", "ratio", "The same, mean"),
        m("scrub-waf-max", "ratio", "The same with scrubbing, highest"),
        m("scrub-waf", "ratio", "The same, mean"),
        m("scrub-waf-whole", "ratio", "The same, where the host trims whole files"),
        m("scrub-waf-turn", "ratio", "The same, where it trims whole files and the drive takes their pages one after another"),
        m("lock-waf-off", "share", "How far write amplification with locks lies from that without, at most"),
        m("block-lock-iops-max", "share", "IOPS that block locks add to page locks alone, highest"),
        m("block-lock-iops", "share", "The same, mean"),
        m("block-lock-iops-min", "share", "The same, lowest"),
        m("fewer-page-locks-max", "share", "Page locks that block locks save, highest"),
        m("fewer-page-locks", "share", "The same, mean"),
        m(
            "large-writes",
            "ratio",
            "Least share of page locks saved in the workloads of large writes, over the most in those of small ones",
        ),
        m("loss-at-least-max", "share", "IOPS lost to locks with the smallest secure fraction, highest"),
        m("loss-at-least", "share", "The same, mean"),
        m("loss-worst", "count", "The workload that loses most there, by its place in the list"),
        m("monotone", "share", "Steps to a larger secure fraction with which IOPS do not rise by more than 1 %"),
        m("lowest", "count", "The workload with the lowest IOPS ratio with locks, by its place in the list"),
        m("write-intensive", "ratio", "Highest IOPS ratio with locks of the write-intensive workloads over the lowest of the others"),
        m("stale-plain", "count", "Stale units that can be read when all is acknowledged, without sanitising, fewest, over a short run"),
        m("stale-left", "count", "The same with locks, scrubbing or erasing, most"),
        m("lock-copies", "count", "Pages that were programmed because of locks"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "sanitise",
    /// Conditions of the drives that make stale data unreadable.
    struct At {
        /// the drive that leaves stale data readable
        plain: Name,
        /// the drive with page locks and block locks
        locking: Name,
        /// the drive with page locks alone
        page_locks: Name,
        /// the drive that scrubs wordlines
        scrubbing: Name,
        /// the drive that erases blocks at once
        erasing: Name,
        /// size of a TRIM to the drives that scrub or erase at once; to the others whole files are trimmed
        trim: Size,
        /// exported size of each drive, or "whole"
        size: Name,
        /// workloads of files: two of small writes, two of large ones; the second and the fourth write most
        workloads: [Name; 4],
        /// bytes written, in capacities
        length: Number,
        /// bytes written to the drive that erases at once, in capacities
        short: Number,
        /// shares of the written bytes that belong to secure files
        fractions: Rising<Share, 2>,
    }
}

/// Results of one workload on the drives.
struct Row {
    plain: Ran,
    plain_short: Ran,
    /// Runs of the locking drive at each secure fraction, the whole last.
    locked: Vec<Ran>,
    page_locked: Ran,
    scrubbed: Ran,
    /// The drive that scrubs where whole files are trimmed: all pages at once, or one after another.
    scrubbed_files: [Ran; 2],
    erased: Ran,
    /// Short runs of the locking and the scrubbing drive, with the books of their files.
    stale: [Ran; 2],
}

fn waf(ran: &Ran) -> f64 {
    ran.result.waf.total.unwrap_or(f64::NAN)
}

fn page_locks(result: &DriveResult) -> f64 {
    result.sanitised.as_ref().map_or(0.0, |sanitised| sanitised.page_locks as f64)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let load = |name: &str, more: &[&str]| plan(setup, name, &at.size, more);
    let (plain, locking, page_locking) = (baseline(setup, &at.plain, &at.size, &[])?, load(&at.locking, &[])?, load(&at.page_locks, &[])?);
    let (scrubbing, erasing) = (load(&at.scrubbing, &[])?, load(&at.erasing, &[])?);
    let in_turn = load(&at.scrubbing, &["controller.trims=by-page"])?;
    let trim = Some(Bytes(at.trim as u64));
    let mut jobs = Vec::new();
    for name in &at.workloads {
        let spec = files(name)?;
        let mut job = |plan: &Plan, length: f64, secure: f64, trim: Option<Bytes>, is_traced: bool| {
            let options = FileOptions { length: Some(length), secure: Some(secure), trim, ..FileOptions::default() };
            jobs.push(Job::new(plan.clone(), spec.clone(), options, is_traced.then_some(1)));
        };
        job(&plain, at.length, 1.0, None, false);
        job(&plain, at.short, 1.0, None, true);
        job(&page_locking, at.length, 1.0, None, false);
        job(&scrubbing, at.length, 1.0, trim, false);
        job(&scrubbing, at.length, 1.0, None, false);
        job(&in_turn, at.length, 1.0, None, false);
        job(&erasing, at.short, 1.0, trim, true);
        job(&locking, at.short, 1.0, None, true);
        job(&scrubbing, at.short, 1.0, trim, true);
        at.fractions.iter().for_each(|secure| job(&locking, at.length, *secure, None, false));
    }
    let mut ran = all(setup, &jobs)?.into_iter();
    let mut next = || ran.next().expect("a run for each job");
    let mut rows = Vec::new();
    for _ in &at.workloads {
        let (plain, plain_short, page_locked, scrubbed) = (next(), next(), next(), next());
        let (scrubbed_files, erased) = ([next(), next()], next());
        let stale = [next(), next()];
        let locked = at.fractions.iter().map(|_| next()).collect();
        rows.push(Row { plain, plain_short, locked, page_locked, scrubbed, scrubbed_files, erased, stale });
    }
    Ok(judge(&at, &rows))
}

/// IOPS and write amplification over those of the drive that leaves stale data readable, by workload.
struct Ratios {
    locked: Vec<f64>,
    page_locked: Vec<f64>,
    scrubbed: Vec<f64>,
    /// The drive that scrubs where whole files are trimmed: all pages at once, or one after another.
    of_files: [Vec<f64>; 2],
    erased: Vec<f64>,
    scrub_waf: Vec<f64>,
    lock_waf: Vec<f64>,
}

fn judge(at: &At, rows: &[Row]) -> Findings {
    let of = |figure: &dyn Fn(&Row) -> f64| rows.iter().map(figure).collect::<Vec<f64>>();
    let whole = |row: &Row| row.locked.last().cloned().expect("fractions");
    let locked = of(&|row| whole(row).iops() / row.plain.iops());
    let page_locked = of(&|row| row.page_locked.iops() / row.plain.iops());
    let scrubbed = of(&|row| row.scrubbed.iops() / row.plain.iops());
    let erased = of(&|row| row.erased.iops() / row.plain_short.iops());
    let mut findings = Findings::default();
    findings.set("lock-iops", mean(&locked));
    findings.set("scrub-iops", mean(&scrubbed));
    let of_files = [0, 1].map(|which| of(&|row| row.scrubbed_files[which].iops() / row.plain.iops()));
    findings.set("scrub-iops-whole", mean(&of_files[0]));
    findings.set("scrub-iops-turn", mean(&of_files[1]));
    findings.set("erase-iops", mean(&erased));
    findings.set("erase-iops-max", greatest(&erased));
    let in_order = (0..rows.len()).filter(|&row| {
        erased[row] < scrubbed[row] && scrubbed[row] < page_locked[row] && page_locked[row] <= locked[row] && locked[row] <= 1.0
    });
    findings.set("order", in_order.count() as f64 / rows.len() as f64);
    let over = of(&|row| whole(row).iops() / row.scrubbed.iops());
    findings.set("lock-over-scrub-max", greatest(&over));
    findings.set("lock-over-scrub", mean(&over));
    let fewer = of(&|row| 1.0 - whole(row).result.erases as f64 / row.scrubbed.result.erases as f64);
    findings.set("fewer-erases-max", greatest(&fewer));
    findings.set("fewer-erases", mean(&fewer));
    let fewer_of = |which: usize| mean(&of(&|row| 1.0 - whole(row).result.erases as f64 / row.scrubbed_files[which].result.erases as f64));
    findings.set("fewer-erases-whole", fewer_of(0));
    findings.set("fewer-erases-turn", fewer_of(1));
    let erase_waf = of(&|row| waf(&row.erased) / waf(&row.plain_short));
    findings.set("erase-waf-max", greatest(&erase_waf));
    findings.set("erase-waf", mean(&erase_waf));
    let scrub_waf = of(&|row| waf(&row.scrubbed) / waf(&row.plain));
    findings.set("scrub-waf-max", greatest(&scrub_waf));
    findings.set("scrub-waf", mean(&scrub_waf));
    let waf_of = |which: usize| mean(&of(&|row| waf(&row.scrubbed_files[which]) / waf(&row.plain)));
    findings.set("scrub-waf-whole", waf_of(0));
    findings.set("scrub-waf-turn", waf_of(1));
    let lock_waf = of(&|row| waf(&whole(row)) / waf(&row.plain));
    findings.set("lock-waf-off", greatest(&lock_waf.iter().map(|ratio| (ratio - 1.0).abs()).collect::<Vec<_>>()));
    let gains = of(&|row| whole(row).iops() / row.page_locked.iops() - 1.0);
    findings.set("block-lock-iops-max", greatest(&gains));
    findings.set("block-lock-iops", mean(&gains));
    findings.set("block-lock-iops-min", least(&gains));
    let saved = of(&|row| 1.0 - page_locks(&whole(row).result) / page_locks(&row.page_locked.result));
    findings.set("fewer-page-locks-max", greatest(&saved));
    findings.set("fewer-page-locks", mean(&saved));
    findings.set("large-writes", least(&saved[2..]) / greatest(&saved[..2]));
    let losses = of(&|row| 1.0 - row.locked[0].iops() / row.plain.iops());
    findings.set("loss-at-least-max", greatest(&losses));
    findings.set("loss-at-least", mean(&losses));
    findings.set("loss-worst", place(&losses, greatest(&losses)));
    let steps = |row: &Row| row.locked.windows(2).map(|pair| pair[1].iops() <= 1.01 * pair[0].iops()).collect::<Vec<bool>>();
    findings.set("monotone", share(rows.iter().flat_map(steps)));
    findings.set("lowest", place(&locked, least(&locked)));
    findings.set("write-intensive", locked[1].max(locked[3]) / locked[0].min(locked[2]));
    let stale = |ran: &Ran| ran.stale.map_or(f64::NAN, |stale| stale as f64);
    findings.set("stale-plain", least(&of(&|row| stale(&row.plain_short))));
    findings.set("stale-left", greatest(&of(&|row| row.stale.iter().chain([&row.erased]).map(stale).fold(0.0, f64::max))));
    let copies = |row: &Row| {
        let whole = whole(row);
        let of_locks = whole.result.flash.iter().filter(|flash| flash.cause == "sanitise" && flash.op == "program");
        of_locks.map(|flash| flash.pages as f64).sum()
    };
    findings.set("lock-copies", of(&copies).iter().sum());
    findings.figures = figures(at, rows, Ratios { locked, page_locked, scrubbed, of_files, erased, scrub_waf, lock_waf });
    findings
}

fn figures(at: &At, rows: &[Row], ratios: Ratios) -> Vec<Figure> {
    let Ratios { locked, page_locked, scrubbed, of_files, erased, scrub_waf, lock_waf } = ratios;
    let columns = |title: &str, note: &str, y: &str, series: Vec<(String, Vec<f64>)>| {
        let (x, groups) = ("workload".to_owned(), at.workloads.to_vec());
        Figure::Columns(Columns { title: title.to_owned(), note: note.to_owned(), x, y: y.to_owned(), groups, series })
    };
    let [scrubbing, page_locks, locking, erasing] = [&at.scrubbing, &at.page_locks, &at.locking, &at.erasing].map(String::clone);
    let over_fractions = |(colour, row): (usize, &Row)| Curve {
        label: at.workloads[colour].clone(),
        colour,
        dashed: false,
        points: at.fractions.iter().zip(&row.locked).map(|(secure, ran)| (100.0 * secure, ran.iops() / row.plain.iops())).collect(),
    };
    vec![
        columns(
            "IOPS of drives that make stale data unreadable",
            "against the same drive that does not",
            "IOPS ratio",
            vec![
                (erasing.clone(), erased),
                (scrubbing.clone(), scrubbed),
                (format!("{scrubbing}, files trimmed whole"), of_files[0].clone()),
                (format!("{scrubbing}, page after page"), of_files[1].clone()),
                (page_locks, page_locked),
                (locking.clone(), locked),
            ],
        ),
        columns(
            "Write amplification of drives that make stale data unreadable",
            "against the same drive that does not; the one that erases at once is in the table",
            "WAF ratio",
            vec![(scrubbing, scrub_waf), (locking, lock_waf)],
        ),
        Figure::Curves(Curves {
            title: "IOPS with locks over the share of secure data".to_owned(),
            note: "against the same drive without".to_owned(),
            x: Scale::even("secure, %"),
            y: Scale::even("IOPS ratio"),
            curves: rows.iter().enumerate().map(over_fractions).collect(),
            marks: Vec::new(),
        }),
    ]
}

/// The place of `value` in the list, counted from 1.
fn place(values: &[f64], value: f64) -> f64 {
    values.iter().position(|known| *known == value).map_or(f64::NAN, |place| (place + 1) as f64)
}
