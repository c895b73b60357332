//! Guarded erases: how much of a block's erase stress each of its wordlines took gently.
//!
//! A block that ever had a guarded erase has a number for each wordline: the part of its erase stress in which that wordline was spared ([`History::gentle`]).
//! Rates are worked out for the relief in wear that follows, in steps of 1/64 of the reference wear, so that wordlines of one layer can share what is cached.
//! Blocks and dies without a guarded erase cost a test.
//!
//! Program stress is one number for a block, of its spared wordlines, too: `docs/models/cells-erase.md` tells of the other reading.

use serde::{Deserialize, Serialize};

use super::{CellArray, Life};
use crate::erase::Erase;
use crate::variation::{Block, Traits};
use crate::wear::History;

/// Steps of relief in the reference wear.
const STEPS: f64 = 64.0;

/// Gentle erase stress of the wordlines of the blocks that had guarded erases, as plain data for an image: number of the block, and a number for each wordline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReliefTables(Vec<(u32, Vec<f32>)>);

/// Gentle erase stress of the wordlines of a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Reliefs {
    /// Tables by block. The vector is allocated at the first guarded erase.
    tables: Vec<Option<Box<[f32]>>>,
    /// Number of blocks that have a table.
    count: u32,
}

impl Reliefs {
    /// True if no block had a guarded erase.
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// Gentle stress of the wordlines of a block, if it had a guarded erase.
    #[inline]
    pub(super) fn table(&self, block: u32) -> Option<&[f32]> {
        if self.is_none() { None } else { self.tables.get(block as usize)?.as_deref() }
    }

    fn create(&mut self, (blocks, wordlines): (usize, usize), block: u32) -> &mut [f32] {
        if self.tables.is_empty() {
            self.tables.resize_with(blocks, || None);
        }
        let Reliefs { tables, count } = self;
        tables[block as usize].get_or_insert_with(|| {
            *count += 1;
            vec![0.0; wordlines].into()
        })
    }

    /// Changes the gentle stress of each wordline of a block that has a table.
    pub(super) fn grow(&mut self, block: u32, grown: impl Fn(usize, f32) -> f32) {
        if let Some(table) = self.tables.get_mut(block as usize).and_then(Option::as_mut) {
            table.iter_mut().enumerate().for_each(|(wordline, gentle)| *gentle = grown(wordline, *gentle));
        }
    }

    /// Drops the table of a block, whose age has been preset.
    pub(super) fn forget(&mut self, block: u32) {
        if let Some(table) = self.tables.get_mut(block as usize)
            && table.take().is_some()
        {
            self.count -= 1;
        }
    }
}

/// History of a wordline with this gentle stress.
#[inline]
pub(super) fn history(life: &Life, gentle: f32) -> History {
    History { erase: life.erase, program: life.program, gentle }
}

impl CellArray {
    /// Gentle erase stress of a wordline: the part of its block's erase stress in which it was spared.
    #[inline]
    pub fn gentle(&self, block: u32, wordline: u32) -> f32 {
        self.reliefs.table(block).map_or(0.0, |table| table[wordline as usize])
    }

    /// Step of relief of a wordline; 0 for one that was never spared.
    #[inline]
    pub(super) fn relief_step(&mut self, block: u32, wordline: u32) -> u16 {
        if self.reliefs.table(block).is_none() { 0 } else { self.worked_out_step(block, wordline) }
    }

    #[cold]
    fn worked_out_step(&mut self, block: u32, wordline: u32) -> u16 {
        let traits = self.traits(block, wordline / self.wordlines_per_layer);
        let relief = self.relief(&traits, self.gentle(block, wordline));
        libm::round((relief / self.model.physics().wear.reference * STEPS).min(f64::from(u16::MAX))) as u16
    }

    /// Wear that `gentle` stress has spared a wordline, in reference cycles.
    fn relief(&self, traits: &Traits, gentle: f32) -> f64 {
        self.model.wear(traits, &History { erase: gentle, ..History::default() })
            - self.model.wear(traits, &History { erase: gentle, gentle, ..History::default() })
    }

    /// The wear of a wordline with this step of relief, in reference cycles.
    #[inline]
    pub(super) fn worn(&self, life: &Life, traits: &Traits, relief: u16) -> f64 {
        let whole = self.model.wear(traits, &history(life, 0.0));
        if relief == 0 { whole } else { (whole - f64::from(relief) / STEPS * self.model.physics().wear.reference).max(0.0) }
    }

    /// Takes into account that the last erase of `block` has spared some of its wordlines, or that an earlier one did. It has been stopped `stops` times.
    pub(super) fn relieve(&mut self, block: u32, stops: u32) {
        let size = (self.lives.len(), self.wordlines() as usize);
        let Some((erasing, earlier)) = self.erasing.with_earlier(block) else { return };
        let physics = self.model.physics();
        let table = self.reliefs.create(size, block);
        for (wordline, gentle) in table.iter_mut().enumerate() {
            let was = earlier.get(wordline).copied().unwrap_or(0.0);
            *gentle = erasing.of_wordline(physics, stops, was, erasing.spared.has(wordline as u32)).gentle;
        }
    }

    /// The erase of a block of which wordlines were spared: the most worn of them decides.
    #[cold]
    pub(super) fn guarded(&self, block: u32, specimen: &Block) -> Erase {
        let life = &self.lives[block as usize];
        self.model.erase_by_layer(specimen, |layer| history(life, self.least_gentle(block, layer)))
    }

    /// Least gentle stress among the wordlines of an h-layer: that of the most worn of them.
    pub(super) fn least_gentle(&self, block: u32, layer: u32) -> f32 {
        let each = self.wordlines_per_layer as usize;
        self.reliefs.table(block).map_or(0.0, |table| table[layer as usize * each..][..each].iter().copied().fold(f32::INFINITY, f32::min))
    }

    /// The gentle stress of all blocks, for an image.
    pub fn relief_tables(&self) -> ReliefTables {
        let tables = (0..).zip(&self.reliefs.tables);
        ReliefTables(tables.filter_map(|(block, table)| Some((block, table.as_ref()?.to_vec()))).collect())
    }

    /// Restores the gentle stress of an image. `false`: it is of a die of another size.
    #[must_use]
    pub fn resume_reliefs(&mut self, ReliefTables(tables): &ReliefTables) -> bool {
        let size = (self.lives.len(), self.wordlines() as usize);
        let sound = |gentle: &f32| gentle.is_finite() && *gentle >= 0.0;
        if tables.iter().any(|(block, table)| *block as usize >= size.0 || table.len() != size.1 || !table.iter().all(sound)) {
            return false;
        }
        self.reliefs = Reliefs::default();
        tables.iter().for_each(|(block, table)| self.reliefs.create(size, *block).copy_from_slice(table));
        true
    }

    /// Relief of the wordlines of a block in 1/255 of its erase stress, for a store; `None`: it had no guarded erase.
    pub(super) fn kept_relief(&self, block: u32) -> Option<impl Iterator<Item = u8> + '_> {
        let (table, erase) = (self.reliefs.table(block)?, self.lives[block as usize].erase.max(f32::MIN_POSITIVE));
        // Downward, because too little relief is the careful side; but what was rounded before is not rounded again.
        Some(table.iter().map(move |gentle| libm::floorf((gentle / erase).clamp(0.0, 1.0) * 255.0 + 1.0 / 1024.0) as u8))
    }

    /// Restores what [`CellArray::kept_relief`] gave; an empty or impossible table stands for none.
    pub(super) fn wake_relief(&mut self, block: u32, relief: &[u8]) {
        self.reliefs.forget(block);
        let size = (self.lives.len(), self.wordlines() as usize);
        if relief.len() == size.1 {
            let erase = self.lives[block as usize].erase;
            let table = self.reliefs.create(size, block);
            table.iter_mut().zip(relief).for_each(|(gentle, &part)| *gentle = erase * f32::from(part) / 255.0);
        }
    }
}
