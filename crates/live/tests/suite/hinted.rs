//! Do hints of a drive on media come back at its next start, to those who ask for them and to the drive?
//!
//! Does not check: a server that is killed. The tests of the command do.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use wordline_block::Op;
use wordline_drive::Watched;
use wordline_live::{About, ControlSocket, Durability, LiveDisk, MediaStore, Stop, Timing, control, look_at, open_or_make, watch};
use wordline_units::{Cause, FlashOp};

use crate::client::{Client, connect};
use crate::common::{Folder, NAMED, UNIT, small_drive, socket};
use crate::replay::tell;

/// A drive that rewrites what was read so often, unless its host tolerates longer reads.
const SETTINGS: [&str; 5] = [
    "cells.physics=false",
    "techniques.read-disturb-refresh.on=true",
    "techniques.read-disturb-refresh.reads_max=40",
    "techniques.read-disturb-refresh.guard=true",
    "techniques.latency-hints.on=true",
];

/// A server of the drive in a folder.
struct Served {
    disk: Arc<LiveDisk>,
    control: std::path::PathBuf,
    _listens: ControlSocket,
    /// Lines for the user.
    said: Arc<Mutex<Vec<String>>>,
}

/// Starts the drive in `folder`.
fn start(folder: &Path, durability: Durability) -> Served {
    let config = small_drive(2, &SETTINGS);
    let opened = open_or_make(folder, &config, NAMED, durability).expect("sound media");
    let is_used = opened.is_found;
    serve(About { is_used, ..About::default() }, move |tell| {
        let store = MediaStore::new(opened.media, 1, opened.dump).reserving(0, tell);
        let (capacitors, watched) = (store.capacitors(config.firmware.buffer.units), watch(&config));
        let drive = if is_used {
            Watched::wake(config, watched, |die| store.payload(die), capacitors)
        } else {
            Watched::with_payload(config, watched, |die| store.payload(die))
        };
        (drive, store)
    })
}

/// Starts the drive in `folder` without writing anything there.
fn look(folder: &Path) -> Served {
    let config = small_drive(2, &SETTINGS);
    let (media, dump) = look_at(folder, &config, NAMED, &[]).expect("sound media");
    serve(About { is_used: true, is_read_only: true, ..About::default() }, move |tell| {
        let store = MediaStore::new(media, 1, dump).reserving(0, tell);
        let (capacitors, watched) = (store.capacitors(config.firmware.buffer.units), watch(&config));
        (Watched::wake(config, watched, |die| store.payload(die), capacitors), store)
    })
}

type Tell = Box<dyn Fn(&str) + Send>;

fn serve<K: wordline_live::Keeper + 'static>(
    about: About,
    build: impl FnOnce(Tell) -> (Watched<wordline_live::Watch>, K) + Send + 'static,
) -> Served {
    let said = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&said);
    let tell: Tell = Box::new(move |line: &str| lines.lock().expect("nobody panicked").push(line.to_owned()));
    let disk = Arc::new(LiveDisk::start_kept(move || build(tell), Timing::Off, about));
    let path = socket();
    let listens = control(&path, Arc::clone(&disk), Stop::default()).expect("it starts");
    Served { disk, control: path, _listens: listens, said }
}

impl Served {
    fn ask(&self, request: &Value) -> Value {
        let (answer, _) = tell(&self.control, &request.to_string());
        serde_json::from_str(&answer).expect("JSON")
    }

    fn hints(&self) -> Value {
        self.ask(&json!({ "do": "hints" }))["hints"].clone()
    }

    /// Flags of the hints at each of the first two units, in the context `x-wordline:hint`.
    fn flags(&self) -> Vec<u32> {
        let answer = Client::open(&self.disk, &[], &[2]).call(&Op::BlockStatus { offset: 0, length: UNIT.0 * 2, one: false });
        answer.status.iter().flat_map(|(_, extents)| extents).map(|extent| extent.flags).collect()
    }

    /// Block groups that are rewritten while the first units are read often.
    fn rewrites_of_reads(&self) -> u64 {
        let erases = || self.disk.look().expect("it runs").metrics.so_far().flash(FlashOp::Erase, Cause::Disturb).operations;
        let (mut client, before) = (connect(&self.disk), erases());
        (0..2_000u64).for_each(|read| _ = client.read(read % 64 * UNIT.0, 512));
        erases() - before
    }

    fn stop(self) {
        self.disk.stop().expect("in good order");
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().expect("nobody panicked").clone()
    }
}

/// Fills a new drive in `folder`, and gives hints.
fn hinted(folder: &Path, durability: Durability) -> Served {
    let served = start(folder, durability);
    let mut client = connect(&served.disk);
    let size = served.disk.look().expect("it runs").size;
    (0..size / UNIT.0).for_each(|unit| client.write(unit * UNIT.0, &[unit as u8; UNIT.0 as usize]));
    assert_eq!(client.call(&Op::Flush).fault, None);
    let answer = served.ask(&json!({ "do": "hint", "read_latency": "longer" }));
    assert!(
        answer["stored"] == true && answer["in_effect"][0].as_str().is_some_and(|effect| effect.starts_with("read_latency")),
        "{answer}"
    );
    let answer = served.ask(&json!({ "do": "hint", "priority": "high", "offset": 0, "length": UNIT.0 }));
    assert_eq!(answer["stored"], true);
    served
}

#[test]
fn hints_are_in_effect_after_a_restart_until_they_are_taken_back() {
    for durability in [Durability::Process, Durability::Host] {
        let folder = Folder::new(&format!("hinted-{durability:?}"));
        let served = hinted(&folder.0, durability);
        let (hints, flags) = (served.hints(), served.flags());
        assert_eq!((hints.as_array().map(Vec::len), flags.len(), served.rewrites_of_reads()), (Some(2), 2, 0));
        served.stop();

        let served = start(&folder.0, durability);
        assert_eq!((served.hints(), served.flags(), served.rewrites_of_reads(), served.said()), (hints, flags, 0, vec![]));
        assert_eq!(served.ask(&json!({ "do": "hint", "read_latency": "none" }))["stored"], true);
        assert!(served.rewrites_of_reads() > 0, "nothing is tolerated any more");
        served.stop();

        let served = start(&folder.0, durability);
        assert_eq!(served.hints().as_array().map(Vec::len), Some(1), "the priority");
        assert_eq!(served.ask(&json!({ "do": "hint", "priority": "none" }))["stored"], true);
        assert!(served.rewrites_of_reads() > 0);
        served.stop();
        assert!(!folder.0.join("hints").exists(), "there are none");
    }
}

#[test]
fn a_drive_whose_hints_are_lost_or_damaged_is_served_without_them() {
    let folder = Folder::new("hinted-badly");
    hinted(&folder.0, Durability::Process).stop();
    let file = folder.0.join("hints");
    let whole = std::fs::read_to_string(&file).expect("it is there");
    let bad = whole.replace("longer", "shorter");
    for (text, word) in [(Some(bad.as_str()), Some("checksum")), (Some(""), Some("checksum")), (None, None)] {
        match text {
            Some(text) => std::fs::write(&file, text).expect("it can be written"),
            None => std::fs::remove_file(&file).expect("it is there"),
        }
        let served = start(&folder.0, Durability::Process);
        assert_eq!(served.hints(), json!([]));
        let said = served.said();
        assert_eq!(said.len(), usize::from(word.is_some()), "{said:?}");
        assert!(
            said.iter()
                .all(|line| word.is_some_and(|word| line.contains(word)) && line.contains("hints") && line.contains("give them again"))
        );
        assert!(served.rewrites_of_reads() > 0, "nothing is tolerated");
        served.stop();
    }
}

#[test]
fn a_drive_that_is_looked_at_has_its_hints_and_keeps_no_others() {
    let folder = Folder::new("hinted-looked-at");
    hinted(&folder.0, Durability::Process).stop();
    let text = std::fs::read(folder.0.join("hints")).expect("it is there");
    let served = look(&folder.0);
    assert_eq!(served.hints().as_array().map(Vec::len), Some(2));
    let answer = served.ask(&json!({ "do": "hint", "read_latency": "none" }));
    assert_eq!((answer["ok"].as_bool(), answer["stored"].as_bool()), (Some(true), Some(false)));
    assert_eq!(served.hints().as_array().map(Vec::len), Some(1));
    served.stop();
    assert_eq!(std::fs::read(folder.0.join("hints")).expect("it is there"), text);
}

#[test]
fn a_copy_of_the_media_has_the_hints_and_a_drive_made_anew_has_none() {
    let (folder, copy) = (Folder::new("hinted-first"), Folder::new("hinted-copy"));
    let served = hinted(&folder.0, Durability::Process);
    assert_eq!(served.ask(&json!({ "do": "snapshot", "folder": copy.0.display().to_string() }))["ok"], true);
    served.stop();
    let served = start(&copy.0, Durability::Process);
    assert_eq!(served.hints().as_array().map(Vec::len), Some(2));
    served.stop();
    for die in 0..2 {
        std::fs::remove_file(folder.die(die)).expect("it is there");
    }
    for _ in 0..2 {
        let served = start(&folder.0, Durability::Process);
        assert_eq!(served.hints(), json!([]));
        served.stop();
    }
}
