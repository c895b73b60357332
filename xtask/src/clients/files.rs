//! A file system on the drive: what programs do to files, and what is left of it when the drive is killed under them.

use std::time::Duration;

use super::bench::{Bench, said, until};
use super::drive::Drive;
use super::fio::Cut;
use super::mount::{Device, Mounted};

/// fsx on a file: every way to write, map, punch and truncate that ext4 has.
const FSX: &str = "flen = 8388608\n[opsize]\nmin = 1\nmax = 65536\n[weights]\npunch_hole = 3\nfsync = 1\nfdatasync = 1\ninvalidate = 1\n";
/// fsx on a block device: whole sectors.
const FSX_BLOCK: &str = "blockmode = true\nflen = 67108864\n[opsize]\nmin = 512\nmax = 65536\nalign = 512\n[weights]\nclose_open = 0\ntruncate = 0\n\
                         posix_fallocate = 0\nread = 10\nwrite = 10\nmapread = 5\nmapwrite = 5\ninvalidate = 1\nfsync = 1\nfdatasync = 1\npunch_hole = 3\n";

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    let mut drive = Drive::new(bench, &[], &[])?;
    let device = Device::attach(bench, &drive)?;
    bench.write("fsx.toml", FSX)?;
    bench.write("fsx-block.toml", FSX_BLOCK)?;
    let (seed, steps) = (bench.seed.to_string(), if bench.rounds > 1 { "50000" } else { "4000" });
    let fsx = |configuration: &str, target: &str| bench.client("fsx", &["-f", configuration, "-S", &seed, "-N", steps, "-P", ".", target]);
    fsx("fsx-block.toml", &device.name)?;
    device.format()?;
    let mounted = device.mount()?;
    fsx("fsx.toml", &format!("{}/fsx", mounted.folder))?;
    sysbench(bench, &mounted)?;
    println!("{}", said(bench.command("fstrim", &["-v", &mounted.folder]))?.trim());
    mounted.unmount()?;
    kills(bench, &mut drive)
}

/// Random writes checked against what was written, with a file synced now and then, and two threads at it.
fn sysbench(bench: &Bench, mounted: &Mounted<'_>) -> Result<(), String> {
    let seconds = format!("--time={}", if bench.rounds > 1 { 30 } else { 3 });
    for task in ["prepare", "run", "cleanup"] {
        let words =
            ["fileio", "--file-total-size=128M", "--file-num=8", "--file-test-mode=rndrw", "--file-extra-flags=direct", "--validate=on"];
        let mut command = bench.command("sysbench", &[&words[..], &["--threads=2", &seconds, task]].concat());
        command.current_dir(&mounted.folder);
        said(command)?;
    }
    Ok(())
}

/// Synchronous writes to a file; each one that was acknowledged is there after the kill, or the stop, and the file system is sound.
fn kills(bench: &Bench, drive: &mut Drive) -> Result<(), String> {
    let mut blocks = 0;
    for round in 0..bench.rounds {
        let mounted = Device::attach(bench, drive)?.mount()?;
        // Every other round past the page cache.
        let (folder, direct) = (format!("--directory={}", mounted.folder), format!("--direct={}", round % 2));
        let target = ["--ioengine=psync", "--sync=1", "--size=40M", &direct, &folder];
        let cut = Cut::new(bench, &target, bench.seed + u64::from(round));
        if round.is_multiple_of(2) {
            cut.load_and_end(2, "KILL", drive.pid())?;
            until("the drive is dead", Duration::from_secs(10), || drive.is_gone())?;
        } else {
            cut.load_and_end(2, "TERM", drive.pid())?;
            drive.has_stopped()?;
        }
        mounted.abandon()?;
        drive.start()?;
        let mounted = Device::attach(bench, drive)?.mount()?;
        blocks += cut.verify().map_err(|why| format!("round {round}: {why}"))?;
        if round % 4 == 3 {
            // What they held is discarded.
            let shell = format!("rm {}/cut.*", mounted.folder);
            bench.client("sh", &["-c", &shell])?;
        }
        mounted.unmount().map_err(|why| format!("round {round}: {why}"))?;
    }
    println!("ext4: {} kills and stops, {blocks} acknowledged blocks verified, none lost, e2fsck clean each time", bench.rounds);
    Ok(())
}
