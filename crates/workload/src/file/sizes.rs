//! How large files and writes are.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use wordline_units::Bytes;
use wordline_units::random::Draw;

use crate::spec::quantity::{self, Q};

/// A distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizes {
    /// Always this.
    Fixed(Bytes),
    /// Anything between, both ends included, each equally likely.
    Range(Bytes, Bytes),
    /// A gamma distribution of shape 1.5 with this mean: Filebench's own choice for files (`gamma:1.5`).
    Gamma(Bytes),
}

impl Sizes {
    /// A size in whole blocks of `block` bytes, at least one.
    pub(crate) fn draw(self, block: u64, draw: &mut Draw) -> u64 {
        match self {
            Sizes::Fixed(size) => size.0.div_ceil(block).max(1),
            Sizes::Range(least, most) => {
                let (least, most) = (least.0.div_ceil(block).max(1), (most.0 / block).max(1));
                least + draw.below((most + 1).saturating_sub(least).max(1))
            }
            Sizes::Gamma(mean) => {
                // A gamma of shape 1.5 is one of shape 1, an exponential, and one of shape 1/2, half a squared normal.
                // One minus a number below one is never zero.
                let exponential = -libm::log(1.0 - draw.unit());
                let turn = libm::cos(std::f64::consts::TAU * draw.unit());
                let half_normal = -libm::log(1.0 - draw.unit()) * turn * turn;
                let bytes = (exponential + half_normal) / 1.5 * mean.0 as f64;
                (libm::ceil(bytes / block as f64) as u64).max(1)
            }
        }
    }

    /// The mean, without rounding to blocks.
    pub fn mean(self) -> f64 {
        match self {
            Sizes::Fixed(size) | Sizes::Gamma(size) => size.0 as f64,
            Sizes::Range(least, most) => (least.0 + most.0) as f64 / 2.0,
        }
    }

    /// The least and the most there can be, where there is a most.
    pub fn bounds(self) -> (Bytes, Option<Bytes>) {
        match self {
            Sizes::Fixed(size) => (size, Some(size)),
            Sizes::Range(least, most) => (least, Some(most)),
            Sizes::Gamma(_) => (Bytes(1), None),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGamma {
    gamma: Q<Bytes>,
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sizes, D::Error> {
        deserializer.deserialize_any(SizesVisitor)
    }
}

struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = Sizes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"16 KiB\", two such as [\"16 KiB\", \"32 KiB\"], or { gamma = \"16 KiB\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Sizes, E> {
        quantity::parse(text).map(Sizes::Fixed).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Sizes, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Sizes, A::Error> {
        let (least, most) = (items.next_element::<Q<Bytes>>()?, items.next_element::<Q<Bytes>>()?);
        match (least, most, items.next_element::<Q<Bytes>>()?) {
            (Some(Q(least)), Some(Q(most)), None) if least <= most => Ok(Sizes::Range(least, most)),
            _ => Err(A::Error::custom("a range of sizes has two, the smaller first, such as [\"16 KiB\", \"32 KiB\"]")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Sizes, A::Error> {
        RawGamma::deserialize(MapAccessDeserializer::new(map)).map(|raw| Sizes::Gamma(raw.gamma.0))
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::random::Stream;

    use super::*;

    #[test]
    fn sizes_have_their_mean_and_their_spread() {
        let block = 512;
        let drawn = |sizes: Sizes| -> (f64, f64, u64, u64) {
            let mut draw = Draw::new(5, Stream::Mix, 9);
            let all: Vec<u64> = (0..200_000).map(|_| sizes.draw(block, &mut draw) * block).collect();
            let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
            let variance = all.iter().map(|&size| (size as f64 - mean) * (size as f64 - mean)).sum::<f64>() / all.len() as f64;
            (mean, libm::sqrt(variance), all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0))
        };
        let (mean, deviation, ..) = drawn(Sizes::Gamma(Bytes::kib(128)));
        let expected = 131_072.0;
        // Rounding up adds half a block. A gamma of shape k deviates by mean / sqrt(k).
        assert!((mean - expected - 256.0).abs() < 0.01 * expected, "{mean}");
        assert!((deviation - expected / libm::sqrt(1.5)).abs() < 0.01 * expected, "{deviation}");
        let (mean, _, least, most) = drawn(Sizes::Range(Bytes::kib(32), Bytes::kib(128)));
        assert!((mean - 81_920.0).abs() < 300.0 && (least, most) == (32_768, 131_072), "{mean} {least} {most}");
        assert_eq!(drawn(Sizes::Fixed(Bytes(1000))).2, 1024);
    }
}
