//! After a power cut between any two writes, or within any write, is everything as before or after the operation, or torn where it was being written?

use wordline_media::{Condition, Durability, Media, PageState, Replay, Tape, Tear};

use crate::common::{Act, Seed, Seen, dice, draw_act, erased, expect, identity, memory, perform, see, see_die};

const DIES: u32 = 2;

/// Whether `now` is a state that a cut within `act` may leave.
fn allowed(now: &[Vec<Seen>], before: &[Vec<Seen>], act: Act) -> Result<(), String> {
    let mut after = before.to_vec();
    expect(&mut after, act);
    for die in 0..now.len() {
        for block in 0..now[die].len() {
            let (now, before, after) = (&now[die][block], &before[die][block], &after[die][block]);
            let (mut torn, mut flagged) = (before.clone(), before.clone());
            match act {
                Act::Program(..) if before != after => {
                    torn.pages[torn.cursor as usize] = (PageState::Torn, None, 0);
                    torn.cursor += 1;
                }
                Act::Erase(..) if before != after => {
                    let condition = if before.condition == Condition::Bad { Condition::Bad } else { Condition::Torn };
                    let pages = vec![(PageState::Torn, None, 0); before.pages.len()];
                    torn = Seen { condition, erases: after.erases, flags: 0, cursor: 0, wear: before.wear.clone(), pages };
                }
                Act::WipePage(_, place, flags) if before != after => {
                    torn.pages[place.page as usize] = (PageState::Torn, None, 0);
                    flagged.pages[place.page as usize].2 |= flags;
                }
                Act::Program(..)
                | Act::WipePage(..)
                | Act::Erase(..)
                | Act::FlagPage(..)
                | Act::FlagBlock(..)
                | Act::MarkBad(..)
                | Act::KeepWear(..)
                | Act::Sync => {}
            }
            if ![before, after, &torn, &flagged].contains(&now) {
                return Err(format!("die {die} block {block}, cut within {act:?}:\nnow    {now:?}\nbefore {before:?}\nafter  {after:?}"));
            }
        }
    }
    Ok(())
}

/// Runs a random life and cuts it everywhere. Returns how many cuts there were.
fn cut_everywhere(seed: u64) -> usize {
    let _seed = Seed(seed);
    let mut draw = dice(seed);
    let (mut media, tape) = memory(DIES, Durability::Process);
    let mut states = vec![erased(DIES)];
    let mut acts = Vec::new();
    let made = tape.len();
    let mut act_of_entry = Vec::new();
    for _ in 0..40 {
        let mut state = states[states.len() - 1].clone();
        let act = draw_act(&mut draw, &state);
        perform(&mut media, act);
        expect(&mut state, act);
        act_of_entry.resize(tape.len() - made, acts.len());
        states.push(state);
        acts.push(act);
    }
    let entries = tape.entries();
    let mut replay = Replay::new(DIES as usize);
    entries[..made].iter().for_each(|entry| replay.apply(entry).expect("memory"));
    let mut cuts = 0;
    let mut check = |replay: &Replay, act: usize| {
        let media = Media::open_memory(replay.files(), Some(&identity(DIES)), Durability::Process).expect("a cut leaves a drive");
        if let Err(what) = allowed(&see(&media), &states[act], acts[act]) {
            panic!("{what}");
        }
        cuts += 1;
    };
    for (entry, &act) in entries[made..].iter().zip(&act_of_entry) {
        check(&replay, act);
        for _ in 0..4 {
            let mut torn = replay.clone();
            torn.apply_torn(entry, Tear::Prefix(draw.below(3000))).expect("memory");
            check(&torn, act);
            let sectors = draw.next_u64();
            let mut torn = replay.clone();
            torn.apply_torn(entry, Tear::Sectors(&|sector| sectors >> (sector % 64) & 1 != 0)).expect("memory");
            check(&torn, act);
        }
        replay.apply(entry).expect("memory");
        check(&replay, act);
    }
    let media = Media::open_memory(replay.files(), None, Durability::Process).expect("whole");
    assert_eq!(see(&media), states[states.len() - 1]);
    cuts
}

#[test]
fn any_cut_leaves_old_new_or_torn() {
    let cuts: usize = (0..24).map(cut_everywhere).sum();
    assert!(cuts > 10_000, "{cuts}");
}

#[test]
fn recovery_can_be_cut_too() {
    // A record whose first copy is torn: opening mends it.
    let (mut media, tape) = memory(1, Durability::Process);
    perform(&mut media, Act::FlagBlock(0, 2, 5));
    perform(&mut media, Act::FlagBlock(0, 2, 8));
    let entries = tape.entries();
    let mut replay = Replay::new(1);
    entries[..entries.len() - 2].iter().for_each(|entry| replay.apply(entry).expect("memory"));
    replay.apply_torn(&entries[entries.len() - 2], Tear::Prefix(30)).expect("memory");
    let mending = Tape::new();
    let die = wordline_media::Die::open(replay.files()[0].record_on(&mending, 0), "die", None).expect("mended");
    let whole = see_die(&die);
    assert_eq!(whole[2].flags, 5);
    let mends = mending.entries();
    assert_eq!(mends.len(), 1, "the copy that is broken");
    for cut in 0..=mends.len() {
        for kept in [0, 10, 40] {
            let mut again = Replay::from(replay.files());
            mends[..cut].iter().for_each(|entry| again.apply(entry).expect("memory"));
            if let Some(entry) = mends.get(cut) {
                again.apply_torn(entry, Tear::Prefix(kept)).expect("memory");
            }
            let die = wordline_media::Die::open(again.files()[0].unrecorded(), "die", None).expect("mended again");
            assert_eq!(see_die(&die), whole);
        }
    }
}
