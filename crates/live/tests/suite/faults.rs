//! Do faults on demand do to a served drive what they say, for as long as they say, and do the counters of health count them?

use serde_json::{Value, json};
use wordline_block::{Errno, Op};
use wordline_live::Timing;
use wordline_units::random::{Draw, Stream};

use crate::client::connect;
use crate::control::{Served, served};

const UNIT: u64 = 16_384;
const EIO: Errno = Errno::Io;

/// A drive that holds 64 units, each full of its number, on flash.
fn filled() -> Served {
    let served = served(&["cells.physics=false", "mapping.spare_blocks=2"], Timing::Off);
    let mut client = connect(&served.disk);
    for unit in 0..64 {
        client.write(unit * UNIT, &vec![unit as u8; UNIT as usize]);
    }
    assert_eq!(client.call(&Op::Flush).fault, None);
    served
}

/// The errors of reads of units.
fn read(served: &Served, units: &[u64]) -> Vec<Option<Errno>> {
    let mut client = connect(&served.disk);
    let read = |&unit: &u64| {
        let answer = client.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 });
        if answer.fault.is_none() {
            assert!(answer.bytes.iter().all(|&byte| byte == unit as u8), "unit {unit} holds something else");
        }
        answer.fault.map(|fault| fault.errno)
    };
    units.iter().map(read).collect()
}

fn write(served: &Served, unit: u64) {
    let mut client = connect(&served.disk);
    client.write(unit * UNIT, &vec![unit as u8; UNIT as usize]);
    assert_eq!(client.call(&Op::Flush).fault, None);
}

fn done(served: &Served, request: &Value) -> Value {
    let answer = served.ask(request);
    assert_eq!(answer["ok"], true, "{request}: {answer}");
    answer
}

fn smart(served: &Served) -> Value {
    done(served, &json!({ "do": "smart" }))["smart"].take()
}

#[test]
fn a_read_fails_as_often_as_it_was_asked_to_and_its_neighbour_never() {
    let served = filled();
    let before = smart(&served);
    assert_eq!((before["media_errors"].as_u64(), before["unreadable_units"].as_u64()), (Some(0), Some(0)), "{before}");
    let answer = done(&served, &json!({ "do": "fault read", "offset": 7 * UNIT + 512, "count": 2 }));
    assert_eq!((answer["pages"].as_u64(), answer["places"][0]["die"].is_u64()), (Some(1), true), "{answer}");
    assert_eq!(smart(&served)["unreadable_units"], 0, "the firmware has not noticed");
    assert_eq!(read(&served, &[7, 8]), [Some(EIO), None]);
    assert_eq!(smart(&served)["unreadable_units"], 1);
    assert_eq!(read(&served, &[7, 6, 7, 7]), [Some(EIO), None, None, None]);
    let after = smart(&served);
    assert_eq!((after["media_errors"].as_u64(), after["unreadable_units"].as_u64()), (Some(2), Some(0)), "{after}");
    assert_eq!(done(&served, &json!({ "do": "fault list" }))["faults"], json!([]));
    let status = done(&served, &json!({ "do": "status" }));
    assert_eq!((status["smart"]["media_errors"].as_u64(), status["live"]["faults"].as_u64()), (Some(2), Some(0)));
}

#[test]
fn a_read_without_a_count_fails_until_the_unit_is_written_again() {
    let served = filled();
    done(&served, &json!({ "do": "fault read", "offset": 3 * UNIT, "length": 2 * UNIT }));
    assert_eq!(done(&served, &json!({ "do": "fault list" }))["faults"].as_array().map(Vec::len), Some(2));
    assert_eq!(smart(&served)["unreadable_units"], 0, "the firmware has not noticed");
    assert_eq!(read(&served, &[3, 4]), [Some(EIO), Some(EIO)]);
    assert_eq!(smart(&served)["unreadable_units"], 2);
    assert_eq!(read(&served, &[3, 4, 5, 3, 4]), [Some(EIO), Some(EIO), None, Some(EIO), Some(EIO)]);
    write(&served, 3);
    assert_eq!(read(&served, &[3, 4, 5]), [None, Some(EIO), None]);
    assert_eq!(smart(&served)["unreadable_units"], 1);
    done(&served, &json!({ "do": "fault clear" }));
    assert_eq!(read(&served, &[3, 4]), [None, None], "nothing was destroyed");
}

#[test]
fn a_corrupt_page_fails_until_it_is_written_again_also_where_reclaim_moves_it() {
    let served = filled();
    for unit in [10, 20] {
        done(&served, &json!({ "do": "fault corrupt", "offset": unit * UNIT, "seed": 5 }));
    }
    assert_eq!(read(&served, &[10, 11, 20]), [Some(EIO), None, Some(EIO)]);
    write(&served, 10);
    assert_eq!(read(&served, &[10, 20]), [None, Some(EIO)]);
    done(&served, &json!({ "do": "fault clear" }));
    assert_eq!(read(&served, &[20]), [Some(EIO)], "what is destroyed stays so");
    // Everything else is written until all blocks have been erased more than once.
    let mut client = connect(&served.disk);
    let mut draw = Draw::new(1, Stream::Address, 1);
    let units = served.size / UNIT;
    for _ in 0..6 * units {
        let unit = 64 + draw.below(units - 64);
        client.write(unit * UNIT, &vec![unit as u8; UNIT as usize]);
    }
    let smart = smart(&served);
    assert!(smart["erases_mean"].as_f64().is_some_and(|mean| mean > 2.0), "{smart}");
    assert_eq!(smart["unreadable_units"], 1, "it is still one: {smart}");
    assert_eq!(read(&served, &[19, 20, 21]), [None, Some(EIO), None], "moved as lost, and lost it stays");
    write(&served, 20);
    assert_eq!(read(&served, &[20]), [None]);
    assert_eq!(self::smart(&served)["unreadable_units"], 0);
}

#[test]
fn a_program_that_fails_is_one_grown_bad_block_and_nothing_is_lost() {
    for request in [json!({ "do": "fault program-fail" }), json!({ "do": "fault program-fail", "die": 2, "count": 1 })] {
        let served = filled();
        let before = smart(&served);
        done(&served, &request);
        let mut client = connect(&served.disk);
        for round in 0..3 {
            for unit in 0..64 {
                client.write((64 * round + unit) * UNIT, &vec![(64 * round + unit) as u8; UNIT as usize]);
            }
        }
        assert_eq!(client.call(&Op::Flush).fault, None);
        let all: Vec<u64> = (0..192).collect();
        assert!(read(&served, &all).iter().all(Option::is_none), "{request}: something is lost");
        // The block is emptied and replaced while the drive works on.
        let mut after = smart(&served);
        for round in 0..200u64 {
            if after["grown_bad_blocks"] == 1 {
                break;
            }
            write(&served, round % 64);
            after = smart(&served);
        }
        assert_eq!(after["grown_bad_blocks"], 1, "{request}: {before} {after}");
        let left = |smart: &Value| smart["spare_blocks_left"].as_u64().expect("a number");
        assert_eq!(left(&after) + 1, left(&before), "{request}: one spare stands in for it");
        assert!(after["spare_percent"].as_f64() < before["spare_percent"].as_f64());
        assert!(read(&served, &all).iter().all(Option::is_none), "{request}: something is lost");
    }
}

#[test]
fn a_plane_and_blocks_that_fail_take_what_they_hold_and_nothing_else() {
    let served = filled();
    let places = done(&served, &json!({ "do": "lba-status", "offset": 0, "length": 64 * UNIT }))["places"].take();
    let flash = |unit: usize, key: &str| places[unit]["flash"][key].as_u64().expect("on flash");
    let (die, block) = (flash(5, "die"), flash(5, "block"));
    done(&served, &json!({ "do": "fault kill", "kill": "blocks", "die": die, "plane": flash(5, "plane"), "blocks": block }));
    let lost = |unit: usize| flash(unit, "die") == die && flash(unit, "plane") == flash(5, "plane") && flash(unit, "block") == block;
    let expected: Vec<Option<Errno>> = (0..64).map(|unit| lost(unit).then_some(EIO)).collect();
    let units: Vec<u64> = (0..64).collect();
    assert_eq!(read(&served, &units), expected);
    let count = expected.iter().flatten().count() as u64;
    assert!((1..32).contains(&count) && smart(&served)["unreadable_units"] == count, "{count} of 64: {}", smart(&served));
    done(&served, &json!({ "do": "fault clear" }));
    assert_eq!(read(&served, &units), expected, "what failed for good stays so");

    done(&served, &json!({ "do": "fault kill", "kill": "plane", "die": die, "plane": 0 }));
    let lost = |unit: usize| flash(unit, "die") == die && (flash(unit, "plane") == 0 || expected[unit].is_some());
    let expected: Vec<Option<Errno>> = (0..64).map(|unit| lost(unit).then_some(EIO)).collect();
    assert!(expected.contains(&None) && expected.contains(&Some(EIO)));
    assert_eq!(read(&served, &units), expected);
}

#[test]
fn wrong_faults_are_told_what_is_right() {
    let served = served(&["cells.physics=false"], Timing::Off);
    for (request, words) in [
        (json!({ "do": "fault raed", "offset": 0 }), &["did you mean fault read?"][..]),
        (json!({ "do": "fault" }), &["expected one of fault read, fault corrupt"]),
        (json!({ "do": "hnit" }), &["did you mean hint?"]),
        (json!({ "do": "fault read", "ofset": 0 }), &["does not take \"ofset\"", "did you mean offset?"]),
        (json!({ "do": "fault read" }), &["needs \"offset\""]),
        (json!({ "do": "fault read", "offset": 0 }), &["never written"]),
        (json!({ "do": "fault read", "offset": served.size }), &["the drive has"]),
        (json!({ "do": "fault read", "offset": 0, "count": 0 }), &["count", "at least 1"]),
        (json!({ "do": "fault read", "offset": 0, "count": -1 }), &["count", "whole number"]),
        (json!({ "do": "fault corrupt", "offset": 0, "seed": "x" }), &["seed", "whole number"]),
        (json!({ "do": "fault program-fail", "die": 4 }), &["die 4", "has 4"]),
        (json!({ "do": "fault power-cut" }), &["needs \"after\""]),
        (json!({ "do": "fault kill", "kill": "plaen", "die": 0 }), &["did you mean plane?"]),
        (json!({ "do": "fault kill", "kill": "plane", "die": 0 }), &["needs \"plane\""]),
        (json!({ "do": "fault kill", "kill": "plane", "die": 0, "plane": 9 }), &["plane 9", "counted from 0"]),
        (json!({ "do": "fault kill", "kill": "blocks", "die": 0 }), &["needs \"blocks\""]),
        (json!({ "do": "fault kill", "kill": "blocks", "die": 0, "blocks": "7..4" }), &["7..4", "4..7"]),
        (json!({ "do": "fault kill", "kill": "blocks", "die": 0, "blocks": "4..900" }), &["block 900", "has 48"]),
        (json!({ "do": "fault kill", "kill": "blocks", "die": 9, "blocks": 3 }), &["die 9"]),
    ] {
        served.refused(&request, words);
    }
    let mut client = connect(&served.disk);
    client.write(0, &[1; 512]);
    served.refused(&json!({ "do": "fault read", "offset": 0 }), &["write buffer", "flush first"]);
    assert_eq!(served.ask(&json!({ "do": "fault list" }))["faults"], json!([]));
}
