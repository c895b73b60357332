//! A machine with the drive as its NVMe disk, emulated by QEMU: its kernel's driver, its file system, its idea of flush and discard.
//!
//! The kernel is the distribution's, the rest of the guest one program (`guest_init.sh`) in an image that is packed here. It tells on its console which files
//! it has synced, with their sums; drive and machine are killed; the next boot has to find them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::bench::{Bench, logged, said, until};
use super::drive::Drive;

const INIT: &str = include_str!("guest_init.sh");
/// A boot takes ten seconds where nothing else runs.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    let kernel = pack(bench, INIT, &["mkfs.ext4", "e2fsck"])?;
    let mut drive = Drive::new(bench, &[], &[])?;
    let mut files = 0;
    for round in 0..bench.rounds {
        let phase = if round == 0 { "format" } else { "write" };
        let mut guest = logged(served(bench, &kernel, phase), &bench.path("console"))?
            .spawn()
            .map_err(|error| format!("cannot start QEMU: {error}"))?;
        let enough = 20 + round as usize % 5 * 15;
        let written = until("the guest has written", PATIENCE, || console(bench).matches("GUEST KEPT").count() >= enough);
        let ended = drive.end(round);
        // It may be gone already.
        let _ = guest.kill();
        let _ = guest.wait();
        ended?;
        written.map_err(|why| format!("round {round}: {why}: {}", console(bench)))?;
        let kept = kept(&console(bench))?;
        drive.start()?;
        let mut guest = logged(served(bench, &kernel, "verify"), &bench.path("console"))?
            .spawn()
            .map_err(|error| format!("cannot start QEMU: {error}"))?;
        let ended = until("the guest has verified", PATIENCE, || guest.try_wait().is_ok_and(|status| status.is_some()));
        let _ = guest.kill();
        let _ = guest.wait();
        let told = console(bench);
        ended.map_err(|why| format!("round {round}: {why}: {told}"))?;
        if told.contains("GUEST FAILED") || !told.contains("GUEST DONE") {
            return Err(format!("round {round}: {told}"));
        }
        let has: BTreeMap<String, String> = lines(&told, "HAS").collect();
        for (file, sum) in &kept {
            if has.get(file) != Some(sum) {
                return Err(format!("round {round}: {file} was synced with {sum}, and is {:?}", has.get(file)));
            }
        }
        files += kept.len();
    }
    println!("guest: {} kills, {files} synced files compared, none lost, e2fsck clean each time", bench.rounds);
    Ok(())
}

/// What the guest has said on its console.
pub(super) fn console(bench: &Bench) -> String {
    fs::read(bench.folder.join("console")).map_or(String::new(), |bytes| String::from_utf8_lossy(&bytes).replace('\r', ""))
}

/// Names and sums of the lines of one kind; a line that was cut by the kill is left out.
fn lines<'a>(console: &'a str, kind: &'a str) -> impl Iterator<Item = (String, String)> + 'a {
    console.lines().filter_map(move |line| {
        let mut words = line.split_once("GUEST ")?.1.split(' ');
        let (said, file, sum) = (words.next()?, words.next()?, words.next()?);
        (said == kind && sum.len() == 64).then(|| (file.to_owned(), sum.to_owned()))
    })
}

/// What was synced. Files that are removed after sixty more are not asked for.
fn kept(console: &str) -> Result<BTreeMap<String, String>, String> {
    let kept: Vec<(String, String)> = lines(console, "KEPT").collect();
    let recent = kept.len().saturating_sub(50);
    if kept.is_empty() { Err(format!("the guest kept nothing: {console}")) } else { Ok(kept[recent..].iter().cloned().collect()) }
}

/// The machine with the served drive.
fn served(bench: &Bench, kernel: &str, phase: &str) -> Command {
    let disk = format!("driver=nbd,node-name=d0,server.type=unix,server.path={},export=disk,discard=unmap", bench.path("socket"));
    let nvme = "nvme,serial=wordline,drive=d0,logical_block_size=4096,physical_block_size=4096";
    qemu(bench, kernel, &format!("phase={phase}"), &["-blockdev", &disk, "-device", nvme])
}

/// A machine that boots the image that was packed, with these words on its kernel's command line and these disks.
pub(super) fn qemu(bench: &Bench, kernel: &str, words: &str, disks: &[&str]) -> Command {
    let words = format!("console=ttyS0 quiet panic=-1 mitigations=off {words}");
    let machine = ["-accel", "tcg,thread=multi", "-M", "q35", "-cpu", "max", "-smp", "2", "-m", "1024"];
    let plain =
        ["-nodefaults", "-nographic", "-serial", "stdio", "-no-reboot", "-initrd", "initrd.gz", "-kernel", kernel, "-append", &words];
    let command = bench.command("qemu-system-x86_64", &[&machine[..], &plain, disks].concat());
    println!("$ {}", crate::steps::shown(&command));
    command
}

/// Fetches the kernel, packs the image with `init` as its first program and with `tools`, and returns the kernel's path.
pub(super) fn pack(bench: &Bench, init: &str, tools: &[&str]) -> Result<String, String> {
    // Unpacked, not installed: this machine keeps its own.
    let depends = said(bench.command("apt-cache", &["depends", "--important", "linux-image-cloud-amd64"]))?;
    let package = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: linux-image-"));
    let package = package.map(|name| format!("linux-image-{name}")).ok_or("no kernel: apt-get update")?;
    said(bench.command("apt-get", &["download", "-qq", &package]))?;
    let shell = |script: &str| said(bench.command("sh", &["-eu", "-c", script]));
    shell("dpkg-deb -x linux-image-*.deb kernel && mkdir -p image/bin image/sbin && cp \"$(command -v busybox)\" image/bin/busybox")?;
    bench.write("image/init", init)?;
    // Programs with the libraries they are linked to.
    let tools = tools.join(" ");
    shell(&format!(
        "chmod +x image/init
         for tool in {tools}; do
           tool=$(command -v $tool)
           cp -L \"$tool\" image/sbin/
           ldd \"$tool\" | grep -o '/[^ )]*' | while read -r library; do mkdir -p \"image$(dirname \"$library\")\" && cp -L \"$library\" \"image$library\"; done
         done
         if test -f /etc/mke2fs.conf; then mkdir -p image/etc && cp /etc/mke2fs.conf image/etc/; fi
         cd image && find . | cpio --quiet -o -H newc | gzip -1 > ../initrd.gz"
    ))?;
    let boot = fs::read_dir(bench.folder.join("kernel/boot")).map_err(|error| format!("the kernel's folder: {error}"))?;
    let kernel: Option<PathBuf> = boot.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("/vmlinuz-"));
    kernel.map(|path| path.display().to_string()).ok_or_else(|| "no kernel in its package".to_owned())
}
