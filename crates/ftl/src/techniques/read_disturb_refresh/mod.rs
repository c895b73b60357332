//! Rewrite a block before read disturb makes it unreadable.
//!
//! Every read of a page weakly programs the other pages of its block. The firmware cannot see that happen; it can count reads. At `reads_max` reads since
//! the last erase the block's data is moved and the block erased, which resets the disturb.
//!
//! The counts outlast a power cut in steps of an eighth of the limit. Afterwards every block passes for one that was about to complete its step, so its next
//! read completes it and is written down. To round down instead would be no bound at all: a drive that loses its power often enough would rewrite nothing.

use wordline_units::Cause;

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Kind, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Card, Ctx, Memo, News, Persists, ReadReport, Technique, ignores};
use crate::techniques::work::{Work, WorkKind};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "read-disturb-refresh",
        source: "common practice; 004 §2 describes it as the read-induced rewrite of today's drives",
        claim: "no block is read more than the limit, and a little, between two erases, power cuts or not",
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::Work, Hook::Remember]),
        asks: &[],
        persists: Persists::Memos("page reads since the last erase, written down at each eighth of the limit"),
        limits: "counts reads of the whole block, not of each page's neighbours; reads that arrive while the block is being moved still count on it; \
                 a drive that is worn out may have no room to write counts down; each power cut may add an eighth of the limit to what a block counts that is \
                 read before the next one",
    },
    about: "rewrite a block that has been read so often since its last erase that read disturb nears the limit of error correction.",
    params: Params::ALL,
    needs: &[],
};

params! {
    /// Parameters of read-disturb refresh.
    pub struct Params {
        /// Page reads of one block group between two erases.
        reads_max: u32 {
            kind: Kind::Count { least: 1, most: u32::MAX },
            default: None,
            tried: &[Value::Count(3), Value::Count(16), Value::Count(40), Value::Count(200)],
            source: "common practice; 004 §2",
        }
    }
}

/// Steps of a count from erase to limit.
const STEPS: u32 = 8;

/// Counts the reads of each group.
#[derive(Clone, Debug)]
pub struct ReadDisturbRefresh {
    reads: Vec<u32>,
    reads_max: u32,
}

impl ReadDisturbRefresh {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, Params { reads_max }: Params) -> Self {
        ReadDisturbRefresh { reads: vec![0; site.layout.group_count()], reads_max }
    }

    fn step(&self) -> u32 {
        (self.reads_max / STEPS).max(1)
    }
}

impl Technique for ReadDisturbRefresh {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn reads_most(&self) -> Option<u32> {
        Some(self.reads_max)
    }

    fn image(&self) -> Vec<u32> {
        self.reads.clone()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let fits = state.len() == self.reads.len();
        if fits {
            self.reads.copy_from_slice(state);
        }
        fits
    }

    fn recover(&mut self, groups: &BlockGroups, memos: &[Memo]) {
        let step = self.step();
        for (index, reads) in self.reads.iter_mut().enumerate() {
            *reads = if groups.valid(BlockGroup(index as u32)) > 0 { step - 1 } else { 0 };
        }
        for memo in memos {
            self.reads[memo.group.index()] = memo.value.saturating_add(step - 1);
        }
    }

    fn learn(&mut self, _ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ReadReport { at, times, .. }) => {
                self.reads[at.group.index()] = self.reads[at.group.index()].saturating_add(times);
            }
            News::Erased(report) => self.reads[report.group.index()] = 0,
            ignores!(
                Programmed,
                Copied,
                Unmeasured,
                Opened,
                Closed,
                VictimChosen,
                Moved,
                Retired,
                DataLost,
                DieFailed,
                Stopped,
                Timer,
                Idle
            ) => {}
        }
    }

    fn remember(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Memo> {
        let News::Read(ReadReport { at, times, .. }) = *news else {
            return None;
        };
        let value = self.reads[at.group.index()];
        let has_passed = value / self.step() > value.saturating_sub(times) / self.step();
        has_passed.then_some(Memo { group: at.group, slot: 0, value })
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Read(ReadReport { at, .. }) = *news else {
            return None;
        };
        // At the limit it must not wait for anybody.
        let is_due = self.reads[at.group.index()] >= self.reads_max;
        is_due.then_some(Work { kind: WorkKind::Rewrite(at.group), cause: Cause::Disturb, due: ctx.now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use wordline_flash::{ReadTry, Status};
    use wordline_units::{Nanos, PageId, PlaneId};

    use crate::techniques::seam::{EraseReport, FlashPage};

    fn technique(reads_max: u32) -> (ReadDisturbRefresh, EmptyCore) {
        let config = small(64);
        let layout = config.layout();
        let site = Site::bare(&layout, &config.sheet);
        (ReadDisturbRefresh::new(&site, Params { reads_max }), EmptyCore::new(layout))
    }

    fn read(group: u32) -> News {
        News::Read(ReadReport {
            at: FlashPage { group: BlockGroup(group), plane: PlaneId(0), page: PageId(0) },
            cause: Cause::Host,
            status: Status::Good,
            retries: 0,
            last: ReadTry::DEFAULT,
            worst: 0,
            tally: None,
            array: Nanos(1),
            times: 1,
        })
    }

    #[test]
    fn a_group_is_rewritten_at_once_from_the_last_read_that_it_may_have() {
        let (mut technique, core) = technique(3);
        let ctx = core.ctx(Nanos(50));
        let mut due = Vec::new();
        for _ in 0..4 {
            technique.learn(&ctx, &read(2));
            due.push(technique.work(&ctx, &read(2)).map(|work| (work.kind, work.due)));
        }
        let rewrite = Some((WorkKind::Rewrite(BlockGroup(2)), Nanos(50)));
        assert_eq!(due, [None, None, rewrite, rewrite]);
        assert_eq!(technique.work(&ctx, &read(1)), None, "another group was not read");
        technique.learn(&ctx, &News::Erased(EraseReport::without_erase(BlockGroup(2))));
        assert_eq!(technique.work(&ctx, &read(2)), None);
    }

    #[test]
    fn after_a_power_cut_no_count_is_lower_than_it_was() {
        let (mut technique, core) = technique(80);
        let ctx = core.ctx(Nanos(1));
        let mut memo = 0;
        for reads in 1..=75 {
            technique.learn(&ctx, &read(0));
            memo = technique.remember(&ctx, &read(0)).map_or(memo, |memo| memo.value);
            let (mut later, _) = self::technique(80);
            later.recover(core.groups(), &[Memo { group: BlockGroup(0), slot: 0, value: memo }]);
            let count = later.image()[0];
            assert!((reads..reads + 20).contains(&count), "{count} after {reads} reads");
        }
    }
}
