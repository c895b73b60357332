//! What a die remembers of the h-layers that it is writing: wordlines of one layer that are programmed in one way are programmed alike, so times, loops and
//! counted errors are worked out for the first of them.

use super::{CellArray, Took};
use crate::condition::Condition;
use crate::program::LEVELS;
use crate::reading::{errors_at, unit};
use crate::variation::{Block, Traits};

/// What the die can tell of the program of a wordline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// For each programmed state the loop in which its fastest cells arrived, counted from the first pulse.
    pub first: [u8; LEVELS],
    /// For each programmed state the loop in which it was done.
    pub last: [u8; LEVELS],
    /// Cells on the wrong side between the erased state and the lowest programmed one.
    pub low_errors: u32,
    /// Cells on the wrong side of any boundary.
    pub errors: u32,
}

/// How wordlines of a layer were programmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// The block, its filling and the layer; zero: nothing.
    key: u64,
    course: u16,
    pace: f32,
    loops: u8,
    first: [u8; LEVELS],
    last: [u8; LEVELS],
    wear: f64,
    traits: Traits,
    /// R1 so many millivolts below its default, the share of cells on its wrong side, and that of any reference; not yet counted: `None`.
    counted: Option<[f64; 3]>,
}

impl Written {
    pub(super) fn took(&self) -> Took {
        Took { pace: f64::from(self.pace), loops: self.loops }
    }
}

/// The last of them. No memory is taken before the first program.
#[derive(Clone, Debug, Default)]
pub(super) struct Writing {
    written: Vec<Option<Written>>,
    specimens: Vec<Option<(u32, Block)>>,
}

impl Writing {
    /// A block begins to be written.
    pub(super) fn forget(&mut self, block: u32) {
        let is_of = |written: &Written| written.key >> 41 & 0x3f_ffff == u64::from(block);
        self.written.iter_mut().filter(|written| written.as_ref().is_some_and(is_of)).for_each(|written| *written = None);
    }
}

/// Layers that a die remembers while it writes them: of some blocks for each plane and purpose, and those that wait for followers.
const LAYERS: usize = 128;
/// Blocks that are written or erased.
const BLOCKS: usize = 32;

impl CellArray {
    /// What sets a block of this die apart.
    pub(super) fn specimen(&mut self, block: u32) -> Block {
        let specimens = &mut self.writing.specimens;
        specimens.resize(BLOCKS, None);
        let slot = &mut specimens[block as usize % BLOCKS];
        match slot {
            Some((number, specimen)) if *number == block => *specimen,
            _ => slot.insert((block, self.model.block(self.seed, self.die, block))).1,
        }
    }

    /// What sets an h-layer of a block of this die apart.
    pub(super) fn traits(&mut self, block: u32, layer: u32) -> Traits {
        let specimen = self.specimen(block);
        self.model.traits(&specimen, layer)
    }

    /// How the wordline of `page` was programmed.
    pub(super) fn written(&mut self, block: u32, page: u32) -> &mut Written {
        let wordline = page / self.bits;
        let (layer, course) = (wordline / self.wordlines_per_layer, self.courses.of(block, wordline));
        let generation = self.lives[block as usize].generation;
        let key = 1 << 63 | u64::from(block) << 41 | u64::from(generation) << 9 | u64::from(layer);
        let slot = (block.wrapping_mul(37) + layer * 2 + u32::from(course > 0)) as usize % LAYERS;
        self.writing.written.resize(LAYERS, None);
        let is_known = self.writing.written[slot].is_some_and(|written| written.key == key && written.course == course);
        if !is_known {
            let traits = self.traits(block, layer);
            let Condition { history, settings, programmed_at, .. } = self.condition(&self.lives[block as usize], course);
            let program = self.model.program(&self.model.warmed(&traits, programmed_at), &history, &settings);
            self.writing.written[slot] = Some(Written {
                key,
                course,
                pace: (program.time / self.nominal.0) as f32,
                loops: program.loops.min(u32::from(u8::MAX)) as u8,
                first: program.first,
                last: program.last,
                wear: self.model.wear(&traits, &history),
                traits,
                counted: None,
            });
        }
        self.writing.written[slot].as_mut().expect("it is known now")
    }

    /// What the die tells of the program of the wordline of `page`, just after it. R1 stands `lowered` millivolts below its default for the count between the
    /// erased state and the lowest programmed one.
    pub fn trace(&mut self, block: u32, page: u32, lowered: f64) -> Trace {
        let Written { first, last, counted, .. } = *self.written(block, page);
        let [_, low, all] = match counted {
            Some(counted) if counted[0] == lowered => counted,
            _ => self.count(block, page, lowered),
        };
        let cells = f64::from(self.model.physics().shape.cells());
        let dice = unit(self.traces.at(self.filling(block, page / self.bits)));
        Trace { first, last, low_errors: errors_at(low * cells, cells, dice), errors: errors_at(all * cells, cells, dice) }
    }

    #[cold]
    fn count(&mut self, block: u32, page: u32, lowered: f64) -> [f64; 3] {
        let Written { course, wear, traits, .. } = *self.written(block, page);
        let life = self.lives[block as usize];
        let place = self.place(&life, &traits, wear, (0.0, 0.0), 0.0);
        let (mut low, mut all) = self.grid.fresh(&self.model, &place, lowered);
        if course > 0 {
            let condition = self.condition(&life, course);
            let w = wear / self.model.physics().wear.reference;
            let strayed = self.strays(&traits, wear, &condition).misread(&self.model, &traits, &condition, w, lowered);
            (low, all) = ((low + strayed.0).max(0.0), (all + strayed.1).max(0.0));
        }
        let counted = [lowered, low, all];
        self.written(block, page).counted = Some(counted);
        counted
    }
}
