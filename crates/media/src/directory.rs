//! A drive in a folder: a file for each die, and a lock.
//!
//! The lock is `flock` on a file of its own, and not a file that holds a process number: the kernel lets go of it when the process dies in whatever way, so a
//! drive that was killed can be opened at once and a number that was given to another process means nothing. The number is written beside it, for the message
//! alone. On network file systems `flock` may reach no further than one machine.
//!
//! Data on a drive is its owner's: the folder is made with mode 700, every file in it with 600, whatever the umask. Links in it are not followed
//! ([`Folder`]).

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::backing::{Backing, Disk};
use crate::die::Die;
use crate::dump::{Dump, DumpShape};
use crate::durability::Durability;
use crate::error::MediaError;
use crate::folder::Folder;
use crate::header::Identity;
use crate::overlay::Overlay;

/// The file of what capacitors keep.
const DUMP: &str = "buffer.media";

/// The file that is locked.
const LOCK: &str = "lock";

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The locked file; `None`: the folder has none, and is only looked at.
    _file: Option<File>,
    folder: Folder,
}

fn file_of(die: u32) -> String {
    format!("die-{die:03}.media")
}

/// The name under which `name` is made.
fn beside(name: &str) -> String {
    format!("{name}.new")
}

fn host(path: &Path, doing: &'static str, error: io::Error) -> MediaError {
    MediaError::host(&path.display().to_string(), 0, doing, error)
}

impl Lock {
    /// What is locked.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    fn take(folder: Folder) -> Result<Lock, MediaError> {
        let path = folder.path_of(LOCK);
        let failed = |error| host(&path, "locking", error);
        let mut file = folder.edit_or_make(LOCK).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            // A process that only reads has not written its number.
            Err(TryLockError::WouldBlock) if file.try_lock_shared().is_ok() => {
                return Err(MediaError::Locked { folder: folder.path().display().to_string(), holder: "? that only reads".to_owned() });
            }
            Err(TryLockError::WouldBlock) => return Err(held(&folder, &mut file)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // On a full disk there may be no room for it, and then the message does without.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Lock { _file: Some(file), folder })
    }

    /// Takes the lock together with others who only look, and without writing anything.
    fn look(folder: Folder) -> Result<Lock, MediaError> {
        if !folder.has(LOCK) {
            return Ok(Lock { _file: None, folder });
        }
        let path = folder.path_of(LOCK);
        let failed = |error| host(&path, "locking", error);
        let mut file = folder.look(LOCK).map_err(failed)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Lock { _file: Some(file), folder }),
            Err(TryLockError::WouldBlock) => Err(held(&folder, &mut file)),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// The error of a folder whose lock, in `file`, somebody holds.
fn held(folder: &Folder, file: &mut File) -> MediaError {
    let mut holder = String::new();
    let known = file.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
    let holder = if known { holder.trim().to_owned() } else { "?".to_owned() };
    MediaError::Locked { folder: folder.path().display().to_string(), holder }
}

/// Dies of a drive in a folder, and the lock on it.
type Locked<B> = (Vec<Die<B>>, Lock);

/// Makes a drive of erased blocks: [`Media::create`](crate::Media::create).
pub(crate) fn create(folder: &Path, identity: &Identity, durability: Durability) -> Result<Locked<Disk>, MediaError> {
    let lock = Lock::take(Folder::make(folder)?)?;
    let folder = lock.folder();
    let taken = (0..identity.dies).map(file_of).find(|name| folder.has(name));
    if let Some(name) = taken {
        return Err(MediaError::Exists { file: folder.path_of(&name).display().to_string() });
    }
    let made = (0..identity.dies).map(|die| create_die(folder, &Identity { die, ..identity.clone() }, durability));
    let dies = made.collect::<Result<_, _>>().inspect_err(|_| {
        // Half a drive is none, and would be in the way of the next attempt. None of it was there before.
        for name in (0..identity.dies).map(file_of) {
            let _ = folder.remove(&beside(&name));
            let _ = folder.remove(&name);
        }
    })?;
    if durability == Durability::Host {
        folder.sync().map_err(|error| host(folder.path(), "syncing the folder", error))?;
    }
    Ok((dies, lock))
}

/// Opens the drive in a folder: [`Media::open`](crate::Media::open).
pub(crate) fn open(folder: &Path, expected: Option<&Identity>) -> Result<Locked<Disk>, MediaError> {
    open_on(folder, expected, (|folder| Lock::take(Folder::open(folder)?), edit_file), None)
}

/// Makes files for dies whose own are gone: [`Media::replace_missing`](crate::Media::replace_missing).
pub(crate) fn replace_missing(folder: &Path, identity: &Identity, missing: &[u32], durability: Durability) -> Result<(), MediaError> {
    let opened = Folder::open(folder)?;
    check_missing(&opened, identity, missing)?;
    let lock = Lock::take(opened)?;
    for &die in missing {
        create_die_as(lock.folder(), &Identity { die, ..identity.clone() }, durability, |made| made.fail(false))?;
    }
    Ok(())
}

/// Makes the dump of a write buffer, beside its name and then renamed.
pub(crate) fn create_dump(folder: &Folder, shape: DumpShape) -> Result<Dump<Disk>, MediaError> {
    let path = folder.path_of(DUMP);
    let failed = |error| host(&path, "making the file", error);
    let file = folder.make_new(&beside(DUMP)).map_err(failed)?;
    let dump = Dump::create(Disk::new(file), &path.display().to_string(), shape)?;
    folder.rename(&beside(DUMP), DUMP).map_err(failed)?;
    Ok(dump)
}

/// Opens the dump of a write buffer.
pub(crate) fn open_dump(folder: &Folder, shape: DumpShape) -> Result<Dump<Disk>, MediaError> {
    open_dump_on(folder, shape, edit_file)
}

/// Opens the drive in a folder without changing anything in it: [`Media::look_at`](crate::Media::look_at).
pub(crate) fn look_at(folder: &Path, expected: Option<&Identity>) -> Result<Locked<Overlay<Disk>>, MediaError> {
    open_on(folder, expected, LOOK, None)
}

/// The drive in a folder, by the first of its dies whose file is there.
pub(crate) fn identity_in(folder: &Path) -> Result<Identity, MediaError> {
    let lock = Lock::look(Folder::look_into(folder)?)?;
    let Some(first) = (0..=u32::from(u16::MAX)).find(|&die| lock.folder().has(&file_of(die))) else {
        let file = lock.folder().path_of(&file_of(0)).display().to_string();
        return Err(MediaError::unexpected(&file, 0, "the first die of a drive", "no such file"));
    };
    Ok(open_die(lock.folder(), first, None, look_at_file)?.identity().clone())
}

/// Opens the drive in a folder without the dies `missing`: [`Media::look_at_without`](crate::Media::look_at_without).
pub(crate) fn look_at_without(folder: &Path, identity: &Identity, missing: &[u32]) -> Result<Locked<Overlay<Disk>>, MediaError> {
    check_missing(&Folder::look_into(folder)?, identity, missing)?;
    let failed = |die: &Identity| {
        let name = file_of(die.die);
        let file = memfd_create(&name, MemfdFlags::CLOEXEC).map_err(io::Error::from);
        let blank = file.and_then(|file| Overlay::new(Disk::new(file.into())));
        let blank = blank.map_err(|error| host(Path::new(&name), "making it in memory", error))?;
        let mut made = Die::create(blank, &name, die)?;
        made.fail(false)?;
        Ok(made)
    };
    open_on(folder, Some(identity), LOOK, Some((missing, &failed)))
}

/// Opens the dump of a write buffer without changing it.
pub(crate) fn look_at_dump(folder: &Folder, shape: DumpShape) -> Result<Dump<Overlay<Disk>>, MediaError> {
    open_dump_on(folder, shape, look_at_file)
}

/// Entry into a folder that nothing is written to, and its files.
const LOOK: (Enter, Stand<Overlay<Disk>>) = (|folder| Lock::look(Folder::look_into(folder)?), look_at_file);

/// Checks that the files of the dies `missing` of the drive of `identity` are gone, and that others are there.
fn check_missing(folder: &Folder, identity: &Identity, missing: &[u32]) -> Result<(), MediaError> {
    let is_there = |die: &u32| folder.has(&file_of(*die));
    if let Some(&die) = missing.iter().find(|&&die| die >= identity.dies) {
        let expected = "of a die of this drive, counted from 0";
        return Err(MediaError::Shape { what: "the number of a missing die", value: die.into(), expected });
    }
    if let Some(&die) = missing.iter().find(|&die| is_there(die)) {
        let file = folder.path_of(&file_of(die)).display().to_string();
        return Err(MediaError::unexpected(&file, 0, "no such file, as the die is missing", "a file"));
    }
    if !(0..identity.dies).any(|die| is_there(&die)) {
        return Err(MediaError::unexpected(&folder.path().display().to_string(), 0, "a drive that lost a die", "no die of a drive"));
    }
    Ok(())
}

fn edit_file(folder: &Folder, name: &str) -> io::Result<Disk> {
    folder.edit(name).map(Disk::new)
}

fn look_at_file(folder: &Folder, name: &str) -> io::Result<Overlay<Disk>> {
    Overlay::new(Disk::new(folder.look(name)?))
}

/// Makes the file of one die, beside its name and then renamed.
fn create_die(folder: &Folder, identity: &Identity, durability: Durability) -> Result<Die<Disk>, MediaError> {
    create_die_as(folder, identity, durability, |_| Ok(()))
}

/// The same of a die that `make` has done something to before it has its name.
fn create_die_as(
    folder: &Folder,
    identity: &Identity,
    durability: Durability,
    make: impl FnOnce(&mut Die<Disk>) -> Result<(), MediaError>,
) -> Result<Die<Disk>, MediaError> {
    let name = file_of(identity.die);
    let path = folder.path_of(&name);
    let failed = |error| host(&path, "making the file", error);
    let file = folder.make_new(&beside(&name)).map_err(failed)?;
    let mut made = Die::create(Disk::new(file), &path.display().to_string(), identity)?;
    make(&mut made)?;
    if durability == Durability::Host {
        made.sync()?;
    }
    folder.rename(&beside(&name), &name).map_err(failed)?;
    Ok(made)
}

/// Way in which a folder is locked.
type Enter = fn(&Path) -> Result<Lock, MediaError>;

/// Way in which a file becomes a backing.
type Stand<B> = fn(&Folder, &str) -> io::Result<B>;

/// Dies whose files are gone, and a function that makes the one of an identity.
type Missing<'a, B> = (&'a [u32], &'a dyn Fn(&Identity) -> Result<Die<B>, MediaError>);

fn open_on<B: Backing>(
    folder: &Path,
    expected: Option<&Identity>,
    (enter, stand): (Enter, Stand<B>),
    missing: Option<Missing<'_, B>>,
) -> Result<Locked<B>, MediaError> {
    let made = |die: u32| {
        missing.filter(|(dies, _)| dies.contains(&die)).zip(expected).map(|((_, make), all)| make(&Identity { die, ..all.clone() }))
    };
    let absent = |path: &Path, found: String| {
        MediaError::unexpected(&path.join(file_of(0)).display().to_string(), 0, "the first die of a drive", found)
    };
    if !folder.exists() {
        return Err(absent(folder, "no such file".to_owned()));
    }
    let looked = Folder::look_into(folder)?;
    let is_replaced = missing.is_some_and(|(dies, _)| dies.contains(&0));
    if !looked.has(&file_of(0)) && !is_replaced {
        // The error for the folder of a drive that lost this die names the way on.
        let others = expected.is_some_and(|all| (1..all.dies).any(|die| looked.has(&file_of(die))));
        return Err(absent(folder, if others { lost(0) } else { "no such file".to_owned() }));
    }
    let lock = enter(folder)?;
    let folder = lock.folder();
    let first = made(0).unwrap_or_else(|| open_die(folder, 0, expected, stand))?;
    let all = first.identity().clone();
    let mut dies = vec![first];
    for die in 1..all.dies {
        dies.push(made(die).unwrap_or_else(|| open_die(folder, die, Some(&all), stand))?);
    }
    Ok((dies, lock))
}

fn open_dump_on<B: Backing>(folder: &Folder, shape: DumpShape, stand: Stand<B>) -> Result<Dump<B>, MediaError> {
    let path = folder.path_of(DUMP);
    let file = path.display().to_string();
    let opened = stand(folder, DUMP).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return MediaError::unexpected(&file, 0, "what the capacitors of this drive have kept", "no such file");
        }
        host(&path, "opening", error)
    })?;
    Dump::open(opened, &file, shape)
}

/// What is said of the file of a die that is not there.
fn lost(die: u32) -> String {
    format!("no such file: the drive was not made whole, or lost a die; `--missing-die {die}` starts it with this die failed")
}

fn open_die<B: Backing>(folder: &Folder, die: u32, expected: Option<&Identity>, stand: Stand<B>) -> Result<Die<B>, MediaError> {
    let name = file_of(die);
    let path = folder.path_of(&name);
    let file = path.display().to_string();
    let opened = stand(folder, &name).map_err(|error| match expected {
        Some(all) if error.kind() == io::ErrorKind::NotFound => {
            MediaError::unexpected(&file, 0, format!("die {die} of {}", all.dies), lost(die))
        }
        _ => host(&path, "opening", error),
    })?;
    let expected = expected.map(|all| Identity { die, ..all.clone() });
    Die::open(opened, &file, expected.as_ref())
}
