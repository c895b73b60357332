//! Waking a drive whose dies kept their bytes: after a power cut, or after a rest.

use wordline_chip::{Chip, Kept, PageImage, Persistent};
use wordline_engine::Observer;
use wordline_flash::Mark;
use wordline_ftl::{BlockRecord, Firmware, FlashReader, Found, Held, PagePlace};
use wordline_units::{BlockId, DieId, IdMap, Nanos, PlaneId};

use crate::capacitors::Capacitors;
use crate::config::Config;
use crate::data::DataPlane;
use crate::drive::Drive;
use crate::stripe::Wiring;

/// Dies of one core, read once for both the firmware's recovery and the dies themselves.
struct Waking<'a, P: Persistent> {
    core: u32,
    chips: &'a mut IdMap<DieId, Chip<P>>,
    wiring: &'a Wiring,
    data: &'a mut Option<Box<DataPlane>>,
    image: PageImage,
}

impl<P: Persistent> FlashReader for Waking<'_, P> {
    fn block(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> BlockRecord {
        let kept = self.chips[self.wiring.die(self.core, die)].wake_block(plane, block);
        BlockRecord { healthy: !kept.is_bad, erases: kept.erases, is_torn: kept.is_torn }
    }

    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found {
        let chip = &mut self.chips[self.wiring.die(self.core, place.die)];
        if chip.is_faulty(place.plane, place.block, place.page) {
            // It reads as noise.
            return Found::Torn;
        }
        match chip.wake_page(place.plane, place.block, place.page, &mut self.image) {
            Kept::Erased => Found::Erased,
            Kept::Torn => Found::Torn,
            Kept::Sanitised(_) => Found::Gone,
            Kept::Whole => {
                marks.extend_from_slice(&self.image.marks);
                Found::Whole
            }
        }
    }

    fn bytes(&mut self, place: PagePlace, bytes: &mut Vec<u8>) {
        self.chips[self.wiring.die(self.core, place.die)].contents(place.plane, place.block, place.page, &mut self.image);
        bytes.clone_from(&self.image.bytes);
    }

    fn held(&mut self, slot: u32) -> Option<Held> {
        self.data.as_mut()?.kept(self.core, slot)
    }

    fn kept_fact(&mut self, index: u32, bytes: &mut Vec<u8>) -> bool {
        self.data.as_mut().is_some_and(|data| data.kept_fact(self.core, index, bytes))
    }
}

impl<O: Observer, P: Persistent> Drive<O, P> {
    /// Recovers the drive, with the same configuration, from what `payload` gives its dies and what `capacitors` have kept: everything that was durable is
    /// back. [`Firmware::recovery`] tells how much was read for it.
    pub fn wake(config: Config, observer: O, payload: impl FnMut(DieId) -> P, capacitors: Option<Box<dyn Capacitors>>) -> Drive<O, P> {
        let mut drive = Drive::assemble(config, observer, payload);
        capacitors.into_iter().for_each(|capacitors| drive.connect(capacitors));
        drive.chips.iter_mut().for_each(|(_, chip)| chip.wake_failures());
        let geometry = drive.config.sheet.geometry;
        let units = (geometry.page.0 / drive.config.firmware.unit.0) as usize;
        for core in 0..drive.config.cores {
            let Drive { ftls, chips, wiring, data, .. } = &mut drive;
            let config = ftls[core as usize].config().clone();
            let image = PageImage::new(geometry.page.0 as usize, units);
            let mut waking = Waking { core, chips, wiring, data, image };
            ftls[core as usize] = Firmware::recover(config, &mut waking);
            if let Some(data) = data {
                ftls[core as usize].slots_in_use().for_each(|slot| data.restore(core, slot));
            }
        }
        for core in 0..drive.config.cores {
            let Drive { config, ftls, .. } = &mut drive;
            config.cells.iter().for_each(|cells| ftls[core as usize].warmth(Nanos::ZERO, cells.temperature));
            drive.pump(drive.now(), core);
        }
        drive
    }
}
