//! Leaps: what techniques are told of cycles that are not simulated.

/// Cycles that a drive has skipped: its life was not simulated from one epoch to a later one like it.
#[derive(Clone, Copy, Debug)]
pub struct Leap<'a> {
    /// Number of epochs skipped for each one that was simulated.
    pub times: u32,
    /// Erases skipped, by block group.
    pub cycles: &'a [u32],
    /// Erases before the leap, by block group.
    pub erases: &'a [u32],
}
