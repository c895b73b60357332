//! Sentences on requests that failed.

use wordline_figures::Failures;

use crate::number::{count, number, share};

/// Drive and cell, requests that failed, and the wear-out where there was one.
pub fn sentence(of: &Failures<'_>) -> String {
    let cell = of.cell.map(|cell| format!(", {}", cell.title())).unwrap_or_default();
    let share = share(of.failed as f64 / of.asked as f64);
    let worn_out = of.worn_out_seconds.map(|seconds| format!("; worn out after {} s", number(seconds))).unwrap_or_default();
    format!("{}{cell}: {} of {} requests failed ({share}){worn_out}", of.drive, count(of.failed), count(of.asked))
}
