//! OpenMetrics text: families of samples, each with its type, unit and help.

use std::fmt::Write as _;

use wordline_figures::histogram::Latencies;

/// Kind of a family's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number that only grows until the server is started anew.
    Counter,
    /// A number that comes and goes.
    Gauge,
    /// Spans, counted by their length.
    Histogram,
    /// Words about the drive.
    Info,
}

impl Kind {
    /// Name in the text.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
        }
    }

    const fn suffix(self) -> &'static str {
        match self {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Histogram => "",
        }
    }
}

/// The buckets of histograms: the longest span of each, in seconds as the text has it, and in nanoseconds.
const BUCKETS: [(&str, u64); 22] = [
    ("1e-06", 1_000),
    ("2e-06", 2_000),
    ("5e-06", 5_000),
    ("1e-05", 10_000),
    ("2e-05", 20_000),
    ("5e-05", 50_000),
    ("0.0001", 100_000),
    ("0.0002", 200_000),
    ("0.0005", 500_000),
    ("0.001", 1_000_000),
    ("0.002", 2_000_000),
    ("0.005", 5_000_000),
    ("0.01", 10_000_000),
    ("0.02", 20_000_000),
    ("0.05", 50_000_000),
    ("0.1", 100_000_000),
    ("0.2", 200_000_000),
    ("0.5", 500_000_000),
    ("1.0", 1_000_000_000),
    ("2.0", 2_000_000_000),
    ("5.0", 5_000_000_000),
    ("10.0", 10_000_000_000),
];

/// Labels of a sample: names and values.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// A text that grows, family by family.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    /// Family of the current samples.
    name: &'static str,
    suffix: &'static str,
}

impl Text {
    /// Begins a family of samples. The name of one with a unit ends in it.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, unit: &str, help: &str) {
        debug_assert!(unit.is_empty() || name.ends_with(&format!("_{unit}")), "{name} does not end in its unit {unit}");
        (self.name, self.suffix) = (name, kind.suffix());
        let _ = writeln!(self.text, "# TYPE {name} {}", kind.word());
        if !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {}", escaped(help));
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, more: Option<(&str, &str)>, value: &str) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        let mut before = '{';
        for (name, label) in labels.iter().copied().chain(more) {
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(label));
            before = ',';
        }
        self.text.push_str(if before == '{' { " " } else { "} " });
        self.text.push_str(value);
        self.text.push('\n');
    }

    /// A sample that is a whole number.
    pub(super) fn count(&mut self, labels: Labels<'_>, value: u64) {
        self.line(self.suffix, labels, None, &value.to_string());
    }

    /// A sample that is any number.
    pub(super) fn number(&mut self, labels: Labels<'_>, value: f64) {
        self.line(self.suffix, labels, None, &value.to_string());
    }

    /// A histogram of spans, in seconds. A span is counted by the end of its fine bucket, at most 0.2 % beyond it.
    pub(super) fn spans(&mut self, labels: Labels<'_>, spans: &Latencies) {
        let mut fine = spans.occupied().peekable();
        let mut count = 0;
        for (text, most) in BUCKETS {
            while let Some((_, some)) = fine.next_if(|(longest, _)| longest.0 <= most) {
                count += some;
            }
            self.line("_bucket", labels, Some(("le", text)), &count.to_string());
        }
        self.line("_bucket", labels, Some(("le", "+Inf")), &spans.count().to_string());
        self.line("_count", labels, None, &spans.count().to_string());
        self.line("_sum", labels, None, &(spans.sum() as f64 / 1e9).to_string());
    }

    /// The whole text.
    pub(super) fn end(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

/// `text` with the special characters of labels and help escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use wordline_units::Nanos;

    use super::*;

    #[test]
    fn a_family_has_its_type_unit_help_and_samples() {
        let mut text = Text::default();
        text.family("a_seconds", Kind::Counter, "seconds", "Time \"busy\",\nby \\ die.");
        text.count(&[], 3);
        text.number(&[("die", "0"), ("who", "a \"b\"\n\\")], 0.5);
        let expected = "# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds Time \\\"busy\\\",\\nby \\\\ die.\na_seconds_total 3\n\
                        a_seconds_total{die=\"0\",who=\"a \\\"b\\\"\\n\\\\\"} 0.5\n# EOF\n";
        assert_eq!(text.end(), expected);
    }

    #[test]
    fn buckets_add_up() {
        let mut spans = Latencies::default();
        [900, 1_900, 1_900, 60_000, 20_000_000_000].into_iter().for_each(|span| spans.record(Nanos(span)));
        let mut text = Text::default();
        text.family("l_seconds", Kind::Histogram, "seconds", "Latency.");
        text.spans(&[("op", "read")], &spans);
        let text = text.end();
        for line in [
            "l_seconds_bucket{op=\"read\",le=\"1e-06\"} 1",
            "l_seconds_bucket{op=\"read\",le=\"2e-06\"} 3",
            "l_seconds_bucket{op=\"read\",le=\"5e-05\"} 3",
            "l_seconds_bucket{op=\"read\",le=\"0.0001\"} 4",
            "l_seconds_bucket{op=\"read\",le=\"10.0\"} 4",
            "l_seconds_bucket{op=\"read\",le=\"+Inf\"} 5",
            "l_seconds_count{op=\"read\"} 5",
            "l_seconds_sum{op=\"read\"} 20.0000647",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
        }
    }
}
