//! Steps of single mapping units, for observers that follow them.
//!
//! Events are what a drive does. The place of each unit takes more, a step for every unit of every program, and few observers need it: only those that follow
//! units ([`Observer::follows`](crate::Observer::follows)) get steps, and the event log has none of them.
//!
//! Each [`UnitStep::Taken`] of a die is followed by one [`UnitStep::Landed`] of the same die, in the same order, since a die programs one thing at a time.
//! Steps of a program that has ended come after its event. What is mapped when the watching begins, the drive can tell.

use wordline_units::{BlockId, DieId};

/// Where a mapping unit lies on flash, or lay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitPlace {
    /// The die, counted over the drive.
    pub die: DieId,
    /// The block of the die's first plane; it stands for its whole group.
    pub block: BlockId,
    /// The unit's place in the group, in the order in which it is programmed.
    pub offset: u32,
}

/// A step of one unit, or of what lay in one block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitStep {
    /// The program or copyback that a die was ordered to do carries this unit next.
    Taken {
        /// The die.
        die: DieId,
        /// The unit of the drive; nothing for padding and what the firmware keeps for itself.
        unit: Option<u64>,
        /// Where a copy comes from; nothing for what comes out of the write buffer.
        from: Option<UnitPlace>,
    },
    /// It is on flash, or the program that carried it has failed and may have left it there.
    Landed {
        /// Where the unit lies.
        place: UnitPlace,
        /// Whether the map leads there now. It does not, if the host has overwritten or trimmed the unit meanwhile.
        is_live: bool,
    },
    /// The host has trimmed the unit, and the map leads nowhere.
    Unmapped {
        /// The unit of the drive.
        unit: u64,
    },
    /// What lay in a part of a block group is no longer there for anybody.
    Gone {
        /// Its die.
        die: DieId,
        /// Its block in the die's first plane.
        block: BlockId,
        /// The first place that holds nothing now.
        first: u32,
        /// How many places.
        units: u32,
    },
}
