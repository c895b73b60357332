//! Is a full disk, or one that fails, an error of its own kind, and is the die sound afterwards?

use std::cell::Cell;
use std::io;

use wordline_media::{Backing, Condition, Die, MediaError, Memory, PageRun, PageState, Place};

use crate::common::{SHAPE, identity, page, see_die};

/// Fails with `kind` once `budget` bytes have been written, in the middle of the write if it comes to that.
struct Faulty {
    memory: Memory,
    budget: Cell<u64>,
    kind: io::ErrorKind,
}

impl Faulty {
    fn take(&self, wanted: u64) -> Result<(), (u64, io::Error)> {
        let budget = self.budget.get();
        self.budget.set(budget.saturating_sub(wanted));
        if wanted <= budget { Ok(()) } else { Err((budget, self.kind.into())) }
    }
}

impl Backing for Faulty {
    fn length(&self) -> io::Result<u64> {
        self.memory.length()
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.memory.set_length(length)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.memory.read(offset, into)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.take(bytes.len() as u64) {
            Ok(()) => self.memory.write(offset, bytes),
            Err((count, error)) => self.memory.write(offset, &bytes[..count as usize]).and(Err(error)),
        }
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.take(1).map_err(|(_, error)| error)?;
        self.memory.punch(offset, length)
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        self.memory.data_end(from, until)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.take(1).map_err(|(_, error)| error)
    }
}

fn die(budget: u64, kind: io::ErrorKind) -> Die<Faulty> {
    let faulty = Faulty { memory: Memory::new(), budget: Cell::new(u64::MAX), kind };
    let mut die = Die::create(faulty, "die-000.media", &identity(1)).expect("room enough");
    die.program_page(Place { block: 0, page: 0 }, &mut page(&SHAPE, 1)).expect("room enough");
    die.backing().budget.set(budget);
    die
}

#[test]
fn each_fault_has_its_kind() {
    let place = Place { block: 0, page: 1 };
    let fault = |kind, budget| die(budget, kind).program_page(place, &mut page(&SHAPE, 2)).expect_err("no room");
    let error = fault(io::ErrorKind::StorageFull, 0);
    // Behind the four blocks of 8 KiB stand four tails of a sector for each.
    let offset = SHAPE.file_bytes() - 16 * 512 - 4 * 8192 + 1240;
    assert!(matches!(error, MediaError::NoSpace { offset: at, .. } if at == offset), "{error:?}");
    assert_eq!(error.to_string(), format!("die-000.media: no space left on the host's disk while programming a page at offset {offset}"));
    assert!(matches!(fault(io::ErrorKind::WriteZero, 700), MediaError::Short { .. }));
    assert!(matches!(fault(io::ErrorKind::PermissionDenied, 700), MediaError::Io { .. }));
}

#[test]
fn a_program_that_failed_is_a_torn_page() {
    for budget in [0, 1, 700, 1234] {
        let mut die = die(budget, io::ErrorKind::StorageFull);
        die.program_page(Place { block: 0, page: 1 }, &mut page(&SHAPE, 3)).expect_err("no room");
        die.backing().budget.set(u64::MAX);
        assert_eq!(see_die(&die)[0].pages[1].0, PageState::Torn, "it counts as used");
        die.program_page(Place { block: 0, page: 2 }, &mut page(&SHAPE, 4)).expect("room again");
        let seen = see_die(&die);
        assert_eq!([0, 1, 2].map(|page| seen[0].pages[page].0), [PageState::Written, PageState::Torn, PageState::Written]);
        let again = Die::open(die.backing().memory.unrecorded(), "die", None).expect("sound");
        assert_eq!(see_die(&again), seen);
    }
}

/// Pages of a program, with what [`page`] makes of `fills`.
fn run(fills: &[u64]) -> PageRun {
    let mut run = PageRun::new(&SHAPE);
    for &fill in fills {
        let (data, spare) = run.add();
        let page = page(&SHAPE, fill);
        data.copy_from_slice(page.data());
        spare.copy_from_slice(page.spare());
    }
    run
}

#[test]
fn pages_of_one_program_are_one_write_and_each_stands_for_itself() {
    let mut one_by_one = die(u64::MAX, io::ErrorKind::StorageFull);
    (1..4).for_each(|number| {
        one_by_one.program_page(Place { block: 0, page: number }, &mut page(&SHAPE, u64::from(number) + 1)).expect("room enough");
    });
    let slot = SHAPE.slot();
    let mut pages = run(&[9, 9, 9, 9]);
    pages.clear();
    assert_eq!(pages.count(), 0);
    for budget in 0..=3 * slot {
        let mut die = die(budget, io::ErrorKind::StorageFull);
        let programmed = die.program_pages(Place { block: 0, page: 1 }, &mut run(&[2, 3, 4]));
        // A second write would find no budget, wherever the first had ended.
        assert_eq!(programmed.is_ok(), budget == 3 * slot);
        die.backing().budget.set(u64::MAX);
        let (seen, whole) = (see_die(&die), see_die(&one_by_one));
        let count = (budget / slot) as usize;
        assert_eq!(seen[0].pages[..=count], whole[0].pages[..=count], "what was written to its end is there");
        for page in count + 1..4 {
            // The last bytes of a page are zeroes, and so is what was there.
            let is_all_but_zeroes = page == count + 1 && budget % slot >= slot - 4;
            assert_eq!(seen[0].pages[page].0 == PageState::Torn, !is_all_but_zeroes, "{budget}, page {page}: {:?}", seen[0].pages[page].0);
        }
        die.program_page(Place { block: 0, page: 4 }, &mut page(&SHAPE, 5)).expect("room again");
        let again = Die::open(die.backing().memory.unrecorded(), "die", None).expect("sound");
        assert_eq!(see_die(&again), see_die(&die));
    }
}

#[test]
fn an_erase_that_failed_is_a_torn_block() {
    for budget in [0, 30, 64, 100, 128, 129, 200, 256] {
        let mut die = die(budget, io::ErrorKind::StorageFull);
        die.erase_block(0).expect_err("no room");
        assert_eq!(die.block(0).condition, Condition::Torn);
        die.backing().budget.set(u64::MAX);
        // What stands on the medium is what was before, or torn, or, once only the second copy of the last record is missing, erased.
        let opened = Die::open(die.backing().memory.unrecorded(), "die", None).expect("sound").block(0);
        assert!(opened.condition == Condition::Torn || !(64..193).contains(&budget), "{budget}: {opened:?}");
        die.erase_block(0).expect("room again");
        assert_eq!((die.block(0).condition, die.block(0).cursor), (Condition::Good, 0));
        die.program_page(Place { block: 0, page: 0 }, &mut page(&SHAPE, 5)).expect("room again");
        let seen = see_die(&die);
        assert_eq!(see_die(&Die::open(die.backing().memory.unrecorded(), "die", None).expect("sound")), seen);
    }
}

#[test]
fn a_sync_that_failed_is_tried_again() {
    let mut die = die(0, io::ErrorKind::StorageFull);
    die.sync().expect_err("no room");
    die.sync().expect_err("still dirty");
    die.backing().budget.set(1);
    die.sync().expect("done");
    die.sync().expect("nothing to do");
}
