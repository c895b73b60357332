//! Erases that are stopped on their way: the stress that each stop adds.
//!
//! The stress of all stops of an erase goes with a power of their number, so a stop adds `suspended(n) − suspended(n − 1)` times the erase's own
//! `1 − healed(dwell)`. It is worked out anew from the history before the erase, so that an erase of n stops leaves what [`History::erased`] says of n, to the
//! last bit.

use wordline_units::{Celsius, WordlineSet};

use crate::physics::Physics;
use crate::wear::{History, effective_dwell};

/// A die erases a block in each of so many planes at once at most.
const AT_ONCE: usize = 4;

/// An erase that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Erasing {
    pub(super) block: u32,
    /// The history of the block before it.
    pub(super) before: History,
    /// Seconds since the erase before.
    pub(super) dwell: f64,
    /// The temperature at which it began.
    pub(super) temperature: Celsius,
    /// The wordlines that it spares.
    pub(super) spared: WordlineSet,
}

impl Erasing {
    /// Seconds since the erase before, at the reference temperature.
    pub(super) fn effective_dwell(&self, physics: &Physics) -> f64 {
        effective_dwell(physics, self.dwell, self.temperature)
    }

    /// The history of the block once it has been erased with so many stops.
    pub(super) fn stopped(&self, physics: &Physics, stops: u32) -> History {
        self.of_wordline(physics, stops, 0.0, false)
    }

    /// The same of a wordline of this gentle stress before, which is spared or not.
    pub(super) fn of_wordline(&self, physics: &Physics, stops: u32, gentle: f32, is_spared: bool) -> History {
        History { gentle, ..self.before }.erased(physics, self.dwell, self.temperature, stops, is_spared)
    }
}

/// The erases that have begun last.
#[derive(Clone, Debug, Default)]
pub(super) struct Erasings {
    last: [Option<Erasing>; AT_ONCE],
    /// Gentle stress of the wordlines before each of them; empty: nothing was spared before.
    earlier: [Vec<f32>; AT_ONCE],
    next: usize,
}

impl Erasings {
    /// One more has begun, of a block of whose wordlines this was the gentle stress until now.
    pub(super) fn begin(&mut self, erasing: Erasing, gentle: Option<&[f32]>) {
        let place = self.last.iter().position(|last| last.is_some_and(|last| last.block == erasing.block));
        let place = place.unwrap_or_else(|| {
            self.next = (self.next + 1) % AT_ONCE;
            self.next
        });
        self.last[place] = Some(erasing);
        self.earlier[place].clear();
        self.earlier[place].extend_from_slice(gentle.unwrap_or_default());
    }

    /// The last erase of `block`, with the gentle stress of its wordlines before.
    pub(super) fn with_earlier(&self, block: u32) -> Option<(&Erasing, &[f32])> {
        let place = self.last.iter().position(|last| last.is_some_and(|last| last.block == block))?;
        Some((self.last[place].as_ref()?, &self.earlier[place]))
    }

    /// The last erase of `block`.
    pub(super) fn of(&self, block: u32) -> Option<&Erasing> {
        self.last.iter().flatten().find(|last| last.block == block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn erasing(block: u32, dwell: f64) -> Erasing {
        Erasing { block, before: History::default(), dwell, temperature: Celsius(30.0), spared: WordlineSet::NONE }
    }

    #[test]
    fn the_last_erase_of_each_plane_is_known() {
        let mut erasings = Erasings::default();
        for round in 0..5 {
            for block in [3, 103, 203, 303, 7, 7, 107, 3] {
                erasings.begin(erasing(block, f64::from(round)), None);
                assert_eq!(erasings.of(block).map(|last| last.dwell), Some(f64::from(round)));
            }
        }
        [0, 100, 200, 300].into_iter().for_each(|block| erasings.begin(erasing(block, 9.0), None));
        assert!([0, 100, 200, 300].into_iter().all(|block| erasings.of(block).is_some()));
        assert!(erasings.of(1).is_none());
    }
}
