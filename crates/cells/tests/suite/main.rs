//! The cell model: does it agree with itself, and does physics go the way physics goes?

mod array;
mod carried;
mod common;
mod fidelity;
mod guarded;
mod inspected;
mod leap;
mod locks;
mod sense;
mod sets;
mod shifted;
mod traps;
