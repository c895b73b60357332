//! Stale secrets are made unreadable before whatever made them stale is acknowledged: the rules. The tables are in `secrets.rs`; how it is done, a
//! technique says.
//!
//! What has to hold: when a write that waits for its program, a trim or a flush is acknowledged, no page that the chips would put out holds an older
//! version of what it covers. A write that is acknowledged as soon as it is buffered promises that with the next flush.
//!
//! A copy that reclaim has left behind holds what is valid elsewhere, and may wait until its block is empty: then one lock of the block is enough, or its
//! erase.

use wordline_flash::{Report, Status};
use wordline_units::{Cause, DieId};

use crate::die::{Entry, Moved, Wanted};
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::{Group, UnitAddr};
use crate::request::Note;
use crate::secrets::{Flying, Scope};
use crate::techniques::seam::{Exposed, Remedy};

/// How often a die is asked again that could not do it.
const TRIES: u8 = 3;

/// A unit of a program that is about to land.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lander {
    lpn: u32,
    copy: Flying,
    is_host: bool,
    is_secret: bool,
}

impl Ftl {
    /// Everything valid is taken for secret: it was not written by anybody who could have said that it is not.
    pub(crate) fn assume_secret(&mut self) {
        if let Some(secrets) = &mut self.secrets {
            (0..self.map.exported())
                .map(|lpn| self.map.get(lpn))
                .filter(|&addr| addr != UnitAddr::NONE)
                .for_each(|addr| secrets.keep(addr));
        }
    }

    /// The pages that begin at these offsets of groups hold bits of something, and nobody can say of what: nothing is acknowledged before they are unreadable.
    /// In a block that has failed they stay, and so they do where they are encrypted.
    pub(crate) fn expose_torn(&mut self, pages: &[(Group, u32)]) {
        if pages.is_empty() || self.keys.is_some() {
            return;
        }
        for &(group, first) in pages {
            if self.groups.is_condemned(group) {
                continue;
            }
            match self.groups.use_of(group) {
                // An erase was broken off, perhaps, and locks need a whole block.
                Use::Drained if self.must_erase(group) => {}
                Use::Drained => {
                    let secrets = self.secrets.as_mut().expect("asked before");
                    let gate = secrets.gate(Vec::new());
                    secrets.attach(secrets.whole(group), Remedy::Erase, gate, 0);
                    self.pass_gate(gate);
                }
                // Active: its summary is still to be written.
                Use::Closed | Use::Active => {
                    let secrets = self.secrets.as_mut().expect("asked before");
                    for addr in (first..first + self.layout.units_per_page).map(|offset| self.layout.unit(group, offset)) {
                        secrets.keep(addr);
                        secrets.exposed.push(addr);
                    }
                }
                Use::Free | Use::Draining | Use::Bad | Use::Journal => {}
            }
        }
        self.guard(Vec::new(), Vec::new(), Vec::new());
        self.secrets.as_mut().expect("asked before").note_unknown();
    }

    /// The copy of `lpn` at `addr` has become stale.
    #[inline]
    pub(crate) fn expose(&mut self, lpn: u32, addr: UnitAddr) {
        let Ftl { secrets: Some(secrets), journal, .. } = self else { return };
        if secrets.is_secret(addr) {
            secrets.leave_behind(lpn, addr);
            secrets.exposed.push(addr);
        } else {
            secrets.await_trims(addr, journal.as_ref().map_or(0, |journal| journal.newest));
        }
    }

    /// What the units of `batch` are, while the buffer still knows.
    #[cold]
    pub(crate) fn before_landing(&self, batch: &[Entry]) -> Vec<Option<Lander>> {
        let secrets = self.secrets.as_ref().expect("asked before");
        let of = |entry: &Entry| match *entry {
            Entry::Host { slot } => Some(Lander {
                lpn: self.buffer.unit_in(slot),
                copy: Flying::Slot(slot),
                is_host: true,
                is_secret: !self.buffer.is_insecure(slot),
            }),
            Entry::Moved(Moved { lpn, from }) => {
                // Its key may have been destroyed while the copy was on its way.
                let is_secret = secrets.is_secret(from) || secrets.is_flying(Flying::From(from));
                Some(Lander { lpn, copy: Flying::From(from), is_host: false, is_secret })
            }
            Entry::Padding | Entry::Journal { .. } | Entry::Checkpoint { .. } | Entry::Keys { .. } | Entry::Oob { .. } => None,
        };
        batch.iter().map(of).collect()
    }

    /// The units of a program in `group` from the offset `first` on have landed, or may have if it has failed.
    #[cold]
    pub(crate) fn after_landing(&mut self, group: Group, first: u32, good: bool, units: &[Option<Lander>]) {
        let (mut late, mut over, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        let Ftl { secrets, layout, groups, map, .. } = self;
        let secrets = secrets.as_mut().expect("asked before");
        if units.iter().flatten().any(|unit| !unit.is_host) {
            // What moved has left its old copy behind.
            for unit in units.iter().flatten() {
                if let (Flying::From(from), true) = (unit.copy, good) {
                    secrets.exposed.retain(|&exposed| exposed != from);
                    if unit.is_secret && map.get(unit.lpn) != from {
                        secrets.leave_behind(unit.lpn, from);
                    }
                }
            }
        } else if good {
            units.iter().flatten().for_each(|unit| secrets.expose_left(unit.lpn..unit.lpn + 1));
            // Itself may be one of them.
            let others = |unit: &Lander| secrets.doomed(unit.lpn..unit.lpn + 1).filter(|&copy| copy != unit.copy).collect::<Vec<_>>();
            copies = units.iter().flatten().flat_map(others).collect();
        }
        for (offset, unit) in (first..).zip(units) {
            let Some(unit) = unit else { continue };
            let waiting = secrets.landed(unit.lpn, unit.copy);
            let addr = layout.unit(group, offset);
            if unit.is_secret {
                secrets.keep(addr);
            }
            let is_wanted = if good { groups.is_valid(group, offset) } else { waiting.is_empty() };
            match (unit.is_secret, is_wanted) {
                (true, false) => {
                    secrets.leave_behind(unit.lpn, addr);
                    late.push((addr, waiting));
                }
                (true, true) if !good => secrets.leave_behind(unit.lpn, addr),
                _ => over.extend(waiting),
            }
        }
        over.into_iter().for_each(|gate| self.pass_gate(gate));
        if self.has_exposed(&copies) || !late.is_empty() {
            let is_host = units.iter().flatten().any(|unit| unit.is_host);
            let parts = if is_host { self.buffer.take_released() } else { Vec::new() };
            self.guard(parts, copies, late);
        }
        self.seal_emptied();
        self.empty_closed(group);
    }

    /// As [`Ftl::after_landing`], for a copyback: `from` and `to` are first offsets.
    #[cold]
    pub(crate) fn after_copyback(&mut self, good: bool, from: (Group, u32), to: (Group, u32), lpns: &[u32]) {
        let mut late = Vec::new();
        let mut over = Vec::new();
        let Ftl { secrets, layout, groups, map, .. } = self;
        let secrets = secrets.as_mut().expect("asked before");
        secrets.copying[usize::from(layout.die(from.0).0)] = None;
        let exported = map.exported();
        for (unit, &lpn) in (0..).zip(lpns) {
            if lpn >= exported {
                // Nothing, or stale and unreadable: a copy of that is no more readable.
                over.extend(secrets.landed(lpn, Flying::From(layout.unit(from.0, from.1 + unit))));
                continue;
            }
            let (source, addr) = (layout.unit(from.0, from.1 + unit), layout.unit(to.0, to.1 + unit));
            let waiting = secrets.landed(lpn, Flying::From(source));
            secrets.exposed.retain(|&exposed| exposed != source);
            if !secrets.is_secret(source) && waiting.is_empty() {
                over.extend(waiting);
                continue;
            }
            secrets.keep(addr);
            let is_wanted = if good { groups.is_valid(to.0, to.1 + unit) } else { waiting.is_empty() };
            if !is_wanted {
                secrets.leave_behind(lpn, addr);
                late.push((addr, waiting));
            } else {
                over.extend(waiting);
                secrets.leave_behind(lpn, if map.get(lpn) == source { addr } else { source });
            }
        }
        over.into_iter().for_each(|gate| self.pass_gate(gate));
        if self.has_exposed(&[]) || !late.is_empty() {
            self.guard(Vec::new(), Vec::new(), late);
        }
        self.seal_emptied();
        self.empty_closed(to.0);
    }

    /// What has been exposed in this event is dealt with. `parts` wait for it, and for `copies` that are being programmed; `late` units have landed stale, and
    /// gates wait for them already.
    pub(crate) fn guard(&mut self, parts: Vec<u32>, mut copies: Vec<Flying>, late: Vec<(UnitAddr, Vec<u64>)>) {
        let secrets = self.secrets.as_mut().expect("asked before");
        let mut exposed = std::mem::take(&mut secrets.exposed);
        exposed.sort_unstable();
        exposed.dedup();
        copies.extend(exposed.iter().filter(|&&addr| self.is_being_copied(addr)).map(|&addr| Flying::From(addr)));
        let secrets = self.secrets.as_mut().expect("asked before");
        let gate = secrets.gate(parts);
        copies.into_iter().for_each(|copy| secrets.await_landing(copy, gate));
        secrets.await_unknown(gate);
        let mut rest = &exposed[..];
        while let Some(&addr) = rest.first() {
            let group = self.layout.group(addr);
            let (of_group, others) = rest.split_at(rest.partition_point(|&addr| self.layout.group(addr) == group));
            self.judge(group, of_group, gate);
            rest = others;
        }
        let trims = self.trims_newest();
        for (addr, waiting) in late {
            self.judge(self.layout.group(addr), &[addr], gate);
            for gate in waiting {
                self.join_remedy(addr, gate, trims);
                self.pass_gate(gate);
            }
        }
        self.wake_keys();
        self.pass_gate(gate);
    }

    /// `gate` waits for what is being done about `addr`; returns whether something is.
    fn join_remedy(&mut self, addr: UnitAddr, gate: u64, trims: u64) -> bool {
        if self.is_key_doomed(addr) {
            self.drop_key(addr, gate, trims);
            return true;
        }
        let secrets = self.secrets.as_mut().expect("asked before");
        let duty = secrets.duty_for(addr);
        duty.inspect(|&duty| secrets.join(duty, gate, trims)).is_some()
    }

    /// Whether this event has exposed anything, or will when `copies` land; or something was exposed of which nobody can say what it was.
    pub(crate) fn has_exposed(&self, copies: &[Flying]) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| !secrets.exposed.is_empty() || !copies.is_empty() || secrets.has_unknown())
    }

    /// Groups that this event has emptied wait to be erased.
    pub(crate) fn seal_emptied(&mut self) {
        let emptied = self.secrets.as_mut().map_or(Vec::new(), |secrets| std::mem::take(&mut secrets.emptied));
        emptied.into_iter().for_each(|group| self.seal(group));
    }

    /// Whether the unit at `from` has been read and waits to be programmed elsewhere, or is being programmed.
    pub(crate) fn is_on_its_way(&self, die: DieId, from: UnitAddr) -> bool {
        self.dies[die].moved.iter().any(|moved| moved.from == from) || self.is_being_copied(from)
    }

    /// Whether a copy of the unit at `addr` is being programmed.
    fn is_being_copied(&self, addr: UnitAddr) -> bool {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        let die = self.layout.die(group);
        let in_batch = |entry: &Entry| matches!(entry, Entry::Moved(moved) if moved.from == addr);
        let copying = self.secrets.as_ref().and_then(|secrets| secrets.copying[usize::from(die.0)]);
        let by_copyback =
            copying.is_some_and(|(from, first)| from == group && (first..first + self.layout.units_per_program).contains(&offset));
        by_copyback || self.dies[die].batch.iter().any(in_batch)
    }

    /// Decide what to do about stale secrets of `group`.
    fn judge(&mut self, group: Group, exposed: &[UnitAddr], gate: u64) {
        let trims = self.trims_newest();
        let mut left = Vec::new();
        for &addr in exposed {
            if !self.join_remedy(addr, gate, trims) {
                left.push(addr);
            }
        }
        if left.is_empty() {
            return;
        }
        let valid = self.groups.valid(group);
        if valid == 0 {
            // Everything secret in it is stale, left behind or not.
            let secrets = self.secrets.as_ref().expect("asked before");
            left = secrets.of_group(group).filter(|&addr| secrets.duty_for(addr).is_none() && !self.is_key_doomed(addr)).collect();
        }
        let mut pages: Vec<u32> = left.iter().map(|&addr| self.layout.page_start(self.layout.offset(addr))).collect();
        pages.dedup();
        // One that is active may have its last program under way.
        let is_full = matches!(self.groups.use_of(group), Use::Closed | Use::Draining | Use::Drained);
        let has_failed = self.groups.is_condemned(group);
        let question = Exposed { group, pages: pages.len() as u32, valid, is_full, has_failed };
        let Some(remedy) = self.panel.remedy(&self.ctx(), &question) else {
            return;
        };
        assert!(remedy != Remedy::LockBlock || (valid == 0 && is_full), "a block is locked that is still needed");
        let whole = self.secrets.as_ref().expect("asked before").whole(group);
        match remedy {
            Remedy::DropKeys => return left.into_iter().for_each(|addr| self.drop_key(addr, gate, trims)),
            Remedy::LockBlock => self.take_on(whole, remedy, gate),
            Remedy::Erase => {
                self.take_on(whole, remedy, gate);
                self.empty_now(group);
            }
            Remedy::LockPages | Remedy::Reprogram | Remedy::Scrub => {
                let bits = self.config.sheet.geometry.cell.bits();
                for start in pages {
                    let place = self.layout.place(start);
                    let page = u32::from(place.page.0);
                    let (first, pages) = if remedy == Remedy::Scrub { (page / bits * bits, bits) } else { (page, 1) };
                    self.take_on(Scope { group, plane: Some(u32::from(place.plane.0)), first, pages }, remedy, gate);
                }
            }
        }
        self.wake(self.layout.die(group));
    }

    fn take_on(&mut self, scope: Scope, remedy: Remedy, gate: u64) {
        let trims = self.trims_newest();
        self.secrets.as_mut().expect("asked before").attach(scope, remedy, gate, trims);
    }

    /// `group` may have been closed by its last program, after it was found that it must be erased.
    pub(crate) fn empty_closed(&mut self, group: Group) {
        if self.groups.use_of(group) == Use::Closed && self.must_erase(group) {
            self.empty_now(group);
        }
    }

    /// Have `group` emptied and erased next.
    fn empty_now(&mut self, group: Group) {
        let die = self.layout.die(group);
        let erases = self.groups.erases(group);
        match self.groups.use_of(group) {
            Use::Closed => self.dies[die].wanted.push_front(Wanted::by_core(group, Cause::Sanitise, erases)),
            // To give up an open block takes room, and without any nothing could be emptied. It is asked again when something is erased, or it is full.
            Use::Active if self.dies[die].free.len() as u32 <= self.config.reclaim.floor => {}
            Use::Active => {
                if let Some(open) = self.take_open(die, group) {
                    let end = self.end_of(&open);
                    self.dies[die].failed.push((group, end));
                    self.groups.give_up(group, end..self.layout.units_per_group);
                }
            }
            // On its way to be erased, or out of service.
            Use::Draining | Use::Drained | Use::Free | Use::Bad | Use::Journal => {}
        }
    }

    /// `group` holds nothing valid any more and waits to be erased, or replaced. Where no erase follows soon, or none at all, its secrets are dealt with now.
    pub(crate) fn seal(&mut self, group: Group) {
        let Some(secrets) = &mut self.secrets else {
            return;
        };
        if self.config.reclaim.lazy_erase || self.groups.is_condemned(group) {
            let mut left: Vec<UnitAddr> = secrets.of_group(group).collect();
            if !left.is_empty() {
                // What cannot be erased any more needs something else, and who waited for the erase waits for that.
                let has_failed = self.groups.is_condemned(group);
                let erases = |&id: &u32| has_failed && secrets.duty(id).scope.group == group && secrets.duty(id).how == Remedy::Erase;
                let needless: Vec<u32> = secrets.duties_of(self.layout.die(group)).filter(erases).collect();
                let waiting: Vec<u64> = needless.into_iter().flat_map(|id| secrets.end(id)).collect();
                secrets.exposed.append(&mut left);
                self.guard(Vec::new(), Vec::new(), Vec::new());
                for gate in waiting {
                    self.await_group(group, gate);
                }
            }
        }
    }

    /// Instead of one duty in `group`, `gate` waits for all there are now.
    fn await_group(&mut self, group: Group, gate: u64) {
        let secrets = self.secrets.as_mut().expect("it has gates");
        let of_group: Vec<u32> = secrets.duties_of(self.layout.die(group)).filter(|&id| secrets.duty(id).scope.group == group).collect();
        of_group.into_iter().for_each(|id| secrets.join(id, gate, 0));
        self.pass_gate(gate);
    }

    /// Whether something secret in `group` can still be read.
    pub(crate) fn has_secrets(&self, group: Group) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.of_group(group).next().is_some())
    }

    /// Whether `group` is to be erased for what it holds.
    pub(crate) fn must_erase(&self, group: Group) -> bool {
        let is_it = |id| {
            let duty = self.secrets.as_ref().expect("asked").duty(id);
            duty.scope.group == group && duty.how == Remedy::Erase
        };
        self.secrets.as_ref().is_some_and(|secrets| secrets.duties_of(self.layout.die(group)).any(is_it))
    }

    /// `group` has been erased.
    pub(crate) fn secrets_erased(&mut self, group: Group) {
        let Some(secrets) = &mut self.secrets else {
            return;
        };
        secrets.gone(secrets.whole(group));
        let done: Vec<u32> = secrets.duties_of(self.layout.die(group)).filter(|&id| secrets.duty(id).scope.group == group).collect();
        let gates: Vec<u64> = done.into_iter().flat_map(|id| secrets.end(id)).collect();
        gates.into_iter().for_each(|gate| self.pass_gate(gate));
        let die = self.layout.die(group);
        let open: Vec<Group> = self.dies[die].open.iter().flatten().map(|open| open.group).collect();
        open.into_iter().filter(|&group| self.must_erase(group)).collect::<Vec<_>>().into_iter().for_each(|group| self.empty_now(group));
    }

    /// The operation of the duty `id` has ended.
    pub(crate) fn sanitised(&mut self, report: &Report, id: u32) {
        let secrets = self.secrets.as_mut().expect("it had a duty");
        let duty = secrets.duty_mut(id);
        duty.tries += 1;
        let (scope, tries, how) = (duty.scope, duty.tries, duty.how);
        if report.status != Status::Good && tries < TRIES {
            return self.wake(report.die);
        }
        // What a die refuses for good is reported, and then taken for gone: the block must still be able to leave service.
        secrets.gone(scope);
        if report.status != Status::Good {
            self.notes.push_back(Note::Exposed(scope.group));
            if how == Remedy::Scrub {
                self.write_no_more(report.die, scope.group);
            }
        }
        let gates = self.secrets.as_mut().expect("it had a duty").end(id);
        gates.into_iter().for_each(|gate| self.pass_gate(gate));
        self.wake(report.die);
    }

    /// A wordline of `group` could not be scrubbed: what was not programmed yet of it never will be, and nothing can be programmed above it.
    fn write_no_more(&mut self, die: DieId, group: Group) {
        let is_due = self.oob.as_mut().is_some_and(|oob| oob.drop_summary(group));
        if let Some(open) = self.open_at(group) {
            self.abandon(die, group, open.ordered());
        } else if is_due {
            self.abandon(die, group, self.layout.data_programs);
        }
    }

    /// One of the things that `gate` waits for is over.
    pub(crate) fn pass_gate(&mut self, gate: u64) {
        let parts = self.secrets.as_mut().expect("it has gates").pass(gate);
        parts.into_iter().for_each(|part| self.release_part(part));
        if !self.flushes.is_empty() {
            self.pass_flushes();
        }
    }

    /// Copies of the units from `first` on that are being programmed and will land stale, now that the units are trimmed.
    pub(crate) fn doom_copies(&mut self, first: u32, count: u32) -> Vec<Flying> {
        let Ftl { secrets: Some(secrets), buffer, .. } = self else {
            return Vec::new();
        };
        for lpn in first..first + count {
            if let Some(slot) = buffer.in_flight(lpn).filter(|&slot| !buffer.is_insecure(slot)) {
                secrets.doom(lpn, slot);
            }
        }
        secrets.doomed(first..first + count).collect()
    }
}
