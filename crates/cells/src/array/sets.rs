//! Reads with the references of a controller's read sets.
//!
//! A set is read with again and again, unlike the references of a search: its error rates are interpolated on a grid and cached as those of the vendor's table
//! are, in a grid and a cache of their own. They take no memory before the first such read.

use std::sync::Arc;

use wordline_units::{Celsius, Nanos};

use super::{CellArray, Sensed};
use crate::grid::{Grid, PAGES};
use crate::model::Model;
use crate::variation::Traits;
use crate::wordline::References;

/// The read sets of a die's controller, and what is known of reads with them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    /// Shifts of each set from the default references, in millivolts, lowest reference first.
    shifts: Arc<[References]>,
    known: Option<Box<Known>>,
}

/// Grid and cache of reads with sets.
#[derive(Clone, Debug)]
struct Known {
    references: Vec<References>,
    grid: Grid,
    layers: Vec<Layer>,
    /// Rates by layer, page of the wordline and set; zero where not yet known.
    rates: Vec<f32>,
}

/// One cache entry: an h-layer of a block in a condition.
#[derive(Clone, Copy, Debug)]
struct Layer {
    key: u64,
    relief: u16,
    wear: f64,
    traits: Traits,
}

const NOTHING: Layer = Layer { key: 0, relief: 0, wear: 0.0, traits: Traits::NONE };

/// Number of h-layers that are cached: with 64 sets of three pages, 1.5 MiB.
const LAYERS: usize = 2_048;

impl Sets {
    /// The sets with these shifts, of which nothing is known.
    pub(super) fn new(shifts: Arc<[References]>) -> Sets {
        Sets { shifts, known: None }
    }

    /// The same sets for another die.
    pub(super) fn sibling(&self) -> Sets {
        Sets::new(Arc::clone(&self.shifts))
    }

    /// Forgets what was worked out: conditions have changed.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }
}

impl Known {
    fn new(model: &Model, temperature: Celsius, shifts: &[References], pages: usize) -> Known {
        let references: Vec<References> = shifts.iter().map(|shift| shifted(model, 0, shift)).collect();
        let rates = vec![0.0; LAYERS * pages * references.len()];
        Known { grid: Grid::new(model, temperature, references.clone()), references, layers: vec![NOTHING; LAYERS], rates }
    }
}

/// References of entry `entry` of the vendor's table, each shifted by so many millivolts.
pub(super) fn shifted(model: &Model, entry: u32, shift: &References) -> References {
    let mut references = model.references(entry);
    references.iter_mut().zip(shift).for_each(|(reference, shift)| *reference += shift);
    references
}

impl CellArray {
    /// Sets the read sets of the controller: the shifts of each from the default references, in millivolts, lowest reference first.
    pub fn set_read_sets(&mut self, shifts: Arc<[References]>) {
        self.sets = Sets::new(shifts);
    }

    /// Senses `page` of `block` with set `set` of [`CellArray::set_read_sets`], counted from 0. The block has been read `reads` times since its erase.
    pub fn read_set(&mut self, block: u32, page: u32, reads: u32, set: usize, now: Nanos) -> Sensed {
        let (rate, wear) = self.set_rate(block, page, reads, set, now);
        let rate = self.with_carried(block, page, rate);
        self.bring_out(block, page, rate, wear)
    }

    /// The raw bit error rate of such a read without what copybacks carried over, and the wordline's wear in reference cycles.
    fn set_rate(&mut self, block: u32, page: u32, reads: u32, set: usize, now: Nanos) -> (f64, f64) {
        let life = self.lives[block as usize];
        let (wordline, kind) = (page / self.bits, (page % self.bits) as usize);
        let layer = wordline / self.wordlines_per_layer;
        let steps = self.steps(block, &life, layer, page, reads, now);
        let (key, relief) = (self.key(block, layer, &life, steps), self.relief_step(block, wordline));
        let (pages, number) = (self.bits as usize, self.number(block, layer) % LAYERS);
        let mut known =
            self.sets.known.take().unwrap_or_else(|| Box::new(Known::new(&self.model, self.temperature, &self.sets.shifts, pages)));
        let count = known.references.len();
        let width = pages * count;
        if (known.layers[number].key, known.layers[number].relief) != (key, relief) {
            let traits = self.traits(block, layer);
            known.layers[number] = Layer { key, relief, wear: self.worn(&life, &traits, relief), traits };
            known.rates[number * width..][..width].fill(0.0);
        }
        let Layer { wear, traits, .. } = known.layers[number];
        let first = number * width + set;
        if known.rates[first + kind * count] == 0.0 {
            let place = self.place(&life, &traits, wear, self.kept_and_read(steps), 0.0);
            let rates = known.grid.rates(&self.model, &place, set);
            for (page, &rate) in rates[..pages].iter().enumerate() {
                known.rates[first + page * count] = (rate as f32).max(f32::MIN_POSITIVE);
            }
        }
        let course = self.courses.of(block, wordline);
        let mut rate = f64::from(known.rates[first + kind * count]);
        if course != 0 {
            let mut rates: [f64; PAGES] =
                core::array::from_fn(|page| if page < pages { f64::from(known.rates[first + page * count]) } else { 0.0 });
            self.add_strays(&life, course, &traits, wear, self.kept_and_read(steps), &known.references[set], &mut rates);
            rate = rates[kind];
        }
        self.sets.known = Some(known);
        (rate, wear)
    }
}
