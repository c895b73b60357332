//! Words on reads by tolerated latency.

use wordline_figures::result::{ClassReadsResult, HintedReadsResult};

use crate::number::{count, share};

/// Heads of the columns of a table of classes.
pub(crate) const HEADS: [&str; 5] = ["requests", "limit", "over it", "share", "longest"];

/// The cells of a class, its times written by `span`.
pub(crate) fn cells(of: &ClassReadsResult, span: impl Fn(f64) -> String) -> [String; 5] {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        count(of.reads),
        or_none(of.limit_us.map(&span)),
        or_none(of.over.map(count)),
        or_none(of.over_share.map(share)),
        span(of.device_max_us),
    ]
}

/// Sentence on the limits and on what is counted.
pub(crate) fn told(of: &HintedReadsResult) -> String {
    let name = &of.technique;
    let limits = if of.in_effect {
        format!("limits are those of {name}")
    } else {
        format!("{name} is off: nothing in the drive acts on hints, and limits are its defaults")
    };
    let total = format!("{} of {} reads with a limit took longer ({})", count(of.over), count(of.reads), share(of.over_share));
    format!("{total}; {limits}; times in the device, without waits before it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::number;

    #[test]
    fn a_class_without_a_limit_has_nothing_to_be_over() {
        let class = |limit_us: Option<f64>, reads, over: Option<u64>| ClassReadsResult {
            tolerance: String::new(),
            limit_us,
            reads,
            over,
            over_share: over.map(|over| over as f64 / reads as f64),
            device_max_us: 3_210.0,
        };
        assert_eq!(cells(&class(Some(2_000.0), 12_000, Some(3)), number), ["12,000", "2,000", "3", "0.025 %", "3,210"]);
        assert_eq!(cells(&class(None, 7, None), number), ["7", "-", "-", "-", "3,210"]);
    }

    #[test]
    fn a_drive_that_acts_on_no_hint_says_so() {
        let of = HintedReadsResult {
            technique: "deaf".to_owned(),
            in_effect: false,
            reads: 1_000,
            over: 20,
            over_share: 0.02,
            classes: Vec::new(),
        };
        let off = "20 of 1,000 reads with a limit took longer (2 %); deaf is off: nothing in the drive acts on hints";
        assert!(told(&of).starts_with(off), "{}", told(&of));
        assert!(told(&HintedReadsResult { in_effect: true, ..of }).contains("limits are those of deaf"));
    }
}
