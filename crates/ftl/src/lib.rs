//! The firmware: map, buffer, place, GC, level, retire — sans-IO.
//!
//! An [`Firmware`] is one firmware core with its dies. It has no clock, no thread, no file and no way to learn about cells but flash commands and their
//! reports: this crate cannot name the crates that know physics. The same object runs in virtual time, behind a real block device and in the proving
//! ground.
//!
//! ```text
//!   host ──submit────►  ┌────────────┐  ──acknowledge─────► host
//!                       │    Ftl     │
//!   die ──report─────►  │ map groups │  ──next_operation──► die
//!   die ──die_ready──►  │   buffer   │  ──next_try────────► die
//!   time ──tick──────►  └────────────┘  ──note────────────► log
//! ```

pub mod config;
mod die_failure;
mod dispatch;
pub mod driver;
mod firmware;
pub mod free_block;
mod gc;
mod host;
mod metadata;
mod news;
mod pages;
mod placement;
mod recovery;
pub mod retirement;
mod sanitise;
pub mod scheduler;
mod setup;
mod state;
pub mod techniques;
mod util;
pub mod victim;

pub use config::Config;
pub use dispatch::load::Load;
pub use dispatch::unrest::Unrest;
pub use firmware::{Firmware, Lost, PastErase};
pub use pages::checkpoint::{CheckpointPage, KnownGroup, KnownState, Said};
pub use pages::journal::{Facts, History, Owner, Page as JournalPage, Record, Serial, WrittenMemo};
pub use pages::kept::{FACTS, fact_bytes};
pub use pages::keys::{KeyFacts, KeyPage, Tree, most_leaves};
pub use pages::oob::{Filling, MarkCopy, OobPage, ProgramMarks};
pub use recovery::flash_reader::{self, BlockRecord, FlashReader, Found, Held, PagePlace};
pub use recovery::salvage::{Doubt, Doubtful};
pub use recovery::{Recovery, Trust};
pub use sanitise::keys::Key;
pub use setup::budget::{data_units, fits, key_groups, least_units, metadata_groups, spare_share, spares_fit};
pub use setup::image;
pub use setup::leap::Skipped;
pub use setup::waits::WaitTables;
pub use state::data::{CHECKPOINT, Carried, DataStep, JOURNAL, KEYS, MetadataKind, Newest, OOB};
pub use state::grants::Refusal;
pub use state::layout::{BlockGroup, Layout, UnitAddr};
pub use state::levelled::{Share, most_usual};
pub use state::request::{Acknowledgement, Deeds, Note, Request};
pub use state::rewrites::RewriteCounts;
pub use state::room::SpareCounts;
pub use state::services::ServiceTables;
pub use state::spared::Spared;
pub use state::withheld::{LostRun, Withheld};
pub use state::{groups, layout, map, request, view, wordline_order};
