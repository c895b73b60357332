//! Card and parameters of quotas of copies.

use crate::techniques::block_class::Classes;
use crate::techniques::declaration::{Declaration, Kind, Need, Table, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Amount, Ask, Card, Persists};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "restricted-copyback",
        source: "rcFTL: dissertation 001 of the papers, §4.2 and §4.3.1",
        claim: "garbage collection saves the bus wherever the blocks still stand a copy, at the cost of a byte for each block group",
        hooks: Hooks::of(&[
            Hook::Closed,
            Hook::Read,
            Hook::Unmeasured,
            Hook::VictimChosen,
            Hook::Copied,
            Hook::Programmed,
            Hook::Erased,
            Hook::Way,
            Hook::Fit,
            Hook::Work,
            Hook::Remember,
        ]),
        asks: &[Ask::Provenance, Ask::Places(Amount::Param("moved_blocks")), Ask::Slots(2)],
        persists: Persists::Memos(
            "the share of the quota that is left in each closed group, and the class of its blocks; a group without memos has no quota, unless its data is known \
             to be corrected",
        ),
        limits: "a group goes by its least data; open groups for each quota take spare; thresholds are of one P/E bin, that of the most erased group of the core; \
                 they hold for the retention of the table from the first program of the data, so data must be moved over the bus before that is over; they are \
                 of copies in quick succession, so data that has been kept for `days_max` days is not copied, nor is data from before a start: time without \
                 power is not seen",
    },
    about: "data is copied inside the die within a quota of its block group, by the chip's `copyback`, its P/E count and the class of its blocks (001 §4.3.1).",
    params: Params::ALL,
    needs: &[Need::Copyback, Need::NoKeys, Need::Table(Table::Copyback)],
};

params! {
    /// Parameters of restricted copybacks.
    pub struct Params {
        /// Class of blocks by which thresholds are taken: "block", that of each block as measured just after program, or "worst" for all.
        classes: Classes {
            kind: Kind::Word(Classes::WORDS),
            default: Some(Value::Word("block")),
            tried: &[],
            source: "001 §4.2.1",
        }
        /// Pages of a wordline that are measured in each block to find its class, at most as many as the wordline has.
        samples: u32 {
            kind: Kind::Count { least: 1, most: 4 },
            default: Some(Value::Count(3)),
            tried: &[Value::Count(1), Value::Count(3)],
            source: "assumed: the pages of one TLC wordline; 001 §4.2.1 reads a block",
        }
        /// Column of the table by its retention, counted from the longest, which is 0.
        retention: u32 {
            kind: Kind::Count { least: 0, most: 15 },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0)],
            source: "001 §4.2.2: a year",
        }
        /// Block groups of a die that are open for moved data at once, each for data of one quota.
        moved_blocks: u32 {
            kind: Kind::Count { least: 1, most: 16 },
            default: Some(Value::Count(4)),
            tried: &[Value::Count(1), Value::Count(2), Value::Count(4)],
            source: "001 §4.3.1 has one for each quota, five in its Fig 21",
        }
        /// Days at 30 °C since the first program of data after which it is moved over the bus.
        days_max: u32 {
            kind: Kind::Count { least: 1, most: 36_500 },
            default: Some(Value::Count(1)),
            tried: &[Value::Count(1), Value::Count(2)],
            source: "assumed: thresholds are of copies in quick succession, and errors of retention that a copy takes along are not in them",
        }
    }
}
