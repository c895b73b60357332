//! Programs and erases give way to host reads.
//!
//! A read waits up to a whole erase for its die. Dies that can suspend let it through within some tens of microseconds, at the price of a resume.

use wordline_units::FlashOp;

use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Urgency, abstain};
use crate::techniques::seam::{Ask, Card, Conflict, Ctx, Persists, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "read-preemption",
        source: "ONFI/JEDEC program and erase suspend; the baseline of 000 §4",
        claim: "a host read waits for a suspend, not for a program or an erase",
        hooks: Hooks::of(&[Hook::Stop]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing("it knows nothing that could be forgotten"),
        limits: "knows no quota: many readers can hold up one erase for as long as the die's least interval between suspends lets them",
    },
    about: "suspend programs and erases for host reads.",
    params: &[],
    needs: &[Need::Suspend],
};

/// Urges a suspend for every waiting read.
#[derive(Clone, Copy, Debug)]
pub struct ReadPreemption;

impl ReadPreemption {
    /// Creates the technique, which does not depend on the site.
    pub fn new(_site: &Site<'_>) -> Self {
        ReadPreemption
    }
}

impl Technique for ReadPreemption {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn stop(&self, _ctx: &Ctx<'_>, conflict: &Conflict) -> Says<Urgency> {
        if conflict.busy.kind == FlashOp::Read { abstain() } else { [Say::Propose(Urgency::Now), Say::Abstain] }
    }
}
