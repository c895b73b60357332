//! The steady state of uniform overwrites, found by counting.
//!
//! Under uniform overwrites every valid unit is as likely as any other to be the next one that becomes stale. So the future depends on how many units
//! of each block are valid, not on which: a model that keeps one number per block behaves as the firmware does, and a victim costs one addition
//! instead of one read and one program per unit. What the firmware decides is decided here by the same policies: victim, scheduler, free block. Host
//! and moved blocks are apart as there, and leftovers travel with the next victim. `docs/models/steady-state-construction.md` says how well it
//! agrees.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use wordline_units::random::Draw;

use crate::config::{Config, FreeBlockConfig, GcConfig};
use crate::free_block::{DieGroups, FreeGroups, Policy as _};
use crate::scheduler::{self, DieWork, Policy as _, Turn};
use crate::state::layout::Layout;
use crate::state::work::Stream;
use crate::victim::{Candidates, Policy as _};

/// Throws that miss cost more than a walk over all groups where fewer than one place in this many is valid.
const SPARSE: u64 = 64;

/// A block group that is being written: its number and next program unit.
pub(crate) type Writing = (u32, u32);

/// The block groups of one die, counted but not addressed.
#[derive(Clone, Debug)]
pub(crate) struct CountedDie {
    /// Valid units, with [`Candidates::OUT`] on top where the group cannot be taken.
    pub(crate) valid: Vec<u32>,
    /// Stamp of each group's last closing: a count that grows by one with each.
    pub(crate) closed: Vec<u32>,
    pub(crate) erases: Vec<u32>,
    pub(crate) free: VecDeque<u32>,
    pub(crate) open: [Option<Writing>; 2],
    /// Victims that still have units to be programmed elsewhere, with how many program slots those take.
    held: VecDeque<(u32, u32)>,
    gathered: u32,
    wanted: Option<(u32, u32)>,
    /// Credit that GC has earned for the host, as the scheduler counts it.
    credit: i32,
    /// Time that the die has worked, in nanoseconds.
    clock: u64,
}

/// Model of some dies that take uniform overwrites in turn.
#[derive(Debug)]
pub(crate) struct Steady<'a> {
    config: &'a Config,
    layout: &'a Layout,
    pub(crate) dies: Vec<CountedDie>,
    /// Queue of the dies by the time that each has worked: the one that has worked least takes the next program.
    turns: BinaryHeap<Reverse<(u64, u32)>>,
    pub(crate) closings: u32,
    groups: u32,
    /// Number of valid units in all dies, which overwrites do not change.
    held: u64,
    draw: Draw,
}

impl<'a> Steady<'a> {
    /// Creates dies with `usable` groups each, filled in order with `units` units in all.
    pub(crate) fn new(config: &'a Config, layout: &'a Layout, usable: &[u32], units: u64, draw: Draw) -> Steady<'a> {
        let groups = usable.iter().copied().max().unwrap_or(0);
        let all: u64 = usable.iter().map(|&count| u64::from(count)).sum();
        let mut steady = Steady { config, layout, dies: Vec::new(), turns: BinaryHeap::new(), closings: 0, groups, held: units, draw };
        let (mut groups_before, mut units_before) = (0, 0);
        for (die, &count) in usable.iter().enumerate() {
            groups_before += u64::from(count);
            // By running totals, so that rounding loses no unit.
            let until = (u128::from(units) * u128::from(groups_before) / u128::from(all.max(1))) as u64;
            let mut counted = CountedDie::new(groups as usize, count);
            counted.fill(layout, until - units_before, &mut steady.closings);
            units_before = until;
            steady.dies.push(counted);
            steady.turns.push(Reverse((0, die as u32)));
        }
        if units >= u64::from(layout.units_per_program) {
            steady.put_out_of_step();
        }
        steady
    }

    /// Let dies be at different places of the groups that they write for the host. Dies of one fill would run out of room at one time, and the whole drive
    /// would collect at once, as no drive in use does.
    fn put_out_of_step(&mut self) {
        let dies = self.dies.len() as u32;
        for die in 0..dies {
            let ahead = u64::from(self.layout.data_programs) * u64::from(die) / u64::from(dies);
            (0..ahead).take_while(|_| self.program_host(die as usize)).for_each(drop);
        }
        self.dies.iter_mut().for_each(|die| die.clock = 0);
    }

    /// Write one program unit for the host on `die`. Returns false if the die cannot take one.
    fn program_host(&mut self, die: usize) -> bool {
        let Steady { config, layout, dies, closings, draw, .. } = self;
        let counted = &mut dies[die];
        counted.reclaim(config, layout, true, closings, draw);
        if !counted.can_write(config) {
            return false;
        }
        counted.take_credit(config, layout);
        let (group, _) = counted.program(config, layout, Stream::Host, 1, closings).expect("it can write");
        for _ in 0..layout.units_per_program {
            self.invalidate_one();
        }
        self.dies[die].land(group, self.layout.units_per_program);
        true
    }

    /// Overwrite until `programs` program units have been written for the host. Stops early where no die can take one.
    pub(crate) fn overwrite(&mut self, programs: u64) {
        let (mut left, mut stuck) = (programs, 0);
        while left > 0 && stuck < self.dies.len() {
            let Some(Reverse((_, turn))) = self.turns.pop() else { return };
            if self.program_host(turn as usize) {
                (left, stuck) = (left - 1, 0);
            } else {
                // It waits until something of it is overwritten. Where that is so of all dies, it would be so on the drive.
                stuck += 1;
                self.dies[turn as usize].clock += self.config.sheet.timing.program[0].0.max(1);
            }
            self.turns.push(Reverse((self.dies[turn as usize].clock, turn)));
        }
    }

    /// Make one valid unit stale, each as likely as any other.
    #[inline]
    fn invalidate_one(&mut self) {
        let places = self.dies.len() as u64 * u64::from(self.groups);
        if self.held < places * u64::from(self.layout.data_units) / SPARSE {
            let nth = self.draw.below(self.held);
            return self.invalidate_nth(nth);
        }
        // A drive that is nearly full is hit at the first or second throw.
        loop {
            let throw = u128::from(self.draw.next_u64()) * u128::from(places);
            let place = (throw >> 64) as u32;
            let unit = ((u128::from(throw as u64) * u128::from(self.layout.data_units)) >> 64) as u32;
            let (die, group) = if self.dies.len() == 1 { (0, place) } else { (place / self.groups, place % self.groups) };
            let valid = &mut self.dies[die as usize].valid[group as usize];
            if unit < *valid & !Candidates::OUT {
                *valid -= 1;
                return;
            }
        }
    }

    /// Make the `nth` valid unit stale. For drives so empty that throws would mostly miss.
    #[cold]
    fn invalidate_nth(&mut self, mut nth: u64) {
        for valid in self.dies.iter_mut().flat_map(|die| &mut die.valid) {
            let count = u64::from(*valid & !Candidates::OUT);
            if nth < count {
                *valid -= 1;
                return;
            }
            nth -= count;
        }
    }

    /// State of `die` once the host has paused and the die has finished what it had begun.
    pub(crate) fn at_rest(&mut self, die: usize) -> CountedDie {
        let mut resting = self.dies[die].clone();
        // Stamps of closings that never happen may be given again: only their order matters.
        let mut closings = self.closings;
        resting.reclaim(self.config, self.layout, false, &mut closings, &mut self.draw);
        while resting.gathered > 0 && resting.program_moved(self.config, self.layout, &mut closings) {}
        resting
    }
}

impl CountedDie {
    /// An erased die of which the first `usable` of `groups` groups are in service.
    fn new(groups: usize, usable: u32) -> CountedDie {
        CountedDie {
            valid: vec![Candidates::OUT; groups],
            closed: vec![0; groups],
            erases: vec![0; groups],
            free: (0..usable).collect(),
            open: [None; 2],
            held: VecDeque::new(),
            gathered: 0,
            wanted: None,
            credit: 0,
            clock: 0,
        }
    }

    /// Number of program units of `group` that are written.
    pub(crate) fn programs(&self, group: u32, layout: &Layout) -> u32 {
        match self.open.iter().flatten().find(|&&(open, _)| open == group) {
            Some(&(_, program)) => program,
            None if self.valid[group as usize] & Candidates::OUT == 0 => layout.data_programs,
            None => 0,
        }
    }

    /// The stamp of the group that was closed last.
    pub(crate) fn newest(&self) -> u32 {
        let closed = (0..self.valid.len()).filter(|&group| self.valid[group] & Candidates::OUT == 0);
        closed.map(|group| self.closed[group]).max().unwrap_or(0)
    }

    fn fill(&mut self, layout: &Layout, units: u64, closings: &mut u32) {
        let mut left = units;
        while left > 0 {
            let group = self.free.pop_front().expect("a fill fits the groups in service");
            let here = left.min(u64::from(layout.data_units)) as u32;
            left -= u64::from(here);
            self.land(group, here);
            let programs = here.div_ceil(layout.units_per_program);
            if programs == layout.data_programs {
                self.close(group, closings);
            } else {
                self.open[Stream::Host as usize] = Some((group, programs));
            }
        }
    }

    fn can_write(&self, config: &Config) -> bool {
        self.open[Stream::Host as usize].is_some() || self.free.len() as u32 > config.gc.floor
    }

    /// Empty victims until enough groups are free, or until the scheduler serves the host first, which has a program to write if `has_host`.
    fn reclaim(&mut self, config: &Config, layout: &Layout, has_host: bool, closings: &mut u32, draw: &mut Draw) {
        while self.is_short(config) && !(has_host && self.can_write(config) && self.serves_host(config)) {
            let is_tight = self.free.len() as u32 <= config.gc.floor;
            let has_moved = self.gathered > 0 && is_tight && self.program_moved(config, layout, closings);
            if !has_moved && !self.empty_one(config, layout, closings, draw) {
                return;
            }
        }
    }

    fn is_short(&self, config: &Config) -> bool {
        (self.free.len() as u32) < config.gc.start
    }

    /// True if the scheduler serves the host before GC, which is due.
    fn serves_host(&self, config: &Config) -> bool {
        let GcConfig { scheduler, floor, preemptible, .. } = config.gc;
        let free = self.free.len() as u32;
        scheduler.first(&DieWork { is_due: true, is_extra: false, free, floor, preemptible, credit: self.credit }) == Turn::Host
    }

    /// Take the credit of one program of the host. What the host has while nothing has to be collected is not kept for later.
    fn take_credit(&mut self, config: &Config, layout: &Layout) {
        let taken = config.gc.scheduler.taken(layout.units_per_program);
        self.credit = if self.is_short(config) { scheduler::add(self.credit, taken) } else { 0 };
    }

    /// Move the valid units of the next victim. Returns true if there was one.
    fn empty_one(&mut self, config: &Config, layout: &Layout, closings: &mut u32, draw: &mut Draw) -> bool {
        // Wear levelling is past its deadline from the begin, and needs a free group alone.
        let wanted = if self.free.is_empty() { None } else { self.wanted.take() };
        let unchanged =
            |&(group, erases): &(u32, u32)| self.erases[group as usize] == erases && self.valid[group as usize] & Candidates::OUT == 0;
        let victim = wanted.filter(unchanged).map(|(group, _)| group as usize).or_else(|| {
            let candidates = Candidates {
                valid: &self.valid,
                closed: &self.closed,
                erases: &self.erases,
                now: *closings,
                capacity: layout.data_units,
                usable: &[],
                least: layout.data_units,
            };
            let frees_something = candidates.valid.iter().any(|&valid| valid < candidates.capacity);
            if frees_something { config.gc.victim.pick(&candidates, draw) } else { None }
        });
        let Some(victim) = victim else {
            return false;
        };
        let units = self.valid[victim];
        self.valid[victim] |= Candidates::OUT;
        self.credit = scheduler::add(self.credit, config.gc.scheduler.earned(units, units, layout.data_units));
        // Pages that hold several units are read once for all of them; how many is not known here, and only the dies' turns depend on it.
        let reads = units.min(layout.data_units / layout.units_per_page);
        self.clock += u64::from(reads) * config.sheet.timing.read[0].0;
        if units == 0 {
            self.erase(victim, config);
        } else {
            self.held.push_back((victim as u32, units));
            self.gathered += units;
        }
        while self.gathered >= layout.units_per_program {
            if !self.program_moved(config, layout, closings) {
                break;
            }
        }
        true
    }

    /// Program the gathered units: as many whole program units as the open group takes, or the rest with padding. Returns true if there was a group to take
    /// them.
    fn program_moved(&mut self, config: &Config, layout: &Layout, closings: &mut u32) -> bool {
        if self.open[Stream::Moved as usize].is_none() && self.free.is_empty() {
            return false;
        }
        let left = self.open[Stream::Moved as usize].map_or(layout.data_programs, |(_, program)| layout.data_programs - program);
        let programs = (self.gathered / layout.units_per_program).clamp(1, left);
        let (mut room, mut live) = (programs * layout.units_per_program, 0);
        let mut emptied = Vec::new();
        while room > 0
            && let Some((victim, slots)) = self.held.front_mut()
        {
            let taken = room.min(*slots);
            let entry = &mut self.valid[*victim as usize];
            // Units overwritten since they were read still take their slots. Which those are is not known; they are spread evenly.
            let count = *entry & !Candidates::OUT;
            let landed = (u64::from(count) * u64::from(taken) / u64::from(*slots)) as u32;
            *entry -= landed;
            live += landed;
            room -= taken;
            self.gathered -= taken;
            *slots -= taken;
            if *slots == 0 {
                emptied.push(*victim as usize);
                self.held.pop_front();
            }
        }
        let (group, _) = self.program(config, layout, Stream::Moved, programs, closings).expect("there is an open or a free group");
        self.land(group, live);
        emptied.into_iter().for_each(|victim| self.erase(victim, config));
        true
    }

    /// Use up `count` program units of the open group of `stream`, which has as many left.
    fn program(&mut self, config: &Config, layout: &Layout, stream: Stream, count: u32, closings: &mut u32) -> Option<Writing> {
        let timing = &config.sheet.timing;
        let each = if layout.pages_per_program > 1 { timing.program_wordline.0 } else { timing.program[0].0 };
        self.clock += u64::from(count) * each;
        let (group, program) = match self.open[stream as usize] {
            Some(open) => open,
            None => (self.allocate(config, stream)?, 0),
        };
        let next = (group, program + count);
        if next.1 < layout.data_programs {
            self.open[stream as usize] = Some(next);
        } else {
            self.open[stream as usize] = None;
            self.close(group, closings);
        }
        Some(next)
    }

    /// Take a free group for `stream`.
    fn allocate(&mut self, config: &Config, stream: Stream) -> Option<u32> {
        let erases = |place: usize| self.erases[self.free[place] as usize];
        // No technique has seen anything of this past, so nobody tells the wear of its groups.
        let place = config.free_block.key.pick(&FreeGroups::new(self.free.len(), &erases, &|_| None), stream)?;
        self.free.remove(place)
    }

    fn land(&mut self, group: u32, units: u32) {
        self.valid[group as usize] += units;
    }

    fn close(&mut self, group: u32, closings: &mut u32) {
        self.valid[group as usize] &= !Candidates::OUT;
        self.closed[group as usize] = *closings;
        *closings = closings.wrapping_add(1);
    }

    fn erase(&mut self, group: usize, config: &Config) {
        self.clock += config.sheet.timing.erase.0;
        self.erases[group] += 1;
        self.free.push_back(group as u32);
        let FreeBlockConfig { key, gap: Some(gap) } = config.free_block else { return };
        if self.wanted.is_none() {
            let is_closed = |other: usize| self.valid[other] & Candidates::OUT == 0;
            let coldest = key.level(
                &DieGroups { erases: &self.erases, wear: &|_| None, erased: group, is_closed: &is_closed, is_cold: &|_| false },
                gap,
            );
            self.wanted = coldest.map(|coldest| (coldest as u32, self.erases[coldest]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;

    fn valid(steady: &Steady<'_>) -> u64 {
        steady.dies.iter().flat_map(|die| &die.valid).map(|&valid| u64::from(valid & !Candidates::OUT)).sum()
    }

    #[test]
    fn overwrites_keep_the_number_of_valid_units_and_the_free_groups_that_reclaim_keeps() {
        let config = small(300);
        let layout = config.layout();
        for units in [400, 300, 50] {
            let draw = Draw::new(3, wordline_units::random::Stream::Construct, 0);
            let mut steady = Steady::new(&config, &layout, &[10, 10], units, draw);
            assert_eq!(valid(&steady), units);
            steady.overwrite(400);
            assert_eq!(valid(&steady), units, "of {units}");
            for die in 0..2 {
                let resting = steady.at_rest(die);
                assert!(resting.free.len() as u32 >= config.gc.start, "{} free groups at {units} units", resting.free.len());
                assert!(resting.erases.iter().sum::<u32>() > 0);
                assert_eq!(resting.gathered, 0, "what was begun is finished");
            }
        }
    }

    #[test]
    fn dies_that_can_take_nothing_end_the_overwrites_instead_of_going_round_for_ever() {
        let config = small(480);
        let layout = config.layout();
        let draw = Draw::new(3, wordline_units::random::Stream::Construct, 0);
        let mut steady = Steady::new(&config, &layout, &[10], 480, draw);
        steady.overwrite(1_000);
        assert_eq!(valid(&steady), 480);
    }
}
