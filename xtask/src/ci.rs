//! All of CI, runnable at home.

use std::path::Path;

use crate::steps::{Steps, cargo, command, programs, run as run_command};
use crate::tidy::{self as rules, Severity};
use crate::{clients, docs, pages, suite};

/// Every step, the quick ones first. The tests come last, so that their count is the last thing printed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut steps = Steps::default();
    steps.run("format", || format(root))?;
    steps.run("tidy", || tidy(root))?;
    steps.run("deny", || deny(root))?;
    steps.run("clippy", || run_command(cargo(root, &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])))?;
    steps.run("rustdoc", || {
        let mut rustdoc = cargo(root, &["doc", "--workspace", "--no-deps", "--quiet"]);
        rustdoc.env("RUSTDOCFLAGS", "-D warnings");
        run_command(rustdoc)
    })?;
    let mut built = None;
    steps.run("programs", || programs(root).map(|folder| built = Some(folder)))?;
    steps.run("docs", || docs::check(root, docs::Extent::Slice))?;
    let built = built.expect("the step has passed");
    let folder = built.to_str().ok_or("the path of the programs is not UTF-8")?;
    steps.run("pages", || pages::run(root, &["--programs", folder]))?;
    steps.run("clients", || clients::run(root, &["--programs", folder]))?;
    let mut count = suite::Count::default();
    let outcome = steps.run("test", || {
        let outcome;
        (count, outcome) = suite::counted(root, &[]);
        outcome.and_then(|()| nothing_skipped(&count))
    });
    println!("{}\n\n{count}", steps.summary());
    outcome
}

/// CI has all that tests need from outside the project, so a test that was skipped there is a failure.
fn nothing_skipped(count: &suite::Count) -> Result<(), String> {
    match count.skipped() {
        [] => Ok(()),
        names => Err(format!(
            "CI skips no test; run each alone to see what it needs (a folder named by WORDLINE_SHARED, or a program): {}",
            names.join(", ")
        )),
    }
}

/// `cargo fmt` does not see modules that a macro declares: policies and techniques.
fn format(root: &Path) -> Result<(), String> {
    run_command(cargo(root, &["fmt", "--all", "--check"]))?;
    let mut hidden = Vec::new();
    for folder in ["victim", "scheduler", "free_block", "retirement", "techniques"] {
        rust_files(&root.join("crates/ftl/src").join(folder), &mut hidden)?;
    }
    let mut arguments = vec!["--check", "--edition", "2024"];
    arguments.extend(hidden.iter().map(String::as_str));
    run_command(command(root, "rustfmt", &arguments))
}

fn rust_files(folder: &Path, files: &mut Vec<String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path.display().to_string());
        }
    }
    Ok(())
}

/// The architecture and style rules.
pub(crate) fn tidy(root: &Path) -> Result<(), String> {
    let findings = rules::check(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    println!("tidy: {errors} errors, {warnings} warnings");
    if errors == 0 { Ok(()) } else { Err(format!("{errors} rules broken")) }
}

/// Licences, banned crates and sources; known vulnerabilities where their database can be reached.
pub(crate) fn deny(root: &Path) -> Result<(), String> {
    if !command(root, "cargo-deny", &["--version"]).output().is_ok_and(|output| output.status.success()) {
        return Err("cargo-deny is missing: cargo install --debug --locked cargo-deny".to_owned());
    }
    run_command(command(root, "cargo-deny", &["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]))?;
    // The database of vulnerabilities is a repository of its own. Without it the rest is still worth checking.
    if command(root, "cargo-deny", &["fetch", "db"]).output().is_ok_and(|output| output.status.success()) {
        return run_command(command(root, "cargo-deny", &["check", "--disable-fetch", "--hide-inclusion-graph", "advisories"]));
    }
    println!("the advisory database cannot be reached: known vulnerabilities were not checked");
    Ok(())
}

/// Every benchmark of the workspace. `arguments` go to `cargo bench`.
pub(crate) fn bench(root: &Path, arguments: &[&str]) -> Result<(), String> {
    run_command(cargo(root, &[&["bench", "--workspace"], arguments].concat()))
}
