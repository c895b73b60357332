//! Sanitising: the rules by which stale secrets become unreadable before the request that made them stale is acknowledged. A technique chooses the method.
//!
//! What has to hold: when a write that waits for its program, a trim or a flush is acknowledged, no page that the chips would put out holds an older
//! version of what it covers. A write that is acknowledged as soon as it is buffered promises that with the next flush.
//!
//! A copy that GC has left behind holds what is valid elsewhere, and may wait until its block is empty: then one lock of the block is enough, or its
//! erase.
//!
//! [`Secrets`] has the tables, [`tasks`] the operations, [`Keys`] the key store.

pub(crate) mod keys;
pub(crate) mod secrets;
mod tasks;

use wordline_flash::{Operation, Status};
use wordline_units::{Cause, DieId, Nanos, PartId};

use keys::Keys;
use secrets::{Flying, Scope, Secrets};

use crate::metadata::Metadata;
use crate::metadata::log::Rescue;
use crate::placement;
use crate::state::Core;
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, UnitAddr};
use crate::state::request::Note;
use crate::state::rewrites::Rewrite;
use crate::state::work::{Entry, Moved, Offer};
use crate::techniques::apply::ctx;
use crate::techniques::panel::Panel;
use crate::techniques::seam::{SanitiseMethod, StaleSecrets};

/// Number of times that a sanitise operation is tried again after the die failed it.
const TRIES: u8 = 3;

/// A unit of a program that is about to land.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lander {
    lpn: u32,
    copy: Flying,
    is_host: bool,
    is_secret: bool,
}

/// State of sanitising of one core.
#[derive(Debug)]
pub(crate) struct Sanitise {
    /// Tables of secrets, if a technique sanitises.
    secrets: Option<Box<Secrets>>,
    /// Key store, if a technique destroys keys.
    keys: Option<Box<Keys>>,
}

impl Sanitise {
    /// Creates the state of a new core.
    pub(crate) fn new(secrets: Option<Secrets>, keys: Option<Keys>) -> Sanitise {
        Sanitise { secrets: secrets.map(Box::new), keys: keys.map(Box::new) }
    }

    /// True if a technique sanitises.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.secrets.is_some()
    }

    /// Key store, if there is one.
    #[inline]
    pub(crate) fn keys(&self) -> Option<&Keys> {
        self.keys.as_deref()
    }

    pub(crate) fn keys_mut(&mut self) -> Option<&mut Keys> {
        self.keys.as_deref_mut()
    }

    fn secrets(&self) -> &Secrets {
        self.secrets.as_deref().expect("asked before")
    }

    fn secrets_mut(&mut self) -> &mut Secrets {
        self.secrets.as_deref_mut().expect("asked before")
    }

    /// Mark all valid data as secret, because no host has said that it is not.
    pub(crate) fn assume_secret(&mut self, core: &Core) {
        if let Some(secrets) = &mut self.secrets {
            let mapped = (0..core.map().exported()).map(|lpn| core.map().get(lpn)).filter(|&addr| addr != UnitAddr::NONE);
            mapped.for_each(|addr| secrets.keep(addr));
        }
    }

    /// Mark the data at `addr` as secret.
    pub(crate) fn keep(&mut self, addr: UnitAddr) {
        self.secrets_mut().keep(addr);
    }

    /// True if the data at `addr` is secret.
    pub(crate) fn is_secret(&self, addr: UnitAddr) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| addr != UnitAddr::NONE && secrets.is_secret(addr))
    }

    /// Expose the torn pages that begin at these offsets of groups: their content is unknown, and no request is acknowledged before they are unreadable.
    /// They stay as they are in a block that has failed, and where data is encrypted.
    pub(crate) fn expose_torn(&mut self, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, pages: &[(BlockGroup, u32)]) {
        if pages.is_empty() || self.keys.is_some() {
            return;
        }
        for &(group, first) in pages {
            if core.groups().is_condemned(group) {
                continue;
            }
            match core.groups().use_of(group) {
                // An erase was broken off, perhaps, and locks need a whole block.
                Use::Drained if self.must_erase(core, group) => {}
                Use::Drained => {
                    let barrier = core.barriers_mut().make(Vec::new());
                    let secrets = self.secrets_mut();
                    secrets.attach(core.barriers_mut(), secrets.whole(group), SanitiseMethod::Erase, barrier, 0);
                    metadata.pass_barrier(core, barrier);
                }
                // Active: its summary is still to be written.
                Use::Closed | Use::Active => {
                    let secrets = self.secrets_mut();
                    let layout = core.layout();
                    for addr in (first..first + layout.units_per_page).map(|offset| layout.unit(group, offset)) {
                        secrets.keep(addr);
                        secrets.expose(addr);
                    }
                }
                Use::Free | Use::Draining | Use::Bad | Use::Metadata | Use::Lost => {}
            }
        }
        self.guard(core, panel, metadata, Vec::new(), Vec::new(), Vec::new());
        self.secrets_mut().note_unknown();
    }

    /// Expose the copy of `lpn` at `addr`, which has become stale.
    #[inline]
    pub(crate) fn expose(&mut self, metadata: &Metadata, lpn: u32, addr: UnitAddr) {
        let Some(secrets) = &mut self.secrets else { return };
        if secrets.is_secret(addr) {
            secrets.leave_behind(lpn, addr);
            secrets.expose(addr);
        } else {
            secrets.await_trims(addr, metadata.trims_newest());
        }
    }

    /// Expose all copies that the `count` units from `first` left behind, because none of them holds valid data any more.
    pub(crate) fn expose_left(&mut self, first: u32, count: u32) {
        if let Some(secrets) = &mut self.secrets {
            secrets.expose_left(first..first + count);
        }
    }

    /// Note that `group` has lost its last valid unit in this event.
    pub(crate) fn note_emptied(&mut self, group: BlockGroup) {
        if let Some(secrets) = &mut self.secrets {
            secrets.note_emptied(group);
        }
    }

    /// Note that `die` copies back the program unit that begins at this offset of this group.
    pub(crate) fn note_copying(&mut self, die: DieId, from: (BlockGroup, u32)) {
        if let Some(secrets) = &mut self.secrets {
            secrets.note_copying(die, Some(from));
        }
    }

    /// Facts about the units of `batch` that the buffer knows only until they land.
    #[cold]
    pub(crate) fn before_landing(&self, core: &Core, batch: &[Entry]) -> Vec<Option<Lander>> {
        let secrets = self.secrets();
        let of = |entry: &Entry| match *entry {
            Entry::Host { slot } => Some(Lander {
                lpn: core.buffer().unit_in(slot),
                copy: Flying::Slot(slot),
                is_host: true,
                is_secret: core.buffer().attributes_of(slot).secure,
            }),
            Entry::Moved(Moved { lpn, from }) => {
                // Its key may have been destroyed while the copy was on its way.
                let is_secret = secrets.is_secret(from) || secrets.is_flying(Flying::From(from));
                Some(Lander { lpn, copy: Flying::From(from), is_host: false, is_secret })
            }
            Entry::Padding | Entry::Metadata { .. } => None,
        };
        batch.iter().map(of).collect()
    }

    /// Update the secrets after the units of a program in `group` from the offset `first` on have landed. If the program failed, they may have landed.
    #[cold]
    pub(crate) fn after_landing(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        (group, first): (BlockGroup, u32),
        good: bool,
        units: &[Option<Lander>],
    ) {
        let (mut late, mut over, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        let secrets = self.secrets_mut();
        if units.iter().flatten().any(|unit| !unit.is_host) {
            // What moved has left its old copy behind.
            for unit in units.iter().flatten() {
                if let (Flying::From(from), true) = (unit.copy, good) {
                    secrets.cover(from);
                    if unit.is_secret && core.map().get(unit.lpn) != from {
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
            let addr = core.layout().unit(group, offset);
            if unit.is_secret {
                secrets.keep(addr);
            }
            let is_wanted = if good { core.groups().is_valid(group, offset) } else { waiting.is_empty() };
            match (unit.is_secret, is_wanted) {
                (true, false) => {
                    secrets.leave_behind(unit.lpn, addr);
                    late.push((addr, waiting));
                }
                (true, true) if !good => secrets.leave_behind(unit.lpn, addr),
                _ => over.extend(waiting),
            }
        }
        over.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
        if self.has_exposed(&copies) || !late.is_empty() {
            let is_host = units.iter().flatten().any(|unit| unit.is_host);
            let parts = if is_host { core.buffer_mut().take_released() } else { Vec::new() };
            self.guard(core, panel, metadata, parts, copies, late);
        }
        self.seal_emptied(core, panel, metadata);
        self.empty_closed(core, group);
    }

    /// Update the secrets after a copyback. `from` and `to` are the first offsets of the two program units.
    #[cold]
    pub(crate) fn after_copyback(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        good: bool,
        (from, to): ((BlockGroup, u32), (BlockGroup, u32)),
        lpns: impl Iterator<Item = u32>,
    ) {
        let mut late = Vec::new();
        let mut over = Vec::new();
        let secrets = self.secrets_mut();
        let layout = *core.layout();
        secrets.note_copying(layout.die(from.0), None);
        let exported = core.map().exported();
        for (unit, lpn) in (0..).zip(lpns) {
            if lpn >= exported {
                // Nothing, or stale and unreadable: a copy of that is no more readable.
                over.extend(secrets.landed(lpn, Flying::From(layout.unit(from.0, from.1 + unit))));
                continue;
            }
            let (source, addr) = (layout.unit(from.0, from.1 + unit), layout.unit(to.0, to.1 + unit));
            let waiting = secrets.landed(lpn, Flying::From(source));
            secrets.cover(source);
            if !secrets.is_secret(source) && waiting.is_empty() {
                over.extend(waiting);
                continue;
            }
            secrets.keep(addr);
            let is_wanted = if good { core.groups().is_valid(to.0, to.1 + unit) } else { waiting.is_empty() };
            if !is_wanted {
                secrets.leave_behind(lpn, addr);
                late.push((addr, waiting));
            } else {
                over.extend(waiting);
                secrets.leave_behind(lpn, if core.map().get(lpn) == source { addr } else { source });
            }
        }
        over.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
        if self.has_exposed(&[]) || !late.is_empty() {
            self.guard(core, panel, metadata, Vec::new(), Vec::new(), late);
        }
        self.seal_emptied(core, panel, metadata);
        self.empty_closed(core, to.0);
    }

    /// Start tasks for everything that this event has exposed. `parts` wait for them, and for `copies` that are being programmed; `late` units have landed
    /// stale, and barriers wait for them already.
    pub(crate) fn guard(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        parts: Vec<PartId>,
        mut copies: Vec<Flying>,
        late: Vec<(UnitAddr, Vec<u64>)>,
    ) {
        let exposed = self.secrets_mut().take_exposed();
        copies.extend(exposed.iter().filter(|&&addr| self.is_being_copied(core, addr)).map(|&addr| Flying::From(addr)));
        let barrier = core.barriers_mut().make(parts);
        let secrets = self.secrets_mut();
        copies.into_iter().for_each(|copy| secrets.await_landing(core.barriers_mut(), copy, barrier));
        secrets.await_unknown(core.barriers_mut(), barrier);
        let mut rest = &exposed[..];
        while let Some(&addr) = rest.first() {
            let group = core.layout().group(addr);
            let (of_group, others) = rest.split_at(rest.partition_point(|&addr| core.layout().group(addr) == group));
            self.judge(core, panel, metadata, group, of_group, barrier);
            rest = others;
        }
        let trims = metadata.trims_newest();
        for (addr, waiting) in late {
            self.judge(core, panel, metadata, core.layout().group(addr), &[addr], barrier);
            for barrier in waiting {
                self.join_task(core, metadata, addr, barrier, trims);
                metadata.pass_barrier(core, barrier);
            }
        }
        self.wake_keys(core, metadata);
        metadata.pass_barrier(core, barrier);
    }

    /// Make `barrier` wait for the present task on `addr`. Returns true if there is one.
    fn join_task(&mut self, core: &mut Core, metadata: &mut Metadata, addr: UnitAddr, barrier: u64, trims: u64) -> bool {
        if self.is_key_doomed(core, addr) {
            self.drop_key(core, metadata, addr, barrier, trims);
            return true;
        }
        let secrets = self.secrets_mut();
        let task = secrets.task_for(addr);
        task.inspect(|&task| secrets.join(core.barriers_mut(), task, barrier, trims)).is_some()
    }

    /// True if this event leaves readable stale data: now, once `copies` are programmed, or in torn pages of unknown content.
    pub(crate) fn has_exposed(&self, copies: &[Flying]) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.has_exposed() || !copies.is_empty() || secrets.has_unknown())
    }

    /// Sanitise the groups that this event has emptied while they wait for their erase.
    pub(crate) fn seal_emptied(&mut self, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata) {
        let emptied = self.secrets.as_mut().map_or(Vec::new(), |secrets| secrets.take_emptied());
        emptied.into_iter().for_each(|group| self.seal(core, panel, metadata, group));
    }

    /// True if the unit at `from` has been read and waits to be programmed elsewhere, or is being programmed.
    pub(crate) fn is_on_its_way(&self, core: &Core, die: DieId, from: UnitAddr) -> bool {
        core.die(die).moved().iter().any(|moved| moved.from == from) || self.is_being_copied(core, from)
    }

    /// True if a copy of the unit at `addr` is being programmed.
    fn is_being_copied(&self, core: &Core, addr: UnitAddr) -> bool {
        let layout = core.layout();
        let (group, offset) = (layout.group(addr), layout.offset(addr));
        let die = layout.die(group);
        let in_batch = |entry: &Entry| matches!(entry, Entry::Moved(moved) if moved.from == addr);
        let copying = self.secrets.as_ref().and_then(|secrets| secrets.copying(die));
        let by_copyback = copying.is_some_and(|(from, first)| from == group && (first..first + layout.units_per_program).contains(&offset));
        by_copyback || core.die(die).programs().now().entries().iter().any(in_batch)
    }

    /// Decide how the stale secrets of `group` are sanitised.
    fn judge(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        group: BlockGroup,
        exposed: &[UnitAddr],
        barrier: u64,
    ) {
        let trims = metadata.trims_newest();
        let mut left = Vec::new();
        for &addr in exposed {
            if !self.join_task(core, metadata, addr, barrier, trims) {
                left.push(addr);
            }
        }
        if left.is_empty() {
            return;
        }
        let valid = core.groups().valid(group);
        if valid == 0 {
            // Everything secret in it is stale, left behind or not.
            let secrets = self.secrets();
            left = secrets.of_group(group).filter(|&addr| secrets.task_for(addr).is_none() && !self.is_key_doomed(core, addr)).collect();
        }
        let layout = *core.layout();
        if core.is_failed(layout.die(group)) {
            // No operation reaches it, but its keys can be destroyed. Secrets that cannot be destroyed so were reported when the die failed.
            for addr in left {
                if self.keys.is_some() { self.drop_key(core, metadata, addr, barrier, trims) } else { self.secrets_mut().gone_one(addr) }
            }
            return;
        }
        let mut pages: Vec<u32> = left.iter().map(|&addr| layout.page_start(layout.offset(addr))).collect();
        pages.dedup();
        // One that is active may have its last program under way.
        let is_full = matches!(core.groups().use_of(group), Use::Closed | Use::Draining | Use::Drained);
        let has_failed = core.groups().is_condemned(group);
        let question = StaleSecrets { group, pages: pages.len() as u32, valid, is_full, has_failed };
        let Some(method) = panel.method(&ctx(core), &question) else {
            return;
        };
        assert!(method != SanitiseMethod::LockBlock || (valid == 0 && is_full), "a block is locked that is still needed");
        let whole = self.secrets().whole(group);
        let secrets = self.secrets_mut();
        match method {
            SanitiseMethod::DropKeys => return left.into_iter().for_each(|addr| self.drop_key(core, metadata, addr, barrier, trims)),
            SanitiseMethod::LockBlock => secrets.attach(core.barriers_mut(), whole, method, barrier, trims),
            SanitiseMethod::Erase => {
                secrets.attach(core.barriers_mut(), whole, method, barrier, trims);
                empty_now(core, group);
            }
            SanitiseMethod::LockPages | SanitiseMethod::Reprogram | SanitiseMethod::Scrub => {
                let bits = core.settings().bits;
                for start in pages {
                    let place = layout.place(start);
                    let page = u32::from(place.page.0);
                    let (first, pages) = if method == SanitiseMethod::Scrub { (page / bits * bits, bits) } else { (page, 1) };
                    let scope = Scope { group, plane: Some(u32::from(place.plane.0)), first, pages };
                    secrets.attach(core.barriers_mut(), scope, method, barrier, trims);
                }
            }
        }
        core.wake(layout.die(group));
    }

    /// Request that `group` is emptied and erased, if its last program has closed it after the erase was decided.
    pub(crate) fn empty_closed(&self, core: &mut Core, group: BlockGroup) {
        if core.groups().use_of(group) == Use::Closed && self.must_erase(core, group) {
            empty_now(core, group);
        }
    }

    /// Sanitise the secrets of `group`, which holds nothing valid and waits for its erase or for other blocks. It does so only where no erase follows soon,
    /// or none at all.
    pub(crate) fn seal(&mut self, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup) {
        let Some(secrets) = &mut self.secrets else {
            return;
        };
        let has_failed = core.groups().is_condemned(group);
        if core.settings().gc.lazy_erase || has_failed {
            let left: Vec<UnitAddr> = secrets.of_group(group).collect();
            if !left.is_empty() {
                // What cannot be erased any more needs something else, and who waited for the erase waits for that.
                let erases =
                    |&id: &u32| has_failed && secrets.task(id).scope.group == group && secrets.task(id).how == SanitiseMethod::Erase;
                let needless: Vec<u32> = secrets.tasks_of(core.layout().die(group)).filter(erases).collect();
                let waiting: Vec<u64> = needless.into_iter().flat_map(|id| secrets.end(id)).collect();
                left.into_iter().for_each(|addr| secrets.expose(addr));
                self.guard(core, panel, metadata, Vec::new(), Vec::new(), Vec::new());
                for barrier in waiting {
                    self.await_group(core, metadata, group, barrier);
                }
            }
        }
    }

    /// Make `barrier` wait for all present tasks in `group`, instead of for one.
    fn await_group(&mut self, core: &mut Core, metadata: &mut Metadata, group: BlockGroup, barrier: u64) {
        let secrets = self.secrets_mut();
        let of_group: Vec<u32> = secrets.tasks_in(group).collect();
        of_group.into_iter().for_each(|id| secrets.join(core.barriers_mut(), id, barrier, 0));
        metadata.pass_barrier(core, barrier);
    }

    /// True if something secret in `group` can still be read.
    pub(crate) fn has_secrets(&self, group: BlockGroup) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.of_group(group).next().is_some())
    }

    /// True if `group` is to be erased because of its secrets.
    pub(crate) fn must_erase(&self, core: &Core, group: BlockGroup) -> bool {
        let is_it = |secrets: &Secrets, id| secrets.task(id).scope.group == group && secrets.task(id).how == SanitiseMethod::Erase;
        self.secrets.as_ref().is_some_and(|secrets| secrets.tasks_of(core.layout().die(group)).any(|id| is_it(secrets, id)))
    }

    /// True if a sanitise task waits on `die`.
    #[inline]
    pub(crate) fn has_tasks(&self, die: DieId) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.has_tasks(die))
    }

    /// True if a wordline of `group` on `die` is to be scrubbed again, because the die failed to scrub it.
    pub(crate) fn tries_again(&self, die: DieId, group: BlockGroup) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.tries_again(die, group))
    }

    /// True if no task is left and no request waits.
    pub(crate) fn is_idle(&self, core: &Core) -> bool {
        self.secrets.as_ref().is_none_or(|secrets| core.barriers().is_empty() && secrets.is_idle())
    }

    /// True if a request waits for stale secrets to become unreadable.
    pub(crate) fn is_awaited(&self, core: &Core, metadata: &Metadata) -> bool {
        self.is_on() && (core.barriers().is_awaited() || (metadata.has_flushes() && !self.is_idle(core)))
    }

    /// End the erase of `group`.
    pub(crate) fn erased(&mut self, core: &mut Core, metadata: &mut Metadata, group: BlockGroup) {
        let Some(secrets) = &mut self.secrets else {
            return;
        };
        secrets.gone(secrets.whole(group));
        let done: Vec<u32> = secrets.tasks_in(group).collect();
        let barriers: Vec<u64> = done.into_iter().flat_map(|id| secrets.end(id)).collect();
        barriers.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
        let die = core.layout().die(group);
        let open: Vec<BlockGroup> = core.die(die).all_open().map(|open| open.group).filter(|&group| self.must_erase(core, group)).collect();
        open.into_iter().for_each(|group| empty_now(core, group));
    }

    /// End the operation of the task `id` of `die`, with `status`.
    pub(crate) fn ended(&mut self, core: &mut Core, metadata: &mut Metadata, die: DieId, status: Status, id: u32) {
        let task = self.secrets_mut().task_mut(id);
        task.tries += 1;
        let (scope, tries, how) = (task.scope, task.tries, task.how);
        if status != Status::Good && tries < TRIES {
            return core.wake(die);
        }
        // What a die refuses for good is reported, and then taken for gone: the block must still be able to leave service.
        self.secrets_mut().gone(scope);
        if status != Status::Good {
            core.outbox_mut().note(Note::Exposed(scope.group));
            if how == SanitiseMethod::Scrub {
                write_no_more(core, metadata, die, scope.group);
            }
        }
        let barriers = self.secrets_mut().end(id);
        barriers.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
        core.wake(die);
    }

    /// Copies of the units from `first` on that are being programmed and will land stale, because the units are trimmed now.
    pub(crate) fn doom_copies(&mut self, core: &Core, first: u32, count: u32) -> Vec<Flying> {
        let Some(secrets) = &mut self.secrets else {
            return Vec::new();
        };
        for lpn in first..first + count {
            if let Some(slot) = core.buffer().in_flight(lpn).filter(|&slot| core.buffer().attributes_of(slot).secure) {
                secrets.doom(lpn, slot);
            }
        }
        secrets.doomed(first..first + count).collect()
    }

    /// Next sanitise operation of `die`, or one that clears the way for it.
    #[cold]
    pub(crate) fn step(&mut self, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId) -> Offer {
        self.secrets.as_mut().map_or(Offer::Nothing, |secrets| tasks::step(secrets, core, panel, metadata, die))
    }

    /// Go on without `die`, which has failed. Secrets there can be reached by no operation of the firmware: they are reported, and waits for them end. Keys
    /// are destroyed all the same.
    #[cold]
    pub(crate) fn leave(&mut self, core: &mut Core, metadata: &mut Metadata, die: DieId) {
        let Some(secrets) = &mut self.secrets else { return };
        let barriers = secrets.leave(die);
        match &mut self.keys {
            Some(keys) => keys.leave(core),
            None => {
                for group in core.layout().groups_of(die).map(|group| BlockGroup(group as u32)) {
                    if secrets.of_group(group).next().is_some() {
                        secrets.gone(secrets.whole(group));
                        core.outbox_mut().note(Note::Exposed(group));
                    }
                }
            }
        }
        barriers.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
    }

    /// End the way of the units of `batch`, whose program in `group` was under way when its die failed. Data that the program has left there is out of
    /// reach, too.
    #[cold]
    pub(crate) fn never_lands(&mut self, core: &mut Core, metadata: &mut Metadata, group: BlockGroup, batch: &[Entry]) {
        let units = self.before_landing(core, batch);
        let secrets = self.secrets_mut();
        let barriers: Vec<u64> = units.iter().flatten().flat_map(|unit| secrets.landed(unit.lpn, unit.copy)).collect();
        if self.keys.is_none() && units.iter().flatten().any(|unit| unit.is_secret) {
            core.outbox_mut().note(Note::Exposed(group));
        }
        barriers.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
    }

    // Keys.

    /// True if the key of `addr` is already to be destroyed.
    fn is_key_doomed(&self, core: &Core, addr: UnitAddr) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.is_doomed(core, addr))
    }

    /// Destroy the key of `addr`; `barrier` waits for it.
    fn drop_key(&mut self, core: &mut Core, metadata: &mut Metadata, addr: UnitAddr, barrier: u64, trims: u64) {
        core.barriers_mut().hold(barrier);
        let keys = self.keys.as_mut().expect("only who keeps keys drops them");
        if keys.drop_key(core, addr, barrier, trims) > metadata.trims_durable() {
            metadata.hurry(core);
        }
    }

    /// Wake the die on which the key store has its next operation, if it has one.
    #[cold]
    pub(crate) fn wake_keys(&mut self, core: &mut Core, metadata: &Metadata) {
        if let Some(keys) = &mut self.keys {
            keys.wake(core, metadata.trims_durable());
        }
    }

    /// Rescue a key store that has no room, when no operation is under way: it takes the last free group, or gives up.
    pub(crate) fn rescue_keys(&mut self, core: &mut Core, metadata: &Metadata) -> Rescue {
        self.keys.as_mut().map_or(Rescue::Needless, |keys| keys.rescue(core, metadata.trims_durable()))
    }

    /// Next operation of `die` for the key store.
    #[cold]
    pub(crate) fn keys_step(&mut self, core: &mut Core, metadata: &Metadata, die: DieId) -> Option<Operation> {
        self.keys.as_mut()?.step(core, metadata.trims_durable(), die)
    }

    /// End a program of the key store in `group`.
    pub(crate) fn keys_programmed(&mut self, core: &mut Core, good: bool, group: BlockGroup) {
        self.keys.as_mut().expect("it was ordered").programmed(core, good, group);
    }

    /// Instant at which the register of keys will have been overwritten.
    #[inline]
    pub(crate) fn register_due(&self) -> Option<Nanos> {
        self.keys.as_ref().and_then(|keys| keys.due())
    }

    /// End the overwrite of the register: earlier tables can no longer be opened.
    pub(crate) fn register_overwritten(&mut self, core: &mut Core, metadata: &mut Metadata) {
        let keys = self.keys.as_mut().expect("it was due");
        let (gone, barriers) = keys.overwritten(core);
        let secrets = self.secrets.as_mut().expect("a sanitiser is there");
        gone.iter().for_each(|&addr| secrets.gone_one(addr));
        gone.into_iter().for_each(|addr| core.outbox_mut().note(Note::KeyGone(addr)));
        barriers.into_iter().for_each(|barrier| metadata.pass_barrier(core, barrier));
        for die in core.die_ids() {
            // What failed leaves service once nothing secret is in it.
            if !core.die(die).erasable().is_empty() {
                core.wake(die);
            }
        }
        self.wake_keys(core, metadata);
    }
}

/// Request that `group` is emptied and erased next.
fn empty_now(core: &mut Core, group: BlockGroup) {
    let die = core.layout().die(group);
    let erases = core.groups().erases(group);
    match core.groups().use_of(group) {
        Use::Closed => {
            let wish = Rewrite::by_core(group, Cause::Sanitise, erases, core.now());
            core.die_mut(die).change_rewrites(|rewrites| rewrites.ask_first(wish));
        }
        // To give up an open block takes room, and without any nothing could be emptied. It is asked again when something is erased, or it is full.
        Use::Active if !core.is_roomy(die) => {}
        Use::Active => {
            if let Some(open) = core.die_mut(die).take_open(group) {
                let end = placement::end_of(core, &open);
                core.die_mut(die).fail(group, end);
                let units = core.layout().units_per_group;
                core.groups_mut().give_up(group, end..units);
            }
        }
        // On its way to be erased, or out of service.
        Use::Draining | Use::Drained | Use::Free | Use::Bad | Use::Metadata | Use::Lost => {}
    }
}

/// Stop writing a wordline of `group` that could not be scrubbed. What was not programmed of it yet never will be, and nothing can be programmed above it.
fn write_no_more(core: &mut Core, metadata: &mut Metadata, die: DieId, group: BlockGroup) {
    let is_due = metadata.drop_summary(group);
    if let Some(open) = core.die(die).open_at(group) {
        placement::abandon(core, group, open.ordered(), true);
    } else if is_due {
        placement::abandon(core, group, core.layout().data_programs, true);
    }
}
