//! Doors: addresses of servers, arrival of clients, and the wait until a client has sent something.
//!
//! A server's thread waits in a [`Hall`] for clients that come through its [`Listener`]. A client that has sent enough leaves the hall and gets a thread.
//! [`Clients`] are those of a server that answers one question at a time. If there is no place for one more, another one leaves ([`to_go`]).

mod address;
mod clients;
mod hall;
mod rank;

pub use address::{Address, Closer, ListenError, Listener, SocketFile, Stream};
pub use clients::{Client, Clients};
pub use hall::{Hall, Manners, News};
pub use rank::{Origin, Standing, to_go};
