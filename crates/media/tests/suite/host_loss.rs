//! If the host dies, and of the writes since the last sync any part is there: is what was synced there, and nothing that was never written?

use std::collections::BTreeMap;

use wordline_media::{Act as Written, Die, Durability, Entry, Media, PageState, Place, Replay, Tape, Tear};
use wordline_units::random::Draw;

use crate::common::{Act, Seed, bytes_of, dice, draw_act, erased, expect, identity, memory, page, perform, see, see_die, wear_of, wiped};

const DIES: u32 = 2;

/// Strings that were kept of a block, each with the number of entries of the tape before it.
type Wears = Vec<(usize, Vec<u8>)>;

fn lose(seed: u64) -> (usize, usize) {
    let _seed = Seed(seed);
    let mut draw = dice(seed);
    let (mut media, tape) = memory(DIES, Durability::Host);
    let mut twin = erased(DIES);
    // When each page was programmed, or its block's erase begun, in entries of the tape; and all that ever stood there.
    let mut programmed: BTreeMap<(u32, Place), (usize, Vec<u8>)> = BTreeMap::new();
    let mut history: BTreeMap<(u32, Place), Vec<Vec<u8>>> = BTreeMap::new();
    // What was kept of each block, and after how many entries.
    let mut wears: BTreeMap<(u32, u32), Wears> = BTreeMap::new();
    media.sync().expect("memory");
    let cut_after = 20 + draw.below(40);
    for _ in 0..cut_after {
        let act = draw_act(&mut draw, &twin);
        if let Act::Erase(die, block) = act {
            programmed.retain(|&(of, place), _| (of, place.block) != (die, block));
        }
        perform(&mut media, act);
        expect(&mut twin, act);
        if let Act::Program(die, place, fill) = act {
            let bytes = bytes_of(&page(&crate::common::SHAPE, fill));
            programmed.insert((die, place), (tape.len(), bytes.clone()));
            history.entry((die, place)).or_default().push(bytes);
        }
        if let Act::KeepWear(die, block, fill) = act {
            wears.entry((die, block)).or_default().push((tape.len(), wear_of(fill)));
        }
        if let Act::WipePage(die, place, _) = act {
            programmed.insert((die, place), (tape.len(), wiped()));
            history.entry((die, place)).or_default().push(wiped());
        }
    }
    let entries = tape.entries();
    let last_sync = |file| entries.iter().rposition(|entry| entry.file == file && entry.act == Written::Sync).unwrap_or(0);
    let synced: Vec<usize> = (0..DIES as usize).map(last_sync).collect();
    let replay = lose_some(&entries, &synced, &mut draw);
    let media = Media::open_memory(replay.files(), Some(&identity(DIES)), Durability::Host).expect("what remains is a drive");
    let seen = see(&media);
    let mut kept = 0;
    for (&(die, place), (entry, bytes)) in &programmed {
        if *entry <= synced[die as usize] {
            let now = &seen[die as usize][place.block as usize].pages[place.page as usize];
            assert_eq!((now.0, now.1.as_ref()), (PageState::Written, Some(bytes)), "die {die} {place:?} was synced");
            kept += 1;
        }
    }
    for (die, blocks) in seen.iter().enumerate() {
        for (block, seen) in blocks.iter().enumerate() {
            let kept = wears.get(&(die as u32, block as u32)).map_or(&[][..], Vec::as_slice);
            let certain = kept.iter().rposition(|(entry, _)| *entry <= synced[die] + 1);
            let may = &kept[certain.unwrap_or(0)..];
            let is_one_of_them =
                may.iter().any(|(_, wear)| seen.wear.as_ref() == Some(wear)) || (certain.is_none() && seen.wear == Some(Vec::new()));
            assert!(is_one_of_them, "die {die} block {block}: {:?}", seen.wear);
            for (page, (state, bytes, _)) in seen.pages.iter().enumerate() {
                let place = Place { block: block as u32, page: page as u32 };
                if *state == PageState::Written {
                    let bytes = bytes.as_ref().expect("written");
                    assert!(history[&(die as u32, place)].contains(bytes), "die {die} {place:?} holds what was never written there");
                }
            }
        }
    }
    (kept, mend_and_cut(&replay, &mut draw))
}

/// Replays a tape: all that was synced, and of the rest any part.
fn lose_some(entries: &[Entry], synced: &[usize], draw: &mut Draw) -> Replay {
    let mut replay = Replay::new(DIES as usize);
    for (index, entry) in entries.iter().enumerate() {
        let chance = draw.next_u64();
        if index <= synced[entry.file] || chance.is_multiple_of(3) {
            replay.apply(entry).expect("memory");
        } else if chance % 3 == 1 {
            replay.apply_torn(entry, Tear::Sectors(&|sector| chance >> (2 + sector % 60) & 1 != 0)).expect("memory");
        }
    }
    replay
}

/// Opens what remained, and cuts that opening at each of its writes. Returns how many it had.
fn mend_and_cut(replay: &Replay, draw: &mut Draw) -> usize {
    let mut writes = 0;
    for file in replay.files() {
        let tape = Tape::new();
        let whole = see_die(&Die::open(file.record_on(&tape, 0), "die", None).expect("opens"));
        let entries = tape.entries();
        for cut in 0..entries.len() {
            let mut again = Replay::from(std::slice::from_ref(file));
            entries[..cut].iter().for_each(|entry| again.apply(entry).expect("memory"));
            again.apply_torn(&entries[cut], Tear::Prefix(draw.below(4000))).expect("memory");
            let die = Die::open(again.files()[0].unrecorded(), "die", None).expect("opens again");
            assert!(see_die(&die) == whole, "cut in opening");
        }
        writes += entries.len();
    }
    writes
}

#[test]
fn what_was_synced_is_there() {
    let (mut kept, mut mended) = (0, 0);
    for seed in 0..400 {
        let (pages, writes) = lose(seed);
        kept += pages;
        mended += writes;
    }
    assert!(kept > 1000 && mended > 100, "{kept} pages, {mended} writes of recovery: too little to tell anything");
}

#[test]
fn a_wear_of_any_length_is_there_as_it_was_or_as_it_was_to_be() {
    for seed in 0..3000 {
        let _seed = Seed(seed);
        let mut draw = dice(seed);
        let (mut media, tape) = memory(1, Durability::Host);
        media.sync().expect("memory");
        // What was kept, and after how many entries it was begun and ended.
        let mut wears = vec![(0, tape.len(), Vec::new())];
        for _ in 0..8 {
            let (fill, begun) = (draw.next_u64(), tape.len());
            media.keep_wear(0, 1, &wear_of(fill)).expect("memory");
            wears.push((begun, tape.len(), wear_of(fill)));
        }
        // The host dies at some entry, and what was not synced by then is there or not.
        let entries = tape.entries();
        let cut = wears[0].1 + draw.below((entries.len() - wears[0].1 + 1) as u64) as usize;
        let synced = entries[..cut].iter().rposition(|entry| entry.act == Written::Sync).unwrap_or(0);
        let mut replay = Replay::new(1);
        for (index, entry) in entries[..cut].iter().enumerate() {
            if index <= synced || draw.below(2) == 0 {
                replay.apply(entry).expect("memory");
            }
        }
        let media = Media::open_memory(replay.files(), Some(&identity(1)), Durability::Host).expect("what remains is a drive");
        let found = media.die(0).wear(1).unwrap_or_else(|error| panic!("{error}"));
        let certain = wears.iter().rposition(|(_, ended, _)| *ended <= synced + 1).unwrap_or(0);
        assert!(wears[certain..].iter().any(|(begun, _, wear)| *begun < cut && *wear == found), "{} bytes", found.len());
    }
}
