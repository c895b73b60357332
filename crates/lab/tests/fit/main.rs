//! Fits of chips to histograms: files that are refused, chips that come back, and the measured chip that comes with Wordline.

mod measured;
mod refused;
mod synthetic;
