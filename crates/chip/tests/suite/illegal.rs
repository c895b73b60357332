//! Every reason to call a command illegal, and what a firmware hears that issues one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, Probe, Why};
use wordline_flash::{Command, PlaneSet, ProgramScope, Target};
use wordline_units::{BlockId, Bytes, Nanos, PageId, PlaneId};

use crate::common::*;

const LATE: Nanos = Nanos::from_secs(1);

#[test]
fn addresses_out_of_range() {
    let chip = chip();
    for make in [read, cache_read, program, cache_program, erase] {
        for planes in [PlaneSet(0), PlaneSet(4), PlaneSet(5), PlaneSet(0x80)] {
            assert_illegal(&chip, make(Target { planes, ..at(0, 0) }), LATE, Why::Planes);
        }
        assert_illegal(&chip, make(at(4, 0)), LATE, Why::Block);
        assert_illegal(&chip, make(both([0, 4], 0)), LATE, Why::Block);
    }
    for make in [read, cache_read, program, cache_program] {
        assert_illegal(&chip, make(at(0, 6)), LATE, Why::Page);
    }
    assert_earliest_ready_at(&chip, erase(at(0, 6)), Nanos::ZERO);
}

#[test]
fn factory_bad_blocks_are_neither_programmed_nor_erased() {
    let faults = Faults { factory_bad: 0.5, ..Faults::default() };
    let block = |chip: &Chip, bad| (0..4).find(|&block| chip.is_factory_bad(PlaneId(0), BlockId(block)) == bad);
    let (mut chip, bad, good) = (0..9)
        .map(|seed| Chip::new(sheet(ProgramScope::Page), faults, seed, 0, UNITS))
        .find_map(|chip: Chip| Some((chip.clone(), block(&chip, true)? as u16, block(&chip, false)? as u16)))
        .expect("half of the blocks are bad");
    give(&mut chip, IN, Nanos::ZERO);
    assert_illegal(&chip, program(at(bad, 0)), LATE, Why::FactoryBad);
    assert_illegal(&chip, erase(at(bad, 0)), LATE, Why::FactoryBad);
    assert_earliest_ready_at(&chip, program(at(good, 0)), BUS);
    // The mark itself has to be read.
    assert_earliest_ready_at(&chip, read(at(bad, 0)), BUS);
}

#[test]
fn pages_are_programmed_once_and_in_order() {
    let mut chip = chip();
    give(&mut chip, IN, Nanos::ZERO);
    assert_illegal(&chip, program(at(0, 1)), LATE, Why::PageSkipped);
    let now = give(&mut chip, program(at(0, 0)), BUS).ready_at;
    assert_illegal(&chip, program(at(0, 0)), LATE, Why::Programmed);
    assert_illegal(&chip, program(both([0, 0], 1)), LATE, Why::PageSkipped);
    let now = give(&mut chip, erase(at(0, 0)), now).ready_at;
    give(&mut chip, IN, now);
    assert_earliest_ready_at(&chip, program(at(0, 0)), now + BUS);
}

#[test]
fn one_shot_programs_begin_at_a_wordline() {
    let mut chip = one_shot();
    chip.fill_regular(PlaneId(0), BlockId(0), 1, wordline_units::Lpn(0), UNITS);
    give(&mut chip, IN, Nanos::ZERO);
    assert_illegal(&chip, program(at(0, 1)), LATE, Why::InsideWordline);
}

#[test]
fn a_block_whose_erase_failed_or_was_abandoned_is_not_programmed() {
    let faults = Faults { endurance: Some(0), ..Faults::default() };
    let mut failed: Chip = Chip::new(sheet(ProgramScope::Page), faults, 1, 0, UNITS);
    let now = give(&mut failed, erase(at(0, 0)), Nanos::ZERO).ready_at;
    give(&mut failed, IN, now);
    assert_illegal(&failed, program(at(0, 0)), LATE, Why::NotErased);
    let mut abandoned = chip();
    give(&mut abandoned, erase(at(0, 0)), Nanos::ZERO);
    let now = give(&mut abandoned, Command::Reset, Nanos(10)).ready_at;
    give(&mut abandoned, IN, now);
    assert_illegal(&abandoned, program(at(0, 0)), LATE, Why::NotErased);
}

#[test]
fn what_the_sheet_does_not_list() {
    let mut sheet = sheet(ProgramScope::Page);
    let able = &mut sheet.capabilities;
    (able.cache_read, able.cache_program, able.copyback) = (false, false, false);
    (able.suspend_program, able.suspend_erase) = (true, false);
    let mut chip: Chip = Chip::new(sheet, Faults::default(), 1, 0, UNITS);
    for command in [cache_read(at(0, 0)), cache_program(at(0, 0)), copyback(at(0, 0))] {
        assert_illegal(&chip, command, LATE, Why::Unsupported);
    }
    let erased = give(&mut chip, erase(at(0, 0)), Nanos::ZERO).ready_at;
    assert_illegal(&chip, SUSPEND, Nanos(100), Why::Unsupported);
    give(&mut chip, IN, erased);
    give(&mut chip, program(at(0, 0)), erased + BUS);
    assert_eq!(chip.probe(&SUSPEND, erased + BUS), Probe::Ready);
}

#[test]
fn transfers_have_bytes_and_room() {
    let mut chip = chip();
    let size = |bytes| Command::DataIn { bytes: Bytes(bytes) };
    assert_illegal(&chip, size(0), LATE, Why::Size);
    assert_illegal(&chip, size(145), LATE, Why::Size);
    give(&mut chip, size(100), Nanos::ZERO);
    assert_illegal(&chip, size(45), LATE, Why::Size);
    assert_earliest_ready_at(&chip, size(44), BUS);
    let now = give(&mut chip, read(at(0, 0)), BUS).ready_at;
    let size = |bytes| Command::DataOut { bytes: Bytes(bytes) };
    assert_illegal(&chip, size(0), LATE, Why::Size);
    assert_illegal(&chip, size(73), LATE, Why::Size);
    assert_earliest_ready_at(&chip, size(72), now);
}

#[test]
fn registers_must_hold_what_is_asked_of_them() {
    let mut chip = chip();
    assert_illegal(&chip, OUT, LATE, Why::NothingSensed);
    assert_illegal(&chip, program(at(0, 0)), LATE, Why::NothingTakenIn);
    assert_illegal(&chip, copyback(at(0, 0)), LATE, Why::NoCopySource);
    let now = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    assert_illegal(&chip, program(at(0, 0)), LATE, Why::NothingTakenIn);
    // The other plane holds nothing.
    assert_illegal(&chip, copyback(Target::single(PlaneId(1), BlockId(0), PageId(0))), LATE, Why::NoCopySource);
    assert_illegal(&chip, copyback(both([0, 0], 0)), LATE, Why::NoCopySource);
    give(&mut chip, IN, now);
    assert_illegal(&chip, OUT, LATE, Why::NothingSensed);
    assert_illegal(&chip, copyback(at(1, 0)), LATE, Why::NoCopySource);
    // Data that was taken in is lost to a read, and data is taken in once for each program.
    let now = give(&mut chip, read(at(0, 0)), now + BUS).ready_at;
    assert_illegal(&chip, program(at(0, 0)), LATE, Why::NothingTakenIn);
    give(&mut chip, IN, now);
    let now = give(&mut chip, program(at(0, 0)), now + BUS).ready_at;
    assert_illegal(&chip, program(at(0, 1)), LATE, Why::NothingTakenIn);
    // A page whose block is erased before the copy.
    let now = give(&mut chip, read(at(0, 0)), now).ready_at;
    give(&mut chip, erase(at(0, 0)), now);
    assert_illegal(&chip, copyback(at(1, 0)), LATE, Why::NoCopySource);
}

#[test]
fn a_third_sensed_page_has_no_register() {
    let mut chip = chip();
    let now = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    let now = give(&mut chip, cache_read(at(0, 1)), now).ready_at;
    assert_illegal(&chip, cache_read(at(0, 2)), LATE, Why::WouldOverwrite);
    give(&mut chip, OUT, now);
    assert_earliest_ready_at(&chip, cache_read(at(0, 2)), now + BUS);
    // A plain read gives up what waits.
    let now = give(&mut chip, read(at(0, 2)), now + BUS).ready_at;
    give(&mut chip, IN, now);
    assert_illegal(&chip, OUT, LATE, Why::NothingSensed);
}

#[test]
fn a_wordline_that_is_being_collected_keeps_the_registers() {
    let mut chip = one_shot();
    chip.fill_regular(PlaneId(0), BlockId(0), 6, wordline_units::Lpn(0), UNITS);
    let now = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    let now = give(&mut chip, copyback(at(1, 0)), now).ready_at;
    let now = give(&mut chip, read(at(0, 1)), now).ready_at;
    assert_illegal(&chip, IN, LATE, Why::Collecting);
    assert_illegal(&chip, erase(at(1, 0)), LATE, Why::Collecting);
    assert_illegal(&chip, copyback(at(2, 0)), LATE, Why::Collecting);
    assert_earliest_ready_at(&chip, copyback(at(1, 1)), now);
}

#[test]
fn suspending_needs_something_to_suspend_and_resuming_something_suspended() {
    let mut chip = chip();
    assert_illegal(&chip, SUSPEND, LATE, Why::NothingToSuspend);
    assert_illegal(&chip, Command::Resume, LATE, Why::NothingSuspended);
    let now = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
    assert_illegal(&chip, SUSPEND, Nanos(1), Why::NothingToSuspend);
    let erased = give(&mut chip, erase(at(1, 0)), now).ready_at;
    assert_illegal(&chip, SUSPEND, erased, Why::NothingToSuspend);
    let now = give(&mut chip, SUSPEND, erased - Nanos(1)).ready_at;
    assert_illegal(&chip, SUSPEND, now - Nanos(1), Why::SomethingSuspended);
    assert_illegal(&chip, erase(at(0, 0)), LATE, Why::SomethingSuspended);
    assert_illegal(&chip, read(at(1, 0)), LATE, Why::SuspendedBlock);
    assert_illegal(&chip, program(at(1, 0)), LATE, Why::SuspendedBlock);
    let now = give(&mut chip, read(at(0, 0)), now).ready_at;
    assert_illegal(&chip, copyback(at(1, 0)), LATE, Why::SuspendedBlock);
    assert_earliest_ready_at(&chip, copyback(at(2, 0)), now);
    // A program inside a suspended erase, which cannot be suspended in its turn.
    give(&mut chip, IN, now);
    let now = give(&mut chip, program(at(0, 0)), now + BUS).ready_at;
    assert_illegal(&chip, SUSPEND, now - Nanos(1), Why::SomethingSuspended);
}

#[test]
fn a_suspended_program_keeps_its_page_and_the_registers() {
    let mut chip = chip();
    give(&mut chip, IN, Nanos::ZERO);
    let now = give(&mut chip, program(at(0, 0)), BUS).ready_at;
    give(&mut chip, IN, now);
    give(&mut chip, program(at(0, 1)), now + BUS);
    let now = give(&mut chip, SUSPEND, now + BUS + Nanos(50)).ready_at;
    assert_illegal(&chip, read(at(0, 1)), LATE, Why::SuspendedBlock);
    assert_earliest_ready_at(&chip, read(at(0, 0)), now);
    for command in [IN, program(at(1, 0)), cache_program(at(1, 0))] {
        assert_illegal(&chip, command, LATE, Why::ProgramSuspended);
    }
    assert_illegal(&chip, program(at(0, 2)), LATE, Why::SuspendedBlock);
    give(&mut chip, read(at(0, 0)), now);
    assert_illegal(&chip, copyback(at(1, 0)), LATE, Why::ProgramSuspended);
}

/// What a firmware hears that does `act`.
fn complaint<T>(act: impl FnOnce() -> T) -> String {
    let answer = catch_unwind(AssertUnwindSafe(act)).err().expect("it is a bug");
    match answer.downcast::<String>() {
        Ok(text) => *text,
        Err(answer) => (*answer.downcast::<&str>().expect("a panic has a message")).to_owned(),
    }
}

#[test]
fn issuing_what_is_not_legal_panics_with_the_command_and_the_reason() {
    let text = complaint(|| chip().issue(read(at(9, 0)), Nanos::ZERO));
    assert!(text.contains("Read") && text.contains("no such block"), "{text}");
    let mut busy = chip();
    busy.issue(read(at(0, 0)), Nanos(7));
    let text = complaint(|| busy.clone().issue(read(at(0, 0)), Nanos(8)));
    assert!(text.contains("blocked until 40.008 us"), "{text}");
    assert!(complaint(|| busy.clone().issue(Command::Status, Nanos(6))).contains("time runs back"));
    assert!(complaint(|| busy.clone().issue(OUT, Nanos(40_008))).contains("Chip::transfer"));
    assert!(complaint(|| chip().transfer(OUT, Nanos::ZERO, BUS)).contains("no sensed page"));
    assert!(complaint(|| chip().transfer(IN, BUS, Nanos::ZERO)).contains("ends after it begins"));
    assert!(complaint(|| chip().transfer(erase(at(0, 0)), Nanos::ZERO, BUS)).contains("is not a transfer"));
    assert!(complaint(|| chip().program(erase(at(0, 0)), Nanos::ZERO, &[], Contents::NONE)).contains("is not a program"));
    let mut loaded = chip();
    loaded.transfer(IN, Nanos::ZERO, BUS);
    assert!(
        complaint(|| loaded.clone().program(program(at(0, 0)), BUS, &[], Contents::NONE)).contains("spare area of 0 units instead of 2")
    );
    assert!(complaint(|| loaded.clone().issue(program(at(0, 0)), BUS)).contains("Chip::program"));
}
