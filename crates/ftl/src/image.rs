//! A core at rest, as plain data.
//!
//! An image holds what the firmware knows, not what it is: that comes from the configuration. It is taken at a quiet instant, when the buffer is
//! empty and nothing is under way, so neither has a place in it; and since virtual time starts anew with each run, spells of idleness do too.
//!
//! Whoever restores an image may have got it from anywhere. So every number in it is checked before it is used as an index, and every table against
//! those it must agree with; whether map and spare areas agree is for [`Ftl::audit`].

use serde::{Deserialize, Serialize};
use wordline_units::{BlockId, Cause, DieId, Id, IdMap, PlaneId};

use crate::die::{Activity, Asked, Die, Job, Stream, Wanted};
use crate::firmware::Ftl;
use crate::groups::{Groups, Use};
use crate::layout::{Group, UnitAddr};
use crate::map::{SEGMENT, SEGMENT_BITS, Segment};
use crate::order::{Open, Order};
use crate::victim::Candidates;

/// What a quiet core knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    exported: u32,
    segments: Vec<Segment>,
    groups: Table,
    dies: Vec<Holdings>,
    turn: u32,
    victims_drawn: u64,
    /// By name, so that an image can be restored with other techniques switched on.
    techniques: Vec<(String, Vec<u32>)>,
    starved: bool,
    worn_out: bool,
}

/// The block groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Table {
    uses: Vec<Use>,
    valid: Vec<u32>,
    closed: Vec<u32>,
    erases: Vec<u32>,
    stale: Vec<Option<Box<[u64]>>>,
    condemned: Vec<bool>,
    blocks: Vec<[u16; 4]>,
    closings: u32,
}

/// One die's lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Holdings {
    free: Vec<Group>,
    open: [Vec<Open>; 2],
    job: Option<Job>,
    moved_cause: Cause,
    failed: Vec<(Group, u32)>,
    erasable: Vec<(Group, Cause)>,
    /// Work that others held back may start at once on the restored core.
    wanted: Vec<(Group, Cause, u32)>,
    extra: u32,
    starved: bool,
    won: u32,
    /// Nothing has been changed since reclaim last gave nothing.
    fruitless: bool,
    spares: [Vec<u16>; 4],
    read_turn: bool,
}

impl Ftl {
    /// The core as plain data, if it is quiet.
    pub fn image(&self) -> Option<Image> {
        // What a core that keeps data knows is on its flash.
        let is_still = self.is_quiet()
            && self.journal.is_none()
            && self.suspends.is_empty()
            && self.dies.iter().all(|(_, die)| die.activity == Activity::Free && die.reads_waiting == 0);
        let (mut groups, mut dies) = (self.groups.image(), self.dies.iter().map(|(_, die)| die.image(self.changes)).collect::<Vec<_>>());
        for group in self.key_groups() {
            // The restored core takes all trees of keys for whole, and has no use for these.
            groups.uses[group.index()] = Use::Drained;
            dies[self.layout.die(group).index()].erasable.push((group, Cause::Sanitise));
        }
        is_still.then(|| Image {
            exported: self.map.exported(),
            segments: self.map.segments.clone(),
            groups,
            dies,
            turn: self.idle.next,
            victims_drawn: self.victim_draw.drawn(),
            techniques: self.panel.images().map(|(name, learnt)| (name.to_owned(), learnt)).collect(),
            starved: self.starved,
            worn_out: self.worn_out,
        })
    }

    /// Become the core that `image` was made of. This core must be new; the image may be anything. An image of another kind of core, or of none, is
    /// refused with the reason.
    pub fn restore(&mut self, image: Image) -> Result<(), &'static str> {
        demand(image.exported == self.map.exported(), "a core shows another number of units to the host")?;
        demand(image.dies.len() == self.dies.len(), "a core has another number of dies")?;
        demand(image.turn < self.layout.dies, "a core's turn is at a die it does not have")?;
        self.check_table(&image.groups)?;
        self.check_segments(&image)?;
        for (die, holdings) in image.dies.iter().enumerate() {
            self.check_die(DieId(die as u16), holdings, &image.groups)?;
        }
        let learnt = |name: &str| image.techniques.iter().find(|(known, _)| known == name).map(|(_, state)| state.as_slice());
        self.panel.restore(learnt).map_err(|_| "a technique has learnt something of another shape")?;
        self.map.segments = image.segments;
        self.groups.restore(image.groups);
        let mut holdings = image.dies.into_iter();
        self.dies = IdMap::from_fn(self.dies.len(), |_: DieId| Die::restored(holdings.next().expect("as many as dies")));
        self.idle.next = image.turn;
        self.victim_draw.resume(image.victims_drawn);
        self.starved = image.starved;
        self.worn_out = image.worn_out;
        self.assume_secret();
        Ok(())
    }

    fn check_table(&self, table: &Table) -> Result<(), &'static str> {
        let Table { uses, valid, closed, erases, stale, condemned, blocks, closings: _ } = table;
        let lengths = [uses.len(), valid.len(), closed.len(), erases.len(), stale.len(), condemned.len(), blocks.len()];
        demand(lengths.iter().all(|&length| length == self.layout.group_count()), "a core has another number of block groups")?;
        let words = (self.layout.units_per_group as usize).div_ceil(64);
        demand(stale.iter().flatten().all(|bits| bits.len() == words), "a table of stale units is of another size")?;
        for (index, &count) in valid.iter().enumerate() {
            let is_out = count & Candidates::OUT != 0;
            demand(
                is_out == (uses[index] != Use::Closed),
                "a block group is a candidate for reclaim and is not closed, or the other way round",
            )?;
            demand(count & !Candidates::OUT <= self.layout.units_per_group, "a block group holds more units than it has")?;
        }
        Ok(())
    }

    fn check_segments(&self, image: &Image) -> Result<(), &'static str> {
        let (exported, layout) = (image.exported, &self.layout);
        demand(image.segments.len() == (exported as usize).div_ceil(SEGMENT), "the map has another length")?;
        let exists = |addr: UnitAddr, units: u32| {
            addr == UnitAddr::NONE
                || (layout.group(addr).index() < layout.group_count() && layout.offset(addr) + units <= layout.units_per_group)
        };
        let mut mapped = 0u64;
        for (index, segment) in image.segments.iter().enumerate() {
            let first = (index << SEGMENT_BITS) as u32;
            let inside = (exported - first).min(SEGMENT as u32);
            let counted = match segment {
                Segment::Unmapped => 0,
                Segment::Regular => {
                    demand(inside == SEGMENT as u32, "the map's last segment cannot be regular")?;
                    u64::from(inside)
                }
                Segment::Units(units) => {
                    demand(units.len() == SEGMENT, "a segment of the map has another length")?;
                    demand(units.iter().all(|&addr| exists(addr, 1)), "the map points beyond the flash")?;
                    units[..inside as usize].iter().filter(|&&addr| addr != UnitAddr::NONE).count() as u64
                }
                Segment::Pages(pages) => {
                    let each = layout.units_per_page as usize;
                    demand(SEGMENT.is_multiple_of(each) && pages.len() == SEGMENT / each, "a segment of the map has another length")?;
                    demand(pages.iter().all(|&addr| exists(addr, each as u32)), "the map points beyond the flash")?;
                    (0..inside as usize).filter(|unit| pages[unit / each] != UnitAddr::NONE).count() as u64
                }
            };
            mapped += counted;
        }
        let valid: u64 = image.groups.valid.iter().map(|&count| u64::from(count & !Candidates::OUT)).sum();
        demand(mapped == valid, "the map and the block groups count different numbers of valid units")
    }

    fn check_die(&self, die: DieId, holdings: &Holdings, table: &Table) -> Result<(), &'static str> {
        let range = self.layout.groups_of(die);
        let Holdings { free, open, job, failed, erasable, wanted, spares, .. } = holdings;
        // What each group is found to be; compared at the end with what the table says it is.
        let mut found: Vec<Option<Use>> = vec![None; range.len()];
        let mut claim = |group: Group, what: Use| -> Result<(), &'static str> {
            demand(range.contains(&group.index()), "a die's list names a block group of another die")?;
            let entry = &mut found[group.index() - range.start];
            demand(entry.is_none(), "a block group is in two places at once")?;
            *entry = Some(what);
            Ok(())
        };
        // What is marked stale before it is written would stay so when it is.
        let is_marked = |group: Group, unit: u32| {
            table.stale[group.index()].as_ref().is_some_and(|bits| bits[unit as usize / 64] >> (unit % 64) & 1 == 1)
        };
        let blank = "a unit that was never written is marked stale";
        for &group in free {
            claim(group, Use::Free)?;
            demand(table.stale[group.index()].iter().flatten().all(|&word| word == 0), blank)?;
        }
        for open in open.iter().flatten() {
            claim(open.group, Use::Active)?;
            demand(open.is_sound(&self.layout), "an open block group is written as none can be")?;
            demand(!open.is_full(&self.layout), "an open block group is full")?;
            let is_blank = |unit: &u32| !open.has(unit / self.layout.units_per_program, &self.layout);
            demand(!(0..self.layout.units_per_group).filter(is_blank).any(|unit| is_marked(open.group, unit)), blank)?;
            let is_in_order = self.config.order != Order::HorizontalFirst || open.is_prefix(&self.layout);
            demand(is_in_order, "an open block group was written in another order")?;
        }
        let few = |open: &Vec<Open>, most: u32| demand(open.len() <= most as usize, "a die has more open block groups than it may");
        few(&open[Stream::Host as usize], self.config.order.open_blocks())?;
        few(&open[Stream::Moved as usize], 1)?;
        for &(group, end) in failed {
            claim(group, Use::Active)?;
            demand(end <= self.layout.units_per_group, "a failed block group was programmed beyond its end")?;
        }
        if let Some(job) = job {
            claim(job.victim, Use::Draining)?;
            demand(job.cursor <= self.layout.units_per_group && job.end <= self.layout.units_per_group, "a victim is read beyond its end")?;
        }
        for &(group, _) in erasable {
            claim(group, Use::Drained)?;
        }
        demand(wanted.iter().all(|(group, ..)| range.contains(&group.index())), "a die's list names a block group of another die")?;
        for (index, found) in range.clone().zip(&found) {
            let use_of = table.uses[index];
            let is_listed = !matches!(use_of, Use::Closed | Use::Bad | Use::Journal);
            demand(*found == is_listed.then_some(use_of), "a block group is not where its use says")?;
            let is_empty = matches!(use_of, Use::Free | Use::Bad | Use::Drained | Use::Journal);
            demand(!is_empty || table.valid[index] == Candidates::OUT, "a block group without data holds valid units")?;
            // An allocation that a wear-levelling policy compares may not overflow when it is erased once more.
            demand(table.erases[index] < u32::MAX, "a block group was erased too often")?;
        }
        self.check_blocks(range.filter(|&index| table.uses[index] != Use::Bad).map(|index| &table.blocks[index]), spares)
    }

    /// No physical block serves twice.
    fn check_blocks<'a>(&self, groups: impl Iterator<Item = &'a [u16; 4]>, spares: &[Vec<u16>; 4]) -> Result<(), &'static str> {
        let (blocks, planes) = (self.config.sheet.geometry.blocks as usize, self.layout.planes as usize);
        let mut taken = vec![false; blocks * planes];
        let mut take = |plane: usize, block: u16| -> Result<(), &'static str> {
            demand(usize::from(block) < blocks, "a physical block lies beyond the plane")?;
            demand(!std::mem::replace(&mut taken[plane * blocks + usize::from(block)], true), "a physical block serves twice")
        };
        for group in groups {
            for (plane, &block) in group[..planes].iter().enumerate() {
                take(plane, block)?;
            }
        }
        for (plane, spares) in spares.iter().enumerate() {
            demand(plane < planes || spares.is_empty(), "a plane that does not exist has spare blocks")?;
            for &block in spares {
                take(plane, block)?;
            }
        }
        Ok(())
    }

    /// The spare blocks of `die`.
    pub fn spares_of(&self, die: DieId) -> impl Iterator<Item = (PlaneId, BlockId)> {
        let planes = self.dies[die].spares.iter().enumerate();
        planes.flat_map(|(plane, spares)| spares.iter().map(move |&block| (PlaneId(plane as u8), BlockId(u32::from(block)))))
    }

    /// Whether a page of `group`, which is open, has been written, as far as a quiet core can tell.
    pub fn is_written(&self, group: Group, page: u16) -> bool {
        let program = u32::from(page) / self.layout.pages_per_program;
        let open = self.dies[self.layout.die(group)].open.iter().flatten().find(|open| open.group == group);
        open.is_some_and(|open| open.has(program, &self.layout))
    }

    /// How many pages of each plane of `group` are programmed, as far as a quiet core can tell; `None` where it cannot (a program failed).
    pub fn programmed_pages(&self, group: Group) -> Option<u32> {
        let die = &self.dies[self.layout.die(group)];
        match self.groups.use_of(group) {
            Use::Free => Some(0),
            Use::Closed => Some(self.layout.programs * self.layout.pages_per_program),
            Use::Active => {
                die.open.iter().flatten().find(|open| open.group == group).map(|open| open.ordered() * self.layout.pages_per_program)
            }
            Use::Draining | Use::Drained | Use::Bad | Use::Journal => None,
        }
    }
}

impl Groups {
    fn image(&self) -> Table {
        // A group without a stale unit keeps its bits over an erase only to spare an allocation.
        let stale = self.stale.chunks_exact(self.words).map(|bits| bits.iter().any(|&word| word != 0).then(|| bits.into())).collect();
        Table {
            uses: self.uses.clone(),
            valid: self.valid.clone(),
            closed: self.closed.clone(),
            erases: self.erases.clone(),
            stale,
            condemned: self.condemned.clone(),
            blocks: self.blocks.clone(),
            closings: self.closings,
        }
    }

    fn restore(&mut self, table: Table) {
        let Table { uses, valid, closed, erases, stale, condemned, blocks, closings } = table;
        self.uses = uses;
        self.valid = valid;
        self.closed = closed;
        self.erases = erases;
        self.stale.fill(0);
        for (bits, stored) in self.stale.chunks_exact_mut(self.words).zip(&stale) {
            if let Some(stored) = stored {
                bits.copy_from_slice(stored);
            }
        }
        self.condemned = condemned;
        self.blocks = blocks;
        self.closings = closings;
    }
}

impl Die {
    fn image(&self, changes: u64) -> Holdings {
        Holdings {
            free: self.free.iter().copied().collect(),
            open: self.open.clone(),
            job: self.job,
            moved_cause: self.moved_cause,
            failed: self.failed.clone(),
            erasable: self.erasable.clone(),
            wanted: self.wanted.iter().map(|&Wanted { group, cause, erases, .. }| (group, cause, erases)).collect(),
            extra: u32::from(self.extra.is_some()),
            starved: self.starved,
            won: self.won,
            fruitless: self.fruitless == Some(changes),
            spares: (*self.spares).clone(),
            read_turn: self.read_turn,
        }
    }

    /// A restored core counts changes from zero.
    fn restored(holdings: Holdings) -> Die {
        let Holdings { free, open, job, moved_cause, failed, erasable, wanted, extra, starved, won, fruitless, spares, read_turn } =
            holdings;
        Die {
            open,
            job,
            moved_cause,
            failed,
            erasable,
            wanted: wanted.into_iter().map(|(group, cause, erases)| Wanted::by_core(group, cause, erases)).collect(),
            extra: (extra > 0).then_some(Asked::BY_CORE),
            starved,
            won,
            fruitless: fruitless.then_some(0),
            read_turn,
            ..Die::new(free.into(), spares)
        }
    }
}

/// What must hold, or why the image is refused.
fn demand(holds: bool, why: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(why) }
}
