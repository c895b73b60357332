//! The block of a stale secret is erased at once. Whatever is valid in it is moved first.

use wordline_flash::Sanitisation;

use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Persists, SanitiseMethod, StaleSecrets, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "erase-at-once",
        source: "Diesburg et al., TrueErase, and others; as erSSD in Kim et al., ASPLOS 2020, §7",
        claim: "no stale secret can be read from the chips once what made it stale is acknowledged",
        hooks: Hooks::of(&[Hook::Sanitise]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing("after a power cut whatever is stale and readable is found by its marks, and its block is erased"),
        limits: "one stale page moves a block of valid ones; blocks wear out hundreds of times faster",
    },
    about: "the blocks of stale secrets are erased at once, and what is valid in them is moved first. Blocks that cannot be erased any more are \
            scrubbed.",
    params: &[],
    needs: &[Need::Sanitise(Sanitisation::Scrub)],
};

/// Erases blocks.
#[derive(Clone, Copy, Debug)]
pub struct EraseAtOnce;

impl EraseAtOnce {
    /// Creates the technique, which does not depend on the site.
    pub fn new(_site: &Site<'_>) -> Self {
        EraseAtOnce
    }
}

impl Technique for EraseAtOnce {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        Some(if exposed.has_failed { SanitiseMethod::Scrub } else { SanitiseMethod::Erase })
    }
}
