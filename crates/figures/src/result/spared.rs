//! Results about erases that leave wordlines without data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Erases after which some wordlines take no data, because the erase spares them or because they are withheld.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SparedResult {
    /// Erases whose set was granted.
    #[schemars(extend("x-unit" = "block groups"))]
    pub granted: u64,
    /// Erases that were plain although a set was asked for, for any of the four reasons below.
    #[schemars(extend("x-unit" = "block groups"))]
    #[serde(default)]
    pub refused: u64,
    /// Erases that were plain, because their die would have too little room for its valid data.
    #[schemars(extend("x-unit" = "block groups"))]
    pub refused_for_die: u64,
    /// Erases that were plain, because the drive would have too little room for its capacity.
    #[schemars(extend("x-unit" = "block groups"))]
    pub refused_for_capacity: u64,
    /// Erases that were plain, because the die would have too few whole free groups for GC.
    #[schemars(extend("x-unit" = "block groups"))]
    pub refused_for_gc: u64,
    /// Erases that were plain, because GC had moved as much out of the group as it would hold.
    #[schemars(extend("x-unit" = "block groups"))]
    pub refused_as_full: u64,
    /// Groups that were erased once more, because room had become short during their erase.
    #[schemars(extend("x-unit" = "block groups"))]
    pub taken_back: u64,
    /// Free groups that were erased once more, because GC needed a whole group.
    #[schemars(extend("x-unit" = "block groups"))]
    pub made_whole: u64,
    /// Share of flash in service that lies on wordlines without data at the end.
    #[schemars(extend("x-unit" = "share"))]
    pub idle_share: f64,
}
