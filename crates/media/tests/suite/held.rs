//! Is what the host does not take read as if it had, and do the files stand as they stood at one instant until it does?

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use wordline_media::{Backing, Backlog, Die, Durability, Held, Identity, Media, Memory, Replay, Tape};

use crate::common::{Seed, dice, draw_act, erased, expect, identity, perform, see};

/// Takes so many bytes and no more.
#[derive(Debug)]
struct Small {
    memory: Memory,
    room: Rc<Cell<u64>>,
}

impl Backing for Small {
    fn length(&self) -> io::Result<u64> {
        self.memory.length()
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.memory.set_length(length)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.memory.read(offset, into)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.room.get() < bytes.len() as u64 {
            // Nothing of it: a part would be a torn write, which the tests of cuts have.
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room.set(self.room.get() - bytes.len() as u64);
        self.memory.write(offset, bytes)
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        if self.room.get() == 0 { Err(io::ErrorKind::QuotaExceeded.into()) } else { self.memory.punch(offset, length) }
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        self.memory.data_end(from, until)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.memory.sync()
    }
}

const DIES: u32 = 2;

fn files(media: &Media<Held<Small>>) -> Vec<Memory> {
    (0..DIES).map(|die| media.die(die).backing().below().memory.unrecorded()).collect()
}

#[test]
fn files_are_as_they_were_at_one_instant_and_reads_are_as_if_all_were_done() {
    let (mut held_back, mut settled) = (0, 0);
    for seed in 0..60 {
        let _seed = Seed(seed);
        let durability = if seed % 2 == 0 { Durability::Process } else { Durability::Host };
        let (room, backlog, tape) = (Rc::new(Cell::new(u64::MAX)), Backlog::default(), Tape::new());
        let die = |die: u32| {
            let small = Small { memory: Memory::recorded(&tape, die as usize), room: Rc::clone(&room) };
            Die::create(small, &format!("die {die}"), &Identity { die, ..identity(DIES) }).expect("room enough")
        };
        let mut media = Media::of((0..DIES).map(die).collect(), durability).patient(&backlog);
        // The same work on a host that takes everything, as a tape of what each operation writes.
        let twin_tape = Tape::new();
        let mut twin = Media::in_memory(&identity(DIES), durability, &twin_tape).expect("a sound identity");
        let (mut draw, mut seen) = (dice(seed), erased(DIES));
        for _ in 0..30 {
            room.set(if draw.below(3) == 0 { u64::MAX } else { draw.below(9_000) });
            for _ in 0..8 {
                let act = draw_act(&mut draw, &seen);
                perform(&mut media, act);
                perform(&mut twin, act);
                expect(&mut seen, act);
            }
            assert_eq!(see(&media), seen, "what is read");
            held_back += u64::from(!backlog.is_empty());
            assert!(backlog.refusal().is_none_or(|refusal| refusal.is_full));
            // What the files hold is a beginning of what was to be done to them: of all, in one order.
            let (done, all) = (tape.entries(), twin_tape.entries());
            assert!(all.starts_with(&done), "the files hold {} of {} writes, and others", done.len(), all.len());
            let mut then = Replay::new(DIES as usize);
            all[..done.len()].iter().for_each(|entry| then.apply(entry).expect("memory"));
            let opened = |files: &[Memory]| see(&Media::open_memory(files, Some(&identity(DIES)), durability).expect("sound"));
            assert_eq!(opened(&files(&media)), opened(then.files()));
            if media.settle(None, &backlog).expect("no sync fails") {
                settled += 1;
                assert!(backlog.is_empty() && backlog.bytes() == 0);
                assert_eq!(tape.entries(), twin_tape.entries());
                assert_eq!(opened(&files(&media)), seen, "everything is in the files");
            }
        }
    }
    assert!(held_back > 300 && settled > 300, "{held_back} {settled}");
}
