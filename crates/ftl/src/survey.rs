//! What a core finds on its flash when it wakes up after a power cut.
//!
//! The core asks a [`Survey`] about every block and every page, and remembers of each unit where its newest copies lie. What follows from that is for
//! `recover.rs`.

use wordline_flash::Mark;
use wordline_units::{BlockId, DieId, PageId, PlaneId};

use crate::firmware::Ftl;
use crate::groups::Use;
use crate::journal::JOURNAL;
use crate::journal_page::{Facts, Page};
use crate::layout::{Group, Layout};

/// A page of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlace {
    /// The die, counted over the core's own.
    pub die: DieId,
    /// The plane.
    pub plane: PlaneId,
    /// The block in its plane.
    pub block: BlockId,
    /// The page in program order.
    pub page: PageId,
}

/// What stands in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing since the last erase.
    Erased,
    /// The power went while it was programmed or erased.
    Torn,
    /// Something that cannot be corrected.
    Unreadable,
    /// What was programmed.
    Whole,
}

/// What the die's own records say of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    /// No program or erase of it has failed.
    pub healthy: bool,
    /// How often it was erased.
    pub erases: u32,
}

/// The flash of a core, to be read without time passing.
pub trait Survey {
    /// The record of a block.
    fn block(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> BlockRecord;

    /// What stands at `place`. Where that is whole, `marks` becomes the mark of each of its units.
    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found;

    /// The user bytes of the whole page at `place`. Asked of pages of the journal only.
    fn bytes(&mut self, place: PagePlace, bytes: &mut Vec<u8>);
}

/// A block of each plane that belong together: what a group stands on. Which blocks do is fixed by the blocks that were bad from the start; which group stands
/// on them changes when blocks go bad.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) die: DieId,
    pub(crate) blocks: [u16; 4],
    /// A program or an erase of one of its blocks has failed.
    pub(crate) broken: bool,
    /// A page of it is not erased.
    pub(crate) touched: bool,
    pub(crate) erases: u32,
    /// The highest version in it.
    pub(crate) newest: u64,
    /// Its pages that belong to the journal.
    pub(crate) journal: Vec<Page>,
}

/// A copy of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) version: u64,
    /// The number of its stand.
    pub(crate) stand: u32,
    pub(crate) offset: u32,
}

impl Copied {
    pub(crate) const NONE: Copied = Copied { version: 0, stand: u32::MAX, offset: 0 };
}

/// All that was found.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    pub(crate) stands: Vec<Stand>,
    /// The stand that each group had when the core was new.
    pub(crate) homes: Vec<Option<usize>>,
    /// The spare stands of each die, in the order in which they are used up.
    pub(crate) spares: Vec<Vec<usize>>,
    /// The newest copy of each logical unit.
    pub(crate) best: Vec<Copied>,
    /// Other copies of the same version as the newest, when they were found.
    pub(crate) twins: Vec<(u32, Copied)>,
    /// The highest version of anything.
    pub(crate) version: u64,
}

impl Findings {
    /// Look at everything that `fresh`, a new core with the same configuration, could have written.
    pub(crate) fn gather(fresh: &Ftl, survey: &mut dyn Survey) -> Findings {
        let layout = &fresh.layout;
        let mut findings = Findings {
            stands: Vec::new(),
            homes: Vec::with_capacity(layout.group_count()),
            spares: Vec::new(),
            best: vec![Copied::NONE; fresh.map.exported() as usize],
            twins: Vec::new(),
            version: 0,
        };
        for group in (0..layout.group_count() as u32).map(Group) {
            let usable = fresh.groups.use_of(group) != Use::Bad;
            findings.homes.push(usable.then_some(findings.stands.len()));
            if usable {
                findings.stands.push(Stand::new(layout.die(group), fresh.groups.blocks(group)));
            }
        }
        for (die, state) in fresh.dies.iter() {
            let planes = &state.spares[..layout.planes as usize];
            let count = planes.iter().map(Vec::len).min().unwrap_or(0);
            let first = findings.stands.len();
            for turn in 0..count {
                let mut blocks = [0; 4];
                for (block, spares) in blocks.iter_mut().zip(planes) {
                    *block = spares[spares.len() - 1 - turn];
                }
                findings.stands.push(Stand::new(die, blocks));
            }
            findings.spares.push((first..first + count).collect());
        }
        let (mut marks, mut bytes) = (Vec::new(), Vec::new());
        for stand in 0..findings.stands.len() {
            findings.look_at(stand, layout, survey, &mut marks, &mut bytes);
        }
        findings
    }

    fn look_at(&mut self, number: usize, layout: &Layout, survey: &mut dyn Survey, marks: &mut Vec<Mark>, bytes: &mut Vec<u8>) {
        let Stand { die, blocks, .. } = self.stands[number];
        for plane in (0..layout.planes as u8).map(PlaneId) {
            let block = BlockId(u32::from(blocks[usize::from(plane.0)]));
            let record = survey.block(die, plane, block);
            let stand = &mut self.stands[number];
            stand.broken |= !record.healthy;
            stand.erases = stand.erases.max(record.erases);
            for page in 0..layout.programs * layout.pages_per_program {
                let place = PagePlace { die, plane, block, page: PageId(page as u16) };
                marks.clear();
                let found = survey.page(place, marks);
                self.stands[number].touched |= found != Found::Erased;
                if found != Found::Whole {
                    continue;
                }
                assert_eq!(marks.len(), layout.units_per_page as usize, "a whole page has a mark for each of its units");
                if marks[0].lpn == JOURNAL {
                    survey.bytes(place, bytes);
                    self.read_journal(number, bytes);
                } else {
                    let first = (page * layout.planes + u32::from(plane.0)) * layout.units_per_page;
                    self.read_marks(number, first, marks);
                }
            }
        }
    }

    fn read_journal(&mut self, number: usize, bytes: &[u8]) {
        let Some(page) = Page::read(bytes) else {
            return;
        };
        let newest = match &page.facts {
            Facts::Records(records) => records.iter().map(|record| record.version).max().unwrap_or(0),
            Facts::Unmapped { version, .. } => *version,
        };
        self.version = self.version.max(newest);
        self.stands[number].journal.push(page);
    }

    fn read_marks(&mut self, number: usize, first: u32, marks: &[Mark]) {
        for (offset, mark) in (first..).zip(marks) {
            let Some(best) = self.best.get_mut(mark.lpn.0 as usize) else {
                continue;
            };
            self.version = self.version.max(mark.version);
            let stand = &mut self.stands[number];
            stand.newest = stand.newest.max(mark.version);
            let copy = Copied { version: mark.version, stand: number as u32, offset };
            if mark.version > best.version {
                *best = copy;
            } else if mark.version == best.version {
                self.twins.push((mark.lpn.0, copy));
            }
        }
    }
}

impl Stand {
    fn new(die: DieId, blocks: [u16; 4]) -> Stand {
        Stand { die, blocks, broken: false, touched: false, erases: 0, newest: 0, journal: Vec::new() }
    }
}
