//! The shape of a workload file, before its values are checked against each other.
//!
//! ```text
//! name = "…"                     purpose = "…"
//! [[phases]]                     or [[jobs]], with count = 4, or [[phases]] with [[phases.jobs]]
//! name = "…"
//! requests = 100000              bytes = "200 %" or "10 GiB"      time = "10 s"      (at least one)
//! start = "0 %"                  span = "100 %"                   align = "4 KiB"
//! mix = { read = "70 %", write = "30 %", trim = "0 %", flush = "0 %" }
//! fua = "0 %"                    flush_every = 32                priority = "normal"
//! size = "16 KiB"                or [{ size = "4 KiB", share = "60 %" }, …]
//! address = "uniform"            or { pattern = "zipf", theta = 0.99, scatter = true }, …
//! arrival = { queue_depth = 32 } or { queue_depth = 32, cycle = 1000, without_gap = "70 %", gap = "1 ms" }
//!                                or { rate = "20 k/s", process = "poisson", busy = "10 ms", idle = "90 ms" }
//! ```

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use wordline_units::{Bytes, Nanos};

use super::quantity::{Q, RawPriority, RawTolerance, Share};
use super::{Amount, Rate};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) purpose: String,
    pub(super) phases: Option<Spanned<Vec<Spanned<RawPhase>>>>,
    pub(super) jobs: Option<Spanned<Vec<Spanned<RawPhase>>>>,
}

/// A phase, or a job.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPhase {
    pub(super) name: Option<String>,
    /// Key of a job alone.
    pub(super) count: Option<Spanned<u32>>,
    /// Jobs of a phase, in place of all that follows.
    pub(super) jobs: Option<Spanned<Vec<Spanned<RawPhase>>>>,
    pub(super) requests: Option<Spanned<u64>>,
    pub(super) bytes: Option<Spanned<Q<Amount>>>,
    pub(super) time: Option<Spanned<Q<Nanos>>>,
    pub(super) start: Option<Spanned<Q<Amount>>>,
    /// Key of a job alone.
    pub(super) step: Option<Spanned<Q<Amount>>>,
    pub(super) span: Option<Spanned<Q<Amount>>>,
    pub(super) align: Option<Spanned<Q<Bytes>>>,
    pub(super) mix: Option<Spanned<RawMix>>,
    pub(super) fua: Option<Spanned<Q<Share>>>,
    pub(super) flush_every: Option<Spanned<u64>>,
    pub(super) size: Option<Spanned<RawSizes>>,
    pub(super) address: Option<Spanned<RawAddress>>,
    pub(super) arrival: Option<Spanned<RawArrival>>,
    pub(super) priority: Option<Spanned<RawPriority>>,
    pub(super) tolerance: Option<Spanned<RawTolerance>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMix {
    pub(super) read: Option<Q<Share>>,
    pub(super) write: Option<Q<Share>>,
    pub(super) trim: Option<Q<Share>>,
    pub(super) flush: Option<Q<Share>>,
}

/// One size, or several by share.
pub(super) enum RawSizes {
    One(Bytes),
    Many(Vec<Spanned<RawSize>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSize {
    pub(super) size: Q<Bytes>,
    pub(super) share: Q<Share>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawPattern {
    Uniform,
    Shuffled,
    Zipf,
    HotCold,
    Zoned,
    Sequential,
    Mixed,
}

impl RawPattern {
    pub(super) const fn name(self) -> &'static str {
        match self {
            RawPattern::Uniform => "uniform",
            RawPattern::Shuffled => "shuffled",
            RawPattern::Zipf => "zipf",
            RawPattern::HotCold => "hot-cold",
            RawPattern::Zoned => "zoned",
            RawPattern::Sequential => "sequential",
            RawPattern::Mixed => "mixed",
        }
    }
}

/// All keys of all patterns; which of them belong is checked later, for a better message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKeys {
    pub(super) pattern: RawPattern,
    pub(super) share: Option<Spanned<Q<Share>>>,
    pub(super) theta: Option<Spanned<f64>>,
    pub(super) scatter: Option<Spanned<bool>>,
    pub(super) hot: Option<Spanned<Q<Share>>>,
    pub(super) traffic: Option<Spanned<Q<Share>>>,
    pub(super) zones: Option<Spanned<Vec<Spanned<RawZone>>>>,
    pub(super) streams: Option<Spanned<u32>>,
    pub(super) parts: Option<Spanned<Vec<Spanned<RawAddress>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawZone {
    pub(super) share: Q<Share>,
    pub(super) span: Q<Amount>,
}

/// A pattern by its name alone, or with keys.
pub(super) struct RawAddress(pub(super) Box<RawKeys>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawArrival {
    pub(super) queue_depth: Option<Spanned<u32>>,
    pub(super) rate: Option<Q<Rate>>,
    pub(super) process: Option<Spanned<RawProcess>>,
    pub(super) busy: Option<Spanned<Q<Nanos>>>,
    pub(super) idle: Option<Spanned<Q<Nanos>>>,
    pub(super) cycle: Option<Spanned<u64>>,
    pub(super) without_gap: Option<Spanned<Q<Share>>>,
    pub(super) gap: Option<Spanned<Q<Nanos>>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawProcess {
    Poisson,
    Constant,
}

impl<'de> Deserialize<'de> for RawSizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawSizes, D::Error> {
        deserializer.deserialize_any(SizesVisitor)
    }
}

struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = RawSizes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"16 KiB\", or a list of { size = \"4 KiB\", share = \"60 %\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RawSizes, E> {
        super::quantity::parse(text).map(RawSizes::One).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<RawSizes, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawSizes, A::Error> {
        let mut sizes = Vec::new();
        while let Some(size) = items.next_element()? {
            sizes.push(size);
        }
        Ok(RawSizes::Many(sizes))
    }
}

impl<'de> Deserialize<'de> for RawAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawAddress, D::Error> {
        deserializer.deserialize_any(AddressVisitor)
    }
}

struct AddressVisitor;

impl<'de> Visitor<'de> for AddressVisitor {
    type Value = RawAddress;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern such as \"uniform\" or { pattern = \"zipf\", theta = 0.99 }")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<RawAddress, E> {
        let pattern = RawPattern::deserialize(serde::de::value::StrDeserializer::new(name))?;
        let (share, theta, scatter, hot, traffic) = (None, None, None, None, None);
        let keys = RawKeys { pattern, share, theta, scatter, hot, traffic, zones: None, streams: None, parts: None };
        Ok(RawAddress(Box::new(keys)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawAddress, A::Error> {
        RawKeys::deserialize(MapAccessDeserializer::new(map)).map(|keys| RawAddress(Box::new(keys)))
    }
}
