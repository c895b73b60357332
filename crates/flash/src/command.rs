//! Commands at the pins of one die.

use wordline_units::{BlockId, Bytes, PageId, PlaneId};

use crate::sanitisation::Sanitisation;

/// The most planes a die may have.
pub const PLANES_MAX: usize = 4;

/// A set of planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneSet(pub u8);

impl PlaneSet {
    /// The first `count` planes.
    pub const fn first(count: u32) -> PlaneSet {
        PlaneSet(((1u16 << count) - 1) as u8)
    }

    /// Just `plane`.
    pub const fn one(plane: PlaneId) -> PlaneSet {
        PlaneSet(1 << plane.0)
    }

    /// How many planes it has. By table, because the baseline processor has no instruction that counts bits.
    #[inline]
    pub const fn len(self) -> u32 {
        const COUNTS: [u8; 1 << PLANES_MAX] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
        COUNTS[self.0 as usize % COUNTS.len()] as u32
    }

    /// Whether it has none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The lowest plane, if there is one.
    #[inline]
    pub const fn first_plane(self) -> Option<PlaneId> {
        if self.0 == 0 { None } else { Some(PlaneId(self.0.trailing_zeros() as u8)) }
    }

    /// The planes, lowest first.
    pub fn iter(self) -> impl Iterator<Item = PlaneId> {
        (0..PLANES_MAX as u8).filter(move |plane| self.0 & 1 << plane != 0).map(PlaneId)
    }
}

/// Where a command acts: the same page of one block in each plane of a set. The blocks may differ, because a bad block is replaced by a spare of its own plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The planes that take part.
    pub planes: PlaneSet,
    /// The block in each plane; entries outside `planes` mean nothing.
    pub blocks: [u16; PLANES_MAX],
    /// The page, the same in every plane.
    pub page: PageId,
}

impl Target {
    /// One page of one block in one plane.
    pub fn single(plane: PlaneId, block: BlockId, page: PageId) -> Target {
        let mut blocks = [0; PLANES_MAX];
        blocks[plane.0 as usize] = block.0 as u16;
        Target { planes: PlaneSet::one(plane), blocks, page }
    }

    /// The block in `plane`.
    pub fn block(&self, plane: PlaneId) -> BlockId {
        BlockId(u32::from(self.blocks[plane.0 as usize]))
    }
}

/// A setting of a die that firmware can change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The transfer mode of the interface, as the data sheet numbers it.
    InterfaceMode,
    /// Output drive strength, as the data sheet numbers it.
    DriveStrength,
    /// Which entry of the vendor's read-retry table the next reads use; 0 is the default.
    ReadLevel,
    /// By how many microvolts V_start of the next programs is raised. See [`crate::ProgramSettings`].
    WindowStart,
    /// By how many microvolts their V_final is lowered.
    WindowEnd,
    /// How many microvolts below its default R1 stands while cells between the erased state and P1 are counted.
    CountBelow,
    /// Verifies left out by the next programs: states P1 to P4, lowest byte first.
    VerifySkip1,
    /// The same of P5 to P8.
    VerifySkip5,
    /// The same of P9 to P12.
    VerifySkip9,
    /// The same of P13 to P15.
    VerifySkip13,
    /// What the last program was like; to be asked for, not to be set. See [`crate::ProgramTrace`].
    ProgramTrace,
    /// Shifts of read references 1 to 4 from those of the entry that [`Feature::ReadLevel`] selects. See [`crate::ReadOffsets`].
    ReadOffsets1,
    /// The same of references 5 to 8.
    ReadOffsets5,
    /// The same of references 9 to 12.
    ReadOffsets9,
    /// The same of references 13 to 15.
    ReadOffsets13,
    /// What the last erase was like; to be asked for, not to be set. See [`crate::EraseTrace`].
    EraseTrace,
    /// Wordlines 0 to 31 that the next erase spares. See [`crate::EraseSettings`].
    Spare0,
    /// Wordlines 32 to 63 that the next erase spares. See [`crate::EraseSettings`].
    Spare1,
    /// The same of wordlines 64 to 95.
    Spare2,
    /// The same of wordlines 96 to 127.
    Spare3,
    /// The same of wordlines 128 to 159.
    Spare4,
    /// The same of wordlines 160 to 191.
    Spare5,
    /// The same of wordlines 192 to 223.
    Spare6,
    /// The same of wordlines 224 to 255.
    Spare7,
    /// The same of wordlines 256 to 287.
    Spare8,
    /// The same of wordlines 288 to 319.
    Spare9,
    /// The same of wordlines 320 to 351.
    Spare10,
    /// The same of wordlines 352 to 383.
    Spare11,
    /// The same of wordlines 384 to 415.
    Spare12,
    /// The same of wordlines 416 to 447.
    Spare13,
    /// The same of wordlines 448 to 479.
    Spare14,
    /// The same of wordlines 480 to 511.
    Spare15,
}

impl Feature {
    /// How many there are.
    pub const COUNT: usize = Feature::Spare15 as usize + 1;
    /// The registers of shifted read references, lowest references first.
    pub const READ_OFFSETS: [Feature; 4] = [Feature::ReadOffsets1, Feature::ReadOffsets5, Feature::ReadOffsets9, Feature::ReadOffsets13];
    /// The registers of spared wordlines, lowest wordlines first.
    pub const SPARES: [Feature; 16] = [
        Feature::Spare0,
        Feature::Spare1,
        Feature::Spare2,
        Feature::Spare3,
        Feature::Spare4,
        Feature::Spare5,
        Feature::Spare6,
        Feature::Spare7,
        Feature::Spare8,
        Feature::Spare9,
        Feature::Spare10,
        Feature::Spare11,
        Feature::Spare12,
        Feature::Spare13,
        Feature::Spare14,
        Feature::Spare15,
    ];
    /// The registers of skipped verifies, lowest states first.
    pub const VERIFY_SKIPS: [Feature; 4] = [Feature::VerifySkip1, Feature::VerifySkip5, Feature::VerifySkip9, Feature::VerifySkip13];
}

/// How an operation is stopped, from the gentler way to the harder one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// At the end of the step that the array is doing, of an incremental step pulse program or erase. A die without such stops takes a fixed time.
    AtStep,
    /// At once. The step that the array was doing is done again after the resume.
    Now,
}

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Sense a page of each plane into its data register; with `cache`, the array may start while the cache register still puts out the page before.
    Read {
        /// The page to sense.
        target: Target,
        /// Use the cache register.
        cache: bool,
    },
    /// Put out `bytes` of the sensed page.
    DataOut {
        /// How much.
        bytes: Bytes,
    },
    /// Take in the data of the next program.
    DataIn {
        /// How much.
        bytes: Bytes,
    },
    /// Program what was taken in: one page, or all pages of a wordline in one shot, as the sheet's [`crate::ProgramScope`] says. With `cache`, the
    /// next data may be taken in while the array works.
    Program {
        /// Where; for a one-shot program, the first page of the wordline.
        target: Target,
        /// Use the cache register.
        cache: bool,
    },
    /// Program the page that the register still holds from a [`Command::Read`] into another block of the same plane.
    CopybackProgram {
        /// Where to.
        target: Target,
    },
    /// Erase a block in each plane.
    Erase {
        /// Where; the page means nothing.
        target: Target,
    },
    /// Make programmed pages unreadable without an erase: the page of `target` in each plane, or its wordline, or its block, as `how` says. There is no
    /// command that takes it back; only an erase ends it, and what the pages hold with it.
    Sanitise {
        /// The pages to sanitise.
        target: Target,
        /// The method of sanitising.
        how: Sanitisation,
    },
    /// Stop a program or an erase. One that is on its way to a stop at the end of a step may still be stopped at once.
    Suspend {
        /// How soon.
        stop: Stop,
    },
    /// Go on with what was suspended.
    Resume,
    /// Change a setting.
    SetFeature {
        /// The setting to change.
        feature: Feature,
        /// To what.
        value: u32,
    },
    /// Ask for a setting.
    GetFeature {
        /// The setting to read.
        feature: Feature,
    },
    /// Ask whether the last operation went well. Legal at any time.
    Status,
    /// Break off the sensing of a page. The registers hold nothing afterwards, and what was being done is not gone on with.
    Abort,
    /// Abandon whatever is going on.
    Reset,
}
