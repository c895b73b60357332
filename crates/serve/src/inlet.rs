//! What a client has sent, as the protocol reads it.

use std::io;

use crate::address::Stream;
use crate::tls::Tls;

/// Bytes read at once. Larger does not help: a payload is copied once in any case.
const INPUT_BYTES: usize = 256 << 10;

/// The input of one connection, in the clear or out of TLS.
#[derive(Debug)]
pub(crate) struct Inlet {
    input: Vec<u8>,
    /// What was decrypted and not given out.
    plain: Vec<u8>,
    /// What was given out last is `plain`.
    is_given: bool,
}

impl Inlet {
    pub(crate) fn new() -> Inlet {
        Inlet { input: vec![0; INPUT_BYTES], plain: Vec::new(), is_given: false }
    }

    /// Where to append what is decrypted.
    pub(crate) fn plain(&mut self) -> &mut Vec<u8> {
        if std::mem::take(&mut self.is_given) {
            self.plain.clear();
        }
        &mut self.plain
    }

    /// Waits for input, as long as the stream is set to. `None`: there is no more.
    pub(crate) fn next(&mut self, stream: &Stream, tls: Option<&Tls>) -> io::Result<Option<&[u8]>> {
        loop {
            if !self.plain().is_empty() {
                self.is_given = true;
                return Ok(Some(&self.plain));
            }
            let count = match stream.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
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
