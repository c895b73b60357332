//! The commands that README.md and some tutorials show are run, so that a newcomer's first minute cannot be broken unnoticed.
//!
//! A command is a line that starts with `$ ` in a block fenced as `console`. Only those that start the program are run here (`cargo run --release -- …` and
//! `wordline …`); the tasks of xtask are what is running already. They run in a scratch folder that sees the repository's own files, so that what they write
//! does not litter it.

use std::fs;
use std::path::Path;

use crate::steps::{command, run as run_command};

/// What is read, in this order.
const DOCUMENTS: [&str; 3] = ["README.md", "docs/tutorials/forensics.md", "docs/tutorials/jobs.md"];

/// Runs every command of [`DOCUMENTS`] with the program in the folder `programs`.
pub(crate) fn run(root: &Path, programs: &Path) -> Result<(), String> {
    DOCUMENTS.iter().try_for_each(|document| run_document(root, programs, document))
}

fn run_document(root: &Path, programs: &Path, document: &str) -> Result<(), String> {
    let text = fs::read_to_string(root.join(document)).map_err(|error| format!("cannot read {document}: {error}"))?;
    let commands = commands(document, &text)?;
    if commands.is_empty() {
        return Err(format!("{document} shows no command in a block fenced as `console`"));
    }
    let program = programs.join("wordline");
    let scratch = scratch(root)?;
    let program = program.to_str().ok_or("the path of the program is not UTF-8")?;
    let outcome = commands.iter().try_for_each(|arguments| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run_command(command(&scratch, program, &arguments))
    });
    // Left-overs in the temporary folder are no reason to fail.
    let _ = fs::remove_dir_all(&scratch);
    outcome
}

/// An empty folder with links to the folders that commands read from.
fn scratch(root: &Path) -> Result<std::path::PathBuf, String> {
    let scratch = std::env::temp_dir().join(format!("wordline-readme-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|error| format!("cannot make {}: {error}", scratch.display()))?;
    for folder in ["chips", "drives", "studies"] {
        std::os::unix::fs::symlink(root.join(folder), scratch.join(folder)).map_err(|error| format!("cannot link {folder}: {error}"))?;
    }
    Ok(scratch)
}

/// The arguments of each command to run. Quoting is not understood: these pages have no need of it.
fn commands(document: &str, text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut found = Vec::new();
    let mut in_console = false;
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            in_console = fence.trim() == "console";
            continue;
        }
        let Some(shown) = line.strip_prefix("$ ").filter(|_| in_console) else { continue };
        if shown.contains(['"', '\'', '|', '>', '$', '\\', ';', '&']) {
            return Err(format!("{document}: `{shown}` needs a shell; show a plain command, or do not fence it as `console`"));
        }
        let plain = shown.split(" #").next().unwrap_or(shown);
        let mut words: Vec<&str> = plain.split_whitespace().collect();
        let start = match words.as_slice() {
            ["cargo", "run", "--release", "--", ..] => 4,
            ["wordline", ..] => 1,
            _ => continue,
        };
        found.push(words.drain(start..).map(str::to_owned).collect());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_is_run_and_only_from_console_blocks() {
        let text = "```console\n$ cargo run --release -- compare   # three drives\noutput\n$ cargo xtask test\n$ wordline drives\n```\n\
                    ```sh\n$ wordline gone\n```\n$ wordline gone\n";
        assert_eq!(commands("a page", text), Ok(vec![vec!["compare".to_owned()], vec!["drives".to_owned()]]));
    }

    #[test]
    fn what_needs_a_shell_is_refused() {
        assert!(commands("a page", "```console\n$ wordline run > out\n```\n").is_err());
    }
}
