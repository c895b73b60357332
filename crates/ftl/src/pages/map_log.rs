//! The format of a page of the map log, as bytes: a head with the page's place among all, and behind it a page of the journal's facts or of a checkpoint.
//!
//! ```text
//!   0 magic | 8 serial | 16 first | 24 start | 32 before | 40 begun | 48 copies | 56 check of the head | 64 a page of facts, or of a checkpoint
//! ```

use crate::pages::check::check;
use crate::pages::checkpoint::CheckpointPage;
use crate::pages::journal::{Facts, Page, Serial};

/// Magic number that a page of the log begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"wl-maplg");
/// Size in bytes of the head, a multiple of eight.
const HEAD: usize = 64;
/// Offset of the checksum over the head.
const CHECK: std::ops::Range<usize> = 56..64;

/// Content of a page of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Facts, as the journal has them.
    Facts(Facts),
    /// A page of a checkpoint.
    Checkpoint(CheckpointPage),
}

/// A page of the map log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogPage {
    /// Serial number of the page, from 1 on.
    pub(crate) serial: u64,
    /// Serial number of the first page of its program.
    pub(crate) first: u64,
    /// Serial number of the first page after the last start, or after the last program that failed.
    pub(crate) start: u64,
    /// Serial number of the last page before `start` that must be there: those between may be missing.
    pub(crate) before: u64,
    /// In a page of a checkpoint: serial number of the first page that is needed once the checkpoint is whole.
    pub(crate) begun: u64,
    /// Number of copies that its program has: one where a single die had room.
    pub(crate) copies: u64,
    /// Content of the page.
    pub(crate) body: Body,
}

/// Number of bytes that a page of `bytes` bytes has for its content.
pub(crate) fn body_bytes(bytes: usize) -> usize {
    bytes - HEAD
}

impl LogPage {
    /// Writes the page into `bytes`, which are a whole page.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        bytes[..HEAD].fill(0);
        let numbers = [MAGIC, self.serial, self.first, self.start, self.before, self.begun, self.copies];
        for (number, at) in numbers.iter().zip(bytes[..CHECK.start].chunks_exact_mut(8)) {
            at.copy_from_slice(&number.to_le_bytes());
        }
        let of_head = check(&bytes[..HEAD], CHECK);
        bytes[CHECK].copy_from_slice(&of_head.to_le_bytes());
        match &self.body {
            Body::Facts(facts) => {
                let page = Page { generation: self.serial, of_snapshot: None, serial: Serial::default(), facts: facts.clone() };
                page.write(&mut bytes[HEAD..]);
            }
            Body::Checkpoint(page) => page.write(&mut bytes[HEAD..]),
        }
    }

    /// Parses `bytes`; `None` where they are no page of a log.
    pub(crate) fn read(bytes: &[u8]) -> Option<LogPage> {
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if long(0)? != MAGIC || long(CHECK.start)? != check(bytes.get(..HEAD)?, CHECK) {
            return None;
        }
        let (serial, inner) = (long(8)?, &bytes[HEAD..]);
        let facts = Page::read(inner).filter(|page| page.generation == serial).map(|page| Body::Facts(page.facts));
        let body = facts.or_else(|| CheckpointPage::read(inner).map(Body::Checkpoint))?;
        Some(LogPage { serial, first: long(16)?, start: long(24)?, before: long(32)?, begun: long(40)?, copies: long(48)?, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::checkpoint::Said;
    use crate::pages::journal::Record;
    use crate::state::layout::UnitAddr;

    #[test]
    fn a_page_says_what_was_written_and_nothing_once_it_is_damaged() {
        let records = Facts::Records((0..20).map(|n| Record { first: n, count: 1, version: u64::from(n) + 9 }).collect());
        let places = Said::Places { first: 64, places: (0..90).map(UnitAddr).collect() };
        for body in [Body::Facts(records), Body::Checkpoint(CheckpointPage { number: 77, index: 3, said: places })] {
            let page = LogPage { serial: 40, first: 38, start: 30, before: 21, begun: 17, copies: 2, body };
            let mut bytes = vec![0xA5; 2_048];
            page.write(&mut bytes);
            assert_eq!(LogPage::read(&bytes), Some(page));
            for at in (0..2_048).step_by(7) {
                bytes[at] ^= 4;
                assert_eq!(LogPage::read(&bytes), None, "byte {at}");
                bytes[at] ^= 4;
            }
        }
        assert_eq!(LogPage::read(&[0; 64]), None);
        assert_eq!(LogPage::read(&[]), None);
    }
}
