//! RocksDB on ext4 on the drive: drive, database or both are killed under db_bench.
//!
//! One load writes keys in order, each synced before the next, and says how far it is; after the kill the keys have to be there without a gap, that far at
//! least. The other runs transactions that add the same number to one key of each set; db_bench verifies that the sets still agree. Small tables keep flushes
//! and compactions under the knife. Does not check: what the values are, beyond RocksDB's own checksums.

use std::process::{Child, Command};
use std::time::Duration;

use super::bench::{Bench, logged, pause, said, until};
use super::drive::Drive;
use super::mount::{Device, Mounted};

const PATIENCE: Duration = Duration::from_secs(60);

const COMMON: [&str; 8] = [
    "--sync=1",
    "--threads=1",
    "--value_size=400",
    "--compression_type=none",
    "--write_buffer_size=262144",
    "--target_file_size_base=262144",
    "--use_direct_io_for_flush_and_compaction=1",
    "--verify_checksum=1",
];

const TRANSACTIONS: [&str; 3] = ["--benchmarks=randomtransaction", "--transaction_db=1", "--transaction_sets=4"];

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    let mut drive = Drive::new(bench, &[], &[])?;
    let device = Device::attach(bench, &drive)?;
    device.format()?;
    device.mount()?.unmount()?;
    let mut keys = 0;
    for round in 0..bench.rounds {
        keys += one_round(bench, &mut drive, round).map_err(|why| format!("round {round}: {why}"))?;
    }
    println!("RocksDB: {} kills, {keys} acknowledged keys, none lost; transactions whole, e2fsck clean each time", bench.rounds);
    Ok(())
}

fn db_bench(bench: &Bench, folder: &str, more: &[&str]) -> Command {
    let database = format!("--db={folder}");
    bench.command("db_bench", &[&[database.as_str()], &COMMON[..], more].concat())
}

/// Returns how many keys had been acknowledged when the kill came.
fn one_round(bench: &Bench, drive: &mut Drive, round: u32) -> Result<u64, String> {
    let mounted = Device::attach(bench, drive)?.mount()?;
    let folders = |mounted: &Mounted<'_>| (format!("{}/keys", mounted.folder), format!("{}/sums", mounted.folder));
    let (keys, sums) = folders(&mounted);
    let exists = format!("--use_existing_db={}", u8::from(round > 0));
    let seed = format!("--seed={}", bench.seed + u64::from(round));
    // Begun anew in each round, and the old one deleted: there is much to discard.
    let mut loads = [
        start(bench, db_bench(bench, &keys, &["--benchmarks=fillseq", "--num=100000000", "--stats_interval=20", &seed]), "keys.log")?,
        start(bench, db_bench(bench, &sums, &[&TRANSACTIONS[..], &["--num=100000000", &exists, &seed]].concat()), "sums.log")?,
    ];
    pause(2500 + u64::from(round) * 317 % 2000);
    for (load, log) in loads.iter_mut().zip(["keys.log", "sums.log"]) {
        if load.try_wait().is_ok_and(|status| status.is_some()) {
            return Err(format!("{log}: {}", std::fs::read_to_string(bench.path(log)).unwrap_or_default()));
        }
    }
    // Every third time the database alone; otherwise the drive, and the database sees errors, or is killed with it.
    if round % 3 < 2 {
        drive.end(round)?;
    }
    if !round.is_multiple_of(3) {
        loads.iter_mut().for_each(kill);
    }
    for load in &mut loads {
        let sees = until("db_bench sees it", PATIENCE, || load.try_wait().is_ok_and(|status| status.is_some()));
        // Where it waits for a drive that is gone, it has nothing more to say.
        if sees.is_err() {
            kill(load);
        }
    }
    mounted.abandon()?;
    drive.kill();
    drive.start()?;
    let mounted = Device::attach(bench, drive)?.mount()?;
    let (keys, sums) = folders(&mounted);
    let acknowledged = acknowledged(bench)?;
    let found = said(bench.command("ldb", &[&format!("--db={keys}"), "scan", "--no_value", "--hex"]))?;
    // Eight bytes of number, then padding.
    let number = |line: &str| u64::from_str_radix(line.get(2..18).unwrap_or_default(), 16).ok();
    let found: Vec<Option<u64>> = found.lines().filter(|line| line.starts_with("0x")).map(number).collect();
    if let Some(gap) = (0..found.len()).find(|&at| found[at] != Some(at as u64)) {
        return Err(format!("the key behind {gap} is {:?}", found[gap]));
    }
    if (found.len() as u64) < acknowledged {
        return Err(format!("{acknowledged} keys had been acknowledged, {} are there", found.len()));
    }
    for folder in [&keys, &sums] {
        bench.client("ldb", &[&format!("--db={folder}"), "checkconsistency"])?;
    }
    said(db_bench(bench, &keys, &["--benchmarks=readseq", "--use_existing_db=1"]))?;
    let told = said(db_bench(bench, &sums, &[&TRANSACTIONS[..], &["--use_existing_db=1", "--num=10"]].concat()))?;
    if !told.contains("RandomTransactionVerify Success") {
        return Err(format!("transactions are not whole: {told}"));
    }
    mounted.unmount()?;
    Ok(acknowledged)
}

fn start(bench: &Bench, load: Command, log: &str) -> Result<Child, String> {
    println!("$ {} &", crate::steps::shown(&load));
    logged(load, &bench.path(log))?.spawn().map_err(|error| format!("cannot start db_bench: {error}"))
}

fn kill(load: &mut Child) {
    // It may be gone already.
    let _ = load.kill();
    let _ = load.wait();
}

/// How many keys were synced, by what was said last: `... thread 0: (20,1240) ops and ...`.
fn acknowledged(bench: &Bench) -> Result<u64, String> {
    let log = std::fs::read_to_string(bench.path("keys.log")).map_err(|error| format!("cannot read db_bench's log: {error}"))?;
    let mut counts =
        log.lines().filter_map(|line| line.split_once("thread 0: (")?.1.split_once(") ops")?.0.split_once(',')?.1.parse().ok());
    counts.next_back().ok_or_else(|| format!("db_bench acknowledged nothing: {log}"))
}
