//! The shape of a drive's flash, from channels down to the pages of a wordline.

use crate::quantity::Bytes;

/// How many bits a cell holds, which is how many pages share a wordline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// One bit per cell.
    Slc,
    /// Two bits per cell.
    Mlc,
    /// Three bits per cell.
    Tlc,
    /// Four bits per cell.
    Qlc,
}

impl CellKind {
    /// Bits per cell: pages per wordline.
    pub const fn bits(self) -> u32 {
        match self {
            CellKind::Slc => 1,
            CellKind::Mlc => 2,
            CellKind::Tlc => 3,
            CellKind::Qlc => 4,
        }
    }

    /// The field's short name.
    pub const fn name(self) -> &'static str {
        match self {
            CellKind::Slc => "SLC",
            CellKind::Mlc => "MLC",
            CellKind::Tlc => "TLC",
            CellKind::Qlc => "QLC",
        }
    }
}

/// The shape of a drive: every field is a count of the next smaller thing, except the page sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channel buses in the drive.
    pub channels: u32,
    /// Dies on each channel (chips × dies per chip).
    pub dies_per_channel: u32,
    /// Planes in a die, which can work on one command together.
    pub planes: u32,
    /// Blocks in a plane, spares and factory bad blocks included.
    pub blocks: u32,
    /// Horizontal layers in a block.
    pub layers: u32,
    /// Wordlines in an h-layer.
    pub wordlines_per_layer: u32,
    /// Bits per cell: pages per wordline.
    pub cell: CellKind,
    /// User bytes in a page.
    pub page: Bytes,
    /// Spare (out-of-band) bytes in a page.
    pub spare: Bytes,
}

impl Geometry {
    /// Dies in the drive.
    pub const fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Wordlines in a block.
    pub const fn wordlines(&self) -> u32 {
        self.layers * self.wordlines_per_layer
    }

    /// Pages in a block.
    pub const fn pages(&self) -> u32 {
        self.wordlines() * self.cell.bits()
    }

    /// User bytes in the whole drive, before over-provisioning and bad blocks.
    pub const fn raw(&self) -> Bytes {
        Bytes(self.dies() as u64 * self.planes as u64 * self.blocks as u64 * self.pages() as u64 * self.page.0)
    }
}
