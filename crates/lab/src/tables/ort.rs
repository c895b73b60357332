//! The table of read references to begin with, by age and by P/E count (000 §3.4.1, §3.4.2).
//!
//! Wordlines of the fitted half are cycled, kept and read to every place of the table, and their best references are searched for, as offsets to the default
//! ones in registers' steps. The offsets are gathered into a few sets, and each place gets the sets that serve most of its wordlines, three at most, so that
//! two retries are the most where the table holds. The table by P/E count is built by the same code from the same wordlines.
//!
//! Choices where the source is open (`ort.lookup`):
//! - A column of retention reaches from the end of the one before to its own end; one more is for data of which it is not known, up to the longest.
//! - Ages are those that firmware will tell, by the `[aging]` of the same lot, half and seed, raised as firmware raises them.
//! - H-layers are put into classes by how far their references move. Temperature is no axis: writes and reads are at room temperature.
//! - `proven` is the longest retention up to which no read of the other half took more than two retries, over all its h-layers and reads. A step that no block
//!   of that half was in is not proven.

use wordline_cells::{Block, Condition, References, Traits, Wordline};
use wordline_flash::ReadOffsets;
use wordline_flash::tables::{Aging, Ort, OrtIndex, OrtPlace, Sequence};

use super::aging::{Cycler, seen};
use super::text::{lines, list, source, span};
use super::{Figures, Found, Half, open, walk};
use crate::bench::Setup;
use crate::error::LabError;
use crate::lot::{Lot, mean, share};
use crate::protocol::{Count, Cycles, Protocol, Reads, Rising, Share, Span, conditions};

conditions! {
    "ort",
    /// Conditions of the blocks that are read, and the places of the table.
    struct At {
        /// P/E counts that end the steps of the index by P/E count
        pe: Rising<Cycles, 2>,
        /// retentions that end the columns
        retention: Rising<Span, 2>,
        /// reads that end the steps of reads
        reads: Rising<Reads, 2>,
        /// number of classes of h-layers
        classes: Count,
        /// number of sets, at most
        sets: Count,
        /// cycles and retention by which h-layers are put into classes
        named: (Cycles, Span),
        /// probability up to which a page that a set serves may be uncorrectable
        risk: Share,
    }
}

/// Conditions of the table.
pub(super) const PROTOCOL: Protocol = At::PROTOCOL;

/// Offsets of the references of a wordline, in steps of the registers.
type Offsets = Vec<f64>;

/// A wordline at one place of the table.
#[derive(Clone, Debug)]
struct Sample {
    cycles: u32,
    age: u16,
    column: usize,
    class: usize,
    step_of_reads: usize,
    traits: Traits,
    condition: Condition,
    best: Offsets,
    /// Bit s: set s serves it.
    served: u64,
}

struct Builder<'l> {
    lot: &'l Lot,
    at: &'l At,
    cycler: &'l Cycler<'l>,
    aging: &'l Aging,
    /// Millivolts of a step of the registers.
    step: f64,
    count: usize,
}

impl Builder<'_> {
    fn wordline(&self, sample: &Sample) -> Wordline {
        self.lot.model.wordline(&sample.traits, &sample.condition)
    }

    /// Offsets of the best references to the default ones, as a bench finds them step by step.
    fn best(&self, wordline: &Wordline) -> Offsets {
        let (best, default) = (wordline.optimal(), self.lot.model.references(0));
        let steps = |number: usize| libm::round((best[number] - default[number]) / self.step).clamp(f64::from(i8::MIN), f64::from(i8::MAX));
        (0..self.count).map(steps).collect()
    }

    fn references(&self, set: &[f64]) -> References {
        let mut references = self.lot.model.references(0);
        references.iter_mut().zip(set).for_each(|(reference, steps)| *reference += steps * self.step);
        references
    }

    fn serves(&self, wordline: &Wordline, set: &References) -> bool {
        let worst = self.lot.rates(wordline, set).into_iter().fold(0.0, f64::max);
        self.lot.model.uncorrectable(worst) <= self.at.risk
    }

    /// Classes of h-layers by how far their references move: as many layers in each, in the order of the sum of moves.
    fn classes(&self, setup: &Setup) -> Vec<u32> {
        let condition = self.lot.aged(self.at.named.0, self.at.named.1);
        let moved = walk(self.lot, setup, Half::Fitted, "h-layers", |block| {
            let traits = self.lot.traits(block);
            traits.iter().map(|traits| self.best(&self.lot.model.wordline(traits, &condition)).iter().sum()).collect::<Vec<f64>>()
        });
        let of = |layer: usize| mean(&moved.iter().map(|block| block[layer]).collect::<Vec<_>>());
        let places: Vec<f64> = (0..self.lot.layers()).map(of).collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
        let mut classes = vec![0; places.len()];
        for (rank, layer) in order.iter().enumerate() {
            classes[*layer] = (rank * self.at.classes as usize / places.len()) as u32;
        }
        classes
    }

    /// Samples of a block: one h-layer of each class at every place that the block reaches while it lives. Blocks to fit on are seen at the ends and in the
    /// middle of columns, those to judge by anywhere inside.
    fn samples(&self, block: &Block, layers: &[u32], half: Half) -> Vec<Sample> {
        let (lot, at) = (self.lot, self.at);
        let traits = lot.traits(block);
        let weak = self.cycler.weakest(block);
        let dwell = self.cycler.dwell(block);
        let mut samples = Vec::new();
        for (bin, bound) in at.pe.iter().enumerate() {
            let dice = |what: u32| lot.dice([block.chip, block.block, bin as u32, 0x0700_0000 | what]);
            let below = if bin == 0 { 0.0 } else { at.pe[bin - 1] };
            let pe = if half == Half::Fitted { *bound } else { libm::ceil(below + (bound - below) * dice(0)) };
            let look = self.cycler.look(block, &traits, &weak, pe, dwell);
            if look.sight.n12 > lot.limit() {
                break;
            }
            let age = self.aging.age(&seen(self.cycler, self.aging, &look));
            for class in 0..at.classes as usize {
                let of_class: Vec<usize> = (0..traits.len()).filter(|layer| layers[*layer] as usize == class).collect();
                let Some(layer) = of_class.get((dice(1 + class as u32) * of_class.len() as f64) as usize).copied() else { continue };
                for (column, end) in at.retention.iter().enumerate() {
                    // Below a day there is an hour.
                    let start = if column == 0 { 0.0 } else { at.retention[column - 1].max(crate::conditions::HOUR) };
                    let within = |part: f64| if *end > 0.0 { start * libm::pow(end / start, part) } else { 0.0 };
                    let parts = match half {
                        Half::Judged => vec![dice(0x100 | (column << 4) as u32 | class as u32)],
                        Half::Fitted if *end > 0.0 => vec![0.5, 1.0],
                        Half::Fitted => vec![1.0],
                    };
                    for part in parts {
                        for (step_of_reads, most) in at.reads.iter().enumerate() {
                            let fewest = if step_of_reads == 0 { 0.0 } else { at.reads[step_of_reads - 1] };
                            let drawn = || dice(0x1000 | ((column * 16 + class) * 16 + step_of_reads) as u32);
                            let reads = if half == Half::Fitted { *most } else { fewest + (most - fewest) * drawn() };
                            let condition = lot.after(lot.cycled(pe, dwell), within(part)).read(reads);
                            samples.push(Sample {
                                cycles: pe as u32,
                                age,
                                column,
                                class,
                                step_of_reads,
                                traits: traits[layer],
                                best: if half == Half::Fitted {
                                    self.best(&lot.model.wordline(&traits[layer], &condition))
                                } else {
                                    Vec::new()
                                },
                                condition,
                                served: 0,
                            });
                        }
                    }
                }
            }
        }
        samples
    }

    /// Gathers offsets into sets: first those furthest apart, then moved to the middle of those that are nearest to each.
    fn gathered(&self, samples: &[Sample]) -> Vec<Offsets> {
        const ROUNDS: usize = 8;
        let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut distinct: Vec<&Offsets> = samples.iter().map(|sample| &sample.best).collect();
        distinct.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        distinct.dedup();
        let mut sets: Vec<Offsets> = distinct.first().map(|first| (*first).clone()).into_iter().collect();
        let mut apart: Vec<f64> = distinct.iter().map(|offsets| far(offsets, &sets[0])).collect();
        while sets.len() < self.at.sets as usize {
            let Some((next, most)) = apart.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else { break };
            if *most <= 0.0 {
                break;
            }
            let set = distinct[next].clone();
            apart.iter_mut().zip(&distinct).for_each(|(apart, offsets)| *apart = apart.min(far(offsets, &set)));
            sets.push(set);
        }
        for _ in 0..ROUNDS {
            let mut sums = vec![(vec![0.0; self.count], 0.0); sets.len()];
            for sample in samples {
                let near =
                    (0..sets.len()).min_by(|a, b| far(&sample.best, &sets[*a]).total_cmp(&far(&sample.best, &sets[*b]))).unwrap_or(0);
                sums[near].0.iter_mut().zip(&sample.best).for_each(|(sum, steps)| *sum += steps);
                sums[near].1 += 1.0;
            }
            for (set, (sum, count)) in sets.iter_mut().zip(&sums).filter(|(_, (_, count))| *count > 0.0) {
                *set = sum.iter().map(|sum| libm::round(sum / count)).collect();
            }
        }
        sets.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        sets.dedup();
        sets
    }

    /// Sequence that serves most of these samples.
    fn sequence(&self, samples: &[&Sample], sets: &[Offsets]) -> Sequence {
        let far = |sample: &Sample, set: &[f64]| sample.best.iter().zip(set).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let mut left: Vec<&Sample> = samples.to_vec();
        let mut chosen: Vec<u8> = Vec::new();
        while chosen.len() < Sequence::MOST && !left.is_empty() {
            let served = |set: usize| left.iter().filter(|sample| sample.served >> set & 1 == 1).count();
            let most = (0..sets.len()).map(served).max().unwrap_or(0);
            if most == 0 && !chosen.is_empty() {
                break;
            }
            // Of those that serve as many, the nearest to the best references: it has fewer errors to spare.
            let distance = |set: usize| left.iter().map(|sample| far(sample, &sets[set])).sum::<f64>();
            let best = (0..sets.len()).filter(|set| served(*set) == most).min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
            let Some(best) = best else { break };
            chosen.push(best as u8);
            left.retain(|sample| sample.served >> best & 1 == 0);
        }
        Sequence::of(&chosen).unwrap_or_default()
    }

    /// Sequences of an index.
    fn index(&self, table: &Ort, samples: &[Sample], sets: &[Offsets], steps: usize, step: &(dyn Fn(&Sample) -> usize + Sync)) -> OrtIndex {
        let (columns, classes, reads) = (table.columns(), table.classes(), table.reads.len());
        // In the order of places.
        let mut sorted: Vec<Vec<&Sample>> = vec![Vec::new(); table.places(steps)];
        for sample in samples {
            let place = |column: usize| ((step(sample) * columns + column) * classes + sample.class) * reads + sample.step_of_reads;
            sorted[place(sample.column)].push(sample);
            sorted[place(columns - 1)].push(sample);
        }
        let of_step = columns * classes * reads;
        let sequences = wordline_runs::parallel::map(self.lot.threads, sorted.len(), |place| {
            let (own, within) = (place / of_step, place % of_step);
            // A step that no block was in has what the nearest has, rather an older one.
            let mut order: Vec<usize> = (0..steps).collect();
            order.sort_by_key(|other| (other.abs_diff(own), *other < own));
            let nearest = order.into_iter().map(|other| &sorted[other * of_step + within]).find(|of| !of.is_empty());
            nearest.map_or_else(Sequence::default, |of| self.sequence(of, sets))
        });
        OrtIndex { sequences, proven: vec![None; steps] }
    }

    /// Retries of all pages of a sample: from the table by age, by P/E count and where retention is not known, and from the default.
    fn tries(&self, table: &Ort, sets: &[References], sample: &Sample, name: [u32; 2]) -> Vec<[u32; 4]> {
        let model = &self.lot.model;
        let wordline = self.wordline(sample);
        let layer = table.layers.iter().position(|class| *class as usize == sample.class).unwrap_or(0) as u32;
        let vendor: Vec<References> = (0..=model.retry_entries()).map(|entry| model.references(entry)).collect();
        let (age, pe) = (Ort::age_step(sample.age), table.pe_step(sample.cycles));
        let page = |page: u32| {
            let luck = |what: u32| self.lot.luck([name[0], name[1], sample.cycles << 2 | page, what]);
            let (bits, noise) = (luck(0x41), luck(0x42));
            let read = |index: Option<&OrtIndex>, step: usize, kept: Option<u32>| {
                let place = table.place(&OrtPlace { step, kept, layer, reads: sample.condition.reads as u32 });
                let own = index.map_or_else(Vec::new, |index| index.sequences[place].sets().map(|set| sets[usize::from(set)]).collect());
                let reading = model.read_through(&wordline, page, bits, noise, own.into_iter().chain(vendor.iter().copied()));
                if reading.corrected { reading.retries } else { u32::MAX }
            };
            let kept = Some(libm::floor(sample.condition.retention) as u32);
            [
                read(Some(&table.by_age), age, kept),
                read(Some(&table.by_pe), pe, kept),
                read(Some(&table.by_age), age, None),
                read(None, 0, kept),
            ]
        };
        (0..self.lot.pages()).map(page).collect()
    }
}

/// Characterises the read references of a setup's lot.
///
/// # Errors
///
/// There is no such chip, it has no physics, or the lot has one chip only.
pub fn characterise(setup: &Setup) -> Result<Found<Ort>, LabError> {
    found(setup, &|_| {})
}

/// The table as [`characterise`] finds it, with samples that a test may spoil.
fn found(setup: &Setup, spoil: &dyn Fn(&mut [Sample])) -> Result<Found<Ort>, LabError> {
    let (lot, at) = (open(setup, "ort")?, At::of(setup)?);
    if at.sets as usize > Ort::SETS_MOST || at.classes as usize > Ort::CLASSES_MOST {
        let what = format!("at most {} sets and {} classes of h-layers", Ort::SETS_MOST, Ort::CLASSES_MOST);
        return Err(LabError::Usage(format!("ort.sets is {} and ort.classes {}: expected {what}", at.sets, at.classes)));
    }
    let aging = super::aging(setup)?.table;
    let cycler = Cycler::new(&lot, setup)?;
    let step = ReadOffsets::STEP.millivolts();
    let builder = Builder { lot: &lot, at: &at, cycler: &cycler, aging: &aging, step, count: lot.model.physics().shape.states() - 1 };
    let layers = builder.classes(setup);
    let half = |half, what| walk(&lot, setup, half, what, |block| builder.samples(block, &layers, half)).concat();
    let mut samples = half(Half::Fitted, "blocks to fit on");
    let sets = builder.gathered(&samples);
    let references: Vec<References> = sets.iter().map(|set| builder.references(set)).collect();
    serve(&builder, &references, &mut samples);
    spoil(&mut samples);
    let offsets =
        |set: &Offsets| set.iter().zip(1..).fold(ReadOffsets::NONE, |held, (steps, reference)| held.with(reference, *steps as i8));
    let mut table = Ort {
        seed: setup.seed,
        sets: sets.iter().map(offsets).collect(),
        retention: at.retention.iter().map(|kept| *kept as u32).collect(),
        layers: layers.clone(),
        reads: at.reads.iter().map(|reads| *reads as u32).collect(),
        pe: at.pe.iter().map(|pe| *pe as u32).collect(),
        ..Ort::default()
    };
    let steps = table.pe.len();
    let by_pe = builder.index(&table, &samples, &sets, steps, &|sample| table.pe_step(sample.cycles));
    let by_age = builder.index(&table, &samples, &sets, Ort::AGES, &|sample| Ort::age_step(sample.age));
    (table.by_age, table.by_pe) = (by_age, by_pe);
    let fresh = half(Half::Judged, "blocks to judge by");
    let tries = wordline_runs::parallel::map(lot.threads, fresh.len(), |number| {
        builder.tries(&table, &references, &fresh[number], [number as u32, 0x0d7])
    });
    let judged: Vec<(&Sample, [u32; 4])> =
        fresh.iter().zip(&tries).flat_map(|(sample, tries)| tries.iter().map(move |tries| (sample, *tries))).collect();
    let proven = |steps: usize, which: usize, step: &dyn Fn(&Sample) -> usize| -> Vec<Option<u32>> {
        let of = |own: usize| {
            let column = |column: usize| {
                let mut within = judged.iter().filter(|(sample, _)| step(sample) == own && sample.column == column).peekable();
                within.peek().is_some() && within.all(|(_, tries)| (tries[which] as usize) < Sequence::MOST)
            };
            (0..table.retention.len()).take_while(|of| column(*of)).last().map(|of| table.retention[of])
        };
        (0..steps).map(of).collect()
    };
    let (by_age, by_pe) =
        (proven(Ort::AGES, 0, &|sample| Ort::age_step(sample.age)), proven(steps, 1, &|sample| table.pe_step(sample.cycles)));
    (table.by_age.proven, table.by_pe.proven) = (by_age, by_pe);

    let mut figures = Figures::default();
    retries(&judged, &mut figures);
    figures.set("sets", sets.len() as f64, "sets of offsets");
    figures.set(
        "unserved",
        100.0 * share(samples.iter().map(|sample| sample.served == 0)),
        "% of the wordlines that it was made from are served by no set",
    );
    let whole = |proven: &[Option<u32>]| proven.iter().filter(|kept| **kept == table.retention.last().copied()).count() as f64;
    figures.set("proven-age", whole(&table.by_age.proven), format!("of {} steps of age are proven for the longest retention", Ort::AGES));
    figures.set("proven-pe", whole(&table.by_pe.proven), format!("of {steps} steps of P/E count are"));
    figures.set("reads", judged.len() as f64, "reads judged by");
    let how = "one h-layer of each class in blocks with several dwells while they live; ages by the [aging] of the same lot and half";
    Ok(Found { source: source(setup, &lot, "ort", how), keys: keys(&table, &sets), section: "ort", judged: figures.0, table })
}

/// Marks by which sets the wordline of each sample can be read.
fn serve(builder: &Builder<'_>, references: &[References], samples: &mut [Sample]) {
    let served = wordline_runs::parallel::map(builder.lot.threads, samples.len(), |number| {
        let wordline = builder.wordline(&samples[number]);
        references.iter().enumerate().fold(0, |served, (set, of)| served | u64::from(builder.serves(&wordline, of)) << set)
    });
    samples.iter_mut().zip(served).for_each(|(sample, served)| sample.served = served);
}

/// Records the retries of reads that start from each of the four: in the mean, those beyond two, and those that are of no use.
fn retries(judged: &[(&Sample, [u32; 4])], figures: &mut Figures) {
    let names: [[&'static str; 3]; 4] = [
        ["age-mean", "age-beyond", "age-lost"],
        ["pe-mean", "pe-beyond", "pe-lost"],
        ["unknown-mean", "unknown-beyond", "unknown-lost"],
        ["default-mean", "default-beyond", "default-lost"],
    ];
    let from = ["the table by age", "the table by P/E count", "the table by age where retention is not known", "the default"];
    for (which, [mean_of, beyond, lost]) in names.into_iter().enumerate() {
        let all = || judged.iter().map(move |(_, tries)| tries[which]);
        let counted: Vec<f64> = all().filter(|tries| *tries < u32::MAX).map(f64::from).collect();
        figures.set(mean_of, mean(&counted), format!("retries of a read that starts from {}, in the mean", from[which]));
        figures.set(beyond, 100.0 * share(all().map(|tries| tries as usize >= Sequence::MOST)), "% of these take more than two");
        figures.set(
            lost,
            100.0 * share(all().map(|tries| tries == u32::MAX)),
            "% of these are not served at all, before references are searched for",
        );
    }
}

fn keys(table: &Ort, sets: &[Offsets]) -> Vec<(&'static str, String)> {
    // Without the sign of a zero.
    let set = |set: &Offsets| list(&set.iter().map(|of| of + 0.0).collect::<Vec<_>>());
    let sequences = |index: &OrtIndex| {
        let rows: Vec<String> = index.sequences.iter().map(|sequence| list(&sequence.sets().collect::<Vec<_>>())).collect();
        lines(&rows, table.classes() * table.reads.len())
    };
    let proven =
        |index: &OrtIndex| list(&index.proven.iter().map(|kept| kept.map_or_else(|| "\"none\"".to_owned(), span)).collect::<Vec<_>>());
    vec![
        ("seed", table.seed.to_string()),
        ("sets", lines(&sets.iter().map(set).collect::<Vec<_>>(), 4)),
        ("retention", list(&table.retention.iter().map(|kept| span(*kept)).collect::<Vec<_>>())),
        ("layers", list(&table.layers)),
        ("reads", list(&table.reads)),
        ("pe", list(&table.pe)),
        ("by_age", sequences(&table.by_age)),
        ("by_pe", sequences(&table.by_pe)),
        ("proven_age", proven(&table.by_age)),
        ("proven_pe", proven(&table.by_pe)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{lot, parsed};

    #[test]
    fn reads_that_start_from_the_table_need_fewer_retries_on_other_chips_and_not_from_one_of_other_columns() {
        let mut setup = lot("4x2", 1_001);
        setup.conditions.insert("ort".to_owned(), "pe = [\"2k\", \"4k\", \"6k\"]\nsets = 32".parse().expect("TOML"));
        let made = characterise(&setup).expect("a table");
        assert_eq!(parsed(&made.text()).ort.as_deref(), Some(&made.table));
        // Fixed before a figure was seen: a fifth of the retries from the default, and hardly a read beyond two.
        let (age, default) = (made.figure("age-mean"), made.figure("default-mean"));
        assert!(age < 0.2 * default, "{age} retries from the table, {default} from the default");
        assert!(
            made.figure("age-beyond") < 5.0 && made.figure("age-beyond") < 0.2 * made.figure("default-beyond"),
            "{} %",
            made.figure("age-beyond")
        );
        // Retention forgotten: each column has what another needs.
        let columns = made.table.retention.len();
        let spoilt =
            found(&setup, &|samples| samples.iter_mut().for_each(|sample| sample.column = columns - 1 - sample.column)).expect("a table");
        assert!(
            spoilt.figure("age-mean") > 3.0 * age,
            "{} retries from a table of other columns, {age} from the right one",
            spoilt.figure("age-mean")
        );
    }
}
