//! Does a server hold no more memory than the limits of its connections say, as the host counts it?

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use wordline_nbd::client::{put_option, put_request};
use wordline_nbd::wire::command;
use wordline_units::random::{Draw, Stream};

use crate::Scratch;
use crate::served::Server;

const MIB: u64 = 1 << 20;

/// The longest request that is taken.
const LONGEST: u64 = 32 * MIB;

/// What a line of `/proc/PID/status` says, in bytes.
fn told(child: &Child, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("every process has it");
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().expect("a number of KiB") * 1024
}

/// The most memory that the server ever had, and what it has now.
fn memory(server: &Server) -> [u64; 2] {
    ["VmHWM:", "VmRSS:"].map(|name| told(&server.0, name))
}

/// What all its connections may hold, as the server is started here: a connection's share, and so many of them.
fn bound(connections: u64) -> u64 {
    let config = wordline_serve::Config::default();
    config.memory_bound() / config.connections as u64 * connections
}

/// A stream with the export open, if the server has room for it.
fn open(path: &Path) -> std::io::Result<UnixStream> {
    let mut stream = UnixStream::connect(path)?;
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 1, b"disk");
    stream.write_all(&bytes)?;
    // The greeting, and the export's size and flags.
    stream.read_exact(&mut [0; 18 + 10])?;
    Ok(stream)
}

/// A drive whose bytes are in files, so that its memory is not its contents.
fn start(scratch: &Scratch) -> (Server, [u64; 2]) {
    let server = Server::of(scratch, "pageftl", "s", &["--physics", "off", "--media", "media"]);
    let before = memory(&server);
    (server, before)
}

#[test]
fn a_polite_client_of_long_requests_costs_one_connection() {
    let scratch = Scratch::new("polite");
    let (server, [_, before]) = start(&scratch);
    let mut stream = open(&scratch.0.join("s")).expect("there is room");
    let mut reader = stream.try_clone().expect("a second handle");
    let rounds = 12;
    let hears = std::thread::spawn(move || {
        let mut answer = vec![0; MIB as usize];
        let mut left = rounds * (16 + 16 + LONGEST + 60 * 16);
        while left > 0 {
            let count = reader.read(&mut answer[..left.min(MIB) as usize]).expect("an answer");
            assert!(count > 0, "the server hung up with {left} bytes to go");
            left -= count as u64;
        }
    });
    let payload = vec![0x5A; LONGEST as usize];
    for round in 0..rounds {
        let mut head = Vec::new();
        put_request(&mut head, false, 0, command::WRITE, round, round % 4 * LONGEST, LONGEST);
        stream.write_all(&head).and_then(|()| stream.write_all(&payload)).expect("taken");
        // Zeroes that must keep their place are written, although no byte of them is sent; and a read, as long.
        let mut heads = Vec::new();
        for at in 0..60 {
            put_request(&mut heads, false, 2, command::WRITE_ZEROES, at, (at + 7 * round) % 200 * MIB, MIB / 4);
        }
        put_request(&mut heads, false, 0, command::READ, round, round % 4 * LONGEST, LONGEST);
        stream.write_all(&heads).expect("taken");
    }
    hears.join().expect("every answer came");
    let [most, _] = memory(&server);
    let bound = before + bound(1);
    assert!(most <= bound, "{} MiB at most, of {} MiB", most / MIB, bound / MIB);
}

#[test]
fn clients_that_ask_and_leave_hold_what_all_connections_may_and_only_for_a_while() {
    let scratch = Scratch::new("leavers");
    let (server, [_, before]) = start(&scratch);
    let path = scratch.0.join("s");
    let mut draw = Draw::new(20_261_124, Stream::Address, 0);
    let mut asked = 0;
    for _ in 0..400 {
        let Ok(mut stream) = UnixStream::connect(&path) else { continue };
        let mut bytes = 3u32.to_be_bytes().to_vec();
        put_option(&mut bytes, 1, b"disk");
        for cookie in 0..250 {
            let (length, zeroes) = (MIB << draw.below(6), draw.below(3) == 0);
            let kind = if zeroes { command::WRITE_ZEROES } else { command::READ };
            put_request(&mut bytes, false, if zeroes { 2 } else { 0 }, kind, cookie, draw.below(200) * MIB, length);
        }
        // It may be refused: the places of those that left are theirs until the drive is through with what they asked for.
        asked += u64::from(stream.write_all(&bytes).is_ok());
    }
    assert!(asked > 16, "only {asked} were let in");
    // The server is through with them once it lets others in and answers them, and is as good as before.
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut stream = loop {
        match open(&path) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < deadline, "nobody is let in: {error}"),
        }
        std::thread::park_timeout(Duration::from_millis(5));
    };
    let mut heads = Vec::new();
    put_request(&mut heads, false, 0, command::READ, 1, 0, 4096);
    put_request(&mut heads, false, 0, command::FLUSH, 2, 0, 0);
    stream.write_all(&heads).expect("taken");
    stream.read_exact(&mut [0; 16 + 4096 + 16]).expect("an answer");
    let [most, _] = memory(&server);
    println!("{} MiB before, {} at most, {} now", before / MIB, most / MIB, memory(&server)[1] / MIB);
    let bound = before + bound(16);
    assert!(most <= bound, "{} MiB at most, of {} MiB", most / MIB, bound / MIB);
    // What is held shrinks as the last of them are dropped.
    let settled = before + 128 * MIB;
    while memory(&server)[1] > settled {
        assert!(Instant::now() < deadline, "{} MiB are still held, {} before", memory(&server)[1] / MIB, before / MIB);
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
