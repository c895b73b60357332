//! Rules of size: the mapping unit, the shares of the cores, the buffer, and whether what the host sees leaves the firmware room to work.

use wordline_drive::Config;
use wordline_units::{Bytes, Geometry};

use super::techniques;
use crate::keys::filled::Sections;
use crate::kind::{Kind, Share};
use crate::layer::Mistakes;
use crate::quantity::WHOLE;
use crate::words::WordlineOrder;

/// With every group either full or open, no move would ever free one.
const SLACK: u64 = 1;
/// The firmware keeps one bit for each 512-byte sector of a buffered unit in a word of 64.
const UNIT_MAX: Bytes = Bytes::kib(32);
/// The spare area of a page holds the names of as many.
const UNITS_PER_PAGE_MAX: u64 = 64;
/// More DRAM than a controller has, and its table still fits a workstation's.
const BUFFER_MAX: Bytes = Bytes::gib(16);

/// Completes the drive, or says why it cannot be.
pub(super) fn check(sections: &Sections, mut config: Config, mistakes: &mut Mistakes<'_>) -> Option<Config> {
    let before = mistakes.count();
    let geometry = config.sheet.geometry;
    let unit = unit(sections, &geometry, mistakes)?;
    let stripe_units = stripe(sections, unit, mistakes);
    let cores = cores(sections, &geometry, unit, mistakes);
    let (stripe_units, cores) = (stripe_units?, cores?);
    config.stripe_units = stripe_units;
    config.firmware.dies = geometry.dies() / cores;
    let has_blocks = config.firmware.spare_blocks < geometry.blocks;
    let keys = if has_blocks { u64::from(cores) * u64::from(wordline_ftl::key_groups(&config.firmware)) } else { 0 };
    let mut room = Room::of(sections, &config, unit, u64::from(cores) * u64::from(stripe_units), keys);
    if has_blocks {
        room.takes = u64::from(wordline_ftl::data_units(&config.firmware));
    }
    config.exported_units = exported(sections, &room, mistakes)?;
    // Every core holds the same number: what the host sees is a multiple of a stripe over all cores, and cores() found that it fits.
    config.firmware.exported_units = u32::try_from(config.exported_units / u64::from(cores)).ok()?;
    config.firmware.buffer.units = buffer(sections, &config, &room, mistakes)?;
    idle(sections, &config, &room, mistakes);
    journal(sections, &config, mistakes);
    (mistakes.count() == before).then_some(config)
}

fn unit(sections: &Sections, geometry: &Geometry, mistakes: &mut Mistakes<'_>) -> Option<Bytes> {
    let unit = sections.mapping.unit.value;
    let fits = unit.0 > 0 && unit.0.is_multiple_of(512) && unit <= UNIT_MAX;
    if !fits || !geometry.page.0.is_multiple_of(unit.0) || geometry.page.0 / unit.0 > UNITS_PER_PAGE_MAX {
        let what = format!(
            "mapping.unit is {unit}: expected a multiple of 512 B up to {UNIT_MAX} that divides a page of {} into at most {UNITS_PER_PAGE_MAX}",
            geometry.page
        );
        mistakes.at(&sections.mapping.unit.origin, what, None);
        return None;
    }
    Some(unit)
}

fn stripe(sections: &Sections, unit: Bytes, mistakes: &mut Mistakes<'_>) -> Option<u32> {
    let stripe = &sections.controller.stripe;
    let Some(size) = stripe.value.0 else { return Some(1) };
    let units = u32::try_from(size.0 / unit.0).unwrap_or(u32::MAX);
    if size.0 == 0 || !size.0.is_multiple_of(unit.0) || size > Bytes::gib(1) {
        let what = format!("controller.stripe is {size}: expected a multiple of mapping.unit, {unit}, and at most 1 GiB");
        mistakes.at(&stripe.origin, what, None);
        return None;
    }
    Some(units)
}

fn cores(sections: &Sections, geometry: &Geometry, unit: Bytes, mistakes: &mut Mistakes<'_>) -> Option<u32> {
    let (set, dies) = (&sections.controller.cores, geometry.dies());
    if set.value == 0 || !dies.is_multiple_of(set.value) {
        let what = format!("controller.cores is {}: expected a number by which the {dies} dies can be divided", set.value);
        mistakes.at(&set.origin, what, None);
        return None;
    }
    // The firmware addresses a unit by 32 bits: the number of a group, and a place in it that is rounded up to a power of two.
    let groups = u128::from(geometry.blocks.saturating_sub(sections.mapping.spare_blocks.value));
    let addresses = u128::from(group_units(geometry, unit).next_power_of_two()) * groups;
    let fits = |cores: u32| addresses * u128::from(dies / cores) < u128::from(u32::MAX);
    if !fits(set.value) {
        let help = (set.value..=dies).find(|&cores| dies.is_multiple_of(cores) && fits(cores)).map_or_else(
            || "one die alone is too large: take a larger mapping.unit".to_owned(),
            |cores| format!("this drive needs at least {cores} cores, or a larger mapping.unit"),
        );
        let what = format!(
            "controller.cores is {}: a core cannot address the {} mapping units of its {} dies",
            set.value,
            { u64::from(dies / set.value) * u64::from(geometry.blocks) * group_units(geometry, unit) },
            dies / set.value
        );
        mistakes.at(&set.origin, what, Some(help));
        return None;
    }
    Some(set.value)
}

/// Mapping units in a block group.
fn group_units(geometry: &Geometry, unit: Bytes) -> u64 {
    u64::from(geometry.planes) * u64::from(geometry.pages()) * (geometry.page.0 / unit.0)
}

/// How much room there is, in mapping units and block groups.
struct Room {
    raw: u64,
    /// What the host sees comes in multiples of this, so that all cores have the same share.
    granule: u64,
    unit: Bytes,
    dies: u64,
    /// Units of a group that take data.
    takes: u64,
    /// Groups of a die.
    groups: u64,
    spares: u64,
    /// Groups that may be lost to factory bad blocks, once the spares have stood in for some.
    bad: u64,
    start: u64,
    /// Groups that are open: those that take the host's data, and those that take what is moved.
    open: u64,
    /// Groups of the whole drive that hold keys.
    keys: u64,
}

impl Room {
    fn of(sections: &Sections, config: &Config, unit: Bytes, granule: u64, keys: u64) -> Room {
        let geometry = &config.sheet.geometry;
        let (dies, groups, group) = (u64::from(geometry.dies()), u64::from(geometry.blocks), group_units(geometry, unit));
        let spares = u64::from(sections.mapping.spare_blocks.value);
        Room {
            raw: dies * groups * group,
            granule,
            unit,
            dies,
            takes: group,
            groups,
            spares,
            // A spare stands in for a bad block of its own plane; a group is lost with any of its planes.
            bad: factory_bad(sections.faults.factory_bad.value, groups).saturating_sub(spares) * u64::from(geometry.planes),
            start: u64::from(super::gc_start(sections)),
            open: u64::from(config.firmware.open_for_moved())
                + match sections.placement.order.value {
                    WordlineOrder::HorizontalFirst => 1,
                    WordlineOrder::Mixed => u64::from(sections.placement.open_blocks.value),
                },
            keys,
        }
    }

    /// Groups of a die that can hold what the host sees; `None`: not one.
    fn data_groups(&self) -> Option<u64> {
        self.groups.checked_sub(self.spares + self.bad + self.start + self.open + SLACK).filter(|&groups| groups > 0)
    }

    /// The most the host can see, in units; 0: nothing.
    fn most(&self) -> u64 {
        let units = (self.data_groups().unwrap_or(0) * self.dies).saturating_sub(self.keys) * self.takes;
        units / self.granule * self.granule
    }

    /// Groups of a die that `units` of the whole drive fill.
    fn filled(&self, units: u64) -> u64 {
        units.div_ceil(self.dies).div_ceil(self.takes.max(1))
    }
}

/// The blocks of a plane that may be bad from the start: the mean and five standard deviations, so that a plan is right under every seed.
fn factory_bad(share: Share, blocks: u64) -> u64 {
    if share == Share::NONE {
        return 0;
    }
    let mean = share.fraction() * blocks as f64;
    ((mean + 5.0 * (mean * (1.0 - share.fraction())).sqrt()).ceil() as u64).min(blocks)
}

fn exported(sections: &Sections, room: &Room, mistakes: &mut Mistakes<'_>) -> Option<u64> {
    let (op, capacity) = (&sections.mapping.over_provisioning, &sections.mapping.capacity);
    let (key, origin, wanted) = match (op.value.0, capacity.value.0) {
        (_, Some(size)) => ("mapping.capacity", &capacity.origin, size.0 / room.unit.0),
        (Some(share), None) => ("mapping.over_provisioning", &op.origin, Share(WHOLE - share.0).of(room.raw)),
        (None, None) => {
            let help = "expected a share, such as \"7 %\", or mapping.capacity with a size, such as \"28 GiB\"";
            mistakes.whole("mapping.over_provisioning is not set", Some(help.into()));
            return None;
        }
    };
    let written = if key == "mapping.capacity" { capacity.value.write() } else { op.value.write() };
    let mut needs = format!(
        "of the {} block groups in a die, garbage collection keeps {} free, {} are open, {} are spares, \
         up to {} may be lost to factory bad blocks and {SLACK} gives slack",
        room.groups, room.start, room.open, room.spares, room.bad
    );
    if room.keys > 0 {
        needs += &format!("; of all dies together, {} hold the log of keys", room.keys);
    }
    let Some(data_groups) = room.data_groups().filter(|&groups| groups * room.dies > room.keys) else {
        mistakes.whole(format!("no drive of this shape has room for data: {needs}"), Some("take more blocks, or a lower gc.start".into()));
        return None;
    };
    let units = wanted / room.granule * room.granule;
    if units == 0 {
        mistakes.at(origin, format!("{key} is {written}: that leaves the host nothing"), None);
        return None;
    }
    if units > room.most() || room.filled(units) > data_groups {
        let most = room.most();
        let bytes = Bytes(most * room.unit.0).write();
        let spare = (room.raw - most) as f64 / room.raw as f64;
        let what = format!("{key} is {written}: over-full, the firmware would have no room to work");
        let (size, op) = (bytes.trim_matches('"'), (spare * 10_000.0).ceil() / 100.0);
        let help = format!("the most this drive can show is {size}, an over-provisioning of {op} %: {needs}");
        mistakes.at(origin, what, Some(help));
        return None;
    }
    Some(units)
}

fn buffer(sections: &Sections, config: &Config, room: &Room, mistakes: &mut Mistakes<'_>) -> Option<u32> {
    let size = &sections.buffer.size;
    let geometry = &config.sheet.geometry;
    let program = Bytes(u64::from(geometry.planes) * u64::from(config.sheet.pages_per_program()) * geometry.page.0);
    let least = Bytes(program.0 * room.dies);
    if size.value < least {
        let what = format!(
            "buffer.size is {}: expected at least {least}, one program unit of {program} for each of {} dies",
            size.value, room.dies
        );
        mistakes.at(&size.origin, what, None);
        return None;
    }
    let most = BUFFER_MAX.min(config.exported());
    if size.value > most {
        let what = format!("buffer.size is {}: expected at most {most}, and no more than the drive holds", size.value);
        mistakes.at(&size.origin, what, None);
        return None;
    }
    u32::try_from(size.value.0 / room.unit.0 / u64::from(config.cores)).ok()
}

/// A core that journals needs room for it.
fn journal(sections: &Sections, config: &Config, mistakes: &mut Mistakes<'_>) {
    let on = &sections.recovery.on;
    if on.value
        && let Err(why) = wordline_ftl::fits(&config.firmware)
    {
        mistakes.at(&on.origin, format!("recovery.on is true: {why}"), None);
    }
}

/// Free groups that techniques work towards must be within reach, or a full drive would never rest.
fn idle(sections: &Sections, config: &Config, room: &Room, mistakes: &mut Mistakes<'_>) {
    let most = room
        .groups
        .saturating_sub(room.filled(config.exported_units) + room.spares + room.bad + room.keys.div_ceil(room.dies) + room.open + SLACK);
    techniques::reachable(sections, most, mistakes);
}
