//! Lives of several drives under one workload: what `wordline wear-out` has in common for loads that write and loads that only read.

use std::path::{Path, PathBuf};

use wordline_figures::{MadeBy, WorkloadName};
use wordline_plan::Plan;
use wordline_runs::wear_out::Passes;
use wordline_runs::{Progress, parallel};
use wordline_units::Nanos;
use wordline_workload::trace;

use crate::args::WearOutOptions;
use crate::command;
use crate::failure::Failure;
use crate::files;
use crate::life_time::LifeTime;
use crate::places::Places;
use crate::plans::Starts;
use crate::progress::{Board, Counter};

/// Drives whose lives are asked for, with names that results carry.
pub(crate) struct Lives {
    plans: Vec<Plan>,
    workload: WorkloadName,
    made_by: MadeBy,
    threads: usize,
    board: Board,
    /// Characters of the longest name of a drive.
    width: usize,
}

impl Lives {
    /// The drives that `options` name, once it is sure that their results can be written.
    pub(crate) fn of(options: &WearOutOptions) -> Result<Lives, Failure> {
        let names: Vec<String> = std::iter::once(&options.drive).chain(&options.against).cloned().collect();
        if let Some((at, name)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(Failure::Usage(format!("drive '{name}' is named twice (place {}); hold it against another one", at + 1)));
        }
        let plan_options = &options.options.plan;
        let plans = plan_options.shape.load_alike(&names, &plan_options.cells, Starts::Alike(options.load.fill.is_some()))?;
        let plans = plans.into_iter().map(|plan| options.options.seeded(plan)).collect::<Result<Vec<Plan>, Failure>>()?;
        let (workload, made_by) = (command::workload_name(&options.workload)?, command::made_by(&plans));
        let mut places = Places::reading(plans.iter().flat_map(Plan::files));
        places.read(trace::files(Path::new(&options.workload)));
        let json = options.json.as_deref().filter(|&name| name != "-").map(PathBuf::from);
        json.iter().try_for_each(|path| places.write(path))?;
        options.html.iter().try_for_each(|path| places.write_page(path))?;
        let threads = options.threads.map_or_else(parallel::cores, |threads| threads as usize);
        let width = plans.iter().map(|plan| plan.name().chars().count()).max().unwrap_or(0);
        Ok(Lives { plans, workload, made_by, threads, board: Board::new(options.quiet), width })
    }

    /// The drives.
    pub(crate) fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// The workload's name, and how the lives are made again.
    pub(crate) fn identity(&self) -> (WorkloadName, MadeBy) {
        (self.workload.clone(), self.made_by.clone())
    }

    /// The life of each drive by `live`, several at the same time, each in about so many `passes`.
    pub(crate) fn each<R: Send, E: Send>(
        &self,
        passes: Passes,
        live: impl Fn(&Plan, &mut dyn Progress) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, Failure>
    where
        Failure: From<E>,
    {
        parallel::try_map(self.threads, self.plans.len(), |index| {
            let (plan, width) = (&self.plans[index], self.width);
            let name = format!("{:width$}", plan.name());
            let mut line = Epochs { board: &self.board, name, counter: None, time: LifeTime::new(passes) };
            let life = live(plan, &mut line)?;
            line.finish();
            Ok::<R, Failure>(life)
        })
    }
}

/// Writes lives where `options` ask for them: as a page, as JSON and as text.
pub(crate) fn write(options: &WearOutOptions, page: impl Fn() -> String, json: &str, shown: impl Fn() -> String) -> Result<(), Failure> {
    if let Some(path) = &options.html {
        files::write(path, page().as_bytes())?;
    }
    match options.json.as_deref() {
        Some("-") => files::write_or_print("-", json.trim_end()),
        Some(path) => {
            files::write(Path::new(path), json.as_bytes())?;
            files::write_or_print("-", &shown())
        }
        None => files::write_or_print("-", &shown()),
    }
}

/// Progress of a life, in epochs.
struct Epochs<'a> {
    board: &'a Board,
    name: String,
    counter: Option<Counter>,
    time: LifeTime,
}

impl Epochs<'_> {
    fn finish(&mut self) {
        self.counter.take().iter().for_each(Counter::finish);
    }
}

impl Progress for Epochs<'_> {
    fn expect(&mut self, total: Option<u64>) {
        self.finish();
        self.time.begin();
        self.counter = total.map(|total| self.board.count(&self.name, "epochs", total));
    }

    fn update(&mut self, epochs: u64, now: Nanos, doing: &str) {
        let years = now.as_secs_f64() / (365.25 * 86_400.0);
        if let Some(counter) = &mut self.counter {
            self.time.at(epochs).iter().for_each(|estimate| counter.say(estimate));
            counter.at(epochs, &format!("{doing}, {years:.2} years"));
        }
    }

    fn say(&mut self, what: &str) {
        self.counter.iter().for_each(|counter| counter.say(what));
    }
}
