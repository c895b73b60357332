//! Is what is lost told by the firmware's own tables: not before it has noticed, and then all of it, and exactly?

use serde_json::{Value, json};
use wordline_block::{Errno, Extent, Op};
use wordline_live::Timing;

use crate::client::{Client, connect};
use crate::control::{Served, served};

const UNIT: u64 = 16_384;
const SECTORS: u64 = UNIT / 512;
const UNITS: u64 = 256;
const LOST: u32 = 1;
/// The place of `x-wordline:media` among the contexts.
const MEDIA: usize = 1;

/// A drive with numbered units on flash, which can do without a die.
fn filled() -> Served {
    let served = served(&["cells.physics=false", "mapping.over_provisioning=60 %"], Timing::Off);
    let mut client = connect(&served.disk);
    (0..UNITS).for_each(|unit| client.write(unit * UNIT, &vec![unit as u8; UNIT as usize]));
    assert_eq!(client.call(&Op::Flush).fault, None);
    served
}

fn done(served: &Served, request: &Value) -> Value {
    let answer = served.ask(request);
    assert_eq!(answer["ok"], true, "{request}: {answer}");
    answer
}

fn smart(served: &Served, key: &str) -> u64 {
    done(served, &json!({ "do": "smart" }))["smart"][key].as_u64().expect("a number")
}

fn trouble(served: &Served) -> Value {
    done(served, &json!({ "do": "media" }))["media"]["trouble"].take()
}

/// The units that lie on `die`.
fn units_on(served: &Served, die: u64) -> Vec<u64> {
    let places = done(served, &json!({ "do": "lba-status", "offset": 0, "length": UNITS * UNIT }))["places"].take();
    (0..UNITS).filter(|&unit| places[unit as usize]["flash"]["die"] == die).collect()
}

/// The units that a block status says are lost. All sectors of a unit must agree.
fn flagged(served: &Served) -> Vec<u64> {
    let mut client = Client::open(&served.disk, &[], &[MEDIA]);
    let answer = client.call(&Op::BlockStatus { offset: 0, length: UNITS * UNIT, one: false });
    let extents = answer.status.into_iter().find(|(context, _)| *context == MEDIA).expect("it was asked for").1;
    let mut at = 0;
    let mut units = Vec::new();
    for Extent { length, flags } in extents {
        assert_eq!((at % UNIT, length % UNIT), (0, 0), "whole units");
        units.extend((at / UNIT..(at + length) / UNIT).filter(|_| flags & LOST != 0));
        at += length;
    }
    units
}

/// The units of lost records, and the answer that they are from.
fn recorded(served: &Served, element: Option<u64>) -> (Vec<u64>, Value) {
    let mut request = json!({ "do": "lba-status", "lost": true });
    if let Some(die) = element {
        request["element"] = format!("die:{die}").into();
    }
    let answer = done(served, &request);
    let records = answer["lost"].as_array().expect("records").clone();
    let number = |record: &Value, key: &str| record[key].as_u64().expect("a number");
    let units = records.iter().flat_map(|record| {
        let (lba, count) = (number(record, "lba"), number(record, "count"));
        assert_eq!((lba % SECTORS, count % SECTORS), (0, 0), "whole units: {record}");
        lba / SECTORS..(lba + count) / SECTORS
    });
    (units.collect(), answer)
}

#[test]
fn a_failed_die_is_told_once_the_firmware_has_noticed_and_with_all_that_it_took() {
    let served = filled();
    let lost = units_on(&served, 1);
    assert!(lost.len() > 20 && lost.len() < UNITS as usize / 2);
    done(&served, &json!({ "do": "kill-die", "die": 1 }));
    // The simulator knows, and the firmware does not.
    assert!(flagged(&served).is_empty());
    assert_eq!((smart(&served, "dead_dies"), smart(&served, "unreadable_units"), trouble(&served)), (0, 0, Value::Null));
    let (units, answer) = recorded(&served, None);
    assert_eq!((units.len(), &answer["complete"], &answer["generation"]), (0, &json!(true), &json!(0)), "{answer}");

    let mut client = connect(&served.disk);
    for &unit in &lost {
        let fault = client.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }).fault.expect("it is lost");
        assert_eq!((fault.errno, fault.offset), (Errno::Io, Some(unit * UNIT)), "{fault:?}");
    }
    assert_eq!(flagged(&served), lost, "a block status flags what is lost, and no more");
    let count = lost.len() as u64;
    assert_eq!((smart(&served, "dead_dies"), smart(&served, "unreadable_units"), smart(&served, "refused_units")), (1, count, 0));
    let status = done(&served, &json!({ "do": "status" }))["live"].take();
    assert_eq!((&status["dead_dies"], &status["lost_bytes"]), (&json!([1]), &json!(count * UNIT)), "{status}");
    assert!(status["core_utilisation"][0].as_f64().is_some_and(|share| share > 0.5), "{status}");
    let told = format!("{count} units are lost with die 1");
    assert!(trouble(&served).as_str().is_some_and(|why| why.contains(&told)), "{}", trouble(&served));
    let (units, answer) = recorded(&served, None);
    assert_eq!((units, &answer["complete"]), (lost.clone(), &json!(true)));
    assert!(answer["generation"].as_u64().is_some_and(|generation| generation > 0), "{answer}");
    let is_told = |record: &Value| record["status"] == "lost" && record["element"] == "die:1";
    assert!(answer["lost"].as_array().is_some_and(|records| records.iter().all(is_told)), "{answer}");
    assert_eq!((recorded(&served, Some(1)).0, recorded(&served, Some(0)).0), (lost.clone(), Vec::new()));

    // A read over a lost unit says where it begins.
    let (first, second) = (lost[0], lost[1]);
    let from = first.saturating_sub(1);
    let fault = client.call(&Op::Read { offset: from * UNIT, length: (3 * UNIT) as u32 }).fault.expect("it is lost");
    assert_eq!(fault.offset, Some(first * UNIT), "{fault:?}");
    assert!(fault.message.contains("lost with its die"), "{fault:?}");
    // A unit that is written or trimmed is there again.
    client.write(first * UNIT, &[7; UNIT as usize]);
    assert_eq!(client.call(&Op::Trim { offset: second * UNIT, length: UNIT, fua: false }).fault, None);
    let healed = (flagged(&served), smart(&served, "unreadable_units"), recorded(&served, None).0);
    assert_eq!(healed, (lost[2..].to_vec(), count - 2, lost[2..].to_vec()), "also while it is in the buffer");
    assert_eq!(client.call(&Op::Flush).fault, None);
    assert_eq!((flagged(&served), smart(&served, "unreadable_units")), (lost[2..].to_vec(), count - 2));
}

#[test]
fn lost_addresses_are_told_by_sectors_and_wrong_questions_are_told_what_is_right() {
    let served = filled();
    let mut client = connect(&served.disk);
    let units: Vec<u64> = (0..UNITS).step_by(2).collect();
    for &unit in &units {
        done(&served, &json!({ "do": "fault read", "offset": unit * UNIT }));
        assert!(client.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }).fault.is_some());
    }
    let (told, answer) = recorded(&served, None);
    assert_eq!((told, &answer["lost"][0]["status"], &answer["generation"]), (units.clone(), &json!("unreadable"), &json!(units.len())));
    assert_eq!((smart(&served, "unreadable_units"), smart(&served, "dead_dies")), (units.len() as u64, 0));
    // Sectors in the buffer can be read, the others of their unit cannot.
    client.write(512, &[3; 1024]);
    assert_eq!(client.read(512, 1024), [3; 1024]);
    let fault = client.call(&Op::Read { offset: 512, length: 8192 }).fault.expect("the rest is lost");
    assert_eq!(fault.offset, Some(512 + 1024), "{fault:?}");
    let of_unit = |served: &Served| done(served, &json!({ "do": "lba-status", "lost": true, "offset": 0, "length": UNIT }))["lost"].take();
    let runs = |records: Value| -> Vec<(u64, u64)> {
        let number = |record: &Value, key: &str| record[key].as_u64().expect("a number");
        records.as_array().expect("records").iter().map(|record| (number(record, "lba"), number(record, "count"))).collect()
    };
    assert_eq!(runs(of_unit(&served)), [(0, 1), (3, SECTORS - 3)]);
    assert_eq!(client.call(&Op::Flush).fault, None);
    assert_eq!(runs(of_unit(&served)), [(0, 1), (3, SECTORS - 3)], "what was lost when it was completed stays lost");
    assert_eq!(smart(&served, "unreadable_units"), units.len() as u64);
    for (request, words) in [
        (json!({ "do": "lba-status", "lost": true, "element": "die:4" }), &["die:4", "has 4 dies"][..]),
        (json!({ "do": "lba-status", "lost": true, "element": 3 }), &["expected die:N"]),
        (json!({ "do": "lba-status", "lost": "maybe" }), &["expected true or false"]),
        (json!({ "do": "lba-status", "element": "die:3" }), &["lost=true"]),
    ] {
        served.refused(&request, words);
    }
}

#[test]
fn an_answer_with_too_many_runs_says_where_to_ask_on() {
    let served = served(&["cells.physics=false", "geometry.blocks=144"], Timing::Off);
    let mut client = connect(&served.disk);
    let units = served.size / UNIT;
    assert!(units > 2100, "{units}");
    let all: Vec<u64> = (0..2100).step_by(2).collect();
    (0..2100).for_each(|unit| client.write(unit * UNIT, &[1; UNIT as usize]));
    assert_eq!(client.call(&Op::Flush).fault, None);
    for &unit in &all {
        done(&served, &json!({ "do": "fault read", "offset": unit * UNIT }));
        assert!(client.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }).fault.is_some());
    }
    let first = done(&served, &json!({ "do": "lba-status", "lost": "true" }));
    assert_eq!((first["lost"].as_array().map(Vec::len), &first["complete"]), (Some(1024), &json!(false)), "{}", first["next"]);
    assert_eq!(first["next"], json!(all[1024] * UNIT));
    let rest = done(&served, &json!({ "do": "lba-status", "lost": true, "offset": first["next"] }));
    assert_eq!(
        (rest["lost"].as_array().map(Vec::len), &rest["complete"], &rest["next"]),
        (Some(all.len() - 1024), &json!(true), &Value::Null)
    );
}
