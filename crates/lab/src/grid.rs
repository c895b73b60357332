//! Characterisation: reads of every page of a lot over a grid of conditions, which are P/E counts, retention and reads of the block.
//!
//! Errors are those of a first read with the default references; retries are what the vendor's table needs until the page can be corrected.

use std::collections::BTreeMap;

use wordline_cells::{Block, Errors, References, Settings};
use wordline_pages::html::figure::{Columns, Cube, Curve, Curves, Figure, Heat, Scale, scientific};
use wordline_units::Celsius;

use crate::conditions::{Retention, span_text};
use crate::lot::Lot;

/// The conditions of a characterisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// P/E counts, cycled with a minute of dwell at 30 °C.
    pub pe: Vec<u32>,
    /// Retention times and their temperature.
    pub retention: Retention,
    /// Reads of the block before the read that counts.
    pub reads: Vec<u64>,
}

impl Grid {
    /// All conditions, in the order of P/E, retention, reads.
    pub fn cells(&self) -> Vec<(u32, f64, u64)> {
        let of = |pe: u32| self.retention.seconds.iter().flat_map(move |kept| self.reads.iter().map(move |reads| (pe, *kept, *reads)));
        self.pe.iter().flat_map(|pe| of(*pe)).collect()
    }
}

/// One page read under one condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Chip of the lot.
    pub chip: u32,
    /// Block of the chip.
    pub block: u32,
    /// H-layer, 0 the topmost.
    pub layer: u32,
    /// Wordline of the block.
    pub wordline: u32,
    /// Page of the wordline, 0 the LSB page.
    pub page: u32,
    /// P/E cycles.
    pub pe: u32,
    /// Retention in seconds.
    pub retention_s: f64,
    /// Temperature of the retention, in degrees Celsius.
    pub temperature_c: f64,
    /// Reads of the block before.
    pub reads: u64,
    /// Bits of the page, spare area included.
    pub bits: u64,
    /// Rest of the block before its program, as before each of its erases.
    pub dwell_s: f64,
    /// Wrong bits of the page.
    pub errors: u64,
    /// Wrong bits of the page's worst codeword.
    pub worst_codeword_errors: u32,
    /// The same read with the references at which its wordline has the fewest wrong bits, if that was asked for.
    pub best: Option<Errors>,
    /// Number of retries of the read.
    pub retries: u32,
    /// t_PROG of the page's wordline.
    pub t_prog_us: f64,
    /// t_BERS of the page's block.
    pub t_bers_us: f64,
}

/// Reads all pages of a block in all conditions. `at_best`: with the best references as well, which takes as long again.
pub fn read_block(lot: &Lot, grid: &Grid, block: &Block, at_best: bool) -> Vec<Row> {
    let model = &lot.model;
    let shape = model.physics().shape;
    let entries: Vec<References> = (0..=model.retry_entries()).map(|entry| model.references(entry)).collect();
    let mut rates = vec![Vec::new(); lot.pages() as usize];
    let mut rows = Vec::with_capacity(grid.cells().len() * shape.wordlines() as usize * rates.len());
    for (number, (pe, kept, reads)) in grid.cells().into_iter().enumerate() {
        let history = lot.worn(f64::from(pe));
        let retention = model.kept(kept, Celsius(grid.retention.celsius));
        let condition = lot.after(history, retention).read(reads as f64);
        let erase = model.erase(block, &history);
        for layer in 0..shape.layers {
            let traits = model.traits(block, layer);
            let state = model.wordline(&traits, &condition);
            let program = model.program(&traits, &history, &Settings::default());
            let best = at_best.then(|| lot.rates(&state, &state.optimal()));
            // All wordlines of an h-layer have the same error rates; they are worked out as far down the table as any of them has to go.
            rates.iter_mut().for_each(Vec::clear);
            for within in 0..shape.wordlines_per_layer {
                let wordline = layer * shape.wordlines_per_layer + within;
                for (page, known) in rates.iter_mut().enumerate() {
                    let luck = |what: u32| lot.luck([block.chip, block.block, wordline * 8 + page as u32, number as u32 * 4 + what]);
                    let tries = entries.iter().enumerate().map(|(entry, references)| {
                        if entry == known.len() {
                            known.push(state.error_rate(model, page as u32, references));
                        }
                        known[entry]
                    });
                    let reading = model.read_at(state.wear, luck(0), luck(1), tries);
                    let best = best.as_ref().map(|rates| model.read_at(state.wear, luck(0), luck(1), [rates[page]]).first);
                    rows.push(Row {
                        chip: block.chip,
                        block: block.block,
                        layer,
                        wordline,
                        page: page as u32,
                        pe,
                        retention_s: kept,
                        temperature_c: grid.retention.celsius,
                        reads,
                        bits: u64::from(shape.cells()),
                        dwell_s: lot.dwell,
                        errors: u64::from(reading.first.page),
                        worst_codeword_errors: reading.first.worst,
                        best,
                        retries: reading.retries,
                        t_prog_us: program.time,
                        t_bers_us: erase.time,
                    });
                }
            }
        }
    }
    rows
}

/// The groups of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Group by chip.
    Chip,
    /// Group by block of a chip.
    Block,
    /// Group by h-layer.
    Layer,
    /// Group by wordline of a block.
    Wordline,
    /// Group by page of a wordline.
    Page,
}

impl By {
    /// All groupings, with the word for each.
    pub const ALL: [(&'static str, By); 5] =
        [("chip", By::Chip), ("block", By::Block), ("layer", By::Layer), ("wordline", By::Wordline), ("page", By::Page)];

    fn of(self, row: &Row) -> u32 {
        match self {
            By::Chip => row.chip,
            By::Block => row.block,
            By::Layer => row.layer,
            By::Wordline => row.wordline,
            By::Page => row.page,
        }
    }

    /// The grouping's word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, by)| *by == self).map_or("", |(word, _)| *word)
    }
}

/// Sums over some pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    pages: u64,
    bits: u64,
    errors: u64,
    worst: u32,
    retried: u64,
    retries: u64,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.pages += other.pages;
        self.bits += other.bits;
        self.errors += other.errors;
        self.worst = self.worst.max(other.worst);
        self.retried += other.retried;
        self.retries += other.retries;
    }

    fn rate(&self) -> f64 {
        self.errors as f64 / self.bits.max(1) as f64
    }
}

/// Summary of a characterisation: sums for each condition and group, whole numbers all, so that the order of blocks does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    groups: BTreeMap<(usize, u32), Sum>,
    layers: BTreeMap<(usize, u32), Sum>,
    histogram: BTreeMap<(usize, u32), u64>,
}

impl Summary {
    /// Adds the rows of one block, in the order in which [`read_block`] gives them.
    pub fn take(&mut self, grid: &Grid, by: By, rows: &[Row]) {
        let each = rows.len() / grid.cells().len().max(1);
        for (index, row) in rows.iter().enumerate() {
            let condition = index / each.max(1);
            let one = Sum {
                pages: 1,
                bits: row.bits,
                errors: row.errors,
                worst: row.worst_codeword_errors,
                retried: u64::from(row.retries > 0),
                retries: u64::from(row.retries),
            };
            self.groups.entry((condition, by.of(row))).or_default().add(&one);
            self.layers.entry((condition, row.layer)).or_default().add(&one);
            *self.histogram.entry((condition, row.retries)).or_default() += 1;
        }
    }

    fn whole(&self, condition: usize) -> Sum {
        let mut sum = Sum::default();
        self.layers.range((condition, 0)..(condition + 1, 0)).for_each(|(_, of)| sum.add(of));
        sum
    }

    /// The summary as a text: one line for each condition, then one for each group with a column for each condition.
    pub fn text(&self, grid: &Grid, by: By) -> String {
        let cells = grid.cells();
        let mut text = format!(
            "{:>8} {:>10} {:>8}   {:>9}  {:>6}  {:>8}  {:>7}\n",
            "P/E", "retention", "reads", "RBER", "worst", "retried", "retries"
        );
        for (number, (pe, kept, reads)) in cells.iter().enumerate() {
            let sum = self.whole(number);
            text += &format!(
                "{pe:>8} {:>10} {reads:>8}   {:>9}  {:>6}  {:>6.1} %  {:>7.3}\n",
                span_text(*kept),
                scientific(sum.rate()),
                sum.worst,
                100.0 * sum.retried as f64 / sum.pages.max(1) as f64,
                sum.retries as f64 / sum.pages.max(1) as f64
            );
        }
        let shown = cells.len().min(6);
        text += &format!("\nRBER by {}", by.word());
        if shown < cells.len() {
            text += &format!(", the first {shown} of {} conditions", cells.len());
        }
        text += &format!("\n{:>9}", by.word());
        let head = |(pe, kept, reads): &(u32, f64, u64)| {
            let reads = if grid.reads.len() > 1 { format!("+{reads}r") } else { String::new() };
            format!("{pe}+{}{reads}", span_text(*kept))
        };
        let heads: Vec<String> = cells[..shown].iter().map(head).collect();
        let width = heads.iter().map(String::len).fold(13, usize::max);
        heads.iter().for_each(|head| text += &format!(" {head:>width$}"));
        let mut groups: Vec<u32> = self.groups.keys().map(|(_, group)| *group).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups.iter().take(256) {
            text += &format!("\n{group:>9}");
            for condition in 0..shown {
                let rate = self.groups.get(&(condition, *group)).map_or(f64::NAN, Sum::rate);
                text += &format!(" {:>width$}", scientific(rate));
            }
        }
        if groups.len() > 256 {
            text += &format!("\n{} more are in --out only", groups.len() - 256);
        }
        text
    }

    /// The figures of a summary: error rate over the layers, the block at the hardest condition, error rate over wear and retention, retries.
    pub fn figures(&self, lot: &Lot, grid: &Grid) -> Vec<Figure> {
        let cells = grid.cells();
        let name = |(pe, kept, reads): &(u32, f64, u64)| {
            let reads = if grid.reads.len() > 1 { format!(", {reads} reads") } else { String::new() };
            format!("{pe} P/E, {}{reads}", span_text(*kept))
        };
        let layers = lot.layers() as u32;
        let rate = |condition: usize, layer: u32| self.layers.get(&(condition, layer)).map_or(0.0, Sum::rate);
        let picked: Vec<usize> = pick(cells.len(), 7);
        let curves = picked.iter().enumerate().map(|(colour, condition)| Curve {
            label: name(&cells[*condition]),
            colour,
            dashed: false,
            points: (0..layers).map(|layer| (f64::from(layer), rate(*condition, layer))).collect(),
        });
        let last = cells.len() - 1;
        let wordlines = lot.model.physics().shape.wordlines_per_layer as usize;
        let part = |condition: usize, retries: u32| {
            100.0 * self.histogram.get(&(condition, retries)).copied().unwrap_or(0) as f64 / self.whole(condition).pages.max(1) as f64
        };
        // Of each P/E count the hardest condition, and of many counts a few.
        let hardest = cells.len() / grid.pe.len();
        let shown: Vec<usize> = pick(grid.pe.len(), 4).into_iter().map(|pe| (pe + 1) * hardest - 1).collect();
        // Columns too low to be seen are left out at the end.
        let seen = |(condition, retries): &(usize, u32)| shown.contains(condition) && part(*condition, *retries) >= 0.1;
        let most = self.histogram.keys().filter(|key| seen(key)).map(|(_, retries)| *retries).max().unwrap_or(0);
        let mut figures = vec![
            Figure::Curves(Curves {
                title: "Error rate over the layers".to_owned(),
                note: "default references; layer 0 is the topmost".to_owned(),
                x: Scale::from_zero("h-layer"),
                y: Scale::log("raw bit error rate"),
                curves: curves.collect(),
                marks: Vec::new(),
            }),
            Figure::Cube(Cube {
                title: format!("The block at {}", name(&cells[last])),
                note: "mean over the lot".to_owned(),
                value: "raw bit error rate".to_owned(),
                layers: (0..layers).map(|layer| vec![rate(last, layer); wordlines]).collect(),
                names: Vec::new(),
            }),
            Figure::Columns(Columns {
                title: "Retries".to_owned(),
                note: "vendor's table; the hardest condition of each P/E count".to_owned(),
                x: "retries".to_owned(),
                y: "% of reads".to_owned(),
                groups: (0..=most).map(|retries| retries.to_string()).collect(),
                series: shown
                    .iter()
                    .map(|condition| (name(&cells[*condition]), (0..=most).map(|retries| part(*condition, retries)).collect()))
                    .collect(),
            }),
        ];
        figures.push(self.over_wear(grid));
        figures
    }

    /// Error rate over wear and retention, or over wear and reads where there is one retention and several counts of reads.
    fn over_wear(&self, grid: &Grid) -> Figure {
        let (kept, reads) = (grid.retention.seconds.len(), grid.reads.len());
        let across: Vec<String> = if kept > 1 || reads == 1 {
            grid.retention.seconds.iter().map(|kept| span_text(*kept)).collect()
        } else {
            grid.reads.iter().map(u64::to_string).collect()
        };
        let step = if kept > 1 || reads == 1 { reads } else { 1 };
        Figure::Heat(Heat {
            title: format!("Error rate over wear and {}", if kept > 1 || reads == 1 { "retention" } else { "reads" }),
            note: "default references, mean over the lot".to_owned(),
            x: if kept > 1 || reads == 1 {
                format!("retention at {} °C", grid.retention.celsius)
            } else {
                "reads of the block".to_owned()
            },
            y: "P/E cycles".to_owned(),
            rows: grid
                .pe
                .iter()
                .enumerate()
                .map(|(row, pe)| {
                    (pe.to_string(), (0..across.len()).map(|column| self.whole(row * kept * reads + column * step).rate()).collect())
                })
                .collect(),
            columns: across,
            log: true,
        })
    }
}

/// At most `count` indices below `all`, evenly spread, the first and the last among them.
fn pick(all: usize, count: usize) -> Vec<usize> {
    let count = count.min(all);
    let mut picked: Vec<usize> = (0..count).map(|step| if count > 1 { step * (all - 1) / (count - 1) } else { 0 }).collect();
    picked.dedup();
    picked
}
