//! What hosts say of their data beyond reading and writing: for a range of the drive, on the control socket, or for a connection, by the name of the export.
//!
//! The words follow NVMe where it has them: the priority classes of its queues, the tolerated latency of its dataset management, the write lifetimes of
//! Linux. A hint is advice. It is kept as long as the server runs, and shown in the context `x-wordline:hint`; priority and security change what the
//! drive does, the others nothing.

use std::collections::BTreeMap;

use wordline_units::Priority;

/// The most stretches of a drive that may have hints of their own.
pub(crate) const RANGES_MAX: usize = 4096;

/// How careful with what was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Nobody may get at it any more.
    Secure,
    /// It does not matter.
    Insecure,
}

/// The latency of reads that is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLatency {
    /// A longer one.
    Longer,
    /// The usual one.
    Typical,
    /// The shortest that can be had.
    Shortest,
}

/// How long what is written will live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Soon overwritten.
    Short,
    /// In between.
    Medium,
    /// For long.
    Long,
    /// For as long as the drive lasts.
    Extreme,
}

/// All that is known of a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The class of its requests.
    pub priority: Option<Priority>,
    /// How careful with what was deleted.
    pub security: Option<Security>,
    /// The latency of reads that is tolerated.
    pub read_latency: Option<ReadLatency>,
    /// How long what is written will live.
    pub lifetime: Option<Lifetime>,
}

/// What is to become of the hints of a stretch: `None` leaves one as it is, `Some(None)` takes it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The class of its requests.
    pub priority: Option<Option<Priority>>,
    /// How careful with what was deleted.
    pub security: Option<Option<Security>>,
    /// The latency of reads that is tolerated.
    pub read_latency: Option<Option<ReadLatency>>,
    /// How long what is written will live.
    pub lifetime: Option<Option<Lifetime>>,
}

/// Words for values, as they stand in requests on the control socket and, where they are classes, behind export names.
pub(crate) const PRIORITIES: [(&str, Priority); 4] =
    [("urgent", Priority::Urgent), ("high", Priority::High), ("normal", Priority::Normal), ("low", Priority::Low)];
pub(crate) const SECURITIES: [(&str, Security); 2] = [("secure", Security::Secure), ("insecure", Security::Insecure)];
pub(crate) const LATENCIES: [(&str, ReadLatency); 3] =
    [("longer", ReadLatency::Longer), ("typical", ReadLatency::Typical), ("shortest", ReadLatency::Shortest)];
pub(crate) const LIFETIMES: [(&str, Lifetime); 4] =
    [("short", Lifetime::Short), ("medium", Lifetime::Medium), ("long", Lifetime::Long), ("extreme", Lifetime::Extreme)];

/// The word of `value` in one of the lists above.
pub(crate) fn word<T: Copy + PartialEq>(list: &[(&'static str, T)], value: Option<T>) -> Option<&'static str> {
    let value = value?;
    list.iter().find(|(_, known)| *known == value).map(|(word, _)| *word)
}

/// The hint classes of an export, in the order in which they are listed.
pub fn classes() -> Vec<String> {
    let words = PRIORITIES.iter().map(|(word, _)| *word);
    let words = words.chain(SECURITIES.iter().map(|(word, _)| *word)).chain(LATENCIES.iter().map(|(word, _)| *word));
    words.chain(LIFETIMES.iter().map(|(word, _)| *word)).map(str::to_owned).collect()
}

impl Hints {
    /// What the classes at these places of [`classes`] say. Of several of one kind the first counts.
    pub(crate) fn of_classes(places: &[usize]) -> Hints {
        let mut hints = Hints::default();
        for &place in places.iter().rev() {
            let mut at = place;
            let mut among = |count: usize| {
                let found = (at < count).then_some(at);
                at = at.wrapping_sub(count);
                found
            };
            if let Some(found) = among(PRIORITIES.len()) {
                hints.priority = Some(PRIORITIES[found].1);
            } else if let Some(found) = among(SECURITIES.len()) {
                hints.security = Some(SECURITIES[found].1);
            } else if let Some(found) = among(LATENCIES.len()) {
                hints.read_latency = Some(LATENCIES[found].1);
            } else if let Some(found) = among(LIFETIMES.len()) {
                hints.lifetime = Some(LIFETIMES[found].1);
            }
        }
        hints
    }

    /// These, and where they say nothing what `others` say.
    #[must_use]
    pub(crate) fn or(self, others: Hints) -> Hints {
        Hints {
            priority: self.priority.or(others.priority),
            security: self.security.or(others.security),
            read_latency: self.read_latency.or(others.read_latency),
            lifetime: self.lifetime.or(others.lifetime),
        }
    }

    fn changed(self, change: &Change) -> Hints {
        Hints {
            priority: change.priority.unwrap_or(self.priority),
            security: change.security.unwrap_or(self.security),
            read_latency: change.read_latency.unwrap_or(self.read_latency),
            lifetime: change.lifetime.unwrap_or(self.lifetime),
        }
    }

    /// As the flags of an extent in `x-wordline:hint`: 0 where nothing is known.
    ///
    /// | bits | what | values |
    /// |---|---|---|
    /// | 0 to 2 | priority | 1 urgent, 2 high, 3 normal, 4 low |
    /// | 3, 4 | security | 1 secure, 2 insecure |
    /// | 5, 6 | read latency | 1 longer, 2 typical, 3 shortest |
    /// | 7 to 9 | lifetime | 2 short, 3 medium, 4 long, 5 extreme |
    pub fn flags(&self) -> u32 {
        let place = |found: Option<usize>, first: u32| found.map_or(0, |place| place as u32 + first);
        place(PRIORITIES.iter().position(|&(_, value)| Some(value) == self.priority), 1)
            | place(SECURITIES.iter().position(|&(_, value)| Some(value) == self.security), 1) << 3
            | place(LATENCIES.iter().position(|&(_, value)| Some(value) == self.read_latency), 1) << 5
            | place(LIFETIMES.iter().position(|&(_, value)| Some(value) == self.lifetime), 2) << 7
    }
}

/// Which stretches have hints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HintMap {
    /// By their first byte: the byte after the last, and what is known. They do not touch unless they differ.
    stretches: BTreeMap<u64, (u64, Hints)>,
}

impl HintMap {
    /// What is known at byte `at`, and up to where that holds.
    pub(crate) fn at(&self, at: u64) -> (Hints, u64) {
        if let Some((_, &(end, hints))) = self.stretches.range(..=at).next_back()
            && at < end
        {
            return (hints, end);
        }
        (Hints::default(), self.stretches.range(at + 1..).next().map_or(u64::MAX, |(&start, _)| start))
    }

    /// The most urgent class that a request for bytes `from` to `end` falls into; `otherwise` where no hint gives one.
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

    /// Whether nothing that is written to bytes `from` to `end` need be secret; `otherwise` holds where no hint says so. Whatever nobody has spoken of is
    /// secure, and what is written together is as secure as the most secure part of it.
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

    /// Changes the hints of bytes `from` to `end`. Returns false, and changes nothing, if there would be too many stretches.
    pub(crate) fn set(&mut self, from: u64, end: u64, change: &Change) -> bool {
        let mut changed = self.clone();
        changed.cut(from);
        changed.cut(end);
        let mut at = from;
        while at < end {
            let (hints, until) = changed.at(at);
            let until = until.min(end);
            changed.stretches.insert(at, (until, hints.changed(change)));
            at = until;
        }
        changed.tidy();
        let fits = changed.stretches.len() <= RANGES_MAX;
        if fits {
            *self = changed;
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

    /// Equal neighbours are one, and nothing is kept of where nothing is known.
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
            match draw.below(4) {
                3 => change.security = Some(SECURITIES.get(draw.below(3) as usize).map(|(_, value)| *value)),
                0 => change.priority = Some(PRIORITIES.get(draw.below(5) as usize).map(|(_, value)| *value)),
                1 => change.lifetime = Some(LIFETIMES.get(draw.below(5) as usize).map(|(_, value)| *value)),
                _ => change = Change { priority: Some(None), security: Some(None), read_latency: Some(None), lifetime: Some(None) },
            }
            assert!(map.set(from, end, &change));
            twin[from as usize..end as usize].iter_mut().for_each(|hints| *hints = hints.changed(&change));
            for (at, hints) in twin.iter().enumerate() {
                assert_eq!(map.at(at as u64).0, *hints, "seed {seed} step {step} at {at}");
            }
            let (a, b) = (draw.below(200), 200);
            let most = twin[a as usize..b as usize].iter().map(|hints| hints.priority.unwrap_or(Priority::Normal)).min();
            assert_eq!(Some(map.priority(a, b, Priority::Normal)), most, "seed {seed} step {step}");
            let (b, class) =
                (a + 1 + draw.below(200 - a), [None, Some(Security::Secure), Some(Security::Insecure)][draw.below(3) as usize]);
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

    #[test]
    fn classes_are_hints() {
        let names = classes();
        let place = |name: &str| names.iter().position(|known| known == name).expect("it is one");
        let hints = Hints::of_classes(&[place("high"), place("insecure"), place("short")]);
        assert_eq!(
            (hints.priority, hints.security, hints.lifetime),
            (Some(Priority::High), Some(Security::Insecure), Some(Lifetime::Short))
        );
        assert_eq!(hints.flags(), 2 | 2 << 3 | 2 << 7);
        assert_eq!(Hints::of_classes(&[place("urgent"), place("low")]).priority, Some(Priority::Urgent));
        assert_eq!(Hints::of_classes(&[place("shortest")]).flags(), 3 << 5);
        assert_eq!(Hints::default().flags(), 0);
    }
}
