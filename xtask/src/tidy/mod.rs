//! Style and architecture, held by a program. Each rule is one file, says why in its message, and is tested on a planted violation.
//!
//! What it does not do: judge names, prose or design. Where clippy can tell (it knows types), the rule is in `clippy.toml`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

mod bench_words;
mod catalogue;
mod commits;
mod core_words;
mod declared;
mod frozen;
mod prose;
mod rooms;
mod shape;
mod tokens;
mod tree;
mod walls;
mod words;

pub(crate) use tree::{Finding, Severity};

/// Applies every rule to the repository at `root`. Findings come in the order of severity, then of their place.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let tree = tree::Tree::read(root)?;
    let mut findings = walls::check(&metadata(root)?);
    findings.extend(core_words::check(&tree));
    findings.extend(rooms::check(&tree));
    findings.extend(bench_words::check(&tree));
    findings.extend(shape::check(&tree));
    findings.extend(prose::check(&tree));
    findings.extend(catalogue::check(&tree));
    findings.extend(declared::check(&tree));
    findings.extend(words::check(&tree));
    findings.extend(frozen::check(&tree));
    findings.extend(commits::check(root)?);
    findings.sort();
    Ok(findings)
}

/// Writes the list of exceptions anew. Returns its size.
///
/// # Errors
/// If it would grow.
pub(crate) fn freeze(root: &Path) -> Result<usize, String> {
    let tree = tree::Tree::read(root)?;
    let found = frozen::Frozen::of(&tree);
    if let Some(older) = tree.get(frozen::LIST)
        && !found.is_within(&frozen::Frozen::listed(older))
    {
        return Err(format!("{} may only shrink: run `cargo xtask tidy` to see what is new", frozen::LIST));
    }
    let text = found.to_text();
    std::fs::write(root.join(frozen::LIST), &text).map_err(|error| format!("{}: {error}", frozen::LIST))?;
    Ok(text.lines().count() - 1)
}

/// What Cargo knows of the workspace's own packages. Needs no registry and no network.
pub(crate) fn metadata(root: &Path) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata printed no JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository");
        let errors: Vec<String> = check(root)
            .expect("the repository can be read")
            .into_iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| found.to_string())
            .collect();
        assert!(errors.is_empty(), "\n{}", errors.join("\n"));
    }
}
