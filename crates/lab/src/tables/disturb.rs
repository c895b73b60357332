//! The table of reads that a block stands, by P/E count (000 §2.6.1): up to which no page needs a retry, and up to which no data are lost.
//!
//! Blocks are cycled to the end of each bin and read ever more often, until the default references do not serve some page of data just written, until no
//! entry of the vendor's retry table serves some page of data kept for a while, and until not even its best references do. A controller's search stops within
//! a step of the best ones, and serves as many reads but for what the guard of the risk leaves. The counts of a bin are those of the worst block, fitted to
//! less risk than they promise. Bins do not rise: a more worn block stands no more.

use wordline_cells::{Block, References, Traits};
use wordline_flash::tables::Disturb;

use super::text::{list, share, source, span};
use super::{Figures, Found, Half, open, walk};
use crate::bench::Setup;
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, crossing, greatest, mean};
use crate::protocol::{Cycles, Number, Reads, Rising, Share, Span, conditions};

conditions! {
    "disturb",
    /// Conditions of the blocks that are read.
    struct At {
        /// P/E counts that end the bins
        pe: Rising<Cycles, 2>,
        /// retention of the data that must not be lost
        kept: Span,
        /// reads of a block at which the search gives up
        reads_most: Reads,
        /// probability up to which the worst page may not be served
        risk: Share,
        /// factor by which the risk that counts are fitted to is less
        guard: Number,
    }
}

/// The references that must serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    /// The default ones, for data just written.
    Default,
    /// Some entry of the retry table, for data kept.
    Table,
    /// The best references of the page, for data kept.
    Search,
}

const ALL: [Served; 3] = [Served::Default, Served::Table, Served::Search];

struct Reader<'l> {
    lot: &'l Lot,
    at: &'l At,
    entries: Vec<References>,
}

impl Reader<'_> {
    /// Greatest probability that a page of the block is not served after so many reads.
    fn fails(&self, layers: &[Traits], pe: f64, reads: f64, served: Served) -> f64 {
        let (model, lot) = (&self.lot.model, self.lot);
        let (kept, entries) = match served {
            Served::Default => (0.0, &self.entries[..1]),
            Served::Table | Served::Search => (self.at.kept, &self.entries[..]),
        };
        let of_layer = |traits: &Traits| {
            let wordline = model.wordline(traits, &lot.aged(pe, kept).read(reads));
            if served == Served::Search {
                let best = wordline.optimal();
                return (0..lot.pages()).map(|page| wordline.error_rate(model, page, &best)).fold(0.0, f64::max);
            }
            let page = |page: u32| entries.iter().map(|entry| wordline.error_rate(model, page, entry)).fold(f64::INFINITY, f64::min);
            (0..lot.pages()).map(page).fold(0.0, f64::max)
        };
        model.uncorrectable(layers.iter().map(of_layer).fold(0.0, f64::max))
    }

    /// Most reads of a block that its pages stand, to three digits.
    fn stands(&self, layers: &[Traits], pe: f64, served: Served) -> f64 {
        let over = |reads: f64| self.fails(layers, pe, reads, served);
        let risk = self.at.risk / self.at.guard;
        if over(0.0) > risk {
            return 0.0;
        }
        // By the logarithm: counts are known to so many digits, however great.
        let most = libm::log(self.at.reads_most);
        libm::floor(libm::exp(crossing(0.0, most, risk, |log| over(libm::exp(log)))))
    }

    /// Shift in mV of each best reference from its default in a block that was read so often, in the mean over its h-layers.
    fn shifts(&self, block: &Block, pe: f64, reads: f64) -> Vec<f64> {
        let (lot, start) = (self.lot, self.entries[0]);
        let layers = lot.traits(block);
        let of_layer = |traits: &Traits| lot.model.wordline(traits, &lot.aged(pe, 0.0).read(reads)).optimal();
        let all: Vec<References> = layers.iter().map(of_layer).collect();
        let count = lot.model.physics().states.references.len();
        (0..count).map(|at| mean(&all.iter().map(|best| best[at] - start[at]).collect::<Vec<_>>())).collect()
    }

    fn block(&self, block: &Block) -> Vec<[f64; 3]> {
        let layers = self.lot.traits(block);
        self.at.pe.iter().map(|pe| ALL.map(|served| self.stands(&layers, *pe, served))).collect()
    }
}

/// Characterises the reads that blocks stand.
///
/// # Errors
///
/// There is no such chip, it has no physics, or the lot has one chip only.
pub fn characterise(setup: &Setup) -> Result<Found<Disturb>, LabError> {
    let (lot, at) = (open(setup, "disturb")?, At::of(setup)?);
    let entries = (0..=lot.model.retry_entries()).map(|entry| lot.model.references(entry)).collect();
    let reader = Reader { lot: &lot, at: &at, entries };
    let known = walk(&lot, setup, Half::Fitted, "blocks to fit on", |block| reader.block(block));
    found(setup, &reader, &known)
}

/// Words on how the table was found.
fn how(at: &At) -> String {
    format!(
        "data just written for `retry`, kept for {} for `fails` and `searched`; counts of the worst block, fitted to 1/{} of the risk",
        span_text(at.kept),
        at.guard
    )
}

/// Keys of the table with their values as TOML.
fn keys(table: &Disturb) -> Vec<(&'static str, String)> {
    vec![
        ("seed", table.seed.to_string()),
        ("pe", list(&table.pe)),
        ("retry", list(&table.retry)),
        ("fails", list(&table.fails)),
        ("searched", list(&table.searched)),
        ("kept", span(table.kept)),
        ("risk", share(table.risk)),
    ]
}

/// Shifts of the best references at the count of the second bin: entries of a retry table for disturb would go so far.
fn find_shifts(setup: &Setup, reader: &Reader<'_>, table: &Disturb, figures: &mut Figures) {
    let (pe, reads) = (reader.at.pe[1], table.searched[1] as f64);
    let shifts = walk(reader.lot, setup, Half::Fitted, "shifts of references", |block| reader.shifts(block, pe, reads));
    for (at, name) in ["shift-r1", "shift-r2", "shift-r3", "shift-r4", "shift-r5", "shift-r6", "shift-r7"].into_iter().enumerate() {
        if let Some(all) = shifts.iter().map(|shifts| shifts.get(at).copied()).collect::<Option<Vec<f64>>>() {
            figures.set(
                name,
                mean(&all),
                format!("mV that its best value has shifted after {reads} reads at {pe} P/E, data just written, mean"),
            );
        }
    }
}

fn found(setup: &Setup, reader: &Reader<'_>, known: &[Vec<[f64; 3]>]) -> Result<Found<Disturb>, LabError> {
    let (lot, at) = (reader.lot, reader.at);
    let least = |which: usize| {
        let mut most = u64::MAX;
        let of = |bin: usize| {
            most = known.iter().map(|block| block[bin][which] as u64).fold(most, u64::min);
            most
        };
        (0..at.pe.len()).map(of).collect::<Vec<u64>>()
    };
    let table = Disturb {
        seed: setup.seed,
        pe: at.pe.iter().map(|pe| *pe as u32).collect(),
        retry: least(0),
        fails: least(1),
        searched: least(2),
        kept: at.kept as u32,
        risk: at.risk,
    };
    // A bin of which not even unread blocks are served promises nothing, and is not judged.
    let judge = |which: usize, times: f64| -> Vec<Vec<f64>> {
        walk(lot, setup, Half::Judged, "blocks to judge by", |block| {
            let layers = lot.traits(block);
            let counts = [&table.retry, &table.fails, &table.searched][which];
            let bins = at.pe.iter().zip(counts).filter(|(_, count)| **count > 0);
            bins.map(|(pe, count)| reader.fails(&layers, *pe, *count as f64 * times, ALL[which])).collect()
        })
    };
    let mut figures = Figures::default();
    let names = [
        ("retry-worst", "retry-mean", "retry-thrice"),
        ("lost-worst", "lost-mean", "lost-thrice"),
        ("searched-worst", "searched-mean", "searched-thrice"),
    ];
    for (which, (worst, typical, thrice)) in names.into_iter().enumerate() {
        let what = ["needs a retry", "is not served by the retry table", "is not served by a search"][which];
        let all = judge(which, 1.0).concat();
        figures.set(
            worst,
            100.0 * all.iter().copied().fold(0.0, f64::max),
            format!("% probability that the worst page of the worst block {what} at the count of its bin"),
        );
        figures.set(typical, 100.0 * if all.is_empty() { 0.0 } else { mean(&all) }, "the same in the mean over blocks and bins");
        let further = judge(which, 3.0).concat();
        figures.set(
            thrice,
            100.0 * if further.is_empty() { f64::NAN } else { greatest(&further) },
            "the first of these at three times the count",
        );
    }
    find_shifts(setup, reader, &table, &mut figures);
    let ended = known.iter().flatten().flatten().filter(|reads| **reads >= at.reads_most * 0.99).count();
    figures.set("ended", ended as f64, format!("searches that ended at {} reads without a page that failed", at.reads_most));
    let none = table.retry.iter().chain(&table.fails).chain(&table.searched).filter(|count| **count == 0).count();
    figures.set("nothing", none as f64, "entries of the table that are 0: the worst block is not served even unread");
    let how = how(at);
    Ok(Found { source: source(setup, lot, "disturb", &how), keys: keys(&table), section: "disturb", judged: figures.0, table })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{lot, parsed};

    #[test]
    fn blocks_of_other_chips_stand_as_many_reads_and_not_many_more() {
        let mut setup = lot("4x2", 1_001);
        setup.conditions.insert("disturb".to_owned(), "pe = [\"1k\", \"2k\", \"4k\"]".parse().expect("TOML"));
        let made = characterise(&setup).expect("a table");
        assert_eq!(parsed(&made.text()).disturb.as_deref(), Some(&made.table));
        // Fixed before a figure was seen: within the risk at the table's counts, beyond it at three times as many reads.
        assert!(made.figure("retry-worst") <= 1.0, "{} %", made.figure("retry-worst"));
        assert!(made.figure("lost-worst") <= 1.0, "{} %", made.figure("lost-worst"));
        assert!(made.figure("searched-worst") <= 1.0, "{} %", made.figure("searched-worst"));
        assert!(made.table.searched.iter().zip(&made.table.fails).all(|(searched, fails)| searched >= fails), "{:?}", made.table);
        assert!(made.figure("retry-thrice") > 1.0, "{} %: the counts are far too careful", made.figure("retry-thrice"));
        assert!(made.table.retry.windows(2).all(|pair| pair[0] >= pair[1]));
    }

    #[test]
    fn a_table_of_the_best_block_is_caught() {
        let mut setup = lot("4x2", 1_001);
        setup.conditions.insert("disturb".to_owned(), "pe = [\"1k\", \"2k\"]".parse().expect("TOML"));
        let (lot, at) = (open(&setup, "disturb").expect("a lot"), At::of(&setup).expect("conditions"));
        let entries = (0..=lot.model.retry_entries()).map(|entry| lot.model.references(entry)).collect();
        let reader = Reader { lot: &lot, at: &at, entries };
        let known = walk(&lot, &setup, Half::Fitted, "", |block| reader.block(block));
        let best = |bin: usize| [0, 1, 2].map(|which| greatest(&known.iter().map(|block| block[bin][which]).collect::<Vec<_>>()));
        let made = found(&setup, &reader, &[vec![best(0), best(1)]]).expect("a table");
        assert!(made.figure("retry-worst") > 1.0, "{} %", made.figure("retry-worst"));
    }
}
