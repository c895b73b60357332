//! Drives against a baseline, paired over seeds.
//!
//! Two drives that ran on the same seed saw the same requests, so the ratio of their figures carries less noise than the figures. The
//! mean is geometric, because a ratio of 2 and a ratio of ½ cancel; the interval is Student's t over the logarithms of the ratios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chance;
use crate::result::{DriveResult, names};

/// Every drive against the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The drive that the others are divided by.
    pub baseline: String,
    /// The seeds that all drives ran on.
    pub seeds: Vec<u64>,
    /// How the intervals came about, or why there are none.
    pub method: String,
    /// One entry per figure and drive, figures in the order of the table.
    pub ratios: Vec<Ratio>,
    /// The same for each phase of the workload, in order; absent where it has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseComparison>,
}

/// Every drive against the first one, in one phase of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseComparison {
    /// The phase.
    pub phase: String,
    /// One entry per figure that phases have and drive.
    pub ratios: Vec<Ratio>,
}

/// One figure of one drive over the same figure of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The figure, as a path into an entry of `drives`.
    pub figure: String,
    /// The figure's name for people.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The drive.
    pub drive: String,
    /// The figure itself, as its arithmetic mean over the seeds; 0 where there was nothing to measure.
    pub value: f64,
    /// The geometric mean of the ratio over the seeds; null where a figure is zero.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % confidence interval; null with one seed.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Chance of a ratio at least as far from 1 where nothing differs, by Student's t on both sides; null with one seed, and where the drives began
    /// differently.
    #[serde(default)]
    pub p: Option<f64>,
    /// Whether the ratio differs from 1 with all intervals of the report taken together, by Holm's procedure: where nothing differs, the chance that any at
    /// all is said to is at most 5 %.
    #[serde(default)]
    pub together: bool,
    /// Whether this drive or the baseline failed requests with any of the seeds, so that the figure is of what was left of the load.
    #[serde(default)]
    pub failed: bool,
    /// True if the two drives began differently, so that the ratio is not of the drives alone. Absent where they began alike.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlike: bool,
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It depends.
    Neither,
}

/// A figure of comparison tables.
pub struct Figure {
    /// Path into an entry of `drives`.
    pub path: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Unit of the value; empty for ratios.
    pub unit: &'static str,
    /// Direction that is better.
    pub better: Better,
    /// Value of a run; `None`: there is none.
    pub of: fn(&DriveResult) -> Option<f64>,
}

macro_rules! figures {
    ($($path:literal, $label:literal, $unit:literal, $better:ident, |$drive:ident| $of:expr;)*) => {
        &[$(Figure { path: $path, label: $label, unit: $unit, better: Better::$better, of: |$drive| $of },)*]
    };
}

fn seen(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// The figures of comparison tables. A figure that no drive has does not appear.
pub const FIGURES: &[Figure] = figures![
    "host.failed", "requests failed", "requests", Lower, |drive| seen(drive.host.failed as f64);
    "worn_out_seconds", "worn out after", "s", Higher, |drive| drive.worn_out_seconds;
    "host.read_blank_bytes", "read, but never written", "B", Neither, |drive| seen(drive.host.read_blank_bytes as f64);
    "host.iops", "IOPS", "1/s", Higher, |drive| seen(drive.host.iops);
    "host.read_mib_s", "read bandwidth", "MiB/s", Higher, |drive| seen(drive.host.read_mib_s);
    "host.write_mib_s", "write bandwidth", "MiB/s", Higher, |drive| seen(drive.host.write_mib_s);
    "latency_us.read.mean", "read latency, mean", "us", Lower, |drive| drive.latency_us.read.as_ref().map(|latency| latency.mean);
    "latency_us.read.p50", "read latency, p50", "us", Lower, |drive| drive.latency_us.read.as_ref().map(|latency| latency.p50);
    "latency_us.read.p99", "read latency, p99", "us", Lower, |drive| drive.latency_us.read.as_ref().map(|latency| latency.p99);
    "latency_us.read.p999", "read latency, p99.9", "us", Lower, |drive| drive.latency_us.read.as_ref().map(|latency| latency.p999);
    "latency_us.read.p9999", "read latency, p99.99", "us", Lower, |drive| drive.latency_us.read.as_ref().map(|latency| latency.p9999);
    "latency_us.write.mean", "write latency, mean", "us", Lower, |drive| drive.latency_us.write.as_ref().map(|latency| latency.mean);
    "latency_us.write.p50", "write latency, p50", "us", Lower, |drive| drive.latency_us.write.as_ref().map(|latency| latency.p50);
    "latency_us.write.p99", "write latency, p99", "us", Lower, |drive| drive.latency_us.write.as_ref().map(|latency| latency.p99);
    "latency_us.write.p999", "write latency, p99.9", "us", Lower, |drive| drive.latency_us.write.as_ref().map(|latency| latency.p999);
    "latency_us.write.p9999", "write latency, p99.99", "us", Lower, |drive| drive.latency_us.write.as_ref().map(|latency| latency.p9999);
    "latency_us.trim.mean", "trim latency, mean", "us", Lower, |drive| drive.latency_us.trim.as_ref().map(|latency| latency.mean);
    "longest_silence_us", "longest silence", "us", Lower, |drive| drive.longest_silence_us.and_then(seen);
    "waf.total", "write amplification", "", Lower, |drive| drive.waf.total;
    "waf.gc", "  of it gc", "", Lower, |drive| drive.waf.gc.and_then(seen);
    "waf.sanitise", "  of it sanitising", "", Lower, |drive| drive.waf.sanitise;
    "waf.keys", "  of it keys", "", Lower, |drive| drive.waf.keys;
    "erases", "erases", "block groups", Lower, |drive| seen(drive.erases as f64);
    "sanitised.page_locks", "page locks", "operations", Lower, |drive| drive.sanitised.as_ref().and_then(|done| seen(done.page_locks as f64));
    "sanitised.block_locks", "block locks", "operations", Lower, |drive| drive.sanitised.as_ref().and_then(|done| seen(done.block_locks as f64));
    "sanitised.scrubs", "scrubs", "operations", Lower, |drive| drive.sanitised.as_ref().and_then(|done| seen(done.scrubs as f64));
    "sanitised.reprograms", "reprogrammed pages", "operations", Lower, |drive| drive.sanitised.as_ref().and_then(|done| seen(done.reprograms as f64));
    "wordlines.leaders.program_us", "t_PROG of leaders", "us", Lower, |drive| drive.wordlines.as_ref().and_then(|lines| lines.leaders.program_us);
    "wordlines.followers.program_us", "t_PROG of followers", "us", Lower, |drive| drive.wordlines.as_ref().and_then(|lines| lines.followers.program_us);
    "programmed_again", "programmed again", "programs", Lower, |drive| seen(drive.programmed_again as f64);
    "lost_units", "units lost", "mapping units", Lower, |drive| seen(drive.lost_units as f64);
    "pages_programmed", "pages programmed", "flash pages", Lower, |drive| seen(drive.pages_programmed as f64);
    "pages_read", "pages read", "flash pages", Lower, |drive| seen(drive.pages_read as f64);
    "read_errors.retries_mean", "read retries", "per read", Lower, |drive| drive.read_errors.as_ref().and_then(|errors| seen(errors.retries_mean));
    "utilisation.die", "die arrays busy", "", Neither, |drive| seen(drive.utilisation.die);
    "utilisation.die_with_transfers", "dies busy with transfers", "", Neither, |drive| seen(drive.utilisation.die_with_transfers);
    "utilisation.channel", "channel utilisation", "", Neither, |drive| seen(drive.utilisation.channel);
    "simulated_seconds", "simulated time", "s", Neither, |drive| seen(drive.simulated_seconds);
];

impl Comparison {
    /// Every drive against the first; `None` unless there are at least two drives (by name) with a seed in common.
    pub fn new(drives: &[DriveResult]) -> Option<Comparison> {
        let names = names(drives);
        if names.len() < 2 {
            return None;
        }
        let run = |name: &str, seed: u64| drives.iter().find(|drive| drive.name == name && drive.seed == seed);
        let mut seeds: Vec<u64> = Vec::new();
        for drive in drives {
            if !seeds.contains(&drive.seed) && names.iter().all(|name| run(name, drive.seed).is_some()) {
                seeds.push(drive.seed);
            }
        }
        if seeds.is_empty() {
            return None;
        }
        let mut ratios = Vec::new();
        let failed: Vec<&str> = drives.iter().filter(|drive| drive.host.failed > 0).map(|drive| drive.name.as_str()).collect();
        for figure in FIGURES {
            let values = |name: &str| -> Vec<Option<f64>> { seeds.iter().map(|seed| run(name, *seed).and_then(figure.of)).collect() };
            let base = values(names[0]);
            if names.iter().all(|name| values(name).iter().all(Option::is_none)) {
                continue;
            }
            for name in &names {
                let failed = failed.contains(name) || failed.contains(&names[0]);
                ratios.push(Ratio { failed, ..Ratio::new(figure, name, &values(name), &base) });
            }
        }
        let method = match seeds.len() {
            1 => "One seed: ratios carry no confidence interval; use several seeds to get one".to_owned(),
            n => format!("Geometric mean over {n} seeds, paired by seed; 95 % interval from Student's t over the logarithms of the ratios"),
        };
        let phases = phases(drives, names[0]);
        Some(Comparison { baseline: names[0].to_owned(), seeds, method, ratios, phases })
    }

    /// The ratios of all drives but the first, those of each phase, too.
    pub fn of_others(&self) -> impl Iterator<Item = &Ratio> {
        self.ratios.iter().chain(self.phases.iter().flat_map(|phase| &phase.ratios)).filter(|ratio| ratio.drive != self.baseline)
    }

    /// The same, to be changed.
    pub fn of_others_mut(&mut self) -> impl Iterator<Item = &mut Ratio> {
        let all = self.ratios.iter_mut().chain(self.phases.iter_mut().flat_map(|phase| &mut phase.ratios));
        all.filter(|ratio| ratio.drive != self.baseline)
    }

    /// The comparison of one phase by itself.
    pub fn in_phase(&self, phase: &PhaseComparison) -> Comparison {
        Comparison { ratios: phase.ratios.clone(), phases: Vec::new(), ..self.clone() }
    }

    /// The entry of one figure and drive.
    pub fn find(&self, figure: &str, drive: &str) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.figure == figure && ratio.drive == drive)
    }
}

/// The drives of one workload phase by phase, where all of them went through the same ones.
fn phases(drives: &[DriveResult], baseline: &str) -> Vec<PhaseComparison> {
    let of = |drive: &DriveResult| drive.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>();
    let names = drives.first().map(of).unwrap_or_default();
    if !drives.iter().all(|drive| of(drive) == names) {
        return Vec::new();
    }
    let compared = |(number, name): (usize, &String)| {
        let only: Vec<DriveResult> = drives.iter().map(|drive| drive.in_phase(&drive.phases[number])).collect();
        let Comparison { ratios, .. } = Comparison::new(&only)?;
        debug_assert!(ratios.first().is_none_or(|ratio| ratio.drive == baseline), "the first drive stays the first");
        Some(PhaseComparison { phase: name.clone(), ratios })
    };
    names.iter().enumerate().filter_map(compared).collect()
}

impl Ratio {
    fn new(figure: &Figure, drive: &str, values: &[Option<f64>], base: &[Option<f64>]) -> Ratio {
        // What did not happen took no time that could be in a mean; of what is counted, there was none.
        let known: Vec<f64> = match figure.unit {
            "us" | "s" => values.iter().copied().flatten().collect(),
            _ => values.iter().map(|value| value.unwrap_or(0.0)).collect(),
        };
        let pairs: Option<Vec<f64>> =
            values.iter().zip(base).map(|(value, base)| Some(libm::log(seen((*value)?)? / seen((*base)?)?))).collect();
        let spread = pairs.as_deref().map(chance::interval);
        Ratio {
            figure: figure.path.to_owned(),
            label: figure.label.trim().to_owned(),
            unit: figure.unit.to_owned(),
            better: figure.better,
            drive: drive.to_owned(),
            value: known.iter().sum::<f64>() / known.len().max(1) as f64,
            ratio: spread.map(|(mean, _)| libm::exp(mean)),
            low: spread.and_then(|(mean, half)| Some(libm::exp(mean - half?))),
            high: spread.and_then(|(mean, half)| Some(libm::exp(mean + half?))),
            p: pairs.as_deref().and_then(chance::of_no_difference),
            together: false,
            failed: false,
            unlike: false,
        }
    }

    /// Whether a ratio is good news, as far as one can tell: `None` where the interval holds 1, or where neither way is better. What is left of a load of which
    /// part failed is never good news, and of drives that began differently nothing is any news.
    pub fn verdict(&self) -> Option<bool> {
        self.direction().filter(|is_better| !(self.unlike || self.failed && *is_better))
    }

    fn direction(&self) -> Option<bool> {
        let mean = self.ratio?;
        let (low, high) = (self.low.unwrap_or(mean), self.high.unwrap_or(mean));
        // Without an interval, a difference that would not show in the table is none.
        let (low, high) = if self.low.is_none() { (low - 5e-4, high + 5e-4) } else { (low, high) };
        let greater = if low > 1.0 {
            true
        } else if high < 1.0 {
            false
        } else {
            return None;
        };
        match self.better {
            Better::Higher => Some(greater),
            Better::Lower => Some(!greater),
            Better::Neither => None,
        }
    }
}
