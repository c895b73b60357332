//! Benches: what is measured on virtual chips, each as the sources measured it on real ones.
//!
//! A bench is code, a study is data. A bench knows no claim and no band: it gives named quantities with units, and the figures behind them.

use std::sync::Arc;

use wordline_report::html::figure::Figure;

use crate::conditions::LotSize;
use crate::error::LabError;
use crate::protocol::{Changes, Protocol};

mod alike;
mod arithmetic;
mod bursts;
mod copyback;
mod erase;
mod followers;
mod guard;
mod height;
mod held_out;
mod ispp;
mod layers;
mod life;
mod locks;
mod paths;
mod program;
mod references;
mod reprogram;
mod retries;
mod sanitise;
mod sensitivity;
mod versions;

/// One quantity that a bench measures.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name within the bench.
    pub name: &'static str,
    /// Its unit; "ratio", "share" and "count" are pure numbers.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

/// What a bench is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The chip.
    pub chip: String,
    /// A second chip, for benches that compare.
    pub against: Option<String>,
    /// Settings on top of the chip files, such as `physics.wear.field=1.5`. No study has any.
    pub settings: Vec<String>,
    /// Conditions that are not those of the benches' files.
    pub conditions: Changes,
    /// How many of them.
    pub lot: LotSize,
    /// The seed of the lot.
    pub seed: u64,
    /// Threads to spread over; results do not depend on it.
    pub threads: usize,
    /// Who hears how far a long bench is.
    pub teller: Teller,
}

/// Who hears how far a long bench is; by default, nobody.
#[derive(Clone, Default)]
pub struct Teller(Option<Arc<Hear>>);

type Hear = dyn Fn(&str) + Send + Sync;

impl Teller {
    /// `hear` is called, on any thread.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Teller {
        Teller(Some(Arc::new(hear)))
    }

    /// Says how far it is.
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

/// Who hears of a bench changes nothing about what it finds.
impl PartialEq for Teller {
    fn eq(&self, _: &Teller) -> bool {
        true
    }
}

/// What a bench found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Metrics by name. One that is missing could not be measured.
    pub values: Vec<(&'static str, f64)>,
    /// The figures behind them.
    pub figures: Vec<Figure>,
}

impl Findings {
    /// Records one quantity.
    pub fn set(&mut self, name: &'static str, value: f64) {
        debug_assert!(self.get(name).is_none(), "{name} is measured once");
        self.values.push((name, value));
    }

    /// What was measured under this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// What a bench measures on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Virtual chips of a lot.
    Chips,
    /// Lots of two chips, which it compares.
    TwoChips,
    /// Whole drives under a workload, which takes minutes.
    Drives,
}

/// A bench.
pub struct Bench {
    /// Its name.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// What it measures.
    pub metrics: &'static [Metric],
    /// What it measures on.
    pub on: On,
    /// What it measures at.
    pub conditions: Protocol,
    /// Measures.
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

/// Shorthand for the tables of metrics.
pub(crate) const fn metric_of(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, meaning }
}
pub(crate) use metric_of as m;
