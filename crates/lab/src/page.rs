//! The HTML page of studies that were run: claims in tables, figures below. It is one file, and loads nothing.

use std::collections::BTreeSet;
use std::fmt::Write;

use wordline_pages::html::{document, escape};

use crate::reproduce::{Count, Line, Outcome};

/// The page of these outcomes.
pub fn page(outcomes: &[Outcome]) -> String {
    let count = Count::of(outcomes.iter().flat_map(|outcome| &outcome.lines));
    let title = match outcomes {
        [only] => only.study.clone(),
        many => format!("{} studies", many.len()),
    };
    let subtitle = summary(count);
    let mut sections = Vec::new();
    // Two studies of one lot share what a bench drew.
    let mut drawn: BTreeSet<String> = BTreeSet::new();
    for outcome in outcomes {
        let mut parts = vec![table(outcome)];
        let (mut figures, mut above) = (String::new(), Vec::new());
        for (bench, of_bench) in outcome.figures.iter().filter(|(_, figures)| !figures.is_empty()) {
            let html: String = of_bench.iter().map(wordline_pages::html::figure::Figure::html).collect();
            if drawn.contains(&html) {
                above.push(bench.as_str());
            } else {
                figures += &html;
                drawn.insert(html);
            }
        }
        if !figures.is_empty() {
            parts.push(format!("<div class=\"grid\">{figures}</div>"));
        }
        if !above.is_empty() {
            parts.push(format!("<p class=\"note\">The figures of {} stand above.</p>", escape(&above.join(" and "))));
        }
        sections.push((outcome.title.clone(), "stack", parts));
    }
    document(&title, &subtitle, &sections)
}

/// The count of verdicts in words.
pub fn summary(count: Count) -> String {
    let mut words = vec![format!("{} of {} claims reproduced", count.reproduced, count.judged())];
    if count.off > 0 {
        words.push(format!("{} off", count.off));
    }
    if count.stays > 0 {
        words.push(format!("{} that stay with their effect off", count.stays));
    }
    if count.without_null > 0 {
        words.push(format!("{} without a null", count.without_null));
    }
    if count.apart > 0 {
        words.push(format!("{} that cannot fail and are no measurement", count.apart));
    }
    if count.aside > 0 {
        words.push(format!("{} with nothing to measure", count.aside));
    }
    words.join(", ")
}

/// True if a claim of these outcomes has a null, so that tables show those of all claims.
fn has_nulls(outcomes: &[Outcome]) -> bool {
    outcomes.iter().flat_map(|outcome| &outcome.lines).any(|line| line.null.is_some())
}

fn table(outcome: &Outcome) -> String {
    let mut html = String::new();
    let has_nulls = has_nulls(std::slice::from_ref(outcome));
    let head = if has_nulls { "<th>with the effect off</th>" } else { "" };
    let _ = write!(
        html,
        "<div class=\"tablebox\"><table class=\"claims\"><thead><tr><th>claim</th><th>paper</th><th>measured</th><th>band</th>{head}<th>verdict</th></tr></thead><tbody>"
    );
    for line in &outcome.lines {
        let class = match line.verdict.as_str() {
            _ if !line.decides() => "",
            "reproduced" => "better",
            "off" | "stays when its effect is off" => "worse",
            _ => "",
        };
        let null =
            if has_nulls { format!("<td title=\"{}\">{}</td>", escape(&settings(line)), escape(&line.null_text())) } else { String::new() };
        let _ = write!(
            html,
            "<tr><td><b>{}</b> <small>{}</small><br/>{}</td><td>{}</td><td title=\"{}\">{}</td><td title=\"{}\">{}</td>{null}<td><span class=\"{class}\">{}</span>{}</td></tr>",
            escape(&line.claim),
            escape(&line.source),
            escape(&line.says),
            escape(&line.paper),
            escape(&line.metric),
            escape(&line.measured_text()),
            escape(&line.why),
            escape(&line.band),
            escape(&line.verdict_text()),
            reason(line)
        );
    }
    let _ = write!(html, "</tbody></table>");
    if !outcome.subject.is_empty() {
        let _ = write!(html, "<p class=\"note\">Study {}: {}</p>", escape(&outcome.study), escape(&outcome.subject));
    }
    html.push_str("</div>");
    html
}

/// Settings of a line's null.
fn settings(line: &Line) -> String {
    line.null.as_ref().map_or_else(String::new, |null| null.settings.join(", "))
}

fn reason(line: &Line) -> String {
    if line.reason.is_empty() { String::new() } else { format!("<br/><small>{}</small>", escape(&line.reason)) }
}

/// The tables of claims for a terminal.
pub fn text(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let width = |of: fn(&Line) -> String, least: usize, most: usize| {
        let longest = outcomes.iter().flat_map(|outcome| &outcome.lines).map(|line| of(line).chars().count()).max().unwrap_or(0);
        longest.clamp(least, most)
    };
    let claim = width(|line| line.claim.clone(), 10, 40);
    let paper = width(|line| line.paper.clone(), 8, 20);
    let measured = width(Line::measured_text, 8, 16);
    let band = width(|line| line.band.clone(), 8, 24);
    let null = width(Line::null_text, 8, 24);
    // Without nulls there is no column of them.
    let nulls = has_nulls(outcomes);
    let with_null = |text: &str| if nulls { format!("{text:null$}  ") } else { String::new() };
    for outcome in outcomes {
        let _ = writeln!(text, "{}: {}", outcome.study, outcome.title);
        if !outcome.subject.is_empty() {
            let _ = writeln!(text, "  {}", outcome.subject);
        }
        let _ = writeln!(
            text,
            "  {:claim$}  {:paper$}  {:measured$}  {:band$}  {}verdict",
            "claim",
            "paper",
            "measured",
            "band",
            with_null("null")
        );
        for line in &outcome.lines {
            let (value, within) = (line.measured_text(), &line.band);
            let verdict = with_null(&line.null_text()) + &line.verdict_text();
            let _ = writeln!(text, "  {:claim$}  {:paper$}  {value:measured$}  {within:band$}  {verdict}", line.claim, line.paper);
            if line.null.is_some() {
                let _ = writeln!(text, "      null: {}", settings(line));
            }
            if !line.reason.is_empty() {
                let _ = writeln!(text, "      {}", line.reason);
            }
        }
        text.push('\n');
    }
    let count = Count::of(outcomes.iter().flat_map(|outcome| &outcome.lines));
    let _ = write!(text, "{}", summary(count));
    text
}
