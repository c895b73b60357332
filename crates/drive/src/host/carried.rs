//! The bytes that host requests carry between their arrival and their acknowledgement.
//!
//! A write brings its bytes, and a read gets room for them. Whoever has had the answer lets go of both, so a drive holds what its requests under way need and
//! no more, however long a request once was.

use std::ops::Range;

use wordline_units::RequestId;

/// Bytes that the host hands over with a request.
#[derive(Debug, Default)]
pub enum HostBytes {
    /// No bytes: the request is no write.
    #[default]
    None,
    /// Zeroes for all sectors of a write.
    Zeroes,
    /// The bytes of a write.
    These(Vec<u8>),
}

/// Greatest number of buffers that are kept for the next read.
const SPARE: usize = 256;

/// Greatest size of a buffer that is kept.
const SPARE_BYTES: usize = 64 << 10;

/// Bytes of each request, by its slot.
#[derive(Debug, Default)]
pub(crate) struct RequestBytes {
    requests: Vec<HostBytes>,
    /// First lost sector of each slot's read, counted from the read's first; `None`: it covers none.
    spoiled: Vec<Option<u32>>,
    /// Free buffers for later reads.
    spare: Vec<Vec<u8>>,
}

impl RequestBytes {
    /// Bring the `bytes` of the request that arrives in `slot`.
    pub(crate) fn bring(&mut self, slot: RequestId, bytes: HostBytes) {
        let index = slot.0 as usize;
        if self.requests.len() <= index {
            self.requests.resize_with(index + 1, HostBytes::default);
            self.spoiled.resize(index + 1, None);
        }
        self.let_go(slot);
        self.requests[index] = bytes;
        self.spoiled[index] = None;
    }

    /// Buffer for the `length` bytes of the read in `slot`, with undefined content.
    pub(crate) fn room(&mut self, slot: RequestId, length: usize) -> &mut [u8] {
        let place = &mut self.requests[slot.0 as usize];
        if !matches!(place, HostBytes::These(bytes) if bytes.len() == length) {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.resize(length, 0);
            *place = HostBytes::These(bytes);
        }
        match place {
            HostBytes::These(bytes) => bytes,
            HostBytes::None | HostBytes::Zeroes => unreachable!("there is room now"),
        }
    }

    /// Note that sector `at` of the read in `slot`, counted from its first, is lost.
    pub(crate) fn spoil(&mut self, slot: RequestId, at: u32) {
        let first = &mut self.spoiled[slot.0 as usize];
        *first = Some(first.map_or(at, |first| first.min(at)));
    }

    /// True if the read in `slot` covers a lost sector.
    pub(crate) fn is_spoiled(&self, slot: RequestId) -> bool {
        self.first_lost(slot).is_some()
    }

    /// First lost sector of the read in `slot`, counted from its first.
    pub(crate) fn first_lost(&self, slot: RequestId) -> Option<u32> {
        self.spoiled.get(slot.0 as usize).copied().flatten()
    }

    /// Bytes of the request in `slot`, if they are more than zeroes.
    pub(crate) fn bytes(&self, slot: RequestId) -> Option<&[u8]> {
        match self.requests.get(slot.0 as usize)? {
            HostBytes::None | HostBytes::Zeroes => None,
            HostBytes::These(bytes) => Some(bytes),
        }
    }

    /// Copies the bytes in `source` of the write in `slot` to `into`.
    pub(crate) fn give(&self, slot: RequestId, source: Range<usize>, into: &mut [u8]) {
        match &self.requests[slot.0 as usize] {
            HostBytes::These(bytes) => into.copy_from_slice(&bytes[source]),
            HostBytes::Zeroes => into.fill(0),
            HostBytes::None => unreachable!("a write brings bytes, and they are there until it is done"),
        }
    }

    /// Free the bytes of the request in `slot`.
    pub(crate) fn let_go(&mut self, slot: RequestId) {
        let Some(place) = self.requests.get_mut(slot.0 as usize) else { return };
        if let HostBytes::These(bytes) = std::mem::take(place)
            && self.spare.len() < SPARE
            && (1..=SPARE_BYTES).contains(&bytes.capacity())
        {
            self.spare.push(bytes);
        }
    }

    /// Free the bytes of the request in `slot` and return them.
    pub(crate) fn take(&mut self, slot: RequestId) -> Vec<u8> {
        match self.requests.get_mut(slot.0 as usize).map(std::mem::take) {
            Some(HostBytes::These(bytes)) => bytes,
            Some(HostBytes::None | HostBytes::Zeroes) | None => Vec::new(),
        }
    }

    /// Memory in bytes that requests hold, and that buffers hold for the next ones.
    pub(crate) fn held(&self) -> usize {
        let of_requests = self.requests.iter().map(|bytes| match bytes {
            HostBytes::None | HostBytes::Zeroes => 0,
            HostBytes::These(bytes) => bytes.capacity(),
        });
        of_requests.chain(self.spare.iter().map(Vec::capacity)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_let_go_of_is_not_held() {
        let mut bytes = RequestBytes::default();
        for slot in 0..64 {
            bytes.bring(RequestId(slot), HostBytes::None);
            bytes.room(RequestId(slot), 1 << 20)[0] = 1;
        }
        assert_eq!(bytes.held(), 64 << 20);
        (0..64).for_each(|slot| bytes.let_go(RequestId(slot)));
        assert_eq!(bytes.held(), 0, "long ones are not kept");
        for slot in 0..1_000 {
            bytes.bring(RequestId(slot), HostBytes::These(vec![7; 4096]));
        }
        (0..1_000).for_each(|slot| bytes.let_go(RequestId(slot)));
        assert_eq!(bytes.held(), SPARE * 4096, "of short ones so many are");
        bytes.bring(RequestId(3), HostBytes::None);
        assert_eq!(bytes.room(RequestId(3), 512).len(), 512);
        assert_eq!(bytes.held(), SPARE * 4096, "and one of them is what a read gets");
    }

    #[test]
    fn a_slot_that_is_taken_again_carries_nothing_of_the_last_request() {
        let mut bytes = RequestBytes::default();
        bytes.bring(RequestId(0), HostBytes::These(vec![7; 512]));
        [7, 3, 5].into_iter().for_each(|at| bytes.spoil(RequestId(0), at));
        assert_eq!(bytes.first_lost(RequestId(0)), Some(3));
        bytes.bring(RequestId(0), HostBytes::Zeroes);
        assert!(bytes.bytes(RequestId(0)).is_none() && !bytes.is_spoiled(RequestId(0)));
        assert!(bytes.bytes(RequestId(9)).is_none() && !bytes.is_spoiled(RequestId(9)), "nor one that never was");
    }
}
