//! Conditions as a person writes them: `160x120`, `0,1k,2k`, `0,1mo,3mo,12mo@30C`.

use wordline_plan::shown;
use wordline_units::calendar;

/// Number of chips of a lot, and of blocks of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LotSize {
    /// Number of chips.
    pub chips: u32,
    /// Number of blocks of each chip.
    pub blocks: u32,
}

/// Bound on the chips of a lot, and on the blocks of a chip.
const SIDE_MAX: u32 = 100_000;
/// Blocks of the greatest lot: hours of work, and fifty times the papers' 160x120.
const LOT_MAX: u64 = 1_000_000;

impl LotSize {
    /// Reads `160x120`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<LotSize, String> {
        let refuse = || format!("\"{}\" is no lot; write chips and blocks of each, such as 16x12", shown(text));
        let (chips, blocks) = text.split_once(['x', '×', 'X']).ok_or_else(refuse)?;
        let count = |part: &str| part.trim().parse::<u32>().map_err(|_| refuse());
        let (chips, blocks) = (count(chips)?, count(blocks)?);
        if chips == 0 || blocks == 0 {
            return Err(format!("\"{}\" is an empty lot; it needs a chip and a block, such as 1x1", shown(text)));
        }
        if chips > SIDE_MAX || blocks > SIDE_MAX {
            return Err(format!("a lot of more than {SIDE_MAX} chips or blocks of a chip"));
        }
        let lot = LotSize { chips, blocks };
        if lot.total() > LOT_MAX {
            return Err(format!("{} is a lot of {} blocks; a lot has at most {LOT_MAX}", shown(text), lot.total()));
        }
        Ok(lot)
    }

    /// Number of blocks in all.
    pub fn total(self) -> u64 {
        u64::from(self.chips) * u64::from(self.blocks)
    }
}

impl std::fmt::Display for LotSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.chips, self.blocks)
    }
}

/// Bounds on the conditions of a list: P/E cycles, and seconds of retention (a hundred years).
const PE_MAX: f64 = 1e6;
const RETENTION_MAX: f64 = 100.0 * YEAR;
const READS_MAX: f64 = 1e12;

/// An hour, in seconds.
pub const HOUR: f64 = calendar::HOUR as f64;
/// A day, in seconds.
pub const DAY: f64 = calendar::DAY as f64;
/// A month, in seconds.
pub const MONTH: f64 = calendar::MONTH as f64;
const YEAR: f64 = calendar::YEAR as f64;

/// Reads a list of P/E counts: `0,1k,2k,4k`.
///
/// # Errors
///
/// What is wrong, and where.
pub fn pe_list(text: &str) -> Result<Vec<u32>, String> {
    counts(text, "P/E count", PE_MAX).map(|list| list.into_iter().map(|count| count as u32).collect())
}

/// Reads a list of read counts: `0,10k,1M`.
///
/// # Errors
///
/// What is wrong, and where.
pub fn reads_list(text: &str) -> Result<Vec<u64>, String> {
    counts(text, "read count", READS_MAX).map(|list| list.into_iter().map(|count| count as u64).collect())
}

fn counts(text: &str, what: &str, max: f64) -> Result<Vec<f64>, String> {
    items(text)?
        .into_iter()
        .map(|item| {
            let (number, factor) = match item.strip_suffix(['k', 'K']) {
                Some(number) => (number, 1e3),
                None => item.strip_suffix('M').map_or((item, 1.0), |number| (number, 1e6)),
            };
            let value = number.parse::<f64>().map_err(|_| format!("\"{}\" is no {what}; write 1500 or 1.5k", shown(item)))? * factor;
            if !value.is_finite() || value < 0.0 || value > max || value != libm::floor(value) {
                return Err(format!("\"{}\" is no {what}: expected a whole number from 0 to {max}", shown(item)));
            }
            Ok(value)
        })
        .collect()
}

/// Retention times at one temperature.
#[derive(Clone, Debug, PartialEq)]
pub struct Retention {
    /// Retention times, in seconds.
    pub seconds: Vec<f64>,
    /// Temperature, in degrees Celsius.
    pub celsius: f64,
}

/// Reads retention times and their temperature: `0,1mo,3mo,12mo@30C`; 30 °C where none is given.
///
/// # Errors
///
/// What is wrong, and where.
pub fn retention_list(text: &str) -> Result<Retention, String> {
    let (times, celsius) = match text.split_once('@') {
        None => (text, 30.0),
        Some((times, temperature)) => (times, temperature_of(temperature)?),
    };
    let seconds = items(times)?.into_iter().map(span).collect::<Result<_, _>>()?;
    Ok(Retention { seconds, celsius })
}

/// Reads a temperature: `30C`.
fn temperature_of(text: &str) -> Result<f64, String> {
    let refuse = || format!("\"{}\" is no temperature; write 30C", shown(text));
    let number = text.trim().strip_suffix(['C', 'c']).ok_or_else(refuse)?.trim_end_matches('°');
    let celsius = number.trim().parse::<f64>().map_err(|_| refuse())?;
    if (-55.0..=150.0).contains(&celsius) { Ok(celsius) } else { Err(format!("{}: chips live between -55C and 150C", shown(text))) }
}

const SPANS: [(&str, f64); 7] = [("s", 1.0), ("h", HOUR), ("d", DAY), ("mo", MONTH), ("min", 60.0), ("y", YEAR), ("yr", YEAR)];

/// Reads one span: `0`, `13h`, `3mo`, `1y`, in seconds.
///
/// # Errors
///
/// What is wrong with it.
pub fn span(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let value = number.parse::<f64>().map_err(|_| format!("\"{}\" is no time; write 3mo or 1y", shown(text)))?;
    if unit.is_empty() {
        return if value == 0.0 {
            Ok(0.0)
        } else {
            Err(format!("\"{}\" says no unit; write {number}h, {number}d, {number}mo or {number}y", shown(text)))
        };
    }
    let Some((_, seconds)) = SPANS.iter().find(|(name, _)| *name == unit) else {
        let names: Vec<&str> = SPANS.iter().map(|(name, _)| *name).collect();
        let help = wordline_plan::nearest(unit, names.iter().copied())
            .map_or_else(|| format!("units are {}", names.join(", ")), |near| format!("did you mean {number}{near}?"));
        return Err(format!("\"{}\" is no unit of time; {help}", shown(unit)));
    };
    let value = value * seconds;
    if value <= RETENTION_MAX { Ok(value) } else { Err(format!("\"{}\" is more than a hundred years", shown(text))) }
}

/// Text of a span of seconds as a person writes it.
pub fn span_text(seconds: f64) -> String {
    let unit = [("y", YEAR), ("mo", MONTH), ("d", DAY), ("h", HOUR), ("min", 60.0), ("s", 1.0)];
    match unit.into_iter().find(|(_, size)| seconds >= *size && (seconds / size - libm::round(seconds / size)).abs() < 1e-9) {
        Some((name, size)) => format!("{}{name}", libm::round(seconds / size)),
        None if seconds == 0.0 => "0".to_owned(),
        None => format!("{}s", wordline_pages::number::number(seconds)),
    }
}

fn items(text: &str) -> Result<Vec<&str>, String> {
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    if items.iter().any(|item| item.is_empty()) {
        return Err(format!("\"{}\" has an empty place", shown(text)));
    }
    if items.len() > 64 {
        return Err("more than 64 conditions of one kind".to_owned());
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_read_as_a_person_writes_them() {
        assert_eq!(LotSize::read("160x120"), Ok(LotSize { chips: 160, blocks: 120 }));
        assert_eq!(pe_list("0,1k, 2.5k,4000"), Ok(vec![0, 1_000, 2_500, 4_000]));
        assert_eq!(reads_list("0,1M"), Ok(vec![0, 1_000_000]));
        let retention = retention_list("0,1mo,12mo@40C").expect("well written");
        assert_eq!((retention.seconds[0], retention.seconds[2], retention.celsius), (0.0, YEAR, 40.0));
        assert_eq!(span("13h"), Ok(13.0 * 3_600.0));
        for seconds in [0.0, 60.0, 13.0 * HOUR, MONTH, 3.0 * MONTH, YEAR] {
            assert_eq!(span(&span_text(seconds)), Ok(seconds), "{}", span_text(seconds));
        }
    }

    #[test]
    fn conditions_that_cannot_be_are_refused() {
        for text in ["", "0x4", "4x0", "4", "x", "-1x4", "1e3x2", "4x4x4", "999999x1", "1001x1000"] {
            assert!(LotSize::read(text).is_err(), "{text}");
        }
        for text in ["", ",", "1,,2", "-1", "1.5", "1kk", "nan", "inf", "2m", "9999999999", "∞"] {
            assert!(pe_list(text).is_err(), "{text}");
        }
        for text in ["", "1", "3 months", "1mo@30", "1mo@", "1mo@30F", "1mo@-300C", "1mo@nanC", "999y", "-1h", "1h,,2h", "infh"] {
            assert!(retention_list(text).is_err(), "{text}");
        }
        assert!(span("3mon").expect_err("near").contains("3mo"), "the nearest word");
    }
}
