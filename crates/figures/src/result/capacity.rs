//! What a drive is, beside what it did: its flash, and how much of it is spare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much flash a drive has, and how much of it is spare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityResult {
    /// User bytes of flash.
    #[schemars(extend("x-unit" = "B"))]
    pub raw_bytes: u64,
    /// What the host sees.
    #[schemars(extend("x-unit" = "B"))]
    pub exported_bytes: u64,
    /// Nominal spare: the share of raw flash that the host does not see.
    pub spare_nominal: f64,
    /// Usable spare: the share of usable flash that the host does not see. Usable is raw flash less what GC keeps free, the empty half of open blocks, spare
    /// and factory bad blocks, journal, checkpoints and keys. It decides write amplification.
    pub spare_usable: f64,
    /// Channel buses.
    pub channels: u32,
    /// Dies on all channels.
    pub dies: u32,
    /// Planes in a die.
    pub planes: u32,
    /// Blocks in a plane.
    pub blocks: u32,
    /// H-layers in a block.
    pub h_layers: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes of a page.
    #[schemars(extend("x-unit" = "B"))]
    pub page_bytes: u64,
    /// User bytes of a mapping unit.
    #[schemars(extend("x-unit" = "B"))]
    pub unit_bytes: u64,
}
