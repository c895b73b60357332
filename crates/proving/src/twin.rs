//! What every logical unit must hold: a `BTreeMap` that follows the host's requests and the flash's answers without looking into the firmware.
//!
//! Checks: the map, unit by unit and step by step; every read is served by the newest data it may see; a write is acknowledged as durable only when
//! it is on flash; a flush means that what was acknowledged before it is on flash; a unit written in part is programmed only when its rest was read;
//! nothing valid is erased; moved data is programmed in the order it was read. Does not check: single sectors (a unit's change is one version), data
//! after an uncorrectable read, and, while writes wait for room in the buffer, which of them a program carries (the newest submitted is assumed, so
//! that a version lost at that very moment can go unseen).

use std::collections::{BTreeMap, VecDeque};

use wordline_ftl::Request;
use wordline_units::{HostOp, Lpn};

use crate::flash::{Spot, Stored};

/// One logical unit.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    /// Changes (writes and trims) submitted so far: the newest version.
    version: u32,
    /// The newest write, the newest acknowledged write, the newest trim.
    written: u32,
    acked: u32,
    trimmed: u32,
    /// The newest version that is on flash.
    landed: u32,
    spot: Option<Spot>,
    /// Sectors written since its data was last taken from the buffer.
    mask: u64,
    filled: bool,
    in_flight: u32,
    /// Writes of it that may be waiting for room in the buffer.
    waiting: u32,
    /// While it was last taken from the buffer, some write of it may have been waiting.
    blurred: bool,
    /// Sectors trimmed since they were written, while it holds something.
    trims: u64,
    /// It was trimmed in part while a write of it may have been waiting, which has some of them written again.
    unsure: bool,
}

/// A host request in hand.
#[derive(Clone, Debug)]
struct Asked {
    request: Request,
    /// For a write, the version of each unit; for a flush, what must be on flash.
    due: Vec<(u32, u32)>,
    /// For a write: it may be waiting for room until it is acknowledged.
    may_wait: bool,
    /// For a read: what was on flash when it was submitted, whether it must be read from there, and whether it was.
    from: Vec<(Spot, Stored, bool, bool)>,
}

/// A unit on its way from a victim to another block.
pub type Moved = (u32, Spot, u32);

/// The model of one core.
#[derive(Debug)]
pub struct Twin {
    units: BTreeMap<u32, Unit>,
    asked: BTreeMap<u32, Asked>,
    /// Valid units of each physical block.
    valid: Vec<u32>,
    /// What was read from victims of each die and is not yet on flash again.
    pub moved: Vec<VecDeque<Moved>>,
    whole: u64,
    /// The core has said that it takes no more writes.
    pub worn_out: bool,
}

impl Twin {
    /// Nothing written yet.
    pub fn new(dies: u32, blocks: usize, sectors_per_unit: u32) -> Twin {
        Twin {
            units: BTreeMap::new(),
            asked: BTreeMap::new(),
            valid: vec![0; blocks],
            moved: vec![VecDeque::new(); dies as usize],
            whole: u64::MAX >> (64 - sectors_per_unit),
            worn_out: false,
        }
    }

    /// Requests not yet acknowledged.
    pub fn outstanding(&self) -> usize {
        self.asked.len()
    }

    /// Where `lpn` must lie.
    pub fn spot(&self, lpn: u32) -> Option<Spot> {
        self.units.get(&lpn).and_then(|unit| unit.spot)
    }

    /// Valid units that must lie in physical block `index`.
    pub fn valid(&self, index: usize) -> u32 {
        self.valid[index]
    }

    /// The sectors of the `index`-th unit that `request` covers.
    fn mask(&self, request: &Request, index: u32) -> u64 {
        let sectors = self.whole.count_ones();
        let head = if index == 0 { request.skip_head } else { 0 };
        let tail = if index + 1 == request.units { request.skip_tail } else { 0 };
        (head..sectors - tail).fold(0, |mask, sector| mask | 1 << sector)
    }

    fn place(&mut self, lpn: u32, to: Option<(Spot, usize)>, index_of: impl Fn(Spot) -> usize) {
        let unit = self.units.entry(lpn).or_default();
        if let Some(before) = std::mem::replace(&mut unit.spot, to.map(|(spot, _)| spot)) {
            self.valid[index_of(before)] -= 1;
        }
        if let Some((_, index)) = to {
            self.valid[index] += 1;
        }
    }

    fn drop_unit(&mut self, lpn: u32, index_of: impl Fn(Spot) -> usize) {
        let unit = self.units.entry(lpn).or_default();
        unit.version += 1;
        // Writes that wait come in behind the trim.
        (unit.trimmed, unit.mask, unit.filled, unit.trims, unit.unsure) = (unit.version, 0, false, 0, unit.waiting > 0);
        self.place(lpn, None, index_of);
    }

    /// The core goes on from its image, which has nothing of units that were trimmed in part.
    pub fn forget_parts(&mut self) {
        self.units.values_mut().for_each(|unit| unit.trims = 0);
    }

    /// The trim `request` has been made. Where writes may have been waiting it cannot be told from outside whether a unit has been trimmed whole by now:
    /// `kept` says whether the firmware has it on flash and in the buffer. There it may be again, by a write that has waited.
    pub fn trimmed(&mut self, request: &Request, kept: impl Fn(u32) -> (bool, bool), index_of: impl Fn(Spot) -> usize + Copy) {
        for lpn in request.lpn..request.lpn + request.units {
            let Some(unit) = self.units.get(&lpn).filter(|unit| unit.unsure) else { continue };
            let (on_flash, buffered) = kept(lpn);
            if !on_flash && (unit.spot.is_some() || !buffered) {
                self.drop_unit(lpn, index_of);
            }
        }
    }

    /// The host asks. `may_wait` says that a write may find no room in the buffer until it is acknowledged; `stored` reads the flash.
    pub fn submit(
        &mut self,
        request: Request,
        may_wait: bool,
        stored: impl Fn(Spot) -> Option<Stored>,
        index_of: impl Fn(Spot) -> usize + Copy,
    ) {
        let mut asked = Asked { request, may_wait, due: vec![], from: vec![] };
        for index in 0..request.units {
            let lpn = request.lpn + index;
            let mask = self.mask(&request, index);
            let whole = mask == self.whole;
            let unit = self.units.entry(lpn).or_default();
            match request.op {
                HostOp::Write => {
                    unit.version += 1;
                    unit.written = unit.version;
                    unit.trims &= !mask;
                    unit.waiting += u32::from(may_wait);
                    // A version in flight is whole and still in memory, so a new one beside it is whole too.
                    unit.mask |= if unit.in_flight > 0 { self.whole } else { mask };
                    asked.due.push((lpn, unit.version));
                }
                HostOp::Trim => {
                    let holds = unit.written > unit.trimmed;
                    unit.unsure = !whole && (unit.unsure || unit.waiting > 0);
                    unit.trims = if holds { unit.trims | mask } else { mask };
                    if whole || (holds && unit.trims == self.whole && !unit.unsure) {
                        self.drop_unit(lpn, index_of);
                    } else if !holds {
                        unit.trims = 0;
                    }
                }
                HostOp::Read => {
                    if let Some(spot) = unit.spot {
                        let found = stored(spot).expect("a mapped unit is on flash");
                        let buffered = unit.written > found.version || unit.in_flight > 0 || unit.blurred;
                        asked.from.push((spot, found, !buffered, false));
                    } else {
                        let lost = unit.acked > unit.trimmed && unit.written <= unit.landed && !unit.blurred;
                        assert!(!lost, "unit {lpn} was on flash at version {} and is nowhere now", unit.landed);
                    }
                }
                HostOp::Flush | HostOp::Hint => {}
            }
        }
        if request.op == HostOp::Flush {
            let owed = self.units.iter().filter(|(_, unit)| unit.acked > unit.landed.max(unit.trimmed));
            asked.due = owed.map(|(&lpn, unit)| (lpn, unit.acked)).collect();
        }
        assert!(self.asked.insert(request.id, asked).is_none(), "request ids are used once at a time");
    }

    /// The firmware acknowledges. `durably` says whether it promises that writes of this kind are on flash.
    pub fn acknowledge(&mut self, id: u32, ok: bool, durably: impl Fn(&Request) -> bool) {
        let asked = self.asked.remove(&id).unwrap_or_else(|| panic!("request {id} is acknowledged twice, or was never made"));
        let Asked { request, may_wait, due, from } = asked;
        for (lpn, _) in due.iter().filter(|_| may_wait && request.op == HostOp::Write) {
            self.units.get_mut(lpn).expect("was submitted").waiting -= 1;
        }
        if !ok {
            assert!(self.worn_out && matches!(request.op, HostOp::Write | HostOp::Flush), "{request:?} fails on good flash");
            // The part of it that came into the buffer is not known.
            due.iter().filter(|_| request.op == HostOp::Write).for_each(|(lpn, _)| self.units.entry(*lpn).or_default().unsure = true);
            return;
        }
        match request.op {
            HostOp::Read => {
                for (spot, stored, must, done) in from {
                    assert!(!must || done, "{request:?} was acknowledged, but {stored:?} at {spot:?} was never read");
                }
            }
            HostOp::Write => {
                for (lpn, version) in due {
                    let unit = self.units.get_mut(&lpn).expect("was submitted");
                    unit.acked = unit.acked.max(version);
                    let durable = unit.landed >= version || unit.trimmed > version;
                    assert!(durable || !durably(&request), "{request:?} is not on flash: unit {lpn} {unit:?}");
                }
            }
            HostOp::Flush => {
                for (lpn, version) in due {
                    let unit = &self.units[&lpn];
                    let durable = unit.landed >= version || unit.trimmed > version;
                    assert!(durable, "a flush passed before version {version} of unit {lpn} was on flash: {unit:?}");
                }
            }
            HostOp::Trim | HostOp::Hint => {}
        }
    }

    /// A page is sensed for host reads.
    pub fn host_read(&mut self, page: &[Spot], stored: impl Fn(Spot) -> Option<Stored>) {
        let mut wanted = false;
        for (spot, expected, must, done) in self.asked.values_mut().flat_map(|asked| asked.from.iter_mut()) {
            if page.contains(spot) {
                let same = stored(*spot) == Some(*expected);
                // What the buffer gave may have changed since, and so may a page that was read before.
                assert!(same || !*must || *done, "{spot:?} held {expected:?} and changed under a read that waits for it");
                (wanted, *done) = (wanted || same, *done || same);
            }
        }
        assert!(wanted, "{:?} is read for the host, and no request in hand asks for it", page[0]);
    }

    /// A page is sensed to complete a unit that was written in part.
    pub fn fill_read(&mut self, found: &[Stored]) {
        for stored in found {
            if let Some(unit) = self.units.get_mut(&stored.lpn.0)
                && unit.trimmed <= stored.version
                && unit.landed == stored.version
                && unit.mask != 0
            {
                unit.filled = true;
            }
        }
    }

    /// The buffer gives `lpn` to a program: what it carries.
    pub fn take(&mut self, lpn: Lpn) -> Stored {
        let unit = self.units.get_mut(&lpn.0).unwrap_or_else(|| panic!("unit {lpn} is programmed and was never written"));
        let complete = unit.mask == self.whole || unit.filled || unit.spot.is_none() || unit.blurred;
        assert!(complete, "unit {lpn} is programmed with sectors {:x} and its rest was never read: {unit:?}", unit.mask);
        unit.blurred = unit.waiting > 0;
        // A write that waits is not in this program; what it will bring is not known, so the best is assumed.
        (unit.mask, unit.filled) = (if unit.blurred { self.whole } else { 0 }, false);
        unit.in_flight += 1;
        Stored { lpn, version: unit.version }
    }

    /// A program of host data has ended.
    pub fn land(&mut self, stored: Stored, at: Option<(Spot, usize)>, index_of: impl Fn(Spot) -> usize) {
        let unit = self.units.get_mut(&stored.lpn.0).expect("was written");
        unit.in_flight -= 1;
        let Some(at) = at else {
            // It is to be programmed again, and it is whole. Where flash has its version already, a write that waited had brought something newer.
            unit.mask = self.whole;
            unit.blurred |= unit.landed >= stored.version;
            return;
        };
        if unit.trimmed > stored.version {
            return;
        }
        assert!(stored.version >= unit.landed, "unit {} goes back from version {} to {}", stored.lpn, unit.landed, stored.version);
        unit.landed = stored.version;
        self.place(stored.lpn.0, Some(at), index_of);
    }

    /// A victim's page was read: returns what of it is still wanted.
    pub fn gather(&mut self, die: usize, page: &[Spot], found: &[Stored]) {
        for (&spot, stored) in page.iter().zip(found) {
            if *stored != Stored::PADDING && self.spot(stored.lpn.0) == Some(spot) {
                self.moved[die].push_back((stored.lpn.0, spot, stored.version));
            }
        }
    }

    /// A moved unit is on flash again; it counts unless the host has been quicker.
    pub fn move_to(&mut self, (lpn, from, _): Moved, at: (Spot, usize), index_of: impl Fn(Spot) -> usize) {
        if self.spot(lpn) == Some(from) {
            self.place(lpn, Some(at), index_of);
        }
    }

    /// Every unit ever touched, and where it must lie.
    pub fn spots(&self) -> impl Iterator<Item = (u32, Option<Spot>)> + '_ {
        self.units.iter().map(|(&lpn, unit)| (lpn, unit.spot))
    }

    /// After a last flush: everything acknowledged is on flash.
    pub fn rest(&self) {
        assert_eq!(self.outstanding(), 0);
        for (lpn, unit) in &self.units {
            let durable = unit.acked <= unit.landed.max(unit.trimmed);
            assert!(durable || self.worn_out, "unit {lpn} was acknowledged and is not on flash after the last flush: {unit:?}");
        }
    }
}
