//! Wordlines that guarded erases spare: what may be done with them, what is seen of them, and what the die keeps.

use wordline_cells::Faults;
use wordline_chip::{Chip, Probe, Why};
use wordline_flash::{Command, EraseSettings, EraseTrace, Feature, ProgramScope};
use wordline_units::{BlockId, Nanos, PageId, PlaneId, WordlineSet};

use crate::common::*;

const SETTLED: Nanos = Nanos::from_millis(100);

fn spare(chip: &mut Chip, wordlines: &[u32], mut now: Nanos) -> Nanos {
    let settings = EraseSettings { spared: WordlineSet::of(wordlines.iter().copied()) };
    for (feature, value) in settings.registers(2) {
        now = chip.issue(Command::SetFeature { feature, value }, now).ready_at;
    }
    now
}

fn erased(any_order: bool, wordlines: &[u32]) -> (Chip, Nanos) {
    let mut sheet = sheet(ProgramScope::Page);
    sheet.capabilities.any_order = any_order;
    let mut chip = Chip::new(sheet, Faults::default(), 1, 0, UNITS);
    let now = spare(&mut chip, wordlines, Nanos::ZERO);
    let now = chip.issue(erase(at(1, 0)), now).ready_at;
    chip.transfer(Command::DataIn { bytes: PAGE }, now, now + BUS);
    (chip, now + BUS)
}

#[test]
fn a_die_that_programs_in_order_passes_over_spared_wordlines_and_takes_no_page_of_them() {
    let (mut chip, now) = erased(false, &[0]);
    assert_eq!(chip.spared(PlaneId(0), BlockId(1)), WordlineSet::of([0]));
    assert_eq!(chip.spared(PlaneId(1), BlockId(1)), WordlineSet::NONE, "another plane");
    for page in [0, 1, 2] {
        assert_eq!(chip.probe(&program(at(1, page)), now), Probe::Illegal(Why::Spared));
    }
    assert_eq!(chip.probe(&program(at(1, 4)), now), Probe::Illegal(Why::PageSkipped), "a page of the same wordline comes first");
    assert_eq!(chip.probe(&program(at(1, 3)), now), Probe::Ready);
    let now = chip.program(program(at(1, 3)), now, &[8, 9].map(wordline_units::Lpn), wordline_chip::Contents::NONE).ready_at;
    // It senses as erased, as a blank one does.
    for (page, is_programmed) in [(0, false), (2, false), (3, true), (4, false)] {
        assert_eq!(chip.is_page_programmed(PlaneId(0), BlockId(1), PageId(page)), is_programmed, "page {page}");
        assert_eq!(chip.probe(&read(at(1, page)), now), Probe::Ready, "page {page}");
    }
    // The next erase is as it is ordered to be.
    let now = spare(&mut chip, &[], now);
    let now = chip.issue(erase(at(1, 0)), now).ready_at;
    assert_eq!(chip.spared(PlaneId(0), BlockId(1)), WordlineSet::NONE);
    chip.transfer(Command::DataIn { bytes: PAGE }, now, now + BUS);
    assert_eq!(chip.probe(&program(at(1, 0)), now + BUS), Probe::Ready);
}

#[test]
fn a_die_that_takes_any_order_takes_all_wordlines_but_the_spared() {
    let (chip, now) = erased(true, &[1]);
    assert_eq!(chip.probe(&program(at(1, 0)), now), Probe::Ready);
    assert_eq!(chip.probe(&program(at(1, 3)), now), Probe::Illegal(Why::Spared));
    let (chip, now) = erased(true, &[0, 1]);
    assert!([0, 3].into_iter().all(|page| chip.probe(&program(at(1, page)), now) == Probe::Illegal(Why::Spared)));
}

#[test]
fn a_die_without_guarded_erases_or_traces_has_no_registers_for_them() {
    let mut sheet = sheet(ProgramScope::Page);
    (sheet.capabilities.guarded_erase, sheet.capabilities.erase_trace) = (false, false);
    let chip: Chip = Chip::new(sheet, Faults::default(), 1, 0, UNITS);
    let set = Command::SetFeature { feature: Feature::Spare15, value: 1 };
    for command in [set, Command::GetFeature { feature: Feature::Spare0 }, Command::GetFeature { feature: Feature::EraseTrace }] {
        assert_eq!(chip.probe(&command, Nanos::ZERO), Probe::Illegal(Why::Unsupported), "{command:?}");
    }
    let able = self::chip();
    assert_eq!(able.probe(&set, Nanos::ZERO), Probe::Ready);
    assert_eq!(able.probe(&Command::GetFeature { feature: Feature::EraseTrace }, Nanos::ZERO), Probe::Ready);
    let write = Command::SetFeature { feature: Feature::EraseTrace, value: 1 };
    assert_eq!(able.probe(&write, Nanos::ZERO), Probe::Illegal(Why::Unsupported), "it is to be asked for, not to be set");
}

#[test]
fn an_image_keeps_what_was_spared_and_refuses_what_the_die_does_not_have() {
    let (mut chip, _) = erased(false, &[0]);
    chip.rest(SETTLED);
    let (image, guard) = (chip.image(SETTLED).expect("it is at rest"), chip.guard_image());
    let mut back = self::chip();
    back.restore(image).expect("it is an image of such a die");
    back.restore_guard(&guard).expect("it is of the same die");
    assert_eq!((back.spared(PlaneId(0), BlockId(1)), back.guard_image()), (WordlineSet::of([0]), guard.clone()));
    chip.transfer(Command::DataIn { bytes: PAGE }, SETTLED, SETTLED + BUS);
    assert_eq!(chip.probe(&program(at(1, 0)), SETTLED + BUS), Probe::Illegal(Why::Spared));
    // One that speaks of a block or a wordline that is not there.
    let mut small = sheet(ProgramScope::Page);
    (small.geometry.planes, small.geometry.blocks) = (1, 1);
    assert!(Chip::new(small, Faults::default(), 1, 0, UNITS).restore_guard(&guard).is_err());
    (small.geometry.planes, small.geometry.blocks, small.geometry.wordlines_per_layer) = (2, 4, 1);
    let (wide, _) = erased(false, &[1]);
    assert!(Chip::new(small, Faults::default(), 1, 0, UNITS).restore_guard(&wide.guard_image()).is_err());
}

#[test]
fn a_register_holds_the_whole_trace() {
    let trace = EraseTrace { loops: 30, part: 254, stops: 65_535 };
    assert_eq!(EraseTrace::from_register(trace.register()), trace);
    assert_eq!(chip().erase_trace(), None, "cells without physics tell nothing");
}
