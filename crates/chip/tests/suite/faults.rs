//! Do faults on demand fail what they should, for as long as they should, and nothing else?

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, DieFault, Kept, Mark, PageImage, Place, RamPayload};
use wordline_flash::{ProgramScope, Sanitisation, Status};
use wordline_units::{BlockId, Lpn, Nanos, PageId, PlaneId};

use crate::common::*;

fn page(block: u32, page: u16, reads: Option<u32>) -> DieFault {
    DieFault::Read { plane: PlaneId(0), block: BlockId(block), page: PageId(page), reads }
}

/// A die with two pages programmed in block 1 of plane 0.
fn written() -> (Chip, Nanos) {
    let mut chip = chip();
    let now = write(&mut chip, at(1, 0), &[1, 2], Nanos::ZERO).ready_at;
    let now = write(&mut chip, at(1, 1), &[3, 4], now).ready_at;
    (chip, now)
}

#[test]
fn a_page_fails_so_many_reads_and_its_neighbour_none() {
    let (mut chip, mut now) = written();
    chip.inject(page(1, 0, Some(2)));
    let mut statuses = Vec::new();
    for _ in 0..3 {
        // Two tries are one read, which has failed when that is said.
        for _ in 0..2 {
            let issued = give(&mut chip, read(at(1, 0)), now);
            now = issued.ready_at;
            statuses.push(issued.status);
        }
        if *statuses.last().expect("a status") == Status::Uncorrectable {
            chip.read_failed(&at(1, 0));
        }
        let issued = give(&mut chip, read(at(1, 1)), now);
        now = issued.ready_at;
        assert_eq!(issued.status, Status::Good, "the neighbour");
    }
    let bad = Status::Uncorrectable;
    assert_eq!(statuses, [bad, bad, bad, bad, Status::Good, Status::Good]);
    assert_eq!(chip.faults(), [], "it has been used up");
}

#[test]
fn a_page_without_a_count_fails_until_its_block_is_erased() {
    let (mut chip, mut now) = written();
    chip.inject(page(1, 1, None));
    for _ in 0..5 {
        let issued = give(&mut chip, read(at(1, 1)), now);
        assert_eq!(issued.status, Status::Uncorrectable);
        chip.read_failed(&at(1, 1));
        now = issued.ready_at;
    }
    assert!(!chip.is_readable(PlaneId(0), BlockId(1), PageId(1)) && chip.is_readable(PlaneId(0), BlockId(1), PageId(0)));
    now = give(&mut chip, erase(at(1, 0)), now).ready_at;
    for page in 0..2 {
        now = write(&mut chip, at(1, page), &[5, 6], now).ready_at;
    }
    assert_eq!(give(&mut chip, read(at(1, 1)), now).status, Status::Good);
    assert_eq!(chip.faults(), []);
}

#[test]
fn programs_fail_as_often_as_was_asked_for() {
    let mut chip = chip();
    chip.inject(DieFault::Program { programs: 1 });
    chip.inject(DieFault::Program { programs: 1 });
    let mut now = Nanos::ZERO;
    let mut statuses = Vec::new();
    for block in 0..4 {
        let issued = write(&mut chip, at(block, 0), &[1, 2], now);
        now = issued.ready_at;
        statuses.push(issued.status);
    }
    assert_eq!(statuses, [Status::Failed, Status::Failed, Status::Good, Status::Good]);
    assert_eq!(give(&mut chip, read(at(0, 0)), now).status, Status::Uncorrectable, "what has failed holds nothing");
}

#[test]
fn a_plane_that_has_failed_fails_alone_and_stays_so_when_faults_are_cleared() {
    let (mut chip, mut now) = written();
    now = write(&mut chip, both([2, 2], 0), &[7, 8, 9, 10], now).ready_at;
    chip.inject(DieFault::Plane(PlaneId(1)));
    let one = |block: u16| wordline_flash::Target::single(PlaneId(1), BlockId(block.into()), PageId(0));
    for (command, status) in [
        (read(at(2, 0)), Status::Good),
        (read(one(2)), Status::Uncorrectable),
        (read(both([2, 2], 0)), Status::Uncorrectable),
        (sanitise(one(2), Sanitisation::LockPage), Status::Failed),
        (erase(one(3)), Status::Failed),
        (erase(at(3, 0)), Status::Good),
    ] {
        let issued = give(&mut chip, command, now);
        now = issued.ready_at;
        assert_eq!(issued.status, status, "{command:?}");
    }
    let issued = write(&mut chip, both([3, 0], 0), &[1, 2, 3, 4], now);
    assert_eq!(issued.status, Status::Failed, "a program of both planes fails with one");
    chip.clear_faults();
    assert_eq!(give(&mut chip, read(one(2)), issued.ready_at).status, Status::Uncorrectable, "what it held is lost");
}

#[test]
fn a_die_that_has_failed_answers_in_its_time_reads_noise_and_draws_no_dice() {
    let faults = Faults { program_fail: 0.5, erase_fail: 0.5, read_fail: 0.5, ..Faults::default() };
    let mut chip = Chip::new(sheet(ProgramScope::Page), faults, 1, 0, UNITS);
    let mut well = self::chip();
    chip.inject(DieFault::Die { silent: false });
    assert!(chip.is_dead() && !chip.is_silent());
    let drawn = chip.drawn();
    let mut now = Nanos::ZERO;
    for block in 0..4 {
        let (issued, in_time) = (write(&mut chip, at(block, 0), &[1, 2], now), write(&mut well, at(block, 0), &[1, 2], now));
        assert_eq!((issued.status, issued.ready_at), (Status::Failed, in_time.ready_at));
        let (sensed, in_time) =
            (give(&mut chip, read(at(block, 0)), issued.ready_at), give(&mut well, read(at(block, 0)), issued.ready_at));
        // One codeword of 64 user bytes and 8 others.
        assert_eq!((sensed.status, sensed.errors, sensed.ready_at), (Status::Uncorrectable, 8 * 72 / 2, in_time.ready_at));
        let (erased, in_time) =
            (give(&mut chip, erase(at(block, 0)), sensed.ready_at), give(&mut well, erase(at(block, 0)), sensed.ready_at));
        assert_eq!((erased.status, erased.ready_at), (Status::Failed, in_time.ready_at));
        now = erased.ready_at;
    }
    assert_eq!(chip.drawn(), drawn);
    chip.clear_faults();
    assert!(chip.is_dead(), "nobody takes that back");
}

#[test]
fn a_program_of_both_planes_counts_for_nothing_where_one_fails_meanwhile() {
    for (is_suspended, plane) in [(false, 0), (false, 1), (true, 1)] {
        let mut chip = with_bytes();
        let (bytes, marks) = filled(3);
        let spare: Vec<Lpn> = marks.iter().map(|mark| mark.lpn).collect();
        chip.transfer(wordline_flash::Command::DataIn { bytes: wordline_units::Bytes(128) }, Nanos::ZERO, BUS);
        let mut end = chip.program(program(both([1, 1], 0)), BUS, &spare, Contents::of(&bytes, &marks)).ready_at;
        let mut now = BUS + Nanos(100_000);
        if is_suspended {
            now = chip.issue(wordline_flash::Command::Suspend { stop: wordline_flash::Stop::Now }, now).ready_at;
        }
        let fault = DieFault::Plane(PlaneId(plane));
        chip.inject(fault);
        assert!(chip.fail_under_way(now), "it was under way");
        if is_suspended {
            end = chip.issue(wordline_flash::Command::Resume, now).ready_at;
        }
        assert_eq!(chip.issue(wordline_flash::Command::Status, end).status, Status::Failed);
        for plane in 0..2 {
            assert!(!chip.is_readable(PlaneId(plane), BlockId(1), PageId(0)), "plane {plane}");
        }
        assert!(!chip.fail_under_way(end), "it is over");
    }
}

#[test]
fn an_image_keeps_what_has_failed_and_one_of_another_die_is_refused() {
    let mut chip = chip();
    let failures = [
        DieFault::Die { silent: true },
        DieFault::Plane(PlaneId(1)),
        DieFault::Blocks { plane: PlaneId(0), first: BlockId(1), last: BlockId(2) },
    ];
    failures.into_iter().for_each(|failure| chip.inject(failure));
    chip.inject(page(1, 0, None));
    let image = chip.failure_image();
    let mut again = self::chip();
    assert_eq!(again.restore_failures(&image), Ok(()));
    assert_eq!(again.faults(), failures, "a page that cannot be read is not a part that has failed");
    let mut sheet = sheet(ProgramScope::Page);
    sheet.geometry.planes = 1;
    let mut other = Chip::new(sheet, Faults::default(), 1, 0, UNITS);
    assert!(other.restore_failures(&image).is_err() && !other.has_failures());
}

#[test]
fn blocks_that_have_failed_fail_alone() {
    let (mut chip, mut now) = written();
    chip.inject(DieFault::Blocks { plane: PlaneId(0), first: BlockId(1), last: BlockId(2) });
    for (command, status) in [
        (read(at(1, 0)), Status::Uncorrectable),
        (erase(at(2, 0)), Status::Failed),
        (erase(at(3, 0)), Status::Good),
        (erase(at(0, 0)), Status::Good),
    ] {
        let issued = give(&mut chip, command, now);
        now = issued.ready_at;
        assert_eq!(issued.status, status, "{command:?}");
    }
    assert_eq!(write(&mut chip, at(3, 0), &[1, 2], now).status, Status::Good);
    assert_eq!(chip.faults(), [DieFault::Blocks { plane: PlaneId(0), first: BlockId(1), last: BlockId(2) }]);
}

#[test]
#[should_panic(expected = "no such blocks")]
fn a_fault_of_what_is_not_there_is_a_bug_of_who_asks() {
    chip().inject(DieFault::Blocks { plane: PlaneId(0), first: BlockId(3), last: BlockId(4) });
}

fn with_bytes() -> Chip {
    let sheet = sheet(ProgramScope::Page);
    Chip::with_payload(sheet, Faults::default(), 1, 0, UNITS, Some(Box::new(RamPayload::new(&sheet, UNITS))))
}

/// Marks and bytes of a page of both planes.
fn filled(value: u8) -> (Vec<u8>, Vec<Mark>) {
    let marks = (0..2 * UNITS).map(|unit| Mark { lpn: Lpn(unit), version: 1, lost: 0, insecure: false }).collect();
    (vec![value; 2 * PAGE.0 as usize], marks)
}

#[test]
fn bits_that_flip_make_a_page_unreadable_by_seed() {
    let flipped = |seed: u64| {
        let mut chip = with_bytes();
        let (bytes, marks) = filled(0xAA);
        chip.transfer(wordline_flash::Command::DataIn { bytes: wordline_units::Bytes(128) }, Nanos::ZERO, BUS);
        let spare: Vec<Lpn> = marks.iter().map(|mark| mark.lpn).collect();
        let now = chip.program(program(both([0, 0], 0)), BUS, &spare, Contents::of(&bytes, &marks)).ready_at;
        assert!(!chip.corrupt(PlaneId(0), BlockId(1), PageId(0), seed), "nothing is programmed there");
        assert!(chip.corrupt(PlaneId(1), BlockId(0), PageId(0), seed));
        let second = wordline_flash::Target::single(PlaneId(1), BlockId(0), PageId(0));
        let first = chip.issue(read(at(0, 0)), now);
        assert_eq!(first.status, Status::Good, "the other plane");
        assert_eq!(chip.issue(read(second), first.ready_at).status, Status::Uncorrectable);
        let mut image = PageImage::new(PAGE.0 as usize, UNITS as usize);
        assert!(chip.contents(PlaneId(0), BlockId(0), PageId(0), &mut image) && image.bytes == [0xAA; 64]);
        assert!(!chip.contents(PlaneId(1), BlockId(0), PageId(0), &mut image) && image.bytes != [0xAA; 64]);
        image.bytes
    };
    assert_eq!(flipped(1), flipped(1));
    assert_ne!(flipped(1), flipped(2));
}

#[test]
fn a_program_that_the_power_tears_leaves_a_part_of_its_pages() {
    let (bytes, marks) = filled(0x55);
    let torn = |seed: u64| {
        let mut chip = with_bytes();
        let mut draw = wordline_units::random::Draw::new(seed, wordline_units::random::Stream::Injected, 0);
        chip.tear_program(&both([0, 0], 0), Contents::of(&bytes, &marks), &mut draw);
        let mut image = PageImage::new(PAGE.0 as usize, UNITS as usize);
        [0, 4].map(|block| chip.payload().expect("it keeps bytes").read(Place { block, page: 0 }, &mut image) == Kept::Whole)
    };
    let mut seen: Vec<[bool; 2]> = (0..20).map(torn).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [[false, false], [true, false]], "never the last page, and never one behind the one that is torn");
    assert_eq!(torn(3), torn(3));
}
