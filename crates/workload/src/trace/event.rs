//! Formats that list block-layer events: blkparse text, its comma-separated extract and WiscSee's.
//!
//! One kind of event stands for the request; the others are passed over. A write that asks for a flush before it (`FWS`) is a flush and then the write where
//! Q events are read. Where D or C events are, it is the write alone: the kernel issues that flush as a request of its own.

use wordline_units::{HostOp, Nanos};

use super::draft::Draft;
use super::error::LineFault;
use super::fields::{Fields, whole};
use super::format::BlockEvent;
use super::meaning::Units;

const SECOND: u64 = 1_000_000_000;

/// The letters of blkparse's action column, all of which may stand in a sound file.
const ACTIONS: &[u8] = b"QGIDCMFRPUTXABSWEm";

/// `None` for other events, for messages and for the summary that blkparse prints at the end.
pub(crate) fn blkparse<'a>(line: &'a [u8], event: BlockEvent, units: &Units) -> Result<Option<Draft<'a>>, LineFault> {
    let fields = Fields::blanks(line);
    if !is_device(fields.get(0)) {
        return if is_summary(line, &fields) {
            Ok(None)
        } else {
            Err(LineFault::line("major,minor cpu seq time pid action rwbs …", line))
        };
    }
    fields.at_least(6, "major,minor cpu seq time pid action rwbs …")?;
    let at = units.time(&fields, 3, "time", SECOND)?;
    let action = fields.get(5);
    if action.len() > 2 || action.first().is_none_or(|letter| !ACTIONS.contains(letter)) {
        return Err(LineFault::column("action", "an event letter such as Q, D or C", action));
    }
    if action != [event.letter()] {
        return Ok(None);
    }
    let flags = Flags::parse(fields.get(6))?;
    let is_note = |index: usize| matches!(fields.get(index).first(), Some(b'[' | b'('));
    let extent = if fields.get(8) == b"+" {
        Some((units.sectors(fields.whole(7, "sector")?, "sector")?, units.sectors(fields.whole(9, "sectors")?, "sectors")?))
    } else if is_note(7) || is_note(8) {
        // Without data. A request keeps its sector when it completes, and has none before; of a command that is passed through to the device it is the
        // other way round, with a number of bytes for the sector.
        let is_request = is_note(7) != (event == BlockEvent::Complete);
        if !is_request {
            return Ok(None);
        }
        None
    } else {
        return Err(LineFault::column("sector", "sector + sectors", fields.joined(7, (fields.count() - 1).min(15))));
    };
    Ok(flags.draft(at, fields.get(0), extent.filter(|(_, length)| *length > 0), event))
}

pub(crate) fn ycsb<'a>(line: &'a [u8], units: &Units) -> Result<Option<Draft<'a>>, LineFault> {
    let fields = Fields::commas(line);
    fields.at_least(10, "eleven columns: major,minor,cpu,record,time,pid,action,rwbs,sector,sectors,process")?;
    let at = units.time(&fields, 4, "time", SECOND)?;
    if fields.get(6) != b"D" {
        let known = fields.get(6).len() <= 2 && fields.get(6).first().is_some_and(|letter| ACTIONS.contains(letter));
        return if known { Ok(None) } else { Err(LineFault::column("action", "an event letter such as D", fields.get(6))) };
    }
    let flags = Flags::parse(fields.get(7))?;
    let (offset, length) = (units.sectors(fields.whole(8, "sector")?, "sector")?, units.sectors(fields.whole(9, "sectors")?, "sectors")?);
    Ok(flags.draft(at, fields.joined(0, 1), Some((offset, length)).filter(|_| length > 0), BlockEvent::Issue))
}

/// Issue (D) rows; completions are passed over.
pub(crate) fn wiscsee<'a>(line: &'a [u8], units: &Units) -> Result<Option<Draft<'a>>, LineFault> {
    let fields = Fields::blanks(line);
    fields.at_least(6, "eight columns: pid action operation offset size time gap sync")?;
    match fields.get(1) {
        b"D" => {}
        b"C" => return Ok(None),
        other => return Err(LineFault::column("action", "D or C", other)),
    }
    let op = match fields.get(2) {
        b"read" => HostOp::Read,
        b"write" => HostOp::Write,
        b"discard" => HostOp::Trim,
        other => return Err(LineFault::column("operation", "read, write or discard", other).meant(["read", "write", "discard"])),
    };
    let (at, offset, length) = (units.time(&fields, 5, "time", SECOND)?, fields.whole(3, "offset")?, fields.whole(4, "size")?);
    Ok(Some(Draft::new(Some(at), b"0", op, offset, length)))
}

/// What a block event asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    /// A flush, alone or before the data.
    pub(crate) flush: bool,
    /// What is done with the data; `None` for an event that moves none.
    pub(crate) op: Option<HostOp>,
    /// Force unit access.
    pub(crate) fua: bool,
}

impl Flags {
    /// The kernel's letters: `F` before the operation asks for a flush, after it for unit access.
    fn parse(text: &[u8]) -> Result<Flags, LineFault> {
        let flush = text.first() == Some(&b'F');
        let rest = &text[usize::from(flush)..];
        if rest.iter().any(|letter| !b"RWDNFASMEZ".contains(letter)) || text.is_empty() {
            return Err(LineFault::column("rwbs", "letters such as R, WS, FWFS or D", text));
        }
        let op = match rest.first() {
            Some(b'R') => Some(HostOp::Read),
            Some(b'W') => Some(HostOp::Write),
            Some(b'D') => Some(HostOp::Trim),
            Some(_) | None => None,
        };
        let fua = op != Some(HostOp::Trim) && rest.iter().skip(1).any(|letter| *letter == b'F');
        Ok(Flags { flush, op, fua })
    }

    /// The request of these flags; `None` if it moves nothing. `extent`: offset and length in bytes, where there is data.
    pub(crate) fn draft<'a>(self, at: Nanos, volume: &'a [u8], extent: Option<(u64, u64)>, event: BlockEvent) -> Option<Draft<'a>> {
        let (Some(op), Some((offset, length))) = (self.op, extent) else {
            return self.flush.then(|| Draft::flush(Some(at), volume));
        };
        let plain = Draft::new(Some(at), volume, op, offset, length);
        Some(Draft { fua: self.fua, flush_first: self.flush && event == BlockEvent::Queue, ..plain })
    }
}

/// True if `text` is a device number such as `259,2`.
pub(crate) fn is_device(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| *byte == b',');
    let numbers = parts.by_ref().take(2).filter(|part| whole(part).is_some()).count();
    numbers == 2 && parts.next().is_none()
}

/// The table after the events: `CPU0 (259,2):`, `Total (259,2):`, ` Reads Queued: …`, `Throughput …`, `Events …`, `Skips: …`; and the files that were read,
/// `Input file sda.blktrace.0 added`, which come in between.
fn is_summary(line: &[u8], fields: &Fields<'_>) -> bool {
    let first = fields.get(0);
    [&b"CPU"[..], b"Total", b"Throughput", b"Events", b"Skips"].iter().any(|word| first.starts_with(word))
        || line.first().is_some_and(u8::is_ascii_whitespace) && line.contains(&b':')
        || line.starts_with(b"Input file ")
}
