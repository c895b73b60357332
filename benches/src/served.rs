//! Block device servers side by side: the same client, the same requests, in turns, on Unix sockets.
//!
//! Rates over sockets are worth nothing by themselves on a shared machine; the ratio to another server that was measured in the same second is. The processor
//! time that a server spends on a request is told beside it, as the host counts it: it says what the server costs where others take its turns.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wordline_nbd::client::{put_option, put_request};
use wordline_nbd::wire::{SIMPLE_REPLY_MAGIC, command};
use wordline_units::random::{Draw, Stream};

/// Bytes of the part of a large disk that is read and written.
const SPAN: u64 = 192 << 20;

/// Bytes of that part of a small disk: nearly all of it, so that whoever writes there makes the drive reclaim.
const SMALL_SPAN: u64 = 60 << 20;

/// A load: what it is called, whether it writes, bytes of a request, requests under way, whether addresses are drawn, and on which disk.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Its name.
    pub name: &'static str,
    /// Whether it writes.
    pub writes: bool,
    /// Bytes of a request.
    pub bytes: u64,
    /// Requests under way.
    pub depth: usize,
    /// Whether addresses are drawn; else they run on.
    pub is_random: bool,
    /// The disk that it is put on.
    pub disk: Disk,
}

/// Size of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// 512 MiB, of which a part is written: reclaim finds blocks without data.
    Large,
    /// 64 MiB, nearly all of it written: reclaim has to move data.
    Small,
}

impl Disk {
    /// Its size, in words that servers understand.
    pub fn size(self) -> &'static str {
        match self {
            Disk::Large => "512M",
            Disk::Small => "64M",
        }
    }

    /// Bytes of the part that is read and written.
    fn span(self) -> u64 {
        match self {
            Disk::Large => SPAN,
            Disk::Small => SMALL_SPAN,
        }
    }
}

/// The loads.
pub const LOADS: &[Load] = &[
    Load { name: "4K random read, QD 32", writes: false, bytes: 4096, depth: 32, is_random: true, disk: Disk::Large },
    Load { name: "4K random write, QD 32", writes: true, bytes: 4096, depth: 32, is_random: true, disk: Disk::Large },
    Load { name: "128K write, QD 32", writes: true, bytes: 128 << 10, depth: 32, is_random: false, disk: Disk::Large },
    Load { name: "4K random read, QD 1", writes: false, bytes: 4096, depth: 1, is_random: true, disk: Disk::Large },
    Load { name: "4K random write, QD 1", writes: true, bytes: 4096, depth: 1, is_random: true, disk: Disk::Large },
    Load { name: "4K random write that reclaims, QD 32", writes: true, bytes: 4096, depth: 32, is_random: true, disk: Disk::Small },
];

/// A server that runs. It is killed with this, and its folder goes.
#[derive(Debug)]
pub struct Server {
    /// What it is called.
    pub name: &'static str,
    child: Child,
    socket: PathBuf,
    export: &'static str,
    folder: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Server {
    /// Starts `program` with `arguments`, in which `SOCKET` and `FOLDER` stand for its own.
    ///
    /// # Errors
    /// If it does not start, or does not listen before long.
    pub fn start(name: &'static str, program: &Path, arguments: &[&str], export: &'static str) -> io::Result<Server> {
        let folder = std::env::temp_dir().join(format!("wordline-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let socket = folder.join("s");
        let own =
            |word: &&str| word.replace("SOCKET", &socket.to_string_lossy()).replace("FOLDER", &folder.join("media").to_string_lossy());
        let child = Command::new(program)
            .args(arguments.iter().map(own))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Server { name, child, socket, export, folder };
        let deadline = Instant::now() + Duration::from_secs(30);
        while UnixStream::connect(&server.socket).is_err() {
            if Instant::now() > deadline || server.child.try_wait()?.is_some() {
                return Err(io::Error::other(format!("{} does not listen", program.display())));
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        Ok(server)
    }

    /// Processor time that it has spent, in seconds; user and system.
    fn spent(&self) -> f64 {
        // In ticks of a hundredth of a second, the 14th and 15th word; the second may have blanks, and ends with a bracket.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        ticks.filter_map(|word| word.parse::<f64>().ok()).sum::<f64>() / 100.0
    }

    fn open(&self) -> io::Result<UnixStream> {
        let mut stream = UnixStream::connect(&self.socket)?;
        let mut bytes = 3u32.to_be_bytes().to_vec();
        put_option(&mut bytes, 1, self.export.as_bytes());
        stream.read_exact(&mut [0; 18])?;
        stream.write_all(&bytes)?;
        stream.read_exact(&mut [0; 10])?;
        Ok(stream)
    }

    /// Puts `load` on it for `span`: requests a second, and microseconds of its processor time for each.
    ///
    /// # Errors
    /// If it hangs up, or a request fails.
    pub fn measure(&self, load: Load, span: Duration, seed: u64) -> io::Result<[f64; 2]> {
        let mut client = Client::new(self.open()?, load, seed);
        // What a disk is like before its first request is not what is measured.
        client.run(span / 5)?;
        let (before, began) = (self.spent(), Instant::now());
        let count = client.run(span)? as f64;
        Ok([count / began.elapsed().as_secs_f64(), (self.spent() - before) * 1e6 / count])
    }

    /// Writes all of the part that is measured.
    ///
    /// # Errors
    /// As [`Server::measure`].
    pub fn fill(&self, disk: Disk) -> io::Result<()> {
        let load = Load { name: "fill", writes: true, bytes: 128 << 10, depth: 32, is_random: false, disk };
        let mut client = Client::new(self.open()?, load, 1);
        while client.asked < disk.span() / load.bytes {
            client.run(Duration::ZERO)?;
        }
        Ok(())
    }
}

/// One thread that keeps so many requests under way.
struct Client {
    stream: UnixStream,
    load: Load,
    draw: Draw,
    asked: u64,
    /// Requests and their payloads that are not sent yet.
    out: Vec<u8>,
    payload: Vec<u8>,
    input: Vec<u8>,
    /// Of `input`, what has come and is not understood.
    there: usize,
    under_way: BTreeSet<u64>,
}

impl Client {
    fn new(stream: UnixStream, load: Load, seed: u64) -> Client {
        let payload = (0..load.bytes).map(|at| (at * 31 % 251) as u8).collect();
        let draw = Draw::new(seed, Stream::Address, 0);
        Client { stream, load, draw, asked: 0, out: Vec::new(), payload, input: vec![0; 1 << 20], there: 0, under_way: BTreeSet::new() }
    }

    fn ask(&mut self) {
        let Load { writes, bytes, is_random, disk, .. } = self.load;
        let places = disk.span() / bytes;
        let place = if is_random { self.draw.below(places) } else { self.asked % places };
        let kind = if writes { command::WRITE } else { command::READ };
        put_request(&mut self.out, false, 0, kind, self.asked, place * bytes, bytes);
        if writes {
            self.out.extend_from_slice(&self.payload);
        }
        self.under_way.insert(self.asked);
        self.asked += 1;
    }

    /// Goes on for `span`, and waits for what is under way then. Returns how many were answered.
    fn run(&mut self, span: Duration) -> io::Result<u64> {
        let (began, mut answered) = (Instant::now(), 0);
        (0..self.load.depth).for_each(|_| self.ask());
        while !self.under_way.is_empty() {
            self.stream.write_all(&self.out)?;
            self.out.clear();
            let count = self.hear()?;
            answered += count;
            if began.elapsed() < span {
                (0..count).for_each(|_| self.ask());
            }
        }
        Ok(answered)
    }

    /// Waits for an answer, and takes all that have come.
    fn hear(&mut self) -> io::Result<u64> {
        let length = 16 + if self.load.writes { 0 } else { self.load.bytes as usize };
        loop {
            let count = self.stream.read(&mut self.input[self.there..])?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.there += count;
            let whole = self.there / length;
            for answer in self.input.chunks_exact(length).take(whole) {
                let (head, cookie) = answer[..16].split_at(8);
                let cookie = u64::from_be_bytes(cookie.try_into().expect("eight bytes"));
                if head[..4] != SIMPLE_REPLY_MAGIC.to_be_bytes() || head[4..] != [0; 4] || !self.under_way.remove(&cookie) {
                    return Err(io::Error::other("an answer that is none, or an error"));
                }
            }
            self.input.copy_within(whole * length..self.there, 0);
            self.there -= whole * length;
            if whole > 0 {
                return Ok(whole as u64);
            }
        }
    }
}
