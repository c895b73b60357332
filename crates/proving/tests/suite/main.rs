//! The proving suite in one program, so that its tests share the machine's cores.

mod ages;
mod composition;
mod conformance;
mod copied;
mod cuts;
mod determinism;
mod failing;
mod guarded;
mod hashes;
mod keys;
mod last_resort;
mod masks;
mod naive;
mod orders;
mod pacing;
mod peers;
mod physics;
mod queueing;
mod quotas;
mod recovery;
mod room;
mod spared_room;
mod theory;
mod twin;
mod wear;
mod whole;
