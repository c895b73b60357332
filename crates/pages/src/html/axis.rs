//! Axes: where a value lies, and which values get a tick and a word.

use super::escape;
use crate::number::{number, scientific};

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    Linear,
    Log,
    /// Fractions by the number of nines: 90 % is one step from the origin, 99 % two, 99.9 % three.
    Nines,
}

/// What the numbers of an axis mean, which decides how its ticks read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Plain(&'static str),
    /// Microseconds, shown as the unit that a person would choose.
    Micros,
    /// A fraction, shown in percent.
    Share,
}

#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) spread: Spread,
    pub(super) unit: Unit,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
    /// What the ticks are called, where they are not called by their numbers.
    pub(super) names: Vec<String>,
}

impl Axis {
    /// From zero to a round number at or above `max`.
    pub(super) fn linear(label: &str, unit: Unit, max: f64) -> Axis {
        let max = if max > 0.0 && max.is_finite() { max } else { 1.0 };
        let step = round_step(max / 5.0);
        let count = (max / step - 1e-9).ceil().max(1.0);
        let ticks = (0..=count as u32).map(|tick| f64::from(tick) * step).collect();
        Axis { label: label.to_owned(), spread: Spread::Linear, unit, low: 0.0, high: count * step, ticks, names: Vec::new() }
    }

    /// From zero to exactly `max`: for time, whose end is the end of the run.
    pub(super) fn until(label: &str, unit: Unit, max: f64) -> Axis {
        let mut axis = Axis::linear(label, unit, max);
        if max > 0.0 {
            axis.high = max;
            axis.ticks.retain(|tick| *tick <= max * (1.0 + 1e-9));
        }
        axis
    }

    /// Between round numbers around `min` and `max`, which may be negative.
    pub(super) fn between(label: &str, min: f64, max: f64) -> Axis {
        let span = if max > min { max - min } else { max.abs().max(1.0) };
        let step = round_step(span / 5.0);
        let (first, last) = (libm::floor(min / step + 1e-9), libm::ceil(max / step - 1e-9));
        let last = last.max(first + 1.0);
        let ticks = (0..=(last - first) as u32).map(|tick| (first + f64::from(tick)) * step).collect();
        Axis {
            label: label.to_owned(),
            spread: Spread::Linear,
            unit: Unit::Plain(""),
            low: first * step,
            high: last * step,
            ticks,
            names: Vec::new(),
        }
    }

    /// Whole powers of ten around `min` and `max`, however small.
    pub(super) fn decades(label: &str, min: f64, max: f64) -> Axis {
        let (first, last) = (libm::floor(libm::log10(min) + 1e-9), libm::ceil(libm::log10(max) - 1e-9));
        let last = last.max(first + 1.0);
        let every = libm::ceil((last - first) / 8.0).max(1.0);
        let ticks = (0..=((last - first) / every) as u32).map(|tick| libm::pow(10.0, first + f64::from(tick) * every)).collect();
        let (low, high) = (libm::pow(10.0, first), libm::pow(10.0, last));
        Axis { label: label.to_owned(), spread: Spread::Log, unit: Unit::Plain("decade"), low, high, ticks, names: Vec::new() }
    }

    /// Between 1, 2 or 5 times powers of ten around `min` and `max`.
    pub(super) fn log(label: &str, unit: Unit, min: f64, max: f64) -> Axis {
        let min = if min > 0.0 { min } else { 0.1 };
        let max = max.max(min * 1.001);
        let marks: Vec<f64> = (-4..13).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * libm::pow(10.0, f64::from(decade)))).collect();
        let low = marks.iter().copied().filter(|mark| *mark <= min).fold(marks[0], f64::max);
        let high = marks.iter().copied().filter(|mark| *mark >= max).fold(f64::MAX, f64::min).min(1e13);
        let whole = |mark: &f64| (libm::log10(*mark) - libm::round(libm::log10(*mark))).abs() < 1e-6;
        let within: Vec<f64> = marks.into_iter().filter(|mark| *mark >= low && *mark <= high).collect();
        let ticks = if libm::log10(high / low) > 2.4 { within.into_iter().filter(whole).collect() } else { within };
        Axis { label: label.to_owned(), spread: Spread::Log, unit, low, high, ticks, names: Vec::new() }
    }

    /// Fractions up to so many nines.
    pub(super) fn nines(label: &str, nines: u32) -> Axis {
        let ticks = std::iter::once(0.0).chain([0.5]).chain((1..=nines).map(|nine| 1.0 - libm::pow(10.0, -f64::from(nine)))).collect();
        let high = 1.0 - libm::pow(10.0, -f64::from(nines));
        Axis { label: label.to_owned(), spread: Spread::Nines, unit: Unit::Share, low: 0.0, high, ticks, names: Vec::new() }
    }

    /// Through `places`, each with its name.
    pub(super) fn named(label: &str, places: &[f64], names: &[String]) -> Axis {
        let low = places.iter().copied().fold(f64::MAX, f64::min);
        let high = places.iter().copied().fold(f64::MIN, f64::max);
        let unit = Unit::Plain("");
        let mut ticks: Vec<(f64, String)> = places.iter().copied().zip(names.iter().cloned()).collect();
        ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (ticks, names) = ticks.into_iter().unzip();
        if low > 0.0 && high / low >= 20.0 {
            let room = libm::pow(high / low, 0.04);
            return Axis { label: label.to_owned(), spread: Spread::Log, unit, low: low / room, high: high * room, ticks, names };
        }
        let room = (high - low).max(f64::MIN_POSITIVE) * 0.04;
        Axis { label: label.to_owned(), spread: Spread::Linear, unit, low: low - room, high: high + room, ticks, names }
    }

    /// The names of its ticks for the script that shows values under the pointer.
    pub(super) fn named_places(&self) -> String {
        if self.names.is_empty() {
            return String::new();
        }
        let places: Vec<String> =
            self.ticks.iter().zip(&self.names).map(|(tick, name)| format!("{:.4} {name}", self.place(*tick))).collect();
        format!(" data-names=\"{}\"", escape(&places.join("|")))
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log => libm::log10(value.max(self.low) / self.low) / libm::log10(self.high / self.low),
            Spread::Nines => libm::log10(1.0 - value.min(self.high)) / libm::log10(1.0 - self.high),
        };
        place.clamp(0.0, 1.0)
    }

    /// How a tick reads.
    pub(super) fn tick(&self, value: f64) -> String {
        if let Some(name) = self.ticks.iter().position(|tick| *tick == value).and_then(|index| self.names.get(index)) {
            return name.clone();
        }
        match self.unit {
            Unit::Plain("decade") => decade(value),
            Unit::Plain(_) => short(value),
            Unit::Micros => micros(value),
            Unit::Share => {
                let percent = format!("{:.4}", value * 100.0);
                format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }

    /// The axis for the script that shows values under the pointer.
    pub(super) fn data(&self) -> String {
        let spread = match self.spread {
            Spread::Linear => "linear",
            Spread::Log => "log",
            Spread::Nines => "nines",
        };
        let unit = match self.unit {
            Unit::Plain("decade") => "",
            Unit::Plain(unit) => unit,
            Unit::Micros => "us",
            Unit::Share => "%",
        };
        format!("{spread}|{}|{}|{unit}", self.low, self.high)
    }
}

/// The nearest of 1, 2, 2.5 and 5 times a power of ten at or above `step`.
fn round_step(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(step)));
    let digit = step / power;
    let round = [1.0, 2.0, 2.5, 5.0].into_iter().find(|round| digit <= round + 1e-9).unwrap_or(10.0);
    round * power
}

/// A number short enough for a tick: 1500 is 1.5k.
pub(super) fn short(value: f64) -> String {
    for (size, suffix) in [(1e9, "G"), (1e6, "M"), (1e4, "k")] {
        if value.abs() >= size {
            // The threshold of thousands is ten of them: 2,500 reads better than 2.5k.
            let scaled = value / if suffix == "k" { 1e3 } else { size };
            return format!("{}{suffix}", number(scaled));
        }
    }
    number((value * 1e9).round() / 1e9)
}

/// A power of ten: plain where that is short.
fn decade(value: f64) -> String {
    if (1e-2..1e6).contains(&value) { short(value) } else { scientific(value).replace("1.00·", "") }
}

/// A span of microseconds in the unit that a person would choose.
pub(super) fn micros(us: f64) -> String {
    match us {
        0.0 => "0".to_owned(),
        _ if us < 1.0 => format!("{} ns", number(us * 1e3)),
        _ if us < 1e3 => format!("{} µs", number(us)),
        _ if us < 1e6 => format!("{} ms", number(us / 1e3)),
        _ => format!("{} s", number(us / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_beyond_the_data() {
        let axis = Axis::linear("", Unit::Plain(""), 6_576.0);
        assert_eq!(axis.ticks, [0.0, 2_000.0, 4_000.0, 6_000.0, 8_000.0]);
        assert_eq!(Axis::linear("", Unit::Plain(""), 0.0).high, 1.0);
        assert_eq!(Axis::linear("", Unit::Plain(""), 10.0).ticks.len(), 6);
    }

    #[test]
    fn a_log_axis_holds_its_data_and_has_ticks_even_for_a_single_value() {
        for (min, max) in [(50.0, 50.0), (0.3, 9_000_000.0), (1_000.0, 1_100.0), (0.0, 1.0)] {
            let axis = Axis::log("", Unit::Micros, min, max);
            assert!(axis.low <= min.max(0.1) && axis.high >= max && axis.ticks.len() >= 2, "{min} to {max}: {axis:?}");
        }
    }

    #[test]
    fn nines_are_evenly_spaced() {
        let axis = Axis::nines("", 4);
        for (fraction, place) in [(0.0, 0.0), (0.9, 0.25), (0.99, 0.5), (0.9999, 1.0), (1.0, 1.0)] {
            assert!((axis.place(fraction) - place).abs() < 1e-9, "{fraction}");
        }
        assert_eq!(axis.tick(0.9999), "99.99 %");
        assert_eq!(axis.tick(1.0 - 1e-5), "99.999 %");
    }
}
