//! Benches: measurements of virtual chips, each as the sources took it on real ones.
//!
//! A bench is code, a study is data. A bench knows no claim and no band: it gives named quantities with units, and the figures behind them.

use std::sync::Arc;

use wordline_pages::html::figure::Figure;

use crate::conditions::LotSize;
use crate::error::LabError;
use crate::lot::Lot;
pub use crate::null::Null;
use crate::protocol::{Changes, Protocol};

mod aged;
mod alike;
mod arithmetic;
mod bounded;
mod bursts;
mod conflicts;
mod copied;
mod copyback;
mod endurance;
mod erase;
mod followers;
pub(crate) mod guard;
mod height;
mod held_out;
mod hints;
mod ispp;
mod layers;
mod life;
mod locks;
mod longftl;
mod modes;
mod months;
mod paftl;
mod paths;
mod program;
mod quotas;
mod rcftl;
mod references;
mod reprogram;
mod retries;
mod sanitise;
mod sensitivity;
mod spared;
mod ssds;
mod stages;
mod told;
mod versions;

/// One quantity that a bench measures.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name of the metric within the bench.
    pub name: &'static str,
    /// Unit of the metric; "ratio", "share" and "count" are pure numbers.
    pub unit: &'static str,
    /// Meaning of the metric.
    pub meaning: &'static str,
}

/// The input of a bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Name of the chip.
    pub chip: String,
    /// Name of a second chip, for benches that compare.
    pub against: Option<String>,
    /// Settings on top of the chip files, such as `physics.wear.field=1.5`. No study has any.
    pub settings: Vec<String>,
    /// Null by which an effect is switched off. Benches apply it after all settings of their own.
    pub null: Null,
    /// Conditions that replace those of the benches' files.
    pub conditions: Changes,
    /// Number of chips and blocks.
    pub lot: LotSize,
    /// Seed of the lot.
    pub seed: u64,
    /// Number of threads to spread over; results do not depend on it.
    pub threads: usize,
    /// Receiver of the progress of a long bench.
    pub teller: Teller,
}

/// Receiver of the progress of a long bench; by default, there is none.
#[derive(Clone, Default)]
pub struct Teller(Option<Arc<Hear>>);

type Hear = dyn Fn(&str) + Send + Sync;

impl Teller {
    /// A teller that calls `hear`, on any thread.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Teller {
        Teller(Some(Arc::new(hear)))
    }

    /// Reports progress.
    pub fn tell(&self, text: &str) {
        if let Some(hear) = &self.0 {
            hear(text);
        }
    }
}

impl std::fmt::Debug for Teller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "somebody" } else { "nobody" })
    }
}

/// Tellers are all equal, because they change nothing about what a bench finds.
impl PartialEq for Teller {
    fn eq(&self, _: &Teller) -> bool {
        true
    }
}

/// The results of a bench.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Values of metrics by name. A metric that is missing could not be measured.
    pub values: Vec<(&'static str, f64)>,
    /// The figures behind the values.
    pub figures: Vec<Figure>,
    /// Quantities of single blocks, and of the typical wordline.
    pub blocks: Vec<OfBlock>,
}

/// A quantity of one block of a lot, or of the wordline that is typical of its chips.
#[derive(Clone, Debug, PartialEq)]
pub struct OfBlock {
    /// Chip of the lot, and block of the chip; `None`: the typical wordline.
    pub place: Option<(u32, u32)>,
    /// Name of the quantity, with its unit.
    pub quantity: String,
    /// Value of the quantity.
    pub value: f64,
}

impl Findings {
    /// Records one quantity.
    pub fn set(&mut self, name: &'static str, value: f64) {
        debug_assert!(self.get(name).is_none(), "{name} is measured once");
        self.values.push((name, value));
    }

    /// Records `quantity` of each block of `lot`, with the `values` in the lot's order.
    pub(crate) fn of_blocks(&mut self, lot: &Lot, quantity: &str, values: impl IntoIterator<Item = f64>) {
        let row = |(index, value): (usize, f64)| {
            let place = (index as u32 / lot.size.blocks, index as u32 % lot.size.blocks);
            OfBlock { place: Some(place), quantity: quantity.to_owned(), value }
        };
        self.blocks.extend(values.into_iter().enumerate().map(row));
    }

    /// Records `quantity` of the typical wordline.
    pub(crate) fn of_typical(&mut self, quantity: String, value: f64) {
        self.blocks.push(OfBlock { place: None, quantity, value });
    }

    /// Records `quantity` of the first block of the first chip.
    pub(crate) fn of_first(&mut self, quantity: String, value: f64) {
        self.blocks.push(OfBlock { place: Some((0, 0)), quantity, value });
    }

    /// The value measured under this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// The subject of a bench: chips or drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Virtual chips of a lot.
    Chips,
    /// Lots of two chips that the bench compares.
    TwoChips,
    /// Whole drives under a workload, which takes minutes.
    Drives,
}

/// A bench: code that measures metrics under conditions.
pub struct Bench {
    /// Name of the bench.
    pub name: &'static str,
    /// One line on what the bench does.
    pub summary: &'static str,
    /// Metrics that the bench measures.
    pub metrics: &'static [Metric],
    /// Subject that the bench measures on.
    pub on: On,
    /// Conditions that the bench measures at.
    pub conditions: Protocol,
    /// The function that measures.
    pub run: fn(&Setup) -> Result<Findings, LabError>,
}

impl Bench {
    /// A metric's name with the bench's.
    pub fn full(&self, metric: &Metric) -> String {
        format!("{}.{}", self.name, metric.name)
    }
}

/// All benches.
pub const BENCHES: &[Bench] = &[
    arithmetic::BENCH,
    layers::BENCH,
    ispp::BENCH,
    program::BENCH,
    erase::BENCH,
    guard::BENCH,
    height::BENCH,
    held_out::BENCH,
    life::BENCH,
    references::BENCH,
    retries::BENCH,
    copyback::BENCH,
    reprogram::BENCH,
    crate::margins::LEADERS,
    locks::BENCH,
    paths::BENCH,
    sanitise::BENCH,
    alike::BENCH,
    followers::BENCH,
    bursts::BENCH,
    sensitivity::BENCH,
    versions::BENCH,
    aged::BENCH,
    bounded::BENCH,
    copied::BENCH,
    endurance::BENCH,
    rcftl::BENCH,
    longftl::BENCH,
    months::BENCH,
    hints::BENCH,
    ssds::BENCH,
    spared::BENCH,
    modes::BENCH,
    quotas::BENCH,
    told::BENCH,
    conflicts::BENCH,
    paftl::BENCH,
];

/// The bench and metric that `bench.metric` names.
pub fn metric(full: &str) -> Option<(&'static Bench, &'static Metric)> {
    let (bench, name) = full.split_once('.')?;
    let bench = BENCHES.iter().find(|known| known.name == bench)?;
    bench.metrics.iter().find(|metric| metric.name == name).map(|metric| (bench, metric))
}

/// The conditions that a study can change: those of the lot, and those of each bench.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> + Clone {
    const LOT: Protocol = crate::lot::PROTOCOL;
    std::iter::once(&LOT).chain(BENCHES.iter().map(|bench| &bench.conditions)).filter(|protocol| !protocol.keys.is_empty())
}

/// The bench of this name.
///
/// # Errors
///
/// There is none; says the nearest.
pub fn bench(name: &str) -> Result<&'static Bench, LabError> {
    BENCHES.iter().find(|bench| bench.name == name).ok_or_else(|| LabError::unknown("bench", name, BENCHES.iter().map(|bench| bench.name)))
}

pub use references::states_figure;

/// A metric from its fields: shorthand for the tables of metrics.
pub(crate) const fn metric_of(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, meaning }
}
pub(crate) use metric_of as m;
