//! The techniques there are. One explicit list; ids are fixed by its order and never by the order of a plan.
//!
//! A technique is one folder beside this file, and one line in the list below. `docs/tutorials/sanitiser.md` walks through it.

use wordline_flash::{Margins, Sheet};
use wordline_units::Nanos;

use crate::state::layout::Layout;
use crate::techniques::seam::{Card, Technique};

pub(crate) mod apply;
pub mod empty;
pub mod hooks;
pub mod panel;
pub mod say;
pub mod seam;
pub mod work;

macro_rules! techniques {
    (
        by ($layout:ident, $sheet:ident, $margins:ident)
        $($(#[$doc:meta])* $name:ident $({ $($(#[$about:meta])* $field:ident: $kind:ty,)* })? in $module:ident = $built:expr;)*
    ) => {
        $(pub mod $module;)*

        /// A technique that a plan switches on, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Choice {
            $($(#[$doc])* $name $({ $($(#[$about])* $field: $kind,)* })?,)*
        }

        /// The cards of all techniques that there are.
        pub const CARDS: &[&Card] = &[$(&$module::CARD,)*];

        impl Choice {
            /// What the technique is.
            pub fn card(&self) -> &'static Card {
                match self { $(Choice::$name $({ $($field: _,)* })? => &$module::CARD,)* }
            }

            /// The technique, ready to work on a core with this `layout` and dies of this `sheet`, whose maker has found these `margins`.
            pub fn build(&self, $layout: &Layout, $sheet: &Sheet, $margins: Option<&Margins>) -> Box<dyn Technique> {
                match *self { $(Choice::$name $({ $($field,)* })? => Box::new($built),)* }
            }
        }
    };
}

techniques! {
    by (layout, sheet, margins)
    /// Rewrite a block whose pages have been read so often since its last erase that read disturb nears the limit of error correction.
    ReadDisturbRefresh {
        /// Page reads of one block group between two erases.
        reads_max: u32,
    } in read_disturb_refresh = read_disturb_refresh::ReadDisturbRefresh::new(layout, reads_max);
    /// Reclaim space while a die has had nothing to do for a while.
    IdleReclaim {
        /// How long a die must have been idle.
        after: Nanos,
        /// Stop once this many block groups of the die are free.
        until_free: u32,
    } in idle_reclaim = idle_reclaim::IdleReclaim::new(after, until_free);
    /// Move data by copyback wherever the die can.
    PlainCopyback in plain_copyback = plain_copyback::PlainCopyback;
    /// Suspend programs and erases for host reads.
    ReadPreemption in read_preemption = read_preemption::ReadPreemption;
    /// Lock stale secrets on the die.
    PageLock {
        /// Lock whole blocks where that is quicker.
        block_lock: bool,
    } in page_lock = page_lock::PageLock::new(sheet, block_lock);
    /// Scrub the wordlines of stale secrets.
    WordlineScrub in wordline_scrub = wordline_scrub::WordlineScrub;
    /// Erase the blocks of stale secrets at once.
    EraseAtOnce in erase_at_once = erase_at_once::EraseAtOnce;
    /// Destroy the keys of stale secrets.
    CryptoErase {
        /// Units whose keys are the leaves of one tree.
        leaves: u32,
        /// How long it takes to overwrite the controller's register.
        register: Nanos,
    } in crypto_erase = crypto_erase::CryptoErase::new(leaves, register);
    /// Program the followers of an h-layer as its leader has shown that they can be.
    LayerSimilarity {
        /// What of it is used.
        params: layer_similarity::Params,
    } in layer_similarity = layer_similarity::LayerSimilarity::new(layout, margins, params);
    /// Narrow programs by a table of margins by h-layer.
    LayerMargins in layer_margins = layer_margins::LayerMargins::new(margins.unwrap_or(&Margins::default()));
    /// Reprogram the pages of stale secrets in one shot.
    ReprogramPage in reprogram_page = reprogram_page::ReprogramPage;
    /// Begin each read at the entry of the retry table that its h-layer needed last.
    LayerReadOffsets in layer_read_offsets = layer_read_offsets::LayerReadOffsets::new(layout, sheet);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::techniques::hooks::Hook;
    use crate::techniques::seam::Persists;

    #[test]
    fn who_remembers_says_so() {
        let all = [
            Choice::ReadDisturbRefresh { reads_max: 8 },
            Choice::IdleReclaim { after: Nanos(1), until_free: 1 },
            Choice::PlainCopyback,
            Choice::ReadPreemption,
            Choice::PageLock { block_lock: true },
            Choice::WordlineScrub,
            Choice::EraseAtOnce,
            Choice::ReprogramPage,
            Choice::LayerReadOffsets,
            Choice::CryptoErase { leaves: 256, register: Nanos(1) },
            Choice::LayerSimilarity {
                params: layer_similarity::Params { window: true, verify: true, is_literal: false, check: true, relent: true },
            },
            Choice::LayerMargins,
        ];
        for card in all.map(|choice| choice.card()) {
            assert_eq!(card.hooks.has(Hook::Remember), matches!(card.persists, Persists::Memos(_)), "{}", card.name);
        }
    }
}
