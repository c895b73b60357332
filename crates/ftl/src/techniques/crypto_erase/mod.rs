//! Every unit is encrypted with a key of its own, and the keys of stale secrets are destroyed: nothing is done to the flash that holds them.

use wordline_units::Nanos;

use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way};
use crate::techniques::seam::{Card, Copy, Ctx, Exposed, KeyStore, Persists, Remedy, Technique};

/// What it is.
pub const CARD: Card = Card {
    name: "crypto-erase",
    source: "ours, as the rival that 002 §3 names and does not evaluate; trees of keys as in Goldreich, Goldwasser and Micali, J. ACM 1986",
    claim: "no stale secret can be read from the chips and the controller's key register once what made it stale is acknowledged",
    hooks: Hooks::of(&[Hook::Sanitise, Hook::KeyStore, Hook::Way]),
    asks: &[],
    needs: &["a register of the controller that is overwritten in place"],
    persists: Persists::Nothing(
        "the key store is on flash and in the register; whatever is stale and has a key after a power cut loses it",
    ),
    limits: "as good as its register and its cipher; each commit of destroyed keys takes pages for their trees and for the table of all trees",
};

/// Destroys keys.
#[derive(Clone, Copy, Debug)]
pub struct CryptoErase {
    store: KeyStore,
}

impl CryptoErase {
    /// Trees of `leaves` keys; `register` is how long the register takes.
    pub fn new(leaves: u32, register: Nanos) -> Self {
        CryptoErase { store: KeyStore { leaves, register } }
    }
}

impl Technique for CryptoErase {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &Exposed) -> Option<Remedy> {
        Some(Remedy::DropKeys)
    }

    fn key_store(&self) -> Option<KeyStore> {
        Some(self.store)
    }

    // A copy without the bus is a copy of what was encrypted, under the key of the place it came from.
    fn way(&self, _ctx: &Ctx<'_>, _copy: &Copy) -> Says<Way> {
        [Say::AtMost(Way::Bus), Say::Abstain]
    }
}
