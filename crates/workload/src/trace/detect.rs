//! Which format a file is in, by what its first lines look like.
//!
//! A header or a first line that only one format has decides at once. Otherwise every line of the first 64 KiB is classed by the
//! number and kind of its columns and the most frequent class wins, so that a few damaged lines do not mislead.
//!
//! Five-column ASCII cannot be told apart by shape. Its rules, in order:
//!
//! * a decimal point in the first column means milliseconds;
//! * whole numbers that rise with every line and by less than 100 on average are positions, not times, for nothing issues ten
//!   million requests a second through one queue;
//! * other whole numbers are nanoseconds;
//! * addresses and sizes that are all multiples of 512 are bytes, else sectors;
//! * 1 is a read. Content never shows the opposite; only a name can ask for it.

use serde::Serialize;

use super::error::{TraceError, excerpt};
use super::event::is_device;
use super::fields::{Fields, decimal, whole};
use super::foreign;
use super::format::{Ascii, AsciiCode, AsciiTime, AsciiUnit, BlockEvent, Format};
use super::input::{trim_end, whole_lines};
use super::nearest::nearest;

/// A format and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recognised {
    /// The format.
    pub format: Format,
    /// What in the content decided, for `info`.
    pub why: String,
}

/// Headers that decide, in lower case.
const HEADERS: [(&[u8], Format); 9] = [
    (b"timestamp,hostname,", Format::Msr),
    (b"timestamp,response,iotype", Format::Systor),
    (b"device_id,opcode,", Format::Alibaba),
    (b"timestamp,offset,size,iotype", Format::Tencent),
    (b"version,time,op,size", Format::CloudPhysics),
    (b"device_major_number,", Format::Ycsb),
    (b"offset,size,type", Format::Nexus5),
    (b"fio version 2 iolog", Format::FioV2),
    (b"fio version 3 iolog", Format::FioV3),
];

/// What one line looks like. Between equally frequent classes the one seen first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    FiveNumbers,
    Comma(Format),
    Events,
    WiscSee,
}

/// The format that was named for a file that begins with `head`.
pub(crate) fn named(format: Format, head: &[u8], file: &str) -> Result<Recognised, TraceError> {
    foreign::refuse(head, file)?;
    if matches!(format, Format::Blktrace(_)) {
        return Err(TraceError::OtherFormat { file: file.to_owned(), named: format.name(), found: "text" });
    }
    Ok(Recognised { format, why: "the format was named".to_owned() })
}

/// The format of a text that begins with `head`.
pub(crate) fn recognise(head: &[u8], file: &str) -> Result<Recognised, TraceError> {
    foreign::refuse(head, file)?;
    let head = whole_lines(head);
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let lines: Vec<(u64, &[u8])> = head
        .split(|byte| *byte == b'\n')
        .zip(1..)
        .map(|(line, number)| (number, trim_end(line)))
        .filter(|(_, line)| !line.is_empty() && line[0] != b'#')
        .collect();
    let Some((number, first)) = lines.first() else {
        return Err(TraceError::Empty { file: file.to_owned() });
    };
    let lower = first[..first.len().min(256)].to_ascii_lowercase();
    if let Some((header, format)) = HEADERS.iter().find(|(header, _)| lower.starts_with(header)) {
        return Ok(Recognised { format: *format, why: format!("the header '{}'", excerpt(header)) });
    }
    if is_own_header(&lower) {
        return Ok(Recognised { format: Format::Csv, why: "a header with op, offset and length".to_owned() });
    }
    let classes: Vec<Option<Class>> = lines.iter().map(|(_, line)| class(line)).collect();
    let mut votes: Vec<(Class, usize)> = Vec::new();
    for class in classes.iter().flatten() {
        match votes.iter_mut().find(|(known, _)| known == class) {
            Some((_, count)) => *count += 1,
            None => votes.push((*class, 1)),
        }
    }
    // `max_by_key` keeps the last of equals; reversed, that is the class seen first.
    let winner = votes.iter().rev().max_by_key(|(_, count)| *count).copied();
    let Some((winner, votes)) = winner else {
        let nearest = nearest(first);
        return Err(TraceError::Unrecognised { file: file.to_owned(), line: *number, excerpt: excerpt(first), nearest });
    };
    let among = format!("{votes} of the first {} lines", lines.len());
    let voters = || lines.iter().zip(&classes).filter(|(_, class)| **class == Some(winner)).map(|((_, line), _)| *line);
    Ok(match winner {
        Class::FiveNumbers => ascii(voters(), &among),
        Class::Comma(format) => Recognised { format, why: format!("the columns of {among}") },
        Class::Events => events(voters(), &among),
        Class::WiscSee => Recognised { format: Format::WiscSee, why: format!("the columns of {among}") },
    })
}

fn is_own_header(lower: &[u8]) -> bool {
    let fields = Fields::commas(lower);
    let has = |name: &[u8]| (0..fields.count()).any(|index| fields.get(index) == name);
    has(b"op") && has(b"offset") && has(b"length")
}

fn class(line: &[u8]) -> Option<Class> {
    let blanks = Fields::blanks(line);
    if blanks.count() >= 6 && is_device(blanks.get(0)) {
        return Some(Class::Events);
    }
    if blanks.count() >= 6 && matches!(blanks.get(1), b"D" | b"C") && whole(blanks.get(0)).is_some() {
        return Some(Class::WiscSee);
    }
    if line.contains(&b',') {
        return comma(&Fields::commas(line)).map(Class::Comma);
    }
    let numbers = blanks.count() == 5
        && decimal(blanks.get(0), 1).is_some()
        && (1..4).all(|index| whole(blanks.get(index)).is_some())
        && is_bit(blanks.get(4));
    numbers.then_some(Class::FiveNumbers)
}

fn comma(fields: &Fields<'_>) -> Option<Format> {
    let number = |index: usize| decimal(fields.get(index), 1).is_some();
    let is = |index: usize, words: [&str; 2]| words.iter().any(|word| fields.get(index).eq_ignore_ascii_case(word.as_bytes()));
    match fields.count() {
        3 if number(0) && number(1) && is_bit(fields.get(2)) => Some(Format::Nexus5),
        7 if is(3, ["Read", "Write"]) && number(0) => Some(Format::Msr),
        7 if is_bit(fields.get(2)) && (0..7).all(number) => Some(Format::FlashNet),
        6 if number(0) && (is(2, ["R", "W"]) || fields.get(2).is_empty()) && number(4) && number(5) => Some(Format::Systor),
        5 if is(1, ["R", "W"]) && number(2) && number(3) && number(4) => Some(Format::Alibaba),
        5.. if is(3, ["R", "W"]) && number(0) && number(1) && number(2) && number(4) => Some(Format::Spc),
        5 if is_bit(fields.get(3)) && number(0) && number(1) && number(2) => Some(Format::Tencent),
        5 if fields.get(2).len() == 2 && fields.get(2).iter().all(u8::is_ascii_hexdigit) && number(1) && number(3) && number(4) => {
            Some(Format::CloudPhysics)
        }
        10.. if fields.get(6).len() <= 2 && fields.get(6).first().is_some_and(u8::is_ascii_alphabetic) && number(4) => Some(Format::Ycsb),
        _ => None,
    }
}

fn is_bit(text: &[u8]) -> bool {
    matches!(text, b"0" | b"1")
}

fn ascii<'a>(lines: impl Iterator<Item = &'a [u8]>, among: &str) -> Recognised {
    let (mut point, mut bytes) = (false, true);
    let (mut rising, mut count) = (true, 0u64);
    let (mut first, mut last) = (0, 0);
    for line in lines {
        let fields = Fields::blanks(line);
        point |= fields.get(0).contains(&b'.');
        bytes &= [2, 3].iter().all(|index| whole(fields.get(*index)).is_some_and(|number| number.is_multiple_of(512)));
        let time = whole(fields.get(0)).unwrap_or(0);
        if count == 0 {
            first = time;
        } else {
            rising &= time > last;
        }
        last = time;
        count += 1;
    }
    let position = rising && count >= 8 && (last - first) / count < 100;
    let (time, time_why) = match (point, position) {
        (true, _) => (AsciiTime::Millis, "a decimal point in the first column: milliseconds"),
        (false, true) => (AsciiTime::Position, "a first column that rises by less than 100 a line: positions"),
        (false, false) => (AsciiTime::Nanos, "whole numbers in the first column: nanoseconds"),
    };
    let (unit, unit_why) = if bytes {
        (AsciiUnit::Bytes, "addresses and sizes all multiples of 512: bytes")
    } else {
        (AsciiUnit::Sectors, "addresses or sizes not multiples of 512: sectors")
    };
    let why = format!("five numbers in {among}; {time_why}; {unit_why}; type 1 taken as read");
    Recognised { format: Format::Ascii(Ascii { time, unit, code: AsciiCode::OneReads }), why }
}

/// Which event stands for requests in these lines.
fn events<'a>(lines: impl Iterator<Item = &'a [u8]>, among: &str) -> Recognised {
    let mut found = [false; 3];
    for line in lines {
        for (index, letter) in [&b"Q"[..], b"D", b"C"].iter().enumerate() {
            found[index] |= Fields::blanks(line).get(5) == *letter;
        }
    }
    let event = BlockEvent::chosen(found[0], found[1], found[2]);
    Recognised { format: Format::Blkparse(event), why: format!("block events in {among}; {}", event.chosen_words()) }
}
