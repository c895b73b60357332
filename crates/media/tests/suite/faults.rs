//! Is a full disk, or one that fails, an error of its own kind, and is the die sound afterwards?

use std::cell::Cell;
use std::io;

use wordline_media::{Backing, Condition, Die, MediaError, Memory, PageState, Place};

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
    let offset = SHAPE.file_bytes() - 4 * 8192 + 1240;
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
