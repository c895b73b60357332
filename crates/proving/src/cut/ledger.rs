//! What each unit may hold after a power cut: its last durable state, or any later one.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Content of a sector whose bytes are lost: every read of it fails.
pub(super) const LOST: u32 = u32::MAX - 1;

/// The states of one unit, oldest first.
#[derive(Clone, Debug)]
struct Unit {
    /// How many states came before the first one kept.
    dropped: u64,
    states: VecDeque<State>,
    /// What it reads as now where that is lost: later it may read as its newest state again, but as no other.
    lost: Option<Rc<[u32]>>,
    /// Its sectors that were trimmed since they were written, one bit each, while it holds something. A cut makes the firmware forget them.
    trimmed: u64,
}

#[derive(Clone, Debug)]
struct State {
    sectors: Rc<[u32]>,
    /// Its sectors that were lost when it was made, one bit each: a write of others has left them so.
    lost: u64,
    request: u32,
    acked: bool,
}

/// All units of a core.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    units: Vec<Unit>,
    zeroes: Rc<[u32]>,
    /// The states that each open request has made.
    made: BTreeMap<u32, Vec<(u32, u64)>>,
    /// What each open flush promises.
    promised: BTreeMap<u32, Vec<(u32, u64)>>,
}

impl Ledger {
    pub(super) fn new(units: u32, sectors: u32) -> Ledger {
        let zeroes: Rc<[u32]> = vec![0; sectors as usize].into();
        let unit = Unit {
            dropped: 0,
            states: VecDeque::from([State { sectors: zeroes.clone(), lost: 0, request: u32::MAX, acked: true }]),
            lost: None,
            trimmed: 0,
        };
        Ledger { units: vec![unit; units as usize], zeroes, made: BTreeMap::new(), promised: BTreeMap::new() }
    }

    pub(super) fn latest(&self, lpn: u32) -> &Rc<[u32]> {
        let unit = &self.units[lpn as usize];
        unit.lost.as_ref().unwrap_or_else(|| &unit.states.back().expect("never empty").sectors)
    }

    /// Add a state. `read`: what it reads as, where some of its sectors are lost.
    fn push(&mut self, lpn: u32, sectors: Rc<[u32]>, request: u32, read: Option<Rc<[u32]>>) {
        let unit = &mut self.units[lpn as usize];
        let lost = read.iter().flat_map(|read| read.iter().enumerate()).filter(|&(_, &sector)| sector == LOST);
        let lost = lost.fold(0, |lost, (at, _)| lost | 1 << at);
        unit.lost = read;
        unit.states.push_back(State { sectors, lost, request, acked: false });
        let number = unit.dropped + unit.states.len() as u64 - 1;
        self.made.entry(request).or_default().push((lpn, number));
    }

    /// The sectors of `mask` of `lpn` are now of the write `stamp`.
    pub(super) fn write(&mut self, request: u32, lpn: u32, mask: u64, stamp: impl Fn(u32) -> u32) {
        let unit = &self.units[lpn as usize];
        let over = |before: &Rc<[u32]>| -> Rc<[u32]> {
            (0..).zip(before.iter()).map(|(sector, &before)| if mask >> sector & 1 == 1 { stamp(sector) } else { before }).collect()
        };
        let sectors = over(&unit.states.back().expect("never empty").sectors);
        let read = unit.lost.as_ref().map(over).filter(|read| read.contains(&LOST));
        self.push(lpn, sectors, request, read);
        self.units[lpn as usize].trimmed &= !mask;
    }

    /// The sectors of `mask` of `lpn` are trimmed: it is zero once all of it is.
    pub(super) fn trim(&mut self, request: u32, lpn: u32, mask: u64) {
        let whole = u64::MAX >> (64 - self.zeroes.len());
        let before = if *self.latest(lpn) == self.zeroes { 0 } else { self.units[lpn as usize].trimmed };
        let is_dropped = before | mask == whole;
        let keeps = *self.latest(lpn) != self.zeroes && !is_dropped;
        self.units[lpn as usize].trimmed = if keeps { before | mask } else { 0 };
        if is_dropped {
            self.push(lpn, self.zeroes.clone(), request, None);
        }
    }

    /// A flush is asked for: what is acknowledged must be durable when it is.
    pub(super) fn flush(&mut self, request: u32) {
        let owed = (0..).zip(&self.units).filter_map(|(lpn, unit)| {
            let last = unit.states.iter().rposition(|state| state.acked)?;
            // The first of them is durable already, and still all that was before it must be gone.
            Some((lpn, unit.dropped + last as u64))
        });
        self.promised.insert(request, owed.collect());
    }

    /// The states that `request` has made, so far.
    pub(super) fn made_by(&self, request: u32) -> Vec<(u32, u64)> {
        self.made.get(&request).cloned().unwrap_or_default()
    }

    /// Whether `sectors` are those of state `number` of `lpn`, or of a later one.
    pub(super) fn is_since(&self, lpn: u32, number: u64, sectors: &Rc<[u32]>) -> bool {
        let unit = &self.units[lpn as usize];
        unit.states.iter().skip(number.saturating_sub(unit.dropped) as usize).any(|state| state.sectors == *sectors)
    }

    /// A write or trim is acknowledged; `durable` says whether that is a promise. Returns what was promised.
    pub(super) fn acknowledge(&mut self, request: u32, durable: bool) -> Vec<(u32, u64)> {
        let made = self.made.remove(&request).unwrap_or_default();
        for &(lpn, number) in &made {
            let unit = &mut self.units[lpn as usize];
            if let Some(state) = number.checked_sub(unit.dropped).and_then(|at| unit.states.get_mut(at as usize)) {
                debug_assert_eq!(state.request, request);
                state.acked = true;
            }
            if durable {
                unit.settle(number);
            }
        }
        if durable { made } else { Vec::new() }
    }

    /// A flush is acknowledged. Returns what was promised.
    pub(super) fn flushed(&mut self, request: u32) -> Vec<(u32, u64)> {
        let promised = self.promised.remove(&request).unwrap_or_default();
        promised.iter().for_each(|&(lpn, number)| self.units[lpn as usize].settle(number));
        promised
    }

    /// After a cut `lpn` holds `found`: from now on it must. Where pages rot, `rots`, an older state may still come back that no flush had covered: what was
    /// found since has not been flushed either. And what is lost may be found after all, by another copy, as long as that is the newest. Returns whether
    /// something newer had been written.
    pub(super) fn after_cut(&mut self, lpn: u32, found: &Rc<[u32]>, rots: bool) -> Result<bool, String> {
        let unit = &mut self.units[lpn as usize];
        unit.trimmed = 0;
        // What is lost may have been anything.
        let is_like = |state: &State| state.sectors.iter().zip(found.iter()).all(|(sector, found)| sector == found || *found == LOST);
        let Some(at) = unit.states.iter().rposition(is_like) else {
            return Err(format!("unit {lpn} holds {found:?} after a cut; it may hold {}", self.states(lpn)));
        };
        let is_older = at + 1 < unit.states.len();
        unit.states.truncate(at + 1);
        let state = &mut unit.states[at];
        unit.lost = (state.sectors != *found).then(|| found.clone());
        (state.request, state.acked) = (u32::MAX, true);
        if !rots {
            unit.settle(unit.dropped + at as u64);
        }
        Ok(is_older)
    }

    /// A copy of `lpn` has become unreadable, so that it reads as `found` now.
    pub(super) fn lose(&mut self, lpn: u32, found: &[u32]) {
        self.units[lpn as usize].lost = Some(found.into());
    }

    /// Number of the newest state of `lpn`, of those that it may hold after a cut, in which its sectors are `sectors`.
    pub(super) fn number_of(&self, lpn: u32, sectors: &[u32]) -> Option<u64> {
        let unit = &self.units[lpn as usize];
        unit.states.iter().rposition(|state| state.sectors[..] == *sectors).map(|at| unit.dropped + at as u64)
    }

    /// The states that `lpn` may hold, for messages.
    pub(super) fn states(&self, lpn: u32) -> String {
        let unit = &self.units[lpn as usize];
        let states: Vec<_> = unit.states.iter().map(|state| (state.request, state.acked, &state.sectors[..])).collect();
        format!("{states:?} (request, acknowledged, sectors), the first of them number {}", unit.dropped)
    }

    /// Number of the newest state of `lpn`.
    pub(super) fn newest(&self, lpn: u32) -> u64 {
        let unit = &self.units[lpn as usize];
        unit.dropped + unit.states.len() as u64 - 1
    }

    /// Whether the lost sectors of `found` were lost when a state was made that `lpn` may hold after a cut.
    pub(super) fn was_lost(&self, lpn: u32, found: &[u32]) -> bool {
        let lost = found.iter().enumerate().filter(|&(_, &sector)| sector == LOST).fold(0u64, |lost, (at, _)| lost | 1 << at);
        self.units[lpn as usize].states.iter().any(|state| lost & !state.lost == 0)
    }

    /// Whether `lpn` may hold its state `number` after a cut.
    pub(super) fn may_be(&self, lpn: u32, number: u64) -> bool {
        number >= self.units[lpn as usize].dropped
    }

    /// Whether `lpn` may hold `found` after a cut, where pages fail.
    pub(super) fn allows(&self, lpn: u32, found: &[u32]) -> bool {
        self.units[lpn as usize].states.iter().any(|state| state.sectors[..] == *found)
    }

    /// All requests in hand are gone with the power.
    pub(super) fn forget_requests(&mut self) {
        self.made.clear();
        self.promised.clear();
    }
}

impl Unit {
    /// State `number` is durable: older ones must not come back.
    fn settle(&mut self, number: u64) {
        while self.dropped < number {
            self.states.pop_front();
            self.dropped += 1;
        }
        assert!(!self.states.is_empty());
    }
}
