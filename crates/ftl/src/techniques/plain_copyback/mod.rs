//! Copyback wherever the die can: the ideal that ignores errors.
//!
//! Data moved by copyback never passes error correction, so its errors add up from copy to copy. This technique pays no heed: it is the upper bound that
//! careful ones are measured against.

use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way};
use crate::techniques::seam::{Card, Copy, Ctx, Persists, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "plain-copyback",
        source: "ONFI copyback; MQSim's Use_Copyback",
        claim: "reclaim moves fully valid program units without the channel bus",
        hooks: Hooks::of(&[Hook::Way]),
        asks: &[],
        persists: Persists::Nothing("it knows nothing that could be forgotten"),
        limits: "takes no account of error propagation; units that share a program unit with stale ones still take the bus",
    },
    about: "move data by copyback, without the channel bus, wherever a whole program unit is valid.",
    params: &[],
    needs: &[Need::Copyback],
};

/// Proposes copyback for everything.
#[derive(Clone, Debug)]
pub struct PlainCopyback;

impl PlainCopyback {
    /// Creates the technique, which does not depend on the site.
    pub fn new(_site: &Site<'_>) -> Self {
        PlainCopyback
    }
}

impl Technique for PlainCopyback {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn way(&self, _ctx: &Ctx<'_>, _copy: &Copy) -> Says<Way> {
        [Say::Propose(Way::Copyback), Say::Abstain]
    }
}
