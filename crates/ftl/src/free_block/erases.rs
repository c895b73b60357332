//! Dynamic wear levelling by erase counts.

use std::cmp::Reverse;

use super::{FreeGroups, Policy, Stream};

/// Takes the least-worn group for host data and the most-worn for moved data.
pub(super) struct Erases;

impl Policy for Erases {
    fn pick(&self, free: &FreeGroups<'_>, stream: Stream) -> Option<usize> {
        let places = 0..free.count();
        match stream {
            // Host data is young and will be overwritten soon, so its block is erased soon: give it the least worn. The most worn may rest under what
            // has moved before.
            Stream::Host => places.min_by_key(|&place| (free.erases(place), place)),
            Stream::Moved => places.max_by_key(|&place| (free.erases(place), Reverse(place))),
        }
    }
}
