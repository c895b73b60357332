//! Block status of a live drive.

use wordline_block::hints::{LATENCIES, LIFETIMES, PRIORITIES, SECURITIES};
use wordline_block::{ContextStatus, Done, Extent, Hints, Reply, Session, allocation};
use wordline_drive::Watched;
use wordline_units::host::SECTOR_BYTES;

use crate::disk::Watch;
use crate::hints::HintMap;

/// Context with the places of data. Bit 0: lost or refused, by the firmware's own tables. Bit 1: at risk, as its array is degraded. Bit 2: being
/// rebuilt. Bit 3: some of the mapping unit is in the write buffer. Bit 4: the unit is on flash. A drive alone sets neither bit 1 nor bit 2.
pub(crate) const MEDIA: &str = "x-wordline:media";
/// Context with the hints in force: see [`hint_flags`].
pub(crate) const HINT: &str = "x-wordline:hint";

const LOST: u32 = 1 << 0;
const BUFFERED: u32 = 1 << 3;
const ON_FLASH: u32 = 1 << 4;

/// Places of the contexts in the export's list.
const ALLOCATION_AT: usize = 0;
const MEDIA_AT: usize = 1;

/// Answers a block status for each context that the client chose.
pub(crate) fn status(drive: &Watched<Watch>, hinted: &HintMap, (offset, length): (u64, u64), session: &Session, done: Done) {
    let answers: Vec<(usize, Vec<Extent>)> = session
        .contexts
        .iter()
        .map(|&context| {
            let extents = match context {
                ALLOCATION_AT => by_unit(drive, offset, length, |at| allocated(drive, at)),
                MEDIA_AT => extents(offset, length, |at| media(drive, at)),
                _ => extents(offset, length, |at| {
                    let (hints, until) = hinted.at(at);
                    (hint_flags(hints.or(session.hints)), until)
                }),
            };
            (context, extents)
        })
        .collect();
    let all: Vec<ContextStatus<'_>> = answers.iter().map(|(context, extents)| ContextStatus { context: *context, extents }).collect();
    done.reply(Reply::Status(&all));
}

fn by_unit(drive: &Watched<Watch>, offset: u64, length: u64, flags: impl Fn(u64) -> u32) -> Vec<Extent> {
    let unit = drive.unit_bytes().0;
    extents(offset, length, |at| (flags(at), (at / unit + 1) * unit))
}

/// Allocation flags of the unit at byte `at`: mapped or in the buffer, or not.
fn allocated(drive: &Watched<Watch>, at: u64) -> u32 {
    if drive.holds(at / SECTOR_BYTES) { 0 } else { allocation::HOLE | allocation::ZERO }
}

/// Flags of the byte at `at`, by the firmware's own tables, and the end of their stretch.
fn media(drive: &Watched<Watch>, at: u64) -> (u32, u64) {
    let (loss, until) = drive.loss_at(at / SECTOR_BYTES);
    let located = drive.locate(at / SECTOR_BYTES);
    let set = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    let flags = set(loss.is_some(), LOST) | set(located.is_buffered, BUFFERED) | set(located.on_flash.is_some(), ON_FLASH);
    (flags, until * SECTOR_BYTES)
}

/// Stretches with equal flags, up to the limit of an answer. `flags` returns the flags at a byte, and the end of their stretch.
fn extents(offset: u64, length: u64, flags: impl Fn(u64) -> (u32, u64)) -> Vec<Extent> {
    let end = offset + length;
    let mut known: Vec<Extent> = Vec::new();
    let mut at = offset;
    while at < end {
        let (flags, until) = flags(at);
        let next = until.min(end);
        if let Some(last) = known.last_mut().filter(|last| last.flags == flags) {
            last.length += next - at;
        } else if known.len() < ContextStatus::EXTENTS_MAX {
            known.push(Extent { length: next - at, flags });
        } else {
            break;
        }
        at = next;
    }
    known
}

/// Hints as the flags of an extent in `x-wordline:hint`: 0 without a hint.
///
/// | bits | what | values |
/// |---|---|---|
/// | 0 to 2 | priority | 1 urgent, 2 high, 3 normal, 4 low |
/// | 3, 4 | security | 1 secure, 2 insecure |
/// | 5, 6 | read latency | 1 longer, 2 typical, 3 shortest |
/// | 7 to 9 | lifetime | 2 short, 3 medium, 4 long, 5 extreme |
pub(crate) fn hint_flags(hints: Hints) -> u32 {
    let place = |found: Option<usize>, first: u32| found.map_or(0, |place| place as u32 + first);
    place(PRIORITIES.iter().position(|&(_, value)| Some(value) == hints.priority), 1)
        | place(SECURITIES.iter().position(|&(_, value)| Some(value) == hints.security), 1) << 3
        | place(LATENCIES.iter().position(|&(_, value)| Some(value) == hints.read_latency), 1) << 5
        | place(LIFETIMES.iter().position(|&(_, value)| Some(value) == hints.lifetime), 2) << 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_flags() {
        let flags = |words: &[&str]| hint_flags(Hints::of_classes(words.iter().copied()));
        assert_eq!(flags(&["high", "insecure", "short"]), 2 | 2 << 3 | 2 << 7);
        assert_eq!(flags(&["shortest"]), 3 << 5);
        assert_eq!(flags(&[]), 0);
    }
}
