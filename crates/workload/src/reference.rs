//! The reference manual of what a workload can be: trace formats and workload files, made from the tables and samples that the program itself uses.

mod keys;
mod traces;
mod workloads;

pub use traces::traces_markdown;
pub use workloads::workloads_markdown;
