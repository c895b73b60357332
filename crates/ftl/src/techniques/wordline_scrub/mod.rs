//! Stale secrets are scrubbed: one shot raises all cells of their wordline. The valid pages of the wordline are moved first.

use wordline_flash::Sanitisation;

use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Persists, SanitiseMethod, StaleSecrets, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "wordline-scrub",
        source: "Wei et al., FAST 2011 (scrubbing); as scrSSD in Kim et al., ASPLOS 2020, §7, with one-shot programming",
        claim: "no stale secret can be read from the chips once what made it stale is acknowledged",
        hooks: Hooks::of(&[Hook::Sanitise]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing(
            "a scrubbed page cannot be read; after a power cut whatever is stale and readable is found by its marks, and scrubbed",
        ),
        limits: "up to two valid pages are moved for one stale page of a wordline with three, and what a wordline could still have taken is lost",
    },
    about: "the wordlines of stale secrets are scrubbed, and what is valid in them is moved first.",
    params: &[],
    needs: &[Need::Sanitise(Sanitisation::Scrub)],
};

/// Scrubs wordlines.
#[derive(Clone, Copy, Debug)]
pub struct WordlineScrub;

impl WordlineScrub {
    /// Creates the technique, which does not depend on the site.
    pub fn new(_site: &Site<'_>) -> Self {
        WordlineScrub
    }
}

impl Technique for WordlineScrub {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        Some(SanitiseMethod::Scrub)
    }
}
