//! The head of a media file: whose it is, what shape it has, and what of the die has failed.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `WLMEDIA` and a line feed |
//! | 8 | 4 | version of the format |
//! | 12 | 1 | the die: 0x00 well, 0x5A failed, 0xA5 failed and silent; outside the checksum, written as one byte |
//! | 13 | 1 | its failed planes, one bit each, and their complement in the upper half where there is one; as that byte |
//! | 16 | | whose file it is, its shape, the name of its chip |
//! | 4092 | 4 | checksum |

use crate::error::MediaError;
use crate::page::{decode_flags, encode_flags};
use crate::shape::{HEADER_BYTES, Shape};

/// The version of the format that this program writes.
pub const VERSION: u32 = 4;
/// The version before dies could fail for good. Such a file becomes one of [`VERSION`] when it is opened.
pub(crate) const BEFORE_FAILURES: u32 = 3;
/// The version before records had tails (see [`Shape::tail`]). Such a file becomes one of [`VERSION`] when it is opened.
pub(crate) const BEFORE_TAILS: u32 = 2;

const MAGIC: &[u8; 8] = b"WLMEDIA\n";
/// Where the version stands, in every version. Its lowest byte comes first, so that it becomes the next one in a write of one byte, which cannot be torn.
pub(crate) const VERSION_AT: usize = 8;
/// Where it stands whether the die has failed.
const STATE_AT: usize = 12;
/// Where its failed planes stand.
const PLANES_AT: usize = 13;
const WELL: u8 = 0x00;
const FAILED: u8 = 0x5A;
const SILENT: u8 = 0xA5;
const CHIP_AT: usize = 64;
const CHIP_MAX: usize = 64;
const SUM_AT: usize = HEADER_BYTES as usize - 4;

/// Whose file it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A number that no other drive has, so that files of two drives are not mixed.
    pub drive: u128,
    /// Which die of the drive.
    pub die: u32,
    /// How many dies the drive has.
    pub dies: u32,
    /// What chip it is: the name of its chip file. At most 64 bytes.
    pub chip: String,
    /// Its shape.
    pub shape: Shape,
}

/// What of a die has failed for good, but for its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DieState {
    /// The whole die has failed; whether it is silent. A silent die stays silent.
    pub failed: Option<bool>,
    /// One bit for each plane that has failed.
    pub planes: u8,
}

impl DieState {
    /// The bytes that differ from those of the state `before`, each with its place.
    pub(crate) fn changes(self, before: DieState) -> impl Iterator<Item = (u64, u8)> {
        let pairs = self.encode().into_iter().zip(before.encode());
        (STATE_AT as u64..).zip(pairs).filter(|(_, (new, old))| new != old).map(|(at, (new, _))| (at, new))
    }

    fn encode(self) -> [u8; 2] {
        let state = match self.failed {
            None => WELL,
            Some(false) => FAILED,
            Some(true) => SILENT,
        };
        [state, encode_flags(self.planes)]
    }

    /// Takes the state bytes of a header apart. `file` is for messages.
    pub(crate) fn decode(file: &str, bytes: &[u8]) -> Result<DieState, MediaError> {
        let failed = match bytes[STATE_AT] {
            WELL => None,
            FAILED => Some(false),
            SILENT => Some(true),
            other => {
                let expected = "the state of the die, 0x00 well, 0x5a failed or 0xa5 failed and silent";
                return Err(MediaError::unexpected(file, STATE_AT as u64, expected, format!("{other:#04x}")));
            }
        };
        let Some(planes) = decode_flags(bytes[PLANES_AT]) else {
            let expected = "the failed planes of the die, four bits and their complement";
            return Err(MediaError::unexpected(file, PLANES_AT as u64, expected, format!("{:#04x}", bytes[PLANES_AT])));
        };
        Ok(DieState { failed, planes })
    }
}

/// The checksum of a header, over that of version 2 in every version: else a file could not become one of the next version in a single byte. Nor does it cover
/// what of the die has failed.
fn sum_of(header: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&header[..VERSION_AT]);
    sum.update(&BEFORE_TAILS.to_le_bytes());
    sum.update(&[0; 2]);
    sum.update(&header[PLANES_AT + 1..SUM_AT]);
    sum.finalize()
}

impl Identity {
    /// Whether it can be written down.
    pub(crate) fn check(&self) -> Result<(), MediaError> {
        let chip = self.chip.len();
        if chip > CHIP_MAX {
            return Err(MediaError::Shape { what: "the length of the chip's name", value: chip as u64, expected: "at most 64 bytes" });
        }
        if self.die >= self.dies {
            return Err(MediaError::Shape { what: "the number of a die", value: self.die.into(), expected: "below the number of dies" });
        }
        self.shape.check()
    }

    /// The header's bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES as usize];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, MAGIC);
        put(VERSION_AT, &VERSION.to_le_bytes());
        put(16, &self.drive.to_le_bytes());
        let Shape { planes, blocks, pages, page_bytes, spare_bytes } = self.shape;
        for (index, number) in [self.die, self.dies, planes, blocks, pages, page_bytes, spare_bytes].into_iter().enumerate() {
            put(32 + 4 * index, &number.to_le_bytes());
        }
        put(60, &(self.chip.len() as u32).to_le_bytes());
        put(CHIP_AT, self.chip.as_bytes());
        let sum = sum_of(&bytes);
        bytes[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Takes a header apart: whose file it is, and its version. `file` is for messages.
    pub(crate) fn decode(file: &str, bytes: &[u8]) -> Result<(Identity, u32), MediaError> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if bytes[..8] != MAGIC[..] {
            let found = String::from_utf8_lossy(&bytes[..8]).escape_default().to_string();
            return Err(MediaError::unexpected(file, 0, "a media file, which begins with `WLMEDIA`", format!("`{found}`")));
        }
        // Before the checksum: another version may have it elsewhere.
        let version = number(VERSION_AT);
        if ![BEFORE_TAILS, BEFORE_FAILURES, VERSION].contains(&version) {
            return Err(MediaError::Version { file: file.to_owned(), found: version, known: VERSION });
        }
        let (sum, found) = (sum_of(bytes), number(SUM_AT));
        if sum != found {
            return Err(MediaError::unexpected(
                file,
                SUM_AT as u64,
                format!("the header's checksum {sum:#010x}"),
                format!("{found:#010x}"),
            ));
        }
        let mut drive = [0; 16];
        drive.copy_from_slice(&bytes[16..32]);
        let length = number(60) as usize;
        let chip = bytes[CHIP_AT..CHIP_AT + CHIP_MAX].get(..length).and_then(|name| std::str::from_utf8(name).ok());
        let Some(chip) = chip else {
            return Err(MediaError::unexpected(
                file,
                CHIP_AT as u64,
                "a chip's name of at most 64 bytes of UTF-8",
                format!("{length} other bytes"),
            ));
        };
        let [die, dies, planes, blocks, pages, page_bytes, spare_bytes] = std::array::from_fn(|index| number(32 + 4 * index));
        let shape = Shape { planes, blocks, pages, page_bytes, spare_bytes };
        let identity = Identity { drive: u128::from_le_bytes(drive), die, dies, chip: chip.to_owned(), shape };
        match identity.check() {
            Err(MediaError::Shape { what, value, expected }) => {
                Err(MediaError::unexpected(file, 32, format!("{what}: {expected}"), value.to_string()))
            }
            other => other.map(|()| (identity, version)),
        }
    }

    /// Holds what was found against what was expected.
    pub(crate) fn expect(&self, file: &str, expected: &Identity) -> Result<(), MediaError> {
        let (mine, theirs) = (self.shape, expected.shape);
        let numbers = [
            (32, "die", self.die, expected.die),
            (36, "number of dies", self.dies, expected.dies),
            (40, "planes", mine.planes, theirs.planes),
            (44, "blocks", mine.blocks, theirs.blocks),
            (48, "pages in a block", mine.pages, theirs.pages),
            (52, "bytes in a page", mine.page_bytes, theirs.page_bytes),
            (56, "spare bytes in a page", mine.spare_bytes, theirs.spare_bytes),
        ];
        if self.drive != expected.drive {
            return Err(MediaError::AnotherDrive { file: file.to_owned(), expected: expected.drive, found: self.drive });
        }
        if let Some((at, what, found, wanted)) = numbers.into_iter().find(|(_, _, found, wanted)| found != wanted) {
            return Err(MediaError::unexpected(file, at, format!("{what} {wanted}"), found.to_string()));
        }
        if self.chip != expected.chip {
            return Err(MediaError::unexpected(file, CHIP_AT as u64, format!("chip `{}`", expected.chip), format!("`{}`", self.chip)));
        }
        Ok(())
    }
}
