//! Does whoever keeps a die's bytes find what it works at torn, from the order to the very end, however often it is stopped?

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, Kept, PageImage, Payload, Place};
use wordline_flash::{Command, Mark, ProgramScope, Sanitisation};
use wordline_units::{Lpn, Nanos};

use crate::common::*;

/// A store that remembers of its blocks whether what began in them has ended.
#[derive(Debug)]
struct Store {
    under_way: Arc<Mutex<BTreeSet<u32>>>,
    /// Planted: an erase is whole as soon as it is ordered.
    erases_at_issue: bool,
}

impl Store {
    fn begin(&self, block: u32) {
        self.under_way.lock().expect("one thread").insert(block);
    }
}

impl Payload for Store {
    fn program(&mut self, place: Place, _: Contents<'_>) {
        self.begin(place.block);
    }

    fn read(&self, _: Place, _: &mut PageImage) -> Kept {
        Kept::Whole
    }

    fn copy(&mut self, _: Place, to: Place) {
        self.begin(to.block);
    }

    fn sanitise(&mut self, _: Place, _: Sanitisation, _: bool) {}

    fn erase(&mut self, block: u32) {
        if !self.erases_at_issue {
            self.begin(block);
        }
    }

    fn end(&mut self, block: u32) {
        self.under_way.lock().expect("one thread").remove(&block);
    }

    fn break_off(&mut self, _: u32) {}

    fn fail(&mut self, _: u32) {}
}

/// Block of plane 0 that the die works at.
const BLOCK: u32 = 1;

/// Whether that block is torn, at every instant in which a process could die: before the end of a program or an erase that is stopped in each of these ways,
/// one after the other, and at its end.
fn torn(erasing: bool, erases_at_issue: bool, stops: &[Command]) -> (Vec<bool>, bool) {
    let under_way = Arc::new(Mutex::new(BTreeSet::new()));
    let store = Store { under_way: Arc::clone(&under_way), erases_at_issue };
    let sheet = stepping(ProgramScope::Page);
    let timing = sheet.timing;
    let mut chip = Chip::with_payload(sheet, Faults::default(), 1, 0, UNITS, Some(Box::new(store)));
    let mut seen = Vec::new();
    let mut look = |chip: &mut Chip, now: Nanos| {
        chip.end(now);
        seen.push(under_way.lock().expect("one thread").contains(&BLOCK));
    };
    let mut now = Nanos::ZERO;
    if erasing {
        chip.issue(erase(at(BLOCK as u16, 0)), now);
    } else {
        chip.transfer(IN, now, now + BUS);
        now += BUS;
        let (bytes, marks) = (vec![7; PAGE.0 as usize], vec![Mark::NOTHING; UNITS as usize]);
        chip.program(program(at(BLOCK as u16, 0)), now, &[Lpn(1), Lpn(2)], Contents::of(&bytes, &marks));
    }
    look(&mut chip, now);
    for &stop in stops {
        now += timing.suspend_interval;
        look(&mut chip, now);
        now = chip.issue(stop, now).ready_at;
        look(&mut chip, now);
        // Another block is read while it is held.
        now = chip.issue(read(at(0, 0)), now).ready_at;
        look(&mut chip, now);
        chip.transfer(OUT, now, now + BUS);
        now += BUS;
        look(&mut chip, now + Nanos::from_millis(50));
        chip.issue(Command::Resume, now);
        look(&mut chip, now);
    }
    let until = chip.array_until();
    look(&mut chip, until - Nanos(1));
    chip.end(until);
    let ended = under_way.lock().expect("one thread").contains(&BLOCK);
    (seen, ended)
}

/// Stops in every order.
const STOPS: [&[Command]; 5] = [&[], &[SUSPEND], &[HALT], &[SUSPEND, HALT, SUSPEND], &[HALT, HALT, SUSPEND]];

#[test]
fn what_is_under_way_is_torn_until_it_has_ended_however_it_is_stopped() {
    for (erasing, stops) in [true, false].into_iter().flat_map(|erasing| STOPS.map(|stops| (erasing, stops))) {
        let (before, ended) = torn(erasing, false, stops);
        assert!(before.iter().all(|&torn| torn) && !ended, "erasing {erasing}, {stops:?}: {before:?}, at the end {ended}");
    }
}

#[test]
fn planted_an_erase_that_is_whole_at_issue_is_seen_at_every_stop() {
    for stops in STOPS {
        let (before, _) = torn(true, true, stops);
        assert!(before.iter().all(|&torn| !torn), "{stops:?}: {before:?}");
    }
}
