//! Flash as a table: what each programmed unit holds, and the rules every NAND die insists on.
//!
//! Checks: pages are programmed in order and once between erases, but for those of spared wordlines, which are not; nothing is programmed or erased in a
//! block that has failed, or was bad from the start; nothing is read that was not programmed. Does not check: time, buses, which commands a die takes when
//! (the chip's own tests do), data beyond the spare area.

use std::collections::BTreeSet;

use wordline_flash::{PlaneSet, Sanitisation, Sheet, Target};
use wordline_ftl::Layout;
use wordline_units::{DieId, Lpn, PageId, WordlineSet};

/// One mapping unit on flash. `version` tells apart what the host has written to the same unit over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Whose data it is; all ones for padding.
    pub lpn: Lpn,
    /// Which of the host's changes of this unit it holds, counted from one.
    pub version: u32,
}

impl Stored {
    /// Nobody's data.
    pub const PADDING: Stored = Stored { lpn: Lpn(u32::MAX), version: 0 };
}

/// A physical place of one mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The die.
    pub die: u16,
    /// The plane.
    pub plane: u8,
    /// The physical block of that plane.
    pub block: u16,
    /// The page in program order.
    pub page: u16,
    /// The unit inside the page.
    pub unit: u16,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// Pages programmed since the erase, failed ones included.
    pages: BTreeSet<u16>,
    failed: bool,
    dead: bool,
    units: Vec<Option<Stored>>,
    /// Wordlines that take no data since the last erase: spared ones, and withheld ones.
    spared: WordlineSet,
}

/// All dies of one firmware core.
#[derive(Clone, Debug)]
pub struct Flash {
    layout: Layout,
    blocks_per_plane: u32,
    pages_per_block: u16,
    /// Pages of a wordline.
    bits: u32,
    /// Wordlines go in any order.
    any_order: bool,
    blocks: Vec<Block>,
}

impl Flash {
    /// Dies as delivered: erased, with `factory_bad` (plane, block) marks per die.
    pub fn new(layout: Layout, sheet: &Sheet, factory_bad: &[Vec<(u8, u16)>]) -> Flash {
        let (blocks_per_plane, bits, any_order) = (sheet.geometry.blocks, sheet.geometry.cell.bits(), sheet.capabilities.any_order);
        let count = layout.dies * layout.planes * blocks_per_plane;
        let pages = layout.programs * layout.pages_per_program;
        let mut flash = Flash {
            layout,
            blocks_per_plane,
            pages_per_block: pages as u16,
            bits,
            any_order,
            blocks: vec![Block::default(); count as usize],
        };
        for block in &mut flash.blocks {
            block.units = vec![None; (pages * layout.units_per_page) as usize];
        }
        for (die, marks) in factory_bad.iter().enumerate() {
            for &(plane, block) in marks {
                flash.block_mut(die as u16, plane, block).dead = true;
            }
        }
        flash
    }

    /// A dense number of the block that `spot` is in.
    pub fn block_index(&self, die: u16, plane: u8, block: u16) -> usize {
        ((u32::from(die) * self.layout.planes + u32::from(plane)) * self.blocks_per_plane + u32::from(block)) as usize
    }

    /// Number of blocks, all dies and planes together.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn block_mut(&mut self, die: u16, plane: u8, block: u16) -> &mut Block {
        let index = self.block_index(die, plane, block);
        &mut self.blocks[index]
    }

    /// Content of the unit at `spot`; `None` where nothing was programmed or the program failed.
    pub fn at(&self, spot: Spot) -> Option<Stored> {
        let block = &self.blocks[self.block_index(spot.die, spot.plane, spot.block)];
        block.units[usize::from(spot.page) * self.layout.units_per_page as usize + usize::from(spot.unit)]
    }

    /// The places of a program unit that begins at `target`, in the order of its spare areas.
    pub fn spots(&self, die: DieId, target: &Target, pages: u32) -> Vec<Spot> {
        let mut spots = Vec::new();
        for page in 0..pages as u16 {
            for plane in target.planes.iter() {
                for unit in 0..self.layout.units_per_page as u16 {
                    spots.push(Spot { die: die.0, plane: plane.0, block: target.block(plane).0 as u16, page: target.page.0 + page, unit });
                }
            }
        }
        spots
    }

    /// Sense one page.
    pub fn read(&self, die: DieId, target: &Target) -> Vec<Stored> {
        assert_eq!(target.planes.len(), 1, "the firmware reads one plane at a time");
        let spots = self.spots(die, target, 1);
        let block = &self.blocks[self.block_index(spots[0].die, spots[0].plane, spots[0].block)];
        assert!(block.pages.contains(&target.page.0), "{:?} is read before it is programmed", spots[0]);
        spots.iter().map(|&spot| self.at(spot).unwrap_or(Stored::PADDING)).collect()
    }

    /// A program may be ordered at `target`. That of a die which takes in its data while it does another may turn out to be of a block that has failed.
    pub fn check_order(&self, die: DieId, target: &Target) {
        for plane in target.planes.iter() {
            let block = &self.blocks[self.block_index(die.0, plane.0, target.block(plane).0 as u16)];
            assert!(!block.failed && !block.dead, "die {die} {target:?}: program of a bad block");
        }
    }

    /// Program a program unit at `target`. With `good` false it fails: what it should hold is lost, what the block held is still readable.
    pub fn program(&mut self, die: DieId, target: &Target, data: &[Stored], good: bool) {
        let pages = self.layout.pages_per_program;
        assert_eq!(target.planes, PlaneSet::first(self.layout.planes), "programs use all planes");
        let spots = self.spots(die, target, pages);
        assert_eq!(spots.len(), data.len(), "a program brings data for all its units");
        for plane in target.planes.iter() {
            let (limit, any_order, bits) = (self.pages_per_block, self.any_order, self.bits);
            let block = self.block_mut(die.0, plane.0, target.block(plane).0 as u16);
            let is_spared = |page: u16| block.spared.has(u32::from(page) / bits);
            if !any_order {
                let next = (0..limit).find(|page| !block.pages.contains(page) && !is_spared(*page));
                assert_eq!(next, Some(target.page.0), "die {die} {target:?}: pages are programmed in order");
            }
            for page in target.page.0..target.page.0 + pages as u16 {
                assert!(!is_spared(page), "die {die} {target:?}: page {page} is programmed, of a spared wordline");
                assert!(page < limit && block.pages.insert(page), "die {die} {target:?}: page {page} is programmed twice");
            }
            block.failed |= !good;
        }
        for (spot, stored) in spots.iter().zip(data) {
            let at = usize::from(spot.page) * self.layout.units_per_page as usize + usize::from(spot.unit);
            self.block_mut(spot.die, spot.plane, spot.block).units[at] = good.then_some(*stored);
        }
    }

    /// The places that `how` makes unreadable, programmed or not.
    pub fn sanitised(&self, die: DieId, target: &Target, how: Sanitisation, bits: u32) -> Vec<Spot> {
        let pages = how.reach(u32::from(target.page.0), bits, u32::from(self.pages_per_block));
        pages.flat_map(|page| self.spots(die, &Target { page: PageId(page as u16), ..*target }, 1)).collect()
    }

    /// Make programmed pages unreadable. Nothing is programmed in what was scrubbed before it was written to its end.
    pub fn sanitise(&mut self, die: DieId, target: &Target, how: Sanitisation, bits: u32) {
        for spot in self.sanitised(die, target, how, bits) {
            let units = self.layout.units_per_page as usize;
            let block = self.block_mut(spot.die, spot.plane, spot.block);
            assert!(
                how == Sanitisation::Scrub || how == Sanitisation::LockBlock || block.pages.contains(&spot.page),
                "{how:?} of an erased page"
            );
            block.units[usize::from(spot.page) * units + usize::from(spot.unit)] = None;
            if how == Sanitisation::Scrub {
                block.pages.insert(spot.page);
            }
        }
    }

    /// Erase a block in each plane but for its `spared` wordlines. With `good` false it fails and the blocks are dead.
    pub fn erase(&mut self, die: DieId, target: &Target, spared: WordlineSet, good: bool) {
        for plane in target.planes.iter() {
            let block = self.block_mut(die.0, plane.0, target.block(plane).0 as u16);
            assert!(!block.failed && !block.dead, "die {die} {target:?}: erase of a bad block");
            let is_needed = !block.pages.is_empty() || (!block.spared.is_empty() && spared.is_empty());
            assert!(is_needed, "die {die} {target:?}: erase of an erased block wears it for nothing");
            block.spared = spared;
            block.pages.clear();
            block.dead = !good;
            block.units.fill(None);
        }
    }
}
