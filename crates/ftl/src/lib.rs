//! The firmware: map, buffer, place, reclaim, level, retire — sans-IO.
//!
//! An [`Ftl`] is one firmware core with its dies. It has no clock, no thread, no file and no way to learn about cells but flash commands and their
//! reports: this crate cannot name the crates that know physics. The same object runs in virtual time, behind a real block device and in the proving
//! ground.
//!
//! ```text
//!   host ──submit──►  ┌────────────┐  ──acknowledge──► host
//!                     │    Ftl     │
//!   die ──report───►  │ map groups │  ──speak────────► die
//!   die ──die_ready►  │   buffer   │
//!   time ──tick────►  └────────────┘  ──note─────────► log
//! ```

mod audit;
mod buffer;
mod checkpoint;
mod checkpoint_page;
pub mod config;
mod construct;
mod data;
mod die;
mod divisor;
mod duties;
mod findings;
mod firmware;
pub mod groups;
mod history;
mod host;
mod idle;
pub mod image;
mod index;
mod journal;
mod journal_page;
mod journal_write;
mod key_page;
mod key_recover;
mod key_write;
mod keys;
pub mod layout;
mod list;
pub mod map;
mod memos;
pub mod oob;
mod operations;
pub mod order;
mod own;
mod permutation;
mod reclaim;
mod recover;
mod refused;
pub mod request;
mod retire;
mod sanitise;
mod schedule;
pub mod scheduler;
mod secrets;
mod settings;
mod steady;
pub mod survey;
pub mod techniques;
pub mod victim;
pub mod view;
mod wear;

pub use checkpoint::CHECKPOINT;
pub use checkpoint_page::{CheckpointPage, KnownGroup, KnownState, Said};
pub use config::Config;
pub use data::{Carried, DataStep, Newest};
pub use firmware::Ftl;
pub use journal::JOURNAL;
pub use journal_page::{Facts, History, Page as JournalPage, Record, Serial};
pub use key_page::{KeyFacts, KeyPage, Tree, most_leaves};
pub use keys::{KEYS, Key, key_groups};
pub use layout::{Group, Layout, UnitAddr};
pub use memos::{Owner, WrittenMemo};
pub use oob::OOB;
pub use oob::kept::{FACTS, fact_bytes};
pub use oob::page::{Filling, MarkCopy, OobPage, ProgramMarks};
pub use own::{data_units, fits, own_groups};
pub use recover::{Recovery, Trust};
pub use request::{Acknowledgement, Note, Request};
pub use survey::{BlockRecord, Found, Held, PagePlace, Survey};
