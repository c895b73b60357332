//! Is a flipped bit noticed wherever it is, and does no file, however wrong, bring the program down?

use wordline_media::{Backing, Die, Durability, MediaError, Memory, PageState, Replay, Tape};

use crate::common::{SHAPE, Seed, dice, draw_act, erased, expect, identity, memory, perform, see_die, wear_of};

/// A drive of one die with a life behind it, and what it should look like.
fn lived(seed: u64) -> (Memory, Vec<crate::common::Seen>) {
    let mut draw = dice(seed);
    let (mut media, _) = memory(1, Durability::Process);
    let mut twin = erased(1);
    for _ in 0..40 {
        let act = draw_act(&mut draw, &twin);
        perform(&mut media, act);
        expect(&mut twin, act);
    }
    (media.die(0).backing().unrecorded(), twin.remove(0))
}

fn byte(file: &Memory, at: u64) -> u8 {
    let mut byte = [0];
    file.read(at, &mut byte).expect("inside");
    byte[0]
}

#[test]
fn a_flipped_bit_is_noticed() {
    let mut torn = 0;
    let lives: Vec<_> = (0..7).map(lived).collect();
    for seed in 0..2000 {
        let _seed = Seed(seed);
        let (mut file, twin) = lives[seed as usize % 7].clone();
        let mut draw = dice(seed);
        let at = draw.below(file.length().expect("memory"));
        file.write(at, &[byte(&file, at) ^ 1 << draw.below(8)]).expect("memory");
        let Ok(die) = Die::open(file, "die", Some(&identity(1))) else {
            assert!(at < 4096, "only the header is without a second copy, offset {at}");
            continue;
        };
        for (now, before) in see_die(&die).iter().zip(&twin) {
            assert_eq!((now.condition, now.erases, now.flags), (before.condition, before.erases, before.flags), "offset {at}");
            assert_eq!(now.wear, before.wear, "offset {at}");
            for (now, before) in now.pages.iter().zip(&before.pages) {
                assert!(now == before || now.0 == PageState::Torn, "offset {at}: {before:?} became {now:?}");
                torn += usize::from(now.0 == PageState::Torn);
            }
        }
    }
    assert!(torn > 300, "{torn}: the flips hit nothing");
}

#[test]
fn a_wear_is_lost_only_with_both_its_copies() {
    let (mut media, _) = memory(1, Durability::Process);
    let wears = [0, 539].map(wear_of);
    wears.iter().for_each(|wear| media.keep_wear(0, 2, wear).expect("memory"));
    let file = media.die(0).backing().unrecorded();
    // Four tails of a sector for each of four blocks, the two of block 2 that are in use behind those of the string before.
    let tails = SHAPE.file_bytes() - 16 * 512 + 8 * 512;
    let opened = |places: &[u64]| {
        let mut file = file.unrecorded();
        places.iter().for_each(|&at| file.write(at, &[byte(&file, at) ^ 8]).expect("memory"));
        Die::open(file, "die", None).expect("a die").wear(2).map_err(|error| error.to_string())
    };
    let (used, unused) = ([0, 1].map(|copy| tails + 512 * copy), tails + 1024);
    let (used, unused) = if opened(&used).is_err() { (used, unused) } else { ([unused, unused + 512], used[0]) };
    for places in [&[][..], &used[..1], &used[1..], &[unused]] {
        assert_eq!(opened(places).as_deref(), Ok(&wears[1][..]), "{places:?}");
    }
    let both = opened(&used).expect_err("both copies are broken");
    assert_eq!(
        both,
        format!("die: at offset {}: expected the wear of block 2, here or at offset {}, found two broken copies", used[0], used[1])
    );
}

#[test]
fn a_file_of_the_version_before_becomes_one_of_todays_and_keeps_what_it_kept() {
    let (file, twin) = lived(3);
    // Version 2 had neither tails nor strings, but five numbers in each record.
    let mut old = file.unrecorded();
    let record = [[1u32, 7, 0, 0], [11, 12, 13, 14]].concat();
    let mut bytes: Vec<u8> = record.iter().chain(&[15]).flat_map(|number| number.to_le_bytes()).collect();
    bytes.resize(60, 0);
    bytes.extend(crc32(&bytes).to_le_bytes());
    for copy in 0..2 {
        old.write(4096 + copy * 4096 + 64, &bytes).expect("memory");
    }
    old.set_length(SHAPE.file_bytes() - 16 * 512).expect("memory");
    old.write(8, &[2]).expect("memory");
    let tape = Tape::new();
    let see = |die: &Die<Memory>| (die.wear(1).expect("memory"), see_die(die));
    let die = Die::open(old.record_on(&tape, 0), "die", Some(&identity(1))).expect("a file of the version before");
    let (wear, seen) = see(&die);
    let numbers: Vec<u8> = [11u32, 12, 13, 14, 15].iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(wear, [&[0][..], &numbers].concat());
    assert_eq!(seen[1].erases, 7);
    for block in [0, 2, 3] {
        assert_eq!(seen[block].pages, twin[block].pages, "block {block}");
    }
    assert_eq!(byte(die.backing(), 8), 4);
    assert_eq!(die.backing().length().expect("memory"), SHAPE.file_bytes());
    // Wherever the change is cut, the next opening ends it.
    for cut in 0..tape.len() {
        let mut replay = Replay::from(std::slice::from_ref(&old));
        tape.entries()[..cut].iter().for_each(|entry| replay.apply(entry).expect("memory"));
        let again = Die::open(replay.files()[0].unrecorded(), "die", Some(&identity(1))).expect("still a die");
        assert!(see(&again) == (wear.clone(), seen.clone()), "cut after {cut}");
    }
}

#[test]
fn hostile_files_end_in_an_error_or_a_die() {
    let (mut opened, mut refused) = (0, 0);
    let lives: Vec<_> = (0..5).map(|seed| lived(seed).0).collect();
    for seed in 0..4000 {
        let _seed = Seed(seed);
        let mut draw = dice(seed);
        let mut file = lives[seed as usize % 5].clone();
        let length = file.length().expect("memory");
        for _ in 0..1 + draw.below(4) {
            match draw.below(5) {
                0 => file.set_length(draw.below(2 * length)).expect("memory"),
                // Mostly in the records, where structure is.
                1 | 2 => {
                    let at = 4096 + draw.below(8192);
                    let noise: Vec<u8> = (0..1 + draw.below(200)).map(|_| draw.next_u64() as u8).collect();
                    file.write(at, &noise).expect("memory");
                }
                3 => file.punch(draw.below(length), draw.below(9000)).expect("memory"),
                _ => {
                    // A header that is whole but absurd.
                    let mut header = vec![0; 4096];
                    if file.length().expect("memory") < 4096 {
                        continue;
                    }
                    file.read(0, &mut header).expect("memory");
                    let at = 32 + 4 * draw.below(8) as usize;
                    let value = [0, 1, 63, u32::MAX, 1 << 20, 1 << 31][draw.below(6) as usize];
                    header[at..at + 4].copy_from_slice(&value.to_le_bytes());
                    let version = std::mem::replace(&mut header[8], 2);
                    let sum = crc32(&header[..4092]);
                    header[8] = version;
                    header[4092..].copy_from_slice(&sum.to_le_bytes());
                    file.write(0, &header).expect("memory");
                }
            }
        }
        match Die::open(file, "die", None) {
            Ok(die) => {
                see_die(&die);
                opened += 1;
            }
            Err(error) => {
                assert!(error.to_string().starts_with("die: "), "{error}");
                refused += 1;
            }
        }
    }
    assert!(opened > 300 && refused > 300, "{opened} opened, {refused} refused");
}

/// CRC-32 as everybody has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xEDB8_8320 }))
}

#[test]
fn errors_say_file_offset_and_what_was_expected() {
    let (file, _) = lived(1);
    let opened = |change: &dyn Fn(&mut Memory), expected: Option<&wordline_media::Identity>| {
        let mut file = file.clone();
        change(&mut file);
        Die::open(file, "a/die-000.media", expected).err().map(|error| error.to_string())
    };
    let patched = |at: u64, bytes: &'static [u8]| opened(&|file| file.write(at, bytes).expect("memory"), None);
    assert_eq!(opened(&|_| {}, Some(&identity(1))), None);
    assert_eq!(
        patched(0, b"PNG").as_deref(),
        Some(r"a/die-000.media: at offset 0: expected a media file, which begins with `WLMEDIA`, found `PNGEDIA\n`")
    );
    assert_eq!(
        patched(8, &[1]).as_deref(),
        Some(
            "a/die-000.media: media format 1, this program writes format 4 and reads it and formats 2 and 3; use the program that made it, or make the drive anew"
        )
    );
    let newer = patched(8, &[5]).unwrap_or_default();
    assert!(newer.starts_with("a/die-000.media: media format 5, this program writes format 4"), "{newer}");
    let sum = patched(200, &[1]).unwrap_or_default();
    assert!(sum.starts_with("a/die-000.media: at offset 4092: expected the header's checksum 0x"), "{sum}");
    let length = SHAPE.file_bytes();
    assert_eq!(
        opened(&|file| file.set_length(5000).expect("memory"), None),
        Some(format!("a/die-000.media: at offset 5000: expected {length} bytes in all, found 5000 bytes"))
    );
    assert_eq!(
        opened(&|file| file.set_length(100).expect("memory"), None).as_deref(),
        Some("a/die-000.media: at offset 100: expected a header of 4096 bytes, found the end of the file")
    );
    let mut other = identity(1);
    other.shape.pages = 7;
    assert_eq!(opened(&|_| {}, Some(&other)).as_deref(), Some("a/die-000.media: at offset 48: expected pages in a block 7, found 5"));
    other = identity(1);
    other.chip = "tlc48".to_owned();
    assert_eq!(opened(&|_| {}, Some(&other)).as_deref(), Some("a/die-000.media: at offset 64: expected chip `tlc48`, found `test-chip`"));
    let both = opened(&|file| [4096, 8192].iter().for_each(|&at| file.write(at, &[7; 9]).expect("memory")), None);
    assert_eq!(
        both.as_deref(),
        Some("a/die-000.media: at offset 4096: expected a whole record of block 0, here or at offset 8192, found two broken ones")
    );
    let error = Die::create(Memory::new(), "x", &wordline_media::Identity { chip: "x".repeat(65), ..identity(1) }).err();
    assert!(matches!(error, Some(MediaError::Shape { .. })));
}
