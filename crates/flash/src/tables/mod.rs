//! Tables that the maker of a chip gives beside its data sheet, found by characterising lots of chips off-line: what firmware may know of ageing without
//! looking into the cells of its own dies.
//!
//! | table | tells |
//! |---|---|
//! | [`Aging`] | the age of a block, from what its erases and reads show |
//! | [`Ort`] | read references to begin with, by age or P/E count, retention, h-layer and reads |
//! | [`Retirement`] | errors just after program beyond which a year is not safe |
//! | [`Disturb`] | reads of a block at which retries begin, and at which data are lost |
//! | [`Copyback`] | copies in a row without correction that are safe |
//! | [`Guard`] | what erases that spare the weakest wordlines are worth |
//!
//! Each knows the seed of the lot that it was found on, so that it is never used on chips of that lot. [`Margins`](crate::Margins) is older and has a room of
//! its own.

mod aging;
mod copyback;
mod disturb;
mod guard;
mod ort;
mod retirement;

use std::sync::Arc;

pub use aging::{Aging, Shown};
pub use copyback::{CopyIndex, CopyReferences, Copyback};
pub use disturb::Disturb;
pub use guard::{Guard, GuardMode};
pub use ort::{Ort, OrtIndex, OrtPlace, Sequence};
pub use retirement::Retirement;

/// The tables of a kind of chip; those that nobody made are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// Ages of blocks.
    pub aging: Option<Arc<Aging>>,
    /// Read references.
    pub ort: Option<Arc<Ort>>,
    /// Errors of blocks that must leave service.
    pub retirement: Option<Arc<Retirement>>,
    /// Reads that disturb.
    pub disturb: Option<Arc<Disturb>>,
    /// Copies in a row.
    pub copyback: Option<Arc<Copyback>>,
    /// Guarded erases.
    pub guard: Option<Arc<Guard>>,
}

impl Tables {
    /// No table at all.
    pub const NONE: Tables = Tables { aging: None, ort: None, retirement: None, disturb: None, copyback: None, guard: None };
}

/// Index of the first of these rising bounds that is not below `value`; `None` beyond the last.
fn bin<T: PartialOrd + Copy>(bounds: &[T], value: T) -> Option<usize> {
    bounds.iter().position(|bound| value <= *bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_reaches_up_to_its_bound() {
        let bounds = [0u32, 10, 20];
        assert_eq!([0, 1, 10, 11, 20, 21].map(|value| bin(&bounds, value)), [Some(0), Some(1), Some(1), Some(2), Some(2), None]);
        assert_eq!(bin(&[0u32; 0], 0), None);
    }
}
