//! The network block device protocol (NBD), as values: bytes in, requests out, replies in, bytes out.
//!
//! ```text
//! socket ── bytes ──► Server::receive      Server::next ──► Opened, Request, StartTls, Closed
//! socket ◄─ bytes ─── Server::output       Server::reply ◄── Reply
//! ```
//!
//! Nothing here opens a socket, starts a thread or knows a clock, so the same code stands behind a real server, a test that cuts the byte stream
//! anywhere, and a fuzzer. Requests and replies are those of `wordline-block`. The wire's numbers are from `doc/proto.md` of the NBD project, all in
//! [`wire`].
//!
//! What is spoken: fixed newstyle negotiation with `GO`, `INFO`, `LIST`, `EXPORT_NAME`, structured replies with holes and error offsets, block status in
//! any number of metadata contexts, the hand-over to TLS, and the extended headers with 64-bit lengths that are still an extension. What is not: oldstyle
//! negotiation, `RESIZE`, and status replies limited to some of the contexts.
//!
//! **Whatever a peer sends**, a [`Server`] ends in a [`Close`] or an error of the protocol, never in a panic, and holds no more than [`Limits`] say: where it
//! would hold more it takes no more input.

pub mod client;
mod close;
mod encode;
mod export;
mod fields;
mod limits;
mod meta;
mod negotiate;
mod request;
mod server;
mod settings;
mod stage;
mod transmit;
pub mod wire;

pub use close::Close;
pub use export::{ALLOCATION, Access, Chosen, Context, Export};
pub use limits::Limits;
pub use request::{Request, Ticket};
pub use server::{Event, Lent, Server};
pub use settings::{Opened, Settings, Tls};
