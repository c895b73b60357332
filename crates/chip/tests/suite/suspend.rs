//! Does suspending conserve the array's work: what was left, plus the overheads, and nothing else?

use wordline_cells::Faults;
use wordline_chip::{Chip, Probe};
use wordline_flash::{Command, ProgramScope, Status};
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
            let suspended = give(&mut chip, Command::Suspend, now);
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
            assert_earliest_ready_at(&chip, Command::Suspend, now + t.suspend_interval);
        }
    }
}

#[test]
fn the_first_suspend_waits_for_no_interval() {
    for erasing in [false, true] {
        let (chip, begin, end) = working(erasing);
        assert_eq!(chip.probe(&Command::Suspend, begin), Probe::Ready);
        assert_eq!(chip.probe(&Command::Suspend, end - Nanos(1)), Probe::Ready);
    }
}

#[test]
fn a_program_runs_inside_a_suspended_erase() {
    let (mut chip, _, _) = working(true);
    let t = chip.sheet().timing;
    let now = give(&mut chip, Command::Suspend, Nanos(10_000)).ready_at;
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
    let now = give(&mut chip, Command::Suspend, BUS * 2).ready_at;
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
    let now = give(&mut chip, Command::Suspend, issued.ready_at + Nanos(1)).ready_at;
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
