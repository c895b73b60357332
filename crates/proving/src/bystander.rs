//! A technique that listens to everything, is asked everything, and wants nothing.

use wordline_ftl::techniques::hooks::Hooks;
use wordline_ftl::techniques::seam::{Card, Ctx, News, Persists, Technique};
use wordline_units::Nanos;

const CARD: Card = Card {
    name: "bystander",
    source: "an oracle of composition",
    claim: "a drive with it does what the drive does without it, event for event",
    hooks: Hooks::all(),
    asks: &[],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "it helps nobody",
};

/// How long a die is idle before it wants to hear of it.
pub const IDLE: Nanos = Nanos::from_micros(500);

/// From one instant at which it wants to be told the time to the next.
pub const PERIOD: Nanos = Nanos::from_millis(1);

/// Subscribes to every hook, abstains from every question, and has an idle wait and a timer.
#[derive(Clone, Debug)]
pub struct Bystander {
    next: Nanos,
    /// News heard.
    heard: u64,
}

impl Default for Bystander {
    fn default() -> Self {
        Bystander { next: PERIOD, heard: 0 }
    }
}

impl Technique for Bystander {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn image(&self) -> Vec<u32> {
        vec![self.heard as u32, self.next.0 as u32, (self.next.0 >> 32) as u32]
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let &[heard, low, high] = state else { return false };
        (self.heard, self.next) = (u64::from(heard), Nanos(u64::from(low) | u64::from(high) << 32));
        true
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        self.heard += 1;
        if *news == News::Timer {
            self.next = ctx.now + PERIOD;
        }
    }

    fn idle_after(&self) -> Option<Nanos> {
        Some(IDLE)
    }

    fn wake_at(&self) -> Option<Nanos> {
        Some(self.next)
    }
}
