//! The firmware.
pub mod config;
pub mod techniques;
pub mod victim;

pub use config::Config;
