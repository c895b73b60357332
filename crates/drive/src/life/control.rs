//! Commands for a running drive: locating data, changing its temperature.

use wordline_ftl::UnitAddr;
use wordline_units::{BlockId, Celsius};

use crate::machine::{Machine, Parts};
use crate::place::FlashPlace;
use crate::warmth;

/// Location of the newest data of a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// True if some or all of the unit is in the write buffer.
    pub is_buffered: bool,
    /// Location on flash of the rest of the unit, or of an older version of it.
    pub on_flash: Option<FlashPlace>,
}

/// Locates the mapping unit that holds `sector`.
///
/// # Panics
/// If there is no such sector.
pub(crate) fn locate(machine: &Machine, sector: u64) -> Located {
    assert!(sector < machine.config().exported_units * machine.host().units().sectors(), "sector {sector} is beyond the drive");
    let (core, lpn) = machine.host().stripe().locate(machine.host().units().holding(sector));
    let ftl = &machine.ftls()[core as usize];
    let newest = ftl.newest(lpn);
    let on_flash = (newest.on_flash != UnitAddr::NONE).then(|| {
        let layout = ftl.layout();
        let group = layout.group(newest.on_flash);
        let place = layout.place(layout.offset(newest.on_flash));
        let block = ftl.groups().blocks(group)[usize::from(place.plane.0)];
        FlashPlace {
            die: machine.dies().die(core, layout.die(group)),
            plane: place.plane,
            block: BlockId(u32::from(block)),
            page: place.page,
            unit: place.unit,
        }
    });
    Located { is_buffered: newest.buffered.is_some(), on_flash }
}

/// Sets the temperature of the drive, which the board's sensor reports to its firmware. Returns false, without effect, if the cells have no physics.
pub(crate) fn set_temperature(machine: &mut Machine, temperature: Celsius) -> bool {
    let now = machine.now();
    let Parts { ftls, device, .. } = machine.parts();
    warmth::set(temperature, now, ftls, device.dies_mut())
}
