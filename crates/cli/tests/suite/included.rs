//! Files that are read because another names them, or by mistake: bounded, and never shown where they are none of ours.

use crate::{Scratch, wordline};

const SECRET: &str = "hunter2";

#[test]
fn nothing_is_shown_of_a_file_that_is_no_plan() {
    let scratch = Scratch::new("secrets");
    for (name, text) in [
        ("passwd", format!("root:x:0:0:{SECRET}:/bin/sh\n")),
        ("key.toml", format!("-----BEGIN {SECRET} KEY-----\nabc{SECRET}\n")),
        ("ini.toml", format!("[credentials]\npassword = \"{SECRET}\"\n{SECRET} = 1\n")),
        ("one.toml", format!("{SECRET} = {SECRET}\n")),
    ] {
        scratch.file(name, text.as_bytes());
    }
    for (name, key) in
        [("passwd", "inherit"), ("key.toml", "inherit"), ("ini.toml", "inherit"), ("ini.toml", "chip"), ("one.toml", "physics_of")]
    {
        let base = if key == "inherit" { "" } else { "inherit = \"femu\"\n" };
        let path = if name == "passwd" { "./passwd" } else { name };
        scratch.file(&format!("by-{key}-{name}.toml"), format!("{base}summary = \"x\"\n{key} = \"{path}\"\n").as_bytes());
    }
    let cases: &[(&[&str], &str)] = &[
        (&["run", "by-inherit-passwd.toml"], "ends in .toml"),
        (&["run", "by-inherit-key.toml.toml"], "not a drive file"),
        (&["run", "by-inherit-ini.toml.toml"], "not a drive file"),
        (&["run", "by-chip-ini.toml.toml"], "not a chip file"),
        (&["run", "by-physics_of-one.toml.toml"], "not a chip file"),
        (&["run", "./passwd"], "not a drive file"),
        (&["run", "key.toml"], "not a drive file"),
        (&["describe", "ini.toml"], "not a drive file"),
        (&["chip", "ini.toml"], "not a chip file"),
        (&["run", "pageftl", "--workload", "key.toml"], "not a workload file"),
        (&["run", "pageftl", "--workload", "ini.toml"], "not a workload file"),
        (&["reproduce", "key.toml"], "not a study"),
        (&["reproduce", "one.toml"], "not a study"),
    ];
    for (arguments, words) in cases {
        let output = wordline(&scratch.0, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(words), "{arguments:?} does not say '{words}': {told}");
        assert!(!told.contains(SECRET), "{arguments:?} shows what is in the file: {told}");
    }
}

#[test]
fn what_is_too_large_to_be_one_is_not_read() {
    let scratch = Scratch::new("too-large");
    let file = std::fs::File::create(scratch.0.join("huge.toml")).expect("a scratch file");
    file.set_len((16 << 20) + 1).expect("a sparse file");
    scratch.file("small.toml", b"inherit = \"huge.toml\"\nsummary = \"x\"\n");
    for arguments in
        [&["run", "huge.toml"][..], &["run", "small.toml"], &["run", "pageftl", "--workload", "huge.toml"], &["reproduce", "huge.toml"]]
    {
        let output = wordline(&scratch.0, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains("huge.toml") && told.contains("more than 16 MiB"), "{arguments:?}: {told}");
    }
}

#[test]
fn a_mistake_in_a_drive_of_ones_own_is_still_shown() {
    let scratch = Scratch::new("own-mistake");
    scratch.file("drive.toml", b"inherit = \"pageftl\"\nsummary = \"x\"\n[gc]\nvictim = greedy\n");
    let output = wordline(&scratch.0, &["run", "drive.toml"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("drive.toml:4:") && told.contains("victim = greedy"), "{told}");
}
