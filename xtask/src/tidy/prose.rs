//! What documents promise: links that lead somewhere, paths that exist, and nothing about the place where the text was written.

use std::collections::BTreeSet;

use super::tree::{Finding, Severity, Tree};

/// Checks every document, and the paths that comments in the source name.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("md") {
        findings.extend(check_links(tree, path, text));
    }
    for (path, text) in tree.iter() {
        let kind = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        if matches!(kind, "md" | "rs") {
            findings.extend(check_named_paths(tree, path, text));
        }
        if matches!(kind, "md" | "rs" | "toml" | "yml" | "html" | "js" | "css" | "py" | "sh" | "json") || path.starts_with(".ci/") {
            findings.extend(check_places(path, text));
        }
    }
    findings
}

fn error(path: &str, line: usize, rule: &'static str, message: String) -> Finding {
    Finding { severity: Severity::Error, path: path.to_owned(), line, rule, message }
}

/// The lines of a document outside its fenced blocks, numbered from one.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fence && !fenced).then_some((number + 1, line))
    })
}

fn check_links(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in prose_lines(text) {
        for target in link_targets(line) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let full = if file.is_empty() { path.to_owned() } else { resolve(path, file) };
            if !tree.exists(&full) {
                findings.push(error(path, number, "links", format!("`{target}` leads to `{full}`, which does not exist")));
            } else if !anchor.is_empty() && tree.get(&full).is_some_and(|text| full.ends_with(".md") && !anchors(text).contains(anchor)) {
                findings.push(error(path, number, "links", format!("`{full}` has no heading `#{anchor}`")));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` and `![text](target)` in a line, code spans left out.
fn link_targets(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for (index, prose) in line.split('`').enumerate() {
        if index % 2 == 1 {
            continue;
        }
        targets.extend(
            prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.split(' ').next().unwrap_or(target)),
        );
    }
    // A link whose text is code loses its bracket to the split above: `[`code`](target)` leaves "](target)" at the start of the next piece, which still has it.
    targets
}

/// `file` as seen from the folder of `from`.
fn resolve(from: &str, file: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of a document's headings, as forges make them: lower case, spaces to dashes, the rest of the punctuation gone.
fn anchors(text: &str) -> BTreeSet<String> {
    prose_lines(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

/// Folders whose files are named in prose by their path from the root.
const FOLDERS: &[&str] = &["chips/", "crates/", "docs/", "drives/", "fuzz/", "python/", "studies/", "xtask/"];

/// Paths in code spans, in documents and in comments, that begin with one of [`FOLDERS`]. A path with a gap (`<name>`, `*`, `…`, `{a,b}`) names no one file.
fn check_named_paths(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines: Box<dyn Iterator<Item = (usize, &str)>> = if path.ends_with(".rs") {
        Box::new(text.lines().enumerate().map(|(number, line)| (number + 1, line)).filter(|(_, line)| line.trim_start().starts_with("//")))
    } else {
        Box::new(prose_lines(text))
    };
    for (number, line) in lines {
        for span in line.split('`').skip(1).step_by(2) {
            let named = FOLDERS.iter().any(|folder| span.starts_with(folder));
            let whole = span.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'));
            if named && whole && !tree.exists(span) {
                findings.push(error(path, number, "named-paths", format!("`{span}` does not exist")));
            }
        }
    }
    findings
}

/// Words that tell where a text was written instead of what it says. Put together so that this file does not object to itself.
const PLACES: &[(&str, &str)] = &[
    (concat!("/wo", "rk/"), "a path of one machine: name it from the root of the repository"),
    (concat!("/ro", "ot/"), "a path of one machine: name it from the root of the repository"),
    (concat!("/ho", "me/"), "a path of one machine: name it from the root of the repository"),
    (concat!("../sha", "red"), "a folder outside the repository: take it from the command line or the environment"),
    (concat!("sha", "red/tra"), "a folder outside the repository: take it from the command line or the environment"),
    (concat!("sha", "red/pa"), "a folder outside the repository: cite the paper"),
    (concat!("sha", "red/pe"), "a folder outside the repository: cite the project"),
    (concat!("sha", "red/de"), "a folder outside the repository: see ARCHITECTURE.md"),
    (concat!("work", "place"), "the text is about the program, not about where it was written"),
    (concat!("this se", "ssion"), "the text is about the program, not about how it was written"),
    (concat!("next se", "ssion"), "the text is about the program, not about how it was written"),
    (concat!("previous se", "ssion"), "the text is about the program, not about how it was written"),
    (concat!("earlier se", "ssion"), "the text is about the program, not about how it was written"),
    (concat!("the le", "ad "), "the text is about the program, not about who wrote it"),
];

fn check_places(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        if let Some((word, why)) = PLACES.iter().find(|(word, _)| lower.contains(word)) {
            findings.push(error(path, number + 1, "places", format!("`{}`: {why}", word.trim())));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::planted(files)).into_iter().map(|finding| format!("{}:{} {}", finding.path, finding.line, finding.rule)).collect()
    }

    #[test]
    fn good_links_pass() {
        let readme = "# Top\n[a](docs/a.md) [b](docs/a.md#the-second-one) [`c`](#top) [d](https://example.org/x) ![p](docs/p.svg \"title\")\n\
                      ```text\n[gone](gone.md)\n```\n`[gone](gone.md)` and [folder](docs/)\n";
        assert_eq!(
            found(&[("README.md", readme), ("docs/a.md", "# A\n\n## The second: one\n[up](../README.md#top)\n"), ("docs/p.svg", "")]),
            [""; 0]
        );
    }

    #[test]
    fn broken_links_and_anchors_are_found() {
        assert_eq!(
            found(&[("docs/a.md", "# A\n[x](b.md)\n[y](#c)\n[`z`](../d.md)\n")]),
            ["docs/a.md:2 links", "docs/a.md:3 links", "docs/a.md:4 links"]
        );
    }

    #[test]
    fn paths_in_code_spans_must_exist() {
        let files = [
            ("README.md", "`crates/a/src/lib.rs` `crates/a` `crates/<name>/x` `crates/b/src/lib.rs` `cargo run`\n"),
            ("crates/a/src/lib.rs", "//! See `docs/gone.md`.\nlet x = \"`docs/gone.md`\";\n"),
        ];
        assert_eq!(found(&files), ["README.md:1 named-paths", "crates/a/src/lib.rs:1 named-paths"]);
    }

    #[test]
    fn each_word_about_the_place_is_found() {
        for (word, _) in PLACES {
            assert_eq!(found(&[("README.md", &format!("see {word}x\n"))]), ["README.md:1 places"], "{word}");
        }
        assert_eq!(found(&[("README.md", "an NBD session; shared by all; the leading edge\n")]), [""; 0]);
    }
}
