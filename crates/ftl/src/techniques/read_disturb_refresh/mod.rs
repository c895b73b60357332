//! Rewrite a block before read disturb makes it unreadable.
//!
//! Every read of a page weakly programs the other pages of its block. The firmware cannot see that happen; it can count reads. At `reads_max` reads since
//! the last erase the block's data is moved and the block erased, which resets the disturb.

use wordline_units::Cause;

use crate::layout::Layout;
use crate::seam::{Card, News, Technique, Upkeep};

/// What it is.
pub const CARD: Card = Card {
    name: "read-disturb-refresh",
    source: "common practice; 004 §2 describes it as the read-induced rewrite of today's drives",
    claim: "no block is read more than the limit, and a little, between two erases",
    answers: &["upkeep"],
    needs: &[],
    persists: "nothing: the counts begin anew, so blocks that were read often before a power cut are rewritten late",
    limits: "counts reads of the whole block, not of each page's neighbours; reads that arrive while the block is being moved still count on it",
};

/// Counts the reads of each group.
#[derive(Clone, Debug)]
pub struct ReadDisturbRefresh {
    reads: Vec<u32>,
    reads_max: u32,
}

impl ReadDisturbRefresh {
    /// Refresh each group after `reads_max` reads.
    pub fn new(layout: &Layout, reads_max: u32) -> Self {
        ReadDisturbRefresh { reads: vec![0; layout.group_count()], reads_max }
    }
}

impl Technique for ReadDisturbRefresh {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn image(&self) -> Vec<u32> {
        self.reads.clone()
    }

    fn restore(&mut self, state: &[u32]) {
        self.reads.copy_from_slice(state);
    }

    fn learn(&mut self, news: &News) {
        match *news {
            News::PageRead { group, .. } => self.reads[group.index()] += 1,
            News::Erased { group } => self.reads[group.index()] = 0,
            News::Idle { .. } => {}
        }
    }

    fn upkeep(&self, news: &News) -> Option<Upkeep> {
        match *news {
            News::PageRead { group, .. } if self.reads[group.index()] >= self.reads_max => {
                Some(Upkeep::Rewrite { group, cause: Cause::Disturb })
            }
            News::PageRead { .. } | News::Erased { .. } | News::Idle { .. } => None,
        }
    }
}
