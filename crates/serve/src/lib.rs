//! Disks on sockets: a server of the network block device protocol in plain threads.
//!
//! ```text
//! client ── socket ── Connection (one thread reads, one writes; the protocol is crates/nbd) ◄── Answer ─── Disk
//! ```
//!
//! The server knows nothing of what a disk is: the drive, and the tests' array of bytes, are behind the same trait, [`wordline_block::Disk`].
//!
//! A disk that answers at once costs no switch of threads: the thread that read a batch of requests also sends their answers, in one go. Where answers come
//! later, the connection's second thread sends them.
//!
//! **Peers are not trusted.** There are so many connections and no more, with places of their own for those that have not shown who they are; each holds no
//! more than its [`wordline_nbd::Limits`], and all together no more than [`Config::memory_bound`]; a peer that takes longer for its negotiation, stays silent
//! in the middle of a message, or does not take its answers, is dropped after [`Patience`]. On TCP addresses that others can reach, nothing but TLS is spoken.

mod connection;
mod inlet;
mod link;
mod listener;
mod patience;
mod places;
mod tickets;
mod tls;

pub use link::{Link, measure_link};
pub use listener::{Config, Running, ServeError, open_door, serve, serve_on};
pub use patience::Patience;
pub use tls::{Peers, TlsError, TlsKeys};
