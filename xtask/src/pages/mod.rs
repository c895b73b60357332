//! Every line that README.md and the tutorials tell a reader to type is run as printed, and what the page prints below it is compared with what was measured.
//!
//! Each page has a reader of its own in an empty folder ([`reader`]). Blocks say in their fence what a plain run cannot do ([`page`]). A line that is not
//! run is counted with its reason in the closing line.

mod page;
mod printed;
mod reader;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::steps::fast_programs;
use page::{Part, Typed};
use printed::{Mismatch, blessed, is_compared, left_over, mismatches};
use reader::{Reader, is_installed};

/// Usage of `cargo xtask pages`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask pages [--nightly] [--bless] [--programs FOLDER] [PAGE...]

Runs the lines that README.md and docs/tutorials/*.md, or these pages, tell a reader to type, and compares what they print.

  --nightly          also what takes too long for CI
  --bless            write what was measured into the pages (or set WORDLINE_BLESS=1)
  --programs FOLDER  where `wordline` is; without it, it is built in release
";

/// A line that takes longer belongs into a block with `nightly=\"…\"`.
const CI_MAX: Duration = Duration::from_secs(20);

/// Programs that a `sh` block may have beside `wordline`; of other programs only `console` blocks are run.
const PLAIN: [&str; 3] = ["mkdir", "head", "rm"];
/// Clients that are used where they are installed.
const CLIENTS: [&str; 3] = ["nbdinfo", "nbdcopy", "curl"];
/// Why others are not run.
const OTHERS: [(&str, &str); 3] = [
    ("sudo", "needs root"),
    ("nbdfuse", "mounts; `cargo xtask clients mount` does"),
    ("cargo", "builds the workspace, as other steps and the tests of the tutorials do"),
];

#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    is_nightly: bool,
    blesses: bool,
    programs: Option<PathBuf>,
    pages: Vec<String>,
}

impl Asked {
    fn parse(arguments: &[&str]) -> Result<Asked, String> {
        let mut asked = Asked::default();
        let mut rest = arguments.iter();
        while let Some(&argument) = rest.next() {
            match argument {
                "--nightly" => asked.is_nightly = true,
                "--bless" => asked.blesses = true,
                "--programs" => asked.programs = Some(rest.next().ok_or("--programs needs a folder")?.into()),
                _ if argument.starts_with('-') => return Err(format!("no such option: {argument}\n\n{HELP}")),
                page => asked.pages.push(page.to_owned()),
            }
        }
        Ok(asked)
    }
}

/// Outcome of the lines.
#[derive(Default)]
struct Tally {
    run: usize,
    compared: usize,
    skipped: BTreeMap<String, usize>,
    nightly: usize,
}

impl Tally {
    fn closing(&self) -> String {
        let skipped: usize = self.skipped.values().sum();
        let reasons: Vec<String> = self.skipped.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        format!("{} lines run, {} printed lines compared, {skipped} skipped{reasons}; {} nightly", self.run, self.compared, self.nightly)
    }
}

/// Runs what the arguments ask for. The error lists every line that failed and every figure that is wrong.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut asked = Asked::parse(arguments)?;
    asked.blesses |= std::env::var_os("WORDLINE_BLESS").is_some_and(|value| value == "1");
    let programs = match &asked.programs {
        Some(folder) => root.join(folder),
        None => fast_programs(root)?,
    };
    let pages = if asked.pages.is_empty() { all_pages(root)? } else { asked.pages.clone() };
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for page in &pages {
        if let Err(why) = run_page(root, &programs, page, &asked, &mut tally) {
            println!("{why}");
            wrong.push(why);
        }
    }
    println!("pages: {}", tally.closing());
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\n  `cargo xtask pages --bless PAGE` writes what was measured", wrong.join("\n")))
    }
}

/// README.md and the tutorials, in the order of their names.
fn all_pages(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("docs/tutorials");
    let failed = |error: std::io::Error| format!("cannot list {}: {error}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            pages.push(format!("docs/tutorials/{name}"));
        }
    }
    pages.sort();
    pages.insert(0, "README.md".to_owned());
    Ok(pages)
}

fn run_page(root: &Path, programs: &Path, name: &str, asked: &Asked, tally: &mut Tally) -> Result<(), String> {
    let path = root.join(name);
    let text = fs::read_to_string(&path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let parts = page::parts(&text).map_err(|error| format!("{name}: {error}"))?;
    let base = std::env::temp_dir().join(format!("wordline-page-{}", std::process::id()));
    let mut reader = Reader::new(base, programs)?;
    let mut wrong = Vec::new();
    // Output of the lines of the last block; none where one of them was not run.
    let mut seen = None;
    for part in &parts {
        match part {
            Part::File { name, text } => reader.write(name, text)?,
            Part::Block(block) => seen = run_block(root, name, &mut reader, block, asked, tally, &mut wrong)?,
            Part::Text(lines) => {
                if let Some(output) = &seen {
                    tally.compared += lines.iter().filter(|line| is_compared(line)).count();
                    wrong.extend(mismatches(lines, output));
                }
            }
        }
    }
    reader.leave().map_err(|why| format!("{name}: {why}"))?;
    if asked.blesses && wrong.iter().any(|wrong| wrong.measured.is_some()) {
        let text = blessed(&text, &wrong);
        fs::write(&path, &text).map_err(|error| format!("cannot write {name}: {error}"))?;
        for (line, figure) in left_over(&text, &wrong) {
            println!("{name}:{}: {figure} was measured anew and stands here still: {}", line.number, line.text);
        }
        wrong.retain(|wrong| wrong.measured.is_none());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.iter().map(|wrong| shown(name, wrong)).collect::<Vec<_>>().join("\n")) }
}

/// Output of all lines of a block, or `None` where one was not run. Figures that are wrong go to `wrong`.
fn run_block(
    root: &Path,
    name: &str,
    reader: &mut Reader,
    block: &[Typed],
    asked: &Asked,
    tally: &mut Tally,
    wrong: &mut Vec<Mismatch>,
) -> Result<Option<String>, String> {
    let mut all = Some(String::new());
    for typed in block {
        let line = match fate(typed, asked.is_nightly, &is_installed) {
            Fate::Run(line) => line,
            Fate::Skip(reason) => {
                *tally.skipped.entry(reason).or_default() += 1;
                all = None;
                continue;
            }
            Fate::Nightly => {
                tally.nightly += 1;
                all = None;
                continue;
            }
        };
        if typed.manner.in_clone {
            reader.link_clone(root)?;
        }
        let start = Instant::now();
        let done = reader.type_line(&line).map_err(|why| format!("{name}:{}: {why}", typed.line.number))?;
        tally.run += 1;
        let is_slow = done.took > CI_MAX && typed.manner.nightly.is_none();
        let note = if is_slow { "  takes long: CI runs no block with `nightly=\"REASON\"` in its fence" } else { "" };
        println!("{name}:{:<4} {:>6.1} s  {line}{note}", typed.line.number, start.elapsed().as_secs_f64());
        tally.compared += typed.printed.iter().filter(|line| is_compared(line)).count();
        wrong.extend(mismatches(&typed.printed, &done.output));
        if let Some(all) = &mut all {
            all.push_str(&done.output);
        }
    }
    Ok(all)
}

fn shown(name: &str, wrong: &Mismatch) -> String {
    let measured = wrong.measured.as_deref().map_or("no line with these words", str::trim);
    format!("{name}:{}:\n  printed:  {}\n  measured: {measured}", wrong.printed.number, wrong.printed.text.trim())
}

#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// The line, with `wordline` for what builds and starts it.
    Run(String),
    Nightly,
    /// With the reason.
    Skip(String),
}

fn fate(typed: &Typed, is_nightly: bool, is_installed: &dyn Fn(&str) -> bool) -> Fate {
    let line = match typed.line.text.strip_prefix("cargo run --release -- ") {
        Some(rest) => format!("wordline {rest}"),
        None => typed.line.text.clone(),
    };
    if let Some(reason) = &typed.manner.skip {
        return Fate::Skip(reason.clone());
    }
    let program = line.split_whitespace().next().unwrap_or_default();
    if let Some((_, reason)) = OTHERS.iter().find(|(other, _)| *other == program) {
        return Fate::Skip((*reason).to_owned());
    }
    let is_client = CLIENTS.contains(&program);
    if !typed.is_console && program != "wordline" && !is_client && !PLAIN.contains(&program) {
        return Fate::Skip("of no program of ours".to_owned());
    }
    let needs = typed.manner.needs.as_deref().into_iter().chain(is_client.then_some(program));
    if let Some(missing) = needs.into_iter().find(|needed| !is_installed(needed)) {
        return Fate::Skip(format!("where {missing} is not installed"));
    }
    if typed.manner.nightly.is_some() && !is_nightly { Fate::Nightly } else { Fate::Run(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(page: &str, is_nightly: bool) -> Vec<Fate> {
        let parts = page::parts(page).expect("well formed");
        let blocks = parts.iter().filter_map(|part| if let Part::Block(block) = part { Some(block) } else { None });
        blocks.flatten().map(|typed| fate(typed, is_nightly, &|program| program == "nbdinfo")).collect()
    }

    #[test]
    fn only_what_a_machine_without_root_and_rights_can_run_is_run() {
        let page = "```console\n$ cargo run --release -- compare\n$ cargo xtask test\n$ grep a b\n```\n\
                    ```sh\nwordline drives\nsudo mount\ngrep a b\nnbdinfo x\nnbdcopy x y\n```\n\
                    ```sh needs=\"nbdcopy\"\nwordline ctl\n```\n```sh skip=\"why\"\nwordline x\n```\n";
        let [run, skip] = [|line: &str| Fate::Run(line.to_owned()), |reason: &str| Fate::Skip(reason.to_owned())];
        let missing = "where nbdcopy is not installed";
        assert_eq!(
            fates(page, false),
            [
                run("wordline compare"),
                skip(OTHERS[2].1),
                run("grep a b"),
                run("wordline drives"),
                skip("needs root"),
                skip("of no program of ours"),
                run("nbdinfo x"),
                skip(missing),
                skip(missing),
                skip("why"),
            ]
        );
    }

    #[test]
    fn what_takes_long_is_run_at_night() {
        let page = "```console nightly=\"nine runs\"\n$ wordline compare\n```\n";
        assert_eq!(fates(page, false), [Fate::Nightly]);
        assert_eq!(fates(page, true), [Fate::Run("wordline compare".to_owned())]);
    }

    #[test]
    fn options_and_pages_are_told_apart() {
        let asked = Asked::parse(&["--bless", "README.md", "--programs", "bin"]).expect("known");
        let expected = Asked { blesses: true, programs: Some("bin".into()), pages: vec!["README.md".to_owned()], is_nightly: false };
        assert_eq!(asked, expected);
        assert!(Asked::parse(&["--bles"]).expect_err("unknown").contains("--bles"));
    }

    #[test]
    fn a_planted_figure_fails_the_page_with_its_line_and_is_blessed() {
        let root = std::env::temp_dir().join(format!("wordline-planted-{}", std::process::id()));
        fs::create_dir_all(&root).expect("writable");
        let page = "# A page\n\n```console\n$ echo 'mean 1,682 us'; echo other\n```\n\nIt says:\n\n```text\nmean 6,764 us\n```\n";
        fs::write(root.join("page.md"), page).expect("writable");
        let asked = |blesses| Asked { blesses, ..Asked::default() };
        let mut tally = Tally::default();
        let why = run_page(&root, &root, "page.md", &asked(false), &mut tally).expect_err("a wrong figure");
        assert_eq!(why, "page.md:10:\n  printed:  mean 6,764 us\n  measured: mean 1,682 us");
        run_page(&root, &root, "page.md", &asked(true), &mut tally).expect("blessed");
        assert_eq!(fs::read_to_string(root.join("page.md")).expect("there"), page.replace("6,764", "1,682"));
        run_page(&root, &root, "page.md", &asked(false), &mut tally).expect("true now");
        fs::remove_dir_all(&root).expect("just made");
        assert_eq!(tally.closing(), "3 lines run, 3 printed lines compared, 0 skipped; 0 nightly");
    }
}
