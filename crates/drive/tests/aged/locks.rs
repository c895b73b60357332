//! A die with the physics of a chip file: the pins of locked pages over the years, and the effect of locks and reprogramming on pages beside them.

use std::sync::Arc;

use wordline_cells::{Age, CellArray, Faults, Model};
use wordline_chip::{Chip, Contents, Issued, Mark, PADDING, PageImage, Probe, RamPayload, Sanitisation};
use wordline_flash::{Command, Feature, Status, Stop, Target};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Bytes, Celsius, Lpn, Nanos, PageId, PlaneId};

const SEED: u64 = 77;
const PAGES: u16 = 576;
const BLOCKS: u16 = 2;
const YEAR: f64 = 365.0 * 86_400.0;

struct Die {
    chip: Chip,
    now: Nanos,
}

fn at(block: u16, page: u16) -> Target {
    Target::single(PlaneId(0), BlockId(u32::from(block)), PageId(page))
}

fn byte(block: u16, page: u16) -> u8 {
    (block * 251 + page) as u8 | 1
}

impl Die {
    /// A die of pageftl whose first blocks are full.
    fn full(settings: &[&str]) -> Die {
        let config = Plan::load_set("pageftl", settings).unwrap_or_else(|error| panic!("{error}")).build();
        let cells = config.cells.expect("pageftl has the physics of tlc48");
        let model = Arc::new(Model::new(&cells.physics).expect("it was checked"));
        let blocks = config.sheet.geometry.blocks as usize;
        let mut chip = Chip::with_payload(config.sheet, Faults::default(), SEED, 0, 1, Some(Box::new(RamPayload::new(&config.sheet, 1))));
        chip.set_cells(CellArray::new(model, SEED, 0, blocks, cells.temperature));
        let mut die = Die { chip, now: Nanos::ZERO };
        let bytes = config.sheet.geometry.page.0;
        for (block, page) in pages() {
            let target = at(block, page);
            die.chip.transfer(Command::DataIn { bytes: Bytes(bytes) }, die.now, die.now);
            let lpn = Lpn(u32::from(block) * 1_000 + u32::from(page));
            let (data, marks) = (vec![byte(block, page); bytes as usize], [Mark { lpn, version: 1, lost: 0, insecure: false }]);
            let contents = Contents::of(&data, &marks);
            die.now = die.chip.program(Command::Program { target, cache: false }, die.now, &[lpn], contents).ready_at;
        }
        die
    }

    fn give(&mut self, command: Command) -> Issued {
        let issued = self.chip.issue(command, self.now);
        self.now = issued.ready_at;
        issued
    }

    fn read(&mut self, block: u16, page: u16) -> Issued {
        self.give(Command::Read { target: at(block, page), cache: false })
    }

    /// True if the pins give the page's bytes. They give those or zeroes, and nothing else.
    fn gives(&mut self, block: u16, page: u16) -> bool {
        let status = self.read(block, page).status;
        let mut image = PageImage::new(self.chip.sheet().geometry.page.0 as usize, 1);
        let sound = self.chip.contents(PlaneId(0), BlockId(u32::from(block)), PageId(page), &mut image);
        let expected = if sound { byte(block, page) } else { 0 };
        assert!(image.bytes.iter().all(|&found| found == expected), "block {block} page {page}");
        assert!(sound || status == Status::Uncorrectable);
        let lpn = if sound { Lpn(u32::from(block) * 1_000 + u32::from(page)) } else { wordline_chip::PADDING };
        assert_eq!((image.marks[0].lpn, self.chip.spare(PlaneId(0), BlockId(u32::from(block)), PageId(page), 0)), (lpn, lpn));
        sound
    }

    fn keep(&mut self, years: f64) {
        let age = Age { cycles: 1_000.0, dwell: 3_600.0, retention: years * YEAR, temperature: 30.0 };
        self.chip.set_age(&age, self.now);
    }
}

fn pages() -> impl Iterator<Item = (u16, u16)> {
    (0..BLOCKS).flat_map(|block| (0..PAGES).map(move |page| (block, page)))
}

/// The LSB pages, so that the wordline of a locked page has had one pulse.
fn lowest() -> impl Iterator<Item = (u16, u16)> {
    pages().filter(|(_, page)| page % 3 == 0)
}

fn lock_lowest(die: &mut Die) {
    for (block, page) in lowest() {
        die.give(Command::Sanitise { target: at(block, page), how: Sanitisation::LockPage });
    }
}

#[test]
fn locked_pages_give_nothing_for_five_years() {
    let mut die = Die::full(&[]);
    lock_lowest(&mut die);
    // A read takes as long as any, and a page beside a lock is there as before.
    let span = |issued: Issued, from: Nanos| issued.ready_at - from;
    let from = die.now;
    let locked = die.read(0, 0);
    let (locked_span, from) = (span(locked, from), die.now);
    let open = die.read(0, 1);
    assert_eq!((locked_span, locked.status), (span(open, from), Status::Uncorrectable));
    assert!(pages().all(|(block, page)| die.gives(block, page) == (page % 3 != 0)));
    die.keep(5.0);
    assert!(pages().all(|(block, page)| die.gives(block, page) == (page % 3 != 0)), "five years later");
    // An erase ends it, and what the pages held with it.
    die.give(Command::Erase { target: at(0, 0) });
    let mut image = PageImage::new(die.chip.sheet().geometry.page.0 as usize, 1);
    assert!(die.chip.contents(PlaneId(0), BlockId(0), PageId(0), &mut image));
    assert!(image.bytes.iter().all(|&byte| byte == 0xFF));
}

#[test]
fn flags_that_were_programmed_too_weakly_let_go_and_the_data_come_back() {
    // (V2, 200 us): five of nine cells lost in five years, in the mean (002 §5.3).
    let mut die = Die::full(&["physics.flag.voltage=1", "timing.t_lock_page=200 us"]);
    lock_lowest(&mut die);
    assert!(lowest().all(|(block, page)| !die.gives(block, page)));
    let mut after = [0; 2];
    for (count, years) in after.iter_mut().zip([1.0, 5.0]) {
        let mut die = Die::full(&["physics.flag.voltage=1", "timing.t_lock_page=200 us"]);
        lock_lowest(&mut die);
        die.keep(years);
        *count = lowest().filter(|&(block, page)| die.gives(block, page)).count();
    }
    println!("seed {SEED}: of {} locked pages the pins give {} after a year, {} after five", lowest().count(), after[0], after[1]);
    assert!(after[0] > 20 && after[1] > after[0] + 50);
}

#[test]
fn a_block_lock_holds_as_long_as_its_select_cells() {
    for (settings, later) in [(vec![], false), (vec!["physics.select.voltage=4", "timing.t_lock_block=400 us"], true)] {
        let mut die = Die::full(&settings);
        die.give(Command::Sanitise { target: at(0, 9), how: Sanitisation::LockBlock });
        assert!(pages().step_by(7).all(|(block, page)| die.gives(block, page) == (block == 1)), "{settings:?}");
        die.keep(5.0);
        assert!(pages().step_by(7).all(|(block, page)| die.gives(block, page) == (later || block == 1)), "{settings:?}");
    }
}

#[test]
fn pages_beside_a_destroyed_one_have_more_errors_and_those_beside_a_lock_hardly() {
    let errors = |how: Option<Sanitisation>| {
        let mut die = Die::full(&[]);
        if let Some(how) = how {
            for (block, page) in lowest() {
                die.give(Command::Sanitise { target: at(block, page), how });
            }
        }
        let beside: Vec<u32> = pages().filter(|(_, page)| page % 3 == 2).map(|(block, page)| die.read(block, page).errors).collect();
        f64::from(beside.iter().sum::<u32>()) / beside.len() as f64
    };
    let [plain, locked, destroyed] = [None, Some(Sanitisation::LockPage), Some(Sanitisation::Reprogram)].map(errors);
    println!(
        "seed {SEED}: {plain:.2} wrong bits in the worst codeword of an MSB page, {locked:.2} beside a lock, {destroyed:.2} beside a destroyed page"
    );
    assert!((locked - plain).abs() < 0.1 * plain + 0.2);
    assert!(destroyed > 3.0 * plain + 3.0);
}

#[test]
fn an_image_takes_the_locks_and_their_age_along() {
    let config = Plan::load_set("pageftl", &["physics.flag.voltage=1", "timing.t_lock_page=200 us"]).expect("a preset").build();
    let cells = config.cells.as_ref().expect("pageftl has the physics of tlc48");
    let model = Arc::new(Model::new(&cells.physics).expect("it was checked"));
    let fresh = || {
        let mut chip = Chip::new(config.sheet, Faults::default(), SEED, 0, 1);
        chip.set_cells(CellArray::new(Arc::clone(&model), SEED, 0, config.sheet.geometry.blocks as usize, cells.temperature));
        chip
    };
    let mut chip = fresh();
    chip.fill_regular(PlaneId(0), BlockId(0), u32::from(PAGES), Lpn(0), 1);
    let mut now = Nanos::ZERO;
    let lock =
        |chip: &mut Chip, page, now| chip.issue(Command::Sanitise { target: at(0, page), how: Sanitisation::LockPage }, now).ready_at;
    for page in (0..PAGES).step_by(2) {
        now = lock(&mut chip, page, now);
    }
    chip.set_age(&Age { cycles: 0.0, dwell: 0.0, retention: 5.0 * YEAR, temperature: 30.0 }, now);
    for page in (1..PAGES).step_by(2) {
        now = lock(&mut chip, page, now);
    }
    let mut again = fresh();
    again.restore(chip.image(now).expect("at rest")).expect("its own image");
    let sealed =
        |chip: &Chip| -> Vec<bool> { (0..PAGES).map(|page| chip.sealed(PlaneId(0), BlockId(0), PageId(page), now).is_some()).collect() };
    let (before, after) = (sealed(&chip), sealed(&again));
    assert_eq!(before, after);
    let held = |from: usize| before.iter().skip(from).step_by(2).filter(|&&held| held).count();
    assert!(held(0) < 250, "{} of 288 old locks hold", held(0));
    assert_eq!(held(1), 288, "locks from after the age was set are not old");
}

/// True for a page of block 0 or 1 whose bytes must not be read: each third of block 0 is locked by itself, and all of block 1 is locked.
fn is_secret(block: u16, page: u16) -> bool {
    block == 1 || page.is_multiple_of(3)
}

/// An attacker who holds the die in his hands.
struct Attacker {
    die: Die,
    draw: Draw,
    /// True for each block that was erased, so that nothing in it is a secret any more.
    erased: [bool; BLOCKS as usize],
    /// Number of commands that the die obeyed.
    obeyed: u64,
    /// Number of times that the attacker got bytes of a secret.
    leaks: u64,
}

impl Attacker {
    /// Give `command`, at once or as soon as the die takes it. An illegal command has no effect.
    fn attempt(&mut self, command: Command) -> Option<Issued> {
        match self.die.chip.probe(&command, self.die.now) {
            Probe::Illegal(_) => return None,
            Probe::Blocked { until } if self.draw.below(2) == 0 => self.die.now = until,
            Probe::Blocked { .. } => return None,
            Probe::Ready => {}
        }
        self.obeyed += 1;
        let issued = self.die.chip.issue(command, self.die.now);
        // He need not wait for the end.
        if self.draw.below(3) > 0 {
            self.die.now = issued.ready_at;
        } else {
            self.die.now += Nanos(self.draw.below(200_000));
        }
        Some(issued)
    }

    /// Program a page of the attacker's own.
    fn program(&mut self, target: Target) {
        let bytes = self.die.chip.sheet().geometry.page.0;
        let now = self.die.now;
        let data_in = Command::DataIn { bytes: Bytes(bytes) };
        if self.die.chip.probe(&data_in, now) == Probe::Ready {
            self.die.chip.transfer(data_in, now, now);
        }
        let command = Command::Program { target, cache: false };
        if self.die.chip.probe(&command, now) == Probe::Ready {
            self.obeyed += 1;
            let (data, marks) = (vec![0; bytes as usize], [Mark::NOTHING]);
            let contents = Contents::of(&data, &marks);
            self.die.now = self.die.chip.program(command, now, &[PADDING], contents).ready_at;
        }
    }

    fn target(&mut self) -> Target {
        // The third block is empty: what he has sensed can be copied there.
        at(self.draw.below(3) as u16, self.draw.below(u64::from(PAGES)) as u16)
    }

    /// Attack once, in a way that the draw decides.
    fn step(&mut self) {
        let target = self.target();
        match self.draw.below(40) {
            0..=9 => {
                let cache = self.draw.below(2) == 0;
                let read = self.attempt(Command::Read { target, cache });
                let (block, page) = (target.blocks[0], target.page.0);
                if read.is_some_and(|read| read.status == Status::Good) && block < BLOCKS {
                    self.leaks += u64::from(is_secret(block, page) && !self.erased[usize::from(block)]);
                }
            }
            10..=17 => {
                let value = self.draw.below(64) as u32;
                self.attempt(Command::SetFeature { feature: Feature::ReadLevel, value });
            }
            18..=21 => {
                let next = self.die.chip.next_page(PlaneId(0), BlockId(2));
                if next < u32::from(PAGES) {
                    self.attempt(Command::Read { target, cache: false });
                    self.attempt(Command::CopybackProgram { target: at(2, next as u16) });
                }
            }
            22 => self.program(at(2, self.die.chip.next_page(PlaneId(0), BlockId(2)).min(u32::from(PAGES) - 1) as u16)),
            23..=25 => _ = self.attempt(Command::Suspend { stop: Stop::AtStep }),
            26..=28 => _ = self.attempt(Command::Resume),
            29 | 30 => {
                self.attempt(Command::Reset);
            }
            31..=34 => {
                // What has been done is done again, and other things to the same pages; but he does not lock more for us than there is.
                let how = [Sanitisation::LockPage, Sanitisation::Reprogram][self.draw.below(2) as usize];
                let block = Command::Sanitise { target: at(1, 0), how: Sanitisation::LockBlock };
                let page = Command::Sanitise { target, how };
                let is_ours = target.blocks[0] == 0 && is_secret(0, target.page.0);
                self.attempt(if is_ours { block } else { page });
            }
            35 => {
                // Not warmer than it may lie for years.
                let warmth = Celsius(self.draw.below(71) as f64 - 40.0);
                self.die.chip.set_temperature(warmth, self.die.now);
            }
            36 => self.die.now += Nanos(self.draw.below(5_000_000_000_000)),
            37 if self.draw.below(100) == 0 => {
                let command = Command::Erase { target };
                if self.attempt(command).is_some()
                    && let Some(erased) = self.erased.get_mut(usize::from(target.blocks[0]))
                {
                    *erased = true;
                }
            }
            37 | 38 => _ = self.attempt(Command::Status),
            _ => _ = self.attempt(Command::GetFeature { feature: Feature::ReadLevel }),
        }
    }

    /// Look at everything that the die puts out: copies of secrets, and bytes of locked pages that are not zero.
    fn look(&mut self) {
        let mut image = PageImage::new(self.die.chip.sheet().geometry.page.0 as usize, 1);
        for block in 0..3 {
            for page in 0..PAGES {
                self.die.chip.contents(PlaneId(0), BlockId(u32::from(block)), PageId(page), &mut image);
                let lpn = image.marks[0].lpn;
                let is_of_secret = lpn != PADDING && is_secret((lpn.0 / 1_000) as u16, (lpn.0 % 1_000) as u16);
                let is_locked = block < BLOCKS && is_secret(block, page) && !self.erased[usize::from(block)];
                let is_zero = image.bytes.iter().all(|&byte| byte == 0);
                self.leaks += u64::from(is_of_secret || (is_locked && !is_zero));
            }
        }
    }
}

#[test]
fn no_order_of_commands_brings_out_what_is_locked_unless_its_flags_are_weak() {
    let weak: &[&str] = &["physics.flag.voltage=1", "timing.t_lock_page=200 us"];
    for (seed, settings) in [(1, &[][..]), (2, &[]), (3, &[]), (4, weak)] {
        let mut die = Die::full(settings);
        lock_lowest(&mut die);
        die.give(Command::Sanitise { target: at(1, 0), how: Sanitisation::LockBlock });
        let (draw, erased) = (Draw::new(seed, Stream::Mix, 5), [false; BLOCKS as usize]);
        let mut attacker = Attacker { die, draw, erased, obeyed: 0, leaks: 0 };
        for step in 0..6_000 {
            attacker.step();
            if step % 1_200 == 1_199 {
                attacker.look();
                // A year in a drawer. In the cold it would be a short one.
                attacker.die.chip.set_temperature(Celsius(30.0), attacker.die.now);
                attacker.die.now += Nanos((YEAR * 1e9) as u64);
            }
        }
        attacker.look();
        println!("seed {seed}: {} commands obeyed, erased: {:?}, leaks: {}", attacker.obeyed, attacker.erased, attacker.leaks);
        assert!(attacker.obeyed > 2_500 && (attacker.leaks > 0) == (settings == weak), "seed {seed}");
    }
}
