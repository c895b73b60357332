//! Is a drive that is only looked at left as it was, to the last bit, and does a salvage give the best copies and say which of them are doubtful?

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use wordline_block::Op;

use crate::served::{Disk, Server};
use crate::{Scratch, wordline};

const UNIT: u64 = 16_384;
const UNITS: u64 = 2_000;
/// All units of the drive.
const CAPACITY: u64 = 16_384;

/// The bytes of `unit` when it was written for the `round`th time: nothing like them is anywhere else.
fn data(unit: u64, round: u64) -> Vec<u8> {
    let stamp = stamp(unit, round);
    stamp.iter().copied().cycle().take(UNIT as usize).collect()
}

fn stamp(unit: u64, round: u64) -> [u8; 16] {
    let mut stamp = *b"WLSTAMP0........";
    stamp[7] += round as u8;
    stamp[8..].copy_from_slice(&unit.to_le_bytes());
    stamp
}

/// A drive of which every third unit was written twice and the others once, stopped in good order.
fn stopped(scratch: &Scratch, more: &[&str]) {
    let mut server = Server::of(scratch, "pageftl", "s", &[&["--physics", "off", "--media", "media"], more].concat());
    let mut disk = Disk::open(&scratch.0.join("s"));
    for round in 0..2 {
        (0..UNITS).filter(|unit| round == 0 || unit % 3 == 0).for_each(|unit| {
            disk.call(&Op::Write { offset: unit * UNIT, data: data(unit, round), fua: false });
        });
        disk.call(&Op::Flush);
    }
    stop(scratch, "s");
    assert!(server.0.wait().expect("it ends").success());
}

fn stop(scratch: &Scratch, socket: &str) {
    let output = wordline(&scratch.0, &["ctl", &format!("{socket}.ctl"), "stop"]);
    assert!(output.status.success(), "{output:?}");
}

/// All files of the media: their bytes, and when they were changed last.
fn files(scratch: &Scratch) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64)> {
    let all = std::fs::read_dir(scratch.0.join("media")).expect("it is there").map(|entry| entry.expect("a file").path());
    let of_file = |path: PathBuf| {
        let stat = std::fs::metadata(&path).expect("it is there");
        (path.clone(), (std::fs::read(&path).expect("it can be read"), stat.mtime_nsec(), stat.ctime_nsec()))
    };
    all.map(of_file).collect()
}

/// The round of units that read as zeroes.
const ZEROES: u64 = 9;

/// Round that each unit reads as; `None` where it answers with an error.
fn read(disk: &mut Disk) -> Vec<Option<u64>> {
    let of_unit = |unit: u64| {
        let bytes = disk.try_to(&Op::Read { offset: unit * UNIT, length: UNIT as u32 })?;
        let zeroes = bytes.iter().all(|&byte| byte == 0).then_some(ZEROES);
        let round = (0..2).find(|&round| bytes == data(unit, round)).or(zeroes);
        Some(round.unwrap_or_else(|| panic!("unit {unit} holds something else")))
    };
    (0..UNITS).map(of_unit).collect()
}

fn newest(unit: u64) -> u64 {
    u64::from(unit.is_multiple_of(3))
}

/// Flips a byte of each page on `die` that holds one of these units in this round.
fn harm(scratch: &Scratch, die: u32, is_harmed: impl Fn(u64, u64) -> bool) -> usize {
    let path = scratch.0.join(format!("media/die-{die:03}.media"));
    let mut bytes = std::fs::read(&path).expect("it is there");
    let mut count = 0;
    let mut at = 0;
    while at + 16 <= bytes.len() {
        let unit = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().expect("eight bytes"));
        let found = (0..2).find(|&round| bytes[at..at + 16] == stamp(unit, round));
        match found {
            Some(round) => {
                if is_harmed(unit, round) {
                    bytes[at + 100] ^= 1;
                    count += 1;
                }
                at += UNIT as usize;
            }
            None => at += 16,
        }
    }
    std::fs::write(path, bytes).expect("it can be written");
    count
}

/// The stretches of a list, by unit.
fn listed(path: &Path) -> BTreeMap<u64, String> {
    let text = std::fs::read_to_string(path).expect("the list is there");
    let mut all = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [offset, length, doubt] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [offset, length]: [u64; 2] = [offset, length].map(|number| number.parse().expect("bytes"));
        assert_eq!((offset % UNIT, length % UNIT), (0, 0), "{line}");
        all.extend((offset / UNIT..(offset + length) / UNIT).map(|unit| (unit, doubt.to_owned())));
    }
    all
}

#[test]
fn a_drive_that_is_looked_at_stays_as_it_is_whatever_is_done_to_it() {
    let scratch = Scratch::new("looked");
    stopped(&scratch, &[]);
    let before = files(&scratch);
    let mut server = Server::with(&scratch, &["serve", "--read-only", "--media", "media", "--socket", "r"]);
    let mut second = Server::with(&scratch, &["serve", "--read-only", "--media", "media", "--socket", "r2"]);
    let mut disk = Disk::open(&scratch.0.join("r"));
    assert!((0..UNITS).zip(read(&mut disk)).all(|(unit, round)| round == Some(newest(unit))));
    assert!(disk.try_to(&Op::Write { offset: 0, data: data(0, 0), fua: true }).is_none(), "nothing is written");
    assert!(disk.try_to(&Op::Trim { offset: 0, length: UNIT, fua: true }).is_none(), "nor trimmed");
    let refused = wordline(&scratch.0, &["serve", "--media", "media", "--socket", "w"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("only reads"), "{said}");
    let told = wordline(&scratch.0, &["ctl", "r.ctl", "status"]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("\"read_only\": true"), "{told:?}");
    for words in [&["kill-die", "die=0"][..], &["fault", "corrupt", "offset=1MiB"], &["fault", "program-fail"]] {
        assert!(wordline(&scratch.0, &[&["ctl", "r.ctl"], words].concat()).status.success(), "{words:?}");
    }
    let rounds = read(&mut disk);
    assert!(rounds.contains(&None) && rounds.iter().filter(|round| round.is_some()).count() > 1_000);
    stop(&scratch, "r");
    stop(&scratch, "r2");
    assert!(server.0.wait().expect("it ends").success() && second.0.wait().expect("it ends").success());
    assert!(files(&scratch) == before, "a file has changed");
    // Nothing is made where there is no drive.
    let output = wordline(&scratch.0, &["serve", "pageftl", "--read-only", "--media", "nothing", "--socket", "w"]);
    assert!(output.status.code() == Some(2) && !scratch.0.join("nothing").exists(), "{output:?}");
    assert_eq!(wordline(&scratch.0, &["serve", "--read-only"]).status.code(), Some(2));
    let _server = Server::of(&scratch, "pageftl", "s", &["--physics", "off", "--media", "media"]);
    assert!((0..UNITS).zip(read(&mut Disk::open(&scratch.0.join("s")))).all(|(unit, round)| round == Some(newest(unit))));
}

#[test]
fn a_salvage_gives_older_copies_for_those_that_cannot_be_read_and_lists_them() {
    let scratch = Scratch::new("salvage");
    stopped(&scratch, &[]);
    // Of units that were written twice the newest copy goes, and of some of the others the only one.
    let harmed = harm(&scratch, 1, |unit, round| round == newest(unit));
    assert!(harmed > 50, "{harmed}");
    let before = files(&scratch);
    let mut server = Server::with(&scratch, &["serve", "--read-only", "--media", "media", "--socket", "r"]);
    let plain = read(&mut Disk::open(&scratch.0.join("r")));
    let lost: BTreeSet<u64> = (0..UNITS).filter(|&unit| plain[unit as usize].is_none()).collect();
    assert_eq!(lost.len(), harmed, "what is lost is what was harmed");
    assert!((0..UNITS).all(|unit| plain[unit as usize].is_none_or(|round| round == newest(unit))), "and nothing is old");
    stop(&scratch, "r");
    assert!(server.0.wait().expect("it ends").success());

    let inside = wordline(&scratch.0, &["serve", "--salvage=media/list", "--media", "media", "--socket", "w"]);
    assert!(inside.status.code() == Some(2) && String::from_utf8_lossy(&inside.stderr).contains("another folder"), "{inside:?}");
    let mut server = Server::with(&scratch, &["serve", "--salvage=list", "--media", "media", "--socket", "v"]);
    let saved = read(&mut Disk::open(&scratch.0.join("v")));
    let list = listed(&scratch.0.join("list"));
    assert_eq!(list.keys().copied().collect::<BTreeSet<u64>>(), lost, "the list has all that is doubtful, and no more");
    let mut kinds = BTreeMap::<&str, u32>::new();
    for unit in 0..UNITS {
        match (list.get(&unit).map(String::as_str), saved[unit as usize]) {
            (None, round) => assert_eq!(round, Some(newest(unit)), "unit {unit}"),
            (Some("older"), round) => assert_eq!((unit % 3, round), (0, Some(0)), "unit {unit}"),
            (Some("unreadable"), round) => assert_eq!(round, None, "unit {unit}"),
            (Some(doubt), round) => panic!("unit {unit}: {doubt} {round:?}"),
        }
        list.get(&unit).into_iter().for_each(|doubt| *kinds.entry(doubt).or_default() += 1);
    }
    assert!(kinds.get("older").is_some_and(|&count| count > 5) && kinds.get("unreadable").is_some_and(|&count| count > 5), "{kinds:?}");
    stop(&scratch, "v");
    assert!(server.0.wait().expect("it ends").success());
    assert!(files(&scratch) == before, "a file has changed");
}

/// Status of the drive served at `socket`.
fn status(scratch: &Scratch, socket: &str) -> serde_json::Value {
    let output = wordline(&scratch.0, &["ctl", &format!("{socket}.ctl"), "status", "--json"]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn bad_blocks_take_no_die_from_a_drive_that_is_looked_at() {
    let scratch = Scratch::new("looked-blocks");
    stopped(&scratch, &[]);
    // More than a die may have before a drive in use gives it up.
    for way in ["--read-only", "--salvage=list"] {
        let mut server = Server::with(&scratch, &["serve", way, "--media", "media", "--socket", "r"]);
        let words = ["ctl", "r.ctl", "fault", "kill", "kill=blocks", "die=1", "blocks=0..2"];
        assert!(wordline(&scratch.0, &words).status.success());
        let mut disk = Disk::open(&scratch.0.join("r"));
        let lost = read(&mut disk).iter().filter(|round| round.is_none()).count();
        assert_eq!(status(&scratch, "r")["live"]["dead_dies"], serde_json::json!([]), "{way}");
        assert!(0 < lost && lost < UNITS as usize / 10, "{way}: {lost} units, of which an eighth lies on the die");
        stop(&scratch, "r");
        assert!(server.0.wait().expect("it ends").success());
    }
}

#[test]
fn a_drive_that_lost_a_die_is_looked_at_without_it() {
    let scratch = Scratch::new("looked-missing");
    stopped(&scratch, &[]);
    std::fs::remove_file(scratch.0.join("media/die-003.media")).expect("it was there");
    let before = files(&scratch);
    let refused = wordline(&scratch.0, &["serve", "--read-only", "--media", "media", "--socket", "r"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("`--missing-die 3`"), "{refused:?}");
    let other = wordline(&scratch.0, &["serve", "--read-only", "--missing-die", "2", "--media", "media", "--socket", "r"]);
    assert!(other.status.code() == Some(2) && String::from_utf8_lossy(&other.stderr).contains("die-002.media"), "{other:?}");
    let mut server = Server::with(&scratch, &["serve", "--read-only", "--missing-die", "3", "--media", "media", "--socket", "r"]);
    let rounds = read(&mut Disk::open(&scratch.0.join("r")));
    assert!((0..UNITS).zip(&rounds).all(|(unit, round)| round.is_none_or(|round| round == newest(unit))), "none is old");
    let lost = rounds.iter().filter(|round| round.is_none()).count() as u64;
    assert!(UNITS / 16 < lost && lost < UNITS / 4, "{lost}: an eighth of it was on that die");
    assert_eq!(status(&scratch, "r")["live"]["dead_dies"], serde_json::json!([3]));
    stop(&scratch, "r");
    assert!(server.0.wait().expect("it ends").success());
    assert!(files(&scratch) == before, "a file has changed, or been made");
    // Named by what is left of it, the drive is started without the die, too.
    let _server = Server::with(&scratch, &["serve", "--missing-die", "3", "--media", "media", "--socket", "w"]);
    assert_eq!(read(&mut Disk::open(&scratch.0.join("w"))), rounds);
}

/// Writes that a drive without room has acknowledged may be in its buffer alone. A stop that succeeds has written them down.
#[test]
fn a_drive_without_room_stops_in_order_only_if_what_it_took_is_on_flash() {
    let scratch = Scratch::new("looked-full");
    let mut server = Server::of(&scratch, "pageftl", "s", &["--physics", "off", "--media", "media"]);
    let mut disk = Disk::open(&scratch.0.join("s"));
    let write = |unit: u64, round: u64| Op::Write { offset: unit * UNIT, data: data(unit, round), fua: false };
    (0..CAPACITY).for_each(|unit| _ = disk.call(&write(unit, 0)));
    disk.call(&Op::Flush);
    let killed = wordline(&scratch.0, &["ctl", "s.ctl", "fault", "kill=plane", "die=3", "plane=0"]);
    assert!(killed.status.success(), "{killed:?}");
    let accepted = (0..CAPACITY).take_while(|&unit| disk.try_to(&write(unit, 1)).is_some()).count() as u64;
    assert!(accepted > 0 && accepted < CAPACITY, "{accepted} writes were taken by a drive without room");
    assert_eq!(status(&scratch, "s")["live"]["worn_out"], serde_json::json!(true));
    // A snapshot begins with a flush, which fails and leaves all as unflushed as it was.
    let copied = wordline(&scratch.0, &["ctl", "s.ctl", "snapshot", "folder=copy"]);
    assert!(String::from_utf8_lossy(&copied.stderr).contains("could not be flushed"), "{copied:?}");
    let stopped = wordline(&scratch.0, &["ctl", "s.ctl", "stop"]);
    drop(disk);
    assert!(server.0.wait().expect("it ends").code().is_some());
    let _again = Server::with(&scratch, &["serve", "--media", "media", "--socket", "t"]);
    let mut disk = Disk::open(&scratch.0.join("t"));
    let mut is_there = |unit: u64| disk.try_to(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }) == Some(data(unit, 1));
    let lost: Vec<u64> = (0..accepted).filter(|&unit| !is_there(unit)).collect();
    assert!(lost.is_empty() || !stopped.status.success(), "{lost:?} of {accepted} are gone: {stopped:?}");
}

/// Flips a byte in every 4 KiB of `die` behind `from` that hold anything.
fn ruin(scratch: &Scratch, die: u32, from: usize) {
    let path = scratch.0.join(format!("media/die-{die:03}.media"));
    let mut bytes = std::fs::read(&path).expect("it is there");
    for chunk in bytes[from..].chunks_mut(4096).filter(|chunk| chunk.iter().any(|&byte| byte != 0)) {
        chunk[0] ^= 1;
    }
    std::fs::write(path, bytes).expect("it can be written");
}

#[test]
fn a_salvage_gives_what_a_start_refuses_and_lists_all_of_it() {
    let scratch = Scratch::new("refused");
    // The die with the checkpoint takes the proof of all with it, as both copies of marks lie on the die that they are about.
    stopped(&scratch, &["--set", "recovery.oob_place=group"]);
    // Behind the head of the file and two tables with a record of 64 bytes for each block.
    let head = std::fs::read(scratch.0.join("media/die-000.media")).expect("it is there");
    let blocks = u32::from_le_bytes(head[44..48].try_into().expect("four bytes"));
    ruin(&scratch, 1, 4096 + 2 * (blocks as usize * 64).next_multiple_of(4096));
    let mut server = Server::with(&scratch, &["serve", "--read-only", "--media", "media", "--socket", "r"]);
    let plain = read(&mut Disk::open(&scratch.0.join("r")));
    assert!(plain.iter().all(Option::is_none), "all are refused, and none is old");
    let output = wordline(&scratch.0, &["ctl", "r.ctl", "smart", "--json"]);
    let smart: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let [refused, unreadable] = ["refused_units", "unreadable_units"].map(|key| smart["smart"][key].as_u64());
    assert!(refused.is_some_and(|count| count >= UNITS) && unreadable == refused, "{smart}");
    let media = wordline(&scratch.0, &["ctl", "r.ctl", "media"]);
    assert!(String::from_utf8_lossy(&media.stdout).contains("units are refused"), "{media:?}");
    stop(&scratch, "r");
    assert!(server.0.wait().expect("it ends").success());

    let _server = Server::with(&scratch, &["serve", "--salvage=list", "--media", "media", "--socket", "v"]);
    let saved = read(&mut Disk::open(&scratch.0.join("v")));
    let list = listed(&scratch.0.join("list"));
    assert!((0..UNITS).all(|unit| list.contains_key(&unit)), "all of it is doubtful");
    let is_newest = |&unit: &u64| saved[unit as usize] == Some(newest(unit));
    let count = (0..UNITS).filter(is_newest).count() as u64;
    assert!(count > UNITS * 3 / 4, "{count} of {UNITS}: an eighth of it was on that die");
    assert!(list.values().any(|doubt| doubt == "unproved"), "{:?}", list.values().collect::<BTreeSet<_>>());
}
