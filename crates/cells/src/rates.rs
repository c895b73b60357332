//! Raw bit error rates ready-made: for the reads of a running drive.
//!
//! What a read with the chip's own references finds depends on the wear of the wordline, on how long its data were kept, on its noise and on how often its
//! block was read. A table over these four holds the logarithm of each page's rate; between its nodes it is interpolated linearly, which is within a few per
//! cent of [`Wordline::error_rate`](crate::Wordline::error_rate) (a test says how few). Rare conditions are not in it: other settings, temperatures, locks,
//! copybacks, wear beyond the table. [`Rates::rate`] then says `None`, and the exact road is taken. Nothing is clamped.

use crate::condition::Condition;
use crate::model::Model;
use crate::variation::Traits;
use crate::wear::History;
use wordline_units::Celsius;

/// Nodes along each axis.
const WEAR: usize = 20;
const KEPT: usize = 22;
const NOISE: usize = 7;
const READS: usize = 8;

/// Ends of the axes. They say how far the table reaches, not how far the physics does.
const WEAR_CUBE_ROOT_MAX: f64 = 1.6;
const KEPT_LOG_MAX: f64 = 10.5;
const NOISE_MIN: f64 = 0.88;
const NOISE_MAX: f64 = 1.15;
const READS_ROOT_MAX: f64 = 3.3;

/// The table. About a quarter of a megabyte for each page of a wordline.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Logarithm of the rate: by page, then by wear, time, noise and reads.
    table: Vec<f32>,
    start: f64,
    reference: f64,
    reads: f64,
    home: Celsius,
    even: bool,
}

fn at(node: usize, nodes: usize, from: f64, to: f64) -> f64 {
    from + (to - from) * node as f64 / (nodes - 1) as f64
}

/// The node below `x` and how far towards the next it is; `None` outside of the axis.
fn place(x: f64, nodes: usize, from: f64, to: f64) -> Option<(usize, f32)> {
    let steps = (x - from) / (to - from) * (nodes - 1) as f64;
    if !(0.0..=(nodes - 1) as f64).contains(&steps) {
        return None;
    }
    let node = (steps as usize).min(nodes - 2);
    Some((node, (steps - node as f64) as f32))
}

impl Rates {
    /// Works the table out: some fifty milliseconds.
    pub fn new(model: &Model) -> Rates {
        let physics = model.physics();
        let pages = physics.shape.cell.bits();
        let home = Celsius(physics.retention.temperature);
        let references = model.references(0);
        let mut table = vec![0.0; pages as usize * WEAR * KEPT * NOISE * READS];
        let own = model.typical();
        for wear in 0..WEAR {
            let root = at(wear, WEAR, 0.0, WEAR_CUBE_ROOT_MAX);
            let stress = (root * root * root * physics.wear.reference) as f32;
            let history = History { erase: stress, program: stress, gentle: 0.0 };
            for kept in 0..KEPT {
                let logarithm = at(kept, KEPT, 0.0, KEPT_LOG_MAX);
                for noise in 0..NOISE {
                    let traits = Traits { noise: at(noise, NOISE, NOISE_MIN, NOISE_MAX), ..own };
                    for reads in 0..READS {
                        let root = at(reads, READS, 0.0, READS_ROOT_MAX);
                        let condition = Condition {
                            retention: physics.retention.start * libm::expm1(logarithm),
                            reads: physics.read_disturb.reads * libm::pow(root, 1.0 / physics.read_disturb.power),
                            ..Condition::new(history, home)
                        };
                        let wordline = model.wordline(&traits, &condition);
                        for page in 0..pages {
                            let rate = wordline.error_rate(model, page, &references).max(1e-12);
                            let node = (((page as usize * WEAR + wear) * KEPT + kept) * NOISE + noise) * READS + reads;
                            table[node] = libm::log(rate) as f32;
                        }
                    }
                }
            }
        }
        Rates {
            table,
            start: physics.retention.start,
            reference: physics.wear.reference,
            reads: physics.read_disturb.reads,
            home,
            even: physics.profile.offset.iter().all(|&offset| offset == 0.0),
        }
    }

    /// Raw bit error rate of a page read with the chip's own references. `None`: this condition is not in the table.
    pub fn rate(&self, model: &Model, traits: &Traits, condition: &Condition, page: u32) -> Option<f64> {
        let usual = self.even
            && condition.neighbour
            && !condition.gently_erased
            && condition.reprogrammed.is_none()
            && condition.open_interval <= 0.0
            && condition.lock_dose <= 0.0
            && condition.carried[page as usize] <= 0.0
            && condition.programmed_at == condition.read_at
            && condition.settings.is_default();
        if !usual {
            return None;
        }
        let wear = model.wear(traits, &condition.history);
        let reads = if condition.reads * 1_000.0 < self.reads {
            0.0
        } else {
            libm::pow(condition.reads / self.reads, model.physics().read_disturb.power)
        };
        let kept = traits.loss * libm::log1p(condition.retention / self.start);
        let (wear, to_wear) = place(libm::cbrt(wear / self.reference), WEAR, 0.0, WEAR_CUBE_ROOT_MAX)?;
        let (kept, to_kept) = place(kept, KEPT, 0.0, KEPT_LOG_MAX)?;
        let (noise, to_noise) = place(traits.noise, NOISE, NOISE_MIN, NOISE_MAX)?;
        let (reads, to_reads) = place(reads, READS, 0.0, READS_ROOT_MAX)?;
        let node = (((page as usize * WEAR + wear) * KEPT + kept) * NOISE + noise) * READS + reads;
        let along = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let line = |node: usize| along(self.table[node], self.table[node + 1], to_reads);
        let square = |node: usize| along(line(node), line(node + READS), to_noise);
        let cube = |node: usize| along(square(node), square(node + NOISE * READS), to_kept);
        let logarithm = along(cube(node), cube(node + KEPT * NOISE * READS), to_wear);
        Some(libm::exp(f64::from(logarithm)))
    }

    /// As [`Rates::rate`], by the exact road where the table does not reach.
    pub fn rate_or_exact(&self, model: &Model, traits: &Traits, condition: &Condition, page: u32) -> f64 {
        self.rate(model, traits, condition, page)
            .unwrap_or_else(|| model.wordline(traits, condition).error_rate(model, page, &model.references(0)))
    }

    /// The temperature at which reads and programs are in the table.
    pub fn home(&self) -> Celsius {
        self.home
    }
}
