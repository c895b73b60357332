//! The cells of one die in simulation: the wear and retention of each block, and a cache of error rates, so that a page read costs a table look-up.
//!
//! A raw bit error rate is a pure function of the block, the h-layer, the page, the entry of the retry table and the block's condition. Retention and
//! reads enter it in steps of an eighth of an octave, so the function has few enough arguments to be remembered: what was forgotten is worked out again
//! and comes out the same, and neither the size of the memory nor the order of reads shows in any result.
//!
//! ```text
//!  read(place) ─▶ key (block, layer, generation, retention step, reads step) ─hit─▶ rate ─dice─▶ errors of the worst codeword
//!                                                                        └─miss─▶ grid ─▶ rate
//! ```

mod carried;
mod epoch;
mod inspected;
mod kept;
mod locks;
mod memory;
mod relaxed;
mod relief;
mod rests;
mod sets;
mod shifted;
mod stopped;
mod written;

pub use carried::CarriedTables;
pub use epoch::{Pace, Repetition};
pub use inspected::{BlockCarried, BlockCells, BlockWear};
pub use kept::KeptLife;
pub use locks::Disturbed;
pub use relief::ReliefTables;
pub use rests::RestTables;
pub use shifted::Look;
pub use written::Trace;

use std::sync::Arc;

use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, Nanos, WordlineSet};

use crate::array::carried::Carried;
use crate::array::epoch::Epoch;
use crate::array::memory::Memory;
use crate::array::relaxed::Courses;
use crate::array::relief::{Reliefs, history};
use crate::array::rests::Rests;
use crate::array::sets::Sets;
use crate::array::stopped::{Erasing, Erasings};
use crate::array::written::Writing;
use crate::grid::{Grid, PAGES, Place};
use crate::model::Model;
use crate::program::Settings;
use crate::reading::{errors_at, unit};
use crate::special::tail_inverse_roughly;
use crate::variation::Traits;
use crate::wear::History;

/// The wear and the retention that a drive is given directly, without writing it there.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Age {
    /// Program/erase cycles of every block.
    pub cycles: f64,
    /// Dwell between two cycles, in seconds.
    pub dwell: f64,
    /// Retention of the data, in seconds.
    pub retention: f64,
    /// Temperature of dwell and retention.
    pub temperature: f64,
}

/// The result of one sensing of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensed {
    /// Wrong bits in the worst codeword.
    pub worst: u32,
    /// True if error correction can correct the page.
    pub corrected: bool,
    /// Raw bit error rate of the sensing, which a copyback carries over.
    pub rate: f64,
}

impl Sensed {
    /// The result of sensing pages of several planes at once: error correction must mend each of them.
    #[must_use]
    pub fn with(self, other: Sensed) -> Sensed {
        Sensed { worst: self.worst.max(other.worst), corrected: self.corrected && other.corrected, rate: self.rate.max(other.rate) }
    }
}

/// Time and pulses of a program or an erase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Took {
    /// Time of the operation, relative to the mean of a fresh die.
    pub pace: f64,
    /// Number of pulses.
    pub loops: u8,
    /// Of an erase: how much of the last pulse was needed, in 255ths.
    pub part: u8,
}

impl Took {
    /// The time and pulses of planes that work in parallel: the maximum of each.
    #[must_use]
    pub fn with(self, other: Took) -> Took {
        let (loops, part) = (self.loops, self.part).max((other.loops, other.part));
        Took { pace: self.pace.max(other.pace), loops, part }
    }
}

/// Wear and retention state of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Life {
    /// Accumulated stress of erases and of programs: see [`History`].
    erase: f32,
    program: f32,
    /// Number of erases and presets of age since the start. It tells one filling of the block from the next.
    generation: u32,
    /// Number of pages, from the first on, whose age was preset.
    aged_pages: u16,
    erased: Nanos,
    /// Times of the first and the last program since the erase.
    first: Nanos,
    last: Nanos,
}

/// The state of a die's cells that a snapshot must hold because it cannot be recomputed.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Lives {
    lives: Vec<Life>,
    courses: Courses,
    aged: f64,
    noise: u64,
}

/// The cells of one die.
#[derive(Clone, Debug)]
pub struct CellArray {
    model: Arc<Model>,
    seed: u64,
    die: u32,
    /// Temperature history of the die, oldest first.
    warmth: Vec<Warmth>,
    temperature: Celsius,
    lives: Vec<Life>,
    /// Instant after which no life has one, as far as it is known; `None`: some have been written since.
    settled: Option<Nanos>,
    /// Retention of the pages with a preset age, in seconds at the reference temperature.
    aged: f64,
    wordlines_per_layer: u32,
    bits: u32,
    grid: Grid,
    memory: Memory,
    entries: u32,
    /// Mean t_PROG and t_BERS of a fresh die, in microseconds.
    nominal: (f64, f64),
    errors: Draw,
    noise: Draw,
    locks: Draw,
    traces: Draw,
    courses: Courses,
    carried: Carried,
    reliefs: Reliefs,
    rests: Rests,
    sets: Sets,
    writing: Writing,
    /// The erases begun last, for stops of them. A die at rest has no use for them.
    erasing: Erasings,
    /// Number of readings that each reading stands for, of which it is the worst. No snapshot has it.
    times: u32,
    /// Use of the blocks since the epoch began, if one did. No snapshot has it.
    epoch: Option<Box<Epoch>>,
}

/// A period at one temperature.
#[derive(Clone, Copy, Debug)]
struct Warmth {
    /// Start of the period.
    since: Nanos,
    /// Equivalent seconds at the reference temperature before the period.
    before: f64,
    /// Acceleration of charge loss over that at the reference temperature.
    pace: f64,
}

/// Number of blocks whose mean times are equated with those of the data sheet.
const SAMPLED: u32 = 4;
/// Quantisation steps in an octave, as a power of two.
const STEPS_BITS: u32 = 3;
/// Fixed-point factor of a quantity before its logarithm is quantised, so that steps are even from the start.
const SCALE: f64 = 64.0;
/// Unit of the logarithmic scale of reads, in reads. A few dozen reads move no rate, and reclaim reads a whole block: with steps of eight reads, each layer
/// would be looked up twice.
const READS: f64 = 256.0;

impl CellArray {
    /// New cells of die number `die` of a drive, with `blocks` blocks over all its planes, kept at `temperature`.
    pub fn new(model: Arc<Model>, seed: u64, die: u32, blocks: usize, temperature: Celsius) -> CellArray {
        let shape = model.physics().shape;
        let entries = model.retry_entries() + 1;
        let bits = shape.cell.bits();
        let fresh = History::default();
        // The data sheet gives what a buyer sees: the mean over the layers of a few fresh blocks.
        let layers = model.layers().len() as u32;
        let program =
            |block: u32, layer: u32| model.program(&model.traits(&model.block(seed, 0, block), layer), &fresh, &Settings::default()).time;
        let sampled = (0..SAMPLED).flat_map(|block| (0..layers).map(move |layer| (block, layer)));
        let nominal = (
            sampled.map(|(block, layer)| program(block, layer)).sum::<f64>() / f64::from(SAMPLED * layers),
            (0..SAMPLED).map(|block| model.erase(&model.block(seed, 0, block), &fresh).time).sum::<f64>() / f64::from(SAMPLED),
        );
        CellArray {
            seed,
            die,
            warmth: vec![Warmth { since: Nanos::ZERO, before: 0.0, pace: model.kept(1.0, temperature) }],
            temperature,
            lives: vec![Life::default(); blocks],
            settled: Some(Nanos::ZERO),
            aged: 0.0,
            wordlines_per_layer: shape.wordlines_per_layer,
            bits,
            grid: Grid::vendor(&model, temperature),
            memory: Memory::default(),
            entries,
            nominal,
            errors: Draw::new(seed, Stream::CellErrors, die),
            noise: Draw::new(seed, Stream::CellNoise, die),
            locks: Draw::new(seed, Stream::CellLocks, die),
            traces: Draw::new(seed, Stream::CellTraces, die),
            courses: Courses::default(),
            carried: Carried::default(),
            reliefs: Reliefs::default(),
            rests: Rests::default(),
            sets: Sets::default(),
            writing: Writing::default(),
            erasing: Erasings::default(),
            times: 1,
            epoch: None,
            model,
        }
    }

    /// New cells of die number `die` of the same drive. What all dies of a drive have in common is not computed again.
    pub fn sibling(&self, die: u32) -> CellArray {
        CellArray {
            model: Arc::clone(&self.model),
            die,
            lives: vec![Life::default(); self.lives.len()],
            settled: Some(Nanos::ZERO),
            aged: 0.0,
            warmth: self.warmth.clone(),
            grid: Grid::vendor(&self.model, self.temperature),
            memory: Memory::default(),
            errors: Draw::new(self.seed, Stream::CellErrors, die),
            noise: Draw::new(self.seed, Stream::CellNoise, die),
            locks: Draw::new(self.seed, Stream::CellLocks, die),
            traces: Draw::new(self.seed, Stream::CellTraces, die),
            courses: Courses::default(),
            carried: Carried::default(),
            reliefs: Reliefs::default(),
            rests: Rests::default(),
            sets: self.sets.sibling(),
            writing: Writing::default(),
            erasing: Erasings::default(),
            times: 1,
            epoch: None,
            ..*self
        }
    }

    /// Number of entries of the vendor's retry table, the default among them.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Sets the die's temperature to `temperature` from `now` on. Charge already lost stays lost. A difference between program and read temperature is not
    /// modelled here: references are those of the present temperature.
    pub fn set_temperature(&mut self, temperature: Celsius, now: Nanos) {
        let before = self.warm_seconds(now);
        self.warmth.retain(|warmth| warmth.since < now);
        self.warmth.push(Warmth { since: now, before, pace: self.model.kept(1.0, temperature) });
        self.temperature = temperature;
        self.grid = Grid::vendor(&self.model, temperature);
        self.sets.forget();
        self.writing = Writing::default();
        self.memory = Memory::default();
    }

    /// The die's present temperature.
    pub fn temperature(&self) -> Celsius {
        self.temperature
    }

    /// Equivalent seconds at the reference temperature up to `at`.
    fn warm_seconds(&self, at: Nanos) -> f64 {
        let stretch = self.warmth.iter().rfind(|warmth| warmth.since <= at).unwrap_or(&self.warmth[0]);
        stretch.before + (at.saturating_sub(stretch.since)).as_secs_f64() * stretch.pace
    }

    /// Sets every block to `age`: its cycles, and the retention of what it holds now. `pages` says how many pages of a block are programmed.
    pub fn set_age(&mut self, age: &Age, now: Nanos, mut pages: impl FnMut(usize) -> u16) {
        let at = Celsius(age.temperature);
        let history = self.model.cycled(age.cycles, age.dwell, at);
        self.reliefs = Reliefs::default();
        self.rests = Rests::default();
        self.aged = self.model.kept(age.retention, at);
        self.settled = None;
        for (block, life) in self.lives.iter_mut().enumerate() {
            *life = Life {
                erase: history.erase,
                program: history.program,
                generation: life.generation + 1,
                aged_pages: pages(block),
                erased: now,
                first: now,
                last: now,
            };
        }
    }

    /// Gives every block the cycles of `age` with one of `dwells` between them, chosen by a keyed die, after [`CellArray::set_age`].
    pub fn set_dwells(&mut self, age: &Age, dwells: &[f64]) {
        let dice = self.dwell_dice();
        let histories: Vec<History> = dwells.iter().map(|&dwell| self.model.cycled(age.cycles, dwell, Celsius(age.temperature))).collect();
        for (block, life) in self.lives.iter_mut().enumerate() {
            let chosen = chosen(&dice, block as u64, dwells.len());
            (life.erase, life.program) = (histories[chosen].erase, histories[chosen].program);
        }
    }

    /// Dwell of `block` among `dwells`, as [`CellArray::set_dwells`] chooses it; `None`: there are none.
    pub fn dwell_of(&self, block: u32, dwells: &[f64]) -> Option<f64> {
        dwells.get(chosen(&self.dwell_dice(), u64::from(block), dwells.len())).copied()
    }

    fn dwell_dice(&self) -> Draw {
        Draw::new(self.seed, Stream::CellDwell, self.die)
    }

    /// Makes all that is programmed now as old as `age` says, after [`CellArray::set_age`] with an age of the same cycles.
    pub fn set_retention(&mut self, age: &Age) {
        self.aged = self.model.kept(age.retention, Celsius(age.temperature));
    }

    /// Makes the cells of `block` as fresh as they left the factory, after [`CellArray::set_age`].
    pub fn renew(&mut self, block: u32) {
        let life = &mut self.lives[block as usize];
        (life.erase, life.program) = (0.0, 0.0);
    }

    /// Stress of `block` so far, of a wordline that was never spared.
    pub fn history(&self, block: u32) -> History {
        history(&self.lives[block as usize], 0.0)
    }

    /// Moves all recorded times that lie after `now` to `now`, for a clock that ran ahead of the drive's.
    pub fn settle(&mut self, now: Nanos) {
        // A drive that only reads comes to rest often, and has written nothing meanwhile.
        if self.settled.is_some_and(|settled| settled <= now) {
            return;
        }
        self.settled = Some(now);
        for life in &mut self.lives {
            life.erased = life.erased.min(now);
            life.first = life.first.min(now);
            life.last = life.last.min(now);
        }
    }

    /// Senses `page` of `block` with entry `entry` of the retry table. The block has been read `reads` times since its erase.
    pub fn read(&mut self, block: u32, page: u32, reads: u32, entry: u32, now: Nanos) -> Sensed {
        let (rate, wear) = self.error_rate(block, page, reads, entry, now);
        self.bring_out(block, page, rate, wear)
    }

    /// Draws the errors of one read of a page with this error rate.
    #[inline]
    fn bring_out(&mut self, block: u32, page: u32, rate: f64, wear: f64) -> Sensed {
        let dice = self.errors.at(self.filling(block, page));
        let noise = self.noise.next_u64();
        let worst = if self.times == 1 { worst(&self.model, rate, wear, dice, noise) } else { self.worst_of_all(rate, wear, dice, noise) };
        Sensed { worst, corrected: f64::from(worst) <= self.model.physics().ecc.correctable, rate }
    }

    /// Wrong bits in all codewords of a page that was just `sensed` so, together. They are those that [`Model::errors`] tells of.
    pub fn count_all(&self, block: u32, page: u32, sensed: &Sensed) -> u32 {
        let (others, length) = (self.model.codewords() - 1.0, self.model.codeword_bits());
        let bits = self.errors.at(self.filling(block, page));
        let rest = errors_at(sensed.rate * length * others, length * others, unit(bits.rotate_left(32)));
        sensed.worst + rest.min(sensed.worst.saturating_mul(others as u32))
    }

    /// Number of codewords in a page.
    pub fn codewords(&self) -> u32 {
        self.model.codewords() as u32
    }

    /// An identifier of a page and its block's present filling.
    #[inline]
    fn filling(&self, block: u32, page: u32) -> u64 {
        let generation = u64::from(self.lives[block as usize].generation & 0xfff);
        u64::from(block) << 28 | generation << 16 | u64::from(page)
    }

    /// Error rates of the pages of a wordline programmed with default settings, for these steps of retention and reads, and its wear. `dose`: of the page
    /// locks beside it. `relief`: the step of what guarded erases have spared it.
    fn rates(&mut self, life: &Life, traits: &Traits, relief: u16, steps: (u32, u32), entry: u32, dose: f64) -> ([f64; PAGES], f64) {
        let worn = self.worn(life, traits, relief);
        let kept = self.kept_and_read(steps);
        let place = self.place(life, traits, worn, kept, dose);
        (self.grid.rates(&self.model, &place, entry as usize), worn)
    }

    /// The seconds of retention and the reads that these steps stand for.
    fn kept_and_read(&self, (retention, read): (u32, u32)) -> (f64, f64) {
        (middle(retention) * self.model.physics().retention.start, middle(read) * READS)
    }

    /// The place of a wordline on the grid. The grid knows neither open intervals nor locks: what they add to the variance is put into the noise.
    fn place(&self, life: &Life, traits: &Traits, worn: f64, (seconds, reads): (f64, f64), dose: f64) -> Place {
        let physics = self.model.physics();
        let w = worn / physics.wear.reference;
        let open = crate::effects::open_noise(&physics.open_interval, (life.first - life.erased).as_secs_f64());
        let widening = 1.0 + crate::effects::wear_noise(&physics.wear, w);
        let noise = traits.noise * ((widening + open + crate::flag::disturb(&physics.flag, dose)) / widening).sqrt();
        Place::new(&self.model, worn, &Traits { noise, ..*traits }, seconds, reads)
    }

    /// The quantisation steps of retention and reads for a read of a page.
    #[inline]
    fn steps(&self, block: u32, life: &Life, layer: u32, page: u32, reads: u32, now: Nanos) -> (u32, u32) {
        let retention = step(self.retention(block, life, layer, page, now) / self.model.physics().retention.start);
        (retention, step(f64::from(reads) / READS))
    }

    /// Lets all that is programmed lie for `seconds` at this temperature, without power, while virtual time stands at `now`. `pages` returns the number of
    /// programmed pages of a block. Rests of blocks between their cycles are as before: the cells heal by virtual time alone.
    pub fn lie(&mut self, seconds: f64, at: Celsius, now: Nanos, pages: impl FnMut(usize) -> u16) {
        self.rests.lie(self.lives.len(), self.model.kept(seconds, at), now, pages);
    }

    /// Rests of all blocks, for an image.
    pub fn rest_tables(&self) -> RestTables {
        self.rests.tables()
    }

    /// Restores the rests of an image. `false`: they are of a die of another size.
    #[must_use]
    pub fn resume_rests(&mut self, tables: &RestTables) -> bool {
        let rests = Rests::of_tables(tables, self.lives.len(), self.pages());
        rests.map(|rests| self.rests = rests).is_some()
    }

    /// Retention of a page, in seconds at the reference temperature. Between a block's first and last program, pages are taken to have been programmed
    /// evenly.
    fn retention(&self, block: u32, life: &Life, layer: u32, page: u32, now: Nanos) -> f64 {
        let age = if page < u32::from(life.aged_pages) { self.aged } else { 0.0 };
        let aged = age + self.rests.of(block, page);
        let part = f64::from(layer) / self.model.layers().len() as f64;
        let programmed = life.first.as_secs_f64() + part * (life.last - life.first).as_secs_f64();
        if let [only] = self.warmth[..] {
            return aged + (now.as_secs_f64() - programmed).max(0.0) * only.pace;
        }
        aged + (self.warm_seconds(now) - self.warm_seconds(Nanos((programmed * 1e9) as u64))).max(0.0)
    }

    /// Programs the wordline of `page` of `block`. `is_first`: it is the first since the block's erase.
    pub fn program(&mut self, block: u32, page: u32, is_first: bool, now: Nanos, settings: &Settings) -> Took {
        self.keep_course(block, page, settings);
        self.settled = None;
        let physics = self.model.physics();
        let life = &mut self.lives[block as usize];
        if is_first {
            let history = history(life, 0.0);
            // A block rests from one erase to the next; its program shares the rest of its erase.
            life.program = history.programmed(physics, now.saturating_sub(life.erased).as_secs_f64(), self.temperature).program;
            if let Some(epoch) = &mut self.epoch {
                epoch.programmed(block, f64::from(life.program) - f64::from(history.program));
            }
            life.first = now;
            self.writing.forget(block);
        }
        life.last = now;
        self.took(block, page)
    }

    /// Erases `block`.
    pub fn erase(&mut self, block: u32, now: Nanos) -> Took {
        self.erase_guarded(block, now, WordlineSet::NONE)
    }

    /// Erases `block`, the wordlines of `spared` gently.
    pub fn erase_guarded(&mut self, block: u32, now: Nanos, spared: WordlineSet) -> Took {
        self.courses.erase(block);
        self.carried.erase(block);
        self.rests.erase(block);
        self.settled = None;
        let life = &mut self.lives[block as usize];
        let before = history(life, 0.0);
        let erasing =
            Erasing { block, before, dwell: now.saturating_sub(life.erased).as_secs_f64(), temperature: self.temperature, spared };
        let history = erasing.stopped(self.model.physics(), 0);
        if let Some(epoch) = &mut self.epoch {
            epoch.erased(self.model.physics(), &erasing);
        }
        self.erasing.begin(erasing, self.reliefs.table(block));
        *life = Life {
            erase: history.erase,
            program: history.program,
            generation: life.generation.wrapping_add(1),
            erased: now,
            first: now,
            last: now,
            ..Life::default()
        };
        let is_guarded = !spared.is_empty() || self.reliefs.table(block).is_some();
        if is_guarded {
            self.relieve(block, 0);
        }
        self.took_by_erase(block, is_guarded, &history)
    }

    /// Time and pulses of the erase of `block` that has left this `history`.
    fn took_by_erase(&mut self, block: u32, is_guarded: bool, history: &History) -> Took {
        let specimen = self.specimen(block);
        let erase = if is_guarded { self.guarded(block, &specimen) } else { self.model.erase(&specimen, history) };
        let part = (erase.progress - (erase.time - erase.each)) / erase.each;
        Took {
            pace: erase.time / self.nominal.1,
            loops: erase.loops.min(u32::from(u8::MAX)) as u8,
            part: libm::ceil(part.clamp(0.0, 1.0) * 255.0) as u8,
        }
    }

    /// Time and pulses of the last erase of `block`, by the stress that its cells have now.
    pub fn last_erase(&mut self, block: u32) -> Took {
        let (is_guarded, history) = (self.reliefs.table(block).is_some(), history(&self.lives[block as usize], 0.0));
        self.took_by_erase(block, is_guarded, &history)
    }

    /// Tells of a stop of the erase of `block`, the last one of it: it has been stopped `stops` times.
    ///
    /// # Panics
    /// If none of the last erases was of that block.
    pub fn stopped(&mut self, block: u32, stops: u32) {
        let erasing = self.erasing.of(block).expect("what is stopped has begun");
        self.lives[block as usize].erase = erasing.stopped(self.model.physics(), stops).erase;
        if let Some(epoch) = &mut self.epoch {
            epoch.stopped(self.model.physics(), erasing, stops);
        }
        if self.reliefs.table(block).is_some() {
            self.relieve(block, stops);
        }
    }

    /// Forgets what was worked out of programs: wear has changed without an erase.
    fn forget_what_was_worked_out(&mut self) {
        self.writing = Writing::default();
    }

    /// The state of all blocks, for a snapshot; [`CellArray::carried_tables`] is apart from it.
    pub fn lives(&self) -> Lives {
        Lives { lives: self.lives.clone(), courses: self.courses.clone(), aged: self.aged, noise: self.noise.drawn() }
    }

    /// Restores the state of a snapshot. `false`: the snapshot is of a die with another number of blocks.
    #[must_use]
    pub fn resume(&mut self, lives: Lives) -> bool {
        if lives.lives.len() != self.lives.len() || !lives.courses.fits(self.lives.len(), self.wordlines()) {
            return false;
        }
        self.courses = lives.courses;
        self.lives = lives.lives;
        self.settled = None;
        self.aged = lives.aged;
        self.noise.resume(lives.noise);
        self.memory.forget();
        self.sets.forget();
        self.writing = Writing::default();
        true
    }
}

/// Errors of the worst codeword: [`Model::errors`] without those of the other codewords.
fn worst(model: &Model, rate: f64, wear: f64, bits: u64, noise: u64) -> u32 {
    worst_at(model, rate, wear, root(unit(bits), model.codewords()), unit(noise))
}

/// The same at these quantiles of a codeword's errors and of the telegraph noise.
fn worst_at(model: &Model, rate: f64, wear: f64, errors: f64, noise: f64) -> u32 {
    let length = model.codeword_bits();
    let worst = errors_at(rate * length, length, errors);
    let telegraph = model.telegraph(wear);
    let flicker = if telegraph > 0.0 { libm::round(-tail_inverse_roughly(noise) * telegraph) } else { 0.0 };
    (f64::from(worst) + flicker).clamp(0.0, length) as u32
}

/// The root of `u` of this degree. Powers of two are taken by square roots: most pages have a power of two of codewords.
fn root(u: f64, degree: f64) -> f64 {
    let power = degree as u64;
    if !power.is_power_of_two() || power as f64 != degree {
        return libm::exp(libm::log(u) / degree);
    }
    (0..power.trailing_zeros()).fold(u, |root, _| root.sqrt())
}

/// The step of a quantity whose effect goes with the logarithm of `1 + x`.
fn step(x: f64) -> u32 {
    let scaled = (x * SCALE) as u64 + SCALE as u64;
    let octave = 63 - scaled.leading_zeros();
    octave << STEPS_BITS | (scaled >> (octave - STEPS_BITS)) as u32 & ((1 << STEPS_BITS) - 1)
}

/// The quantity in the middle of a step; zero for the first step.
fn middle(step: u32) -> f64 {
    let octave = step >> STEPS_BITS;
    let part = f64::from(step & ((1 << STEPS_BITS) - 1)) + 8.0;
    if scaled_start(step) <= SCALE { 0.0 } else { libm::ldexp(part + 0.5, octave as i32 - STEPS_BITS as i32) / SCALE - 1.0 }
}

/// The scaled quantity at which a step begins.
fn scaled_start(step: u32) -> f64 {
    libm::ldexp(f64::from((step & 7) + 8), (step >> STEPS_BITS) as i32 - STEPS_BITS as i32)
}

/// Place that the die of `block` shows among `count`.
fn chosen(dice: &Draw, block: u64, count: usize) -> usize {
    ((u128::from(dice.at(block)) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_roots() {
        for degree in [1.0, 2.0, 3.0, 4.5, 8.0, 16.0, 17.0] {
            for u in [1e-16, 1e-3, 0.5, 1.0 - 1e-12] {
                let root = root(u, degree);
                assert!((libm::pow(root, degree) / u - 1.0).abs() < 1e-12, "{u} {degree}: {root}");
            }
        }
    }

    #[test]
    fn steps_are_narrow_everywhere_and_hold_what_they_stand_for() {
        assert_eq!(middle(step(0.0)), 0.0);
        for x in [0.02, 0.3, 1.0, 7.5, 123.0, 1e4, 1e9] {
            let stands_for = middle(step(x));
            assert!(libm::log((1.0 + stands_for) / (1.0 + x)).abs() < 0.09, "{x} stands as {stands_for}");
            assert_eq!(step(stands_for), step(x));
        }
        let mut last = 0;
        for n in 0..10_000u32 {
            let now = step(f64::from(n) * 0.01);
            assert!(now >= last);
            last = now;
        }
    }
}
