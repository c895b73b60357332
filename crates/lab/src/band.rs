//! Bands and verdicts: the decision whether a measured number counts as what a source claims.

use std::fmt;

use wordline_pages::number::number;

/// The interval in which a measured number must lie. Both ends belong to it unless they are open.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    low: Option<f64>,
    high: Option<f64>,
    /// True if the end does not itself belong to the band.
    open: bool,
    unit: String,
}

/// Units of pure numbers, which are not written.
pub const PURE: [&str; 3] = ["ratio", "share", "count"];

/// Units a band can have.
pub const UNITS: [&str; 15] = ["bit", "P/E", "us", "ms", "s", "min", "h", "month", "mV", "V", "MV/cm", "MB/s", "%", "ratio", "share"];

impl Band {
    /// Reads "1.5 to 1.7", "at least 2", "at most 7 bit", "above 3 V", "below 1", "exactly 9" for a quantity of this unit.
    ///
    /// # Errors
    ///
    /// What is wrong, and what to write instead.
    pub fn read(text: &str, unit: &str) -> Result<Band, (String, Option<String>)> {
        let example = format!(
            "expected a band such as \"1.5 to 1.7{0}\", \"at least 2{0}\", \"at most 7{0}\", \"above 3{0}\", \"below 3{0}\" or \"exactly 9{0}\"",
            written(unit)
        );
        let words: Vec<&str> = text.split_whitespace().collect();
        let (numbers, last) = split_unit(&words);
        let end = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite());
        let refuse = || (format!("\"{}\" is no band", wordline_plan::shown(text)), Some(example.clone()));
        let (low, high, open) = match numbers {
            ["at", "least", low] => (Some(end(low).ok_or_else(refuse)?), None, false),
            ["at", "most", high] => (None, Some(end(high).ok_or_else(refuse)?), false),
            ["above", low] => (Some(end(low).ok_or_else(refuse)?), None, true),
            ["below", high] => (None, Some(end(high).ok_or_else(refuse)?), true),
            ["exactly", both] => (Some(end(both).ok_or_else(refuse)?), Some(end(both).ok_or_else(refuse)?), false),
            [low, "to", high] => (Some(end(low).ok_or_else(refuse)?), Some(end(high).ok_or_else(refuse)?), false),
            _ => return Err(refuse()),
        };
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            return Err((
                format!("an empty band: {} is more than {}", number(low), number(high)),
                Some("write the lesser end first".to_owned()),
            ));
        }
        match last {
            None if PURE.contains(&unit) => {}
            Some(last) if last == unit => {}
            None => {
                return Err((format!("a band without a unit: what is measured is in {unit}"), Some(format!("write \"{text} {unit}\""))));
            }
            Some(last) => {
                let help = match PURE.contains(&unit) {
                    true => "what is measured is a pure number: leave the unit out".to_owned(),
                    false => format!("write {unit}"),
                };
                return Err((format!("a band in {}, where what is measured is in {unit}", wordline_plan::shown(last)), Some(help)));
            }
        }
        Ok(Band { low, high, open, unit: unit.to_owned() })
    }

    /// Distance of `measured` from the band; zero within it. A value that is not a number is infinitely far.
    pub fn miss(&self, measured: f64) -> f64 {
        if measured.is_nan() {
            return f64::INFINITY;
        }
        // What differs from an end by less than this is at the end: sums of many terms carry that much rounding.
        let at = |end: f64| (measured - end).abs() <= 1e-6 * end.abs();
        let nudge = |gap: f64| if gap.abs() <= f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { gap.abs() };
        match (self.low, self.high) {
            (Some(low), _) if if at(low) { self.open } else { measured < low } => nudge(low - measured),
            (_, Some(high)) if if at(high) { self.open } else { measured > high } => nudge(measured - high),
            _ => 0.0,
        }
    }

    /// Distance of `measured` from its target, in half widths of the band, with its sign. The target is `stated`, the value of the source, where that lies
    /// within the band, else the middle of the band. A band with one end has a distance outside of it alone, in tenths of the end; a band of a single number
    /// has it in halves of the unit.
    pub fn residual(&self, measured: f64, stated: Option<f64>) -> f64 {
        const TENTH: f64 = 0.1;
        // The end of zero has no tenth of its own.
        let scale = |end: f64| TENTH * end.abs().max(TENTH);
        match (self.low, self.high) {
            (Some(low), Some(high)) if low == high => 2.0 * (measured - low),
            (Some(low), Some(high)) => 2.0 * (measured - self.target(stated).unwrap_or(0.5 * (low + high))) / (high - low),
            (Some(low), None) => (measured - low).min(0.0) / scale(low),
            (None, Some(high)) => (measured - high).max(0.0) / scale(high),
            (None, None) => 0.0,
        }
    }

    /// The value that a measured one is drawn to: `stated` where it lies within the band, else the middle. `None`: the band has one end.
    pub fn target(&self, stated: Option<f64>) -> Option<f64> {
        let (low, high) = (self.low?, self.high?);
        Some(stated.filter(|stated| (low..=high).contains(stated)).unwrap_or(0.5 * (low + high)))
    }

    /// The unit of the band's ends.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// The end of the band that is nearest to `measured`.
    fn nearest_end(&self, measured: f64) -> f64 {
        match (self.low, self.high) {
            (Some(low), Some(high)) => {
                if (measured - low).abs() < (measured - high).abs() {
                    low
                } else {
                    high
                }
            }
            (Some(end), None) | (None, Some(end)) => end,
            (None, None) => measured,
        }
    }

    /// Distance of `measured` from the band in words: relative to its nearest end where that is not zero.
    pub fn off_by(&self, measured: f64) -> String {
        if !measured.is_finite() {
            return "nothing measured".to_owned();
        }
        let (miss, end) = (self.miss(measured), self.nearest_end(measured));
        if miss <= 1e-6 * end.abs() || miss == f64::MIN_POSITIVE {
            return "at the end of the band, which does not belong to it".to_owned();
        }
        let below = measured < end;
        let side = if below { "below" } else { "above" };
        if end != 0.0 && PURE.contains(&self.unit.as_str()) && miss / end.abs() >= 0.001 {
            format!("{} % {side} the band", number((miss / end.abs() * 1000.0).round() / 10.0))
        } else {
            format!("{}{} {side} the band", number(miss), written(&self.unit))
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = written(&self.unit);
        let number = wordline_pages::html::figure::scientific;
        match (self.low, self.high, self.open) {
            (Some(low), Some(high), _) if low == high => write!(f, "exactly {}{unit}", number(low)),
            (Some(low), Some(high), _) => write!(f, "{} to {}{unit}", number(low), number(high)),
            (Some(low), None, false) => write!(f, "at least {}{unit}", number(low)),
            (Some(low), None, true) => write!(f, "above {}{unit}", number(low)),
            (None, Some(high), false) => write!(f, "at most {}{unit}", number(high)),
            (None, Some(high), true) => write!(f, "below {}{unit}", number(high)),
            (None, None, _) => write!(f, "any"),
        }
    }
}

/// A unit as it follows a number.
pub fn written(unit: &str) -> String {
    if PURE.contains(&unit) { String::new() } else { format!(" {unit}") }
}

/// The words before a unit, and the unit if the last word is none of a number.
fn split_unit<'w, 't>(words: &'w [&'t str]) -> (&'w [&'t str], Option<&'t str>) {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() && last.parse::<f64>().is_err() => (rest, Some(last)),
        _ => (words, None),
    }
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The measured value lies within the band.
    Reproduced,
    /// The measured value lies within the band, and could not lie elsewhere, for the reason that the text says.
    NotAMeasurement(String),
    /// The measured value lies outside of the band, by the distance that the text says.
    Off(String),
    /// The measured value lies within the band, and stays there when the effect of the claim is off.
    Stays(String),
    /// No bench measures the claim yet.
    NotBuilt,
    /// No bench could measure the claim, for the reason that the text says.
    NothingToMeasure(String),
}

impl Verdict {
    /// Judges a measured value.
    pub fn of(band: &Band, measured: f64) -> Verdict {
        if band.miss(measured) == 0.0 { Verdict::Reproduced } else { Verdict::Off(band.off_by(measured)) }
    }

    /// One stable word for the verdict.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::NotAMeasurement(_) => "not a measurement",
            Verdict::Off(_) => "off",
            Verdict::Stays(_) => "stays when its effect is off",
            Verdict::NotBuilt => "not built yet",
            Verdict::NothingToMeasure(_) => "nothing to measure",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(text: &str, unit: &str) -> Band {
        Band::read(text, unit).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    #[test]
    fn a_residual_is_counted_in_half_widths_from_the_stated_value() {
        let of = |text: &str, value: f64| band(text, "ratio").residual(value, None);
        assert_eq!((of("2 to 4", 3.0), of("2 to 4", 4.0), of("2 to 4", 1.0), of("exactly 3", 3.5)), (0.0, 1.0, -2.0, 1.0));
        assert_eq!((of("at most 10", 9.0), of("at least 10", 12.0)), (0.0, 0.0));
        assert_eq!((of("at most 10", 12.0), of("above 10", 9.0), of("at least 0", -0.5).round()), (2.0, -1.0, -50.0));
        let stated = |stated: f64| band("2 to 4", "ratio").residual(3.0, Some(stated));
        assert_eq!((stated(2.5), stated(9.0)), (0.5, 0.0), "a value outside of the band is of another scale");
    }

    #[test]
    fn a_band_holds_its_ends_unless_they_are_open() {
        for (text, unit, within, without) in [
            ("1.5 to 1.7", "ratio", &[1.5, 1.6, 1.7][..], &[1.49, 1.71, f64::NAN][..]),
            ("at least 2", "ratio", &[2.0, 9.0], &[1.999]),
            ("at most 7 bit", "bit", &[7.0, -1.0], &[7.01]),
            ("above 3 V", "V", &[3.01], &[3.0, 2.0]),
            ("below 3 V", "V", &[2.99], &[3.0]),
            ("exactly 9", "count", &[9.0], &[8.0, 10.0]),
            ("-40 to -20 mV", "mV", &[-30.0], &[0.0]),
        ] {
            let band = band(text, unit);
            within.iter().for_each(|value| assert_eq!(Verdict::of(&band, *value), Verdict::Reproduced, "{text}: {value}"));
            without.iter().for_each(|value| assert!(matches!(Verdict::of(&band, *value), Verdict::Off(_)), "{text}: {value}"));
            assert_eq!(Band::read(&band.to_string(), unit), Ok(band), "what is shown is read again");
        }
    }

    #[test]
    fn how_far_off_is_told_against_the_nearest_end() {
        assert_eq!(Verdict::of(&band("1.5 to 1.7", "ratio"), 1.87), Verdict::Off("10 % above the band".into()));
        assert_eq!(Verdict::of(&band("at most 7 bit", "bit"), 9.5), Verdict::Off("2.5 bit above the band".into()));
        assert_eq!(Verdict::of(&band("exactly 0", "count"), 3.0), Verdict::Off("3 above the band".into()));
    }

    #[test]
    fn a_band_needs_the_unit_of_what_is_measured() {
        let what = |text: &str, unit: &str| Band::read(text, unit).expect_err(text).0;
        assert_eq!(what("at most 7", "bit"), "a band without a unit: what is measured is in bit");
        assert_eq!(what("at most 7 mV", "bit"), "a band in mV, where what is measured is in bit");
        assert_eq!(what("at most 7 bit", "ratio"), "a band in bit, where what is measured is in ratio");
        assert_eq!(what("2 to 1", "ratio"), "an empty band: 2 is more than 1");
        for text in ["", "7", "about 7", "at least", "1 to", "inf to 3", "at least nan", "to 3 4"] {
            assert!(Band::read(text, "ratio").is_err(), "{text}");
        }
    }
}
