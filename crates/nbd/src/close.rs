//! Why a session ended.

use thiserror::Error;

use crate::wire;

/// Why the server takes no more from a peer. All but [`Close::Disconnected`] and [`Close::Aborted`] are the peer's fault or its death, and what it is still
/// owed need not be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Close {
    /// The client said good-bye; requests under way are to be answered first.
    #[error("the client disconnected")]
    Disconnected,
    /// The client ended the negotiation.
    #[error("the client ended the negotiation")]
    Aborted,
    /// The stream ended without a good-bye.
    #[error("the connection ended {during}")]
    HungUp {
        /// Where in the conversation.
        during: &'static str,
    },
    /// A message does not open with its magic number.
    #[error("a message opens with {found:#x} where {what} has {expected:#x}")]
    Magic {
        /// Which message was due.
        what: &'static str,
        /// Its number.
        expected: u64,
        /// What came.
        found: u64,
    },
    /// The client answered the greeting with flags that were not offered.
    #[error("client flags {0:#x}, of which only 0x3 were offered")]
    ClientFlags(u32),
    /// An option is longer than anything meaningful.
    #[error("option {option} with {length} bytes of data, more than {max}")]
    OptionLength {
        /// The option.
        option: u32,
        /// What it announced.
        length: u32,
        /// What is skipped at most.
        max: u32,
    },
    /// The negotiation does not come to an end.
    #[error("more than {0} options")]
    OptionCount(u32),
    /// `EXPORT_NAME` cannot be refused in any other way.
    #[error("EXPORT_NAME asks for `{0}`, which is not served")]
    UnknownExport(String),
    /// `EXPORT_NAME` before TLS where TLS is required.
    #[error("EXPORT_NAME without TLS, which is required here")]
    TlsRequired,
    /// A payload too long to be skipped.
    #[error("a payload of {length} bytes, more than {max}")]
    PayloadLength {
        /// What was announced.
        length: u64,
        /// What is skipped at most.
        max: u64,
    },
    /// With extended headers, a write that does not say that a payload follows: where the next request begins is unknown.
    #[error("a write with an extended header but without the flag PAYLOAD_LEN")]
    WriteWithoutPayload,
}

impl Close {
    /// Whether what the peer is still owed should be sent before the connection goes down.
    pub fn is_graceful(&self) -> bool {
        matches!(self, Close::Disconnected | Close::Aborted)
    }

    pub(crate) fn option_magic(found: u64) -> Close {
        Close::Magic { what: "an option", expected: wire::OPTION_MAGIC, found }
    }

    pub(crate) fn request_magic(expected: u32, found: u32) -> Close {
        Close::Magic { what: "a request", expected: u64::from(expected), found: u64::from(found) }
    }
}
