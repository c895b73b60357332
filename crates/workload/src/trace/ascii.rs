//! `time device address size type`, in all its meanings.

use wordline_units::{HostOp, Nanos};

use super::draft::Draft;
use super::error::LineFault;
use super::fields::Fields;
use super::format::{Ascii, AsciiCode, AsciiTime, AsciiUnit};
use super::meaning::Units;

pub(crate) fn line<'a>(line: &'a [u8], meaning: Ascii, units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::blanks(line);
    if fields.count() != 5 {
        return Err(LineFault::line("five columns: time device address size type", line));
    }
    let at = match meaning.time {
        AsciiTime::Nanos if units.time.is_none() => Some(Nanos(fields.whole(0, "time")?)),
        AsciiTime::Nanos => Some(units.time(&fields, 0, "time", 1)?),
        AsciiTime::Millis => Some(units.time(&fields, 0, "time", 1_000_000)?),
        AsciiTime::Position => {
            fields.whole(0, "position")?;
            None
        }
    };
    let (offset, length) = (fields.whole(2, "address")?, fields.whole(3, "size")?);
    let (offset, length) = match meaning.unit {
        AsciiUnit::Sectors => (units.sectors(offset, "address")?, units.sectors(length, "size")?),
        AsciiUnit::Bytes => (offset, length),
    };
    let op = match (fields.get(4), meaning.code) {
        (b"1", AsciiCode::OneReads) | (b"0", AsciiCode::ZeroReads) => HostOp::Read,
        (b"0", AsciiCode::OneReads) | (b"1", AsciiCode::ZeroReads) => HostOp::Write,
        (other, AsciiCode::OneReads) => return Err(LineFault::column("type", "1 (read) or 0 (write)", other)),
        (other, AsciiCode::ZeroReads) => return Err(LineFault::column("type", "0 (read) or 1 (write)", other)),
    };
    Ok(Draft::new(at, fields.get(1), op, offset, length))
}
