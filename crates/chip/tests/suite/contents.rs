//! Do pages hold what was programmed: spare areas in every form, user bytes, copybacks, failures and counts?

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, Mark, PADDING, PageImage, RamPayload, UnitAt};
use wordline_flash::{ProgramScope, Status, Target};
use wordline_units::{BlockId, Lpn, Nanos, PageId, PlaneId};

use crate::common::*;

fn held(chip: &Chip, plane: u8, block: u32, page: u16) -> [u32; 2] {
    [0, 1].map(|unit| chip.spare(PlaneId(plane), BlockId(block), PageId(page), unit).0)
}

const NOTHING: [u32; 2] = [PADDING.0; 2];

#[test]
fn a_program_unit_is_ordered_page_by_page_then_plane_by_plane_then_unit_by_unit() {
    let mut chip = one_shot();
    let numbers: Vec<u32> = (100..112).collect();
    write(&mut chip, both([1, 3], 0), &numbers, Nanos::ZERO);
    for page in 0..3 {
        let first = 100 + u32::from(page) * 4;
        assert_eq!(held(&chip, 0, 1, page), [first, first + 1]);
        assert_eq!(held(&chip, 1, 3, page), [first + 2, first + 3]);
        assert_eq!(held(&chip, 1, 1, page), NOTHING);
    }
    assert_eq!((chip.next_page(PlaneId(0), BlockId(1)), chip.next_page(PlaneId(1), BlockId(1))), (3, 0));
}

#[test]
fn spare_areas_take_the_form_that_their_numbers_need() {
    let mut chip = chip();
    let empty = chip.memory_bytes();
    chip.fill_regular(PlaneId(0), BlockId(0), 2, Lpn(10), 20);
    assert_eq!(chip.memory_bytes(), empty, "a regular block holds no array");
    let mut now = Nanos::ZERO;
    let pages = [[10, 11], [30, 31], [7, 8], [u32::MAX, u32::MAX], [90, 5], [u32::MAX - 1, u32::MAX]];
    let bytes = [24, 24, 48, 48];
    for (page, units) in pages.iter().enumerate().skip(2) {
        now = write(&mut chip, at(0, page as u16), units, now).ready_at;
        assert_eq!(chip.memory_bytes() - empty, bytes[page - 2], "after page {page}");
        for (earlier, expected) in pages.iter().enumerate().take(page + 1) {
            assert_eq!(held(&chip, 0, 0, earlier as u16), *expected, "page {earlier} after page {page}");
        }
    }
    let memory = chip.memory_bytes();
    let mut now = give(&mut chip, erase(at(0, 0)), now).ready_at;
    assert_eq!(held(&chip, 0, 0, 0), NOTHING);
    for page in 0..6 {
        now = write(&mut chip, at(0, page), &[u32::from(page), u32::from(page) + 1], now).ready_at;
        assert_eq!(held(&chip, 0, 0, page), [u32::from(page), u32::from(page) + 1]);
    }
    assert_eq!(chip.memory_bytes(), memory, "an erased block keeps its array");
}

#[test]
fn a_regular_block_is_erased_to_nothing_and_filled_again() {
    let mut chip = chip();
    chip.fill_regular(PlaneId(1), BlockId(2), 6, Lpn(0), 2);
    assert_eq!((0..6).flat_map(|page| held(&chip, 1, 2, page)).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    let target = Target::single(PlaneId(1), BlockId(2), PageId(0));
    give(&mut chip, erase(target), Nanos::ZERO);
    assert_eq!(held(&chip, 1, 2, 5), NOTHING);
    chip.fill_page(PlaneId(1), BlockId(2), &[Lpn(9), Lpn(3)]);
    assert_eq!((held(&chip, 1, 2, 0), chip.next_page(PlaneId(1), BlockId(2))), ([9, 3], 1));
}

#[test]
fn one_unit_to_a_page_needs_one_array() {
    let mut chip: Chip = Chip::new(sheet(ProgramScope::Page), Faults::default(), 1, 0, 1);
    let empty = chip.memory_bytes();
    let mut now = Nanos::ZERO;
    for (page, number) in [5, u32::MAX, 2, u32::MAX - 1].into_iter().enumerate() {
        now = write(&mut chip, at(0, page as u16), &[number], now).ready_at;
        assert_eq!(chip.spare(PlaneId(0), BlockId(0), PageId(page as u16), 0), Lpn(number));
    }
    assert_eq!(chip.memory_bytes() - empty, 24);
}

#[test]
fn blocks_count_their_erases_and_reads() {
    let mut chip = chip();
    chip.set_erases(PlaneId(0), BlockId(0), 41);
    let mut now = Nanos::ZERO;
    for _ in 0..3 {
        now = give(&mut chip, read(both([0, 1], 0)), now).ready_at;
    }
    assert_eq!((chip.reads(PlaneId(0), BlockId(0)), chip.reads(PlaneId(1), BlockId(1)), chip.reads(PlaneId(1), BlockId(0))), (3, 3, 0));
    give(&mut chip, erase(both([0, 1], 0)), now);
    assert_eq!((chip.erases(PlaneId(0), BlockId(0)), chip.erases(PlaneId(1), BlockId(1))), (42, 1));
    assert_eq!(chip.reads(PlaneId(0), BlockId(0)), 0);
}

#[test]
fn failures_are_told_in_the_status() {
    let faults = Faults { read_fail: 1.0, program_fail: 1.0, erase_fail: 1.0, ..Faults::default() };
    let mut chip: Chip = Chip::new(sheet(ProgramScope::Page), faults, 1, 0, UNITS);
    let issued = write(&mut chip, at(0, 0), &[1, 2], Nanos::ZERO);
    assert_eq!(issued.status, Status::Failed);
    let issued = give(&mut chip, read(at(1, 0)), issued.ready_at);
    assert_eq!(issued.status, Status::Uncorrectable);
    assert_eq!(give(&mut chip, erase(at(2, 0)), issued.ready_at).status, Status::Failed);
}

#[test]
fn a_page_whose_program_failed_cannot_be_read_and_infects_its_copies() {
    let faults = Faults { program_fail: 0.5, ..Faults::default() };
    let mut chip: Chip = Chip::new(sheet(ProgramScope::Page), faults, 1, 0, UNITS);
    let mut now = Nanos::ZERO;
    for page in 0..6 {
        let written = write(&mut chip, at(0, page), &[0, 1], now);
        let sensed = give(&mut chip, read(at(0, page)), written.ready_at);
        assert_eq!(sensed.status == Status::Good, written.status == Status::Good, "page {page}");
        let copied = give(&mut chip, copyback(at(1, page)), sensed.ready_at);
        let copy = give(&mut chip, read(at(1, page)), copied.ready_at);
        assert_eq!(copy.status == Status::Good, (written.status, copied.status) == (Status::Good, Status::Good), "copy of page {page}");
        now = copy.ready_at;
    }
}

fn with_bytes(scope: ProgramScope) -> Chip {
    let sheet = sheet(scope);
    Chip::with_payload(sheet, Faults::default(), 1, 0, UNITS, Some(Box::new(RamPayload::new(&sheet, UNITS))))
}

/// The bytes of a page, and its marks.
fn contents(chip: &mut Chip, plane: u8, block: u32, page: u16) -> (Vec<u8>, Vec<Mark>) {
    let mut image = PageImage::new(0, 0);
    chip.contents(PlaneId(plane), BlockId(block), PageId(page), &mut image);
    (image.bytes, image.marks)
}

/// Marks of `count` units, each with a version of its own.
fn marks(count: u32) -> Vec<Mark> {
    (0..count).map(|unit| Mark { lpn: Lpn(unit), version: 100 + u64::from(unit), lost: 0, insecure: false }).collect()
}

fn bytes(fill: u8, pages: usize) -> Vec<u8> {
    (0..pages * PAGE.0 as usize).map(|byte| fill ^ byte as u8).collect()
}

#[test]
fn ram_reads_back_what_was_programmed_and_ff_where_nothing_was() {
    let mut chip = with_bytes(ProgramScope::Wordline);
    let page = PAGE.0 as usize;
    let data = bytes(0x5A, 6);
    chip.transfer(IN, Nanos::ZERO, BUS);
    let now = chip.program(program(both([1, 2], 0)), BUS, &[Lpn(0); 12], Contents::of(&data, &marks(12))).ready_at;
    for index in 0..3 {
        let start = 2 * index * page;
        assert_eq!(contents(&mut chip, 0, 1, index as u16).0, &data[start..start + page]);
        assert_eq!(contents(&mut chip, 1, 2, index as u16).0, &data[start + page..start + 2 * page]);
    }
    assert!(contents(&mut chip, 0, 1, 3).0.iter().all(|&byte| byte == 0xFF));
    let now = chip.issue(erase(at(1, 0)), now).ready_at;
    assert!(contents(&mut chip, 0, 1, 0).0.iter().all(|&byte| byte == 0xFF));
    assert_eq!(contents(&mut chip, 1, 2, 0).0, &data[page..2 * page], "its neighbour stays");
    assert_eq!(chip.probe(&read(at(1, 0)), now), wordline_chip::Probe::Ready);
}

#[test]
fn units_may_stand_anywhere_in_two_stretches() {
    let unit = PAGE.0 as usize / 2;
    let stretches = [bytes(0x11, 5), bytes(0xC4, 4)];
    // Twelve units, in no order, one of them twice.
    let places: Vec<UnitAt> = [(0, 9), (1, 0), (1, 7), (0, 2), (0, 2), (1, 3), (0, 0), (0, 5), (1, 6), (1, 1), (0, 7), (0, 8)]
        .map(|(stretch, number)| UnitAt { is_second: stretch == 1, at: number * unit })
        .to_vec();
    let whole: Vec<u8> = places.iter().flat_map(|place| stretches[usize::from(place.is_second)][place.at..][..unit].to_vec()).collect();
    let marks = marks(12);
    let scattered = Contents::scattered([&stretches[0], &stretches[1]], &places, unit, &marks);
    let mut chip = with_bytes(ProgramScope::Wordline);
    chip.transfer(IN, Nanos::ZERO, BUS);
    chip.program(program(both([1, 2], 0)), BUS, &[Lpn(0); 12], scattered);
    for (index, page) in whole.chunks_exact(PAGE.0 as usize).enumerate() {
        let (plane, block) = if index % 2 == 0 { (0, 1) } else { (1, 2) };
        let (found, found_marks) = contents(&mut chip, plane, block, index as u16 / 2);
        assert_eq!((&found[..], &found_marks[..]), (page, &marks[2 * index..2 * index + 2]), "page {index}");
    }
    let mut copied = vec![0; whole.len()];
    scattered.copy_to(&mut copied);
    assert_eq!(copied, whole);
}

#[test]
fn a_copyback_keeps_the_spare_area_and_the_bytes() {
    let mut chip = with_bytes(ProgramScope::Page);
    let t = chip.sheet().timing;
    let data = bytes(0x33, 2);
    chip.transfer(IN, Nanos::ZERO, BUS);
    let spare = [4, 9, 7, 1].map(Lpn);
    let now = chip.program(program(both([0, 1], 0)), BUS, &spare, Contents::of(&data, &marks(4))).ready_at;
    let now = chip.issue(read(both([0, 1], 0)), now).ready_at;
    let issued = chip.issue(copyback(both([3, 2], 0)), now);
    assert_eq!(issued.ready_at, now + t.program[0]);
    assert_eq!((held(&chip, 0, 3, 0), held(&chip, 1, 2, 0)), ([4, 9], [7, 1]));
    assert_eq!(contents(&mut chip, 0, 3, 0).0, &data[..PAGE.0 as usize]);
    assert_eq!(contents(&mut chip, 1, 2, 0).0, &data[PAGE.0 as usize..]);
    assert_eq!(
        (contents(&mut chip, 0, 3, 0).1, contents(&mut chip, 1, 2, 0).1),
        (marks(4)[..2].to_vec(), marks(4)[2..].to_vec()),
        "marks go along"
    );
    // Within one block, and of an erased page, which holds nothing.
    let now = chip.issue(read(both([3, 2], 0)), issued.ready_at).ready_at;
    let now = chip.issue(copyback(both([3, 2], 1)), now).ready_at;
    assert_eq!(held(&chip, 0, 3, 1), [4, 9]);
    let now = chip.issue(read(at(2, 0)), now).ready_at;
    chip.issue(copyback(at(2, 0)), now);
    assert_eq!((held(&chip, 0, 2, 0), chip.next_page(PlaneId(0), BlockId(2))), (NOTHING, 1));
}

#[test]
fn a_one_shot_die_collects_a_wordline_of_copies_and_then_programs_it() {
    let mut chip = one_shot();
    let t = chip.sheet().timing;
    chip.fill_regular(PlaneId(0), BlockId(0), 6, Lpn(50), UNITS);
    let mut now = Nanos::ZERO;
    for (to, from) in [5, 1, 3].into_iter().enumerate() {
        now = give(&mut chip, read(at(0, from)), now).ready_at;
        let issued = give(&mut chip, copyback(at(1, to as u16)), now);
        let span = if to == 2 { t.program_wordline } else { t.cache_busy };
        assert_eq!(issued.ready_at, now + span, "copy to page {to}");
        now = issued.ready_at;
        assert_eq!(held(&chip, 0, 1, to as u16), held(&chip, 0, 0, from));
    }
    assert_earliest_ready_at(&chip, IN, now);
    // What a reset finds half collected is lost.
    now = give(&mut chip, read(at(0, 0)), now).ready_at;
    now = give(&mut chip, copyback(at(1, 3)), now).ready_at;
    now = give(&mut chip, wordline_flash::Command::Reset, now).ready_at;
    let issued = give(&mut chip, read(at(1, 3)), now);
    assert_eq!(issued.status, Status::Uncorrectable);
    assert_eq!(give(&mut chip, read(at(1, 2)), issued.ready_at).status, Status::Good);
}
