//! What one connection may hold.

/// Buffers of payloads that a connection keeps for the next ones, in bytes.
pub(crate) const SPARE_BYTES: usize = 4 << 20;

/// Bounds of one connection. Past them the server takes no more input until it is rid of something, or refuses, or closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of data of an option that are kept. A longer one is skipped and refused.
    pub option_bytes: u32,
    /// Options in one negotiation.
    pub options: u32,
    /// Requests handed out and not answered.
    pub requests: usize,
    /// The longest read or write, advertised as the largest block. The protocol wants 32 MiB to be no offence.
    pub request_bytes: u32,
    /// Payloads of writes under way, room for the answers of others, and output not yet taken. One request alone may exceed it.
    pub held_bytes: u64,
}

impl Limits {
    /// What is fit for a server with a handful of clients.
    pub const DEFAULT: Limits =
        Limits { option_bytes: 64 << 10, options: 256, requests: 256, request_bytes: 32 << 20, held_bytes: 64 << 20 };

    /// The most heap bytes that a connection may hold in buffers, whatever its peer sends. Buffers that grow double, hence the factor.
    pub const fn memory_bound(&self) -> u64 {
        // One request may stand alone above `held_bytes`.
        let one = self.request_bytes as u64 + (64 << 10);
        let held = if self.held_bytes > one { self.held_bytes } else { one };
        2 * (held + self.option_bytes as u64 + self.requests as u64 * 256) + SPARE_BYTES as u64 + (512 << 10)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
