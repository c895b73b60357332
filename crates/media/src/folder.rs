//! The folder of a drive: its files are opened by name from the folder's own descriptor, and links in it are not followed.
//!
//! A server writes into files whose names everybody knows. A link in their place would let whoever put it there choose what the server overwrites. So no name
//! in the folder is ever resolved by its whole path, a link there is refused, and so is a folder that others can put links into: one that another user owns or
//! may write. ssh and PostgreSQL treat their folders in the same way. The folder's own path may lead over links, because its user has named it.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fchmod, fstat, fsync, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::MediaError;

/// The longest text that is read. Text that belongs there is a thousandth of it.
const TEXT_MAX: u64 = 16 << 20;

/// Bits of a mode with which others may write.
const OTHERS_WRITE: u32 = 0o022;

/// Mode of every file: its owner's alone.
const OWNER_ALONE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A folder that is its user's own, held open.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// If it is none, another user owns it or may write in it, or the host fails.
    pub fn open(path: &Path) -> Result<Folder, MediaError> {
        let folder = Folder::look_into(path)?;
        let stat = fstat(&folder.descriptor);
        let stat = stat.map_err(|error| MediaError::host(&path.display().to_string(), 0, "opening the folder", error.into()))?;
        match foreign(stat.st_uid, stat.st_mode, geteuid().as_raw()) {
            Some((why, remedy)) => Err(MediaError::Foreign { folder: path.display().to_string(), why, remedy }),
            None => Ok(folder),
        }
    }

    /// Opens the folder at `path`, whoever owns it, for one who writes nothing in it.
    ///
    /// # Errors
    /// If it is none, or the host fails.
    pub fn look_into(path: &Path) -> Result<Folder, MediaError> {
        let failed = |error: Errno| MediaError::host(&path.display().to_string(), 0, "opening the folder", error.into());
        let descriptor = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        Ok(Folder { descriptor, path: path.to_owned() })
    }

    /// Opens the folder at `path`, which is made with mode 700 if need be.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn make(path: &Path) -> Result<Folder, MediaError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| MediaError::host(&path.display().to_string(), 0, "making the folder", error))?;
        Folder::open(path)
    }

    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its mode.
    ///
    /// # Errors
    /// If the host fails.
    pub fn mode(&self) -> io::Result<u32> {
        Ok(fstat(&self.descriptor)?.st_mode & 0o777)
    }

    /// The path of the file `name`, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn stat(&self, name: &str) -> Result<Stat, Errno> {
        statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// True if there is anything of that name, a link included.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.stat(name).is_ok()
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // A pipe that nobody writes would be waited for.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(&self.descriptor, name, flags, OWNER_ALONE).map_err(|error| match error {
            Errno::LOOP => {
                io::Error::other("it is a symbolic link, and links in a media folder are not followed: put the file itself there")
            }
            error => error.into(),
        })?;
        if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(opened.into())
    }

    /// Opens the file `name` to be read.
    ///
    /// # Errors
    /// If there is none, it is a link or no regular file, or the host fails.
    pub fn look(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDONLY)
    }

    /// Opens the file `name` to be read and written.
    pub(crate) fn edit(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDWR)
    }

    /// Opens the file `name` to be read and written; it is made if need be.
    pub(crate) fn edit_or_make(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// Makes the file `name`, its owner's alone whatever the umask. Something else that was left there goes; where that was a link, what it leads to stays as
    /// it is.
    ///
    /// # Errors
    /// If the host fails.
    pub fn make_new(&self, name: &str) -> io::Result<File> {
        match unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let file = self.file(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        fchmod(&file, OWNER_ALONE)?;
        Ok(file)
    }

    /// Renames the file `from`; what had the name `to` goes.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    /// Removes the file `name`.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    /// Syncs the names in it.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.descriptor)?)
    }

    /// The text in the file `name`, 16 MiB of it at most.
    ///
    /// # Errors
    /// As [`Folder::look`], or if it is no text.
    pub fn read(&self, name: &str) -> io::Result<String> {
        let mut text = String::new();
        self.look(name)?.take(TEXT_MAX).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Writes `text` to the file `name`, beside its name and then renamed.
    ///
    /// # Errors
    /// If the host fails.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        self.write_as(name, text, false)
    }

    /// The same; `is_synced`: it survives the death of the host.
    pub(crate) fn write_as(&self, name: &str, text: &str, is_synced: bool) -> io::Result<()> {
        let beside = format!("{name}.new");
        let write = |mut file: File| {
            file.write_all(text.as_bytes())?;
            if is_synced { file.sync_all() } else { Ok(()) }
        };
        let written = self.make_new(&beside).and_then(write).and_then(|()| self.rename(&beside, name));
        let written = written.and_then(|()| if is_synced { self.sync() } else { Ok(()) });
        if written.is_err() {
            // Half a file is none.
            let _ = self.remove(&beside);
        }
        written
    }

    /// Names of the files in it.
    ///
    /// # Errors
    /// If the host fails.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.descriptor)? {
            // Media have names of plain letters.
            let entry = entry?;
            entry
                .file_name()
                .to_str()
                .ok()
                .filter(|name| !matches!(*name, "." | ".."))
                .into_iter()
                .for_each(|name| names.push(name.to_owned()));
        }
        names.sort();
        Ok(names)
    }
}

/// Why a folder with this owner and mode is not the own one of the user `me`, and what can be done about it.
fn foreign(owner: u32, mode: u32, me: u32) -> Option<(String, String)> {
    if owner != me {
        let why = format!("it belongs to user {owner}, and this process runs as user {me}");
        return Some((why, format!("run as user {owner}, or choose another folder")));
    }
    let why = format!("it has mode {:03o}, so that other users may write in it", mode & 0o777);
    (mode & OTHERS_WRITE != 0).then_some((why, "`chmod go-w` the folder".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A folder that goes with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("wordline-folder-{}-{name}", std::process::id()));
            DirBuilder::new().mode(0o700).create(&path).expect("it is new");
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn only_the_own_folder_that_nobody_else_may_write_is_taken() {
        assert_eq!(foreign(1000, 0o40755, 1000), None);
        assert_eq!(foreign(0, 0o40700, 0), None);
        for (owner, mode, me, word) in
            [(1000, 0o700, 1001, "user 1000"), (1000, 0o700, 0, "user 0"), (7, 0o775, 7, "775"), (7, 0o702, 7, "702")]
        {
            let (why, _) = foreign(owner, mode, me).expect("it is refused");
            assert!(why.contains(word), "{why}");
        }
        let scratch = Scratch::new("mode");
        std::fs::set_permissions(&scratch.0, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
        let refused = Folder::open(&scratch.0).expect_err("everybody may write there").to_string();
        assert!(refused.contains("mode 777") && refused.contains("chmod go-w"), "{refused}");
        assert!(Folder::look_into(&scratch.0).is_ok(), "one who writes nothing may look");
    }

    #[test]
    fn a_link_is_neither_read_nor_written_through() {
        let scratch = Scratch::new("links");
        let (target, path) = (scratch.0.join("target"), scratch.0.join("folder"));
        std::fs::write(&target, "theirs").expect("it can be written");
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
        let folder = Folder::make(&path).expect("it can be made");
        for name in ["lock", "plan.toml", "plan.toml.new"] {
            symlink(&target, path.join(name)).expect("it can be linked");
        }
        for opened in [folder.look("lock"), folder.edit("lock"), folder.edit_or_make("lock")] {
            let refused = opened.expect_err("it is a link").to_string();
            assert!(refused.contains("symbolic link"), "{refused}");
        }
        assert!(folder.read("plan.toml").is_err());
        folder.write("plan.toml", "ours").expect("the link goes");
        assert_eq!(folder.read("plan.toml").expect("it is a file now"), "ours");
        assert_eq!(std::fs::read_to_string(&target).expect("it is there"), "theirs");
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&target), mode(&path.join("plan.toml")), mode(&path)), (0o644, 0o600, 0o700));
        assert_eq!(folder.names().expect("it can be read"), ["lock", "plan.toml"]);
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let scratch = Scratch::new("kinds");
        let folder = Folder::open(&scratch.0).expect("it is ours");
        rustix::fs::mkfifoat(&folder.descriptor, "pipe", Mode::RUSR | Mode::WUSR).expect("it can be made");
        DirBuilder::new().create(scratch.0.join("inner")).expect("it can be made");
        assert!(folder.look("pipe").expect_err("a pipe").to_string().contains("no regular file"));
        assert!(folder.look("inner").is_err() && folder.edit("inner").is_err());
        assert!(!folder.has("nothing") && folder.has("pipe"));
    }
}
