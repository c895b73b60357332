//! A client on a socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wordline_block::{Disk, Op};
use wordline_chip::Payload;
use wordline_drive::{Config as DriveConfig, Drive};
use wordline_engine::{Completion, Completions};
use wordline_nbd::client::{Answer, Ask, Client, Content, Heard, Ready, Speak};
use wordline_nbd::{Export, Limits};
use wordline_plan::Plan;
use wordline_serve::{Address, Config, Durability, MediaPayload, MediaStore, Patience, Running, open_or_make, serve};
use wordline_units::{Bytes, HostOp, HostRequest};

/// A socket file of its own.
pub(crate) fn socket() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    std::env::temp_dir().join(format!("wordline-serve-{}-{}.sock", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// A mapping unit of the drives here.
pub(crate) const UNIT: Bytes = Bytes(16 << 10);

/// Quick to lose patience.
pub(crate) fn config(limits: Limits) -> Config {
    Config { connections: 64, limits, patience: Patience { message: Duration::from_secs(1), ..Patience::default() }, ..Config::default() }
}

/// Serves one disk, called `disk`, on a socket of its own.
pub(crate) fn start(disk: Arc<dyn Disk>, size: u64, config: Config) -> (Running, PathBuf) {
    let path = socket();
    let running = serve(&Address::Unix(path.clone()), vec![(Export::new("disk", size), disk)], config).expect("it starts");
    (running, path)
}

pub(crate) fn ask(speak: Speak) -> Ask {
    let contexts = if speak == Speak::Simple { Vec::new() } else { vec!["base:allocation".to_owned()] };
    Ask { export: "disk".to_owned(), dialect: speak, contexts, by_export_name: false, list: false }
}

/// A client with its stream.
pub(crate) struct Connected<S> {
    pub(crate) stream: S,
    pub(crate) client: Client,
    pub(crate) ready: Ready,
    next_cookie: u64,
}

pub(crate) fn connect(path: &PathBuf) -> Connected<UnixStream> {
    Connected::open(UnixStream::connect(path).expect("it listens"), Speak::Structured)
}

impl<S: Read + Write> Connected<S> {
    pub(crate) fn open(stream: S, speak: Speak) -> Connected<S> {
        Connected::open_as(stream, ask(speak))
    }

    /// Asks for what `ask` says.
    pub(crate) fn open_as(stream: S, ask: Ask) -> Connected<S> {
        let mut connected = Connected { stream, client: Client::new(ask), ready: Ready::default(), next_cookie: 0 };
        match connected.hear() {
            Heard::Ready(ready) => connected.ready = ready,
            Heard::Answer(answer) => panic!("{answer:?}"),
        }
        connected
    }

    pub(crate) fn send(&mut self) {
        let output = self.client.take_output();
        self.stream.write_all(&output).expect("the server is there");
    }

    /// The next thing heard.
    pub(crate) fn hear(&mut self) -> Heard {
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some(heard) = self.client.next() {
                return heard;
            }
            self.send();
            let count = self.stream.read(&mut buffer).expect("the server is there");
            assert!(count > 0, "the server hung up");
            self.client.receive(&buffer[..count]).expect("the server keeps to the protocol");
        }
    }

    pub(crate) fn answer(&mut self) -> Answer {
        match self.hear() {
            Heard::Answer(answer) => answer,
            Heard::Ready(ready) => panic!("{ready:?}"),
        }
    }

    pub(crate) fn request(&mut self, op: &Op) -> u64 {
        self.next_cookie += 1;
        self.client.request(self.next_cookie, op);
        self.next_cookie
    }

    /// Does one thing and waits for its answer.
    pub(crate) fn call(&mut self, op: &Op) -> Answer {
        let cookie = self.request(op);
        let answer = self.answer();
        assert_eq!(answer.cookie, cookie);
        answer
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        let answer = self.call(&Op::Write { offset, data: data.to_vec(), fua: false });
        assert_eq!(answer.fault, None);
    }

    pub(crate) fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let answer = self.call(&Op::Read { offset, length });
        assert_eq!(answer.fault, None);
        bytes(&answer)
    }
}

/// The bytes of a read's answer.
pub(crate) fn bytes(answer: &Answer) -> Vec<u8> {
    let part = |content: &Content| match content {
        Content::Data(_, bytes) => bytes.clone(),
        Content::Hole(_, length) => vec![0; *length as usize],
        Content::Status(..) => Vec::new(),
    };
    answer.content.iter().flat_map(part).collect()
}

/// The bytes of a unit that a write has stamped; 0: zeroes.
pub(crate) fn stamped(unit: u64, stamp: u64, length: usize) -> Vec<u8> {
    if stamp == 0 {
        return vec![0; length];
    }
    let mut bytes: Vec<u8> = (0..length as u64).map(|at| (at * 7 + stamp + unit) as u8).collect();
    bytes[..8].copy_from_slice(&stamp.to_le_bytes());
    bytes[8..16].copy_from_slice(&unit.to_le_bytes());
    bytes
}

/// A drive of `dies` small dies that reclaims soon, and journals.
pub(crate) fn small_drive(dies: u32, settings: &[&str]) -> DriveConfig {
    let dies = format!("flash.dies_per_channel={dies}");
    let small = [
        "geometry.blocks=48",
        "mapping.over_provisioning=32 %",
        "geometry.layers=2",
        "geometry.wordlines_per_layer=4",
        "flash.channels=1",
        dies.as_str(),
        "buffer.size=512 KiB",
        "recovery.on=true",
        "recovery.oob_copies=true",
    ];
    Plan::load_set("pageftl", &[&small, settings].concat()).expect("a preset").build()
}

/// Bytes of a sector.
pub(crate) const SECTOR: u64 = 512;

/// Name and number of the drives in folders.
pub(crate) const NAMED: (&str, u128) = ("a drive", 7);

/// A drive on media in files.
pub(crate) type Live = Drive<Completions, MediaPayload<wordline_media::Disk>>;

/// Media in a folder of their own.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("wordline-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    /// The drive of these media, which are made if there are none.
    pub(crate) fn drive(&self, config: &DriveConfig) -> Live {
        let opened = open_or_make(&self.0, config, NAMED, Durability::Process).expect("sound media");
        let units = (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32;
        let store = MediaStore::new(opened.media, units, opened.dump);
        let capacitors = store.capacitors(config.firmware.buffer.units);
        if opened.is_found {
            return Drive::wake(config.clone(), Completions::default(), |die| store.payload(die), capacitors);
        }
        let mut drive = Drive::with_payload(config.clone(), Completions::default(), |die| store.payload(die));
        capacitors.into_iter().for_each(|capacitors| drive.connect(capacitors));
        drive
    }

    pub(crate) fn die(&self, number: u32) -> PathBuf {
        self.0.join(format!("die-{number:03}.media"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The request that asks for `op` on `unit`, or for a flush.
pub(crate) fn of_unit(drive: &Live, op: HostOp, unit: u64) -> HostRequest {
    let sectors = drive.unit_bytes().0 / SECTOR;
    if op == HostOp::Flush { HostRequest::new(op, 0, 0) } else { HostRequest::new(op, unit * sectors, sectors as u32) }
}

/// The completion of `request` and the bytes that it reads; `None`: the power has gone before it.
pub(crate) fn answered<P: Payload>(
    drive: &mut Drive<Completions, P>,
    request: &HostRequest,
    bytes: &[u8],
) -> Option<(Completion, Vec<u8>)> {
    let id = drive.submit(request, bytes);
    while drive.power_cut().is_none() {
        if let Some(done) = drive.observer.take(id) {
            return Some((done, drive.bytes_of(id).to_vec()));
        }
        let next = drive.next_at().expect("something is pending while a request is outstanding");
        drive.run_until(next);
    }
    None
}
