//! A technique that has data copied back again and again, and asks how often that was.

use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Way, abstain};
use wordline_ftl::techniques::seam::{Ask, Card, Copy, Ctx, Persists, Technique};

const CARD: Card = Card {
    name: "chain",
    source: "an oracle of provenance",
    claim: "copies in a row are counted, over power cuts too",
    hooks: Hooks::of(&[Hook::Way]),
    asks: &[Ask::Provenance],
    persists: Persists::Nothing("what it asks for is the core's"),
    limits: "it helps nobody",
};

/// Copies back whatever was copied fewer than four times in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chain;

impl Technique for Chain {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn way(&self, ctx: &Ctx<'_>, copy: &Copy) -> Says<Way> {
        let copies = ctx.view.copies(copy.from.group, copy.from.program(ctx.view.layout()));
        if copies.is_some_and(|copies| copies < 4) { [Say::Propose(Way::Copyback), Say::Abstain] } else { abstain() }
    }
}
