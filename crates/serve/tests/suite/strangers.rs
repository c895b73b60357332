//! Can somebody who only connects, or connects and says nothing, keep others out?

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wordline_block::{Disk, Done, Op, Session};
use wordline_live::MemoryDisk;
use wordline_live::doors::Address;
use wordline_nbd::client::Speak;
use wordline_nbd::{Export, Limits};
use wordline_serve::{Config, Patience, Peers, Running, serve};

use crate::common::{Connected, ask, config, connect, start};
use crate::tls::{Trust, upgrade_on};

const SIZE: u64 = 4 << 20;

/// Streams that send a byte of an option without end now and then, until this goes.
struct Trickle {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Trickle {
    /// Of each stream that is taken, all that it says at first is taken, too.
    fn begin(address: SocketAddr, count: usize, every: Duration) -> (Trickle, Vec<TcpStream>) {
        let streams: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(address).expect("it listens")).collect();
        let mut senders: Vec<TcpStream> = streams.iter().map(|stream| stream.try_clone().expect("a second handle")).collect();
        for sender in &mut senders {
            sender.read_exact(&mut [0; 18]).expect("a greeting");
            sender.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x63\0\0\x40\0").expect("taken");
        }
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !told.load(Ordering::Acquire) {
                // Those that have been hung up on take nothing more.
                senders.iter_mut().for_each(|sender| drop(sender.write_all(&[0])));
                thread::park_timeout(every);
            }
        });
        (Trickle { stop, thread: Some(thread) }, streams)
    }
}

impl Drop for Trickle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Whether the server has hung up on `stream` by now.
fn is_hung_up_on(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
    match stream.read(&mut [0; 4096]) {
        Ok(count) => count == 0,
        Err(error) => !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
    }
}

fn on_tcp(config: Config) -> (Running, SocketAddr) {
    let address = Address::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0));
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new(SIZE));
    let running = serve(&address, vec![(Export::new("disk", SIZE), disk)], config).expect("it starts");
    let Address::Tcp(address) = *running.address() else { panic!("asked for TCP") };
    (running, address)
}

#[test]
fn strangers_that_trickle_keep_nobody_out() {
    let trust = Trust::new();
    // A deadline that is not reached: what lets others in is the strangers' number.
    let patience = Patience { negotiation: Duration::from_secs(600), ..Patience::default() };
    let (_running, address) = on_tcp(Config { patience, connections: 16, strangers: 16, ..trust.config(Peers::Certified) });
    let (_trickle, mut strangers) = Trickle::begin(address, 16, Duration::from_millis(20));
    let certified = || {
        let stream = TcpStream::connect(address).expect("it listens");
        Connected::open(upgrade_on(stream, trust.client(Some(&trust))).expect("it is let in"), Speak::Structured)
    };
    let mut clients: Vec<_> = (0..8).map(|_| certified()).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        client.write(at as u64 * 4096, &[at as u8 + 1; 4096]);
        assert_eq!(client.read(at as u64 * 4096, 4096), [at as u8 + 1; 4096]);
    }
    // The oldest had to go, and no more of them than was needed.
    let gone: Vec<bool> = strangers.iter_mut().map(is_hung_up_on).collect();
    let count = gone.iter().filter(|&&gone| gone).count();
    assert!((1..=8).contains(&count) && gone[..count].iter().all(|&gone| gone), "{gone:?}");
    // More of them do no more harm.
    let (_more, _others) = Trickle::begin(address, 12, Duration::from_millis(20));
    clients[0].write(0, b"still here");
    drop(certified());
}

#[test]
fn a_negotiation_has_a_deadline_however_busy_it_is() {
    let patience = Patience { message: Duration::from_secs(60), negotiation: Duration::from_millis(500), ..Patience::default() };
    let (running, address) = on_tcp(Config { patience, ..Config::default() });
    let mut early = Connected::open(TcpStream::connect(address).expect("it listens"), Speak::Structured);
    let began = Instant::now();
    let (_trickle, mut strangers) = Trickle::begin(address, 3, Duration::from_millis(20));
    while !strangers.iter_mut().all(is_hung_up_on) {
        assert!(began.elapsed() < Duration::from_secs(30), "a stranger is still there");
    }
    assert!(began.elapsed() >= Duration::from_millis(500), "hung up on before the deadline");
    early.write(0, b"there is no such deadline for those that are through");
    while running.connections() > 1 {
        assert!(began.elapsed() < Duration::from_secs(30), "threads of strangers are left");
    }
}

/// Keeps what it is asked to flush, until it is told to answer.
#[derive(Default)]
struct Slow(Mutex<Vec<Done>>);

impl Disk for Slow {
    fn submit(&self, op: Op, _: &Arc<Session>, done: Done) {
        match op {
            Op::Flush => self.0.lock().expect("nobody panics here").push(done),
            Op::Read { .. } => done.fill(|_| Ok(())),
            Op::Write { .. } | Op::Trim { .. } | Op::WriteZeroes { .. } | Op::Cache { .. } | Op::BlockStatus { .. } => done.ok(),
        }
    }
}

/// A client, if it is let in.
fn try_to_connect(path: &PathBuf) -> Option<Connected<UnixStream>> {
    let mut stream = UnixStream::connect(path).expect("it listens");
    stream.read_exact(&mut [0; 18]).ok()?;
    drop(stream);
    Some(Connected::open_as(UnixStream::connect(path).ok()?, ask(Speak::Structured)))
}

#[test]
fn clients_that_say_nothing_keep_nobody_out_for_ever() {
    let disk = Arc::new(Slow::default());
    let idle = Duration::from_millis(700);
    let patience = Patience { idle, ..Patience::default() };
    let config = Config { connections: 3, patience, ..config(Limits::DEFAULT) };
    let (running, path) = start(disk.clone(), SIZE, config);
    // The first waits for an answer, the second has been silent for longer than the third.
    let mut waits = connect(&path);
    waits.request(&Op::Flush);
    waits.send();
    let mut silent = connect(&path);
    let mut other = connect(&path);
    assert_eq!(other.read(0, 1), [0]);
    let began = Instant::now();
    let mut late = loop {
        match try_to_connect(&path) {
            Some(late) => break late,
            None => assert!(began.elapsed() < Duration::from_secs(30), "silent clients keep others out"),
        }
        thread::park_timeout(Duration::from_millis(10));
    };
    assert!(began.elapsed() >= idle / 2, "a client that has just spoken keeps its place");
    assert_eq!(late.read(0, 1), [0]);
    assert_eq!(silent.stream.read(&mut [0; 1]).expect("the end"), 0, "the one that was silent for longest had to go");
    assert_eq!(other.read(0, 1), [0], "and no other");
    // Who waits for an answer is not silent, however long it takes.
    thread::park_timeout(idle);
    disk.0.lock().expect("nobody panics here").drain(..).for_each(Done::ok);
    assert_eq!(waits.answer().fault, None);
    assert_eq!(running.connections(), 3);
}

#[test]
fn the_place_of_a_client_that_is_gone_is_taken_while_the_disk_has_its_requests() {
    let disk = Arc::new(Slow::default());
    let (_running, path) = start(disk.clone(), SIZE, Config { connections: 1, ..config(Limits::DEFAULT) });
    let mut client = connect(&path);
    client.request(&Op::Flush);
    client.send();
    while disk.0.lock().expect("nobody panics here").is_empty() {
        thread::yield_now();
    }
    assert!(disk.0.lock().expect("nobody panics here").iter().all(Done::is_wanted));
    drop(client);
    while disk.0.lock().expect("nobody panics here").iter().any(Done::is_wanted) {
        thread::yield_now();
    }
    assert!(try_to_connect(&path).is_none(), "what it may hold is not free yet");
    disk.0.lock().expect("nobody panics here").clear();
    let began = Instant::now();
    while try_to_connect(&path).is_none() {
        assert!(began.elapsed() < Duration::from_secs(30), "its place never became free");
        thread::yield_now();
    }
}
