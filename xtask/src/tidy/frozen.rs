//! Rules for the whole tree that older files still break: each has a frozen list of exceptions, which may only shrink.
//!
//! | rule | finding |
//! |---|---|
//! | `foreign-impl` | a source file gives methods to a type that another file defines |
//! | `circle` | source files of a crate name each other in a circle |
//! | `long-function` | a function is longer than 70 lines |
//! | `opener` | a sentence of a comment or document begins with a word that is no subject |
//! | `telling` | a sentence lets a value speak or know |
//!
//! The list is `xtask/src/tidy/frozen.txt`: a rule and a place per line, or a rule and a count. A place that no longer breaks its rule has to leave the list,
//! and a count has to be the present one: `cargo xtask tidy --freeze` writes it anew, and refuses to let it grow.

use std::collections::{BTreeMap, BTreeSet};

use super::rooms::foreign_impls;
use super::tokens::{Token, paths, tokens, without_tests};
use super::tree::{Finding, Severity, Tree};

/// The frozen list.
pub(super) const LIST: &str = "xtask/src/tidy/frozen.txt";

/// Lines of the longest function.
const FUNCTION_LINES: usize = 70;

/// Beginnings of sentences without a subject: words in their order, in lower case. `how` counts before any other word.
const OPENERS: &[&[&str]] = &[&["what"], &["who"], &["whoever"], &["of", "a"], &["of", "the"], &["so", "many"], &["as", "many"], &["how"]];

/// Words that let a value speak or know.
const TELLING: &[&[&str]] = &[&["is", "told"], &["tells"], &["says"], &["knows"], &["nobody"], &["whoever"]];

/// Places and counts by rule, as found in a tree or read from the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frozen {
    places: BTreeSet<(String, String)>,
    counts: BTreeMap<String, usize>,
}

impl Frozen {
    /// Present state of `tree`.
    pub(crate) fn of(tree: &Tree) -> Frozen {
        let mut found = Frozen::default();
        for (path, text) in tree.with_extension("rs") {
            let code = without_tests(tokens(text)).0;
            if is_source(path) && !foreign_impls(&code).is_empty() {
                found.add("foreign-impl", path.to_owned());
            }
            for name in long_functions(&tokens(text)) {
                found.add("long-function", format!("{path} {name}"));
            }
        }
        for path in circles(tree) {
            found.add("circle", path);
        }
        let (mut openers, mut telling) = (0, 0);
        for (path, text) in tree.iter() {
            for sentence in sentences(path, text) {
                openers += usize::from(OPENERS.iter().any(|opener| sentence.starts_with_words(opener)));
                telling += TELLING.iter().map(|words| sentence.count(words)).sum::<usize>();
            }
        }
        found.counts = BTreeMap::from([("opener".to_owned(), openers), ("telling".to_owned(), telling)]);
        found
    }

    /// State that the list at [`LIST`] allows.
    pub(crate) fn listed(text: &str) -> Frozen {
        let mut listed = Frozen::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((rule, place)) = line.split_once(' ') else { continue };
            match place.parse() {
                Ok(count) => _ = listed.counts.insert(rule.to_owned(), count),
                Err(_) => listed.add(rule, place.to_owned()),
            }
        }
        listed
    }

    fn add(&mut self, rule: &str, place: String) {
        self.places.insert((rule.to_owned(), place));
    }

    /// The list as text.
    pub(crate) fn to_text(&self) -> String {
        let head =
            "# Places that break a rule of xtask/src/tidy/frozen.rs since before it was made, and counts. The list may only shrink.\n";
        let counts = self.counts.iter().map(|(rule, count)| format!("{rule} {count}\n"));
        let places = self.places.iter().map(|(rule, place)| format!("{rule} {place}\n"));
        std::iter::once(head.to_owned()).chain(counts).chain(places).collect()
    }

    /// Findings of this state under the list `allowed`: places that are new, and places of the list that are no more.
    fn against(&self, allowed: &Frozen) -> Vec<Finding> {
        let find = |rule: &str, path: &str, message: String| Finding {
            severity: Severity::Error,
            path: path.split(' ').next().unwrap_or(path).to_owned(),
            line: 0,
            rule: rule_name(rule),
            message,
        };
        let grown = self.places.difference(&allowed.places).map(|(rule, place)| find(rule, place, format!("{place}: {}", why(rule))));
        let gone = allowed.places.difference(&self.places);
        let gone = gone.map(|(rule, place)| find(rule, LIST, format!("`{rule} {place}` holds no more: `cargo xtask tidy --freeze`")));
        let counted = self.counts.iter().filter_map(|(rule, &count)| {
            let most = allowed.counts.get(rule).copied().unwrap_or(0);
            let message = format!("{count} sentences, {most} in the list: {}", why(rule));
            (count > most).then(|| find(rule, LIST, message))
        });
        grown.chain(gone).chain(counted).collect()
    }

    /// True if nothing of it is missing in `older`, so that it may take its place.
    pub(crate) fn is_within(&self, older: &Frozen) -> bool {
        self.places.is_subset(&older.places)
            && self.counts.iter().all(|(rule, count)| older.counts.get(rule).is_some_and(|most| count <= most))
    }
}

/// Checks the tree against its list.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    Frozen::of(tree).against(&Frozen::listed(tree.get(LIST).unwrap_or_default()))
}

fn rule_name(rule: &str) -> &'static str {
    ["foreign-impl", "circle", "long-function", "opener", "telling"].into_iter().find(|name| *name == rule).unwrap_or("frozen")
}

fn why(rule: &str) -> &'static str {
    match rule {
        "foreign-impl" => "methods stand beside the fields they own",
        "circle" => "the file names one that names it: return a value, or move the fact down",
        "long-function" => "more than 70 lines: split it where the ideas part",
        "opener" => "a noun is the subject and comes first",
        "telling" => "a value is, holds, returns or reports",
        _ => "no such rule",
    }
}

fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

/// Names of the functions of `code` that are longer than [`FUNCTION_LINES`].
fn long_functions(code: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let Some(name) = code.get(at + 1).and_then(Token::word).filter(|_| token.word() == Some("fn")) else { continue };
        let (mut round, mut depth) = (0usize, 0usize);
        for token in &code[at + 2..] {
            if token.is_mark('(') || token.is_mark('[') {
                round += 1;
            } else if token.is_mark(')') || token.is_mark(']') {
                round = round.saturating_sub(1);
            } else if token.is_mark('{') {
                depth += 1;
            } else if token.is_mark('}') {
                depth = depth.saturating_sub(1);
            }
            let ends = depth == 0 && round == 0 && (token.is_mark('}') || token.is_mark(';'));
            if ends {
                if token.line + 1 - code[at].line > FUNCTION_LINES {
                    found.push(name.to_owned());
                }
                break;
            }
        }
    }
    found
}

/// Source files that stand in circles, of all crates.
fn circles(tree: &Tree) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<Vec<&str>, (&str, &str)>> = BTreeMap::new();
    for (path, text) in tree.with_extension("rs").filter(|(path, _)| is_source(path)) {
        let Some((package, file)) = path["crates/".len()..].split_once("/src/") else { continue };
        let stem = file.trim_end_matches(".rs");
        let module = stem.trim_end_matches("/mod").split('/').filter(|part| !matches!(*part, "lib" | "main")).collect();
        crates.entry(package).or_default().insert(module, (path, text));
    }
    crates.values().flat_map(of_crate).collect()
}

/// Files of one crate, by module, that stand in circles.
fn of_crate(files: &BTreeMap<Vec<&str>, (&str, &str)>) -> Vec<String> {
    let modules: Vec<&Vec<&str>> = files.keys().collect();
    let named: Vec<BTreeSet<usize>> = modules
        .iter()
        .map(|module| {
            let code = without_tests(tokens(files[*module].1)).0;
            let targets = paths(&code).into_iter().filter_map(|(_, path)| target(module, &path, &modules));
            targets.filter(|&target| modules[target] != *module).collect()
        })
        .collect();
    let reached: Vec<BTreeSet<usize>> = (0..modules.len()).map(|from| reach(from, &named)).collect();
    (0..modules.len()).filter(|&at| reached[at].contains(&at)).map(|at| files[modules[at]].0.to_owned()).collect()
}

/// Files that `from` names, and those that these name.
fn reach(from: usize, named: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = named[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(named[next].iter().copied());
        }
    }
    found
}

/// File that `path` leads to from `module`: the deepest module on its way, without the crate's root, which holds nothing but names.
fn target(module: &[&str], path: &[String], modules: &[&Vec<&str>]) -> Option<usize> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let base: Vec<&str> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "super" => module[..module.len().checked_sub(ups)?].to_vec(),
        "self" => module.to_vec(),
        _ => return None,
    };
    let rest = path.iter().skip(ups.max(1)).map(String::as_str);
    let full: Vec<&str> = base.into_iter().chain(rest).collect();
    (1..=full.len()).rev().find_map(|length| modules.iter().position(|known| known[..] == full[..length]))
}

/// A sentence in lower case, word by word.
struct Sentence(Vec<String>);

impl Sentence {
    fn starts_with_words(&self, words: &[&str]) -> bool {
        self.0.len() > words.len() && self.0.iter().zip(words).all(|(own, word)| own == word)
    }

    fn count(&self, words: &[&str]) -> usize {
        self.0.windows(words.len()).filter(|window| window.iter().zip(words).all(|(own, word)| own == word)).count()
    }
}

/// Sentences of the comments of a source file, or of a document outside its fenced blocks.
fn sentences(path: &str, text: &str) -> Vec<Sentence> {
    let is_source = path.ends_with(".rs") && !path.starts_with("xtask/src/tidy/");
    if !is_source && !path.ends_with(".md") {
        return Vec::new();
    }
    let mut blocks = vec![String::new()];
    let mut is_fenced = false;
    for line in text.lines() {
        let said =
            if is_source { line.trim_start().strip_prefix("//").map(|said| said.trim_start_matches(['/', '!'])) } else { Some(line) };
        let Some(said) = said.map(str::trim) else {
            blocks.push(String::new());
            continue;
        };
        let is_fence = said.starts_with("```");
        is_fenced ^= is_fence;
        // A table, a list entry, a heading and an empty line begin a text of their own.
        if is_fence || is_fenced || said.is_empty() || said.starts_with(['|', '#', '-', '*', '>']) {
            blocks.push(String::new());
        }
        if !is_fence && !is_fenced {
            let block = blocks.last_mut().expect("there is one");
            block.push(' ');
            block.push_str(said.trim_start_matches(['|', '#', '-', '*', '>', ' ']));
        }
    }
    blocks.iter().flat_map(|block| block.split(". ")).map(words_of).collect()
}

fn words_of(sentence: &str) -> Sentence {
    // Code is quoted, not said.
    let said = sentence.split('`').step_by(2).collect::<Vec<_>>().join(" code ");
    let words = said.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    Sentence(words.map(str::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> String {
        Frozen::of(&Tree::planted(files)).to_text().lines().skip(1).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_rule_finds_what_is_planted() {
        let long = format!("//! Head.\nfn f(x: [u8; 3]) -> u32 {{\n{}}}\nfn g() {{}}\n", "    x();\n".repeat(69));
        assert_eq!(of(&[("crates/a/src/x.rs", &long)]), "opener 0; telling 0; long-function crates/a/src/x.rs f");
        assert_eq!(of(&[("crates/a/src/x.rs", &long.replacen("    x();\n", "", 1))]), "opener 0; telling 0");
        let planted = "//! Head.\nuse super::y::Y;\nimpl Y { fn f(&self) {} }\n";
        let clean = "//! Head.\npub(crate) struct Y;\n";
        assert_eq!(
            of(&[("crates/a/src/x.rs", planted), ("crates/a/src/y.rs", clean)]),
            "opener 0; telling 0; foreign-impl crates/a/src/x.rs"
        );
        let circle =
            [("crates/a/src/x.rs", "//! Head.\nuse crate::y::Y;\n"), ("crates/a/src/y.rs", "//! Head.\nfn f() { super::x::f(); }\n")];
        assert_eq!(of(&circle), "opener 0; telling 0; circle crates/a/src/x.rs; circle crates/a/src/y.rs");
        assert_eq!(of(&circle[..1]), "opener 0; telling 0");
    }

    #[test]
    fn sentences_are_found_in_comments_and_documents_and_code_is_left_alone() {
        let source = "//! Head. What it is. Of the two,\n//! one tells. `Nobody says`.\nfn what() { \"what says nobody\"; }\n// How it goes.\n// How.\n";
        assert_eq!(of(&[("crates/a/src/x.rs", source)]), "opener 3; telling 1");
        let document = "# What it is\n\nWho knows.\n\n```text\nWhat says nobody\n```\n| so many rows | it is told |\n";
        assert_eq!(of(&[("docs/a.md", document)]), "opener 3; telling 2");
    }

    #[test]
    fn the_list_may_shrink_and_not_grow() {
        let list = "# Head\nopener 2\ntelling 0\nlong-function crates/a/src/x.rs f\n";
        let (old, new) = (Frozen::listed(list), Frozen::listed("opener 1\ntelling 0\n"));
        assert!(new.is_within(&old) && !old.is_within(&new));
        assert_eq!(new.against(&old).len(), 1, "a place that is no more stays in the list");
        let messages: Vec<String> = old.against(&new).iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert_eq!(Frozen::listed(&old.to_text()), old);
    }
}
