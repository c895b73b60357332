//! Figures that would say something else than they seem to: reads of nothing, loads that a drive cannot follow, phases in one headline, intervals beside each
//! other.

use bytes::Bytes as Buffer;
use parquet::file::reader::{FileReader, SerializedFileReader};
use wordline_engine::{Completion, Event, Observer, Stages};
use wordline_figures::{
    Asked, CellResult, Comparison, Cost, DriveDetail, DriveResult, Identity, Interval, MadeBy, Measured, Metrics, PlanText, Ratio, Report,
    Scope, WorkloadName, conclude,
};
use wordline_pages::table::{Format, RequestLog, about, write_intervals, write_ratios};
use wordline_pages::{html, json, text};
use wordline_units::{Attributes, Bytes, HostOp, JobId, Nanos, Priority, RequestId};

use crate::fabricated::Toy;
use crate::warned;

fn scope(queue_depth: Option<u32>) -> Scope {
    let (unit, page) = (Bytes::kib(4), Bytes::kib(16));
    Scope { dies: 1, channels: 1, cores: 1, unit, page, h_layer: None, queue_depth, interval: Interval::default(), read_limits: None }
}

/// A request that begins at `from`, and how it ends.
fn begin(metrics: &mut Metrics, slot: u32, op: HostOp, from: u64) -> Completion {
    let (request, priority, sectors) = (RequestId(slot), Priority::Normal, 8);
    metrics.observe(Nanos(from), &Event::Arrived { request, op, attributes: Attributes::of(priority), sectors });
    Completion {
        for_failure: false,
        request,
        op,
        attributes: Attributes::of(priority),
        sectors,
        sector: 0,
        arrived: Nanos(from),
        stages: Stages::default(),
        core: Nanos::ZERO,
        dram: Nanos::ZERO,
        ok: true,
        blank: 0,
        die: None,
        job: JobId(0),
    }
}

fn end(metrics: &mut Metrics, done: Completion, at: u64) {
    let stages = Stages { die: Nanos(at) - done.arrived, ..Stages::default() };
    metrics.observe(Nanos(at), &Event::Completed(Completion { stages, ..done }));
}

fn concluded(measured: &Measured) -> (DriveResult, DriveDetail) {
    warned(conclude(&Identity { name: "drive".to_owned(), ..Identity::default() }, measured, &[], Cost::default()))
}

/// A thousand reads, of which so many are of nothing.
fn reads_of_nothing(count: u64) -> DriveResult {
    let mut metrics = Metrics::new(scope(Some(1)));
    for number in 0..1_000 {
        let done = begin(&mut metrics, 0, HostOp::Read, number * 1_000);
        end(&mut metrics, Completion { blank: if number < count { 8 } else { 0 }, ..done }, number * 1_000 + 900);
    }
    concluded(&metrics.finish(Nanos(1_000_000), 0)).0
}

#[test]
fn reads_of_what_was_never_written_are_counted_and_warned_of_above_one_percent() {
    let (none, few, many) = (reads_of_nothing(0), reads_of_nothing(10), reads_of_nothing(660));
    assert_eq!([&none, &few, &many].map(|drive| drive.host.read_blank_bytes), [0, 40_960, 660 * 4_096]);
    assert!(!text::run(&none).contains("holds nothing") && none.warnings.is_empty());
    assert!(text::run(&few).contains("unwritten  1 % of what was read") && few.warnings.is_empty(), "{}", text::run(&few));
    let shown = text::run(&many);
    assert!(shown.contains("WARNING: 66 % of what was read holds nothing") && shown.contains("--prefill-reads"), "{shown}");
    let report = Report::new(vec![many]);
    let json: serde_json::Value = serde_json::from_str(&json(&report)).expect("JSON");
    assert_eq!(json["drives"][0]["host"]["read_blank_bytes"], 660 * 4_096);
    let page = html::page(&report, &[Vec::new()]);
    assert!(
        page.contains("drive: 66 % of what was read holds nothing") && page.contains("<dt>read of nothing</dt><dd>66 %</dd>"),
        "{page}"
    );
}

#[test]
fn units_that_are_still_buffered_are_told_beside_write_amplification_and_transfers_beside_busy_dies() {
    let mut metrics = Metrics::new(scope(Some(1)));
    let done = begin(&mut metrics, 0, HostOp::Write, 0);
    end(&mut metrics, done, 1_000);
    let mut measured = metrics.finish(Nanos(1_000), 0);
    assert!(!text::run(&concluded(&measured).0).contains("write buffer"));
    measured.buffered_units = Some(1_170);
    (measured.totals.die_ns, measured.totals.channel_ns) = (400, 350);
    let (result, _) = concluded(&measured);
    assert_eq!((result.buffered_units, result.utilisation.die, result.utilisation.die_with_transfers), (Some(1_170), 0.4, 0.75));
    let shown = text::run(&result);
    assert!(shown.contains("1,170 units are still in the write buffer") && shown.contains("dies are busy 75 % with them"), "{shown}");
    let page = html::page(&Report::new(vec![result]), &[Vec::new()]);
    assert!(
        page.contains("<dt>still in the write buffer</dt><dd>1,170 units</dd>")
            && page.contains("<dt>dies busy with transfers</dt><dd>75 %</dd>")
    );
}

/// Requests every microsecond, of which the drive serves one in `each` microseconds, until `arrivals` have come; the rest stays where it is.
fn open_loop(each: u64, arrivals: u64, queue_depth: Option<u32>) -> Measured {
    let mut metrics = Metrics::new(scope(queue_depth));
    let (mut waiting, mut free, mut slots) = (std::collections::VecDeque::new(), 0, Vec::new());
    let mut next = 0;
    for number in 0..arrivals {
        let now = number * 1_000;
        while waiting.front().is_some_and(|done: &Completion| free.max(done.arrived.0) + each <= now) {
            let done = waiting.pop_front().expect("just seen");
            free = free.max(done.arrived.0) + each;
            slots.push(done.request.0);
            end(&mut metrics, done, free);
        }
        let slot = slots.pop().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        waiting.push_back(begin(&mut metrics, slot, HostOp::Write, now));
    }
    metrics.finish(Nanos(arrivals * 1_000), waiting.len() as u64)
}

#[test]
fn an_open_loop_that_the_drive_cannot_follow_is_saturated_and_the_check_shows_one_number() {
    // Two thirds of what is asked for are served.
    let (result, _) = concluded(&open_loop(1_500, 30_000, None));
    assert!(result.checks.passed, "{:?}", result.checks);
    let found = result.saturated.clone().expect("it is left behind");
    assert!((9_990..=10_010).contains(&found.backlog), "{found:?}");
    assert!((found.growth_per_second / 333_333.0 - 1.0).abs() < 0.02 && (found.asked_per_second / 1e6 - 1.0).abs() < 0.001, "{found:?}");
    // What is still there counts with the time it has been there, so that the two sides of Little's law are one number.
    assert!((result.in_flight.mean / result.in_flight.littles_law - 1.0).abs() < 1e-9, "{:?}", result.in_flight);
    assert!(result.in_flight.iops_times_latency < 0.7 * result.in_flight.mean, "{:?}", result.in_flight);
    let shown = text::run(&result);
    assert!(
        shown.contains("WARNING: saturated") && shown.contains("still in flight at the end") && !shown.contains("IOPS x latency"),
        "{shown}"
    );
    assert!(html::page(&Report::new(vec![result]), &[Vec::new()]).contains("<b class=\"worse\">saturated</b>"));
}

#[test]
fn loads_that_a_drive_follows_are_not_saturated() {
    assert_eq!(concluded(&open_loop(900, 30_000, None)).0.saturated, None);
    // In a closed loop the host waits: whatever the queue does, the drive is not left behind.
    assert_eq!(concluded(&open_loop(1_500, 30_000, Some(8))).0.saturated, None);
}

/// A phase of reads that take 1 us, then one of writes that take 3 us with a failed one, then one of reads that take 9 us.
fn phased(name: &str, times: u64, seed: u64) -> (DriveResult, DriveDetail) {
    let mut metrics = Metrics::new(scope(None));
    let mut now = 0;
    for (phase, op, took, depth) in
        [("mixed", HostOp::Read, 1_000, Some(1)), ("storm", HostOp::Write, 3_000, Some(4)), ("read-back", HostOp::Read, 9_000, Some(1))]
    {
        metrics.begin_phase(Nanos(now), phase, depth);
        for _ in 0..1_000 {
            let done = begin(&mut metrics, 0, op, now);
            now += took * times + seed;
            end(&mut metrics, done, now);
        }
    }
    let identity = Identity { name: name.to_owned(), seed, ..Identity::default() };
    warned(conclude(&identity, &metrics.finish(Nanos(now), 0), &[], Cost::default()))
}

#[test]
fn each_phase_has_a_row_an_object_a_column_and_a_mark() {
    let (result, detail) = phased("one", 1, 0);
    let phases: Vec<(&str, f64, f64)> =
        result.phases.iter().map(|phase| (phase.name.as_str(), phase.start_seconds * 1e6, phase.simulated_seconds * 1e6)).collect();
    assert_eq!(phases, [("mixed", 0.0, 1_000.0), ("storm", 1_000.0, 3_000.0), ("read-back", 4_000.0, 9_000.0)]);
    let [mixed, storm, back] = [0, 1, 2].map(|number| &result.phases[number]);
    assert_eq!((mixed.host.reads, mixed.host.writes, storm.host.reads, storm.host.writes), (1_000, 0, 0, 1_000));
    // The whole has a mean of 5 us over both kinds of read, and neither phase has.
    let mean = |latency: &Option<wordline_figures::result::Latency>| latency.as_ref().expect("there were some").mean;
    assert_eq!([mean(&mixed.latency_us.read), mean(&back.latency_us.read), mean(&result.latency_us.read)], [1.0, 9.0, 5.0]);
    assert_eq!(result.phases.iter().map(|phase| phase.host.reads + phase.host.writes).sum::<u64>(), 3_000);
    assert!((storm.in_flight.mean - 1.0).abs() < 1e-9 && (storm.in_flight.littles_law - 1.0).abs() < 1e-9);
    let shown = text::run(&result);
    let rows: Vec<&str> =
        shown.lines().filter(|line| ["mixed", "storm", "read-back"].iter().any(|name| line.trim_start().starts_with(name))).collect();
    assert_eq!(rows.len(), 3, "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let report = Report::new(vec![result]);
    let page = html::page(&report, &[vec![detail.clone()]]);
    let charts = page.matches("class=\"chart\"").count()
        - page.matches("aria-label=\"Read latency\"").count()
        - page.matches("aria-label=\"Write latency\"").count();
    assert_eq!(page.matches("<path class=\"phase\"").count(), 3 * charts, "three marks in each chart over time");
    assert!(page.contains("<h2>By phase</h2>") && page.contains("<td>read-back</td>"), "{page}");
    let csv = String::from_utf8(write_intervals(Format::Csv, Vec::new(), &[detail], &[]).expect("a table")).expect("text");
    let of: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
    assert_eq!([of[0], of[1], of[3], of[4], of[of.len() - 1]], ["mixed", "storm", "storm", "read-back", "read-back"], "{csv}");
}

#[test]
fn drives_are_compared_phase_by_phase() {
    let drives: Vec<DriveResult> = (0..3).flat_map(|seed| [phased("one", 1, seed).0, phased("two", 2, seed).0]).collect();
    let report = Report::new(drives);
    let comparison = report.comparison.as_ref().expect("two drives");
    let named: Vec<&str> = comparison.phases.iter().map(|phase| phase.phase.as_str()).collect();
    assert_eq!(named, ["mixed", "storm", "read-back"]);
    let storm = comparison.phases[1].ratios.iter().find(|ratio| ratio.figure == "latency_us.write.mean" && ratio.drive == "two");
    assert!(storm.and_then(|ratio| ratio.ratio).is_some_and(|ratio| (ratio - 2.0).abs() < 0.01), "{storm:?}");
    assert!(!comparison.phases[1].ratios.iter().any(|ratio| ratio.figure.starts_with("latency_us.read")), "nothing was read in it");
    let shown = text::compare(&report);
    assert!(["In phase mixed", "In phase storm", "In phase read-back"].iter().all(|head| shown.contains(head)), "{shown}");
    assert!(html::page(&report, &[Vec::new()]).contains("<h3>In phase storm</h3>"));
    let csv = String::from_utf8(write_ratios(Vec::new(), &report).expect("a table")).expect("text");
    assert!(csv.lines().any(|line| line.starts_with(",,one,two,latency_us.write.mean,us,6") && line.contains(",storm,,")), "{csv}");
}

/// How many ratios of these drives have an interval.
fn with_interval(comparison: &Comparison) -> usize {
    let all = comparison.ratios.iter().chain(comparison.phases.iter().flat_map(|phase| &phase.ratios));
    all.filter(|ratio| ratio.drive != comparison.baseline && ratio.low.is_some()).count()
}

#[test]
fn comparisons_show_the_whole_of_latency_and_own_up_to_how_many_intervals_there_are() {
    let drives: Vec<DriveResult> = (0..3).flat_map(|seed| [phased("one", 1, seed).0, phased("two", 2, seed).0]).collect();
    let report = Report::new(drives.clone());
    let shown = text::compare(&report);
    for kind in ["read", "write"] {
        for figure in ["mean", "p50", "p99", "p99.9", "p99.99"] {
            let row = format!("{kind} latency, {figure}, us ");
            assert!(shown.lines().any(|line| line.starts_with(&row)), "{row}: {shown}");
        }
    }
    let intervals = report.comparison.as_ref().map(with_interval).expect("two drives");
    assert!(intervals > 30, "{intervals}");
    let doubt = format!("of the {intervals} shown");
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&doubt), "{shown}");
    let page = html::page(&report, &[Vec::new()]);
    assert!(page.contains(&doubt) && !page.contains("surely"), "{page}");
    // Grids show latency, too: ten tables of it beside that of IOPS.
    let cells = [1, 2].map(|number| CellResult::new(None, format!("load{number}"), drives.clone()));
    let grid = Report::of_cells(cells.to_vec());
    let (shown, page) = (text::compare(&grid), html::page(&grid, &[Vec::new(), Vec::new()]));
    for figure in ["read latency, p50", "read latency, p99.9", "write latency, p99.99"] {
        assert!(shown.lines().any(|line| line == format!("{figure}, us")), "{figure}: {shown}");
        assert!(page.contains(&format!("<h2>{figure}, µs</h2>")), "{figure}: {page}");
    }
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&format!("of the {} shown", 2 * intervals)), "{shown}");
}

#[test]
fn what_differs_with_all_intervals_taken_together_has_a_mark() {
    let drive = |name, seed, requests, program| Toy { name, seed, requests, program: Nanos::from_micros(program), ..Toy::default() };
    // A program of twice the time shows; in which seed has the longer waits there is chance.
    let drives = (1..=5).flat_map(|seed| [drive("one", seed, 2_000, 660), drive("two", seed, 2_000, 1_320)]).map(|toy| toy.conclude().0);
    let report = Report::new(drives.collect());
    let comparison = report.comparison.as_ref().expect("two drives");
    let of_two = || comparison.ratios.iter().filter(|ratio| ratio.drive == "two" && ratio.low.is_some());
    let intervals = with_interval(comparison);
    let marked: Vec<&Ratio> = of_two().filter(|ratio| ratio.together).collect();
    assert!(marked.iter().any(|ratio| ratio.figure == "latency_us.write.mean"), "{marked:?}");
    assert!(marked.len() < of_two().count(), "{marked:?}");
    assert!(
        !comparison.ratios.iter().any(|ratio| ratio.together && ratio.drive == "one"),
        "the first drive is what the other is divided by"
    );
    // The least of the chances stands against 5 % over all of them, and none that has a mark is above one that has none.
    let chance = |ratio: &Ratio| ratio.p.expect("five seeds");
    let highest = marked.iter().map(|ratio| chance(ratio)).fold(0.0, f64::max);
    let (first, others) = of_two().map(chance).partition::<Vec<f64>, _>(|p| *p <= 0.05 / intervals as f64);
    assert!(!first.is_empty() && others.iter().all(|p| *p > 0.05 / intervals as f64));
    assert!(of_two().filter(|ratio| !ratio.together).all(|ratio| chance(ratio) > highest));
    // Each output has as many marks, and says what they are.
    let (shown, page) = (text::compare(&report), html::page(&report, &[Vec::new()]));
    assert_eq!((shown.matches("]*").count(), page.matches("]*<").count()), (marked.len(), marked.len()), "{shown}");
    let told = format!("with all {intervals} taken together (Holm: at most 5 % that any mark is wrong), {} of them", marked.len());
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&told), "{shown}");
    assert!(page.contains(&told), "{page}");
    let csv = String::from_utf8(write_ratios(Vec::new(), &report).expect("a table")).expect("text");
    assert_eq!(csv.lines().filter(|line| line.ends_with(",true")).count(), marked.len(), "{csv}");
    // More cells are more intervals, which are taken together, too.
    let cells = (0..400).map(|number| CellResult::new(None, format!("load{number}"), report.drives.clone())).collect();
    let grid = Report::of_cells(cells);
    let in_cell = grid.cells[0].comparison.as_ref().map_or(0, |comparison| comparison.ratios.iter().filter(|ratio| ratio.together).count());
    assert!(in_cell < marked.len(), "{in_cell} of {}", marked.len());
}

#[test]
fn every_output_says_how_it_is_made_again() {
    let workload = WorkloadName { name: "a trace.csv".to_owned(), digest: "00ff00ff00ff00ff".to_owned(), bytes: 12 };
    let asked = Asked {
        lain: None,
        workload,
        age: Some("2000 cycles, 1 month".to_owned()),
        cells: "physics of tlc48".to_owned(),
        fill: Some(0.5),
        prefilled_reads: Some(3),
        faults: Vec::new(),
    };
    let (mut result, mut detail) = Toy::default().conclude();
    result.asked = Some(asked.clone());
    detail.run.asked = asked;
    let plans = vec![PlanText { drive: result.name.clone(), hash: result.plan_hash.clone(), text: "x = 1".to_owned() }];
    let made = MadeBy { command: "wordline run --workload 'a trace.csv'".to_owned(), version: "9.9.9".to_owned(), model: None, plans };
    let report = Report::new(vec![result]).with_made_by(made.clone());
    let json: serde_json::Value = serde_json::from_str(&json(&report)).expect("JSON");
    assert_eq!((&json["made_by"]["command"], &json["made_by"]["version"]), (&made.command.as_str().into(), &"9.9.9".into()));
    assert_eq!(
        (&json["made_by"]["plans"][0]["text"], &json["drives"][0]["asked"]["workload"]["digest"]),
        (&"x = 1".into(), &"00ff00ff00ff00ff".into())
    );
    let page = html::page(&report, &[vec![detail.clone()]]);
    let told = [
        "<pre>wordline run --workload &#39;a trace.csv&#39;</pre>",
        "Wordline 9.9.9",
        "00ff00ff00ff00ff",
        "2000 cycles, 1 month",
        "<td>50 %</td>",
    ];
    told.iter().for_each(|text| assert!(page.contains(text), "{text}: {page}"));
    let about = about(&made, std::iter::once(&detail.run));
    let mut log = RequestLog::new(Format::Parquet, Vec::new(), Nanos::ZERO).expect("a table");
    log.mark(&about);
    for table in [log.finish().expect("a table"), write_intervals(Format::Parquet, Vec::new(), &[detail], &about).expect("a table")] {
        let reader = SerializedFileReader::new(Buffer::from(table)).expect("Parquet");
        let marks = reader.metadata().file_metadata().key_value_metadata().expect("marks").clone();
        let mark = |key: &str| marks.iter().find(|mark| mark.key == key).and_then(|mark| mark.value.clone()).unwrap_or_default();
        assert_eq!((mark("wordline.command"), mark("wordline.version")), (made.command.clone(), "9.9.9".to_owned()));
        let runs: serde_json::Value = serde_json::from_str(&mark("wordline.runs")).expect("JSON");
        assert_eq!((&runs[0]["asked"]["workload"]["digest"], &runs[0]["seed"]), (&"00ff00ff00ff00ff".into(), &1.into()));
    }
}
