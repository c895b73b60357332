//! Payloads that go to where they belong at once, and buffers that are used again.
//!
//! A payload that comes through [`Server::receive`](super::Server::receive) is copied once more than it has to be. The rest of a long one can be read to its
//! own place instead: whoever reads from the peer borrows the payload and brings it back longer.

use crate::limits::SPARE_BYTES;
use crate::stage::Stage;

/// A rest that is shorter comes as fast with what follows it.
const LENT_MIN: u64 = 16 << 10;

/// A payload that is borrowed before much of it is there has room for so much: a peer that announces one and sends nothing costs address space.
const LENT_START: usize = 256 << 10;

/// A payload on loan: to its end, up to its capacity, goes what comes next from the peer.
#[derive(Debug)]
pub struct Lent {
    /// What is there of it.
    pub bytes: Vec<u8>,
}

/// Buffers of payloads that are done with, for the next ones: fresh memory costs more than the bytes that go there.
#[derive(Debug, Default)]
pub(super) struct Spare {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

impl Spare {
    /// An empty buffer for a payload of so many bytes; one without room where none fits. What does not fit is no use where lengths have changed, and goes.
    pub(super) fn take(&mut self, length: u64) -> Vec<u8> {
        let Some(buffer) = self.buffers.pop() else { return Vec::new() };
        self.bytes -= buffer.capacity();
        if buffer.capacity() as u64 == length { buffer } else { Vec::new() }
    }

    pub(super) fn put(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() > 0 && self.bytes + buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.bytes += buffer.capacity();
            self.buffers.push(buffer);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
    /// Lends the payload that `stage` receives, if more than a little of it is to come.
    pub(super) fn lend(&mut self, stage: &mut Stage) -> Option<Lent> {
        let Stage::Payload { ticket, data, lent, .. } = stage else { return None };
        let left = ticket.length - data.len() as u64;
        if left < LENT_MIN || *lent > 0 {
            return None;
        }
        if data.capacity() == 0 {
            *data = self.take(ticket.length);
        }
        if data.capacity() == data.len() {
            data.reserve_exact((left as usize).min(data.len().max(LENT_START)));
        }
        if data.capacity() as u64 > ticket.length {
            // What follows the payload must not go there.
            return None;
        }
        *lent = data.capacity();
        Some(Lent { bytes: std::mem::take(data) })
    }
}

impl Lent {
    /// Gives the payload back to `stage`. Where the conversation is over meanwhile, it goes.
    pub(super) fn give_back(self, stage: &mut Stage) {
        if let Stage::Payload { ticket, data, lent, .. } = stage {
            assert!(self.bytes.len() as u64 <= ticket.length, "a payload of {} bytes for {}", self.bytes.len(), ticket.length);
            (*data, *lent) = (self.bytes, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Server;
    use super::*;
    use crate::client::{put_option, put_request};
    use crate::{Event, Export, Limits, Request, Settings, Tls};
    use wordline_block::Op;

    /// A server with an export open, which is being sent a write of so many bytes.
    fn writing(length: u64) -> Server {
        let exports = vec![Export::new("disk", 1 << 30)];
        let settings = Settings { exports, tls: Tls::Absent, extended_headers: true, limits: Limits::DEFAULT };
        let mut server = Server::new(settings.into());
        let mut bytes = 3u32.to_be_bytes().to_vec();
        put_option(&mut bytes, 1, b"disk");
        put_request(&mut bytes, false, 0, 1, 1, 0, length);
        server.receive(&bytes);
        assert!(matches!(server.next(), Some(Event::Opened(_))));
        server.sent(server.output().len());
        server.receive(&[]);
        server
    }

    #[test]
    fn a_payload_on_loan_is_whole_when_it_is_back_and_full() {
        let mut server = writing(100_000);
        assert_eq!(server.receive(&[1; 30_000]), 30_000);
        let mut taken = 30_000;
        while let Some(mut payload) = server.lend_payload() {
            assert_eq!(payload.bytes.len(), taken);
            assert!(server.lend_payload().is_none() && server.receive(&[9]) == 0, "it is lent once, and nothing passes it");
            assert!(server.buffered_bytes() >= payload.bytes.capacity() as u64);
            let count = (payload.bytes.capacity() - taken).min(50_000);
            payload.bytes.extend(std::iter::repeat_n(2, count));
            taken += count;
            server.give_back(payload);
        }
        // A short rest comes with what follows it.
        let rest = vec![3; 100_000 - taken];
        assert_eq!(server.receive(&rest), rest.len());
        let Some(Event::Request(Request { op: Op::Write { data, .. }, .. })) = server.next() else { panic!("a write") };
        assert_eq!(data, [&[1; 30_000][..], &vec![2; taken - 30_000], &rest].concat());
    }

    #[test]
    fn short_payloads_are_not_lent_and_an_end_meanwhile_does_no_harm() {
        assert!(writing(LENT_MIN - 1).lend_payload().is_none());
        let mut server = writing(LENT_MIN);
        let payload = server.lend_payload().expect("long enough");
        server.hang_up();
        server.give_back(payload);
        assert!(server.closed().is_some() && server.lend_payload().is_none());
        assert!(server.buffered_bytes() < LENT_MIN);
    }

    #[test]
    fn buffers_of_the_right_length_are_used_again_and_few_are_kept() {
        let mut spare = Spare::default();
        spare.put(Vec::new());
        assert_eq!(spare.bytes(), 0);
        spare.put(vec![1; 4096]);
        assert_eq!(spare.bytes(), 4096);
        let again = spare.take(4096);
        assert_eq!((again.len(), again.capacity(), spare.bytes()), (0, 4096, 0));
        spare.put(again);
        assert_eq!((spare.take(8192).capacity(), spare.bytes()), (0, 0), "one of another length goes");
        (0..100).for_each(|_| spare.put(vec![0; 128 << 10]));
        assert_eq!(spare.bytes(), SPARE_BYTES);
    }
}
