//! fio's iolog, versions 2 and 3.
//!
//! Version 2 keeps time only as `wait` lines. A file is taken as timed if a `wait` stands in its first 64 KiB, because a reader
//! that does not look ahead cannot find out later that the beginning had a time after all.

use wordline_units::{HostOp, Nanos};

use super::draft::Draft;
use super::error::LineFault;
use super::fields::Fields;
use super::meaning::Units;

const ACTIONS: [&str; 9] = ["read", "write", "trim", "sync", "datasync", "wait", "add", "open", "close"];

/// What carries over from line to line in version 2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    /// Whether the file keeps time at all.
    pub(crate) timed: bool,
    /// The sum of the waits so far.
    pub(crate) now: Nanos,
}

/// `file action offset length`, after `columns` leading columns.
fn action<'a>(line: &'a [u8], fields: &Fields<'a>, lead: usize, at: Option<Nanos>) -> Result<Option<Draft<'a>>, LineFault> {
    let shape = if lead == 0 { "file action [offset length]" } else { "time_us file action [offset length]" };
    fields.at_least(lead + 2, shape)?;
    let op = match fields.get(lead + 1) {
        b"read" => HostOp::Read,
        b"write" => HostOp::Write,
        b"trim" => HostOp::Trim,
        b"sync" | b"datasync" => {
            return Ok(Some(Draft::flush(at, fields.get(lead))));
        }
        b"add" | b"open" | b"close" => return Ok(None),
        other => {
            let known = if lead == 0 { &ACTIONS[..] } else { &ACTIONS[..5] };
            return Err(LineFault::column("action", format!("one of {}, add, open, close", known[..known.len().min(6)].join(", ")), other)
                .meant(ACTIONS));
        }
    };
    if fields.count() != lead + 4 {
        return Err(LineFault::line(shape, line));
    }
    let (offset, length) = (fields.whole(lead + 2, "offset")?, fields.whole(lead + 3, "length")?);
    Ok(Some(Draft::new(at, fields.get(lead), op, offset, length)))
}

pub(crate) fn version_2<'a>(line: &'a [u8], waits: &mut Waits, units: &Units) -> Result<Option<Draft<'a>>, LineFault> {
    let fields = Fields::blanks(line);
    if fields.get(1) == b"wait" {
        let span = units.time(&fields, 2, "wait", 1_000)?;
        waits.now = waits.now.saturating_add(span);
        return Ok(None);
    }
    action(line, &fields, 0, waits.timed.then_some(waits.now))
}

pub(crate) fn version_3<'a>(line: &'a [u8], units: &Units) -> Result<Option<Draft<'a>>, LineFault> {
    let fields = Fields::blanks(line);
    let at = units.time(&fields, 0, "time", 1_000)?;
    action(line, &fields, 1, Some(at))
}
