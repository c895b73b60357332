//! A deleted file on raw chips: written and deleted on ext4 over SecureSSD it is in nothing that a chip would put out, also where the drive is killed in
//! the middle of it; over the plain drive, and over the export for data that need not be secret, it is.
//!
//! Who looks is `wordline forensics`, and beside it a search of bytes in the media files that shares no code with it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::Value;

use super::bench::{Bench, logged, pause, said, until};
use super::drive::Drive;
use super::mount::Device;

const SECRET: &str = "THE-SECRET-OF-A-DELETED-FILE";
/// The file's lines have so many bytes, so that none lies in two blocks.
const LINE: usize = 128;
const FILE_BYTES: usize = 3 << 20;
/// The command's own patience is longer.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// 192 MiB of 4-KiB units, the size of a block of ext4, on two dies with so much room that little is erased.
fn drive_file(preset: &str) -> String {
    format!(
        "summary = \"A small drive, for forensics\"\ninherit = \"{preset}\"\n[geometry]\nblocks = 24\n[flash]\nchannels = 2\n\
         dies_per_channel = 1\n[mapping]\nunit = \"4 KiB\"\nover_provisioning = \"none\"\ncapacity = \"192 MiB\"\n"
    )
}

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    let secure = deleted(bench, "secssd", "disk", None)?;
    let mut kills = Vec::new();
    for round in 0..bench.rounds {
        kills.push(deleted(bench, "secssd", "disk", Some((bench.seed * 31 + u64::from(round) * 17) % 80))?);
    }
    for (found, what) in [&secure].into_iter().chain(&kills).zip(["deleted"].into_iter().chain(std::iter::repeat("killed meanwhile"))) {
        if found.versions != 0 || found.hits != 0 || found.searched.hits != 0 {
            return Err(format!("over secssd, {what}: {found:?}"));
        }
    }
    // Not osrssd: what is valid beside a page that it has reprogrammed cannot be read any more, and no file system survives that (002 §4).
    for rival in ["scrssd", "erssd"] {
        let found = deleted(bench, rival, "disk", None)?;
        if found.versions != 0 || found.hits != 0 || found.searched.hits != 0 {
            return Err(format!("over {rival}: {found:?}"));
        }
        println!("disk of {rival}: nothing is found");
    }
    let open = [("paper-evanesco", "disk"), ("secssd", "disk@insecure")]
        .map(|(preset, export)| deleted(bench, preset, export, None).map(|found| (preset, export, found)));
    for open in open {
        let (preset, export, found) = open?;
        if found.versions == 0 || found.searched.hits == 0 {
            return Err(format!("over {export} of {preset} nothing was found: {found:?}"));
        }
        println!("{export} of {preset}: {} stale versions in {} places, as the search of bytes says", found.versions, found.searched.hits);
    }
    println!(
        "forensics: over secssd nothing of a deleted file in {} pages that are put out, nor after {} kills; {} pages are locked",
        secure.searched.pages,
        kills.len(),
        secure.searched.locked
    );
    Ok(())
}

/// What was found of the file after it was deleted.
#[derive(Debug)]
struct Remains {
    /// Stale versions of units that hold it, and all places, as `wordline forensics` has them.
    versions: u64,
    hits: u64,
    searched: Searched,
}

/// Writes the file, writes over it, deletes it, gives the file system's free space back, and looks. `kill_after`: so many milliseconds after the deletion
/// has begun the drive is killed, and the deletion is completed once it is back.
fn deleted(bench: &Bench, preset: &str, export: &str, kill_after: Option<u64>) -> Result<Remains, String> {
    let name = format!("{preset}.toml");
    bench.write(&name, &drive_file(preset))?;
    for folder in ["media", "copy"] {
        let _ = fs::remove_dir_all(bench.path(folder));
    }
    let mut drive = Drive::of(bench, &name, &[], &[])?;
    let device = attach(bench, &drive, export)?;
    device.format()?;
    let mut mounted = device.mount()?;
    let path = format!("{}/file", mounted.folder);
    let failed = |error: std::io::Error| format!("{path}: {error}");
    for version in 1..=3 {
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        file.write_all(&content(version)).and_then(|()| file.sync_all()).map_err(failed)?;
        // Something that stays, between the versions.
        let other = format!("{}/other-{version}", mounted.folder);
        let mut file = File::create(&other).map_err(failed)?;
        file.write_all(&vec![version; FILE_BYTES / 4]).and_then(|()| file.sync_all()).map_err(failed)?;
    }
    // What is looked for is there before.
    let copy = format!("folder={}", bench.path("copy"));
    let control = bench.path("socket.ctl");
    said(bench.command(&bench.built("wordline").display().to_string(), &["ctl", &control, "snapshot", &copy]))?;
    let before = look(bench, "copy")?;
    if before["find"]["newest"].as_u64() < Some((FILE_BYTES / LINE) as u64) {
        return Err(format!("the file is not there before it is deleted: {}", before["find"]["newest"]));
    }
    let shell = |line: &str| bench.command("sh", &["-c", line]);
    let delete = format!("rm -f {path}; sync -f {0}; fstrim -v {0}; sync -f {0}", mounted.folder);
    if let Some(milliseconds) = kill_after {
        let mut child = logged(shell(&delete), &bench.path("delete.log"))?.spawn().map_err(|error| format!("cannot start sh: {error}"))?;
        pause(milliseconds);
        drive.kill();
        child.wait().map_err(|error| format!("sh: {error}"))?;
        mounted.abandon()?;
        until("the drive is dead", PATIENCE, || drive.is_gone())?;
        drive.start()?;
        mounted = attach(bench, &drive, export)?.mount()?;
    }
    println!("{}", said(shell(&delete))?.trim());
    mounted.unmount()?;
    // Whatever it has acknowledged is true at once.
    drive.kill();
    let report = look(bench, "media")?;
    let searched = Searched::of(&bench.folder.join("media"))?;
    let count = |value: &Value| value.as_u64().ok_or_else(|| format!("the report has no count: {report}"));
    let hits = report["find"]["hits"].as_array().map_or(0, |hits| hits.len() as u64);
    if hits != searched.hits {
        return Err(format!("forensics finds {hits} places, and a search of bytes {}", searched.hits));
    }
    Ok(Remains { versions: count(&report["find"]["stale_versions"])?, hits, searched })
}

fn attach<'a>(bench: &'a Bench, drive: &Drive, export: &str) -> Result<Device<'a>, String> {
    Device::attach_to(bench, &drive.uri.replacen("/disk?", &format!("/{export}?"), 1))
}

/// The lines of a version of the file.
fn content(version: u8) -> Vec<u8> {
    let line = |number: usize| format!("{:<width$}\n", format!("{SECRET} version {version} line {number}"), width = LINE - 1);
    (0..FILE_BYTES / LINE).map(line).collect::<String>().into_bytes()
}

/// What `wordline forensics` says of a folder of media, bits of broken-off programs and erases included.
fn look(bench: &Bench, media: &str) -> Result<Value, String> {
    let program = bench.built("wordline").display().to_string();
    let text = said(bench.command(&program, &["forensics", media, "--find", SECRET, "--raw-chips", "--json", "-"]))?;
    serde_json::from_str(&text).map_err(|error| format!("forensics wrote no JSON: {error}"))
}

/// What a search of bytes finds in media files, in pages that nothing says are locked.
#[derive(Debug, Default)]
struct Searched {
    /// Pages that hold something and are put out.
    pages: u64,
    /// Pages that are locked, by themselves or with their block.
    locked: u64,
    /// Places with the secret in pages that are put out.
    hits: u64,
}

/// What the head of `crates/media` says of the format: a header with the numbers of the die, two tables of block records, then the pages, each with its
/// spare area and sixteen bytes, of which one has the flags.
impl Searched {
    const HEADER: u64 = 4096;
    const RECORD: u64 = 64;
    const TRAILER: usize = 16;
    /// What stands in the trailer of a page that was programmed to its end.
    const MARK: &'static [u8] = b"PAGE";

    fn of(folder: &Path) -> Result<Searched, String> {
        let mut all = Searched::default();
        for die in 0.. {
            let path = folder.join(format!("die-{die:03}.media"));
            if !path.exists() {
                break;
            }
            all.search(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if all.pages == 0 { Err(format!("{}: no page is put out", folder.display())) } else { Ok(all) }
    }

    fn search(&mut self, path: &Path) -> std::io::Result<()> {
        let file = File::open(path)?;
        let number = |at: u64| -> std::io::Result<u64> {
            let mut bytes = [0; 4];
            file.read_exact_at(&mut bytes, at)?;
            Ok(u64::from(u32::from_le_bytes(bytes)))
        };
        let [blocks, pages, data, spare] = [44, 48, 52, 56].map(number);
        let (blocks, pages, data, spare) = (blocks?, pages?, data? as usize, spare? as usize);
        let slot = data + spare + Searched::TRAILER;
        let table = (blocks * Searched::RECORD).next_multiple_of(4096);
        let block_bytes = (pages * slot as u64).next_multiple_of(4096);
        let (mut page, mut trailer) = (vec![0; data], [0; Searched::TRAILER]);
        for block in 0..blocks {
            let is_block_locked = number(Searched::HEADER + block * Searched::RECORD + 12)? != 0;
            for index in 0..pages {
                let at = Searched::HEADER + 2 * table + block * block_bytes + index * slot as u64;
                file.read_exact_at(&mut trailer, at + (slot - Searched::TRAILER) as u64)?;
                if &trailer[8..12] != Searched::MARK {
                    continue;
                }
                // Two stands for a page lock.
                if is_block_locked || trailer[12] & 2 != 0 {
                    self.locked += 1;
                } else {
                    self.pages += 1;
                    file.read_exact_at(&mut page, at)?;
                    self.hits += page.windows(SECRET.len()).filter(|bytes| *bytes == SECRET.as_bytes()).count() as u64;
                }
            }
        }
        Ok(())
    }
}
