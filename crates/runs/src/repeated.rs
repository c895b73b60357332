//! Part of a workload that goes on without end, under which a drive is worn out.

use wordline_workload::spec::{Arrival, Limit};
use wordline_workload::{FileOptions, PhaseSpec, WorkloadSpec};

use crate::error::RunError;
use crate::workload::Workload;

/// Capacities that a workload of files writes where it has no end.
const ENDLESS: f64 = 1e9;

/// A workload without end.
#[derive(Clone, Debug)]
pub struct Repeated {
    workload: Workload,
    told: String,
}

impl Repeated {
    /// `workload` without end: its last phase that writes goes on for ever, files are written for ever, and a trace begins again.
    ///
    /// Phases before that one come once at the beginning, if they write and end without a clock, which a life has none of.
    ///
    /// # Errors
    ///
    /// It writes nothing, or it has jobs.
    pub fn of(workload: &Workload) -> Result<Repeated, RunError> {
        match workload {
            Workload::Made(spec) => Repeated::of_phases(spec),
            Workload::Jobs(spec) => Err(RunError::LifeOfJobs(spec.name.clone())),
            Workload::Filed(spec, changed) => {
                let changed = FileOptions { length: Some(ENDLESS), ..*changed };
                Ok(Repeated { workload: Workload::Filed(spec.clone(), changed), told: "its files without end".to_owned() })
            }
            Workload::Traced(traced) if traced.writes() => {
                Ok(Repeated { workload: workload.clone(), told: "the trace over and over".to_owned() })
            }
            Workload::Traced(traced) => Err(RunError::NothingWritten(traced.name())),
        }
    }

    fn of_phases(spec: &WorkloadSpec) -> Result<Repeated, RunError> {
        let mut spec = spec.clone();
        let count = spec.phases.len();
        let last = spec.phases.iter().rposition(writes).ok_or_else(|| RunError::NothingWritten(spec.name.clone()))?;
        let mut left_out = names(spec.phases.iter().enumerate().filter(|(at, phase)| *at != last && !writes(phase)));
        let timed = names(spec.phases.iter().enumerate().filter(|(at, phase)| *at < last && writes(phase) && !ends_by_itself(phase)));
        spec.phases.truncate(last + 1);
        spec.phases[last].limit = Limit::none();
        let mut at = 0;
        spec.phases.retain(|phase| {
            at += 1;
            at > last || (writes(phase) && ends_by_itself(phase))
        });
        let once = names(spec.phases.iter().enumerate().take(spec.phases.len() - 1));
        let mut told = format!("phase '{}' without end", spec.phases.last().expect("it writes").name);
        if count > 1 {
            told = format!("{told}, the last of {count} that writes");
        }
        if !once.is_empty() {
            told = format!("{told}; once before it: {}", once.join(", "));
        }
        left_out.iter_mut().for_each(|name| name.push_str(" (writes nothing)"));
        left_out.extend(timed.into_iter().map(|name| format!("{name} (ends by a clock)")));
        if !left_out.is_empty() {
            told = format!("{told}; left out: {}", left_out.join(", "));
        }
        Ok(Repeated { workload: Workload::Made(spec), told })
    }

    /// The workload.
    pub(crate) fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Sentence on the part of the workload that is without end, and on the parts that are left out.
    pub fn told(&self) -> &str {
        &self.told
    }
}

fn names<'a>(phases: impl Iterator<Item = (usize, &'a PhaseSpec)>) -> Vec<String> {
    phases.map(|(_, phase)| format!("'{}'", phase.name)).collect()
}

fn writes(phase: &PhaseSpec) -> bool {
    phase.mix.write > 0.0
}

/// True if a phase ends without a clock. Requests of an open loop have times of their own.
fn ends_by_itself(phase: &PhaseSpec) -> bool {
    let Limit { requests, bytes, .. } = phase.limit;
    requests.is_some() || bytes.is_some() || matches!(phase.arrival, Arrival::Open { .. })
}

#[cfg(test)]
mod tests {
    use wordline_units::Nanos;
    use wordline_workload::spec::{Arrival, Mix, Rate};

    use super::*;

    fn phase(name: &str, write: f64, limit: Limit) -> PhaseSpec {
        PhaseSpec { mix: Mix::reads(1.0 - write), ..PhaseSpec::new(name, limit) }
    }

    fn of(phases: Vec<PhaseSpec>) -> Result<Repeated, RunError> {
        let spec = WorkloadSpec { name: "made".to_owned(), purpose: String::new(), phases };
        Repeated::of(&Workload::Made(spec))
    }

    fn some() -> Limit {
        Limit { requests: Some(10), ..Limit::default() }
    }

    #[test]
    fn the_last_phase_that_writes_goes_on_and_what_is_left_out_is_told() {
        let by_time = Limit { time: Some(Nanos(1)), ..Limit::default() };
        let phases =
            vec![phase("fill", 1.0, some()), phase("timed", 1.0, by_time), phase("storm", 0.5, some()), phase("read", 0.0, some())];
        let repeated = of(phases).expect("it writes");
        let told = "phase 'storm' without end, the last of 4 that writes; once before it: 'fill'; left out: 'read' (writes nothing), \
                    'timed' (ends by a clock)";
        assert_eq!(repeated.told(), told);
        let Workload::Made(spec) = repeated.workload() else { panic!("it has phases") };
        let left: Vec<(&str, bool)> = spec.phases.iter().map(|phase| (phase.name.as_str(), phase.limit == Limit::none())).collect();
        assert_eq!(left, [("fill", false), ("storm", true)]);
    }

    #[test]
    fn one_phase_is_told_without_its_place_and_an_open_loop_ends_by_its_own_times() {
        assert_eq!(of(vec![phase("write", 1.0, some())]).expect("it writes").told(), "phase 'write' without end");
        let mut open = phase("open", 1.0, Limit { time: Some(Nanos(1)), ..Limit::default() });
        open.arrival = Arrival::Open { rate: Rate::PerSecond(1.0), process: Default::default(), burst: None };
        let told = of(vec![open, phase("write", 1.0, some())]).expect("it writes").told().to_owned();
        assert_eq!(told, "phase 'write' without end, the last of 2 that writes; once before it: 'open'");
    }

    #[test]
    fn a_workload_of_which_no_phase_writes_is_refused() {
        let refused = of(vec![phase("read", 0.0, some()), phase("more", 0.0, some())]);
        assert!(matches!(refused, Err(RunError::NothingWritten(name)) if name == "made"));
    }
}
