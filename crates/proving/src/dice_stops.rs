//! A technique that answers by dice whether something is stopped, and how: what no technique for use would do, and what every drive must survive.
//!
//! Its dice are a function of the instant and the die, so that an answer that is asked for twice is given twice.

use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Hold, Say, Says, Urgency, abstain};
use wordline_ftl::techniques::seam::{Ask, Card, Conflict, Ctx, Held, Persists, Technique};
use wordline_units::random::{Draw, Stream};
use wordline_units::{DieId, Nanos};

/// Card of the technique.
pub(crate) const CARD: Card = Card {
    name: "dice-stops",
    source: "an oracle of stops",
    claim: "whatever is stopped, and however often, loses nothing",
    hooks: Hooks::of(&[Hook::Stop, Hook::Hold]),
    asks: &[Ask::OneProgram],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "it helps nobody",
};

/// Answers by dice of this seed.
#[derive(Clone, Copy, Debug)]
pub struct DiceStops {
    seed: u64,
}

impl DiceStops {
    /// With dice of `seed`.
    pub fn new(seed: u64) -> DiceStops {
        DiceStops { seed }
    }

    fn die(&self, now: Nanos, die: DieId, question: u32, sides: u64) -> u64 {
        Draw::new(self.seed ^ now.0, Stream::Mix, question << 16 | u32::from(die.0)).below(sides)
    }
}

impl Technique for DiceStops {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn stop(&self, ctx: &Ctx<'_>, conflict: &Conflict) -> Says<Urgency> {
        match self.die(ctx.now, conflict.busy.die, 0, 8) {
            0 => abstain(),
            1 => [Say::Propose(Urgency::Now), Say::AtMost(Urgency::AtStep)],
            2..=4 => [Say::Propose(Urgency::AtStep), Say::Abstain],
            _ => [Say::Propose(Urgency::Now), Say::Abstain],
        }
    }

    fn hold(&self, ctx: &Ctx<'_>, held: &Held) -> Says<Hold> {
        if held.served != [0; 4] && self.die(ctx.now, held.busy.die, 1, 3) == 0 {
            [Say::AtMost(Hold::Resume), Say::Abstain]
        } else {
            abstain()
        }
    }
}
