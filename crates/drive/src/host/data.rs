//! The data plane: the bytes of a drive that keeps them.
//!
//! Timing and bytes go separate ways. The firmware moves numbers, in virtual time; here the bytes follow its decisions: into buffer slots, onto flash, back
//! to the host. What a read returns is gathered the moment the firmware takes the read in: what lies on flash cannot change under a queued read, and what is
//! newer lies in the buffer. A simulation has none of this.
//!
//! Bytes that cannot be read any more stay lost, sector by sector, however often their unit is moved, until the host writes them anew: reads of them fail.
//!
//! ```text
//!   submit ──► request's bytes ──Stored──► slot ──program──► flash ──read──► request's bytes ──► bytes_of
//!                                           ▲────Completed────┘ │  ▲
//!                                                               └──┘ reclaim copies bytes and marks
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use wordline_chip::{Contents, Mark, PageImage, UnitAt};
use wordline_flash::Target;
use wordline_ftl::{Carried, DataStep, Firmware, Held, UnitAddr};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{BlockId, DieId, HostOp, HostRequest, Lpn, OpTag, PageId, RequestId};

use super::capacitors::{BufferSlot, Capacitors, HeldUnit};
use super::carried::{HostBytes, RequestBytes};
use super::requests::{Host, Part};
use crate::device::dies::Dies;

/// Bytes of the drive outside its dies.
#[derive(Debug)]
pub(crate) struct DataPlane {
    unit_bytes: usize,
    /// Bytes of each core's buffer, slot after slot.
    slots: Vec<Vec<u8>>,
    /// Lost sectors of each slot, one bit each. Bits of sectors that the slot does not hold mean nothing.
    lost: Vec<Vec<u64>>,
    /// Bytes of host requests.
    requests: RequestBytes,
    /// Scratch buffer of one unit.
    unit: Vec<u8>,
    /// Scratch buffer of one page.
    image: PageImage,
    /// Capacitors that keep the buffer's slots through a power cut.
    capacitors: Option<Box<dyn Capacitors>>,
    /// Location of each unit of the gathered program: in the core's slots, or else in `bytes`.
    places: Vec<UnitAt>,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    /// Lost sectors of units on flash, by core and unit, as far as a mark with some was seen since the start.
    lost_units: BTreeMap<(u32, u32), u64>,
}

impl DataPlane {
    pub(crate) fn new(unit_bytes: u64, page_bytes: u64, cores: u32, buffer_units: u32) -> DataPlane {
        let unit_bytes = unit_bytes as usize;
        DataPlane {
            unit_bytes,
            slots: vec![vec![0; buffer_units as usize * unit_bytes]; cores as usize],
            lost: vec![vec![0; buffer_units as usize]; cores as usize],
            requests: RequestBytes::default(),
            unit: vec![0; unit_bytes],
            image: PageImage::new(page_bytes as usize, page_bytes as usize / unit_bytes),
            capacitors: None,
            places: Vec::new(),
            bytes: Vec::new(),
            marks: Vec::new(),
            lost_units: BTreeMap::new(),
        }
    }

    /// Contents of the program that `core` has just gathered. Bytes in a slot are not copied before the die takes them in, so no slot may be filled in
    /// between.
    pub(crate) fn gathered(&self, core: u32) -> Contents<'_> {
        Contents::scattered([&self.slots[core as usize], &self.bytes], &self.places, self.unit_bytes, &self.marks)
    }

    fn slot(&mut self, core: u32, slot: u32) -> &mut [u8] {
        &mut self.slots[core as usize][slot as usize * self.unit_bytes..][..self.unit_bytes]
    }

    /// Update the set of units with lost sectors after units with `marks` were programmed.
    fn note_lost(&mut self, core: u32, marks: &[Mark]) {
        if self.lost_units.is_empty() && marks.iter().all(|mark| mark.lost == 0) {
            return;
        }
        for mark in marks {
            if mark.lost == 0 {
                self.lost_units.remove(&(core, mark.lpn.0))
            } else {
                self.lost_units.insert((core, mark.lpn.0), mark.lost)
            };
        }
    }

    /// Units, by core, whose mark on flash has lost sectors, as far as it was seen since the start.
    pub(crate) fn lost_units(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.lost_units.keys().copied()
    }

    /// Lost sectors of unit `lpn` on flash, as far as its mark was seen since the start.
    pub(crate) fn lost_of(&self, core: u32, lpn: u32) -> u64 {
        if self.lost_units.is_empty() { 0 } else { self.lost_units.get(&(core, lpn)).copied().unwrap_or(0) }
    }

    /// Note that the mark of unit `lpn` on flash has these lost sectors.
    pub(crate) fn found_lost(&mut self, core: u32, lpn: u32, lost: u64) {
        self.lost_units.insert((core, lpn), lost);
    }

    /// Lost sectors of `slot`. Bits of sectors that the slot does not hold mean nothing.
    pub(crate) fn lost_in(&self, core: u32, slot: u32) -> u64 {
        self.lost[core as usize][slot as usize]
    }

    /// All sectors of a unit.
    pub(crate) fn whole(&self) -> u64 {
        bits(0..(self.unit_bytes as u64 / SECTOR_BYTES))
    }

    /// Hand the content of `slot` to the capacitors.
    fn keep(&mut self, core: u32, slot: u32, held: Held) {
        if let Some(capacitors) = &mut self.capacitors {
            let (at, lost) = (slot as usize * self.unit_bytes, self.lost[core as usize][slot as usize]);
            let bytes = &self.slots[core as usize][at..at + self.unit_bytes];
            let Held { lpn, version, mask } = held;
            capacitors.keep(BufferSlot { core, slot }, HeldUnit { lpn, version, mask, lost: lost & mask }, bytes);
        }
    }

    /// Connect `capacitors`, which keep the buffers from now on.
    pub(crate) fn connect(&mut self, capacitors: Box<dyn Capacitors>) {
        self.capacitors = Some(capacitors);
    }

    /// Unit that capacitors have kept in `slot` of `core`, for a core that wakes up.
    pub(crate) fn kept(&mut self, core: u32, slot: u32) -> Option<Held> {
        self.capacitors.as_mut()?.kept(BufferSlot { core, slot }).map(|HeldUnit { lpn, version, mask, .. }| Held { lpn, version, mask })
    }

    /// Read into `bytes` the fact that capacitors have kept at place `index` of `core`.
    pub(crate) fn kept_fact(&mut self, core: u32, index: u32, bytes: &mut Vec<u8>) -> bool {
        self.capacitors.as_mut().is_some_and(|capacitors| capacitors.kept_fact(core, index, bytes))
    }

    /// Restore the bytes of `slot` of `core` from the capacitors.
    pub(crate) fn restore(&mut self, core: u32, slot: u32) {
        let Some(mut capacitors) = self.capacitors.take() else { return };
        let at = BufferSlot { core, slot };
        let known = capacitors.kept(at).map(|unit| unit.lost);
        let is_sound = capacitors.bytes(at, self.slot(core, slot));
        self.lost[core as usize][slot as usize] = known.filter(|_| is_sound).unwrap_or(self.whole());
        self.capacitors = Some(capacitors);
    }

    /// True if the read covers a lost sector.
    pub(crate) fn is_spoiled(&self, slot: RequestId) -> bool {
        self.requests.is_spoiled(slot)
    }

    /// Brings the `bytes` of the request that arrives in `slot`.
    pub(crate) fn bring(&mut self, slot: RequestId, bytes: HostBytes) {
        self.requests.bring(slot, bytes);
    }

    /// Bytes that the completed read `read` returns, if there are any.
    pub(crate) fn bytes_of(&self, read: RequestId) -> Option<&[u8]> {
        self.requests.bytes(read)
    }

    /// First lost sector of the read in `slot`, counted from its first.
    pub(crate) fn first_lost(&self, read: RequestId) -> Option<u32> {
        self.requests.first_lost(read)
    }

    /// Frees the bytes of `request`.
    pub(crate) fn let_go(&mut self, request: RequestId) {
        self.requests.let_go(request);
    }

    /// Frees the bytes of the completed `write` and returns their buffer.
    pub(crate) fn take_bytes(&mut self, write: RequestId) -> Vec<u8> {
        self.requests.take(write)
    }

    /// Memory in bytes that requests hold, and that buffers hold for the next ones.
    pub(crate) fn request_bytes(&self) -> usize {
        self.requests.held()
    }

    /// Fills the `part` of a read with the present bytes of its units.
    #[cold]
    pub(crate) fn resolve(&mut self, part: &Part, host: &Host, ftl: &Firmware, dies: &mut Dies) {
        let &Part { slot, core, request } = part;
        let (sector, sectors) = host.extent(slot);
        let unit_sectors = host.units().sectors();
        let length = (u64::from(sectors) * SECTOR_BYTES) as usize;
        let mut unit = std::mem::take(&mut self.unit);
        for lpn in request.lpn..request.lpn + request.units {
            let newest = ftl.newest(lpn);
            let mut lost = self.read_unit((ftl, core, dies), Lpn(lpn), newest.on_flash, &mut unit);
            if newest.is_refused {
                lost = self.whole();
            }
            if let Some((held, mask)) = newest.buffered {
                over(&mut unit, self.slot(core, held), mask);
                lost = (lost & !mask) | (self.lost[core as usize][held as usize] & mask);
            }
            // The sectors of this unit that the request asks for.
            let first = host.stripe().global(core, lpn) * unit_sectors;
            let (from, to) = (first.max(sector), (first + unit_sectors).min(sector + u64::from(sectors)));
            let lost = lost & bits(from - first..to - first);
            if lost != 0 {
                self.requests.spoil(RequestId(slot), (first + u64::from(lost.trailing_zeros()) - sector) as u32);
            }
            let wanted = (from - first) * SECTOR_BYTES..(to - first) * SECTOR_BYTES;
            let at = ((from - sector) * SECTOR_BYTES) as usize;
            let wanted = &unit[wanted.start as usize..wanted.end as usize];
            self.requests.room(RequestId(slot), length)[at..at + wanted.len()].copy_from_slice(wanted);
        }
        self.unit = unit;
    }

    /// Carries out the data steps that the firmware `ftl`, core number `core`, has noted.
    #[cold]
    pub(crate) fn follow(&mut self, core: u32, host: &Host, ftl: &mut Firmware, dies: &mut Dies) {
        while let Some(step) = ftl.next_data_step() {
            match step {
                DataStep::Stored { request: part, index, slot, continues, held } => {
                    self.store(core, host, (part, index), (slot, continues));
                    self.keep(core, slot, held);
                }
                DataStep::Completed { slot, held, missing, from } => {
                    let mut unit = std::mem::take(&mut self.unit);
                    let lost = self.read_unit((ftl, core, dies), held.lpn, from, &mut unit);
                    over(self.slot(core, slot), &unit, missing);
                    self.unit = unit;
                    let known = &mut self.lost[core as usize][slot as usize];
                    *known = (*known & !missing) | (lost & missing);
                    self.keep(core, slot, held);
                }
                DataStep::Refused { slot, missing } => {
                    self.slot(core, slot).chunks_exact_mut(SECTOR_BYTES as usize).enumerate().for_each(|(sector, bytes)| {
                        if missing >> sector & 1 == 1 {
                            bytes.fill(0);
                        }
                    });
                    self.lost[core as usize][slot as usize] |= missing;
                }
                DataStep::Kept => {
                    let fact = ftl.take_kept_fact();
                    if let (Some((index, bytes)), Some(capacitors)) = (fact, &mut self.capacitors) {
                        capacitors.keep_fact(core, index, &bytes);
                    }
                }
                DataStep::Register { .. } => unreachable!("a drive that keeps bytes has no keys"),
            }
        }
    }

    /// Store unit `index` of `part` in a slot, over what an older one holds that it continues.
    fn store(&mut self, core: u32, host: &Host, (part, index): (u32, u32), (slot, continues): (u32, Option<u32>)) {
        if let Some(older) = continues {
            let from = older as usize * self.unit_bytes;
            let (bytes, unit) = (&mut self.slots[core as usize], self.unit_bytes);
            bytes.copy_within(from..from + unit, slot as usize * unit);
            let lost = &mut self.lost[core as usize];
            lost[slot as usize] = lost[older as usize];
        }
        let Part { slot: of_host, request, .. } = host.part(part);
        let (sector, sectors) = host.extent(of_host);
        let unit_sectors = host.units().sectors();
        let first = host.stripe().global(core, request.lpn + index) * unit_sectors;
        let (from, to) = (first.max(sector), (first + unit_sectors).min(sector + u64::from(sectors)));
        let source = ((from - sector) * SECTOR_BYTES) as usize..((to - sector) * SECTOR_BYTES) as usize;
        let at = slot as usize * self.unit_bytes + ((from - first) * SECTOR_BYTES) as usize;
        let into = &mut self.slots[core as usize][at..at + source.len()];
        self.requests.give(RequestId(of_host), source, into);
        self.lost[core as usize][slot as usize] &= !bits(from - first..to - first);
    }

    /// Gathers the contents of the program `tag` of `die` that `ftl`, core number `core`, has ordered.
    #[cold]
    pub(crate) fn gather(&mut self, core: u32, (die, tag): (DieId, OpTag), ftl: &mut Firmware, dies: &mut Dies) {
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut marks = std::mem::take(&mut self.marks);
        bytes.clear();
        marks.clear();
        self.places.clear();
        let mut unreadable = Vec::new();
        let brought = ftl.load(die, tag);
        for (carried, &lpn) in brought.units().zip(brought.oob) {
            self.places.push(match carried {
                Carried::Buffered { slot, .. } => UnitAt { is_second: false, at: slot as usize * self.unit_bytes },
                Carried::Moved { .. } | Carried::Padding | Carried::Metadata { .. } => UnitAt { is_second: true, at: bytes.len() },
            });
            match carried {
                Carried::Buffered { slot, version, attributes } => {
                    marks.push(Mark { lpn, version, lost: self.lost[core as usize][slot as usize], insecure: !attributes.secure });
                }
                Carried::Moved { from } => {
                    let (unit, is_sound) = load((ftl, core, dies), (lpn, from), &mut self.image);
                    let at = unit * self.unit_bytes;
                    bytes.extend_from_slice(&self.image.bytes[at..at + self.unit_bytes]);
                    if is_sound {
                        marks.push(self.image.marks[unit]);
                    } else {
                        unreadable.push(marks.len());
                        marks.push(Mark { lpn, version: 0, lost: self.whole(), insecure: false });
                    }
                }
                Carried::Padding => {
                    bytes.resize(bytes.len() + self.unit_bytes, 0);
                    marks.push(Mark::NOTHING);
                }
                Carried::Metadata { kind, unit, version } => {
                    bytes.extend_from_slice(ftl.metadata_bytes(kind, unit));
                    marks.push(Mark { lpn, version, lost: 0, insecure: false });
                }
            }
        }
        // With the bytes went their mark. Copies from before are older all the same, and must not come back.
        for index in unreadable {
            marks[index].version = ftl.version_of_lost(marks[index].lpn.0);
        }
        ftl.note_marks(die, &marks);
        self.note_lost(core, &marks);
        (self.bytes, self.marks) = (bytes, marks);
    }

    /// Hands the firmware `ftl`, core number `core`, the marks that the copyback from `from`, just ordered on `die`, carries. It copies this number of
    /// `pages`.
    #[cold]
    pub(crate) fn gather_copyback(&mut self, core: u32, (die, from, pages): (DieId, &Target, u32), ftl: &mut Firmware, dies: &mut Dies) {
        let mut marks = std::mem::take(&mut self.marks);
        marks.clear();
        let chip = dies.of_mut(core, die);
        for page in 0..pages as u16 {
            for plane in from.planes.iter() {
                let is_readable = chip.contents(plane, from.block(plane), PageId(from.page.0 + page), &mut self.image);
                match is_readable {
                    true => marks.extend_from_slice(&self.image.marks),
                    false => marks.extend(self.image.marks.iter().map(|_| Mark::NOTHING)),
                }
            }
        }
        ftl.note_marks(die, &marks);
        self.marks = marks;
    }

    /// Read unit `lpn` at `addr` into `unit`; zeroes, if `addr` is no address. Returns its lost sectors.
    fn read_unit(&mut self, at: (&Firmware, u32, &mut Dies), lpn: Lpn, addr: UnitAddr, unit: &mut [u8]) -> u64 {
        if addr == UnitAddr::NONE {
            unit.fill(0);
            return 0;
        }
        let image = &mut self.image;
        let (index, is_sound) = load(at, (lpn, addr), image);
        unit.copy_from_slice(&image.bytes[index * unit.len()..][..unit.len()]);
        if is_sound { image.marks[index].lost } else { bits(0..unit.len() as u64 / SECTOR_BYTES) }
    }

    /// Mark of the unit `lpn` of `ftl`, core number `core`, on flash.
    pub(crate) fn mark_of(&self, core: u32, lpn: u32, ftl: &Firmware, dies: &mut Dies) -> Option<Mark> {
        let addr = ftl.map().get(lpn);
        if addr == UnitAddr::NONE {
            return None;
        }
        let mut image = self.image.clone();
        let (unit, _) = load((ftl, core, dies), (Lpn(lpn), addr), &mut image);
        debug_assert_eq!(image.marks[unit].lpn, Lpn(lpn));
        Some(image.marks[unit])
    }
}

/// True if a request of the kind of `request` brings `bytes` of this kind and number.
pub(crate) fn is_fit(request: &HostRequest, bytes: &HostBytes) -> bool {
    match (bytes, request.op) {
        (HostBytes::These(bytes), HostOp::Write) => bytes.len() as u64 == u64::from(request.sectors) * SECTOR_BYTES,
        (HostBytes::Zeroes, HostOp::Write) => true,
        (HostBytes::None, HostOp::Read | HostOp::Flush | HostOp::Trim | HostOp::Hint) => true,
        (HostBytes::These(_) | HostBytes::Zeroes | HostBytes::None, _) => false,
    }
}

/// Load the unit `lpn` at `addr`, and the marks of its page. Returns its place in the page, and whether it can be relied on: readable, and with the mark of
/// `lpn`. A program or an erase that was reported well may have done nothing.
fn load((ftl, core, dies): (&Firmware, u32, &mut Dies), (lpn, addr): (Lpn, UnitAddr), image: &mut PageImage) -> (usize, bool) {
    let layout = ftl.layout();
    let group = layout.group(addr);
    let place = layout.place(layout.offset(addr));
    let block = BlockId(u32::from(ftl.groups().blocks(group)[usize::from(place.plane.0)]));
    let chip = dies.of_mut(core, layout.die(group));
    let is_readable = chip.unit_contents(place.plane, block, place.page, place.unit, image);
    let unit = place.unit as usize;
    (unit, is_readable && image.marks[unit].lpn == lpn)
}

/// Bitmap of the sectors of `range`, counted in its unit.
fn bits(range: Range<u64>) -> u64 {
    let up_to = |end: u64| if end >= 64 { u64::MAX } else { (1 << end) - 1 };
    up_to(range.end) & !up_to(range.start)
}

/// Copy the sectors of `mask` of `from` over those of `to`.
fn over(to: &mut [u8], from: &[u8], mask: u64) {
    let sectors = to.chunks_exact_mut(SECTOR_BYTES as usize).zip(from.chunks_exact(SECTOR_BYTES as usize));
    for (sector, (to, from)) in sectors.enumerate() {
        if mask >> sector & 1 == 1 {
            to.copy_from_slice(from);
        }
    }
}
