//! Formats that list block-layer events: blkparse text, its comma-separated extract and WiscSee's.
//!
//! One kind of event stands for the request; the others are passed over. A write that the kernel asks to flush first (`FWS`) is
//! taken as the write alone: at issue the kernel sends that flush as an event of its own.

use wordline_units::HostOp;

use super::error::LineFault;
use super::fields::{Fields, whole};
use super::format::BlockEvent;
use super::parser::{Draft, sectors};

const SECOND: u64 = 1_000_000_000;

/// The letters of blkparse's action column, all of which may stand in a sound file.
const ACTIONS: &[u8] = b"QGIDCMFRPUTXABSWEm";

/// `None` for other events, for messages and for the summary that blkparse prints at the end.
pub(crate) fn blkparse(line: &[u8], event: BlockEvent) -> Result<Option<Draft<'_>>, LineFault> {
    let fields = Fields::blanks(line);
    if !is_device(fields.get(0)) {
        return if is_summary(line, &fields) {
            Ok(None)
        } else {
            Err(LineFault::line("major,minor cpu seq time pid action rwbs …", line))
        };
    }
    fields.at_least(6, "major,minor cpu seq time pid action rwbs …")?;
    let at = fields.time(3, "time", SECOND)?;
    let action = fields.get(5);
    if action.len() > 2 || action.first().is_none_or(|letter| !ACTIONS.contains(letter)) {
        return Err(LineFault::column("action", "an event letter such as Q, D or C", action));
    }
    if action != [event.letter()] {
        return Ok(None);
    }
    let Some((op, fua)) = rwbs(fields.get(6))? else {
        return Ok(None);
    };
    let (offset, length) = if fields.get(8) == b"+" {
        (sectors(fields.whole(7, "sector")?, "sector")?, sectors(fields.whole(9, "sectors")?, "sectors")?)
    } else if op == HostOp::Flush || op == HostOp::Write && fields.get(6).starts_with(b"F") {
        return Ok(Some(Draft::flush(Some(at), fields.get(0))));
    } else {
        return Err(LineFault::column("sector", "sector + sectors", fields.joined(7, (fields.count() - 1).min(15))));
    };
    if length == 0 && fields.get(6).contains(&b'F') {
        return Ok(Some(Draft::flush(Some(at), fields.get(0))));
    }
    Ok(Some(Draft { at: Some(at), volume: fields.get(0), op, offset, length, latency: None, fua, priority: None, insecure: false }))
}

pub(crate) fn ycsb(line: &[u8]) -> Result<Option<Draft<'_>>, LineFault> {
    let fields = Fields::commas(line);
    fields.at_least(10, "eleven columns: major,minor,cpu,record,time,pid,action,rwbs,sector,sectors,process")?;
    let at = fields.time(4, "time", SECOND)?;
    if fields.get(6) != b"D" {
        let known = fields.get(6).len() <= 2 && fields.get(6).first().is_some_and(|letter| ACTIONS.contains(letter));
        return if known { Ok(None) } else { Err(LineFault::column("action", "an event letter such as D", fields.get(6))) };
    }
    let Some((op, fua)) = rwbs(fields.get(7))? else {
        return Ok(None);
    };
    let (offset, length) = (sectors(fields.whole(8, "sector")?, "sector")?, sectors(fields.whole(9, "sectors")?, "sectors")?);
    Ok(Some(Draft { at: Some(at), volume: fields.joined(0, 1), op, offset, length, latency: None, fua, priority: None, insecure: false }))
}

/// Issue (D) rows; completions are passed over.
pub(crate) fn wiscsee(line: &[u8]) -> Result<Option<Draft<'_>>, LineFault> {
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
    Ok(Some(Draft {
        at: Some(fields.time(5, "time", SECOND)?),
        volume: b"0",
        op,
        offset: fields.whole(3, "offset")?,
        length: fields.whole(4, "size")?,
        latency: None,
        fua: false,
        priority: None,
        insecure: false,
    }))
}

/// The kernel's letters for an operation and its flags: `F` before the operation asks for a flush, after it for unit access.
/// `None` for an event that moves nothing.
fn rwbs(text: &[u8]) -> Result<Option<(HostOp, bool)>, LineFault> {
    let flush_first = text.first() == Some(&b'F');
    let rest = &text[usize::from(flush_first)..];
    if rest.iter().any(|letter| !b"RWDNFASMEZ".contains(letter)) || text.is_empty() {
        return Err(LineFault::column("rwbs", "letters such as R, WS, FWFS or D", text));
    }
    let fua = rest.iter().skip(1).any(|letter| *letter == b'F');
    Ok(match rest.first() {
        Some(b'R') => Some((HostOp::Read, fua)),
        Some(b'W') => Some((HostOp::Write, fua)),
        Some(b'D') => Some((HostOp::Trim, false)),
        Some(_) | None if flush_first => Some((HostOp::Flush, false)),
        Some(_) | None => None,
    })
}

/// `259,2`.
pub(crate) fn is_device(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| *byte == b',');
    let numbers = parts.by_ref().take(2).filter(|part| whole(part).is_some()).count();
    numbers == 2 && parts.next().is_none()
}

/// The table after the events: `CPU0 (259,2):`, `Total (259,2):`, ` Reads Queued: …`, `Throughput …`, `Events …`, `Skips: …`.
fn is_summary(line: &[u8], fields: &Fields<'_>) -> bool {
    let first = fields.get(0);
    [&b"CPU"[..], b"Total", b"Throughput", b"Events", b"Skips"].iter().any(|word| first.starts_with(word))
        || line.first().is_some_and(u8::is_ascii_whitespace) && line.contains(&b':')
}
