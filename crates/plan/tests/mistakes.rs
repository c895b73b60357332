//! What a person is told about each kind of mistake. Every `tests/mistakes/*.toml` is wrong in some way, and the `.txt` beside it is the message.
//!
//! To accept new messages: `WORDLINE_ACCEPT=1 cargo test -p wordline-plan --test mistakes`, and read the difference.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use wordline_plan::{Plan, PlanError};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes")
}

/// Reads from the folder of mistakes, with one text for a missing file on every system.
fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(folder().join(path)).map_err(|_| io::Error::new(io::ErrorKind::NotFound, "no such file"))
}

#[test]
fn every_mistake_is_told_as_it_was_agreed() {
    let accept = env::var_os("WORDLINE_ACCEPT").is_some();
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the folder is there")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml") && !name.ends_with(".chip.toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 25, "{} cases", names.len());
    let mut differing = Vec::new();
    for name in names {
        let error = Plan::load_with(&name, &read).expect_err(&name);
        let told = format!("{error}\n");
        let agreed_path = folder().join(&name).with_extension("txt");
        if accept {
            fs::write(&agreed_path, &told).expect("it can be written");
        }
        let agreed = fs::read_to_string(&agreed_path).unwrap_or_default();
        if told != agreed {
            differing.push(format!("{name}: told\n{told}\nagreed\n{agreed}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn an_unknown_preset_is_met_with_the_nearest() {
    let error = Plan::load("pagftl").expect_err("there is none");
    assert_eq!(error.to_string(), "there is no drive called \"pagftl\"\n  = help: did you mean \"pageftl\"?");
    assert!(matches!(error, PlanError::UnknownPreset { nearest: Some("pageftl"), .. }));
    let error = Plan::load("zzz").expect_err("there is none").to_string();
    assert!(error.contains("presets are pageftl, pageftl-4k"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Plan::load_with("gone.toml", &read).expect_err("there is none");
    assert_eq!(error.to_string(), "gone.toml: cannot be read: no such file");
}

#[test]
fn settings_are_held_to_the_same_rules() {
    let plan = Plan::load("pageftl").expect("a preset");
    let told = |setting: &str| plan.override_key(setting).expect_err(setting).to_string();
    let fifa = told("gc.victim=fifa");
    assert!(fifa.starts_with("--set:1:13: gc.victim: \"fifa\" is no victim policy\n"), "{fifa}");
    assert!(fifa.contains("1 | gc.victim = \"fifa\"\n  |             ^^^^^^\n  = help: did you mean \"fifo\"?"), "{fifa}");
    assert!(told("gc.start=1").contains("expected start above floor"));
    assert!(told("fill=90%").contains("not a setting"));
    assert!(told("run.fill").contains("expected section.key=value"));
    assert!(told("run.fill = 1\n[gc]").contains("not a setting"));
    assert!(told("a.b.c=1").contains("unknown section [a]"));
    assert!(told("=").contains("not a setting"));
    assert!(told("gc.=1").contains("not a setting"));
    assert!(told("run.inherit=\"x\"").contains("unknown key `inherit`"));
}
