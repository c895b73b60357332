//! A drive whose dies kept their bytes: after a power cut, or after a rest.

use wordline_chip::{Chip, Kept, PageImage, Persistent};
use wordline_engine::Observer;
use wordline_flash::Mark;
use wordline_ftl::{BlockRecord, Found, Ftl, PagePlace, Survey};
use wordline_units::{BlockId, DieId, IdMap, PlaneId};

use crate::config::Config;
use crate::drive::Drive;
use crate::stripe::Wiring;

/// The dies of one core, read once, by the firmware that finds itself again and by the dies alike.
struct Waking<'a, P: Persistent> {
    core: u32,
    chips: &'a mut IdMap<DieId, Chip<P>>,
    wiring: &'a Wiring,
    image: PageImage,
}

impl<P: Persistent> Survey for Waking<'_, P> {
    fn block(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> BlockRecord {
        let kept = self.chips[self.wiring.die(self.core, die)].wake_block(plane, block);
        BlockRecord { healthy: !kept.is_bad, erases: kept.erases }
    }

    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found {
        let chip = &mut self.chips[self.wiring.die(self.core, place.die)];
        match chip.wake_page(place.plane, place.block, place.page, &mut self.image) {
            Kept::Erased => Found::Erased,
            Kept::Torn => Found::Torn,
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
}

impl<O: Observer, P: Persistent> Drive<O, P> {
    /// The drive that was running on what `payload` gives its dies, with the same configuration: whatever was durable is back. [`Ftl::recovery`]
    /// says how much was read for it.
    pub fn wake(config: Config, observer: O, payload: impl FnMut(DieId) -> P) -> Drive<O, P> {
        let mut drive = Drive::with_payload(config, observer, payload);
        let geometry = drive.config.sheet.geometry;
        let units = (geometry.page.0 / drive.config.firmware.unit.0) as usize;
        for core in 0..drive.config.cores {
            let Drive { ftls, chips, wiring, .. } = &mut drive;
            let config = ftls[core as usize].config().clone();
            let image = PageImage::new(geometry.page.0 as usize, units);
            let mut waking = Waking { core, chips, wiring, image };
            ftls[core as usize] = Ftl::recover(config, &mut waking);
        }
        for core in 0..drive.config.cores {
            drive.pump(drive.now(), core);
        }
        drive
    }
}
