//! Does the control socket answer everybody, and does what it says happen?

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use wordline_block::{Errno, Op};
use wordline_live::{ControlSocket, LiveDisk, Stop, Timing, control};
use wordline_units::random::{Draw, Stream};

use crate::client::{Client, connect, ram_drive};
use crate::common::{UNIT, small_drive, socket};
use crate::replay::tell;

pub(crate) struct Served {
    pub(crate) disk: Arc<LiveDisk>,
    pub(crate) control: PathBuf,
    pub(crate) size: u64,
    _listens: ControlSocket,
}

pub(crate) fn served(settings: &[&str], timing: Timing) -> Served {
    let config = small_drive(4, settings);
    let size = config.exported().0;
    let disk = ram_drive(config, timing);
    let control_path = socket();
    let listens = control(&control_path, Arc::clone(&disk), Stop::default()).expect("it starts");
    Served { disk, control: control_path, size, _listens: listens }
}

impl Served {
    pub(crate) fn ask(&self, request: &Value) -> Value {
        let (answer, _) = tell(&self.control, &request.to_string());
        serde_json::from_str(&answer).expect("JSON")
    }

    pub(crate) fn refused(&self, request: &Value, words: &[&str]) {
        let answer = self.ask(request);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(answer["ok"] == false && words.iter().all(|word| error.contains(word)), "{request}: {answer}");
    }
}

#[test]
fn status_has_the_books_and_lba_status_the_places() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let mut client = connect(&served.disk);
    client.write(0, &[1; 1 << 20]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    client.write(8 << 20, &[2; 4096]);
    assert_eq!(client.read(0, 4096), [1; 4096]);
    let status = served.ask(&json!({ "do": "status" }));
    assert_eq!((status["ok"].as_bool(), status["drive"]["host"]["writes"].as_u64()), (Some(true), Some(2)));
    assert_eq!(
        (status["drive"]["host"]["flushes"].as_u64(), status["drive"]["host"]["write_bytes"].as_u64()),
        (Some(1), Some((1 << 20) + 4096))
    );
    assert!(status["drive"]["waf"]["total"].as_f64().is_some_and(|waf| waf > 0.9), "{status}");
    assert_eq!(status["live"]["map"].as_array().map(Vec::len), Some(4));
    assert_eq!((status["live"]["media"]["survives"].as_str(), status["live"]["size"].as_u64()), (Some("nothing"), Some(served.size)));
    assert!(status["drive"]["latency_us"]["read"]["p99"].as_f64().is_some_and(|latency| latency > 10.0));

    let places = served.ask(&json!({ "do": "lba-status", "offset": 0, "length": 65_536 }));
    let places = places["places"].as_array().expect("places");
    assert_eq!(places.len(), 4, "units of 16 KiB");
    assert!(
        places.iter().all(|place| place["state"] == "flash" && place["flash"]["die"].as_u64().is_some_and(|die| die < 4)),
        "{places:?}"
    );
    let nowhere = served.ask(&json!({ "do": "lba-status", "offset": served.size - 512 }));
    assert_eq!((nowhere["places"][0]["state"].as_str(), nowhere["places"][0]["length"].as_u64()), (Some("unmapped"), Some(512)));
    let all = served.ask(&json!({ "do": "lba-status" }));
    assert_eq!(all["places"].as_array().map(Vec::len), Some(1024.min((served.size / 16_384) as usize)));
}

#[test]
fn hints_come_back_in_block_status_and_say_which_have_an_effect() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let answer = served.ask(&json!({ "do": "hint", "offset": 65_536, "length": 65_536, "priority": "high", "lifetime": "short" }));
    assert_eq!(
        (answer["in_effect"].as_array().map(Vec::len), answer["only_kept"].as_array().map(Vec::len)),
        (Some(1), Some(1)),
        "{answer}"
    );
    let answer = served.ask(&json!({ "do": "hint", "read_latency": "longer", "offset": 1 << 20, "length": 65_536 }));
    let kept = answer["only_kept"][0].as_str().is_some_and(|kept| kept.starts_with("read_latency"));
    assert!(kept && answer["in_effect"] == json!([]), "{answer}");
    let answer = served.ask(&json!({ "do": "hint", "read_latency": "none", "offset": 1 << 20, "length": 65_536 }));
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(served.ask(&json!({ "do": "status" }))["drive"]["host"]["hints"], 2, "requests to the drive");
    served.refused(&json!({ "do": "hint", "read_latency": "longr" }), &["read_latency", "longer, typical, shortest, none"]);
    let answer = served.ask(&json!({ "do": "hint", "security": "insecure", "offset": 0, "length": 512 }));
    assert!(
        answer["in_effect"][0].as_str().is_some_and(|effect| effect.starts_with("security")) && answer["only_kept"] == json!([]),
        "{answer}"
    );
    let hints = served.ask(&json!({ "do": "hints" }));
    assert_eq!((hints["hints"][1]["priority"].as_str(), hints["hints"][1]["offset"].as_u64()), (Some("high"), Some(65_536)), "{hints}");

    let known = LiveDisk::description(UNIT);
    assert!(["urgent", "insecure"].iter().all(|class| known.classes.iter().any(|known| known == class)), "{:?}", known.classes);
    assert_eq!(known.contexts, ["x-wordline:media", "x-wordline:hint"]);
    let mut client = Client::open(&served.disk, &["low", "insecure"], &[0, 1, 2]);
    let answer = client.call(&Op::BlockStatus { offset: 0, length: 1 << 20, one: false });
    let flags = |context: usize| -> Vec<(u64, u32)> {
        let (_, extents) = answer.status.iter().find(|(known, _)| *known == context).expect("an answer");
        extents.iter().map(|extent| (extent.length, extent.flags)).collect()
    };
    // Bits 0 to 2 priority, 3 and 4 security, 7 to 9 lifetime; a range's hint before the session's.
    assert_eq!(flags(2), [(65_536, 4 | 2 << 3), (65_536, 2 | 2 << 3 | 2 << 7), ((1 << 20) - 131_072, 4 | 2 << 3)]);
    assert_eq!(flags(1), [(1 << 20, 0)]);
    assert_eq!(flags(0), [(1 << 20, 3)]);
}

#[test]
fn a_hint_about_read_latency_is_in_effect_where_the_technique_is_on() {
    let served = served(&["cells.physics=false", "techniques.latency-hints.on=true"], Timing::Off);
    let answer = served.ask(&json!({ "do": "hint", "read_latency": "longer", "offset": 0, "length": 1 << 20 }));
    let acts = answer["in_effect"][0].as_str().is_some_and(|effect| effect.starts_with("read_latency"));
    assert!(acts && answer["only_kept"] == json!([]), "{answer}");
}

#[test]
fn priority_hints_choose_the_queue() {
    let served = served(&["cells.physics=false"], Timing::Off);
    served.ask(&json!({ "do": "hint", "offset": 0, "length": 1 << 20, "priority": "urgent" }));
    let mut client = connect(&served.disk);
    client.write(0, &[1; 4096]);
    client.write(2 << 20, &[1; 4096]);
    // One that falls into both is as urgent as its most urgent part.
    client.write((1 << 20) - 512, &[1; 1024]);
    let status = served.ask(&json!({ "do": "status" }));
    let classes = status["drive"]["latency_us_by_priority"].as_array().expect("classes");
    let count = |class: &str| {
        classes.iter().find(|entry| entry["priority"] == class && entry["op"] == "write").map(|entry| entry["latency_us"]["count"].as_u64())
    };
    assert_eq!((count("urgent"), count("normal")), (Some(Some(2)), Some(Some(1))), "{classes:?}");
}

#[test]
fn a_die_that_fails_takes_its_data_and_nothing_else() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let mut client = connect(&served.disk);
    let mib = 8u64;
    for at in 0..mib {
        client.write(at << 20, &vec![at as u8 + 1; 1 << 20]);
    }
    assert_eq!(client.call(&Op::Flush).fault, None);
    assert_eq!(served.ask(&json!({ "do": "kill-die", "die": 1 }))["ok"], true);
    assert_eq!(served.ask(&json!({ "do": "status" }))["live"]["dead_dies"], json!([]), "the firmware has not noticed");
    let mut places = Vec::new();
    for at in 0..mib {
        let answer = served.ask(&json!({ "do": "lba-status", "offset": at << 20, "length": 1 << 20 }));
        places.extend(answer["places"].as_array().expect("places").clone());
    }
    let (mut lost, mut kept) = (0, 0);
    for place in &places {
        let offset = place["offset"].as_u64().expect("an offset");
        let is_there = place["flash"]["die"] == 1;
        let answer = client.call(&Op::Read { offset, length: 16_384 });
        match (is_there, answer.fault) {
            (true, Some(fault)) if fault.errno == Errno::Io => lost += 1,
            (false, None) => kept += 1,
            (_, fault) => panic!("{place}: {fault:?}"),
        }
    }
    assert!(lost > 10 && kept > 100, "{lost} lost, {kept} kept");
    assert_eq!(served.ask(&json!({ "do": "status" }))["live"]["dead_dies"], json!([1]));
    // It goes on, or says that it does not: never a wrong byte, never silence.
    let mut refused = 0;
    for round in 0..60u64 {
        let offset = (round % mib) << 20;
        let data = vec![round as u8; 1 << 20];
        if client.call(&Op::Write { offset, data, fua: true }).fault.is_some() {
            refused += 1;
        } else {
            assert!(client.read(offset, 1 << 20).iter().all(|&byte| byte == round as u8), "round {round}");
        }
    }
    let status = served.ask(&json!({ "do": "status" }));
    assert_eq!(status["live"]["worn_out"].as_bool(), Some(refused > 0), "{refused} refused: {}", status["live"]);
    let trouble = status["live"]["media"]["trouble"].as_str().unwrap_or_default();
    assert_eq!(trouble.contains("the drive takes no more writes"), refused > 0, "{refused} refused: {trouble}");
}

#[test]
fn heat_is_felt_where_there_is_physics() {
    let cold = served(&["cells.physics=false"], Timing::Off);
    cold.refused(&json!({ "do": "heat", "celsius": 70 }), &["physics"]);
    let warm = served(&["cells.cycles=2000", "cells.retention=1 y"], Timing::Off);
    assert_eq!(warm.ask(&json!({ "do": "heat", "celsius": 70 }))["ok"], true);
    assert_eq!(warm.ask(&json!({ "do": "status" }))["live"]["temperature_c"].as_f64(), Some(70.0));
    let mut client = connect(&warm.disk);
    client.write(0, &[1; 65_536]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    assert_eq!(client.read(0, 65_536), [1; 65_536]);
}

#[test]
fn wrong_requests_are_told_what_is_right() {
    let served = served(&["cells.physics=false"], Timing::Off);
    served.refused(&json!({ "do": "hnit" }), &["hnit", "hint", "lba-status"]);
    served.refused(&json!({ "what": 1 }), &["\"do\" is missing"]);
    served.refused(&json!([1, 2]), &["object"]);
    served.refused(&json!({ "do": "hint", "priority": "huge" }), &["huge", "urgent, high, normal, low, none"]);
    served.refused(&json!({ "do": "hint" }), &["nothing"]);
    served.refused(&json!({ "do": "hint", "prority": "high" }), &["prority", "priority"]);
    served.refused(&json!({ "do": "status", "x": 1 }), &["does not take \"x\""]);
    served.refused(&json!({ "do": "hint", "offset": u64::MAX, "length": 512, "priority": "low" }), &["beyond any drive"]);
    served.refused(&json!({ "do": "lba-status", "offset": served.size, "length": 512 }), &["the drive has"]);
    served.refused(&json!({ "do": "lba-status", "length": 0 }), &["at least one byte"]);
    served.refused(&json!({ "do": "lba-status", "offset": -1 }), &["whole number"]);
    served.refused(&json!({ "do": "kill-die" }), &["needs \"die\""]);
    served.refused(&json!({ "do": "kill-die", "die": 4 }), &["the drive has 4"]);
    served.refused(&json!({ "do": "kill-die", "die": 1e300 }), &["whole number"]);
    served.refused(&json!({ "do": "heat", "celsius": "hot" }), &["-55 to 150"]);
    served.refused(&json!({ "do": "snapshot", "folder": "here" }), &["absolute"]);
    served.refused(&json!({ "do": "snapshot", "folder": "/nowhere/at/all" }), &["in memory"]);
    served.refused(&json!({ "do": "stop-recording" }), &["nothing is being recorded"]);
    let help = served.ask(&json!({ "do": "help" }));
    assert_eq!(help["commands"].as_array().map(Vec::len), Some(wordline_live::commands().len()));
}

#[test]
fn hostile_clients_are_answered_or_dropped_and_hurt_nobody() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let seed = 5;
    let mut draw = Draw::new(seed, Stream::Mix, 3);
    for round in 0..300 {
        let mut stream = UnixStream::connect(&served.control).expect("it listens");
        let mut noise: Vec<u8> = match draw.below(4) {
            0 => (0..draw.below(500)).map(|_| draw.below(256) as u8).collect(),
            1 => br#"{"do":"hint","offset":"#.iter().copied().chain((0..draw.below(60)).map(|_| b"0123456789,-e.[]{}\""[draw.below(19) as usize])).collect(),
            2 => vec![b'['; draw.below(60_000) as usize],
            _ => br#"{"do":"status"}"#[..draw.below(15) as usize].to_vec(),
        };
        noise.retain(|&byte| byte != b'\n');
        noise.push(b'\n');
        if stream.write_all(&noise).is_err() || noise.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("seed {seed} round {round}: {error}: {answer}"));
        assert_eq!(answer["ok"], false, "{answer}");
    }
    // A line without an end: so much and no more.
    let mut endless = UnixStream::connect(&served.control).expect("it listens");
    let _ = (0..100).try_for_each(|_| endless.write_all(&[b'x'; 4096]));
    let mut told = String::new();
    let _ = BufReader::new(endless).read_line(&mut told);
    assert!(told.is_empty() || told.contains("more than 65536 bytes"), "{told}");
    // Too many at a time.
    let crowd: Vec<_> = (0..40).map(|_| UnixStream::connect(&served.control).expect("it listens")).collect();
    let mut client = connect(&served.disk);
    client.write(0, &[9; 512]);
    drop(crowd);
    // A recorder that never reads does not hold up the drive.
    let mut deaf = UnixStream::connect(&served.control).expect("it listens");
    while writeln!(deaf, "{{\"do\":\"record\"}}").is_err() {
        deaf = UnixStream::connect(&served.control).expect("it listens");
    }
    for at in 0..20_000u64 {
        client.request(&Op::Write { offset: at % 64 * 512, data: vec![7; 512], fua: false });
        if at % 64 == 63 {
            (0..64).for_each(|_| assert_eq!(client.answer().fault, None));
        }
    }
}

#[test]
fn slow_clients_keep_nobody_out() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let connect = || UnixStream::connect(&served.control).expect("it listens");
    let _silent: Vec<UnixStream> = (0..64).map(|_| connect()).collect();
    let halves: Vec<UnixStream> = (0..32).map(|_| connect()).collect();
    halves.iter().for_each(|mut stream| stream.write_all(b"{\"do\":").expect("taken"));
    // One that has a recording keeps it.
    let mut recorder = connect();
    writeln!(recorder, "{{\"do\":\"record\"}}").expect("taken");
    let mut recorded = BufReader::new(recorder);
    let mut line = String::new();
    recorded.read_line(&mut line).expect("an answer");
    assert!(line.contains("recording"), "{line}");
    for _ in 0..40 {
        assert_eq!(served.ask(&json!({ "do": "status" }))["ok"], true);
    }
    assert_eq!(served.ask(&json!({ "do": "status" }))["live"]["recordings"], 1);
}

#[test]
fn whatever_is_said_there_is_one_answer_and_it_has_no_other_effect() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let mut client = connect(&served.disk);
    client.write(0, &[7; 8192]);
    let sound = [
        r#"{"do":"hint","offset":65536,"length":65536,"priority":"high","lifetime":"short"}"#,
        r#"{"do":"lba-status","offset":0,"length":65536}"#,
        r#"{"do":"heat","celsius":70}"#,
        r#"{"do":"snapshot","folder":""}"#,
        r#"{"do":"status"}"#,
        r#"{"do":"help"}"#,
    ];
    let mut draw = Draw::new(81, Stream::Mix, 3);
    for number in 0..3_000 {
        let mut line = sound[draw.below(sound.len() as u64) as usize].as_bytes().to_vec();
        for _ in 0..=draw.below(4) {
            let at = draw.below(line.len() as u64) as usize;
            match draw.below(4) {
                0 => line[at] = draw.below(256) as u8,
                1 => line.insert(at, b"{}[]\",:0-9eE."[draw.below(13) as usize]),
                2 if line.len() > 2 => drop(line.remove(at)),
                _ => line.truncate(at.max(1)),
            }
        }
        line.retain(|&byte| byte != b'\n');
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let mut stream = BufReader::new(UnixStream::connect(&served.control).expect("it listens"));
        stream.get_mut().write_all(&[&line[..], b"\n"].concat()).expect("it is taken");
        let mut answer = String::new();
        stream.read_line(&mut answer).expect("an answer");
        let said = || format!("line {number}: {:?}: {answer:?}", String::from_utf8_lossy(&line));
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|why| panic!("{why}: {}", said()));
        assert!(answer["ok"].is_boolean() && (answer["ok"] == true) != answer["error"].is_string(), "{}", said());
    }
    assert_eq!(client.read(0, 8192), [7; 8192]);
}
