//! All dies of a drive.

use crate::backing::Backing;
use crate::die::Die;
use crate::directory::Lock;
use crate::dump::Dump;
use crate::error::MediaError;
use crate::folder::Folder;
use crate::header::Identity;
use crate::held::{Attempt, Backlog, Held};
use crate::memory::Memory;
use crate::record::Wear;
use crate::tape::Tape;

/// What the media are to survive. The head of the crate says what each needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process, at any instant. Nothing is ever synced.
    #[default]
    Process,
    /// The death of the host, from one [`Media::sync`] to the next.
    Host,
}

/// The dies of one drive.
#[derive(Debug)]
pub struct Media<B> {
    dies: Vec<Die<B>>,
    durability: Durability,
    /// Held as long as the media are open.
    lock: Option<Lock>,
}

impl Media<Memory> {
    /// Makes the dies of a drive in memory, and records all that is done to them. `identity` is that of any die.
    ///
    /// # Errors
    /// If the identity cannot be written down.
    pub fn in_memory(identity: &Identity, durability: Durability, tape: &Tape) -> Result<Media<Memory>, MediaError> {
        let make = |die| Die::create(Memory::recorded(tape, die as usize), &format!("die {die}"), &Identity { die, ..identity.clone() });
        let dies = (0..identity.dies).map(make).collect::<Result<_, _>>()?;
        Ok(Media::new(dies, durability, None))
    }

    /// Opens dies in memory, such as [`crate::Replay::files`], without recording.
    ///
    /// # Errors
    /// As [`Die::open`].
    pub fn open_memory(files: &[Memory], expected: Option<&Identity>, durability: Durability) -> Result<Media<Memory>, MediaError> {
        let open = |(die, file): (usize, &Memory)| {
            let expected = expected.map(|identity| Identity { die: die as u32, ..identity.clone() });
            Die::open(file.unrecorded(), &format!("die {die}"), expected.as_ref())
        };
        let dies = files.iter().enumerate().map(open).collect::<Result<_, _>>()?;
        Ok(Media::new(dies, durability, None))
    }
}

impl<B: Backing> Media<Held<B>> {
    /// Tries to do what is held of them and of `dump`, in its order. Returns whether nothing is held any more. All of them are to
    /// have been made patient with this backlog, and the dump to stand behind the last die.
    ///
    /// # Errors
    /// If a sync failed: what was written before it may be lost.
    pub fn settle(&mut self, mut dump: Option<&mut Dump<Held<B>>>, backlog: &Backlog) -> Result<bool, MediaError> {
        loop {
            let attempt = backlog.attempt(|file| match self.dies.get_mut(file) {
                Some(die) => die.backing_mut(),
                None => dump.as_mut().expect("only what is there is written to").backing_mut(),
            })?;
            match attempt {
                Attempt::NothingHeld => return Ok(true),
                Attempt::Done => {}
                Attempt::Refused => return Ok(false),
            }
        }
    }
}

impl<B: Backing> Media<B> {
    /// The dies of one drive, each on a backing of its own, first to last, in no folder.
    pub fn of(dies: Vec<Die<B>>, durability: Durability) -> Media<B> {
        Media::new(dies, durability, None)
    }

    pub(crate) fn new(mut dies: Vec<Die<B>>, durability: Durability, lock: Option<Lock>) -> Media<B> {
        if durability == Durability::Process {
            dies.iter_mut().for_each(Die::keep_room);
        }
        Media { dies, durability, lock }
    }

    /// Of chips that take the wordlines of a block in any order, if `any_order`: see [`Die::allow_any_order`].
    #[must_use]
    pub fn with_order(mut self, any_order: bool) -> Media<B> {
        if any_order {
            self.dies.iter_mut().for_each(Die::allow_any_order);
        }
        self
    }

    /// The same dies on files whose work is held in `backlog` where the host does not take it: see [`Held`].
    #[must_use]
    pub fn patient(self, backlog: &Backlog) -> Media<Held<B>> {
        let Media { dies, durability, lock } = self;
        let held = |(number, die): (usize, Die<B>)| die.on(|backing, file| Held::new(backing, number, file, backlog));
        Media { dies: dies.into_iter().enumerate().map(held).collect(), durability, lock }
    }

    /// Bytes that the host has left: see [`Backing::room`].
    ///
    /// # Errors
    /// As the host says.
    pub fn room(&self) -> std::io::Result<u64> {
        self.dies.first().map_or(Ok(u64::MAX), |die| die.backing().room())
    }

    /// The folder they are in; `None`: they are in memory.
    pub fn folder(&self) -> Option<&Folder> {
        self.lock.as_ref().map(Lock::folder)
    }

    /// What they are to survive.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// How many dies there are.
    pub fn dies(&self) -> u32 {
        self.dies.len() as u32
    }

    /// A die.
    ///
    /// # Panics
    /// If there is no such die.
    pub fn die(&self, die: u32) -> &Die<B> {
        &self.dies[die as usize]
    }

    /// A die, to be programmed and flagged. Blocks are erased through [`Media::erase_block`].
    ///
    /// # Panics
    /// If there is no such die.
    pub fn die_mut(&mut self, die: u32) -> &mut Die<B> {
        &mut self.dies[die as usize]
    }

    /// Erases a block. Where the host may die, everything that was programmed before becomes durable first: the block may hold the last durable copy of it.
    ///
    /// # Errors
    /// As [`Die::erase_block`] and [`Die::sync`].
    ///
    /// # Panics
    /// If there is no such block.
    pub fn erase_block(&mut self, die: u32, block: u32) -> Result<(), MediaError> {
        self.begin_erase(die, block)?;
        self.dies[die as usize].end_erase(block)
    }

    /// Begins to erase a block, in the same way: it is torn until [`Die::end_erase`].
    ///
    /// # Errors
    /// As [`Die::begin_erase`] and [`Die::sync`].
    ///
    /// # Panics
    /// If there is no such block.
    pub fn begin_erase(&mut self, die: u32, block: u32) -> Result<(), MediaError> {
        self.sync()?;
        self.dies[die as usize].begin_erase(block)
    }

    /// Keeps the wear of a block with it. Where the host may die, what its record has no room for becomes durable before the record names it.
    ///
    /// # Errors
    /// As [`Die::keep_wear`] and [`Die::sync`].
    ///
    /// # Panics
    /// As [`Die::keep_wear`].
    pub fn keep_wear(&mut self, die: u32, block: u32, wear: &[u8]) -> Result<(), MediaError> {
        let die = &mut self.dies[die as usize];
        let is_apart = self.durability == Durability::Host && Wear::is_long(wear);
        if is_apart {
            // The record before must not name the tail that is written now.
            die.sync()?;
        }
        let named = die.write_tail(block, wear)?;
        if is_apart {
            die.sync()?;
        }
        die.name_wear(block, named)
    }

    /// What a flush has to wait for: all that was done survives whatever the media are to survive.
    ///
    /// # Errors
    /// As [`Die::sync`].
    pub fn sync(&mut self) -> Result<(), MediaError> {
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Host => self.dies.iter_mut().try_for_each(Die::sync),
        }
    }
}
