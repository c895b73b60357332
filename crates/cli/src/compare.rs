//! `wordline compare`: several drives on several workloads at several ages, several seeds, all cores.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_figures::{CellResult, DriveDetail, DriveResult, MadeBy, Report, Setting, WorkloadName};
use wordline_pages::phrases::failures;
use wordline_pages::text;
use wordline_plan::{Plan, unlike_starts};
use wordline_runs::compare::{Turn, turns};
use wordline_runs::{Job, Load, Workload, parallel};
use wordline_workload::{AnySpec, trace};

use crate::args::{CompareOptions, OutputOptions};
use crate::command;
use crate::failure::Failure;
use crate::load;
use crate::logs::LogFiles;
use crate::places::Places;
use crate::plans::raw_flash_note;
use crate::progress::{Board, Line, Parts};
use crate::run::{self, Tables};
use crate::sweep::{self, Sweep};

/// Where the page goes when nobody says where.
const PAGE: &str = "wordline-compare.html";

/// The drives at one age, and at one value of the key that is swept.
struct Aged {
    age: Option<String>,
    swept: Option<Setting>,
    plans: Vec<Plan>,
}

/// What a run leaves: its result, and what is drawn of it where it is drawn.
type Made = (DriveResult, Option<DriveDetail>);

/// One workload at one age, and the drives that go through it.
struct Cell<'a> {
    age: Option<String>,
    swept: Option<Setting>,
    name: &'a str,
    workload: &'a Workload,
    digest: &'a WorkloadName,
    plans: &'a [Plan],
    /// What its files are called by, where it is one of several.
    slug: String,
}

/// What all runs have in common.
struct Common<'a> {
    load: &'a Load,
    output: &'a OutputOptions,
    made_by: &'a MadeBy,
}

pub(crate) fn compare(options: &CompareOptions) -> Result<(), Failure> {
    let output = OutputOptions { html: Some(options.output.html.clone().unwrap_or_else(|| PathBuf::from(PAGE))), ..options.output.clone() };
    let aged = aged_plans(options)?;
    let names = split(&options.workload);
    let load = options.length.of(options.load.load()?)?;
    let workloads = load_workloads(&names, &load, options)?;
    load.check(workloads.iter().any(Workload::is_trace))?;
    let digests = names.iter().map(|name| command::workload_name(name)).collect::<Result<Vec<WorkloadName>, Failure>>()?;
    let made_by = command::made_by(aged.iter().flat_map(|aged| &aged.plans));

    let one = aged.len() == 1 && workloads.len() == 1 && options.sweep.is_none();
    let mut cells = Vec::new();
    for Aged { age, swept, plans } in &aged {
        for ((name, workload), digest) in names.iter().zip(&workloads).zip(&digests) {
            let slug = if one { String::new() } else { slug(cells.len() + 1, name, age.as_deref(), swept.as_ref()) };
            cells.push(Cell { age: age.clone(), swept: swept.clone(), name, workload, digest, plans, slug });
        }
    }
    let mut places = Places::reading(aged.iter().flat_map(|aged| aged.plans.iter().flat_map(Plan::files)));
    places.read(names.iter().flat_map(|name| trace::files(Path::new(name))));
    run::interval(&output)?;
    run::check_places(&output, &mut places, &tables_of(&cells, options.seeds))?;
    let mut runs = run_all(&cells, options, &Common { load: &load, output: &output, made_by: &made_by })?.into_iter();
    let mut results = Vec::new();
    let mut tables = Vec::new();
    for cell in &cells {
        let (drives, details): (Vec<DriveResult>, Vec<Option<DriveDetail>>) =
            runs.by_ref().take(cell.plans.len() * options.seeds as usize).unzip();
        results.push(CellResult::new(cell.age.clone(), cell.name.to_owned(), drives).with_swept(cell.swept.clone()));
        tables.push(Tables { of: cell.slug.clone(), details: details.into_iter().flatten().collect() });
    }
    let report = match (one, results.pop()) {
        (true, Some(only)) => Report::new(only.drives),
        (_, last) => Report::of_cells(results.into_iter().chain(last).collect()),
    };
    let unlike = unlike_starts(&aged[0].plans, options.load.fill.is_some());
    let report = if unlike.is_empty() { report } else { report.of_unlike_starts(unlike.join("; ")) };
    let report = report.with_notes(raw_flash_note(&aged[0].plans)).with_notes(sweep_notes(&aged)).with_made_by(made_by);
    run::write(&output, &report, tables, &text::compare(&report))?;
    may_fail(options, &aged, &report)?;
    if unlike.is_empty() { Ok(()) } else { Err(Failure::Unlike(unlike.join("\n  "))) }
}

/// Says which drives failed requests, unless they may.
fn may_fail(options: &CompareOptions, aged: &[Aged], report: &Report) -> Result<(), Failure> {
    let allowed =
        |name: &str| options.may_fail || aged.iter().flat_map(|aged| &aged.plans).any(|plan| plan.name() == name && plan.may_fail());
    let failed: Vec<String> =
        report.failures().iter().filter(|of| !allowed(of.drive)).map(|of| format!("  {}", failures::sentence(of))).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Failed(failed.join("\n"))) }
}

/// The names of all tables.
fn tables_of(cells: &[Cell<'_>], seeds: u64) -> Vec<String> {
    let requests = |cell: &Cell<'_>, plan: &Plan| -> Vec<String> {
        (0..seeds).map(|number| requests_table(&cell.slug, plan.name(), plan.seed().wrapping_add(number))).collect()
    };
    let intervals = cells.iter().map(|cell| format!("intervals{}", cell.slug));
    intervals.chain(cells.iter().flat_map(|cell| cell.plans.iter().flat_map(move |plan| requests(cell, plan)))).collect()
}

fn requests_table(slug: &str, drive: &str, seed: u64) -> String {
    format!("requests{slug}-{drive}-{seed}")
}

/// The drives at each age, and what is asked of the ages: that the drives can have them, and that no two are the same.
fn aged_plans(options: &CompareOptions) -> Result<Vec<Aged>, Failure> {
    let drives = &options.drives;
    if let Some((_, name)) = drives.iter().enumerate().find(|(index, name)| drives[..*index].contains(name)) {
        return Err(Failure::Usage(format!("drive '{name}' is named twice; compare it with another one")));
    }
    let mut aged: Vec<Aged> = Vec::new();
    let sweep = options.sweep.as_deref().map(Sweep::parse).transpose()?;
    for cells in options.cells.each() {
        let at: Vec<(Option<Setting>, Vec<Plan>)> = match &sweep {
            Some(sweep) => sweep.plans(options, &cells)?.into_iter().map(|at| (Some(at.swept), at.plans)).collect(),
            None => vec![(None, options.shape.load_alike(drives, &cells, options.start())?)],
        };
        let (age, plans) = (cells.asked_age(), &at[0].1);
        if let Some(earlier) = aged.iter().find(|earlier| earlier.swept == at[0].0 && earlier.plans[0].makes_same(&plans[0])) {
            let [age, earlier] = [&age, &earlier.age].map(|age| age.as_deref().unwrap_or_default());
            let why = if age == earlier { "is named twice".to_owned() } else { format!("is the same as '{earlier}'") };
            return Err(Failure::Usage(format!("--age: '{age}' {why}; name each age once")));
        }
        aged.extend(at.into_iter().map(|(swept, plans)| Aged { age: age.clone(), swept, plans }));
    }
    // Two files may hold drives of one name, which nothing that is printed could tell apart.
    let plans = &aged[0].plans;
    let same = plans.iter().enumerate().find_map(|(index, plan)| {
        let earlier = plans[..index].iter().position(|earlier| earlier.name() == plan.name())?;
        Some((&drives[earlier], &drives[index], plan.name()))
    });
    match same {
        Some((one, other, name)) => {
            Err(Failure::Usage(format!("drives '{one}' and '{other}' are both called '{name}'; rename one of the files")))
        }
        None => Ok(aged),
    }
}

/// What is to be said of the values of the key that is swept.
fn sweep_notes(aged: &[Aged]) -> Vec<String> {
    let Some(swept) = &aged[0].swept else { return Vec::new() };
    let all: Vec<&[Plan]> = aged.iter().filter(|at| at.age == aged[0].age).map(|at| &at.plans[..]).collect();
    sweep::notes(&all, &swept.key)
}

/// The workloads that were named: each --workload taken apart at its commas, unless there is a file of that very name.
fn split(given: &[String]) -> Vec<&str> {
    given
        .iter()
        .flat_map(|text| if Path::new(text).exists() { vec![text.as_str()] } else { text.split(',').map(str::trim).collect() })
        .collect()
}

fn load_workloads(names: &[&str], load: &Load, options: &CompareOptions) -> Result<Vec<Workload>, Failure> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    let mut workloads = Vec::new();
    for name in names {
        if name.is_empty() {
            return Err(Failure::Usage(
                "--workload: a name is empty; expected names or files with commas between them, such as oltp,rocks".into(),
            ));
        }
        // Two names of one workload are as bad as the same name twice.
        let full = std::fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(AnySpec::full_name(name)));
        if let Some((earlier, _)) = seen.iter().find(|(_, known)| *known == full) {
            let why = if earlier == name { "is named twice".to_owned() } else { format!("is the same as '{earlier}'") };
            return Err(Failure::Usage(format!("--workload: '{name}' {why}; name each workload once")));
        }
        seen.push((name, full));
        workloads.push(load::workload(name, load).map_err(|failure| in_a_list(failure, name, options))?);
    }
    Ok(workloads)
}

/// What is not there may be part of a path with a comma in it.
fn in_a_list(failure: Failure, name: &str, options: &CompareOptions) -> Failure {
    let cut = |text: &String| text.contains(',') && text.contains(['/', '.']) && text.split(',').any(|part| part.trim() == name);
    if Path::new(name).exists() || !options.workload.iter().any(cut) {
        return failure;
    }
    Failure::Usage(format!("{failure} (a file whose path has a comma in it stands in a --workload of its own)"))
}

/// `3-rocks-2k+1mo`: the number keeps apart what the letters might not.
fn slug(number: usize, workload: &str, age: Option<&str>, swept: Option<&Setting>) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() || "+-_".contains(letter) { letter } else { '-' }).collect()
    };
    let stem = Path::new(workload).file_stem().map_or(workload.into(), |stem| stem.to_string_lossy());
    let age = age.map(|age| format!("-{}", plain(age))).unwrap_or_default();
    let swept = swept.map(|swept| format!("-{}", plain(&swept.value))).unwrap_or_default();
    format!("-{number}-{}{age}{swept}", plain(&stem))
}

/// Make all runs, as many at a time as there are cores. Each is a world of its own, so their number changes nothing but the time.
fn run_all(cells: &[Cell<'_>], options: &CompareOptions, common: &Common<'_>) -> Result<Vec<Made>, Failure> {
    let turns = turns(&cells.iter().map(|cell| cell.plans).collect::<Vec<_>>(), options.seeds);
    turns.iter().try_for_each(|turn| turn.plan().allows_seed(turn.plan().seed()))?;
    let threads = options.threads.map_or_else(parallel::cores, |threads| threads as usize);
    let board = Board::new(common.output.quiet);
    let titles: Vec<String> = turns.iter().map(|turn| title(&cells[turn.cell()], turn)).collect();
    let width = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
    let all = (cells.len() > 1).then(|| Parts::new(board.count(&format!("{:width$}", "all"), "runs", turns.len() as u64)));
    let done = AtomicUsize::new(0);
    let made = parallel::try_map(threads, turns.len(), |index| {
        let (turn, title) = (&turns[index], &titles[index]);
        let made = run_one(&cells[turn.cell()], turn, common, board.line(&format!("{title:width$}")));
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        all.iter().for_each(|all| all.at(done as u64, title));
        made
    });
    all.iter().for_each(Parts::finish);
    made
}

/// What a run is called while it goes.
fn title(cell: &Cell<'_>, turn: &Turn) -> String {
    let of = if cell.slug.is_empty() {
        String::new()
    } else {
        let age = cell.age.as_deref().map(|age| format!(" at {age}")).unwrap_or_default();
        let swept = cell.swept.as_ref().map(|swept| format!(" at {}", swept.value)).unwrap_or_default();
        format!(" {}{age}{swept}", cell.name)
    };
    format!("{}{of} seed {}", turn.plan().name(), turn.plan().seed())
}

fn run_one(cell: &Cell<'_>, turn: &Turn, common: &Common<'_>, mut line: Line) -> Result<Made, Failure> {
    let plan = turn.plan();
    let (files, logs) = LogFiles::begin(&run::table_files(common.output, &requests_table(&cell.slug, plan.name(), plan.seed())))?;
    let job = Job::new(plan, cell.workload, common.load).named(cell.digest, common.made_by).with_interval(run::interval(common.output)?);
    let outcome = job.run(logs, &mut line)?;
    files.finish(outcome.beside)?;
    line.finish();
    // The charts show each drive's first seed; the others' details would only fill the memory.
    Ok((outcome.result, turn.is_first().then_some(outcome.detail)))
}
