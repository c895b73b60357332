//! Hints of hosts about their data, beyond reading and writing.
//!
//! The words follow NVMe where it has them: the priority classes of its queues, the tolerated latency of its dataset management, the write lifetimes of
//! Linux. A hint is advice.

use wordline_units::{Priority, Tolerance};

/// Care for what was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Unreadable once it is deleted or overwritten.
    Secure,
    /// Readable for as long as the drive likes.
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

impl From<ReadLatency> for Tolerance {
    fn from(latency: ReadLatency) -> Tolerance {
        match latency {
            ReadLatency::Longer => Tolerance::Longer,
            ReadLatency::Typical => Tolerance::Typical,
            ReadLatency::Shortest => Tolerance::Shortest,
        }
    }
}

/// Time until what is written is overwritten or deleted.
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

/// Hints of a session, or of a stretch of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The class of its requests.
    pub priority: Option<Priority>,
    /// Care for what was deleted.
    pub security: Option<Security>,
    /// The latency of reads that is tolerated.
    pub read_latency: Option<ReadLatency>,
    /// Lifetime of what is written.
    pub lifetime: Option<Lifetime>,
}

/// Words of the priority classes.
pub const PRIORITIES: [(&str, Priority); 4] =
    [("urgent", Priority::Urgent), ("high", Priority::High), ("normal", Priority::Normal), ("low", Priority::Low)];
/// Words for the care for what was deleted.
pub const SECURITIES: [(&str, Security); 2] = [("secure", Security::Secure), ("insecure", Security::Insecure)];
/// Words for tolerated latencies of reads.
pub const LATENCIES: [(&str, ReadLatency); 3] =
    [("longer", ReadLatency::Longer), ("typical", ReadLatency::Typical), ("shortest", ReadLatency::Shortest)];
/// Words for lifetimes.
pub const LIFETIMES: [(&str, Lifetime); 4] =
    [("short", Lifetime::Short), ("medium", Lifetime::Medium), ("long", Lifetime::Long), ("extreme", Lifetime::Extreme)];

/// The word of `value` in one of the lists above.
pub fn word<T: Copy + PartialEq>(list: &[(&'static str, T)], value: Option<T>) -> Option<&'static str> {
    let value = value?;
    list.iter().find(|(_, known)| *known == value).map(|(word, _)| *word)
}

/// The value of `word` in one of the lists above.
fn value<T: Copy>(list: &[(&str, T)], word: &str) -> Option<T> {
    list.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// All words of hints, each of which is a class that a session can have: first priorities, then securities, latencies and lifetimes.
pub fn classes() -> Vec<String> {
    let words = PRIORITIES.iter().map(|(word, _)| *word);
    let words = words.chain(SECURITIES.iter().map(|(word, _)| *word)).chain(LATENCIES.iter().map(|(word, _)| *word));
    words.chain(LIFETIMES.iter().map(|(word, _)| *word)).map(str::to_owned).collect()
}

impl Hints {
    /// The hints of classes with these words. Of several of one kind the first counts; other words are no hints.
    pub fn of_classes<'a>(words: impl IntoIterator<Item = &'a str>) -> Hints {
        words.into_iter().fold(Hints::default(), |hints, word| {
            hints.or(Hints {
                priority: value(&PRIORITIES, word),
                security: value(&SECURITIES, word),
                read_latency: value(&LATENCIES, word),
                lifetime: value(&LIFETIMES, word),
            })
        })
    }

    /// These hints, and those of `others` where these have none.
    #[must_use]
    pub fn or(self, others: Hints) -> Hints {
        Hints {
            priority: self.priority.or(others.priority),
            security: self.security.or(others.security),
            read_latency: self.read_latency.or(others.read_latency),
            lifetime: self.lifetime.or(others.lifetime),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_hints() {
        let hints = Hints::of_classes(["high", "insecure", "short"]);
        assert_eq!(
            (hints.priority, hints.security, hints.lifetime),
            (Some(Priority::High), Some(Security::Insecure), Some(Lifetime::Short))
        );
        assert_eq!(Hints::of_classes(["urgent", "low"]).priority, Some(Priority::Urgent));
        assert_eq!(Hints::of_classes(["fast"]), Hints::default());
        for class in classes() {
            assert_ne!(Hints::of_classes([class.as_str()]), Hints::default(), "{class}");
        }
    }

    #[test]
    fn values_have_words() {
        assert_eq!(word(&PRIORITIES, Some(Priority::Low)), Some("low"));
        assert_eq!(word(&LIFETIMES, None), None);
    }
}
