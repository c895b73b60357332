//! PostgreSQL on ext4 on the drive: drive, database or both are killed under pgbench.
//!
//! pgbench's own log says which transactions were acknowledged. Each of them leaves a row with its client and number, so none can be missing unnoticed; and
//! what it adds to an account it adds to a teller, a branch and the history as well, so none can be there in part.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::bench::{Bench, logged, pause, quietly, said, until};
use super::drive::Drive;
use super::mount::{Device, Mounted};

const PATIENCE: Duration = Duration::from_secs(90);
const SCALE: &str = "5";
const CLIENTS: &str = "4";

const TRANSACTION: &str = r"
\set n :n + 1
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
    VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP, concat(:round, '.', :client_id, '.', :n));
END;
";

const SUMS: &str = "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), \
                    (SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)";

/// What is killed in a round.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Drive,
    Database,
    Both,
}

/// A running server.
struct Server<'a> {
    bench: &'a Bench,
    tools: PathBuf,
    child: Child,
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    let mut drive = Drive::new(bench, &[], &[])?;
    bench.write("transaction.sql", TRANSACTION)?;
    std::fs::create_dir_all(bench.path("sockets")).map_err(|error| format!("cannot make a folder: {error}"))?;
    quietly(bench.command("chown", &["postgres", &bench.path("sockets")]))?;
    let device = Device::attach(bench, &drive)?;
    device.format()?;
    let mounted = device.mount()?;
    create(bench, &mounted)?;
    mounted.unmount()?;
    let mut commits = 0;
    for round in 0..bench.rounds {
        let victim = [Victim::Drive, Victim::Both, Victim::Database][round as usize % 3];
        commits += one_round(bench, &mut drive, round, victim).map_err(|why| format!("round {round}, {victim:?} killed: {why}"))?;
    }
    println!("PostgreSQL: {} kills, {commits} acknowledged commits, none lost; sums agree, amcheck and e2fsck find nothing", bench.rounds);
    Ok(())
}

/// Its programs, of the newest version there is.
fn tools() -> Result<PathBuf, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").map_err(|error| format!("PostgreSQL's programs: {error}"))?;
    let newest = versions.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok()).max();
    newest.map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"))).ok_or_else(|| "no version of PostgreSQL".to_owned())
}

/// A command as the user that the database belongs to: it refuses to be root.
fn as_owner(bench: &Bench, program: &str, arguments: &[&str]) -> Command {
    let mut words = vec!["--reuid=postgres", "--regid=postgres", "--clear-groups", "--", program];
    words.extend(arguments);
    bench.command("setpriv", &words)
}

fn create(bench: &Bench, mounted: &Mounted<'_>) -> Result<(), String> {
    let data = format!("{}/data", mounted.folder);
    quietly(bench.command("install", &["-d", "-o", "postgres", "-m", "700", &data]))?;
    let initdb = tools()?.join("initdb").display().to_string();
    said(as_owner(bench, &initdb, &["-D", &data, "--data-checksums", "--auth=trust", "--username=postgres"]))?;
    let server = Server::start(bench, mounted)?;
    server.client("pgbench", &["--initialize", "--quiet", "-s", SCALE, "postgres"])?;
    server.stop()
}

/// Returns how many commits had been acknowledged when the kill came.
fn one_round(bench: &Bench, drive: &mut Drive, round: u32, victim: Victim) -> Result<u64, String> {
    let mounted = Device::attach(bench, drive)?.mount()?;
    let mut server = Server::start(bench, &mounted)?;
    let (round_is, seed) = (format!("round={round}"), format!("--random-seed={}", bench.seed + u64::from(round)));
    let log = format!("--log-prefix={}", bench.path(&format!("round{round}")));
    let words = [
        "-n",
        "-c",
        CLIENTS,
        "-s",
        SCALE,
        "-T",
        "600",
        "-f",
        "transaction.sql",
        "-D",
        "n=0",
        "-D",
        &round_is,
        "-l",
        &log,
        &seed,
        "postgres",
    ];
    let load = server.with_socket("pgbench", &words);
    println!("$ {} &", crate::steps::shown(&load));
    let mut load = logged(load, &bench.path("pgbench.log"))?.spawn().map_err(|error| format!("cannot start pgbench: {error}"))?;
    pause(2500 + u64::from(round) * 317 % 2000);
    if load.try_wait().is_ok_and(|status| status.is_some()) {
        return Err(format!("pgbench ended too early: {}", std::fs::read_to_string(bench.path("pgbench.log")).unwrap_or_default()));
    }
    match victim {
        Victim::Drive => drive.end(round)?,
        Victim::Database => server.kill(),
        Victim::Both => {
            drive.end(round)?;
            server.kill();
        }
    }
    until("pgbench sees it", PATIENCE, || load.try_wait().is_ok_and(|status| status.is_some()))?;
    server.kill();
    drop(server);
    mounted.abandon()?;
    if !drive.is_gone() {
        drive.kill();
    }
    drive.start()?;
    let mounted = Device::attach(bench, drive)?.mount()?;
    let server = Server::start(bench, &mounted)?;
    let commits = look(bench, &server, round)?;
    server.stop()?;
    mounted.unmount()?;
    Ok(commits)
}

/// What the database has to say for itself, and against pgbench's log.
fn look(bench: &Bench, server: &Server<'_>, round: u32) -> Result<u64, String> {
    let sums = server.query(SUMS)?;
    let mut each = sums.trim().split('|');
    let first = each.next().unwrap_or_default().to_owned();
    if first.is_empty() || each.any(|sum| sum != first) {
        return Err(format!("accounts, tellers, branches and history: {sums}"));
    }
    let rows = server.query(&format!("SELECT trim(filler) FROM pgbench_history WHERE filler LIKE '{round}.%'"))?;
    let mut found: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for row in rows.lines() {
        let mut parts = row.split('.').skip(1).map(str::parse::<u64>);
        if let (Some(Ok(client)), Some(Ok(number))) = (parts.next(), parts.next()) {
            found.entry(client as u32).or_default().push(number);
        }
    }
    let acknowledged = acknowledged(bench, round)?;
    for (client, &count) in &acknowledged {
        let mut numbers = found.remove(client).unwrap_or_default();
        numbers.sort_unstable();
        // All that were acknowledged, and perhaps the one that was not any more.
        let is_right = numbers.iter().copied().eq(1..=count) || numbers.iter().copied().eq(1..=count + 1);
        if !is_right {
            return Err(format!(
                "client {client} had {count} commits acknowledged; found are {} up to {:?}",
                numbers.len(),
                numbers.last()
            ));
        }
    }
    if found.values().any(|numbers| numbers.len() > 1) {
        return Err(format!("commits of clients that saw none: {found:?}"));
    }
    server.client(&server.tools.join("pg_amcheck").display().to_string(), &["--install-missing", "--heapallindexed", "-d", "postgres"])?;
    Ok(acknowledged.values().sum())
}

/// How many transactions each client of a round saw acknowledged.
fn acknowledged(bench: &Bench, round: u32) -> Result<BTreeMap<u32, u64>, String> {
    let mut counts = BTreeMap::new();
    let entries = std::fs::read_dir(&bench.folder).map_err(|error| format!("cannot look for pgbench's log: {error}"))?;
    let prefix = format!("round{round}.");
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
        let text = std::fs::read_to_string(entry.path()).map_err(|error| format!("cannot read pgbench's log: {error}"))?;
        for line in text.lines() {
            let mut words = line.split(' ').map(str::parse::<u64>);
            if let (Some(Ok(client)), Some(Ok(_)), Some(Ok(_))) = (words.next(), words.next(), words.next()) {
                *counts.entry(client as u32).or_insert(0) += 1;
            }
        }
    }
    if counts.is_empty() { Err("pgbench's log has no transaction".to_owned()) } else { Ok(counts) }
}

impl<'a> Server<'a> {
    /// Starts it, and waits until it has recovered.
    fn start(bench: &'a Bench, mounted: &Mounted<'_>) -> Result<Server<'a>, String> {
        let tools = tools()?;
        let (program, data) = (tools.join("postgres").display().to_string(), format!("{}/data", mounted.folder));
        // A small checkpoint distance, so that many of them are cut.
        let settings = ["listen_addresses=", "max_wal_size=64MB", "checkpoint_timeout=30s", "shared_buffers=32MB", "wal_keep_size=0"];
        let sockets = bench.path("sockets");
        let mut words = vec!["-D", data.as_str(), "-k", sockets.as_str()];
        words.extend(settings.iter().flat_map(|setting| ["-c", setting]));
        let server = as_owner(bench, &program, &words);
        println!("$ {} &", crate::steps::shown(&server));
        let log = bench.path("postgres.log");
        let child = logged(server, &log)?.stdin(Stdio::null()).spawn().map_err(|error| format!("cannot start PostgreSQL: {error}"))?;
        let mut server = Server { bench, tools, child };
        until("PostgreSQL answers", PATIENCE, || {
            server.child.try_wait().is_ok_and(|status| status.is_some()) || server.query("SELECT 1").is_ok()
        })
        .and_then(|()| if server.query("SELECT 1").is_ok() { Ok(()) } else { Err("PostgreSQL has ended".to_owned()) })
        .map_err(|why| format!("{why}: {}", std::fs::read_to_string(&log).unwrap_or_default()))?;
        Ok(server)
    }

    fn with_socket(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(program, arguments);
        command.env("PGHOST", self.bench.path("sockets")).env("PGUSER", "postgres");
        command
    }

    fn client(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        said(self.with_socket(program, arguments)).map(|_| ())
    }

    fn query(&self, sql: &str) -> Result<String, String> {
        let psql = self.with_socket("psql", &["--no-psqlrc", "-At", "-v", "ON_ERROR_STOP=1", "-c", sql, "postgres"]).output();
        let output = psql.map_err(|error| format!("cannot start psql: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("psql -c '{sql}': {}", String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// SIGKILL for it and all its children.
    fn kill(&mut self) {
        let postmaster = self.child.id().to_string();
        let children = self.bench.command("ps", &["-o", "pid=", "--ppid", &postmaster]).output();
        let children = children.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
        // Some may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let words: Vec<&str> = ["-9"].into_iter().chain(children.split_whitespace()).collect();
        if words.len() > 1 {
            let _ = quietly(self.bench.command("kill", &words));
        }
    }

    /// Ends it well.
    fn stop(mut self) -> Result<(), String> {
        quietly(self.bench.command("kill", &["-INT", &self.child.id().to_string()]))?;
        until("PostgreSQL has stopped", PATIENCE, || self.child.try_wait().is_ok_and(|status| status.is_some()))
    }
}
