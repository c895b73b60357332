//! Results about the cells of flash blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cells of the flash blocks, as an inspection from outside of the drive finds them at the end of the window. No part of the drive sees any of it. A
/// reference cycle is a normal program/erase cycle of the reference wordline without rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellsResult {
    /// Flash blocks in service, one for each plane of a block group. The other keys are of them, but for the added wear.
    #[schemars(extend("x-unit" = "flash blocks"))]
    pub blocks: u64,
    /// Mean wear of all wordlines.
    #[schemars(extend("x-unit" = "reference cycles"))]
    pub wear_mean: f64,
    /// Wear of a block's most worn wordline, in the mean over blocks.
    #[schemars(extend("x-unit" = "reference cycles"))]
    pub wear_worst_mean: f64,
    /// Wear of the most worn wordline of all.
    #[schemars(extend("x-unit" = "reference cycles"))]
    pub wear_worst_max: f64,
    /// Wear that the window added, in the mean over all flash blocks, those out of service too. Suspensions of erases and guarded erases are in it.
    #[schemars(extend("x-unit" = "reference cycles"))]
    pub wear_added_mean: f64,
    /// The least age of a block: wrong bits of a codeword of its weakest page after a year at the reference temperature, in the mean and at the best references
    /// (N(12) of 000 §3.1.1), over those that can be corrected. Carried errors are not in it. Null where ages were not worked out.
    pub age_min: Option<f64>,
    /// The mean age.
    pub age_mean: Option<f64>,
    /// The greatest age.
    pub age_max: Option<f64>,
    /// Flash blocks with pages that carry errors of copybacks.
    #[schemars(extend("x-unit" = "flash blocks"))]
    pub carrying: u64,
    /// Carried errors of a codeword, in the mean over all pages of these blocks; null where there are none.
    #[schemars(extend("x-unit" = "bits"))]
    pub carried_mean: Option<f64>,
    /// Carried errors of a codeword of the page with the most.
    #[schemars(extend("x-unit" = "bits"))]
    pub carried_max: Option<f64>,
}
