//! The physics of a drive's cells: given to its dies, and set to an age.

use std::sync::Arc;

use wordline_cells::{Age, CellArray, History, Model};
use wordline_chip::{Chip, Payload};
use wordline_units::{BlockId, Celsius, DieId, Geometry, IdMap, PlaneId};

use crate::config::Config;
use crate::drive::Drive;

/// Store of each die for its bytes, if the drive keeps any: of all dies or of none.
pub type PayloadOf<'a> = dyn FnMut(DieId) -> Option<Box<dyn Payload>> + 'a;

/// Stores of one kind.
pub(crate) fn of_kind<P: Payload + 'static>(mut payload: impl FnMut(DieId) -> P) -> impl FnMut(DieId) -> Option<Box<dyn Payload>> {
    move |die| Some(Box::new(payload(die)))
}

/// Creates the dies of a new drive, which keep their bytes in what `payload` gives them. Returns also the number of entries of their read-retry table.
pub(crate) fn dies(config: &Config, payload: &mut PayloadOf<'_>) -> (IdMap<DieId, Chip>, u32) {
    let geometry = &config.sheet.geometry;
    let units_per_page = (geometry.page.0 / config.firmware.unit.0) as u32;
    let mut chips: IdMap<DieId, Chip> = IdMap::from_fn(geometry.dies() as usize, |die: DieId| {
        Chip::with_payload(config.sheet, config.faults, config.seed, u32::from(die.0), units_per_page, payload(die))
    });
    let levels = install(config, &mut chips);
    if !config.read_sets.is_empty() {
        chips.iter_mut().for_each(|(_, chip)| chip.set_read_sets(Arc::clone(&config.read_sets)));
    }
    (chips, levels)
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

impl Drive {
    /// Set every block to `age` without writing it: its wear, and how long its present data has been kept. Without physics nothing ages.
    ///
    /// Firmware and dies count the cycles as they would have counted them: a block that is worn is not taken for new. Spare blocks stay as new as they would
    /// have. Of blocks that hold bytes the count stays, because the marks of their pages name it. The clock of the firmware goes on by the
    /// decreed time, too. Techniques that ask for traces of erases, or have pages measured, are told what the life would have shown them; others are told
    /// nothing.
    pub fn set_age(&mut self, age: &Age) {
        let Some(cells) = &self.config.cells else { return };
        let (now, dwells) = (self.now(), cells.dwells.clone());
        // Who wants to know the past of the blocks measures data that has just been programmed.
        let relives = self.relives();
        let at_first = Age { retention: if relives { 0.0 } else { age.retention }, ..*age };
        for die in 0..self.config.sheet.geometry.dies() {
            let chip = &mut self.chips[DieId(die as u16)];
            chip.set_age(&at_first, now);
            if !dwells.is_empty() {
                chip.set_dwells(age, &dwells);
            }
        }
        self.count_cycles((age.cycles + 0.5) as u32);
        if relives {
            self.relive(age);
            self.chips.iter_mut().for_each(|(_, chip)| chip.set_retention(age));
        }
        self.ftls.iter_mut().for_each(|ftl| ftl.decree(now, age.retention, Celsius(age.temperature)));
    }

    /// Stress that the cells of a block have gone through; `None`: they have no physics.
    pub fn history(&self, die: DieId, plane: PlaneId, block: BlockId) -> Option<History> {
        self.chips[die].history(plane, block)
    }
}

/// Blocks of `chip` that were bad when it left the factory, each with its plane.
pub(crate) fn factory_bad(chip: &Chip, geometry: &Geometry) -> Vec<(u8, u16)> {
    (0..geometry.planes as u8)
        .flat_map(|plane| (0..geometry.blocks as u16).map(move |block| (plane, block)))
        .filter(|&(plane, block)| chip.is_factory_bad(PlaneId(plane), BlockId(u32::from(block))))
        .collect()
}
