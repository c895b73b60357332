//! The published formats with commas between columns.

use wordline_units::HostOp;

use super::draft::Draft;
use super::error::LineFault;
use super::fields::Fields;
use super::meaning::Units;

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
const MICROSECOND: u64 = 1_000;

pub(crate) fn msr<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(7, "seven columns: timestamp,host,disk,type,offset,size,response")?;
    let at = units.time(&fields, 0, "Timestamp", 100)?;
    let op = read_or_write(&fields, 3, "Type", ["Read", "Write"])?;
    let (offset, length) = (fields.whole(4, "Offset")?, fields.whole(5, "Size")?);
    let latency = Some(fields.time(6, "ResponseTime", 100)?);
    Ok(Draft { latency, ..Draft::new(Some(at), fields.joined(1, 2), op, offset, length) })
}

/// A row without an operation is passed over: the collector saw no reply and could not say what was asked.
pub(crate) fn systor<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(6, "six columns: timestamp,response,type,lun,offset,size")?;
    if fields.get(2).is_empty() {
        return Err(LineFault::column("IOType", "R or W", b"").passed_over());
    }
    let at = units.time(&fields, 0, "Timestamp", SECOND)?;
    let latency = if fields.get(1).is_empty() { None } else { Some(fields.time(1, "Response", SECOND)?) };
    let op = read_or_write(&fields, 2, "IOType", ["R", "W"])?;
    let (offset, length) = (fields.whole(4, "Offset")?, fields.whole(5, "Size")?);
    Ok(Draft { latency, ..Draft::new(Some(at), fields.get(3), op, offset, length) })
}

pub(crate) fn alibaba<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(5, "five columns: device,opcode,offset,length,timestamp")?;
    let at = units.time(&fields, 4, "timestamp", MICROSECOND)?;
    let op = read_or_write(&fields, 1, "opcode", ["R", "W"])?;
    Ok(Draft::new(Some(at), fields.get(0), op, fields.whole(2, "offset")?, fields.whole(3, "length")?))
}

pub(crate) fn tencent<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(5, "five columns: timestamp,offset,size,type,volume")?;
    let at = units.time(&fields, 0, "Timestamp", SECOND)?;
    let op = zero_or_one(&fields, 3, "IOType", ["read", "write"])?;
    let (offset, length) = (units.sectors(fields.whole(1, "Offset")?, "Offset")?, units.sectors(fields.whole(2, "Size")?, "Size")?);
    Ok(Draft::new(Some(at), fields.get(4), op, offset, length))
}

pub(crate) fn flashnet<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(7, "seven columns: original_ms,latency_us,type,size,offset,submit_ms,done")?;
    fields.time(0, "original_ms", MILLISECOND)?;
    let at = units.time(&fields, 5, "submit_ms", MILLISECOND)?;
    let op = zero_or_one(&fields, 2, "type", ["write", "read"])?;
    let latency = Some(fields.time(1, "latency_us", MICROSECOND)?);
    Ok(Draft { latency, ..Draft::new(Some(at), b"0", op, fields.whole(4, "offset")?, fields.whole(3, "size")?) })
}

/// The specification allows more columns behind the five that are named.
pub(crate) fn spc<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.at_least(5, "five columns: asu,lba,size,opcode,timestamp")?;
    let at = units.time(&fields, 4, "Timestamp", SECOND)?;
    let op = read_or_write(&fields, 3, "Opcode", ["r", "w"])?;
    Ok(Draft::new(Some(at), fields.get(0), op, units.sectors(fields.whole(1, "LBA")?, "LBA")?, fields.whole(2, "Size")?))
}

pub(crate) fn cloudphysics<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(5, "five columns: version,time,op,size,lbn")?;
    let at = units.time(&fields, 1, "time", MICROSECOND)?;
    let op = match fields.get(2) {
        b"08" | b"8" | b"28" | b"88" | b"a8" | b"A8" => HostOp::Read,
        b"0a" | b"a" | b"0A" | b"2a" | b"2A" | b"8a" | b"8A" | b"aa" | b"AA" => HostOp::Write,
        b"42" => HostOp::Trim,
        b"35" | b"91" => HostOp::Flush,
        other => {
            return Err(LineFault::column(
                "op",
                "a SCSI opcode in hex: 28, 88, a8 (read), 2a, 8a, aa (write), 42 (unmap) or 35 (flush)",
                other,
            ));
        }
    };
    Ok(Draft::new(Some(at), b"0", op, units.sectors(fields.whole(4, "lbn")?, "lbn")?, fields.whole(3, "size")?))
}

/// Three columns without time. Sizes may carry the extra sector of the eMMC driver; they are kept as they are.
pub(crate) fn nexus5<'a>(line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
    let fields = Fields::commas(line);
    fields.exactly(3, "three columns: offset,size,type")?;
    let op = zero_or_one(&fields, 2, "type", ["read", "write"])?;
    Ok(Draft::new(None, b"0", op, units.sectors(fields.whole(0, "offset")?, "offset")?, fields.whole(1, "size")?))
}

/// An operation in words: `words` are those for read and write, in the spelling shown in messages.
fn read_or_write(fields: &Fields<'_>, index: usize, column: &'static str, words: [&'static str; 2]) -> Result<HostOp, LineFault> {
    let text = fields.get(index);
    if text.eq_ignore_ascii_case(words[0].as_bytes()) {
        Ok(HostOp::Read)
    } else if text.eq_ignore_ascii_case(words[1].as_bytes()) {
        Ok(HostOp::Write)
    } else {
        Err(LineFault::column(column, format!("{} or {}", words[0], words[1]), text).meant(words))
    }
}

/// An operation as 0 or 1: `words` say what each means.
fn zero_or_one(fields: &Fields<'_>, index: usize, column: &'static str, words: [&'static str; 2]) -> Result<HostOp, LineFault> {
    let word = match fields.get(index) {
        b"0" => words[0],
        b"1" => words[1],
        other => return Err(LineFault::column(column, format!("0 ({}) or 1 ({})", words[0], words[1]), other)),
    };
    Ok(if word == "read" { HostOp::Read } else { HostOp::Write })
}
