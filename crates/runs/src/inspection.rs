//! Inspection of the cells of a drive's flash blocks, from outside of the drive and after the fact: nothing that the drive does depends on it.

use wordline_drive::Watched;
use wordline_engine::Observer;
use wordline_figures::CellsResult;
use wordline_figures::cells::BlockCells;
use wordline_plan::Plan;
use wordline_units::calendar::YEAR;
use wordline_units::{BlockId, DieId, PlaneId};

use crate::parallel;
use crate::prepare::Prepared;

/// Number of blocks by which the cells of a drive at its age are judged: an age takes about a millisecond for each, and large drives have a million.
const LOOKED_AT: usize = 512;

/// Figures that an inspection finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// Wear and carried errors of each block.
    Wear,
    /// Ages as well, which take about a millisecond for each block.
    Ages,
}

/// The cells of a new drive at the age that its plan asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct AgedCells {
    /// Figures of the blocks that were inspected.
    pub of: CellsResult,
    /// Number of flash blocks that were inspected, spread evenly over the drive.
    pub inspected: usize,
    /// Number of its flash blocks in service.
    pub blocks: usize,
}

/// The cells of a new drive of `plan` at its age; `None`: they have no physics.
pub fn look(plan: &Plan) -> Option<AgedCells> {
    let config = plan.build();
    config.cells.as_ref()?;
    let drive = Prepared::filled(config, 0, ()).aged();
    let places: Vec<Place> = drive.flash_blocks().filter(|&(.., in_service)| in_service).collect();
    let count = places.len().min(LOOKED_AT);
    let chosen: Vec<Place> = (0..count).map(|number| places[number * places.len() / count]).collect();
    let inspected = inspect(&drive, Inspection::Ages, chosen, &[]);
    Some(AgedCells { of: wordline_figures::cells::summary(&inspected)?, inspected: count, blocks: places.len() })
}

/// Mean wear of each flash block of `drive`, in reference cycles; none where its cells have no physics.
pub(crate) fn wears<O: Observer>(drive: &Watched<O>) -> Vec<f64> {
    let cells = drive.flash_blocks().filter_map(|(die, plane, block, _)| drive.inspect(die, plane, block));
    cells.map(|cells| cells.wear().mean).collect()
}

/// The cells of each flash block of `drive`, of which `before` were the wears when its window began; none where its cells have no physics.
pub(crate) fn cells<O: Observer>(drive: &Watched<O>, inspection: Inspection, before: &[f64]) -> Vec<BlockCells> {
    inspect(drive, inspection, drive.flash_blocks().collect(), before)
}

/// A flash block, and whether it is of a block group in service.
type Place = (DieId, PlaneId, BlockId, bool);

/// The cells of the flash blocks at `places`, of which `before` were the wears earlier; those that are not in it were as now.
fn inspect<O: Observer>(drive: &Watched<O>, inspection: Inspection, places: Vec<Place>, before: &[f64]) -> Vec<BlockCells> {
    let places: Vec<_> = places
        .into_iter()
        .filter_map(|place| {
            let (die, plane, block, _) = place;
            Some((place, drive.erases(die, plane, block), drive.inspect(die, plane, block)?))
        })
        .collect();
    let look = |number: usize| {
        let ((die, plane, block, in_service), erases, cells) = places[number];
        let (wear, carried) = (cells.wear(), cells.carried());
        BlockCells {
            die,
            plane,
            block,
            in_service,
            erases,
            wear_mean: wear.mean,
            wear_worst: wear.most,
            wear_added: before.get(number).map_or(0.0, |before| wear.mean - before),
            age: (inspection == Inspection::Ages).then(|| cells.age(YEAR as f64)),
            carried_mean: carried.mean,
            carried_worst: carried.most,
        }
    };
    parallel::map(parallel::cores(), places.len(), look)
}
