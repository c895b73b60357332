//! A page of Markdown as what a reader does with it: files to write, lines to type, and what those lines print.
//!
//! | block | meaning |
//! |---|---|
//! | `console` | a line that starts with `$ ` is typed (a `\` at its end goes on in the next line), any other is printed by the line above it |
//! | `sh` | every line is typed but comments and empty ones |
//! | `text` | printed by the lines of the last block of the two above; before any of them it is a text like others |
//! | `file="NAME"` in any fence | a file of that name in the reader's folder. Paths with a folder are of the workspace: `xtask/tests/tutorial.rs` writes them |
//!
//! Further words of a fence say how the lines of its block are run: `skip="REASON"` not at all, `nightly="REASON"` not in CI, `needs="PROGRAM"` only where that
//! program is installed, and `in="clone"` in a folder that has the presets and studies of the repository.

/// A line with its number in the page, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
}

/// Way in which the lines of a block are run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) skip: Option<String>,
    pub(super) nightly: Option<String>,
    pub(super) needs: Option<String>,
    pub(super) in_clone: bool,
}

/// A line to type, and what the page prints below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) line: Line,
    /// True if the block is `console`, in which a page may show any program.
    pub(super) is_console: bool,
    pub(super) manner: Manner,
    pub(super) printed: Vec<Line>,
}

/// One thing that a reader does, or sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Writes a file.
    File { name: String, text: String },
    /// Types the lines of one block.
    Block(Vec<Typed>),
    /// Sees what the last block printed.
    Text(Vec<Line>),
}

/// The parts of a page in their order. An error names the line.
pub(super) fn parts(page: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut lines = page.lines().enumerate().map(|(index, text)| Line { number: index + 1, text: text.to_owned() });
    while let Some(line) = lines.next() {
        let Some(fence) = line.text.strip_prefix("```") else { continue };
        let body: Vec<Line> = lines.by_ref().take_while(|line| !line.text.starts_with("```")).collect();
        let kind = fence.split_whitespace().next().unwrap_or_default();
        let manner = Manner {
            skip: attribute(fence, "skip"),
            nightly: attribute(fence, "nightly"),
            needs: attribute(fence, "needs"),
            in_clone: attribute(fence, "in").is_some_and(|place| place == "clone"),
        };
        let follows_commands = parts.iter().any(|part| matches!(part, Part::Block(_)));
        match (attribute(fence, "file"), kind) {
            (Some(name), _) if !name.contains('/') => {
                parts.push(Part::File { name, text: body.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect() });
            }
            (Some(_), _) => {}
            (None, "console") => parts.push(Part::Block(console(&body, &manner)?)),
            (None, "sh") => parts.push(Part::Block(script(&body, &manner))),
            (None, "text") if follows_commands => parts.push(Part::Text(body)),
            _ => {}
        }
    }
    Ok(parts)
}

fn console(body: &[Line], manner: &Manner) -> Result<Vec<Typed>, String> {
    let mut typed: Vec<Typed> = Vec::new();
    let mut goes_on = false;
    for line in body {
        let shown = line.text.strip_prefix("$ ");
        let Some(last) = typed.last_mut().filter(|_| shown.is_none()) else {
            let shown = shown.ok_or_else(|| format!("line {}: a `console` block begins with `$ ` and a line to type", line.number))?;
            goes_on = shown.ends_with('\\');
            typed.push(one(line.number, shown, true, manner));
            continue;
        };
        if goes_on {
            goes_on = line.text.ends_with('\\');
            last.line.text = format!("{} {}", last.line.text, unescaped(&line.text));
        } else {
            last.printed.push(line.clone());
        }
    }
    Ok(typed)
}

fn script(body: &[Line], manner: &Manner) -> Vec<Typed> {
    let is_typed = |text: &str| !text.trim().is_empty() && !text.trim_start().starts_with('#');
    body.iter().filter(|line| is_typed(&line.text)).map(|line| one(line.number, &line.text, false, manner)).collect()
}

fn one(number: usize, text: &str, is_console: bool, manner: &Manner) -> Typed {
    Typed { line: Line { number, text: unescaped(text).to_owned() }, is_console, manner: manner.clone(), printed: Vec::new() }
}

/// Without the sign that the line goes on.
fn unescaped(text: &str) -> &str {
    text.strip_suffix('\\').unwrap_or(text).trim()
}

/// The value of `name="value"` in a fence.
fn attribute(fence: &str, name: &str) -> Option<String> {
    let (_, rest) = fence.split_once(&format!(" {name}=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(part: &Part) -> Vec<&str> {
        match part {
            Part::Block(typed) => typed.iter().map(|typed| typed.line.text.as_str()).collect(),
            Part::Text(lines) => lines.iter().map(|line| line.text.as_str()).collect(),
            Part::File { name, text } => vec![name, text],
        }
    }

    #[test]
    fn files_lines_and_what_they_print_come_in_the_order_of_the_page() {
        let page = "```text\nno output\n```\n```toml file=\"a.toml\"\nx = 1\n```\n```rust file=\"crates/a.rs\"\nfn a() {}\n```\n\
                    ```console nightly=\"slow\"\n$ wordline a \\\n    --b\nprinted 1\n$ wordline c\n```\n```text\nlater 2\n```\n\
                    ```sh skip=\"why\"\n# not typed\nwordline d\n```\n$ wordline gone\n";
        let parts = parts(page).expect("well formed");
        assert_eq!(
            parts.iter().map(texts).collect::<Vec<_>>(),
            [vec!["a.toml", "x = 1\n"], vec!["wordline a --b", "wordline c"], vec!["later 2"], vec!["wordline d"]]
        );
        let (Part::Block(console), Part::Block(script)) = (&parts[1], &parts[3]) else { panic!("two blocks") };
        assert_eq!(console[0].printed, [Line { number: 13, text: "printed 1".to_owned() }]);
        assert_eq!((console[0].line.number, console[0].manner.nightly.as_deref(), console[0].is_console), (11, Some("slow"), true));
        assert_eq!((script[0].manner.skip.as_deref(), script[0].is_console), (Some("why"), false));
    }

    #[test]
    fn a_console_block_that_begins_with_output_is_refused_with_its_line() {
        assert_eq!(
            parts("a\n```console\nprinted\n```\n").expect_err("nothing printed it"),
            "line 3: a `console` block begins with `$ ` and a line to type"
        );
    }
}
