//! What a run can get wrong about itself.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_units::Nanos;

/// The accounts that every run is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// Instants never go back.
    TimeOrder,
    /// A request completes once, after it arrived, and its id is free before it is used again.
    ArrivalsAndCompletions,
    /// A completion has the operation, size, priority and arrival of the request that arrived.
    SameRequest,
    /// The stages of a request sum exactly to its latency.
    StageSum,
    /// Over every window, the integral of the number of requests in flight equals the time the requests spent in the drive.
    LittlesLaw,
    /// At the end of a run, the requests without a completion are those that the drive still holds.
    NothingLost,
    /// A die does one thing at a time: the work of its operations fits between their issue and their end.
    DieCapacity,
    /// A channel bus moves one transfer at a time.
    ChannelCapacity,
    /// Cores and DRAM are held no longer than there was time.
    CoreAndDramCapacity,
    /// Events name dies and channels that the drive has.
    KnownParts,
    /// Valid mapping units before, plus those programmed, less those invalidated, are the valid mapping units after.
    ValidUnits,
}

impl Account {
    /// All accounts, in the order tables list them.
    pub const ALL: [Account; 11] = [
        Account::TimeOrder,
        Account::ArrivalsAndCompletions,
        Account::SameRequest,
        Account::StageSum,
        Account::LittlesLaw,
        Account::NothingLost,
        Account::DieCapacity,
        Account::ChannelCapacity,
        Account::CoreAndDramCapacity,
        Account::KnownParts,
        Account::ValidUnits,
    ];

    /// What a person reads.
    pub const fn name(self) -> &'static str {
        match self {
            Account::TimeOrder => "time never goes back",
            Account::ArrivalsAndCompletions => "each arrival completes once",
            Account::SameRequest => "completions match their arrivals",
            Account::StageSum => "stages sum to the latency",
            Account::LittlesLaw => "Little's law",
            Account::NothingLost => "no request is lost",
            Account::DieCapacity => "a die does one thing at a time",
            Account::ChannelCapacity => "a channel moves one transfer at a time",
            Account::CoreAndDramCapacity => "cores and DRAM within their time",
            Account::KnownParts => "dies and channels exist",
            Account::ValidUnits => "valid units are conserved",
        }
    }
}

/// An account that does not balance: the run is wrong and its figures must not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The account.
    pub account: Account,
    /// How often it failed.
    pub count: u64,
    /// The simulated instant of the first failure.
    #[schemars(extend("x-unit" = "ns"))]
    pub first_ns: u64,
    /// What the first failure looked like.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { String::new() } else { format!(", {} times", self.count) };
        write!(f, "{} violated{times}; first at {}: {}", self.account.name(), Nanos(self.first_ns), self.message)
    }
}

/// The violations found so far, at most one entry per account.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    entries: [Option<Violation>; Account::ALL.len()],
}

impl Found {
    #[cold]
    #[inline(never)]
    pub(crate) fn add(&mut self, account: Account, at: Nanos, message: impl FnOnce() -> String) {
        match &mut self.entries[account as usize] {
            Some(known) => known.count += 1,
            empty => *empty = Some(Violation { account, count: 1, first_ns: at.0, message: message() }),
        }
    }

    pub(crate) fn list(&self) -> Vec<Violation> {
        self.entries.iter().flatten().cloned().collect()
    }
}
