//! The cache of error rates of a die.
//!
//! Wordlines of an h-layer are alike, so there is one place for a layer of a block. It has the rates of wordlines that the die programmed by itself, and once
//! one is read that was programmed with settings of its own, those of its kind beside them: the same rates, and what strays because of the settings.

use super::{CellArray, Life};
use crate::variation::Traits;
use wordline_units::Nanos;

/// Cached error rates of h-layers. The cache is allocated at the first read.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    layers: Vec<Remembered>,
    /// Error rates by layer, page of the wordline and entry of the retry table; zero where not yet known.
    rates: Vec<f32>,
    /// Error rates of wordlines with a course of their own, laid out as `rates`. The memory is allocated when one is first read.
    relaxed: Vec<f32>,
}

/// One cache entry: an h-layer of a block.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    /// Key of block, layer and condition; zero: the entry is empty.
    key: u64,
    /// Course of the wordlines whose rates stand in [`Memory::relaxed`]; 0: there are none yet.
    course: u16,
    /// Step of relief of the wordlines that the rates are of.
    relief: u16,
    wear: f32,
    traits: Traits,
}

const NOTHING: Remembered = Remembered { key: 0, course: 0, relief: 0, wear: 0.0, traits: Traits::NONE };

/// The most h-layers that a die caches. With the whole table of eight retry entries for three pages, that is 1.6 MiB of rates of a die that has been read all
/// over, and as much again where wordlines have courses of their own.
const REMEMBERED: usize = 16_384;

impl Memory {
    pub(super) fn forget(&mut self) {
        self.layers.fill(NOTHING);
    }

    /// The cache slot of a layer. Layers are numbered over all blocks.
    #[inline]
    fn slot(&self, number: usize) -> usize {
        if number < self.layers.len() { number } else { number % self.layers.len() }
    }

    /// Cached traits of a layer, if known.
    pub(super) fn traits(&self, number: usize, name: u64) -> Option<Traits> {
        let known = self.layers.get(number).or_else(|| self.layers.get(number % self.layers.len().max(1)))?;
        (known.key >> 32 == name).then_some(known.traits)
    }
}

/// A layer of a block as a number, never zero.
#[inline]
fn name(block: u32, layer: u32) -> u64 {
    1 << 31 | u64::from(block) << 9 | u64::from(layer & 0x1ff)
}

impl CellArray {
    /// The raw bit error rate of a read of a page, and the wordline's wear in reference cycles.
    #[inline]
    pub fn error_rate(&mut self, block: u32, page: u32, reads: u32, entry: u32, now: Nanos) -> (f64, f64) {
        let (rate, wear) = self.own_rate(block, page, reads, entry, now);
        (self.with_carried(block, page, rate), wear)
    }

    /// The rate that [`CellArray::error_rate`] gives, without what copybacks carried over.
    fn own_rate(&mut self, block: u32, page: u32, reads: u32, entry: u32, now: Nanos) -> (f64, f64) {
        let life = self.lives[block as usize];
        let (wordline, kind) = (page / self.bits, page % self.bits);
        let layer = wordline / self.wordlines_per_layer;
        let steps = self.steps(&life, layer, page, reads, now);
        let (key, relief) = (self.key(block, layer, &life, steps), self.relief_step(block, wordline));
        if self.memory.layers.is_empty() {
            self.begin_to_remember();
        }
        let slot = self.memory.slot(self.number(block, layer));
        let width = (self.bits * self.entries) as usize;
        if self.memory.layers[slot].key != key || self.memory.layers[slot].relief != relief {
            if self.memory.layers[slot].key >> 32 != name(block, layer) {
                self.memory.layers[slot].traits = self.traits(block, layer);
            }
            (self.memory.layers[slot].key, self.memory.layers[slot].course, self.memory.layers[slot].relief) = (key, 0, relief);
            self.memory.rates[slot * width..][..width].fill(0.0);
        }
        let at = slot * width + (kind * self.entries + entry) as usize;
        if self.memory.rates[at] == 0.0 {
            self.look_up(&life, steps, entry, slot);
        }
        let course = self.courses.of(block, wordline);
        let rate = if course == 0 { self.memory.rates[at] } else { self.relaxed(&life, course, steps, entry, (slot, at)) };
        (f64::from(rate), f64::from(self.memory.layers[slot].wear))
    }

    /// Key of a layer of a block in its present filling, for these steps of retention and reads; never zero.
    #[inline]
    pub(super) fn key(&self, block: u32, layer: u32, life: &Life, steps: (u32, u32)) -> u64 {
        let filling = (u64::from(life.generation) & 0xfff) << 20;
        name(block, layer) << 32 | filling | u64::from(steps.0 & 0x3ff) << 10 | u64::from(steps.1 & 0x3ff)
    }

    /// A layer's number over all blocks.
    #[inline]
    pub(super) fn number(&self, block: u32, layer: u32) -> usize {
        block as usize * self.model.layers().len() + layer as usize
    }

    /// Traits of an h-layer of a block of this die.
    pub(super) fn traits(&mut self, block: u32, layer: u32) -> Traits {
        if let Some(traits) = self.memory.traits(self.number(block, layer), name(block, layer)) {
            return traits;
        }
        let specimen = self.specimen(block);
        self.model.traits(&specimen, layer)
    }

    #[cold]
    fn begin_to_remember(&mut self) {
        let layers = (self.lives.len() * self.model.layers().len()).min(REMEMBERED);
        self.memory.layers = vec![NOTHING; layers];
        self.memory.rates = vec![0.0; layers * (self.bits * self.entries) as usize];
    }

    /// Caches the rates of all pages of a wordline: where one is read its neighbours mostly are, and most of the work is the same.
    fn look_up(&mut self, life: &Life, steps: (u32, u32), entry: u32, slot: usize) {
        let Remembered { traits, relief, .. } = self.memory.layers[slot];
        let (rates, worn) = self.rates(life, &traits, relief, steps, entry, 0.0);
        self.memory.layers[slot].wear = worn as f32;
        let first = slot * (self.bits * self.entries) as usize + entry as usize;
        for (page, &rate) in rates[..self.bits as usize].iter().enumerate() {
            self.memory.rates[first + page * self.entries as usize] = (rate as f32).max(f32::MIN_POSITIVE);
        }
    }

    /// The rate of a page of a wordline with a course of its own. The rate without the course is cached at `at`.
    fn relaxed(&mut self, life: &Life, course: u16, steps: (u32, u32), entry: u32, (slot, at): (usize, usize)) -> f32 {
        let (pages, entries) = (self.bits as usize, self.entries as usize);
        let width = pages * entries;
        if self.memory.relaxed.is_empty() {
            self.memory.relaxed = vec![0.0; self.memory.rates.len()];
        }
        if self.memory.layers[slot].course != course {
            self.memory.layers[slot].course = course;
            self.memory.relaxed[slot * width..][..width].fill(0.0);
        }
        if self.memory.relaxed[at] == 0.0 {
            let Remembered { traits, relief, .. } = self.memory.layers[slot];
            let first = slot * width + entry as usize;
            let mut rates =
                core::array::from_fn(|page| if page < pages { f64::from(self.memory.rates[first + page * entries]) } else { 0.0 });
            let (worn, kept) = (self.worn(life, &traits, relief), self.kept_and_read(steps));
            self.add_strays(life, course, &traits, worn, kept, &self.model.references(entry), &mut rates);
            for (page, &rate) in rates[..pages].iter().enumerate() {
                self.memory.relaxed[first + page * entries] = (rate as f32).max(f32::MIN_POSITIVE);
            }
        }
        self.memory.relaxed[at]
    }
}
