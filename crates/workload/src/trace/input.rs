//! Bytes in, lines out: decompression by magic number, and lines of bounded length in a buffer that is used again.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How much of the beginning is looked at to recognise a format.
const HEAD_BYTES: u64 = 64 << 10;
/// A longer line is not a trace line, and must not be gathered in memory.
const LONGEST_LINE: u64 = 64 << 10;
const BUFFER_BYTES: usize = 64 << 10;

/// `source` itself, or what it holds if it is a gzip or zstd stream, told by its first bytes.
pub fn decompressed<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut magic = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut magic)?;
    let kind = magic.clone();
    let whole = Cursor::new(magic).chain(source);
    Ok(match kind.as_slice() {
        [0x1F, 0x8B, ..] => Box::new(flate2::read::MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, whole))),
        [0x28, 0xB5, 0x2F, 0xFD] => Box::new(zstd::stream::read::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

/// A source, unpacked, whose beginning has been looked at.
pub(crate) struct Opened<'a> {
    head: Vec<u8>,
    whole: Box<dyn Read + 'a>,
}

impl<'a> Opened<'a> {
    pub(crate) fn new(source: impl Read + 'a) -> io::Result<Opened<'a>> {
        let mut plain = decompressed(source)?;
        let mut head = Vec::new();
        plain.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
        Ok(Opened { whole: Box::new(Cursor::new(head.clone()).chain(plain)), head })
    }

    /// How the content begins, for recognition.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The whole content.
    pub(crate) fn into_reader(self) -> Box<dyn Read + 'a> {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, self.whole))
    }
}

/// The part of `head` that is whole lines: of an unfinished last line, recognition would judge the half.
pub(crate) fn whole_lines(head: &[u8]) -> &[u8] {
    if (head.len() as u64) < HEAD_BYTES {
        return head;
    }
    &head[..head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1)]
}

/// The lines of a source, numbered from 1.
pub(crate) struct Lines<'a> {
    source: Box<dyn BufRead + 'a>,
    buffer: Vec<u8>,
    number: u64,
}

/// What reading one line came to.
pub(crate) enum LineRead {
    /// A line is in the buffer.
    Whole,
    /// The line is too long to be one; it was passed over.
    TooLong,
    /// There are no more.
    End,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(opened: Opened<'a>) -> Lines<'a> {
        Lines { source: Box::new(BufReader::with_capacity(BUFFER_BYTES, opened.whole)), buffer: Vec::new(), number: 0 }
    }

    /// The number of the line in the buffer.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The line without its end.
    pub(crate) fn line(&self) -> &[u8] {
        trim_end(&self.buffer)
    }

    pub(crate) fn advance(&mut self) -> io::Result<LineRead> {
        self.buffer.clear();
        let read = self.source.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(LineRead::End);
        }
        self.number += 1;
        if self.number == 1 && self.buffer.starts_with(b"\xEF\xBB\xBF") {
            self.buffer.drain(..3);
        }
        if read as u64 == LONGEST_LINE && self.buffer.last() != Some(&b'\n') {
            self.pass_over_rest()?;
            return Ok(LineRead::TooLong);
        }
        Ok(LineRead::Whole)
    }

    fn pass_over_rest(&mut self) -> io::Result<()> {
        let mut rest = Vec::new();
        loop {
            rest.clear();
            let read = self.source.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut rest)?;
            if read == 0 || rest.last() == Some(&b'\n') {
                self.buffer.truncate(256);
                return Ok(());
            }
        }
    }
}

pub(crate) fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}
