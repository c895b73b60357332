//! The host side of a drive: its queues, the parts of requests that go to each core, and the bytes that requests carry.
//!
//! ```text
//!   arrive ─► queue ─► take in ─► give, cut into parts ─► cores ─► acknowledged ─► deliver ─► complete
//! ```

pub(crate) mod capacitors;
pub(crate) mod carried;
pub(crate) mod data;
pub(crate) mod jobs;
pub(crate) mod queues;
pub(crate) mod requests;
pub(crate) mod stripe;
