//! Reads by tolerated latency, as a table.

use wordline_figures::result::DriveResult;

use super::layout::{line, prose};
use crate::number::number;
use crate::phrases::tolerances::{HEADS, cells, told};

const NAME: usize = 13;

/// The table of `drive`; nothing where nothing was hinted.
pub(super) fn table(text: &mut String, drive: &DriveResult) {
    let Some(of) = &drive.hinted_reads else { return };
    line(text, &format!("  {:<NAME$}{}", "reads, us", HEADS.map(|head| format!("{head:>12}")).concat()));
    for class in &of.classes {
        line(text, &format!("  {:<NAME$}{}", class.tolerance, cells(class, number).map(|cell| format!("{cell:>12}")).concat()));
    }
    prose(text, &format!("{}.", told(of)));
    text.push('\n');
}
