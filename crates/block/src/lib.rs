//! Block devices, as values: operations and replies, and what passes between a disk and those who ask it.
//!
//! ```text
//! protocol ── Op ──► Disk::submit(op, session, done)      Done ── Answer ──► Requester
//! ```
//!
//! A [`Disk`] is handed operations and answers each of them through its [`Done`], at once or from another thread and in any order. A [`Requester`] gets the
//! answers: a connection that turns them into the bytes of a protocol, or something inside the process.
//!
//! Nothing here is a protocol, opens a socket or starts a thread. To ask costs no allocation: a requester is shared, and names its requests by tags.

mod disk;
mod done;
mod errno;
pub mod hints;
mod op;
mod reply;
mod status;

pub use disk::{Description, Disk, Farewell, Session, Visit};
pub use done::{Answer, Batch, Done, Fill, Requester};
pub use errno::Errno;
pub use hints::Hints;
pub use op::{Op, ZeroHow};
pub use reply::{Failure, Piece, Reply};
pub use status::{ContextStatus, Extent, allocation};
