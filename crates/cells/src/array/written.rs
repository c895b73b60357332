//! Cache of the h-layers that a die is writing: wordlines of one layer that are programmed in one way are programmed alike, so times, loops and counted
//! errors are worked out for the first of them.

use super::relief::history;
use super::{CellArray, Took};
use crate::condition::Condition;
use crate::program::LEVELS;
use crate::reading::{errors_at, unit};
use crate::variation::{Block, Traits};

/// Report of a die on the program of a wordline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// For each programmed state, the loop in which its fastest cells arrived, counted from the first pulse.
    pub first: [u8; LEVELS],
    /// For each programmed state, the loop in which it was done.
    pub last: [u8; LEVELS],
    /// Cells on the wrong side between the erased state and the lowest programmed one.
    pub low_errors: u32,
    /// Cells on the wrong side of any boundary.
    pub errors: u32,
}

/// An h-layer that is being written.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// Key of block, filling and layer; zero: the entry is empty.
    key: u64,
    /// Gentle erase stress of the wordline that was written last: where another has another, nothing is shared.
    gentle: f32,
    wear: f64,
    traits: Traits,
    /// Programs of the layer's wordlines: with default settings, and with others.
    programmed: [Option<Programmed>; 2],
}

/// The program of the wordlines of a layer.
#[derive(Clone, Copy, Debug)]
struct Programmed {
    course: u16,
    loops: u8,
    pace: f32,
    first: [u8; LEVELS],
    last: [u8; LEVELS],
    /// Counted errors; `None`: not yet counted.
    counted: Option<Counted>,
}

/// Shares of a wordline's cells just after its program.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// Millivolts by which R1 stood below its default for the count.
    lowered: f64,
    /// Share of cells on the wrong side of R1.
    low: f64,
    /// Share of cells on the wrong side of any reference.
    all: f64,
}

const NOTHING: Written = Written { key: 0, gentle: 0.0, wear: 0.0, traits: Traits::NONE, programmed: [None; 2] };

/// The layers written last. The memory is allocated at the first program.
#[derive(Clone, Debug, Default)]
pub(super) struct Writing {
    written: Vec<Written>,
    /// Traits of the blocks; `None`: not yet worked out.
    specimens: Vec<Option<Block>>,
}

impl Writing {
    /// Drops the entries of a block whose writing begins.
    pub(super) fn forget(&mut self, block: u32) {
        for written in self.written.iter_mut().filter(|written| written.key >> 41 & 0x3f_ffff == u64::from(block)) {
            written.key = 0;
        }
    }
}

/// Number of layers that a die remembers while it writes them: those of some blocks for each plane and purpose, and those that wait for followers.
const LAYERS: usize = 128;

impl CellArray {
    /// Traits of a block of this die.
    pub(super) fn specimen(&mut self, block: u32) -> Block {
        let specimens = &mut self.writing.specimens;
        if specimens.is_empty() {
            specimens.resize(self.lives.len(), None);
        }
        *specimens[block as usize].get_or_insert_with(|| self.model.block(self.seed, self.die, block))
    }

    /// Time and pulses of the program of the wordline of `page`.
    pub(super) fn took(&mut self, block: u32, page: u32) -> Took {
        let (slot, how) = self.written(block, page);
        let Programmed { pace, loops, .. } = self.known(slot, how);
        Took { pace: f64::from(*pace), loops: *loops, part: 0 }
    }

    /// The slot of the layer of `page`, and how its wordline was programmed: 0 with default settings, 1 with others.
    fn written(&mut self, block: u32, page: u32) -> (usize, usize) {
        let wordline = page / self.bits;
        let (layer, course) = (wordline / self.wordlines_per_layer, self.courses.of(block, wordline));
        let generation = self.lives[block as usize].generation;
        let key = 1 << 63 | u64::from(block) << 41 | u64::from(generation) << 9 | u64::from(layer);
        let slot = (block.wrapping_mul(37) + layer) as usize % LAYERS;
        let how = usize::from(course > 0);
        if self.writing.written.is_empty() {
            self.writing.written = vec![NOTHING; LAYERS];
        }
        let gentle = self.gentle(block, wordline);
        if self.writing.written[slot].key != key || self.writing.written[slot].gentle != gentle {
            let traits = self.traits(block, layer);
            let wear = self.model.wear(&traits, &history(&self.lives[block as usize], gentle));
            self.writing.written[slot] = Written { key, gentle, wear, traits, programmed: [None; 2] };
        }
        if self.writing.written[slot].programmed[how].as_ref().is_none_or(|programmed| programmed.course != course) {
            let traits = self.writing.written[slot].traits;
            let Condition { history, settings, programmed_at, .. } = self.condition(&self.lives[block as usize], course, gentle);
            let program = self.model.program(&self.model.warmed(&traits, programmed_at), &history, &settings);
            self.writing.written[slot].programmed[how] = Some(Programmed {
                course,
                pace: (program.time / self.nominal.0) as f32,
                loops: program.loops.min(u32::from(u8::MAX)) as u8,
                first: program.first,
                last: program.last,
                counted: None,
            });
        }
        (slot, how)
    }

    fn known(&mut self, slot: usize, how: usize) -> &mut Programmed {
        self.writing.written[slot].programmed[how].as_mut().expect("it was just programmed so")
    }

    /// Report of the die on the program of the wordline of `page`, just after it. R1 stands `lowered` millivolts below its default for the count between the
    /// erased state and the lowest programmed one.
    pub fn trace(&mut self, block: u32, page: u32, lowered: f64) -> Trace {
        let (slot, how) = self.written(block, page);
        let &mut Programmed { first, last, counted, .. } = self.known(slot, how);
        let Counted { low, all, .. } =
            counted.filter(|counted| counted.lowered == lowered).unwrap_or_else(|| self.count(block, (slot, how), lowered));
        let cells = f64::from(self.model.physics().shape.cells());
        let dice = unit(self.traces.at(self.filling(block, page / self.bits)));
        Trace { first, last, low_errors: errors_at(low * cells, cells, dice), errors: errors_at(all * cells, cells, dice) }
    }

    /// Counts the misread cells of a layer's wordlines: those of a default program, with the strays of other settings added.
    fn count(&mut self, block: u32, (slot, how): (usize, usize), lowered: f64) -> Counted {
        let Written { gentle, wear, traits, programmed, .. } = self.writing.written[slot];
        let life = self.lives[block as usize];
        let by_itself = programmed[0].and_then(|programmed| programmed.counted).filter(|counted| counted.lowered == lowered);
        let mut counted = by_itself.unwrap_or_else(|| {
            let place = self.place(&life, &traits, wear, (0.0, 0.0), 0.0);
            let (low, all) = self.grid.fresh(&self.model, &place, lowered);
            Counted { lowered, low, all }
        });
        if let (1, Some(Programmed { course, .. })) = (how, programmed[1]) {
            let condition = self.condition(&life, course, gentle);
            let w = wear / self.model.physics().wear.reference;
            let (low, all) = self.strays(&traits, wear, &condition).misread(&traits, &condition, w, lowered);
            counted = Counted { low: (counted.low + low).max(0.0), all: (counted.all + all).max(0.0), ..counted };
        }
        self.known(slot, how).counted = Some(counted);
        counted
    }
}
