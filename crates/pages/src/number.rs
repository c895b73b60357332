//! Numbers as a person writes them. Everything else of this crate stands on this.

use wordline_figures::catalogue::Form;

/// `value` as a person would write it: three or four significant digits, thousands apart, no exponent.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    let decimals = match magnitude {
        0.0 => 0,
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        0.1.. => 3,
        _ => (3 - libm::floor(libm::log10(magnitude)) as i32).clamp(0, 9) as usize - 1,
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), ""), |(whole, fraction)| (whole, fraction));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", thousands(whole))
}

/// A whole number with its thousands apart.
pub fn count(value: u64) -> String {
    thousands(&value.to_string())
}

fn thousands(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn percent(share: f64) -> String {
    format!("{} %", number((share * 1000.0).round() / 10.0))
}

/// A share that is not nothing, however small it is.
pub(crate) fn share(share: f64) -> String {
    if share > 0.0 && share < 0.001 { format!("{} %", number(share * 100.0)) } else { percent(share) }
}

/// `value` in `form`.
pub(crate) fn written(value: f64, form: Form) -> String {
    match form {
        Form::Count => count(value as u64),
        Form::Plain => value.to_string(),
        Form::Number => number(value),
        Form::Over(divisor) => number(value / divisor),
        Form::Percent => percent(value),
    }
}

/// Shortens `text` to `width` characters.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// A number that may be as small as an error rate.
pub fn scientific(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || value.abs() >= 1e-3 {
        return number(value);
    }
    let text = format!("{value:.2e}");
    let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
    let raised = |digit: char| digit.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize)).unwrap_or('?');
    format!("{digits}·10⁻{}", exponent.chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_a_person_writes_them() {
        let cases = [
            (0.0, "0"),
            (0.136, "0.136"),
            (1.0, "1"),
            (1.2347, "1.235"),
            (12.347, "12.35"),
            (123.47, "123.5"),
            (1234.4, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-12_345.6, "-12,346"),
            (0.012345, "0.0123"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(999), "999");
    }
}
