//! Jobs that wait for others, as phases of jobs that start at the same time.

use super::given::fault;
use super::job::{Job, Waits};
use super::lines::Fault;

/// The numbers of the jobs of each phase, in order, without those that ask no drive for anything.
///
/// # Errors
/// A job waits for one that is not there.
pub(super) fn phases(jobs: &[Job<'_>]) -> Result<Vec<Vec<usize>>, Fault> {
    let mut phases: Vec<Vec<usize>> = vec![Vec::new()];
    // Jobs that wait for nothing start with the last one that waited for all before it.
    let mut base = 0;
    let mut late = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let place = match job.waits() {
            Waits::No => base,
            Waits::ForAll => {
                base = if number == 0 { 0 } else { phases.len() };
                base
            }
            Waits::For(entry) => {
                let awaited = phases.iter().position(|phase| phase.iter().any(|other| jobs[*other].name() == entry.value()));
                let awaited = awaited.ok_or_else(|| fault(entry, format!("no job '{}' stands before this one", entry.value())))?;
                let place = base.max(awaited + 1);
                if place > base {
                    late.push((place, entry));
                }
                place
            }
        };
        if place == phases.len() {
            phases.push(Vec::new());
        }
        phases[place].push(number);
    }
    for (place, entry) in late {
        if phases[place - 1].iter().any(|other| jobs[*other].name() != entry.value()) {
            entry.refuse("a job that waits for some of those at the same time has no counterpart: a phase begins when all of the one before have ended");
        }
    }
    phases.iter_mut().for_each(|phase| phase.retain(|job| !jobs[*job].is_idle()));
    phases.retain(|phase| !phase.is_empty());
    Ok(phases)
}
