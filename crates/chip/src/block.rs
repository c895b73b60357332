//! What a die knows about one physical block.

use crate::spare::Spare;

/// One erase block of one plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Block {
    /// What its pages hold.
    pub(crate) spare: Spare,
    /// Erases so far, failed ones included.
    pub(crate) erases: u32,
    /// Pages read since the last erase.
    pub(crate) reads: u32,
    /// Pages programmed since the last erase. On a die that programs them in order, it is the only one that may be programmed next.
    pub(crate) next_page: u16,
    /// Whether it may be used at all.
    pub(crate) state: State,
}

/// Whether a block can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum State {
    /// It can.
    #[default]
    Usable,
    /// Its last erase failed or was abandoned: nothing in it can be read or programmed before an erase succeeds.
    Torn,
    /// It left the factory with the bad-block mark.
    FactoryBad,
}

const _: () = assert!(size_of::<Block>() <= 40, "a 32-TB drive has millions of these");
