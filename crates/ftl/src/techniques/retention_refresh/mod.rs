//! Data is moved before it has been kept for too long.
//!
//! Tables of what blocks stand are made for some retention. This keeps the drive inside it while it has power: groups are looked at in turn, and one whose
//! oldest data has been on flash for `days_max` days at 30 °C is rewritten. Copies inside a die do not make data younger; error correction does.

use wordline_units::{Cause, Nanos, Seconds};

use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Kind, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Memo, News, Persists, Technique};
use crate::techniques::work::{Work, WorkKind};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "retention-refresh",
        source: "common practice; dissertation 000 of the papers, §3.4.2, asks for retention that is bounded",
        claim: "while the drive has power, no data is kept longer than the limit and one round of the patrol",
        hooks: Hooks::of(&[Hook::Timer, Hook::Work]),
        asks: &[Ask::Provenance],
        persists: Persists::Nothing(
            "the birth of data is the core's to remember; what has none after a power cut is moved in the first round",
        ),
        limits: "looks at groups in turn, so data may be kept for one round longer; time without power is not seen, unless somebody tells it; data in a block that is \
                 still being written waits until it is full",
    },
    about: "moves data that has been kept for so long that tables of what blocks stand would no longer hold.",
    params: Params::ALL,
    needs: &[],
};

params! {
    /// Parameters of retention refresh.
    pub struct Params {
        /// Days at 30 °C after which data is moved.
        days_max: u32 {
            kind: Kind::Count { least: 1, most: 36_500 },
            default: Some(Value::Count(180)),
            tried: &[Value::Count(1), Value::Count(180)],
            source: "assumed: half of the year that tables are made for, so that half a year without power stays inside",
        }
        /// Time in which each group is looked at once.
        patrol: Nanos {
            kind: Kind::Span { least: Nanos(1_000_000) },
            default: Some(Value::Span(Nanos(86_400_000_000_000))),
            tried: &[Value::Span(Nanos(1_000_000)), Value::Span(Nanos(20_000_000))],
            source: "assumed: a day",
        }
    }
}

/// The patrol.
#[derive(Clone, Debug)]
pub struct RetentionRefresh {
    params: Params,
    groups: u32,
    next: Nanos,
    cursor: u32,
}

impl RetentionRefresh {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        RetentionRefresh { params, groups: site.layout.group_count() as u32, next: Nanos::ZERO, cursor: 0 }
    }

    /// True if the data of `group` has been kept for as long as it may, or for nobody knows how long.
    fn is_due(&self, ctx: &Ctx<'_>, group: BlockGroup) -> bool {
        let Some(today) = ctx.view.today() else { return false };
        ctx.view.born(group).is_none_or(|born| today.0.saturating_sub(born.0) >= self.params.days_max)
    }
}

impl Technique for RetentionRefresh {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        vec![self.cursor, self.next.0 as u32, (self.next.0 >> 32) as u32]
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let &[cursor, low, high] = state else { return false };
        let fits = cursor < self.groups.max(1);
        if fits {
            (self.cursor, self.next) = (cursor, Nanos(u64::from(high) << 32 | u64::from(low)));
        }
        fits
    }

    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {
        (self.cursor, self.next) = (0, Nanos::ZERO);
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        if *news == News::Timer {
            self.next = ctx.now + Nanos((self.params.patrol.0 / u64::from(self.groups.max(1))).max(1));
            self.cursor = (self.cursor + 1) % self.groups.max(1);
        }
    }

    fn renews_within(&self) -> Option<Seconds> {
        Some(Seconds(Seconds::from_days(u64::from(self.params.days_max)).0 + self.params.patrol.0.div_ceil(1_000_000_000)))
    }

    fn wake_at(&self) -> Option<Nanos> {
        Some(self.next.max(Nanos(1)))
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let group = BlockGroup(self.cursor);
        let is_wanted =
            *news == News::Timer && ctx.view.use_of(group) == Use::Closed && ctx.view.valid(group) > 0 && self.is_due(ctx, group);
        is_wanted.then_some(Work { kind: WorkKind::Rewrite(group), cause: Cause::Refresh, due: ctx.now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{build, construct};
    use crate::techniques::Choice;
    use crate::techniques::apply::ctx;
    use wordline_units::Celsius;

    const DAYS: u32 = 3;

    /// A core with data of today in its first group, and the technique when it is about to look there.
    fn trial() -> (Rooms, RetentionRefresh) {
        let params = Params { days_max: DAYS, patrol: Nanos(10_000_000) };
        let config = Config { techniques: vec![Choice::RetentionRefresh(params)], ..small(64) };
        let layout = config.layout();
        let mut technique = RetentionRefresh::new(&Site::bare(&layout, &config.sheet), params);
        technique.cursor = layout.group_count() as u32 - 1;
        let mut rooms = build(&config);
        let Rooms { core, sanitise, .. } = &mut rooms;
        construct::fill(core, sanitise, 60);
        core.services_mut().programmed(BlockGroup(0), Nanos(1));
        (rooms, technique)
    }

    fn wanted(rooms: &Rooms, technique: &mut RetentionRefresh) -> Option<WorkKind> {
        technique.learn(&ctx(&rooms.core), &News::Timer);
        technique.work(&ctx(&rooms.core), &News::Timer).map(|work| work.kind)
    }

    #[test]
    fn data_is_moved_on_the_day_and_not_the_day_before() {
        for (days, due) in [(DAYS - 1, false), (DAYS, true)] {
            let (mut rooms, mut technique) = trial();
            let span = f64::from(days) * 86_400.0;
            rooms.core.services_mut().get_mut().expect("provenance is asked for").let_pass(Nanos(1), span, Celsius(30.0));
            assert_eq!(wanted(&rooms, &mut technique), due.then_some(WorkKind::Rewrite(BlockGroup(0))), "after {days} days");
            assert_eq!(wanted(&rooms, &mut technique), None, "the next group is being written");
        }
    }

    #[test]
    fn each_group_is_looked_at_once_in_a_round() {
        let (rooms, mut technique) = trial();
        let ctx = ctx(&rooms.core);
        let mut seen: Vec<u32> = (0..technique.groups)
            .map(|_| {
                technique.learn(&ctx, &News::Timer);
                technique.cursor
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..technique.groups).collect::<Vec<_>>());
        assert_eq!(technique.wake_at(), Some(ctx.now + Nanos(10_000_000 / u64::from(technique.groups))));
    }
}
