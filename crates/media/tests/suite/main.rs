//! The media from outside: against a twin, cut at every write, rotten, out of space, killed, and in real files.

mod common;
mod cuts;
mod dump;
mod failures;
mod faults;
mod files;
mod harm;
mod held;
mod host_loss;
mod killed;
mod rot;
mod twin;
