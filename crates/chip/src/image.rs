//! A die at rest, as plain data.

use serde::{Deserialize, Serialize};
use wordline_cells::Lives;

use crate::block::Block;
use crate::features::{Features, SETTINGS};
use crate::medium::Medium;
use crate::ruined::Ruined;
use crate::seal::Seals;

/// A die at rest: its blocks, its dice, its settings. Not in it are the bytes of its pages, nor what copybacks carried over
/// ([`crate::Chip::carried_tables`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    blocks: Vec<Block>,
    ruined: Vec<(u32, u32)>,
    seals: Seals,
    drawn: [u64; 3],
    features: [u32; SETTINGS],
    written: Vec<u64>,
    cells: Option<Lives>,
}

impl Image {
    /// The image of a die of these parts.
    pub(crate) fn of(medium: &Medium, features: &Features) -> Image {
        Image {
            blocks: medium.blocks().image(),
            written: medium.blocks().written(),
            ruined: medium.ruined().image(),
            seals: medium.seals().clone(),
            drawn: medium.cells().rates().drawn(),
            features: features.settings(),
            cells: medium.cells().physics().map(|array| array.lives()),
        }
    }

    /// Put the die of which this is the image into the parts of a new one. The image may be anything. One of another kind of die, or of none, is refused with
    /// the reason.
    pub(crate) fn restore(self, medium: &mut Medium, features: &mut Features) -> Result<(), &'static str> {
        let Image { blocks, ruined, seals, drawn, features: registers, written, cells } = self;
        let (count, pages) = (medium.shape().all_blocks(), medium.shape().pages());
        if blocks.len() != count {
            return Err("a die has another number of blocks");
        }
        if ruined.iter().any(|&(block, page)| block as usize >= count || page >= pages) {
            return Err("a ruined page lies outside its die");
        }
        if !seals.fits(count, pages) {
            return Err("a locked page lies outside its die");
        }
        medium.blocks_mut().restore(blocks, written)?;
        medium.restore(Ruined::restored(ruined), seals);
        medium.cells_mut().rates_mut().resume(drawn);
        features.restore_settings(&registers);
        let fits = match (medium.physics_mut(), cells) {
            (None, None) => true,
            (Some(array), Some(lives)) => array.resume(lives),
            (None, Some(_)) | (Some(_), None) => return Err("the physics of the cells are on in one and off in the other"),
        };
        if fits { Ok(()) } else { Err("the cells of a die have another number of blocks") }
    }
}
