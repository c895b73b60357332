//! What a client has sent, as the protocol reads it.

use std::io;
use std::time::{Duration, Instant};

use wordline_live::doors::Stream;

use crate::tls::Tls;

/// Bytes read at once.
const INPUT_BYTES: usize = 256 << 10;

/// Bytes read at once after a payload that went to its own place: another may follow, and what comes here of it is copied once more.
const AFTER_LENT_BYTES: usize = 4 << 10;

/// The input of one connection, in the clear or out of TLS.
#[derive(Debug)]
pub(crate) struct Inlet {
    input: Vec<u8>,
    /// What was decrypted and not given out.
    plain: Vec<u8>,
    /// What was given out last is `plain`.
    is_given: bool,
    /// The payload before went to its own place.
    was_lent: bool,
    /// How long to stay awake for more.
    awake: Duration,
}

impl Inlet {
    /// An inlet that stays awake for so long before it sleeps until more comes.
    pub(crate) fn new(awake: Duration) -> Inlet {
        Inlet { input: vec![0; INPUT_BYTES], plain: Vec::new(), is_given: false, was_lent: false, awake }
    }

    /// Where to append what is decrypted.
    pub(crate) fn plain(&mut self) -> &mut Vec<u8> {
        if std::mem::take(&mut self.is_given) {
            self.plain.clear();
        }
        &mut self.plain
    }

    /// Waits for input, as long as the stream is set to; with `may_be_silent` as long as it takes. `None`: there is no more.
    pub(crate) fn next(&mut self, stream: &Stream, tls: Option<&Tls>, may_be_silent: bool) -> io::Result<Option<&[u8]>> {
        loop {
            if !self.plain().is_empty() {
                self.is_given = true;
                return Ok(Some(&self.plain));
            }
            let room = if std::mem::take(&mut self.was_lent) { AFTER_LENT_BYTES } else { INPUT_BYTES };
            let count = match read(stream, self.awake, &mut self.input[..room]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // To wait again costs less than to set the stream for each request.
                Err(error) if may_be_silent && matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => continue,
                other => other?,
            };
            if count == 0 {
                return Ok(None);
            }
            let Some(tls) = tls else {
                return Ok(Some(&self.input[..count]));
            };
            if !tls.decrypt(&self.input[..count], &mut self.plain)? && self.plain.is_empty() {
                return Ok(None);
            }
        }
    }
}

impl Inlet {
    /// Reads more of a payload to its own place, in the clear. Waits as long as the stream is set to.
    pub(crate) fn read_behind(&mut self, stream: &Stream, payload: &mut Vec<u8>) -> io::Result<usize> {
        self.was_lent = true;
        stream.read_behind(payload)
    }
}

/// Reads what there is, awake for a while and then asleep.
fn read(stream: &Stream, awake: Duration, into: &mut [u8]) -> io::Result<usize> {
    if awake > Duration::ZERO {
        let begun = Instant::now();
        while begun.elapsed() < awake {
            if let Some(count) = stream.read_some(into)? {
                return Ok(count);
            }
            // Whoever else has something to do comes first.
            std::thread::yield_now();
        }
    }
    stream.read(into)
}
