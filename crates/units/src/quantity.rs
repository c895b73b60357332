//! Physical quantities. Raw numbers appear only here and in file formats.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Virtual time in nanoseconds: an instant (since the start of the run) or a span between two instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of the run, and the empty span.
    pub const ZERO: Nanos = Nanos(0);
    /// An instant that never comes.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// A span of whole microseconds.
    pub const fn from_micros(us: u64) -> Nanos {
        Nanos(us * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(s: u64) -> Nanos {
        Nanos(s * 1_000_000_000)
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span in microseconds.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// `self - other`, or zero where `other` is later.
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// `self + other`, stopping at [`Nanos::MAX`].
    pub const fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, other: Nanos) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Nanos {
    type Output = Nanos;
    fn mul(self, factor: u64) -> Nanos {
        Nanos(self.0 * factor)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        Nanos(spans.map(|span| span.0).sum())
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            0..1_000 => write!(f, "{ns} ns"),
            1_000..1_000_000 => write!(f, "{} us", trimmed(ns as f64 / 1e3)),
            1_000_000..1_000_000_000 => write!(f, "{} ms", trimmed(ns as f64 / 1e6)),
            _ => write!(f, "{} s", trimmed(ns as f64 / 1e9)),
        }
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A span of whole seconds, for what lasts days and years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Seconds(pub u64);

impl Seconds {
    /// A span of whole days.
    pub const fn from_days(days: u64) -> Seconds {
        Seconds(days * 86_400)
    }
}

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` KiB.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` MiB.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// `n` GiB.
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEPS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        for (size, name) in STEPS {
            if self.0 >= size {
                return write!(f, "{} {name}", trimmed(self.0 as f64 / size as f64));
            }
        }
        write!(f, "{} B", self.0)
    }
}

/// A data rate, held as picoseconds for 1,000,000 bytes, which makes every transfer rate from 40 to 4800 MT/s exact to a
/// fraction of a nanosecond per page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    bytes_per_second: u64,
}

impl Rate {
    /// A rate of `n` bytes per second; `n` must not be zero.
    pub const fn from_bytes_per_second(n: u64) -> Rate {
        assert!(n > 0, "a data rate of zero moves nothing");
        Rate { bytes_per_second: n }
    }

    /// A bus of `width_bits` lines at `mega_transfers` MT/s.
    pub const fn from_mega_transfers(mega_transfers: u64, width_bits: u64) -> Rate {
        Rate::from_bytes_per_second(mega_transfers * 1_000_000 * width_bits / 8)
    }

    /// Bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.bytes_per_second
    }

    /// The time `bytes` take, in picoseconds, rounded down.
    pub const fn picos(self, bytes: Bytes) -> u64 {
        (bytes.0 as u128 * 1_000_000_000_000 / self.bytes_per_second as u128) as u64
    }

    /// The time `bytes` take, rounded up to a whole nanosecond.
    pub const fn span(self, bytes: Bytes) -> Nanos {
        Nanos(self.picos(bytes).div_ceil(1_000))
    }
}

/// A threshold or reference voltage.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Millivolts(pub f64);

/// A voltage that is set, and no measured one: whole microvolts, which hold every step of a chip's registers exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Microvolts(pub u32);

impl Microvolts {
    /// In millivolts.
    pub fn millivolts(self) -> f64 {
        f64::from(self.0) / 1e3
    }
}

/// A temperature.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Celsius(pub f64);

/// A raw bit error rate: wrong bits over bits read, before correction.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rber(pub f64);

/// Wear of a block group in thousandths of a life: 1,000 is its end, and what is beyond may lose data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wear(pub u16);

impl Wear {
    /// Wear of a block group at the end of its life.
    pub const END: Wear = Wear(1_000);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfer_times_are_exact_from_40_to_4800_mega_transfers() {
        for mt in [40, 100, 133, 200, 333, 400, 500, 533, 667, 800, 1000, 1066, 1200, 1600, 2400, 3200, 3600, 4800] {
            let rate = Rate::from_mega_transfers(mt, 8);
            let exact_ps = 16_384.0 * 1e6 / mt as f64;
            let held = rate.picos(Bytes(16_384)) as f64;
            assert!((held - exact_ps).abs() < 1.0, "{mt} MT/s: {held} ps against {exact_ps} ps");
        }
    }

    #[test]
    fn quantities_print_with_the_unit_a_person_would_choose() {
        assert_eq!(Nanos(80_000).to_string(), "80 us");
        assert_eq!(Nanos(3_500_000).to_string(), "3.5 ms");
        assert_eq!(Bytes::kib(16).to_string(), "16 KiB");
        assert_eq!(Bytes(500).to_string(), "500 B");
    }
}
