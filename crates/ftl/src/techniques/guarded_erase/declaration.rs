//! Card and parameters of guarded erases.

use crate::techniques::declaration::{Declaration, Kind, Need, Table, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Amount, Ask, Card, Persists};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "guarded-erase",
        source: "GuardedErase and longFTL: dissertation 001 of the papers, §3.2 and §3.3",
        claim: "a drive takes 21 % more writes over its life, at 3 % fewer IOPS: erases spare the weakest wordlines of a block, as often as the load allows",
        hooks: Hooks::of(&[
            Hook::Read,
            Hook::Erased,
            Hook::Opened,
            Hook::Closed,
            Hook::VictimChosen,
            Hook::Unmeasured,
            Hook::EraseSettings,
            Hook::Fit,
            Hook::Work,
            Hook::WearOf,
            Hook::Remember,
        ]),
        asks: &[Ask::Spared(Amount::GuardModes), Ask::WarmClock, Ask::Slots(2)],
        persists: Persists::Memos(
            "the cycles that guarded erases have saved each group, and the mode; without them a group is as worn as its erase count allows, and the mode is 0",
        ),
        limits: "planes of a group share one set; a set is chosen by the last survey of the group, which only a filling without spared wordlines gets; wear is that \
                 of the chip's modes, not of the group's own wordlines; modes whose promises differ by less than the noise of WAF are told apart by chance",
    },
    about: "erases spare the weakest wordlines of a block, which take no data until the next erase, in the mode of the chip's `guard` table that promises most \
            writes (001 §3.3).",
    params: Params::ALL,
    needs: &[Need::GuardedErase, Need::Table(Table::Guard)],
};

words! {
    /// Choice of the mode.
    pub enum Target {
        /// The mode that promises most writes under the present load, found by trying.
        Adaptive = "adaptive",
        /// The mode of the parameter `mode`.
        Fixed = "fixed",
    }
}

words! {
    /// Erases that spare the wordlines that a mode gives up.
    pub enum Relief {
        /// Few erases spare many, by the chip's table.
        Lowest = "lowest",
        /// Every erase spares few.
        All = "all",
    }
}

params! {
    /// Parameters of guarded erases.
    pub struct Params {
        /// Choice of the mode: "adaptive", the one that promises most writes under the present load, or "fixed".
        target: Target {
            kind: Kind::Word(Target::WORDS),
            default: Some(Value::Word("adaptive")),
            tried: &[],
            source: "001 §3.3.4",
        }
        /// With the target "fixed": number of the mode in the chip's table; 0 spares nothing. More than the table has is its last.
        mode: u32 {
            kind: Kind::Count { least: 0, most: 64 },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0), Value::Count(1), Value::Count(2)],
            source: "001 §3.2.3, Table 2",
        }
        /// Erases that spare wordlines: "lowest", the share of the chip's table, or "all", each as few as come to the same capacity.
        relief: Relief {
            kind: Kind::Word(Relief::WORDS),
            default: Some(Value::Word("lowest")),
            tried: &[],
            source: "001 §3.2.3; \"all\" is the rival of §3.4.4",
        }
        /// True: where data of the host opens too few groups for the share of the mode, moved data goes to groups with spared wordlines too.
        spill: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "assumed: 001 §3.3.4 uses them as little as possible for moved data, §3.4.4 not at all",
        }
        /// Erases of a group after which the errors of its wordlines are looked at again, page by page.
        survey_every: u32 {
            kind: Kind::Count { least: 1, most: 1_000_000 },
            default: Some(Value::Count(128)),
            tried: &[Value::Count(1), Value::Count(3)],
            source: "assumed: 001 §3.3.2 does it infrequently, for less than 0.1 % of the I/O time",
        }
        /// P/E count at which a block is at the end of its life if no erase spares anything.
        cycles_max: u32 {
            kind: Kind::Count { least: 1, most: 1_000_000 },
            default: Some(Value::Count(7_000)),
            tried: &[Value::Count(5), Value::Count(40), Value::Count(7_000)],
            source: "001 §3.3.2: over 7K",
        }
        /// Band of write amplification around its mean, in thousandths, within which it counts as steady; wider on drives of fewer than 2,000 block groups.
        band: u32 {
            kind: Kind::Count { least: 1, most: 500 },
            default: Some(Value::Count(20)),
            tried: &[Value::Count(20), Value::Count(500)],
            source: "001 §3.3.3",
        }
    }
}
