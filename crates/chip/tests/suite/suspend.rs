//! Does suspending conserve the array's work: what was left, plus the overheads, and nothing else?

use wordline_cells::Faults;
use wordline_chip::{Chip, Probe, Stops, Why};
use wordline_flash::{Command, ProgramScope, Sheet, Status, Stop};
use wordline_units::{BlockId, Lpn, Nanos, PageId, PlaneId};

use crate::common::*;

/// A die that has begun a program or an erase of block 1 at the returned instant, and when it would end.
fn working(erasing: bool) -> (Chip, Nanos, Nanos) {
    let mut chip = chip();
    give(&mut chip, IN, Nanos::ZERO);
    let command = if erasing { erase(at(1, 0)) } else { program(at(1, 0)) };
    let end = give(&mut chip, command, BUS).ready_at;
    (chip, BUS, end)
}

#[test]
fn array_time_is_conserved_over_any_number_of_suspends() {
    for erasing in [false, true] {
        let (mut chip, begin, end) = working(erasing);
        let t = chip.sheet().timing;
        let stop = if erasing { t.suspend_erase } else { t.suspend_program };
        let work = end - begin;
        let (mut now, mut worked) = (begin, Nanos::ZERO);
        for round in 0..3 {
            let done = t.suspend_interval + Nanos(round * 1_001);
            worked += done;
            now += done;
            let suspended = give(&mut chip, SUSPEND, now);
            assert_eq!(suspended.ready_at, now + stop);
            assert_eq!(chip.suspended(), Some(work - worked));
            assert_earliest_ready_at(&chip, read(at(0, 0)), now + stop);
            let read_done = give(&mut chip, read(at(0, 0)), now + stop).ready_at;
            assert_earliest_ready_at(&chip, Command::Resume, read_done);
            give(&mut chip, OUT, read_done);
            // The registers are needed by what is resumed, so its data has to leave first.
            assert_earliest_ready_at(&chip, Command::Resume, read_done + BUS);
            let resumed = give(&mut chip, Command::Resume, read_done + BUS);
            now = read_done + BUS;
            assert_eq!(resumed.ready_at, now + t.resume + (work - worked));
            assert_eq!((resumed.status, chip.suspended()), (Status::Good, None));
            assert_eq!(chip.array_until(), resumed.ready_at);
            // The time that the array takes to settle again is paid before any work is done.
            worked = worked.saturating_sub(t.resume);
            assert_earliest_ready_at(&chip, SUSPEND, now + t.suspend_interval);
        }
    }
}

#[test]
fn the_first_suspend_waits_for_no_interval() {
    for erasing in [false, true] {
        let (chip, begin, end) = working(erasing);
        assert_eq!(chip.probe(&SUSPEND, begin), Probe::Ready);
        assert_eq!(chip.probe(&SUSPEND, end - Nanos(1)), Probe::Ready);
    }
}

#[test]
fn a_program_runs_inside_a_suspended_erase() {
    let (mut chip, _, _) = working(true);
    let t = chip.sheet().timing;
    let now = give(&mut chip, SUSPEND, Nanos(10_000)).ready_at;
    let left = chip.suspended();
    give(&mut chip, IN, now);
    assert_earliest_ready_at(&chip, Command::Resume, now + BUS);
    let now = give(&mut chip, program(at(0, 0)), now + BUS).ready_at;
    assert_eq!(chip.suspended(), left);
    assert_earliest_ready_at(&chip, Command::Resume, now);
    let done = give(&mut chip, Command::Resume, now).ready_at;
    assert_eq!(Some(done - now - t.resume), left);
    assert_earliest_ready_at(&chip, read(at(1, 0)), done);
}

#[test]
fn the_status_of_a_suspended_operation_comes_with_its_resume() {
    let faults = Faults { program_fail: 1.0, ..Faults::default() };
    let mut chip: Chip = Chip::new(sheet(ProgramScope::Page), faults, 1, 0, UNITS);
    give(&mut chip, IN, Nanos::ZERO);
    assert_eq!(give(&mut chip, program(at(0, 0)), BUS).status, Status::Failed);
    let now = give(&mut chip, SUSPEND, BUS * 2).ready_at;
    let issued = give(&mut chip, read(at(1, 0)), now);
    assert_eq!(issued.status, Status::Good);
    assert_eq!(give(&mut chip, Command::Resume, issued.ready_at).status, Status::Failed);
    assert_eq!(give(&mut chip, Command::Status, issued.ready_at).status, Status::Failed);
}

#[test]
fn a_reset_ruins_what_was_being_changed_and_nothing_else() {
    let mut chip = chip();
    let now = write(&mut chip, at(0, 0), &[1, 2], Nanos::ZERO).ready_at;
    write(&mut chip, at(0, 1), &[3, 4], now);
    let now = give(&mut chip, Command::Reset, now + BUS * 2).ready_at;
    let issued = give(&mut chip, read(at(0, 0)), now);
    assert_eq!(issued.status, Status::Good);
    let issued = give(&mut chip, read(at(0, 1)), issued.ready_at);
    assert_eq!(issued.status, Status::Uncorrectable);
    // A suspended erase is lost too, and an erase makes both good again.
    give(&mut chip, erase(at(1, 0)), issued.ready_at);
    let now = give(&mut chip, SUSPEND, issued.ready_at + Nanos(1)).ready_at;
    let now = give(&mut chip, Command::Reset, now).ready_at;
    assert_eq!(chip.suspended(), None);
    let issued = give(&mut chip, read(at(1, 0)), now);
    assert_eq!(issued.status, Status::Uncorrectable);
    let now = give(&mut chip, erase(at(1, 0)), issued.ready_at).ready_at;
    let now = give(&mut chip, erase(at(0, 0)), now).ready_at;
    let now = write(&mut chip, at(0, 0), &[5, 6], now).ready_at;
    let now = write(&mut chip, at(0, 1), &[7, 8], now).ready_at;
    let issued = give(&mut chip, read(at(0, 1)), now);
    assert_eq!(issued.status, Status::Good);
    assert_eq!(give(&mut chip, read(at(1, 0)), issued.ready_at).status, Status::Good);
    assert_eq!(chip.spare(PlaneId(0), BlockId(0), PageId(1), 1), Lpn(8));
}

#[test]
fn a_reset_after_the_end_ruins_nothing() {
    let mut chip = chip();
    let done = write(&mut chip, at(0, 0), &[1, 2], Nanos::ZERO).ready_at;
    let now = give(&mut chip, Command::Reset, done).ready_at;
    assert_eq!(give(&mut chip, read(at(0, 0)), now).status, Status::Good);
}

/// A die that stops at the end of a step and has begun a program or an erase of block 1 at the returned instant, and when it would end.
fn stepping_at_work(erasing: bool, sheet: Sheet) -> (Chip, Nanos, Nanos) {
    let mut chip: Chip = Chip::new(sheet, Faults::default(), 1, 0, UNITS);
    give(&mut chip, IN, Nanos::ZERO);
    let command = if erasing { erase(at(1, 0)) } else { program(at(1, 0)) };
    let end = give(&mut chip, command, BUS).ready_at;
    (chip, BUS, end)
}

#[test]
fn at_a_step_what_is_done_is_whole_steps_and_at_once_the_running_one_is_done_again() {
    for erasing in [false, true] {
        let sheet = stepping(ProgramScope::Page);
        let (chip, begin, end) = stepping_at_work(erasing, sheet);
        let t = chip.sheet().timing;
        let (step, halt) = if erasing { (t.step_erase, t.halt_erase) } else { (t.step_program, t.halt_program) };
        let now = begin + step * 3 + Nanos(17);
        let mut at_step = chip.clone();
        assert_eq!(give(&mut at_step, SUSPEND, now).ready_at, begin + step * 4);
        assert_eq!(at_step.suspended(), Some(end - begin - step * 4));
        assert_eq!(at_step.stops(), Stops { all: 1, now: 0 });
        let mut at_once = chip.clone();
        assert_eq!(give(&mut at_once, HALT, now).ready_at, now + halt);
        assert_eq!(at_once.suspended(), Some(end - begin - step * 3));
        assert_eq!(at_once.stops(), Stops { all: 1, now: 1 });
        // Raised while it waits for the end of the step; and never taken back.
        let mut raised = at_step.clone();
        assert_eq!(give(&mut raised, HALT, now + Nanos(5)).ready_at, now + Nanos(5) + halt);
        assert_eq!((raised.suspended(), raised.stops()), (at_once.suspended(), at_once.stops()));
        assert_illegal(&raised, SUSPEND, now + Nanos(6), Why::SomethingSuspended);
        assert_illegal(&raised, HALT, now + Nanos(6), Why::SomethingSuspended);
        // Where the step ends sooner than that, it is let go on.
        let late = begin + step * 4 - halt;
        assert_eq!(at_step.probe(&HALT, late), Probe::Blocked { until: begin + step * 4 });
        assert_eq!(at_step.probe(&HALT, late - Nanos(1)), Probe::Ready);
        // Steps are counted over resumes.
        let resumed = begin + step * 4 + Nanos(1_000_003);
        let done = give(&mut at_step, Command::Resume, resumed).ready_at;
        assert_eq!(done, resumed + t.resume + (end - begin - step * 4));
        let settled = resumed + t.resume;
        let again = settled + step + Nanos(1);
        assert_eq!(give(&mut at_step, SUSPEND, again.max(resumed + t.suspend_interval)).ready_at, {
            let steps = (again.max(resumed + t.suspend_interval) - settled).0 / step.0;
            settled + step * (steps + 1)
        });
    }
}

#[test]
fn each_resume_brings_the_work_on_and_its_last_step_is_not_stopped() {
    for erasing in [false, true] {
        let mut sheet = stepping(ProgramScope::Page);
        sheet.timing.suspend_interval = Nanos::ZERO;
        let (mut chip, begin, end) = stepping_at_work(erasing, sheet);
        let t = chip.sheet().timing;
        let step = if erasing { t.step_erase } else { t.step_program };
        let mut now = begin;
        // As soon as it goes on, it is to stop again.
        let mut stops = 0;
        while chip.probe(&SUSPEND, now) == Probe::Ready {
            let free = give(&mut chip, SUSPEND, now).ready_at;
            stops += 1;
            assert_eq!(chip.suspended(), Some(end - begin - step * stops), "a whole step has been done");
            now = free;
            give(&mut chip, Command::Resume, now);
        }
        assert_eq!(stops, (end - begin).0 / step.0, "one stop for each whole step");
        assert_eq!(chip.probe(&SUSPEND, now), Probe::Blocked { until: chip.array_until() });
        assert_eq!(chip.probe(&HALT, now), Probe::Ready, "at once, it can be");
    }
}

/// Time that the array of a die of this `sheet` works for one program or erase that is stopped at once at each of these instants, counted from where it goes
/// on, less what its resumes take; and the same as stops should make it: what it is ordered to do, and each broken step up to the stop once more.
fn worked_again(sheet: Sheet, erasing: bool, instants: &[Nanos]) -> (Nanos, Nanos) {
    let (mut chip, mut begin, end) = stepping_at_work(erasing, sheet);
    let step = if erasing { Nanos(117_007) } else { Nanos(44_003) };
    let t = chip.sheet().timing;
    let (mut worked, mut again) = (Nanos::ZERO, Nanos::ZERO);
    for &after in instants {
        let now = begin + after;
        let free = give(&mut chip, HALT, now).ready_at;
        worked += after;
        again += Nanos(after.0 % step.0);
        give(&mut chip, Command::Resume, free);
        begin = free + t.resume;
    }
    (worked + (chip.array_until() - begin), end - BUS + again)
}

/// Instants at which a resumed die takes a stop again, in the middle of its steps and at their ends.
const INSTANTS: [Nanos; 3] = [Nanos(131_071), Nanos(117_007), Nanos(100_044)];

#[test]
fn each_step_that_is_broken_off_is_done_again_and_nothing_else_is() {
    for erasing in [false, true] {
        let (worked, expected) = worked_again(stepping(ProgramScope::Page), erasing, &INSTANTS);
        assert_eq!(worked, expected, "erasing {erasing}");
    }
}

#[test]
fn planted_a_broken_step_that_is_not_done_again_shows() {
    for erasing in [false, true] {
        // A die that loses nothing goes on in the middle of a step.
        let mut sheet = stepping(ProgramScope::Page);
        sheet.capabilities.stop_at_step = false;
        (sheet.timing.step_program, sheet.timing.step_erase) = (Nanos::ZERO, Nanos::ZERO);
        let (worked, expected) = worked_again(sheet, erasing, &INSTANTS);
        assert!(worked < expected, "erasing {erasing}: {worked} where {expected} should be");
    }
}

/// The mean wait for the array, in steps, over instants drawn evenly.
fn mean_wait(sheet: Sheet) -> f64 {
    let (chip, begin, end) = stepping_at_work(true, sheet);
    let steps = (end - begin).0 / 117_007;
    let count = 4_000;
    let wait = |draw: u64| {
        let now = begin + Nanos(steps * 117_007 * draw / count);
        let free = give(&mut chip.clone(), SUSPEND, now).ready_at;
        (free - now).as_secs_f64() / 117_007e-9
    };
    (0..count).filter(|draw| steps * 117_007 * draw / count < (steps - 1) * 117_007).map(wait).sum::<f64>()
        / (0..count).filter(|draw| steps * 117_007 * draw / count < (steps - 1) * 117_007).count() as f64
}

#[test]
fn the_mean_wait_for_the_end_of_a_step_is_half_a_step() {
    let mean = mean_wait(stepping(ProgramScope::Page));
    assert!((mean - 0.5).abs() < 0.01, "{mean} steps");
}

#[test]
fn planted_a_fixed_delay_is_not_half_a_step() {
    let mut sheet = stepping(ProgramScope::Page);
    (sheet.capabilities.stop_at_step, sheet.timing.suspend_erase) = (false, Nanos(117_007));
    let mean = mean_wait(sheet);
    assert!((mean - 0.5).abs() > 0.1, "{mean} steps");
}

#[test]
fn a_read_that_is_broken_off_leaves_nothing_in_the_registers_and_has_disturbed_its_block() {
    let mut chip = chip();
    let done = write(&mut chip, at(0, 0), &[1, 2], Nanos::ZERO).ready_at;
    assert_illegal(&chip, Command::Abort, done, Why::NothingToAbort);
    let sensed = give(&mut chip, read(at(0, 0)), done).ready_at;
    let now = sensed - Nanos(1);
    assert_eq!(give(&mut chip.clone(), read(at(0, 0)), sensed).status, Status::Good);
    let free = give(&mut chip, Command::Abort, now).ready_at;
    assert_eq!(free, now + chip.sheet().timing.abort_read);
    assert_illegal(&chip, OUT, free, Why::NothingSensed);
    assert_illegal(&chip, copyback(at(1, 0)), free, Why::NoCopySource);
    assert_eq!(chip.reads(PlaneId(0), BlockId(0)), 1);
    assert_illegal(&chip, Command::Abort, free - Nanos(1), Why::NothingToAbort);
    assert_eq!(give(&mut chip, read(at(0, 0)), free).status, Status::Good);
    assert_eq!(chip.reads(PlaneId(0), BlockId(0)), 2);
}

#[test]
fn a_die_does_only_the_stops_that_its_sheet_lists() {
    let mut sheet = stepping(ProgramScope::Page);
    let able = &mut sheet.capabilities;
    (able.stop_now_program, able.abort_read) = (false, false);
    let (program, begin, _) = stepping_at_work(false, sheet);
    assert_illegal(&program, HALT, begin + Nanos(1), Why::Unsupported);
    let (erase, begin, end) = stepping_at_work(true, sheet);
    assert_eq!(erase.probe(&HALT, begin + Nanos(1)), Probe::Ready);
    let mut chip = erase;
    give(&mut chip, read(at(0, 0)), end);
    assert_illegal(&chip, Command::Abort, end + Nanos(1), Why::Unsupported);
    assert_eq!(sheet.capabilities.strongest(false, Stop::Now), Some(Stop::AtStep));
    assert_eq!(sheet.capabilities.strongest(true, Stop::Now), Some(Stop::Now));
    assert_eq!(sheet.capabilities.strongest(true, Stop::AtStep), Some(Stop::AtStep));
    sheet.capabilities.suspend_erase = false;
    assert_eq!(sheet.capabilities.strongest(true, Stop::Now), None);
}
