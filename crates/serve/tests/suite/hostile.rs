//! Are other clients unharmed, and the server's bounds kept, whatever a peer does?
//!
//! For memory as the system counts it, the test program starts itself as a server of its own, with a variable that says so.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wordline_block::Op;
use wordline_chip::RamPayload;
use wordline_drive::Watched;
use wordline_live::doors::Address;
use wordline_live::{About, LiveDisk, MemoryDisk, Timing, watch};
use wordline_nbd::client::{put_option, put_request};
use wordline_nbd::{Export, Limits};
use wordline_serve::{Config, Running, serve};
use wordline_units::random::{Draw, Stream};

use crate::common::{UNIT, config, connect, small_drive, socket, start};

const SIZE: u64 = 64 << 20;

fn served(limits: Limits) -> (Running, PathBuf) {
    start(Arc::new(MemoryDisk::new(SIZE)), SIZE, config(limits))
}

/// A peer with the export open that has read nothing since.
fn rude(path: &PathBuf) -> UnixStream {
    let mut stream = UnixStream::connect(path).expect("it listens");
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 8, &[]);
    put_option(&mut bytes, 1, b"disk");
    stream.write_all(&bytes).expect("taken");
    stream
}

/// Whether the server lets go of `stream` before long.
fn is_dropped(stream: &mut UnixStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

fn works(path: &PathBuf) {
    let mut client = connect(path);
    client.write(4096, b"still here");
    assert_eq!(client.read(4096, 10), b"still here");
}

#[test]
fn silence_in_the_middle_ends_the_connection() {
    let (_running, path) = served(Limits::DEFAULT);
    let mut patient = connect(&path);
    patient.write(0, b"before");
    let nothing = UnixStream::connect(&path).expect("it listens");
    let mut half_greeting = UnixStream::connect(&path).expect("it listens");
    half_greeting.write_all(&[0, 0]).expect("taken");
    let mut half_option = UnixStream::connect(&path).expect("it listens");
    half_option.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\x01\0abc").expect("taken");
    let mut half_request = rude(&path);
    half_request.write_all(&[0x25, 0x60]).expect("taken");
    let mut half_payload = rude(&path);
    let mut bytes = Vec::new();
    put_request(&mut bytes, false, 0, 1, 1, 0, 32 << 20);
    half_payload.write_all(&bytes).expect("taken");
    works(&path);
    for mut stream in [nothing, half_greeting, half_option, half_request, half_payload] {
        assert!(is_dropped(&mut stream));
    }
    // Between requests one may be silent for longer than that.
    assert_eq!(patient.read(0, 6), b"before");
}

#[test]
fn clients_that_do_not_read_are_dropped_and_hurt_nobody() {
    let limits = Limits { held_bytes: 2 << 20, ..Limits::DEFAULT };
    let (running, path) = served(limits);
    let mut deaf: Vec<UnixStream> = (0..3).map(|_| rude(&path)).collect();
    for stream in &mut deaf {
        let mut bytes = Vec::new();
        for cookie in 0..2000 {
            put_request(&mut bytes, false, 0, 0, cookie, 0, 1 << 20);
        }
        stream.set_write_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        // Two gigabytes are asked for; the server stops listening long before.
        let _ = stream.write_all(&bytes);
    }
    works(&path);
    // Not one byte is read here: that would be listening.
    let deadline = Instant::now() + Duration::from_secs(20);
    while running.connections() > 0 {
        assert!(Instant::now() < deadline, "still {} connections", running.connections());
        std::thread::yield_now();
    }
}

#[test]
fn floods_of_large_writes() {
    let (_running, path) = served(Limits::DEFAULT);
    let stop = Instant::now() + Duration::from_millis(600);
    let floods: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = rude(&path);
            std::thread::spawn(move || {
                let mut head = Vec::new();
                put_request(&mut head, false, 0, 1, 1, 0, 32 << 20);
                let payload = vec![7; 32 << 20];
                while Instant::now() < stop && stream.write_all(&head).and_then(|()| stream.write_all(&payload)).is_ok() {}
            })
        })
        .collect();
    while Instant::now() < stop {
        let mut client = connect(&path);
        client.write(40 << 20, &[1; 4096]);
        assert_eq!(client.read(40 << 20, 4096), [1; 4096]);
    }
    floods.into_iter().for_each(|flood| flood.join().expect("it ends"));
}

#[test]
fn one_client_too_many() {
    let config = wordline_serve::Config { connections: 8, ..config(Limits::DEFAULT) };
    let (running, path) = start(Arc::new(MemoryDisk::new(SIZE)), SIZE, config);
    let mut clients: Vec<_> = (0..8).map(|_| connect(&path)).collect();
    let mut late = UnixStream::connect(&path).expect("it listens");
    assert!(is_dropped(&mut late));
    clients[7].write(0, b"full house");
    // A place becomes free.
    clients.clear();
    while running.connections() > 0 {
        std::thread::yield_now();
    }
    works(&path);
}

#[test]
fn noise_and_sudden_ends() {
    // Room for all: those that wait to be accepted count as well.
    let config = wordline_serve::Config { connections: 1000, ..config(Limits::DEFAULT) };
    let (_running, path) = start(Arc::new(MemoryDisk::new(SIZE)), SIZE, config);
    for round in 0..200u32 {
        let mut stream = if round % 2 == 0 { rude(&path) } else { UnixStream::connect(&path).expect("it listens") };
        let noise: Vec<u8> = (0..round * 7).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let _ = stream.write_all(&noise);
    }
    works(&path);
    let mut client = connect(&path);
    let fault = client.call(&Op::Read { offset: u64::MAX - 10, length: 4096 }).fault.expect("refused");
    assert_eq!(fault.errno, 22);
}

/// Where the server is to listen that this program is started as.
const VICTIM: &str = "WORDLINE_SERVE_VICTIM";

/// So small that the bound is near.
const SMALL: Limits = Limits { option_bytes: 4096, options: 64, requests: 16, request_bytes: 1 << 20, held_bytes: 2 << 20 };

fn small() -> Config {
    Config { connections: 8, strangers: 4, ..config(SMALL) }
}

/// Does nothing unless it is started by the test below: serves a drive in memory until it is killed.
#[test]
fn victim() {
    let Ok(path) = std::env::var(VICTIM) else { return };
    let drive = small_drive(2, &[]);
    let size = drive.exported().0;
    let build = move || {
        let (sheet, units) = (drive.sheet, (drive.sheet.geometry.page.0 / drive.firmware.unit.0) as u32);
        let watched = watch(&drive);
        (Watched::with_payload(drive, watched, |_| RamPayload::new(&sheet, units)), ())
    };
    let disk = LiveDisk::start_kept(build, Timing::Off, About::default());
    let export = Export { block_min: 512, ..Export::new("disk", size) }.described(LiveDisk::description(UNIT));
    let running = serve(&Address::Unix(path.into()), vec![(export, Arc::new(disk))], small()).expect("it starts");
    println!("serving {size}");
    running.wait();
}

/// A server in a process of its own, which ends with this.
struct Victim {
    child: Child,
    path: PathBuf,
    size: u64,
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Victim {
    fn start() -> Victim {
        let path = socket();
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "hostile::victim", "--nocapture"])
            .env(VICTIM, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let size = lines.find_map(|line| line.expect("text").rsplit_once("serving ")?.1.parse().ok()).expect("it says so");
        Victim { child, path, size }
    }

    /// The most memory of it that has been resident so far, in bytes.
    fn resident_max(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has a size");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }
}

/// A number that somebody might not have thought of, or that is sound.
fn edge(draw: &mut Draw, size: u64) -> u64 {
    let edges = [0, 1, 511, 512, size - 512, size, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX - 4095, u64::MAX];
    if draw.below(2) == 0 { draw.below(size / 512) * 512 } else { edges[draw.below(edges.len() as u64) as usize] }
}

/// One input of a peer that means no good, appended to `bytes`. True: the server can make nothing of what follows.
fn wicked(draw: &mut Draw, size: u64, bytes: &mut Vec<u8>) -> bool {
    let offset = edge(draw, size);
    let flags = draw.next_u64() as u16 & [0, 1, 0x3F, 0xFFFF][draw.below(4) as usize];
    match draw.below(64) {
        0 => {
            // A payload of which a part comes.
            put_request(bytes, false, flags & 1, 1, draw.next_u64(), 0, 1 << 20);
            bytes.resize(bytes.len() + draw.below(1 << 20) as usize, 7);
            true
        }
        1 => {
            bytes.extend((0..1 + draw.below(400)).map(|_| draw.next_u64() as u8));
            true
        }
        2..20 => {
            let length = 512 * (1 + draw.below(16));
            put_request(bytes, false, flags, 1, draw.next_u64(), offset, length);
            bytes.resize(bytes.len() + length as usize, draw.next_u64() as u8);
            false
        }
        20..40 => {
            let kind = [0, 3, 4, 5, 6][draw.below(5) as usize];
            put_request(bytes, false, flags, kind, draw.next_u64(), offset, 512 * (1 + draw.below(64)));
            false
        }
        // Not a write: of that, the payload would be what follows.
        40..62 => {
            let kind = [0, 3, 4, 5, 6, 7, 8, 9, 255, 65_535][draw.below(10) as usize];
            put_request(bytes, false, flags, kind, draw.next_u64(), offset, edge(draw, size));
            false
        }
        _ => {
            let length = (1 << 20) + 1 + draw.below(1 << 10);
            put_request(bytes, false, flags, 1, draw.next_u64(), offset, length);
            bytes.resize(bytes.len() + draw.below(2 * length) as usize, 7);
            draw.below(2) == 0
        }
    }
}

/// One connection of such a peer, which mostly reads what it is told; returns how many inputs it sent.
fn visit(path: &PathBuf, size: u64, draw: &mut Draw) -> u64 {
    let mut stream = UnixStream::connect(path).expect("it listens");
    let mut bytes = 3u32.to_be_bytes().to_vec();
    put_option(&mut bytes, 1, b"disk");
    let listens = draw.below(16) > 0;
    let mut ear = stream.try_clone().expect("a second handle");
    let ear = std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while listens && matches!(ear.read(&mut buffer), Ok(count) if count > 0) {}
    });
    stream.set_write_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let mut sent = 0;
    for _ in 0..1 + draw.below(64) {
        let mut is_over = false;
        while !is_over && bytes.len() < 64 << 10 {
            is_over = wicked(draw, size, &mut bytes);
            sent += 1;
        }
        if stream.write_all(&bytes).is_err() || is_over {
            break;
        }
        bytes.clear();
    }
    // One that has been hung up on is what is wanted.
    let _ = stream.shutdown(if listens { Shutdown::Write } else { Shutdown::Both });
    let _ = ear.join();
    sent
}

/// `WORDLINE_INPUTS=N` asks for more than usual, `WORDLINE_SEED=N` for others.
#[test]
fn wicked_inputs_leave_the_memory_of_the_server_within_its_bound() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a whole number"));
    let (inputs, seed) = (number("WORDLINE_INPUTS").unwrap_or(20_000), number("WORDLINE_SEED").unwrap_or(0));
    let victim = Victim::start();
    // Every page of the drive is there before.
    let mut good = connect(&victim.path);
    (0..victim.size / 65_536).for_each(|at| good.write(at * 65_536, &[5; 65_536]));
    (0..victim.size / 65_536).for_each(|at| good.write(at * 65_536, &[6; 65_536]));
    let bound = victim.resident_max() + small().memory_bound();
    let peers: Vec<_> = (0..3)
        .map(|peer| {
            let (path, size) = (victim.path.clone(), victim.size);
            std::thread::spawn(move || {
                let mut draw = Draw::new(seed, Stream::Mix, peer);
                let mut sent = 0;
                while sent < inputs.div_ceil(3) {
                    sent += visit(&path, size, &mut draw);
                }
                sent
            })
        })
        .collect();
    let mut rounds = 0;
    while !peers.iter().all(|peer| peer.is_finished()) {
        // What it says of itself is all that others can change, and it is answered all along.
        assert_eq!(good.read(0, 512).len(), 512);
        rounds += 1;
        assert!(victim.resident_max() <= bound, "{} bytes were resident, and {bound} are the bound", victim.resident_max());
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let sent: u64 = peers.into_iter().map(|peer| peer.join().expect("no peer failed")).sum();
    println!(
        "seed {seed}: {sent} inputs, {rounds} rounds of a good client; at most {} bytes resident, bound {bound}",
        victim.resident_max()
    );
    assert!(sent >= inputs && victim.resident_max() <= bound);
}
