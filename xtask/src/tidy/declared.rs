//! A technique is one folder and one line: no other source file of a crate names one.
//!
//! Only what ships is read: tests may be of one technique. What may name one besides is listed here, with the reason.

use std::collections::BTreeSet;

use super::tokens::{Kind, paths, tokens, without_tests};
use super::tree::{Finding, Severity, Tree};

/// Where the techniques live.
pub(super) const TECHNIQUES: &str = "crates/ftl/src/techniques/";

/// Files that name techniques all the same, and why.
const MAY: &[(&str, &str)] = &[
    ("crates/plan/src/identity.rs", "the list of techniques under the old rule of plan hashes, which is frozen"),
    ("crates/lab/src/bench/aged.rs", "a study of one technique, which it switches on"),
    ("crates/lab/src/bench/alike.rs", "a study of one technique, which it switches on and off"),
    ("crates/lab/src/bench/followers.rs", "a study of one technique, which it switches on and off"),
    ("crates/proving/src/interactions.rs", "the small drives of the interaction tables: an experiment says what it tries"),
    ("crates/proving/src/hashes.rs", "a row of the table of hashes is of one technique beside a bystander"),
    ("crates/proving/src/offsets.rs", "an oracle of one technique"),
    ("crates/proving/src/cut/world/counts.rs", "an oracle of one technique"),
    ("crates/proving/src/swarm.rs", "drives whose rewrites against read disturb wait for hints are drawn for the oracle of both"),
    ("crates/proving/src/cut/world/copies.rs", "an oracle of one technique, beside that of provenance"),
    (
        "crates/proving/src/cut/mod.rs",
        "by this list the oracle of stale data looks, whatever the techniques declare; and what its oracle of rot cannot judge",
    ),
];

/// Checks every source file of every crate but the techniques' own.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let folders: BTreeSet<&str> = tree
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(TECHNIQUES)?.split_once('/').map(|(name, _)| name))
        .filter(|name| *name != "tests")
        .collect();
    let names: Vec<Names> = folders.into_iter().map(Names::of).collect();
    let is_source = |path: &str| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !path.starts_with(TECHNIQUES)
            && !path.ends_with("/tests.rs")
            && !path.contains("/tests/")
    };
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs").filter(|(path, _)| is_source(path)) {
        if MAY.iter().any(|(may, _)| *may == path) {
            continue;
        }
        let (code, _) = without_tests(tokens(text));
        let lines: Vec<&str> = text.lines().collect();
        let texts = code.iter().filter(|token| token.kind == Kind::Text).map(|token| token.line);
        let quoted = texts.filter_map(|line| Some((line, names.iter().find(|name| name.is_quoted(lines[line - 1]))?)));
        let named = paths(&code).into_iter().filter_map(|(line, path)| Some((line, names.iter().find(|name| name.is_named(&path))?)));
        let found: BTreeSet<(usize, &str)> = quoted.chain(named).map(|(line, name)| (line, name.word.as_str())).collect();
        findings.extend(found.into_iter().map(|(line, word)| {
            let message = format!(
                "names the technique `{word}`: a technique is one folder and one line, so read what techniques declare, or list this file in {} with the reason",
                file!()
            );
            Finding { severity: Severity::Error, path: path.to_owned(), line, rule: "declared-once", message }
        }));
    }
    findings
}

/// What a technique is called.
struct Names {
    /// Its folder.
    folder: String,
    /// Its word in plans.
    word: String,
    /// Its variant of `Choice`.
    variant: String,
}

impl Names {
    fn of(folder: &str) -> Names {
        let variant = folder.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
        Names { folder: folder.to_owned(), word: folder.replace('_', "-"), variant }
    }

    /// Whether its word stands in this line.
    fn is_quoted(&self, line: &str) -> bool {
        let is_of_word = |c: char| c.is_alphanumeric() || c == '-';
        line.match_indices(&self.word).any(|(at, word)| {
            let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
            !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
        })
    }

    /// Whether a path names its variant or its module.
    fn is_named(&self, path: &[String]) -> bool {
        path.windows(2).any(|pair| {
            matches!((pair[0].as_str(), &pair[1]), ("Choice", name) if *name == self.variant) || pair == ["techniques", &self.folder]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: (&str, &str) = ("crates/ftl/src/techniques/idle_lock/mod.rs", "pub const DECLARATION: Declaration = x;");

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::planted(&[MODULE, (path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn nobody_else_names_a_technique() {
        let plan = "crates/plan/src/check/drive.rs";
        assert_eq!(found(plan, "\nlet a = \"techniques.idle-lock.on\";"), [2]);
        assert_eq!(found(plan, "choices.push(Choice::IdleLock);"), [1]);
        assert_eq!(found(plan, "use wordline_ftl::techniques::idle_lock::Params;"), [1]);
        assert_eq!(found(plan, "use wordline_ftl::techniques::{Choice, idle_lock};"), [1]);
        assert_eq!(found("crates/pages/src/text/mod.rs", "match choice { Choice::IdleLock => 1 }"), [1]);
    }

    #[test]
    fn comments_tests_other_words_and_listed_files_may() {
        let plan = "crates/plan/src/check/drive.rs";
        assert_eq!(found(plan, "// as idle-lock does\nlet a = \"idle-locks\"; let idle_lock = Choice::Other;"), [0; 0]);
        assert_eq!(found(plan, "#[cfg(test)]\nmod tests {\n    const A: &str = \"idle-lock\";\n}"), [0; 0]);
        assert_eq!(found("crates/plan/tests/plan.rs", "Choice::IdleLock"), [0; 0]);
        assert_eq!(found(MAY[0].0, "\"idle-lock\""), [0; 0]);
        assert_eq!(found("crates/ftl/src/techniques/mod.rs", "Choice::IdleLock"), [0; 0]);
    }
}
