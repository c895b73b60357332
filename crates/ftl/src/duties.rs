//! How stale secrets are made unreadable: the operations that a die does for its duties. What there is to do, `sanitise.rs` decides.

use wordline_flash::{Operation, OperationKind, Sanitisation};
use wordline_units::{Cause, DieId};

use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::{Group, UnitAddr};
use crate::operations::{Pending, Purpose};
use crate::order::Open;
use crate::secrets::Scope;
use crate::techniques::seam::Remedy;

impl Ftl {
    /// The next operation of `die` that makes something unreadable, or clears the way for one.
    #[cold]
    pub(crate) fn sanitise_step(&mut self, die: DieId) -> Option<Operation> {
        let duties: Vec<u32> = self.secrets.as_ref()?.duties_of(die).collect();
        let (mut waits_for_moves, mut waits_for_trims) = (false, false);
        for id in duties {
            let duty = self.secrets.as_ref()?.duty(id);
            if duty.how == Remedy::Erase {
                continue;
            }
            let (scope, cursor) = (self.reach(duty.scope, duty.how), duty.cursor);
            let valid = |offset: &u32| self.groups.is_valid(scope.group, *offset);
            // What is read must have somewhere to go, and what is cut off is lost: not where reclaim has counted on it, or it could free nothing any more.
            let has_room = self.dies[die].job.is_none() && self.dies[die].free.len() as u32 > self.config.reclaim.floor;
            let is_cut = scope.plane.is_none() && duty.scope.plane.is_some();
            if is_cut && !has_room {
                waits_for_moves = true;
                continue;
            }
            let is_blocked = self.groups.valid(scope.group) > 0 && self.programmed_offsets(scope).any(|offset| valid(&offset));
            if is_blocked {
                if matches!(self.groups.use_of(scope.group), Use::Closed | Use::Active) {
                    let next = self.programmed_offsets(scope).find(|offset| *offset >= cursor && valid(offset));
                    if let Some(offset) = next.filter(|_| has_room) {
                        return Some(self.clear_way(die, id, scope, offset));
                    }
                }
                waits_for_moves = true;
                continue;
            }
            if self.secrets.as_ref()?.duty(id).trims > self.trims_durable() {
                self.hurry_journal();
                waits_for_trims = true;
                continue;
            }
            // A locked block gives out its summary no more than its data: as before an erase, what has made it stale must be known.
            if duty.how == Remedy::LockBlock && self.oob.as_ref().is_some_and(|oob| !oob.lets_go(scope.group)) {
                self.seal_all();
                waits_for_trims = true;
                continue;
            }
            if self.is_being_read(scope) {
                if self.dies[die].reads_waiting > 0 {
                    return self.next_read(die);
                }
                continue;
            }
            return Some(self.sanitise(die, id, scope));
        }
        // What is in the way is read and waits to be programmed, or is to be read by reclaim.
        if waits_for_moves && let Some(step) = self.reclaim_step(die) {
            return Some(step);
        }
        if waits_for_trims { self.journal_step(die) } else { None }
    }

    /// A wordline that is scrubbed while it is still being written is lost in all planes.
    fn reach(&self, scope: Scope, how: Remedy) -> Scope {
        let is_cut = self.open_at(scope.group).is_some_and(|open| {
            let next = open.ordered() * self.layout.pages_per_program;
            // Where a program fills whole wordlines, no wordline is written in part.
            how == Remedy::Scrub && self.layout.programs_per_layer == 1 && next < scope.first + scope.pages
        });
        if is_cut { Scope { plane: None, ..scope } } else { scope }
    }

    pub(crate) fn open_at(&self, group: Group) -> Option<Open> {
        self.dies[self.layout.die(group)].open.iter().flatten().find(|open| open.group == group).copied()
    }

    /// The offsets of `scope` that have been programmed.
    fn programmed_offsets(&self, scope: Scope) -> impl Iterator<Item = u32> + use<> {
        let (layout, open) = (self.layout, self.open_at(scope.group));
        let end = layout.units_per_group;
        let failed = self.dies[self.layout.die(scope.group)].failed.iter().find(|&&(group, _)| group == scope.group).map(|&(_, end)| end);
        let end = end.min(failed.unwrap_or(end));
        let is_there = move |offset: u32| offset < end && open.is_none_or(|open| open.has(offset / layout.units_per_program, &layout));
        scope.offsets(&self.layout).filter(move |&offset| is_there(offset))
    }

    /// Read the page that holds the valid unit at `offset`, to be moved.
    fn clear_way(&mut self, die: DieId, id: u32, scope: Scope, offset: u32) -> Operation {
        let (group, per_page) = (scope.group, self.layout.units_per_page);
        let first = self.layout.page_start(offset);
        let units = (0..per_page).filter(|unit| self.groups.is_valid(group, first + unit)).fold(0u64, |units, unit| units | 1 << unit);
        self.secrets.as_mut().expect("it has a duty").duty_mut(id).cursor = first + per_page;
        self.dies[die].moves_under_way += 1;
        self.groups.pin(group);
        let bytes = self.unit_bytes(units.count_ones());
        let tag = self.pending.insert(Pending::read(Purpose::Move { units }, group, offset, bytes, Cause::Sanitise));
        self.dies[die].moved_cause = Cause::Sanitise;
        self.order_read(die, tag)
    }

    /// A read of the page that holds `addr` is queued.
    #[inline]
    pub(crate) fn begin_reading(&mut self, addr: UnitAddr) {
        if let Some(secrets) = &mut self.secrets {
            let page = self.layout.unit(self.layout.group(addr), self.layout.page_start(self.layout.offset(addr)));
            *secrets.readers.entry(page).or_insert(0) += 1;
        }
    }

    /// It has been reported.
    #[inline]
    pub(crate) fn end_reading(&mut self, group: Group, offset: u32) {
        if let Some(secrets) = &mut self.secrets {
            let page = self.layout.unit(group, self.layout.page_start(offset));
            let readers = secrets.readers.get_mut(&page).expect("it has begun");
            *readers -= 1;
            if *readers == 0 {
                secrets.readers.remove(&page);
                let die = self.layout.die(group);
                if secrets.has_duties(die) {
                    self.wake(die);
                }
            }
        }
    }

    /// Whether something in `scope` is being read: it was asked for before it became stale, and is not to be answered with zeroes.
    fn is_being_read(&self, scope: Scope) -> bool {
        let readers = &self.secrets.as_ref().expect("it has a duty").readers;
        let page = |start| self.layout.unit(scope.group, start);
        !readers.is_empty() && scope.page_starts(&self.layout).any(|start| readers.contains_key(&page(start)))
    }

    fn sanitise(&mut self, die: DieId, id: u32, scope: Scope) -> Operation {
        let duty = self.secrets.as_mut().expect("it has a duty").duty_mut(id);
        duty.scope = scope;
        let how = match duty.how {
            Remedy::LockPages => Sanitisation::LockPage,
            Remedy::LockBlock => Sanitisation::LockBlock,
            Remedy::Scrub => Sanitisation::Scrub,
            Remedy::Reprogram => Sanitisation::Reprogram,
            Remedy::Erase | Remedy::DropKeys => unreachable!("erases are reclaim's, and keys the key store's"),
        };
        self.skip_scrubbed(die, scope);
        let blocks = self.groups.blocks(scope.group);
        let page = wordline_units::PageId(scope.first as u16);
        let target = match scope.plane {
            Some(plane) => self.layout.one_plane(blocks, wordline_units::PlaneId(plane as u8), page),
            None => self.layout.all_planes(blocks, page),
        };
        let tag = self.pending.insert(Pending::new(Purpose::Sanitise { duty: id }, scope.group, 0, self.unit_bytes(0)));
        self.order(die, tag, OperationKind::Sanitise { target, how }, Cause::Sanitise)
    }

    /// What was not programmed yet of a wordline that is scrubbed is lost.
    fn skip_scrubbed(&mut self, die: DieId, scope: Scope) {
        let end = (scope.first + scope.pages).div_ceil(self.layout.pages_per_program);
        let Ftl { dies, layout, groups, .. } = self;
        let units = layout.units_per_program;
        let mut full = Vec::new();
        for open in dies[die].open.iter_mut().flatten().filter(|open| open.group == scope.group && scope.plane.is_none()) {
            // Where a program fills whole wordlines, and they go in any order, there is no such rest.
            if !open.is_prefix(layout) || open.ordered() >= end {
                continue;
            }
            (open.ordered() * units..end * units).for_each(|offset| groups.add_stale(layout.unit(scope.group, offset)));
            open.skip_to(end, layout);
            if open.is_full(layout) {
                full.push(scope.group);
            }
        }
        dies[die].open.iter_mut().for_each(|open| open.retain(|open| !open.is_full(layout)));
        full.into_iter().for_each(|group| self.complete_group(group));
    }
}
