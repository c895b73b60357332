//! Steps of the journal, and how much fills a program of it.

use crate::pages::journal::{marks_per_page, records_per_page};
use crate::state::Core;
use crate::state::layout::BlockGroup;

/// State of the group that takes the next snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserve {
    /// The group is erased and can take a snapshot.
    Erased(BlockGroup),
    /// The group must be erased first.
    Used(BlockGroup),
    /// The journal has no second group.
    Missing,
}

/// The journal's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Nothing,
    Records(BlockGroup),
    Snapshot(BlockGroup),
    Erase(BlockGroup),
    /// A program of the map log.
    Log(BlockGroup),
    /// A page is due and no group can take it.
    NoRoom,
}

impl Step {
    /// Group of the step's operation; `None`: it has none.
    pub(crate) fn group(self) -> Option<BlockGroup> {
        match self {
            Step::Records(group) | Step::Snapshot(group) | Step::Erase(group) | Step::Log(group) => Some(group),
            Step::Nothing | Step::NoRoom => None,
        }
    }
}

/// Outcome of a program of the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Journaled {
    /// Group that the journal no longer uses, because a program in it failed. Its blocks are replaced, or it goes out of service.
    pub spoilt: Option<BlockGroup>,
}

/// Number of trim records that fill a program of the journal, second copies counted.
pub(crate) fn records_per_program(core: &Core) -> usize {
    let pages = core.layout().units_per_program / core.layout().units_per_page;
    records_per_page(core.settings().page) * (pages as usize / 2).max(1)
}

/// Number of mark records that fill a program of the journal.
pub(crate) fn marks_per_program(core: &Core) -> usize {
    let pages = (core.layout().units_per_program / core.layout().units_per_page) as usize;
    marks_per_page(core.settings().page, core.layout().units_per_program as usize) * pages
}
