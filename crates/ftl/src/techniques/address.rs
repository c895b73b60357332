//! Addresses of flash as techniques name them: a page, or a program unit, of a block group.

use wordline_units::{PageId, PlaneId};

use crate::state::layout::{BlockGroup, Layout, Place};

/// A page of a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlashPage {
    /// Block group of the page.
    pub group: BlockGroup,
    /// Plane of the page.
    pub plane: PlaneId,
    /// Page of the plane, in program order.
    pub page: PageId,
}

impl FlashPage {
    /// Page that holds the unit at `offset` of `group`.
    pub fn holding(layout: &Layout, group: BlockGroup, offset: u32) -> FlashPage {
        let Place { page, plane, .. } = layout.place(offset);
        FlashPage { group, plane, page }
    }
}

/// A program unit of a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramUnit {
    /// Block group of the unit.
    pub group: BlockGroup,
    /// H-layer of the unit.
    pub layer: u32,
    /// Place of the unit in its h-layer.
    pub place: u32,
}

impl ProgramUnit {
    /// Address of program unit `program` of `group`, counted in program order.
    pub fn new(layout: &Layout, group: BlockGroup, program: u32) -> ProgramUnit {
        let each = layout.programs_per_layer;
        ProgramUnit { group, layer: program / each, place: program % each }
    }

    /// Number of the unit in its group, counted in program order.
    pub fn program(&self, layout: &Layout) -> u32 {
        self.layer * layout.programs_per_layer + self.place
    }
}
