//! Fits of chips to histograms: files that are refused, chips that come back, and the measured chip that comes with Wordline.

mod measured;
#[path = "../../../../xtask/src/suite/outside.rs"]
#[allow(dead_code, reason = "no test here needs a program")]
mod outside;
mod refused;
mod synthetic;
