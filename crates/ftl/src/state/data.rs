//! Data steps: what a drive that keeps data has to do with the bytes.
//!
//! The firmware moves numbers, not bytes: a drive that keeps data stores the bytes of each buffer slot beside the firmware and the rest on flash. Here the
//! firmware says what has to be done with them, in the order in which it happened. In a simulation nothing is noted and nothing costs.

use crate::state::buffer::Held;
use crate::state::layout::UnitAddr;

/// A step to be done with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataStep {
    /// The `index`-th unit of the write `request` was taken into `slot`: its sectors go over what the slot holds.
    Stored {
        /// Id of the request.
        request: u32,
        /// Index of the unit among the request's units.
        index: u32,
        /// Slot that takes the unit.
        slot: u32,
        /// Slot of the older version that is being programmed: its bytes come first.
        continues: Option<u32>,
        /// Content of the slot after the step.
        held: Held,
    },
    /// The sectors of `missing` of the unit in `slot` were read from `from`; they are zeroes if `from` is no address.
    Completed {
        /// Slot that is completed.
        slot: u32,
        /// Content of the slot after the step.
        held: Held,
        /// Sectors that were missing, one bit each.
        missing: u64,
        /// Address that the missing sectors are read from.
        from: UnitAddr,
    },
    /// The sectors of `missing` of the unit in `slot` are lost: reads of them are refused.
    Refused {
        /// Slot that is completed.
        slot: u32,
        /// Sectors that are lost, one bit each.
        missing: u64,
    },
    /// A fact for the capacitors to keep is ready: see [`crate::Ftl::take_kept_fact`].
    Kept,
    /// The controller's register has been overwritten with the key of this commit's table: no earlier table can be opened any more.
    Register {
        /// Number of the commit.
        commit: u64,
    },
}

/// Content of one unit of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Host data from the write buffer.
    Buffered {
        /// The buffer slot that holds the bytes.
        slot: u32,
        /// Version to be marked on the unit. Versions count the host's writes of the core, so the newest write of a unit has its highest.
        version: u64,
        /// True if the data may stay readable once it is stale; this is marked, too.
        insecure: bool,
    },
    /// Moved data, whose bytes and mark are those of its source.
    Moved {
        /// Address of the source.
        from: UnitAddr,
    },
    /// Padding without data.
    Padding,
    /// A unit-sized part of the journal. Its bytes are [`crate::Ftl::journal_bytes`], its mark has [`crate::JOURNAL`] for a logical unit and this version.
    Journal {
        /// Index of the part in the program.
        unit: u32,
        /// Generation of the journal.
        version: u64,
    },
    /// A unit-sized part of a checkpoint. Its bytes are [`crate::Ftl::checkpoint_bytes`], its mark has [`crate::CHECKPOINT`] for a logical unit and this
    /// version.
    Checkpoint {
        /// Index of the part in the program.
        unit: u32,
        /// Number of the checkpoint.
        version: u64,
    },
    /// A unit-sized part of the key store. Its bytes are [`crate::Ftl::key_bytes`], its mark has [`crate::KEYS`] for a logical unit and this version.
    Keys {
        /// Index of the part in the program.
        unit: u32,
        /// Number of the commit.
        version: u64,
    },
    /// A unit-sized part of the summary of a block group. Its bytes are [`crate::Ftl::oob_bytes`], its mark has [`crate::OOB`] for a logical unit.
    Oob {
        /// Index of the part in the program.
        unit: u32,
    },
}

/// Location of the newest bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// Buffer slot, and the sectors of the unit that it holds, one bit each.
    pub buffered: Option<(u32, u64)>,
    /// Address of the other sectors on flash; [`UnitAddr::NONE`]: they are zeroes.
    pub on_flash: UnitAddr,
    /// True if the other sectors must not be returned to the host.
    pub is_refused: bool,
}
