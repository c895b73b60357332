//! What is compared: flash with tables, recovery with a full scan, what units hold with what was written.

use std::rc::Rc;

use wordline_ftl::{Firmware, Layout, PagePlace, Trust, UnitAddr};
use wordline_units::{BlockId, Lpn};

use super::super::ledger::LOST;
use super::super::nand::{Bytes, Page};
use super::{World, over};

impl World {
    /// Without the checkpoint, by all marks, the same comes out.
    pub(super) fn compare_with_scan(&self) -> Result<(), String> {
        let scanned = Firmware::recover_by(self.scenario.config.clone(), &mut self.flash_reader(), Trust::Marks);
        let mark = |ftl: &Firmware, lpn| {
            let addr = ftl.map().get(lpn);
            (addr != UnitAddr::NONE).then(|| match self.nand.page(place_of(ftl, addr)) {
                Page::Whole(units) => Ok(units[ftl.layout().place(ftl.layout().offset(addr)).unit as usize].mark),
                page @ (Page::Erased | Page::Torn(_) | Page::Gone | Page::Lost(_)) => Err(page.clone()),
            })
        };
        for lpn in 0..self.ftl.map().exported() {
            let with_buffer = |ftl: &Firmware| {
                let on_flash = mark(ftl, lpn);
                // Of copies of one version each recovery may choose another, and what only that page tells of is in the buffer once more. So what the buffer
                // repeats must be that version and those bytes, sector by sector.
                let repeats = |slot: u32| {
                    let Some(kept) = &self.kept[slot as usize] else { return false };
                    let is_same = |mark: &wordline_flash::Mark| mark.version == kept.held.version;
                    let sectors = self.sectors_of(ftl, lpn);
                    let held = (0..kept.sectors.len()).filter(|sector| kept.held.mask >> sector & 1 == 1);
                    on_flash.as_ref().and_then(|found| found.as_ref().ok()).is_some_and(is_same)
                        && sectors.is_some_and(|sectors| held.into_iter().all(|sector| sectors[sector] == kept.sectors[sector]))
                };
                let buffered = ftl.newest(lpn).buffered.filter(|&(slot, _)| !repeats(slot));
                (on_flash, buffered)
            };
            let (found, expected) = (with_buffer(&self.ftl), with_buffer(&scanned));
            let is_lost = |ftl: &Firmware, found: &Option<_>| ftl.is_refused(lpn) || matches!(found, Some(Err(_)));
            if self.rot.is_some() && (is_lost(&self.ftl, &found.0) || is_lost(&scanned, &expected.0)) {
                continue;
            }
            // A trim, or what has failed, may be in the checkpoint of a map log before it is in a record: of what no flush has covered each may find another
            // state, and only such.
            let is_open = |ftl: &Firmware| self.ledger.allows(lpn, &self.content_of(ftl, lpn));
            if found != expected && self.scenario.config.has_twins() && is_open(&self.ftl) && is_open(&scanned) {
                continue;
            }
            if found != expected {
                let at = |ftl: &Firmware| (ftl.map().get(lpn) != UnitAddr::NONE).then(|| place_of(ftl, ftl.map().get(lpn)));
                return Err(format!(
                    "unit {lpn} is recovered as {found:?} at {:?}, and without the checkpoint as {expected:?} at {:?}; it may hold {}; {:?}",
                    at(&self.ftl),
                    at(&scanned),
                    self.ledger.states(lpn),
                    self.ftl.recovery()
                ));
            }
        }
        Ok(())
    }

    /// Sectors of `lpn` by the tables of `ftl`; zeroes where it holds nothing.
    fn content_of(&self, ftl: &Firmware, lpn: u32) -> Vec<u32> {
        let zeroes = || vec![0; self.sectors() as usize].into();
        let mut sectors = self.sectors_of(ftl, lpn).unwrap_or_else(zeroes).to_vec();
        if let Some((slot, mask)) = ftl.newest(lpn).buffered
            && let Some(kept) = &self.kept[slot as usize]
        {
            over(&mut sectors, &kept.sectors, mask);
        }
        sectors
    }

    /// What the sectors of `lpn` hold where the map of `ftl` leads, if that page can be read.
    fn sectors_of(&self, ftl: &Firmware, lpn: u32) -> Option<Rc<[u32]>> {
        let addr = ftl.map().get(lpn);
        if addr == UnitAddr::NONE {
            return None;
        }
        let Page::Whole(units) = self.nand.page(place_of(ftl, addr)) else { return None };
        match &units[ftl.layout().place(ftl.layout().offset(addr)).unit as usize].bytes {
            Bytes::Sectors(sectors) => Some(sectors.clone()),
            Bytes::Nothing | Bytes::Journal(_) | Bytes::Lost => None,
        }
    }

    pub(super) fn audit(&self) -> Result<(), String> {
        let unit_at = |addr| self.ftl.layout().place(self.ftl.layout().offset(addr)).unit as usize;
        self.ftl.audit(|addr| match self.nand.page(self.place(addr)) {
            Page::Whole(units) => units[unit_at(addr)].mark.lpn,
            Page::Lost(units) if units[unit_at(addr)].bytes != Bytes::Lost => units[unit_at(addr)].mark.lpn,
            // What made it stale is lost, and so is it.
            Page::Gone | Page::Torn(_) | Page::Lost(_) if self.rot.is_some() => {
                let map = self.ftl.map();
                Lpn((0..map.exported()).find(|&lpn| map.get(lpn) == addr).unwrap_or(u32::MAX))
            }
            Page::Erased | Page::Torn(_) | Page::Gone | Page::Lost(_) => Lpn(u32::MAX),
        })
    }

    /// Every unit holds what was written last.
    pub(super) fn look(&self) -> Result<(), String> {
        self.audit()?;
        (0..self.ftl.map().exported()).try_for_each(|lpn| self.look_at(lpn))
    }

    pub(super) fn look_at(&self, lpn: u32) -> Result<(), String> {
        let sectors = self.newest(lpn)?;
        if sectors[..] == self.ledger.latest(lpn)[..] {
            Ok(())
        } else {
            Err(format!("unit {lpn} reads as {sectors:?}; last written was {:?}", self.ledger.latest(lpn)))
        }
    }

    /// The newest sectors of `lpn`, out of the buffer and off the flash.
    pub(super) fn newest(&self, lpn: u32) -> Result<Vec<u32>, String> {
        let newest = self.ftl.newest(lpn);
        let mut sectors = if newest.is_refused { vec![LOST; self.sectors() as usize] } else { self.on_flash(newest.on_flash)?.to_vec() };
        if let Some((slot, mask)) = newest.buffered {
            over(&mut sectors, &self.slots[slot as usize], mask);
        }
        Ok(sectors)
    }

    pub(super) fn place(&self, addr: UnitAddr) -> PagePlace {
        place_of(&self.ftl, addr)
    }

    pub(super) fn on_flash(&self, addr: UnitAddr) -> Result<Rc<[u32]>, String> {
        let sectors = self.sectors() as usize;
        if addr == UnitAddr::NONE {
            return Ok(vec![0; sectors].into());
        }
        let layout: &Layout = self.ftl.layout();
        let unit = layout.place(layout.offset(addr)).unit as usize;
        match self.nand.page(self.place(addr)) {
            Page::Whole(units) if units[unit].key.is_some_and(|key| self.opened.as_ref().is_some_and(|opened| !opened.has(key))) => {
                Err(format!("{addr:?} is encrypted with {:?}, which is gone", units[unit].key))
            }
            Page::Whole(units) => match &units[unit].bytes {
                Bytes::Sectors(sectors) => Ok(sectors.clone()),
                bytes @ (Bytes::Nothing | Bytes::Journal(_) | Bytes::Lost) => Err(format!("{addr:?} holds {bytes:?}")),
            },
            Page::Lost(_) => Ok(vec![LOST; sectors].into()),
            Page::Gone | Page::Torn(_) if self.rot.is_some() => Ok(vec![LOST; sectors].into()),
            page @ (Page::Erased | Page::Torn(_) | Page::Gone) => Err(format!("{addr:?} is {page:?}")),
        }
    }
}

pub(super) fn place_of(ftl: &Firmware, addr: UnitAddr) -> PagePlace {
    let layout = ftl.layout();
    let group = layout.group(addr);
    let place = layout.place(layout.offset(addr));
    let block = BlockId(u32::from(ftl.groups().blocks(group)[usize::from(place.plane.0)]));
    PagePlace { die: layout.die(group), plane: place.plane, block, page: place.page }
}
