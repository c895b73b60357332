//! A lot of virtual chips and the measurements of it that several benches share.

use wordline_cells::{Block, Condition, History, Model, References, Traits, Wordline, errors_at, unit};
use wordline_plan::{Calibrated, Chip};
use wordline_units::Celsius;
use wordline_units::random::philox4x32;

use crate::bench::Setup;
use crate::conditions::LotSize;
use crate::error::LabError;
use crate::protocol::{Cycles, Degrees, Protocol, Span, conditions};
use wordline_runs::parallel;

conditions! {
    "lot",
    /// Conditions of cycles and retention that a bench uses by default.
    struct At {
        /// the rest between two cycles
        dwell: Span,
        /// temperature that times are given at
        room: Degrees,
        /// cycles of an old block, by which h-layers have their names
        old: Cycles,
        /// retention of an old block
        old_kept: Span,
    }
}

/// The conditions that all benches share.
pub const PROTOCOL: Protocol = At::PROTOCOL;

/// Chips of one kind, and blocks of each.
#[derive(Clone, Debug)]
pub struct Lot {
    /// Model of the chips' cells.
    pub model: Model,
    /// Number of chips and blocks.
    pub size: LotSize,
    /// Seed that all chips are drawn from.
    pub seed: u64,
    /// Number of threads to spread over.
    pub threads: usize,
    /// Dwell between two cycles by default, in seconds.
    pub dwell: f64,
    /// Temperature that times are given at.
    pub room: Celsius,
    /// Conditions that the cells were calibrated to.
    pub calibrated: Calibrated,
    /// Cycles and retention of an old block.
    old: (f64, f64),
}

/// Last part of the names of a scan's draws.
const SCANNED: u32 = 12;

impl Lot {
    /// The lot of a setup's chip.
    ///
    /// # Errors
    ///
    /// There is no such chip, or it has no physics.
    pub fn open(setup: &Setup) -> Result<Lot, LabError> {
        Lot::of(&setup.chip, setup)
    }

    /// A lot of another chip, of the same size and seed.
    ///
    /// # Errors
    ///
    /// There is no such chip, or it has no physics.
    pub fn of(chip: &str, setup: &Setup) -> Result<Lot, LabError> {
        let at = At::of(setup)?;
        let chip = Chip::load_set(chip, &setup.null.on_chip(&setup.settings))?;
        let model = Model::new(chip.physics()).map_err(|faults| {
            let told: Vec<String> = faults.iter().map(|fault| format!("physics.{}.{} {}", fault.section, fault.key, fault.what)).collect();
            LabError::Usage(told.join("\n"))
        })?;
        Ok(Lot {
            model,
            size: setup.lot,
            seed: setup.seed,
            threads: setup.threads,
            dwell: at.dwell,
            room: at.room,
            calibrated: chip.calibrated(),
            old: (at.old, at.old_kept),
        })
    }

    /// Results of `work` for every block, chip by chip.
    pub fn map<T: Send>(&self, work: impl Fn(&Block) -> T + Sync) -> Vec<T> {
        let blocks = self.size.blocks as usize;
        parallel::map(self.threads, self.size.chips as usize * blocks, |index| {
            work(&self.block((index / blocks) as u32, (index % blocks) as u32))
        })
    }

    /// Place of `block` among all blocks of the lot, in the order of [`Lot::map`].
    pub fn place(&self, block: &Block) -> usize {
        (block.chip * self.size.blocks + block.block) as usize
    }

    /// One block of a chip.
    pub fn block(&self, chip: u32, block: u32) -> Block {
        self.model.block(self.seed, chip, block)
    }

    /// Number of h-layers of a block.
    pub fn layers(&self) -> usize {
        self.model.physics().shape.layers as usize
    }

    /// Number of pages of a wordline.
    pub fn pages(&self) -> u32 {
        self.model.physics().shape.cell.bits()
    }

    /// Traits of every h-layer of a block, topmost first.
    pub fn traits(&self, block: &Block) -> Vec<Traits> {
        (0..self.layers()).map(|layer| self.model.traits(block, layer as u32)).collect()
    }

    /// History of a block after `cycles` cycles with this dwell at room temperature.
    pub fn cycled(&self, cycles: f64, dwell: f64) -> History {
        self.model.cycled(cycles, dwell, self.room)
    }

    /// History of a block after `cycles` cycles with the usual dwell.
    pub fn worn(&self, cycles: f64) -> History {
        self.cycled(cycles, self.dwell)
    }

    /// Condition of a wordline with this history that was kept for `seconds` at room temperature.
    pub fn after(&self, history: History, seconds: f64) -> Condition {
        Condition::new(history, self.room).kept(seconds)
    }

    /// Condition of a wordline that was cycled with the usual dwell and kept for `seconds` at room temperature.
    pub fn aged(&self, cycles: f64, seconds: f64) -> Condition {
        self.after(self.worn(cycles), seconds)
    }

    /// Condition of an old block's wordline: by its errors h-layers are called kappa and beta.
    pub fn old(&self) -> Condition {
        self.aged(self.old.0, self.old.1)
    }

    /// Error rates of the pages of a wordline at these references.
    pub fn rates(&self, wordline: &Wordline, references: &References) -> Vec<f64> {
        (0..self.pages()).map(|page| wordline.error_rate(&self.model, page, references)).collect()
    }

    /// N_ret of a wordline: the mean number of wrong bits of all its pages at the best references.
    pub fn n_ret(&self, traits: &Traits, condition: &Condition) -> f64 {
        let wordline = self.model.wordline(traits, condition);
        let best = wordline.optimal();
        self.rates(&wordline, &best).iter().sum::<f64>() * f64::from(self.model.physics().shape.cells())
    }

    /// Mean number of errors of a codeword of the worst page of a wordline at the best references.
    pub fn worst_page(&self, traits: &Traits, condition: &Condition) -> f64 {
        self.model.worst_page(traits, condition)
    }

    /// Mean number of errors of a codeword of the worst page of a block's worst wordline: the N(t) that is compared with the limit.
    pub fn worst_wordline(&self, traits: &[Traits], condition: &Condition) -> f64 {
        traits.iter().map(|traits| self.worst_page(traits, condition)).fold(0.0, f64::max)
    }

    /// Wrong bits of the worst codeword that a scan of `block` finds, which is that of all pages of all wordlines at the best references of each wordline.
    /// `traits`: those of the block's h-layers, in order.
    ///
    /// The wordlines of an h-layer are alike. Each codeword has a count of its own; the greatest of those of one page of an h-layer is drawn at once, as the
    /// quantile u^(1/n) of n of them. Draws have names, so that another condition of the block has the same luck.
    pub fn scan(&self, block: &Block, traits: &[Traits], condition: &Condition) -> f64 {
        let (bits, shape) = (self.model.codeword_bits(), self.model.physics().shape);
        let alike = f64::from(shape.wordlines_per_layer) * self.model.codewords();
        let of_layer = |(layer, traits): (usize, &Traits)| {
            let wordline = self.model.wordline(traits, condition);
            let rates = self.rates(&wordline, &wordline.optimal());
            let of_page = |(page, rate): (usize, f64)| {
                let luck = self.dice([block.chip, block.block, (layer * shape.cell.bits() as usize + page) as u32, SCANNED]);
                f64::from(errors_at(rate * bits, bits, libm::pow(luck, 1.0 / alike)))
            };
            rates.into_iter().enumerate().map(of_page).fold(0.0, f64::max)
        };
        traits.iter().enumerate().map(of_layer).fold(0.0, f64::max)
    }

    /// The weakest wordline of a block: that with the most errors in this condition, late in life.
    ///
    /// # Panics
    ///
    /// Never: a block has layers.
    pub fn weakest(&self, block: &Block, late: &Condition) -> Traits {
        let order = |a: &Traits, b: &Traits| self.worst_page(a, late).total_cmp(&self.worst_page(b, late));
        self.traits(block).into_iter().max_by(order).expect("a block has layers")
    }

    /// Largest number of errors of a codeword that can be corrected.
    pub fn limit(&self) -> f64 {
        self.model.physics().ecc.correctable
    }

    /// A draw of the number of errors where `mean` are expected among `bits`.
    pub fn sample(&self, mean: f64, bits: f64, name: [u32; 4]) -> f64 {
        f64::from(errors_at(mean, bits, self.dice(name)))
    }

    /// Random bits that have a name, as a read takes them.
    pub fn luck(&self, name: [u32; 4]) -> u64 {
        (self.dice(name) * (1u64 << 53) as f64) as u64 * 2_048 + 1_024
    }

    /// A uniform draw that has a name.
    pub fn dice(&self, name: [u32; 4]) -> f64 {
        let drawn = philox4x32([self.seed as u32 ^ 0x1ab0_0001, (self.seed >> 32) as u32], name);
        unit(u64::from(drawn[0]) | u64::from(drawn[1]) << 32)
    }
}

/// Mean of the values; not a number where there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Greatest of the values.
pub fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Least of the values.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Quantile of the values, interpolated between neighbours.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len().max(1) - 1) as f64;
    let low = libm::floor(place) as usize;
    match (sorted.get(low), sorted.get(low + 1)) {
        (Some(low), Some(high)) => low + (high - low) * (place - libm::floor(place)),
        (Some(only), None) => *only,
        (None, _) => f64::NAN,
    }
}

/// Standard deviation of the values.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64).sqrt()
}

/// Pearson's correlation of two lists of values.
pub fn correlation(xs: &[f64], ys: &[f64]) -> f64 {
    let (mx, my) = (mean(xs), mean(ys));
    let cross: f64 = xs.iter().zip(ys).map(|(x, y)| (x - mx) * (y - my)).sum();
    cross / (xs.len() as f64 * deviation(xs) * deviation(ys))
}

/// Spearman's rank correlation of two lists of values.
pub fn rank_correlation(xs: &[f64], ys: &[f64]) -> f64 {
    correlation(&ranks(xs), &ranks(ys))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            values.iter().filter(|other| *other < value).count() as f64 + values.iter().filter(|other| *other == value).count() as f64 / 2.0
        })
        .collect()
}

/// Share of `true` among all items.
pub fn share(yes: impl Iterator<Item = bool>) -> f64 {
    let (mut all, mut count) = (0u64, 0u64);
    for yes in yes {
        all += 1;
        count += u64::from(yes);
    }
    count as f64 / all as f64
}

/// Least-squares coefficients of `ys` over the columns of `rows`, by the normal equations. Columns are scaled first, so that units do not matter.
pub fn regression(rows: &[Vec<f64>], ys: &[f64]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let scale: Vec<f64> = (0..width)
        .map(|column| {
            let size = greatest(&rows.iter().map(|row| row[column].abs()).collect::<Vec<_>>());
            if size > 0.0 { size } else { 1.0 }
        })
        .collect();
    let mut matrix = vec![vec![0.0; width + 1]; width];
    for (row, y) in rows.iter().zip(ys) {
        for i in 0..width {
            for j in 0..width {
                matrix[i][j] += row[i] / scale[i] * row[j] / scale[j];
            }
            matrix[i][width] += row[i] / scale[i] * y;
        }
    }
    for column in 0..width {
        let pivot = (column..width).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs())).unwrap_or(column);
        matrix.swap(column, pivot);
        if matrix[column][column].abs() < 1e-12 {
            // A column that says nothing new gets no weight.
            matrix[column] = vec![0.0; width + 1];
            matrix[column][column] = 1.0;
        }
        let head = matrix[column].clone();
        for (number, row) in matrix.iter_mut().enumerate().filter(|(number, _)| *number != column) {
            debug_assert_ne!(number, column);
            let factor = row[column] / head[column];
            row.iter_mut().zip(&head).for_each(|(value, head)| *value -= factor * head);
        }
    }
    (0..width).map(|i| matrix[i][width] / matrix[i][i] / scale[i]).collect()
}

/// The argument between `low` and `high` at which `of` first exceeds `limit`, to one part in a thousand; `high` where it does not.
pub fn crossing(low: f64, high: f64, limit: f64, of: impl Fn(f64) -> f64) -> f64 {
    if of(high) <= limit {
        return high;
    }
    let (mut low, mut high) = (low, high);
    while high - low > 1e-3 * high.max(1.0) {
        let middle = 0.5 * (low + high);
        if of(middle) > limit { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regression_finds_the_coefficients_it_was_made_from() {
        let rows: Vec<Vec<f64>> = (0..40).map(|n| vec![f64::from(n), f64::from(n * n % 7), 1.0]).collect();
        let ys: Vec<f64> = rows.iter().map(|row| 3.0 * row[0] - 0.5 * row[1] + 7.0).collect();
        for (found, true_value) in regression(&rows, &ys).iter().zip([3.0, -0.5, 7.0]) {
            assert!((found - true_value).abs() < 1e-9, "{found} for {true_value}");
        }
    }

    #[test]
    fn a_scan_finds_the_greatest_of_as_many_counts_as_there_are_codewords() {
        let lot = Lot::open(&crate::bench::Setup { lot: LotSize { chips: 8, blocks: 8 }, ..typical_setup() })
            .unwrap_or_else(|error| panic!("{error}"));
        let condition = lot.aged(6_000.0, 3e7);
        let bits = lot.model.codeword_bits();
        let count = lot.model.physics().shape.wordlines_per_layer * lot.model.codewords() as u32;
        let (mut scans, mut singly) = (Vec::new(), Vec::new());
        for (chip, number) in (0..8).flat_map(|chip| (0..8).map(move |number| (chip, number))) {
            let block = lot.block(chip, number);
            let traits: Vec<Traits> = lot.traits(&block).into_iter().step_by(8).collect();
            scans.push(lot.scan(&block, &traits, &condition));
            assert_eq!(scans.last(), Some(&lot.scan(&block, &traits, &condition)), "the same block has the same luck");
            let of_layer = |(layer, traits): (u32, &Traits)| {
                let wordline = lot.model.wordline(traits, &condition);
                let rates = lot.rates(&wordline, &wordline.optimal());
                let pages = rates
                    .iter()
                    .zip(0u32..)
                    .flat_map(|(rate, page)| (0..count).map(move |codeword| (rate * bits, [chip * 8 + number, layer, page, codeword])));
                pages.map(|(mean, name)| lot.sample(mean, bits, name)).fold(0.0, f64::max)
            };
            singly.push((0u32..).zip(&traits).map(of_layer).fold(0.0, f64::max));
            let mean = lot.worst_wordline(&traits, &condition);
            assert!(scans.last().is_some_and(|worst| *worst > mean), "the worst of many is worse than the mean");
        }
        let apart = (mean(&scans) - mean(&singly)).abs() / (deviation(&scans) + deviation(&singly)) * 2.0;
        assert!(apart < 4.0 / 64f64.sqrt() * 2.0, "{} and one by one {}", mean(&scans), mean(&singly));
        assert!((deviation(&scans) / deviation(&singly) - 1.0).abs() < 0.5, "{} and {}", deviation(&scans), deviation(&singly));
    }

    fn typical_setup() -> Setup {
        Setup {
            chip: crate::CHIP.to_owned(),
            against: None,
            settings: Vec::new(),
            null: crate::bench::Null::default(),
            conditions: crate::protocol::Changes::new(),
            lot: LotSize { chips: 1, blocks: 1 },
            seed: 5,
            threads: 1,
            teller: crate::bench::Teller::default(),
        }
    }

    #[test]
    fn statistics_of_small_lists() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert!((rank_correlation(&[1.0, 2.0, 9.0], &[1.0, 4.0, 5.0]) - 1.0).abs() < 1e-12);
        assert!((crossing(0.0, 10.0, 4.0, |x| x * x) - 2.0).abs() < 0.01);
        assert_eq!(crossing(0.0, 1.0, 4.0, |x| x * x), 1.0);
    }
}
