//! Does a die on media files know after any cut which errors copybacks have carried into its pages?
//!
//! A die with physics copies pages again and again, is erased and copies again, and the process dies at each write to its files. Whatever page is whole
//! then must carry what it carried before. Media that lose the carried rates are told from those that do not.

use std::sync::Arc;

use wordline_cells::{Age, CellArray, KeptLife, Model};
use wordline_chip::{Chip, Contents, DieFault, Kept, KeptBlock, Mark, PageImage, Payload, Persistent, Place, Sanitisation};
use wordline_drive::Config;
use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Command, PlaneSet, Status, Target};
use wordline_live::{Durability, MediaPayload, MediaStore};
use wordline_media::{Identity, Media, Memory, Shape, Tape};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Bytes, DieId, Lpn, Nanos, PageId, PlaneId};

use crate::lived::Lived;

const SEED: u64 = 11;
const UNITS: u32 = 1;
const PAGES: u32 = 12;

fn config() -> Config {
    let settings = ["flash.channels=1", "flash.dies_per_channel=1"];
    let mut config = Plan::load_set("pageftl", &settings).expect("a preset").build();
    config.sheet.geometry.blocks = 4;
    assert!(config.cells.is_some() && config.sheet.capabilities.copyback, "the preset has physics, and its die copies back");
    config
}

/// Media that keep of a block's cells what `loses` does not take away.
#[derive(Debug)]
struct Leaky {
    inner: MediaPayload<Memory>,
    loses: bool,
}

impl Payload for Leaky {
    fn persistent(&self) -> Option<&dyn Persistent> {
        Some(self)
    }

    fn program(&mut self, place: Place, contents: Contents<'_>) {
        self.inner.program(place, contents);
    }

    fn read(&self, place: Place, image: &mut PageImage) -> Kept {
        self.inner.read(place, image)
    }

    fn copy(&mut self, from: Place, to: Place) {
        self.inner.copy(from, to);
    }

    fn sanitise(&mut self, place: Place, how: Sanitisation, is_whole: bool) {
        self.inner.sanitise(place, how, is_whole);
    }

    fn erase(&mut self, block: u32) {
        self.inner.erase(block);
    }

    fn set_erases(&mut self, block: u32, erases: u32) {
        self.inner.set_erases(block, erases);
    }

    fn end(&mut self, block: u32) {
        self.inner.end(block);
    }

    fn break_off(&mut self, block: u32) {
        self.inner.break_off(block);
    }

    fn fail(&mut self, block: u32) {
        self.inner.fail(block);
    }

    fn keep_life(&mut self, block: u32, life: &KeptLife) {
        if self.loses {
            // The version, no further parts, and the five numbers.
            let short = [&[1, 0], &life.bytes()[2..22]].concat();
            return self.inner.keep_life(block, &KeptLife::from_bytes(short).expect("a string without carried rates"));
        }
        self.inner.keep_life(block, life);
    }
}

impl Persistent for Leaky {
    fn kept_block(&self, block: u32) -> KeptBlock {
        self.inner.kept_block(block)
    }

    fn kept_failures(&self) -> Vec<DieFault> {
        self.inner.kept_failures()
    }
}

fn at(block: u16, page: u32) -> Target {
    let mut blocks = [0; PLANES_MAX];
    blocks[0] = block;
    Target { planes: PlaneSet::first(1), blocks, page: PageId(page as u16) }
}

/// A die on these files.
fn die(config: &Config, files: Media<Memory>, loses: bool) -> Chip {
    let store = MediaStore::new(files, UNITS, None);
    let payload = Leaky { inner: store.payload(DieId(0)), loses };
    let mut die = Chip::with_payload(config.sheet, Default::default(), SEED, 0, UNITS, Some(Box::new(payload)));
    let cells = config.cells.as_ref().expect("it has physics");
    let model = Arc::new(Model::new(&cells.physics).expect("checked"));
    die.set_cells(CellArray::new(model, SEED, 0, config.sheet.geometry.blocks as usize, cells.temperature));
    die
}

/// Errors that a page carries, by the table of the die; `None`: it is not there.
type Known = Vec<Vec<Option<u16>>>;

fn known(die: &mut Chip, config: &Config) -> Known {
    let bytes = config.sheet.geometry.page.0 as usize;
    let mut image = PageImage::new(bytes, UNITS as usize);
    let tables = die.carried_tables();
    let mut page_of = |block: u32, page: u32| {
        let is_whole = die.wake_page(PlaneId(0), BlockId(block), PageId(page as u16), &mut image) == Kept::Whole;
        is_whole.then(|| tables.of(block).map_or(0, |table| table[page as usize]))
    };
    (0..config.sheet.geometry.blocks).map(|block| (0..PAGES).map(|page| page_of(block, page)).collect()).collect()
}

/// A life of copies, with what is known of the die after each of its steps, and how long the tape was then.
fn live(config: &Config, loses: bool) -> Lived<Known> {
    let geometry = config.sheet.geometry;
    let identity = Identity { drive: 7, die: 0, dies: 1, chip: "a chip".to_owned(), shape: Shape::of(&geometry).expect("a small shape") };
    let tape = Tape::new();
    let mut die = die(config, Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down"), loses);
    die.set_age(&Age { cycles: 3_000.0, dwell: 60.0, retention: 0.0, temperature: 30.0 }, Nanos::ZERO);
    let mut states = vec![(tape.len(), known(&mut die, config))];
    let (bytes, mut now) = (vec![7; geometry.page.0 as usize], Nanos(1));
    let mut draw = Draw::new(SEED, Stream::Mix, 0);
    for round in 0..3u16 {
        let (from, to) = (round, round + 1);
        for page in 0..PAGES {
            // Every fourth page comes from the controller.
            if round == 0 || draw.below(4) == 0 {
                let marks = [Mark { lpn: Lpn(page), version: 1, lost: 0, insecure: false }];
                die.transfer(Command::DataIn { bytes: Bytes(bytes.len() as u64) }, now, now);
                let program = Command::Program { target: at(to, page), cache: false };
                now = die.program(program, now, &[Lpn(page)], Contents::of(&bytes, &marks)).ready_at;
            } else {
                let copied = die.copy_back(at(from, page), at(to, page), now);
                assert_eq!((copied.status, copied.errors), (Status::Good, 0));
                now = copied.ready_at;
            }
            states.push((tape.len(), known(&mut die, config)));
        }
        if round == 2 {
            // What its pages carried is gone with them, and the next ones are programmed.
            now = die.issue(Command::Erase { target: at(2, 0) }, now).ready_at;
            states.push((tape.len(), known(&mut die, config)));
            let copied = die.copy_back(at(3, 0), at(2, 0), now);
            states.push((tape.len(), known(&mut die, config)));
            now = copied.ready_at;
        }
    }
    Lived { tape, identity, states }
}

/// How many pages of dies that woke up after a cut at any write carry another rate than before it, and how many carry any.
fn cut_everywhere(loses: bool) -> (u32, u32) {
    let config = config();
    let (mut cuts, mut wrong, mut carrying) = (0, 0, 0);
    live(&config, loses).cut_everywhere(SEED, 2 * config.sheet.geometry.page.0, |files, before, after| {
        cuts += 1;
        let mut woken = die(&config, files, loses);
        (0..config.sheet.geometry.blocks).for_each(|block| _ = woken.wake_block(PlaneId(0), BlockId(block)));
        for (block, pages) in known(&mut woken, &config).iter().enumerate() {
            for (page, found) in pages.iter().enumerate().filter_map(|(page, found)| found.map(|found| (page, found))) {
                let may = [before[block][page], after[block][page]];
                wrong += u32::from(!may.contains(&Some(found)));
                carrying += u32::from(found > 0);
            }
        }
    });
    println!("loses {loses}: {cuts} cuts, {wrong} pages wrong, {carrying} carry errors; seed {SEED}");
    (wrong, carrying)
}

#[test]
fn what_copybacks_carried_is_known_wherever_the_process_dies() {
    let (wrong, carrying) = cut_everywhere(false);
    assert_eq!(wrong, 0);
    assert!(carrying > 1_000, "{carrying}: too few to tell anything");
}

#[test]
fn planted_bug_carried_rates_are_lost_in_the_media_record() {
    let (wrong, carrying) = cut_everywhere(true);
    assert!(wrong > 100 && carrying == 0, "{wrong} wrong, {carrying}");
}
