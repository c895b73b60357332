//! Error rates between the points of a grid: what simulation uses in the place of [`Wordline`](crate::Wordline) for each read.
//!
//! A rate depends on a wordline's wear and noise, on the charge its layer has lost, and on how often it was read. The natural logarithm of the rate is
//! smooth in these four, so it is worked out only at the points of a grid and interpolated linearly between them. Points are worked out when they are
//! first needed; all blocks of a die share them. The level of a layer is taken to the nearest 4 mV, and its program speed is left out: it moves only
//! the few cells that run past their level.
//!
//! | axis | a point every |
//! |---|---|
//! | wear | 0.2 of ln(wear + reference/32) |
//! | noise | 5 % |
//! | charge lost: loss·ln(1 + t/start) | third of an e-fold |
//! | reads | octave of 1 + reads/64 |
//!
//! A test holds the interpolated rates against the exact ones over the operating range: 1 to 2 % off in the mean, 16 % at worst
//! (`tests/suite/array.rs`). A table of fixed size, worked out when a drive starts, was tried first: it took 50 ms, could not hold the entries of the
//! retry table as well, and ended somewhere.

use crate::condition::Condition;
use crate::model::Model;
use crate::variation::Traits;
use crate::wear::History;
use wordline_units::Celsius;

const AXES: usize = 4;
/// Reads that the axis of reads starts to count from.
const READS: f64 = 64.0;

/// Where a wordline stands on the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    axes: [f64; AXES],
    /// Nearest point of level.
    level: i32,
}

/// Error rates at the points of the grid.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// Keys of the points, one more than the key; zero where there is none. Open addressing.
    keys: Vec<u64>,
    points: usize,
    /// Natural logarithms of rates, by slot, page and entry of the retry table; zero where not yet worked out.
    rates: Vec<f32>,
    pages: usize,
    entries: usize,
    temperature: Celsius,
}

impl Grid {
    pub(crate) fn new(model: &Model, temperature: Celsius) -> Grid {
        let (pages, entries) = (model.physics().shape.cell.bits() as usize, model.retry_entries() as usize + 1);
        let slots = 256;
        Grid { keys: vec![0; slots], points: 0, rates: vec![0.0; slots * pages * entries], pages, entries, temperature }
    }

    /// Raw bit error rate of a page (0: LSB) read with an entry of the vendor's retry table.
    pub(crate) fn rate(&mut self, model: &Model, place: &Place, page: usize, entry: usize) -> f64 {
        let base: [f64; AXES] = core::array::from_fn(|axis| libm::floor(place.axes[axis]));
        let part: [f64; AXES] = core::array::from_fn(|axis| place.axes[axis] - base[axis]);
        let mut sum = 0.0;
        for corner in 0..1usize << AXES {
            let mut weight = 1.0;
            let mut point = [0i32; AXES];
            for axis in 0..AXES {
                let upper = corner >> axis & 1 == 1;
                weight *= if upper { part[axis] } else { 1.0 - part[axis] };
                point[axis] = base[axis] as i32 + i32::from(upper);
            }
            if weight > 0.0 {
                sum += weight * self.point(model, point, place.level, page, entry);
            }
        }
        libm::exp(sum)
    }

    /// The logarithm of a rate at a point.
    fn point(&mut self, model: &Model, point: [i32; AXES], level: i32, page: usize, entry: usize) -> f64 {
        let slot = self.slot(key(point, level));
        let at = (slot * self.pages + page) * self.entries + entry;
        if self.rates[at] == 0.0 {
            self.work_out(model, point, level, slot, entry);
        }
        f64::from(self.rates[at])
    }

    #[cold]
    fn work_out(&mut self, model: &Model, point: [i32; AXES], level: i32, slot: usize, entry: usize) {
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
        let wordline = model.wordline(&traits, &condition);
        let references = model.references(entry as u32);
        for page in 0..self.pages {
            // A rate of less than this is none among the bits of any drive, and its logarithm must not be zero.
            let rate = wordline.error_rate(model, page as u32, &references).clamp(1e-30, 0.999);
            self.rates[(slot * self.pages + page) * self.entries + entry] = libm::log(rate) as f32;
        }
    }

    /// The slot of a point, which is added where it is new.
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
        let row = self.pages * self.entries;
        let slots = self.keys.len() * 2;
        let (old_keys, old_rates) = (std::mem::replace(&mut self.keys, vec![0; slots]), std::mem::take(&mut self.rates));
        self.rates = vec![0.0; slots * row];
        for (old, &key) in old_keys.iter().enumerate().filter(|&(_, &key)| key != 0) {
            let mut slot = home(key, slots - 1);
            while self.keys[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.keys[slot] = key;
            self.rates[slot * row..][..row].copy_from_slice(&old_rates[old * row..][..row]);
        }
    }
}

/// Points for each unit of an axis.
const STEPS: [f64; AXES] = [5.0, 20.0, 3.0, 1.0 / std::f64::consts::LN_2];
/// Points for each millivolt of level.
const LEVELS: f64 = 0.25;

/// Wear below which the axis is even, in reference cycles.
fn wear_floor(model: &Model) -> f64 {
    model.physics().wear.reference / 32.0
}

impl Place {
    /// Where a wordline of this wear and these traits stands.
    pub(crate) fn new(model: &Model, wear: f64, traits: &Traits, retention: f64, reads: f64) -> Place {
        let axes = [
            libm::log(wear + wear_floor(model)) * STEPS[0],
            traits.noise * STEPS[1],
            traits.loss * libm::log1p(retention / model.physics().retention.start) * STEPS[2],
            libm::log1p(reads / READS) * STEPS[3],
        ];
        Place { axes, level: libm::round(traits.offset * LEVELS) as i32 }
    }
}

/// A point as one number, never zero.
fn key(point: [i32; AXES], level: i32) -> u64 {
    let wide = point.iter().fold(1u64, |key, &at| key << 12 | at as u64 & 0xfff);
    wide << 12 | level as u64 & 0xfff
}

fn home(key: u64, mask: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask
}
