//! Writes `docs/reference/interactions.md` under the folder named by the first argument: every pair of techniques, and all of them, on one small drive.
//!
//! A second argument is a folder with such a page. Only the drive without techniques and the one with all of them are measured then, and every other row is
//! taken from that page: the whole takes minutes. Tables that the page does not have are measured.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_cells::Retries;
use wordline_drive::{Config, Pace};
use wordline_ftl::techniques::Choice;
use wordline_proving::bench::{judged, watched};
use wordline_proving::interactions::{
    ALIKE, ALL, BURST, BURSTS, COUNTED, GUARDED, PERIOD, RETRIED, RETRIES, STOPPED, TOLERANT, WORN, aged, bursts, bursts_by_priority,
    config, counted, guarded, hint, overwrites, retried, stopped, tolerant, worn,
};
use wordline_units::{FlashOp, HostOp, Priority};

const SEEDS: std::ops::Range<u64> = 1..4;

/// What one technique is called in the tables, with its parameters.
#[allow(clippy::wildcard_enum_match_arm, reason = "a technique joins the tables by hand")]
fn label(choice: &Choice) -> (&'static str, String) {
    let plain = || "no parameter".to_owned();
    match choice {
        Choice::ReadDisturbRefresh(params) => ("refresh", format!("after {} reads of a block group", params.reads_max)),
        Choice::IdleReclaim(params) => {
            ("idle", format!("after {} without work, until {} block groups of a die are free", params.after, params.until_free))
        }
        Choice::PlainCopyback => ("copyback", plain()),
        Choice::ReadPreemption => ("preemption", plain()),
        Choice::PriorityPreemption(params) => (
            "pSR",
            format!("shares {} and {} of {}, {} high reads at most", params.share_normal, params.share_low, params.steps, params.high_max),
        ),
        Choice::PageLock(params) => ("lock", format!("blocks too: {}", params.block_lock)),
        Choice::CryptoErase(params) => ("keys", format!("trees of {} keys, {} for the register", params.leaves, params.register)),
        Choice::LayerSimilarity(params) => ("alike", format!("{params:?}")),
        Choice::LayerMargins => ("margins", plain()),
        Choice::LayerReadOffsets => ("offsets", plain()),
        Choice::ReadReference(params) => {
            ("bounded", format!("by {:?}, refresh: {}, patrol of {}", params.index, params.refresh, params.patrol))
        }
        Choice::RestrictedCopyback(params) => {
            ("quota", format!("classes by {:?}, {} groups of a die open for moved data", params.classes, params.moved_blocks))
        }
        Choice::GuardedErase(params) => {
            ("guard", format!("mode {}, {:?}, survey every {} erases", params.mode, params.target, params.survey_every))
        }
        Choice::BadPageManagement(params) => {
            ("bad pages", format!("{} of up to {} wordlines lost from the first", params.fixed, params.wordlines_max))
        }
        Choice::LatencyHints(params) => ("hints", format!("reads of {} are tolerated", params.longer)),
        Choice::MigrationMode(params) => ("mode", format!("copies for {:?}", params.foreground)),
        Choice::CopyThreshold(params) => ("fastcopy", format!("by {:?}", params.index)),
        Choice::RetentionRefresh(params) => ("retention", format!("after {} days, patrol of {}", params.days_max, params.patrol)),
        // One that is tried in no table yet.
        other => (other.card().name, format!("{:?}", other.values())),
    }
}

/// The figures of one row: write amplification, erases, 99th percentiles of reads and writes in microseconds; then the retries that all but one read in a
/// thousand stay within, the pages copied inside dies, in thousands, the 99.9th percentile of high reads in microseconds, and stops per erase.
type Figures = [f64; 8];

/// Number of figures of which multiples are told.
const MULTIPLES: usize = 4;

const NAMES: [&str; 4] = ["WAF", "erases", "read p99", "write p99"];

fn measure(config: Config, seed: u64) -> Figures {
    let age = config.cells.as_ref().and_then(|cells| cells.age);
    let (span, unit, hint) = (config.exported_units, config.firmware.unit, hint(&config));
    let mut drive = watched(config, None);
    drive.construct_filled(span);
    age.iter().for_each(|age| drive.set_age(age));
    drive.serve(&mut hint.into_iter().chain(overwrites(seed, span).take(2 * span as usize)), Pace::Closed { depth: 16 }, None);
    drive.settle();
    let now = drive.now();
    drive.observer.1.reset(now);
    let pace = Pace::Open { origin: now };
    if drive.config().sheet.capabilities.stop_at_step {
        drive.serve(&mut bursts_by_priority(seed, span), pace, None);
    } else {
        drive.serve(&mut bursts(seed, span), pace, None);
    }
    let measured = judged(&mut drive);
    let p99 = |op| measured.latencies(op).quantile(0.99).as_micros_f64();
    let waf = measured.totals.waf(unit).expect("it wrote");
    let copies = measured.totals.pages(FlashOp::Copyback) as f64 / 1e3;
    let retries = within(&measured.totals.errors.retries, 0.999);
    let erases = measured.totals.pages(FlashOp::Erase) as f64;
    let high = measured.latencies_of(HostOp::Read, Priority::High).quantile(0.999).as_micros_f64();
    let stops = measured.waited.stops.erases.stops as f64 / erases;
    [waf, erases, p99(HostOp::Read), p99(HostOp::Write), retries, copies, high, stops]
}

/// Retries that this share of the reads stay within, of which `counts` says how many took so many.
fn within(counts: &[u64], share: f64) -> f64 {
    let all: u64 = counts.iter().sum();
    let mut seen = 0;
    let most = counts.iter().position(|count| {
        seen += count;
        seen as f64 >= share * all as f64
    });
    most.unwrap_or(0) as f64
}

/// The means over the seeds, and by how much of it any one seed is off.
fn measure_all(config: &Config) -> (Figures, Figures) {
    let runs: Vec<Figures> = SEEDS.map(|seed| measure(config.clone(), seed)).collect();
    let means: Figures = std::array::from_fn(|index| runs.iter().map(|run| run[index]).sum::<f64>() / runs.len() as f64);
    let apart = |run: &Figures, index: usize| if means[index] == 0.0 { 0.0 } else { (run[index] / means[index] - 1.0).abs() };
    let spreads = std::array::from_fn(|index| runs.iter().map(|run| apart(run, index)).fold(0.0, f64::max));
    (means, spreads)
}

/// Every set that the page shows: none, each alone, each pair, all. Bits stand for the techniques of `of`.
fn subsets(of: &[Choice]) -> Vec<u32> {
    let all = (1 << of.len()) - 1;
    let mut subsets: Vec<u32> = (0..all).filter(|set: &u32| set.count_ones() <= 2).collect();
    subsets.sort_by_key(|set| (set.count_ones(), *set));
    subsets.push(all);
    subsets
}

fn chosen(of: &[Choice], set: u32) -> Vec<Choice> {
    of.iter().copied().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, choice)| choice).collect()
}

fn name(of: &[Choice], set: u32) -> String {
    if set == 0 {
        return "none".to_owned();
    }
    chosen(of, set).iter().map(|choice| label(choice).0).collect::<Vec<_>>().join(" + ")
}

/// Rows of a page that was written before, in their order.
struct Before {
    lines: Vec<String>,
    at: usize,
}

impl Before {
    /// The rows of the page below `root`.
    fn read(root: &Path) -> std::io::Result<Before> {
        let page = std::fs::read_to_string(root.join(PAGE))?;
        Ok(Before { lines: page.lines().map(str::to_owned).collect(), at: 0 })
    }

    /// True if a line that comes now begins with `start`.
    fn has(&self, start: &str) -> bool {
        self.lines[self.at..].iter().any(|line| line.starts_with(start))
    }

    /// The next line that begins with `start`, and a line that stands in no page where there is none.
    fn next(&mut self, start: &str) -> String {
        match self.lines[self.at..].iter().position(|line| line.starts_with(start)) {
            Some(found) => {
                self.at += found + 1;
                self.lines[self.at - 1].clone()
            }
            None => format!("no line begins with: {start}"),
        }
    }
}

fn page(mut before: Option<Before>) -> String {
    let before = &mut before;
    let seeds = SEEDS.count().to_string();
    let load = [("BURSTS", BURSTS.to_string()), ("SIZE", BURST.to_string()), ("PERIOD", PERIOD.to_string()), ("SEEDS", seeds)];
    let mut text = load.iter().fold(HEAD.to_owned(), |text, (word, value)| text.replace(word, value));
    // Writing into a String cannot fail.
    for choice in
        ALL.iter().chain(&RETRIED[..1]).chain(&ALIKE[..2]).chain(&WORN[..3]).chain(&COUNTED[..2]).chain(&STOPPED[..1]).chain(&TOLERANT[..1])
    {
        let (name, parameters) = label(choice);
        let _ = writeln!(text, "| {name} | {} | {parameters} |", choice.card().name);
    }
    text.push_str("\n## What each set does\n\nIn brackets: in multiples of the drive without any technique.\n\n");
    tables(&mut text, (&ALL, &subsets(&ALL)), config, TOGETHER, before);
    let Retries { share, mean, alike, .. } = RETRIES;
    let rates = [("SHARE", format!("{:.0}", 100.0 * share)), ("MEAN", mean.to_string()), ("ALIKE", format!("{:.0}", 100.0 * alike))];
    text.push_str(&rates.iter().fold(WITH_RETRIES.to_owned(), |text, (word, value)| text.replace(word, value)));
    tables(&mut text, (&RETRIED, &with_the_first(&RETRIED, 1)), retried, "\n", before);
    text.push_str(WITH_CELLS);
    tables(&mut text, (&ALIKE, &with_the_first(&ALIKE, 1)), aged, "\n", before);
    text.push_str(WITH_AGES);
    tables(&mut text, (&WORN, &with_the_first(&WORN, 3)), worn, "\n", before);
    text.push_str(WITH_QUOTAS);
    tables(&mut text, (&COUNTED, &with_the_first(&COUNTED, 1)), counted, "\n", before);
    text.push_str(WITH_STOPS);
    tables(&mut text, (&STOPPED, &with_the_first(&STOPPED, 1)), stopped, "\n", before);
    text.push_str(WITH_SPARED);
    tables(&mut text, (&GUARDED, &with_the_first(&GUARDED, 1)), guarded, "\n", before);
    text.push_str(WITH_HINTS);
    tables(&mut text, (&TOLERANT, &with_the_first(&TOLERANT, 1)), tolerant, "\n", before);
    text
}

/// The sets of one, and those with one of the first `count` of `of` in them.
fn with_the_first(of: &[Choice], count: u32) -> Vec<u32> {
    subsets(of).into_iter().filter(|set| set.count_ones() < 2 || set.trailing_zeros() < count).collect()
}

/// Results of `work` for each of `items`, in their order, made on all cores.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, threads) = (AtomicUsize::new(0), std::thread::available_parallelism().map_or(1, usize::from));
    let numbered = |index: usize| items.get(index).map(|item| (index, work(item)));
    let mut made: Vec<(usize, R)> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| std::iter::from_fn(|| numbered(next.fetch_add(1, Ordering::Relaxed))).collect::<Vec<_>>()))
            .collect();
        all.into_iter().flat_map(|thread| thread.join().expect("no run panics")).collect()
    });
    made.sort_by_key(|&(index, _)| index);
    made.into_iter().map(|(_, result)| result).collect()
}

/// Effects of each of `sets` of `of`, and of its members on each other; `between` stands between the two tables. Rows that are not measured are taken from
/// the page `before`.
fn tables(text: &mut String, (of, sets): (&[Choice], &[u32]), config: fn(&[Choice]) -> Config, between: &str, before: &mut Option<Before>) {
    let all = (1 << of.len()) - 1;
    let mut before = before.as_mut().filter(|before| before.has(&format!("| {} |", name(of, sets[1]))));
    let is_measured = |set: u32| before.is_none() || set == 0 || set == all;
    let chosen_sets: Vec<u32> = sets.iter().copied().filter(|&set| is_measured(set)).collect();
    let measured = in_parallel(&chosen_sets, |&set| {
        eprintln!("{}", name(of, set));
        measure_all(&config(&chosen(of, set)))
    });
    let apart = |most: [f64; MULTIPLES], (_, spreads): &(Figures, Figures)| [0, 1, 2, 3].map(|index| most[index].max(spreads[index]));
    let spread = measured.iter().fold([0.0; MULTIPLES], apart);
    let rows: Vec<(u32, Figures)> = chosen_sets.into_iter().zip(measured).map(|(set, (means, _))| (set, means)).collect();
    let tells_stops = config(&[]).sheet.capabilities.stop_at_step;
    let more = if tells_stops { "high reads p99.9 | stops per erase" } else { "pages copied, thousands" };
    let _ = writeln!(
        text,
        "| techniques | {} | retries, p99.9 | {more} |\n|---|{}",
        NAMES.join(" | "),
        "---|".repeat(NAMES.len() + 2 + usize::from(tells_stops))
    );
    for &set in sets {
        let old = before.as_mut().map(|before| before.next(&format!("| {} |", name(of, set))));
        let row = rows.iter().find(|(other, _)| *other == set).map(|(_, figures)| row(&name(of, set), figures, &rows[0].1, tells_stops));
        let _ = writeln!(text, "{}", row.or(old).expect("each is measured, or stands in the page before"));
    }
    if let Some(before) = before {
        let _ = writeln!(text, "\n{}", before.next("No seed is further"));
        text.push_str(between);
        let _ = writeln!(text, "| techniques | {} |\n|---|{}", NAMES.join(" | "), "---|".repeat(NAMES.len()));
        for set in sets.iter().filter(|set| set.count_ones() > 1) {
            let _ = writeln!(text, "{}", before.next(&format!("| {} |", name(of, *set))));
        }
        return;
    }
    let apart: Vec<String> = NAMES.iter().zip(spread).map(|(name, spread)| format!("{name} {:.1} %", spread * 100.0)).collect();
    let _ = writeln!(text, "\nNo seed is further from the mean of its row than: {}.", apart.join(", "));
    text.push_str(between);
    effects(text, of, &rows);
}

/// Row of the set called `name`, with multiples of the drive without techniques, whose figures are `none`.
fn row(name: &str, figures: &Figures, none: &Figures, tells_stops: bool) -> String {
    let [waf, erases, read, write, retries, copies, high, stops] = *figures;
    let more = if tells_stops { format!("{high:.0} us | {stops:.1}") } else { format!("{copies:.0}") };
    let [of_waf, of_erases, of_read, of_write] = ratios(figures, none);
    format!(
        "| {name} | {waf:.3} ({of_waf:.2}) | {erases:.0} ({of_erases:.2}) | {read:.0} us ({of_read:.2}) | {write:.0} us ({of_write:.2}) | {retries:.1} | {more} |"
    )
}

/// Multiples of the drive without techniques.
fn ratios(figures: &Figures, none: &Figures) -> [f64; MULTIPLES] {
    [0, 1, 2, 3].map(|index| figures[index] / none[index])
}

/// Effects of the members of each set of `rows` on each other.
fn effects(text: &mut String, of: &[Choice], rows: &[(u32, Figures)]) {
    let none = rows[0].1;
    let _ = writeln!(text, "| techniques | {} |\n|---|{}", NAMES.join(" | "), "---|".repeat(NAMES.len()));
    let alone = |bit: usize| {
        rows.iter().find(|(set, _)| *set == 1 << bit).map(|(_, figures)| ratios(figures, &none)).expect("each is measured alone")
    };
    for (set, figures) in rows.iter().filter(|(set, _)| set.count_ones() > 1) {
        let expected = (0..of.len()).filter(|bit| set >> bit & 1 == 1).fold([1.0; 4], |product, bit| {
            let ratio = alone(bit);
            [0, 1, 2, 3].map(|index| product[index] * ratio[index])
        });
        let found = ratios(figures, &none);
        let cells = [0, 1, 2, 3].map(|index| format!("{:.2}", found[index] / expected[index]));
        let _ = writeln!(text, "| {} | {} |", name(of, *set), cells.join(" | "));
    }
}

/// The page below the root of the project.
const PAGE: &str = "docs/reference/interactions.md";

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let before = std::env::args().nth(2).map(|folder| Before::read(Path::new(&folder))).transpose()?;
    std::fs::create_dir_all(root.join("docs/reference"))?;
    std::fs::write(root.join(PAGE), page(before))
}

const HEAD: &str = "\
# Interactions of techniques

*Generated by `cargo run -p wordline-proving --example generate_interactions -- .`; do not edit.*

Techniques do not know of each other: each proposes, and the firmware merges what all of them propose by one rule for each question
(`crates/ftl/src/techniques/seam.rs`). Whether they go well together is measured here. That every one of the 16 sets is *correct* is another matter, and
tested on random
drives (`crates/proving/tests/suite/twin.rs`).

The drive: 2 channels of 400 MT/s with 2 dies each, 64 blocks of 32 pages of 16 KiB in a die, 65 us read, 700 us program, 5 ms erase, a fifth of it spare,
write-through, greedy reclaim, no cost of firmware. The space is filled, overwritten at random twice but for a fiftieth that is only read, and then gets BURSTS
bursts of SIZE requests, one every PERIOD: 70 % reads, half of them of that fiftieth. Each figure is the mean over SEEDS seeds; all can be repeated exactly, and
under another load they are others. A read that meets an erase waits up to 5 ms, so the read p99 jumps where more than 1 % of the reads do.

| here | technique | parameters |
|---|---|---|
";

const TOGETHER: &str = "
## What they do to each other

The multiple of the set over the product of the multiples of its members alone. 1.00: they do not meet. Below: they do each other's work, or help each other.
Above: they are in each other's way. A multiple that is no further from 1 than the seeds are apart says nothing.

";

const WITH_RETRIES: &str = "
## Where reads need retries

The same with retries by rate: SHARE % of the reads need some, MEAN in the mean, and ALIKE % of the reads need what their h-layer needs. Without copyback, which
does not go with them. Two tables as above; each set of two has `offsets` in it.

";

const WITH_AGES: &str = "
## Where blocks tell their ages

`paper-rftl` with 2 channels of 2 dies and 48 blocks in each, 30 % more flash than is shown, write-through, nothing waited for, locks as above, dies that can
suspend; its cells have been through 300 cycles, what it holds has been kept for a month, and [block-age](../techniques/block_age/README.md) is on in every row,
because the others go by what it tells. The same load. Two tables as above; each set of two has `bounded`, `fastcopy` or `retention` in it. Crypto-erase is not
among them: its keys belong to places, and a plan refuses it beside `fastcopy`.

";

const WITH_QUOTAS: &str = "
## Copies within quotas

The drive above without ages, which copies by P/E counts. The same load. Two tables as above; each set of two has `quota` in it. Its victims are demanded by
space unless `idle` is on, so that `mode` alone forbids nothing.

";

const WITH_STOPS: &str = "
## Where operations give way

The drive with retries by rate, whose dies stop programs and erases at steps (44 and 167 us) and at once, and break reads off. The same load with requests of
four priorities in equal parts. Two tables as above; each set of two has `pSR` in it.

";

const WITH_SPARED: &str = "
## Where erases leave wordlines without data

The drive with cells, whose dies spare wordlines and program them in any order, with modes of an eighth and a quarter of each block. The same load. Two tables
as above; each set of two has `guard` in it. `guard` and `bad pages` ask for sets of their own, and a group has the union of both.

";

const WITH_HINTS: &str = "
## Where the host tolerates long reads

The drive with retries by rate, and `refresh` with its guard in every row: block groups are rewritten after 200 reads, or after 2,000 where that may wait. The
host tolerates long reads of all its data. The same load. Two tables as above; each set of two has `hints` in it. Without `hints` the tolerance changes nothing,
so the row `none` is a drive that rewrites.

";

const WITH_CELLS: &str = "
## On cells with physics

`cubeftl-noWAM` with 2 channels of 2 dies and 48 blocks in each, 30 % more flash than is shown, write-through, nothing waited for, locks as above, dies
that can suspend; its cells have been through 2,000 cycles, and what it holds has been kept for a month. The same load. Two tables as above; each set of
two has `alike` in it. What a program is set to by several is the most careful of what they ask for: `margins` knows of no verifies to skip and `alike`
wants leaders untouched, so the two together gain less than either.

";
