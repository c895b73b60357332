//! The proving suite in one program, so that its tests share the machine's cores.

mod naive;
mod queueing;
mod theory;
mod twin;
