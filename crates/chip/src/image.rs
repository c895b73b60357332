//! A die at rest: what is left of it when nothing is going on.

use serde::{Deserialize, Serialize};
use wordline_cells::{CarriedTables, Lives};
use wordline_flash::{Feature, Status};
use wordline_units::Nanos;

use crate::block::Block;
use crate::chip::{Chip, Work};
use crate::payload::Place;
use crate::registers::Registers;
use crate::seal::Seals;
use crate::spare::Spare;

impl Chip {
    /// Whether nothing is going on at `now` and nothing is suspended or half collected.
    pub fn is_at_rest(&self, now: Nanos) -> bool {
        self.suspended.is_none()
            && self.registers.collecting.is_none()
            && self.array_until.max(self.interface_until).max(self.bus_until) <= now
    }

    /// What copybacks carried into the pages of the die, for an image.
    pub fn carried_tables(&self) -> CarriedTables {
        self.array.as_ref().map(|array| array.carried_tables()).unwrap_or_default()
    }

    /// Put the die's clock at `now`, wherever it was, with empty registers. For a drive that has worked through operations without taking time, each
    /// die at a clock of its own. What its cells and locks have from after `now` is of now: a span that begins in the future has no length.
    ///
    /// # Panics
    /// If an operation is suspended or a wordline half collected: that is no rest.
    pub fn rest(&mut self, now: Nanos) {
        assert!(self.suspended.is_none() && self.registers.collecting.is_none(), "a die in the middle of an operation cannot rest");
        if self.payload.is_some() && self.is_unended {
            self.end_work();
        }
        self.latest = now;
        self.array_until = now;
        self.interface_until = now;
        self.bus_until = now;
        self.suspend_from = now;
        self.bus_takes_in = false;
        self.registers = Registers::EMPTY;
        self.work = Work::OTHER;
        self.status = Status::Good;
        self.cells.end_tries();
        self.seals.settle(now);
        if let Some(array) = &mut self.array {
            array.settle(now);
        }
    }
}

/// Number of features that an image holds: those from [`Feature::READ_OFFSETS`] on are kept apart because dies did not always have them.
const SETTINGS: usize = Feature::ReadOffsets1 as usize;

/// What a die at rest knows: its blocks, its dice, its settings. Not what its pages' bytes are, nor what copybacks carried over ([`Chip::carried_tables`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    blocks: Vec<Block>,
    ruined: Vec<(u32, u32)>,
    seals: Seals,
    drawn: [u64; 3],
    features: [u32; SETTINGS],
    written: Vec<u64>,
    cells: Option<Lives>,
}

impl Chip {
    /// The die as plain data, if it is at rest at `now`.
    pub fn image(&self, now: Nanos) -> Option<Image> {
        self.is_at_rest(now).then(|| Image {
            blocks: (0..).zip(&self.blocks).map(|(n, block)| Block { spare: self.spare_for_image(n, &block.spare), ..*block }).collect(),
            written: self.written(),
            ruined: self.ruined.iter().map(|place| (place.block, place.page)).collect(),
            seals: self.seals.clone(),
            drawn: self.cells.drawn(),
            features: self.features[..SETTINGS].try_into().expect("there are more"),
            cells: self.array.as_ref().map(|array| array.lives()),
        })
    }

    /// Spare areas of a block, for an image: up to the last page that is programmed, without what an earlier filling has left in spared pages before it.
    fn spare_for_image(&self, block: u32, spare: &Spare) -> Spare {
        let extent = self.extent(block);
        let mut cut = spare.cut(self.grain, extent);
        if self.guard_of(block).is_some() {
            (0..u32::from(extent)).filter(|&page| self.is_spared(Place { block, page })).for_each(|page| cut.blank(self.grain, page));
        }
        cut
    }

    /// Registers of the shifted read references, which [`Chip::image`] leaves out.
    pub fn read_offsets(&self) -> [u32; Feature::READ_OFFSETS.len()] {
        Feature::READ_OFFSETS.map(|offsets| self.feature(offsets))
    }

    /// Restores what [`Chip::read_offsets`] gave.
    pub fn restore_read_offsets(&mut self, registers: [u32; Feature::READ_OFFSETS.len()]) {
        Feature::READ_OFFSETS.into_iter().zip(registers).for_each(|(offsets, value)| self.features[offsets as usize] = value);
        self.note_registers();
    }

    /// Takes over what copybacks carried, after [`Chip::restore`].
    pub fn restore_carried(&mut self, tables: &CarriedTables) -> Result<(), &'static str> {
        let fits = match &mut self.array {
            Some(array) => array.resume_carried(tables),
            None => *tables == CarriedTables::default(),
        };
        if fits { Ok(()) } else { Err("what copybacks carried over does not fit the cells of a die") }
    }

    /// Become the die that `image` was made of. This die must be new; the image may be anything. An image of another kind of die, or of none, is
    /// refused with the reason.
    pub fn restore(&mut self, image: Image) -> Result<(), &'static str> {
        let Image { blocks, ruined, seals, drawn, features, written, cells } = image;
        if blocks.len() != self.blocks.len() {
            return Err("a die has another number of blocks");
        }
        let grain = self.grain;
        if ruined.iter().any(|&(block, page)| block as usize >= blocks.len() || page >= grain.pages) {
            return Err("a ruined page lies outside its die");
        }
        if !seals.fits(blocks.len(), grain.pages) {
            return Err("a locked page lies outside its die");
        }
        for (mine, block) in self.blocks.iter_mut().zip(&blocks) {
            if u32::from(block.next_page) > grain.pages {
                return Err("a block holds more pages than it has");
            }
            mine.next_page = block.next_page;
        }
        if !self.resume_written(written) {
            return Err("which pages are programmed does not fit the blocks");
        }
        for (index, block) in blocks.into_iter().enumerate() {
            let Some(spare) = block.spare.uncut(grain, self.extent(index as u32)) else {
                return Err("a spare area does not fit its block");
            };
            self.blocks[index] = Block { spare, ..block };
        }
        self.ruined = ruined.into_iter().map(|(block, page)| Place { block, page }).collect();
        self.seals = seals;
        self.cells.resume(drawn);
        self.features[..SETTINGS].copy_from_slice(&features);
        let fits = match (&mut self.array, cells) {
            (None, None) => true,
            (Some(array), Some(lives)) => array.resume(lives),
            (None, Some(_)) | (Some(_), None) => return Err("the physics of the cells are on in one and off in the other"),
        };
        if fits { Ok(()) } else { Err("the cells of a die have another number of blocks") }
    }
}
