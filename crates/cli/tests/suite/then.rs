//! What the last build wrote in whose plan hashes every technique left a line, on or off: its media and saved drives carry those numbers, and are still theirs.
//!
//! `tests/then` holds a served drive of 24 small blocks with 64 KiB of sevens at 1 MiB, 16 KiB of eights over nines at 0, its plan, and the same drive filled
//! and saved. All of them are packed with zstd, and were written by that build.

use std::fs;
use std::path::Path;

use wordline_block::Op;
use wordline_live::Taken;

use crate::served::{Disk, Server};
use crate::{Scratch, wordline};

/// The number that the build of then gave the drive.
const THEN: u128 = 0x6e34_53d3_e0fa_1e81;

/// A folder with what that build wrote.
fn then(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/then");
    let unpacked = |file: &str| zstd::decode_all(&fs::read(packed.join(file)).expect(file)[..]).expect(file);
    fs::create_dir(scratch.0.join("media")).expect("a folder");
    scratch.file("media/die-000.media", &unpacked("die-000.media.zst"));
    scratch.file("media/plan.toml", &unpacked("plan.toml.zst"));
    let text = String::from_utf8(unpacked("plan.toml.zst")).expect("text");
    scratch.file("then.toml", renamed(&text).as_bytes());
    scratch.file("then.drive", &unpacked("then.drive.zst"));
    scratch
}

/// The plan of that build as a user writes it today. What lies beside the media and in the saved drive stays in the names of then.
fn renamed(text: &str) -> String {
    assert!(["[reclaim]", "[wear]", "dynamic", "static_gap"].iter().all(|name| text.contains(name)), "{text}");
    let lines = text.lines().map(|line| match line.split('=').map(str::trim).next().unwrap_or_default() {
        "[reclaim]" => "[gc]".to_owned(),
        "[wear]" => "[free_block]".to_owned(),
        "dynamic" => "key = \"longest-free\"".to_owned(),
        "static_gap" => line.replacen("static_gap", "gap", 1),
        _ => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}

#[test]
fn media_of_the_build_before_start_and_keep_their_number() {
    let scratch = then("then-media");
    let media = scratch.0.join("media");
    let number = || Taken::identity(&media).expect("media").1;
    assert_eq!(number(), THEN);
    for start in ["s", "t"] {
        let server = Server::with(&scratch, &["serve", "then.toml", "--socket", start, "--media", "media", "--timing", "off"]);
        let mut disk = Disk::open(&scratch.0.join(start));
        assert_eq!(disk.call(&Op::Read { offset: 1 << 20, length: 65_536 }), vec![7; 65_536]);
        assert_eq!(disk.call(&Op::Read { offset: 0, length: 32_768 }), [vec![8; 16_384], vec![9; 16_384]].concat());
        drop(server);
        assert_eq!(number(), THEN, "the number stays, though the files are of the format of today");
    }
    // Beside the media the names of then were kept until they were started; whoever copies an older plan is told the new ones.
    let old = zstd::decode_all(&fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/then/plan.toml.zst")).expect("it is there")[..]);
    scratch.file("old.toml", &old.expect("it is packed"));
    let refused = wordline(&scratch.0, &["serve", "old.toml", "--socket", "u", "--media", "media"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("the key is gc.start now") && told.contains("the key is free_block.gap now"), "{told}");
    scratch.file("media/plan.toml", &fs::read(scratch.0.join("old.toml")).expect("it was written"));
    let read = wordline(&scratch.0, &["forensics", "media"]);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let other = ["serve", "then.toml", "--set", "techniques.read-disturb-refresh.reads_max=999", "--socket", "u", "--media", "media"];
    let refused = wordline(&scratch.0, &other);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("another drive in this folder") && told.contains("(plan 6e3453d3e0fa1e81)"), "{told}");
}

#[test]
fn a_drive_saved_by_the_build_before_is_run_and_read() {
    let scratch = then("then-saved");
    for arguments in [&["run", "--from", "then.drive", "--requests", "10"][..], &["forensics", "then.drive"]] {
        let run = wordline(&scratch.0, arguments);
        assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    }
    // Another plan in its head is still another plan.
    let bytes = fs::read(scratch.0.join("then.drive")).expect("a drive");
    let key = b"reads_max";
    let at = bytes.windows(key.len()).position(|window| window == key).expect("its plan is text");
    let digit = at + bytes[at..].iter().position(u8::is_ascii_digit).expect("a value");
    let mut changed = bytes.clone();
    changed[digit] = b'2';
    scratch.file("changed.drive", &changed);
    let refused = wordline(&scratch.0, &["run", "--from", "changed.drive", "--requests", "10"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("the image was made of a drive with plan"), "{told}");
}
