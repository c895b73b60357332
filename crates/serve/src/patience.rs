//! Times for which peers are waited for.

use std::time::Duration;

/// How long a silent peer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the next byte within the negotiation or a message, and for room to send an answer. Between two requests there is no limit.
    pub message: Duration,
    /// For all of the negotiation, TLS included, however busily the peer sends.
    pub negotiation: Duration,
    /// A client with nothing under way that has said nothing for so long may lose its place to one that comes when all places are taken.
    pub idle: Duration,
    /// Awake, before it sleeps until the peer speaks again. Waking up takes a machine tens of microseconds, which is much beside the latency of a read; a
    /// peer that is silent for longer costs nothing more.
    pub awake: Duration,
}

impl Default for Patience {
    /// Half a minute, for the negotiation too; a minute of silence between requests where others wait; and asleep at once.
    fn default() -> Self {
        let half_a_minute = Duration::from_secs(30);
        Patience { message: half_a_minute, negotiation: half_a_minute, idle: 2 * half_a_minute, awake: Duration::ZERO }
    }
}
