//! What the metrics must know about a drive to size their tables and to turn counts into bytes.

use wordline_units::{Bytes, Geometry, Nanos, PageId};

use crate::tolerances::ReadLimits;

/// How long one row of a time series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Start with rows of `first` and double their length whenever there would be more than `rows` of them, so that a run of any length gets
    /// a series that fits a chart.
    Auto {
        /// The length of a row at first.
        first: Nanos,
        /// The most rows there may be.
        rows: usize,
    },
    /// Rows of exactly this length. A run of more than [`Interval::FIXED_ROWS_MAX`] rows doubles it, because memory is finite.
    Fixed(Nanos),
}

impl Interval {
    /// The most rows a fixed interval keeps before it, too, is doubled.
    pub const FIXED_ROWS_MAX: usize = 65_536;

    pub(crate) fn first(self) -> Nanos {
        match self {
            Interval::Auto { first, .. } => Nanos(first.0.max(1)),
            Interval::Fixed(width) => Nanos(width.0.max(1)),
        }
    }

    pub(crate) fn rows_max(self) -> usize {
        match self {
            Interval::Auto { rows, .. } => rows.max(2),
            Interval::Fixed(_) => Interval::FIXED_ROWS_MAX,
        }
    }
}

impl Default for Interval {
    fn default() -> Self {
        Interval::Auto { first: Nanos::from_millis(1), rows: 512 }
    }
}

/// The wordlines of an h-layer, on dies that program a whole one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HLayer {
    /// Pages of a wordline.
    pub pages: u32,
    /// Wordlines in an h-layer; the first of them leads.
    pub wordlines: u32,
}

impl HLayer {
    /// The h-layers of dies with this geometry that program so many pages at a time; `None` where that is no whole wordline, or where each has an h-layer to
    /// itself.
    pub fn of(geometry: &Geometry, pages_per_program: u32) -> Option<HLayer> {
        let (pages, wordlines) = (geometry.cell.bits(), geometry.wordlines_per_layer);
        (pages == pages_per_program && wordlines > 1).then_some(HLayer { pages, wordlines })
    }

    /// Whether a program that begins with `page` fills the first wordline of its h-layer.
    #[inline]
    pub(crate) fn leads(&self, page: PageId) -> bool {
        (u32::from(page.0) / self.pages).is_multiple_of(self.wordlines)
    }
}

/// The parts of a drive that the metrics count and divide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Dies in the drive.
    pub dies: u32,
    /// Channel buses in the drive.
    pub channels: u32,
    /// Firmware cores that work on flash operations.
    pub cores: u32,
    /// User bytes of a mapping unit.
    pub unit: Bytes,
    /// User bytes of a flash page.
    pub page: Bytes,
    /// How wordlines share h-layers; `None` where it is not told who leads.
    pub h_layer: Option<HLayer>,
    /// The queue depth of a closed loop; `None` in an open loop.
    pub queue_depth: Option<u32>,
    /// How long one row of the time series is.
    pub interval: Interval,
    /// Times that reads of hinted data may take; `None`: reads are not counted by class.
    pub read_limits: Option<ReadLimits>,
}

impl Scope {
    /// The scope of a drive with this geometry, mapped in units of `unit`, with `cores` firmware cores, in an open loop.
    pub fn new(geometry: &Geometry, unit: Bytes, cores: u32) -> Scope {
        Scope {
            dies: geometry.dies(),
            channels: geometry.channels,
            cores,
            unit,
            page: geometry.page,
            h_layer: None,
            queue_depth: None,
            interval: Interval::default(),
            read_limits: None,
        }
    }
}
