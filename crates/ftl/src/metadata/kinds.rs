//! Kinds of metadata, and what becomes of requests that wait for some that will not come.

use wordline_units::PartId;

use crate::state::Core;

/// Kinds of metadata that a core keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub journal: bool,
    pub checkpoints: bool,
    pub oob: bool,
}

/// Fail the requests of `parts`.
pub(crate) fn fail(core: &mut Core, parts: Vec<PartId>) {
    for part in parts {
        core.requests_mut().spoil(part);
        core.requests_mut().release(part);
    }
}
