//! Stale secrets are reprogrammed in one shot (OSR): the states of their page are made to overlap, and the other pages of the wordline stay where they are.

use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Card, Ctx, Exposed, Persists, Remedy, Technique};

/// What it is.
pub const CARD: Card = Card {
    name: "reprogram-page",
    source: "Lin et al., ICCAD 2018 (one-shot reprogramming); examined in Kim et al., ASPLOS 2020, §4",
    claim: "no stale secret can be read from the chips once what made it stale is acknowledged, and nothing is moved for it",
    hooks: Hooks::of(&[Hook::Sanitise]),
    asks: &[],
    needs: &["reprogram"],
    persists: Persists::Nothing(
        "a reprogrammed page cannot be read; after a power cut whatever is stale and readable is found by its marks, and reprogrammed",
    ),
    limits: "the other pages of the wordline have more errors from then on, and may be lost after some retention (002 §4, Fig 6)",
};

/// Reprograms pages.
#[derive(Clone, Copy, Debug)]
pub struct ReprogramPage;

impl Technique for ReprogramPage {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &Exposed) -> Option<Remedy> {
        Some(Remedy::Reprogram)
    }
}
