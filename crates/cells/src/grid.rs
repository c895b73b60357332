//! Interpolated error rates on a grid, which simulation uses in the place of [`Wordline`](crate::Wordline) for each read.
//!
//! A rate depends on a wordline's wear and noise, on the charge its layer has lost, and on how often it was read. The natural logarithm of the rate is
//! smooth in these four, so it is worked out only at the points of a grid and interpolated linearly between them. Points are worked out when they are
//! first needed; all blocks of a die share them. The level of a layer is taken to the nearest 4 mV, and its program speed is left out: it moves only
//! the few cells that run past their level.
//!
//! | axis | a point every |
//! |---|---|
//! | wear | 0.2 of ln(wear + reference/1024) |
//! | noise | 5 % |
//! | charge lost: loss·ln(1 + t/start) | third of an e-fold |
//! | reads | octave of 1 + reads/64 |
//!
//! A test holds the interpolated rates against the exact ones over the operating range: under 1.5 % off in the mean, 13 % at worst
//! (`tests/suite/array.rs`). A table of fixed size, worked out when a drive starts, was tried first: it took 50 ms, could not hold the entries of the
//! retry table as well, and ended somewhere.

use crate::condition::Condition;
use crate::model::Model;
use crate::variation::Traits;
use crate::wear::History;
use crate::wordline::{References, Wordline};
use wordline_units::Celsius;

const AXES: usize = 4;
/// The most pages of a wordline.
pub(crate) const PAGES: usize = 4;
/// Unit of the logarithmic axis of reads, in reads.
const READS: f64 = 64.0;

/// The place of a wordline on the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    axes: [f64; AXES],
    /// Nearest grid point of the layer's level.
    level: i32,
}

/// Error rates at the points of the grid.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// Hash table of the points, with open addressing: each entry is the key plus one, or zero where it is free.
    keys: Vec<u64>,
    points: usize,
    /// Natural logarithms of rates, by slot, references and page; zero where not yet worked out.
    rates: Vec<f32>,
    /// Natural logarithms of what a die can count just after a program, by slot: see [`Grid::fresh`]. The memory is allocated when it is first asked for.
    fresh: Vec<[f32; 2]>,
    /// Millivolts below its default at which R1 stood for `fresh`.
    lowered: f64,
    pages: usize,
    /// References that pages are read with, by entry.
    references: Vec<References>,
    temperature: Celsius,
}

impl Grid {
    /// A grid of pages that are read with any of `references`.
    pub(crate) fn new(model: &Model, temperature: Celsius, references: Vec<References>) -> Grid {
        let pages = model.physics().shape.cell.bits() as usize;
        let slots = 256;
        let rates = vec![0.0; slots * pages * references.len()];
        Grid { keys: vec![0; slots], points: 0, rates, fresh: Vec::new(), lowered: 0.0, pages, references, temperature }
    }

    /// A grid of pages that are read with the entries of the vendor's retry table.
    pub(crate) fn vendor(model: &Model, temperature: Celsius) -> Grid {
        Grid::new(model, temperature, (0..=model.retry_entries()).map(|entry| model.references(entry)).collect())
    }

    /// Raw bit error rates of the pages (0: LSB), read with these references.
    pub(crate) fn rates(&mut self, model: &Model, place: &Place, entry: usize) -> [f64; PAGES] {
        let mut sums = [0.0; PAGES];
        place.corners(|weight, point| {
            let slot = self.slot(key(point, place.level));
            let at = (slot * self.references.len() + entry) * self.pages;
            if self.rates[at] == 0.0 {
                self.work_out(model, point, place.level, slot, entry);
            }
            for (sum, &rate) in sums.iter_mut().zip(&self.rates[at..at + self.pages]) {
                *sum += weight * f64::from(rate);
            }
        });
        for sum in &mut sums[..self.pages] {
            *sum = libm::exp(*sum);
        }
        sums
    }

    /// Shares of the cells of a wordline just programmed that are on the wrong side of R1, which stands `lowered` millivolts below its default, and on the
    /// wrong side of any reference. `place` must be without retention and reads.
    pub(crate) fn fresh(&mut self, model: &Model, place: &Place, lowered: f64) -> (f64, f64) {
        if self.fresh.len() != self.keys.len() || self.lowered != lowered {
            self.lowered = lowered;
            self.fresh.clear();
            self.fresh.resize(self.keys.len(), [0.0; 2]);
        }
        let (mut low, mut all) = (0.0, 0.0);
        place.corners(|weight, point| {
            let slot = self.slot(key(point, place.level));
            if self.fresh[slot][0] == 0.0 {
                self.count(model, point, place.level, slot);
            }
            low += weight * f64::from(self.fresh[slot][0]);
            all += weight * f64::from(self.fresh[slot][1]);
        });
        (libm::exp(low), libm::exp(all))
    }

    #[cold]
    fn work_out(&mut self, model: &Model, point: [i32; AXES], level: i32, slot: usize, entry: usize) {
        let wordline = self.wordline(model, point, level);
        for page in 0..self.pages {
            let rate = wordline.error_rate(model, page as u32, &self.references[entry]);
            self.rates[(slot * self.references.len() + entry) * self.pages + page] = logarithm(rate);
        }
    }

    #[cold]
    fn count(&mut self, model: &Model, point: [i32; AXES], level: i32, slot: usize) {
        let wordline = self.wordline(model, point, level);
        let references = model.references(0);
        let all = (1..wordline.count).map(|boundary| wordline.misread(boundary, references[boundary - 1])).sum();
        self.fresh[slot] = [wordline.misread(1, references[0] - self.lowered), all].map(logarithm);
    }

    /// The wordline at a grid point.
    fn wordline(&self, model: &Model, point: [i32; AXES], level: i32) -> Wordline {
        let at: [f64; AXES] = core::array::from_fn(|axis| f64::from(point[axis]));
        let floor = wear_floor(model);
        let traits = Traits {
            wear: (libm::exp(at[0] / STEPS[0]) - floor).max(0.0),
            gentle: 1.0,
            noise: at[1] / STEPS[1],
            loss: 1.0,
            offset: f64::from(level) / LEVELS,
            speed: 0.0,
        };
        let once = History { erase: 1.0, program: 1.0, gentle: 0.0 };
        let mut condition = Condition::new(once, self.temperature);
        condition.retention = libm::expm1(at[2] / STEPS[2]).max(0.0) * model.physics().retention.start;
        condition.reads = libm::expm1(at[3] / STEPS[3]).max(0.0) * READS;
        model.wordline(&traits, &condition)
    }

    /// The slot of a grid point, which is added if it is new.
    fn slot(&mut self, key: u64) -> usize {
        let mask = self.keys.len() - 1;
        let mut slot = home(key, mask);
        loop {
            if self.keys[slot] == key {
                return slot;
            }
            if self.keys[slot] == 0 {
                break;
            }
            slot = (slot + 1) & mask;
        }
        if self.points * 2 >= self.keys.len() {
            self.grow();
            return self.slot(key);
        }
        self.points += 1;
        self.keys[slot] = key;
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let row = self.pages * self.references.len();
        let slots = self.keys.len() * 2;
        let (old_keys, old_rates) = (std::mem::replace(&mut self.keys, vec![0; slots]), std::mem::take(&mut self.rates));
        self.rates = vec![0.0; slots * row];
        let old_fresh = std::mem::take(&mut self.fresh);
        self.fresh.resize(if old_fresh.is_empty() { 0 } else { slots }, [0.0; 2]);
        for (old, &key) in old_keys.iter().enumerate().filter(|&(_, &key)| key != 0) {
            let mut slot = home(key, slots - 1);
            while self.keys[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.keys[slot] = key;
            self.rates[slot * row..][..row].copy_from_slice(&old_rates[old * row..][..row]);
            if let Some(&counts) = old_fresh.get(old) {
                self.fresh[slot] = counts;
            }
        }
    }
}

/// Grid points for each unit of an axis.
const STEPS: [f64; AXES] = [5.0, 20.0, 3.0, 1.0 / std::f64::consts::LN_2];
/// Grid points for each millivolt of level.
const LEVELS: f64 = 0.25;

/// Wear below which the axis of wear is even, in reference cycles.
fn wear_floor(model: &Model) -> f64 {
    model.physics().wear.reference / 1024.0
}

impl Place {
    /// The place of a wordline of this wear and these traits.
    pub(crate) fn new(model: &Model, wear: f64, traits: &Traits, retention: f64, reads: f64) -> Place {
        let axes = [
            libm::log(wear + wear_floor(model)) * STEPS[0],
            traits.noise * STEPS[1],
            traits.loss * libm::log1p(retention / model.physics().retention.start) * STEPS[2],
            libm::log1p(reads / READS) * STEPS[3],
        ];
        Place { axes, level: libm::round(traits.offset * LEVELS) as i32 }
    }

    /// The grid points around a place, each with its weight. An axis on which the place lies exactly on a point asks for no second one: a wordline just
    /// programmed has two.
    fn corners(&self, mut each: impl FnMut(f64, [i32; AXES])) {
        let mut corners = [(1.0, [0i32; AXES]); 1 << AXES];
        let mut count = 1;
        for (axis, &at) in self.axes.iter().enumerate() {
            let base = libm::floor(at);
            let part = at - base;
            for corner in 0..count {
                corners[corner].1[axis] = base as i32;
                if part > 0.0 {
                    let (weight, mut point) = corners[corner];
                    point[axis] += 1;
                    corners[count + corner] = (weight * part, point);
                    corners[corner].0 = weight * (1.0 - part);
                }
            }
            count <<= u32::from(part > 0.0);
        }
        corners[..count].iter().for_each(|&(weight, point)| each(weight, point));
    }
}

/// Natural logarithm of a rate. Rates too small to matter among the bits of any drive are raised to a minimum, because the logarithm must not be zero.
fn logarithm(rate: f64) -> f32 {
    libm::log(rate.clamp(1e-30, 0.999)) as f32
}

/// Key of a grid point, never zero.
fn key(point: [i32; AXES], level: i32) -> u64 {
    let wide = point.iter().fold(1u64, |key, &at| key << 12 | at as u64 & 0xfff);
    wide << 12 | level as u64 & 0xfff
}

fn home(key: u64, mask: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask
}
