//! Does a process that is killed leave what was under way torn, however long it was held, and what had ended whole?

use wordline_cells::Faults;
use wordline_chip::{Chip, Contents, DieFault, Mark, Payload};
use wordline_flash::{Command, ProgramScope, Sheet, Status, Stop, Target, example};
use wordline_live::{Durability, MediaStore};
use wordline_media::{Condition, Identity, Media, PageBuffer, PageState, Place, Replay, Shape, Tape};
use wordline_units::{BlockId, Bytes, DieId, Lpn, Nanos, PageId, PlaneId};

const UNITS: u32 = 4;

fn sheet(scope: ProgramScope) -> Sheet {
    let mut sheet = example::sheet();
    (sheet.geometry.blocks, sheet.geometry.layers, sheet.geometry.page) = (8, 2, Bytes::kib(4));
    let able = &mut sheet.capabilities;
    (able.program_scope, able.stop_at_step, able.stop_now_program, able.stop_now_erase) = (scope, true, true, true);
    (sheet.timing.step_program, sheet.timing.step_erase) = (Nanos::from_micros(44), Nanos::from_micros(117));
    sheet
}

fn identity(sheet: &Sheet) -> Identity {
    Identity { drive: 7, die: 0, dies: 1, chip: "a chip".to_owned(), shape: Shape::of(&sheet.geometry).expect("a small shape") }
}

/// A die on media, of which every write is on the tape.
struct Bench {
    chip: Chip,
    tape: Tape,
    sheet: Sheet,
    now: Nanos,
}

impl Bench {
    fn new(scope: ProgramScope) -> Bench {
        let (sheet, tape) = (sheet(scope), Tape::new());
        let media = Media::in_memory(&identity(&sheet), Durability::Process, &tape).expect("it can be written down");
        let store = MediaStore::new(media, UNITS, None);
        let chip = Chip::with_payload(sheet, Faults::default(), 1, 0, UNITS, Some(Box::new(store.payload(DieId(0)))));
        Bench { chip, tape, sheet, now: Nanos::ZERO }
    }

    fn at(block: u32, page: u16) -> Target {
        Target::single(PlaneId(0), BlockId(block), PageId(page))
    }

    /// Begin to program `page` of `block`, and what stands behind it on its wordline.
    fn program(&mut self, block: u32, page: u16) {
        let pages = self.sheet.pages_per_program();
        let units = (pages * UNITS) as usize;
        let bytes = vec![7; (self.sheet.geometry.page.0 * u64::from(pages)) as usize];
        let marks: Vec<Mark> = (0..units as u32).map(|unit| Mark { lpn: Lpn(unit + 1), version: 1, ..Mark::NOTHING }).collect();
        let oob: Vec<Lpn> = marks.iter().map(|mark| mark.lpn).collect();
        self.chip.transfer(Command::DataIn { bytes: Bytes(bytes.len() as u64) }, self.now, self.now);
        let command = Command::Program { target: Bench::at(block, page), cache: false };
        self.chip.program(command, self.now, &oob, Contents::of(&bytes, &marks));
    }

    /// Suspend what the array does, read a page of another block for a while, and go on.
    fn hold(&mut self, stop: Stop) {
        self.now = self.chip.issue(Command::Suspend { stop }, self.now + Nanos::from_micros(150)).ready_at;
        for _ in 0..20 {
            self.now = self.chip.issue(Command::Read { target: Bench::at(5, 0), cache: false }, self.now).ready_at;
            self.chip.end(self.now);
        }
    }

    /// Let what the array does end.
    fn finish(&mut self) {
        self.now = self.chip.array_until();
        self.chip.end(self.now);
    }

    /// What whoever comes next finds of `block`, if the process dies now.
    fn found(&self, block: u32) -> (Condition, Vec<PageState>) {
        let mut replay = Replay::new(1);
        self.tape.entries().iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
        let media = Media::open_memory(replay.files(), Some(&identity(&self.sheet)), Durability::Process).expect("it can be opened");
        let die = media.die(0);
        let mut buffer = PageBuffer::new(die.shape());
        let mut state = |page| die.read_page(Place { block, page }, &mut buffer).expect("memory").0;
        (die.block(block).condition, (0..3).map(&mut state).collect())
    }
}

const STOPS: [Stop; 2] = [Stop::AtStep, Stop::Now];

#[test]
fn an_erase_is_torn_from_its_beginning_until_it_has_ended() {
    for stop in STOPS {
        let mut bench = Bench::new(ProgramScope::Page);
        bench.program(1, 0);
        bench.finish();
        assert_eq!(bench.found(1), (Condition::Good, vec![PageState::Written, PageState::Erased, PageState::Erased]));
        bench.chip.issue(Command::Erase { target: Bench::at(1, 0) }, bench.now);
        assert_eq!(bench.found(1).0, Condition::Torn, "it has begun");
        for _ in 0..3 {
            bench.hold(stop);
            assert_eq!(bench.found(1).0, Condition::Torn, "it is held");
            bench.chip.issue(Command::Resume, bench.now);
            bench.now += Nanos::from_micros(200);
            assert_eq!(bench.found(1).0, Condition::Torn, "it goes on");
        }
        bench.finish();
        assert_eq!(bench.found(1), (Condition::Good, vec![PageState::Erased; 3]));
    }
}

#[test]
fn a_program_is_torn_from_its_beginning_until_it_has_ended() {
    for (scope, stop) in [ProgramScope::Page, ProgramScope::Wordline].into_iter().flat_map(|scope| STOPS.map(|stop| (scope, stop))) {
        let mut bench = Bench::new(scope);
        let pages = bench.sheet.pages_per_program() as usize;
        let states = |state: PageState| {
            let mut states = vec![PageState::Erased; 3];
            states[..pages].fill(state);
            states
        };
        bench.program(1, 0);
        assert_eq!(bench.found(1).1, states(PageState::Torn), "it has begun");
        bench.hold(stop);
        assert_eq!(bench.found(1).1, states(PageState::Torn), "it is held");
        bench.chip.issue(Command::Resume, bench.now);
        assert_eq!(bench.found(1).1, states(PageState::Torn), "it goes on");
        bench.finish();
        assert_eq!(bench.found(1).1, states(PageState::Written));
        // What has ended stays whole while the next is under way, and what is broken off stays torn.
        let next = bench.sheet.pages_per_program() as u16;
        bench.program(1, next);
        bench.now = bench.chip.issue(Command::Reset, bench.now + Nanos(1)).ready_at;
        assert_eq!(bench.found(1).1[..pages], states(PageState::Written)[..pages]);
        if pages == 1 {
            assert_eq!(bench.found(1).1[1], PageState::Torn);
        }
        bench.chip.issue(Command::Erase { target: Bench::at(1, 0) }, bench.now);
        bench.finish();
        assert_eq!(bench.found(1), (Condition::Good, vec![PageState::Erased; 3]));
    }
}

#[test]
fn a_copyback_is_torn_in_each_of_its_parts_until_its_program_has_ended() {
    for scope in [ProgramScope::Page, ProgramScope::Wordline] {
        let mut bench = Bench::new(scope);
        bench.program(1, 0);
        bench.finish();
        let pages = bench.sheet.pages_per_program() as u16;
        for page in 0..pages {
            bench.now = bench.chip.issue(Command::Read { target: Bench::at(1, page), cache: false }, bench.now).ready_at;
            let before = bench.found(2).1;
            assert!(before[usize::from(page)..].iter().all(|state| *state == PageState::Erased), "nothing but sensed: {before:?}");
            bench.now = bench.chip.issue(Command::CopybackProgram { target: Bench::at(2, page) }, bench.now).ready_at;
            assert_eq!(bench.found(2).1[usize::from(page)], PageState::Torn);
        }
        bench.chip.end(bench.now);
        assert!(bench.found(2).1[..usize::from(pages)].iter().all(|state| *state == PageState::Written));
    }
}

#[test]
fn a_program_and_an_erase_that_fail_leave_a_bad_block_once_they_have_ended() {
    for erasing in [false, true] {
        let mut bench = Bench::new(ProgramScope::Page);
        bench.chip.inject(DieFault::Die { silent: false });
        if erasing {
            bench.chip.issue(Command::Erase { target: Bench::at(1, 0) }, bench.now);
        } else {
            bench.program(1, 0);
        }
        assert_ne!(bench.found(1).0, Condition::Bad, "nobody knows yet");
        bench.finish();
        assert_eq!(bench.chip.issue(Command::Status, bench.now).status, Status::Failed);
        assert_eq!(bench.found(1).0, Condition::Bad);
    }
}

/// An erase that is whole on media as soon as it is issued is what these tests are there for.
#[test]
fn planted_an_erase_that_is_whole_at_issue_is_not_found_torn() {
    let mut bench = Bench::new(ProgramScope::Page);
    bench.program(1, 0);
    bench.finish();
    let mut payload = {
        let media = Media::in_memory(&identity(&bench.sheet), Durability::Process, &bench.tape).expect("it can be written down");
        MediaStore::new(media, UNITS, None).payload(DieId(0))
    };
    payload.erase(1);
    assert_eq!(bench.found(1).0, Condition::Torn);
    payload.end(1);
    assert_eq!(bench.found(1).0, Condition::Good, "told at once, it would be found erased, and the oracle sees it");
}
