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
    let kernel = pack(bench)?;
    let mut drive = Drive::new(bench, &[], &[])?;
    let mut files = 0;
    for round in 0..bench.rounds {
        let phase = if round == 0 { "format" } else { "write" };
        let mut guest =
            logged(qemu(bench, &kernel, phase), &bench.path("console"))?.spawn().map_err(|error| format!("cannot start QEMU: {error}"))?;
        let enough = 20 + round as usize % 5 * 15;
        let written = until("the guest has written", PATIENCE, || console(bench).matches("GUEST KEPT").count() >= enough);
        drive.kill();
        // It may be gone already.
        let _ = guest.kill();
        let _ = guest.wait();
        written.map_err(|why| format!("round {round}: {why}: {}", console(bench)))?;
        let kept = kept(&console(bench))?;
        drive.start()?;
        let mut guest = logged(qemu(bench, &kernel, "verify"), &bench.path("console"))?
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

fn console(bench: &Bench) -> String {
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

fn qemu(bench: &Bench, kernel: &str, phase: &str) -> Command {
    let disk = format!("driver=nbd,node-name=d0,server.type=unix,server.path={},export=disk,discard=unmap", bench.path("socket"));
    let words = format!("console=ttyS0 quiet panic=-1 mitigations=off phase={phase}");
    let machine = ["-accel", "tcg,thread=multi", "-M", "q35", "-cpu", "max", "-smp", "2", "-m", "1024"];
    let plain =
        ["-nodefaults", "-nographic", "-serial", "stdio", "-no-reboot", "-initrd", "initrd.gz", "-kernel", kernel, "-append", &words];
    let nvme = "nvme,serial=wordline,drive=d0,logical_block_size=4096,physical_block_size=4096";
    let command = bench.command("qemu-system-x86_64", &[&machine[..], &plain, &["-blockdev", &disk, "-device", nvme]].concat());
    println!("$ {}", crate::steps::shown(&command));
    command
}

/// Fetches the kernel, packs the image, and returns the kernel's path.
fn pack(bench: &Bench) -> Result<String, String> {
    // Unpacked, not installed: this machine keeps its own.
    let depends = said(bench.command("apt-cache", &["depends", "--important", "linux-image-cloud-amd64"]))?;
    let package = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: linux-image-"));
    let package = package.map(|name| format!("linux-image-{name}")).ok_or("no kernel: apt-get update")?;
    said(bench.command("apt-get", &["download", "-qq", &package]))?;
    let shell = |script: &str| said(bench.command("sh", &["-eu", "-c", script]));
    shell("dpkg-deb -x linux-image-*.deb kernel && mkdir -p image/bin image/sbin && cp \"$(command -v busybox)\" image/bin/busybox")?;
    bench.write("image/init", INIT)?;
    // Programs with the libraries they are linked to.
    shell(
        "chmod +x image/init
         for tool in mkfs.ext4 e2fsck; do
           tool=$(command -v $tool)
           cp \"$tool\" image/sbin/
           ldd \"$tool\" | grep -o '/[^ )]*' | while read -r library; do mkdir -p \"image$(dirname \"$library\")\" && cp -L \"$library\" \"image$library\"; done
         done
         if test -f /etc/mke2fs.conf; then mkdir -p image/etc && cp /etc/mke2fs.conf image/etc/; fi
         cd image && find . | cpio --quiet -o -H newc | gzip -1 > ../initrd.gz",
    )?;
    let boot = fs::read_dir(bench.folder.join("kernel/boot")).map_err(|error| format!("the kernel's folder: {error}"))?;
    let kernel: Option<PathBuf> = boot.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("/vmlinuz-"));
    kernel.map(|path| path.display().to_string()).ok_or_else(|| "no kernel in its package".to_owned())
}
