//! Stale secrets are locked on the die (pLock, bLock): nothing is moved and nothing is erased, and the chips put out zeroes for them.
//!
//! A page is locked by a short program pulse on its flag cells. A whole block is locked by one on its select transistors: where nothing in it is needed
//! any more and its pages would take longer one by one, that is what is done.

use wordline_flash::Sanitisation;
use wordline_units::Nanos;

use crate::techniques::declaration::{Declaration, Kind, Need, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Persists, SanitiseMethod, StaleSecrets, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "page-lock",
        source: "Kim et al., Evanesco, ASPLOS 2020, §5 and §6 (SecureSSD); Kim, dissertation, SNU 2020, §5.2 and §5.3",
        claim: "no stale secret can be read from the chips once what made it stale is acknowledged, and nothing is moved for it",
        hooks: Hooks::of(&[Hook::Sanitise]),
        asks: &[Ask::OneProgram],
        persists: Persists::Nothing(
            "the locks are flash themselves; after a power cut whatever is stale and readable is found by its marks, and locked",
        ),
        limits: "a page with several mapping units is locked as a whole, so what is valid in it is moved; a lock is as good as its flag cells",
    },
    about: "stale secrets are locked on the die, page by page or, where nothing else is in it, the whole block (002 §5, §6).",
    params: Params::ALL,
    needs: &[
        Need::Sanitise(Sanitisation::LockPage),
        Need::Where("block_lock", Value::Flag(true), &Need::Sanitise(Sanitisation::LockBlock)),
    ],
};

params! {
    /// Parameters of page lock.
    pub struct Params {
        /// Lock the whole block where that is quicker than its pages one by one.
        block_lock: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(true)),
            tried: &[],
            source: "002 §7; without it, it is secSSD_nobLock",
        }
    }
}

/// Locks pages and blocks.
#[derive(Clone, Copy, Debug)]
pub struct PageLock {
    lock_page: Nanos,
    /// Time that the lock of a block takes; `None`: blocks are not locked.
    lock_block: Option<Nanos>,
}

impl PageLock {
    /// Creates the technique with the lock times of the site's data sheet.
    pub fn new(site: &Site<'_>, Params { block_lock }: Params) -> Self {
        let [lock_page, lock_block] = [Sanitisation::LockPage, Sanitisation::LockBlock].map(|how| site.sheet.timing.sanitise(how));
        PageLock { lock_page, lock_block: block_lock.then_some(lock_block) }
    }
}

impl Technique for PageLock {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn sanitise(&self, _ctx: &Ctx<'_>, exposed: &StaleSecrets) -> Option<SanitiseMethod> {
        let pays = |lock: Nanos| Nanos(self.lock_page.0 * u64::from(exposed.pages)) > lock;
        let is_needless = exposed.valid == 0 && exposed.is_full;
        Some(if is_needless && self.lock_block.is_some_and(pays) { SanitiseMethod::LockBlock } else { SanitiseMethod::LockPages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use crate::state::layout::{BlockGroup, Layout};
    use crate::techniques::empty::EmptyCore;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    #[test]
    fn a_block_is_locked_from_four_pages_on_if_nothing_in_it_is_needed() {
        let lock = PageLock { lock_page: Nanos::from_micros(100), lock_block: Some(Nanos::from_micros(300)) };
        let core = EmptyCore::new(Layout::new(&small_sheet(1, 4, ProgramScope::Page), 1, 4, Bytes::kib(16)));
        let ctx = core.ctx(Nanos::ZERO);
        let of =
            |pages, valid, is_full| lock.sanitise(&ctx, &StaleSecrets { group: BlockGroup(1), pages, valid, is_full, has_failed: false });
        assert_eq!(of(4, 0, true), Some(SanitiseMethod::LockBlock));
        assert_eq!(of(3, 0, true), Some(SanitiseMethod::LockPages), "as long is not longer");
        assert_eq!(of(400, 1, true), Some(SanitiseMethod::LockPages));
        assert_eq!(of(400, 0, false), Some(SanitiseMethod::LockPages));
        assert_eq!(
            PageLock { lock_block: None, ..lock }
                .sanitise(&ctx, &StaleSecrets { group: BlockGroup(1), pages: 9, valid: 0, is_full: true, has_failed: false }),
            Some(SanitiseMethod::LockPages)
        );
    }
}
