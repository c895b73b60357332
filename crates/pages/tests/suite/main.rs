//! From events to text, pages and files, in one program.

#[path = "../../../figures/examples/fabricated/mod.rs"]
mod fabricated;

mod failed;
mod fair;
mod kinds;
mod output;

use wordline_figures::{DriveDetail, DriveResult};
use wordline_pages::phrases::warnings;

/// A result with its warnings, as a run gives it.
fn warned((mut result, detail): (DriveResult, DriveDetail)) -> (DriveResult, DriveDetail) {
    result.warnings = warnings::of_run(&result);
    (result, detail)
}
