//! Documentation that is generated from the code, so that it cannot drift from it.
//!
//! A generator is an example named `generate_…` of any crate. It is called with one argument, a folder, and writes files there under the paths they have in
//! the repository. `docs` calls all of them with the repository itself; `docs --check` calls them with an empty folder and compares. Everything in
//! `docs/reference` is generated, so that a file there which no generator writes is out of date too. CI checks a slice: generators that take minutes get the
//! repository as a second argument, and measure some rows of each table instead of all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::{command, programs, run};
use crate::tidy::metadata;

/// Writes all generated files.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    generate(root, root, Extent::All)
}

/// Extent of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All rows of all tables.
    All,
    /// Some rows of tables that take minutes, and all others.
    Slice,
}

/// Says which generated files differ from what their generators write now.
pub(crate) fn check(root: &Path, extent: Extent) -> Result<(), String> {
    let fresh = std::env::temp_dir().join(format!("wordline-docs-{}", std::process::id()));
    fs::create_dir_all(&fresh).map_err(|error| format!("cannot make {}: {error}", fresh.display()))?;
    let outcome = generate(root, &fresh, extent).and_then(|()| stale(root, &fresh));
    // Left-overs in the temporary folder are no reason to fail.
    let _ = fs::remove_dir_all(&fresh);
    match outcome?.as_slice() {
        [] => Ok(()),
        files => Err(format!("out of date: {}; run `cargo xtask docs`", files.join(", "))),
    }
}

fn generate(root: &Path, into: &Path, extent: Extent) -> Result<(), String> {
    let [into, before] = [into.to_str(), root.to_str()].map(|path| path.ok_or("the path of the folder is not UTF-8"));
    let (into, before) = (into?, before?);
    let arguments = match extent {
        Extent::All => vec![into],
        Extent::Slice => vec![into, before],
    };
    let examples = programs(root)?.join("examples");
    for example in generators(root)? {
        let program = examples.join(example);
        run(command(root, program.to_str().ok_or("the path of the programs is not UTF-8")?, &arguments))?;
    }
    Ok(())
}

/// The examples that generate something, in the order of their packages and names.
fn generators(root: &Path) -> Result<Vec<String>, String> {
    let metadata = metadata(root)?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_example = target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "example"));
            let (package, target) = (package["name"].as_str().unwrap_or_default(), target["name"].as_str().unwrap_or_default());
            if is_example && target.starts_with("generate_") {
                found.push((package.to_owned(), target.to_owned()));
            }
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, example)| example).collect())
}

/// Where all files are generated.
const REFERENCE: &str = "docs/reference";

/// The files below `fresh` that are missing in `root` or have other contents there, and those in [`REFERENCE`] that are missing below `fresh`.
fn stale(root: &Path, fresh: &Path) -> Result<Vec<String>, String> {
    let mut stale = Vec::new();
    for path in files(fresh)? {
        let name = path.strip_prefix(fresh).expect("below it").to_owned();
        let new = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if fs::read(root.join(&name)).ok() != Some(new) {
            stale.push(name.display().to_string());
        }
    }
    let reference = root.join(REFERENCE);
    for path in if reference.is_dir() { files(&reference)? } else { Vec::new() } {
        let name = path.strip_prefix(root).expect("below it");
        if !fresh.join(name).exists() {
            stale.push(format!("{} (nothing generates it)", name.display()));
        }
    }
    Ok(stale)
}

/// All files below `folder`, in the order of their paths.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))? {
            let path = entry.map_err(|error| format!("cannot list {}: {error}", folder.display()))?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_changed_and_orphaned_files_are_stale_and_equal_ones_are_not() {
        let base = std::env::temp_dir().join(format!("wordline-stale-{}", std::process::id()));
        let (root, fresh) = (base.join("root"), base.join("fresh"));
        for (folder, name, text) in [
            (&root, "docs/same.md", "a"),
            (&root, "docs/changed.md", "a"),
            (&root, "docs/reference/orphan.md", "a"),
            (&fresh, "docs/same.md", "a"),
            (&fresh, "docs/changed.md", "b"),
            (&fresh, "docs/new.md", "c"),
        ] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("has one")).expect("writable");
            fs::write(path, text).expect("writable");
        }
        let found = stale(&root, &fresh);
        fs::remove_dir_all(&base).expect("just made");
        assert_eq!(
            found,
            Ok(["docs/changed.md", "docs/new.md", "docs/reference/orphan.md (nothing generates it)"].map(str::to_owned).to_vec())
        );
    }
}
