//! The dies of a drive without its controller, in the hands of somebody who has taken them off the board.
//!
//! He may give every command of the data sheet, at every reference of the retry table and those that a search finds, in any order and after any time
//! (000 §5.2.1, 002 §5.1). What he gets is what the pins put out: nothing here looks past a lock. He knows the layout of the spare area, so he knows what each
//! page is of; the firmware's map he has not.
//!
//! ```text
//! Drive ──chip_off──┐
//!                   ├─► ChipsOff ──wait(5 years)──read──► PageRead, page by page
//! a store ──found───┘
//! ```

use wordline_chip::{PADDING, PageImage, Payload, Sanitisation};
use wordline_flash::{Command, ReadOffsets, Status, Target};
use wordline_ftl::{CHECKPOINT, JOURNAL, OOB};
use wordline_units::{BlockId, Celsius, DieId, Lpn, Nanos, PageId, PlaneId};

use crate::config::Config;
use crate::device::dies::{Dies, of_kind};
use crate::device::tries::{Search, set_references};
use crate::host::stripe::Stripe;
use crate::machine::Machine;
use crate::place::FlashPlace;

/// Outcome of all reads of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// All ones: nothing was programmed since the last erase.
    Erased,
    /// The programmed data, with all errors corrected.
    Corrected {
        /// Entry of the retry table that was used, or at which a search for references began.
        entry: u32,
        /// Wrong bits in the worst codeword at that entry.
        errors: u32,
    },
    /// The programmed data, with more errors than the controller's code can correct at any entry of the retry table, or after a search for references.
    Uncorrectable {
        /// Wrong bits in the worst codeword at the best entry.
        errors: u32,
    },
    /// Bits left by a program or an erase that failed or was broken off.
    Ruined,
    /// All zeroes, because the page was sanitised.
    Zeroes(Sanitisation),
}

/// Content of a mapping unit of a page, by its spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// No unit, or none that can be told.
    Nothing,
    /// Data of a unit of the drive.
    Unit {
        /// Number of the unit, from 0; its first byte is the number times the unit's size.
        unit: u64,
        /// Version of the write, which grows with time, and true if the data was declared insecure; `None`: the dies keep no bytes.
        mark: Option<(u64, bool)>,
    },
    /// Part of the firmware's journal or of a checkpoint of its map.
    Firmware,
}

/// Result of reading a page.
#[derive(Clone, Copy, Debug)]
pub struct PageRead<'a> {
    /// Location of the page; its `unit` is 0.
    pub place: FlashPlace,
    /// Outcome of the reads.
    pub output: Output,
    /// Content of each mapping unit of the page.
    pub units: &'a [Holds],
    /// Bytes that were put out. Errors that were not corrected are not in them: an attacker has better means than the controller. Empty where the dies keep
    /// no bytes.
    pub bytes: &'a [u8],
}

/// The dies of a drive without their controller.
#[derive(Debug)]
pub struct ChipsOff {
    config: Config,
    dies: Dies,
    stripe: Stripe,
    now: Nanos,
}

/// Takes the dies off the board of a drive. Power goes first: operations under way are broken off.
pub(crate) fn chip_off(machine: Machine) -> ChipsOff {
    let (config, dies, now) = machine.into_dies();
    let mut taken = ChipsOff { stripe: Stripe::new(config.cores, config.stripe_units), config, dies, now };
    taken.power_on();
    taken
}

impl ChipsOff {
    /// Dies of a drive of this `config`, with the bytes that `payload` has kept. No firmware has run on them since.
    pub fn found<P: Payload + 'static>(config: Config, payload: impl FnMut(DieId) -> P) -> ChipsOff {
        let mut dies = Dies::new(&config, &mut of_kind(payload));
        let geometry = config.sheet.geometry;
        for (_, chip) in dies.iter_mut() {
            for plane in (0..geometry.planes as u8).map(PlaneId) {
                for block in (0..geometry.blocks).map(BlockId) {
                    chip.wake_block(plane, block);
                }
            }
        }
        let mut taken = ChipsOff { stripe: Stripe::new(config.cores, config.stripe_units), config, dies, now: Nanos::ZERO };
        taken.power_on();
        taken
    }

    fn power_on(&mut self) {
        let mut ready = self.now;
        for (_, chip) in self.dies.iter_mut() {
            ready = ready.max(chip.issue(Command::Reset, self.now).ready_at);
        }
        self.now = ready;
    }

    fn keeps(&self) -> bool {
        self.dies.keep_bytes()
    }

    /// Stores the dies for `time` at `temperature`, which they keep afterwards. Returns false, without effect, if the cells have no physics.
    pub fn wait(&mut self, time: Nanos, temperature: Celsius) -> bool {
        let now = self.now;
        let is_felt = self.dies.iter_mut().map(|(_, chip)| chip.set_temperature(temperature, now)).fold(false, |all, felt| all | felt);
        self.now += time;
        is_felt
    }

    /// Configuration of the drive that the dies come from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Reads every page of every die and calls `seen` with each.
    pub fn read(&mut self, mut seen: impl FnMut(&PageRead<'_>)) {
        let geometry = self.config.sheet.geometry;
        let units = (geometry.page.0 / self.config.firmware.unit.0) as usize;
        let mut image = PageImage::new(if self.keeps() { geometry.page.0 as usize } else { 0 }, units);
        let mut holds = Vec::with_capacity(units);
        for die in (0..geometry.dies() as u16).map(DieId) {
            for plane in (0..geometry.planes as u8).map(PlaneId) {
                for block in (0..geometry.blocks).map(BlockId) {
                    for page in (0..geometry.pages() as u16).map(PageId) {
                        let place = FlashPlace { die, plane, block, page, unit: 0 };
                        let output = self.read_page(place, &mut image);
                        holds.clear();
                        holds.extend((0..units as u32).map(|unit| self.holds(place, unit, output, &image)));
                        seen(&PageRead { place, output, units: &holds, bytes: &image.bytes });
                    }
                }
            }
        }
    }

    /// Read a page at the entries of the retry table, then with references that are searched for, until error correction succeeds.
    fn read_page(&mut self, place: FlashPlace, image: &mut PageImage) -> Output {
        let FlashPlace { die, plane, block, page, .. } = place;
        let entries = self.dies.levels();
        let chip = &mut self.dies[die];
        // A store says of a page what is the matter with it when it is looked at.
        chip.contents(plane, block, page, image);
        let target = Target::single(plane, block, page);
        let read = Command::Read { target, cache: false };
        let mut best = (u32::MAX, 0);
        let mut corrected = None;
        for entry in 0..entries {
            let from = set_references(chip, entry, &ReadOffsets::NONE, self.now);
            let issued = chip.issue(read, from);
            self.now = issued.ready_at;
            if issued.status == Status::Good {
                corrected = Some(Output::Corrected { entry, errors: issued.errors });
                break;
            }
            best = best.min((issued.errors, entry));
        }
        // What is locked puts out zeroes at any reference.
        let is_worth_it = chip.is_page_programmed(plane, block, page) && chip.sealed(plane, block, page, self.now).is_none();
        if corrected.is_none() && is_worth_it && self.config.searches() {
            let mut search = Search::new(best.1 as u8, chip.references_of(page), self.config.search);
            loop {
                let from = set_references(chip, search.entry().into(), &search.offsets(), self.now);
                let issued = chip.issue(read, from);
                self.now = issued.ready_at;
                if issued.status == Status::Good {
                    corrected = Some(Output::Corrected { entry: search.entry().into(), errors: issued.errors });
                    break;
                }
                best.0 = best.0.min(issued.errors);
                let now = self.now;
                if !search.advance(|reference, from, to| chip.count_between(&target, reference, from, to, now)) {
                    break;
                }
            }
        }
        let is_whole = chip.contents(plane, block, page, image);
        if !chip.is_page_programmed(plane, block, page) && !chip.is_ruined(plane, block, page) {
            return Output::Erased;
        }
        if let Some(how) = chip.sealed(plane, block, page, self.now) {
            return Output::Zeroes(how);
        }
        match corrected {
            Some(output) if is_whole || chip.payload().is_none() => output,
            _ if chip.is_ruined(plane, block, page) => Output::Ruined,
            _ => Output::Uncorrectable { errors: best.0 },
        }
    }

    /// Content of a mapping unit by the spare area of its page.
    fn holds(&self, place: FlashPlace, unit: u32, output: Output, image: &PageImage) -> Holds {
        if matches!(output, Output::Erased | Output::Zeroes(_)) {
            return Holds::Nothing;
        }
        let FlashPlace { die, plane, block, page, .. } = place;
        let (lpn, mark) = if self.keeps() {
            let mark = image.marks[unit as usize];
            (mark.lpn, Some((mark.version, mark.insecure)))
        } else {
            (self.dies[die].spare(plane, block, page, unit), None)
        };
        let (core, _) = self.dies.home(die);
        match lpn {
            PADDING => Holds::Nothing,
            JOURNAL | CHECKPOINT | OOB => Holds::Firmware,
            Lpn(number) if number < self.stripe.share(core, self.config.exported_units) => {
                Holds::Unit { unit: self.stripe.global(core, number), mark }
            }
            Lpn(_) => Holds::Nothing,
        }
    }
}
