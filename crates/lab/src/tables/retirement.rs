//! The table of errors just after program beyond which data are not safe for a year, by P/E count (001 §3.3.2: blocks are spent by their reads).
//!
//! Every page of the fitted half is programmed at the P/E count that ends a bin and read once with the default references; then it is kept for the retention
//! that is required and read at its best references. The bound of a bin is the greatest count of the first read's worst codeword up to which pages are
//! uncorrectable later with no more than the risk, in the mean over all that pass. It is fitted to less risk than it promises.
//!
//! Where no page of a bin fails, nothing says how many errors would be too many. The bound is then that of the next older bin, or the most that a page of
//! this one has shown where that is more: a page that shows as many errors as a worn one is taken for as worn.

use wordline_cells::Block;
use wordline_flash::tables::Retirement;

use super::text::{list, share, source, span};
use super::{Figures, Found, Half, open, walk};
use crate::bench::Setup;
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, greatest, mean};
use crate::protocol::{Cycles, Number, Rising, Share, Span, conditions};

conditions! {
    "retirement",
    /// Conditions of the pages that are kept.
    struct At {
        /// P/E counts that end the bins
        pe: Rising<Cycles, 2>,
        /// the retention that is required
        kept: Span,
        /// probability up to which a page that passes may be uncorrectable after it, in the mean
        risk: Share,
        /// factor by which the risk that bounds are fitted to is less
        guard: Number,
    }
}

/// A page of one bin.
#[derive(Clone, Copy, Debug)]
struct Page {
    bin: usize,
    /// Wrong bits of its worst codeword just after its program.
    shown: u32,
    /// Probability that it is uncorrectable later.
    lost: f64,
}

fn pages(lot: &Lot, at: &At, block: &Block) -> Vec<Page> {
    let (model, default) = (&lot.model, lot.model.references(0));
    let mut pages = Vec::new();
    for (bin, pe) in at.pe.iter().enumerate() {
        for (layer, traits) in lot.traits(block).iter().enumerate() {
            let (fresh, kept) = (model.wordline(traits, &lot.aged(*pe, 0.0)), model.wordline(traits, &lot.aged(*pe, at.kept)));
            let best = kept.optimal();
            for page in 0..lot.pages() {
                let name = [block.chip, block.block, (layer as u32) << 8 | page, *pe as u32];
                let (bits, noise) =
                    (lot.luck([name[0], name[1], name[2], name[3] << 1]), lot.luck([name[0], name[1], name[2], name[3] << 1 | 1]));
                pages.push(Page {
                    bin,
                    shown: model.errors(fresh.error_rate(model, page, &default), fresh.wear, bits, noise).worst,
                    lost: model.uncorrectable(kept.error_rate(model, page, &best)),
                });
            }
        }
    }
    pages
}

/// The greatest count up to which pages fail with no more than `risk` in the mean, and whether one that shows more was refused.
fn bound(mut pages: Vec<Page>, risk: f64) -> (u32, bool) {
    pages.sort_by_key(|page| page.shown);
    let (mut lost, mut passed, mut bound) = (0.0, 0.0, None);
    for of_count in pages.chunk_by(|a, b| a.shown == b.shown) {
        lost += of_count.iter().map(|page| page.lost).sum::<f64>();
        passed += of_count.len() as f64;
        if lost > risk * passed {
            // What fails at the least count is refused whatever it shows, but for pages that show nothing.
            return (bound.unwrap_or(0), true);
        }
        bound = of_count.last().map(|page| page.shown);
    }
    (bound.unwrap_or(0), false)
}

fn bounds(known: &[Page], at: &At, correctable: u32) -> Vec<u32> {
    let mut older = correctable;
    let mut bounds: Vec<u32> = (0..at.pe.len())
        .rev()
        .map(|bin| {
            let (own, refused) = bound(known.iter().copied().filter(|page| page.bin == bin).collect(), at.risk / at.guard);
            older = if refused { own } else { own.max(older) };
            older
        })
        .collect();
    bounds.reverse();
    bounds
}

/// Mean probability that pages of a bin which pass are lost, and the share that does not pass.
fn judged(pages: &[Page], bin: usize, most: u32) -> (f64, f64) {
    let of: Vec<&Page> = pages.iter().filter(|page| page.bin == bin).collect();
    let passing: Vec<f64> = of.iter().filter(|page| page.shown <= most).map(|page| page.lost).collect();
    let lost = if passing.is_empty() { 0.0 } else { mean(&passing) };
    (lost, 1.0 - passing.len() as f64 / of.len() as f64)
}

/// Characterises the errors beyond which data are not safe.
///
/// # Errors
///
/// There is no such chip, it has no physics, or the lot has one chip only.
pub fn characterise(setup: &Setup) -> Result<Found<Retirement>, LabError> {
    let (lot, at) = (open(setup, "retirement")?, At::of(setup)?);
    let half = |half, what| walk(&lot, setup, half, what, |block| pages(&lot, &at, block)).concat();
    found(setup, &lot, &at, &half(Half::Fitted, "blocks to fit on"), &half(Half::Judged, "blocks to judge by"))
}

fn found(setup: &Setup, lot: &Lot, at: &At, known: &[Page], fresh: &[Page]) -> Result<Found<Retirement>, LabError> {
    let correctable = lot.limit() as u32;
    let table = Retirement {
        seed: setup.seed,
        pe: at.pe.iter().map(|pe| *pe as u32).collect(),
        errors_max: bounds(known, at, correctable),
        kept: at.kept as u32,
        risk: at.risk,
    };
    let bins = || table.errors_max.iter().enumerate();
    let outcome: Vec<(f64, f64)> = bins().map(|(bin, most)| judged(fresh, bin, *most)).collect();
    let without: Vec<f64> = bins().map(|(bin, _)| judged(fresh, bin, u32::MAX).0).collect();
    let mut figures = Figures::default();
    let worst = greatest(&outcome.iter().map(|(lost, _)| *lost).collect::<Vec<_>>());
    let told = |of: &mut dyn Iterator<Item = f64>| of.map(|part| format!("{:.3}", 100.0 * part)).collect::<Vec<_>>().join(", ");
    figures.set("lost", 100.0 * worst, "% of pages that pass are uncorrectable later, in the worst bin");
    figures.set(
        "lost-all",
        100.0 * greatest(&without),
        format!("% of all pages are, in the worst bin; bin by bin {}", told(&mut without.iter().copied())),
    );
    let refused = outcome.iter().map(|(_, refused)| *refused);
    figures.set(
        "refused",
        100.0 * outcome[0].1,
        format!("% of pages do not pass in the first bin; bin by bin {}", told(&mut refused.clone())),
    );
    let good = |page: &&Page| page.lost <= at.risk;
    let harmless: Vec<&Page> = fresh.iter().filter(good).collect();
    let wasted = harmless.iter().filter(|page| page.shown > table.errors_max[page.bin]).count();
    figures.set("wasted", 100.0 * wasted as f64 / harmless.len() as f64, "% of pages that would have been safe do not pass");
    figures.set("pages", fresh.len() as f64, "pages judged by, over all bins");
    let how = format!(
        "every page programmed once and kept for {}, read at its best references then; bounds fitted to 1/{} of the risk",
        span_text(at.kept),
        at.guard
    );
    let keys = vec![
        ("seed", table.seed.to_string()),
        ("pe", list(&table.pe)),
        ("errors_max", list(&table.errors_max)),
        ("kept", span(table.kept)),
        ("risk", share(table.risk)),
    ];
    Ok(Found { source: source(setup, lot, "retirement", &how), keys, section: "retirement_limits", judged: figures.0, table })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{lot, parsed};

    #[test]
    fn pages_that_pass_last_on_other_chips_and_shuffled_outcomes_are_caught() {
        let setup = lot("4x4", 1_001);
        let (lot, at) = (open(&setup, "retirement").expect("a lot"), At::of(&setup).expect("conditions"));
        let half = |half| walk(&lot, &setup, half, "", |block| pages(&lot, &at, block)).concat();
        let (mut known, fresh) = (half(Half::Fitted), half(Half::Judged));
        let made = found(&setup, &lot, &at, &known, &fresh).expect("a table");
        assert_eq!(parsed(&made.text()).retirement.as_deref(), Some(&made.table));
        // Fixed before a figure was seen: what is lost stays within the risk; without the table it does not; most safe pages pass.
        assert!(made.figure("lost") <= 100.0 * at.risk, "{} % lost", made.figure("lost"));
        assert!(made.figure("lost-all") > 100.0 * at.risk, "{} % lost without: the lot proves nothing", made.figure("lost-all"));
        assert!(made.figure("wasted") < 25.0, "{} % wasted", made.figure("wasted"));
        let lost: Vec<f64> = known.iter().map(|page| page.lost).collect();
        let count = known.len();
        known.iter_mut().enumerate().for_each(|(at, page)| page.lost = lost[(at * 7_919 + 13) % count]);
        let shuffled = found(&setup, &lot, &at, &known, &fresh).expect("a table");
        let is_bad = shuffled.figure("lost") > 100.0 * at.risk || shuffled.figure("wasted") >= 25.0;
        assert!(is_bad, "{} % lost and {} % wasted by shuffled outcomes", shuffled.figure("lost"), shuffled.figure("wasted"));
    }

    #[test]
    fn a_bound_is_the_last_count_that_keeps_the_risk() {
        let page = |shown, lost| Page { bin: 0, shown, lost };
        let pages = vec![page(9, 1.0), page(3, 0.0), page(5, 0.0), page(5, 0.0), page(7, 0.1)];
        assert_eq!(bound(pages.clone(), 0.01), (5, true));
        assert_eq!(bound(pages.clone(), 0.03), (7, true));
        assert_eq!(bound(pages, 0.5), (9, false));
    }
}
