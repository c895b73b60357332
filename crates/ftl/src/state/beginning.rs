//! Initial contents of a core's tables.

use crate::state::layout::Layout;
use crate::state::settings::Settings;

/// Operations that techniques watch, so that the core does for them what it would not do for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    /// True if a technique is asked about programs and erases under way.
    pub busy: bool,
    /// True if a technique sets programs and learns how they went.
    pub programs: bool,
    /// True if a technique asks for a trace of each erase.
    pub erases: bool,
    /// True if a technique asks something about programs that a die can be asked about one program only.
    pub one_program: bool,
    /// True if a technique goes by the load of the write buffer.
    pub load: bool,
}

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
    pub watched: Watched,
    pub watches_reads: bool,
}
