//! The protocol from outside: golden bytes, any split of the stream, a byte-array twin, bounds, and peers that mean harm.

mod bounds;
mod common;
mod golden;
mod hostile;
mod refusals;
mod split;
mod tls;
mod twin;
