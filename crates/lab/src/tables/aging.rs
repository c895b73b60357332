//! The table of ages: the marker of RealWear and those of its rivals, fitted as a maker fits them (000 §3.2, §3.3).
//!
//! Blocks are cycled with several dwells until they are dead. Every so many cycles the bench takes what firmware will see (P/E count, pulses of the erase with
//! the part of the last, errors of one page counted once just after its program, the last rest) and what it will not: N(12), the errors of the weakest
//! wordline's worst page after a year. The marker is the least-squares fit of one to the other.
//!
//! Choices where the source is open:
//! - t_BERS is counted in pulses with the part of the last that was needed, in 255ths, as dies tell it (`realwear.tbers-fix`).
//! - The page that is counted is the one with the best fit, or page 0 where that fits nearly as well (`realwear.necc-and-units`). It is one page of the block,
//!   the same in all blocks: firmware does not know which wordline is the weakest.
//! - Telegraph noise is what two reads of that page differ by, late in life; ages are raised by three deviations of it (`realwear.rtn-fix`).
//! - The rest is the last one, up to 180 min (`realwear.dwell-definition`). The activation energy is that of the bake that foretells a year of retention.

use wordline_cells::{Block, Settings, Traits};
use wordline_flash::tables::{Aging, Shown};
use wordline_units::Celsius;

use super::text::{list, rounded, source, span};
use super::{Figures, Found, Half, open, walk};
use crate::bench::Setup;
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, crossing, deviation, greatest, least, mean, rank_correlation, share};
use crate::marker::{Count, Looks, Marker, Sight, plus_plus_terms, plus_terms, realwear_terms};
use crate::protocol::{Cycles, Degrees, Number, Share, Span, conditions};

conditions! {
    "aging",
    /// Conditions of the blocks that are cycled.
    struct At {
        /// the retention that is required
        kept: Span,
        /// cycles late in life, when the weakest wordline shows
        late: Cycles,
        /// cycles at which the search for the end of a block's life gives up
        cycles_most: Cycles,
        /// dwells, one of them for each block
        dwells: Vec<Span>,
        /// cycles from one measurement of a block to the next
        step: Cycles,
        /// cycles at the last measurement of a block
        until: Cycles,
        /// spacing of the h-layers that are programmed to find t_PROG, in layers
        every: crate::protocol::Count,
        /// the dwell above which more of it tells a marker nothing
        saturated: Span,
        /// deviations of telegraph noise by which ages are over-estimated
        flicker: Number,
        /// how much worse than the best page page 0 may fit and is still preferred
        alike: Share,
        /// age from which a block has outlived age 1.0
        outlived: Number,
        /// width of the bins of P/E counts in which the worst age is told
        bins: Cycles,
        /// cycles of the blocks by which the activation energy is measured
        used: Cycles,
        /// temperatures at which these are baked
        baked: Vec<Degrees>,
    }
}

/// Boltzmann's constant, in eV per kelvin.
const BOLTZMANN: f64 = 8.617_333e-5;
/// Digits of a weight.
const DIGITS: usize = 7;

/// A block at one P/E count: what its signs are, and the counts of all pages that could be measured.
pub(crate) struct Look {
    pub(crate) sight: Sight,
    counts: Vec<Count>,
}

/// A block that is cycled until it is dead.
pub(super) struct Life {
    pub(super) looks: Vec<Look>,
    pub(super) death: Look,
}

/// Cycles blocks and looks at them.
pub(crate) struct Cycler<'l> {
    pub(crate) lot: &'l Lot,
    at: At,
    looks: Looks,
}

impl<'l> Cycler<'l> {
    pub(crate) fn new(lot: &'l Lot, setup: &Setup) -> Result<Cycler<'l>, LabError> {
        let at = At::of(setup)?;
        let looks = Looks { kept: at.kept, cycles_most: at.cycles_most, every: at.every, saturated: at.saturated };
        Ok(Cycler { lot, at, looks })
    }

    /// The weakest wordline of a block, late in its life.
    pub(crate) fn weakest(&self, block: &Block) -> Traits {
        self.lot.weakest(block, &self.lot.aged(self.at.late, self.at.kept))
    }

    /// Dwell of a block: a drive has blocks that are written often and others that are not.
    pub(crate) fn dwell(&self, block: &Block) -> f64 {
        let drawn = self.lot.dice([block.chip, block.block, 0, 9]) * self.at.dwells.len() as f64;
        self.at.dwells[drawn as usize]
    }

    /// Signs of a block after `pe` cycles of this dwell.
    pub(crate) fn look(&self, block: &Block, traits: &[Traits], weak: &Traits, pe: f64, dwell: f64) -> Look {
        let (lot, model) = (self.lot, &self.lot.model);
        let history = lot.cycled(pe, dwell);
        let erase = model.erase(block, &history);
        let part = (f64::from(erase.loops) * erase.progress / erase.time - f64::from(erase.loops - 1)).clamp(0.0, 1.0);
        let pulses = Shown::pulses_of(erase.loops.min(255) as u8, libm::round(part * 255.0) as u8);
        let times = traits.iter().step_by(self.at.every as usize).map(|traits| model.program(traits, &history, &Settings::default()).time);
        let tprog = mean(&times.collect::<Vec<_>>());
        let fresh = lot.after(history, 0.0);
        let counts = traits.iter().enumerate().flat_map(|(layer, traits)| {
            let wordline = model.wordline(traits, &fresh);
            (0..lot.pages()).map(move |page| {
                let place = layer as u32 * lot.pages() + page;
                self.looks.count(lot, &wordline, page, [block.chip | (place << 16), block.block, pe as u32, dwell as u32])
            })
        });
        let sight = Sight {
            pe,
            tbers: erase.time / 1e3,
            progress: pulses,
            tprog,
            n0: f64::NAN,
            flicker: f64::NAN,
            dwell: dwell.min(self.at.saturated),
            n12: self.looks.n12(lot, weak, history),
        };
        Look { sight, counts: counts.collect() }
    }

    fn life(&self, block: &Block) -> Option<Life> {
        let traits = self.lot.traits(block);
        let weak = self.weakest(block);
        let dwell = self.dwell(block);
        let last = self.looks.death(self.lot, &weak, dwell, self.lot.room);
        if last >= self.at.cycles_most {
            return None;
        }
        let counts = (1..=(self.at.until / self.at.step) as u32).map(|step| f64::from(step) * self.at.step).filter(|pe| *pe <= last);
        let looks = counts.map(|pe| self.look(block, &traits, &weak, pe, dwell)).collect();
        Some(Life { looks, death: self.look(block, &traits, &weak, libm::floor(last), dwell) })
    }

    /// Page of the block that candidate `place` stands for: in the first wordline of its h-layer.
    fn page(&self, place: usize) -> u32 {
        let (layer, page) = (place as u32 / self.lot.pages(), place as u32 % self.lot.pages());
        layer * self.lot.model.physics().shape.wordlines_per_layer * self.lot.pages() + page
    }

    /// Candidate that a page of the block stands for.
    fn place(&self, page: u32) -> usize {
        let of_layer = self.lot.model.physics().shape.wordlines_per_layer * self.lot.pages();
        (page / of_layer * self.lot.pages() + page % of_layer) as usize
    }

    /// Activation energy by which a year at room temperature is a shorter bake: for each temperature, of one block.
    fn energies(&self, block: &Block) -> Vec<f64> {
        let lot = self.lot;
        let weak = self.weakest(block);
        let history = lot.worn(self.at.used);
        let errors = |seconds: f64, at: Celsius| lot.worst_page(&weak, &lot.after(history, lot.model.kept(seconds, at)));
        let target = errors(self.at.kept, lot.room);
        let kelvin = |at: Celsius| at.0 + 273.15;
        let of = |at: &Celsius| {
            let time = crossing(0.0, self.at.kept, target, |seconds| errors(seconds, *at));
            BOLTZMANN * libm::log(self.at.kept / time) / (1.0 / kelvin(lot.room) - 1.0 / kelvin(*at))
        };
        self.at.baked.iter().map(of).collect()
    }
}

/// Signs of looks with the count of one candidate page.
fn sights<'a>(looks: impl Iterator<Item = &'a Look>, place: usize) -> Vec<Sight> {
    looks.map(|look| Sight { n0: look.counts[place].first, ..look.sight }).collect()
}

/// Root of the mean square of what a marker is wrong by.
fn error(of: impl Fn(&Sight) -> f64, sights: &[Sight]) -> f64 {
    mean(&sights.iter().map(|sight| (of(sight) - sight.n12) * (of(sight) - sight.n12)).collect::<Vec<_>>()).sqrt()
}

/// The signs of a sight that firmware sees.
pub(super) fn shown(sight: &Sight) -> Shown {
    Shown { cycles: sight.pe as u32, pulses: sight.progress, errors: sight.n0, rest: sight.dwell }
}

/// Signs of a look with the count of the table's page.
pub(crate) fn seen(cycler: &Cycler<'_>, table: &Aging, look: &Look) -> Shown {
    shown(&Sight { n0: look.counts[cycler.place(table.page)].first, ..look.sight })
}

/// Both halves of a lot, with labels that a test may shuffle.
struct Halves {
    known: Vec<Life>,
    fresh: Vec<Life>,
}

impl Halves {
    fn of(cycler: &Cycler<'_>, setup: &Setup) -> Halves {
        let half = |half, what| walk(cycler.lot, setup, half, what, |block| cycler.life(block)).into_iter().flatten().collect();
        Halves { known: half(Half::Fitted, "blocks to fit on"), fresh: half(Half::Judged, "blocks to judge by") }
    }
}

/// Characterises the ages of a setup's lot.
///
/// # Errors
///
/// There is no such chip, it has no physics, or the lot has one chip only.
pub fn characterise(setup: &Setup) -> Result<Found<Aging>, LabError> {
    let lot = open(setup, "aging")?;
    let cycler = Cycler::new(&lot, setup)?;
    let halves = Halves::of(&cycler, setup);
    found(&cycler, setup, &halves)
}

fn looks(lives: &[Life]) -> impl Iterator<Item = &Look> {
    lives.iter().flat_map(|life| &life.looks)
}

fn deaths(lives: &[Life]) -> impl Iterator<Item = &Look> {
    lives.iter().map(|life| &life.death)
}

fn found(cycler: &Cycler<'_>, setup: &Setup, halves: &Halves) -> Result<Found<Aging>, LabError> {
    let (lot, at) = (cycler.lot, &cycler.at);
    let Halves { known, fresh } = halves;
    let pages = lot.layers() * lot.pages() as usize;
    if looks(known).count() < pages / 2 || fresh.is_empty() {
        let what = format!("only {} measurements of blocks that die within {} cycles", looks(known).count(), at.cycles_most);
        return Err(LabError::Usage(format!("aging, lot {}: {what}; expected a larger lot, such as 16x12", setup.lot)));
    }
    let fit = |place: usize| Marker::fit(realwear_terms, &sights(looks(known), place));
    let place = best_page(cycler, known, pages);
    let weights = |marker: &Marker| marker.weights.iter().map(|weight| rounded(*weight, DIGITS)).collect::<Vec<f64>>();
    let fixed = |marker: &Marker| <[f64; 5]>::try_from(weights(marker)).unwrap_or_default();
    let (known_sights, fresh_sights) = (sights(looks(known), place), sights(looks(fresh), place));
    let plus = Marker::fit(plus_terms, &known_sights);
    let plus_plus = Marker::fit(plus_plus_terms, &known_sights);
    let mut table = Aging {
        seed: setup.seed,
        weights: fixed(&fit(place)),
        plus: <[f64; 3]>::try_from(weights(&plus)).unwrap_or_default(),
        plus_plus: <[f64; 4]>::try_from(weights(&plus_plus)).unwrap_or_default(),
        limit: lot.limit(),
        flicker: 0.0,
        safe: 0.0,
        page: cycler.page(place),
        rest_max: at.saturated as u32,
        pe: Vec::new(),
        pe_worst: Vec::new(),
        energy: 0.0,
    };
    // What two reads of one page differ by has twice the variance of one. Late in life it is greatest: there, a block's age decides.
    let apart: Vec<f64> = deaths(known).map(|look| (look.counts[place].again - look.counts[place].first) / 2f64.sqrt()).collect();
    table.flicker = rounded(at.flicker * table.weights[2].abs() * mean(&apart.iter().map(|by| by * by).collect::<Vec<_>>()).sqrt(), DIGITS);
    let foretold = |look: &Look| table.foretold(&seen(cycler, &table, look));
    table.safe = rounded((table.limit - least(&deaths(known).map(foretold).collect::<Vec<_>>())).max(0.0), DIGITS);
    let baked: Vec<Vec<f64>> = walk(lot, setup, Half::Fitted, "blocks to bake", |block| cycler.energies(block));
    table.energy = rounded(mean(&baked.concat()), 4);
    worst(cycler, &mut table, known);

    let mut figures = Figures::default();
    let ages = |lives: &[Life]| deaths(lives).map(|look| f64::from(table.age(&seen(cycler, &table, look))) / 1e3).collect::<Vec<f64>>();
    let by_table = |sight: &Sight| table.foretold(&shown(sight));
    figures.set("error", error(by_table, &fresh_sights), "errors by which N(12) is foretold wrong, root mean square");
    let pe_alone = Marker::fit(|sight| vec![sight.pe, 1.0], &known_sights);
    figures.set("error-pe", error(|sight| pe_alone.of(sight), &fresh_sights), "the same by the P/E count alone");
    figures.set("error-plus", error(|sight| plus.of(sight), &fresh_sights), "the same by PeWear+");
    figures.set("error-plus-plus", error(|sight| plus_plus.of(sight), &fresh_sights), "the same by PeWear++");
    let first = fit(0);
    figures.set("error-page-0", error(|sight| first.of(sight), &sights(looks(fresh), 0)), "the same where page 0 is counted");
    figures.set("rank", at_equal_counts(&table, &fresh_sights), "rank correlation of age and N(12) at equal P/E counts, mean over counts");
    let judged = ages(fresh);
    figures.set("early", 100.0 * share(judged.iter().map(|age| *age < 1.0)), "% of blocks die before age 1.0");
    figures.set(
        "outlive",
        100.0 * share(judged.iter().map(|age| *age >= at.outlived)),
        format!("% of blocks are alive at age {}", at.outlived),
    );
    figures.set("life", life(cycler, &table, fresh), "% of their writes that blocks have had when age 1.0 gives them up");
    let above = looks(fresh).map(|look| table.age(&seen(cycler, &table, look)) > table.worst(look.sight.pe as u32));
    figures.set("above-worst", 100.0 * share(above), "% of measurements are older than pe_worst tells");
    let spread: Vec<f64> = (0..at.baked.len()).map(|which| mean(&baked.iter().map(|of| of[which]).collect::<Vec<_>>())).collect();
    figures.set("energy-spread", greatest(&spread) - least(&spread), "eV between the energies of the bakes");
    figures.set("deviation", deviation(&fresh_sights.iter().map(|sight| sight.n12).collect::<Vec<_>>()), "deviation of N(12) itself");
    figures.set("blocks", fresh.len() as f64, "blocks judged by, all that died");
    Ok(Found { source: told(setup, lot, at), keys: keys(&table), section: "aging", judged: figures.0, table })
}

/// The page to count, by the errors of the regression on it: the first, unless another is better by far.
fn best_page(cycler: &Cycler<'_>, known: &[Life], pages: usize) -> usize {
    let (lot, at) = (cycler.lot, &cycler.at);
    let fit = |place: usize| Marker::fit(realwear_terms, &sights(looks(known), place));
    let of_page = |place: usize| {
        let marker = fit(place);
        error(|sight| marker.of(sight), &sights(looks(known), place))
    };
    let errors: Vec<f64> = wordline_runs::parallel::map(lot.threads, pages, of_page);
    let best = least(&errors);
    if errors[0] <= best * (1.0 + at.alike) { 0 } else { errors.iter().position(|of| *of <= best).unwrap_or(0) }
}

/// Rank correlation of age and N(12) over blocks of one P/E count, mean over the counts that enough blocks reach.
fn at_equal_counts(table: &Aging, sights: &[Sight]) -> f64 {
    /// Fewer blocks have no order worth telling.
    const FEWEST: usize = 8;
    let mut counts: Vec<f64> = sights.iter().map(|sight| sight.pe).collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    let of = |pe: &f64| {
        let alike: Vec<&Sight> = sights.iter().filter(|sight| sight.pe == *pe).collect();
        let ages: Vec<f64> = alike.iter().map(|sight| table.foretold(&shown(sight))).collect();
        (alike.len() >= FEWEST).then(|| rank_correlation(&ages, &alike.iter().map(|sight| sight.n12).collect::<Vec<_>>()))
    };
    mean(&counts.iter().filter_map(of).collect::<Vec<_>>())
}

/// Writes until age 1.0 over writes until death, in percent (000 Eq 3.2).
fn life(cycler: &Cycler<'_>, table: &Aging, lives: &[Life]) -> f64 {
    let given_up = |life: &Life| {
        let old = life.looks.iter().find(|look| table.age(&seen(cycler, table, look)) >= 1_000);
        old.map_or(life.death.sight.pe, |look| look.sight.pe)
    };
    100.0 * lives.iter().map(given_up).sum::<f64>() / lives.iter().map(|life| life.death.sight.pe).sum::<f64>()
}

/// The worst age of each bin of P/E counts, up to the bin in which a block is spent.
fn worst(cycler: &Cycler<'_>, table: &mut Aging, known: &[Life]) {
    let at = &cycler.at;
    for bin in 1..=(at.until / at.bins) as u32 {
        let bound = f64::from(bin) * at.bins;
        let reached = looks(known).chain(deaths(known)).filter(|look| look.sight.pe <= bound);
        let most = reached.map(|look| table.age(&seen(cycler, table, look))).max().unwrap_or(Aging::MOST);
        table.pe.push(bound as u32);
        table.pe_worst.push(u32::from(most.max(1)));
        if most >= 1_000 {
            break;
        }
    }
}

fn told(setup: &Setup, lot: &Lot, at: &At) -> String {
    let dwells: Vec<String> = at.dwells.iter().map(|dwell| span_text(*dwell)).collect();
    let how = format!("cycled with dwells of {} until dead after {}", dwells.join(", "), span_text(at.kept));
    source(setup, lot, "aging", &how)
}

fn keys(table: &Aging) -> Vec<(&'static str, String)> {
    vec![
        ("seed", table.seed.to_string()),
        ("weights", list(&table.weights)),
        ("plus", list(&table.plus)),
        ("plus_plus", list(&table.plus_plus)),
        ("limit", table.limit.to_string()),
        ("flicker", table.flicker.to_string()),
        ("safe", table.safe.to_string()),
        ("page", table.page.to_string()),
        ("rest_max", span(table.rest_max)),
        ("pe", list(&table.pe)),
        ("pe_worst", list(&table.pe_worst)),
        ("energy", format!("\"{} eV\"", table.energy)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{lot, parsed};

    #[test]
    fn ages_foretell_errors_of_chips_they_were_not_fitted_on_and_shuffled_labels_do_not() {
        let setup = lot("4x4", 1_001);
        let lot = open(&setup, "aging").expect("a lot");
        let cycler = Cycler::new(&lot, &setup).expect("conditions");
        let mut halves = Halves::of(&cycler, &setup);
        let found = found(&cycler, &setup, &halves).expect("a table");
        assert_eq!(parsed(&found.text()).aging.as_deref(), Some(&found.table));
        let error = found.figure("error");
        // Bands fixed before a figure was seen: half of what the P/E count alone is wrong by; blocks in order; few die unforeseen in a small lot.
        assert!(error < 0.5 * found.figure("error-pe"), "{error} bits, {} by P/E alone", found.figure("error-pe"));
        assert!(error < found.figure("error-plus"), "{error} bits, {} by PeWear+", found.figure("error-plus"));
        assert!(found.figure("rank") > 0.7, "{}", found.figure("rank"));
        assert!(found.figure("early") <= 25.0, "{} %", found.figure("early"));
        assert!((0.9..1.3).contains(&found.table.energy), "{} eV", found.table.energy);
        assert!(found.table.pe_worst.last().is_some_and(|age| *age >= 1_000), "the last bin is that in which a block is spent");
        // The label of each block is that of another one.
        let labels: Vec<Vec<f64>> = halves.known.iter().map(|life| life.looks.iter().map(|look| look.sight.n12).collect()).collect();
        for (number, life) in halves.known.iter_mut().enumerate() {
            let other = &labels[(number + 3) % labels.len()];
            let count = life.looks.len();
            life.looks.iter_mut().enumerate().for_each(|(at, look)| look.sight.n12 = other[(count - 1 - at) % other.len()]);
        }
        let shuffled = super::found(&cycler, &setup, &halves).expect("a table");
        assert!(shuffled.figure("error") > 1.5 * error, "{} bits by shuffled labels, {error} by true ones", shuffled.figure("error"));
    }

    #[test]
    fn a_lot_of_one_chip_is_refused() {
        let error = characterise(&lot("1x12", 1_001)).expect_err("it has one half").to_string();
        assert!(error.contains("at least 2 chips"), "{error}");
    }
}
