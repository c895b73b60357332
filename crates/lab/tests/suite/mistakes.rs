//! Messages about studies that are wrong. Every `mistakes/*.toml` is wrong in some way, and the `.txt` beside it is the message.
//!
//! To accept new messages: `WORDLINE_ACCEPT=1 cargo test -p wordline-lab`, and read the difference.

use std::path::{Path, PathBuf};
use std::{env, fs};

use wordline_lab::Study;
use wordline_lab::reproduce::select;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/mistakes")
}

#[test]
fn every_mistake_is_told_as_it_was_agreed() {
    let accept = env::var_os("WORDLINE_ACCEPT").is_some();
    let names = fs::read_dir(folder()).expect("the folder is there").map(|entry| entry.expect("an entry").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("a name in UTF-8")).filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    assert!(names.len() >= 8, "{} cases", names.len());
    for name in names {
        let text = fs::read_to_string(folder().join(&name)).expect("it can be read");
        let told = format!("{}\n", Study::parse("x", &name, &text).expect_err(&name));
        let agreed = folder().join(&name).with_extension("txt");
        if accept {
            fs::write(&agreed, &told).expect("it can be written");
        }
        assert_eq!(told, fs::read_to_string(&agreed).unwrap_or_default(), "{name}");
    }
}

#[test]
fn names_that_mean_nothing_are_met_with_the_nearest() {
    let told = |name: &str| select(&[name.to_owned()]).expect_err(name).to_string();
    assert!(told("celsl").contains("did you mean \"cells\"?"), "{}", told("celsl"));
    assert!(told("cube.inter-layr").contains("cube.inter-layer"));
    assert!(told("no-such.toml").contains("cannot be read"));
}

#[test]
fn a_study_a_group_a_claim_and_the_beginning_of_one_can_be_named() {
    let chosen = |name: &str| select(&[name.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(chosen("cube.inter-layer").len(), 1);
    assert!(chosen("cells").len() > 10);
    let one = chosen("cube.dev.dV.fresh");
    assert!(one.len() == 1 && one[0].judge.len() == 1 && one[0].judge[0].claim.id == "cube.dev.dV.fresh");
    assert!(chosen("cube.dev.dV").iter().map(|study| study.judge.len()).sum::<usize>() >= 3);
}
