//! A served drive from the command line: looked at, hinted, copied, recorded; and the recording replayed with the command that it gives.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use wordline_block::Op;
use wordline_nbd::client::{Ask, Client, Content, Heard, Speak};

use crate::{Scratch, started, wordline};

/// A server of its own; it goes when this does.
pub(crate) struct Server(pub(crate) Child);

impl Server {
    fn start(scratch: &Scratch, socket: &str, more: &[&str]) -> Server {
        Server::of(scratch, "pageftl", socket, &[&["--physics", "off"], more].concat())
    }

    /// A server of 256 MiB of `drive`.
    pub(crate) fn of(scratch: &Scratch, drive: &str, socket: &str, more: &[&str]) -> Server {
        Server::with(scratch, &[&["serve", drive, "--size", "256MiB", "--socket", socket], more].concat())
    }

    /// A server of this command.
    pub(crate) fn with(scratch: &Scratch, arguments: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
        // It says where it listens once it does.
        let (child, line) = started(scratch, command.args(arguments).stderr(Stdio::null()));
        assert!(line.starts_with("nbd+unix:///disk?socket="), "{line}");
        Server(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client that does one thing after the other.
pub(crate) struct Disk {
    stream: UnixStream,
    client: Client,
    cookie: u64,
}

impl Disk {
    pub(crate) fn open(path: &Path) -> Disk {
        let ask = Ask { export: "disk".to_owned(), dialect: Speak::Structured, contexts: Vec::new(), by_export_name: false, list: false };
        let mut disk = Disk { stream: UnixStream::connect(path).expect("it listens"), client: Client::new(ask), cookie: 0 };
        assert!(matches!(disk.hear(), Heard::Ready(_)));
        disk
    }

    fn hear(&mut self) -> Heard {
        let mut buffer = vec![0; 1 << 16];
        loop {
            if let Some(heard) = self.client.next() {
                return heard;
            }
            self.stream.write_all(&self.client.take_output()).expect("taken");
            let count = self.stream.read(&mut buffer).expect("bytes");
            self.client.receive(&buffer[..count]).expect("the protocol");
        }
    }

    pub(crate) fn call(&mut self, op: &Op) -> Vec<u8> {
        self.try_to(op).unwrap_or_else(|| panic!("{op:?} failed"))
    }

    /// What a request returns; `None`: an error.
    pub(crate) fn try_to(&mut self, op: &Op) -> Option<Vec<u8>> {
        self.cookie += 1;
        self.client.request(self.cookie, op);
        let Heard::Answer(answer) = self.hear() else { panic!("no answer") };
        if answer.fault.is_some() {
            return None;
        }
        let bytes = answer.content.into_iter().filter_map(|content| match content {
            Content::Data(_, bytes) => Some(bytes),
            Content::Hole(..) | Content::Status(..) => None,
        });
        Some(bytes.flatten().collect())
    }
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = wordline(&scratch.0, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Keeps a disk busy with writes and trims, and flushes them.
fn keep_busy(disk: &mut Disk) {
    for round in 0..3 {
        for at in 0..800u64 {
            let offset = at * 48_271 % 8_192 * 16_384 % (200 << 20);
            disk.call(&Op::Write { offset, data: page(at, round), fua: at % 97 == 0 });
        }
        disk.call(&Op::Trim { offset: 1 << 20, length: 1 << 20, fua: false });
    }
    disk.call(&Op::Write { offset: 0, data: page(7, 7), fua: false });
    // The drive's own work behind a flush is over before the recording ends: a replay ends with the last answer.
    disk.call(&Op::Flush);
}

fn page(at: u64, round: u64) -> Vec<u8> {
    vec![(at + round) as u8; 16_384]
}

#[test]
fn a_served_drive_is_looked_at_copied_and_recorded() {
    let scratch = Scratch::new("served");
    let server = Server::start(&scratch, "s", &["--media", "media"]);
    let trace = std::fs::File::create(scratch.0.join("trace.csv")).expect("a file");
    let mut recorder = Command::new(env!("CARGO_BIN_EXE_wordline"))
        .args(["record", "s.ctl"])
        .current_dir(&scratch.0)
        .stdout(trace)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut told = String::new();
    let mut said = BufReader::new(recorder.stderr.take().expect("piped"));
    said.read_line(&mut told).expect("a line");
    assert!(told.contains("stop-recording"), "{told}");

    let mut disk = Disk::open(&scratch.0.join("s"));
    keep_busy(&mut disk);
    json(&scratch, &["ctl", "s.ctl", "status"]);
    json(&scratch, &["ctl", "s.ctl", "stop-recording"]);
    said.read_to_string(&mut told).expect("lines");
    assert!(recorder.wait().expect("it ends").success(), "{told}");

    let status = json(&scratch, &["ctl", "s.ctl", "status"]);
    assert_eq!((status["drive"]["host"]["writes"].as_u64(), status["live"]["media"]["survives"].as_str()), (Some(2_401), Some("process")));
    let hint = json(&scratch, &["ctl", "s.ctl", "hint", "offset=1MiB", "length=64KiB", "priority=high"]);
    assert!(hint["in_effect"][0].as_str().is_some_and(|effect| effect.starts_with("priority")), "{hint}");
    let top = wordline(&scratch.0, &["top", "s.ctl", "--once"]);
    let view = String::from_utf8_lossy(&top.stdout).into_owned();
    assert!(view.lines().all(|line| line.chars().count() <= 80) && view.contains("WAF") && view.contains("survives: process"), "{view}");
    let wrong = wordline(&scratch.0, &["ctl", "s.ctl", "hnit"]);
    assert!(wrong.status.code() == Some(2) && String::from_utf8_lossy(&wrong.stderr).contains("lba-status"), "{wrong:?}");

    // A copy of the media, served beside the drive.
    let copied = json(&scratch, &["ctl", "s.ctl", "snapshot", "folder=copy"]);
    assert!(copied["bytes"].as_u64().is_some_and(|bytes| bytes > 2 << 20), "{copied}");
    let mode = |path: &str| std::fs::metadata(scratch.0.join(path)).expect("it was copied").permissions().mode() & 0o777;
    assert_eq!([mode("copy"), mode("copy/die-000.media"), mode("copy/plan.toml")], [0o700, 0o600, 0o600]);
    let again = wordline(&scratch.0, &["ctl", "s.ctl", "snapshot", "folder=copy"]);
    assert_eq!(again.status.code(), Some(2), "a folder that exists is not overwritten");
    disk.call(&Op::Write { offset: 0, data: page(9, 9), fua: true });
    let other = Server::start(&scratch, "other", &["--media", "copy"]);
    let mut copy = Disk::open(&scratch.0.join("other"));
    assert_eq!(copy.call(&Op::Read { offset: 0, length: 16_384 }), page(7, 7), "as it was when it was copied");
    assert_eq!(disk.call(&Op::Read { offset: 0, length: 16_384 }), page(9, 9));
    drop((server, other));

    // The recording, replayed as its head says.
    let trace = std::fs::read_to_string(scratch.0.join("trace.csv")).expect("a trace");
    let line = trace.lines().find_map(|line| line.strip_prefix("# replay: wordline ")).expect("how it is replayed");
    let line = line.replace("THIS", "trace.csv");
    let output = Command::new("sh")
        .args(["-c", &format!("\"$0\" {line} --quiet --json -"), env!("CARGO_BIN_EXE_wordline")])
        .current_dir(&scratch.0)
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let replayed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let (replayed, live) = (&replayed["drives"][0], &status["drive"]);
    for figure in ["event_log_hash", "waf", "flash", "erases", "pages_programmed", "pages_read", "latency_us"] {
        assert_eq!(replayed[figure], live[figure], "{figure}");
    }
    assert!(live["pages_programmed"].as_u64().is_some_and(|pages| pages > 2_400));
}

#[test]
fn hints_of_a_server_that_is_killed_are_those_of_the_next() {
    let scratch = Scratch::new("hinted");
    let techniques =
        ["read-disturb-refresh.on=true", "read-disturb-refresh.guard=true", "read-disturb-refresh.reads_max=100", "latency-hints.on=true"];
    let settings = techniques.map(|setting| format!("techniques.{setting}"));
    let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let arguments = [&["--media", "media"], &set[..]].concat();
    let mut server = Server::start(&scratch, "s", &arguments);
    Disk::open(&scratch.0.join("s")).call(&Op::Write { offset: 0, data: page(1, 1), fua: true });
    for hint in [["offset=0", "length=8MiB", "read_latency=longer"], ["offset=1MiB", "length=64KiB", "lifetime=long"]] {
        let told = json(&scratch, &[&["ctl", "s.ctl", "hint"], &hint[..]].concat());
        assert_eq!(told["stored"], true, "{told}");
    }
    let hints = json(&scratch, &["ctl", "s.ctl", "hints"]);
    assert_eq!(hints["hints"].as_array().map(Vec::len), Some(3), "{hints}");
    // With SIGKILL.
    server.0.kill().expect("it runs");
    server.0.wait().expect("it ends");

    let server = Server::start(&scratch, "s", &arguments);
    assert_eq!(json(&scratch, &["ctl", "s.ctl", "hints"]), hints);
    let status = json(&scratch, &["ctl", "s.ctl", "status"]);
    assert_eq!((status["live"]["hinted_stretches"].as_u64(), status["drive"]["host"]["hints"].as_u64()), (Some(3), Some(3)), "{status}");
    let mode = std::fs::metadata(scratch.0.join("media/hints")).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    drop(server);

    // A file that cannot be used costs the hints, and a line.
    std::fs::write(scratch.0.join("media/hints"), "wordline hints 1\n").expect("it can be written");
    let command = [&["serve", "pageftl", "--physics", "off", "--size", "256MiB", "--socket", "s"], &arguments[..]].concat();
    let (child, _) = started(&scratch, Command::new(env!("CARGO_BIN_EXE_wordline")).args(command).stderr(Stdio::piped()));
    let mut server = Server(child);
    assert_eq!(json(&scratch, &["ctl", "s.ctl", "hints"])["hints"], Value::Array(Vec::new()));
    server.0.kill().expect("it runs");
    let mut said = String::new();
    server.0.stderr.take().expect("piped").read_to_string(&mut said).expect("lines");
    assert!(said.contains("media/hints") && said.contains("checksum") && said.contains("give them again"), "{said}");
}

#[test]
fn a_drive_is_as_large_as_is_asked() {
    let scratch = Scratch::new("sized");
    for (arguments, words) in [
        (&["run", "pageftl", "--size", "17"][..], &["17", "no unit"][..]),
        (&["serve", "pageftl", "--size", "268435456", "--socket", "s"], &["no unit", "268435456 bytes are \"256 MiB\""]),
        (&["serve", "pageftl", "--size", "1000 B", "--socket", "s"], &["steps of 16 KiB"]),
        (&["compare", "--size", "1 MiB"], &["pageftl", "spare", "expected at least", "MiB"]),
        (&["compare", "--drives", "cubeftl,vertftl", "--size", "256MiB"], &["vertftl", "at least", "MiB"]),
        (&["run", "--from", "x.wl", "--size", "1GiB"], &["--size"]),
    ] {
        let output = wordline(&scratch.0, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{arguments:?}: {told}");
    }
}
