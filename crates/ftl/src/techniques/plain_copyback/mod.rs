//! Copyback wherever the die can: the ideal that ignores errors.
//!
//! Data moved by copyback never passes error correction, so its errors add up from copy to copy. This technique pays no heed: it is the upper bound that
//! careful ones are measured against.

use crate::layout::Group;
use crate::seam::{Card, Persists, Technique, Vote};

/// What it is.
pub const CARD: Card = Card {
    name: "plain-copyback",
    source: "ONFI copyback; MQSim's Use_Copyback",
    claim: "reclaim moves fully valid program units without the channel bus",
    answers: &["vote_copyback"],
    needs: &["copyback"],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "takes no account of error propagation; units that share a program unit with stale ones still take the bus",
};

/// Proposes copyback for everything.
#[derive(Clone, Copy, Debug)]
pub struct PlainCopyback;

impl Technique for PlainCopyback {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn vote_copyback(&self, _: Group) -> Vote {
        Vote::Propose
    }
}
