//! A drive as a loop device with a file system on it: NBD, through FUSE, as a file; the file as a block device.

use std::fs::{self, File};
use std::process::Child;
use std::time::Duration;

use super::bench::{Bench, quietly, said, until};
use super::drive::Drive;

const PATIENCE: Duration = Duration::from_secs(60);

/// A drive as a block device.
pub(super) struct Device<'a> {
    bench: &'a Bench,
    fuse: Child,
    /// The device's name.
    pub(super) name: String,
    /// Open for as long as the device is needed: it frees itself when nobody uses it.
    held: Option<File>,
}

/// A device with ext4 on it, mounted.
pub(super) struct Mounted<'a> {
    device: Device<'a>,
    /// The folder that it is mounted on.
    pub(super) folder: String,
    is_mounted: bool,
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        self.held = None;
        // What is left of this the name space takes with it.
        let _ = until("the file of nbdfuse is free", PATIENCE, || quietly(self.bench.command("umount", &["disk.img"])).is_ok());
        let _ = self.fuse.kill();
        let _ = self.fuse.wait();
    }
}

impl<'a> Device<'a> {
    pub(super) fn attach(bench: &'a Bench, drive: &Drive) -> Result<Device<'a>, String> {
        Device::attach_to(bench, &drive.uri)
    }

    /// What is exported at `uri`.
    pub(super) fn attach_to(bench: &'a Bench, uri: &str) -> Result<Device<'a>, String> {
        let image = bench.path("disk.img");
        bench.write("disk.img", "")?;
        let mut command = bench.command("nbdfuse", &[&image, uri]);
        let fuse = command.spawn().map_err(|error| format!("cannot start nbdfuse: {error}"))?;
        let mut device = Device { bench, fuse, name: String::new(), held: None };
        until("nbdfuse shows the drive", PATIENCE, || fs::metadata(&image).is_ok_and(|file| file.len() > 0))?;
        // Past the page cache of the file: everything is in the drive, or in the cache of the file system above.
        device.name = said(bench.command("losetup", &["--show", "--find", "--direct-io=on", &image]))?.trim().to_owned();
        let held = File::open(&device.name).map_err(|error| format!("cannot open {}: {error}", device.name))?;
        device.held = Some(held);
        // Detached when the last one closes it, whoever that is and however it ends.
        quietly(bench.command("losetup", &["--detach", &device.name]))?;
        Ok(device)
    }

    /// Makes ext4 on it.
    pub(super) fn format(&self) -> Result<(), String> {
        // Small ones would get blocks smaller than a mapping unit, and every trim of a part of one writes zeroes.
        self.bench.client("mkfs.ext4", &["-q", "-b", "4096", &self.name])
    }

    /// Whether the file system is sound, its journal having been replayed.
    pub(super) fn check(&self) -> Result<(), String> {
        self.bench.client("e2fsck", &["-f", "-n", &self.name])
    }

    pub(super) fn mount(self) -> Result<Mounted<'a>, String> {
        let folder = self.bench.path("mnt");
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {folder}: {error}"))?;
        self.bench.client("mount", &["-t", "ext4", "-o", "discard", &self.name, &folder])?;
        Ok(Mounted { device: self, folder, is_mounted: true })
    }
}

impl Mounted<'_> {
    /// Unmounts it and looks at it.
    pub(super) fn unmount(mut self) -> Result<(), String> {
        self.let_go()?;
        self.device.check()
    }

    /// Unmounts it from a drive that is dead.
    pub(super) fn abandon(mut self) -> Result<(), String> {
        self.let_go()
    }

    fn let_go(&mut self) -> Result<(), String> {
        let mut why = Ok(());
        until("unmounted", PATIENCE, || {
            why = quietly(self.device.bench.command("umount", &[&self.folder]));
            why.is_ok()
        })
        .map_err(|late| format!("{late}: {why:?}"))?;
        self.is_mounted = false;
        Ok(())
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        if self.is_mounted {
            // What is still open keeps it, and goes with the name space.
            let _ = quietly(self.device.bench.command("umount", &["--lazy", &self.folder]));
        }
    }
}
