//! Waking a drive whose dies kept their bytes: after a power cut, or after a rest.

use wordline_chip::{Kept, PageImage};
use wordline_flash::Mark;
use wordline_ftl::{BlockRecord, Firmware, FlashReader, Found, Held, PagePlace, Trust, UnitAddr};
use wordline_units::{BlockId, DieId, Lpn, Nanos, PlaneId};

use crate::config::Config;
use crate::device::dies::{Dies, PayloadOf};
use crate::events::Events;
use crate::host::capacitors::Capacitors;
use crate::host::data::DataPlane;
use crate::machine::{Machine, Parts};

/// Dies of one core, read once for both the firmware's recovery and the dies themselves.
struct Waking<'a> {
    core: u32,
    dies: &'a mut Dies,
    data: &'a mut Option<Box<DataPlane>>,
    image: PageImage,
    /// Units whose marks have lost sectors, where they lie.
    lost: Vec<(PagePlace, u32, Mark)>,
}

impl FlashReader for Waking<'_> {
    fn block(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> BlockRecord {
        let kept = self.dies.of_mut(self.core, die).wake_block(plane, block);
        BlockRecord { healthy: !kept.is_bad, erases: kept.erases, is_torn: kept.is_torn }
    }

    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found {
        let chip = self.dies.of_mut(self.core, place.die);
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
                self.lost.extend((0..).zip(marks.iter()).filter(|(_, mark)| mark.lost != 0).map(|(unit, mark)| (place, unit, *mark)));
                Found::Whole
            }
        }
    }

    fn bytes(&mut self, place: PagePlace, bytes: &mut Vec<u8>) {
        self.dies.of_mut(self.core, place.die).contents(place.plane, place.block, place.page, &mut self.image);
        bytes.clone_from(&self.image.bytes);
    }

    fn held(&mut self, slot: u32) -> Option<Held> {
        self.data.as_mut()?.kept(self.core, slot)
    }

    fn kept_fact(&mut self, index: u32, bytes: &mut Vec<u8>) -> bool {
        self.data.as_mut().is_some_and(|data| data.kept_fact(self.core, index, bytes))
    }
}

/// Recovers the drive from what `payload` gives its dies and what `capacitors` have kept, with the evidence that `trust` accepts.
pub(crate) fn wake(
    config: Config,
    events: Events,
    payload: &mut PayloadOf<'_>,
    capacitors: Option<Box<dyn Capacitors>>,
    trust: Trust,
) -> Machine {
    let mut machine = Machine::assemble(config, events, payload);
    if let (Some(capacitors), Some(data)) = (capacitors, machine.data_mut()) {
        data.connect(capacitors);
    }
    machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.wake_failures());
    let Parts { config, ftls, device, data } = machine.parts();
    let geometry = config.sheet.geometry;
    let units = (geometry.page.0 / config.firmware.unit.0) as usize;
    for (core, ftl) in (0..).zip(ftls) {
        let config = ftl.config().clone();
        let image = PageImage::new(geometry.page.0 as usize, units);
        let mut waking = Waking { core, dies: device.dies_mut(), data, image, lost: Vec::new() };
        *ftl = Firmware::recover_by(config, &mut waking, trust);
        let lost = waking.lost;
        if let Some(data) = data {
            ftl.slots_in_use().for_each(|slot| data.restore(core, slot));
            let newest = lost.into_iter().filter(|(place, unit, mark)| lies_at(ftl, mark.lpn, place, *unit));
            newest.for_each(|(.., mark)| data.found_lost(core, mark.lpn.0, mark.lost));
        }
    }
    machine.warm_after(Nanos::ZERO);
    for core in 0..machine.config().cores {
        let Parts { config, ftls, .. } = machine.parts();
        config.cells.iter().for_each(|cells| ftls[core as usize].warmth(Nanos::ZERO, cells.temperature));
        machine.pump(machine.now(), core);
    }
    machine
}

/// True if the newest copy of `lpn` on flash is unit `unit` of the page at `place`.
fn lies_at(ftl: &Firmware, lpn: Lpn, place: &PagePlace, unit: u32) -> bool {
    if lpn.0 >= ftl.map().exported() || ftl.map().get(lpn.0) == UnitAddr::NONE {
        return false;
    }
    let (layout, addr) = (ftl.layout(), ftl.map().get(lpn.0));
    let (group, there) = (layout.group(addr), layout.place(layout.offset(addr)));
    let block = ftl.groups().blocks(group)[usize::from(there.plane.0)];
    (layout.die(group), there.plane, there.page, there.unit) == (place.die, place.plane, place.page, unit)
        && u32::from(block) == place.block.0
}
