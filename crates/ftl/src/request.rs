//! What a core is asked to do for the host, and what it answers.

use wordline_units::{HostOp, Priority};

use crate::layout::{Group, UnitAddr};

/// The part of a host request that falls to one core. Units are consecutive in the core's own logical space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The drive's name for it; comes back in the [`Acknowledgement`].
    pub id: u32,
    /// What to do.
    pub op: HostOp,
    /// The first unit.
    pub lpn: u32,
    /// How many units, the partly covered ones at both ends included.
    pub units: u32,
    /// Sectors of the first unit that are not covered.
    pub skip_head: u32,
    /// Sectors of the last unit that are not covered.
    pub skip_tail: u32,
    /// The host's queue.
    pub priority: Priority,
    /// A write is to be acknowledged only when it is durable.
    pub fua: bool,
    /// A write whose data may stay readable on the chips once it is stale.
    pub insecure: bool,
}

/// The end of a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The drive's name for it.
    pub id: u32,
    /// Whether all of it could be done.
    pub ok: bool,
    /// Of a read: its sectors in units that hold nothing.
    pub blank: u32,
}

/// Something the drive should write down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// What stands at this address cannot be read any more, because its key is gone.
    KeyGone(UnitAddr),
    /// A block group went out of service or changed its blocks.
    Retired(Group),
    /// A die refuses to make unreadable what is stale and secret in this block group.
    Exposed(Group),
    /// A program in this block group is not relied on, and its data goes elsewhere.
    ProgrammedAgain(Group),
    /// No more writes are taken.
    WornOut,
}
