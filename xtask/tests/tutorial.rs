//! Follows `docs/tutorials/victim-policy.md` and the template of a technique as a newcomer would, in a scratch copy of the firmware, and runs the tests there.
//!
//! A code block says in its fence what to do with it: `file="PATH"` makes a new file, `file="PATH" after="LINE"` adds below the line that reads so.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate that a policy and a technique live in.
const FIRMWARE: &str = "ftl";

#[test]
fn the_tutorial_and_the_template_work_as_they_stand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorial");
    let tree = scratch.join("tree");
    let _ = fs::remove_dir_all(&tree);
    copy_firmware(root, &tree);

    let page = read(&root.join("docs/tutorials/victim-policy.md"));
    let edits = edits(&page);
    assert_eq!(edits.len(), 2, "the tutorial promises one file and one line");
    for edit in &edits {
        edit.apply(&tree);
    }
    let techniques = tree.join("crates/ftl/src/techniques");
    fs::create_dir_all(techniques.join("template")).expect("writable");
    fs::copy(root.join("docs/techniques/_template/mod.rs"), techniques.join("template/mod.rs")).expect("copied");
    let list = techniques.join("mod.rs");
    fs::write(&list, format!("{}\npub mod template;\n", read(&list))).expect("writable");

    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--package", "wordline-ftl", "--lib", "--", "victim", "template"])
        .current_dir(&tree)
        .env("CARGO_TARGET_DIR", scratch.join("target"))
        // Compiling takes longer than running here.
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_TEST_DEBUG", "0")
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .expect("cargo starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    for test in [
        "victim::fair_greedy::tests::ties_go_to_the_least_worn",
        "victim::tests::every_policy_takes_a_candidate_wherever_there_is_one",
        "techniques::template::tests::",
    ] {
        assert!(
            printed.lines().any(|line| line.starts_with(&format!("test {test}")) && line.ends_with("ok")),
            "{test} did not run:\n{printed}"
        );
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One code block of the tutorial that belongs into a file.
struct Edit {
    file: String,
    /// The line to add below; `None`: a new file.
    after: Option<String>,
    text: String,
}

impl Edit {
    fn apply(&self, tree: &Path) {
        let path = tree.join(&self.file);
        let Some(after) = &self.after else {
            assert!(!path.exists(), "{} is to be new, and is there already", self.file);
            fs::write(path, &self.text).expect("writable");
            return;
        };
        let old = read(&path);
        let places = old.lines().filter(|line| line.trim() == after).count();
        assert_eq!(places, 1, "{} has {places} lines that read `{after}`", self.file);
        let new: String =
            old.lines().map(|line| if line.trim() == after { format!("{line}\n{}", self.text) } else { format!("{line}\n") }).collect();
        fs::write(path, new).expect("writable");
    }
}

/// The code blocks that name a file, in their order.
fn edits(page: &str) -> Vec<Edit> {
    let mut found: Vec<Edit> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```rust ") else { continue };
        let text = lines.by_ref().take_while(|line| !line.starts_with("```")).flat_map(|line| [line, "\n"]).collect();
        found.push(Edit {
            file: attribute(info, "file").expect("a block with attributes names its file"),
            after: attribute(info, "after"),
            text,
        });
    }
    found
}

/// The value of `name="value"` in a fence; `\"` stands for a quote.
fn attribute(info: &str, name: &str) -> Option<String> {
    let (_, rest) = info.split_once(&format!("{name}=\""))?;
    let rest = rest.replace("\\\"", "\u{0}");
    Some(rest.split('"').next()?.replace('\u{0}', "\""))
}

/// Copies the firmware and the workspace crates it needs, with a manifest that lists only those.
fn copy_firmware(root: &Path, tree: &Path) {
    let mut wanted = vec![FIRMWARE.to_owned()];
    let mut members = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        let folder = format!("crates/{name}");
        if !members.insert(folder.clone()) {
            continue;
        }
        copy(&root.join(&folder), &tree.join(&folder));
        let manifest: toml::Table = read(&root.join(&folder).join("Cargo.toml")).parse().expect("a manifest");
        for table in ["dependencies", "dev-dependencies"] {
            let names = manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
            wanted.extend(names.filter_map(|name| name.strip_prefix("wordline-")).map(str::to_owned));
        }
    }
    let mut manifest: toml::Table = read(&root.join("Cargo.toml")).parse().expect("a manifest");
    let workspace = manifest["workspace"].as_table_mut().expect("the root is a workspace");
    workspace.remove("default-members");
    workspace.insert("members".to_owned(), members.into_iter().map(toml::Value::String).collect::<Vec<_>>().into());
    fs::write(tree.join("Cargo.toml"), manifest.to_string()).expect("writable");
    for file in ["Cargo.lock", "rust-toolchain.toml"] {
        fs::copy(root.join(file), tree.join(file)).expect("copied");
    }
}

/// Copies a folder and all below it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let path: PathBuf = entry.expect("readable").path();
        let target = to.join(path.file_name().expect("has one"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}
