//! Reclaim space while nobody is looking.
//!
//! A die that has been idle for a while is likely to stay so for a while. Reclaiming then leaves free blocks for the next burst, which would
//! otherwise wait for reclaim; it moves data that might have been overwritten by then, so it costs write amplification.

use wordline_units::{Cause, Nanos};

use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Card, Ctx, News, Persists, Technique};
use crate::techniques::work::{NEVER, Work, WorkKind};

/// What it is.
pub const CARD: Card = Card {
    name: "idle-reclaim",
    source: "common practice (background garbage collection)",
    claim: "bursts after idle time meet free blocks",
    hooks: Hooks::of(&[Hook::Idle, Hook::Work]),
    asks: &[],
    needs: &[],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "takes one victim at a time and does not know when the next burst comes; raises write amplification",
};

/// Reclaims on idle dies.
#[derive(Clone, Debug)]
pub struct IdleReclaim {
    after: Nanos,
    until_free: u32,
}

impl IdleReclaim {
    /// Reclaim on dies that have been idle for `after` and have fewer than `until_free` free groups.
    pub fn new(after: Nanos, until_free: u32) -> Self {
        IdleReclaim { after, until_free }
    }
}

impl Technique for IdleReclaim {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn work(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Idle { die, free, .. } = *news else {
            return None;
        };
        // Space is no promise: whoever would rather have the die left alone may say so for ever.
        (free < self.until_free).then_some(Work { kind: WorkKind::Collect(die), cause: Cause::Reclaim, due: NEVER })
    }

    fn idle_after(&self) -> Option<Nanos> {
        Some(self.after)
    }
}
