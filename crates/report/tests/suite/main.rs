//! From events to figures, checks and files, in one program.

#[path = "../../examples/fabricated/mod.rs"]
mod fabricated;

mod failed;
mod fair;
mod figures;
mod output;
mod vertrace;
mod violations;
