//! `blktrace` itself, in a guest of QEMU whose kernel reports what it asks of an NVMe disk. Is its recording read as what was asked, and as
//! `blkparse` reads it?

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::bench::{Bench, logged, said, until};
use super::guest;

const INIT: &str = include_str!("trace_init.sh");
/// A boot takes ten seconds where nothing else runs.
const PATIENCE: Duration = Duration::from_secs(300);

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    let kernel = guest::pack(bench, INIT, &["blktrace", "dd", "blkdiscard"])?;
    for round in 0..bench.rounds {
        let console = record(bench, &kernel)?;
        if console.contains("GUEST FAILED") || !console.contains("GUEST DONE") || !console.contains("dropped 0") {
            return Err(format!("round {round}: {console}"));
        }
        let mut compared = 0;
        for (event, suffix) in [("Q", ""), ("D", "-d"), ("C", "-c")] {
            let binary = converted(bench, "recording", &format!("blktrace{suffix}"))?;
            let text = converted(bench, "recording.txt", &format!("blkparse{suffix}"))?;
            if binary.is_empty() || binary != text {
                let first = binary.iter().zip(&text).find(|(one, other)| one != other);
                return Err(format!("{event} events: {} records, {} by blkparse's text; first apart: {first:?}", binary.len(), text.len()));
            }
            if event == "Q" {
                asked_for(&binary)?;
            }
            compared += binary.len();
        }
        println!("trace: {compared} records of a recording are those of blkparse's text, and what was asked of the disk is among them");
    }
    Ok(())
}

/// Lets the guest record, and unpacks its recording; returns what it said on its console.
fn record(bench: &Bench, kernel: &str) -> Result<String, String> {
    for (disk, size) in [("disk.img", 64 << 20), ("recorded.img", 16 << 20)] {
        let made = fs::File::create(bench.folder.join(disk)).and_then(|file| file.set_len(size));
        made.map_err(|error| format!("cannot make {disk}: {error}"))?;
    }
    let mut guest = logged(qemu(bench, kernel), &bench.path("console"))?.spawn().map_err(|error| format!("cannot start QEMU: {error}"))?;
    let ended = until("the guest has recorded", PATIENCE, || guest.try_wait().is_ok_and(|status| status.is_some()));
    let _ = guest.kill();
    let _ = guest.wait();
    let console = guest::console(bench);
    ended.map_err(|why| format!("{why}: {console}"))?;
    fs::create_dir_all(bench.folder.join("recording")).map_err(|error| format!("cannot make a folder: {error}"))?;
    said(bench.command("tar", &["xf", "recorded.img", "-C", "recording"]))?;
    let text = said(bench.command("blkparse", &["-i", "disk", "-D", "recording"]))?;
    bench.write("recording.txt", &text)?;
    Ok(console)
}

fn qemu(bench: &Bench, kernel: &str) -> Command {
    let disks = [("disk.img", "d0"), ("recorded.img", "d1")].map(|(file, node)| {
        [
            "-blockdev".to_owned(),
            format!("driver=file,node-name={node},filename={file},discard=unmap"),
            "-device".to_owned(),
            format!("nvme,serial={node},drive={node}"),
        ]
    });
    let disks: Vec<&str> = disks.iter().flatten().map(String::as_str).collect();
    guest::qemu(bench, kernel, "", &disks)
}

/// A trace as `time_us,op,offset,length,volume,latency_us,fua`, times counted from its first record.
fn converted(bench: &Bench, trace: &str, format: &str) -> Result<Vec<(u64, Vec<String>)>, String> {
    let program = bench.built("wordline").display().to_string();
    let text = said(bench.command(&program, &["trace", "convert", trace, "--format", format, "--to", "csv"]))?;
    let mut records = Vec::new();
    for line in text.lines().skip(1) {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        let nanoseconds = fields.remove(0).replace('.', "").parse::<u64>().map_err(|_| format!("no time: {line}"))?;
        records.push((nanoseconds, fields));
    }
    let first = records.first().map_or(0, |(at, _)| *at);
    records.iter_mut().for_each(|(at, _)| *at -= first);
    Ok(records)
}

/// Whether what the guest's script asks of the disk is among the records, in its order.
fn asked_for(records: &[(u64, Vec<String>)]) -> Result<(), String> {
    const KIB: u64 = 1024;
    let mut expected: Vec<(&str, u64, u64, &str)> = Vec::new();
    for number in 0..40 {
        expected.extend((0..1 + number % 4).map(|block| ("write", (number * 97 + block) * 4 * KIB, 4 * KIB, "0")));
        expected.push(("read", number * 11 * 16 * KIB, 16 * KIB, "0"));
    }
    expected.extend((0..2).map(|block| ("write", (9000 + block) * 4 * KIB, 4 * KIB, "1")));
    expected.push(("flush", 0, 0, "0"));
    expected.push(("trim", 1024 * KIB, 256 * KIB, "0"));
    let mut left = records.iter().map(|(_, fields)| fields);
    for (op, offset, length, fua) in expected {
        let is_it =
            |fields: &Vec<String>| [0, 1, 2, 5].map(|index| fields[index].as_str()) == [op, &offset.to_string(), &length.to_string(), fua];
        if !left.any(is_it) {
            return Err(format!("the guest asked for a {op} of {length} bytes at {offset}, and it is not in the recording at its place"));
        }
    }
    Ok(())
}
