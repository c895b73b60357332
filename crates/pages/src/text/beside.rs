//! Words below the figures of a report: how to read them, and whether they are to be believed.

use wordline_figures::together::Intervals;
use wordline_figures::{Comparison, Report};

use super::layout::{line, prose};
use crate::number::fit;
use crate::phrases::{comparison as words, failures, warnings};

/// How to read it, and whether it is to be believed.
pub(super) fn told(text: &mut String, report: &Report, comparison: Option<&Comparison>) {
    if let Some(comparison) = comparison {
        prose(text, &format!("× is the ratio to {}.", fit(&comparison.baseline, 60)));
        prose(text, &format!("{}.", comparison.method));
    }
    if let Some(doubt) = words::intervals(Intervals::of(report.comparisons())) {
        prose(text, &format!("{doubt}."));
    }
    for warning in warnings::of_report(report) {
        prose(text, &format!("WARNING: {warning}."));
    }
    for of in report.failures() {
        let mark = if of.cell.is_some() { " (marked ! above)" } else { "" };
        prose(text, &format!("FAILED: {}{mark}. The figures are of the others.", failures::sentence(&of)));
    }
    let mut all_passed = true;
    for broken in report.violations() {
        all_passed = false;
        prose(text, &format!("CHECKS FAILED, {}: {}", broken.run(), broken.violation));
    }
    let (runs, not_made) = (report.runs().count(), report.checks_not_made());
    for (check, of) in &not_made {
        prose(text, &format!("NOT CHECKED in {of} of {runs} runs: {check}."));
    }
    if all_passed {
        let made = if not_made.is_empty() { "" } else { " that were made" };
        line(text, &format!("  All self-checks{made} of {runs} runs passed."));
    }
}
