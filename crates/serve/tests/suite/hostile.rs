//! Are other clients unharmed, and the server's bounds kept, whatever a peer does?

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wordline_nbd::client::{put_option, put_request};
use wordline_nbd::{Limits, Op};
use wordline_serve::{MemoryDisk, Running};

use crate::common::{config, connect, start};

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
