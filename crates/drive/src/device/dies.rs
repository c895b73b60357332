//! The dies of a drive with their wiring, and the stores that they keep bytes in.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use wordline_cells::{CellArray, Model};
use wordline_chip::{Chip, Payload};
use wordline_units::{BlockId, ChannelId, DieId, Geometry, IdMap, PlaneId};

use super::wiring::Wiring;
use crate::config::Config;

/// Store of each die for its bytes, if the drive keeps any: of all dies or of none.
pub type PayloadOf<'a> = dyn FnMut(DieId) -> Option<Box<dyn Payload>> + 'a;

/// Stores of one kind.
pub(crate) fn of_kind<P: Payload + 'static>(mut payload: impl FnMut(DieId) -> P) -> impl FnMut(DieId) -> Option<Box<dyn Payload>> {
    move |die| Some(Box::new(payload(die)))
}

/// The dies, by their number in the drive, or by their core and their number there.
#[derive(Debug)]
pub(crate) struct Dies {
    chips: IdMap<DieId, Chip>,
    wiring: Wiring,
    /// Entries of their read-retry table; 1: no retry is possible.
    levels: u32,
}

impl Dies {
    /// Creates the dies of a new drive, which keep their bytes in what `payload` gives them.
    pub(crate) fn new(config: &Config, payload: &mut PayloadOf<'_>) -> Dies {
        let geometry = &config.sheet.geometry;
        let units_per_page = (geometry.page.0 / config.firmware.unit.0) as u32;
        let mut chips: IdMap<DieId, Chip> = IdMap::from_fn(geometry.dies() as usize, |die: DieId| {
            Chip::with_payload(config.sheet, config.faults, config.seed, u32::from(die.0), units_per_page, payload(die))
        });
        let levels = install(config, &mut chips);
        if !config.read_sets.is_empty() {
            chips.iter_mut().for_each(|(_, chip)| chip.set_read_sets(Arc::clone(&config.read_sets)));
        }
        Dies { chips, wiring: Wiring::new(geometry, config.cores), levels }
    }

    /// Number of dies.
    pub(crate) fn len(&self) -> usize {
        self.chips.len()
    }

    /// Entries of the read-retry table; 1: no retry is possible.
    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    /// True if the dies keep bytes.
    pub(crate) fn keep_bytes(&self) -> bool {
        self.chips[DieId(0)].payload().is_some()
    }

    /// Every die, by its number in the drive.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (DieId, &Chip)> {
        self.chips.iter()
    }

    /// Every die, by its number in the drive.
    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (DieId, &mut Chip)> {
        self.chips.iter_mut()
    }

    /// Die `local` of `core`.
    #[inline]
    pub(crate) fn of(&self, core: u32, local: DieId) -> &Chip {
        &self.chips[self.wiring.die(core, local)]
    }

    /// Die `local` of `core`.
    #[inline]
    pub(crate) fn of_mut(&mut self, core: u32, local: DieId) -> &mut Chip {
        &mut self.chips[self.wiring.die(core, local)]
    }

    /// Core that owns `die`, and the die's number there.
    pub(crate) fn home(&self, die: DieId) -> (u32, DieId) {
        self.wiring.home(die)
    }

    /// Die of the drive that is `local` of `core`.
    #[inline]
    pub(crate) fn die(&self, core: u32, local: DieId) -> DieId {
        self.wiring.die(core, local)
    }

    /// The channel of `die`.
    #[inline]
    pub(crate) fn channel(&self, die: DieId) -> ChannelId {
        self.wiring.channel(die)
    }

    /// True if a part of a die has failed for good.
    pub(crate) fn have_failures(&self) -> bool {
        self.chips.iter().any(|(_, chip)| chip.has_failures())
    }
}

impl Index<DieId> for Dies {
    type Output = Chip;

    #[inline]
    fn index(&self, die: DieId) -> &Chip {
        &self.chips[die]
    }
}

impl IndexMut<DieId> for Dies {
    #[inline]
    fn index_mut(&mut self, die: DieId) -> &mut Chip {
        &mut self.chips[die]
    }
}

/// Give `chips` their cells. Returns the number of entries of the read-retry table. Without physics there is no such table, except where reads need retries
/// by rate.
fn install(config: &Config, chips: &mut IdMap<DieId, Chip>) -> u32 {
    let Some(cells) = &config.cells else { return config.faults.retries.map_or(1, |retries| retries.entries) };
    let model = Arc::new(Model::new(&cells.physics).expect("the plan has checked the physics"));
    let blocks = (config.sheet.geometry.planes * config.sheet.geometry.blocks) as usize;
    let first = CellArray::new(model, config.seed, 0, blocks, cells.temperature);
    for die in 1..config.sheet.geometry.dies() {
        chips[DieId(die as u16)].set_cells(first.sibling(die));
    }
    let levels = first.entries();
    chips[DieId(0)].set_cells(first);
    levels
}

/// Blocks of `chip` that were bad when it left the factory, each with its plane.
pub(crate) fn factory_bad(chip: &Chip, geometry: &Geometry) -> Vec<(u8, u16)> {
    (0..geometry.planes as u8)
        .flat_map(|plane| (0..geometry.blocks as u16).map(move |block| (plane, block)))
        .filter(|&(plane, block)| chip.is_factory_bad(PlaneId(plane), BlockId(u32::from(block))))
        .collect()
}
