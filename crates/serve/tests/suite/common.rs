//! A client on a socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wordline_block::{Disk, Op};
use wordline_drive::Config as DriveConfig;
use wordline_live::doors::Address;
use wordline_nbd::client::{Answer, Ask, Client, Content, Heard, Ready, Speak};
use wordline_nbd::{Export, Limits};
use wordline_plan::Plan;
use wordline_serve::{Config, Patience, Running, serve};
use wordline_units::Bytes;

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
