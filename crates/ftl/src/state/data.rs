//! Data steps: what a drive that keeps data has to do with the bytes.
//!
//! The firmware moves numbers, not bytes: a drive that keeps data stores the bytes of each buffer slot beside the firmware and the rest on flash. Here the
//! firmware says what has to be done with them, in the order in which it happened. In a simulation nothing is noted and nothing costs.

use wordline_units::{Attributes, Cause, Lpn};

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
    /// A fact for the capacitors to keep is ready: see [`crate::Firmware::take_kept_fact`].
    Kept,
    /// The controller's register has been overwritten with the key of this commit's table: no earlier table can be opened any more.
    Register {
        /// Number of the commit.
        commit: u64,
    },
}

/// Logical unit in the spare areas of journal pages.
pub const JOURNAL: Lpn = Lpn(u32::MAX - 1);
/// Logical unit in the spare areas of pages of a checkpoint.
pub const CHECKPOINT: Lpn = Lpn(u32::MAX - 2);
/// Logical unit in the spare areas of pages of the key store.
pub const KEYS: Lpn = Lpn(u32::MAX - 3);
/// Logical unit in the spare areas of summary pages.
pub const OOB: Lpn = Lpn(u32::MAX - 4);

/// Kind of the pages that a core writes for itself. The logical unit in their spare areas tells them from data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// The journal of trims, memos and marks.
    Journal,
    /// A checkpoint of the map.
    Checkpoint,
    /// The key store of a technique that destroys keys.
    Keys,
    /// The summary of a block group: the second copy of its out-of-band marks.
    Summary,
}

impl MetadataKind {
    /// Logical unit in the spare areas of such pages.
    pub const fn lpn(self) -> Lpn {
        match self {
            MetadataKind::Journal => JOURNAL,
            MetadataKind::Checkpoint => CHECKPOINT,
            MetadataKind::Keys => KEYS,
            MetadataKind::Summary => OOB,
        }
    }

    /// Cause of their programs.
    pub(crate) const fn cause(self) -> Cause {
        match self {
            MetadataKind::Keys => Cause::Keys,
            MetadataKind::Journal | MetadataKind::Checkpoint | MetadataKind::Summary => Cause::Recovery,
        }
    }
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
        /// Attributes of the writes that brought the data. Data that is not secure is marked so.
        attributes: Attributes,
    },
    /// Moved data, whose bytes and mark are those of its source.
    Moved {
        /// Address of the source.
        from: UnitAddr,
    },
    /// Padding without data.
    Padding,
    /// A unit-sized part of metadata. Its bytes are [`crate::Firmware::metadata_bytes`], its mark has [`MetadataKind::lpn`] for a logical unit and this
    /// version.
    Metadata {
        /// Kind of the metadata.
        kind: MetadataKind,
        /// Index of the part in the program.
        unit: u32,
        /// Number that orders the metadata of one kind: the generation of the journal, or the number of the checkpoint or of the commit of keys. Summaries have
        /// none, and 0.
        version: u64,
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
