//! Single failures of flash, and what a start makes of each.

use wordline_ftl::{Firmware, Request, UnitAddr};
use wordline_units::HostOp;

use super::super::ledger::LOST;
use super::super::ledger::Ledger;
use super::super::nand::{Bytes, Harm, Look, Nand, Page};
use super::super::price::Price;
use super::checks::place_of;
use super::{World, over};
use crate::cut::Extent;
use crate::pace::BLANK;

/// Steps of a stop after which it is taken for endless.
const STEPS: u64 = 1_000_000;

impl World {
    /// An orderly stop: everything is on flash, and the power goes when the core says so.
    pub fn stop(&mut self) -> Result<(), String> {
        if self.worn_out {
            return Ok(());
        }
        self.ftl.drain(true);
        self.requests += 1;
        self.submit(Request { id: self.requests, op: HostOp::Flush, ..BLANK });
        while !self.asked.is_empty() && !self.worn_out && self.broken.is_none() {
            self.step();
        }
        while !self.ftl.is_at_rest() && !self.ftl.waits_for_timers_only() && !self.worn_out && self.broken.is_none() {
            self.step();
        }
        self.ftl.drain(false);
        self.ftl.go_down(self.pace.now);
        self.pump();
        let mut steps = 0;
        while !self.ftl.is_down() && !self.worn_out && self.broken.is_none() {
            self.step();
            steps += 1;
            if steps > STEPS {
                return Err(format!("a stop does not end: {}", self.groups()));
            }
        }
        self.broken.take().map_or(Ok(()), Err)
    }

    /// Contents that units may hold now.
    pub(in crate::cut) fn ledger(&self) -> Ledger {
        self.ledger.clone()
    }

    /// Try every single failure of these `extents` on a copy of the flash, right after a start. `before` is what units might hold when the power went.
    ///
    /// # Errors
    /// A unit that reads as something older than what was flushed.
    pub(in crate::cut) fn price(&self, before: &Ledger, extents: &[Extent]) -> Result<Price, String> {
        let mut price = Price::default();
        for harm in self.nand.harms().into_iter().filter(|harm| extents.contains(&harm.extent())) {
            let mut nand = self.nand.clone();
            nand.fail(harm);
            let (owed, over) = self.price_of(harm, &nand, before)?;
            price.note(harm, owed, over);
        }
        Ok(price)
    }

    /// Number of units that fail after `harm` and had lain there, and of those that fail and had not.
    fn price_of(&self, harm: Harm, nand: &Nand, before: &Ledger) -> Result<(u64, u64), String> {
        let mut look = Look { nand, kept: &self.kept, kept_facts: &self.kept_facts, register: self.register[0], bug: self.bug };
        let ftl = Firmware::recover(self.scenario.config.clone(), &mut look);
        let (mut owed, mut over) = (0, 0);
        for lpn in 0..ftl.map().exported() {
            let found = self.read_by(&ftl, nand, lpn);
            let expected = self.read_by(&self.ftl, &self.nand, lpn);
            if found == expected {
                continue;
            }
            if found.contains(&LOST) {
                let lies_there = |ftl: &Firmware| {
                    let addr = ftl.map().get(lpn);
                    addr != UnitAddr::NONE && harm.reaches(place_of(ftl, addr)) && self.read_by(ftl, &self.nand, lpn) == expected
                };
                // Of copies of one version each start may choose another.
                let lay_there = lies_there(&self.ftl) || lies_there(&ftl);
                *(if lay_there { &mut owed } else { &mut over }) += 1;
            } else if !before.allows(lpn, &found) {
                return Err(format!("{harm:?}: unit {lpn} reads as {found:?}, and as {expected:?} without; {:?}", ftl.recovery()));
            }
        }
        Ok((owed, over))
    }

    /// Contents that `lpn` reads as from `nand`, by the tables of `ftl`.
    fn read_by(&self, ftl: &Firmware, nand: &Nand, lpn: u32) -> Vec<u32> {
        let (newest, sectors) = (ftl.newest(lpn), self.sectors() as usize);
        let lost = vec![LOST; sectors];
        let mut found = if newest.is_refused {
            lost
        } else if newest.on_flash == UnitAddr::NONE {
            vec![0; sectors]
        } else {
            let unit = ftl.layout().place(ftl.layout().offset(newest.on_flash)).unit as usize;
            match nand.page(place_of(ftl, newest.on_flash)) {
                Page::Whole(units) => match &units[unit].bytes {
                    Bytes::Sectors(sectors) => sectors.to_vec(),
                    Bytes::Nothing | Bytes::Journal(_) | Bytes::Lost => lost,
                },
                Page::Lost(_) | Page::Gone | Page::Torn(_) | Page::Erased => lost,
            }
        };
        if let Some((slot, mask)) = newest.buffered {
            match &self.kept[slot as usize] {
                Some(kept) => over(&mut found, &kept.sectors, mask),
                None => found.fill(LOST),
            }
        }
        found
    }
}
