//! What stands behind a page's bytes.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 4 | checksum over data, spare, epoch and the page's own place |
//! | 4 | 4 | epoch |
//! | 8 | 4 | mark |
//! | 12 | 1 | flags, set one by one after the page was programmed, with their complement: nothing else covers them |
//! | 13 | 3 | zero |

/// Bytes behind each page.
pub(crate) const TRAILER_BYTES: usize = 16;
/// Where the flags are in it.
pub(crate) const FLAGS_AT: u64 = 12;
/// Flags there are.
pub(crate) const FLAGS_MASK: u8 = 0xF;

const MARK: u32 = 0x4547_4150;

/// What a trailer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    sum: u32,
    pub(crate) epoch: u32,
    marked: bool,
    /// `None` if they are broken.
    pub(crate) flags: Option<u8>,
}

/// The checksum of a page. Its place is in it, so a page that landed elsewhere does not pass.
fn sum(block: u32, page: u32, epoch: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    for number in [block, page, epoch] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize()
}

impl Trailer {
    /// The trailer of a page's bytes: data and spare.
    pub(crate) fn encode(block: u32, page: u32, epoch: u32, bytes: &[u8]) -> [u8; TRAILER_BYTES] {
        let mut trailer = [0; TRAILER_BYTES];
        for (index, number) in [sum(block, page, epoch, bytes), epoch, MARK].into_iter().enumerate() {
            trailer[4 * index..4 * index + 4].copy_from_slice(&number.to_le_bytes());
        }
        trailer
    }

    pub(crate) fn decode(bytes: &[u8]) -> Trailer {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Trailer {
            sum: number(0),
            epoch: number(4),
            marked: number(8) == MARK && bytes[13..] == [0; 3],
            flags: decode_flags(bytes[FLAGS_AT as usize]),
        }
    }

    /// Whether the page is what was programmed in this epoch.
    pub(crate) fn vouches(&self, block: u32, page: u32, epoch: u32, bytes: &[u8]) -> bool {
        self.marked && self.flags.is_some() && self.epoch == epoch && self.sum == sum(block, page, epoch, bytes)
    }

    /// Whether it is a whole trailer of an epoch before this one.
    pub(crate) fn is_leftover(&self, block: u32, page: u32, epoch: u32, bytes: &[u8]) -> bool {
        self.epoch < epoch && self.vouches(block, page, self.epoch, bytes)
    }
}

/// Flags with their complement; none are plain zero, as a hole is.
pub(crate) fn encode_flags(flags: u8) -> u8 {
    if flags == 0 { 0 } else { flags | (!flags << 4) }
}

/// The flags in a byte; `None` if they are broken.
pub(crate) fn decode_flags(byte: u8) -> Option<u8> {
    let flags = byte & FLAGS_MASK;
    (byte == encode_flags(flags)).then_some(flags)
}
