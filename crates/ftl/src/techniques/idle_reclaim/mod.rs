//! GC on idle dies.
//!
//! A die that has been idle for a while is likely to stay so for a while. Reclaiming then leaves free blocks for the next burst, which would
//! otherwise wait for GC; it moves data that might have been overwritten by then, so it costs write amplification.

use wordline_units::{Cause, Nanos};

use crate::techniques::declaration::{Declaration, Kind, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Card, Ctx, News, Persists, Technique};
use crate::techniques::work::{NEVER, Work, WorkKind};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "idle-reclaim",
        source: "common practice (background garbage collection)",
        claim: "bursts after idle time meet free blocks",
        hooks: Hooks::of(&[Hook::Idle, Hook::Work]),
        asks: &[],
        persists: Persists::Nothing("it knows nothing that could be forgotten"),
        limits: "takes one victim at a time and does not know when the next burst comes; raises write amplification",
    },
    about: "reclaim space while a die has had nothing to do for a while.",
    params: Params::ALL,
    needs: &[],
};

params! {
    /// Parameters of idle GC.
    pub struct Params {
        /// Time that a die must have been idle.
        after: Nanos {
            kind: Kind::Span { least: Nanos(1) },
            default: None,
            tried: &[Value::Span(Nanos::from_micros(300)), Value::Span(Nanos::from_millis(2))],
            source: "common practice (background garbage collection)",
        }
        /// Stop once this many block groups of the die are free; more than `gc.start`.
        until_free: u32 {
            kind: Kind::FreeGroups,
            default: None,
            tried: &[Value::Count(5), Value::Count(7)],
            source: "common practice (background garbage collection)",
        }
    }
}

/// Reclaims on idle dies.
#[derive(Clone, Debug)]
pub struct IdleReclaim {
    params: Params,
}

impl IdleReclaim {
    /// GC on dies that have been idle for long enough and have too few free groups.
    pub fn new(_site: &Site<'_>, params: Params) -> Self {
        IdleReclaim { params }
    }
}

impl Technique for IdleReclaim {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn work(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Idle { die, free, .. } = *news else {
            return None;
        };
        // Space is no promise: whoever would rather have the die left alone may say so for ever.
        (free < self.params.until_free).then_some(Work { kind: WorkKind::Collect(die), cause: Cause::Gc, due: NEVER })
    }

    fn idle_after(&self) -> Option<Nanos> {
        Some(self.params.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;

    #[test]
    fn an_idle_die_is_reclaimed_until_it_has_the_free_groups_that_were_asked_for() {
        let config = small(64);
        let (layout, core) = (config.layout(), EmptyCore::new(config.layout()));
        let site = Site::bare(&layout, &config.sheet);
        let technique = IdleReclaim::new(&site, Params { after: Nanos(300), until_free: 5 });
        assert_eq!(technique.idle_after(), Some(Nanos(300)));
        let work = |free| technique.work(&core.ctx(Nanos(1)), &News::Idle { die: wordline_units::DieId(0), idle: Nanos(300), free });
        assert_eq!(work(4).map(|work| (work.kind, work.due)), Some((WorkKind::Collect(wordline_units::DieId(0)), NEVER)));
        assert_eq!(work(5), None);
        assert_eq!(technique.work(&core.ctx(Nanos(1)), &News::Timer), None);
    }
}
