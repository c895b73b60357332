//! `wordline characterize`: a lot of virtual chips on the bench.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use wordline_lab::LabError;
use wordline_lab::bench::{BENCHES, Bench, Null, On, Setup, Teller};
use wordline_lab::conditions::{LotSize, Retention, pe_list, reads_list, retention_list};
use wordline_lab::grid::{By, Grid, Row, Summary, read_block};
use wordline_lab::lot::Lot;
use wordline_lab::protocol::Changes;
use wordline_lab::raw::{COLUMNS, FIGURE_COLUMNS, Raw, RawError};
use wordline_lab::tables::{KINDS, Kind};
use wordline_pages::html::document;
use wordline_pages::number::number;
use wordline_plan::{Chip, energies};
use wordline_runs::parallel;

use crate::failure::Failure;
use crate::files::{self, Pending};
use crate::places::Places;
use crate::progress::{Board, Parts};

#[derive(Clone, Debug, Args)]
#[command(after_long_help = benches())]
pub(crate) struct CharacterizeOptions {
    /// rber, retention or disturb (every page over a grid of conditions); margins or another table, a section of a chip file; or a bench with conditions of its
    /// own: the lists below.
    #[arg(default_value = "rber")]
    pub(crate) bench: String,
    /// The chip's name (see `wordline chip`) or file.
    #[arg(long, default_value = wordline_lab::CHIP, value_name = "NAME|FILE")]
    pub(crate) chip: String,
    /// Second chip of the bench reprogram, which compares two (in the papers: mlc48).
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) against: Option<String>,
    /// Change a value of the chip, such as "physics.wear.erase_share=70 %". May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Print the table of this name as a section of a chip file, where a bench has the same name.
    #[arg(long)]
    pub(crate) table: bool,
    /// Chips, and blocks of each: 4x8, or 16x12 for a table.
    #[arg(long, value_name = "CHIPSxBLOCKS", allow_hyphen_values = true)]
    pub(crate) lot: Option<String>,
    /// P/E counts, such as 0,1k,2k,4k.
    #[arg(long, value_name = "LIST")]
    pub(crate) pe: Option<String>,
    /// Retention times and their temperature, such as 0,1mo,3mo,12mo@30C.
    #[arg(long, value_name = "LIST[@TEMPERATURE]")]
    pub(crate) retention: Option<String>,
    /// Reads of a block before it is measured, such as 0,10k,100k.
    #[arg(long, value_name = "LIST")]
    pub(crate) reads: Option<String>,
    /// Rows of the printed table: chip, block, layer, wordline or page.
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<String>,
    /// Write the raw table, one row for each page and condition, as .csv or .parquet. docs/reference/characterisation.md describes the columns.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write one self-contained HTML page with figures.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The seed of the lot: 1, or 1001 for a table, since a table is refused on a drive with the seed of its lot.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Number of threads (default: the number of cores). Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Print no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Grids that have a name: P/E counts, retention, reads.
const GRIDS: [(&str, &str, &str, &str); 3] = [
    ("rber", "0,1k,2k", "0,1mo,3mo,12mo@30C", "0"),
    ("retention", "0,2k", "0,1d,1mo,3mo,6mo,12mo@30C", "0"),
    ("disturb", "0,2k", "0", "0,10k,100k,1M"),
];

/// What finds a table for a chip file, and is older than the others.
const MARGINS: &str = "margins";

/// Lot and seed by default: of benches, and of tables, which no drive with a seed of the usual ones may be one of.
const USUAL: (&str, u64) = ("4x8", 1);
const OF_TABLES: (&str, u64) = ("16x12", 1_001);

/// The benches that have conditions of their own, and what each is.
pub(crate) fn benches() -> String {
    // Each summary in a line of its own, so that its further lines stand under it where it is wrapped.
    let lines = BENCHES.iter().map(|bench| format!("\n  {}\n          {}", bench.name, bench.summary));
    let shared = |name: &str| if is_bench(name) { " (with --table)" } else { "" };
    let tables = KINDS.iter().map(|kind| format!("\n  {}{}\n          {}", kind.name, shared(kind.name), kind.summary));
    format!(
        "Tables for a chip file, made from one half of a lot and judged by the other:\n  margins\n          how far programs may be narrowed{}\n\nBenches:{}\n\ndocs/reference/characterisation.md describes what each measures.",
        tables.collect::<String>(),
        lines.collect::<String>()
    )
}

/// Whether a grid or a bench has this name.
fn is_bench(name: &str) -> bool {
    GRIDS.iter().any(|(grid, ..)| *grid == name) || BENCHES.iter().any(|bench| bench.name == name)
}

/// The table that is asked for: by its name, or with `--table` where a bench has that name too.
fn table(options: &CharacterizeOptions) -> Result<Option<&'static Kind>, Failure> {
    let kind = KINDS.iter().find(|kind| kind.name == options.bench);
    if options.table && kind.is_none() && options.bench != MARGINS {
        let names = KINDS.iter().map(|kind| kind.name).chain([MARGINS]);
        return Err(Failure::Lab(LabError::unknown("table", &options.bench, names)));
    }
    Ok(kind.filter(|kind| options.table || !is_bench(kind.name)))
}

/// Blocks that are read before their rows are written, for each thread.
const AHEAD: usize = 4;

pub(crate) fn characterize(options: &CharacterizeOptions) -> Result<(), Failure> {
    let kind = table(options)?;
    let usual = if kind.is_some() { OF_TABLES } else { USUAL };
    let lot = LotSize::read(options.lot.as_deref().unwrap_or(usual.0)).map_err(Failure::Usage)?;
    let threads = options.threads.map_or_else(parallel::cores, |threads| threads as usize);
    let setup = Setup {
        chip: options.chip.clone(),
        against: options.against.clone(),
        settings: options.settings.clone(),
        null: Null::default(),
        conditions: Changes::new(),
        lot,
        seed: options.seed.unwrap_or(usual.1),
        threads,
        teller: Teller::default(),
    };
    let mut places = Places::reading(chip_files([&options.chip].into_iter().chain(&options.against)));
    options.out.iter().try_for_each(|path| places.write(path))?;
    options.html.iter().try_for_each(|path| places.write_page(path))?;
    if let Some(path) = &options.out {
        let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
        if ending != "csv" && ending != "parquet" {
            return Err(Failure::Usage(format!("{}: a raw table's name ends in .csv or .parquet", path.display())));
        }
    }
    if let Some(kind) = kind {
        return section(options, setup, [kind.name, kind.conditions], &|setup| {
            let found = (kind.run)(setup)?;
            Ok(format!("{}{}", found.remarks, found.section))
        });
    }
    if options.bench == MARGINS {
        return section(options, setup, [MARGINS; 2], &|setup| {
            let found = wordline_lab::margins::characterise(setup)?;
            Ok(format!("{}{}", found.remarks(), found.section()))
        });
    }
    if options.against.is_some() && !BENCHES.iter().any(|bench| bench.name == options.bench && bench.on == On::TwoChips) {
        let compare: Vec<&str> = BENCHES.iter().filter(|bench| bench.on == On::TwoChips).map(|bench| bench.name).collect();
        let compare = compare.join(" and ");
        return Err(Failure::Usage(format!("--against is for bench {compare}, which compares two chips; {} has one", options.bench)));
    }
    match GRIDS.iter().find(|(name, ..)| *name == options.bench) {
        Some((_, pe, retention, reads)) => grid(options, &setup, [pe, retention, reads]),
        None => {
            let names: Vec<&str> = GRIDS
                .iter()
                .map(|(name, ..)| *name)
                .chain([MARGINS])
                .chain(KINDS.iter().map(|kind| kind.name))
                .chain(BENCHES.iter().map(|bench| bench.name))
                .collect();
            let bench = BENCHES
                .iter()
                .find(|bench| bench.name == options.bench)
                .ok_or_else(|| Failure::Lab(LabError::unknown("bench", &options.bench, names.iter().copied())))?;
            own(options, &setup, bench)
        }
    }
}

/// The files that chips of these names are read from. Whoever loads one that is wrong says so.
pub(crate) fn chip_files<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<PathBuf> {
    names.into_iter().filter_map(|name| Chip::load(name).ok()).flat_map(|chip| chip.files().to_vec()).collect()
}

/// What finds a table on a lot, as text.
type Finds<'f> = dyn Fn(&Setup) -> Result<String, LabError> + 'f;

/// A section of a chip file, with remarks on how good it is.
fn section(options: &CharacterizeOptions, mut setup: Setup, [name, conditions]: [&str; 2], finds: &Finds<'_>) -> Result<(), Failure> {
    let kind = KINDS.iter().find(|kind| kind.name == name);
    let takes_reads = kind.is_some_and(Kind::takes_reads);
    let unused = options.pe.is_some() || options.retention.is_some() || options.by.is_some() || (options.reads.is_some() && !takes_reads);
    if unused || options.out.is_some() || options.html.is_some() || options.against.is_some() {
        let what = "prints a section of a chip file and takes --chip, --set, --lot, --seed and --threads";
        let more = if takes_reads { ", and --reads" } else { "" };
        return Err(Failure::Usage(format!("{name} {what}{more}; its conditions are in studies/benches/{conditions}.toml")));
    }
    if let (Some(kind), Some(list)) = (kind, &options.reads) {
        kind.set_reads(&mut setup, list).map_err(|fault| Failure::Usage(format!("--reads: {fault}")))?;
    }
    if setup.seed == 0 {
        let what =
            "takes no --seed 0: a table of seed 0 is one that a source gives, and any drive may be of its lot; write --seed 1 or more";
        return Err(Failure::Usage(format!("{name} {what}")));
    }
    let bar = Arc::new(Parts::new(Board::new(options.quiet).count(name, "tables", 1)));
    bar.at(0, &options.chip);
    let told = Arc::clone(&bar);
    let setup = Setup { teller: Teller::new(move |text| told.more(text)), ..setup };
    let found = finds(&setup)?;
    bar.finish();
    files::write_or_print("-", found.trim_end())?;
    Ok(())
}

/// A bench with conditions of its own.
fn own(options: &CharacterizeOptions, setup: &Setup, bench: &Bench) -> Result<(), Failure> {
    if options.pe.is_some() || options.retention.is_some() || options.reads.is_some() || options.by.is_some() {
        let what = "has conditions of its own; --pe, --retention, --reads and --by belong to rber, retention and disturb";
        return Err(Failure::Usage(format!("bench {} {what}", bench.name)));
    }
    let mut bar = Board::new(options.quiet).count(bench.name, "benches", 1);
    bar.at(0, bench.summary);
    let findings = (bench.run)(setup)?;
    bar.finish();
    let width = bench.metrics.iter().map(|metric| metric.name.len()).max().unwrap_or(0);
    let mut text = format!("{}: {}\n{}, lot {}, seed {}\n", bench.name, bench.summary, setup.chip, setup.lot, setup.seed);
    for metric in bench.metrics {
        let value = findings.get(metric.name).map_or_else(|| "–".to_owned(), number);
        text += &format!("{:width$}  {value:>12} {:8}  {}\n", metric.name, metric.unit, metric.meaning);
    }
    let conditions = bench.conditions.told(&setup.conditions)?;
    if !conditions.is_empty() {
        text += &format!("\nmeasured at ({} with sources)\n", bench.conditions.file());
        let width = conditions.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        for (name, value, meaning) in conditions {
            text += &format!("{name:width$}  {value}  ({meaning})\n");
        }
    }
    files::write_or_print("-", text.trim_end())?;
    if let Some(path) = &options.out {
        write_raw(path, FIGURE_COLUMNS, |raw| raw.findings(&findings))?;
    }
    let subtitle = format!("{}, lot {}, seed {}", setup.chip, setup.lot, setup.seed);
    page(options, &format!("Bench {}", bench.name), &subtitle, findings.figures.iter().map(|figure| figure.html()).collect(), &text)
}

/// Every page of the lot over a grid of conditions.
fn grid(options: &CharacterizeOptions, setup: &Setup, [pe, retention, reads]: [&str; 3]) -> Result<(), Failure> {
    let usage = |what: String| Failure::Usage(what);
    let grid = Grid {
        pe: pe_list(options.pe.as_deref().unwrap_or(pe)).map_err(usage)?,
        retention: retention_list(options.retention.as_deref().unwrap_or(retention)).map_err(usage)?,
        reads: reads_list(options.reads.as_deref().unwrap_or(reads)).map_err(usage)?,
    };
    let word = options.by.as_deref().unwrap_or("layer");
    let by = By::ALL.iter().find(|(known, _)| *known == word).map(|(_, by)| *by);
    let by = by.ok_or_else(|| Failure::Lab(LabError::unknown("group", word, By::ALL.map(|(word, _)| word))))?;
    let lot = Lot::open(setup)?;
    let mut summary = Summary::default();
    let mut measure = |raw: &mut dyn FnMut(&[Row]) -> Result<(), RawError>| -> Result<(), RawError> {
        let mut bar = Board::new(options.quiet).count("characterize", "blocks", setup.lot.total());
        each_block(&lot, &grid, (setup.threads, options.out.is_some()), &mut |done, rows| {
            summary.take(&grid, by, rows);
            bar.at(done, &format!("{} rows", done * rows.len() as u64));
            raw(rows)
        })?;
        bar.finish();
        Ok(())
    };
    match &options.out {
        None => measure(&mut |_| Ok(())).map_err(|error| Failure::Usage(error.to_string()))?,
        Some(path) => write_raw(path, COLUMNS, |raw| measure(&mut |rows| raw.pages(rows)))?,
    }
    let mut text = summary.text(&grid, by);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let cycles = most(&mut grid.pe.iter().map(|count| f64::from(*count)));
    let (kept, reads) = (most(&mut grid.retention.seconds.iter().copied()), most(&mut grid.reads.iter().map(|count| *count as f64)));
    let warnings = lot.calibrated.beyond("there are", cycles, kept, reads).into_iter().chain(energies(lot.model.physics()));
    for warning in warnings {
        text.push_str(&format!("\nWARNING: {warning}.\n"));
    }
    files::write_or_print("-", &text)?;
    let Retention { seconds, celsius } = &grid.retention;
    let subtitle = format!(
        "{}, lot {}, seed {}; {} P/E counts, {} retention times at {celsius} °C, {} read counts",
        setup.chip,
        setup.lot,
        setup.seed,
        grid.pe.len(),
        seconds.len(),
        grid.reads.len()
    );
    let figures = summary.figures(&lot, &grid).iter().map(|figure| figure.html()).collect();
    page(options, "Characterisation", &subtitle, figures, &text)
}

/// What is done with the rows of a block: how many blocks are done, and the rows.
type Take<'t> = dyn FnMut(u64, &[Row]) -> Result<(), RawError> + 't;

/// Reads the blocks on several threads, with the best references as well where a raw table is written, and hands their rows over in the order of the blocks.
fn each_block(lot: &Lot, grid: &Grid, (threads, at_best): (usize, bool), take: &mut Take<'_>) -> Result<(), RawError> {
    let blocks = lot.size.blocks as usize;
    let total = lot.size.chips as usize * blocks;
    let mut done = 0;
    for start in (0..total).step_by(threads * AHEAD) {
        let count = (threads * AHEAD).min(total - start);
        let rows = parallel::map(threads, count, |index| {
            let number = start + index;
            read_block(lot, grid, &lot.block((number / blocks) as u32, (number % blocks) as u32), at_best)
        });
        for rows in rows {
            done += 1;
            take(done, &rows)?;
        }
    }
    Ok(())
}

fn write_raw(
    path: &Path,
    columns: &[wordline_pages::table::Column],
    fill: impl FnOnce(&mut Raw<std::io::BufWriter<std::fs::File>>) -> Result<(), RawError>,
) -> Result<(), Failure> {
    let (pending, file) = Pending::create(path)?;
    let told = |error: RawError| Failure::Usage(format!("{}: {error}", path.display()));
    let name = path.to_string_lossy();
    let Some(mut raw) = Raw::begin(&name, columns, file).map_err(told)? else {
        return Err(Failure::Usage(format!("{name}: a raw table's name ends in .csv or .parquet")));
    };
    fill(&mut raw).map_err(told)?;
    raw.finish().map_err(told)?;
    pending.finish()?;
    eprintln!("wordline: raw table in {name}");
    Ok(())
}

fn page(options: &CharacterizeOptions, title: &str, subtitle: &str, figures: Vec<String>, text: &str) -> Result<(), Failure> {
    let Some(path) = &options.html else { return Ok(()) };
    let table = format!("<details open><summary>Figures as a text</summary><pre>{}</pre></details>", wordline_pages::html::escape(text));
    let sections = [("Measured".to_owned(), "grid", figures), ("Table".to_owned(), "stack", vec![table])];
    files::write(path, document(title, subtitle, &sections).as_bytes())?;
    eprintln!("wordline: figures in {}", path.display());
    Ok(())
}
