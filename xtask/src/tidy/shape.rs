//! The shape of a file: its length, its lines, its head, and promises it does not keep.

use super::tokens::{Kind, Token, tokens};
use super::tree::{Finding, Severity, Tree};

/// A file is one idea; past this many lines it is usually two.
const LINES_SOFT: usize = 400;
/// Past this many nobody holds it in the head.
const LINES_HARD: usize = 700;
/// `rustfmt` breaks code well before; this is for the comments and strings that it leaves alone.
const COLUMNS: usize = 160;

/// Checks every Rust file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("rs").flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut object =
        |severity, line, rule, message: String| findings.push(Finding { severity, path: path.to_owned(), line, rule, message });

    let lines = text.lines().count();
    if lines > LINES_HARD {
        object(Severity::Error, 0, "file-length", format!("{lines} lines, more than {LINES_HARD}: split it where the ideas part"));
    } else if lines > LINES_SOFT {
        object(Severity::Warning, 0, "file-length", format!("{lines} lines, more than {LINES_SOFT}: is it still one idea?"));
    }
    for (number, line) in text.lines().enumerate() {
        let columns = columns(line);
        if columns > COLUMNS {
            object(Severity::Error, number + 1, "line-length", format!("{columns} columns, more than {COLUMNS}"));
        }
    }
    if !text.starts_with("//!") {
        object(
            Severity::Error,
            1,
            "module-head",
            "no `//!` head: say what the module is, and what it is not, before anything else".to_owned(),
        );
    }

    let code = tokens(text);
    for (index, token) in code.iter().enumerate() {
        let Some(word) = token.word() else { continue };
        let after = code.get(index + 1).map(|next| &next.kind);
        if UNKEPT_MACROS.contains(&word) && after == Some(&Kind::Mark('!')) {
            object(Severity::Error, token.line, "unkept", format!("`{word}!`: finish it, or leave it out and say so in the docs"));
        }
        if word == "ignore" && attribute_starts(&code, index) {
            object(
                Severity::Error,
                token.line,
                "unkept",
                "an ignored test tests nothing: make it fast enough, or move it to the benches".to_owned(),
            );
        }
    }
    for (number, line) in text.lines().enumerate() {
        for mark in UNKEPT_MARKS {
            if words(line).any(|word| word == *mark) {
                object(Severity::Error, number + 1, "unkept", format!("`{mark}`: do it now, or write it down where the plan is"));
            }
        }
    }
    findings
}

/// The columns of a line, its string literals left out: a message is easier to find whole than broken.
fn columns(line: &str) -> usize {
    let comment = line.trim_start().starts_with("//");
    let mut columns = 0;
    let (mut in_string, mut escaped) = (false, false);
    for c in line.chars() {
        columns += usize::from(!in_string);
        in_string ^= c == '"' && !escaped && !comment;
        escaped = c == '\\' && !escaped;
    }
    columns
}

/// Put together so that this file does not object to itself.
const UNKEPT_MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("HA", "CK"), concat!("XX", "X")];

const UNKEPT_MACROS: &[&str] = &["todo", "unimplemented", "dbg"];

/// Whether the word at `index` opens an attribute: `#[ignore]`, `#[ignore = "…"]`.
fn attribute_starts(code: &[Token], index: usize) -> bool {
    index >= 2 && code[index - 1].is_mark('[') && code[index - 2].is_mark('#')
}

/// The words of a line of text.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<(&'static str, Severity)> {
        check(&Tree::planted(&[("crates/x/src/lib.rs", text)])).into_iter().map(|finding| (finding.rule, finding.severity)).collect()
    }

    fn with_head(rest: &str) -> String {
        format!("//! Head.\n{rest}\n")
    }

    #[test]
    fn a_plain_file_passes() {
        assert_eq!(rules(&with_head("fn f(ignore: u32) -> u32 { ignore } // nothing to do here")), []);
    }

    #[test]
    fn long_files_are_noticed_and_then_refused() {
        assert_eq!(rules(&with_head(&"\n".repeat(LINES_SOFT - 2))), []);
        assert_eq!(rules(&with_head(&"\n".repeat(LINES_SOFT))), [("file-length", Severity::Warning)]);
        assert_eq!(rules(&with_head(&"\n".repeat(LINES_HARD))), [("file-length", Severity::Error)]);
    }

    #[test]
    fn long_lines_are_refused_by_columns_not_bytes() {
        assert_eq!(rules(&with_head(&format!("// {}", "µ".repeat(COLUMNS - 3)))), []);
        assert_eq!(rules(&with_head(&format!("// {}", "u".repeat(COLUMNS)))), [("line-length", Severity::Error)]);
        assert_eq!(rules(&with_head(&format!("// \"{}\"", "u".repeat(COLUMNS)))), [("line-length", Severity::Error)]);
        assert_eq!(rules(&with_head(&format!("let text = \"{} \\\" {}\";", "u".repeat(COLUMNS), "u".repeat(COLUMNS)))), []);
        assert_eq!(rules(&with_head(&format!("let {} = \"\";", "u".repeat(COLUMNS)))), [("line-length", Severity::Error)]);
    }

    #[test]
    fn a_module_without_a_head_is_refused() {
        assert_eq!(rules("fn f() {}\n"), [("module-head", Severity::Error)]);
    }

    #[test]
    fn unkept_promises_are_refused() {
        for mark in UNKEPT_MARKS {
            assert_eq!(rules(&with_head(&format!("// {mark}: later"))), [("unkept", Severity::Error)], "{mark}");
        }
        for name in UNKEPT_MACROS {
            assert_eq!(rules(&with_head(&format!("fn f() {{ {name}!() }}"))), [("unkept", Severity::Error)], "{name}");
        }
        for attribute in ["#[ignore]", "#[ignore = \"slow\"]"] {
            assert_eq!(rules(&with_head(&format!("#[test]\n{attribute}\nfn f() {{}}"))), [("unkept", Severity::Error)], "{attribute}");
        }
    }
}
