//! Bad blocks: those the die came with, those that fail, and the spares that stand in for them.

use wordline_units::{Cause, DieId};

use crate::config::Config;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::{Group, Layout};
use crate::order::{Open, Order};
use crate::request::Note;
use crate::techniques::seam::News;

/// Spare blocks of each plane of one die.
type Spares = [Vec<u16>; 4];

/// Stand every group on good blocks. Returns the physical block of each group in each plane, whether the group can be used, and the spares left in
/// each die.
pub(crate) fn form_groups(config: &Config, layout: &Layout) -> (Vec<[u16; 4]>, Vec<bool>, Vec<Spares>) {
    let count = layout.group_count();
    let mut blocks = vec![[0; 4]; count];
    let mut usable = vec![true; count];
    let mut spares = Vec::with_capacity(config.dies as usize);
    for die in 0..config.dies as usize {
        let bad = config.factory_bad.get(die).map_or(&[][..], Vec::as_slice);
        let mut left: Spares = Default::default();
        for plane in 0..layout.planes as usize {
            let is_bad = |block: u16| bad.contains(&(plane as u8, block));
            left[plane] = (layout.groups as u16..config.sheet.geometry.blocks as u16).rev().filter(|&block| !is_bad(block)).collect();
            for number in 0..layout.groups as usize {
                let group = die * layout.groups as usize + number;
                let block = if is_bad(number as u16) { left[plane].pop() } else { Some(number as u16) };
                match block {
                    Some(block) => blocks[group][plane] = block,
                    None => usable[group] = false,
                }
            }
        }
        spares.push(left);
    }
    (blocks, usable, spares)
}

impl Ftl {
    /// A program of `group` failed at `program`: nothing more is written to it, and what it holds moves away.
    pub(crate) fn abandon(&mut self, die: DieId, group: Group, program: u32) {
        let open = self.take_open(die, group);
        self.groups.condemn(group);
        // The summary that will not be written holds nothing that could move.
        self.groups.give_up(group, self.layout.data_units..self.layout.units_per_group);
        let mut end = program * self.layout.units_per_program;
        if self.config.order != Order::HorizontalFirst {
            end = open.map_or(self.layout.units_per_group, |open| self.end_of(&open));
            self.groups.give_up(group, self.layout.units_of(program));
        }
        // It may have been given up while its last program was under way.
        self.dies[die].failed.retain(|&(failed, _)| failed != group);
        self.dies[die].failed.push((group, end));
        if self.secrets.is_some() {
            self.groups.give_up(group, end..self.layout.units_per_group);
        }
    }

    /// Nothing more is written to `group`, if it is open.
    pub(crate) fn take_open(&mut self, die: DieId, group: Group) -> Option<Open> {
        self.dies[die].open.iter_mut().find_map(|open| {
            let at = open.iter().position(|open| open.group == group)?;
            Some(open.remove(at))
        })
    }

    /// How far a group was written that takes no more. Where what was written is not the first of it, the gaps pass for stale.
    pub(crate) fn end_of(&mut self, open: &Open) -> u32 {
        if open.is_prefix(&self.layout) {
            return open.ordered() * self.layout.units_per_program;
        }
        let Ftl { groups, layout, .. } = self;
        let gaps = (0..layout.programs).filter(|&program| !open.has(program, layout));
        gaps.for_each(|program| groups.give_up(open.group, layout.units_of(program)));
        layout.units_per_group
    }

    /// `group` cannot be erased, or a program in it has failed and its data is gone elsewhere: put it on spare blocks, or out of service.
    pub(crate) fn replace(&mut self, die: DieId, group: Group) {
        let replacement = self.take_spares(die);
        self.groups.retire(group, replacement);
        if let Some(blocks) = replacement {
            self.groups.erases[group.index()] = self.spare_erases.remove(&(die, blocks[0])).unwrap_or(0);
            self.dies[die].free.push_back(group);
        }
        self.notes.push_back(Note::Retired(group));
        self.notify(News::Retired { group });
        if !self.worn_out && !self.has_enough_space() {
            self.wear_out();
        }
    }

    /// One spare block of each plane of `die`, if every plane has one left.
    pub(crate) fn take_spares(&mut self, die: DieId) -> Option<[u16; 4]> {
        let planes = self.layout.planes as usize;
        let spares = &mut self.dies[die].spares[..planes];
        spares.iter().all(|spares| !spares.is_empty()).then(|| {
            let mut blocks = [0; 4];
            for (plane, spares) in spares.iter_mut().enumerate() {
                blocks[plane] = spares.pop().expect("not empty");
            }
            blocks
        })
    }

    /// Whether the blocks in service can hold what was promised to the host and still be reclaimed.
    pub(crate) fn has_enough_space(&self) -> bool {
        let per_group = u64::from(self.layout.data_units);
        let good = (0..self.layout.group_count()).filter(|&group| self.groups.use_of(Group(group as u32)) != Use::Bad).count() as u64;
        let own = crate::own::groups(&self.config, &self.layout);
        let reserve = u64::from(self.layout.dies) * u64::from(self.config.reserve()) + u64::from(own);
        good.saturating_sub(reserve) * per_group >= u64::from(self.map.exported())
    }

    /// Begin to empty the next group of `die` in which a program failed.
    pub(crate) fn start_retirement(&mut self, die: DieId) -> bool {
        let Some((group, end)) = self.dies[die].failed.pop() else {
            return false;
        };
        let cause = if self.groups.is_condemned(group) { Cause::Retire } else { Cause::Sanitise };
        self.begin(die, group, cause, end);
        true
    }
}
