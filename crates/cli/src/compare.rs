//! `wordline compare`: several drives, several seeds, all cores.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_plan::Plan;
use wordline_report::{Comparison, Report, text};

use crate::args::{CompareOptions, OutputOptions};
use crate::failure::Failure;
use crate::input::Workload;
use crate::progress::Board;
use crate::run;
use crate::simulate::{Job, Outcome};

/// Where the page goes when nobody says where.
const PAGE: &str = "wordline-compare.html";

pub(crate) fn compare(options: &CompareOptions) -> Result<(), Failure> {
    let output = OutputOptions { html: Some(options.output.html.clone().unwrap_or_else(|| PathBuf::from(PAGE))), ..options.output.clone() };
    let plans: Vec<Plan> = options.drives.iter().map(|name| Ok(options.options.load(name, &[])?.0)).collect::<Result<_, Failure>>()?;
    let twice = options.drives.iter().enumerate().find(|(index, name)| options.drives[..*index].contains(name));
    if let Some((_, name)) = twice {
        return Err(Failure::Usage(format!("drive '{name}' is named twice; compare it with another one")));
    }
    let workload = Workload::load(&options.load)?;
    run::check_places(&output)?;

    // The seeds are the same for every drive: what the generators draw for one they draw for all.
    let first = plans[0].seed();
    let jobs: Vec<Plan> =
        plans.iter().flat_map(|plan| (0..options.seeds).map(|number| plan.clone().with_seed(first.wrapping_add(number)))).collect();
    let outcomes = run_all(&jobs, options, &output, &workload)?;

    let mut details = Vec::new();
    let mut results = Vec::new();
    for (index, outcome) in outcomes.into_iter().enumerate() {
        results.push(outcome.result);
        // The charts show each drive's first seed.
        if (index as u64).is_multiple_of(options.seeds) {
            details.push(outcome.detail);
        }
    }
    let mut report = Report::new(results);
    report.comparison = Comparison::new(&report.drives);
    let shown = text::compare(&report);
    run::write(&output, &report, &details, &shown)
}

/// Make all runs, as many at a time as there are cores. Each is a world of its own, so their number changes nothing but the time.
fn run_all(jobs: &[Plan], options: &CompareOptions, output: &OutputOptions, workload: &Workload) -> Result<Vec<Outcome>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.map_or(cores, |threads| threads as usize).min(jobs.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<Outcome, Failure>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let board = Board::new(output.quiet);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, plan)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, jobs.get(index)?)))
                {
                    let requests =
                        output.parquet.as_ref().map(|folder| folder.join(format!("requests-{}-{}.parquet", plan.name(), plan.seed())));
                    let job = Job { plan, workload, load: &options.load, requests, image: None, vertrace: None, save: None };
                    let outcome = job.run(board.line(&format!("{} seed {}", plan.name(), plan.seed())));
                    done.lock().expect("no run panicked")[index] = Some(outcome);
                }
            });
        }
    });
    done.into_inner().expect("no run panicked").into_iter().map(|outcome| outcome.expect("every job was run")).collect()
}
