//! Bench of read retries: how many reads need, by the vendor's table, by what an h-layer needed last (003 §4.2, §6.2), and by tables indexed by P/E count or
//! by age (000 §3.4.2).

use wordline_cells::{Block, Condition, References, Traits};
use wordline_pages::html::figure::{Columns, Figure, Heat};

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, greatest, least, mean, share};
use crate::protocol::{Count, Cycles, Number, Rising, Share, Span, conditions};

/// The `retries` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "retries",
    summary: "Read retries by the vendor's table, by h-layer, and by tables indexed by P/E count or age",
    metrics: &[
        m("fresh", "share", "Reads of a fresh block that need a retry"),
        m("month", "share", "Reads of a worn block after the shorter retention that need a retry"),
        m("year", "share", "Reads of a worn block after the longer retention that need a retry"),
        m(
            "layer-gain",
            "share",
            "Fewer retries when each h-layer starts with what was best for it last, mean of both retentions of a worn block",
        ),
        m("layer-dominates", "share", "Counts of retries for which the h-layer scheme has at least as many reads at or below"),
        m(
            "layer-mispredicts",
            "share",
            "Reads that need a retry though a page of their kind in their h-layer was read before, worn and after the longer retention",
        ),
        m("pe-most", "count", "Most retries with a table indexed by P/E count, after the longer retention"),
        m("pe-least", "count", "Fewest retries with it"),
        m("pe-beyond", "share", "Reads that need more than seven retries with a table indexed by P/E count"),
        m("age-most", "count", "Most retries with a table indexed by age"),
        m("age-beyond", "share", "Reads that need more than two retries with it"),
        m(
            "indexed-lost",
            "share",
            "Reads that neither these tables nor the vendor's behind them bring back; they are in none of the figures of retries",
        ),
        m("stage-order", "share", "Steps from child to young adult to old adult with which the most retries by P/E count do not fall"),
        m("uncorrected", "share", "Reads of a worn block after the longer retention that the vendor's table does not bring back"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "retries",
    /// Conditions of the blocks that are read, and of the tables that are built for them.
    struct At {
        /// cycles of a worn block
        worn: Cycles,
        /// a shorter and a longer retention
        kept: [Span; 2],
        /// P/E counts of the blocks that tables are built from and tried on
        counts: Rising<Cycles, 2>,
        /// dwells of these blocks, each with equal probability
        dwells: [Span; 2],
        /// P/E counts of child, young adult and old adult
        stages: Rising<Cycles, 3>,
        /// number of steps of age that a table has
        ages: Count,
        /// number of h-layers that have tables of their own
        layers: Count,
        /// spacing of the h-layers that are measured to find a block's age, in layers
        every: Count,
        /// share of the correctable errors up to which an entry of a table serves a block
        serves: Number,
        /// number of retries up to which two ways of reading are compared
        compared: Count,
        /// P/E counts of the map of retries
        map_pe: Rising<Cycles, 2>,
        /// retentions of the map of retries
        map_kept: Rising<Span, 2>,
        /// share of the blocks that have the first dwell
        first: Share,
    }
}

/// Retries of the reads of all pages of a block: with the vendor's table, and from the h-layer's last entry.
struct Seen {
    plain: Vec<u32>,
    layered: Vec<u32>,
    again: Vec<u32>,
    lost: u32,
}

fn dice(lot: &Lot, block: &Block, page: u32, what: u32) -> u64 {
    lot.luck([block.chip, block.block, page, what])
}

fn read_block(lot: &Lot, block: &Block, condition: &Condition) -> Seen {
    let model = &lot.model;
    let entries: Vec<References> = (0..=model.retry_entries()).map(|entry| model.references(entry)).collect();
    let wordlines = model.physics().shape.wordlines_per_layer;
    let (mut plain, mut layered, mut again, mut lost) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (layer, traits) in lot.traits(block).iter().enumerate() {
        let wordline = model.wordline(traits, condition);
        // A read tells about the references of its page alone.
        let mut held: [Option<usize>; 4] = [None; 4];
        for number in 0..wordlines {
            for page in 0..lot.pages() {
                let name = (layer as u32 * wordlines + number) * 4 + page;
                let (bits, noise) = (dice(lot, block, name, 1), dice(lot, block, name, 2));
                let reading = model.read_through(&wordline, page, bits, noise, entries.iter().copied());
                plain.push(reading.retries);
                lost += u32::from(!reading.corrected);
                // The h-layer's own entry first, then those around it.
                let order = held[page as usize].map_or_else(|| (0..entries.len()).collect(), |start| around(start, entries.len()));
                let own = model.read_through(&wordline, page, bits, noise, order.iter().map(|entry| entries[*entry]));
                layered.push(own.retries);
                if held[page as usize].is_some() {
                    again.push(own.retries);
                }
                // What was found wanting is replaced by the entry that served: nothing else is known of a page that was read.
                if own.corrected {
                    held[page as usize] = Some(order[own.retries as usize]);
                }
            }
        }
    }
    Seen { plain, layered, again, lost }
}

/// Indices of all entries of a table, nearest to `start` first. Of two equally near the one further from the default comes first.
fn around(start: usize, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|entry| (entry.abs_diff(start), *entry < start));
    order
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let mut findings = Findings::default();
    let states = [(0.0, 0.0), (at.worn, at.kept[0]), (at.worn, at.kept[1])];
    let seen: Vec<Vec<Seen>> = states.map(|(pe, kept)| lot.map(|block| read_block(&lot, block, &lot.aged(pe, kept)))).into_iter().collect();
    for (state, (pe, kept)) in states.iter().enumerate() {
        let when = format!("at {pe} P/E and {}", span_text(*kept));
        let of_block = |of: &[u32]| mean(&of.iter().map(|retries| f64::from(*retries)).collect::<Vec<f64>>());
        findings.of_blocks(&lot, &format!("retries of a read {when}"), seen[state].iter().map(|seen| of_block(&seen.plain)));
        findings.of_blocks(
            &lot,
            &format!("retries of a read that begins at the entry of its h-layer, {when}"),
            seen[state].iter().map(|seen| of_block(&seen.layered)),
        );
    }
    let retried = |state: usize| share(seen[state].iter().flat_map(|seen| seen.plain.iter().map(|retries| *retries > 0)));
    findings.set("fresh", retried(0));
    findings.set("month", retried(1));
    findings.set("year", retried(2));
    let of = |state: usize, get: fn(&Seen) -> &Vec<u32>| {
        seen[state].iter().flat_map(|seen| get(seen).iter().map(|retries| f64::from(*retries))).collect::<Vec<f64>>()
    };
    let gain = |state: usize| 1.0 - mean(&of(state, |seen| &seen.layered)) / mean(&of(state, |seen| &seen.plain));
    findings.set("layer-gain", 0.5 * (gain(1) + gain(2)));
    let below = |values: &[f64], count: f64| share(values.iter().map(|retries| *retries <= count));
    let (plain, layered) = (of(2, |seen| &seen.plain), of(2, |seen| &seen.layered));
    findings
        .set("layer-dominates", share((0..at.compared).map(|count| below(&layered, f64::from(count)) >= below(&plain, f64::from(count)))));
    findings.set("layer-mispredicts", share(of(2, |seen| &seen.again).iter().map(|retries| *retries > 0.0)));
    findings.set("uncorrected", f64::from(seen[2].iter().map(|seen| seen.lost).sum::<u32>()) / plain.len() as f64);
    let tables = indexed(&lot, &at, &mut findings);
    findings.figures = figures(&lot, &at, &plain, &layered, &tables);
    Ok(findings)
}

/// A block in its condition for the tables: its marker's values and the wordlines that are measured.
struct Case {
    pe: f64,
    age: f64,
    block: Block,
    condition: Condition,
}

/// Retries by P/E count and by age, with tables that are built off-line from half of the blocks and tried on the other half.
fn indexed(lot: &Lot, at: &At, findings: &mut Findings) -> [Vec<f64>; 2] {
    let cases = |half: u32| -> Vec<Case> {
        let blocks: Vec<Block> = (0..lot.size.chips)
            .flat_map(|chip| (0..lot.size.blocks).map(move |block| (chip, block)))
            .filter(|(_, block)| block % 2 == half)
            .map(|(chip, block)| lot.block(chip, block))
            .collect();
        let mut cases = Vec::new();
        for block in blocks {
            let traits = lot.traits(&block);
            for pe in &at.counts {
                // Blocks of a drive differ in dwell, which a P/E count does not tell.
                let dwell = at.dwells[usize::from(lot.dice([block.chip, block.block, 0, 5]) >= at.first)];
                let condition = lot.after(lot.cycled(*pe, dwell), at.kept[1]);
                let worst = lot.worst_wordline(&traits.iter().copied().step_by(at.every as usize).collect::<Vec<_>>(), &condition);
                if worst <= lot.limit() {
                    cases.push(Case { pe: *pe, age: worst / lot.limit(), block, condition });
                }
            }
        }
        cases
    };
    let (known, tried) = (cases(0), cases(1));
    let by_pe = |case: &Case| case.pe as u32;
    let by_age = |case: &Case| (case.age * f64::from(at.ages)) as u32;
    // The table by P/E count begins at the default references, as that of 000 §3.4.2 does.
    let retries = [attempt(lot, at, &known, &tried, (&by_pe, true)), attempt(lot, at, &known, &tried, (&by_age, false))];
    findings.set("indexed-lost", share(retries.iter().flatten().map(|(_, retries)| retries.is_none())));
    let of_count = |pe: f64| retries[0].iter().filter(|(count, _)| *count == pe).filter_map(|(_, retries)| *retries).collect::<Vec<f64>>();
    // Child, young adult and old adult.
    let most = |pe: f64| greatest(&of_count(pe));
    findings.set("stage-order", share(at.stages.windows(2).map(|pair| most(pair[1]) >= most(pair[0]))));
    let [pe, age] = retries.map(|of| of.into_iter().filter_map(|(_, retries)| retries).collect::<Vec<f64>>());
    let beyond = |retries: &[f64], most: f64| share(retries.iter().map(|count| *count > most));
    findings.set("pe-most", greatest(&pe));
    findings.set("pe-least", least(&pe));
    findings.set("pe-beyond", beyond(&pe, 7.0));
    findings.set("age-most", greatest(&age));
    findings.set("age-beyond", beyond(&age, 2.0));
    [pe, age]
}

/// For each table entry the references that the known blocks of that entry and layer need, in the order of how far they lie: the sequence a read goes through.
///
/// Behind the sequence the vendor's table goes on. `from_default`: before it the default references are tried. For each read its P/E count and its retries;
/// `None`: no entry brings it back.
fn attempt(
    lot: &Lot,
    at: &At,
    known: &[Case],
    tried: &[Case],
    (index, from_default): (&(dyn Fn(&Case) -> u32 + Sync), bool),
) -> Vec<(f64, Option<f64>)> {
    let vendor: Vec<References> = (0..=lot.model.retry_entries()).map(|entry| lot.model.references(entry)).collect();
    let every = (lot.layers() / at.layers as usize).max(1);
    let mut keys: Vec<u32> = tried.iter().map(index).collect();
    keys.sort_unstable();
    keys.dedup();
    let per_key = wordline_runs::parallel::map(lot.threads, keys.len(), |number| {
        let key = keys[number];
        let mut found = Vec::new();
        for layer in (0..lot.layers()).step_by(every) {
            let wordline = |case: &Case| {
                let traits: Traits = lot.model.traits(&case.block, layer as u32);
                lot.model.wordline(&traits, &case.condition)
            };
            // The nearest entry stands in where no known block has this one.
            let distance = least(&known.iter().map(|case| f64::from(index(case).abs_diff(key))).collect::<Vec<_>>());
            let of_key: Vec<_> = known.iter().filter(|case| f64::from(index(case).abs_diff(key)) <= distance).map(wordline).collect();
            let mut best: Vec<References> = of_key.iter().map(wordline_cells::Wordline::optimal).collect();
            let place = |references: &References| references.iter().sum::<f64>();
            best.sort_by(|a, b| place(b).total_cmp(&place(a)));
            // From the least moved on, the next entry is the first block's that the last entry does not serve.
            let serves = |references: &References, wordline: &wordline_cells::Wordline| {
                lot.rates(wordline, references).into_iter().fold(0.0, f64::max) * lot.model.codeword_bits() <= at.serves * lot.limit()
            };
            let mut order: Vec<usize> = (0..of_key.len()).collect();
            order.sort_by(|a, b| place(&of_key[*b].optimal()).total_cmp(&place(&of_key[*a].optimal())));
            let mut sequence: Vec<References> = best.first().copied().into_iter().collect();
            for next in order {
                if !sequence.iter().any(|references| serves(references, &of_key[next])) {
                    sequence.push(of_key[next].optimal());
                }
            }
            for case in tried.iter().filter(|case| index(case) == key) {
                let wordline = wordline(case);
                for page in 0..lot.pages() {
                    let name = layer as u32 * 4 + page;
                    let (bits, noise) = (dice(lot, &case.block, name, 3), dice(lot, &case.block, name, 4));
                    let first = vendor.iter().copied().filter(|_| from_default).take(1);
                    let ladder = first.chain(sequence.iter().copied()).chain(vendor.iter().copied().skip(1));
                    let reading = lot.model.read_through(&wordline, page, bits, noise, ladder);
                    found.push((case.pe, reading.corrected.then_some(f64::from(reading.retries))));
                }
            }
        }
        found
    });
    per_key.into_iter().flatten().collect()
}

fn figures(lot: &Lot, at: &At, plain: &[f64], layered: &[f64], tables: &[Vec<f64>; 2]) -> Vec<Figure> {
    let columns = |title: &str, series: [(&str, &[f64]); 2]| {
        let most = greatest(&series.iter().flat_map(|(_, values)| values.iter().copied()).collect::<Vec<_>>()) as usize;
        let part = |values: &[f64], count: usize| 100.0 * share(values.iter().map(|retries| *retries as usize == count));
        Figure::Columns(Columns {
            title: title.to_owned(),
            note: String::new(),
            x: "retries".to_owned(),
            y: "% of reads".to_owned(),
            groups: (0..=most).map(|count| count.to_string()).collect(),
            series: series.map(|(label, values)| (label.to_owned(), (0..=most).map(|count| part(values, count)).collect())).to_vec(),
        })
    };
    let block = lot.block(0, 0);
    let retries = |pe: f64, kept: f64| {
        mean(&read_block(lot, &block, &lot.aged(pe, kept)).plain.iter().map(|retries| f64::from(*retries)).collect::<Vec<_>>())
    };
    let row = |pe: &f64| (format!("{pe}"), at.map_kept.iter().map(|kept| retries(*pe, *kept)).collect());
    let rows = at.map_pe.iter().map(row).collect();
    vec![
        columns(
            &format!("Retries at {} P/E and {}", at.worn, span_text(at.kept[1])),
            [("vendor's table", plain), ("h-layer's last entry first", layered)],
        ),
        columns("Retries with tables built off-line", [("by P/E count", &tables[0]), ("by age", &tables[1])]),
        Figure::Heat(Heat {
            title: "Mean retries over wear and retention".to_owned(),
            note: "vendor's table, one block".to_owned(),
            x: "retention at 30 °C".to_owned(),
            y: "P/E cycles".to_owned(),
            columns: at.map_kept.iter().map(|kept| span_text(*kept)).collect(),
            rows,
            log: false,
        }),
    ]
}
