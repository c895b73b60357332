//! The write buffer: host data between its arrival and the end of its program.
//!
//! ```text
//!            write                     read-modify-write              program              commit
//!   (host) ────────► Partial ──────────────► Filling ──┐       ┌──────────────► Flight ─────────────► (free)
//!            │                                         ▼       │                  │  ▲
//!            └──── whole unit ──────────────────────► Complete ┘      write again │  │ program failed: back to Complete
//!                                                       ▲                         ▼
//!                                                       └──── Flight ends ────── Held
//! ```
//!
//! A unit that is being programmed is never changed: a new write of it waits as `Held` until the older program has ended. So the map is changed in
//! the order of the host's writes whatever order the dies finish in, and the map never points at what is not yet on flash.
//!
//! A unit that is trimmed leaves at once. Where capacitors keep the buffer its slot is `Retired` first, until the trim is durable.

use std::collections::VecDeque;

use wordline_units::{Attributes, Id, Lpn, Nanos, PartId};

use crate::state::settings::Protection;
use crate::util::index::Index;
use crate::util::list::{Links, List, NIL, Slab};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Partial,
    Filling,
    Complete,
    Flight,
    Held,
    /// A trimmed unit whose data the capacitors still have to keep.
    Retired,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    lpn: u32,
    /// Sectors that hold host data, one bit each.
    mask: u64,
    entered: Nanos,
    epoch: u64,
    /// Version of the newest write in the slot.
    version: u64,
    state: State,
    /// Attributes of the writes in the slot, the strictest of each kind.
    attributes: Attributes,
    /// Sectors whose bytes could not be read when the unit was completed, one bit each.
    lost: u64,
    /// True if the data was trimmed or lost since: the slot's program or fill must have no effect.
    doomed: bool,
    waiters: WaiterId,
    /// Slot of the older version in flight, for a held slot; and the other way round.
    partner: u32,
}

/// A request that waits for a slot, by its place in the table of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WaiterId(u32);

impl Id for WaiterId {
    fn from_index(index: usize) -> WaiterId {
        WaiterId(index as u32)
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// End of a list of waiters.
const NOBODY: WaiterId = WaiterId(NIL);

const UNUSED: Slot = Slot {
    lpn: u32::MAX,
    mask: 0,
    entered: Nanos::ZERO,
    epoch: 0,
    version: 0,
    state: State::Free,
    attributes: Attributes::NONE,
    lost: 0,
    doomed: false,
    waiters: NOBODY,
    partner: NIL,
};

/// Content of a slot of the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Logical unit that the slot belongs to.
    pub lpn: Lpn,
    /// Version of the newest write in the slot.
    pub version: u64,
    /// Sectors that the slot holds, one bit each.
    pub mask: u64,
}

/// Outcome of a write to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The write is in this slot.
    Slot(u32),
    /// The write is in the first slot. Its other sectors are those of the second slot, which is being programmed.
    Behind(u32, u32),
    /// No slot is free until a program ends.
    Full,
}

/// Consequence of a successful program of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// The map entry of this unit is to point at the new address.
    Commit(u32),
    /// The unit was trimmed meanwhile: the new address is stale.
    Discard,
}

/// Data that a trim dropped from the buffer before it was on flash.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    /// Oldest epoch that any of the dropped data belonged to.
    pub epoch: u64,
    /// Requests that waited for the dropped data to become durable, once for each unit.
    pub waiters: Vec<PartId>,
}

/// The write buffer of one core.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    whole: u64,
    slots: Vec<Slot>,
    links: Vec<Links>,
    unused: Vec<u32>,
    complete: List,
    partial: List,
    index: Index,
    waiters: Slab<WaiterId, (PartId, WaiterId)>,
    waiting: u32,
    epoch: u64,
    /// Version given out last.
    version: u64,
    /// Slots not yet durable, by epoch; the front belongs to `epoch - (len - 1)`.
    pending: VecDeque<u32>,
    released: Vec<PartId>,
    /// True if capacitors keep the buffer.
    is_protected: bool,
    /// Trimmed slots, oldest first. Each waits until the trim of that number is durable; `None`: the number is not known yet.
    retired: VecDeque<(Option<u64>, u32)>,
}

impl Buffer {
    /// Creates an empty buffer of `units` slots for units of `sectors` sectors.
    pub(crate) fn new(units: u32, sectors: u32, protection: Protection) -> Buffer {
        assert!((1..=64).contains(&sectors), "a unit has 1 to 64 sectors");
        Buffer {
            whole: u64::MAX >> (64 - sectors),
            slots: vec![UNUSED; units as usize],
            links: vec![Links::default(); units as usize],
            unused: (0..units).rev().collect(),
            complete: List::default(),
            partial: List::default(),
            index: Index::new(units),
            waiters: Slab::default(),
            waiting: 0,
            epoch: 0,
            version: 0,
            pending: VecDeque::from([0]),
            released: Vec::new(),
            is_protected: protection == Protection::Capacitor,
            retired: VecDeque::new(),
        }
    }

    /// Number of units ready to be programmed.
    #[inline]
    pub(crate) fn complete(&self) -> u32 {
        self.complete.len()
    }

    /// Number of units that need the rest of their data from flash.
    pub(crate) fn partial(&self) -> u32 {
        self.partial.len()
    }

    /// Share of the slots in use.
    pub(crate) fn fill(&self) -> f64 {
        1.0 - self.unused.len() as f64 / self.slots.len() as f64
    }

    /// Number of slots that hold nothing.
    pub(crate) fn room(&self) -> u32 {
        self.unused.len() as u32
    }

    /// True if the buffer is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.unused.len() == self.slots.len()
    }

    /// True if a request waits for a unit to become durable.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting > 0
    }

    /// Arrival of the unit that has been ready longest.
    pub(crate) fn oldest_complete(&self) -> Option<Nanos> {
        self.complete.first().map(|slot| self.slots[slot as usize].entered)
    }

    /// True if the buffer holds all the sectors of `mask` of `lpn`.
    #[inline]
    pub(crate) fn covers(&self, lpn: u32, mask: u64) -> bool {
        self.index.get(lpn).is_some_and(|slot| self.slots[slot as usize].mask & mask == mask)
    }

    /// Slot with the newest sectors of `lpn`, and the mask of those sectors.
    pub(crate) fn held(&self, lpn: u32) -> Option<(u32, u64)> {
        self.index.get(lpn).map(|slot| (slot, self.slots[slot as usize].mask))
    }

    /// Content of `slot`.
    #[inline]
    pub(crate) fn content(&self, slot: u32) -> Held {
        let Slot { lpn, version, mask, .. } = self.slots[slot as usize];
        Held { lpn: Lpn(lpn), version, mask }
    }

    /// Slots that hold something.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.slots).filter(|(_, slot)| !matches!(slot.state, State::Free | State::Retired)).map(|(number, _)| number)
    }

    /// Restore `held` in `slot`, where it was before a power cut. Its unit must be in no other slot.
    pub(crate) fn restore(&mut self, slot: u32, held: Held) {
        let at = self.unused.iter().position(|&unused| unused == slot).expect("nothing else is in it yet");
        self.unused.remove(at);
        let Held { lpn: Lpn(lpn), version, mask } = held;
        self.slots[slot as usize] = Slot { lpn, mask, entered: Nanos::ZERO, epoch: self.epoch, version, ..UNUSED };
        *self.pending.back_mut().expect("never empty") += 1;
        self.index.insert(lpn, slot);
        self.enlist(slot);
    }

    /// The unit in `slot`.
    pub(crate) fn unit_in(&self, slot: u32) -> u32 {
        self.slots[slot as usize].lpn
    }

    /// The sectors of the unit in `slot` that the host has not written.
    pub(crate) fn missing(&self, slot: u32) -> u64 {
        self.whole & !self.slots[slot as usize].mask
    }

    /// Write the sectors of `mask` of `lpn` into the buffer.
    pub(crate) fn write(&mut self, now: Nanos, lpn: u32, mask: u64, attributes: Attributes) -> Admission {
        let version = self.version + 1;
        let Some(slot) = self.index.get(lpn) else {
            let Some(slot) = self.unused.pop() else {
                return Admission::Full;
            };
            self.version = version;
            self.slots[slot as usize] = Slot { lpn, mask, entered: now, epoch: self.epoch, version, attributes, ..UNUSED };
            *self.pending.back_mut().expect("never empty") += 1;
            self.index.insert(lpn, slot);
            self.enlist(slot);
            return Admission::Slot(slot);
        };
        match self.slots[slot as usize].state {
            State::Complete | State::Filling | State::Held => self.slots[slot as usize].mask |= mask,
            State::Partial => {
                self.slots[slot as usize].mask |= mask;
                if self.slots[slot as usize].mask == self.whole {
                    self.partial.remove(&mut self.links, slot);
                    self.enlist(slot);
                }
            }
            State::Flight => {
                let Some(held) = self.unused.pop() else {
                    return Admission::Full;
                };
                // The older version is whole and still in memory, so the new one is whole too.
                let is_replaced = mask == self.whole;
                let older = self.slots[slot as usize].attributes;
                let attributes = if is_replaced { attributes } else { attributes.strictest(older) };
                let lost = self.slots[slot as usize].lost & !mask;
                let mask = self.whole;
                self.version = version;
                self.slots[held as usize] = Slot {
                    lpn,
                    mask,
                    entered: now,
                    epoch: self.epoch,
                    version,
                    attributes,
                    lost,
                    state: State::Held,
                    partner: slot,
                    ..UNUSED
                };
                self.slots[slot as usize].partner = held;
                *self.pending.back_mut().expect("never empty") += 1;
                self.index.insert(lpn, held);
                return Admission::Behind(held, slot);
            }
            State::Free | State::Retired => unreachable!("such a slot is in no index"),
        }
        self.version = version;
        self.slots[slot as usize].version = version;
        let older = self.slots[slot as usize].attributes;
        self.slots[slot as usize].attributes = attributes.strictest(older);
        self.slots[slot as usize].lost &= !mask;
        Admission::Slot(slot)
    }

    /// A new version, newer than all before.
    pub(crate) fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Continue to count versions after `version`.
    pub(crate) fn count_from(&mut self, version: u64) {
        self.version = version;
    }

    /// Every unit in the buffer that is not trimmed, with the version below which older data of it is not needed.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let newest = |&(number, slot): &(usize, &Slot)| slot.state != State::Free && self.index.get(slot.lpn) == Some(number as u32);
        // An older version in flight may yet be the newest on flash.
        self.slots.iter().enumerate().filter(newest).filter_map(|(_, slot)| Some((slot.lpn, self.oldest_version(slot.lpn)?)))
    }

    /// Version of the oldest bytes of `lpn` in the buffer, if there are any.
    pub(crate) fn oldest_version(&self, lpn: u32) -> Option<u64> {
        let slot = &self.slots[self.index.get(lpn)? as usize];
        Some(if slot.partner == NIL { slot.version } else { self.slots[slot.partner as usize].version })
    }

    /// Version for a copy of `lpn` that marks its bytes as lost: newer than what was there, older than anything of it in the buffer.
    pub(crate) fn version_of_lost(&mut self, lpn: u32) -> u64 {
        match self.oldest_version(lpn) {
            Some(oldest) => oldest - 1,
            None => self.next_version(),
        }
    }

    /// Attributes of the data in `slot`, the strictest of each kind.
    pub(crate) fn attributes_of(&self, slot: u32) -> Attributes {
        self.slots[slot as usize].attributes
    }

    /// Mark `sectors` of the unit in `slot` as lost: they could not be read to complete it.
    pub(crate) fn lose(&mut self, slot: u32, sectors: u64) {
        self.slots[slot as usize].lost |= sectors;
    }

    /// Lost sectors of the unit in `slot`.
    pub(crate) fn lost_in(&self, slot: u32) -> u64 {
        self.slots[slot as usize].lost
    }

    /// Mark `slot` as secret, because data from flash in it is.
    pub(crate) fn make_secret(&mut self, slot: u32) {
        self.slots[slot as usize].attributes.secure = true;
    }

    /// Slot whose program of `lpn` is under way, if there is one that a trim would doom.
    pub(crate) fn in_flight(&self, lpn: u32) -> Option<u32> {
        let slot = self.index.get(lpn)?;
        match self.slots[slot as usize].state {
            State::Flight => Some(slot),
            State::Held => Some(self.slots[slot as usize].partner),
            State::Free | State::Partial | State::Filling | State::Complete | State::Retired => None,
        }
    }

    /// Take all parts whose wait for a unit is over.
    pub(crate) fn take_released(&mut self) -> Vec<PartId> {
        std::mem::take(&mut self.released)
    }

    /// Parts whose wait for a unit is over, without taking them.
    pub(crate) fn released(&self) -> &[PartId] {
        &self.released
    }

    /// The version of the unit in `slot`.
    pub(crate) fn version_of(&self, slot: u32) -> u64 {
        self.slots[slot as usize].version
    }

    /// Register that `part` waits until `slot` is durable.
    pub(crate) fn await_durable(&mut self, slot: u32, part: PartId) {
        let node = self.waiters.insert((part, self.slots[slot as usize].waiters));
        self.slots[slot as usize].waiters = node;
        self.waiting += 1;
    }

    /// Begin an epoch and return the one that ends. Everything written before is durable once [`Buffer::durable_epoch`] has passed it.
    pub(crate) fn barrier(&mut self) -> u64 {
        let ended = self.epoch;
        self.epoch += 1;
        self.pending.push_back(0);
        ended
    }

    /// First epoch that is not durable yet.
    pub(crate) fn durable_epoch(&mut self) -> u64 {
        while self.pending.len() > 1 && self.pending[0] == 0 {
            self.pending.pop_front();
        }
        self.epoch + 1 - self.pending.len() as u64
    }

    /// Take the next unit to be programmed: its slot and logical unit.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(u32, u32)> {
        let slot = self.complete.pop_front(&mut self.links)?;
        self.slots[slot as usize].state = State::Flight;
        Some((slot, self.slots[slot as usize].lpn))
    }

    /// Take the next partial unit to be completed from flash.
    pub(crate) fn take_partial(&mut self) -> Option<(u32, u32)> {
        let slot = self.partial.pop_front(&mut self.links)?;
        self.slots[slot as usize].state = State::Filling;
        Some((slot, self.slots[slot as usize].lpn))
    }

    /// Take the unit in `slot`, if it is partial, to be completed.
    pub(crate) fn take_this_partial(&mut self, slot: u32) -> bool {
        let is_partial = self.slots[slot as usize].state == State::Partial;
        if is_partial {
            self.partial.remove(&mut self.links, slot);
            self.slots[slot as usize].state = State::Filling;
        }
        is_partial
    }

    /// Complete the unit in `slot`, whose missing sectors are known now.
    pub(crate) fn filled(&mut self, slot: u32) {
        assert_eq!(self.slots[slot as usize].state, State::Filling);
        if self.slots[slot as usize].doomed {
            self.retire(slot);
        } else {
            self.slots[slot as usize].mask = self.whole;
            self.enlist(slot);
        }
    }

    /// True if the unit in `slot`, which is being programmed, was trimmed meanwhile.
    pub(crate) fn is_trimmed(&self, slot: u32) -> bool {
        self.slots[slot as usize].doomed
    }

    /// End the program of `slot`, which succeeded.
    #[inline]
    pub(crate) fn landed(&mut self, slot: u32) -> Landing {
        let Slot { lpn, doomed, partner, state, .. } = self.slots[slot as usize];
        debug_assert_eq!(state, State::Flight);
        if partner != NIL {
            self.slots[partner as usize].partner = NIL;
            self.enlist(partner);
        } else if !doomed {
            self.index.remove(lpn);
        }
        self.release(slot);
        if doomed { Landing::Discard } else { Landing::Commit(lpn) }
    }

    /// End the program of `slot`, which failed: the unit is to be programmed again, before all others. A trimmed one is not.
    pub(crate) fn failed(&mut self, slot: u32) {
        let Slot { doomed, partner, .. } = self.slots[slot as usize];
        if doomed || partner != NIL {
            // A newer version exists; it carries the promise of the older one, which no reader can ask for any more.
            if partner != NIL {
                let older = self.slots[slot as usize].epoch;
                let newer = std::mem::replace(&mut self.slots[partner as usize].epoch, older);
                self.slots[slot as usize].epoch = newer;
                self.slots[partner as usize].partner = NIL;
                let nodes = std::mem::replace(&mut self.slots[slot as usize].waiters, NOBODY);
                self.hand_over(nodes, partner);
                self.enlist(partner);
            }
            self.retire(slot);
        } else {
            self.slots[slot as usize].state = State::Complete;
            self.complete.push_front(&mut self.links, slot);
        }
    }

    /// Drop whatever the buffer holds of `lpn`, because it was trimmed.
    pub(crate) fn discard(&mut self, lpn: u32) -> bool {
        let Some(slot) = self.index.get(lpn) else {
            return false;
        };
        self.index.remove(lpn);
        match self.slots[slot as usize].state {
            State::Complete => {
                self.complete.remove(&mut self.links, slot);
                self.retire(slot);
            }
            State::Partial => {
                self.partial.remove(&mut self.links, slot);
                self.retire(slot);
            }
            State::Filling | State::Flight => self.slots[slot as usize].doomed = true,
            State::Held => {
                let older = self.slots[slot as usize].partner;
                self.slots[older as usize].partner = NIL;
                self.slots[older as usize].doomed = true;
                self.retire(slot);
            }
            State::Free | State::Retired => unreachable!("such a slot is in no index"),
        }
        true
    }

    /// Retire `slot`, which was trimmed. Capacitors that keep it promised its data to the host, and until the trim is durable older data would take its
    /// place.
    fn retire(&mut self, slot: u32) {
        if self.is_protected {
            self.slots[slot as usize].state = State::Retired;
            self.retired.push_back((None, slot));
        } else {
            self.release(slot);
        }
    }

    /// True if slots wait for trims to become durable.
    #[inline]
    pub(crate) fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Free the retired slots whose trim is at most `durable`, and give slots without a number the number `newest`.
    pub(crate) fn pass_retired(&mut self, newest: u64, durable: u64) {
        self.retired
            .iter_mut()
            .rev()
            .map_while(|(version, _)| version.is_none().then_some(version))
            .for_each(|version| *version = Some(newest));
        while let Some((_, slot)) = self.retired.pop_front_if(|(version, _)| version.is_some_and(|version| version <= durable)) {
            self.release(slot);
        }
    }

    /// Drop whatever the buffer holds of `lpn`, in a core that keeps data. Unlike [`Buffer::discard`], it notes the waiting requests in `dropped` and does
    /// not release them.
    pub(crate) fn discard_into(&mut self, lpn: u32, dropped: &mut Dropped) -> bool {
        let Some(slot) = self.index.get(lpn) else {
            return false;
        };
        let older = Some(self.slots[slot as usize].partner).filter(|&partner| partner != NIL);
        for slot in std::iter::once(slot).chain(older) {
            dropped.epoch = dropped.epoch.min(self.slots[slot as usize].epoch);
            let mut node = std::mem::replace(&mut self.slots[slot as usize].waiters, NOBODY);
            while node != NOBODY {
                let (part, next) = self.waiters.remove(node);
                dropped.waiters.push(part);
                self.waiting -= 1;
                node = next;
            }
        }
        self.discard(lpn)
    }

    /// The next part whose wait for a unit is over.
    #[inline]
    pub(crate) fn next_released(&mut self) -> Option<PartId> {
        self.released.pop()
    }

    /// Release all waiting requests, durable or not: the drive takes no more writes.
    pub(crate) fn give_up(&mut self) {
        for slot in 0..self.slots.len() as u32 {
            self.notify(slot);
        }
    }

    fn enlist(&mut self, slot: u32) {
        if self.slots[slot as usize].mask == self.whole {
            self.slots[slot as usize].state = State::Complete;
            self.complete.push_back(&mut self.links, slot);
        } else {
            self.slots[slot as usize].state = State::Partial;
            self.partial.push_back(&mut self.links, slot);
        }
    }

    #[inline]
    fn release(&mut self, slot: u32) {
        self.notify(slot);
        let oldest = self.epoch + 1 - self.pending.len() as u64;
        let epoch = self.slots[slot as usize].epoch;
        self.pending[(epoch - oldest) as usize] -= 1;
        self.slots[slot as usize].state = State::Free;
        self.unused.push(slot);
    }

    #[inline]
    fn notify(&mut self, slot: u32) {
        let mut node = std::mem::replace(&mut self.slots[slot as usize].waiters, NOBODY);
        while node != NOBODY {
            let (part, next) = self.waiters.remove(node);
            self.released.push(part);
            self.waiting -= 1;
            node = next;
        }
    }

    fn hand_over(&mut self, mut nodes: WaiterId, to: u32) {
        while nodes != NOBODY {
            let (part, next) = self.waiters.remove(nodes);
            let node = self.waiters.insert((part, self.slots[to as usize].waiters));
            self.slots[to as usize].waiters = node;
            nodes = next;
        }
    }
}

#[cfg(test)]
mod tests;
