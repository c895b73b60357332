//! Free parameters of a fit: parameters of the physics, and what the file does not say about its retention indices.

use wordline_cells::Physics;

use super::digest::Digest;

/// A free parameter of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Free {
    /// A value of the physics, or one of a list.
    Value { section: &'static str, key: &'static str, index: usize, range: Range },
    /// Charge-loss time of a retention index, as a share of the longest one's e-folds.
    Kept(usize),
    /// Read disturb of a retention index, as a share of the strongest.
    Read(usize),
}

/// The range of a parameter, and so the scale it is searched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// Any number, searched as it is.
    Any,
    /// Numbers above zero, searched by their logarithm.
    Positive,
    /// Shares between 0 and 1, searched by the logarithm of the share over the rest.
    Share,
}

impl Range {
    fn from(self, value: f64) -> f64 {
        match self {
            Range::Any => value,
            Range::Positive => libm::log(value.max(1e-6)),
            Range::Share => libm::log(value.max(1e-6) / (1.0 - value).max(1e-6)),
        }
    }

    /// Converts a value of the search. The result is kept so far from zero that it is written as more than zero.
    fn to(self, searched: f64) -> f64 {
        match self {
            Range::Any => searched,
            Range::Positive => libm::exp(searched.clamp(-14.0, 14.0)),
            Range::Share => 1.0 / (1.0 + libm::exp(-searched.clamp(-9.0, 9.0))),
        }
    }
}

/// The chip that a fit searches: its physics, and the meaning of the file's retention indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Physics of the chip.
    pub physics: Physics,
    /// For each retention index, its time as a share of the e-folds of [`Subject::anchor_seconds`].
    pub kept: Vec<f64>,
    /// For each retention index, its rise by reads as a share of that of `read_disturb.reads`.
    pub read: Vec<f64>,
    /// Time that the index with the greatest charge loss stands for. The file names no unit, so one must be given.
    pub anchor_seconds: f64,
}

/// Fitted keys with one value: section, key, and range.
const KEYS: [(&str, &str, Range); 24] = [
    ("states", "placement", Range::Share),
    ("states", "noise", Range::Positive),
    ("tails", "upper_share", Range::Share),
    ("tails", "upper_length", Range::Positive),
    ("tails", "upper_wear", Range::Positive),
    ("tails", "lower_share", Range::Share),
    ("tails", "lower_length", Range::Positive),
    ("tails", "lower_power", Range::Positive),
    ("tails", "lower_loss", Range::Positive),
    ("wear", "noise", Range::Positive),
    ("wear", "noise_power", Range::Positive),
    ("wear", "lift", Range::Any),
    ("wear", "top_lift", Range::Any),
    ("wear", "lift_power", Range::Positive),
    ("retention", "loss", Range::Positive),
    ("retention", "neutral", Range::Any),
    ("retention", "wear", Range::Positive),
    ("retention", "wear_power", Range::Positive),
    ("retention", "spread", Range::Share),
    ("retention", "noise", Range::Positive),
    ("read_disturb", "lift", Range::Positive),
    ("read_disturb", "wear", Range::Positive),
    ("read_disturb", "reach", Range::Positive),
    ("read_disturb", "spread", Range::Share),
];

/// Fitted keys with a value for each programmed state: section and key, and the place of the state that the others are over, from the lowest or the highest.
const BY_STATE: [(&str, &str, Over); 2] = [("states", "noise_by_state", Over::Lowest), ("tails", "lower_by_state", Over::Highest)];

/// The state whose value is one by definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Lowest,
    Highest,
}

impl Over {
    /// Places in the list that are free. The lowest state has no lower tail.
    fn free(self, states: usize) -> std::ops::Range<usize> {
        match self {
            Over::Lowest => 1..states,
            Over::Highest => 1..states.saturating_sub(1),
        }
    }
}

/// The keys that a search changes, besides the levels of the states.
pub(super) fn fitted_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().map(|&(section, key, _)| (section, key)).chain(BY_STATE.iter().map(|&(section, key, _)| (section, key)))
}

/// The keys that say of the highest state alone what lists say of each: a search leaves them at nothing.
pub(super) const OF_HIGHEST: [(&str, &str); 2] = [("states", "top_noise"), ("tails", "lower_top")];

impl Subject {
    /// For each retention index, its time in seconds at the reference temperature, and its reads.
    pub fn equivalents(&self) -> Vec<(f64, f64)> {
        let (retention, disturb) = (&self.physics.retention, &self.physics.read_disturb);
        let e_folds = libm::log1p(self.anchor_seconds / retention.start);
        let seconds = self.kept.iter().map(|share| retention.start * libm::expm1(share * e_folds));
        // The share is one of the rise; reads follow from the law of the rise.
        let reads = self.read.iter().map(|share| disturb.reads * libm::pow(*share, 1.0 / disturb.power));
        seconds.zip(reads).collect()
    }
}

/// The retention indices that others are measured by, as places in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Anchors {
    /// Index at which the highest state is lowest when most worn: the longest time.
    pub(super) longest: usize,
    /// Index at which the lowest state rises most over the highest when most worn, apart from the longest: most reads.
    pub(super) most_read: usize,
}

impl Anchors {
    pub(super) fn of(digest: &Digest) -> Anchors {
        let retentions = digest.retentions();
        let worn = digest.conditions.iter().map(|condition| condition.pe).max().unwrap_or(0);
        let middle = super::digest::LEVELS.len() / 2;
        let medians = |retention: u8, state: usize| {
            let condition = digest.conditions.iter().find(|condition| (condition.pe, condition.retention) == (worn, retention));
            condition.map_or(0.0, |condition| condition.mean_quantiles(state)[middle])
        };
        let by = |value: &dyn Fn(u8) -> f64, except: usize| {
            let places = (1..retentions.len()).filter(|&place| place != except || retentions.len() < 3);
            places.max_by(|&a, &b| value(retentions[a]).total_cmp(&value(retentions[b]))).unwrap_or(0)
        };
        let longest = by(&|retention| -medians(retention, digest.states - 1), usize::MAX);
        Anchors { longest, most_read: by(&|retention| medians(retention, 0), longest) }
    }
}

/// All free parameters for a file with these states and retention indices.
pub(super) fn free(states: usize, retentions: usize, anchors: Anchors) -> Vec<Free> {
    let mut all: Vec<Free> = (0..states).map(|index| Free::Value { section: "states", key: "verify", index, range: Range::Any }).collect();
    all.extend(
        KEYS.iter()
            .filter(|(section, _, _)| retentions > 1 || !matches!(*section, "retention" | "read_disturb"))
            .map(|&(section, key, range)| Free::Value { section, key, index: 0, range }),
    );
    for (section, key, over) in BY_STATE {
        all.extend(over.free(states).map(|index| Free::Value { section, key, index, range: Range::Positive }));
    }
    // With one index besides the freshest, one number says it all: its time. With more, the freshest is zero by definition, and an anchor is one.
    all.extend((1..retentions).filter(|&place| place != anchors.longest).map(Free::Kept));
    all.extend((1..retentions).filter(|&place| place != anchors.most_read).map(Free::Read));
    all
}

impl Free {
    /// The parameter's value in `subject`, on the scale of the search.
    pub(super) fn get(self, subject: &Subject) -> f64 {
        match self {
            Free::Value { section, key, index, range } => range.from(subject.physics.get(section, key).unwrap_or_default()[index]),
            Free::Kept(place) => subject.kept[place],
            Free::Read(place) => subject.read[place],
        }
    }

    /// Sets the parameter's value in `subject`.
    pub(super) fn set(self, subject: &mut Subject, to: f64) {
        match self {
            Free::Value { section, key, index, range } => {
                let mut values = subject.physics.get(section, key).unwrap_or_default();
                values[index] = range.to(to);
                subject.physics.set(section, key, &values);
            }
            Free::Kept(place) => subject.kept[place] = to.max(0.0),
            Free::Read(place) => subject.read[place] = to.max(0.0),
        }
    }

    /// Distance by which the parameter is moved to measure its effect.
    pub(super) fn scale(self, step: f64) -> f64 {
        match self {
            Free::Value { key: "noise_by_state", .. } => 0.1,
            Free::Value { range: Range::Positive | Range::Share, .. } => 0.3,
            Free::Value { key: "neutral", .. } => 10.0 * step,
            Free::Value { .. } => step,
            Free::Kept(_) | Free::Read(_) => 0.2,
        }
    }
}
