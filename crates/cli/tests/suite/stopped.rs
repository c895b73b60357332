//! Does a served drive that is stopped keep every byte that it has acknowledged, flushed or not?

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use wordline_block::Op;
use wordline_nbd::client::{Ask, Client, Content, Heard, Speak};

use crate::{Scratch, started, wordline};

/// Bytes of each block that is written.
const BLOCK: u64 = 4096;

/// A server of a 256-MiB drive on media in `media`, at the socket `s`. It is killed with this.
struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Server {
    fn start(scratch: &Scratch, more: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
        command.args(["serve", "pageftl", "--physics", "off", "--size", "256MiB", "--media", "media", "--socket", "s"]).args(more);
        let (server, line) = Server::of(scratch, &mut command);
        assert!(line.starts_with("nbd+unix:///disk?socket="), "{line}");
        server
    }

    /// The server that `command` starts, and the first line that it prints.
    fn of(scratch: &Scratch, command: &mut Command) -> (Server, String) {
        let (mut child, line) = started(scratch, command.stderr(Stdio::piped()));
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        (Server { child, stderr }, line)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Waits for a line on standard error that has `word` in it.
    fn says(&mut self, word: &str) -> String {
        let mut all = String::new();
        while self.stderr.read_line(&mut all).expect("lines") > 0 {
            let last = all.lines().next_back().unwrap_or_default();
            if last.contains(word) {
                return last.to_owned();
            }
        }
        panic!("it never said {word:?}: {all}");
    }

    /// Waits for its end; returns how it ended, and what else it said.
    fn ended(mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).expect("lines");
        (self.child.wait().expect("it ends"), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of the export `disk`.
struct Peer {
    stream: UnixStream,
    client: Client,
}

impl Peer {
    fn open(path: &Path) -> Peer {
        let ask = Ask { export: "disk".to_owned(), dialect: Speak::Structured, contexts: Vec::new(), by_export_name: false, list: false };
        let mut peer = Peer { stream: UnixStream::connect(path).expect("it listens"), client: Client::new(ask) };
        assert!(matches!(peer.hear(), Some(Heard::Ready(_))));
        peer
    }

    fn send(&mut self) {
        // A server that stops takes no more.
        let _ = self.stream.write_all(&self.client.take_output());
    }

    /// What is heard next; `None`: the server has hung up.
    fn hear(&mut self) -> Option<Heard> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            if let Some(heard) = self.client.next() {
                return Some(heard);
            }
            self.send();
            match self.stream.read(&mut buffer) {
                Ok(count) if count > 0 => self.client.receive(&buffer[..count]).expect("the protocol"),
                _ => return None,
            }
        }
    }

    /// Writes `stamp` to the first `blocks` blocks, many at a time; returns which writes were acknowledged.
    fn write(&mut self, blocks: u64, stamp: u8) -> Vec<u64> {
        for block in 0..blocks {
            self.client.request(block, &Op::Write { offset: block * BLOCK, data: bytes(block, stamp), fua: false });
        }
        self.send();
        let mut acknowledged = Vec::new();
        for _ in 0..blocks {
            let Some(Heard::Answer(answer)) = self.hear() else { break };
            acknowledged.extend(answer.fault.is_none().then_some(answer.cookie));
        }
        acknowledged
    }

    fn read(&mut self, block: u64) -> Vec<u8> {
        self.client.request(block, &Op::Read { offset: block * BLOCK, length: BLOCK as u32 });
        let Some(Heard::Answer(answer)) = self.hear() else { panic!("no answer") };
        assert_eq!(answer.fault, None);
        let part = |content| match content {
            Content::Data(_, bytes) => bytes,
            Content::Hole(_, length) => vec![0; length as usize],
            Content::Status(..) => Vec::new(),
        };
        answer.content.into_iter().flat_map(part).collect()
    }
}

fn bytes(block: u64, stamp: u8) -> Vec<u8> {
    (0..BLOCK).map(|at| (at / 16 + block) as u8 ^ stamp).collect()
}

/// Starts the drive again: every one of `blocks` has to hold `stamp`.
fn are_there(scratch: &Scratch, blocks: &[u64], stamp: u8) {
    let server = Server::start(scratch, &[]);
    let mut peer = Peer::open(&scratch.0.join("s"));
    let lost = blocks.iter().filter(|&&block| peer.read(block) != bytes(block, stamp)).count();
    assert_eq!(lost, 0, "blocks lost, of {}", blocks.len());
    drop(server);
}

#[test]
fn a_stop_loses_nothing_that_was_acknowledged() {
    let scratch = Scratch::new("stop");
    let socket = scratch.0.join("s");
    for (stamp, signal) in [(1, Some(Signal::TERM)), (2, Some(Signal::INT)), (3, None)] {
        let server = Server::start(&scratch, &[]);
        let mut peer = Peer::open(&socket);
        let acknowledged = peer.write(301, stamp);
        assert_eq!(acknowledged.len(), 301);
        match signal {
            Some(signal) => server.signal(signal),
            None => {
                let stopped = wordline(&scratch.0, &["ctl", "s.ctl", "stop"]);
                assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
                assert!(String::from_utf8_lossy(&stopped.stdout).contains("\"ok\": true"), "{stopped:?}");
            }
        }
        assert!(peer.hear().is_none(), "it hangs up");
        let (status, told) = server.ended();
        assert_eq!(status.code(), Some(0), "{signal:?}: {told}");
        assert!(!socket.exists() && !scratch.0.join("s.ctl").exists(), "its sockets go with it");
        are_there(&scratch, &acknowledged, stamp);
    }
}

#[test]
fn what_is_in_flight_is_answered_or_refused_and_what_is_answered_is_kept() {
    let scratch = Scratch::new("in-flight");
    // At a pace at which requests are under way when the signal comes.
    let server = Server::start(&scratch, &["--timing", "x0.01"]);
    let mut peer = Peer::open(&scratch.0.join("s"));
    let first = peer.write(1, 9);
    assert_eq!(first.len(), 1);
    for block in 0..900 {
        peer.client.request(block, &Op::Write { offset: block * BLOCK, data: bytes(block, 9), fua: false });
    }
    peer.send();
    // Some are answered, so all that the server has taken in before are under way.
    let Some(Heard::Answer(answer)) = peer.hear() else { panic!("no answer") };
    let mut acknowledged = vec![answer.cookie];
    server.signal(Signal::TERM);
    while let Some(Heard::Answer(answer)) = peer.hear() {
        acknowledged.extend(answer.fault.is_none().then_some(answer.cookie));
    }
    let (status, told) = server.ended();
    assert_eq!(status.code(), Some(0), "{told}");
    are_there(&scratch, &acknowledged, 9);
}

#[test]
fn a_second_signal_gives_up_at_once_and_says_so() {
    let scratch = Scratch::new("twice");
    // A program takes minutes.
    let mut server = Server::start(&scratch, &["--timing", "x0.000001", "--set", "buffer.acknowledge=programmed"]);
    let mut peer = Peer::open(&scratch.0.join("s"));
    peer.client.request(1, &Op::Write { offset: 0, data: bytes(0, 1), fua: true });
    // The block status is answered at once, behind the write.
    peer.client.request(2, &Op::Cache { offset: 0, length: 512 });
    let Some(Heard::Answer(answer)) = peer.hear() else { panic!("no answer") };
    assert_eq!(answer.cookie, 2);
    server.signal(Signal::TERM);
    server.says("stopping");
    // A signal that comes within a second is the same signal once more, as GNU timeout sends it.
    server.signal(Signal::TERM);
    let first = std::time::Instant::now();
    while server.child.try_wait().expect("it is ours").is_none() {
        server.signal(Signal::TERM);
        std::thread::yield_now();
    }
    // On a slow machine the first may have been long ago when this clock began, so only what is far too early is told.
    assert!(first.elapsed() > std::time::Duration::from_millis(200), "it gave up {:?} after it was told to stop", first.elapsed());
    let (status, told) = server.ended();
    assert_eq!(status.code(), Some(143), "{told}");
    assert!(told.contains("gives up") || told.contains("given up"), "{told}");
}

#[test]
fn under_nohup_a_terminal_that_closes_stops_nothing() {
    let scratch = Scratch::new("nohup");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wordline")]);
    command.args(["serve", "pageftl", "--physics", "off", "--size", "256MiB", "--socket", "s"]);
    let (mut server, _) = Server::of(&scratch, &mut command);
    server.signal(Signal::HUP);
    server.signal(Signal::TERM);
    // Had it counted, this would have been the second.
    assert!(server.says("stopping").starts_with("SIGTERM"));
    assert_eq!(server.ended().0.code(), Some(0));
}

#[test]
fn starts_and_unsafe_shutdowns_are_counted_over_restarts() {
    let scratch = Scratch::new("counted");
    for (signal, starts, cut_off) in [(Signal::TERM, 1, 0), (Signal::KILL, 2, 0), (Signal::TERM, 3, 1), (Signal::TERM, 4, 1)] {
        let server = Server::start(&scratch, &[]);
        let smart = wordline(&scratch.0, &["ctl", "s.ctl", "smart", "--json"]);
        let smart: serde_json::Value = serde_json::from_slice(&smart.stdout).expect("JSON");
        assert_eq!([smart["smart"]["power_cycles"].as_u64(), smart["smart"]["unsafe_shutdowns"].as_u64()], [Some(starts), Some(cut_off)]);
        let mut peer = Peer::open(&scratch.0.join("s"));
        peer.write(20, 4);
        server.signal(signal);
        server.ended();
    }
}

#[test]
fn the_last_client_that_says_goodbye_leaves_a_flushed_drive() {
    let scratch = Scratch::new("goodbye");
    let server = Server::start(&scratch, &[]);
    let socket = scratch.0.join("s");
    let (mut one, mut other) = (Peer::open(&socket), Peer::open(&socket));
    let acknowledged = one.write(77, 4);
    assert_eq!(acknowledged.len(), 77);
    for peer in [&mut other, &mut one] {
        peer.client.disconnect();
        assert!(peer.hear().is_none(), "the server hangs up once it has flushed");
    }
    // The server goes on.
    Peer::open(&socket);
    server.signal(Signal::KILL);
    let (status, _) = server.ended();
    assert_eq!(status.code(), None);
    are_there(&scratch, &acknowledged, 4);
}

#[test]
fn the_folder_of_another_drive_is_refused_with_the_command_that_made_it() {
    let scratch = Scratch::new("another");
    let server = Server::start(&scratch, &[]);
    server.signal(Signal::TERM);
    server.ended();
    // As another user might find it, and as an earlier version made it.
    let mode = |path: &str, mode| std::fs::set_permissions(scratch.0.join(path), std::fs::Permissions::from_mode(mode)).expect("ours");
    mode("media", 0o755);
    let serve = |more: &[&str]| wordline(&scratch.0, &[&["serve", "pageftl", "--media", "media", "--socket", "s"], more].concat());
    for more in [
        &["--physics", "off", "--size", "512MiB"][..],
        &["--size", "256MiB"],
        &["--physics", "off", "--size", "256MiB", "--set", "gc.victim=fifo"],
    ] {
        let refused = serve(more);
        let told = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        let made = "made by `wordline serve pageftl --physics off --size 256MiB --media media --socket s`";
        assert!(told.contains(made), "{told}");
    }
    // Started by other words for the same drive, it keeps the command; the folder is still open to others.
    let mut server = Server::start(&scratch, &["--timing", "x100"]);
    let warned = server.says("warning");
    assert!(warned.contains("media has mode 755") && warned.contains("chmod"), "{warned}");
    let plan = std::fs::read_to_string(scratch.0.join("media/plan.toml")).expect("a plan");
    assert!(
        plan.starts_with("# made by: wordline serve pageftl --physics off --size 256MiB --media media --socket s\n# pageftl, plan "),
        "{plan}"
    );
    for file in ["media/plan.toml", "media/die-000.media", "media/lock", "s", "s.ctl"] {
        let mode = std::fs::metadata(scratch.0.join(file)).expect(file).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_folder_alone_says_which_drive_is_in_it() {
    let scratch = Scratch::new("alone");
    let server = Server::start(&scratch, &["--set", "gc.victim=fifo"]);
    assert_eq!(Peer::open(&scratch.0.join("s")).write(8, 5), (0..8).collect::<Vec<_>>());
    server.signal(Signal::TERM);
    assert!(server.ended().0.success());
    let plan = |scratch: &Scratch| std::fs::read_to_string(scratch.0.join("media/plan.toml")).expect("a plan");
    let before = plan(&scratch);
    for arguments in
        [&["serve", "--media", "media", "--socket", "s"][..], &["serve", "--media", "media", "--socket", "s", "--size", "256MiB"]]
    {
        let (mut server, line) = Server::of(&scratch, Command::new(env!("CARGO_BIN_EXE_wordline")).args(arguments));
        if arguments.len() > 5 {
            // Something else is asked of the drive than it was made with.
            assert!(line.is_empty() && server.says("another drive").contains("media"), "{line}");
            continue;
        }
        assert!(line.starts_with("nbd+unix:"), "{line}");
        let mut peer = Peer::open(&scratch.0.join("s"));
        assert!((0..8).all(|block| peer.read(block) == bytes(block, 5)));
        server.signal(Signal::TERM);
        assert!(server.ended().0.success());
    }
    assert_eq!(plan(&scratch), before);
}

#[test]
fn a_second_server_on_a_socket_leaves_nothing_behind() {
    let scratch = Scratch::new("second");
    let _server = Server::start(&scratch, &[]);
    for socket in [&["--socket", "s"][..], &["--socket", "t", "--control", "s"], &["--socket", "t", "--control", "s.ctl"]] {
        let arguments = ["serve", "pageftl", "--physics", "off", "--size", "256MiB", "--media", "others"];
        let refused = wordline(&scratch.0, &[&arguments[..], socket].concat());
        let told = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.contains("cannot listen on"), "{told}");
        let mut there: Vec<_> = std::fs::read_dir(&scratch.0).expect("ours").map(|entry| entry.expect("ours").file_name()).collect();
        there.sort();
        assert_eq!(there, ["media", "s", "s.ctl"]);
    }
}

#[test]
fn links_in_a_folder_of_media_are_not_followed_and_a_folder_for_everybody_is_refused() {
    let scratch = Scratch::new("links");
    let server = Server::start(&scratch, &[]);
    server.signal(Signal::TERM);
    assert!(server.ended().0.success());
    scratch.file("theirs", b"theirs");
    let theirs = scratch.0.join("theirs");
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    mode(&theirs, 0o644);
    let serve = || wordline(&scratch.0, &["serve", "pageftl", "--physics", "off", "--size", "256MiB", "--media", "media", "--socket", "s"]);
    for name in ["lock", "die-000.media", "buffer.media"] {
        let (file, kept) = (scratch.0.join("media").join(name), scratch.0.join("kept"));
        let was_there = std::fs::rename(&file, &kept).is_ok();
        std::os::unix::fs::symlink(&theirs, &file).expect("it can be linked");
        // Only drives with capacitors have a dump.
        if was_there {
            let refused = serve();
            let told = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(2), "{name}: {told}");
            assert!(told.contains(name) && told.contains("symbolic link"), "{told}");
        }
        std::fs::remove_file(&file).expect("the link");
        if was_there {
            std::fs::rename(&kept, &file).expect("it was there");
        }
    }
    // The plan is written anew, and not through a link.
    let plan = scratch.0.join("media/plan.toml");
    std::fs::remove_file(&plan).expect("it is there");
    std::os::unix::fs::symlink(&theirs, &plan).expect("it can be linked");
    let server = Server::start(&scratch, &[]);
    server.signal(Signal::TERM);
    assert!(server.ended().0.success());
    assert!(std::fs::symlink_metadata(&plan).expect("it is there").is_file());
    assert_eq!(std::fs::read_to_string(&theirs).expect("it is there"), "theirs");
    assert_eq!(std::fs::metadata(&theirs).expect("it is there").permissions().mode() & 0o777, 0o644);
    mode(&scratch.0.join("media"), 0o777);
    let refused = serve();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("mode 777") && told.contains("chmod go-w"), "{told}");
}

#[test]
fn what_is_said_at_the_start_is_so() {
    let scratch = Scratch::new("said");
    let start = |arguments: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wordline"))
            .args(["serve"])
            .args(arguments)
            .current_dir(&scratch.0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        Server { child, stderr }
    };
    let mut spoils = start(&["osrssd", "--size", "1GiB", "--socket", "s"]);
    assert!(spoils.says("warning").contains("spoils data by design"));
    drop(spoils);
    let mut open = start(&["pageftl", "--size", "256MiB", "--listen", "127.0.0.1:0"]);
    assert!(open.says("every user").contains("--socket"));
    drop(open);
    // A file that is no socket is not replaced by one.
    scratch.file("precious", b"data");
    let refused = wordline(&scratch.0, &["serve", "pageftl", "--size", "256MiB", "--socket", "precious"]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    assert_eq!(std::fs::read(scratch.0.join("precious")).expect("it is there"), b"data");
    // How large the export says that it is.
    let _server = Server::start(&scratch, &[]);
    let told = Command::new("nbdinfo").args(["--list", "nbd+unix:///disk?socket=s"]).current_dir(&scratch.0).output();
    if let Ok(told) = told {
        let told = String::from_utf8_lossy(&told.stdout);
        assert!(told.contains("pageftl: 256 MiB") && !told.contains("30 GiB"), "{told}");
    }
}
