//! What a person may ask of a drive that runs, and do to it: where data lies, heat, a die that fails.

use wordline_chip::Payload;
use wordline_engine::Observer;
use wordline_ftl::UnitAddr;
use wordline_units::{BlockId, Celsius, DieId, PageId, PlaneId};

use crate::drive::Drive;

/// Where the newest data of a mapping unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// Some of it, or all, is in the write buffer.
    pub is_buffered: bool,
    /// The rest of it, or an older version of it, is on flash.
    pub on_flash: Option<FlashPlace>,
}

/// A mapping unit on flash.
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

impl<O: Observer, P: Payload> Drive<O, P> {
    /// Where the mapping unit that holds `sector` is.
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

    /// `die` fails from now on: no program or erase that begins succeeds, no page of it can be read. The firmware hears of it as it would of a real one, by the
    /// reports of what it orders.
    ///
    /// # Panics
    /// If there is no such die.
    pub fn kill_die(&mut self, die: DieId) {
        self.chips[die].kill();
    }

    /// Whether `die` was killed.
    pub fn is_dead(&self, die: DieId) -> bool {
        self.chips[die].is_dead()
    }

    /// The drive is at `temperature` from now on. Nothing comes of it, and false is returned, where its cells have no physics.
    pub fn set_temperature(&mut self, temperature: Celsius) -> bool {
        let now = self.now();
        let mut is_felt = false;
        for die in 0..self.config.sheet.geometry.dies() {
            is_felt |= self.chips[DieId(die as u16)].set_temperature(temperature, now);
        }
        is_felt
    }

    /// The temperature of its cells, where they have physics.
    pub fn temperature(&self) -> Option<Celsius> {
        self.chips[DieId(0)].temperature()
    }
}
