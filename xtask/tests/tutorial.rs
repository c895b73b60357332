//! Follows the tutorials and the template of a technique as a newcomer would, in scratch copies of the workspace, and runs the tests there.
//!
//! A code block says in its fence what to do with it: `file="PATH"` makes a new file, `file="PATH" after="LINE"` adds below the line that reads so, and
//! `before="LINE"` above it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The tutorial of a victim policy.
const POLICY: &str = "docs/tutorials/victim-policy.md";
/// The tutorial of a scheduler.
const SCHEDULER: &str = "docs/tutorials/scheduler.md";
/// The tutorial of a free-block policy.
const FREE_BLOCK: &str = "docs/tutorials/free-block.md";
/// The tutorial of a retirement policy.
const RETIREMENT: &str = "docs/tutorials/retirement.md";
/// The tutorial of a technique with a parameter.
const TECHNIQUE: &str = "docs/tutorials/technique.md";
/// The tutorial of a sanitiser.
const SANITISER: &str = "docs/tutorials/sanitiser.md";

#[test]
fn the_tutorial_and_the_template_work_as_they_stand() {
    let scratch = Scratch::new("tutorial", &["ftl"]);
    for page in [POLICY, SCHEDULER, FREE_BLOCK, RETIREMENT] {
        assert_eq!(scratch.follow(page).len(), 2, "{page} promises one file and one line");
    }
    let techniques = scratch.tree.join("crates/ftl/src/techniques");
    fs::create_dir_all(techniques.join("template")).expect("writable");
    fs::copy(root().join("docs/techniques/_template/mod.rs"), techniques.join("template/mod.rs")).expect("copied");
    let list = techniques.join("mod.rs");
    fs::write(&list, format!("{}\npub mod template;\n", read(&list))).expect("writable");

    let slots = ["victim", "scheduler", "free_block", "retirement", "template"];
    let printed = passes(&scratch.cargo(&[&["test", "--package", "wordline-ftl", "--lib", "--"], &slots[..]].concat()));
    for test in [
        "victim::fair_greedy::tests::ties_go_to_the_least_worn",
        "victim::tests::every_policy_takes_a_candidate_wherever_there_is_one",
        "scheduler::even::tests::who_has_moved_four_units_may_write_four",
        "scheduler::tests::without_a_free_group_reclaim_goes_first",
        "free_block::midfield::tests::moved_data_takes_the_group_in_the_middle",
        "free_block::tests::every_policy_takes_a_free_group_wherever_there_is_one",
        "free_block::tests::every_policy_levels_closed_groups_only_and_none_where_all_are_level",
        "retirement::rated::tests::a_block_retires_at_its_rated_erases",
        "retirement::tests::every_policy_retires_what_failed",
        "retirement::tests::every_policy_keeps_a_new_block",
        "techniques::template::tests::",
    ] {
        assert!(has_run(&printed, test), "{test} did not run:\n{printed}");
    }
}

/// The tutorial of a technique that sorts data.
const STREAMS: &str = "docs/tutorials/streams.md";

/// Loads the drives that the tutorials end with.
const DRIVE_LOADS: &str = r#"//! Loads the drives of the tutorials.
#[test]
fn a_die_that_cannot_lock_pages_is_refused_and_other_drives_keep_their_number() {
    let told = wordline_plan::Plan::load_set("mqsim-default", &["techniques.lock-or-erase.on=true"]).expect_err("it cannot").to_string();
    assert!(told.contains("techniques.lock-or-erase is on, and the die cannot do it: timing.t_lock_page is not set"), "{told}");
    let numbers = include_str!("identity.txt");
    let line = |name: &str| numbers.lines().find(|line| line.split(' ').next() == Some(name)).expect("a line");
    let now = wordline_plan::Plan::load("secssd").expect("a drive").media_number_hex();
    assert!(line("secssd").ends_with(&now), "{now}");
}

#[test]
fn the_drive_of_the_tutorial_has_its_technique() {
    let plan = wordline_plan::Plan::load("../../lock-or-erase.toml").expect("a drive").build();
    assert_eq!(plan.firmware.techniques, [wordline_ftl::techniques::Choice::LockOrErase]);
}

#[test]
fn room_follows_from_what_a_technique_declares() {
    let load = |settings: &[&str]| wordline_plan::Plan::load_set("../../update-streams.toml", settings).expect("a drive").build().firmware;
    let open = [&[][..], &["techniques.update-streams.streams=5"], &["placement.moved_blocks=7"], &["techniques.update-streams.on=false"]];
    assert_eq!(open.map(|settings| load(settings).open_for_moved()), [3, 5, 7, 1]);
    // What the technique takes is missing where a die has no more groups than it needs.
    let full = |on: &str| {
        let on = format!("techniques.update-streams.on={on}");
        let settings = [on.as_str(), "techniques.update-streams.streams=8", "mapping.over_provisioning=2 %"];
        wordline_plan::Plan::load_set("../../update-streams.toml", &settings).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(full("true").expect_err("no room").contains("are open"));
    assert_eq!(full("false"), Ok(()));
}

#[test]
fn a_parameter_is_read_and_held_to_its_range() {
    use wordline_ftl::techniques::{Choice, suspend_quota};
    let load = |setting: &str| wordline_plan::Plan::load_set("../../suspend-quota.toml", &[format!("techniques.suspend-quota.{setting}")]);
    let quota = Choice::SuspendQuota(suspend_quota::Params { stops_max: 2 });
    assert_eq!(load("on=true").expect("a drive").build().firmware.techniques, [Choice::ReadPreemption, quota]);
    let told = load("stops_max=0").expect_err("out of range").to_string();
    assert!(told.contains("techniques.suspend-quota.stops_max is 0: expected at least 1"), "{told}");
    let told = load("stop_max=1").expect_err("no such key").to_string();
    assert!(told.contains("did you mean `stops_max`?"), "{told}");
    let told = load("stops_max=none").expect_err("it must be set").to_string();
    assert!(told.contains("techniques.suspend-quota.stops_max is not set, and the technique is on"), "{told}");
}
"#;

#[test]
fn the_techniques_of_the_tutorials_are_one_folder_and_one_line_and_the_sanitiser_keeps_its_promise_and_is_caught_where_it_does_not() {
    let scratch = Scratch::new("sanitiser", &["ftl", "plan", "proving"]);
    for (page, name) in [(TECHNIQUE, "suspend_quota"), (SANITISER, "lock_or_erase"), (STREAMS, "update_streams")] {
        let edits = scratch.follow(page);
        let files: Vec<&str> = edits.iter().map(|edit| edit.file.as_str()).collect();
        let (folder, drive) = (format!("crates/ftl/src/techniques/{name}/mod.rs"), format!("{}.toml", name.replace('_', "-")));
        let promised = [folder.as_str(), "crates/ftl/src/techniques/mod.rs", &drive];
        assert_eq!(files, promised, "{page} promises one folder and one line, and has a drive for it");
    }
    fs::write(scratch.tree.join("crates/plan/tests/tutorial.rs"), DRIVE_LOADS).expect("writable");
    let cuts = || scratch.cargo(&["run", "--package", "wordline-proving", "--example", "power_cuts", "--", "1", "60", "100"]);

    let printed = passes(&scratch.cargo(&["test", "--package", "wordline-ftl", "--lib", "--", "techniques"]));
    for test in [
        "techniques::lock_or_erase::tests::",
        "techniques::suspend_quota::tests::",
        "techniques::update_streams::tests::",
        "techniques::tests::who_remembers_says_so",
    ] {
        assert!(has_run(&printed, test), "{test} did not run:\n{printed}");
    }
    let printed = passes(&scratch.cargo(&["test", "--package", "wordline-plan", "--test", "tutorial"]));
    assert!(
        ["the_drive_of_the_tutorial", "room_follows", "a_die_that_cannot_lock_pages", "a_parameter_is_read"]
            .iter()
            .all(|test| has_run(&printed, test)),
        "{printed}"
    );
    passes(&scratch.cargo(&["test", "--package", "wordline-proving", "--test", "suite", "--", "conformance"]));
    passes(&cuts());

    let module = scratch.tree.join("crates/ftl/src/techniques/lock_or_erase/mod.rs");
    let (right, wrong) =
        ("Some(if erases { SanitiseMethod::Erase } else { SanitiseMethod::LockPages })", "erases.then_some(SanitiseMethod::Erase)");
    let text = read(&module);
    assert!(text.contains(right) && read(&root().join(SANITISER)).contains(wrong), "the page says how to break it");
    fs::write(&module, text.replace(right, wrong)).expect("writable");
    let output = cuts();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && printed.contains("which is stale"), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
}

/// A copy of a part of the workspace.
struct Scratch {
    tree: PathBuf,
    target: PathBuf,
}

impl Scratch {
    /// A fresh copy of these `crates` and what they need.
    fn new(name: &str, crates: &[&str]) -> Scratch {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let tree = scratch.join("tree");
        let _ = fs::remove_dir_all(&tree);
        copy_crates(root(), &tree, crates);
        Scratch { tree, target: scratch.join("target") }
    }

    /// Do what the code blocks of a page say.
    fn follow(&self, page: &str) -> Vec<Edit> {
        let edits = edits(&read(&root().join(page)));
        edits.iter().for_each(|edit| edit.apply(&self.tree));
        edits
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let (program, rest) = arguments.split_first().expect("a command");
        Command::new(env!("CARGO"))
            .args([program, "--offline"])
            .args(rest)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            // Compiling takes longer than running here.
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_PROFILE_TEST_DEBUG", "0")
            .env("RUSTFLAGS", "-D warnings")
            .output()
            .expect("cargo starts")
    }
}

/// What it has printed.
fn passes(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed.into_owned()
}

fn has_run(printed: &str, test: &str) -> bool {
    printed.lines().any(|line| line.starts_with(&format!("test {test}")) && line.ends_with("ok"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One code block of the tutorial that belongs into a file.
struct Edit {
    file: String,
    /// The line to add below, or above; without either, a new file.
    after: Option<String>,
    before: Option<String>,
    text: String,
}

impl Edit {
    fn apply(&self, tree: &Path) {
        let path = tree.join(&self.file);
        let Some(line) = self.after.as_ref().or(self.before.as_ref()) else {
            assert!(!path.exists(), "{} is to be new, and is there already", self.file);
            fs::create_dir_all(path.parent().expect("a file lies somewhere")).expect("writable");
            fs::write(path, &self.text).expect("writable");
            return;
        };
        let old = read(&path);
        let places = old.lines().filter(|old| old.trim() == line).count();
        assert_eq!(places, 1, "{} has {places} lines that read `{line}`", self.file);
        let edited = |old: &str| match &self.after {
            _ if old.trim() != line => format!("{old}\n"),
            Some(_) => format!("{old}\n{}", self.text),
            None => format!("{}{old}\n", self.text),
        };
        fs::write(path, old.lines().map(edited).collect::<String>()).expect("writable");
    }
}

/// The code blocks that name a file, in their order.
fn edits(page: &str) -> Vec<Edit> {
    let mut found: Vec<Edit> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| info.contains("file=")) else { continue };
        let text = lines.by_ref().take_while(|line| !line.starts_with("```")).flat_map(|line| [line, "\n"]).collect();
        found.push(Edit {
            file: attribute(info, "file").expect("a block with attributes names its file"),
            after: attribute(info, "after"),
            before: attribute(info, "before"),
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

/// Copies some crates and the workspace crates they need, with a manifest that lists only those, and the presets.
fn copy_crates(root: &Path, tree: &Path, crates: &[&str]) {
    let mut wanted: Vec<String> = crates.iter().map(|&name| name.to_owned()).collect();
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
    for presets in ["chips", "drives", "studies"] {
        copy(&root.join(presets), &tree.join(presets));
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
