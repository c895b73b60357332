//! Versions of files, by hand.

use std::sync::mpsc::{Sender, channel};

use wordline_engine::{Event, Observer, UnitPlace, UnitStep};
use wordline_figures::VerTrace;
use wordline_figures::vertrace::{FileScope, FileStep};
use wordline_units::{Attributes, BlockId, Bytes, DieId, HostOp, Nanos, RequestId};

const DIE: DieId = DieId(0);
const SECTORS: u64 = 8;
/// Sixteen units: 128 sectors are one capacity.
const SCOPE: FileScope = FileScope { capacity: Bytes::kib(64), unit: Bytes::kib(4), dies: 1, blocks: 5, units_per_group: 4 };

struct Hand {
    books: VerTrace,
    told: Sender<FileStep>,
    mapped: std::collections::BTreeMap<u64, UnitPlace>,
}

fn at(block: u32, offset: u32) -> UnitPlace {
    UnitPlace { die: DIE, block: BlockId(block), offset }
}

impl Hand {
    fn new() -> Hand {
        let (told, steps) = channel();
        Hand { books: VerTrace::new(SCOPE, steps, &[0]), told, mapped: Default::default() }
    }

    fn asks(&mut self, file: u32, op: HostOp, unit: u64, units: u64, replaces: bool) {
        let sectors = (units * SECTORS) as u32;
        self.told.send(FileStep { file, version: 0, sector: unit * SECTORS, sectors, op, replaces }).expect("the books listen");
        self.books.observe(Nanos(0), &Event::Arrived { request: RequestId(0), op, attributes: Attributes::NONE, sectors });
    }

    fn take(&mut self, unit: u64, from: Option<UnitPlace>) {
        self.books.follow(Nanos(0), &UnitStep::Taken { die: DIE, unit: Some(unit), from });
    }

    fn land(&mut self, place: UnitPlace, is_live: bool) {
        self.books.follow(Nanos(0), &UnitStep::Landed { place, is_live });
    }

    fn program(&mut self, unit: u64, place: UnitPlace) {
        self.take(unit, None);
        self.land(place, true);
        self.mapped.insert(unit, place);
    }

    fn copy(&mut self, unit: u64, to: UnitPlace) {
        let from = self.mapped.insert(unit, to);
        self.take(unit, from);
        self.land(to, true);
    }

    fn unmap(&mut self, unit: u64) {
        self.mapped.remove(&unit);
        self.books.follow(Nanos(0), &UnitStep::Unmapped { unit });
    }

    fn erase(&mut self, block: u32) {
        self.books.follow(Nanos(0), &UnitStep::Gone { die: DIE, block: BlockId(block), first: 0, units: SCOPE.units_per_group });
    }

    fn check(&self) -> Result<(), String> {
        self.books.check(self.mapped.iter().map(|(&unit, &place)| (unit, place)))
    }
}

#[test]
fn a_story_of_three_files_comes_out_as_by_hand() {
    use HostOp::{Trim, Write};
    let mut hand = Hand::new();
    // File 0 has two units, then a third; file 1 has one, and overwrites it.
    hand.asks(0, Write, 0, 2, false);
    hand.program(0, at(0, 0));
    hand.program(1, at(0, 1));
    hand.asks(1, Write, 2, 1, false);
    hand.program(2, at(0, 2));
    hand.asks(0, Write, 3, 1, false);
    hand.program(3, at(0, 3));
    assert_eq!((hand.books.counts(0), hand.books.counts(1)), ((3, 0), (1, 0)));
    hand.asks(1, Write, 2, 1, true);
    hand.program(2, at(1, 0));
    assert_eq!(hand.books.counts(1), (1, 1));
    // Reclaim empties the first block: file 0 has stale copies that nobody made by writing.
    for (unit, offset) in [(0, 1), (1, 2), (3, 3)] {
        hand.copy(unit, at(1, offset));
    }
    assert_eq!(hand.books.counts(0), (3, 3));
    hand.asks(2, Write, 4, 1, false);
    hand.program(4, at(2, 0));
    // Eight sectors after it became insecure.
    hand.erase(0);
    assert_eq!((hand.books.counts(0), hand.books.counts(1)), ((3, 0), (1, 0)));
    hand.asks(1, Trim, 2, 1, true);
    hand.unmap(2);
    hand.asks(2, Write, 5, 1, false);
    hand.program(5, at(2, 1));
    assert_eq!(hand.books.counts(1), (0, 1));
    assert_eq!(hand.books.holder(at(1, 3)), Some((0, 0)));
    // Of what is erased it is known what it was.
    assert_eq!((hand.books.holder(at(0, 0)), hand.books.holder(at(2, 2))), (Some((0, 0)), None));
    hand.check().expect("the books agree with the map");

    let result = hand.books.conclude();
    assert_eq!(result.capacities_written, 56.0 / 128.0);
    let [uni, multi] = result.classes.as_slice() else { panic!("two classes") };
    assert_eq!((uni.files, uni.insecure_files), (2, 1));
    assert_eq!((uni.vaf_mean, uni.vaf_max.map(|most| (most.value, most.file))), (Some(0.5), Some((1.0, 0))));
    assert_eq!((uni.t_insecure_mean, uni.t_insecure_max.map(|most| most.value)), (Some(4.0 / 128.0), Some(8.0 / 128.0)));
    assert_eq!((multi.files, multi.vaf_mean, multi.t_insecure_mean), (1, Some(1.0), Some(16.0 / 128.0)));
    let points: Vec<(u32, u32)> = result.plots[0].points.iter().map(|point| (point.valid, point.invalid)).collect();
    assert!(points.contains(&(2, 0)) && points.contains(&(3, 3)) && points.last() == Some(&(3, 0)), "{points:?}");
}

#[test]
fn a_program_under_way_keeps_the_file_that_wrote_it() {
    use HostOp::{Trim, Write};
    let mut hand = Hand::new();
    hand.asks(3, Write, 6, 1, false);
    hand.take(6, None);
    // While it is programmed, the file is deleted and another takes its place.
    hand.asks(3, Trim, 6, 1, true);
    hand.unmap(6);
    hand.asks(4, Write, 6, 1, false);
    hand.land(at(3, 0), false);
    assert_eq!((hand.books.counts(3), hand.books.counts(4)), ((0, 1), (0, 0)));
    hand.program(6, at(3, 1));
    assert_eq!((hand.books.counts(3), hand.books.counts(4)), ((0, 1), (1, 0)));
    // File 3 never had a valid unit, and is not counted.
    assert_eq!(hand.books.conclude().classes.iter().map(|class| class.files).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn books_that_do_not_agree_are_noticed() {
    let mut hand = Hand::new();
    hand.asks(0, HostOp::Write, 0, 1, false);
    hand.program(0, at(0, 0));
    hand.mapped.insert(0, at(0, 1));
    assert!(hand.check().expect_err("it lies elsewhere").contains("unit 0"));
    hand.mapped.insert(0, at(0, 0));
    hand.check().expect("agreed");
    hand.erase(0);
    assert!(hand.check().expect_err("valid data was erased").contains("went with block"));
}

#[test]
#[should_panic(expected = "that no file system spoke of")]
fn a_write_that_nobody_spoke_of_is_noticed() {
    let mut hand = Hand::new();
    let sectors = 8;
    hand.books.observe(Nanos(0), &Event::Arrived { request: RequestId(0), op: HostOp::Write, attributes: Attributes::NONE, sectors });
}
