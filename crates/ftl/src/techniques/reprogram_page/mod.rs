//! Stale secrets are reprogrammed in one shot (OSR): the states of their page are made to overlap, and the other pages of the wordline stay where they are.

use wordline_flash::Sanitisation;

use crate::techniques::declaration::{Declaration, Need, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Persists, SanitiseMethod, StaleSecrets, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "reprogram-page",
        source: "Lin et al., ICCAD 2018 (one-shot reprogramming); examined in Kim et al., ASPLOS 2020, §4",
        claim: "no stale secret can be read from the chips once what made it stale is acknowledged, and nothing is moved for it",
        hooks: Hooks::of(&[Hook::Sanitise]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing(
            "a reprogrammed page cannot be read; after a power cut whatever is stale and readable is found by its marks, and reprogrammed",
        ),
        limits: "the other pages of the wordline have more errors from then on, and may be lost after some retention (002 §4, Fig 6)",
    },
    about: "the pages of stale secrets are destroyed by reprogramming them in one shot.",
    params: &[],
    needs: &[Need::Sanitise(Sanitisation::Reprogram)],
};

/// Reprograms pages.
#[derive(Clone, Copy, Debug)]
pub struct ReprogramPage;

impl ReprogramPage {
    /// Creates the technique, which does not depend on the site.
    pub fn new(_site: &Site<'_>) -> Self {
        ReprogramPage
    }
}

impl Technique for ReprogramPage {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        Some(SanitiseMethod::Reprogram)
    }
}
