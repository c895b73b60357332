//! Columns of a line and the numbers in them, without allocation.

use wordline_units::Nanos;

use super::error::LineFault;

/// No format has more columns that matter.
const MOST: usize = 16;

/// One line cut into columns.
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    ranges: [(u32, u32); MOST],
    count: usize,
}

impl<'a> Fields<'a> {
    /// Cut at every comma; blanks around a column do not belong to it.
    pub(crate) fn commas(line: &'a [u8]) -> Fields<'a> {
        let mut fields = Fields { line, ranges: [(0, 0); MOST], count: 0 };
        let mut from = 0;
        for (at, byte) in line.iter().enumerate() {
            if *byte == b',' {
                fields.push(from, at);
                from = at + 1;
            }
        }
        fields.push(from, line.len());
        fields
    }

    /// Cut at runs of blanks.
    pub(crate) fn blanks(line: &'a [u8]) -> Fields<'a> {
        let mut fields = Fields { line, ranges: [(0, 0); MOST], count: 0 };
        let mut from = None;
        for (at, byte) in line.iter().enumerate() {
            match (byte.is_ascii_whitespace(), from) {
                (true, Some(start)) => {
                    fields.push(start, at);
                    from = None;
                }
                (false, None) => from = Some(at),
                (true, None) | (false, Some(_)) => {}
            }
        }
        if let Some(start) = from {
            fields.push(start, line.len());
        }
        fields
    }

    fn push(&mut self, mut from: usize, mut to: usize) {
        while from < to && self.line[from].is_ascii_whitespace() {
            from += 1;
        }
        while to > from && self.line[to - 1].is_ascii_whitespace() {
            to -= 1;
        }
        if self.count < MOST {
            self.ranges[self.count] = (from as u32, to as u32);
        }
        self.count += 1;
    }

    /// How many columns the line has.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Column `index`, empty where the line is shorter.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        if index >= self.count.min(MOST) {
            return &[];
        }
        let (from, to) = self.ranges[index];
        &self.line[from as usize..to as usize]
    }

    /// Columns `first..=last` as they stand, separators included.
    pub(crate) fn joined(&self, first: usize, last: usize) -> &'a [u8] {
        if last >= self.count.min(MOST) || first > last {
            return &[];
        }
        &self.line[self.ranges[first].0 as usize..self.ranges[last].1 as usize]
    }

    /// Refuse a line with fewer columns than the format has.
    pub(crate) fn at_least(&self, columns: usize, expected: &'static str) -> Result<(), LineFault> {
        if self.count >= columns { Ok(()) } else { Err(LineFault::line(expected, self.line)) }
    }

    /// Refuse a line with more or fewer columns than the format has.
    pub(crate) fn exactly(&self, columns: usize, expected: &'static str) -> Result<(), LineFault> {
        if self.count == columns { Ok(()) } else { Err(LineFault::line(format!("{expected}; there are {}", self.count), self.line)) }
    }

    /// A whole number.
    pub(crate) fn whole(&self, index: usize, column: &'static str) -> Result<u64, LineFault> {
        let text = self.get(index);
        whole(text).ok_or_else(|| LineFault::column(column, "a whole number below 2^64", text))
    }

    /// A decimal number of `unit` nanoseconds each.
    pub(crate) fn time(&self, index: usize, column: &'static str, unit: u64) -> Result<Nanos, LineFault> {
        let text = self.get(index);
        decimal(text, unit)
            .map(Nanos)
            .ok_or_else(|| LineFault::column(column, format!("a time from zero up, in units of {}, within 584 years", Nanos(unit)), text))
    }
}

/// A whole number without sign.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A decimal number times `unit`, exact to the unit of the result and rounded to nearest beyond it. The digits never pass through
/// floating point, because a Windows file time in nanoseconds has more of them than a double holds.
pub(crate) fn decimal(text: &[u8], unit: u64) -> Option<u64> {
    let point = text.iter().position(|byte| !byte.is_ascii_digit());
    let Some(point) = point else {
        return whole(text)?.checked_mul(unit);
    };
    if text[point] != b'.' || text[point + 1..].iter().any(|byte| !byte.is_ascii_digit()) {
        return scientific(text, unit);
    }
    let (before, after) = (&text[..point], &text[point + 1..]);
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let integer = if before.is_empty() { 0 } else { whole(before)? };
    let kept = &after[..after.len().min(18)];
    let mut fraction: u64 = 0;
    let mut scale: u64 = 1;
    for byte in kept {
        fraction = fraction * 10 + u64::from(byte - b'0');
        scale *= 10;
    }
    let part = (u128::from(fraction) * u128::from(unit) + u128::from(scale / 2)) / u128::from(scale);
    integer.checked_mul(unit)?.checked_add(u64::try_from(part).ok()?)
}

/// Numbers such as `7.3902e-05`, which scripts print for small times.
fn scientific(text: &[u8], unit: u64) -> Option<u64> {
    if text.len() > 40 || !text.iter().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(byte)) {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let scaled = libm::round(value * unit as f64);
    (scaled >= 0.0 && scaled < u64::MAX as f64).then_some(scaled as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_never_pass_through_floating_point() {
        assert_eq!(decimal(b"0.015625", 1_000_000), Some(15_625));
        assert_eq!(decimal(b"1055758.902344", 1_000_000), Some(1_055_758_902_344));
        assert_eq!(decimal(b"128166385295514663", 100), Some(12_816_638_529_551_466_300));
        assert_eq!(decimal(b"7.3902e-05", 1_000_000_000), Some(73_902));
        assert_eq!(decimal(b".5", 1000), Some(500));
        for bad in [&b""[..], b".", b"-1", b"1.2.3", b"nan", b"inf", b"1e400", b"99999999999999999999", b"0x10"] {
            assert_eq!(decimal(bad, 1000), None, "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn columns_are_cut_and_trimmed() {
        let fields = Fields::commas(b"1, hm ,0,");
        assert_eq!((fields.count(), fields.get(1), fields.get(3), fields.get(9)), (4, &b"hm"[..], &b""[..], &b""[..]));
        assert_eq!(fields.joined(1, 2), b"hm ,0");
        assert_eq!(Fields::blanks(b"  a  b\tc ").count(), 3);
    }
}
