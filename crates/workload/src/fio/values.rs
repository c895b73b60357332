//! Values of job files: numbers with suffixes, times, shares and lists.

use wordline_units::{Bytes, Nanos};

/// An amount of data: bytes, or hundredths of the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Data {
    Bytes(u64),
    Percent(f64),
}

/// A number with a suffix as fio reads it: by default `k` is 1024 and `ki` is 1000, and the other way round where `kb_base` is 1000.
pub(super) fn number(text: &str, si: bool) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no number that fio reads, such as 4096, 4k or 1g");
    let lower = text.trim().to_ascii_lowercase();
    if lower.strip_suffix('z').is_some_and(|zones| zones.parse::<u64>().is_ok()) {
        return Err(format!("'{text}' is a number of zones, and the drive has none: write a size"));
    }
    if let Some(hexadecimal) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hexadecimal, 16).map_err(|_| wrong());
    }
    let digits = lower.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(digits);
    let suffix = suffix.strip_suffix('b').unwrap_or(suffix);
    let (letter, is_other) = suffix.strip_suffix('i').map_or((suffix, false), |letter| (letter, true));
    let power = match letter {
        "" if !is_other => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(wrong()),
    };
    let base: f64 = if si != is_other { 1000.0 } else { 1024.0 };
    let value = digits.parse::<f64>().map_err(|_| wrong())? * (0..power).map(|_| base).product::<f64>();
    if value <= 9e15 && libm::floor(value) == value { Ok(value as u64) } else { Err(format!("'{text}' is no whole number below 9 P")) }
}

/// An amount of data above zero.
pub(super) fn data(text: &str, si: bool) -> Result<Data, String> {
    let data = match text.trim().strip_suffix('%') {
        Some(share) => Data::Percent(share_of_hundred(share)?),
        None => Data::Bytes(number(text, si)?),
    };
    Ok(data)
}

/// A number from 0 to 100.
pub(super) fn share_of_hundred(text: &str) -> Result<f64, String> {
    let share = text.trim().trim_end_matches('%').parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
    share.ok_or_else(|| format!("'{text}' is no share: expected a number from 0 to 100"))
}

/// A time: seconds, unless a suffix says otherwise.
pub(super) fn time(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("'{text}' is no time: expected seconds, or a number with us, ms, s, m, h or d");
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(digits);
    let unit: u64 = match suffix.trim() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(wrong()),
    };
    let nanos = digits.parse::<u64>().map_err(|_| wrong())?.checked_mul(unit).filter(|nanos| *nanos < 1 << 63);
    nanos.map(Nanos).ok_or_else(|| format!("'{text}' is too long"))
}

/// Whether a key that is a flag is set: by its name alone, or by any number but 0.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "1" | "true" | "on" => Ok(true),
        "0" | "false" | "off" => Ok(false),
        _ => Err(format!("'{text}' is neither 0 nor 1")),
    }
}

/// Values for reads, writes and trims: what is not said is as the one before it.
pub(super) fn by_kind(text: &str) -> Result<[&str; 3], String> {
    let mut parts = text.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let mut values = [first; 3];
    for place in 1..3 {
        values[place] = parts.next().filter(|part| !part.is_empty()).unwrap_or(values[place - 1]);
    }
    if parts.next().is_some() { Err(format!("'{text}' has more than three values, for reads, writes and trims")) } else { Ok(values) }
}

/// A list of values with shares, such as `4k/60:8k/30:16k/`. Sizes without a share have what is left.
pub(super) fn shares(text: &str) -> Result<Vec<(&str, f64)>, String> {
    let mut values: Vec<(&str, Option<f64>)> = Vec::new();
    for part in text.split(':') {
        let (value, share) = part.split_once('/').unwrap_or((part, ""));
        values.push((value, if share.trim().is_empty() { None } else { Some(share_of_hundred(share)?) }));
    }
    let sum: f64 = values.iter().filter_map(|(_, share)| *share).sum();
    let open = values.iter().filter(|(_, share)| share.is_none()).count();
    if sum > 100.0 + 1e-6 || (open == 0 && sum < 100.0 - 1e-6) {
        return Err(format!("the shares sum to {sum} %, not 100 %"));
    }
    let left = (100.0 - sum).max(0.0) / open.max(1) as f64;
    Ok(values.into_iter().map(|(value, share)| (value, share.unwrap_or(left))).collect())
}

/// `bytes` with the largest unit in which it is whole.
pub(super) fn size(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)).unwrap_or((1, "B"));
    format!("{} {name}", bytes / unit)
}

/// As a workload file has it.
pub(super) fn written(data: Data) -> String {
    match data {
        Data::Bytes(bytes) => size(bytes),
        Data::Percent(share) => format!("{share} %"),
    }
}

/// As a workload file has it.
pub(super) fn written_time(time: Nanos) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let (unit, name) = units.into_iter().find(|(unit, _)| time.0 >= *unit && time.0.is_multiple_of(*unit)).unwrap_or((1, "ns"));
    format!("{} {name}", time.0 / unit)
}

/// A size of a request.
pub(super) fn block(text: &str, si: bool) -> Result<u64, String> {
    let bytes = number(text, si)?;
    let largest = crate::trace::TraceRecord::LARGEST_TRANSFER;
    let fits = bytes > 0 && bytes.is_multiple_of(512) && Bytes(bytes) <= largest;
    if fits { Ok(bytes) } else { Err(format!("'{text}': a size of a request is a multiple of 512 B from 512 B to {largest}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_fio_reads_them() {
        for (text, value) in
            [("4k", 4_096), ("4K", 4_096), ("4kb", 4_096), ("1ki", 1_000), ("0x200", 512), ("1.5m", 1_572_864), ("512", 512), ("512b", 512)]
        {
            assert_eq!(number(text, false), Ok(value), "{text}");
        }
        assert_eq!((number("1k", true), number("1ki", true)), (Ok(1_000), Ok(1_024)));
        for wrong in ["", "k", "4q", "-1", "1.00001", "0xg", "99999p", "4kk", "4i", "1e3"] {
            assert!(number(wrong, false).is_err(), "{wrong}");
        }
        assert_eq!(
            (time("10"), time("500ms"), time("2m")),
            (Ok(Nanos::from_secs(10)), Ok(Nanos::from_millis(500)), Ok(Nanos::from_secs(120)))
        );
        assert!(time("").is_err() && time("9999999999999d").is_err());
        assert_eq!(by_kind("4k,8k"), Ok(["4k", "8k", "8k"]));
        assert_eq!(by_kind(",8k"), Ok(["", "8k", "8k"]));
        assert!(by_kind("1,2,3,4").is_err());
    }

    #[test]
    fn what_is_written_is_whole() {
        assert_eq!([0, 512, 4_096, 3 << 20, 1 << 30].map(size), ["0 B", "512 B", "4 KiB", "3 MiB", "1 GiB"]);
        assert_eq!([0, 1_500, 2_000_000_000].map(|ns| written_time(Nanos(ns))), ["0 ns", "1500 ns", "2 s"]);
    }
}
