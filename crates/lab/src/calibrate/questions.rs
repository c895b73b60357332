//! Questions of a calibration: the readings of studies that decide claims, and the benches that measure them at each seed.

use wordline_runs::parallel;

use crate::band::Band;
use crate::bench::{Bench, On, Setup, metric};
use crate::claims::{Claim, Value};
use crate::conditions::LotSize;
use crate::error::LabError;
use crate::study::{Judgement, Study};

/// A reading that decides a claim.
#[derive(Clone, Debug)]
pub struct Question {
    /// Claim that is judged.
    pub claim: &'static Claim,
    /// Name of the study.
    pub study: String,
    /// The measured quantity, as `bench.metric`.
    pub metric: String,
    band: Band,
    /// Run of the reading for each seed.
    runs: Vec<usize>,
}

impl Question {
    /// The value of the claim that measured ones are drawn to; `None`: the band has one end.
    pub fn target(&self) -> Option<f64> {
        self.band.target(self.stated())
    }

    /// The band of the judgement.
    pub fn band(&self) -> &Band {
        &self.band
    }

    /// Distance of a measured value from the target, in half widths of the band. A value that cannot be measured is as far as any can be.
    pub fn residual(&self, measured: f64) -> f64 {
        if measured.is_finite() { self.band.residual(measured, self.stated()) } else { FARTHEST }
    }

    /// The value of the claim, where it is stated as such and not as a bound.
    fn stated(&self) -> Option<f64> {
        let is_value =
            matches!(self.claim.bound.as_str(), "exact" | "about" | "mean") && self.claim.unit.as_deref() == Some(self.band.unit());
        match self.claim.value {
            Some(Value::One(value)) if is_value => Some(value),
            _ => None,
        }
    }
}

/// Residual of a reading that cannot be measured.
const FARTHEST: f64 = 10.0;

/// A bench run that one reading or several need, without the settings of the chip.
struct Run {
    bench: &'static Bench,
    setup: Setup,
}

/// All questions of a calibration, at its seeds.
pub struct Questions {
    /// Readings in the order of their studies.
    pub all: Vec<Question>,
    /// Studies that were left out, each with the reason.
    pub left_out: Vec<(String, String)>,
    runs: Vec<Run>,
    seeds: usize,
}

impl Questions {
    /// The questions of the `studies` of chip `like`, put to `chip` at `seeds`, on lots of at most `lot`. Readings beside a row of record, and claims that
    /// cannot fail, are left out; nulls are not run.
    ///
    /// # Errors
    ///
    /// No reading is left.
    pub fn of(studies: &[Study], like: &str, chip: &str, seeds: &[u64], lot: Option<LotSize>) -> Result<Questions, LabError> {
        let mut questions = Questions { all: Vec::new(), left_out: Vec::new(), runs: Vec::new(), seeds: seeds.len() };
        let rows = studies.iter().flat_map(|study| &study.judge).filter(|judgement| judgement.row.is_some());
        let rows: Vec<&str> = rows.map(|judgement| judgement.claim.id.as_str()).collect();
        let decides = |judgement: &&Judgement| {
            let is_beside = judgement.row.is_none() && rows.contains(&judgement.claim.id.as_str());
            judgement.claim.cannot_fail.is_none() && !is_beside
        };
        for study in studies {
            if study.is_of_drives() {
                questions.left_out.push((study.id.clone(), "it measures drives".to_owned()));
            } else if study.chip != like {
                questions.left_out.push((study.id.clone(), format!("it is of chip {}", study.chip)));
            } else {
                study.judge.iter().filter(decides).for_each(|judgement| questions.ask(study, judgement, chip, seeds, lot));
            }
        }
        if questions.all.is_empty() {
            let of = studies.iter().map(|study| study.id.as_str()).collect::<Vec<_>>().join(", ");
            let help = "choose others with --studies, or the chip that they are of with --like";
            return Err(LabError::Usage(format!("no reading of these studies decides a claim about chip {like}: {of}\n  = help: {help}")));
        }
        Ok(questions)
    }

    fn ask(&mut self, study: &Study, judgement: &Judgement, chip: &str, seeds: &[u64], lot: Option<LotSize>) {
        let Some((bench, _)) = metric(&judgement.measured).filter(|(bench, _)| bench.on != On::Drives) else { return };
        let least = |size: LotSize, most: LotSize| LotSize { chips: size.chips.min(most.chips), blocks: size.blocks.min(most.blocks) };
        let place = |seed: &u64| {
            // A study with a seed of its own counts on from that, as with `reproduce --seeds`.
            let seed = study.seed.wrapping_add(seed.wrapping_sub(1));
            let size = lot.map_or(study.lot, |most| least(study.lot, most));
            let setup = Setup { chip: chip.to_owned(), lot: size, seed, ..study.setup(1) };
            self.runs.iter().position(|run| run.bench.name == bench.name && run.setup == setup).unwrap_or_else(|| {
                self.runs.push(Run { bench, setup });
                self.runs.len() - 1
            })
        };
        let runs = seeds.iter().map(place).collect();
        let (study, metric, band) = (study.id.clone(), judgement.measured.clone(), judgement.band.clone());
        self.all.push(Question { claim: judgement.claim, study, metric, band, runs });
    }

    /// Values of each question at each seed for chips with each of these lists of settings, or the error of a bench. `heard` is called after each bench.
    pub fn measure(&self, chips: &[Vec<String>], threads: usize, heard: &(dyn Fn(&str) + Sync)) -> Vec<Result<Vec<Vec<f64>>, LabError>> {
        let count = self.runs.len();
        let found = parallel::map(threads, chips.len() * count, |index| {
            let run = &self.runs[index % count];
            let found = (run.bench.run)(&Setup { settings: chips[index / count].clone(), ..run.setup.clone() });
            heard(run.bench.name);
            found.map(|findings| findings.values)
        });
        let mut found = found.into_iter();
        let of = |_: &Vec<String>| {
            let runs: Vec<_> = found.by_ref().take(count).collect();
            let runs: Vec<Vec<(&'static str, f64)>> = runs.into_iter().collect::<Result<_, _>>()?;
            Ok(self.all.iter().map(|question| question.values(&runs)).collect())
        };
        chips.iter().map(of).collect()
    }

    /// Number of bench runs that one chip takes.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Residuals of all questions at all seeds. Their squares sum to the mean over the seeds.
    pub fn residuals(&self, values: &[Vec<f64>]) -> Vec<f64> {
        let share = 1.0 / (self.seeds as f64).sqrt();
        let of =
            |(question, values): (&Question, &Vec<f64>)| values.iter().map(|value| share * question.residual(*value)).collect::<Vec<_>>();
        self.all.iter().zip(values).flat_map(of).collect()
    }
}

impl Question {
    /// The reading's value at each seed; not a number where it could not be measured.
    fn values(&self, runs: &[Vec<(&'static str, f64)>]) -> Vec<f64> {
        let name = self.metric.split_once('.').map_or("", |(_, name)| name);
        let value = |run: &usize| runs[*run].iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value);
        self.runs.iter().map(value).collect()
    }
}
