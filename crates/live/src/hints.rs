//! Hints of stretches of the drive, from the control socket; a session has hints of its own.
//!
//! A hint is shown in the context `x-wordline:hint`, and kept beside the media of the drive, if it has any, for the next start ([`crate::hints_file`]).
//! Priority and security go with the requests to the stretch; a tolerated latency goes to the drive as a request of its own.

use std::collections::BTreeMap;

use wordline_block::Hints;
use wordline_block::hints::{Lifetime, ReadLatency, Security};
use wordline_units::Priority;

/// Stretches of a drive with hints of their own, at most.
pub(crate) const RANGES_MAX: usize = 4096;

/// A change of the hints of a stretch: `None` leaves a hint as it is, `Some(None)` removes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The class of its requests.
    pub priority: Option<Option<Priority>>,
    /// Care for deleted data.
    pub security: Option<Option<Security>>,
    /// Tolerated latency of reads.
    pub read_latency: Option<Option<ReadLatency>>,
    /// Expected lifetime of written data.
    pub lifetime: Option<Option<Lifetime>>,
}

impl Change {
    /// `hints` after this change.
    fn of(&self, hints: Hints) -> Hints {
        Hints {
            priority: self.priority.unwrap_or(hints.priority),
            security: self.security.unwrap_or(hints.security),
            read_latency: self.read_latency.unwrap_or(hints.read_latency),
            lifetime: self.lifetime.unwrap_or(hints.lifetime),
        }
    }
}

/// Hints by stretch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HintMap {
    /// Byte after the last and hints of each stretch, by its first byte. Stretches do not touch unless they differ.
    stretches: BTreeMap<u64, (u64, Hints)>,
}

impl HintMap {
    /// The hints at byte `at`, and the end of their stretch.
    pub(crate) fn at(&self, at: u64) -> (Hints, u64) {
        if let Some((_, &(end, hints))) = self.stretches.range(..=at).next_back()
            && at < end
        {
            return (hints, end);
        }
        (Hints::default(), self.stretches.range(at + 1..).next().map_or(u64::MAX, |(&start, _)| start))
    }

    /// The most urgent class that a request for bytes `from` to `end` falls into; `otherwise` if no hint gives one.
    pub(crate) fn priority(&self, from: u64, end: u64, otherwise: Priority) -> Priority {
        let mut most = None;
        let mut at = from;
        while at < end {
            let (hints, until) = self.at(at);
            let class = hints.priority.unwrap_or(otherwise);
            most = Some(most.map_or(class, |most: Priority| most.min(class)));
            at = until;
        }
        most.unwrap_or(otherwise)
    }

    /// True if data written to bytes `from` to `end` need not be secret; `otherwise` holds in stretches without a hint. Bytes without any hint are secure, and
    /// data written together is as secure as its most secure part.
    pub(crate) fn is_insecure(&self, from: u64, end: u64, otherwise: Option<Security>) -> bool {
        let mut at = from;
        while at < end {
            let (hints, until) = self.at(at);
            if hints.security.or(otherwise) != Some(Security::Insecure) {
                return false;
            }
            at = until;
        }
        from < end
    }

    /// True if no byte from `from` to `end` has a tolerated latency of its own.
    pub(crate) fn leaves_latency(&self, from: u64, end: u64) -> bool {
        let mut at = from;
        while at < end {
            let (hints, until) = self.at(at);
            if hints.read_latency.is_some() {
                return false;
            }
            at = until;
        }
        true
    }

    /// Changes the hints of bytes `from` to `end`. Returns false, and changes nothing, if there would be too many stretches.
    pub(crate) fn set(&mut self, from: u64, end: u64, change: &Change) -> bool {
        let mut changed = self.clone();
        changed.cut(from);
        changed.cut(end);
        let mut at = from;
        while at < end {
            let (hints, until) = changed.at(at);
            let until = until.min(end);
            changed.stretches.insert(at, (until, change.of(hints)));
            at = until;
        }
        changed.tidy();
        let fits = changed.stretches.len() <= RANGES_MAX;
        if fits {
            *self = changed;
        }
        fits
    }

    /// Adds a stretch behind all others: byte after the last, hints. Returns false if it does not lie there, has no hints, or would be one too many.
    #[must_use]
    pub(crate) fn add_last(&mut self, from: u64, end: u64, hints: Hints) -> bool {
        let last = self.stretches.iter().next_back().map_or(0, |(_, &(end, _))| end);
        let fits = last <= from && from < end && hints != Hints::default() && self.stretches.len() < RANGES_MAX;
        if fits {
            self.stretches.insert(from, (end, hints));
        }
        fits
    }

    /// No stretch reaches over `at`.
    fn cut(&mut self, at: u64) {
        if let Some((&start, &(end, hints))) = self.stretches.range(..at).next_back()
            && end > at
        {
            self.stretches.insert(start, (at, hints));
            self.stretches.insert(at, (end, hints));
        }
    }

    /// Joins equal neighbours, and drops stretches without hints.
    fn tidy(&mut self) {
        let all = std::mem::take(&mut self.stretches);
        for (start, (end, hints)) in all.into_iter().filter(|(_, (_, hints))| *hints != Hints::default()) {
            match self.stretches.iter_mut().next_back() {
                Some((_, last)) if last.0 == start && last.1 == hints => last.0 = end,
                _ => drop(self.stretches.insert(start, (end, hints))),
            }
        }
    }

    /// All stretches: first byte, byte after the last, hints.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64, Hints)> + '_ {
        self.stretches.iter().map(|(&start, &(end, hints))| (start, end, hints))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_block::hints::{LATENCIES, LIFETIMES, PRIORITIES, SECURITIES};
    use wordline_units::random::{Draw, Stream};

    #[test]
    fn a_map_of_hints_equals_a_list_of_bytes() {
        let seed = 4;
        let mut draw = Draw::new(seed, Stream::Mix, 1);
        let mut map = HintMap::default();
        let mut twin = vec![Hints::default(); 200];
        for step in 0..2_000 {
            let from = draw.below(200);
            let end = from + 1 + draw.below(200 - from);
            let mut change = Change::default();
            match draw.below(5) {
                4 => change.read_latency = Some(LATENCIES.get(draw.below(4) as usize).map(|(_, value)| *value)),
                3 => change.security = Some(SECURITIES.get(draw.below(3) as usize).map(|(_, value)| *value)),
                0 => change.priority = Some(PRIORITIES.get(draw.below(5) as usize).map(|(_, value)| *value)),
                1 => change.lifetime = Some(LIFETIMES.get(draw.below(5) as usize).map(|(_, value)| *value)),
                _ => change = Change { priority: Some(None), security: Some(None), read_latency: Some(None), lifetime: Some(None) },
            }
            assert!(map.set(from, end, &change));
            twin[from as usize..end as usize].iter_mut().for_each(|hints| *hints = change.of(*hints));
            for (at, hints) in twin.iter().enumerate() {
                assert_eq!(map.at(at as u64).0, *hints, "seed {seed} step {step} at {at}");
            }
            let (a, b) = (draw.below(200), 200);
            let most = twin[a as usize..b as usize].iter().map(|hints| hints.priority.unwrap_or(Priority::Normal)).min();
            assert_eq!(Some(map.priority(a, b, Priority::Normal)), most, "seed {seed} step {step}");
            let (b, class) =
                (a + 1 + draw.below(200 - a), [None, Some(Security::Secure), Some(Security::Insecure)][draw.below(3) as usize]);
            let leaves = twin[a as usize..b as usize].iter().all(|hints| hints.read_latency.is_none());
            assert_eq!(map.leaves_latency(a, b), leaves, "seed {seed} step {step}");
            let insecure = twin[a as usize..b as usize].iter().all(|hints| hints.security.or(class) == Some(Security::Insecure));
            assert_eq!(map.is_insecure(a, b, class), insecure, "seed {seed} step {step}");
            let stretches: Vec<_> = map.all().collect();
            assert!(stretches.windows(2).all(|two| two[0].1 < two[1].0 || two[0].2 != two[1].2), "{stretches:?}");
        }
    }

    #[test]
    fn too_many_stretches_change_nothing() {
        let mut map = HintMap::default();
        let high = Change { priority: Some(Some(Priority::High)), ..Change::default() };
        assert!((0..RANGES_MAX as u64).all(|number| map.set(number * 10, number * 10 + 5, &high)));
        let before = map.clone();
        assert!(!map.set(1 << 40, (1 << 40) + 1, &high));
        assert_eq!(map, before);
        assert!(map.set(0, 1 << 41, &high), "one stretch in place of all");
    }
}
