//! The table of guarded erases (001 §3.2): which h-layers are weak, how much longer the others live, and what each mode is worth.
//!
//! Blocks of the fitted half are cycled until each h-layer has more errors than can be corrected after a year. A mode's endurance follows from these as the
//! source works it out: wordlines that need it are spared in so many erases that all that need it live equally long, within what the mode may spare
//! (`gerase.table2-modes-7-9`: n_WL and f as the `guard` bench has them). The coefficient is the source's; that of the lot is told beside.
//!
//! The other half is cycled with the erases that the table asks for, and its real endurance is held against what the table foretells: by each block's own
//! weak wordlines, as a detector finds them, and by the table's order alone.

use wordline_cells::Block;
use wordline_flash::tables::{Guard, GuardMode};

use super::text::{list, rounded, share as share_text, source};
use super::{Figures, Found, Half, open, walk};
use crate::bench::Setup;
use crate::bench::guard::{Group, coefficient, endurance, filled, needed};
use crate::error::LabError;
use crate::lot::{Lot, greatest, least, mean, rank_correlation, share};
use crate::protocol::{Count, Cycles, Number, Share, Span, conditions};

conditions! {
    "guard_table",
    /// Conditions of the blocks that are cycled.
    struct At {
        /// the retention after which errors are counted
        kept: Span,
        /// cycles at which the search for the end of a wordline's life gives up
        cycles_most: Cycles,
        /// modes: wordlines that a guarded erase spares, and the share of guarded erases
        modes: Vec<(Count, Share)>,
        /// coefficient of all wordlines, by which modes are worked out
        coefficient: Number,
        /// share of guarded erases by which the coefficient of the lot is measured
        tried: Share,
        /// share of the h-layers of a block that count as weak
        weak: Share,
    }
}

struct Guarder<'l> {
    lot: &'l Lot,
    at: &'l At,
}

impl Guarder<'_> {
    /// Endurance of each h-layer of a block by normal erases.
    fn endured(&self, block: &Block) -> Vec<f64> {
        self.lot.traits(block).iter().map(|traits| endurance(self.lot, traits, 0.0, self.at.kept, self.at.cycles_most)).collect()
    }

    fn groups(&self, endured: &[f64]) -> Vec<Group> {
        endured.iter().map(|cycles| (*cycles, self.at.coefficient)).collect()
    }

    /// Cycles that these groups live to with a mode.
    fn filled(&self, groups: &[Group], (wordlines, gentle): (u32, f64)) -> f64 {
        let budget = f64::from(wordlines) * gentle / f64::from(self.lot.model.physics().shape.wordlines());
        filled(groups, 1.0 / self.lot.layers() as f64, budget, gentle)
    }

    /// Cycles that a block really lives to with a mode, where each h-layer is spared as often as `told`, which is endurance by normal erases, says it needs.
    fn lives(&self, block: &Block, told: &[f64], mode: (u32, f64)) -> f64 {
        let groups = self.groups(told);
        let target = self.filled(&groups, mode);
        let traits = self.lot.traits(block);
        let of = |(traits, group): (&wordline_cells::Traits, &Group)| {
            endurance(self.lot, traits, needed(*group, target).min(mode.1), self.at.kept, self.at.cycles_most)
        };
        least(&traits.iter().zip(&groups).map(of).collect::<Vec<_>>())
    }

    /// Coefficients of the weak h-layers of a block.
    fn coefficients(&self, block: &Block, endured: &[f64]) -> Vec<f64> {
        let traits = self.lot.traits(block);
        let mut order: Vec<usize> = (0..traits.len()).collect();
        order.sort_by(|a, b| endured[*a].total_cmp(&endured[*b]));
        let count = libm::ceil(self.at.weak * traits.len() as f64) as usize;
        let of = |layer: &usize| {
            let mixed = endurance(self.lot, &traits[*layer], self.at.tried, self.at.kept, self.at.cycles_most);
            coefficient(endured[*layer], mixed, self.at.tried)
        };
        order[..count].iter().map(of).collect()
    }
}

/// Characterises guarded erases on a setup's lot.
///
/// # Errors
///
/// There is no such chip, it has no physics, or the lot has one chip only.
pub fn characterise(setup: &Setup) -> Result<Found<Guard>, LabError> {
    found(setup, &|_| {})
}

/// Results for one block that judges the table.
struct Seen {
    /// Difference of the relative endurances to the table's, and correlation of their order.
    off: f64,
    rank: f64,
    /// Endurance with each mode over that without: by the block's own weak wordlines, and by the table's order.
    gains: Vec<[f64; 2]>,
    coefficients: Vec<f64>,
}

/// The table as [`characterise`] finds it, with endurances that a test may spoil.
fn found(setup: &Setup, spoil: &dyn Fn(&mut [f64])) -> Result<Found<Guard>, LabError> {
    let (lot, at) = (open(setup, "guard")?, At::of(setup)?);
    let guarder = Guarder { lot: &lot, at: &at };
    let mut known = walk(&lot, setup, Half::Fitted, "blocks to fit on", |block| guarder.endured(block));
    known.iter_mut().for_each(|block| spoil(block));
    let wordlines = lot.model.physics().shape.wordlines();
    let modes: Vec<(u32, f64)> = at.modes.iter().copied().filter(|(spared, _)| *spared < wordlines).collect();
    let relative_of = |block: &[f64]| block.iter().map(|cycles| cycles / least(block)).collect::<Vec<f64>>();
    let all: Vec<Vec<f64>> = known.iter().map(|block| relative_of(block)).collect();
    let thousandths = |value: f64| libm::round(value * 1e3) / 1e3;
    let relative: Vec<f64> =
        (0..lot.layers()).map(|layer| thousandths(mean(&all.iter().map(|block| block[layer]).collect::<Vec<_>>()))).collect();
    let mut order: Vec<u32> = (0..lot.layers() as u32).collect();
    order.sort_by(|a, b| relative[*a as usize].total_cmp(&relative[*b as usize]));
    let gain =
        |mode: (u32, f64)| mean(&known.iter().map(|block| guarder.filled(&guarder.groups(block), mode) / least(block)).collect::<Vec<_>>());
    let mode = |mode: &(u32, f64)| GuardMode { wordlines: mode.0, share: mode.1, endurance: thousandths(gain(*mode)) };
    let table = Guard { seed: setup.seed, order, relative, modes: modes.iter().map(mode).collect(), coefficient: at.coefficient };

    let seen = walk(&lot, setup, Half::Judged, "blocks to judge by", |block| {
        let endured = guarder.endured(block);
        let (weakest, own) = (least(&endured), relative_of(&endured));
        let off = own.iter().zip(&table.relative).map(|(own, told)| (own / told - 1.0).abs()).collect::<Vec<_>>();
        Seen {
            off: mean(&off),
            rank: rank_correlation(&own, &table.relative),
            gains: modes.iter().map(|mode| [&endured, &table.relative].map(|told| guarder.lives(block, told, *mode) / weakest)).collect(),
            coefficients: guarder.coefficients(block, &endured),
        }
    });
    let mut figures = Figures::default();
    figures.set(
        "relative-off",
        100.0 * mean(&seen.iter().map(|seen| seen.off).collect::<Vec<_>>()),
        "% that relative endurances are off, mean over h-layers and blocks",
    );
    figures.set(
        "order",
        mean(&seen.iter().map(|seen| seen.rank).collect::<Vec<_>>()),
        "rank correlation of relative endurances with the table's, mean over blocks",
    );
    modes_off(&table, &seen, &mut figures);
    let short = seen.iter().flat_map(|seen| seen.gains.iter().zip(&table.modes).map(|(real, told)| real[0] < told.endurance * 0.95));
    figures.set("short", 100.0 * share(short), "% of blocks and modes endure less than 95 % of what the table tells: it tells means");
    let coefficients: Vec<f64> = seen.iter().flat_map(|seen| seen.coefficients.iter().copied()).collect();
    figures.set(
        "coefficient",
        mean(&coefficients),
        format!("coefficient of weak h-layers as measured, {:.2} to {:.2}", least(&coefficients), greatest(&coefficients)),
    );
    figures.set("blocks", seen.len() as f64, "blocks judged by");
    let how = "modes worked out by the coefficient of 001 §3.2.2 from the endurance of each h-layer, and held against blocks that were cycled with them";
    Ok(Found { source: source(setup, &lot, "guard", how), keys: keys(&table), section: "guard", judged: figures.0, table })
}

/// Records how far the endurance with each mode is from the table's, and what it is if the table's order alone decides.
fn modes_off(table: &Guard, seen: &[Seen], figures: &mut Figures) {
    let gains = |which: usize| {
        (0..table.modes.len()).map(|mode| mean(&seen.iter().map(|seen| seen.gains[mode][which]).collect::<Vec<_>>())).collect::<Vec<f64>>()
    };
    let (own, by_order) = (gains(0), gains(1));
    let off = own.iter().zip(&table.modes).map(|(real, told)| real / told.endurance - 1.0).collect::<Vec<_>>();
    let told = |gains: &[f64]| gains.iter().map(|gain| format!("{gain:.3}")).collect::<Vec<_>>().join(", ");
    let most_off = off.iter().copied().fold(0.0, |most: f64, by| if by.abs() > most.abs() { by } else { most });
    figures.set(
        "modes-off",
        100.0 * most_off,
        format!("% that blocks really endure more with a mode than the table tells, where it is most off; mode by mode {}", told(&own)),
    );
    let last = by_order.len() - 1;
    figures.set(
        "order-alone",
        by_order[last],
        format!("endurance with the last mode if the table's order alone says what is weak; mode by mode {}", told(&by_order)),
    );
}

fn keys(table: &Guard) -> Vec<(&'static str, String)> {
    let modes = &table.modes;
    vec![
        ("seed", table.seed.to_string()),
        ("order", list(&table.order)),
        ("relative", list(&table.relative)),
        ("wordlines", list(&modes.iter().map(|mode| mode.wordlines).collect::<Vec<_>>())),
        ("share", list(&modes.iter().map(|mode| share_text(mode.share)).collect::<Vec<_>>())),
        ("endurance", list(&modes.iter().map(|mode| mode.endurance).collect::<Vec<_>>())),
        ("coefficient", rounded(table.coefficient, 4).to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{lot, parsed};

    #[test]
    fn what_a_mode_is_worth_holds_on_other_chips_and_shuffled_h_layers_do_not() {
        let setup = lot("4x1", 1_001);
        let made = characterise(&setup).expect("a table");
        assert_eq!(parsed(&made.text()).guard.as_deref(), Some(&made.table));
        // Fixed before a figure was seen.
        assert!(made.figure("relative-off") < 15.0, "{} %", made.figure("relative-off"));
        assert!(made.figure("order") > 0.6, "{}", made.figure("order"));
        assert!(made.figure("modes-off").abs() < 10.0, "{} %", made.figure("modes-off"));
        assert!((made.figure("coefficient") - 0.35).abs() < 0.05, "{}", made.figure("coefficient"));
        let count = made.table.order.len();
        let turned = found(&setup, &|block: &mut [f64]| block.rotate_left(count / 3)).expect("a table");
        assert!(turned.figure("order") < 0.3, "{}", turned.figure("order"));
    }
}
