//! Plants each defect that a simulator could hide and shows that the books find it. (Other simulators have shipped most of these.)

use wordline_engine::{Completion, Event, FlashEvent, Observer, Stages};
use wordline_figures::{Account, Interval, Metrics, Scope};
use wordline_units::{Attributes, BlockId, Bytes, Cause, ChannelId, DieId, FlashOp, GroupId, HostOp, JobId, Nanos, PageId, RequestId};

use crate::fabricated::Toy;

fn scope() -> Scope {
    Scope {
        dies: 2,
        channels: 1,
        cores: 1,
        unit: Bytes::kib(4),
        page: Bytes::kib(16),
        h_layer: None,
        queue_depth: None,
        interval: Interval::default(),
        read_limits: None,
    }
}

fn arrived(request: u32) -> Event {
    Event::Arrived { request: RequestId(request), op: HostOp::Read, attributes: Attributes::NONE, sectors: 8 }
}

fn completed(request: u32, from: u64, took: u64) -> Event {
    Event::Completed(Completion {
        for_failure: false,
        request: RequestId(request),
        op: HostOp::Read,
        attributes: Attributes::NONE,
        sectors: 8,
        sector: 0,
        arrived: Nanos(from),
        stages: Stages { die: Nanos(took), ..Stages::default() },
        core: Nanos::ZERO,
        dram: Nanos::ZERO,
        ok: true,
        blank: 0,
        die: None,
        job: JobId(0),
    })
}

fn flash(die: u16, issued: u64, array: u64, bus: u64) -> Event {
    Event::Flash(FlashEvent {
        die: DieId(die),
        channel: ChannelId(0),
        op: FlashOp::Read,
        cause: Cause::Host,
        block: BlockId(0),
        page: PageId(0),
        pages: 1,
        host_units: 0,
        moved_units: 0,
        padding_units: 0,
        issued: Nanos(issued),
        array: Nanos(array),
        bus: Nanos(bus),
        bus_end: Nanos::ZERO,
        dram: Nanos::ZERO,
        link: Nanos::ZERO,
        core: Nanos::ZERO,
        ok: true,
        retries: 0,
        errors: 0,
        stops: 0,
        stops_now: 0,
        attributes: None,
    })
}

/// The accounts that do not balance after these events, with `held` requests in the drive at the end.
fn found(events: &[(u64, Event)], held: u64) -> Vec<Account> {
    let mut metrics = Metrics::new(scope());
    events.iter().for_each(|(at, event)| metrics.observe(Nanos(*at), event));
    let end = events.iter().map(|event| event.0).max().unwrap_or(0);
    metrics.finish(Nanos(end), held).violations.iter().map(|violation| violation.account).collect()
}

#[test]
fn a_clean_stream_has_no_violation() {
    let events = [(5, arrived(0)), (6, arrived(1)), (40, flash(0, 5, 30, 5)), (45, completed(0, 5, 40)), (90, completed(1, 6, 84))];
    assert_eq!(found(&events, 0), []);
    assert_eq!(found(&events[..3], 2), [], "requests still in the drive are not lost");
}

#[test]
fn a_whole_fabricated_run_has_no_violation() {
    let (result, _) = Toy { requests: 50_000, mix: (40, 5), ..Toy::default() }.conclude();
    assert_eq!(result.checks.violations, []);
    assert!(result.checks.passed);
}

#[test]
fn a_lost_request_is_found() {
    assert_eq!(found(&[(5, arrived(0)), (6, arrived(1)), (45, completed(0, 5, 40))], 0), [Account::NothingLost]);
}

#[test]
fn one_request_lost_among_many_is_found_and_named() {
    let toy = Toy::default();
    let (mut events, _) = toy.events();
    let lost = events.iter().rposition(|(_, event)| matches!(event, Event::Completed(_))).unwrap();
    events.remove(lost);
    let mut metrics = Metrics::new(toy.scope());
    events.iter().for_each(|(at, event)| metrics.observe(*at, event));
    let measured = metrics.finish(events.last().unwrap().0, 0);
    assert_eq!(measured.requests(), toy.requests - 1, "served, not generated");
    assert_eq!(measured.violations[0].account, Account::NothingLost);
    assert!(measured.violations[0].message.contains("1 requests arrived and never completed, among them request"));
}

#[test]
fn an_id_used_again_before_its_request_completes_is_found() {
    assert_eq!(found(&[(5, arrived(0)), (6, arrived(0)), (45, completed(0, 5, 40))], 0), [Account::ArrivalsAndCompletions]);
}

#[test]
fn a_request_completed_twice_is_found() {
    let events = [(5, arrived(0)), (45, completed(0, 5, 40)), (46, completed(0, 5, 41))];
    assert_eq!(found(&events, 0), [Account::ArrivalsAndCompletions]);
}

#[test]
fn a_completion_out_of_nowhere_is_found() {
    assert_eq!(found(&[(45, completed(7, 5, 40))], 0), [Account::ArrivalsAndCompletions]);
    assert_eq!(found(&[(45, arrived(u32::MAX))], 0), [Account::ArrivalsAndCompletions], "and an absurd id does not take all memory");
}

#[test]
fn a_wrong_stage_sum_is_found_and_breaks_littles_law() {
    assert_eq!(found(&[(5, arrived(0)), (45, completed(0, 5, 39))], 0), [Account::StageSum, Account::LittlesLaw]);
}

#[test]
fn a_latency_measured_from_a_false_arrival_breaks_littles_law() {
    // Stages and claimed arrival agree with each other, and both are wrong: only the integral knows.
    assert_eq!(found(&[(5, arrived(0)), (45, completed(0, 25, 20))], 0), [Account::SameRequest, Account::LittlesLaw]);
}

#[test]
fn served_sectors_that_differ_from_those_asked_are_found() {
    let Event::Completed(done) = completed(0, 5, 40) else { unreachable!() };
    let short = Event::Completed(Completion { sectors: 7, ..done });
    assert_eq!(found(&[(5, arrived(0)), (45, short)], 0), [Account::SameRequest]);
}

#[test]
fn time_that_goes_back_is_found() {
    assert_eq!(found(&[(5, arrived(0)), (45, completed(0, 5, 40)), (44, flash(0, 5, 10, 0))], 0), [Account::TimeOrder]);
}

#[test]
fn a_die_that_does_two_things_at_once_is_found() {
    assert_eq!(found(&[(50, flash(0, 0, 50, 0)), (60, flash(0, 10, 50, 0))], 0), [Account::DieCapacity]);
    assert_eq!(found(&[(50, flash(0, 0, 50, 0)), (60, flash(1, 10, 50, 0))], 0), [], "two dies may");
    assert_eq!(found(&[(50, flash(0, 10, 50, 0))], 0), [Account::DieCapacity], "more work than its own span");
}

#[test]
fn an_overlap_is_found_within_any_busy_period() {
    let mut events: Vec<_> = (0..10_000u64).map(|n| (n * 100 + 100, flash(0, n * 100, 60, 0))).collect();
    assert_eq!(found(&events, 0), []);
    events.insert(5_000, (500_000, flash(0, 499_910, 50, 0)));
    assert_eq!(found(&events, 0), [Account::DieCapacity], "although the die is idle for 40 % of the run");
}

#[test]
fn a_channel_that_moves_two_transfers_at_once_is_found() {
    assert_eq!(found(&[(50, flash(0, 0, 10, 40)), (60, flash(1, 10, 10, 40))], 0), [Account::ChannelCapacity]);
}

#[test]
fn a_core_held_for_longer_than_there_was_time_is_found() {
    let Event::Flash(once) = flash(0, 0, 10, 0) else { unreachable!() };
    let events: Vec<_> =
        (1..100u64).map(|n| (n * 10, Event::Flash(FlashEvent { issued: Nanos(n * 10 - 10), core: Nanos(11), ..once }))).collect();
    assert_eq!(found(&events, 0), [Account::CoreAndDramCapacity]);
}

#[test]
fn a_die_that_the_drive_does_not_have_is_found() {
    assert_eq!(found(&[(50, flash(2, 0, 10, 0))], 0), [Account::KnownParts]);
}

#[test]
fn valid_units_that_vanish_are_found() {
    let mut metrics = Metrics::new(scope());
    let Event::Flash(once) = flash(0, 0, 10, 0) else { unreachable!() };
    metrics.observe(Nanos(10), &Event::Flash(FlashEvent { op: FlashOp::Program, host_units: 4, ..once }));
    metrics.observe(Nanos(10), &Event::Invalidated { die: DieId(0), units: 1 });
    metrics.check_valid_units(100, 103);
    assert_eq!(metrics.violations(), []);
    metrics.check_valid_units(100, 102);
    assert_eq!(metrics.violations()[0].account, Account::ValidUnits);
}

#[test]
fn units_of_programs_that_are_done_again_are_not_taken_for_valid_ones() {
    let mut metrics = Metrics::new(scope());
    let program = |number: u64, ok: bool| {
        let Event::Flash(once) = flash(0, 10 * number, 10, 0) else { unreachable!() };
        Event::Flash(FlashEvent { op: FlashOp::Program, host_units: 4, ok, ..once })
    };
    let again = Event::ProgrammedAgain { die: DieId(0), group: GroupId(0) };
    // One that is good and not relied on, one that fails, and one that lands.
    for (number, event) in [(0, program(0, true)), (0, again), (1, program(1, false)), (1, again), (2, program(2, true))] {
        metrics.observe(Nanos(10 * number + 10), &event);
    }
    metrics.check_valid_units(100, 104);
    assert_eq!(metrics.violations(), []);
}

#[test]
fn a_violation_says_what_when_and_how_often() {
    let mut metrics = Metrics::new(scope());
    for n in 0..3 {
        metrics.observe(Nanos(2_000 + n), &completed(9, 0, 2_000 + n));
    }
    let text = metrics.violations()[0].to_string();
    assert_eq!(text, "each arrival completes once violated, 3 times; first at 2 us: request 9 completes but is not in flight");
}
