//! What code of the core may not say: clocks, threads, files, globals, hash order, the console, and numbers that belong to a data sheet.
//!
//! Only what ships is read; tests may do as they like. `clippy.toml` bans what types can tell for every crate; this rule knows which crates are the core.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::declared::TECHNIQUES;
use super::tokens::{Kind, Token, paths, tokens, without_tests};
use super::tree::{Finding, Severity, Tree};

/// The crates that run in virtual time.
pub(super) const CORE: &[&str] = &["units", "engine", "flash", "cells", "chip", "ftl", "drive"];

/// A path that may not be named, and what to do instead.
struct Ban {
    /// Consecutive segments of a path; `core` and `alloc` count as `std`.
    path: &'static [&'static str],
    instead: &'static str,
}

const CLOCK: &str = "the core has no clock: `now: Nanos` is an argument, so that a run is the same on every machine";
const THREAD: &str = "the core has no threads: the rim runs whole drives in parallel";
const WORLD: &str = "the core touches nothing outside: read and write in the rim, and pass values in and out";
const GLOBAL: &str = "the core has no globals: two drives live in one process; put the value in the struct that owns it";
const HASH: &str = "the order of a hash map may reach a result: use `IdMap`, a sorted `Vec` or a `BTreeMap`";
const INTERIOR: &str = "a decision takes `&self` and must not change anything: return a value and learn it with `&mut self`";
const CONSOLE: &str = "the core does not print: speak through events, reports and return values";

const BANS: &[Ban] = &[
    Ban { path: &["std", "time"], instead: CLOCK },
    Ban { path: &["SystemTime"], instead: CLOCK },
    Ban { path: &["std", "thread"], instead: THREAD },
    Ban { path: &["std", "fs"], instead: WORLD },
    Ban { path: &["std", "net"], instead: WORLD },
    Ban { path: &["std", "env"], instead: WORLD },
    Ban { path: &["std", "process"], instead: WORLD },
    Ban { path: &["thread_local"], instead: GLOBAL },
    Ban { path: &["OnceLock"], instead: GLOBAL },
    Ban { path: &["LazyLock"], instead: GLOBAL },
    Ban { path: &["lazy_static"], instead: GLOBAL },
    Ban { path: &["Mutex"], instead: GLOBAL },
    Ban { path: &["RwLock"], instead: GLOBAL },
    Ban { path: &["std", "sync", "atomic"], instead: GLOBAL },
    Ban { path: &["HashMap"], instead: HASH },
    Ban { path: &["HashSet"], instead: HASH },
    // `Cell` alone is a good name for a flash cell; the standard library's has to come through its module.
    Ban { path: &["std", "cell"], instead: INTERIOR },
    Ban { path: &["RefCell"], instead: INTERIOR },
];

const NUMBER: &str = "a physical number stands in `chips/`, `drives/` or `studies/` beside its source, and reaches the core as an argument";

const PRINTING: &[&str] = &["println", "print", "eprintln", "eprint"];

/// Constructors of a span from a literal. A literal of zero is no physical number.
const SPANS: &[&str] = &["from_micros", "from_millis", "from_secs"];

/// Checks every source file of the core.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources: Vec<Source> = tree
        .with_extension("rs")
        .filter_map(|(path, text)| {
            let name = CORE.iter().find(|name| path.starts_with(&format!("crates/{name}/src/")))?;
            let (code, test_modules) = without_tests(tokens(text));
            Some(Source { path, name, code, test_modules })
        })
        .collect();
    let only_tests: BTreeSet<String> = sources.iter().flat_map(Source::test_files).collect();
    sources.iter().filter(|source| !only_tests.iter().any(|test| source.is_below(test))).flat_map(check_source).collect()
}

struct Source<'a> {
    path: &'a str,
    name: &'static str,
    code: Vec<Token>,
    test_modules: Vec<String>,
}

impl Source<'_> {
    /// Where the modules that this file declares for tests live, without their extension.
    fn test_files(&self) -> impl Iterator<Item = String> {
        let stem = self.path.trim_end_matches(".rs");
        let (folder, file) = stem.rsplit_once('/').unwrap_or(("", stem));
        let base = if matches!(file, "lib" | "mod" | "main") { folder.to_owned() } else { stem.to_owned() };
        self.test_modules.iter().map(move |module| format!("{base}/{module}"))
    }

    fn is_below(&self, module: &str) -> bool {
        self.path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }
}

fn check_source(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut object = |line, rule, message: String| {
        findings.push(Finding { severity: Severity::Error, path: source.path.to_owned(), line, rule, message });
    };
    for (line, path) in paths(&source.code) {
        let path: Vec<&str> =
            path.iter().map(|segment| if matches!(segment.as_str(), "core" | "alloc") { "std" } else { segment }).collect();
        // One complaint per path: `std::time::SystemTime` is wrong once.
        if let Some(ban) = BANS.iter().find(|ban| path.windows(ban.path.len()).any(|window| window == ban.path)) {
            object(line, "core-words", format!("`{}`: {}", ban.path.join("::"), ban.instead));
        }
    }
    for window in source.code.windows(2) {
        let Some(word) = window[0].word() else { continue };
        if word == "static" && window[1].word() == Some("mut") {
            object(window[0].line, "core-words", format!("`static mut`: {GLOBAL}"));
        }
        if PRINTING.contains(&word) && window[1].is_mark('!') {
            object(window[0].line, "core-words", format!("`{word}!`: {CONSOLE}"));
        }
    }
    if source.name != "units" {
        let tried = tried(source);
        for window in source.code.windows(3) {
            let (Some(word), Kind::Number(number)) = (window[0].word(), &window[2].kind) else { continue };
            let is_tried = tried.iter().any(|lines| lines.contains(&window[0].line));
            if SPANS.contains(&word) && window[1].is_mark('(') && number != "0" && !is_tried {
                object(window[0].line, "sourced-numbers", format!("`{word}({number})`: {NUMBER}"));
            }
        }
    }
    findings
}

/// The lines of `tried: &[…]` in declarations of techniques: what is worth trying on small drives is a figure of no drive.
fn tried(source: &Source<'_>) -> Vec<RangeInclusive<usize>> {
    let mut found = Vec::new();
    if source.path.starts_with(TECHNIQUES) {
        for (at, window) in source.code.windows(4).enumerate() {
            let begins = window[0].word() == Some("tried") && window[1].is_mark(':') && window[2].is_mark('&') && window[3].is_mark('[');
            let end = source.code[at..].iter().find(|token| token.is_mark(']')).filter(|_| begins);
            found.extend(end.map(|end| window[0].line..=end.line));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Tree::planted(&[(path, text)])).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn each_ban_catches_what_it_bans() {
        for ban in BANS {
            let path = ban.path.join("::");
            let text = format!("//! Head.\nfn f() {{ {path}::thing(); }}\n");
            assert_eq!(found("crates/drive/src/lib.rs", &text), [format!("`{path}`: {}", ban.instead)]);
        }
        for word in PRINTING {
            assert_eq!(found("crates/ftl/src/lib.rs", &format!("fn f() {{ {word}!(\"x\"); }}")).len(), 1, "{word}");
        }
        assert_eq!(found("crates/ftl/src/lib.rs", "static mut COUNT: u32 = 0;").len(), 1);
        assert_eq!(
            found("crates/ftl/src/lib.rs", "use std::{collections::{BTreeMap, HashMap}, time::Instant};").len(),
            2,
            "inside a use tree"
        );
        assert_eq!(found("crates/ftl/src/lib.rs", "use core::cell::Cell;").len(), 1, "under its other name");
    }

    #[test]
    fn other_words_comments_strings_and_tests_are_left_alone() {
        assert_eq!(
            found("crates/chip/src/lib.rs", "// std::fs\nstruct Cell; fn f() -> &'static str { \"std::thread println!\" }"),
            [""; 0]
        );
        assert_eq!(
            found("crates/chip/src/lib.rs", "#[cfg(test)]\nmod tests { use std::collections::HashMap; fn f() { println!(); } }"),
            [""; 0]
        );
        assert_eq!(found("crates/cli/src/main.rs", "use std::time::Instant;"), [""; 0], "the rim has a clock");
    }

    #[test]
    fn a_file_declared_for_tests_is_a_test() {
        let tree = Tree::planted(&[
            ("crates/ftl/src/map.rs", "#[cfg(test)]\nmod twin;\nmod real;"),
            ("crates/ftl/src/map/twin.rs", "use std::collections::HashMap;"),
            ("crates/ftl/src/map/real.rs", "use std::collections::HashMap;"),
        ]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, "crates/ftl/src/map/real.rs");
    }

    #[test]
    fn physical_literals_are_for_presets() {
        assert_eq!(found("crates/drive/src/lib.rs", "const T: Nanos = Nanos::from_micros(65);").len(), 1);
        assert_eq!(found("crates/drive/src/lib.rs", "fn f(n: u64) { Nanos::from_micros(n); Nanos::from_secs(0); }"), [""; 0]);
        assert_eq!(found("crates/units/src/lib.rs", "const T: Nanos = Nanos::from_micros(65);"), [""; 0]);
        let declared = "after {\ndefault: Nanos::from_micros(5),\ntried: &[Nanos::from_micros(65), Nanos::from_millis(2)],\n}";
        assert_eq!(found("crates/ftl/src/techniques/idle/mod.rs", declared).len(), 1, "a default is a figure, what is tried is none");
        assert_eq!(found("crates/drive/src/lib.rs", declared).len(), 3);
    }
}
