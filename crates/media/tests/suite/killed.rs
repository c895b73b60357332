//! Is everything there that was done before a `kill -9`, and can the drive be opened at once?
//!
//! The test program starts itself as the victim, with a variable that says so.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use wordline_media::{Durability, Media};

use crate::common::{Act, dice, draw_act, erased, expect, identity, perform, see};
use crate::files::Folder;

const VICTIM: &str = "WORDLINE_MEDIA_VICTIM";

/// The acts of a life, the same for both processes.
fn life(seed: u64) -> impl Iterator<Item = Act> {
    let (mut draw, mut twin) = (dice(seed), erased(2));
    std::iter::from_fn(move || {
        let act = draw_act(&mut draw, &twin);
        expect(&mut twin, act);
        Some(act)
    })
}

/// Does nothing unless it is started by the test below.
#[test]
fn victim() {
    let Ok(folder) = std::env::var(VICTIM) else { return };
    let (folder, seed) = folder.rsplit_once(':').expect("folder:seed");
    let mut media = Media::create(folder.as_ref(), &identity(2), Durability::Process).expect("a fresh folder");
    for (number, act) in life(seed.parse().expect("a number")).enumerate() {
        perform(&mut media, act);
        println!("done {number}");
    }
}

#[test]
fn nothing_done_is_lost() {
    for seed in 0..6 {
        let folder = Folder::new(&format!("killed-{seed}"));
        let mut victim = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "killed::victim", "--nocapture"])
            .env(VICTIM, format!("{}:{seed}", folder.0.display()))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(victim.stdout.take().expect("piped")).lines();
        let mut done = 0;
        while done < 50 + 40 * seed {
            let line = lines.next().expect("it goes on for ever").expect("text");
            done += u64::from(line.contains("done "));
        }
        victim.kill().expect("it lives");
        victim.wait().expect("it is dead");
        done += lines.map_while(Result::ok).filter(|line| line.contains("done ")).count() as u64;

        let media = Media::open(&folder.0, Some(&identity(2)), Durability::Process).expect("nobody holds the lock");
        let mut twin = erased(2);
        let mut acts = life(seed);
        acts.by_ref().take(done as usize).for_each(|act| expect(&mut twin, act));
        // The act after the last that was reported may have been done, in whole or in part; its block is another test's business.
        let next = acts.next().expect("endless");
        let touched = match next {
            Act::Program(die, place, _) | Act::FlagPage(die, place, _) | Act::WipePage(die, place, _) => Some((die, place.block)),
            Act::Erase(die, block) | Act::FlagBlock(die, block, _) | Act::MarkBad(die, block) | Act::KeepWear(die, block, _) => {
                Some((die, block))
            }
            Act::Sync => None,
        };
        for (die, (now, before)) in (0..).zip(see(&media).iter().zip(&twin)) {
            for (block, (now, before)) in (0..).zip(now.iter().zip(before)) {
                assert!(now == before || touched == Some((die, block)), "seed {seed} after {done} acts: die {die} block {block}");
            }
        }
    }
}
