//! Initial contents of a core's tables.

use crate::state::layout::Layout;
use crate::state::settings::Settings;

/// Initial contents of a core.
pub(crate) struct Beginning {
    pub settings: Settings,
    pub layout: Layout,
    /// Units shown to the host.
    pub exported: u32,
    /// The blocks of each group, and whether it is in service.
    pub groups: Vec<([u16; 4], bool)>,
    /// The spare blocks of each die.
    pub spares: Vec<[Vec<u16>; 4]>,
    /// Number of subscribers that wait for idle dies.
    pub waiters: usize,
    pub watches_busy: bool,
    pub sets_programs: bool,
    pub watches_reads: bool,
}
