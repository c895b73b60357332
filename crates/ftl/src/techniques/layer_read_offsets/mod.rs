//! The wordlines of an h-layer are alike, so what one of them needed to be read, the others need too.
//!
//! A table has one byte for each h-layer of each block: the entry of the vendor's read-retry table that was right there last. A read begins there, of whatever
//! page type: an entry moves all references of a wordline together, so what one page needed is also the best that is known of the others. Where types do need
//! different entries, most entries that serve the one that needs the highest serve the others too.
//!
//! A byte changes in two ways only. A read that took retries and ended well leaves the entry that worked; an erase puts the whole block back to the default. A
//! read that failed at every entry teaches nothing: what made it fail (a torn program, a lock) is not where the references are.

use wordline_flash::{Failed, ReadTry, Status};
use wordline_units::Nanos;

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Site};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Card, Ctx, Estimate, FlashPage, Memo, News, Persists, ReadReport, Rung, Technique, Why, ignores};
use crate::util::packed::{pack, unpack};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "layer-read-offsets",
        source: "Shim, Exploiting Process Similarity of 3D Flash Memory for High Performance SSDs, dissertation, SNU 2020, §4.2 and §5.1 (cubeFTL)",
        claim: "reads take 66 % fewer retries on average, as long as an h-layer is read again before its block is erased",
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::Estimate, Hook::Rung]),
        asks: &[],
        persists: Persists::Nothing("the next read of an h-layer finds its entry from the default again"),
        limits: "finds the first entry that serves, not the best; knows of a change of conditions only by the retries it causes, and an entry that has become too \
                 high costs the way to the end of the table; reads inside a copyback are the die's own",
    },
    about: "each read begins at the entry of the retry table that its h-layer needed last (003 §5.1). Where reads need no retries it does nothing.",
    params: &[],
    needs: &[],
};

/// Expected further tries, in sixteenths, of a read that begins at the entry that its h-layer needed last. A guess: how far a table has drifted is not kept.
/// It stands behind whoever knows that no further try is needed.
const DOUBT: u16 = 16;

/// Tries that the entry is taken to cost a read that began elsewhere: itself and, as often as not, another.
const TRIES: u64 = 2;

/// Table of the entry that was right last, for each h-layer of each block.
#[derive(Clone, Debug)]
pub struct LayerReadOffsets {
    /// Entries by group, plane and h-layer; 0, the default, where nothing else is known.
    entries: Vec<u8>,
    pages_per_layer: u32,
    layers: u32,
    per_group: usize,
    sense: Nanos,
}

impl LayerReadOffsets {
    /// Creates a table for the blocks of the `site`, all of whose entries are the default.
    pub fn new(site: &Site<'_>) -> Self {
        let (layout, geometry) = (site.layout, &site.sheet.geometry);
        let per_group = (geometry.layers * layout.planes) as usize;
        LayerReadOffsets {
            entries: vec![0; per_group * layout.group_count()],
            pages_per_layer: geometry.wordlines_per_layer * geometry.cell.bits(),
            layers: geometry.layers,
            per_group,
            sense: site.sheet.timing.read[0],
        }
    }

    fn place(&self, at: FlashPage) -> usize {
        let layer = u32::from(at.page.0) / self.pages_per_layer;
        at.group.index() * self.per_group + (u32::from(at.plane.0) * self.layers + layer) as usize
    }

    fn forget(&mut self, group: BlockGroup) {
        let entries = &mut self.entries[group.index() * self.per_group..][..self.per_group];
        // Of a drive that is hardly read most of the table is never touched, and takes no memory.
        if entries.iter().any(|&entry| entry != 0) {
            entries.fill(0);
        }
    }
}

impl Technique for LayerReadOffsets {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        pack(&self.entries)
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        unpack(state, &mut self.entries)
    }

    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {
        self.entries.fill(0);
    }

    fn learn(&mut self, _ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ReadReport { at, status: Status::Good, retries: 1.., last, .. }) if last.set == ReadTry::DEFAULT.set => {
                let place = self.place(at);
                self.entries[place] = last.entry;
            }
            News::Erased(report) => self.forget(report.group),
            ignores!(
                Read,
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

    fn estimate(&self, _ctx: &Ctx<'_>, at: FlashPage) -> Result<Estimate, Why> {
        let entry = Some(self.entries[self.place(at)]).filter(|&entry| entry != 0);
        entry.map(|entry| Estimate { doubt: DOUBT, first: ReadTry::vendor(entry) }).ok_or(Why::Unmeasured)
    }

    fn rung(&self, _ctx: &Ctx<'_>, at: FlashPage, failed: &Failed<'_>) -> Option<Rung> {
        // A read that began in the vendor's table began at the entry, or goes up from where it was when it was ordered.
        let began_elsewhere = failed.tried.first().is_some_and(|first| first.set != ReadTry::DEFAULT.set);
        let next = ReadTry::vendor(self.entries[self.place(at)]);
        let helps = began_elsewhere && next.entry != 0 && !failed.tried.contains(&next);
        helps.then(|| Rung { cost: Nanos(self.sense.0 * TRIES), next })
    }
}

#[cfg(test)]
mod tests;
