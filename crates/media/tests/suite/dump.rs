//! What capacitors keep: is each slot what it was filled with last, wherever the process dies, and nothing else ever?

use wordline_media::{Backing, Dump, DumpShape, Label, Memory, Replay, Tape, Tear};

use crate::common::{Seed, dice};

const SHAPE: DumpShape = DumpShape { drive: 0x77, slots: 5, slot_bytes: 700, facts: 3, fact_bytes: 60 };

fn bytes_of(label: Label) -> Vec<u8> {
    (0..700u64).map(|at| (at * 31 + label.version * 7 + u64::from(label.unit)) as u8).collect()
}

/// What is in each slot.
fn contents(dump: &mut Dump<Memory>) -> Vec<Option<Label>> {
    let mut bytes = vec![0; 700];
    (0..SHAPE.slots)
        .map(|slot| {
            let label = dump.label(slot)?;
            dump.read(slot, &mut bytes).expect("it is whole");
            assert_eq!(bytes, bytes_of(label), "slot {slot} has the bytes of its label");
            Some(label)
        })
        .collect()
}

#[test]
fn a_slot_holds_the_last_or_the_one_before_wherever_the_process_dies() {
    for seed in 1..=20 {
        let _seed = Seed(seed);
        let mut dice = dice(seed);
        let tape = Tape::new();
        let mut dump = Dump::create(Memory::recorded(&tape, 0), "dump", SHAPE).expect("memory takes it");
        let made = tape.len();
        // What the slots held after each write to the tape.
        let mut states = vec![vec![None; SHAPE.slots as usize]];
        for version in 1..=40 {
            let slot = dice.below(u64::from(SHAPE.slots)) as u32;
            let label = Label { unit: dice.below(100) as u32, version, mask: dice.next_u64(), lost: dice.next_u64() };
            dump.keep(slot, label, &bytes_of(label)).expect("memory takes it");
            let mut state = states.last().expect("never empty").clone();
            state[slot as usize] = Some(label);
            states.push(state);
        }
        assert_eq!(contents(&mut dump), states[40]);
        let entries = tape.entries();
        assert_eq!(entries.len(), made + 40, "a slot is kept by one write");
        let mut replay = Replay::new(1);
        entries[..made].iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
        for (number, entry) in entries[made..].iter().enumerate() {
            let mut torn = Replay::from(replay.files());
            let odd = dice.below(2);
            match dice.below(2) {
                0 => torn.apply_torn(entry, Tear::Prefix(dice.below(732))),
                _ => torn.apply_torn(entry, Tear::Sectors(&|sector| sector % 2 == odd)),
            }
            .expect("memory takes it");
            let mut found = Dump::open(torn.files()[0].unrecorded(), "dump", SHAPE).expect("still a dump");
            let found = contents(&mut found);
            assert!(found == states[number] || found == states[number + 1], "torn write {number}: {found:?}");
            replay.apply(entry).expect("memory takes it");
            let mut whole = Dump::open(replay.files()[0].unrecorded(), "dump", SHAPE).expect("still a dump");
            assert_eq!(contents(&mut whole), states[number + 1]);
        }
    }
}

#[test]
fn of_one_version_the_fuller_is_newer() {
    let tape = Tape::new();
    let mut dump = Dump::create(Memory::recorded(&tape, 0), "dump", SHAPE).expect("memory takes it");
    let part = Label { unit: 3, version: 9, mask: 0b0110, lost: 0 };
    let whole = Label { mask: 0b1111, ..part };
    dump.keep(1, part, &bytes_of(part)).expect("memory takes it");
    dump.keep(1, whole, &bytes_of(whole)).expect("memory takes it");
    let mut replay = Replay::new(1);
    tape.entries().iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
    let dump = Dump::open(replay.files()[0].unrecorded(), "dump", SHAPE).expect("a dump");
    assert_eq!(dump.label(1), Some(whole));
}

#[test]
fn rot_and_strangers_are_noticed() {
    let mut dump = Dump::create(Memory::new(), "dump", SHAPE).expect("memory takes it");
    let label = Label { unit: 3, version: 1, mask: 1, lost: 0 };
    dump.keep(4, label, &bytes_of(label)).expect("memory takes it");
    drop(dump);
    let tape = Tape::new();
    let mut dump = Dump::create(Memory::recorded(&tape, 0), "dump", SHAPE).expect("memory takes it");
    dump.keep(4, label, &bytes_of(label)).expect("memory takes it");
    let mut replay = Replay::new(1);
    tape.entries().iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
    let file = replay.files()[0].unrecorded();
    for (what, other) in [
        ("drive", DumpShape { drive: 0x78, ..SHAPE }),
        ("slots", DumpShape { slots: 6, ..SHAPE }),
        ("bytes", DumpShape { slot_bytes: 512, ..SHAPE }),
    ] {
        let why = Dump::open(file.unrecorded(), "buffer.media", other).expect_err(what).to_string();
        assert!(why.contains("buffer.media") && why.contains("expected the dump of"), "{why}");
    }
    assert!(Dump::open(Memory::new(), "dump", SHAPE).is_err(), "an empty file is none");
    // A slot that rots is empty again when the dump is opened: what was there is not known.
    let mut rotten = file.unrecorded();
    let at = 4096 + 2 * 4 * 732 + 300;
    let mut byte = [0];
    rotten.read(at, &mut byte).expect("it is there");
    rotten.write(at, &[byte[0] ^ 1]).expect("memory takes it");
    assert_eq!(Dump::open(rotten, "dump", SHAPE).expect("a dump").label(4), None);
}
