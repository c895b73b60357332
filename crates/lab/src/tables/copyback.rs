//! The table of copies in a row without error correction, by P/E count and by age (001 §4.2, Table 6; 000 §3.4.5): one table for both chapters.
//!
//! Blocks are cycled to the end of each bin, their pages copied in a row, and the last copy kept for the retention. The threshold of a block is the most copies
//! after which no page of it fails with more than the risk; that of a class is the worst block's. Classes are told by what firmware can read at no cost: the
//! worst codeword of the pages of one wordline in the h-layer that is weakest in the lot, just after program (`rcftl.ber-binning`).
//!
//! Choices where the sources are open: copies follow at once, as the sources took them, so that a source is sensed just after its program; what copies spread
//! over the retention would lose is told beside. Thresholds do not rise with wear. A bin of age that no block was in has what the next older one has.
//! Ages are those of the `[aging]` of the same lot, half and seed.

use wordline_cells::{Block, References, Traits};
use wordline_flash::ReadOffsets;
use wordline_flash::tables::{Aging, CopyIndex, CopyReferences, Copyback};

use super::aging::{Cycler, seen};
use super::text::{list, share as share_text, source, span};
use super::{Figures, Found, Half, open, walk};
use crate::bench::Setup;
use crate::copies::Chain;
use crate::error::LabError;
use crate::lot::{Lot, mean, quantile, share};
use crate::protocol::{Count, Cycles, Number, Rising, Share, Span, conditions};

conditions! {
    "copyback_table",
    /// Conditions of the blocks that are copied.
    struct At {
        /// P/E counts that end the bins
        pe: Rising<Cycles, 2>,
        /// retentions after the last copy
        kept: Rising<Span, 1>,
        /// number of copies at which counting gives up
        copies_most: Count,
        /// number of weakest h-layers that are told
        weakest: Count,
        /// shares of the blocks of a bin below the bounds of the best and of the median class
        quantiles: [Share; 2],
        /// probability up to which the worst page of a block may be uncorrectable
        risk: Share,
        /// factor by which the risk that thresholds are fitted to is less
        guard: Number,
    }
}

/// The ways in which sources of copies are sensed.
const BOTH: [CopyReferences; 2] = [CopyReferences::Default, CopyReferences::Set];

/// A block at the end of a bin of P/E counts.
#[derive(Clone, Debug)]
struct Sample {
    bin: usize,
    age: u16,
    /// Wrong bits of the worst codeword of the pages by which classes are told.
    shown: u32,
    /// Probability that its worst page is lost, for each retention and way of sensing, after each number of copies.
    lost: Vec<Vec<f64>>,
    /// The same for copies at the default references spread evenly over the retention, for each retention.
    spread: Vec<Vec<f64>>,
}

struct Copier<'l> {
    lot: &'l Lot,
    at: &'l At,
    cycler: &'l Cycler<'l>,
    aging: &'l Aging,
    /// References of the set.
    set: References,
    /// H-layers, weakest first.
    order: Vec<u32>,
}

impl Copier<'_> {
    /// Samples of a block while it lives. `whole`: with copies that are spread over the retention.
    fn samples(&self, block: &Block, whole: bool) -> Vec<Sample> {
        let (lot, at, model) = (self.lot, self.at, &self.lot.model);
        let (traits, weak, dwell) = (lot.traits(block), self.cycler.weakest(block), self.cycler.dwell(block));
        let default = model.references(0);
        let mut samples = Vec::new();
        for (bin, pe) in at.pe.iter().enumerate() {
            let look = self.cycler.look(block, &traits, &weak, *pe, dwell);
            if look.sight.n12 > lot.limit() {
                break;
            }
            let history = lot.cycled(*pe, dwell);
            let fresh = lot.after(history, 0.0);
            let told = model.wordline(&traits[self.order[0] as usize], &fresh);
            let shown = (0..lot.pages()).map(|page| {
                let luck = |what: u32| lot.luck([block.chip, block.block, (bin as u32) << 4 | page, what]);
                model.errors(told.error_rate(model, page, &default), told.wear, luck(0xc0), luck(0xc1)).worst
            });
            let worst = |chain: &Chain| {
                let of = |traits: &Traits| chain.rates(lot, traits);
                let all: Vec<Vec<f64>> = traits.iter().map(of).collect();
                (0..=at.copies_most as usize)
                    .map(|copies| model.uncorrectable(all.iter().map(|rates| rates[copies]).fold(0.0, f64::max)))
                    .collect()
            };
            let chain = |kept: f64, references: References| Chain {
                sensed: fresh,
                references,
                last: lot.after(history, kept),
                most: at.copies_most,
            };
            let lost = at.kept.iter().flat_map(|kept| [default, self.set].map(|references| worst(&chain(*kept, references))));
            let lost = lost.collect();
            // Each number of copies has intervals of its own.
            let spread = |kept: &f64| {
                let of = |copies: u32| -> f64 {
                    let part = lot.after(history, kept / f64::from(copies + 1));
                    let chain = Chain { sensed: part, references: default, last: part, most: copies };
                    let rate = traits.iter().map(|traits| chain.rates(lot, traits)[copies as usize]).fold(0.0, f64::max);
                    model.uncorrectable(rate)
                };
                (0..=at.copies_most.min(6)).map(of).collect()
            };
            samples.push(Sample {
                bin,
                age: self.aging.age(&seen(self.cycler, self.aging, &look)),
                shown: shown.max().unwrap_or(0),
                lost,
                spread: if whole { at.kept.iter().map(spread).collect() } else { Vec::new() },
            });
        }
        samples
    }

    /// Most copies after which a block does not fail with more than the risk that thresholds are fitted to.
    fn threshold(&self, lost: &[f64]) -> u32 {
        let risk = self.at.risk / self.at.guard;
        lost.iter().skip(1).take_while(|lost| **lost <= risk).count() as u32
    }

    /// Classes and thresholds of an index. `pick`: what a class has of its blocks' thresholds, the least.
    fn index(&self, samples: &[Sample], bins: usize, bin: &dyn Fn(&Sample) -> usize, pick: fn(&[u32]) -> u32) -> CopyIndex {
        let held: Vec<Vec<&Sample>> = (0..bins).map(|of| samples.iter().filter(|sample| bin(sample) == of).collect()).collect();
        // What nobody was in has what the next older has.
        let filled = |of: usize| held[of..].iter().find(|samples| !samples.is_empty());
        let bounds = |of: usize| -> [u32; 2] {
            let Some(samples) = filled(of) else { return [0; 2] };
            let shown: Vec<f64> = samples.iter().map(|sample| f64::from(sample.shown)).collect();
            let [best, median] = self.at.quantiles.map(|part| libm::floor(quantile(&shown, part)) as u32);
            [best, median.max(best)]
        };
        let class_errors: Vec<[u32; 2]> = (0..bins).map(bounds).collect();
        let mut index = CopyIndex { class_errors, thresholds: Vec::new(), with_set: Vec::new() };
        for (which, references) in BOTH.into_iter().enumerate() {
            let mut rows: Vec<Vec<u32>> = Vec::new();
            for column in 0..self.at.kept.len() {
                let mut classes = vec![vec![0; bins]; Copyback::CLASSES];
                for of in 0..bins {
                    let Some(samples) = filled(of) else { continue };
                    let own = |sample: &&&Sample| self.threshold(&sample.lost[column * BOTH.len() + which]);
                    let all: Vec<u32> = samples.iter().map(|sample| own(&sample)).collect();
                    for class in 0..Copyback::CLASSES {
                        let within: Vec<u32> =
                            samples.iter().filter(|sample| index.class(of, sample.shown) == class).map(|sample| own(&sample)).collect();
                        let mut most = if within.is_empty() { pick(&all) } else { pick(&within) };
                        if of > 0 {
                            most = most.min(classes[class][of - 1]);
                        }
                        if class > 0 {
                            most = most.min(classes[class - 1][of]);
                        }
                        classes[class][of] = most;
                    }
                }
                rows.extend(classes);
            }
            match references {
                CopyReferences::Default => index.thresholds = rows,
                CopyReferences::Set => index.with_set = rows,
            }
        }
        index
    }
}

fn least(values: &[u32]) -> u32 {
    values.iter().copied().min().unwrap_or(0)
}

/// Characterises copies in a row on a setup's lot.
///
/// # Errors
///
/// There is no such chip, it has no physics, or the lot has one chip only.
pub fn characterise(setup: &Setup) -> Result<Found<Copyback>, LabError> {
    found(setup, least)
}

/// An index of the table, the bin of it that a sample belongs to, and the names of the figures that judge it.
type Judged<'t> = (&'t CopyIndex, &'t dyn Fn(&Sample) -> usize, [&'static str; 6]);

/// The table as [`characterise`] finds it, with what a class has of its blocks' thresholds.
fn found(setup: &Setup, pick: fn(&[u32]) -> u32) -> Result<Found<Copyback>, LabError> {
    let (lot, at) = (open(setup, "copyback")?, At::of(setup)?);
    let aging = super::aging(setup)?.table;
    let cycler = Cycler::new(&lot, setup)?;
    let model = &lot.model;
    // Which h-layers are weak, and where the best references lie just after program: means over the fitted half at the last bin and at all bins.
    let order = weak_first(&lot, &at, setup);
    let (step, count, default) = (ReadOffsets::STEP.millivolts(), model.physics().shape.states() - 1, model.references(0));
    let best = walk(&lot, setup, Half::Fitted, "best references", |block| {
        let weak = cycler.weakest(block);
        at.pe.iter().map(|pe| model.wordline(&weak, &lot.aged(*pe, 0.0)).optimal()).collect::<Vec<_>>()
    })
    .concat();
    let steps: Vec<i8> = (0..count)
        .map(|number| {
            libm::round(mean(&best.iter().map(|of| of[number] - default[number]).collect::<Vec<_>>()) / step).clamp(-128.0, 127.0) as i8
        })
        .collect();
    let mut set = default;
    set.iter_mut().zip(&steps).for_each(|(reference, steps)| *reference += f64::from(*steps) * step);
    let copier = Copier { lot: &lot, at: &at, cycler: &cycler, aging: &aging, set, order };
    let known = walk(&lot, setup, Half::Fitted, "blocks to fit on", |block| copier.samples(block, false)).concat();
    let fresh = walk(&lot, setup, Half::Judged, "blocks to judge by", |block| copier.samples(block, true)).concat();
    if known.is_empty() || fresh.is_empty() {
        return Err(LabError::Usage(format!(
            "copyback, lot {}: no block lives to {} cycles; expected a larger lot, such as 16x12",
            setup.lot, at.pe[0]
        )));
    }
    let table = Copyback {
        seed: setup.seed,
        pe: at.pe.iter().map(|pe| *pe as u32).collect(),
        retention: at.kept.iter().map(|kept| *kept as u32).collect(),
        layers: copier.order.iter().copied().take(at.weakest as usize).collect(),
        set: steps.iter().zip(1..).fold(ReadOffsets::NONE, |held, (steps, reference)| held.with(reference, *steps)),
        by_age: copier.index(&known, Copyback::AGES, &|sample| Copyback::age_bin(sample.age), pick),
        by_pe: copier.index(&known, at.pe.len(), &|sample| sample.bin, pick),
        risk: at.risk,
    };
    let mut figures = Figures::default();
    let indices: [Judged<'_>; 2] = [
        (&table.by_pe, &|sample: &Sample| sample.bin, ["pe-over", "pe-lost", "pe-given", "pe-own", "pe-set-over", "pe-spread-over"]),
        (
            &table.by_age,
            &|sample: &Sample| Copyback::age_bin(sample.age),
            ["age-over", "age-lost", "age-given", "age-own", "age-set-over", "age-spread-over"],
        ),
    ];
    for index in indices {
        judge(&copier, &fresh, index, &mut figures);
    }
    figures.set("blocks", fresh.len() as f64, "blocks at the end of a bin that the table was judged by");
    let how = format!(
        "copies in a row just after program, thresholds of the worst block of a class, fitted to 1/{} of the risk; ages by the [aging] of the same lot and half",
        at.guard
    );
    Ok(Found { source: source(setup, &lot, "copyback", &how), keys: keys(&table, &steps), section: "copyback", judged: figures.0, table })
}

/// H-layers, the weakest first, by their mean over the fitted half at the last bin.
fn weak_first(lot: &Lot, at: &At, setup: &Setup) -> Vec<u32> {
    let (late, longest) = (at.pe[at.pe.len() - 1], at.kept[at.kept.len() - 1]);
    let layers = walk(lot, setup, Half::Fitted, "h-layers", |block| {
        let traits = lot.traits(block);
        traits.iter().map(|traits| lot.worst_page(traits, &lot.aged(late, longest))).collect::<Vec<f64>>()
    });
    let of_layer: Vec<f64> = (0..lot.layers()).map(|layer| mean(&layers.iter().map(|block| block[layer]).collect::<Vec<_>>())).collect();
    let mut order: Vec<u32> = (0..lot.layers() as u32).collect();
    order.sort_by(|a, b| of_layer[*b as usize].total_cmp(&of_layer[*a as usize]));
    order
}

/// Judges one index of the table by fresh blocks.
fn judge(copier: &Copier<'_>, fresh: &[Sample], (index, bin, names): Judged<'_>, figures: &mut Figures) {
    let at = copier.at;
    let given = |sample: &Sample, column: usize, references: CopyReferences| {
        index.threshold(references, column, index.class(bin(sample), sample.shown), bin(sample))
    };
    let columns = || fresh.iter().flat_map(|sample| (0..at.kept.len()).map(move |column| (sample, column)));
    let lost = |which: usize, references: CopyReferences| -> Vec<f64> {
        let of = |(sample, column): (&Sample, usize)| {
            let copies = given(sample, column, references);
            (copies > 0).then(|| sample.lost[column * BOTH.len() + which][copies as usize])
        };
        columns().filter_map(of).collect()
    };
    let (own, by_set) = (lost(0, BOTH[0]), lost(1, BOTH[1]));
    let over = |lost: &[f64]| if lost.is_empty() { 0.0 } else { 100.0 * share(lost.iter().map(|lost| *lost > at.risk)) };
    figures.set(names[0], over(&own), "% of blocks and retentions at which the class's threshold is beyond the risk");
    figures.set(
        names[1],
        100.0 * if own.is_empty() { 0.0 } else { mean(&own) },
        "% probability that the worst page is lost at the threshold, in the mean",
    );
    let mean_of = |of: &dyn Fn((&Sample, usize)) -> u32| mean(&columns().map(|pair| f64::from(of(pair))).collect::<Vec<_>>());
    figures.set(
        names[2],
        mean_of(&|(sample, column)| given(sample, column, BOTH[0])),
        "copies in a row that the table allows, in the mean",
    );
    figures.set(
        names[3],
        mean_of(&|(sample, column)| copier.threshold(&sample.lost[column * BOTH.len()])),
        "copies that each block by itself could have had",
    );
    figures.set(names[4], over(&by_set), "% as the first of these, where sources are sensed at the set");
    let spread = columns().filter_map(|(sample, column)| {
        let copies = given(sample, column, BOTH[0]) as usize;
        (copies > 0).then(|| sample.spread[column][copies.min(sample.spread[column].len() - 1)])
    });
    figures.set(
        names[5],
        over(&spread.collect::<Vec<_>>()),
        "% as the first of these, if copies (6 at most) were spread evenly over the retention",
    );
}

fn keys(table: &Copyback, set: &[i8]) -> Vec<(&'static str, String)> {
    let errors = |index: &CopyIndex| list(&index.class_errors.iter().map(|bounds| list(bounds)).collect::<Vec<_>>());
    let rows = |rows: &[Vec<u32>]| super::text::lines(&rows.iter().map(|row| list(row)).collect::<Vec<_>>(), Copyback::CLASSES);
    vec![
        ("seed", table.seed.to_string()),
        ("pe", list(&table.pe)),
        ("retention", list(&table.retention.iter().map(|kept| span(*kept)).collect::<Vec<_>>())),
        ("layers", list(&table.layers)),
        ("set", list(set)),
        ("pe_errors", errors(&table.by_pe)),
        ("pe_thresholds", rows(&table.by_pe.thresholds)),
        ("pe_with_set", rows(&table.by_pe.with_set)),
        ("age_errors", errors(&table.by_age)),
        ("age_thresholds", rows(&table.by_age.thresholds)),
        ("age_with_set", rows(&table.by_age.with_set)),
        ("risk", share_text(table.risk)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{lot, parsed};

    #[test]
    fn copies_that_a_class_is_allowed_last_on_other_chips_and_those_of_its_best_block_do_not() {
        // In a lot of twelve blocks a class has too few to tell its worst from its best.
        let setup = lot("6x4", 1_001);
        let made = characterise(&setup).expect("a table");
        assert_eq!(parsed(&made.text()).copyback.as_deref(), Some(&made.table));
        // Fixed before a figure was seen: one block and retention in twenty over the risk in so small a lot; and the table allows something.
        for (over, given) in [("pe-over", "pe-given"), ("age-over", "age-given")] {
            assert!(made.figure(over) <= 5.0, "{over}: {} %", made.figure(over));
            assert!(made.figure(given) > 0.5, "{given}: {}", made.figure(given));
        }
        // What breaks the promise above is found out by the same figure.
        let best = found(&setup, |values| values.iter().copied().max().unwrap_or(0)).expect("a table");
        assert!(best.figure("pe-over") > 10.0, "{} %: thresholds of the best block go unnoticed", best.figure("pe-over"));
    }
}
