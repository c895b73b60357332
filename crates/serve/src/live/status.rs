//! What a block status says.

use wordline_block::{ContextStatus, Extent, Reply, allocation};
use wordline_chip::Payload;
use wordline_units::host::SECTOR_BYTES;

use super::hints::Hints;
use super::worker::Worker;
use crate::disk::{Done, Session};

/// The context that tells where data is. Bit 0: it is lost or refused, by the firmware's own tables. Bit 1: it is at risk, as the array that it is in is
/// degraded. Bit 2: it is being rebuilt. Bit 3: some of its mapping unit is in the write buffer. Bit 4: its unit is on flash. A drive alone sets neither bit 1
/// nor bit 2.
pub(super) const MEDIA: &str = "x-wordline:media";
/// The context that tells which hints are in force: see [`Hints::flags`].
pub(super) const HINT: &str = "x-wordline:hint";

const LOST: u32 = 1 << 0;
const BUFFERED: u32 = 1 << 3;
const ON_FLASH: u32 = 1 << 4;

/// Which context is which, by its place in the export's list.
const ALLOCATION_AT: usize = 0;
const MEDIA_AT: usize = 1;

impl<P: Payload> Worker<P> {
    /// Answers a block status for each context that the client chose.
    pub(super) fn status(&self, offset: u64, length: u64, session: &Session, done: Done) {
        let class = Hints::of_classes(&session.opened.classes);
        let known: Vec<(usize, Vec<Extent>)> = session
            .opened
            .contexts
            .iter()
            .map(|&context| {
                let extents = match context {
                    ALLOCATION_AT => self.by_unit(offset, length, |at| self.allocated(at)),
                    MEDIA_AT => extents(offset, length, |at| self.media(at)),
                    _ => extents(offset, length, |at| {
                        let (hints, until) = self.hints.at(at);
                        (hints.or(class).flags(), until)
                    }),
                };
                (context, extents)
            })
            .collect();
        let all: Vec<ContextStatus<'_>> = known.iter().map(|(context, extents)| ContextStatus { context: *context, extents }).collect();
        done.reply(Reply::Status(&all));
    }

    fn by_unit(&self, offset: u64, length: u64, flags: impl Fn(u64) -> u32) -> Vec<Extent> {
        let unit = self.drive.unit_bytes().0;
        extents(offset, length, |at| (flags(at), (at / unit + 1) * unit))
    }

    /// Whether the unit at byte `at` is mapped, or waits in the buffer.
    fn allocated(&self, at: u64) -> u32 {
        if self.drive.holds(at / SECTOR_BYTES) { 0 } else { allocation::HOLE | allocation::ZERO }
    }

    /// The flags of the byte at `at`, by the firmware's own tables, and up to where they hold.
    fn media(&self, at: u64) -> (u32, u64) {
        let (loss, until) = self.drive.loss_at(at / SECTOR_BYTES);
        let located = self.drive.locate(at / SECTOR_BYTES);
        let set = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = set(loss.is_some(), LOST) | set(located.is_buffered, BUFFERED) | set(located.on_flash.is_some(), ON_FLASH);
        (flags, until * SECTOR_BYTES)
    }
}

/// Stretches with equal flags, as many as an answer may have. `flags` says what holds at a byte, and up to where.
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
