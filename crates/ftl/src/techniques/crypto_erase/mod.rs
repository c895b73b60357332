//! Every unit is encrypted with a key of its own, and the keys of stale secrets are destroyed: nothing is done to the flash that holds them.

use wordline_units::Nanos;

use crate::techniques::declaration::{Declaration, Kind, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way};
use crate::techniques::seam::{Ask, Card, Copy, Ctx, KeyStore, Persists, SanitiseMethod, StaleSecrets, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "crypto-erase",
        source: "ours, as the rival that 002 §3 names and does not evaluate; trees of keys as in Goldreich, Goldwasser and Micali, J. ACM 1986",
        claim: "no stale secret can be read from the chips and the controller's key register once what made it stale is acknowledged",
        hooks: Hooks::of(&[Hook::Sanitise, Hook::KeyStore, Hook::Way]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing(
            "the key store is on flash and in the register; whatever is stale and has a key after a power cut loses it",
        ),
        limits: "as good as its register and its cipher; each commit of destroyed keys takes pages for their trees and for the table of all trees",
    },
    about: "every unit is encrypted with a key of its own, and the keys of stale secrets are destroyed. What is encrypted passes the cipher at the pace \
            of the bus, so that costs no time of its own. A drive that is served cannot have it.",
    params: Params::ALL,
    needs: &[],
};

params! {
    /// Parameters of the key store.
    pub struct Params {
        /// Units whose keys are the leaves of one tree: a power of two from 64 on, and any tree of so many must fit a page.
        leaves: u32 {
            kind: Kind::KeyLeaves,
            default: None,
            tried: &[Value::Count(64)],
            source: "ours, measured in docs/techniques/crypto_erase",
        }
        /// Time to overwrite the controller's register, which opens the table of all trees.
        register: Nanos {
            kind: Kind::Span { least: Nanos(0) },
            default: None,
            tried: &[Value::Span(Nanos::from_micros(20))],
            source: "ours",
        }
    }
}

/// Destroys keys.
#[derive(Clone, Copy, Debug)]
pub struct CryptoErase {
    store: KeyStore,
}

impl CryptoErase {
    /// Creates the technique with a key store of these parameters.
    pub fn new(_site: &Site<'_>, Params { leaves, register }: Params) -> Self {
        CryptoErase { store: KeyStore { leaves, register } }
    }
}

impl Technique for CryptoErase {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, _exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        Some(SanitiseMethod::DropKeys)
    }

    fn key_store(&self) -> Option<KeyStore> {
        Some(self.store)
    }

    // A copy without the bus is a copy of what was encrypted, under the key of the place it came from.
    fn way(&self, _ctx: &Ctx<'_>, _copy: &Copy) -> Says<Way> {
        [Say::AtMost(Way::Bus), Say::Abstain]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use wordline_units::Cause;

    use crate::state::layout::BlockGroup;
    use crate::techniques::seam::ProgramUnit;

    #[test]
    fn encrypted_data_never_moves_by_copyback_whoever_proposes_it() {
        let config = small(64);
        let (layout, core) = (config.layout(), EmptyCore::new(config.layout()));
        let site = Site::bare(&layout, &config.sheet);
        let technique = CryptoErase::new(&site, Params { leaves: 64, register: Nanos(20) });
        assert_eq!(technique.key_store(), Some(KeyStore { leaves: 64, register: Nanos(20) }));
        let copy = Copy { from: ProgramUnit { group: BlockGroup(0), layer: 0, place: 0 }, to: None, why: Cause::Gc };
        let others = crate::techniques::plain_copyback::PlainCopyback.way(&core.ctx(Nanos(0)), &copy);
        let alone = crate::techniques::say::agree(others);
        let both = crate::techniques::say::agree(technique.way(&core.ctx(Nanos(0)), &copy).into_iter().chain(others));
        assert_eq!((alone, both), (Way::Copyback, Way::Bus));
    }
}
