//! All dies of a drive.

use std::io;
use std::path::Path;

use crate::backing::{Backing, Disk};
use crate::die::Die;
use crate::directory::{self, Lock};
use crate::dump::{Dump, DumpShape};
use crate::durability::Durability;
use crate::error::MediaError;
use crate::folder::Folder;
use crate::header::Identity;
use crate::held::{Attempt, Backlog, Held};
use crate::memory::Memory;
use crate::note;
use crate::overlay::Overlay;
use crate::record::Wear;
use crate::tape::Tape;

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

impl Media<Disk> {
    /// Makes a drive of erased blocks in a folder, which is made if need be. `identity` is that of any die. Each file is made beside its name and then renamed.
    ///
    /// # Errors
    /// If there is a drive already, somebody has the folder, the identity cannot be written down, or the host fails.
    pub fn create(folder: &Path, identity: &Identity, durability: Durability) -> Result<Media<Disk>, MediaError> {
        let (dies, lock) = directory::create(folder, identity, durability)?;
        Ok(Media::new(dies, durability, Some(lock)))
    }

    /// Opens the drive in a folder. `expected`: what the drive is to be, as any of its dies; without it, whatever the first file says.
    ///
    /// # Errors
    /// If somebody has the folder, a file is missing, or as [`Die::open`].
    pub fn open(folder: &Path, expected: Option<&Identity>, durability: Durability) -> Result<Media<Disk>, MediaError> {
        let (dies, lock) = directory::open(folder, expected)?;
        Ok(Media::new(dies, durability, Some(lock)))
    }

    /// Makes files for the dies `missing` of the drive in a folder, whose own are gone: each is a die that has failed. `identity` is that of any die. It comes
    /// before [`Media::open`].
    ///
    /// # Errors
    /// If such a die is not missing or the drive has none of that number, if there is no die of the drive left, somebody has the folder, or the host fails.
    pub fn replace_missing(folder: &Path, identity: &Identity, missing: &[u32], durability: Durability) -> Result<(), MediaError> {
        directory::replace_missing(folder, identity, missing, durability)
    }

    /// Makes the dump of its write buffer, beside its name and then renamed.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If the media are not in a folder.
    pub fn create_dump(&self, shape: DumpShape) -> Result<Dump<Disk>, MediaError> {
        directory::create_dump(self.own_folder(), shape)
    }

    /// Opens the dump of its write buffer.
    ///
    /// # Errors
    /// As [`Dump::open`].
    ///
    /// # Panics
    /// If the media are not in a folder.
    pub fn open_dump(&self, shape: DumpShape) -> Result<Dump<Disk>, MediaError> {
        directory::open_dump(self.own_folder(), shape)
    }
}

impl Media<Overlay<Disk>> {
    /// Opens the drive in a folder to be looked at and worked on, without changing anything in it, whoever owns it. Others may look at it
    /// meanwhile, and nobody may write. `expected` as in [`Media::open`].
    ///
    /// # Errors
    /// As [`Media::open`].
    pub fn look_at(folder: &Path, expected: Option<&Identity>) -> Result<Media<Overlay<Disk>>, MediaError> {
        let (dies, lock) = directory::look_at(folder, expected)?;
        Ok(Media::new(dies, Durability::Process, Some(lock)))
    }

    /// The drive in a folder, by the first of its dies whose file is there. Others may look at it meanwhile, and nobody may write.
    ///
    /// # Errors
    /// If there is none, somebody writes in the folder, or as [`Die::open`].
    pub fn identity_in(folder: &Path) -> Result<Identity, MediaError> {
        directory::identity_in(folder)
    }

    /// Opens the drive of `identity` in a folder as [`Media::look_at`] does, with a die in memory that has failed for each of the dies `missing`, whose files
    /// are gone.
    ///
    /// # Errors
    /// As there, and if such a die is not missing, the drive has none of that number, or no die of the drive is left.
    pub fn look_at_without(folder: &Path, identity: &Identity, missing: &[u32]) -> Result<Media<Overlay<Disk>>, MediaError> {
        let (dies, lock) = directory::look_at_without(folder, identity, missing)?;
        Ok(Media::new(dies, Durability::Process, Some(lock)))
    }

    /// Opens the dump of its write buffer in the same way.
    ///
    /// # Errors
    /// As [`Dump::open`].
    ///
    /// # Panics
    /// If the media are not in a folder.
    pub fn look_at_dump(&self, shape: DumpShape) -> Result<Dump<Overlay<Disk>>, MediaError> {
        directory::look_at_dump(self.own_folder(), shape)
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

    /// Keeps `text`, which ends with a whole line, in the file `name` beside them, as durable as they are; `None` removes the file. Media in memory keep none.
    ///
    /// # Errors
    /// If the host fails. The file is as it was then.
    pub fn keep_text(&self, name: &str, text: Option<&str>) -> io::Result<()> {
        self.folder().map_or(Ok(()), |folder| note::keep(folder, name, text, self.durability))
    }

    /// The text that was kept in the file `name`; `None`: there is none.
    ///
    /// # Errors
    /// If it is not as it was written, or the host fails.
    pub fn kept_text(&self, name: &str) -> io::Result<Option<String>> {
        self.folder().map_or(Ok(None), |folder| note::kept(folder, name))
    }

    fn own_folder(&self) -> &Folder {
        self.folder().expect("media on files are in a folder")
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
