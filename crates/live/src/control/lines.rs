//! Lines out of a stream, none longer than it may be.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use crate::doors::Stream;

/// Bytes in a line, at most.
pub(super) const LONGEST: usize = 64 << 10;

/// Result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// More bytes than a line may have.
    TooLong,
    /// Nothing more.
    End,
}

/// Bytes received and not returned yet.
#[derive(Debug)]
pub(super) struct Lines {
    held: Vec<u8>,
    patience: Duration,
}

impl Lines {
    pub(super) fn new(patience: Duration) -> Lines {
        Lines { held: Vec::new(), patience }
    }

    /// The next line of `stream`. Between two lines a client may be silent without limit; within one, for as long as there is patience.
    pub(super) fn next(&mut self, stream: &Stream) -> io::Result<Line> {
        let mut looked_at = 0;
        let mut since = Instant::now();
        loop {
            if let Some(end) = self.held[looked_at..].iter().position(|&byte| byte == b'\n') {
                let rest = self.held.split_off(looked_at + end + 1);
                let mut line = std::mem::replace(&mut self.held, rest);
                line.pop();
                return Ok(if line.len() > LONGEST { Line::TooLong } else { Line::Whole(line) });
            }
            looked_at = self.held.len();
            if looked_at > LONGEST {
                return Ok(Line::TooLong);
            }
            if self.held.is_empty() {
                stream.set_read_timeout(None)?;
                since = Instant::now();
            } else {
                // The limit holds for the whole line, however it trickles in.
                let left = self.patience.saturating_sub(since.elapsed());
                if left.is_zero() {
                    return Err(ErrorKind::TimedOut.into());
                }
                stream.set_read_timeout(Some(left))?;
            }
            let mut buffer = [0; 4096];
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(Line::End),
                Ok(count) => self.held.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
