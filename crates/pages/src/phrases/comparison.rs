//! Ratios in words: figures beside those of a baseline, with their intervals.

use wordline_figures::together::Intervals;
use wordline_figures::{Ratio, SweepPoint};

use crate::number::number;

/// The figure itself; there is no time of what did not happen.
pub(crate) fn value(ratio: &Ratio) -> String {
    if ratio.value == 0.0 && ["us", "s"].contains(&ratio.unit.as_str()) { "-".to_owned() } else { number(ratio.value) }
}

/// `×1.25 [1.20, 1.30]*`, with its interval where there are several seeds, and a mark where it excludes 1 with all others taken together.
pub(crate) fn ratio_text(ratio: &Ratio) -> String {
    match (ratio.ratio, ratio.low, ratio.high) {
        (Some(mean), Some(low), Some(high)) => {
            format!("×{} [{}, {}]{}", factor(mean), factor(low), factor(high), if ratio.together { "*" } else { "" })
        }
        (Some(mean), ..) => format!("×{}", factor(mean)),
        (None, ..) => "-".to_owned(),
    }
}

/// A ratio in few letters, however large or small: an interval over two seeds can have any end.
pub(crate) fn factor(ratio: f64) -> String {
    match ratio {
        1e-3..0.01 => format!("{ratio:.4}"),
        1e3..1e5 => format!("{ratio:.0}"),
        _ if ratio > 0.0 && !(1e-3..1e5).contains(&ratio) => format!("{ratio:.1e}"),
        _ => format!("{ratio:.3}"),
    }
}

/// `5.11 ± 0.03`, with the mark of a drive that failed requests.
pub(crate) fn with_interval(point: &SweepPoint) -> String {
    let half = point.half().map(|half| format!(" ± {}", number(half))).unwrap_or_default();
    format!("{}{half}{}", number(point.mean), if point.failed { "!" } else { "" })
}

/// What is to be known of so many intervals of 95 %; nothing of one.
pub(crate) fn intervals(all: Intervals) -> Option<String> {
    let Intervals { shown, together } = all;
    if shown < 2 {
        return None;
    }
    let expected = shown as f64 * Intervals::RISK;
    let by_chance = if expected >= 0.5 {
        format!(": of the {shown} shown, about {} would exclude ×1 by chance where nothing differs", libm::round(expected))
    } else {
        String::new()
    };
    let corrected = match together {
        0 => format!("None excludes it with all {shown} taken together (Holm, 5 %): more seeds make intervals narrower"),
        _ => {
            format!("Marked *: excludes it with all {shown} taken together (Holm: at most 5 % that any mark is wrong), {together} of them")
        }
    };
    Some(format!("Each interval is of one figure by itself{by_chance}. {corrected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_any_size_fit_their_column() {
        let all = [
            0.0,
            2.13e-6,
            0.000_213,
            0.002_13,
            0.0213,
            0.213,
            1.0,
            999.4,
            1_234.5,
            99_999.4,
            123_456.0,
            21_931_769_743_363.5,
            f64::INFINITY,
        ];
        assert_eq!(
            all.map(factor),
            ["0.000", "2.1e-6", "2.1e-4", "0.0021", "0.021", "0.213", "1.000", "999.400", "1234", "99999", "1.2e5", "2.2e13", "inf"]
        );
    }
}
