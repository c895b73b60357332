//! The state of a die, and what may be asked of it at any time.

use std::collections::BTreeSet;
use std::sync::Arc;

use wordline_cells::{Age, CellArray, Cells, Faults, KeptLife, Took};
use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Feature, PlaneSet, ReadSets, Sheet, Status, Target};
use wordline_units::{BlockId, Celsius, Lpn, Nanos, PageId, PlaneId};

use crate::block::{Block, State};
use crate::fault::FaultTable;
use crate::guard::Guard;
use crate::order::Written;
use crate::payload::{PageImage, Payload, Place};
use crate::place::planes;
use crate::registers::Registers;
use crate::seal::Seals;
use crate::spare::{Grain, PADDING, Spare};
use crate::stop::{Progress, Stops};

/// The most mapping units that a page may hold.
pub(crate) const UNITS_MAX: u32 = 64;

/// Work in the times of the data sheet, of which nobody knows the loops.
pub(crate) const AS_ON_THE_SHEET: Took = Took { pace: 1.0, loops: 0, part: 0 };

/// What the array is working at, for those who would suspend or abandon it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// A program.
    Program,
    /// An erase.
    Erase,
    /// The sensing of a page.
    Read,
    /// The rest of a step, at whose end what is suspended then stops.
    Stopping,
    /// Something that cannot be stopped and leaves no ruin.
    Other,
}

impl WorkKind {
    #[inline]
    pub(crate) const fn suspendable(self) -> bool {
        matches!(self, WorkKind::Program | WorkKind::Erase)
    }
}

/// The array's last or present work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) kind: WorkKind,
    pub(crate) target: Target,
    /// Pages being programmed from the target's page on.
    pub(crate) pages: u16,
}

impl Work {
    /// Nothing that matters later.
    pub(crate) const OTHER: Work =
        Work { kind: WorkKind::Other, target: Target { planes: PlaneSet(0), blocks: [0; PLANES_MAX], page: PageId(0) }, pages: 0 };
}

/// A suspended operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) work: Work,
    pub(crate) remaining: Nanos,
    pub(crate) status: Status,
    pub(crate) progress: Progress,
}

/// A die: an array of blocks, two registers and an interface. It owns no clock: every call says what time it is, and time never runs back.
#[derive(Clone, Debug)]
pub struct Chip {
    pub(crate) sheet: Sheet,
    pub(crate) grain: Grain,
    /// All its planes.
    pub(crate) planes: PlaneSet,
    /// The most bytes that a program takes in.
    pub(crate) room: u64,
    pub(crate) cells: Cells,
    /// Its physics; `None`: fixed times, and failures by rate alone.
    pub(crate) array: Option<Box<CellArray>>,
    /// What the program or erase that begins takes; without physics, the times of the data sheet and no known loops.
    pub(crate) took: Took,
    /// What was programmed last, on a die with physics.
    pub(crate) programmed: Target,
    /// Room for what a store keeps of a block's cells.
    pub(crate) life: KeptLife,
    /// All blocks, plane after plane.
    pub(crate) blocks: Vec<Block>,
    /// Bytes of its pages, if it keeps any.
    pub(crate) payload: Option<Box<dyn Payload>>,
    /// Which pages are programmed, where that may be any.
    pub(crate) written: Written,
    /// Pages whose program failed or was abandoned. Few, so the hot paths only ask whether there are any.
    pub(crate) ruined: BTreeSet<Place>,
    /// Pages that were made unreadable.
    pub(crate) seals: Seals,
    /// The instant of the last command.
    pub(crate) latest: Nanos,
    pub(crate) array_until: Nanos,
    pub(crate) interface_until: Nanos,
    pub(crate) bus_until: Nanos,
    /// Whether the last transfer was data in.
    pub(crate) bus_takes_in: bool,
    pub(crate) registers: Registers,
    pub(crate) work: Work,
    /// Its payload has yet to be told that this work has ended.
    pub(crate) is_unended: bool,
    /// How far the array has come with the program or the erase that it is doing.
    pub(crate) progress: Progress,
    /// What the status register says when the array is idle.
    pub(crate) status: Status,
    pub(crate) suspended: Option<Held>,
    /// The earliest suspend that the interval after the last resume allows.
    pub(crate) suspend_from: Nanos,
    pub(crate) features: [u32; Feature::COUNT],
    /// Whether any of [`Feature::READ_OFFSETS`] is set.
    pub(crate) shifts_reads: bool,
    /// The controller's read sets.
    pub(crate) read_sets: Arc<ReadSets>,
    /// The number of the read set that [`Feature::READ_OFFSETS`] and [`Feature::ReadLevel`] are set to, if they are.
    pub(crate) read_set: Option<u8>,
    /// Whether any of [`Feature::SPARES`] is set.
    pub(crate) has_spares: bool,
    /// Wordlines that guarded erases have spared.
    pub(crate) guard: Guard,
    /// Number of reads that each sensing stands for. No image has it.
    pub(crate) read_times: u32,
    /// Erases of each block before the present epoch, if one is under way. No image has it.
    pub(crate) epoch: Option<Box<[u32]>>,
    /// What somebody has ordered to go wrong, if anything.
    pub(crate) faults: Option<Box<FaultTable>>,
}

impl Chip {
    /// An erased, idle die number `die` of the drive, with the factory bad blocks that `faults` and `seed` give it. Each page's spare area
    /// names `units_per_page` mapping units. It keeps no bytes.
    pub fn new(sheet: Sheet, faults: Faults, seed: u64, die: u32, units_per_page: u32) -> Chip {
        Chip::with_payload(sheet, faults, seed, die, units_per_page, None)
    }
}

impl Chip {
    /// Like [`Chip::new`], with `payload`, which must be erased, for its bytes.
    pub fn with_payload(sheet: Sheet, faults: Faults, seed: u64, die: u32, units_per_page: u32, payload: Option<Box<dyn Payload>>) -> Chip {
        let geometry = &sheet.geometry;
        assert!((1..=PLANES_MAX as u32).contains(&geometry.planes), "a die has 1 to {PLANES_MAX} planes, not {}", geometry.planes);
        assert!(geometry.blocks <= 1 << 16, "a plane has at most 65,536 blocks, not {}", geometry.blocks);
        assert!(geometry.pages() < 1 << 16, "a block has less than 65,536 pages, not {}", geometry.pages());
        assert!((1..=UNITS_MAX).contains(&units_per_page), "a page holds 1 to {UNITS_MAX} mapping units, not {units_per_page}");
        let cells = Cells::new(faults, seed, die);
        let mut blocks = vec![Block::default(); (geometry.planes * geometry.blocks) as usize];
        if faults.factory_bad > 0.0 {
            for (block, entry) in blocks.iter_mut().enumerate() {
                if cells.factory_bad(block as u64) {
                    entry.state = State::FactoryBad;
                }
            }
        }
        let page_bytes = geometry.page.0 + geometry.spare.0;
        let written = if sheet.capabilities.any_order { Written::new(blocks.len(), geometry.pages()) } else { Written::default() };
        Chip {
            planes: PlaneSet::first(geometry.planes),
            room: page_bytes * u64::from(geometry.planes * sheet.pages_per_program()),
            sheet,
            grain: Grain { pages: geometry.pages(), units: units_per_page },
            cells,
            array: None,
            took: AS_ON_THE_SHEET,
            programmed: Work::OTHER.target,
            life: KeptLife::default(),
            blocks,
            payload,
            written,
            ruined: BTreeSet::new(),
            seals: Seals::default(),
            latest: Nanos::ZERO,
            array_until: Nanos::ZERO,
            interface_until: Nanos::ZERO,
            bus_until: Nanos::ZERO,
            bus_takes_in: false,
            registers: Registers::EMPTY,
            work: Work::OTHER,
            is_unended: false,
            progress: Progress::new(Nanos::ZERO),
            status: Status::Good,
            suspended: None,
            suspend_from: Nanos::ZERO,
            features: [0; Feature::COUNT],
            shifts_reads: false,
            read_sets: Arc::default(),
            read_set: None,
            has_spares: false,
            guard: Guard::default(),
            read_times: 1,
            epoch: None,
            faults: None,
        }
    }

    /// Give the die cells with physics. They must be of a die with as many blocks.
    pub fn set_cells(&mut self, array: CellArray) {
        self.array = Some(Box::new(array));
        self.tell_read_sets();
    }

    /// Set the cells to `age` by decree: every block's wear, and how long what it holds now has been kept. Without physics nothing ages.
    pub fn set_age(&mut self, age: &Age, now: Nanos) {
        let Chip { array, blocks, seals, .. } = self;
        if let Some(array) = array {
            // What is locked by now is as old as the decree says.
            seals.settle(now);
            array.set_age(age, now, |block| blocks[block].next_page);
            (0..self.blocks.len() as u32).for_each(|block| self.keep_life(block));
        }
    }

    /// The die is at `temperature` from `now` on. Returns whether it has cells that feel it.
    pub fn set_temperature(&mut self, temperature: Celsius, now: Nanos) -> bool {
        if let Some(array) = &mut self.array {
            array.set_temperature(temperature, now);
        }
        self.array.is_some()
    }

    /// How warm its cells are, where they have physics.
    pub fn temperature(&self) -> Option<Celsius> {
        self.array.as_ref().map(|array| array.temperature())
    }

    /// Whoever keeps bytes is told of the end of what the array was doing, if it has ended by `now`: what they have of it is whole. Commands that come
    /// later tell them, too; but the process may die before there is one.
    pub fn end(&mut self, now: Nanos) {
        if self.payload.is_some() && self.is_unended && now >= self.array_until {
            self.end_work();
        }
    }

    #[inline(never)]
    pub(crate) fn end_work(&mut self) {
        self.is_unended = false;
        for plane in planes(self.work.target.planes) {
            let block = self.flat(&self.work.target, plane) as u32;
            if let Some(payload) = &mut self.payload {
                payload.end(block);
            }
            if self.status == Status::Failed {
                if let Some(payload) = &mut self.payload {
                    payload.fail(block);
                }
            }
        }
    }

    /// The data sheet.
    pub fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// When the array will be idle: a past instant if it is.
    #[inline]
    pub fn array_until(&self) -> Nanos {
        self.array_until
    }

    /// What is left of the suspended operation, if there is one.
    #[inline]
    pub fn suspended(&self) -> Option<Nanos> {
        self.suspended.as_ref().map(|held| held.remaining)
    }

    /// How often the program or erase has been stopped that the array is doing or has just done, or that is suspended.
    pub fn stops(&self) -> Stops {
        self.suspended.as_ref().map_or_else(|| self.progress(), |held| held.progress).stops()
    }

    /// A setting.
    pub fn feature(&self, feature: Feature) -> u32 {
        self.features[feature as usize]
    }

    /// Whether the next reads are sensed with shifted references: whether any of [`Feature::READ_OFFSETS`] is set.
    #[inline]
    pub fn shifts_reads(&self) -> bool {
        self.shifts_reads
    }

    /// The mapping unit number `unit` of a page, as its spare area says; [`PADDING`] where there is none.
    #[inline]
    pub fn spare(&self, plane: PlaneId, block: BlockId, page: PageId, unit: u32) -> Lpn {
        debug_assert!(unit < self.grain.units);
        let entry = self.entry(plane, block);
        let place = Place { block: self.index(plane, block) as u32, page: u32::from(page.0) };
        if !self.is_programmed(place) {
            PADDING
        } else if self.is_sealed(place, self.latest) {
            Self::SEALED_UNIT
        } else if entry.spare == Spare::Stored {
            self.stored(place)[unit as usize]
        } else {
            entry.spare.get(self.grain, u32::from(page.0), unit)
        }
    }

    /// Append the spare areas of `pages` pages from `target` on, plane by plane in each page, unit by unit in each plane.
    pub fn spare_of(&self, target: &Target, pages: u32, into: &mut Vec<Lpn>) {
        let first = u32::from(target.page.0);
        for page in first..first + pages {
            planes(target.planes).for_each(|plane| self.append_spare(Place { block: self.flat(target, plane) as u32, page }, into));
        }
    }

    #[inline]
    fn append_spare(&self, place: Place, into: &mut Vec<Lpn>) {
        let units = self.grain.units as usize;
        if !self.is_programmed(place) {
            into.extend(std::iter::repeat_n(PADDING, units));
        } else if self.is_sealed(place, self.latest) {
            into.extend(std::iter::repeat_n(Self::SEALED_UNIT, units));
        } else {
            match &self.blocks[place.block as usize].spare {
                Spare::Stored => into.extend(self.stored(place)),
                spare @ (Spare::Empty | Spare::Regular { .. } | Spare::PageGrain(_) | Spare::UnitGrain(_)) => {
                    spare.append(self.grain, place.page, into);
                }
            }
        }
    }

    /// Erases of a block so far, failed ones included.
    #[inline]
    pub fn erases(&self, plane: PlaneId, block: BlockId) -> u32 {
        self.entry(plane, block).erases
    }

    /// Pages read of a block since its last erase.
    #[inline]
    pub fn reads(&self, plane: PlaneId, block: BlockId) -> u32 {
        self.entry(plane, block).reads
    }

    /// Pages of a block programmed since its last erase. On a die that programs them in order, the page that must be programmed next.
    #[inline]
    pub fn next_page(&self, plane: PlaneId, block: BlockId) -> u32 {
        u32::from(self.entry(plane, block).next_page)
    }

    /// Whether a block carries the factory's bad-block mark.
    #[inline]
    pub fn is_factory_bad(&self, plane: PlaneId, block: BlockId) -> bool {
        self.entry(plane, block).state == State::FactoryBad
    }

    /// What a page holds. Returns whether that can be relied on: a page that has rotted in its store reads as uncorrectable from now on.
    pub fn contents(&mut self, plane: PlaneId, block: BlockId, page: PageId, image: &mut PageImage) -> bool {
        let place = Place { block: self.index(plane, block) as u32, page: u32::from(page.0) };
        self.read_payload(place, image);
        self.can_be_relied_on(place, image)
    }

    /// As [`Chip::contents`], where of the bytes only those of mapping unit `unit` matter: what stands at those of the others may be anything.
    pub fn unit_contents(&mut self, plane: PlaneId, block: BlockId, page: PageId, unit: u32, image: &mut PageImage) -> bool {
        let place = Place { block: self.index(plane, block) as u32, page: u32::from(page.0) };
        self.read_unit_payload(place, unit as usize, image);
        self.can_be_relied_on(place, image)
    }

    fn can_be_relied_on(&self, place: Place, image: &mut PageImage) -> bool {
        if self.hide(place, image).is_some() {
            return false;
        }
        self.ruined.is_empty() || !self.ruined.contains(&place)
    }

    /// Whether a page holds nothing that error correction could rely on: its program, or the last erase of its block, failed or was broken off, it has
    /// rotted in its store, or it was given up. Of a store, what somebody has looked at before counts.
    pub fn is_ruined(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        let place = Place { block: self.index(plane, block) as u32, page: u32::from(page.0) };
        self.entry(plane, block).state == State::Torn || self.ruined.contains(&place)
    }

    /// A read of the pages of `target` has failed for good, and nobody will try again: what they hold is given up.
    pub fn give_up(&mut self, target: &Target) {
        for plane in planes(target.planes) {
            self.ruined.insert(self.place(target, plane));
        }
    }

    /// Where its bytes are.
    pub fn payload(&self) -> Option<&dyn Payload> {
        self.payload.as_deref()
    }

    /// Bytes of memory that the blocks and their spare areas hold.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(self.blocks.as_slice()) + self.blocks.iter().map(|block| block.spare.heap_bytes()).sum::<usize>()
    }

    /// Make `block` as if its first `pages` pages had been programmed with mapping units in a regular order: unit `u` of page `p` is
    /// `first + p × page_step + u`. Takes no time and next to no memory: a filled drive is constructed, not written.
    pub fn fill_regular(&mut self, plane: PlaneId, block: BlockId, pages: u32, first: Lpn, page_step: u32) {
        assert!(pages <= self.grain.pages, "{pages} pages do not fit into a block of {}", self.grain.pages);
        let last = u64::from(first.0) + u64::from(pages.saturating_sub(1)) * u64::from(page_step) + u64::from(self.grain.units - 1);
        assert!(last < u64::from(u32::MAX), "mapping unit {last} does not exist");
        let entry = self.entry_mut(plane, block);
        assert!(entry.state == State::Usable, "a bad block cannot be filled");
        entry.spare = Spare::Regular { first: first.0, page_step };
        let block = self.index(plane, block) as u32;
        self.mark_first(block, pages);
    }

    /// Make `block` as if its next page had been programmed with `units`. Takes no time, like [`Chip::fill_regular`].
    pub fn fill_page(&mut self, plane: PlaneId, block: BlockId, units: &[Lpn]) {
        let grain = self.grain;
        assert!(units.len() == grain.units as usize, "{} units for a page of {}", units.len(), grain.units);
        let entry = self.entry_mut(plane, block);
        assert!(entry.state == State::Usable, "a bad block cannot be filled");
        assert!(u32::from(entry.next_page) < grain.pages, "the block is full");
        let page = u32::from(entry.next_page);
        entry.spare.set(grain, page, units);
        let block = self.index(plane, block) as u32;
        self.mark_programmed(Place { block, page });
    }

    /// Make `block` as if it had been erased `erases` times. Where bytes are kept, the marks of its pages name that number, so none may be programmed.
    pub fn set_erases(&mut self, plane: PlaneId, block: BlockId, erases: u32) {
        debug_assert!(
            self.payload.is_none() || self.entry(plane, block).next_page == 0,
            "the marks of a page that is kept name the number of erases"
        );
        self.entry_mut(plane, block).erases = erases;
        let index = self.index(plane, block) as u32;
        if let Some(payload) = &mut self.payload {
            payload.set_erases(index, erases);
        }
    }

    #[inline]
    pub(crate) fn index(&self, plane: PlaneId, block: BlockId) -> usize {
        debug_assert!(u32::from(plane.0) < self.sheet.geometry.planes && block.0 < self.sheet.geometry.blocks);
        plane.0 as usize * self.sheet.geometry.blocks as usize + block.0 as usize
    }

    #[inline]
    fn entry(&self, plane: PlaneId, block: BlockId) -> &Block {
        &self.blocks[self.index(plane, block)]
    }

    #[inline]
    fn entry_mut(&mut self, plane: PlaneId, block: BlockId) -> &mut Block {
        let index = self.index(plane, block);
        &mut self.blocks[index]
    }
}
