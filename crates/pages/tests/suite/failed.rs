//! Requests that failed: counted, shown, and in no other figure.

use wordline_engine::{Event, Observer};
use wordline_figures::{CellResult, DriveResult, Metrics, Report};
use wordline_pages::{html, text};
use wordline_units::{HostOp, Nanos};

use crate::fabricated::Toy;

const MORTAL: Toy = Toy {
    name: "mortal",
    seed: 1,
    requests: 4_000,
    mix: (30, 0),
    depth: 8,
    shape: (2, 2),
    blocks: 96,
    moved: 3,
    program: Nanos::from_micros(200),
    failed: 88,
};

fn healthy() -> Toy {
    Toy { name: "healthy", failed: 0, program: Nanos::from_micros(900), ..MORTAL }
}

#[test]
fn every_figure_of_the_host_is_of_requests_that_did_not_fail() {
    let (result, detail) = MORTAL.conclude();
    let (events, _) = MORTAL.events();
    let of = |op: HostOp, ok: bool| {
        let done = events.iter().filter_map(|(_, event)| if let Event::Completed(done) = event { Some(done) } else { None });
        done.filter(|done| done.op == op && done.ok == ok).map(|done| (done.stages.total().0, u64::from(done.sectors))).collect::<Vec<_>>()
    };
    let (good, bad) = (of(HostOp::Write, true), of(HostOp::Write, false));
    assert!(good.len() > 100 && bad.len() > 4 * good.len(), "{} and {}", good.len(), bad.len());
    let host = &result.host;
    assert_eq!((host.writes, host.failed, host.failed_by.writes), (good.len() as u64, bad.len() as u64, bad.len() as u64));
    assert_eq!((host.failed_by.reads, host.asked()), (0, 4_000));
    assert_eq!(host.write_bytes, good.iter().map(|(_, sectors)| sectors * 512).sum::<u64>());
    let near = |value: f64, expected: f64| assert!((value - expected).abs() <= 1e-9 * expected, "{value} is not {expected}");
    near(host.write_iops, good.len() as f64 / result.simulated_seconds);
    near(host.iops, (host.reads + host.writes) as f64 / result.simulated_seconds);
    let latency = result.latency_us.write.as_ref().expect("some did not fail");
    assert_eq!(latency.count, good.len() as u64);
    near(latency.mean, good.iter().map(|(ns, _)| *ns as f64).sum::<f64>() / good.len() as f64 / 1e3);
    near(latency.max, good.iter().map(|(ns, _)| *ns).max().expect("some") as f64 / 1e3);
    let stages: f64 = result.stages_us.write.as_ref().expect("some").values().iter().sum();
    near(stages, latency.mean);
    // What was in flight was in flight, whatever became of it.
    near(result.in_flight.iops_times_latency, result.in_flight.mean);
    assert!(result.checks.passed, "{:?}", result.checks);
    let (rows, failed) = detail.rows.iter().fold((0, 0), |(good, bad), row| (good + row.write.requests, bad + row.failed));
    assert_eq!((rows, failed), (good.len() as u64, bad.len() as u64));
    assert!(result.worn_out_seconds.is_some_and(|at| at > 0.0 && at < result.simulated_seconds));
}

#[test]
fn a_drive_that_failed_requests_is_never_better() {
    let seeds = |toy: Toy| (1..4).map(move |seed| Toy { seed, ..toy.clone() }.conclude());
    let (results, details): (Vec<DriveResult>, Vec<_>) = seeds(healthy()).chain(seeds(MORTAL)).unzip();
    let alive = Report::new(
        [healthy(), Toy { name: "quick", failed: 0, ..MORTAL }].into_iter().flat_map(seeds).map(|(result, _)| result).collect(),
    );
    assert!(html::page(&alive, &[]).contains("class=\"better\""), "the same drive is better where it fails nothing");
    assert!(alive.failures().is_empty());

    let report = Report::new(results.clone());
    let failures = report.failures();
    assert_eq!((failures.len(), failures[0].drive, failures[0].asked), (1, "mortal", 12_000));
    let page = html::page(&report, &[details]);
    assert!(!page.contains("class=\"better\"") && page.contains("Requests failed.") && page.contains("worn out after"), "{page}");
    let told = text::compare(&report);
    let row = |label: &str| told.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no {label}: {told}")).to_owned();
    assert!(row("requests failed").split_whitespace().nth(2) == Some("0"), "{}", row("requests failed"));
    assert!(row("worn out after, s").split_whitespace().nth(4) == Some("-"), "{}", row("worn out after"));
    assert!(told.contains("FAILED: mortal: ") && told.contains("of 12,000 requests failed (60.9 %)"), "{told}");
    let alone = text::run(&results[3]);
    assert!(alone.contains("FAILED ") && alone.contains("WORN OUT ") && alone.contains("figures are of the others"), "{alone}");

    // In a grid, the cell is marked.
    let cell = |name: &str, drives: &[DriveResult]| CellResult::new(None, name.to_owned(), drives.to_vec());
    let grid = Report::of_cells(vec![cell("bad", &results), cell("good", &alive.drives)]);
    let told = text::compare(&grid);
    assert!(told.lines().any(|line| line.starts_with("bad ") && line.ends_with('!')), "{told}");
    assert!(told.lines().any(|line| line.starts_with("good ") && !line.contains('!')), "{told}");
    assert!(told.contains("FAILED: mortal, bad: "), "{told}");
    for line in told.lines().chain(alone.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn a_drive_that_fails_everything_has_no_figures_and_no_nonsense() {
    let (events, _) = Toy { mix: (0, 0), failed: 100, ..MORTAL }.events();
    let mut metrics = Metrics::new(MORTAL.scope());
    events.iter().for_each(|(at, event)| metrics.observe(*at, event));
    let measured = metrics.finish(events.last().expect("some").0, 0);
    assert_eq!((measured.requests(), measured.failed()), (0, 4_000));
    let (result, detail) = Toy { mix: (0, 0), failed: 100, ..MORTAL }.conclude();
    assert_eq!((result.host.iops, result.waf.total, result.latency_us.write.is_none()), (0.0, None, true));
    let report = Report::new(vec![result, healthy().conclude().0]);
    let page = html::page(&report, &[vec![detail]]);
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    assert!(!text::compare(&report).contains("NaN"));
}
