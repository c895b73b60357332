//! Refused units: after a power cut the core cannot tell whether its copy of them is the newest.
//!
//! This takes two failures at once: a page and the second copy of its marks, or both copies of a page of the journal. Reads of such a unit fail until it is
//! written or trimmed; the journal's snapshot keeps the list over power cuts. Their data stays where it is.

/// The refused units of one core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    bits: Vec<u64>,
    count: u32,
    /// Version from which on a written unit is not refused.
    version: u64,
}

impl Refused {
    /// Creates a table of `units` units, none of them refused.
    pub(crate) fn none(units: u32) -> Refused {
        Refused { bits: vec![0; (units as usize).div_ceil(64)], count: 0, version: 0 }
    }

    /// Number of refused units.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Version from which on a written unit is not refused.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// True if `lpn` is refused.
    #[inline]
    pub(crate) fn has(&self, lpn: u32) -> bool {
        self.bits[lpn as usize / 64] >> (lpn % 64) & 1 == 1
    }

    /// Refuse `lpn` unless it is written at `version` or later.
    pub(crate) fn add(&mut self, lpn: u32, version: u64) {
        self.count += u32::from(!self.has(lpn));
        self.bits[lpn as usize / 64] |= 1 << (lpn % 64);
        self.version = self.version.max(version);
    }

    /// Stop refusing `lpn`, which was written or trimmed.
    pub(crate) fn remove(&mut self, lpn: u32) {
        self.count -= u32::from(self.has(lpn));
        self.bits[lpn as usize / 64] &= !(1 << (lpn % 64));
    }

    /// Bitmap of the refused units from `first` on, in `bytes` bytes; `None`: none of them is refused.
    pub(crate) fn chunk(&self, first: u32, bytes: usize, units: u32) -> Option<Vec<u8>> {
        let end = units.min(first.saturating_add(8 * bytes as u32));
        let mut chunk = vec![0u8; ((end - first) as usize).div_ceil(8)];
        (first..end).filter(|&lpn| self.has(lpn)).for_each(|lpn| chunk[(lpn - first) as usize / 8] |= 1 << ((lpn - first) % 8));
        chunk.iter().any(|&byte| byte != 0).then_some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_refused_until_they_are_removed_and_chunks_hold_them() {
        let mut refused = Refused::none(200);
        [0, 63, 64, 199].into_iter().for_each(|lpn| refused.add(lpn, 7));
        refused.add(64, 9);
        assert_eq!((refused.count(), refused.version()), (4, 9));
        assert!(refused.has(199) && !refused.has(198));
        assert_eq!(refused.chunk(0, 8, 200), Some(vec![1, 0, 0, 0, 0, 0, 0, 0x80]));
        assert_eq!(refused.chunk(72, 8, 200), None);
        assert_eq!(refused.chunk(192, 8, 200), Some(vec![0x80]));
        refused.remove(64);
        refused.remove(64);
        assert_eq!(refused.count(), 3);
    }
}
