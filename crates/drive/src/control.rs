//! Commands for a running drive: locating data, sparing wordlines, changing its temperature.

use wordline_ftl::{BlockGroup, UnitAddr};
use wordline_units::{BlockId, Celsius, DieId, PageId, PlaneId, WordlineSet};

use crate::drive::Drive;

/// Location of the newest data of a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// True if some or all of the unit is in the write buffer.
    pub is_buffered: bool,
    /// Location on flash of the rest of the unit, or of an older version of it.
    pub on_flash: Option<FlashPlace>,
}

/// Location of a mapping unit on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlashPlace {
    /// The die, counted over the drive.
    pub die: DieId,
    /// The plane.
    pub plane: PlaneId,
    /// The block in the plane.
    pub block: BlockId,
    /// The page, in program order.
    pub page: PageId,
    /// The mapping unit in the page.
    pub unit: u32,
}

impl Drive {
    /// Locates the mapping unit that holds `sector`.
    ///
    /// # Panics
    /// If there is no such sector.
    pub fn locate(&self, sector: u64) -> Located {
        assert!(sector < self.config.exported_units * self.units.sectors(), "sector {sector} is beyond the drive");
        let (core, lpn) = self.stripe.locate(self.units.holding(sector));
        let ftl = &self.ftls[core as usize];
        let newest = ftl.newest(lpn);
        let on_flash = (newest.on_flash != UnitAddr::NONE).then(|| {
            let layout = ftl.layout();
            let group = layout.group(newest.on_flash);
            let place = layout.place(layout.offset(newest.on_flash));
            let block = ftl.groups().blocks(group)[usize::from(place.plane.0)];
            FlashPlace {
                die: self.wiring.die(core, layout.die(group)),
                plane: place.plane,
                block: BlockId(u32::from(block)),
                page: place.page,
                unit: place.unit,
            }
        });
        Located { is_buffered: newest.buffered.is_some(), on_flash }
    }

    /// True if `die` has failed as a whole.
    pub fn is_dead(&self, die: DieId) -> bool {
        self.chips[die].is_dead()
    }

    /// Orders the next erase of `group` of `core` to spare `wordlines`: see [`wordline_ftl::Firmware::spare_next`].
    ///
    /// # Panics
    /// If there is no such core or group.
    pub fn spare_next(&mut self, core: u32, group: BlockGroup, wordlines: WordlineSet) -> Result<(), &'static str> {
        self.ftls[core as usize].spare_next(group, wordlines)
    }

    /// Sets the temperature of the drive, which the board's sensor tells its firmware. Returns false, without effect, if the cells have no physics.
    pub fn set_temperature(&mut self, temperature: Celsius) -> bool {
        let now = self.now();
        let mut is_felt = false;
        for die in 0..self.config.sheet.geometry.dies() {
            is_felt |= self.chips[DieId(die as u16)].set_temperature(temperature, now);
        }
        if is_felt {
            self.ftls.iter_mut().for_each(|ftl| ftl.warmth(now, temperature));
        }
        is_felt
    }

    /// Temperature of the cells, if they have physics.
    pub fn temperature(&self) -> Option<Celsius> {
        self.chips[DieId(0)].temperature()
    }
}
