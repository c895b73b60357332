//! A live drive: the same object that runs in virtual time, with bytes, on the wall's clock, and everything that keeps it.
//!
//! ```text
//! Disk::submit ─► inbox ─► worker ── HostRequests ──► Drive (virtual time) ── Completed ──► Done
//! control      ─►           └── clock: virtual time may not run ahead of the wall's
//! ```
//!
//! One thread owns the drive. With [`Timing::Off`], virtual time runs as fast as the machine does, and an answer is sent as soon as the drive has
//! it. With [`Timing::Real`], nothing is done before its instant has come on the wall's clock, or comes
//! once the answer has reached the client ([`LiveDisk::allow_for`]): an answer is never early there, and its lateness is measured.
//!
//! **Replay.** Every request arrives at an instant of its own, at which nothing else happens. The requests with their instants are therefore the whole
//! input from outside: on the same drive in virtual time they lead to the same events, to the last bit of the event log's hash.
//!
//! **No protocol of disks.** A [`LiveDisk`] is a [`wordline_block::Disk`], and any [`wordline_block::Requester`] can ask it: something inside the process, or
//! a connection of `wordline-serve`. The control socket speaks lines of JSON, and the metrics HTTP; [`doors`] are where their clients come in, and those of
//! other servers.

mod ask;
mod clock;
mod control;
mod disk;
pub mod doors;
mod errand;
mod faults;
mod hints;
mod hints_file;
mod host;
mod keeper;
mod lost;
mod memory;
mod metrics;
mod pieces;
mod record;
mod smart;
mod snapshot;
mod status;
mod stop;
mod store;
mod taken;
mod worker;

pub use ask::{Look, Place};
pub use clock::Timing;
pub use control::{Command, ControlSocket, commands, control, control_on, open_control};
pub use disk::{About, LiveDisk, Watch, watch};
pub use hints::Change;
pub use keeper::{Keeper, Refused};
pub use lost::LostFound;
pub use memory::MemoryDisk;
pub use metrics::{Family, Kind, MetricsDoor, MetricsServer, metrics, open_metrics, serve_metrics};
pub use smart::{Life, Smart};
pub use stop::Stop;
pub use store::{LookedAt, MediaPayload, MediaStore, Opened, look_at, open_or_make, replace_missing};
pub use taken::Taken;
pub use wordline_media::{Durability, Folder, MediaError};
pub use worker::Lateness;
