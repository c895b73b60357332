//! Where the bytes are, for whoever keeps them.
//!
//! The firmware moves numbers, not bytes: a drive that keeps data stores the bytes of each buffer slot beside the firmware and the rest on flash. Here the
//! firmware says what has to be done with them, in the order in which it happened. In a simulation nothing is noted and nothing costs.

use crate::state::buffer::Held;
use crate::state::layout::UnitAddr;

/// Something to be done with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataStep {
    /// The `index`-th unit of the write `request` was taken into `slot`: its sectors go over what the slot holds.
    Stored {
        /// The request's id.
        request: u32,
        /// Which of its units.
        index: u32,
        /// The slot.
        slot: u32,
        /// The slot of the older version that is being programmed: its bytes come first.
        continues: Option<u32>,
        /// What the slot holds with it.
        held: Held,
    },
    /// The sectors of `missing` of the unit in `slot` are those that lie at `from`; zeroes, if that is nowhere.
    Completed {
        /// The slot.
        slot: u32,
        /// What it holds with them.
        held: Held,
        /// One bit for each sector.
        missing: u64,
        /// A unit on flash.
        from: UnitAddr,
    },
    /// The sectors of `missing` of the unit in `slot` are lost: what there is of them is refused.
    Refused {
        /// The slot.
        slot: u32,
        /// One bit for each sector.
        missing: u64,
    },
    /// Capacitors are to keep what [`crate::Ftl::take_kept_fact`] says.
    Kept,
    /// The controller's register has been overwritten with the key of this commit's table: no table before can be opened any more.
    Register {
        /// The commit's number.
        commit: u64,
    },
}

/// One unit of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Host data.
    Buffered {
        /// The buffer slot that holds the bytes.
        slot: u32,
        /// The version to be marked on the unit. Versions count the host's writes of the core, so the newest write of a unit has its highest.
        version: u64,
        /// It may stay readable once it is stale; marked, too.
        insecure: bool,
    },
    /// A copy, whose bytes and mark are those of its source.
    Moved {
        /// The source.
        from: UnitAddr,
    },
    /// Padding without data.
    Padding,
    /// A part of the journal, as long as a unit: its bytes are [`crate::Ftl::journal_bytes`], its mark has [`crate::JOURNAL`] for a logical unit and this
    /// version.
    Journal {
        /// Which part of the program.
        unit: u32,
        /// The generation of the journal.
        version: u64,
    },
    /// A part of a checkpoint: its bytes are [`crate::Ftl::checkpoint_bytes`], its mark has [`crate::CHECKPOINT`] for a logical unit and this version.
    Checkpoint {
        /// Which part of the program.
        unit: u32,
        /// The checkpoint's number.
        version: u64,
    },
    /// A part of the key store, as long as a unit: its bytes are [`crate::Ftl::key_bytes`], its mark has [`crate::KEYS`] for a logical unit and this version.
    Keys {
        /// Which part of the program.
        unit: u32,
        /// The number of the commit.
        version: u64,
    },
    /// A part of the summary of a block group, as long as a unit: its bytes are [`crate::Ftl::oob_bytes`], its mark has [`crate::OOB`] for a logical unit.
    Oob {
        /// Which part of the program.
        unit: u32,
    },
}

/// Where the newest bytes of a unit are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// A buffer slot, and which of the unit's sectors it holds, one bit each.
    pub buffered: Option<(u32, u64)>,
    /// Where the other sectors are; nowhere: they are zeroes.
    pub on_flash: UnitAddr,
    /// The other sectors are not to be handed out.
    pub is_refused: bool,
}
