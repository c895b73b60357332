//! Figures against arithmetic done by hand.

use wordline_engine::{Completion, Event, FlashEvent, Observer, Stages};
use wordline_figures::{Cost, DriveResult, HLayer, Identity, Interval, Measured, Metrics, Report, Scope, conclude};
use wordline_units::{
    Attributes, BlockId, Bytes, Cause, CellKind, ChannelId, DieId, FlashOp, Geometry, GroupId, HostOp, JobId, Nanos, PageId, Priority,
    RequestId,
};

use crate::fabricated::Toy;

fn scope() -> Scope {
    Scope {
        dies: 2,
        channels: 1,
        cores: 2,
        unit: Bytes::kib(4),
        page: Bytes::kib(16),
        h_layer: None,
        queue_depth: Some(1),
        interval: Interval::default(),
        read_limits: None,
    }
}

fn request(metrics: &mut Metrics, op: HostOp, from: u64, took: u64, sectors: u32) {
    let (request, priority) = (RequestId(0), Priority::Normal);
    let stages = Stages { core: Nanos(took / 4), die: Nanos(took - took / 4), ..Stages::default() };
    metrics.observe(Nanos(from), &Event::Arrived { request, op, attributes: Attributes::of(priority), sectors });
    let done = Completion {
        for_failure: false,
        request,
        op,
        attributes: Attributes::of(priority),
        sectors,
        sector: 0,
        arrived: Nanos(from),
        stages,
        core: Nanos::ZERO,
        dram: Nanos::ZERO,
        ok: true,
        blank: 0,
        die: None,
        job: JobId(0),
    };
    metrics.observe(Nanos(from + took), &Event::Completed(done));
}

fn flash(op: FlashOp, cause: Cause, issued: u64, array: u64, units: [u16; 3]) -> Event {
    Event::Flash(operation(op, cause, issued, array, units))
}

fn operation(op: FlashOp, cause: Cause, issued: u64, array: u64, units: [u16; 3]) -> FlashEvent {
    FlashEvent {
        die: DieId(1),
        channel: ChannelId(0),
        op,
        cause,
        block: BlockId(0),
        page: PageId(0),
        pages: 2,
        host_units: units[0],
        moved_units: units[1],
        padding_units: units[2],
        issued: Nanos(issued),
        array: Nanos(array),
        bus: Nanos(array / 10),
        bus_end: Nanos::ZERO,
        dram: Nanos(array / 20),
        link: Nanos::ZERO,
        core: Nanos(array / 5),
        ok: true,
        retries: 0,
        errors: 0,
        stops: 0,
        stops_now: 0,
        attributes: None,
    }
}

fn result(measured: &Measured) -> DriveResult {
    conclude(&Identity::default(), measured, &[], Cost::default()).0
}

fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("a report is valid JSON")
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value} is not {expected}");
}

#[test]
fn a_run_of_136_ms_is_136_ms_long() {
    let mut metrics = Metrics::new(scope());
    for n in 0..1_000 {
        request(&mut metrics, HostOp::Read, n * 136_000, 136_000, 8);
    }
    let result = result(&metrics.finish(Nanos(136_000_000), 0));
    assert_eq!(result.simulated_seconds, 0.136);
    close(result.host.iops, 1_000.0 / 0.136);
    close(result.host.read_mib_s, 1_000.0 * 4_096.0 / 1_048_576.0 / 0.136);
    close(result.in_flight.mean, 1.0);
    close(result.in_flight.iops_times_latency, 1.0);
    assert_eq!(result.host.write_iops, 0.0);
    assert!(result.latency_us.write.is_none() && result.waf.total.is_none());
    assert!(result.checks.passed);
}

#[test]
fn a_run_of_no_length_has_no_rates_rather_than_infinite_ones() {
    let result = result(&Metrics::new(scope()).finish(Nanos::ZERO, 0));
    assert_eq!((result.host.iops, result.utilisation.die, result.in_flight.mean), (0.0, 0.0, 0.0));
    assert!(!json(&Report::new(vec![result])).contains("null,\n      \"iops\""));
}

#[test]
fn write_amplification_is_units_programmed_over_units_written() {
    let mut metrics = Metrics::new(scope());
    // Ten writes of 4 KiB and ten of 2 KiB: 15 units' worth.
    for n in 0..20 {
        request(&mut metrics, HostOp::Write, n * 100, 100, if n < 10 { 8 } else { 4 });
    }
    let steps = [
        (FlashOp::Program, Cause::Host, [12, 0, 3]),
        (FlashOp::Program, Cause::Host, [6, 1, 0]),
        (FlashOp::Program, Cause::Fill, [0, 2, 0]),
        (FlashOp::Program, Cause::Gc, [0, 15, 0]),
        (FlashOp::Copyback, Cause::Gc, [0, 6, 0]),
        (FlashOp::Program, Cause::Wear, [0, 3, 0]),
        (FlashOp::Program, Cause::Disturb, [0, 4, 2]),
        (FlashOp::Program, Cause::Retire, [0, 9, 0]),
        (FlashOp::Read, Cause::Gc, [0, 0, 0]),
        (FlashOp::Erase, Cause::Gc, [0, 0, 0]),
    ];
    for (n, (op, cause, units)) in steps.into_iter().enumerate() {
        let issued = 2_000 + 100 * n as u64;
        metrics.observe(Nanos(issued + 100), &flash(op, cause, issued, 100, units));
    }
    let result = result(&metrics.finish(Nanos(4_000), 0));
    let waf = &result.waf;
    let part = |part: Option<f64>| part.unwrap();
    close(part(waf.host), 18.0 / 15.0);
    close(part(waf.fill), 3.0 / 15.0);
    close(part(waf.gc), 21.0 / 15.0);
    close(part(waf.wear), 3.0 / 15.0);
    close(part(waf.disturb), 4.0 / 15.0);
    close(part(waf.retire), 9.0 / 15.0);
    close(part(waf.padding), 5.0 / 15.0);
    close(part(waf.total), 63.0 / 15.0);
    assert_eq!((result.pages_programmed, result.pages_read, result.erases), (16, 2, 2));
    // Ten operations of 100 ns in 4,000 ns, on one of two dies, and on two cores.
    close(result.utilisation.die, 1_000.0 / 8_000.0);
    close(result.utilisation.die_max, 1_000.0 / 4_000.0);
    close(result.utilisation.channel, 100.0 / 4_000.0);
    close(result.utilisation.core, 200.0 / 8_000.0);
    close(result.utilisation.dram, 50.0 / 4_000.0);
}

#[test]
fn sanitising_is_told_by_its_kind_and_only_where_there_is_any() {
    let told = |steps: &[(FlashOp, Cause, [u16; 3])]| {
        let mut metrics = Metrics::new(scope());
        request(&mut metrics, HostOp::Write, 0, 100, 8 * 10);
        for (n, &(op, cause, units)) in (0..).zip(steps) {
            let issued = 2_000 + 100 * n;
            metrics.observe(Nanos(issued + 100), &flash(op, cause, issued, 100, units));
        }
        result(&metrics.finish(Nanos(4_000), 0))
    };
    let plain = told(&[(FlashOp::Program, Cause::Host, [10, 0, 0])]);
    let text = json(&Report::new(vec![plain.clone()]));
    assert!(!text.contains("sanitise") && plain.waf.sanitise.is_none() && plain.sanitised.is_none(), "{text}");
    assert!(!text.contains("keys") && plain.waf.keys.is_none(), "{text}");
    let sanitised = told(&[
        (FlashOp::Program, Cause::Host, [10, 0, 0]),
        (FlashOp::Program, Cause::Sanitise, [0, 5, 1]),
        (FlashOp::Program, Cause::Keys, [0, 0, 3]),
        (FlashOp::LockPage, Cause::Sanitise, [0; 3]),
        (FlashOp::LockPage, Cause::Host, [0; 3]),
        (FlashOp::LockPage, Cause::Gc, [0; 3]),
        (FlashOp::LockBlock, Cause::Gc, [0; 3]),
        (FlashOp::LockBlock, Cause::Gc, [0; 3]),
        (FlashOp::Scrub, Cause::Sanitise, [0; 3]),
        (FlashOp::Erase, Cause::Sanitise, [0; 3]),
    ]);
    close(sanitised.waf.sanitise.unwrap(), 0.5);
    close(sanitised.waf.keys.unwrap(), 0.3);
    close(sanitised.waf.padding.unwrap(), 0.1);
    close(sanitised.waf.total.unwrap(), 1.9);
    let done = sanitised.sanitised.as_ref().unwrap();
    assert_eq!([done.page_locks, done.block_locks, done.scrubs, done.reprograms], [3, 2, 1, 0]);
    // Two planes at a time: pages, but not operations, count double. An erase is one, whatever for.
    let kinds: Vec<(&str, &str, u64, u64)> =
        sanitised.flash.iter().map(|kind| (kind.op.as_str(), kind.cause.as_str(), kind.operations, kind.pages)).collect();
    assert!(kinds.contains(&("page lock", "gc", 1, 2)) && kinds.contains(&("block lock", "gc", 2, 4)), "{kinds:?}");
    assert_eq!((sanitised.erases, sanitised.pages_programmed), (2, 6));
    let compared = json(&Report::new(vec![DriveResult { name: "plain".to_owned(), ..plain }, sanitised]));
    assert!(compared.contains("sanitised.page_locks") && !compared.contains("sanitised.reprograms"));
}

#[test]
fn programs_are_told_by_their_place_in_the_h_layer() {
    // Four wordlines of three pages in an h-layer.
    let mut metrics =
        Metrics::new(Scope { h_layer: Some(HLayer { pages: 3, wordlines: 4 }), interval: Interval::Fixed(Nanos(500)), ..scope() });
    let program = |page: u16, cause: Cause, issued: u64, array: u64| {
        Event::Flash(FlashEvent { page: PageId(page), ..operation(FlashOp::Program, cause, issued, array, [1, 0, 0]) })
    };
    let steps = [
        (0, Cause::Host, 100),
        (3, Cause::Host, 60),
        (12, Cause::Host, 120),
        (6, Cause::Host, 70),
        (9, Cause::Gc, 80),
        (15, Cause::Host, 70),
        (24, Cause::Recovery, 110),
    ];
    for (n, (page, cause, array)) in (0..).zip(steps) {
        metrics.observe(Nanos(200 * n + array), &program(page, cause, 200 * n, array));
    }
    metrics.observe(Nanos(2_000), &flash(FlashOp::Copyback, Cause::Gc, 1_900, 90, [0, 1, 0]));
    (0..3).for_each(|_| metrics.observe(Nanos(2_000), &Event::ProgrammedAgain { die: DieId(0), group: GroupId(0) }));
    let measured = metrics.finish(Nanos(2_000), 0);
    let by_row: Vec<_> = measured.rows.iter().map(|row| (row.leader_programs, row.follower_programs)).collect();
    assert_eq!(by_row, [(1, 1), (1, 1), (0, 1), (0, 0)]);
    assert_eq!(
        measured.rows.iter().map(wordline_figures::series::Row::leaders).collect::<Vec<_>>(),
        [Some(0.5), Some(0.5), Some(0.0), None]
    );
    let result = result(&measured);
    let lines = result.wordlines.as_ref().unwrap();
    assert_eq!((lines.leaders.host_programs, lines.leaders.programs, lines.leaders.program_us), (2, 3, Some(0.11)));
    assert_eq!((lines.followers.host_programs, lines.followers.programs, lines.followers.program_us), (3, 4, Some(0.07)));
    assert_eq!(result.programmed_again, 3);
    // Where nobody leads, nothing is told, not even zeros.
    let json = json(&Report::new(vec![Toy { requests: 100, ..Toy::default() }.conclude().0]));
    assert!(!json.contains("wordlines") && !json.contains("programmed_again"), "{json}");
}

#[test]
fn only_whole_wordlines_of_shared_h_layers_lead() {
    let geometry = |wordlines_per_layer, cell| Geometry {
        channels: 1,
        dies_per_channel: 1,
        planes: 1,
        blocks: 4,
        layers: 2,
        wordlines_per_layer,
        cell,
        page: Bytes::kib(16),
        spare: Bytes(0),
    };
    assert_eq!(HLayer::of(&geometry(4, CellKind::Tlc), 3), Some(HLayer { pages: 3, wordlines: 4 }));
    assert_eq!(HLayer::of(&geometry(4, CellKind::Tlc), 1), None, "page by page");
    assert_eq!(HLayer::of(&geometry(1, CellKind::Tlc), 3), None, "one wordline in an h-layer");
}

#[test]
fn overwrites_that_meet_in_the_buffer_put_the_hosts_share_below_one() {
    let mut metrics = Metrics::new(scope());
    (0..4).for_each(|n| request(&mut metrics, HostOp::Write, n * 10, 10, 8));
    metrics.observe(Nanos(200), &flash(FlashOp::Program, Cause::Host, 100, 100, [1, 0, 3]));
    let waf = result(&metrics.finish(Nanos(200), 0)).waf;
    assert_eq!((waf.host, waf.padding, waf.total), (Some(0.25), Some(0.75), Some(1.0)));
}

#[test]
fn what_happened_before_the_window_does_not_count() {
    let mut metrics = Metrics::new(scope());
    (0..50).for_each(|n| request(&mut metrics, HostOp::Write, n * 10, 10, 8));
    metrics.reset(Nanos(600));
    // An erase that began before the window: only its part within the window is busy time.
    metrics.observe(Nanos(900), &flash(FlashOp::Erase, Cause::Gc, 500, 400, [0; 3]));
    request(&mut metrics, HostOp::Read, 900, 100, 8);
    let measured = metrics.finish(Nanos(1_600), 0);
    let result = result(&measured);
    assert_eq!(measured.elapsed, Nanos(1_000));
    assert_eq!((result.host.writes, result.host.reads, result.erases), (0, 1, 2));
    close(result.utilisation.die_max, 0.3);
    close(result.in_flight.mean, 0.1);
    assert_eq!(measured.violations, []);
}

#[test]
fn rows_add_up_to_the_window_however_often_they_were_merged() {
    for interval in [
        Interval::Auto { first: Nanos(700), rows: 32 },
        Interval::Auto { first: Nanos::from_millis(1), rows: 512 },
        Interval::Fixed(Nanos::from_millis(7)),
    ] {
        let toy = Toy { mix: (40, 5), ..Toy::default() };
        let (events, _) = toy.events();
        let mut metrics = Metrics::new(Scope { interval, ..toy.scope() });
        events.iter().for_each(|(at, event)| metrics.observe(*at, event));
        let measured = metrics.finish(events.last().unwrap().0, 0);
        let rows = &measured.rows;
        assert!(rows.len() > 8, "{interval:?}: {} rows", rows.len());
        if let Interval::Auto { rows: most, .. } = interval {
            assert!(rows.len() <= most);
        }
        assert_eq!(rows.iter().map(|row| row.width).sum::<Nanos>(), measured.elapsed);
        assert_eq!(rows.iter().map(|row| row.read.requests).sum::<u64>(), measured.totals.host(HostOp::Read).requests);
        assert_eq!(rows.iter().map(|row| row.write.latency_ns).sum::<u64>(), measured.totals.host(HostOp::Write).latency_ns());
        assert_eq!(rows.iter().map(|row| row.die_ns).sum::<u64>(), measured.totals.die_ns);
        assert_eq!(rows.iter().map(|row| row.channel_ns).sum::<u64>(), measured.totals.channel_ns);
        assert_eq!(rows.iter().map(|row| row.in_flight_ns).sum::<u128>(), measured.in_flight_ns);
        assert_eq!(
            rows.iter().map(|row| row.moved_units).sum::<u64>(),
            measured.totals.moved_units(Cause::Gc) + measured.totals.moved_units(Cause::Wear)
        );
        for pair in rows.windows(2) {
            assert_eq!(pair[0].start + pair[0].width, pair[1].start);
            assert!(pair[0].width >= pair[1].width);
        }
    }
}

#[test]
fn a_long_silence_makes_no_more_rows_than_allowed() {
    let mut metrics = Metrics::new(scope());
    request(&mut metrics, HostOp::Read, 0, 100, 8);
    request(&mut metrics, HostOp::Read, 7 * 86_400_000_000_000, 100, 8);
    let measured = metrics.finish(Nanos(7 * 86_400_000_000_000 + 100), 0);
    assert!(measured.rows.len() <= 512);
    assert_eq!(measured.rows.iter().map(|row| row.read.requests).sum::<u64>(), 2);
}

#[test]
fn no_row_shows_more_work_than_it_had_time_for() {
    let mut metrics = Metrics::new(Scope { interval: Interval::Fixed(Nanos(100)), ..scope() });
    metrics.observe(Nanos(1_050), &flash(FlashOp::Erase, Cause::Gc, 20, 1_030, [0; 3]));
    let measured = metrics.finish(Nanos(1_100), 0);
    let busy: Vec<u64> = measured.rows.iter().map(|row| row.die_ns).collect();
    assert_eq!(busy, [80, 100, 100, 100, 100, 100, 100, 100, 100, 100, 50]);
}

#[test]
fn stages_sum_to_the_mean_latency_and_priorities_to_the_whole() {
    let (result, detail) = Toy { mix: (60, 10), ..Toy::default() }.conclude();
    let pairs = [(&result.latency_us.read, &result.stages_us.read), (&result.latency_us.write, &result.stages_us.write)];
    for (latency, stages) in pairs {
        let (mean, sum) = (latency.as_ref().unwrap().mean, stages.as_ref().unwrap().values().iter().sum::<f64>());
        assert!((mean - sum).abs() < 1e-9 * mean);
    }
    let classes = result.latency_us_by_priority.iter().filter(|class| class.op == "read");
    assert_eq!(classes.map(|class| class.latency_us.count).sum::<u64>(), result.host.reads);
    for curve in detail.curves.iter().filter(|curve| !curve.is_empty()) {
        assert!(curve.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1) && curve.last().unwrap().1 == 1.0);
        assert!(curve.len() < 1_500, "{} points", curve.len());
    }
}

#[test]
fn a_comparison_is_paired_by_seed() {
    let drive = |name: &'static str, seed, moved| Toy { name, seed, moved, requests: 4_000, ..Toy::default() }.conclude().0;
    let mut drives = Vec::new();
    for seed in [7, 3, 5] {
        drives.extend([drive("base", seed, 12), drive("other", seed, 6), drive("same", seed, 12)]);
    }
    let comparison = Report::new(drives.clone()).comparison.unwrap();
    assert_eq!((comparison.baseline.as_str(), comparison.seeds.as_slice()), ("base", [7, 3, 5].as_slice()));
    let same = comparison.find("host.iops", "same").unwrap();
    assert_eq!((same.ratio, same.low, same.high), (Some(1.0), Some(1.0), Some(1.0)), "pairs differ by nothing, although seeds differ");
    let other = comparison.find("waf.total", "other").unwrap();
    assert!(other.low.unwrap() < other.ratio.unwrap() && other.high.unwrap() < 1.0);
    // One seed, and a drive that lacks a seed.
    let one = Report::new(drives[..2].to_vec()).comparison.unwrap();
    assert_eq!(one.find("host.iops", "other").unwrap().low, None);
    assert!(one.method.contains("no confidence interval"));
    assert_eq!(Report::new(drives[..4].to_vec()).comparison.unwrap().seeds, [7]);
    assert!(Report::new(drives[..1].to_vec()).comparison.is_none());
}
