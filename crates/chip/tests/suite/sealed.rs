//! Is what was locked, scrubbed or reprogrammed gone from the pins, and from nothing else, until an erase; and when is it legal?

use std::collections::BTreeMap;

use proptest::prelude::*;
use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, DieFault, Mark, PADDING, PageImage, Probe, RamPayload, Sanitisation, Why};
use wordline_flash::{Command, ProgramScope, Sheet, Status};
use wordline_units::{BlockId, Lpn, Nanos, PageId, PlaneId};

use crate::common::*;

const ALL: [Sanitisation; 4] = Sanitisation::ALL;
const LATE: Nanos = Nanos(1_000_000_000_000);

/// A die whose block 0 is half full.
fn half_full() -> Chip {
    let mut chip = chip();
    chip.fill_regular(PlaneId(0), BlockId(0), 4, Lpn(50), UNITS);
    chip
}

fn span(how: Sanitisation) -> Nanos {
    sheet(ProgramScope::Page).timing.sanitise(how)
}

#[test]
fn each_way_waits_for_the_die_and_keeps_it_for_its_own_span() {
    for how in ALL {
        let mut chip = half_full();
        let sensed = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
        assert_earliest_ready_at(&chip, sanitise(at(0, 1), how), sensed);
        give(&mut chip, OUT, sensed);
        assert_earliest_ready_at(&chip, sanitise(at(0, 1), how), sensed + BUS);
        let start = sensed + BUS;
        let issued = give(&mut chip, sanitise(at(0, 1), how), start);
        assert_eq!((issued.ready_at, issued.status), (start + span(how), Status::Good), "{how:?}");
        for command in [read(at(0, 0)), erase(at(1, 0)), IN, GET, sanitise(at(0, 2), how)] {
            assert_earliest_ready_at(&chip, command, issued.ready_at);
        }
        assert_eq!(chip.probe(&SUSPEND, start + Nanos(1)), Probe::Illegal(Why::NothingToSuspend), "a lock is not suspended");
    }
    let spans: Vec<Nanos> = ALL.map(span).to_vec();
    assert!(spans.windows(2).all(|pair| pair[0] != pair[1]), "else a mixture would go unseen");
}

#[test]
fn what_is_not_there_cannot_be_made_unreadable() {
    let chip = half_full();
    for how in [Sanitisation::LockPage, Sanitisation::Reprogram] {
        assert_illegal(&chip, sanitise(at(0, 4), how), LATE, Why::NotProgrammed);
        assert_eq!(chip.probe(&sanitise(at(0, 3), how), LATE), Probe::Ready);
    }
    // Page 4 lies in a wordline that has begun, and any page stands for its block.
    for how in [Sanitisation::Scrub, Sanitisation::LockBlock] {
        assert_eq!(chip.probe(&sanitise(at(0, 5), how), LATE), Probe::Ready);
        assert_illegal(&chip, sanitise(at(1, 0), how), LATE, Why::NotProgrammed);
        assert_illegal(&chip, sanitise(at(0, 6), how), LATE, Why::Page);
        assert_illegal(&chip, sanitise(at(4, 0), how), LATE, Why::Block);
    }
    // A cut may leave one of two blocks that belong together erased: they are locked as one.
    assert_illegal(&chip, sanitise(both([0, 0], 0), Sanitisation::Scrub), LATE, Why::NotProgrammed);
    assert_eq!(chip.probe(&sanitise(both([0, 0], 0), Sanitisation::LockBlock), LATE), Probe::Ready);
    assert_illegal(&chip, sanitise(both([1, 1], 0), Sanitisation::LockBlock), LATE, Why::NotProgrammed);
    let mut sheet = sheet(ProgramScope::Page);
    let able = &mut sheet.capabilities;
    (able.page_lock, able.block_lock, able.scrub, able.reprogram) = (false, false, false, false);
    for how in ALL {
        let mut one = sheet;
        let able = &mut one.capabilities;
        *[&mut able.page_lock, &mut able.block_lock, &mut able.scrub, &mut able.reprogram][how as usize] = true;
        let mut chip: Chip = Chip::new(one, Faults::default(), 1, 0, UNITS);
        chip.fill_regular(PlaneId(0), BlockId(0), 4, Lpn(50), UNITS);
        for other in ALL {
            let expected = if other == how { Probe::Ready } else { Probe::Illegal(Why::Unsupported) };
            assert_eq!(chip.probe(&sanitise(at(0, 0), other), LATE), expected, "{other:?} of a die that can {how:?}");
        }
    }
}

#[test]
fn blocks_that_have_failed_take_locks_and_suspended_ones_do_not() {
    // The first program fails, and its page is locked all the same.
    let mut chip: Chip = Chip::new(sheet(ProgramScope::Page), Faults { program_fail: 1.0, ..Faults::default() }, 1, 0, UNITS);
    let issued = write(&mut chip, at(0, 0), &[1, 2], Nanos::ZERO);
    assert_eq!(issued.status, Status::Failed);
    for how in ALL {
        assert_eq!(chip.probe(&sanitise(at(0, 0), how), issued.ready_at), Probe::Ready, "{how:?}");
    }
    // Nobody knows what an erase that was cut short has left: only the block as a whole can be locked.
    let mut chip = half_full();
    give(&mut chip, erase(at(0, 0)), Nanos::ZERO);
    let now = give(&mut chip, Command::Reset, Nanos(10)).ready_at;
    assert_illegal(&chip, sanitise(at(0, 0), Sanitisation::LockPage), now, Why::NotProgrammed);
    assert_eq!(chip.probe(&sanitise(at(0, 0), Sanitisation::LockBlock), now), Probe::Ready);
    // Beside a suspended erase a lock may work, in its block not; beside a suspended program nothing is locked.
    let mut chip = half_full();
    chip.fill_regular(PlaneId(0), BlockId(1), 4, Lpn(0), UNITS);
    give(&mut chip, erase(at(0, 0)), Nanos::ZERO);
    let now = give(&mut chip, SUSPEND, Nanos(200_000)).ready_at;
    assert_illegal(&chip, sanitise(at(0, 0), Sanitisation::LockBlock), now, Why::SuspendedBlock);
    assert_earliest_ready_at(&chip, sanitise(at(1, 0), Sanitisation::LockBlock), now);
    let now = soonest(&mut chip, Command::Resume, now).ready_at;
    soonest(&mut chip, IN, now);
    let started = now + BUS;
    give(&mut chip, program(at(0, 0)), started);
    let now = give(&mut chip, SUSPEND, started + Nanos(200_000)).ready_at;
    assert_illegal(&chip, sanitise(at(1, 0), Sanitisation::LockPage), now, Why::ProgramSuspended);
}

#[test]
fn a_dead_die_says_that_it_could_not() {
    for how in ALL {
        let mut chip = half_full();
        chip.inject(DieFault::Die { silent: false });
        assert_eq!(give(&mut chip, sanitise(at(0, 0), how), LATE).status, Status::Failed);
        assert_eq!(chip.sealed(PlaneId(0), BlockId(0), PageId(0), LATE), None);
    }
}

#[test]
fn the_registers_hold_nothing_after_it() {
    for how in ALL {
        let mut chip = half_full();
        let sensed = give(&mut chip, read(at(0, 0)), Nanos::ZERO).ready_at;
        let now = give(&mut chip, sanitise(at(0, 0), how), sensed).ready_at;
        assert_illegal(&chip, OUT, now, Why::NothingSensed);
        assert_illegal(&chip, copyback(at(1, 0)), now, Why::NoCopySource);
        give(&mut chip, IN, now);
        let now = give(&mut chip, sanitise(at(0, 1), how), now + BUS).ready_at;
        assert_illegal(&chip, program(at(1, 0)), now, Why::NothingTakenIn);
    }
}

#[test]
fn a_reset_does_not_call_it_back() {
    for how in ALL {
        let mut chip = half_full();
        give(&mut chip, sanitise(at(0, 0), how), Nanos::ZERO);
        let now = give(&mut chip, Command::Reset, Nanos(1)).ready_at;
        assert_eq!(give(&mut chip, read(at(0, 0)), now).status, Status::Uncorrectable, "{how:?}");
    }
}

#[test]
fn a_scrub_ends_its_wordline_and_page_order_goes_on_behind_it() {
    let mut chip = half_full();
    let now = give(&mut chip, sanitise(at(0, 3), Sanitisation::Scrub), Nanos::ZERO).ready_at;
    assert_eq!(chip.next_page(PlaneId(0), BlockId(0)), 6);
    let mut now = give(&mut chip, sanitise(at(0, 1), Sanitisation::Scrub), now).ready_at;
    for page in 0..6 {
        let issued = give(&mut chip, read(at(0, page)), now);
        assert_eq!((issued.ready_at - now, issued.status), (chip.sheet().timing.read[usize::from(page) % 3], Status::Uncorrectable));
        now = issued.ready_at;
    }
    // A wordline that is half scrubbed in time is scrubbed whole: the block goes on with the next.
    let mut chip = crate::common::chip();
    chip.fill_regular(PlaneId(0), BlockId(0), 1, Lpn(0), UNITS);
    let now = give(&mut chip, sanitise(at(0, 0), Sanitisation::Scrub), Nanos::ZERO).ready_at;
    give(&mut chip, IN, now);
    assert_illegal(&chip, program(at(0, 1)), LATE, Why::Programmed);
    write(&mut chip, at(0, 3), &[7, 8], now + BUS);
    assert_eq!(chip.spare(PlaneId(0), BlockId(0), PageId(3), 1), Lpn(8));
}

#[test]
fn an_image_knows_what_is_sealed_and_is_refused_where_it_cannot_be() {
    let mut chip = half_full();
    let mut now = Nanos::ZERO;
    for (page, how) in ALL.into_iter().filter(|how| *how != Sanitisation::Scrub).enumerate() {
        now = give(&mut chip, sanitise(at(0, page as u16), how), now).ready_at;
    }
    let image = chip.image(now).expect("at rest");
    let mut again = crate::common::chip();
    again.restore(image.clone()).expect("its own image");
    for page in 0..6 {
        let sealed = |chip: &Chip| chip.sealed(PlaneId(0), BlockId(0), PageId(page), now);
        assert_eq!(sealed(&again), sealed(&chip), "page {page}");
        assert!(sealed(&again).is_some());
    }
    assert_eq!(again.image(Nanos::ZERO).expect("at rest"), image);
}

/// A die that keeps bytes, with a page of secrets where it likes: what an attacker gets of each page through the pins.
fn seen(chip: &mut Chip, block: u32, page: u16) -> (bool, Vec<u8>, Vec<Mark>) {
    let mut image = PageImage::new(PAGE.0 as usize, UNITS as usize);
    let sound = chip.contents(PlaneId(0), BlockId(block), PageId(page), &mut image);
    (sound, image.bytes, image.marks)
}

/// A die that keeps bytes in memory.
fn keeping(sheet: Sheet) -> Chip {
    Chip::with_payload(sheet, Faults::default(), 1, 0, UNITS, Some(Box::new(RamPayload::new(&sheet, UNITS))))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every page is programmed with a byte of its own. Whatever is done, the pins give it exactly where the page, or a copy of it that was made before, is not
    /// sealed, and zeroes where it is.
    #[test]
    fn no_command_brings_out_what_was_sealed(steps in prop::collection::vec((0u8..12, 0u16..4, 0u16..6, 0u16..4), 1..120)) {
        let mut chip = keeping(sheet(ProgramScope::Page));
        // What stands in each page: its byte; nothing: it is sealed, or a copy of what was.
        let mut twin: BTreeMap<(u16, u16), Option<u8>> = BTreeMap::new();
        let mut locked = [false; 4];
        let (mut now, mut fresh) = (Nanos::ZERO, 0u8);
        for (kind, block, page, other) in steps {
            let next = twin.range((block, 0)..(block + 1, 0)).count() as u16;
            match kind {
                0..=4 if next < 6 => {
                    fresh = fresh % 250 + 1;
                    let bytes = vec![fresh; PAGE.0 as usize];
                    let mark = |unit| Mark { lpn: Lpn(u32::from(fresh)), version: unit, lost: 0, insecure: false };
                    chip.transfer(IN, now, now);
                    let spare = [Lpn(u32::from(fresh)), PADDING];
                    now = chip.program(program(at(block, next)), now, &spare, Contents::of(&bytes, &[mark(1), mark(2)])).ready_at;
                    twin.insert((block, next), Some(fresh));
                }
                5 | 6 => {
                    let how = if kind == 5 { Sanitisation::LockPage } else { Sanitisation::Reprogram };
                    if page < next {
                        now = chip.issue(sanitise(at(block, page), how), now).ready_at;
                        twin.insert((block, page), None);
                    }
                }
                7 => {
                    let first = page / 3 * 3;
                    if first < next {
                        now = chip.issue(sanitise(at(block, page), Sanitisation::Scrub), now).ready_at;
                        (first..first + 3).for_each(|page| _ = twin.insert((block, page), None));
                    }
                }
                8 if next > 0 => {
                    now = chip.issue(sanitise(at(block, page), Sanitisation::LockBlock), now).ready_at;
                    locked[usize::from(block)] = true;
                }
                9 | 10 if next < 6 && twin.contains_key(&(other, page)) => {
                    now = chip.issue(read(at(other, page)), now).ready_at;
                    now = chip.issue(copyback(at(block, next)), now).ready_at;
                    let copied = if locked[usize::from(other)] { None } else { twin[&(other, page)] };
                    twin.insert((block, next), copied);
                }
                11 if page == 0 => {
                    now = chip.issue(erase(at(block, 0)), now).ready_at;
                    twin.retain(|&(of, _), _| of != block);
                    locked[usize::from(block)] = false;
                }
                _ => {}
            }
        }
        for (&(block, page), &byte) in &twin {
            let (sound, bytes, marks) = seen(&mut chip, u32::from(block), page);
            let byte = byte.filter(|_| !locked[usize::from(block)]);
            prop_assert_eq!(&bytes, &vec![byte.unwrap_or(0); PAGE.0 as usize], "block {} page {}", block, page);
            prop_assert_eq!(sound, byte.is_some());
            prop_assert_eq!(marks[0].lpn, byte.map_or(PADDING, |byte| Lpn(u32::from(byte))));
            prop_assert_eq!(chip.spare(PlaneId(0), BlockId(u32::from(block)), PageId(page), 0), marks[0].lpn);
        }
        // What is destroyed is not below the pins either.
        let destroyed = |chip: &Chip, block: u16, page: u16| matches!(
            chip.sealed(PlaneId(0), BlockId(u32::from(block)), PageId(page), now),
            Some(Sanitisation::Scrub | Sanitisation::Reprogram)
        );
        for &(block, page) in twin.keys().filter(|&&(block, page)| destroyed(&chip, block, page)) {
            let mut image = PageImage::new(PAGE.0 as usize, UNITS as usize);
            chip.payload().expect("it keeps bytes").read(wordline_chip::Place { block: u32::from(block), page: u32::from(page) }, &mut image);
            prop_assert!(image.bytes.iter().all(|&byte| byte == 0), "block {} page {}", block, page);
        }
    }
}
