//! A strict reader of OpenMetrics text, written from its specification and not from the writer: whatever it does not know is wrong.

use std::collections::{BTreeMap, BTreeSet};

/// A sample's name and its labels, sorted.
pub(crate) type Key = (String, Vec<(String, String)>);

/// All samples of a text.
///
/// # Errors
/// What is wrong, with its line.
pub(crate) fn read(text: &str) -> Result<BTreeMap<Key, f64>, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("it does not end in # EOF")?;
    let mut samples = BTreeMap::new();
    let mut families: BTreeSet<String> = BTreeSet::new();
    let mut family = Family::default();
    for (number, line) in body.split_terminator('\n').enumerate() {
        let wrong = |what: &str| format!("line {}: {what}: {line:?}", number + 1);
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (Some(what), Some(name), Some(value)) = (words.next(), words.next(), words.next()) else {
                return Err(wrong("no metadata"));
            };
            if !is_name(name, true) {
                return Err(wrong("no name of a family"));
            }
            if name != family.name {
                family.check().map_err(|what| wrong(&what))?;
                if !families.insert(name.to_owned()) {
                    return Err(wrong("a family comes twice, or in pieces"));
                }
                family = Family { name: name.to_owned(), ..Family::default() };
            }
            family.describe(what, value).map_err(|what| wrong(&what))?;
        } else {
            let ((name, labels), value) = sample(line).map_err(|what| wrong(&what))?;
            family.take(&name, &labels, value).map_err(|what| wrong(&what))?;
            if samples.insert((name, labels), value).is_some() {
                return Err(wrong("a sample comes twice"));
            }
        }
    }
    family.check()?;
    Ok(samples)
}

fn is_name(name: &str, colons: bool) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || (colons && letter == ':');
    name.starts_with(is_letter) && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

#[derive(Default)]
struct Family {
    name: String,
    kind: Option<String>,
    unit: Option<String>,
    help: Option<String>,
    has_samples: bool,
    /// Of a histogram, by its labels without `le`: the buckets, the count, and whether there is a sum.
    groups: BTreeMap<Vec<(String, String)>, Group>,
}

#[derive(Default)]
struct Group {
    buckets: Vec<(f64, f64)>,
    count: Option<f64>,
    sum: Option<f64>,
}

impl Family {
    fn describe(&mut self, what: &str, value: &str) -> Result<(), String> {
        if self.has_samples {
            return Err("metadata behind samples".to_owned());
        }
        let place = match what {
            "TYPE" => {
                if !["counter", "gauge", "histogram", "info"].contains(&value) {
                    return Err("a type that is not served here".to_owned());
                }
                &mut self.kind
            }
            "UNIT" => {
                if !self.name.ends_with(&format!("_{value}")) {
                    return Err("a family does not end in its unit".to_owned());
                }
                &mut self.unit
            }
            "HELP" => {
                unescaped(value)?;
                &mut self.help
            }
            _ => return Err("unknown metadata".to_owned()),
        };
        if place.replace(value.to_owned()).is_some() { Err("metadata come twice".to_owned()) } else { Ok(()) }
    }

    fn take(&mut self, name: &str, labels: &[(String, String)], value: f64) -> Result<(), String> {
        self.has_samples = true;
        let kind = self.kind.as_deref().ok_or("a sample without a type")?;
        let suffix = name.strip_prefix(&self.name).ok_or("a sample of another family")?;
        match (kind, suffix) {
            ("counter", "_total") if value >= 0.0 && value.is_finite() => Ok(()),
            ("info", "_info") if value == 1.0 && self.unit.is_none() => Ok(()),
            ("gauge", "") => Ok(()),
            ("histogram", "_bucket") => {
                let (le, rest): (Vec<_>, Vec<_>) = labels.iter().cloned().partition(|(name, _)| name == "le");
                let [(_, le)] = &le[..] else { return Err("a bucket without le".to_owned()) };
                let end = number(le)?;
                if *le != canonical(end) {
                    return Err(format!("le {le:?} is not {:?}", canonical(end)));
                }
                self.groups.entry(rest).or_default().buckets.push((end, value));
                Ok(())
            }
            ("histogram", "_count") => at_once(&mut self.groups.entry(labels.to_vec()).or_default().count, value),
            ("histogram", "_sum") if value >= 0.0 => at_once(&mut self.groups.entry(labels.to_vec()).or_default().sum, value),
            _ => Err(format!("a {kind} has no such sample")),
        }
    }

    /// Once it is over.
    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() {
            return Ok(());
        }
        if self.kind.is_none() || self.help.is_none() {
            return Err(format!("{} has no type or no help", self.name));
        }
        for (labels, group) in &self.groups {
            let ordered = group.buckets.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
            let last = group.buckets.last().copied();
            if !ordered || last != group.count.map(|count| (f64::INFINITY, count)) || group.sum.is_none() {
                return Err(format!("the histogram {} {labels:?} does not add up", self.name));
            }
        }
        Ok(())
    }
}

fn at_once(place: &mut Option<f64>, value: f64) -> Result<(), String> {
    if place.replace(value).is_some() { Err("it comes twice".to_owned()) } else { Ok(()) }
}

fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        "-Inf" => Ok(f64::NEG_INFINITY),
        "NaN" => Ok(f64::NAN),
        // Rust also takes words such as inf, which are none here.
        _ if text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter)) => {
            text.parse().map_err(|_| format!("{text:?} is no number"))
        }
        _ => Err(format!("{text:?} is no number")),
    }
}

/// The ends of buckets as the specification wants powers of ten and small numbers to be.
fn canonical(end: f64) -> String {
    if end == f64::INFINITY {
        return "+Inf".to_owned();
    }
    if end >= 1e-4 {
        return format!("{end:?}");
    }
    let text = format!("{end:e}");
    let (digits, exponent) = text.split_once("e-").expect("a small number");
    format!("{digits}e-{exponent:0>2}")
}

/// A sample's name, labels and value.
fn sample(line: &str) -> Result<(Key, f64), String> {
    let end = line.find(['{', ' ']).ok_or("no sample")?;
    let (name, mut rest) = line.split_at(end);
    if !is_name(name, true) {
        return Err("no name of a sample".to_owned());
    }
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, behind) = rest.split_once("=\"").ok_or("a label without a value")?;
            if !is_name(label, false) {
                return Err(format!("{label:?} is no label"));
            }
            let end = closing(behind).ok_or("a label's value does not end")?;
            labels.push((label.to_owned(), unescaped(&behind[..end])?));
            rest = &behind[end + 1..];
            match rest.chars().next() {
                Some(',') => rest = &rest[1..],
                Some('}') => break,
                _ => return Err("labels do not end".to_owned()),
            }
        }
        rest = &rest[1..];
    }
    labels.sort();
    if labels.windows(2).any(|two| two[0].0 == two[1].0) {
        return Err("a label comes twice".to_owned());
    }
    let value = rest.strip_prefix(' ').ok_or("no value")?;
    Ok(((name.to_owned(), labels), number(value)?))
}

/// Where the quote is that ends a label's value.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends.then_some(at)
    })
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '"' => return Err("a quote that is not escaped".to_owned()),
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some(quoted @ ('\\' | '"')) => quoted,
                _ => return Err("no escape".to_owned()),
            },
            _ => letter,
        });
    }
    Ok(plain)
}

#[test]
fn what_is_wrong_is_refused() {
    let sound = "# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n# HELP a_seconds Some \\\"spans\\\".\na_seconds_bucket{op=\"r\",le=\"1e-05\"} 1\n\
                 a_seconds_bucket{op=\"r\",le=\"0.5\"} 2\na_seconds_bucket{op=\"r\",le=\"+Inf\"} 2\na_seconds_count{op=\"r\"} 2\na_seconds_sum{op=\"r\"} 0.25\n\
                 # TYPE b counter\n# HELP b B.\nb_total{x=\"1\"} 7\n# TYPE c gauge\n# HELP c C.\nc -0.5\n# EOF\n";
    let samples = read(sound).expect("sound");
    assert_eq!(samples[&("b_total".to_owned(), vec![("x".to_owned(), "1".to_owned())])], 7.0);
    for (from, to) in [
        ("# EOF\n", ""),
        ("# EOF\n", "# EOF"),
        ("# EOF\n", "# EOF\nc 1\n"),
        ("b_total", "b"),
        ("# TYPE b counter\n", ""),
        ("# HELP b B.\n", ""),
        ("# UNIT a_seconds seconds", "# UNIT a_seconds bytes"),
        ("le=\"0.5\"} 2", "le=\"0.5\"} 0"),
        ("le=\"0.5\"", "le=\"0.000001\""),
        ("le=\"1e-05\"", "le=\"0.00001\""),
        ("le=\"+Inf\"} 2", "le=\"+Inf\"} 3"),
        ("a_seconds_sum{op=\"r\"} 0.25\n", ""),
        ("b_total{x=\"1\"} 7\n", "b_total{x=\"1\"} 7\nb_total{x=\"1\"} 8\n"),
        ("b_total{x=\"1\"} 7", "b_total{x=\"1\"} -7"),
        ("b_total{x=\"1\"} 7", "b_total{x=\"1\"}  7"),
        ("b_total{x=\"1\"} 7", "b_total{x=\"1\",x=\"2\"} 7"),
        ("b_total{x=\"1\"} 7", "b_total{x=\"1\"} inf"),
        ("b_total{x=\"1\"} 7", "b_total{x=\"\\q\"} 7"),
        ("c -0.5\n", "c -0.5\n\n"),
        ("c -0.5\n", "c -0.5\n# HELP c C.\n"),
        ("c -0.5\n", "c -0.5\n# TYPE b gauge\n# HELP b B.\n"),
        ("# TYPE c gauge", "# TYPE c gauges"),
        ("\\\"spans\\\"", "\"spans\""),
    ] {
        let text = sound.replacen(from, to, 1);
        assert!(text != sound && read(&text).is_err(), "{from:?} -> {to:?} is taken");
    }
}
