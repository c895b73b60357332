//! What the tables of a core begin with.

use crate::state::layout::Layout;
use crate::state::settings::Settings;

/// What a core begins with.
pub(crate) struct Beginning {
    pub settings: Settings,
    pub layout: Layout,
    /// Units shown to the host.
    pub exported: u32,
    /// The blocks of each group, and whether it is in service.
    pub groups: Vec<([u16; 4], bool)>,
    /// The spare blocks of each die.
    pub spares: Vec<[Vec<u16>; 4]>,
    /// How many wait for idle dies.
    pub waiters: usize,
    pub watches_busy: bool,
    pub sets_programs: bool,
    pub watches_reads: bool,
}
