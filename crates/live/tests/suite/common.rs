//! Drives and media folders that the tests share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use wordline_drive::{Config as DriveConfig, Watched};
use wordline_engine::{Completion, Completions};
use wordline_live::{Durability, MediaStore, open_or_make};
use wordline_plan::Plan;
use wordline_units::{Bytes, HostOp, HostRequest};

/// A socket file of its own.
pub(crate) fn socket() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    std::env::temp_dir().join(format!("wordline-live-{}-{}.sock", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// A mapping unit of the drives here.
pub(crate) const UNIT: Bytes = Bytes(16 << 10);

/// The bytes of a unit that a write has stamped; 0: zeroes.
pub(crate) fn stamped(unit: u64, stamp: u64, length: usize) -> Vec<u8> {
    if stamp == 0 {
        return vec![0; length];
    }
    let mut bytes: Vec<u8> = (0..length as u64).map(|at| (at * 7 + stamp + unit) as u8).collect();
    bytes[..8].copy_from_slice(&stamp.to_le_bytes());
    bytes[8..16].copy_from_slice(&unit.to_le_bytes());
    bytes
}

/// A drive of `dies` small dies that reclaims soon, and journals.
pub(crate) fn small_drive(dies: u32, settings: &[&str]) -> DriveConfig {
    let dies = format!("flash.dies_per_channel={dies}");
    let small = [
        "geometry.blocks=48",
        "mapping.over_provisioning=32 %",
        "geometry.layers=2",
        "geometry.wordlines_per_layer=4",
        "flash.channels=1",
        dies.as_str(),
        "buffer.size=512 KiB",
        "recovery.on=true",
        "recovery.oob_copies=true",
    ];
    Plan::load_set("pageftl", &[&small, settings].concat()).expect("a preset").build()
}

/// Bytes of a sector.
pub(crate) const SECTOR: u64 = 512;

/// Name and number of the drives in folders.
pub(crate) const NAMED: (&str, u128) = ("a drive", 7);

/// A drive on media in files.
pub(crate) type Live = Watched<Completions>;

/// Media in a folder of their own.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("wordline-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    /// The drive of these media, which are made if there are none.
    pub(crate) fn drive(&self, config: &DriveConfig) -> Live {
        let opened = open_or_make(&self.0, config, NAMED, Durability::Process).expect("sound media");
        let units = (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32;
        let store = MediaStore::new(opened.media, units, opened.dump);
        let capacitors = store.capacitors(config.firmware.buffer.units);
        if opened.is_found {
            return Watched::wake(config.clone(), Completions::default(), |die| store.payload(die), capacitors);
        }
        let mut drive = Watched::with_payload(config.clone(), Completions::default(), |die| store.payload(die));
        capacitors.into_iter().for_each(|capacitors| drive.connect(capacitors));
        drive
    }

    pub(crate) fn die(&self, number: u32) -> PathBuf {
        self.0.join(format!("die-{number:03}.media"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The request that asks for `op` on `unit`, or for a flush.
pub(crate) fn of_unit(drive: &Live, op: HostOp, unit: u64) -> HostRequest {
    let sectors = drive.unit_bytes().0 / SECTOR;
    if op == HostOp::Flush { HostRequest::new(op, 0, 0) } else { HostRequest::new(op, unit * sectors, sectors as u32) }
}

/// The completion of `request` and the bytes that it reads; `None`: the power has gone before it.
pub(crate) fn answered(drive: &mut Watched<Completions>, request: &HostRequest, bytes: &[u8]) -> Option<(Completion, Vec<u8>)> {
    let id = drive.submit(request, bytes);
    while drive.power_cut().is_none() {
        if let Some(done) = drive.observer.take(id) {
            return Some((done, drive.bytes_of(id).to_vec()));
        }
        let next = drive.next_at().expect("something is pending while a request is outstanding");
        drive.run_until(next);
    }
    None
}
