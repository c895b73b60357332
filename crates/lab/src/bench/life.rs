//! How long blocks live, and which aging marker foresees it (000 §3.1 to §3.3).
//!
//! N(12) is what a 1-KiB codeword of the worst page of a block's weakest wordline has wrong after 12 months at 30 °C at the best references; a block is
//! dead when it is more than can be corrected. Markers are fitted by least squares on half of the blocks and judged on the other half.

use wordline_cells::{Block, Condition, History, Settings, Traits};
use wordline_report::html::figure::{Columns, Curve, Curves, Figure, Scale};
use wordline_units::Celsius;

use super::{Bench, Findings, Setup, m};
use crate::conditions::MONTH;
use crate::error::LabError;
use crate::lot::{
    DWELL_W2, DWELL_W10, Lot, ROOM, YEAR, correlation, crossing, deviation, greatest, least, mean, quantile, regression, share,
};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "life",
    summary: "P/E counts at death, N(12) of blocks of equal age by each marker, and the regression that foretells it",
    metrics: &[
        m("death-w2", "P/E", "Mean P/E count at death, 1 minute of dwell"),
        m("death-w10", "P/E", "The same, 5 minutes of dwell"),
        m("death-least", "P/E", "P/E count at death of the first block to die, 1 minute of dwell"),
        m("death-most", "P/E", "P/E count at death of the last block to die, 5 minutes of dwell"),
        m("spread-4k", "bit", "N(12) at 4K P/E, greatest block less least"),
        m("spread-7k", "bit", "N(12) at 7K P/E, greatest block less least"),
        m("n37-least", "P/E", "Fewest P/E cycles at which a block has N(12) = 37"),
        m("n37-most", "P/E", "Most P/E cycles at which a block has N(12) = 37"),
        m("dwell-ordering", "share", "P/E counts at which a block with five times the dwell has the lesser N(12)"),
        m("dwell-influence", "share", "N(12) that dwell can take away at 6K P/E"),
        m("dwell-saturation", "share", "What a day of dwell takes away beyond what 180 minutes do, over what those do"),
        m("equal-dwell", "share", "Greatest difference of N(12) between three pairs of dwell and temperature that count alike"),
        m("tbers-correlation", "ratio", "Correlation of t_BERS and N(12)"),
        m("n0-correlation", "ratio", "Correlation of N(0) and N(12)"),
        m("tprog-least", "bit", "Least N(12) of blocks whose t_PROG is that of a moderately worn block"),
        m("tprog-most", "bit", "Greatest N(12) of these"),
        m("weight-balance", "ratio", "Standardised coefficient of t_BERS over that of N(0)"),
        m("weight-lead", "ratio", "The lesser of these two over the greater of the others"),
        m("early-negative", "share", "Blocks that die before age 1.0 by the regression as it is"),
        m("early-positive", "share", "Blocks that outlive age 1.0 by the regression as it is"),
        m("negative", "share", "Blocks that die before age 1.0 by the calibrated regression"),
        m("outlive", "share", "Blocks that outlive age 1.0 by the calibrated regression"),
        m("narrow-death", "ratio", "Coefficient of variation of the age at death over that of the P/E count at death"),
        m("life-realwear", "%", "Lifetime that RealWear uses"),
        m("life-pewear-7k", "%", "Lifetime that a limit of 7K P/E uses"),
        m("life-pewear-1k", "%", "Lifetime that a limit of 1K P/E uses"),
        m("life-plus", "%", "Lifetime that t_PROG and P/E use"),
        m("life-plus-plus", "%", "Lifetime that t_PROG, P/E and N(0) use"),
        m("equal-realwear", "bit", "N(12) of blocks of equal RealWear age, greatest less least"),
        m("equal-pewear", "bit", "N(12) of blocks of equal P/E count, greatest less least, up to 7K"),
        m("equal-plus", "bit", "N(12) of blocks of equal PeWear+, greatest less least"),
        m("equal-plus-plus", "bit", "N(12) of blocks of equal PeWear++, greatest less least"),
        m("distinct", "ratio", "Correlation of RealWear age and N(12)"),
        m("plus-error-growth", "ratio", "Deviation of what PeWear+ foretells, above 8K P/E over below 4K"),
        m("realwear-error-growth", "ratio", "The same of RealWear"),
        m("warm-gain", "share", "Longer life at 40 °C than at 30 °C, 10 minutes of dwell"),
        m("dwell-age-order", "share", "Steps to longer or warmer dwell at which blocks age more slowly"),
        m("power-off-drop", "share", "N(12) that three months at 40 °C without power take away at 6K P/E"),
        m("tbers-step", "ms", "t_BERS counts in multiples of this"),
    ],
    run,
};

/// One look at one block.
#[derive(Clone, Copy)]
struct Sight {
    pe: f64,
    tbers: f64,
    progress: f64,
    tprog: f64,
    n0: f64,
    dwell: f64,
    n12: f64,
}

struct Seen {
    deaths: [f64; 2],
    at: [f64; 2],
    n37: f64,
    sights: Vec<Sight>,
    death_sight: Sight,
}

const DWELLS: [f64; 4] = [60.0, 300.0, 1_200.0, 10_800.0];

/// The weakest wordline: that with the most errors late in life.
fn weakest(lot: &Lot, block: &Block) -> Traits {
    let late = lot.aged(8_000.0, YEAR);
    let traits = lot.traits(block);
    traits.into_iter().max_by(|a, b| lot.worst_page(a, &late).total_cmp(&lot.worst_page(b, &late))).expect("a block has layers")
}

fn n12(lot: &Lot, weak: &Traits, history: History) -> f64 {
    lot.worst_page(weak, &Condition::new(history, ROOM).kept(YEAR))
}

fn death(lot: &Lot, weak: &Traits, dwell: f64, at: Celsius) -> f64 {
    crossing(0.0, 60_000.0, lot.limit(), |pe| n12(lot, weak, lot.model.cycled(pe, dwell, at)))
}

fn sight(lot: &Lot, block: &Block, weak: &Traits, pe: f64, dwell: f64) -> Sight {
    let history = lot.cycled(pe, dwell);
    let erase = lot.model.erase(block, &history);
    // t_PROG is the mean over a block's wordlines: one wordline's is a whole number of loops and verifies.
    let times = (0..lot.layers() as u32).step_by(5).map(|layer| {
        let traits = lot.model.traits(block, layer);
        lot.model.program(&traits, &history, &Settings::default()).time
    });
    let tprog = mean(&times.collect::<Vec<_>>());
    let wordline = lot.model.wordline(weak, &Condition::new(history, ROOM));
    let rate = wordline.error_rate(&lot.model, 0, &wordline.optimal());
    let bits = lot.model.codeword_bits() * lot.model.codewords();
    // One read of the page, with the telegraph noise of each of its codewords.
    let name = [block.chip, block.block, pe as u32, dwell as u32];
    let flicker = -wordline_cells::special::tail_inverse(lot.dice([name[0], name[1], name[2], name[3] + 1]));
    let noise = flicker * lot.model.telegraph(wordline.wear) * lot.model.codewords().sqrt();
    let n0 = (lot.sample(rate * bits, bits, name) + noise) / lot.model.codewords();
    Sight { pe, tbers: erase.time / 1e3, progress: erase.progress / 1e3, tprog, n0, dwell, n12: n12(lot, weak, history) }
}

fn look(lot: &Lot, block: &Block) -> Seen {
    let weak = weakest(lot, block);
    let deaths = [DWELL_W2, DWELL_W10].map(|dwell| death(lot, &weak, dwell, ROOM));
    let at = [4_000.0, 7_000.0].map(|pe| n12(lot, &weak, lot.cycled(pe, DWELL_W2)));
    let n37 = crossing(0.0, 40_000.0, 37.0, |pe| n12(lot, &weak, lot.cycled(pe, DWELL_W2)));
    let dwell = DWELLS[(lot.dice([block.chip, block.block, 0, 9]) * DWELLS.len() as f64) as usize];
    let last = death(lot, &weak, dwell, ROOM);
    let counts = (1..=40).map(|step| f64::from(step) * 500.0).filter(|pe| *pe <= last);
    let sights = counts.map(|pe| sight(lot, block, &weak, pe, dwell)).collect();
    Seen { deaths, at, n37, sights, death_sight: sight(lot, block, &weak, last, dwell) }
}

/// A linear marker.
struct Marker {
    terms: fn(&Sight) -> Vec<f64>,
    weights: Vec<f64>,
    offset: f64,
}

impl Marker {
    fn fit(terms: fn(&Sight) -> Vec<f64>, sights: &[Sight]) -> Marker {
        let rows: Vec<Vec<f64>> = sights.iter().map(terms).collect();
        let weights = regression(&rows, &sights.iter().map(|sight| sight.n12).collect::<Vec<_>>());
        Marker { terms, weights, offset: 0.0 }
    }

    fn of(&self, sight: &Sight) -> f64 {
        (self.terms)(sight).iter().zip(&self.weights).map(|(term, weight)| term * weight).sum::<f64>() + self.offset
    }

    /// Raised until no block it was fitted on dies unforeseen.
    fn made_safe(mut self, deaths: &[Sight], limit: f64) -> Marker {
        let least = least(&deaths.iter().map(|sight| self.of(sight)).collect::<Vec<_>>());
        self.offset += (limit - least).max(0.0);
        self
    }

    /// The greatest range of N(12) among looks at blocks with the same value of the marker.
    fn spread(&self, sights: &[Sight]) -> f64 {
        let residual: Vec<(f64, f64)> = sights.iter().map(|sight| (self.of(sight), sight.n12 - self.of(sight))).collect();
        let bins = (0..24).map(|bin| {
            let (from, to) = (f64::from(bin) * 3.0, f64::from(bin + 1) * 3.0);
            let within: Vec<f64> = residual.iter().filter(|(value, _)| *value >= from && *value < to).map(|(_, rest)| *rest).collect();
            if within.len() < 8 { 0.0 } else { greatest(&within) - crate::lot::least(&within) }
        });
        greatest(&bins.collect::<Vec<_>>())
    }

    /// Mean share of its life that a block has had when the marker gives it up.
    fn life(&self, blocks: &[&Seen], limit: f64) -> f64 {
        let of = |seen: &&Seen| {
            let given_up = seen.sights.iter().find(|sight| self.of(sight) >= limit).map_or(seen.death_sight.pe, |sight| sight.pe);
            given_up / seen.death_sight.pe
        };
        100.0 * mean(&blocks.iter().map(of).collect::<Vec<_>>())
    }
}

fn log_dwell(sight: &Sight) -> f64 {
    libm::log(sight.dwell.min(10_800.0))
}

fn early_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tbers, sight.n0, log_dwell(sight), 1.0]
}

fn realwear_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.progress, sight.n0, log_dwell(sight), 1.0]
}

fn plus_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tprog, 1.0]
}

fn plus_plus_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tprog, sight.n0, 1.0]
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let limit = lot.limit();
    let seen = lot.map(|block| look(&lot, block));
    let mut findings = Findings::default();
    let deaths: [Vec<f64>; 2] = [0, 1].map(|which| seen.iter().map(|seen| seen.deaths[which]).collect());
    findings.set("death-w2", mean(&deaths[0]));
    findings.set("death-w10", mean(&deaths[1]));
    findings.set("death-least", least(&deaths[0]));
    findings.set("death-most", greatest(&deaths[1]));
    let range = |values: &[f64]| greatest(values) - least(values);
    let at = |which: usize| seen.iter().map(|seen| seen.at[which]).collect::<Vec<_>>();
    findings.set("spread-4k", range(&at(0)));
    findings.set("spread-7k", range(&at(1)));
    let n37: Vec<f64> = seen.iter().map(|seen| seen.n37).collect();
    findings.set("n37-least", least(&n37));
    findings.set("n37-most", greatest(&n37));
    dwell(&lot, &mut findings);

    // Half of the blocks to fit on, half to judge by.
    type Half<'s> = Vec<(usize, &'s Seen)>;
    let (fit, judge): (Half<'_>, Half<'_>) = seen.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let of = |blocks: &[(usize, &Seen)]| blocks.iter().flat_map(|(_, seen)| seen.sights.iter().copied()).collect::<Vec<Sight>>();
    let (known, fresh) = (of(&fit), of(&judge));
    let known_deaths: Vec<Sight> = fit.iter().map(|(_, seen)| seen.death_sight).collect();
    let judged: Vec<&Seen> = judge.iter().map(|(_, seen)| *seen).collect();
    let column = |get: fn(&Sight) -> f64| known.iter().map(get).collect::<Vec<_>>();
    let n12s = column(|sight| sight.n12);
    findings.set("tbers-correlation", correlation(&column(|sight| sight.tbers), &n12s));
    findings.set("n0-correlation", correlation(&column(|sight| sight.n0), &n12s));
    let middle = |sight: &&Sight| (40.0..48.0).contains(&sight.n12);
    let tprog = quantile(&known.iter().filter(middle).map(|sight| sight.tprog).collect::<Vec<_>>(), 0.5);
    let flat: Vec<f64> = known.iter().filter(|sight| (sight.tprog / tprog - 1.0).abs() < 0.003).map(|sight| sight.n12).collect();
    findings.set("tprog-least", least(&flat));
    findings.set("tprog-most", greatest(&flat));
    let early = Marker::fit(early_terms, &known);
    let fine = Marker::fit(realwear_terms, &known);
    let weight = |index: usize, get: fn(&Sight) -> f64| (fine.weights[index] * deviation(&column(get))).abs();
    let (tbers, n0) = (weight(1, |sight| sight.progress), weight(2, |sight| sight.n0));
    findings.set("weight-balance", tbers / n0);
    findings.set("weight-lead", tbers.min(n0) / weight(0, |sight| sight.pe).max(weight(3, log_dwell)));
    let age_at_death = |marker: &Marker| judged.iter().map(|seen| marker.of(&seen.death_sight) / limit).collect::<Vec<f64>>();
    let early_ages = age_at_death(&early);
    // Ages are told in tenths: a block whose age is from 1.0 to below 1.1 dies at age 1.0.
    findings.set("early-negative", share(early_ages.iter().map(|age| *age < 1.0)));
    findings.set("early-positive", share(early_ages.iter().map(|age| *age >= 1.1)));
    let realwear = fine.made_safe(&known_deaths, limit);
    let ages = age_at_death(&realwear);
    findings.set("negative", share(ages.iter().map(|age| *age < 1.0)));
    findings.set("outlive", share(ages.iter().map(|age| *age >= 1.1)));
    let variation = |values: &[f64]| deviation(values) / mean(values);
    let pe_at_death: Vec<f64> = judged.iter().map(|seen| seen.death_sight.pe).collect();
    findings.set("narrow-death", variation(&ages) / variation(&pe_at_death));
    findings.set("life-realwear", realwear.life(&judged, limit));
    let fixed = |pe: f64| 100.0 * mean(&deaths[0].iter().map(|death| (pe / death).min(1.0)).collect::<Vec<_>>());
    findings.set("life-pewear-7k", fixed(7_000.0));
    findings.set("life-pewear-1k", fixed(1_000.0));
    let plus = Marker::fit(plus_terms, &known).made_safe(&known_deaths, limit);
    let plus_plus = Marker::fit(plus_plus_terms, &known).made_safe(&known_deaths, limit);
    findings.set("life-plus", plus.life(&judged, limit));
    findings.set("life-plus-plus", plus_plus.life(&judged, limit));
    findings.set("equal-realwear", realwear.spread(&fresh));
    findings.set("equal-pewear", range(&at(1)));
    findings.set("equal-plus", plus.spread(&fresh));
    findings.set("equal-plus-plus", plus_plus.spread(&fresh));
    findings.set(
        "distinct",
        correlation(
            &fresh.iter().map(|sight| realwear.of(sight)).collect::<Vec<_>>(),
            &fresh.iter().map(|sight| sight.n12).collect::<Vec<_>>(),
        ),
    );
    let growth = |marker: &Marker| {
        let error = |within: &dyn Fn(f64) -> bool| {
            deviation(&fresh.iter().filter(|sight| within(sight.pe)).map(|sight| sight.n12 - marker.of(sight)).collect::<Vec<_>>())
        };
        error(&|pe| pe > 8_000.0) / error(&|pe| pe < 4_000.0)
    };
    findings.set("plus-error-growth", growth(&plus));
    findings.set("realwear-error-growth", growth(&realwear));
    findings.set("tbers-step", (lot.model.physics().ispe.pulse + lot.model.physics().ispe.verify) / 1e3);
    findings.figures = figures(&deaths, &ages, &fresh);
    Ok(findings)
}

/// What rest between cycles does, on the weakest wordline of one block.
fn dwell(lot: &Lot, findings: &mut Findings) {
    let weak = weakest(lot, &lot.block(0, 0));
    let of = |pe: f64, dwell: f64, at: f64| n12(lot, &weak, lot.model.cycled(pe, dwell, Celsius(at)));
    let counts: Vec<f64> = (1..=12).map(|thousands| f64::from(thousands) * 1_000.0).collect();
    findings.set("dwell-ordering", share(counts.iter().map(|pe| of(*pe, 300.0, 30.0) < of(*pe, 60.0, 30.0))));
    let (none, long, day) = (of(6_000.0, 0.0, 30.0), of(6_000.0, 10_800.0, 30.0), of(6_000.0, 86_400.0, 30.0));
    findings.set("dwell-influence", 1.0 - long.min(day) / none);
    findings.set("dwell-saturation", (long - day).max(0.0) / (none - long));
    let reference = of(6_000.0, 3_840.0, 30.0);
    let alike = |at: f64| {
        of(6_000.0, 3_840.0 / wordline_cells::arrhenius::acceleration(lot.model.physics().recovery.energy, Celsius(at), ROOM), at)
    };
    findings.set("equal-dwell", greatest(&[40.0, 50.0].map(|at| (alike(at) / reference - 1.0).abs())));
    let (cool, warm) = (death(lot, &weak, 600.0, ROOM), death(lot, &weak, 600.0, Celsius(40.0)));
    findings.set("warm-gain", warm / cool - 1.0);
    let order = [(60.0, 30.0), (600.0, 30.0), (600.0, 40.0), (3_600.0, 40.0)].map(|(dwell, at)| of(6_000.0, dwell, at));
    findings.set("dwell-age-order", share(order.windows(2).map(|pair| pair[1] < pair[0])));
    let history = lot.cycled(6_000.0, 600.0);
    let rested = history.rested(lot.model.physics(), 3.0 * MONTH, Celsius(40.0));
    findings.set("power-off-drop", 1.0 - n12(lot, &weak, rested) / n12(lot, &weak, history));
}

fn figures(deaths: &[Vec<f64>; 2], ages: &[f64], fresh: &[Sight]) -> Vec<Figure> {
    let groups: Vec<f64> = (5..24).map(f64::from).collect();
    let part = |of: &[f64], from: f64| 100.0 * share(of.iter().map(|death| *death >= from * 1e3 && *death < (from + 1.0) * 1e3));
    let by_age: Vec<f64> = (12..30).map(|step| f64::from(step) * 0.05).collect();
    let envelope = |pick: fn(&[f64]) -> f64| {
        (1..=30).filter_map(move |step| {
            let pe = f64::from(step) * 500.0;
            let at: Vec<f64> = fresh.iter().filter(|sight| sight.pe == pe).map(|sight| sight.n12).collect();
            (at.len() > 4).then(|| (pe, pick(&at)))
        })
    };
    vec![
        Figure::Columns(Columns {
            title: "P/E count at death".to_owned(),
            note: "of all blocks".to_owned(),
            x: "thousand P/E cycles".to_owned(),
            y: "% of blocks".to_owned(),
            groups: groups.iter().map(|group| format!("{group}")).collect(),
            series: vec![
                ("1 minute of dwell".to_owned(), groups.iter().map(|group| part(&deaths[0], *group)).collect()),
                ("5 minutes of dwell".to_owned(), groups.iter().map(|group| part(&deaths[1], *group)).collect()),
            ],
        }),
        Figure::Columns(Columns {
            title: "RealWear age at death".to_owned(),
            note: "of the blocks the regression was not fitted on".to_owned(),
            x: "age".to_owned(),
            y: "% of blocks".to_owned(),
            groups: by_age.iter().map(|age| format!("{age:.2}")).collect(),
            series: vec![(
                "blocks".to_owned(),
                by_age.iter().map(|from| 100.0 * share(ages.iter().map(|age| *age >= *from && *age < from + 0.05))).collect(),
            )],
        }),
        Figure::Curves(Curves {
            title: "N(12) over P/E".to_owned(),
            note: "least, mean and greatest block".to_owned(),
            x: Scale::from_zero("P/E cycles"),
            y: Scale::from_zero("errors of a codeword after 12 months"),
            curves: [("greatest", 4, greatest as fn(&[f64]) -> f64), ("mean", 0, mean), ("least", 2, least)]
                .map(|(label, colour, pick)| Curve { label: label.to_owned(), colour, dashed: false, points: envelope(pick).collect() })
                .to_vec(),
            marks: Vec::new(),
        }),
    ]
}
