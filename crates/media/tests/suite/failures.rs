//! Does what has failed for good stay failed over openings, cuts and older formats?

use std::fs;

use wordline_media::{Backing, Die, DieState, Durability, Media, MediaError, Memory, Replay, Tape};

use crate::common::{Act, identity, perform, see_die};
use crate::files::Folder;

/// Which blocks of a die have failed.
fn failed<B: Backing>(die: &Die<B>) -> Vec<u32> {
    (0..die.shape().blocks).filter(|&block| die.block(block).has_failed).collect()
}

fn opened(file: &Memory) -> Result<Die<Memory>, MediaError> {
    Die::open(file.unrecorded(), "die", Some(&identity(1)))
}

fn made(tape: &Tape) -> Die<Memory> {
    Die::create(Memory::recorded(tape, 0), "die", &identity(1)).expect("memory")
}

fn byte(file: &Memory, at: u64) -> u8 {
    let mut byte = [0];
    file.read(at, &mut byte).expect("memory");
    byte[0]
}

#[test]
fn what_has_failed_stays_so_and_an_erase_is_no_cure() {
    let mut die = made(&Tape::new());
    die.fail_plane(1).expect("memory");
    die.fail_block(2).expect("memory");
    die.fail_block(2).expect("memory");
    for _ in 0..10 {
        die.erase_block(2).expect("memory");
        die = opened(die.backing()).expect("a die");
        assert_eq!((die.state(), failed(&die)), (DieState { failed: None, planes: 0b10 }, vec![2]));
    }
    die.fail(true).expect("memory");
    die.fail(false).expect("memory");
    let die = opened(die.backing()).expect("a die");
    assert_eq!(die.state(), DieState { failed: Some(true), planes: 0b10 }, "a silent die stays silent");
}

#[test]
fn a_failure_is_written_in_one_byte_and_a_cut_leaves_all_of_it_or_nothing() {
    let tape = Tape::new();
    let mut die = made(&tape);
    let before = tape.len();
    die.fail_plane(0).expect("memory");
    die.fail(false).expect("memory");
    die.fail_block(1).expect("memory");
    let entries = tape.entries();
    let mut states = Vec::new();
    for cut in before..=entries.len() {
        let mut replay = Replay::from(&[Memory::default()]);
        entries[..cut].iter().for_each(|entry| replay.apply(entry).expect("memory"));
        let die = opened(&replay.files()[0]).expect("a die");
        states.push((die.state().planes, die.state().failed, failed(&die)));
    }
    // The last two are the copies of a record.
    let known = [(0, None, vec![]), (1, None, vec![]), (1, Some(false), vec![]), (1, Some(false), vec![1]), (1, Some(false), vec![1])];
    assert_eq!(states, known);
}

#[test]
fn a_file_of_format_3_becomes_one_of_today_in_which_nothing_has_failed() {
    let tape = Tape::new();
    let mut media = Media::in_memory(&identity(1), Durability::Process, &tape).expect("memory");
    for act in [Act::Program(0, wordline_media::Place { block: 1, page: 0 }, 7), Act::MarkBad(0, 2), Act::FlagBlock(0, 3, 9)] {
        perform(&mut media, act);
    }
    let seen = see_die(media.die(0));
    let mut file = media.die(0).backing().unrecorded();
    file.write(8, &[3]).expect("memory");
    let die = opened(&file).expect("a file of the version before");
    assert_eq!((see_die(&die), die.state(), failed(&die)), (seen, DieState::default(), vec![]));
    assert_eq!(byte(die.backing(), 8), 4);
}

#[test]
fn a_state_that_nobody_has_written_is_named() {
    let die = made(&Tape::new());
    for (at, value, said) in [
        (12, 0x01, "at offset 12: expected the state of the die, 0x00 well, 0x5a failed or 0xa5 failed and silent, found 0x01"),
        (13, 0x01, "at offset 13: expected the failed planes of the die, four bits and their complement, found 0x01"),
    ] {
        let mut file = die.backing().unrecorded();
        file.write(at, &[value]).expect("memory");
        assert_eq!(opened(&file).expect_err("rotten").to_string(), format!("die: {said}"));
    }
}

#[test]
fn a_die_whose_file_is_gone_is_replaced_by_one_that_has_failed() {
    for gone in [0, 2] {
        let folder = Folder::new(&format!("missing-{gone}"));
        drop(Media::create(&folder.0, &identity(3), Durability::Process).expect("a fresh folder"));
        let replace = |missing: &[u32]| Media::replace_missing(&folder.0, &identity(3), missing, Durability::Process);
        let open = || Media::open(&folder.0, Some(&identity(3)), Durability::Process);
        let file = folder.0.join(format!("die-{gone:03}.media"));
        let there = replace(&[gone]).expect_err("it is there").to_string();
        assert!(there.contains(&format!("die-{gone:03}.media: at offset 0: expected no such file, as the die is missing")), "{there}");
        fs::remove_file(&file).expect("it was there");
        let refused = open().expect_err("not whole").to_string();
        assert!(refused.contains(&format!("`--missing-die {gone}` starts it with this die failed")), "{refused}");
        let beyond = replace(&[3]).expect_err("no such die").to_string();
        assert!(beyond.contains("the number of a missing die"), "{beyond}");
        let looked = Media::look_at_without(&folder.0, &identity(3), &[gone]).expect("it is gone");
        assert_eq!(looked.die(gone).state().failed, Some(false));
        assert!(!file.exists() && Media::look_at_without(&folder.0, &identity(3), &[1]).is_err());
        drop(looked);
        replace(&[gone]).expect("it is gone");
        for _ in 0..2 {
            let media = open().expect("whole again");
            let states: Vec<Option<bool>> = (0..3).map(|die| media.die(die).state().failed).collect();
            assert_eq!(states, (0..3).map(|die| (die == gone).then_some(false)).collect::<Vec<_>>());
        }
    }
    let empty = Folder::new("missing-all");
    fs::create_dir_all(&empty.0).expect("a folder");
    assert!(Media::replace_missing(&empty.0, &identity(3), &[0], Durability::Process).is_err(), "a drive is not made of failed dies");
}
