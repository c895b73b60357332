//! From events to figures and checks, in one program.

#[path = "../../examples/fabricated/mod.rs"]
mod fabricated;

mod figures;
mod vertrace;
mod violations;
