//! Places of mapping units on flash.

use wordline_units::{BlockId, DieId, PageId, PlaneId};

/// Location of a mapping unit on flash.
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
