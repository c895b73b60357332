//! Reasons of techniques to have no opinion, which are counted and decide nothing.

/// Reason why a technique has no opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The question does not concern it now.
    NoConcern,
    /// Nothing that it goes by has been measured.
    Unmeasured,
    /// The case is beyond its table.
    BeyondTable,
    /// The allowance of its table has been used up.
    UsedUp,
    /// Data has been kept for longer than its table is made for, or since an unknown day.
    KeptTooLong,
}

impl Why {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Why; 5] = [Why::NoConcern, Why::Unmeasured, Why::BeyondTable, Why::UsedUp, Why::KeptTooLong];

    /// Words for the reason, after "abstained: ".
    pub const fn words(self) -> &'static str {
        match self {
            Why::NoConcern => "no concern of it",
            Why::Unmeasured => "not measured",
            Why::BeyondTable => "beyond its table",
            Why::UsedUp => "allowance used up",
            Why::KeptTooLong => "kept too long",
        }
    }
}
