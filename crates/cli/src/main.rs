//! The wordline command.
fn main() {}
