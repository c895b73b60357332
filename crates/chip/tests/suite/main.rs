//! A die against its rules, against a naive twin, and against what is asked of it out of turn.

mod common;
mod naive;
mod sealed;

mod contents;
mod faults;
mod guarded;
mod illegal;
mod suspend;
mod timing;
mod twin;
mod under_way;
