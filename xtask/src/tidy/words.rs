//! Words: the firmware's public nouns stand in the glossary, and doc comments are sentences that stand alone.
//!
//! What it does not do: judge whether a glossary entry or a sentence is good.

use std::collections::BTreeSet;

use super::tokens::{tokens, without_tests};
use super::tree::{Finding, Severity, Tree};

/// Where other people's code meets the firmware: what is public here, people have to speak of.
const NOUNS_OF: &[&str] = &[
    "crates/ftl/src/techniques/seam.rs",
    "crates/ftl/src/state/",
    "crates/ftl/src/victim/",
    "crates/ftl/src/scheduler/",
    "crates/ftl/src/free_block/",
    "crates/ftl/src/retirement/",
];

/// The document that says what a word means.
const GLOSSARY: &str = "GLOSSARY.md";

/// Crates in which no doc comment opens with one of [`OPENERS`].
const PLAIN: &[&str] = &["crates/cells/", "crates/drive/", "crates/ftl/", "crates/lab/"];

/// First words of sentences that name no subject: words that stand for one named elsewhere, words that continue the sentence before, and the beginnings of
/// indirect questions ("What it is called").
const OPENERS: &str = "It Its They Them Their His This That These Those Such Whoever Whatever Somebody Nobody \
    And But Or So As Also Else Otherwise Here There What Which How Whether Where When Why Who Whom Whose";

/// Checks the glossary, and every doc comment.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let known = glossary_words(tree.get(GLOSSARY).unwrap_or_default());
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        let mut object = |line, rule, message: String| {
            findings.push(Finding { severity: Severity::Error, path: path.to_owned(), line, rule, message });
        };
        if NOUNS_OF.iter().any(|place| path.starts_with(place)) {
            for (line, noun) in public_nouns(text).into_iter().filter(|(_, noun)| !known.contains(noun.as_str())) {
                object(line, "glossary", format!("`{noun}` is public and not in {GLOSSARY}: add it to an entry, in backticks"));
            }
        }
        for (line, words) in doc_comments(text) {
            if words.len() == 1 {
                object(line, "doc-words", format!("`{}` is a doc comment of one word: name the subject", words[0]));
            } else if PLAIN.iter().any(|place| path.starts_with(place)) && is_opener(words[0]) {
                object(line, "doc-words", format!("the first sentence opens with `{}`: name the subject", words[0]));
            }
        }
    }
    findings
}

/// True if `word`, which may end with a mark, is one of [`OPENERS`].
fn is_opener(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':']);
    OPENERS.split_whitespace().any(|opener| opener == word)
}

/// The identifiers in the code spans of the glossary.
fn glossary_words(text: &str) -> BTreeSet<&str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.flat_map(|span| span.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect()
}

/// The types and traits that a file declares `pub`, with their lines.
fn public_nouns(text: &str) -> Vec<(usize, String)> {
    let code = without_tests(tokens(text)).0;
    let is_noun = |word: Option<&str>| matches!(word, Some("struct" | "enum" | "trait" | "union" | "type"));
    code.windows(3)
        .filter(|window| window[0].word() == Some("pub") && is_noun(window[1].word()))
        .filter_map(|window| Some((window[2].line, window[2].word()?.to_owned())))
        .collect()
}

/// The doc comments of a file that say anything: the line each begins on, and its words.
fn doc_comments(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut found: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut before = None;
    for (number, line) in text.lines().enumerate() {
        let mark = doc_mark(line);
        if let Some((mark, said)) = mark {
            if before != Some(mark) {
                found.push((number + 1, Vec::new()));
            }
            found.last_mut().expect("just pushed").1.extend(said.split_whitespace());
        }
        before = mark.map(|(mark, _)| mark);
    }
    found.retain(|(_, words)| !words.is_empty());
    found
}

/// The mark of a line of a doc comment, and what the line says.
fn doc_mark(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (mark, said) = line.split_at_checked(3)?;
    (matches!(mark, "///" | "//!") && !said.starts_with('/')).then_some((mark, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::planted(files)).into_iter().map(|finding| format!("{}:{} {}", finding.path, finding.line, finding.rule)).collect()
    }

    #[test]
    fn a_public_noun_without_an_entry_is_found_in_each_place() {
        let code = "pub struct Known<'a>(&'a u32);\npub enum Strange {}\npub(crate) struct Own;\nfn f() {}\n#[cfg(test)] mod tests { pub struct Tried; }";
        for place in NOUNS_OF {
            let path = if place.ends_with('/') { format!("{place}deep/x.rs") } else { (*place).to_owned() };
            assert_eq!(found(&[("GLOSSARY.md", "**Known** (`seam::Known`). Known.\n"), (&path, code)]), [format!("{path}:2 glossary")]);
        }
        assert_eq!(found(&[("crates/ftl/src/gc/mod.rs", code)]), [""; 0]);
    }

    #[test]
    fn every_kind_of_noun_counts_and_a_word_outside_backticks_does_not() {
        let path = "crates/ftl/src/victim/mod.rs";
        for kind in ["struct", "enum", "trait", "union", "type"] {
            let code = format!("macro_rules! m {{ () => {{ pub {kind} Noun {{}} }} }}");
            assert_eq!(
                found(&[("GLOSSARY.md", "**Noun**. A `Nouns`, a Noun.\n"), (path, &code)]),
                [format!("{path}:1 glossary")],
                "{kind}"
            );
            assert_eq!(found(&[("GLOSSARY.md", "A `Noun`.\n"), (path, &code)]), [""; 0], "{kind}");
        }
    }

    #[test]
    fn a_doc_comment_of_one_word_is_found() {
        let path = "crates/x/src/lib.rs";
        assert_eq!(
            found(&[(path, "//! Head.\n\n//! Two words.\n/// Which.\nfn f() {\n    // Why.\n    //// Why.\n}\n")]),
            [format!("{path}:1 doc-words"), format!("{path}:4 doc-words")]
        );
        assert_eq!(found(&[(path, "//! The head.\n/// The\n/// source.\n///\nfn f() {}\n///\nfn g() {}\n")]), [""; 0]);
    }

    #[test]
    fn an_opener_without_a_subject_is_found_in_the_crates_that_have_none() {
        for place in PLAIN {
            let path = format!("{place}x.rs");
            for opener in OPENERS.split_whitespace() {
                assert_eq!(
                    found(&[(&path, &format!("/// {opener}, it says,\n/// is ready.\n"))]),
                    [format!("{path}:1 doc-words")],
                    "{opener}"
                );
            }
            for first in ["What it is called.", "How long it has worked.", "Whether it starts."] {
                assert_eq!(found(&[(&path, &format!("fn f() {{}}\n/// {first}\n"))]), [format!("{path}:2 doc-words")], "{first}");
            }
            let good = "/// Items, and what they are.\n/// It is so.\nfn f() {}\n/// Whatness is no opener.\nfn g() {}\n// It is no doc comment.\n";
            assert_eq!(found(&[(&path, good)]), [""; 0]);
        }
        assert_eq!(found(&[("crates/pages/src/x.rs", "/// It is so.\nfn f() {}\n/// What it is.\n")]), [""; 0]);
    }
}
