//! Flash that keeps what is programmed, mark by mark and sector by sector, and that can lose its power.

use std::rc::Rc;

use wordline_flash::{Mark, Sanitisation, Target};
use wordline_ftl::config::Config;
use wordline_ftl::{BlockRecord, FlashReader, Found, Held, Key, Layout, OOB, PagePlace};
use wordline_units::random::Draw;
use wordline_units::{BlockId, DieId, PageId, PlaneId, WordlineSet};

use super::{Bug, Extent};

/// What a unit's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    Nothing,
    /// Which write each sector is of.
    Sectors(Rc<[u32]>),
    Journal(Rc<[u8]>),
    /// Nobody can read them any more.
    Lost,
}

/// A unit on flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) mark: Mark,
    pub(super) bytes: Bytes,
    /// What it was encrypted with, where there is a key store.
    pub(super) key: Option<Key>,
}

impl Stored {
    pub(super) const PADDING: Stored = Stored { mark: Mark::NOTHING, bytes: Bytes::Nothing, key: None };
    /// What a page that cannot be corrected gives.
    pub(super) const LOST: Stored = Stored { mark: Mark::NOTHING, bytes: Bytes::Lost, key: None };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Erased,
    /// Nothing of it can be relied upon, and bits of these units may be read by who looks closely.
    Torn(Vec<Stored>),
    /// It was made unreadable.
    Gone,
    Whole(Vec<Stored>),
    /// It held these units, and can no longer be corrected.
    Lost(Vec<Stored>),
}

impl Page {
    /// A program or an erase of it is broken off.
    fn tear(&mut self) {
        match self {
            Page::Whole(units) => *self = Page::Torn(std::mem::take(units)),
            Page::Erased => *self = Page::Torn(Vec::new()),
            Page::Lost(units) => *self = Page::Torn(std::mem::take(units)),
            Page::Torn(_) | Page::Gone => {}
        }
    }
}

/// A single failure of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// A page cannot be read, whatever it holds.
    Page(PagePlace),
    /// No page of a block can be read.
    Block(PagePlace),
    /// No page of a plane can be read.
    Plane(DieId, PlaneId),
    /// A die does not answer.
    Die(DieId),
}

impl Harm {
    /// Its extent.
    pub(super) fn extent(self) -> Extent {
        match self {
            Harm::Page(_) => Extent::Page,
            Harm::Block(_) => Extent::Block,
            Harm::Plane(..) => Extent::Plane,
            Harm::Die(_) => Extent::Die,
        }
    }

    /// True if the page at `place` cannot be read.
    pub(super) fn reaches(self, place: PagePlace) -> bool {
        match self {
            Harm::Page(page) => page == place,
            Harm::Block(first) => PagePlace { page: first.page, ..place } == first,
            Harm::Plane(die, plane) => (die, plane) == (place.die, place.plane),
            Harm::Die(die) => die == place.die,
        }
    }
}

#[derive(Clone, Debug)]
struct Block {
    healthy: bool,
    /// It has failed, or a block beside it in the same operation.
    is_given_up: bool,
    erases: u32,
    /// Its last erase was cut short.
    is_torn: bool,
    pages: Vec<Page>,
    /// Wordlines that the last erase has spared.
    spared: WordlineSet,
    /// Erases when the last checkpoint was begun.
    erases_then: u32,
    /// In the first plane: of the group that stands on it.
    reads: Reads,
    /// Nothing was programmed when the last checkpoint was begun, or it was erased since.
    was_open: bool,
}

/// How often pages of a group were read since its last erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// As of now.
    pub(super) now: u32,
    /// When all was still for the last time.
    pub(super) still: u32,
    /// Power cuts since.
    pub(super) cuts: u32,
    /// An erase of it was cut short, and none has followed: some of its planes count from there on.
    pub(super) is_cut: bool,
}

/// All dies of a core.
#[derive(Clone, Debug)]
pub(super) struct Nand {
    layout: Layout,
    per_plane: u32,
    /// Pages of a wordline.
    bits: u32,
    /// Wordlines go in any order.
    any_order: bool,
    blocks: Vec<Block>,
    /// Dies that have failed and show no erase counts, as one whose file is missing.
    mute: Vec<DieId>,
}

impl Nand {
    pub(super) fn new(config: &Config, layout: Layout) -> Nand {
        let (per_plane, bits, factory_bad) = (config.sheet.geometry.blocks, config.sheet.geometry.cell.bits(), &config.factory_bad);
        let any_order = config.sheet.capabilities.any_order;
        let pages = vec![Page::Erased; (layout.programs * layout.pages_per_program) as usize];
        let block = Block {
            healthy: true,
            is_given_up: false,
            is_torn: false,
            erases: 0,
            pages,
            spared: WordlineSet::NONE,
            reads: Reads::default(),
            erases_then: 0,
            was_open: false,
        };
        let mut nand = Nand {
            layout,
            per_plane,
            bits,
            any_order,
            blocks: vec![block; (layout.dies * layout.planes * per_plane) as usize],
            mute: Vec::new(),
        };
        for (die, marks) in factory_bad.iter().enumerate() {
            for &(plane, block) in marks {
                nand.block_mut(DieId(die as u16), PlaneId(plane), BlockId(u32::from(block))).healthy = false;
            }
        }
        nand
    }

    fn index(&self, die: DieId, plane: PlaneId, block: BlockId) -> usize {
        ((u32::from(die.0) * self.layout.planes + u32::from(plane.0)) * self.per_plane + block.0) as usize
    }

    fn block_mut(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> &mut Block {
        let index = self.index(die, plane, block);
        &mut self.blocks[index]
    }

    pub(super) fn page(&self, place: PagePlace) -> &Page {
        &self.blocks[self.index(place.die, place.plane, place.block)].pages[usize::from(place.page.0)]
    }

    /// The units of a page as a controller gets them: lost ones, where it cannot be corrected. `rots`: what made a page stale may have been lost, so that it is
    /// read though it was made unreadable.
    pub(super) fn sense(&self, place: PagePlace, rots: bool) -> Vec<Stored> {
        match self.page(place) {
            Page::Whole(units) => units.clone(),
            Page::Torn(_) | Page::Gone if rots => vec![Stored::LOST; self.layout.units_per_page as usize],
            Page::Lost(_) => vec![Stored::LOST; self.layout.units_per_page as usize],
            page @ (Page::Erased | Page::Torn(_) | Page::Gone) => panic!("{place:?} is read, which is {page:?}"),
        }
    }

    /// The units of a page that must be whole.
    pub(super) fn read(&self, place: PagePlace) -> &[Stored] {
        match self.page(place) {
            Page::Whole(units) => units,
            page @ (Page::Erased | Page::Torn(_) | Page::Gone | Page::Lost(_)) => panic!("{place:?} is read, which is {page:?}"),
        }
    }

    /// The reads of the group that stands on `block` of the first plane.
    pub(super) fn reads_mut(&mut self, die: DieId, block: u16) -> &mut Reads {
        &mut self.block_mut(die, PlaneId(0), BlockId(u32::from(block))).reads
    }

    /// Nothing is under way.
    pub(super) fn be_still(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.reads.still = block.reads.now);
    }

    /// The power has gone.
    pub(super) fn count_cut(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.reads.cuts += 1);
    }

    /// A checkpoint is begun: remember the blocks as they are.
    pub(super) fn note_checkpoint(&mut self) {
        for block in &mut self.blocks {
            (block.erases_then, block.was_open) = (block.erases, block.pages[0] == Page::Erased);
        }
    }

    /// How many blocks have spared wordlines, and how many of them are blank.
    pub(super) fn spared(&self) -> [u64; 2] {
        let spared = || self.blocks.iter().filter(|block| !block.spared.is_empty());
        let blank = spared().filter(|block| block.pages.iter().all(|page| *page == Page::Erased));
        [spared().count() as u64, blank.count() as u64]
    }

    /// Whether the last erase of the block of `place` has spared its first wordline.
    pub(super) fn begins_spared(&self, place: PagePlace) -> bool {
        self.blocks[self.index(place.die, place.plane, place.block)].spared.has(0)
    }

    /// Erase all blocks with checkpoints.
    pub(super) fn drop_checkpoints(&mut self) {
        let holds = |page: &Page| matches!(page, Page::Whole(units) if units[0].mark.lpn == wordline_ftl::CHECKPOINT);
        for block in self.blocks.iter_mut().filter(|block| holds(&block.pages[0])) {
            block.pages.fill(Page::Erased);
        }
    }

    /// The pages of a program at `target`, in the order of its units.
    pub(super) fn places(&self, die: DieId, target: &Target, pages: u32) -> Vec<PagePlace> {
        let planes = |page: u32| {
            let page = wordline_units::PageId(target.page.0 + page as u16);
            target.planes.iter().map(move |plane| PagePlace { die, plane, block: target.block(plane), page })
        };
        (0..pages).flat_map(planes).collect()
    }

    /// A program may be ordered at `target`. That of a die which takes in its data while it does another may turn out to be of a block that has failed.
    pub(super) fn check_order(&self, die: DieId, target: &Target) {
        let blocks = target.planes.iter().map(|plane| &self.blocks[self.index(die, plane, target.block(plane))]);
        assert!(blocks.into_iter().all(|block| block.healthy), "die {die} {target:?}: program of a block that has failed");
    }

    /// A program may begin at `target`. `is_metadata`: it lies in a group of which nothing is spared.
    pub(super) fn check_program(&self, die: DieId, target: &Target, is_metadata: bool) {
        for place in self.places(die, target, self.layout.pages_per_program) {
            let block = &self.blocks[self.index(die, place.plane, place.block)];
            assert!(!is_metadata || block.spared.is_empty(), "{place:?} is of metadata, and its block has spared wordlines");
            let is_spared = |page: usize| block.spared.has(page as u32 / self.bits);
            assert!(!is_spared(usize::from(place.page.0)), "{place:?} is programmed, on a spared wordline");
            let (before, behind) = block.pages.split_at(usize::from(target.page.0));
            if self.any_order {
                assert!(*self.page(place) == Page::Erased, "{place:?} is programmed without an erase");
                continue;
            }
            let is_passed = |(at, page): (usize, &Page)| *page != Page::Erased || is_spared(at);
            assert!(before.iter().enumerate().all(is_passed), "{place:?} is programmed before the pages below it");
            assert!(behind.iter().all(|page| *page == Page::Erased), "{place:?} is programmed without an erase");
        }
    }

    /// An erase may begin at `target`.
    pub(super) fn check_erase(&self, die: DieId, target: &Target) {
        for plane in target.planes.iter() {
            assert!(
                self.blocks[self.index(die, plane, target.block(plane))].healthy,
                "die {die} {target:?}: erase of a block that has failed"
            );
        }
    }

    /// A program has ended.
    pub(super) fn program(&mut self, die: DieId, target: &Target, units: &[Stored], good: bool, dice: &mut Draw) {
        let places = self.places(die, target, self.layout.pages_per_program);
        for (place, units) in places.iter().zip(units.chunks(self.layout.units_per_page as usize)) {
            let page = match good || dice.happens(0.3) {
                // A copyback of what cannot be corrected copies its errors.
                true if units.iter().any(|unit| unit.bytes == Bytes::Lost) => Page::Lost(units.to_vec()),
                true => Page::Whole(units.to_vec()),
                false => Page::Torn(units.to_vec()),
            };
            *self.page_mut(*place) = page;
        }
        if !good {
            self.spoil(die, target, dice);
        }
    }

    /// An erase has ended that was to spare `spared`.
    pub(super) fn erase(&mut self, die: DieId, target: &Target, spared: WordlineSet, good: bool, dice: &mut Draw) {
        for plane in target.planes.iter() {
            let block = self.block_mut(die, plane, target.block(plane));
            block.spared = spared;
            block.erases += 1;
            block.is_torn = false;
            block.reads = Reads::default();
            block.was_open = true;
            if good || dice.happens(0.2) {
                block.pages.fill(Page::Erased);
            } else {
                block.pages.iter_mut().for_each(Page::tear);
            }
        }
        if !good {
            self.spoil(die, target, dice);
        }
    }

    /// Sets the erases of the `blocks` of a group of `die`, if they are blank and whole.
    pub(super) fn wear(&mut self, die: DieId, blocks: [u16; 4], erases: u32) {
        let planes = self.layout.planes as usize;
        let each = || (0..).map(PlaneId).zip(blocks).take(planes).map(|(plane, block)| (plane, BlockId(u32::from(block))));
        let is_blank = |block: &Block| block.healthy && !block.is_torn && block.pages.iter().all(|page| *page == Page::Erased);
        if each().all(|(plane, block)| is_blank(&self.blocks[self.index(die, plane, block)])) {
            each().for_each(|(plane, block)| self.block_mut(die, plane, block).erases = erases);
        }
    }

    /// One of the blocks has failed, or more.
    fn spoil(&mut self, die: DieId, target: &Target, dice: &mut Draw) {
        let planes: Vec<PlaneId> = target.planes.iter().collect();
        let sure = dice.below(planes.len() as u64) as usize;
        for (index, &plane) in planes.iter().enumerate() {
            let block = self.block_mut(die, plane, target.block(plane));
            block.is_given_up = true;
            if index == sure || dice.happens(0.2) {
                block.healthy = false;
            }
        }
    }

    /// Pages become unreadable, each with probability `share`.
    pub(super) fn sanitise(&mut self, die: DieId, target: &Target, how: Sanitisation, share: f64, dice: &mut Draw) {
        let bits = self.bits;
        // Blocks that are locked as one need not all hold something: a cut may have erased some of them.
        let is_written = |plane| self.blocks[self.index(die, plane, target.block(plane))].pages.iter().any(|page| *page != Page::Erased);
        let is_whole = how == Sanitisation::LockBlock && target.planes.iter().any(is_written);
        for plane in target.planes.iter() {
            let block = self.block_mut(die, plane, target.block(plane));
            let reach = how.reach(u32::from(target.page.0), bits, block.pages.len() as u32);
            let pages = reach.start as usize..reach.end as usize;
            if share >= 1.0 || dice.happens(share) {
                let is_there = is_whole || block.pages[pages.clone()].iter().any(|page| *page != Page::Erased);
                assert!(is_there, "{how:?} of what is erased");
                block.pages[pages].fill(Page::Gone);
            }
        }
    }

    /// Pages rot: each that is whole becomes unreadable with probability `share`, but for the last program of the journal in each group: with all
    /// its copies gone it could not be told from one that the power cut short. Returns how many have.
    pub(super) fn rot(&mut self, share: f64, dice: &mut Draw) -> u64 {
        let is_journal = |page: &Page| matches!(page, Page::Whole(units) if units[0].mark.lpn == wordline_ftl::JOURNAL);
        let pages = self.layout.pages_per_program as usize;
        let mut count = 0;
        for block in &mut self.blocks {
            let last = block.pages.iter().rposition(is_journal).map_or(usize::MAX, |last| last / pages);
            for (at, page) in block.pages.iter_mut().enumerate() {
                let is_last = is_journal(page) && at / pages == last;
                if let Page::Whole(units) = page
                    && !is_last
                    && dice.happens(share)
                {
                    *page = Page::Lost(std::mem::take(units));
                    count += 1;
                }
            }
        }
        count
    }

    /// Make every page that `harm` reaches unreadable, erased ones too. Pages that were made unreadable on purpose give nothing as before.
    pub(super) fn fail(&mut self, harm: Harm) {
        // Every other die. Nothing of it answers, destroyed pages neither.
        let mute = if let Harm::Die(die) = harm { Some(die).filter(|die| die.0 % 2 == 1) } else { None };
        self.mute.extend(mute);
        let (planes, per_plane) = (self.layout.planes, self.per_plane);
        for (index, block) in (0..).zip(&mut self.blocks) {
            let die = DieId((index / per_plane / planes) as u16);
            let plane = PlaneId((index / per_plane % planes) as u8);
            for (page, found) in (0..).zip(&mut block.pages) {
                let place = PagePlace { die, plane, block: BlockId(index % per_plane), page: PageId(page) };
                if harm.reaches(place) && (*found != Page::Gone || mute.is_some()) {
                    *found = Page::Lost(vec![Stored::LOST; self.layout.units_per_page as usize]);
                }
            }
        }
    }

    /// The units of whole pages that `harm` reaches.
    pub(super) fn units_in(&self, harm: Harm) -> impl Iterator<Item = &Stored> {
        let place = |index: u32, page: u16| PagePlace {
            die: DieId((index / self.per_plane / self.layout.planes) as u16),
            plane: PlaneId((index / self.per_plane % self.layout.planes) as u8),
            block: BlockId(index % self.per_plane),
            page: PageId(page),
        };
        let pages = (0..)
            .zip(&self.blocks)
            .flat_map(move |(index, block)| (0..).zip(&block.pages).map(move |(page, found)| (place(index, page), found)));
        let units = pages.filter(move |(place, _)| harm.reaches(*place)).map(|(_, page)| match page {
            Page::Whole(units) => &units[..],
            Page::Erased | Page::Torn(_) | Page::Gone | Page::Lost(_) => &[],
        });
        units.flatten()
    }

    /// All single failures that these dies can meet: of each page, of each block, of each plane, of each die.
    pub(super) fn harms(&self) -> Vec<Harm> {
        let place = |index: u32, page: u16| PagePlace {
            die: DieId((index / self.per_plane / self.layout.planes) as u16),
            plane: PlaneId((index / self.per_plane % self.layout.planes) as u8),
            block: BlockId(index % self.per_plane),
            page: PageId(page),
        };
        let blocks = 0..self.blocks.len() as u32;
        let pages = 0..(self.layout.programs * self.layout.pages_per_program) as u16;
        let of_pages = blocks.clone().flat_map(|block| pages.clone().map(move |page| Harm::Page(place(block, page))));
        let of_blocks = blocks.map(|block| Harm::Block(place(block, 0)));
        let dies = (0..self.layout.dies as u16).map(DieId);
        let of_planes = dies.clone().flat_map(|die| (0..self.layout.planes as u8).map(move |plane| Harm::Plane(die, PlaneId(plane))));
        of_pages.chain(of_blocks).chain(of_planes).chain(dies.map(Harm::Die)).collect()
    }

    /// The units of every page that is whole.
    pub(super) fn whole_pages(&self) -> impl Iterator<Item = &[Stored]> {
        self.blocks.iter().flat_map(|block| &block.pages).filter_map(|page| match page {
            Page::Whole(units) => Some(&units[..]),
            Page::Erased | Page::Torn(_) | Page::Gone | Page::Lost(_) => None,
        })
    }

    /// Every unit that the chips would put out, and where it is: also bits of it, but not in blocks that are given up,
    /// nor bits that are encrypted.
    pub(super) fn readable(&self) -> impl Iterator<Item = (String, &Stored)> {
        let of_page = |block: usize, page: usize, stored: &Page| match stored {
            Page::Whole(_) => format!("page {page} of block {block}"),
            Page::Torn(_) => format!("page {page} of block {block}, which is torn,"),
            Page::Erased | Page::Gone | Page::Lost(_) => String::new(),
        };
        self.blocks.iter().enumerate().flat_map(move |(number, block)| {
            block.pages.iter().enumerate().flat_map(move |(at, page)| {
                let units = match page {
                    Page::Whole(units) => &units[..],
                    Page::Torn(units) if !block.is_given_up && units.iter().all(|unit| unit.key.is_none()) => &units[..],
                    Page::Erased | Page::Torn(_) | Page::Gone | Page::Lost(_) => &[],
                };
                let place = of_page(number, at, page);
                units.iter().map(move |unit| (place.clone(), unit))
            })
        })
    }

    /// The power goes during a program.
    pub(super) fn cut_program(&mut self, die: DieId, target: &Target, units: &[Stored], good: bool, dice: &mut Draw) {
        let mood = dice.below(4);
        let places = self.places(die, target, self.layout.pages_per_program);
        for (place, units) in places.iter().zip(units.chunks(self.layout.units_per_page as usize)) {
            let page = match if mood == 3 { dice.below(3) } else { mood } {
                0 => Page::Erased,
                1 => Page::Torn(units.to_vec()),
                _ if units.iter().any(|unit| unit.bytes == Bytes::Lost) => Page::Lost(units.to_vec()),
                _ => Page::Whole(units.to_vec()),
            };
            *self.page_mut(*place) = page;
        }
        if !good && dice.happens(0.5) {
            self.spoil(die, target, dice);
        }
    }

    /// The power goes during an erase that was to spare `spared`.
    pub(super) fn cut_erase(&mut self, die: DieId, target: &Target, spared: WordlineSet, good: bool, dice: &mut Draw) {
        for plane in target.planes.iter() {
            let block = self.block_mut(die, plane, target.block(plane));
            block.reads.is_cut = true;
            let mood = dice.below(4);
            block.is_torn |= mood > 1;
            match mood {
                0 => continue,
                1 => {
                    block.is_torn = false;
                    block.pages.fill(Page::Erased);
                }
                2 => block.pages.iter_mut().for_each(Page::tear),
                _ => {
                    for page in &mut block.pages {
                        if dice.happens(0.5) {
                            page.tear();
                        }
                    }
                }
            }
            block.erases += 1;
            block.spared = spared;
        }
        if !good && dice.happens(0.5) {
            self.spoil(die, target, dice);
        }
    }

    fn page_mut(&mut self, place: PagePlace) -> &mut Page {
        &mut self.block_mut(place.die, place.plane, place.block).pages[usize::from(place.page.0)]
    }
}

/// The flash as a core sees it that wakes up.
pub(super) struct Look<'a> {
    pub(super) nand: &'a Nand,
    /// What capacitors have kept of each slot of the buffer.
    pub(super) kept: &'a [Option<Kept>],
    /// What they have kept beside it.
    pub(super) kept_facts: &'a [Vec<u8>],
    /// What the controller's register holds.
    pub(super) register: u64,
    pub(super) bug: Option<Bug>,
}

/// What capacitors have kept of a slot of the buffer.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) held: Held,
    pub(super) sectors: Rc<[u32]>,
}

impl Look<'_> {
    fn is_missed(&self, place: PagePlace) -> bool {
        let block = &self.nand.blocks[self.nand.index(place.die, place.plane, place.block)];
        let is_data = |page: &Page| matches!(page, Page::Whole(units) if units[0].mark.lpn.0 < OOB.0);
        block.was_open && is_data(&block.pages[0])
    }
}

impl FlashReader for Look<'_> {
    fn register(&mut self) -> u64 {
        self.register
    }

    fn key_epoch(&mut self, place: PagePlace) -> u32 {
        self.nand.read(place)[0].key.expect("what is data has a key").epoch
    }

    fn held(&mut self, slot: u32) -> Option<Held> {
        let held = self.kept[slot as usize].as_ref()?.held;
        Some(match self.bug {
            Some(Bug::HeldRenewed) => Held { version: held.version + (1 << 40), ..held },
            Some(Bug::HeldWidened) => Held { mask: u64::MAX >> (64 - self.kept[slot as usize].as_ref()?.sectors.len()), ..held },
            _ => held,
        })
    }

    fn block(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> BlockRecord {
        let block = &self.nand.blocks[self.nand.index(die, plane, block)];
        if self.nand.mute.contains(&die) {
            return BlockRecord { healthy: block.healthy, erases: 0, is_torn: false };
        }
        let erases = if self.bug == Some(Bug::ErasesForgotten) { block.erases_then } else { block.erases };
        BlockRecord { healthy: block.healthy, erases, is_torn: block.is_torn }
    }

    fn kept_fact(&mut self, index: u32, bytes: &mut Vec<u8>) -> bool {
        bytes.clone_from(&self.kept_facts[index as usize]);
        !bytes.is_empty() && self.bug != Some(Bug::KeptFactsLost)
    }

    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found {
        match self.nand.page(place) {
            Page::Erased => Found::Erased,
            _ if self.bug == Some(Bug::SparedPassesForBlank) && self.nand.begins_spared(place) => Found::Erased,
            _ if self.bug == Some(Bug::OpenedMissed) && self.is_missed(place) => Found::Erased,
            Page::Torn(_) | Page::Gone if self.bug == Some(Bug::TornPasses) => {
                let units = self.nand.layout.units_per_page;
                marks.extend((0..units).map(|unit| Mark { lpn: wordline_units::Lpn(unit), version: 1 << 40, lost: 0, insecure: false }));
                Found::Whole
            }
            Page::Torn(_) if self.bug == Some(Bug::TornIgnored) => Found::Gone,
            Page::Torn(_) => Found::Torn,
            Page::Gone => Found::Gone,
            Page::Lost(units) if self.bug == Some(Bug::FailedPassesForBlank) && units.iter().all(|unit| unit.bytes == Bytes::Lost) => {
                Found::Erased
            }
            Page::Lost(_) => Found::Unreadable,
            Page::Whole(units) if self.bug == Some(Bug::TrimLost) && units[0].mark.lpn == wordline_ftl::JOURNAL => Found::Unreadable,
            Page::Whole(units) => {
                marks.extend(units.iter().map(|unit| unit.mark));
                Found::Whole
            }
        }
    }

    fn bytes(&mut self, place: PagePlace, bytes: &mut Vec<u8>) {
        bytes.clear();
        for unit in self.nand.read(place) {
            match &unit.bytes {
                Bytes::Journal(part) => bytes.extend_from_slice(part),
                other @ (Bytes::Nothing | Bytes::Sectors(_) | Bytes::Lost) => {
                    panic!("{place:?} is read as a page of the journal and holds {other:?}")
                }
            }
        }
    }
}
