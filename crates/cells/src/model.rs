//! The cells of a kind of chip, prepared for use.

use wordline_units::Celsius;
use wordline_units::arrhenius::acceleration;

use crate::condition::Condition;
use crate::erase::Erase;
use crate::physics::{Fault, Physics};
use crate::program::{Course, LEVELS, Program, Settings};
use crate::reading::{Errors, Reading, errors_at, poisson, unit};
use crate::special::{tail, tail_inverse_roughly};
use crate::variation::{Block, Layer, Traits, listed};
use crate::wear::History;
use crate::wordline::{References, Wordline};

/// The cells of a kind of chip: its physics, and what can be computed once for all its blocks. Nothing is allocated after [`Model::new`].
#[derive(Clone, Debug)]
pub struct Model {
    physics: Physics,
    layers: Vec<Layer>,
    /// For each page, the boundaries it is read at, rising.
    bounds: [Vec<u8>; 4],
    codes: Vec<u8>,
    /// For each state, the size of its lower tail relative to that of the highest state.
    lower_tails: Vec<f64>,
    /// For each programmed state, the deviation of its noise over `states.noise`.
    noises: Vec<f64>,
    fast: f64,
    slow: f64,
}

impl Model {
    /// Checks the physics and prepares it.
    ///
    /// # Errors
    /// As [`Physics::check`].
    pub fn new(physics: &Physics) -> Result<Model, Vec<Fault>> {
        physics.check()?;
        let codes: Vec<u8> = physics.states.coding.iter().map(|&code| code as u8).collect();
        let bounds = core::array::from_fn(|page| {
            (1..codes.len()).filter(|&state| (codes[state] ^ codes[state - 1]) >> page & 1 == 1).map(|state| state as u8).collect()
        });
        let (bottom, top) = (physics.states.verify[0], physics.states.verify[codes.len() - 2]);
        let place = |level: f64| (level - bottom) / (top - bottom).max(1e-9);
        let tail = |(number, &level): (u32, &f64)| {
            libm::pow(place(level), physics.tails.lower_power) * listed(&physics.tails.lower_by_state, number)
        };
        let lower_tails = core::iter::once(0.0).chain((0..).zip(&physics.states.verify).map(tail)).collect();
        let states = codes.len() as u32 - 1;
        let noise = |number: u32| {
            let highest = if number + 1 == states { 1.0 } else { 0.0 };
            (1.0 + physics.states.top_noise * highest) * listed(&physics.states.noise_by_state, number)
        };
        Ok(Model {
            lower_tails,
            noises: (0..states).map(noise).collect(),
            layers: crate::variation::layers(physics),
            bounds,
            codes,
            fast: crate::program::fast_z(physics),
            slow: crate::program::slow_z(physics),
            physics: physics.clone(),
        })
    }

    /// Deviation of the noise of a programmed state over `states.noise`.
    #[inline]
    pub(crate) fn noise_of(&self, state: usize) -> f64 {
        self.noises[state - 1]
    }

    /// The physical parameters.
    pub fn physics(&self) -> &Physics {
        &self.physics
    }

    /// The layers of a block by design, topmost first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// A block of a chip of the lot with this seed.
    pub fn block(&self, seed: u64, chip: u32, block: u32) -> Block {
        Block::new(&self.physics, seed, chip, block)
    }

    /// The traits of the wordlines of an h-layer of a block. Layer 0 is the topmost.
    pub fn traits(&self, block: &Block, layer: u32) -> Traits {
        block.traits(&self.physics, &self.layers[layer as usize], layer)
    }

    /// The reference wordline: an average layer of an average block.
    pub fn typical(&self) -> Traits {
        Traits { wear: 1.0, gentle: crate::erase::gentle_stress(&self.physics.ispe, 0.0), noise: 1.0, loss: 1.0, offset: 0.0, speed: 0.0 }
    }

    /// A history of `cycles` normal cycles with equal dwell, without simulating them. `dwell` in seconds.
    pub fn cycled(&self, cycles: f64, dwell: f64, at: Celsius) -> History {
        History::cycled(&self.physics, cycles, dwell, at)
    }

    /// Retention at the reference temperature that loses as much charge as `seconds` at `at`.
    pub fn kept(&self, seconds: f64, at: Celsius) -> f64 {
        seconds * acceleration(self.physics.retention.energy, at, Celsius(self.physics.retention.temperature))
    }

    /// Wear of a wordline, in reference cycles.
    pub fn wear(&self, traits: &Traits, history: &History) -> f64 {
        crate::wear::wear(&self.physics, traits, history)
    }

    /// The threshold-voltage states of a wordline in its condition.
    pub fn wordline(&self, traits: &Traits, condition: &Condition) -> Wordline {
        Wordline::new(self, traits, condition)
    }

    /// Mean number of errors of a codeword of the worst page of a wordline at its best references.
    pub fn worst_page(&self, traits: &Traits, condition: &Condition) -> f64 {
        let wordline = self.wordline(traits, condition);
        let best = wordline.optimal();
        let pages = 0..self.physics.shape.cell.bits();
        pages.map(|page| wordline.error_rate(self, page, &best)).fold(0.0, f64::max) * self.codeword_bits()
    }

    /// Traits at the temperature `at`: warm cells program faster.
    #[must_use]
    pub fn warmed(&self, traits: &Traits, at: Celsius) -> Traits {
        let above = at.0 - self.physics.retention.temperature;
        Traits { speed: traits.speed + self.physics.ispp.warm_speed * above, ..*traits }
    }

    /// The program of a wordline: its loops, verifies and time.
    pub fn program(&self, traits: &Traits, history: &History, settings: &Settings) -> Program {
        let course = self.course(traits, self.wear(traits, history), settings);
        crate::program::program(&self.physics, &course, self.fast, settings)
    }

    /// The erase of a block: its loops and time. The most worn wordline decides.
    pub fn erase(&self, block: &Block, history: &History) -> Erase {
        self.erase_by_layer(block, |_| *history)
    }

    /// The same where the most worn wordline of each layer has a history of its own.
    pub fn erase_by_layer(&self, block: &Block, history: impl Fn(u32) -> History) -> Erase {
        let worst = (0..self.physics.shape.layers).map(|layer| self.wear(&self.traits(block, layer), &history(layer))).fold(0.0, f64::max);
        crate::erase::erase(&self.physics, worst, block.erase)
    }

    /// Wear of a gentle erase relative to that of a normal one, programs included.
    pub fn low_stress_coefficient(&self, traits: &Traits) -> f64 {
        crate::wear::low_stress_coefficient(&self.physics, traits)
    }

    /// Number of entries of the vendor's retry table after the default.
    pub fn retry_entries(&self) -> u32 {
        let retry = &self.physics.retry;
        retry.entries as u32 + retry.disturb_entries as u32
    }

    /// The references of an entry of the vendor's retry table; 0 is the default.
    pub fn references(&self, entry: u32) -> References {
        let (steps, number) = self.retry_steps(entry);
        let mut references = [0.0; LEVELS];
        for (at, start) in self.physics.states.references.iter().enumerate() {
            references[at] = start + listed(steps, at as u32) * f64::from(number);
        }
        references
    }

    /// The steps that an entry of the retry table goes by, and their number: entries for lost charge and for disturb by turns, then what is left of either.
    fn retry_steps(&self, entry: u32) -> (&[f64], u32) {
        let retry = &self.physics.retry;
        let (lost, disturbed) = (retry.entries as u32, retry.disturb_entries as u32);
        let by_turns = 2 * lost.min(disturbed);
        let (is_disturbed, number) = if entry <= by_turns {
            (entry > 0 && entry.is_multiple_of(2), entry.div_ceil(2))
        } else {
            (disturbed > lost, entry - by_turns / 2)
        };
        (if is_disturbed { &retry.disturb_step } else { &retry.step }, number)
    }

    /// Number of codewords in a page.
    pub fn codewords(&self) -> f64 {
        (self.physics.shape.page.0 as f64 / self.physics.ecc.codeword).max(1.0)
    }

    /// Number of bits of a codeword, its share of the spare area included.
    pub fn codeword_bits(&self) -> f64 {
        f64::from(self.physics.shape.cells()) / self.codewords()
    }

    /// Raw bit error rate at which a codeword has, in the mean, as many errors as can be corrected.
    pub fn limit(&self) -> f64 {
        self.physics.ecc.correctable / self.codeword_bits()
    }

    /// The boundaries at which a page is read, rising; 1 is R1.
    pub fn bounds(&self, page: u32) -> &[u8] {
        &self.bounds[page as usize]
    }

    /// Size of a state's lower tail, relative to that of the highest state.
    pub(crate) fn lower_tail(&self, state: usize) -> f64 {
        self.lower_tails[state]
    }

    pub(crate) fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// Width of what program-verify leaves above the verify level, in mV.
    pub(crate) fn placement(&self) -> f64 {
        self.physics.states.placement * self.physics.ispp.gain * self.physics.ispp.step
    }

    pub(crate) fn course(&self, traits: &Traits, wear: f64, settings: &Settings) -> Course {
        Course::new(&self.physics, traits, wear, settings, self.slow)
    }

    /// The errors of one read of a page with this raw bit error rate. `bits` are the random bits of the page and its program: errors stay the same from read
    /// to read but for telegraph noise, whose random bits are `noise`.
    pub fn errors(&self, rate: f64, wear: f64, bits: u64, noise: u64) -> Errors {
        let (codewords, length) = (self.codewords(), self.codeword_bits());
        let mean = rate * length;
        // The worst of n codewords is below a count with the n-th power of the probability that one is.
        let u = unit(bits);
        let worst = errors_at(mean, length, libm::exp(libm::log(u) / codewords));
        let rest = errors_at(mean * (codewords - 1.0), length * (codewords - 1.0), unit(bits.rotate_left(32)));
        let telegraph = self.telegraph(wear);
        let flicker = if telegraph > 0.0 { libm::round(-tail_inverse_roughly(unit(noise)) * telegraph) } else { 0.0 };
        let worst = (f64::from(worst) + flicker).clamp(0.0, length) as u32;
        Errors { page: (worst + rest.min(worst.saturating_mul(codewords as u32 - 1))), worst }
    }

    /// Standard deviation of a codeword's errors between two reads of a page.
    pub fn telegraph(&self, wear: f64) -> f64 {
        let ecc = &self.physics.ecc;
        ecc.telegraph * (1.0 + ecc.telegraph_wear * wear / self.physics.wear.reference)
    }

    /// Probability that a page of this raw bit error rate cannot be corrected.
    pub fn uncorrectable(&self, rate: f64) -> f64 {
        let (codewords, length) = (self.codewords(), self.codeword_bits());
        let mean = rate * length;
        let limit = self.physics.ecc.correctable;
        let one = if mean > 12.0 { tail((limit + 0.5 - mean) / (mean * (1.0 - rate)).sqrt()) } else { 1.0 - poisson(mean, limit) };
        1.0 - libm::pow(1.0 - one, codewords)
    }

    /// Reads a page: with the default references, then down the vendor's retry table until it can be corrected.
    pub fn read(&self, wordline: &Wordline, page: u32, bits: u64, noise: u64) -> Reading {
        self.read_through(wordline, page, bits, noise, (0..=self.retry_entries()).map(|entry| self.references(entry)))
    }

    /// Reads a page with one set of references after the other until it can be corrected. `sets` must not be empty.
    pub fn read_through(
        &self,
        wordline: &Wordline,
        page: u32,
        bits: u64,
        noise: u64,
        sets: impl IntoIterator<Item = References>,
    ) -> Reading {
        self.read_at(wordline.wear, bits, noise, sets.into_iter().map(|references| wordline.error_rate(self, page, &references)))
    }

    /// Reads a page whose error rate is known for each try: wordlines of an h-layer share them. `rates` must not be empty.
    pub fn read_at(&self, wear: f64, bits: u64, noise: u64, rates: impl IntoIterator<Item = f64>) -> Reading {
        let mut reading = Reading { retries: 0, first: Errors::default(), errors: Errors::default(), corrected: false };
        for (retry, rate) in rates.into_iter().enumerate() {
            let errors = self.errors(rate, wear, bits, noise.wrapping_add(retry as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let corrected = f64::from(errors.worst) <= self.physics.ecc.correctable;
            let first = if retry == 0 { errors } else { reading.first };
            reading = Reading { retries: retry as u32, first, errors, corrected };
            if corrected {
                break;
            }
        }
        reading
    }
}
