//! The cache of error rates of a die.
//!
//! Wordlines of an h-layer are alike, so there is one place for a layer of a block. It has the rates of wordlines that the die programmed by itself, and once
//! one is read that was programmed with settings of its own, those of its kind beside them: the same rates, and what strays because of the settings.

use super::{CellArray, Life};
use crate::variation::Traits;
use wordline_units::Nanos;
use wordline_units::memory::prefetch;

/// Cached error rates of h-layers. The cache is allocated at the first read.
///
/// Rates are laid out by entry of the retry table, page by page. Those of the first entries stand beside the key, in its line of the processor's cache: most
/// reads end with one of them, and a die that is read all over finds nothing of its layers in that cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    layers: Vec<Remembered>,
    /// Traits of the layers.
    traits: Vec<Traits>,
    /// Error rates of the other entries, layer by layer; zero where not yet known.
    rest: Vec<f32>,
    /// Keys that they are of.
    rest_keys: Vec<u64>,
    /// Error rates of wordlines with a course of their own, of all entries. The memory is allocated when one is first read.
    relaxed: Vec<f32>,
    /// Rates of a layer.
    width: usize,
}

/// Rates that stand beside the key of a layer.
const NEAR: usize = 12;

/// One cache entry: an h-layer of a block.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Remembered {
    /// Key of block, layer and condition; zero: the entry is empty.
    key: u64,
    /// Course of the wordlines whose rates stand in [`Memory::relaxed`]; 0: there are none yet.
    course: u16,
    /// Step of relief of the wordlines that the rates are of.
    relief: u16,
    wear: f32,
    /// Error rates of the first entries; zero where not yet known.
    near: [f32; NEAR],
}

const _: () = assert!(size_of::<Remembered>() == 64);

const NOTHING: Remembered = Remembered { key: 0, course: 0, relief: 0, wear: 0.0, near: [0.0; NEAR] };

/// The most h-layers that a die caches. With the whole table of eight retry entries for three pages, that is 1.6 MiB of rates of a die that has been read all
/// over, and as much again where wordlines have courses of their own.
const REMEMBERED: usize = 16_384;

impl Memory {
    /// A cache of so many layers with `width` rates each.
    fn new(layers: usize, width: usize) -> Memory {
        let rest = width.saturating_sub(NEAR);
        Memory {
            layers: vec![NOTHING; layers],
            traits: vec![Traits::NONE; layers],
            rest: vec![0.0; layers * rest],
            rest_keys: vec![0; layers],
            relaxed: Vec::new(),
            width,
        }
    }

    pub(super) fn forget(&mut self) {
        self.layers.fill(NOTHING);
        self.rest_keys.fill(0);
    }

    /// The cache slot of a layer. Layers are numbered over all blocks.
    #[inline]
    fn slot(&self, number: usize) -> usize {
        if number < self.layers.len() { number } else { number % self.layers.len() }
    }

    /// Cached traits of a layer, if known.
    pub(super) fn traits(&self, number: usize, name: u64) -> Option<Traits> {
        let slot = if number < self.layers.len() { number } else { number % self.layers.len().max(1) };
        (self.layers.get(slot)?.key >> 32 == name).then(|| self.traits[slot])
    }

    /// Rate number `at` of the layer in `slot`; zero where it is not yet known.
    #[inline]
    fn rate(&self, slot: usize, at: usize) -> f32 {
        match self.layers[slot].near.get(at) {
            Some(&rate) => rate,
            None if self.rest_keys[slot] != self.layers[slot].key => 0.0,
            None => self.rest[slot * (self.width - NEAR) + at - NEAR],
        }
    }

    /// Keeps rate number `at` of the layer in `slot`.
    fn keep(&mut self, slot: usize, at: usize, rate: f32) {
        let key = self.layers[slot].key;
        if let Some(near) = self.layers[slot].near.get_mut(at) {
            *near = rate;
            return;
        }
        let first = slot * (self.width - NEAR);
        if self.rest_keys[slot] != key {
            self.rest_keys[slot] = key;
            self.rest[first..][..self.width - NEAR].fill(0.0);
        }
        self.rest[first + at - NEAR] = rate;
    }
}

/// A layer of a block as a number, never zero.
#[inline]
fn name(block: u32, layer: u32) -> u64 {
    1 << 31 | u64::from(block) << 9 | u64::from(layer & 0x1ff)
}

impl CellArray {
    /// Begins to load the cached rates of a page of `block` that will be sensed soon, and waits for nothing. Reads with a set of
    /// the controller's use others.
    #[inline]
    pub fn prefetch(&self, block: u32, page: u32) {
        prefetch(&self.lives[block as usize]);
        if !self.memory.layers.is_empty() {
            let layer = page / self.bits / self.wordlines_per_layer;
            prefetch(&self.memory.layers[self.memory.slot(self.number(block, layer))]);
        }
    }

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
        let steps = self.steps(block, &life, layer, page, reads, now);
        let (key, relief) = (self.key(block, layer, &life, steps), self.relief_step(block, wordline));
        if self.memory.layers.is_empty() {
            self.begin_to_remember();
        }
        let slot = self.memory.slot(self.number(block, layer));
        let known = &self.memory.layers[slot];
        if known.key != key || known.relief != relief {
            if known.key >> 32 != name(block, layer) {
                self.memory.traits[slot] = self.traits(block, layer);
            }
            // Of the other entries, nothing of the layer's last relief is left either.
            self.memory.rest_keys[slot] = 0;
            self.memory.layers[slot] = Remembered { key, relief, ..NOTHING };
        }
        let at = (entry * self.bits + kind) as usize;
        let mut rate = self.memory.rate(slot, at);
        if rate == 0.0 {
            self.look_up(&life, steps, entry, slot);
            rate = self.memory.rate(slot, at);
        }
        let course = self.courses.of(block, wordline);
        let rate = if course == 0 { rate } else { self.relaxed(&life, course, steps, entry, (slot, kind)) };
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
        self.memory = Memory::new(layers, (self.bits * self.entries) as usize);
    }

    /// Caches the rates of all pages of a wordline: where one is read its neighbours mostly are, and most of the work is the same.
    fn look_up(&mut self, life: &Life, steps: (u32, u32), entry: u32, slot: usize) {
        let (traits, relief) = (self.memory.traits[slot], self.memory.layers[slot].relief);
        let (rates, worn) = self.rates(life, &traits, relief, steps, entry, 0.0);
        self.memory.layers[slot].wear = worn as f32;
        let first = (entry * self.bits) as usize;
        for (page, &rate) in rates[..self.bits as usize].iter().enumerate() {
            self.memory.keep(slot, first + page, (rate as f32).max(f32::MIN_POSITIVE));
        }
    }

    /// The rate of page `kind` of a wordline with a course of its own, in `slot`. The rates without the course are cached there.
    fn relaxed(&mut self, life: &Life, course: u16, steps: (u32, u32), entry: u32, (slot, kind): (usize, u32)) -> f32 {
        let (pages, width) = (self.bits as usize, self.memory.width);
        if self.memory.relaxed.is_empty() {
            self.memory.relaxed = vec![0.0; self.memory.layers.len() * width];
        }
        if self.memory.layers[slot].course != course {
            self.memory.layers[slot].course = course;
            self.memory.relaxed[slot * width..][..width].fill(0.0);
        }
        let first = entry as usize * pages;
        let at = slot * width + first + kind as usize;
        if self.memory.relaxed[at] == 0.0 {
            let (traits, relief) = (self.memory.traits[slot], self.memory.layers[slot].relief);
            let mut rates = core::array::from_fn(|page| if page < pages { f64::from(self.memory.rate(slot, first + page)) } else { 0.0 });
            let (worn, kept) = (self.worn(life, &traits, relief), self.kept_and_read(steps));
            self.add_strays(life, course, &traits, worn, kept, &self.model.references(entry), &mut rates);
            for (page, &rate) in rates[..pages].iter().enumerate() {
                self.memory.relaxed[slot * width + first + page] = (rate as f32).max(f32::MIN_POSITIVE);
            }
        }
        self.memory.relaxed[at]
    }
}
