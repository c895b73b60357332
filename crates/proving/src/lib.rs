//! The proving ground: everything that asks whether the rest of the workspace is right. Nobody depends on it, and it may depend on everybody.
//!
//! Each module is one oracle or one tool of an oracle, and each oracle says what it does *not* check:
//!
//! ```text
//!   swarm ──options──► harness ──ops──► flash     (NAND rules, contents); pace says when
//!                         │
//!                         └──events──► twin       (what every logical unit must hold)
//!   naive ── a page-level firmware in a hundred lines, to be met exactly
//!   theory ─ closed forms, to be met within a tolerance
//!   bench ── whole drives by hand, and observers that count
//! ```

pub mod bench;
pub mod bystander;
pub mod chain;
pub mod conformance;
pub mod core;
pub mod cut;
pub mod dice_stops;
pub mod flash;
mod grants;
pub mod harness;
pub mod hashes;
mod hints;
pub mod interactions;
mod masks;
pub mod naive;
mod offsets;
mod pace;
pub mod parker;
pub mod shape;
pub mod stand_in;
pub mod swarm;
pub mod tables;
pub mod theory;
pub mod twin;

/// How many times as long as usual the suite is asked to look: `WORDLINE_LONG=1` multiplies seeds and steps.
pub fn effort() -> u64 {
    if std::env::var_os("WORDLINE_LONG").is_some_and(|value| value != "0") { 20 } else { 1 }
}
