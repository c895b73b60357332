//! Block devices, as values: operations, replies, and what passes between a disk and those who ask it.
//!
//! Nothing here is a protocol, opens a socket or starts a thread. A protocol turns its bytes into these values, and a disk answers them, whoever asks.

mod errno;
mod op;
mod reply;
mod status;

pub use errno::Errno;
pub use op::{Op, ZeroHow};
pub use reply::{Failure, Piece, Reply};
pub use status::{ContextStatus, Extent, allocation};
