//! A whole fit: searched, rounded to its digits, judged, and tested on P/E counts it was kept from seeing.

use super::chip_file::rounded;
use super::digest::Digest;
use super::judge::{Summary, Verdict, judge};
use super::parameters::Subject;
use super::predict::{Predictor, Voltage};
use super::search::{Once, Task};

/// The outcome of a fit.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The fitted chip.
    pub subject: Subject,
    /// Conversion of steps to millivolts.
    pub voltage: Voltage,
    /// P/E counts held out of the fit.
    pub held_out: Vec<u32>,
    /// Verdicts on every condition of the file.
    pub verdicts: Vec<Verdict>,
    /// For each P/E count, how a fit to all others meets it. Empty where that was not asked for.
    pub left_out: Vec<(u32, Summary)>,
    /// For each retention index, how a fit that saw it at one P/E count meets it at the others. Empty where that was not asked for.
    pub left_once: Vec<(Once, Summary)>,
    /// Verdicts on another file of the same kind of chip, which the fit never saw. Empty if there is none.
    pub against: Vec<Verdict>,
    /// Predictions for P/E counts between and beyond those measured: P/E, and for each retention index its misreads, mean of all boundaries.
    pub course: Vec<(u32, Vec<f64>)>,
}

impl Outcome {
    /// Searches, rounds and judges. `None`: the subject found makes no chip, which happens only with histograms of something else than states of a cell.
    pub fn of(task: &Task<'_>, leave_one_out: bool, against: Option<&Digest>) -> Option<Outcome> {
        let subject = rounded(task.search().0);
        let verdicts = judge(task.digest, &subject, task.voltage, &|pe| task.held_out.contains(&pe))?;
        let mut left_out = Vec::new();
        let seen: Vec<u32> = task.digest.pe().into_iter().filter(|pe| !task.held_out.contains(pe)).collect();
        // A law of growth needs three counts.
        if leave_one_out && seen.len() > 3 {
            for &pe in &seen {
                let held_out: Vec<u32> = task.held_out.iter().copied().chain([pe]).collect();
                let without = rounded(Task { held_out: &held_out, ..task.clone() }.search().0);
                let verdicts = judge(task.digest, &without, task.voltage, &|_| true)?;
                left_out.push((pe, Summary::of(verdicts.iter().filter(|verdict| verdict.pe == pe))));
            }
        }
        let mut left_once = Vec::new();
        if leave_one_out && seen.len() > 3 {
            // In the middle of life: neither where nothing is lost yet nor at the end.
            let pe = seen[seen.len() / 2];
            for retention in task.digest.retentions() {
                let once = Once { retention, pe };
                let without = rounded(Task { once: Some(once), ..task.clone() }.search().0);
                let verdicts = judge(task.digest, &without, task.voltage, &|_| true)?;
                let hidden = verdicts.iter().filter(|verdict| once.hides(verdict.retention, verdict.pe) && seen.contains(&verdict.pe));
                left_once.push((once, Summary::of(hidden)));
            }
        }
        let against = match against {
            Some(other) => judge(other, &subject, task.voltage, &|_| true)?,
            None => Vec::new(),
        };
        let course = course(task.digest, &subject, task.voltage)?;
        Some(Outcome { subject, voltage: task.voltage, held_out: task.held_out.to_vec(), verdicts, left_out, left_once, against, course })
    }

    /// Summary of the conditions the fit saw.
    pub fn fitted(&self) -> Summary {
        Summary::of(self.verdicts.iter().filter(|verdict| !verdict.held_out))
    }

    /// Summary of the conditions the fit did not see.
    pub fn held(&self) -> Summary {
        Summary::of(self.verdicts.iter().filter(|verdict| verdict.held_out))
    }

    /// Text of the residual, as the chip file's sources tell it.
    pub fn residual(&self) -> String {
        let fitted = self.fitted();
        format!(
            "residual {:.2} steps of {:.2} mV in the medians, {:.2} at 0.1 % and 99.9 %, misreads within a factor of {:.2}",
            fitted.median_rms, self.voltage.step, fitted.tail_rms, fitted.factor
        )
    }
}

/// Predicted misreads from fresh to a third more than was measured, in steps of a fortieth.
fn course(digest: &Digest, subject: &Subject, voltage: Voltage) -> Option<Vec<(u32, Vec<f64>)>> {
    let predictor = Predictor::new(subject)?;
    let most = digest.pe().last().copied().unwrap_or(0).max(1);
    let boundaries = digest.states - 1;
    let misreads = |pe: u32, place: usize| {
        let wordline = predictor.typical(pe, place);
        (0..boundaries).map(|boundary| super::judge::misread(&wordline, boundary, &digest.edges, voltage)).sum::<f64>() / boundaries as f64
    };
    let retentions = digest.retentions().len();
    let counts = (0..=53u32).map(|step| u32::try_from(u64::from(step) * u64::from(most) / 40).unwrap_or(u32::MAX));
    Some(counts.map(|pe| (pe, (0..retentions).map(|place| misreads(pe, place)).collect())).collect())
}
