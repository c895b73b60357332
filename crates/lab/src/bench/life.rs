//! Bench of the endurance of blocks, and of the aging markers that foresee it (000 §3.1 to §3.3).
//!
//! N(12) is what a codeword of the worst page of a block's weakest wordline has wrong after the retention that is required, at the best references; a block is
//! dead when it is more than can be corrected. Markers are fitted by least squares on half of the blocks and judged on the other half.

use wordline_cells::Block;
use wordline_pages::html::figure::{Columns, Curve, Curves, Figure, Scale};
use wordline_units::Celsius;

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, correlation, crossing, deviation, greatest, least, mean, quantile, share};
use crate::marker::{Bins, Life, Looks, Marker, Sight, early_terms, life, log_dwell, plus_plus_terms, plus_terms, realwear_terms};
use crate::protocol::{Bits, Count, Cycles, Number, Rest, Rising, Share, Span, conditions};

/// The `life` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "life",
    summary: "P/E counts at death by the mean over a page's codewords (the worst of them is lost from 7.1 to 7.7K P/E on, where the mean says 12.3K), N(12) of \
              blocks of equal age by each marker, and the regression that foretells it",
    metrics: &[
        m("death-short", "P/E", "Mean P/E count at death, short dwell"),
        m("death-long", "P/E", "The same, long dwell"),
        m("death-least", "P/E", "P/E count at death of the first block to die, short dwell"),
        m("death-most", "P/E", "P/E count at death of the last block to die, long dwell"),
        m(
            "scan-death-mean",
            "P/E",
            "Mean P/E count, short dwell, from which a scan of the block after the required retention finds a codeword beyond correction",
        ),
        m("scan-death-least", "P/E", "The same of the first block"),
        m("scan-death-most", "P/E", "The same of the last block"),
        m("scan-age-median", "ratio", "N(12) over the limit at that P/E count, median over blocks"),
        m("scan-age-least", "ratio", "The same, least block"),
        m("scan-early", "share", "Blocks in which a scan finds such a codeword before N(12) reaches the limit"),
        m("spread-early", "bit", "N(12) at fewer cycles, greatest block less least"),
        m("spread-late", "bit", "N(12) at more cycles, greatest block less least"),
        m("same-least", "P/E", "Fewest P/E cycles at which a block has a certain N(12)"),
        m("same-most", "P/E", "Most P/E cycles at which a block has it"),
        m("dwell-ordering", "share", "P/E counts at which a block with the long dwell has a lesser N(12) than with the short"),
        m("dwell-influence", "share", "N(12) of a used block that dwell can take away"),
        m("dwell-saturation", "share", "What a far longer dwell takes away beyond what the one that saturates does, over what that does"),
        m("equal-dwell", "share", "Greatest difference of N(12) between pairs of dwell and temperature that count alike"),
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
        m("life-pewear-high", "%", "Lifetime that a high limit of P/E cycles uses"),
        m("life-pewear-low", "%", "Lifetime that a low limit of P/E cycles uses"),
        m("life-plus", "%", "Lifetime that t_PROG and P/E use"),
        m("life-plus-plus", "%", "Lifetime that t_PROG, P/E and N(0) use"),
        m("equal-realwear", "bit", "N(12) of blocks of equal RealWear age, greatest less least"),
        m("equal-pewear", "bit", "N(12) of blocks of equal P/E count, greatest less least, up to the later count"),
        m("equal-plus", "bit", "N(12) of blocks of equal PeWear+, greatest less least"),
        m("equal-plus-plus", "bit", "N(12) of blocks of equal PeWear++, greatest less least"),
        m("distinct", "ratio", "Correlation of RealWear age and N(12)"),
        m("plus-error-growth", "ratio", "Deviation of what PeWear+ foretells, late in life over early"),
        m("realwear-error-growth", "ratio", "The same of RealWear"),
        m("warm-gain", "share", "Longer life when a dwell is warm than when it is at room temperature"),
        m("dwell-age-order", "share", "Steps to longer or warmer dwell at which blocks age more slowly"),
        m("power-off-drop", "share", "N(12) of a used block that a time without power takes away"),
        m("tbers-flat", "P/E", "P/E count up to which a block's t_BERS stays as it is at the first look, greatest of the lot"),
        m("tbers-step", "ms", "t_BERS counts in multiples of this"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "life",
    /// Conditions of cycling blocks and of judging markers.
    struct At {
        /// the retention that is required
        kept: Span,
        /// cycles late in life, when the weakest wordline shows
        late: Cycles,
        /// cycles at which the search for the end of a block's life gives up
        cycles_most: Cycles,
        /// cycles at which the search for a certain N(12) gives up
        same_most: Cycles,
        /// a short dwell and a long one
        dwells: [Span; 2],
        /// dwells of the blocks that RealWear is fitted on
        fitted: Vec<Span>,
        /// dwells of all other blocks: those that other markers are fitted on, and those that all are judged by
        judged: Vec<Span>,
        /// fewer and more cycles at which blocks are compared
        spread: [Cycles; 2],
        /// value of N(12) that blocks reach at different counts
        same: Bits,
        /// cycles from one measurement of a block to the next
        step: Cycles,
        /// cycles at the last measurement of a block
        until: Cycles,
        /// spacing of the h-layers that are programmed to find t_PROG, in layers
        every: Count,
        /// N(12) of a moderately worn block, at least and below
        moderate: [Bits; 2],
        /// relative difference of t_PROG up to which it counts as that of a moderately worn block
        same_tprog: Share,
        /// the dwell above which more of it tells a marker nothing
        saturated: Span,
        /// a dwell far above the saturated one
        day: Span,
        /// P/E count up to which the source tells how far blocks of one marker differ
        compared: Cycles,
        /// deviations of telegraph noise by which ages are over-estimated
        flicker: Number,
        /// width of a bin of values of a marker that count as equal
        bin: Bits,
        /// the most errors for which values are binned
        bins_most: Bits,
        /// fewest measurements in a bin
        bin_least: Count,
        /// age from which a block has outlived age 1.0; the source tells ages in tenths
        outlived: Number,
        /// a high and a low limit of P/E cycles
        limits: [Cycles; 2],
        /// P/E counts of life: early below the first, late above the second
        early_late: [Cycles; 2],
        /// P/E counts at which dwells are compared
        counts: Rising<Cycles, 2>,
        /// cycles of a used block
        used: Cycles,
        /// a dwell at room temperature, compared with equivalent ones at other temperatures
        alike: Span,
        /// temperatures of the equivalent dwells
        alike_at: Vec<crate::protocol::Degrees>,
        /// a warm dwell, compared with an equal one at room temperature
        warm: Rest,
        /// dwells in rising order of their effect, each longer or warmer than the one before
        order: Vec<Rest>,
        /// a time without power, after cycles with the dwell of `warm`
        off: Rest,
    }
}

struct Seen {
    deaths: [f64; 2],
    /// P/E count from which a scan finds a codeword beyond correction, with the short dwell, and N(12) over the limit there.
    scanned: (f64, f64),
    at: [f64; 2],
    same: f64,
    life: Life,
    /// The life of the same block with another dwell, if RealWear is fitted on it.
    fitted: Option<Life>,
}

impl At {
    fn looks(&self) -> Looks {
        Looks { kept: self.kept, cycles_most: self.cycles_most, every: self.every, saturated: self.saturated }
    }

    fn bins(&self) -> Bins {
        Bins { compared: self.compared, width: self.bin, most: self.bins_most, least: self.bin_least }
    }
}

/// True if a block belongs to the half to fit on; the other half is there to judge by.
fn fitted(lot: &Lot, block: &Block) -> bool {
    lot.place(block).is_multiple_of(2)
}

fn look(lot: &Lot, at: &At, block: &Block) -> Seen {
    let (looks, weak) = (at.looks(), lot.weakest(block, &lot.aged(at.late, at.kept)));
    // One that outlives the search has not been seen to die.
    let seen = |pe: f64| if pe < at.cycles_most { pe } else { f64::INFINITY };
    let deaths = at.dwells.map(|dwell| seen(looks.death(lot, &weak, dwell, lot.room)));
    let of = |pe: f64| looks.n12(lot, &weak, lot.cycled(pe, at.dwells[0]));
    let lost = looks.scan_death(lot, block, at.dwells[0]);
    let scanned = (seen(lost), of(lost) / lot.limit());
    let live = |dwells: &[f64]| {
        let dwell = dwells[(lot.dice([block.chip, block.block, 0, 9]) * dwells.len() as f64) as usize];
        let last = looks.death(lot, &weak, dwell, lot.room);
        let counts = (1..=(at.until / at.step) as u32).map(|step| f64::from(step) * at.step).filter(|pe| *pe <= last);
        let sights = counts.map(|pe| looks.sight(lot, block, &weak, pe, dwell)).collect();
        Life { sights, death_sight: looks.sight(lot, block, &weak, last, dwell) }
    };
    let same = crossing(0.0, at.same_most, at.same, of);
    let fitted = fitted(lot, block).then(|| live(&at.fitted));
    Seen { deaths, scanned, at: at.spread.map(of), same, life: live(&at.judged), fitted }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let limit = lot.limit();
    let at = At::of(setup)?;
    let seen = lot.map(|block| look(&lot, &at, block));
    let mut findings = Findings::default();
    let deaths: [Vec<f64>; 2] = [0, 1].map(|which| seen.iter().map(|seen| seen.deaths[which]).collect());
    let spread_late = apart(&lot, &at, &seen, &deaths, &mut findings);
    dwell(&lot, &at, &mut findings);

    let wide: Vec<&Life> = seen.iter().filter_map(|seen| seen.fitted.as_ref()).collect();
    let lives = |fitted: bool| seen.iter().filter(|seen| seen.fitted.is_some() == fitted).map(|seen| &seen.life).collect::<Vec<&Life>>();
    let (others, judged) = (lives(true), lives(false));
    let of = |lives: &[&Life]| lives.iter().flat_map(|life| life.sights.iter().copied()).collect::<Vec<Sight>>();
    let deaths_of = |lives: &[&Life]| lives.iter().map(|life| life.death_sight).collect::<Vec<Sight>>();
    let (known, fresh) = (of(&wide), of(&judged));
    let column = |get: fn(&Sight) -> f64| known.iter().map(get).collect::<Vec<_>>();
    let n12s = column(|sight| sight.n12);
    findings.set("tbers-correlation", correlation(&column(|sight| sight.tbers), &n12s));
    findings.set("n0-correlation", correlation(&column(|sight| sight.n0), &n12s));
    let middle = |sight: &&Sight| (at.moderate[0]..at.moderate[1]).contains(&sight.n12);
    let tprog = quantile(&known.iter().filter(middle).map(|sight| sight.tprog).collect::<Vec<_>>(), 0.5);
    let flat: Vec<f64> = known.iter().filter(|sight| (sight.tprog / tprog - 1.0).abs() < at.same_tprog).map(|sight| sight.n12).collect();
    findings.set("tprog-least", least(&flat));
    findings.set("tprog-most", greatest(&flat));
    let early = Marker::fit(early_terms, &known);
    let fine = Marker::fit(realwear_terms, &known);
    // Of the regression as it is first built (000 §3.2.2); t_BERS is made finer than its steps afterwards (000 §3.2.3).
    let weight = |index: usize, get: fn(&Sight) -> f64| (early.weights[index] * deviation(&column(get))).abs();
    let (tbers, n0) = (weight(1, |sight| sight.tbers), weight(2, |sight| sight.n0));
    findings.set("weight-balance", tbers / n0);
    findings.set("weight-lead", tbers.min(n0) / weight(0, |sight| sight.pe).max(weight(3, log_dwell)));
    let age_at_death = |marker: &Marker| judged.iter().map(|life| marker.of(&life.death_sight) / limit).collect::<Vec<f64>>();
    let early_ages = age_at_death(&early);
    findings.set("early-negative", share(early_ages.iter().map(|age| *age < 1.0)));
    findings.set("early-positive", share(early_ages.iter().map(|age| *age >= at.outlived)));
    // Ages are over-estimated by what random telegraph noise can take from N(0) (000 §3.3.1).
    let telegraph = fine.weights[2].abs() * at.flicker * greatest(&column(|sight| sight.flicker));
    let realwear = fine.made_safe(&deaths_of(&wide), limit, telegraph);
    let ages = age_at_death(&realwear);
    findings.set("negative", share(ages.iter().map(|age| *age < 1.0)));
    findings.set("outlive", share(ages.iter().map(|age| *age >= at.outlived)));
    let variation = |values: &[f64]| deviation(values) / mean(values);
    let pe_at_death: Vec<f64> = judged.iter().map(|life| life.death_sight.pe).collect();
    findings.set("narrow-death", variation(&ages) / variation(&pe_at_death));
    findings.set("life-realwear", realwear.life(&judged, limit));
    findings.set("life-pewear-high", life(&judged, |_| at.limits[0]));
    findings.set("life-pewear-low", life(&judged, |_| at.limits[1]));
    let (other, other_deaths) = (of(&others), deaths_of(&others));
    let plus = Marker::fit(plus_terms, &other).made_safe(&other_deaths, limit, 0.0);
    let plus_plus = Marker::fit(plus_plus_terms, &other).made_safe(&other_deaths, limit, 0.0);
    findings.set("life-plus", plus.life(&judged, limit));
    findings.set("life-plus-plus", plus_plus.life(&judged, limit));
    findings.set("equal-realwear", realwear.spread(&at.bins(), &fresh));
    findings.set("equal-pewear", spread_late);
    findings.set("equal-plus", plus.spread(&at.bins(), &fresh));
    findings.set("equal-plus-plus", plus_plus.spread(&at.bins(), &fresh));
    let (foretold, counted): (Vec<f64>, Vec<f64>) = fresh.iter().map(|sight| (realwear.of(sight), sight.n12)).unzip();
    findings.set("distinct", correlation(&foretold, &counted));

    findings.set("plus-error-growth", growth(&at, &fresh, &plus));
    findings.set("realwear-error-growth", growth(&at, &fresh, &realwear));
    findings.set("tbers-flat", tbers_flat(&seen));
    findings.set("tbers-step", (lot.model.physics().ispe.pulse + lot.model.physics().ispe.verify) / 1e3);
    findings.figures = figures(&at, &deaths, &ages, &fresh);
    Ok(findings)
}

/// Records when blocks die and how far they lie apart. Returns the spread of N(12) late in life.
fn apart(lot: &Lot, at: &At, seen: &[Seen], deaths: &[Vec<f64>; 2], findings: &mut Findings) -> f64 {
    findings.set("death-short", mean(&deaths[0]));
    findings.set("death-long", mean(&deaths[1]));
    findings.set("death-least", least(&deaths[0]));
    findings.set("death-most", greatest(&deaths[1]));
    scanned(lot, at, seen, findings);
    let range = |values: &[f64]| greatest(values) - least(values);
    let spread = |which: usize| range(&seen.iter().map(|seen| seen.at[which]).collect::<Vec<_>>());
    findings.set("spread-early", spread(0));
    findings.set("spread-late", spread(1));
    let same: Vec<f64> = seen.iter().map(|seen| seen.same).collect();
    findings.set("same-least", least(&same));
    findings.set("same-most", greatest(&same));
    for (which, dwell) in at.dwells.iter().enumerate() {
        findings.of_blocks(lot, &format!("P/E at death, dwell {}", span_text(*dwell)), deaths[which].iter().copied());
    }
    for (which, pe) in at.spread.iter().enumerate() {
        findings.of_blocks(lot, &format!("N(12) at {pe} P/E, bit"), seen.iter().map(|seen| seen.at[which]));
    }
    findings.of_blocks(lot, &format!("P/E at N(12) of {} bit", at.same), same.iter().copied());
    spread(1)
}

/// Records when scans find the first codeword beyond correction, and how old blocks are then.
fn scanned(lot: &Lot, at: &At, seen: &[Seen], findings: &mut Findings) {
    let (deaths, ages): (Vec<f64>, Vec<f64>) = seen.iter().map(|seen| seen.scanned).unzip();
    findings.set("scan-death-mean", mean(&deaths));
    findings.set("scan-death-least", least(&deaths));
    findings.set("scan-death-most", greatest(&deaths));
    findings.set("scan-age-median", quantile(&ages, 0.5));
    findings.set("scan-age-least", least(&ages));
    // A search that gave up has found nothing.
    findings.set("scan-early", share(seen.iter().map(|seen| seen.scanned.0 < seen.deaths[0])));
    let dwell = span_text(at.dwells[0]);
    findings.of_blocks(lot, &format!("P/E at the first codeword beyond correction, dwell {dwell}"), deaths);
    findings.of_blocks(lot, "N(12) over the limit at that P/E", ages);
}

/// Errors late in life over those early, of what `marker` foretells.
fn growth(at: &At, fresh: &[Sight], marker: &Marker) -> f64 {
    let error = |within: &dyn Fn(f64) -> bool| {
        deviation(&fresh.iter().filter(|sight| within(sight.pe)).map(|sight| sight.n12 - marker.of(sight)).collect::<Vec<_>>())
    };
    error(&|pe| pe > at.early_late[1]) / error(&|pe| pe < at.early_late[0])
}

/// The last P/E count at which a block still has the t_BERS of its first, greatest of all blocks.
fn tbers_flat(seen: &[Seen]) -> f64 {
    let flat = |life: &&Life| {
        let first = life.sights.first()?.tbers;
        life.sights.iter().take_while(|sight| sight.tbers == first).last().map(|sight| sight.pe)
    };
    greatest(&seen.iter().map(|seen| &seen.life).filter_map(|life| flat(&life)).collect::<Vec<f64>>())
}

/// Measures the effect of rest between cycles on the weakest wordline of one block.
fn dwell(lot: &Lot, at: &At, findings: &mut Findings) {
    let (looks, weak) = (at.looks(), lot.weakest(&lot.block(0, 0), &lot.aged(at.late, at.kept)));
    let of = |pe: f64, dwell: f64, warm: Celsius| looks.n12(lot, &weak, lot.model.cycled(pe, dwell, warm));
    let [short, long] = at.dwells;
    findings.set("dwell-ordering", share(at.counts.iter().map(|pe| of(*pe, long, lot.room) < of(*pe, short, lot.room))));
    let used = |dwell: f64, warm: Celsius| of(at.used, dwell, warm);
    let (none, saturated, day) = (used(0.0, lot.room), used(at.saturated, lot.room), used(at.day, lot.room));
    findings.set("dwell-influence", 1.0 - saturated.min(day) / none);
    findings.set("dwell-saturation", (saturated - day).max(0.0) / (none - saturated));
    let reference = used(at.alike, lot.room);
    let energy = lot.model.physics().recovery.energy;
    let alike = |warm: &Celsius| used(at.alike / wordline_units::arrhenius::acceleration(energy, *warm, lot.room), *warm);
    findings.set("equal-dwell", greatest(&at.alike_at.iter().map(|warm| (alike(warm) / reference - 1.0).abs()).collect::<Vec<_>>()));
    let (time, warm) = at.warm;
    findings.set("warm-gain", looks.death(lot, &weak, time, warm) / looks.death(lot, &weak, time, lot.room) - 1.0);
    let order: Vec<f64> = at.order.iter().map(|(dwell, warm)| used(*dwell, *warm)).collect();
    findings.set("dwell-age-order", share(order.windows(2).map(|pair| pair[1] < pair[0])));
    let history = lot.cycled(at.used, time);
    let rested = history.rested(lot.model.physics(), at.off.0, at.off.1);
    findings.set("power-off-drop", 1.0 - looks.n12(lot, &weak, rested) / looks.n12(lot, &weak, history));
}

fn figures(at: &At, deaths: &[Vec<f64>; 2], ages: &[f64], fresh: &[Sight]) -> Vec<Figure> {
    let groups: Vec<f64> = (5..24).map(f64::from).collect();
    let part = |of: &[f64], from: f64| 100.0 * share(of.iter().map(|death| *death >= from * 1e3 && *death < (from + 1.0) * 1e3));
    let by_age: Vec<f64> = (12..30).map(|step| f64::from(step) * 0.05).collect();
    let envelope = |pick: fn(&[f64]) -> f64| {
        (1..=(at.until / at.step) as u32).filter_map(move |step| {
            let pe = f64::from(step) * at.step;
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
                (format!("{} of dwell", span_text(at.dwells[0])), groups.iter().map(|group| part(&deaths[0], *group)).collect()),
                (format!("{} of dwell", span_text(at.dwells[1])), groups.iter().map(|group| part(&deaths[1], *group)).collect()),
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
            y: Scale::from_zero("errors of a codeword after the retention"),
            curves: [("greatest", 4, greatest as fn(&[f64]) -> f64), ("mean", 0, mean), ("least", 2, least)]
                .map(|(label, colour, pick)| Curve { label: label.to_owned(), colour, dashed: false, points: envelope(pick).collect() })
                .to_vec(),
            marks: Vec::new(),
        }),
    ]
}
